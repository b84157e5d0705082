/* SPDX-License-Identifier: MIT */
/* UTF-8 to the ANSI code page, for the files that Windows writes in it (text logs). */
#ifndef OPENPLA_TEXT_ANSI_H
#define OPENPLA_TEXT_ANSI_H

#include "engine/os/text.h"

/* The text in the host's ANSI code page: the system's on Windows and Wine, windows-1252 elsewhere. A character that the
   code page lacks becomes '?', one per UTF-16 unit, never a look-alike: two names stay as different as they can.
   *out from memory_alloc, with a NUL behind; *size (may be NULL) is the length without it. E_OUTOFMEMORY only. */
HRESULT text_to_ansi(const char *text, char **out, size_t *size);

#endif
