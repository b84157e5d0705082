/* SPDX-License-Identifier: MIT */
/* Writes numbers and GUIDs to space that the caller provides. The maximum lengths are known, so the caller can reserve
   the space for a line with dozens of numbers once. Each function returns the end of what it wrote and writes no
   NUL. */
#ifndef OPENPLA_TEXT_PUT_H
#define OPENPLA_TEXT_PUT_H

#include "engine/base/error.h"

#include <stdint.h>

enum { TEXT_PUT_DECIMAL = 20, TEXT_PUT_HEX = 18, TEXT_PUT_GUID = 38 }; /* maximum length of each function's output */
char *text_put_u64(char *at, uint64_t value);
/* Writes "0x" and at least `digits` upper-case digits, up to 16. */
char *text_put_hex(char *at, uint64_t value, unsigned digits);
/* Writes a GUID in braces, in lower case. */
char *text_put_guid(char *at, const GUID *guid);

#endif
