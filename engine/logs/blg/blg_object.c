/* SPDX-License-Identifier: MIT */
/* Fills the cells of a binary log's samples: single counters, wildcard counters, and whole objects. Instance names are
   decoded only when they differ from those of the previous sample. In whole objects, instances with the same name get
   suffixes "#1", "#2", as in counter paths. An instance with a parent (such as a thread of a process) is named
   "parent/instance" if the parent's object is logged too. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/blg/blg_parts.h"
#include "engine/logs/blg_records.h"
#include "engine/logs/etl_record.h"
#include "engine/logs/little_endian.h"
#include "engine/logs/pdh_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_PER_UNIT = 3 }; /* maximum bytes of UTF-8 per UTF-16 unit */

static bool same_name(const char *a, const char *b)
{
    return !a || !b ? a == b : strcmp(a, b) == 0;
}

static bool same_counter(const struct log_counter *a, const struct log_counter *b)
{
    return a->wildcard == b->wildcard && a->type == b->type && a->index == b->index && a->time_base == b->time_base &&
           same_name(a->counter, b->counter) && same_name(a->instance, b->instance) &&
           same_name(a->object, b->object) && same_name(a->parent, b->parent) && same_name(a->machine, b->machine);
}

HRESULT blg_columns_add(struct blg_columns *c, const struct log_counter *counter, bool find, size_t *column)
{
    const size_t count = c->counters->count, first = count != 0 ? *column % count : 0;
    for (size_t i = 0; find && i < count; i++) {
        if (same_counter(&c->counters->items[(first + i) % count], counter)) {
            *column = (first + i) % count;
            return S_OK;
        }
    }
    void *cells = c->cells, *instances = c->instances;
    const bool room = memory_grow(&cells, &c->cell_capacity, count + 1, sizeof *c->cells) != 0 &&
                      memory_grow(&instances, &c->instances_capacity, count + 1, sizeof *c->instances) != 0;
    c->cells = cells;
    c->instances = instances;
    HRESULT hr = room ? log_counters_add(c->counters, counter)
                      : error_set(E_OUTOFMEMORY, "out of memory for %zu counters", count + 1);
    if (FAILED(hr))
        return hr;
    c->cells[count] = (struct log_cell){.raw.status = PDH_CSTATUS_NO_COUNTER};
    c->instances[count] = (struct blg_instances){0};
    *column = count;
    return S_OK;
}

void blg_columns_clear(struct blg_columns *c)
{
    for (size_t i = 0; i < c->counters->count; i++)
        c->cells[i] = (struct log_cell){.raw.status = PDH_CSTATUS_NO_COUNTER};
}

/* Allocates `count` items for the column without setting them. */
static HRESULT blg_columns_room(struct blg_columns *c, size_t column, size_t count)
{
    struct blg_instances *n = &c->instances[column];
    void *items = n->items;
    if (!memory_grow(&items, &n->capacity, count, sizeof *n->items))
        return error_set(E_OUTOFMEMORY, "out of memory for %zu instances of a counter", count);
    n->items = items;
    return S_OK;
}

/* Writes a name as UTF-8 to `to` and returns its size, including the NUL; 0: out of memory. */
static size_t put_text(const uint8_t *name, size_t units, char *to)
{
    size_t i = 0;
    for (; i < units && get_u16(name + 2 * i) < 0x80; i++)
        to[i] = (char)name[2 * i];
    if (i == units) {
        to[i] = '\0';
        return units + 1;
    }
    char *text = etl_text(name, units);
    if (!text)
        return 0;
    const size_t size = strlen(text) + 1;
    memcpy(to, text, size);
    memory_free(text);
    return size;
}

