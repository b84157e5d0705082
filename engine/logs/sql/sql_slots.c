/* SPDX-License-Identifier: MIT */
/* Manages the slots of an SQL log. A slot is found by counter, instance and occurrence. */
#include "engine/base/memory.h"
#include "engine/logs/counter_path.h"
#include "engine/logs/sql/sql_set.h"
#include "engine/logs/sql_log.h"

#include <string.h>

enum { LONGEST_NAME = SQL_NAME_UNITS - 1 };

struct sql_slot_entry {
    struct sql_slot slot;
    uint32_t counter;    /* index in the log's counters */
    uint32_t occurrence; /* number among the instances of the same name in one sample */
    uint64_t hash;       /* hash of counter, instance and occurrence */
    uint32_t used;       /* number of the last sample that used the slot */
    char *instance;      /* NULL for a single counter */
};

static uint64_t entry_hash(uint32_t counter, const char *instance, uint32_t occurrence)
{
    const struct log_counter key = {.instance = instance, .index = counter ^ occurrence << 20};
    return log_counter_hash(&key);
}

static void table_put(struct sql_slots *s, size_t index)
{
    size_t at = (size_t)s->entries[index]->hash & s->mask;
    while (s->table[at] != 0)
        at = (at + 1) & s->mask;
    s->table[at] = (uint32_t)index + 1;
}

/* Reserves space for one more entry in the table. The table stays at most half full. */
static bool table_grow(struct sql_slots *s)
{
    if (s->table && (s->count + 1) * 2 <= s->mask + 1)
        return true;
    size_t size = s->table ? (s->mask + 1) * 2 : 64;
    while (size < (s->count + 1) * 2)
        size *= 2;
    uint32_t *table = memory_zero(size, sizeof *table);
    if (!table)
        return false;
    memory_free(s->table);
    s->table = table;
    s->mask = size - 1;
    for (size_t i = 0; i < s->count; i++)
        table_put(s, i);
    return true;
}

/* Replaces the name with a copy that is truncated to the length of its column. NULL becomes "" if `required`. */
static bool column_text(const char **name, bool required)
{
    if (!*name && !required)
        return true;
    char *text = text_copy(*name);
    *name = text;
    if (!text)
        return false;
    for (size_t n = strlen(text); text_utf16_length(text) > LONGEST_NAME;) {
        do {
            n--;
        } while (((unsigned char)text[n] & 0xC0) == 0x80);
        text[n] = '\0';
    }
    return true;
}

/* Adds the names for a slot: the names of a single counter, or of the instance `instance` of a wildcard counter. The
   index distinguishes equal instance names of one sample: "a", "a" and "a#1". */
static HRESULT slot_names(const struct log_counter *counter, const char *instance, uint32_t occurrence,
                          struct log_counters *out)
{
    struct log_counter names = *counter;
    struct counter_path path = {0};
    names.path = NULL;
    names.wildcard = false;
    if (instance) {
        char *text = text_format("\\o(%s)\\c", instance);
        PDH_STATUS status = text ? counter_path_parse(text, &path) : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        memory_free(text);
        if ((DWORD)status == PDH_MEMORY_ALLOCATION_FAILURE)
            return E_OUTOFMEMORY;
        names.instance = path.instance ? path.instance : instance;
        names.parent = path.parent;
        names.index = (!path.instance || path.index == PATH_NO_INDEX ? 0 : path.index) + occurrence;
    }
    const char **const texts[] = {&names.machine, &names.object, &names.counter, &names.instance, &names.parent};
    bool copied = true;
    size_t count = 0;
    while (count < sizeof texts / sizeof *texts && copied) {
        copied = column_text(texts[count], count < 3);
        count++;
    }
    HRESULT hr = copied ? log_counters_add(out, &names) : E_OUTOFMEMORY;
    for (size_t i = 0; i < count; i++)
        memory_free((void *)*texts[i]);
    counter_path_free(&path);
    return hr;
}

static HRESULT add_entry(struct sql_slots *s, uint32_t counter, const char *instance, uint32_t occurrence,
                         uint64_t hash)
{
    struct sql_slot_entry *e = memory_zero(1, sizeof *e);
    if (!e)
        return E_OUTOFMEMORY;
    e->counter = counter;
    e->occurrence = occurrence;
    e->hash = hash;
    e->instance = instance ? text_copy(instance) : NULL;
    HRESULT hr = !e->instance && instance ? E_OUTOFMEMORY : S_OK;
    if (SUCCEEDED(hr))
        hr = slot_names(&s->counters->items[counter], instance, occurrence, &e->slot.names);
    if (SUCCEEDED(hr) && !table_grow(s))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        lock_enter(&s->lock);
        void *entries = s->entries;
        if (memory_grow(&entries, &s->capacity, s->count + 1, sizeof *s->entries)) {
            s->entries = entries;
            s->entries[s->count++] = e;
        } else {
            hr = E_OUTOFMEMORY;
        }
        lock_leave(&s->lock);
    }
    if (FAILED(hr)) {
        log_counters_free(&e->slot.names);
        memory_free(e->instance);
        memory_free(e);
        return hr;
    }
    table_put(s, s->count - 1);
    return S_OK;
}

HRESULT sql_slots_find(struct sql_slots *s, uint32_t counter, const char *instance, uint32_t sample, uint32_t *out)
{
    for (uint32_t occurrence = 0;; occurrence++) {
        uint64_t hash = entry_hash(counter, instance, occurrence);
        struct sql_slot_entry *found = NULL;
        for (size_t at = (size_t)hash & s->mask; s->table[at] != 0; at = (at + 1) & s->mask) {
            struct sql_slot_entry *e = s->entries[s->table[at] - 1];
            if (e->hash == hash && e->counter == counter && e->occurrence == occurrence && e->instance &&
                strcmp(e->instance, instance) == 0) {
                found = e;
                *out = s->table[at] - 1;
                break;
            }
        }
        if (!found) {
            HRESULT hr = add_entry(s, counter, instance, occurrence, hash);
            if (FAILED(hr))
                return hr;
            *out = (uint32_t)s->count - 1;
            found = s->entries[*out];
        }
        if (found->used != sample) {
            found->used = sample;
            return S_OK;
        }
    }
}

HRESULT sql_slots_init(struct sql_slots *s, const struct log_counters *counters)
{
    s->counters = counters;
    HRESULT hr = table_grow(s) ? S_OK : E_OUTOFMEMORY;
    for (uint32_t i = 0; i < counters->count && SUCCEEDED(hr); i++)
        if (!counters->items[i].wildcard)
            hr = add_entry(s, i, NULL, 0, entry_hash(i, NULL, 0));
    return hr;
}

void sql_slots_free(struct sql_slots *s)
{
    for (size_t i = 0; i < s->count; i++) {
        log_counters_free(&s->entries[i]->slot.names);
        memory_free(s->entries[i]->instance);
        memory_free(s->entries[i]);
    }
    memory_free(s->entries);
    memory_free(s->table);
}

bool sql_slots_list(struct sql_slots *s, struct sql_slot ***list, size_t *count, size_t *capacity)
{
    lock_enter(&s->lock);
    void *grown = *list;
    bool ok = memory_grow(&grown, capacity, s->count, sizeof **list) != 0;
    *list = grown;
    for (; ok && *count < s->count; (*count)++)
        (*list)[*count] = &s->entries[*count]->slot;
    lock_leave(&s->lock);
    return ok;
}
