/* SPDX-License-Identifier: MIT */
/* Plain XPRESS (LZ77) of [MS-XCA] 2.4, as compressed .etl buffers have it. */
#ifndef OPENPLA_XPRESS_H
#define OPENPLA_XPRESS_H

#include "engine/base/wintypes.h"

/* Unpacks until `packed` ends or `size` bytes are made; the bytes made. Less than `size`: the stream is cut or damaged
   behind what was made. */
size_t xpress_unpack(const uint8_t *packed, size_t packed_size, uint8_t *out, size_t size);

#endif