/* Returns whether the block has the same instance names, in the same order, as n->text. */
static bool same_names(const struct blg_instances *n, const uint8_t *block, size_t size, size_t count)
{
    const size_t head = BLG_WILDCARD_HEAD + count * BLG_WILDCARD_ITEM;
    if (n->count != count || n->names_size != size - head + count * sizeof(uint32_t))
        return false;
    for (size_t i = 0; i < count; i++)
        if (memcmp(n->names + i * sizeof(uint32_t), block + BLG_WILDCARD_HEAD + i * BLG_WILDCARD_ITEM,
                   sizeof(uint32_t)) != 0)
            return false;
    return memcmp(n->names + count * sizeof(uint32_t), block + head, size - head) == 0;
}

/* Decodes all names. S_FALSE: a name is outside the block, or together the names are longer than the block. */
static HRESULT instances_make_names(struct blg_instances *n, const uint8_t *block, size_t size, size_t count)
{
    const size_t head = BLG_WILDCARD_HEAD + count * BLG_WILDCARD_ITEM, offsets = count * sizeof(uint32_t);
    const uint8_t *item = block + BLG_WILDCARD_HEAD;
    void *names = n->names, *texts = n->text;
    n->names_size = 0; /* invalid until everything is decoded */
    /* One byte is added, so that memory is allocated even if there are no names. */
    if (!memory_grow(&texts, &n->text_capacity, (size - head) / 2 * BYTES_PER_UNIT + count + 1, 1))
        return error_set(E_OUTOFMEMORY, "out of memory for the names of %zu instances", count);
    n->text = texts;
    if (!memory_grow(&names, &n->names_capacity, offsets + size - head + 1, 1))
        return error_set(E_OUTOFMEMORY, "out of memory for the names of %zu instances", count);
    n->names = names;
    char *to = n->text;
    size_t room = size - head;
    for (size_t i = 0; i < count; i++, item += BLG_WILDCARD_ITEM) {
        const uint32_t at = get_u32(item);
        size_t units, bytes;
        if (at < head || at > size || !etl_text_length(block + at, size - at, &units) || units * 2 + 2 > room)
            return S_FALSE;
        bytes = put_text(block + at, units, to);
        if (bytes == 0)
            return error_set(E_OUTOFMEMORY, "out of memory for the names of %zu instances", count);
        n->items[i].instance = to;
        to += bytes;
        room -= units * 2 + 2;
        memcpy(n->names + i * sizeof at, item, sizeof at);
    }
    memcpy(n->names + offsets, block + head, size - head);
    n->names_size = offsets + size - head;
    n->count = count;
    return S_OK;
}

HRESULT blg_columns_wildcard(struct blg_columns *c, size_t column, const uint8_t *block, size_t size)
{
    struct blg_instances *n = &c->instances[column];
    if (size < BLG_WILDCARD_HEAD || get_u32(block) > size)
        return S_FALSE;
    size = get_u32(block);
    const size_t count = size < BLG_WILDCARD_HEAD ? 0 : get_u32(block + 0x04);
    if (size < BLG_WILDCARD_HEAD || count > (size - BLG_WILDCARD_HEAD) / BLG_WILDCARD_ITEM)
        return S_FALSE;
    if (count != 0 && !same_names(n, block, size, count)) {
        HRESULT hr = blg_columns_room(c, column, count);
        if (SUCCEEDED(hr))
            hr = instances_make_names(n, block, size, count);
        if (hr != S_OK)
            return hr;
    }
    const uint32_t status = get_u32(block + 0x08);
    const uint8_t *at = block + BLG_WILDCARD_HEAD;
    for (size_t i = 0; i < count; i++, at += BLG_WILDCARD_ITEM) {
        const uint32_t multi = get_u32(at + 0x04);
        n->items[i].raw = (struct log_raw){.status = status,
                                           .first = (int64_t)get_u64(at + 0x08),
                                           .second = (int64_t)get_u64(at + 0x10),
                                           .multi_count = multi != 0 ? multi : 1};
    }
    c->cells[column] = (struct log_cell){.raw.status = status, .items = n->items, .item_count = count};
    return S_OK;
}

