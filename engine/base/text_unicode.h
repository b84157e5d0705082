/* SPDX-License-Identifier: MIT */
/* One character at a time out of UTF-8: what the conversions and the comparison share. */
#ifndef OPENPLA_TEXT_UNICODE_H
#define OPENPLA_TEXT_UNICODE_H

#include "engine/base/text.h"

#define UNICODE_REPLACEMENT 0xFFFDu

/* Reads the character at *at (before end) and moves *at behind it. A malformed sequence gives UNICODE_REPLACEMENT,
   sets *malformed (may be NULL) and moves by at least one byte. */
uint32_t unicode_next(const unsigned char **at, const unsigned char *end, bool *malformed);
/* The character that it is compared as without case. */
uint32_t unicode_upper(uint32_t c);
/* Writes c as UTF-8; returns the number of bytes, 1..4. */
size_t unicode_put(uint32_t c, char out[4]);

#endif
