/* SPDX-License-Identifier: MIT */
/* How a sample turns kernel files into values.

   A counter object that is a table has three layers of data. Take "\Memory\Available Bytes", whose row in
   object_memory.c has the source "meminfo.MemAvailable * 1024":

       /proc/meminfo           "MemAvailable:   8123456 kB"
             |  source_text: read at most once per sample and query
             v
       cells of a row          [ column 0 | column 1 | ... ]      int64_t, VALUE_ABSENT if missing
             |  table_evaluate_row: the compiled source, one program per value
             v
       values of a row         [ counter 0 | ... | hidden bases ]  o->values, one row per instance
             |  counter_object_raw, when the query asks for it
             v
       PDH_RAW_COUNTER         FirstValue = 8123456 * 1024

   1. Compile (table_compile, once per object). Each source becomes a program of at most TABLE_TERMS terms, and every
      term refers to a column. The columns of the table come first, then one column for each key of each kernel file
      that a source names. At most 63 columns fit, because sets of columns are bit masks; bit 63 stands for "time".
   2. Select (table_sample). The query passes the counters that are in use. table_sample adds the bases of fractions and
      determines from the programs' masks which columns these counters need. A gatherer may omit the other columns, so
      that it does not read an expensive file needlessly.
   3. Gather (table_gather_rows). The gatherer of the object adds a row with table_add for each instance and fills the
      row's cells. An object without instances has one row, whose remaining cells come from the kernel files by key.
   4. Name (table_instances). The key of a row is a hash of its name and of the gatherer's `key`, such as a process's
      start time. If the keys of all rows are the same as in the previous sample, the list of instances is reused, so
      all positions that counters have cached stay valid. Otherwise a new list is created.
   5. Evaluate (table_fill_rows). Each value of a plain row or an alias is computed by the program of that value.
      Subtotals and the total combine the values of plain rows. In each row, a counter is absent if its value or its
      base is absent.
   6. Report presence (present_in). A counter exists if an instance has a value for the counter, or if the host OS is
      known to report the columns in the counter's formula (table_know_columns). Without instances all counters exist.

   The total of a rate needs care. A plain sum would drop when an instance ends, and PDH would compute a negative rate.
   Therefore the total of a rate or a similar value (table_program.adds_up) continues from its own previous value: it
   grows by each instance's increase since the previous sample, and keeps the contributions of ended instances. To
   compute the increases, find_places finds each row's position in the previous sample before the totals are computed.

   Everything here runs on the sampling side of the object (see counter_object.c), so no locks are needed: o->last is
   the previous completed sample, which nobody changes during the sampling. */
#include "engine/pdh/core/table.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pdh/formula.h"

#include <string.h>

#define COLUMN_TIME TABLE_COLUMNS

struct term {
    uint8_t column;
    int64_t factor, divisor;
};
/* The compiled source of one value. */
struct table_program {
    struct term terms[TABLE_TERMS];
    uint8_t count;
    bool adds_up; /* a rate or similar value: the total keeps the contribution of instances that have ended */
    uint64_t columns;
};

/* A kernel file's key during compilation. The key's column is not known until all sources have been parsed. */
struct key_use {
    enum source_part part;
    size_t slot;
    uint8_t *column;
};
struct compiler {
    const struct counter_object_type *type;
    struct table_state *state;
    struct key_use *uses;
    size_t use_count, use_capacity;
};

static HRESULT bad_source(const struct counter_schema *c, const char *at)
{
    return error_set(E_UNEXPECTED, "counter '%s': invalid source '%s' at '%s'", c->name, c->source, at);
}

static HRESULT compile_name(struct compiler *c, const char *name, size_t length, uint8_t *column)
{
    const struct table *table = c->type->table;
    const char *dot = memchr(name, '.', length);
    *column = COLUMN_TIME;
    if (length == 4 && !memcmp(name, "time", 4))
        return S_OK;
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (strlen(table->columns[i]) == length && !memcmp(table->columns[i], name, length)) {
            *column = (uint8_t)i;
            return S_OK;
        }
    }
    enum source_part part = dot ? source_find(name, (size_t)(dot - name)) : SOURCE_PARTS;
    if (part == SOURCE_PARTS)
        return S_FALSE;
    size_t slot;
    HRESULT hr = kernel_keys_add(&c->state->keys[part], dot + 1, length - (size_t)(dot + 1 - name), &slot);
    if (FAILED(hr) || !memory_grow((void **)&c->uses, &c->use_capacity, c->use_count + 1, sizeof *c->uses))
        return E_OUTOFMEMORY;
    c->uses[c->use_count++] = (struct key_use){part, slot, column};
    return S_OK;
}

