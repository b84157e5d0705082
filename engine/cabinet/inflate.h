/* SPDX-License-Identifier: MIT */
/* Unpacks what deflate packed (RFC 1951), as MSZIP has it: block by block, of bytes from anybody. */
#ifndef OPENPLA_INFLATE_H
#define OPENPLA_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One whole stream at `in`, which gives exactly `wanted` bytes at `out`; the `history` bytes before `out` may be
   referred to. false: it is malformed, or gives another number of bytes; then out has any bytes, but no more than
   `wanted` were written. What follows the stream is not looked at. */
bool inflate_block(const uint8_t *in, size_t size, uint8_t *out, size_t wanted, size_t history);

#endif
