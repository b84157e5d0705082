/* SPDX-License-Identifier: MIT */
/* The objects Network Interface and Network Adapter, from /proc/net/dev and /sys/class/net. As on Windows there is no
   loopback, and no _Total. */
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/pdh/objects/providers.h"

#include <stdio.h>
#include <string.h>

#define OBJECT network_interface
#define ROWS   "engine/pdh/objects/network_interface_counters.def"
#include "engine/pdh/core/counter_rows.inc"
#define BIT(column) (1ull << (column))

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
    struct instance_list *list;
    HRESULT hr = table_instances(t, s->names, &list);
    if (hr != S_OK)
        return hr;
    struct kernel_file **speeds = memory_zero(t->row_count, sizeof *speeds);
    if (!speeds) {
        instance_list_release(list);
        return E_OUTOFMEMORY;
    }
    for (size_t i = 0; i < t->row_count; i++)
        speeds[i] = take_file(s, root, t->names + t->rows[i].name);
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
    table_know_columns(&s->table, (1ull << (SPEED + 1)) - 1);
    for (const char *at = text; kernel_interface_next(&at, text + size, &row);) {
        if (row.length == 2 && !memcmp(row.name, "lo", 2))
            continue;
        int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, row.name, row.length, 0);
        if (!cells)
            return E_OUTOFMEMORY;
        for (size_t i = 0; i < row.count && i < SPEED; i++)
            cells[i] = (int64_t)row.values[i];
    }
    return wanted & BIT(SPEED) ? add_speeds(s, source_root(source)) : S_OK;
}

#define ORIGIN "/proc/net/dev, its 16 columns; speed: /sys/class/net/NAME/speed, in Mbit/s"
const struct provider pdh_network_adapter = {
    .name = "Network Adapter",
    .help = "The network adapters of this computer: those of the object Network Interface, as every one can carry IP.",
    .has_instances = true,
    TABLE_PROVIDER(network_interface, ALL_OF, struct interface_state, gather, close_state, ORIGIN)};
const struct provider pdh_network_interface = {
    .name = "Network Interface",
    .index = 510,
    .help = "The network interfaces of this computer, under their Linux names.",
    .has_instances = true,
    TABLE_PROVIDER(network_interface, ALL_OF, struct interface_state, gather, close_state, ORIGIN)};
