/* SPDX-License-Identifier: MIT */
/* CounterDetails: a row is searched by its names and details, read back after it is written, so that no way of asking
   for a new identity is needed, which each database has its own of. */
#include "engine/logs/sql/sql_details.h"

#include "engine/base/memory.h"
#include "engine/logs/sql_tables.h"

#include <stdio.h>
#include <string.h>

static const struct log_counter *names_of(const struct sql_slot *slot)
{
    return &slot->names.items[0];
}

/* The slots of a batch that have no CounterID yet, to be found by their names. */
struct pending {
    struct sql_slot **slots;
    size_t count, capacity;
    uint32_t *table; /* open addressing: index + 1 into slots, 0 = empty */
    size_t mask;
};

static void pending_free(struct pending *p)
{
    memory_free(p->slots);
    memory_free(p->table);
}

/* -1 marks what is in the list already. */
static HRESULT pending_collect(struct pending *p, struct sql_slot *const *slots, const struct sql_sample *first)
{
    for (const struct sql_sample *sample = first; sample; sample = sample->next) {
        for (size_t i = 0; i < sample->count; i++) {
            struct sql_slot *slot = slots[sample->rows[i].slot];
            void *items = p->slots;
            if (slot->id != 0)
                continue;
            if (!memory_grow(&items, &p->capacity, p->count + 1, sizeof *p->slots))
                return E_OUTOFMEMORY;
            p->slots = items;
            p->slots[p->count++] = slot;
            slot->id = -1;
        }
    }
    size_t size = 16;
    while (size < p->count * 2)
        size *= 2;
    p->mask = size - 1;
    p->table = memory_zero(size, sizeof *p->table);
    if (!p->table)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < p->count; i++) {
        size_t at = (size_t)log_counter_hash(names_of(p->slots[i])) & p->mask;
        while (p->table[at] != 0)
            at = (at + 1) & p->mask;
        p->table[at] = (uint32_t)i + 1;
    }
    return S_OK;
}

static bool same_details(const struct log_counter *a, const struct log_counter *b)
{
    return a->type == b->type && a->default_scale == b->default_scale && a->time_base == b->time_base &&
           log_counter_same(a, b);
}

/* The first row that fits gives a slot its id. */
static void pending_found(struct pending *p, const struct log_counter *names, int32_t id)
{
    size_t at = (size_t)log_counter_hash(names) & p->mask;
    for (; p->table[at] != 0; at = (at + 1) & p->mask) {
        struct sql_slot *slot = p->slots[p->table[at] - 1];
        if (slot->id == -1 && same_details(names_of(slot), names))
            slot->id = id;
    }
}

enum { D_ID, D_COUNTER, D_TYPE, D_SCALE, D_INSTANCE, D_INDEX, D_PARENT, D_BASE_A, D_BASE_B, DETAILS };

static HRESULT read_details(struct pending *p, struct odbc_statement *select, const struct odbc_value *row,
                            const struct log_counter *group)
{
    HRESULT hr = odbc_execute(select);
    while (SUCCEEDED(hr) && (hr = odbc_fetch(select)) == S_OK) {
        char *counter = NULL, *instance = NULL, *parent = NULL;
        hr = odbc_get_text(&row[D_COUNTER], &counter);
        if (SUCCEEDED(hr))
            hr = odbc_get_text(&row[D_INSTANCE], &instance);
        if (SUCCEEDED(hr))
            hr = odbc_get_text(&row[D_PARENT], &parent);
        if (SUCCEEDED(hr)) {
            struct log_counter names = {.machine = group->machine, .object = group->object, .counter = counter};
            names.instance = row[D_INSTANCE].length == ODBC_NULL ? NULL : instance;
            names.parent = row[D_PARENT].length == ODBC_NULL ? NULL : parent;
            names.index = row[D_INDEX].length == ODBC_NULL ? 0 : (uint32_t)row[D_INDEX].integer;
            names.type = (uint32_t)row[D_TYPE].integer;
            names.default_scale = row[D_SCALE].integer;
            names.time_base =
                (int64_t)((uint64_t)(uint32_t)row[D_BASE_B].integer << 32 | (uint32_t)row[D_BASE_A].integer);
            if (row[D_BASE_A].length == ODBC_NULL || row[D_BASE_B].length == ODBC_NULL)
                names.time_base = 0;
            pending_found(p, &names, row[D_ID].integer);
        }
        memory_free(counter);
        memory_free(instance);
        memory_free(parent);
    }
    return FAILED(hr) ? hr : S_OK;
}

