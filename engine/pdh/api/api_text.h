/* SPDX-License-Identifier: MIT */
/* Texts in and out of the API in either form, UTF-16 (W) or the ANSI code page (A), in the caller's buffers by PDH's
   protocol. A "unit" is a WCHAR or a byte. */
#ifndef OPENPLA_PDH_API_TEXT_H
#define OPENPLA_PDH_API_TEXT_H

#include "engine/base/text.h"
#include "engine/logs/pdh_types.h"

enum api_form { API_WIDE, API_ANSI };

/* The caller's text in UTF-8, from memory_alloc; NULL stays NULL. `otherwise` when it is longer than `most` units or no
   valid text of its form; PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS api_text_in(enum api_form form, const void *text, size_t most, DWORD otherwise, char **out);
/* The same of a list that an empty text ends. */
PDH_STATUS api_list_in(enum api_form form, const void *list, size_t most, DWORD otherwise, struct texts *out);

/* Hands a text with its NUL, or a list (each with its NUL, one more at the end), to a buffer of *units units.
   PDH_MORE_DATA when it is too small; *units becomes what is needed in any case. PDH_INVALID_ARGUMENT for a missing
   `units` or a NULL buffer of a size. An empty list needs 0 units when `none_is_nothing`, else 1. */
PDH_STATUS api_text_out(enum api_form form, const char *text, void *buffer, LPDWORD units);
PDH_STATUS api_list_out(enum api_form form, const struct texts *list, bool none_is_nothing, void *buffer,
                        LPDWORD units);

/* A caller's block that begins with a struct or array of `used` bytes and goes on with the texts it points to. */
struct api_block {
    enum api_form form;
    BYTE *base;  /* NULL: only measured */
    size_t size; /* of the caller's block */
    size_t used; /* what is needed so far */
    bool failed; /* out of memory */
};
/* PDH_INVALID_ARGUMENT as above. */
PDH_STATUS api_block_begin(struct api_block *b, enum api_form form, void *base, const DWORD *size, size_t head);
/* Puts the text behind what is there; its address in the block, NULL if it does not fit or `text` is NULL. */
void *api_block_add(struct api_block *b, const char *text);
/* Writes *size. PDH_MORE_DATA: the block is too small and nothing may be put at its head. */
PDH_STATUS api_block_end(const struct api_block *b, LPDWORD size);

#endif