void blg_columns_free(struct blg_columns *c)
{
    for (size_t i = 0; i < c->counters->count && c->instances; i++) {
        memory_free(c->instances[i].items);
        memory_free(c->instances[i].names);
        memory_free(c->instances[i].text);
    }
    memory_free(c->cells);
    memory_free(c->instances);
}

/* ---- whole objects ---- */

enum { MAX_NAMES = 1 << 18, MAX_PARENT_UNITS = 1024, INDEX_ROOM = 16 };

static HRESULT out_of_memory(const char *object)
{
    return error_set(E_OUTOFMEMORY, "out of memory for the object '%s'", object);
}

/* Reads the string at *at and moves *at past its NUL. S_FALSE: the record ends inside the string. */
static HRESULT next_text(const uint8_t *record, size_t size, size_t *at, char **out)
{
    size_t units;
    if (!etl_text_length(record + *at, size - *at, &units))
        return S_FALSE;
    *out = etl_text(record + *at, units);
    *at += units * 2 + 2;
    return *out ? S_OK : error_set(E_OUTOFMEMORY, "out of memory for a name");
}

static HRESULT add_name(struct blg_names *names, uint32_t index, char *text)
{
    void *items = names->items;
    if (names->count >= MAX_NAMES || !memory_grow(&items, &names->capacity, names->count + 1, sizeof *names->items)) {
        memory_free(text);
        return error_set(E_OUTOFMEMORY, "out of memory for a table of %zu names", names->count);
    }
    names->items = items;
    names->items[names->count++] = (struct blg_name){index, text};
    names->sorted = false;
    return S_OK;
}

