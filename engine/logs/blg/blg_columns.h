/* SPDX-License-Identifier: MIT */
/* What a binary log's reader gives for each sample: one cell per counter, and the instances of wildcard counters. */
#ifndef OPENPLA_BLG_COLUMNS_H
#define OPENPLA_BLG_COLUMNS_H

#include "engine/logs/log.h"

/* The instances of one wildcard counter in the present sample. */
struct blg_instances {
    struct log_item *items;
    size_t count, capacity;
    uint8_t *names; /* as the file had them when `text` was made of them: most samples have the same */
    size_t names_size, names_capacity;
    char *text;
    size_t text_capacity;
};

struct blg_columns {
    struct log_counters *counters; /* borrowed */
    struct log_cell *cells;        /* one per counter */
    size_t cell_capacity;
    struct blg_instances *instances; /* one per counter */
    size_t instances_capacity;
};

/* Adds a counter, or finds the one with the same names, type and time base from *column on, then from 0 on (`find`).
 *column is its place. */
HRESULT blg_columns_add(struct blg_columns *c, const struct log_counter *counter, bool find, size_t *column);
/* Makes every cell a missing value. */
void blg_columns_clear(struct blg_columns *c);
/* Room for `count` items of the column; they are not set. */
HRESULT blg_columns_room(struct blg_columns *c, size_t column, size_t count);
/* Sets a wildcard's cell from the block of an item of kind BLG_KIND_WILDCARD, `size` bytes. S_FALSE: malformed. */
HRESULT blg_columns_wildcard(struct blg_columns *c, size_t column, const uint8_t *block, size_t size);
void blg_columns_free(struct blg_columns *c);

#endif
