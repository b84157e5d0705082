/* SPDX-License-Identifier: MIT */
/* UTF-8 to the ANSI code page and back, for the files and the callers that speak it. */
#ifndef OPENPLA_TEXT_ANSI_H
#define OPENPLA_TEXT_ANSI_H

#include "engine/base/text.h"

/* The text in the host's ANSI code page: the system's on Windows and Wine, windows-1252 elsewhere. A character that the
   code page lacks becomes '?', one per UTF-16 unit, never a look-alike: two names stay as different as they can.
   *out from memory_alloc, with a NUL behind; *size (may be NULL) is the length without it. E_OUTOFMEMORY only. */
HRESULT text_to_ansi(const char *text, char **out, size_t *size);
/* `size` bytes of the ANSI code page in UTF-8, from memory_alloc. A byte that stands for nothing, or a NUL, gives
   E_INVALIDARG, or U+FFFD when `replace`. E_OUTOFMEMORY. */
HRESULT text_from_ansi(const char *text, size_t size, bool replace, char **out);

#endif
