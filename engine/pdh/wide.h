/* SPDX-License-Identifier: MIT */
/* UTF-16 in and out of the API: texts in the caller's buffers by PDH's protocol. */
#ifndef OPENPLA_PDH_WIDE_H
#define OPENPLA_PDH_WIDE_H

#include "engine/os/pdh_types.h"
#include "engine/os/text.h"

/* The caller's text in UTF-8, from memory_alloc; NULL stays NULL. `otherwise` when it is longer than `most` units or no
   valid UTF-16; PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS wide_in(LPCWSTR text, size_t most, DWORD otherwise, char **out);

/* Hands a text with its NUL, or a list (each with its NUL, one more at the end), to a buffer of *units WCHARs.
   PDH_MORE_DATA when it is too small; *units becomes what is needed in any case. PDH_INVALID_ARGUMENT for a missing
   `units` or a NULL buffer of a size. An empty list needs 0 units when `none_is_nothing`, else 1. */
PDH_STATUS wide_out(const char *text, LPWSTR buffer, LPDWORD units);
PDH_STATUS wide_out_list(const struct texts *list, bool none_is_nothing, LPWSTR buffer, LPDWORD units);

/* A caller's block that begins with a struct or array of `used` bytes and goes on with the texts it points to. */
struct wide_block {
    BYTE *base;  /* NULL: only measured */
    size_t size; /* of the caller's block */
    size_t used; /* what is needed so far */
    bool failed; /* out of memory */
};
/* PDH_INVALID_ARGUMENT as above. */
PDH_STATUS wide_block_begin(struct wide_block *b, void *base, const DWORD *size, size_t head);
/* Puts the text behind what is there; its address in the block, NULL if it does not fit or `text` is NULL. */
LPWSTR wide_block_add(struct wide_block *b, const char *text);
/* Writes *size. PDH_MORE_DATA: the block is too small and nothing may be put at its head. */
PDH_STATUS wide_block_end(const struct wide_block *b, LPDWORD size);

#endif
