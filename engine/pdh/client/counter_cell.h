/* SPDX-License-Identifier: MIT */
/* What PDH says of one counter in the present sample, as a cell of a log. */
#ifndef OPENPLA_COUNTER_CELL_H
#define OPENPLA_COUNTER_CELL_H

#include "engine/logs/instance_numbers.h"
#include "engine/logs/log.h"
#include "engine/pdh/pdh_list.h"

/* The instances of a wildcard counter in the last sample that had any. Zero-initialise. The names
   stay while PDH lists the same ones; those of one name have their numbers, "svchost#1". */
struct counter_instances {
    struct log_item *items;
    size_t capacity;
    size_t named; /* items whose names are those of `last` */
    struct instance_numbers numbers;
    struct pdh_list last, next; /* what PdhGetRawCounterArray listed, and room for what it lists next */
};
void counter_instances_free(struct counter_instances *n);

/* The cell of a single counter; with `values` its formatted value too. What PDH has no data for says so in
   the cell's status. */
void counter_cell_read(const struct pdh_api *pdh, PDH_HCOUNTER counter, bool values, struct log_cell *cell);
/* The cell of a wildcard counter, which borrows the items of `n`; `formatted` is room for their values. The only
   failure is E_OUTOFMEMORY. */
HRESULT counter_cell_read_instances(const struct pdh_api *pdh, PDH_HCOUNTER counter, bool values,
                                    struct counter_instances *n, struct pdh_list *formatted, struct log_cell *cell);

#endif
