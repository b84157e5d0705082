/* SPDX-License-Identifier: MIT */
/* A file of text that somebody wrote (MOF, TMF), whatever its encoding, as UTF-8. */
#ifndef OPENPLA_SOURCE_TEXT_H
#define OPENPLA_SOURCE_TEXT_H

#include "engine/base/text.h"

/* By the byte order mark: UTF-8, UTF-16 of both orders; without one UTF-16 when each second of the first bytes is zero,
   UTF-8 when it is that, else the ANSI code page. What stands for nothing, and a NUL, becomes U+FFFD. *out from
   memory_alloc, with a NUL behind. */
HRESULT source_text_decode(const void *bytes, size_t size, char **out);

#endif
