/* SPDX-License-Identifier: MIT */
/* Files that list something, one thing a line: counters (-cf), command lines (-config). */
#ifndef OPENPLA_CLI_LINES_H
#define OPENPLA_CLI_LINES_H

#include "engine/base/text.h"

/* Adds the lines without blanks and quotes around them, but for empty ones and those that begin with ';' or '#'. In the
   ANSI code page, UTF-8 or UTF-16. */
HRESULT lines_read(const char *path, struct texts *out);

#endif