static int compare_names(const void *a, const void *b)
{
    const struct blg_name *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* Returns the name for a title index; NULL: unknown. */
static const char *blg_names_find(struct blg_names *names, uint32_t index)
{
    const struct blg_name key = {.index = index};
    if (names->count == 0)
        return NULL;
    if (!names->sorted) {
        qsort(names->items, names->count, sizeof *names->items, compare_names);
        names->sorted = true;
    }
    const struct blg_name *found = bsearch(&key, names->items, names->count, sizeof *names->items, compare_names);
    return found ? found->text : NULL;
}

HRESULT blg_names_add(struct blg_names *names, const uint8_t *record, size_t size)
{
    size_t at = 0;
    char *text = NULL;
    HRESULT hr = next_text(record, size, &at, &text); /* skips the name of the machine */
    while (hr == S_OK && at < size) {
        uint64_t index;
        memory_free(text);
        text = NULL;
        hr = next_text(record, size, &at, &text);
        if (hr != S_OK)
            break;
        const bool number = text_to_u64(text, &index) && index <= UINT32_MAX;
        memory_free(text);
        text = NULL;
        hr = number ? next_text(record, size, &at, &text) : S_FALSE;
        if (hr == S_OK && !blg_names_find(names, (uint32_t)index)) {
            hr = add_name(names, (uint32_t)index, text);
            text = NULL;
        }
    }
    memory_free(text);
    return hr;
}

void blg_names_free(struct blg_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        memory_free(names->items[i].text);
    memory_free(names->items);
    *names = (struct blg_names){0};
}

HRESULT blg_object_read(struct blg_object *o, const uint8_t *bytes, size_t size)
{
    struct perf_data data;
    o->present = false;
    o->instance_count = 0;
    if (!perf_data_read(bytes, size, &data) ||
        !perf_object_read(data.bytes + data.first, data.size - data.first, &o->data))
        return S_FALSE;
    o->times = data.times;
    size_t at = o->data.values;
    for (int32_t i = 0; i < o->data.instances; i++) {
        struct perf_instance instance;
        if (!perf_object_instance(&o->data, &at, &instance))
            return S_FALSE;
        void *instances = o->instances;
        if (!memory_grow(&instances, &o->instance_capacity, o->instance_count + 1, sizeof *o->instances))
            return out_of_memory(o->object);
        o->instances = instances;
        o->instances[o->instance_count++] = instance;
    }
    o->present = true;
    return S_OK;
}

/* Finds the column of one of the object's counters, or adds a column for a new counter. */
static HRESULT column_of(struct blg_object *o, const struct perf_counter *c, struct blg_names *names,
                         struct blg_columns *columns, size_t *column)
{
    char number[INDEX_ROOM];
    const char *name = blg_names_find(names, c->title);
    if (!name) { /* the log has no name table, or only one in another language */
        snprintf(number, sizeof number, "#%u", (unsigned)c->title);
        name = number;
    }
    const struct log_counter counter = {
        .machine = o->machine,
        .object = o->object,
        .instance = o->data.instances >= 0 ? "*" : NULL,
        .counter = name,
        .wildcard = o->data.instances >= 0,
        .type = c->type,
        .time_base = perf_counter_time_base(&o->times, &o->data, c),
        .default_scale = c->default_scale,
    };
    void *all = o->columns;
    if (!memory_grow(&all, &o->column_capacity, o->column_count + 1, sizeof *o->columns))
        return out_of_memory(o->object);
    o->columns = all;
    HRESULT hr = blg_columns_add(columns, &counter, true, column);
    if (SUCCEEDED(hr))
        o->columns[o->column_count++] = *column;
    return hr;
}

static bool same_definition(const struct blg_definition *a, const struct perf_counter *b)
{
    return a->counter.title == b->title && a->counter.type == b->type && a->counter.size == b->size &&
           a->counter.offset == b->offset;
}

HRESULT blg_object_columns(struct blg_object *o, struct blg_names *names, struct blg_columns *columns)
{
    size_t at = o->data.definitions;
    bool same = o->definition_count == o->data.counters;
    void *definitions = o->definitions;
    if (!memory_grow(&definitions, &o->definition_capacity, o->data.counters, sizeof *o->definitions))
        return out_of_memory(o->object);
    o->definitions = definitions;
    for (uint32_t i = 0; i < o->data.counters; i++) {
        struct perf_counter counter;
        if (!perf_object_counter(&o->data, &at, &counter)) {
            o->definition_count = 0;
            return S_FALSE;
        }
        same = same && same_definition(&o->definitions[i], &counter);
        if (!same)
            o->definitions[i] = (struct blg_definition){.counter = counter};
    }
    if (same)
        return S_OK;
    o->definition_count = 0;
    o->column_count = 0;
    size_t column = 0;
    for (uint32_t i = 0; i < o->data.counters; i++) {
        struct blg_definition *d = &o->definitions[i];
        d->shown = !perf_counter_is_base(&d->counter) && d->counter.type != PERF_COUNTER_NODATA;
        d->has_base = i + 1 < o->data.counters && perf_counter_is_base(&o->definitions[i + 1].counter);
        if (d->shown) {
            HRESULT hr = column_of(o, &d->counter, names, columns, &column);
            if (FAILED(hr))
                return hr;
            d->column = column;
        }
    }
    o->definition_count = o->data.counters;
    return S_OK;
}

static HRESULT add_text(struct blg_object *o, const char *text, size_t size)
{
    void *grown = o->text;
    if (size == 0)
        return S_OK;
    if (!memory_grow(&grown, &o->text_capacity, o->text_size + size, 1))
        return out_of_memory(o->object);
    o->text = grown;
    memcpy(o->text + o->text_size, text, size);
    o->text_size += size;
    return S_OK;
}

static HRESULT add_wide_text(struct blg_object *o, const uint8_t *at, size_t units, const char *behind, size_t size)
{
    char *text = etl_text(at, units);
    HRESULT hr = text ? add_text(o, text, strlen(text)) : out_of_memory(o->object);
    memory_free(text);
    return SUCCEEDED(hr) ? add_text(o, behind, size) : hr;
}

static HRESULT add_instance_name(struct blg_object *o, const struct perf_instance *instance,
                                 const struct blg_object *all, size_t count)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < count && instance->parent_title != 0; i++) {
        if (all[i].present && all[i].data.title == instance->parent_title && &all[i] != o &&
            instance->parent_index < all[i].instance_count) {
            const struct perf_instance *parent = &all[i].instances[instance->parent_index];
            hr = add_wide_text(o, parent->name,
                               parent->name_units < MAX_PARENT_UNITS ? parent->name_units : MAX_PARENT_UNITS, "/", 1);
            break;
        }
    }
    if (SUCCEEDED(hr) && instance->unique_id != -1) {
        char number[INDEX_ROOM];
        const int length = snprintf(number, sizeof number, "%d", (int)instance->unique_id);
        hr = add_text(o, number, (size_t)length + 1);
    } else if (SUCCEEDED(hr)) {
        hr = add_wide_text(o, instance->name, instance->name_units, "", 1);
    }
    return hr;
}