static HRESULT compile_value(struct compiler *c, const struct counter_schema *counter, struct table_program *program)
{
    const char *p = counter->source;
    int sign = 1;
    program->adds_up = formula_needs_two(counter->type) || counter->type == PERF_AVERAGE_BASE;
    for (;;) {
        size_t length = strcspn(p, " ");
        struct term *term = &program->terms[program->count];
        if (!length || program->count == TABLE_TERMS)
            return bad_source(counter, p);
        *term = (struct term){.factor = sign, .divisor = 1};
        HRESULT hr = compile_name(c, p, length, &term->column);
        if (hr != S_OK)
            return FAILED(hr) ? hr : bad_source(counter, p);
        program->count++;
        p += length;
        if (!strncmp(p, " * ", 3) || !strncmp(p, " / ", 3)) {
            bool times = p[1] == '*';
            int64_t number = 0;
            for (p += 3; *p >= '0' && *p <= '9'; p++)
                number = number * 10 + (*p - '0');
            if (number <= 0)
                return bad_source(counter, p);
            term->factor *= times ? number : 1;
            term->divisor = times ? 1 : number;
        }
        if (!*p)
            return S_OK;
        if (strncmp(p, " + ", 3) != 0 && strncmp(p, " - ", 3) != 0)
            return bad_source(counter, p);
        sign = p[1] == '+' ? 1 : -1;
        p += 3;
    }
}

/* Assigns columns to the kernel files' keys, after the table's own columns. */
static HRESULT place_keys(struct compiler *c)
{
    struct table_state *t = c->state;
    uint32_t next = c->type->table->column_count;
    for (size_t part = 0; part < SOURCE_PROCESSES; part++) {
        t->key_columns[part] = (uint8_t)next;
        next += (uint32_t)t->keys[part].count;
        if (next > TABLE_COLUMNS)
            return error_set(E_UNEXPECTED, "object '%s': too many columns", c->type->name);
    }
    for (size_t i = 0; i < c->use_count; i++)
        *c->uses[i].column = (uint8_t)(t->key_columns[c->uses[i].part] + c->uses[i].slot);
    t->column_count = next;
    return S_OK;
}

static HRESULT table_compile(const struct counter_object_type *type, struct table_state *t)
{
    struct compiler c = {.type = type, .state = t};
    HRESULT hr = S_OK;
    struct table_program *program = memory_zero(type->value_count, sizeof *program);
    if (!t->keys)
        t->keys = memory_zero(SOURCE_PROCESSES, sizeof *t->keys);
    if (!t->key_columns)
        t->key_columns = memory_zero(SOURCE_PROCESSES, sizeof *t->key_columns);
    if (!program || !t->keys || !t->key_columns)
        hr = E_OUTOFMEMORY;
    for (uint32_t i = 0; i < type->value_count && SUCCEEDED(hr); i++)
        hr = compile_value(&c, &type->counters[i], &program[i]);
    if (SUCCEEDED(hr))
        hr = place_keys(&c);
    memory_free(c.uses);
    if (FAILED(hr)) {
        memory_free(program);
        return hr;
    }
    for (uint32_t i = 0; i < type->value_count; i++)
        for (uint8_t k = 0; k < program[i].count; k++)
            program[i].columns |= 1ull << program[i].terms[k].column;
    t->program = program;
    return S_OK;
}

/* Appends the bytes to the names, without the characters that are special in paths. */
static void append_name(struct table_state *t, const char *name, size_t length)
{
    char *to = t->names + t->name_length;
    memcpy(to, name, length);
    to[length] = 0;
    instance_name_make_safe(to);
    t->name_length += length;
}

