/* SPDX-License-Identifier: MIT */
/* The object Network Interface, from /proc/net/dev and /sys/class/net. As on Windows there is no loopback, and no
   _Total. */
#include "engine/os/kernel_file.h"
#include "engine/os/memory.h"
#include "engine/pdh/providers.h"

#include <stdio.h>
#include <string.h>

/* In the order of /proc/net/dev. */
static const char *const columns[] = {"rx_bytes",      "rx_packets",    "rx_errs",      "rx_drop",  "rx_fifo",
                                      "rx_frame",      "rx_compressed", "rx_multicast", "tx_bytes", "tx_packets",
                                      "tx_errs",       "tx_drop",       "tx_fifo",      "tx_colls", "tx_carrier",
                                      "tx_compressed", "speed"};
enum { FILE_COLUMNS = 16, SPEED = FILE_COLUMNS, COLUMNS };
#define BIT(column) (1ull << (column))

static const struct counter_schema counters[] = {
    {.name = "Bytes Total/sec",
     .help = "Bytes received and sent, with their frames.",
     .type = PERF_COUNTER_BULK_COUNT,
     .scale = -4,
     .index = 388,
     .source = "rx_bytes + tx_bytes"},
    {.name = "Packets/sec",
     .help = "Packets received and sent.",
     .type = PERF_COUNTER_COUNTER,
     .index = 400,
     .source = "rx_packets + tx_packets"},
    {.name = "Packets Received/sec",
     .help = "Packets received.",
     .type = PERF_COUNTER_COUNTER,
     .index = 266,
     .source = "rx_packets"},
    {.name = "Packets Sent/sec",
     .help = "Packets sent.",
     .type = PERF_COUNTER_COUNTER,
     .index = 452,
     .source = "tx_packets"},
    {.name = "Current Bandwidth",
     .help = "Speed of the interface in bits per second, where its driver tells it.",
     .type = PERF_COUNTER_LARGE_RAWCOUNT,
     .scale = -6,
     .index = 520,
     .source = "speed * 1000000"},
    {.name = "Bytes Received/sec",
     .help = "Bytes received, with their frames.",
     .type = PERF_COUNTER_BULK_COUNT,
     .scale = -4,
     .index = 264,
     .source = "rx_bytes"},
    {.name = "Packets Received Discarded",
     .help = "Packets without a fault that were dropped on receipt, so far.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 526,
     .source = "rx_drop"},
    {.name = "Packets Received Errors",
     .help = "Packets received with an error, so far.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 528,
     .source = "rx_errs"},
    {.name = "Bytes Sent/sec",
     .help = "Bytes sent, with their frames.",
     .type = PERF_COUNTER_BULK_COUNT,
     .scale = -4,
     .index = 506,
     .source = "tx_bytes"},
    {.name = "Packets Outbound Discarded",
     .help = "Packets without a fault that were dropped in place of being sent, so far.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 536,
     .source = "tx_drop"},
    {.name = "Packets Outbound Errors",
     .help = "Packets that could not be sent for an error, so far.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 538,
     .source = "tx_errs"},
};

/* The files with the interfaces' speeds, beside the instances of the sample that asked for them last. */
struct interface_state {
    struct table_state table;
    struct instance_list *names;
    struct kernel_file **speeds; /* NULL for an interface that has none */
};

static void forget(struct interface_state *s)
{
    for (size_t i = 0; s->speeds && s->names && i < s->names->count; i++)
        kernel_file_close(s->speeds[i]);
    memory_free(s->speeds);
    instance_list_release(s->names);
    s->names = NULL;
    s->speeds = NULL;
}

static void close_state(void *state)
{
    forget(state);
}

/* The file of a row: one that is open already, or opened now. */
static struct kernel_file *take_file(struct interface_state *s, const char *root, const char *name)
{
    size_t place = instance_list_find(s->names, name);
    struct kernel_file *file = NULL;
    char path[512];
    if (place != SIZE_MAX && s->speeds[place]) {
        file = s->speeds[place];
        s->speeds[place] = NULL;
        return file;
    }
    snprintf(path, sizeof path, "%s/sys/class/net/%s/speed", root, name);
    kernel_file_open(path, &file);
    return file;
}

/* Brings the files up to the rows. */
static HRESULT follow(struct interface_state *s, const char *root)
{
    const struct table_state *t = &s->table;
    bool same = s->names && s->names->count == t->row_count;
    for (size_t i = 0; same && i < t->row_count; i++)
        same = s->names->items[i].key == t->rows[i].key;
    if (same)
        return S_OK;
    const char **names = memory_alloc(t->row_count * sizeof *names);
    uint64_t *keys = memory_alloc(t->row_count * sizeof *keys);
    struct kernel_file **speeds = memory_zero(t->row_count, sizeof *speeds);
    struct instance_list *list = NULL;
    for (size_t i = 0; names && keys && i < t->row_count; i++) {
        names[i] = t->names + t->rows[i].name;
        keys[i] = t->rows[i].key;
    }
    if (names && keys && speeds)
        list = instance_list_create_ready(t->row_count, names, keys);
    for (size_t i = 0; list && i < t->row_count; i++)
        speeds[i] = take_file(s, root, names[i]);
    memory_free(names);
    memory_free(keys);
    if (!list) {
        memory_free(speeds);
        return E_OUTOFMEMORY;
    }
    forget(s);
    s->names = list;
    s->speeds = speeds;
    return S_OK;
}

/* Interfaces without a link, and those that have no speed of their own, read as an error or as -1. */
static HRESULT add_speeds(struct interface_state *s, const char *root)
{
    HRESULT hr = follow(s, root);
    for (size_t i = 0; SUCCEEDED(hr) && i < s->table.row_count; i++) {
        const char *text;
        size_t size;
        uint64_t value;
        if (s->speeds[i] && SUCCEEDED(kernel_file_read(s->speeds[i], &text, &size)) && text_to_u64(text, &value))
            s->table.cells[i * s->table.column_count + SPEED] = (int64_t)value;
    }
    return hr;
}

static HRESULT gather(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct interface_state *s = o->state;
    const char *text;
    size_t size;
    HRESULT hr = source_text(source, &o->hold, SOURCE_NET_DEV, &text, &size, &o->time);
    struct kernel_row row;
    if (FAILED(hr))
        return hr;
    for (const char *at = text; kernel_interface_next(&at, text + size, &row);) {
        if (row.length == 2 && !memcmp(row.name, "lo", 2))
            continue;
        int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, row.name, row.length, 0);
        if (!cells)
            return E_OUTOFMEMORY;
        for (size_t i = 0; i < row.count && i < FILE_COLUMNS; i++)
            cells[i] = (int64_t)row.values[i];
    }
    return wanted & BIT(SPEED) ? add_speeds(s, source_root(source)) : S_OK;
}

static const struct table layout = {"/proc/net/dev, its 16 columns; speed: /sys/class/net/NAME/speed, in Mbit/s",
                                    columns, COLUMNS, gather, close_state};

const struct provider pdh_network_interface = {
    .name = "Network Interface",
    .help = "The network interfaces of this computer, under their Linux names.",
    .index = 510,
    .has_instances = true,
    TABLE_PROVIDER(counters, sizeof counters / sizeof *counters, layout, struct interface_state)};
