/* SPDX-License-Identifier: MIT */
/* The object Paging File, from /proc/swaps. */
#include "engine/pdh/core/table.h"

#define PAGING_FILE_ROWS                                                                                               \
    COLUMN(SWAP_SIZE, "size")                                                                                          \
    COLUMN(SWAP_USED, "used")                                                                                          \
    COUNTER("% Usage", PERF_RAW_FRACTION, 702, 0, SUM OVER(PAGING_SPACE), "used",                                      \
            "Share of the paging space that is in use; 0 without paging space.")                                       \
    BASE(PAGING_SPACE, PERF_RAW_BASE, SUM, "size")

#define OBJECT paging
#define ROWS   PAGING_FILE_ROWS
#include "engine/pdh/core/counter_rows.inc"

static HRESULT paging_file_gather(struct counter_object *o, struct source *source, uint64_t wanted)
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
    struct table_state *t = o->state;
    if (t->row_count)
        return table_add_total(t, false, 0);
    /* Without paging space the usage is 0. Alerts need this value, because they do not notice missing values. */
    int64_t *cells = table_add(t, ROW_PLAIN, NULL, "_Total", 6, 0);
    if (!cells)
        return E_OUTOFMEMORY;
    cells[SWAP_SIZE] = 1;
    cells[SWAP_USED] = 0;
    return S_OK;
}

const struct counter_object_type pdh_paging_file = {
    .name = "Paging File",
    .index = 700,
    .help = "The paging space of this computer: swap files and partitions.",
    .has_instances = true,
    TABLE_OBJECT(paging, ALL_OF, struct table_state, paging_file_gather, NULL,
                 "/proc/swaps, in units of 1,024 bytes; if this computer has no paging space, the value of used is 0 "
                 "and the value of size is 1")};