int64_t *table_add(struct table_state *t, enum table_row_kind kind, const char *parent, const char *name, size_t length,
                   uint64_t key)
{
    size_t parent_length = parent ? strlen(parent) : 0, need = t->name_length + parent_length + length + 2;
    size_t columns = t->column_count ? t->column_count : 1;
    if (!memory_grow((void **)&t->rows, &t->row_capacity, t->row_count + 1, sizeof *t->rows) ||
        !memory_grow((void **)&t->cells, &t->cell_capacity, (t->row_count + 1) * columns, sizeof *t->cells) ||
        !memory_grow((void **)&t->names, &t->name_capacity, need, 1))
        return NULL;
    struct table_row *row = &t->rows[t->row_count];
    *row = (struct table_row){.kind = kind, .name = t->name_length};
    if (parent) {
        append_name(t, parent, parent_length);
        t->names[t->name_length++] = '/';
    }
    append_name(t, name, length);
    t->name_length++;
    row->key = hash_bytes(HASH_START, t->names + row->name, t->name_length - row->name) ^ key * 0x9E3779B97F4A7C15u;
    int64_t *cells = t->cells + t->row_count++ * columns;
    for (size_t i = 0; i < columns; i++)
        cells[i] = VALUE_ABSENT;
    return cells;
}

void table_know_columns(struct table_state *t, uint64_t columns)
{
    t->known_columns |= columns;
}

HRESULT table_add_total(struct table_state *t, bool with_parent, uint64_t key)
{
    return table_add(t, ROW_TOTAL, with_parent ? "_Total" : NULL, "_Total", 6, key) ? S_OK : E_OUTOFMEMORY;
}

/* In the object's single row, fills the columns that come from kernel files. Adds to *read the number of readable
   files. */
static HRESULT gather_keys(struct counter_object *o, struct source *source, uint64_t columns, unsigned *read)
{
    struct table_state *t = o->state;
    HRESULT first = S_OK;
    for (size_t part = 0; part < SOURCE_PROCESSES; part++) {
        struct kernel_keys *keys = &t->keys[part];
        uint64_t bits = keys->count ? ((1ull << keys->count) - 1) << t->key_columns[part] : 0;
        const char *text;
        size_t size;
        if (!(bits & columns))
            continue;
        HRESULT hr = source_text(source, &o->hold, (enum source_part)part, &text, &size, &o->time);
        if (SUCCEEDED(hr))
            hr = kernel_keys_parse(text, size, keys);
        if (FAILED(hr)) {
            first = FAILED(first) ? first : hr;
            if (hr == E_OUTOFMEMORY)
                return hr;
            continue;
        }
        ++*read;
        for (size_t i = 0; i < keys->count; i++)
            t->cells[t->key_columns[part] + i] = keys->keys[i].has ? (int64_t)keys->keys[i].value : VALUE_ABSENT;
    }
    return first;
}

static HRESULT table_gather_rows(struct counter_object *o, struct source *source, uint64_t columns)
{
    const struct table *table = o->type->table;
    struct table_state *t = o->state;
    unsigned read = 0;
    t->row_count = t->name_length = 0;
    t->known_columns = 1ull << COLUMN_TIME;
    o->time = (struct source_time){clock_utc(), clock_ticks()};
    HRESULT hr = S_OK;
    if (table->gather) {
        hr = table->gather(o, source, columns);
        read = SUCCEEDED(hr);
    } else if (!table_add(t, ROW_PLAIN, NULL, "", 0, 0)) {
        hr = E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr) && !o->type->has_instances) {
        hr = gather_keys(o, source, columns, &read);
        if (FAILED(hr) && hr != E_OUTOFMEMORY && read > 0)
            hr = S_OK; /* other files were read, so their counters have values */
    }
    return hr;
}