/* Looks for the pending slots among the rows of their machines and objects. */
static HRESULT find_counters(struct odbc *c, struct pending *p)
{
    WCHAR room[5][SQL_NAME_UNITS];
    struct odbc_value in[2], row[DETAILS] = {{.kind = ODBC_INTEGER}};
    const int texts[] = {D_COUNTER, D_INSTANCE, D_PARENT};
    struct odbc_statement *select;
    for (size_t i = 0; i < 3; i++)
        row[texts[i]] = odbc_text(room[i], SQL_NAME_UNITS);
    in[0] = odbc_text(room[3], SQL_NAME_UNITS);
    in[1] = odbc_text(room[4], SQL_NAME_UNITS);
    HRESULT hr = odbc_prepare(c,
                              "SELECT CounterID, CounterName, CounterType, DefaultScale, InstanceName, InstanceIndex, "
                              "ParentName, TimeBaseA, TimeBaseB FROM CounterDetails WHERE MachineName = ? AND "
                              "ObjectName = ? ORDER BY CounterID",
                              in, 2, row, DETAILS, &select);
    if (FAILED(hr))
        return hr;
    const struct log_counter *last = NULL;
    for (size_t i = 0; i < p->count && SUCCEEDED(hr); i++) {
        const struct log_counter *names = names_of(p->slots[i]);
        /* Counters of one object usually stand together; one that was asked for in vain is asked for once more. */
        bool same = last && strcmp(last->machine, names->machine) == 0 && strcmp(last->object, names->object) == 0;
        if (p->slots[i]->id != -1 || same)
            continue;
        odbc_set_text(&in[0], names->machine);
        odbc_set_text(&in[1], names->object);
        hr = read_details(p, select, row, names);
        last = names;
    }
    odbc_close(select);
    return hr;
}

static HRESULT insert_counters(struct odbc *c, struct pending *p)
{
    WCHAR room[5][SQL_NAME_UNITS];
    struct odbc_value in[10] = {{.kind = ODBC_INTEGER}};
    const int texts[] = {0, 1, 2, 5, 7};
    struct odbc_statement *insert;
    for (size_t i = 0; i < 5; i++)
        in[texts[i]] = odbc_text(room[i], SQL_NAME_UNITS);
    HRESULT hr = odbc_prepare(c,
                              "INSERT INTO CounterDetails (MachineName, ObjectName, CounterName, CounterType, "
                              "DefaultScale, InstanceName, InstanceIndex, ParentName, TimeBaseA, TimeBaseB) VALUES "
                              "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                              in, 10, NULL, 0, &insert);
    for (size_t i = 0; i < p->count && SUCCEEDED(hr); i++) {
        const struct log_counter *names = names_of(p->slots[i]);
        if (p->slots[i]->id != -1)
            continue;
        odbc_set_text(&in[0], names->machine);
        odbc_set_text(&in[1], names->object);
        odbc_set_text(&in[2], names->counter);
        odbc_set_integer(&in[3], true, names->type);
        odbc_set_integer(&in[4], true, (uint32_t)names->default_scale);
        odbc_set_text(&in[5], names->instance);
        odbc_set_integer(&in[6], names->instance != NULL, names->index);
        odbc_set_text(&in[7], names->parent);
        odbc_set_integer(&in[8], true, (uint32_t)names->time_base);
        odbc_set_integer(&in[9], true, (uint32_t)((uint64_t)names->time_base >> 32));
        hr = odbc_execute(insert);
    }
    odbc_close(insert);
    return hr;
}

/* An earlier run's counters went up to some index; this run's go on above it. */
static HRESULT raise_highest(struct odbc *c, const char *guid, const struct pending *p, int64_t *highest)
{
    struct odbc_value in = {.kind = ODBC_INTEGER}, out = {.kind = ODBC_INTEGER};
    char sql[160];
    struct odbc_statement *select;
    snprintf(sql, sizeof sql, "SELECT MAX(RecordIndex) FROM CounterData WHERE GUID = '%s' AND CounterID = ?", guid);
    HRESULT hr = odbc_prepare(c, sql, &in, 1, &out, 1, &select);
    for (size_t i = 0; i < p->count && SUCCEEDED(hr); i++) {
        if (p->slots[i]->id == -1)
            continue;
        in.integer = p->slots[i]->id;
        hr = odbc_execute(select);
        if (SUCCEEDED(hr))
            hr = odbc_fetch(select);
        if (hr == S_OK && out.length != ODBC_NULL && out.integer > *highest)
            *highest = out.integer;
    }
    odbc_close(select);
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT check_found(const struct pending *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->slots[i]->id <= 0) {
            char *path = log_counter_path(names_of(p->slots[i]));
            HRESULT hr = error_set(E_UNEXPECTED, "CounterDetails: the row of %s cannot be read back as it was written",
                                   path ? path : "a counter");
            memory_free(path);
            return hr;
        }
    }
    return S_OK;
}

HRESULT sql_details_resolve(struct odbc *c, const char *guid, struct sql_slot *const *slots,
                            const struct sql_sample *first, int64_t *highest)
{
    struct pending p = {0};
    HRESULT hr = pending_collect(&p, slots, first);
    if (SUCCEEDED(hr) && p.count > 0) {
        hr = find_counters(c, &p);
        if (SUCCEEDED(hr))
            hr = raise_highest(c, guid, &p, highest);
        if (SUCCEEDED(hr))
            hr = insert_counters(c, &p);
        if (SUCCEEDED(hr))
            hr = find_counters(c, &p);
        if (SUCCEEDED(hr))
            hr = check_found(&p);
    }
    for (size_t i = 0; i < p.count; i++)
        if (p.slots[i]->id == -1)
            p.slots[i]->id = 0;
    pending_free(&p);
    return hr;
}
