/* SPDX-License-Identifier: MIT */
/* Converts text files of any encoding (MOF, TMF) to UTF-8. */
#ifndef OPENPLA_SOURCE_TEXT_H
#define OPENPLA_SOURCE_TEXT_H

#include "engine/base/text.h"

/* With a byte order mark, the text is UTF-8 or UTF-16 in either byte order, as the mark indicates. Without a mark, it
   is UTF-16 if every second one of its first four bytes is zero, UTF-8 if it is valid UTF-8, otherwise in the ANSI code
   page. Invalid characters and NULs become U+FFFD. *out is from memory_alloc, with a NUL at the end. */
HRESULT source_text_decode(const void *bytes, size_t size, char **out);

#endif