HRESULT table_instances(const struct table_state *t, const struct instance_list *now, struct instance_list **out)
{
    bool same = now && now->count == t->row_count;
    for (size_t i = 0; same && i < t->row_count; i++)
        same = now->items[i].key == t->rows[i].key;
    if (same)
        return S_FALSE;
    const char **names = memory_alloc(t->row_count * sizeof *names);
    uint64_t *keys = memory_alloc(t->row_count * sizeof *keys);
    *out = NULL;
    if (names && keys) {
        for (size_t i = 0; i < t->row_count; i++) {
            names[i] = t->names + t->rows[i].name;
            keys[i] = t->rows[i].key;
        }
        *out = instance_list_create_ready(t->row_count, names, keys);
    }
    memory_free(names);
    memory_free(keys);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static int64_t table_evaluate_row(const struct table_program *p, const int64_t *cells, int64_t time)
{
    int64_t sum = 0;
    for (uint8_t i = 0; i < p->count; i++) {
        const struct term *term = &p->terms[i];
        int64_t v = term->column == COLUMN_TIME ? time : cells[term->column];
        if (v == VALUE_ABSENT)
            return VALUE_ABSENT;
        v = (int64_t)((uint64_t)v * (uint64_t)term->factor);
        v = term->divisor == 1 ? v : v / term->divisor;
        sum = (int64_t)((uint64_t)sum + (uint64_t)v);
    }
    return sum;
}

/* Enters the instances of `list` into `slots`, a hash table that maps keys to position + 1. */
static void enter_keys(const struct instance_list *list, uint32_t *slots, size_t mask)
{
    for (size_t i = 0; i < list->count; i++) {
        size_t at = list->items[i].key & mask;
        while (slots[at])
            at = (at + 1) & mask;
        slots[at] = (uint32_t)i + 1;
    }
}

static size_t find_key(const struct instance_list *list, const uint32_t *slots, size_t mask, uint64_t key)
{
    size_t at = key & mask;
    while (slots[at] && list->items[slots[at] - 1].key != key)
        at = (at + 1) & mask;
    return slots[at] ? slots[at] - 1 : SIZE_MAX;
}

/* Finds the position of each row in the previous sample; SIZE_MAX for new rows. */
static HRESULT find_places(const struct counter_object *o, struct table_state *t)
{
    const struct instance_list *before = o->last->instances;
    bool none = !before || o->last->rows != before->count, same = before == o->instances;
    if (!memory_grow((void **)&t->places, &t->place_capacity, t->row_count, sizeof *t->places))
        return E_OUTOFMEMORY;
    if (none || same) {
        for (size_t i = 0; i < t->row_count; i++)
            t->places[i] = none ? SIZE_MAX : i;
        return S_OK;
    }
    size_t mask = 15;
    while (mask < before->count * 2)
        mask = mask * 2 + 1;
    uint32_t *slots = memory_zero(mask + 1, sizeof *slots);
    if (!slots)
        return E_OUTOFMEMORY;
    enter_keys(before, slots, mask);
    for (size_t i = 0; i < t->row_count; i++)
        t->places[i] = find_key(before, slots, mask, t->rows[i].key);
    memory_free(slots);
    return S_OK;
}

static int64_t value_before(const struct counter_object *o, const struct table_state *t, size_t row, uint32_t value)
{
    size_t place = t->places[row];
    return place == SIZE_MAX ? VALUE_ABSENT : o->last->values[place * o->type->value_count + value];
}

/* Computes one value of the row `to`, which is a subtotal or the total: the sum or the mean of the plain rows from
   `from` up to, but not including, `to`. */
static int64_t total_of(const struct counter_object *o, const struct table_state *t, size_t from, size_t to,
                        uint32_t value)
{
    const struct counter_schema *c = &o->type->counters[value];
    uint64_t sum = 0, count = 0;
    if (c->total == TOTAL_NONE)
        return VALUE_ABSENT;
    bool adds_up = t->program[value].adds_up && c->total == TOTAL_SUM && t->rows[to].kind == ROW_TOTAL;
    int64_t before = adds_up ? value_before(o, t, to, value) : VALUE_ABSENT;
    for (size_t i = from; i < to; i++) {
        int64_t v = o->values[i * o->type->value_count + value];
        if (t->rows[i].kind != ROW_PLAIN || v == VALUE_ABSENT)
            continue;
        int64_t was = before == VALUE_ABSENT ? VALUE_ABSENT : value_before(o, t, i, value);
        sum += (uint64_t)v - (was == VALUE_ABSENT ? 0 : (uint64_t)was);
        count++;
    }
    if (count == 0)
        return before;
    if (c->total == TOTAL_MEAN)
        return (int64_t)(sum / count);
    return (int64_t)(sum + (before == VALUE_ABSENT ? 0 : (uint64_t)before));
}

static HRESULT table_fill_rows(struct counter_object *o, uint64_t wanted)
{
    struct table_state *t = o->state;
    const struct counter_object_type *p = o->type;
    size_t from = 0;
    HRESULT hr = counter_object_set_rows(o, t->row_count);
    bool totals = false;
    for (size_t i = 0; SUCCEEDED(hr) && i < t->row_count; i++)
        totals |= t->rows[i].kind == ROW_TOTAL;
    if (SUCCEEDED(hr) && totals)
        hr = find_places(o, t);
    for (size_t i = 0; SUCCEEDED(hr) && i < t->row_count; i++) {
        int64_t *row = counter_object_row(o, i);
        const int64_t *cells = t->cells + i * (t->column_count ? t->column_count : 1);
        for (uint32_t v = 0; v < p->value_count; v++) {
            if (!(wanted & OBJECT_BIT(v)))
                continue;
            row[v] = t->rows[i].kind < ROW_SUBTOTAL ? table_evaluate_row(&t->program[v], cells, o->time.utc)
                                                    : total_of(o, t, t->rows[i].kind == ROW_TOTAL ? 0 : from, i, v);
        }
        /* a fraction without its denominator is absent */
        for (uint32_t v = 0; v < p->counter_count; v++)
            row[v] = p->counters[v].base && row[p->counters[v].base] == VALUE_ABSENT ? VALUE_ABSENT : row[v];
        from = t->rows[i].kind == ROW_SUBTOTAL ? i + 1 : from;
    }
    return hr;
}

/* Returns true if the host OS can report all columns that the value and its base need. */
static bool is_known(const struct counter_object *o, uint32_t value)
{
    const struct table_state *t = o->state;
    const uint32_t base = o->type->counters[value].base;
    const uint64_t needed = t->program[value].columns | (base ? t->program[base].columns : 0);
    return !(needed & ~t->known_columns);
}

/* Returns the counters among `wanted` that exist: those that have a value in some row, and those that the host OS is
   known to report. If there are no rows, or the only row is a total, no row can show which counters exist, and all
   counters count as existing. */
static uint64_t present_in(const struct counter_object *o, uint64_t wanted)
{
    const struct table_state *t = o->state;
    bool any = o->rows && !(t->row_count == 1 && t->rows[0].kind == ROW_TOTAL);
    uint64_t present = any ? o->present & ~wanted : o->present | wanted;
    for (uint32_t v = 0; v < o->type->counter_count; v++) {
        if ((wanted & OBJECT_BIT(v)) && is_known(o, v))
            present |= OBJECT_BIT(v);
        for (size_t i = 0; i < o->rows && (wanted & OBJECT_BIT(v)) && !(present & OBJECT_BIT(v)); i++)
            if (o->values[i * o->type->value_count + v] != VALUE_ABSENT)
                present |= OBJECT_BIT(v);
    }
    return present;
}

HRESULT table_sample(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct table_state *t = o->state;
    const struct counter_object_type *p = o->type;
    HRESULT hr = t->program ? S_OK : table_compile(p, t);
    uint64_t columns = 0;
    if (FAILED(hr))
        return hr;
    for (uint32_t i = 0; i < p->counter_count; i++)
        if (wanted & OBJECT_BIT(i))
            wanted |= p->counters[i].base ? OBJECT_BIT(p->counters[i].base) : 0;
    for (uint32_t i = 0; i < p->value_count; i++)
        columns |= wanted & OBJECT_BIT(i) ? t->program[i].columns : 0;
    hr = table_gather_rows(o, source, columns);
    if (SUCCEEDED(hr) && p->has_instances) {
        struct instance_list *list;
        hr = table_instances(t, o->instances, &list);
        if (hr == S_OK)
            counter_object_set_instances(o, list);
    }
    if (SUCCEEDED(hr))
        hr = table_fill_rows(o, wanted);
    if (SUCCEEDED(hr))
        o->present = present_in(o, wanted);
    return hr;
}

void table_close(struct counter_object *o)
{
    struct table_state *t = o->state;
    if (o->type->table->close)
        o->type->table->close(o->state);
    for (size_t i = 0; t->keys && i < SOURCE_PROCESSES; i++)
        kernel_keys_free(&t->keys[i]);
    memory_free(t->program);
    memory_free(t->keys);
    memory_free(t->key_columns);
    memory_free(t->rows);
    memory_free(t->cells);
    memory_free(t->names);
    memory_free(t->places);
}