struct named {
    const char *name;
    size_t instance;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->instance > y->instance) - (x->instance < y->instance);
}

/* Adds a number to the names of the second and later instances with the same name. */
static HRESULT number_names(struct blg_object *o)
{
    struct named *sorted = memory_alloc(o->instance_count * sizeof *sorted);
    if (!sorted)
        return out_of_memory(o->object);
    for (size_t i = 0; i < o->instance_count; i++)
        sorted[i] = (struct named){o->text + o->names[i], i};
    qsort(sorted, o->instance_count, sizeof *sorted, compare_named);
    HRESULT hr = S_OK;
    size_t number = 0;
    for (size_t i = 1; i < o->instance_count && SUCCEEDED(hr); i++) {
        /* Adding text can move o->text, so the addresses of the names are computed again. */
        const char *name = o->text + o->names[sorted[i].instance];
        const size_t first = i - 1 - number;
        number = strcmp(o->text + o->names[sorted[first].instance], name) == 0 ? number + 1 : 0;
        if (number != 0) {
            char *numbered = text_format("%s#%zu", name, number);
            const size_t at = o->text_size;
            hr = numbered ? add_text(o, numbered, strlen(numbered) + 1) : out_of_memory(o->object);
            memory_free(numbered);
            o->names[sorted[i].instance] = at;
        }
    }
    memory_free(sorted);
    return hr;
}

static HRESULT object_make_names(struct blg_object *o, const struct blg_object *all, size_t count)
{
    void *names = o->names;
    if (!memory_grow(&names, &o->name_capacity, o->instance_count, sizeof *o->names))
        return out_of_memory(o->object);
    o->names = names;
    o->text_size = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < o->instance_count && SUCCEEDED(hr); i++) {
        o->names[i] = o->text_size;
        hr = add_instance_name(o, &o->instances[i], all, count);
    }
    return SUCCEEDED(hr) && o->instance_count > 1 ? number_names(o) : hr;
}

/* Reads the value of a text counter. Until all values are read, o->text can move, so `first` contains the value's
   offset in o->text instead of a pointer. */
static HRESULT read_text(struct blg_object *o, const struct perf_counter *c, const uint8_t *block, size_t block_size,
                         struct log_raw *out)
{
    enum { TEXT_ASCII = 0x10000 };
    *out = (struct log_raw){.multi_count = 1, .first = (int64_t)o->text_size};
    if (c->size == 0) { /* OpenPLA writes a missing value with size 0 */
        out->status = PDH_CSTATUS_INVALID_DATA;
        return S_OK;
    }
    if (c->offset > block_size || c->size > block_size - c->offset) {
        out->status = PDH_CSTATUS_INVALID_DATA;
        return S_FALSE;
    }
    const uint8_t *at = block + c->offset;
    size_t units = 0;
    if ((c->type & TEXT_ASCII) == 0) {
        if (!etl_text_length(at, c->size, &units))
            units = c->size / 2;
        return add_wide_text(o, at, units, "", 1);
    }
    for (; units < c->size && at[units] != 0; units++) {
        const char letter = at[units] < 0x80 ? (char)at[units] : '?';
        HRESULT hr = add_text(o, &letter, 1);
        if (FAILED(hr))
            return hr;
    }
    return add_text(o, "", 1);
}

