/* SPDX-License-Identifier: MIT */
/* The records of a binary log that come before its samples, for its writer. */
#ifndef OPENPLA_BLG_CATALOG_H
#define OPENPLA_BLG_CATALOG_H

#include "engine/logs/log.h"

struct blg_bytes {
    uint8_t *data;
    size_t size, capacity;
};
/* Makes the size `size`; new bytes are undefined. E_INVALIDARG above what a record may have. */
HRESULT blg_bytes_resize(struct blg_bytes *b, size_t size);

size_t blg_round_up_8(size_t size);
void blg_put_block_head(uint8_t *at, uint16_t kind, size_t size); /* size: of the block, its head included */
size_t blg_name_size(const char *name); /* bytes of a name, or another text, in the file, with its NUL */
/* Writes a name of blg_name_size bytes. E_INVALIDARG: it is no well-formed UTF-8. */
HRESULT blg_put_name(uint8_t *at, const char *name, size_t size);

HRESULT blg_catalog_build(struct blg_bytes *catalog, const struct log_counter *counters, size_t count);
/* The record that gives the names of a text counter, the log's `place`-th, their title indexes. */
HRESULT blg_names_build(struct blg_bytes *names, const struct log_counter *counter, size_t place);

#endif
