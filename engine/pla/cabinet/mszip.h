/* SPDX-License-Identifier: MIT */
/* zlib as cabinets need it: its memory is ours, and MSZIP's blocks, of bytes from anybody, are unpacked by it. */
#ifndef OPENPLA_MSZIP_H
#define OPENPLA_MSZIP_H

#include "engine/base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

/* Before deflateInit or inflateInit: zlib's memory is engine/base/memory.h's from then on. */
void mszip_memory(z_stream *z);

/* All zeros before mszip_unpack, which makes it ready once; mszip_end after it, of all zeros too. */
struct mszip {
    z_stream z;
};
/* One block's whole stream (RFC 1951) at `in`, which gives exactly `wanted` bytes at `out`; the `history` bytes before
   `out`, at most 32,768, may be referred to. S_FALSE: it is malformed, or gives another number of bytes; then out has
   any bytes, but no more than `wanted` were written. What follows the stream is not looked at. */
HRESULT mszip_unpack(struct mszip *m, const uint8_t *in, size_t size, uint8_t *out, size_t wanted, size_t history);
void mszip_end(struct mszip *m);

#endif
