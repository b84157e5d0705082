/* SPDX-License-Identifier: MIT */
/* The object NUMA Node Memory, from /sys/devices/system/node. */
#include "engine/base/kernel_file.h"
#include "engine/pdh/core/source.h"
#include "engine/pdh/core/table.h"

#include <stdio.h>
#include <string.h>

/* Sizes are in units of 1,024 bytes. */
#define NUMA_NODE_ROWS                                                                                                 \
    COLUMN(NODE_TOTAL, "total")                                                                                        \
    COLUMN(NODE_FREE, "free")                                                                                          \
    COLUMN(NODE_INACTIVE, "inactive_file")                                                                             \
    COUNTER("Total MBytes", PERF_COUNTER_LARGE_RAWCOUNT, 0, 0, SUM, "total / 1024",                                    \
            "Memory of the node, in units of 1,048,576 bytes.")                                                        \
    COUNTER("Free & Zero Page List MBytes", PERF_COUNTER_LARGE_RAWCOUNT, 0, 0, SUM, "free / 1024",                     \
            "Unused memory of the node, in units of 1,048,576 bytes.")                                                 \
    COUNTER(                                                                                                           \
        "Standby List MBytes", PERF_COUNTER_LARGE_RAWCOUNT, 0, 0, SUM, "inactive_file / 1024",                         \
        "Memory of the node that caches contents of files and was not used recently, in units of 1,048,576 bytes.")    \
    COUNTER("Available MBytes", PERF_COUNTER_LARGE_RAWCOUNT, 0, 0, SUM, "free / 1024 + inactive_file / 1024",          \
            "Memory of the node that is unused, or caches contents of files and was not used recently, in units of "   \
            "1,048,576 bytes.")

#define OBJECT numa_node
#define ROWS   NUMA_NODE_ROWS
#include "engine/pdh/core/counter_rows.inc"

struct numa_state {
    struct table_state table;
    struct kept_files files;
    struct kept_folder nodes;
};

static void close_state(void *state)
{
    struct numa_state *s = state;
    kept_files_close(&s->files);
    kept_folder_close(&s->nodes);
}

/* Parses "Node 0 MemTotal:       21850316 kB". */
static void set_figure(int64_t *cells, const char *p, const char *end)
{
    static const struct {
        const char *name;
        int column;
    } figures[] = {{"MemTotal:", NODE_TOTAL}, {"MemFree:", NODE_FREE}, {"Inactive(file):", NODE_INACTIVE}};
    const char *number = kernel_word_end(kernel_skip(p, end), end);
    const char *name = kernel_skip(kernel_word_end(kernel_skip(number, end), end), end);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        uint64_t value;
        size_t length = strlen(figures[i].name);
        if (kernel_starts(name, end, figures[i].name, length) && kernel_number(name + length, end, &value))
            cells[figures[i].column] = (int64_t)value;
    }
}

static HRESULT add_node(struct numa_state *s, const char *folder, const char *node)
{
    char path[512];
    const char *text;
    size_t size;
    if ((size_t)snprintf(path, sizeof path, "%s/%s/meminfo", folder, node) >= sizeof path)
        return S_OK;
    HRESULT hr = kept_files_text(&s->files, path, &text, &size);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    const char *number = node + strlen("node");
    int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, number, strlen(number), 0);
    if (!cells)
        return E_OUTOFMEMORY;
    for (const char *p = text, *end = text + size, *line; p < end; p = line + 1) {
        line = kernel_line_end(p, end);
        set_figure(cells, p, line);
    }
    return S_OK;
}

static HRESULT numa_node_gather(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct numa_state *s = o->state;
    char folder[512];
    snprintf(folder, sizeof folder, "%s/sys/devices/system/node", source_root(source));
    table_know_columns(&s->table, 1ull << NODE_TOTAL | 1ull << NODE_FREE | 1ull << NODE_INACTIVE);
    HRESULT hr = kept_folder_follow(&s->nodes, folder, "node");
    for (size_t i = 0; SUCCEEDED(hr) && i < s->nodes.names.count; i++)
        hr = add_node(s, folder, s->nodes.names.items[i]);
    kept_files_sweep(&s->files);
    if (SUCCEEDED(hr) && !s->table.row_count)
        return error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "'%s' has no NUMA node", folder);
    return SUCCEEDED(hr) ? table_add_total(&s->table, false, 0) : hr;
}

const struct counter_object_type pdh_numa_node_memory = {
    .name = "NUMA Node Memory",
    .help = "The physical memory of each NUMA node.",
    .has_instances = true,
    TABLE_OBJECT(numa_node, ALL_OF, struct numa_state, numa_node_gather, close_state,
                 "/sys/devices/system/node/nodeN/meminfo: MemTotal, MemFree, Inactive(file)")};
