/* SPDX-License-Identifier: MIT */
/* Converts text files of any encoding (MOF, TMF) to UTF-8. */
#ifndef OPENPLA_SOURCE_TEXT_H
#define OPENPLA_SOURCE_TEXT_H

#include "engine/base/text.h"

/* Decodes a text. If the text has a byte order mark, the mark shows whether it is UTF-8 or UTF-16, and the byte order.
   A text without a mark is UTF-16 if every second one of its first four bytes is zero. Otherwise it is UTF-8 if all of
   it is valid UTF-8, and in the ANSI code page if not. Invalid characters and NULs become U+FFFD. *out is from
   memory_alloc, with a NUL at the end. */
HRESULT source_text_decode(const void *bytes, size_t size, char **out);

#endif
