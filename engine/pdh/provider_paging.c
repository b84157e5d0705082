/* SPDX-License-Identifier: MIT */
/* The objects Paging File, from /proc/swaps, and Cache, from /proc/vmstat. */
#include "engine/pdh/providers.h"

#include <string.h>

static const struct counter_schema paging[] = {
    {.name = "% Usage",
     .help = "Share of the paging space that is in use.",
     .type = PERF_RAW_FRACTION,
     .base = 1,
     .index = 702,
     .source = "used"},
    {.type = PERF_RAW_BASE, .source = "size"},
};

enum { SWAP_SIZE, SWAP_USED, COLUMNS };
static const char *const columns[] = {"size", "used"};

static HRESULT gather(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    const char *text;
    size_t size;
    struct kernel_row row;
    HRESULT hr = source_text(source, &o->hold, SOURCE_SWAPS, &text, &size, &o->time);
    if (FAILED(hr))
        return hr;
    for (const char *at = text; kernel_swap_next(&at, text + size, &row);) {
        const char *name = row.name + row.length;
        while (name > row.name && name[-1] != '/')
            name--;
        int64_t *cells = table_add(o->state, ROW_PLAIN, NULL, name, (size_t)(row.name + row.length - name), 0);
        if (!cells)
            return E_OUTOFMEMORY;
        cells[SWAP_SIZE] = (int64_t)row.values[0];
        cells[SWAP_USED] = (int64_t)row.values[1];
    }
    return table_add(o->state, ROW_TOTAL, NULL, "_Total", 6, 0) ? S_OK : E_OUTOFMEMORY;
}

static const struct counter_schema cache[] = {
    {.name = "Dirty Pages",
     .help = "Pages of files in memory that have been changed and not yet written.",
     .type = PERF_COUNTER_RAWCOUNT,
     .source = "vmstat.nr_dirty"},
    {.name = "Dirty Page Threshold",
     .help = "Number of dirty pages from which on programs that write have to wait until pages have been "
             "written.",
     .type = PERF_COUNTER_RAWCOUNT,
     .source = "vmstat.nr_dirty_threshold"},
};

static const struct table layout = {"/proc/swaps, in 1,024 bytes", columns, COLUMNS, gather, NULL};
static const struct table plain = {0};
const struct provider pdh_paging_file = {.name = "Paging File",
                                         .help = "The paging space of this computer: swap files and partitions.",
                                         .index = 700,
                                         .has_instances = true,
                                         TABLE_PROVIDER(paging, 1, layout, struct table_state)};

const struct provider pdh_cache = {.name = "Cache",
                                   .help = "The cache of files in main memory.",
                                   .index = 86,
                                   TABLE_PROVIDER(cache, sizeof cache / sizeof *cache, plain, struct table_state)};