static HRESULT read_value(struct blg_object *o, const struct blg_definition *d, const uint8_t *block, size_t block_size,
                          struct log_raw *out)
{
    if (perf_counter_is_text(&d->counter))
        return read_text(o, &d->counter, block, block_size, out);
    if (!perf_counter_raw(&o->times, &o->data, &d->counter, d->has_base ? &d[1].counter : NULL, block, block_size,
                          out)) {
        *out = (struct log_raw){.status = PDH_CSTATUS_INVALID_DATA};
        return S_FALSE;
    }
    return S_OK;
}

static void place_text(const struct blg_object *o, const struct blg_definition *d, struct log_raw *raw)
{
    if (perf_counter_is_text(&d->counter) && raw->status == 0) {
        raw->text = o->text + raw->first;
        raw->first = 0;
    }
}

static HRESULT read_column(struct blg_object *o, const struct blg_definition *d, struct blg_columns *columns)
{
    struct log_cell *cell = &columns->cells[d->column];
    bool damaged = false;
    *cell = (struct log_cell){.raw = {.status = PDH_CSTATUS_INVALID_DATA}};
    if (o->data.instances < 0) {
        const uint8_t *block;
        size_t size;
        return perf_object_block(&o->data, &block, &size) ? read_value(o, d, block, size, &cell->raw) : S_FALSE;
    }
    HRESULT hr = blg_columns_room(columns, d->column, o->instance_count);
    if (FAILED(hr))
        return hr;
    struct log_item *items = columns->instances[d->column].items;
    for (size_t i = 0; i < o->instance_count; i++) {
        hr = read_value(o, d, o->instances[i].block, o->instances[i].block_size, &items[i].raw);
        if (FAILED(hr))
            return hr;
        damaged = damaged || hr == S_FALSE;
    }
    *cell = (struct log_cell){.items = items, .item_count = o->instance_count};
    return damaged ? S_FALSE : S_OK;
}

HRESULT blg_object_cells(struct blg_object *o, const struct blg_object *all, size_t count, struct blg_names *names,
                         struct blg_columns *columns)
{
    HRESULT hr = blg_object_columns(o, names, columns);
    if (hr != S_OK)
        return hr;
    for (size_t i = 0; i < o->column_count; i++)
        columns->cells[o->columns[i]].raw.status = PDH_CSTATUS_INVALID_DATA;
    hr = object_make_names(o, all, count);
    bool damaged = false;
    for (size_t i = 0; i < o->definition_count && SUCCEEDED(hr); i++) {
        if (o->definitions[i].shown) {
            hr = read_column(o, &o->definitions[i], columns);
            damaged = damaged || hr == S_FALSE;
        }
    }
    /* From here on, o->text no longer moves. */
    for (size_t i = 0; i < o->definition_count && SUCCEEDED(hr); i++) {
        const struct blg_definition *d = &o->definitions[i];
        if (!d->shown)
            continue;
        struct log_cell *cell = &columns->cells[d->column];
        if (o->data.instances < 0)
            place_text(o, d, &cell->raw);
        for (size_t k = 0; k < cell->item_count; k++) {
            struct log_item *item = &columns->instances[d->column].items[k];
            item->instance = o->text + o->names[k];
            place_text(o, d, &item->raw);
        }
    }
    return FAILED(hr) ? hr : damaged ? S_FALSE : S_OK;
}

void blg_object_free(struct blg_object *o)
{
    memory_free(o->machine);
    memory_free(o->object);
    memory_free(o->instances);
    memory_free(o->definitions);
    memory_free(o->columns);
    memory_free(o->text);
    memory_free(o->names);
}
