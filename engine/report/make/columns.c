/* SPDX-License-Identifier: MIT */
/* Chooses the counters of logs by patterns, and finds the column of each counter and instance. Computes values from
   raw values, because text logs and databases contain computed values.

   A rate needs two samples. The older of the two is the last written sample. Therefore, if only every nth sample is
   written, a rate is the mean over n intervals. */
#include "engine/report/columns.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/counter_names.h"
#include "engine/logs/pdh_types.h"
#include "engine/logs/perf_data.h"
#include "engine/pdh/formula.h"

#include <stdlib.h>
#include <string.h>

HRESULT counter_instance(const struct log_counter *counter, char **out)
{
    *out = NULL;
    if (!counter->instance)
        return S_OK;
    struct text_buffer b = {0};
    if (counter->parent)
        text_buffer_format(&b, "%s/", counter->parent);
    text_buffer_add(&b, counter->instance);
    if (counter->index != 0)
        text_buffer_format(&b, "#%u", (unsigned)counter->index);
    *out = text_buffer_take(&b);
    return *out ? S_OK : error_set(E_OUTOFMEMORY, "out of memory for the name of an instance");
}

/* "*" stands for every instance, and so do the forms that PDH adds for parents and indexes. */
static bool is_every_instance(const char *instance)
{
    return strchr(instance, '*') && !instance[strspn(instance, "*/#")];
}

HRESULT filter_add(struct filter *f, const char *pattern)
{
    struct filter_pattern p = {.text = text_copy(pattern)};
    void *patterns = f->patterns;
    HRESULT hr = p.text ? log_counters_add_path(&p.parts, pattern) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        struct log_counter *parts = p.parts.items;
        hr = counter_instance(parts, &p.instance);
        if (!parts->object[0])
            log_counters_free(&p.parts); /* not a path */
    }
    if (SUCCEEDED(hr) && p.instance && is_every_instance(p.instance)) {
        p.instance[0] = '*';
        p.instance[1] = '\0';
    }
    if (SUCCEEDED(hr) && f->names && p.parts.count > 0) {
        struct english_name english;
        hr = counter_names_find(f->names, p.parts.items->object, p.parts.items->counter, &english);
        p.english_object = english.object;
        p.english_counter = english.counter;
    }
    if (SUCCEEDED(hr) && !memory_grow(&patterns, &f->capacity, f->count + 1, sizeof *f->patterns))
        hr = E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(p.text);
        memory_free(p.instance);
        log_counters_free(&p.parts);
        return error_set(hr, "%s: out of memory", pattern);
    }
    f->patterns = patterns;
    f->patterns[f->count++] = p;
    return S_OK;
}

static bool matches_names(const char *object, const char *counter, const char *of_object, const char *of_counter)
{
    return text_matches(object, of_object ? of_object : "") && text_matches(counter, of_counter ? of_counter : "");
}

/* *by_english becomes true if the pattern matches the English names but not the names in the log. */
static bool matches_parts(const struct filter_pattern *p, const struct log_counter *c, const char *instance,
                          bool *by_english)
{
    const struct log_counter *parts = p->parts.items;
    const char *machine = c->machine ? c->machine : "";
    *by_english = false;
    if ((parts->machine && !text_matches(parts->machine, machine)) ||
        !(!p->instance || (c->wildcard && !instance) || (instance && text_matches(p->instance, instance))))
        return false;
    if (matches_names(parts->object, parts->counter, c->object, c->counter))
        return true;
    const char *object = log_counter_english_object(c), *counter = log_counter_english_counter(c);
    *by_english = ((object != c->object || counter != c->counter) &&
                   matches_names(parts->object, parts->counter, object, counter)) ||
                  ((p->english_object || p->english_counter) &&
                   matches_names(p->english_object ? p->english_object : parts->object,
                                 p->english_counter ? p->english_counter : parts->counter, object, counter));
    return *by_english;
}

/* Returns the path with English names, or NULL if memory runs out. */
static char *english_path(const struct log_counter *c)
{
    struct log_counter english = *c;
    english.object = log_counter_english_object(c);
    english.counter = log_counter_english_counter(c);
    english.path = NULL;
    return log_counter_path(&english);
}

static HRESULT matches_path(const struct filter_pattern *p, const struct log_counter *c, bool *matches,
                            bool *by_english)
{
    char *path = log_counter_path(c);
    HRESULT hr = path ? S_OK : E_OUTOFMEMORY;
    *matches = path && text_matches(p->text, path);
    *by_english = false;
    memory_free(path);
    if (FAILED(hr) || *matches || (!c->english_object && !c->english_counter))
        return hr;
    path = english_path(c);
    *matches = *by_english = path && text_matches(p->text, path);
    hr = path ? S_OK : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

HRESULT filter_matches(struct filter *f, const struct log_counter *counter, const char *item, bool *matches)
{
    char *own = NULL;
    const char *instance = item;
    *matches = f->count == 0;
    if (*matches)
        return S_OK;
    if (!counter->wildcard) {
        HRESULT hr = counter_instance(counter, &own);
        if (FAILED(hr))
            return hr;
        instance = own;
    }
    HRESULT hr = S_OK;
    for (size_t i = 0; i < f->count && SUCCEEDED(hr); i++) {
        struct filter_pattern *p = &f->patterns[i];
        bool one = false, by_english = false;
        if (p->parts.count > 0)
            one = matches_parts(p, counter, instance, &by_english);
        else
            hr = matches_path(p, counter, &one, &by_english);
        if (one && (!counter->wildcard || instance)) {
            p->translated = by_english && (p->translated || !p->used);
            p->used = true;
        }
        *matches |= one;
    }
    memory_free(own);
    return hr;
}

void filter_free(struct filter *f)
{
    for (size_t i = 0; i < f->count; i++) {
        memory_free(f->patterns[i].text);
        memory_free(f->patterns[i].instance);
        log_counters_free(&f->patterns[i].parts);
    }
    memory_free(f->patterns);
    *f = (struct filter){0};
}

/* ---- columns ---- */

#define NO_COLUMN SIZE_MAX
#define ANY_INPUT SIZE_MAX

/* One counter of an input. */
struct source {
    size_t column;        /* NO_COLUMN if the filter rejects the counter, or the counter is a wildcard and each
                             instance has a column */
    bool matches;         /* the filter accepts the counter, or at least one of its instances */
    struct place *places; /* places of the last sample's instances, in the order of that sample */
    size_t place_count, place_capacity;
};

struct place {
    char *name;
    size_t column; /* 0 for an instance of a wildcard that is kept as a wildcard; NO_COLUMN if the filter rejects the
                      instance */
};

struct column {
    uint64_t rank;
    /* A log may have several columns with the same name. The first of these columns is in the hash table, and next_twin
       links each column to the next one. The members next_twin to next_taken are indexes plus 1; 0 means none. */
    bool is_twin;      /* another column with this name precedes it */
    size_t next_twin;  /* the next column with this name */
    size_t last_twin;  /* only in the first column with a name: the last column with this name */
    size_t taker;      /* only in the first column with a name: the input whose counters are being assigned to these
                          columns */
    size_t next_taken; /* only in the first column with a name: the column for the next counter with this name */
    size_t source;     /* index of the source that provided the older value */
    bool has_older;
    struct log_raw older;
    struct log_item *items; /* items of a wildcard */
    size_t item_capacity;
};

static HRESULT no_memory(void)
{
    return error_set(E_OUTOFMEMORY, "out of memory for the columns of a log");
}

/* Without raw values, only the names identify a column. */
static bool same_kind(const struct columns *c, const struct log_counter *a, const struct log_counter *b)
{
    return !c->raw || (a->type == b->type && a->time_base == b->time_base);
}

static bool same_names(const struct log_counter *a, const struct log_counter *b)
{
    const char *const left[] = {a->machine, a->object, a->parent, a->instance, a->counter, a->path};
    const char *const right[] = {b->machine, b->object, b->parent, b->instance, b->counter, b->path};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        const bool same = left[i] && right[i] ? text_equal_nocase(left[i], right[i]) : left[i] == right[i];
        if (!same)
            return false;
    }
    return a->index == b->index && a->wildcard == b->wildcard;
}

static size_t names_hash(const struct log_counter *a)
{
    const char *const texts[] = {a->machine, a->object, a->parent, a->instance, a->counter};
    uint64_t hash = HASH_START ^ a->index;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        hash = hash_number(hash, text_hash_nocase(texts[i] ? texts[i] : ""));
    return (size_t)(hash ^ hash >> 32);
}

/* Returns the slot of the first column with these names, or the free slot for it. */
static size_t find_slot(const struct columns *c, const struct log_counter *counter)
{
    size_t at = names_hash(counter) & (c->bucket_count - 1);
    while (c->buckets[at] != 0) {
        const struct log_counter *there = &c->counters.items[c->buckets[at] - 1];
        if (same_names(there, counter) && same_kind(c, there, counter))
            break;
        at = (at + 1) & (c->bucket_count - 1);
    }
    return at;
}

/* Adds the column to the hash table, after other columns with the same name. */
static void enter_column(struct columns *c, size_t place)
{
    const size_t at = find_slot(c, &c->counters.items[place]);
    if (c->buckets[at] == 0) {
        c->buckets[at] = (uint32_t)place + 1;
        return;
    }
    struct column *first = &c->columns[c->buckets[at] - 1];
    struct column *last = first->last_twin ? &c->columns[first->last_twin - 1] : first;
    last->next_twin = first->last_twin = place + 1;
    c->columns[place].is_twin = true;
}

/* Empties the hash table and adds all columns again, in their current order. */
static void fill_buckets(struct columns *c)
{
    memset(c->buckets, 0, c->bucket_count * sizeof *c->buckets);
    for (size_t i = 0; i < c->counters.count; i++) {
        struct column *column = &c->columns[i];
        column->is_twin = false;
        column->next_twin = column->last_twin = column->taker = column->next_taken = 0;
        enter_column(c, i);
    }
}

static HRESULT grow_buckets(struct columns *c)
{
    if (2 * (c->counters.count + 1) > c->bucket_count) {
        const size_t count = c->bucket_count > 0 ? 4 * c->bucket_count : 256;
        uint32_t *buckets = memory_zero(count, sizeof *buckets);
        if (!buckets)
            return no_memory();
        memory_free(c->buckets);
        c->buckets = buckets;
        c->bucket_count = count;
        for (size_t i = 0; i < c->counters.count; i++)
            if (!c->columns[i].is_twin)
                enter_column(c, i);
    }
    return S_OK;
}

/* Returns the next column of that name that `input` does not use yet, or NO_COLUMN if all are in use. */
static size_t take_twin(struct columns *c, size_t first, size_t input)
{
    struct column *column = &c->columns[first];
    if (column->taker != input + 1) {
        column->taker = input + 1;
        column->next_taken = first + 1;
    }
    if (column->next_taken == 0)
        return NO_COLUMN;
    const size_t taken = column->next_taken - 1;
    column->next_taken = c->columns[taken].next_twin;
    return taken;
}

/* Finds the counter's column. If the column does not exist and `add` is set, creates the column; if `add` is not set,
   *column is NO_COLUMN. If several columns have the same name, each counter of `input` takes the next of these
   columns. */
static HRESULT find_column(struct columns *c, const struct log_counter *counter, size_t input, bool add, size_t *column)
{
    *column = NO_COLUMN;
    HRESULT hr = grow_buckets(c);
    if (FAILED(hr))
        return hr;
    const size_t first = c->buckets[find_slot(c, counter)];
    if (first != 0)
        *column = input == ANY_INPUT ? first - 1 : take_twin(c, first - 1, input);
    if (*column != NO_COLUMN)
        return S_OK;
    if (!add)
        return S_OK;
    const size_t place = c->counters.count;
    if (c->most && place >= c->most) {
        c->refused++;
        return S_OK;
    }
    void *columns = c->columns, *cells = c->cells;
    if (!memory_grow(&columns, &c->column_capacity, place + 1, sizeof *c->columns))
        return no_memory();
    c->columns = columns;
    if (!memory_grow(&cells, &c->cell_capacity, place + 1, sizeof *c->cells))
        return no_memory();
    c->cells = cells;
    hr = log_counters_add(&c->counters, counter);
    if (SUCCEEDED(hr)) {
        c->columns[place] = (struct column){.rank = c->rank, .taker = input != ANY_INPUT ? input + 1 : 0};
        enter_column(c, place);
        *column = place;
    }
    return hr;
}

/* Finds the column of one instance that a wildcard matched. */
static HRESULT find_item(struct columns *c, const struct log_counter *wildcard, const char *item, bool add,
                         size_t *column)
{
    struct log_counters names = {0};
    char *path = text_format("\\o(%s)\\c", item);
    HRESULT hr = path ? log_counters_add_path(&names, path) : no_memory();
    if (SUCCEEDED(hr) && names.count > 0) {
        struct log_counter counter = *wildcard;
        const struct log_counter *parts = names.items;
        counter.wildcard = false;
        counter.path = NULL;
        /* If the name cannot be split into parent, instance and index, because a path cannot represent it, the whole
           name is the instance. */
        const bool is_split = !parts->path && parts->instance;
        counter.instance = is_split ? parts->instance : item;
        counter.parent = is_split ? parts->parent : NULL;
        counter.index = is_split ? parts->index : 0;
        hr = find_column(c, &counter, ANY_INPUT, add, column);
    }
    log_counters_free(&names);
    memory_free(path);
    return hr;
}

/* Finds the source of an input's counter, or creates it if the counter appears late in the log. */
static HRESULT source_of(struct columns *c, const struct inputs *in, size_t input, size_t counter, struct source **out)
{
    *out = NULL;
    const size_t first = c->first_source[input];
    if (first + counter < c->source_count && (input + 1 == in->count || first + counter < c->first_source[input + 1])) {
        *out = &c->sources[first + counter];
        return S_OK;
    }
    void *sources = c->sources;
    if (!memory_grow(&sources, &c->source_capacity, c->source_count + 1, sizeof *c->sources))
        return no_memory();
    c->sources = sources;
    const size_t place = first + counter; /* callers request an input's counters in ascending order */
    memmove(&c->sources[place + 1], &c->sources[place], (c->source_count - place) * sizeof *c->sources);
    c->source_count++;
    for (size_t i = input + 1; i < in->count; i++)
        c->first_source[i]++;
    struct source *s = &c->sources[place];
    *s = (struct source){.column = NO_COLUMN};
    size_t count;
    const struct log_counter *names = &log_reader_counters(in->items[input].reader, &count)[counter];
    c->rank = (uint64_t)input << 32 | counter;
    HRESULT hr = filter_matches(c->filter, names, NULL, &s->matches);
    if (SUCCEEDED(hr) && s->matches && !(names->wildcard && c->values))
        hr = find_column(c, names, input, true, &s->column);
    *out = s;
    return hr;
}

HRESULT columns_begin(struct columns *c, const struct inputs *in)
{
    void *first = c->first_source;
    if (!memory_grow(&first, &c->input_capacity, in->count + 1, sizeof *c->first_source))
        return no_memory();
    c->first_source = first;
    memset(first, 0, in->count * sizeof *c->first_source);
    HRESULT hr = S_OK;
    for (size_t i = 0; i < in->count && SUCCEEDED(hr); i++) {
        struct source *s;
        size_t count;
        c->first_source[i] = c->source_count;
        for (size_t k = i + 1; k < in->count; k++)
            c->first_source[k] = c->source_count;
        (void)log_reader_counters(in->items[i].reader, &count);
        for (size_t k = 0; k < count && SUCCEEDED(hr); k++)
            hr = source_of(c, in, i, k, &s);
    }
    return hr;
}

/* Sets c->numbers to the state after the first `count` instances of the source's last sample. */
static HRESULT number_places(struct columns *c, const struct source *s, size_t count)
{
    HRESULT hr = S_OK;
    size_t number;
    instance_numbers_clear(&c->numbers);
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        hr = instance_numbers_next(&c->numbers, s->places[i].name, &number);
    return hr;
}

/* Finds the column of the i-th instance of the sample. Call it for the instances in their order, with *same initially
   true. As long as the names equal the names in the last sample, *same stays true, and the columns are taken from the
   last sample's list. */
static HRESULT place_of_item(struct columns *c, struct source *s, const struct log_counter *names, size_t i,
                             const char *item, bool add, bool *same, size_t *column)
{
    const bool same_before = *same;
    *same = *same && i < s->place_count && strcmp(s->places[i].name, item) == 0;
    if (*same) {
        *column = s->places[i].column;
        return S_OK;
    }
    size_t twins = 0;
    bool matches = false;
    *column = NO_COLUMN;
    HRESULT hr = same_before ? number_places(c, s, i) : S_OK;
    if (SUCCEEDED(hr))
        hr = instance_numbers_next(&c->numbers, item, &twins);
    /* the second and later instances with the same name get "#1", "#2" and so on */
    char *numbered = SUCCEEDED(hr) ? instance_numbers_text(item, twins) : NULL;
    if (SUCCEEDED(hr))
        hr = numbered ? filter_matches(c->filter, names, numbered, &matches) : no_memory();
    if (SUCCEEDED(hr) && matches) {
        if (c->values)
            hr = find_item(c, names, numbered, add, column);
        else
            *column = 0;
    }
    memory_free(numbered);
    void *places = s->places;
    char *copy = SUCCEEDED(hr) ? text_copy(item) : NULL;
    if (!copy || !memory_grow(&places, &s->place_capacity, i + 1, sizeof *s->places)) {
        memory_free(copy);
        return FAILED(hr) ? hr : no_memory();
    }
    s->places = places;
    if (i < s->place_count)
        memory_free(s->places[i].name);
    else
        s->place_count = i + 1;
    s->places[i] = (struct place){copy, *column};
    return S_OK;
}

HRESULT columns_learn(struct columns *c, const struct inputs *in, size_t input)
{
    const struct input *from = &in->items[input];
    size_t count, column;
    const struct log_counter *counters = log_reader_counters(from->reader, &count);
    for (size_t i = 0; i < count; i++) {
        struct source *s;
        bool same = true;
        HRESULT hr = source_of(c, in, input, i, &s);
        c->rank = (uint64_t)input << 32 | i;
        for (size_t k = 0; SUCCEEDED(hr) && s && s->matches && counters[i].wildcard && k < from->cells[i].item_count;
             k++)
            hr = place_of_item(c, s, &counters[i], k, from->cells[i].items[k].instance, true, &same, &column);
        if (FAILED(hr))
            return hr;
    }
    return S_OK;
}

struct ranked {
    uint64_t rank;
    size_t column; /* index before sorting */
};

static int compare_ranks(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank)
                              : (a->column > b->column) - (a->column < b->column);
}

/* Moves all values of the ranked columns from their old positions to their new positions. `places` is scratch space for
   one index per column. */
static void move_columns(struct columns *c, const struct ranked *order, size_t *places, struct log_counter *counters,
                         struct column *columns)
{
    const size_t count = c->counters.count;
    for (size_t i = 0; i < count; i++) {
        places[order[i].column] = i;
        counters[i] = c->counters.items[order[i].column];
        columns[i] = c->columns[order[i].column];
    }
    memcpy(c->counters.items, counters, count * sizeof *counters);
    memcpy(c->columns, columns, count * sizeof *columns);
    for (size_t i = 0; i < c->source_count; i++) {
        struct source *s = &c->sources[i];
        s->column = s->column != NO_COLUMN ? places[s->column] : NO_COLUMN;
        for (size_t k = 0; c->values && k < s->place_count; k++)
            s->places[k].column = s->places[k].column != NO_COLUMN ? places[s->places[k].column] : NO_COLUMN;
    }
    fill_buckets(c);
}

HRESULT columns_arrange(struct columns *c)
{
    const size_t count = c->counters.count;
    struct ranked *order = memory_zero(count + 1, sizeof *order);
    size_t *places = memory_zero(count + 1, sizeof *places);
    struct log_counter *counters = memory_zero(count + 1, sizeof *counters);
    struct column *columns = memory_zero(count + 1, sizeof *columns);
    HRESULT hr = no_memory();
    if (order && places && counters && columns) {
        for (size_t i = 0; i < count; i++)
            order[i] = (struct ranked){c->columns[i].rank, i};
        qsort(order, count, sizeof *order, compare_ranks);
        if (count > 0)
            move_columns(c, order, places, counters, columns);
        hr = S_OK;
    }
    memory_free(order);
    memory_free(places);
    memory_free(counters);
    memory_free(columns);
    return hr;
}

/* Sets a column's cell. If `ready` is set, the value is `value`, which the log contains; otherwise it is computed from
   the raw value. */
static void set_cell(struct columns *c, size_t column, size_t source, const struct log_counter *names,
                     const struct log_raw *raw, bool ready, bool has_value, double value)
{
    struct column *to = &c->columns[column];
    struct log_cell *cell = &c->cells[column];
    *cell = (struct log_cell){.raw = *raw, .has_value = has_value, .value = value};
    const bool alone = !to->has_older || to->source != source || to->older.status > PDH_CSTATUS_NEW_DATA;
    if (ready && value == 0 && alone && formula_needs_two(names->type))
        cell->has_value = false; /* if a rate has no value yet, databases contain 0 */
    if (!ready && c->values) {
        PDH_RAW_COUNTER newer = {0}, older = {0};
        log_raw_to_pdh(raw, &newer);
        log_raw_to_pdh(&to->older, &older);
        PDH_FMT_COUNTERVALUE shown;
        const DWORD status = formula_format(names->type, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, names->time_base, 0, &newer,
                                            to->has_older && to->source == source ? &older : NULL, &shown);
        cell->has_value = status == PDH_CSTATUS_VALID_DATA;
        cell->value = cell->has_value ? shown.doubleValue : 0;
    }
    to->older = *raw;
    to->older.text = NULL;
    to->has_older = true;
    to->source = source;
}

/* Fills in the instances of a wildcard that is kept as a wildcard, except those that the filter rejects. */
static HRESULT keep_items(struct columns *c, struct source *s, const struct log_counter *names,
                          const struct log_cell *from)
{
    struct column *to = &c->columns[s->column];
    void *items = to->items;
    size_t kept = 0, column;
    bool same = true;
    if (!memory_grow(&items, &to->item_capacity, from->item_count + 1, sizeof *to->items))
        return no_memory();
    to->items = items;
    for (size_t i = 0; i < from->item_count; i++) {
        HRESULT hr = place_of_item(c, s, names, i, from->items[i].instance, false, &same, &column);
        if (FAILED(hr))
            return hr;
        if (column != NO_COLUMN)
            to->items[kept++] = from->items[i];
    }
    c->cells[s->column] = *from;
    c->cells[s->column].items = to->items;
    c->cells[s->column].item_count = kept;
    return S_OK;
}

/* Fills in the columns of a wildcard's instances. */
static HRESULT list_items(struct columns *c, struct source *s, size_t source, const struct log_counter *names,
                          const struct log_cell *from, bool ready)
{
    size_t column;
    bool same = true;
    for (size_t i = 0; i < from->item_count; i++) {
        const struct log_item *item = &from->items[i];
        HRESULT hr = place_of_item(c, s, names, i, item->instance, false, &same, &column);
        if (FAILED(hr))
            return hr;
        if (column != NO_COLUMN)
            set_cell(c, column, source, names, &item->raw, ready, ready && item->has_value, ready ? item->value : 0);
    }
    return S_OK;
}

/* Clears all cells. If no counter then fills in a cell, the cell is missing in this sample, and the next sample has no
   previous value for it. */
static void clear_cells(struct columns *c)
{
    for (size_t i = 0; i < c->counters.count; i++)
        c->cells[i] = (struct log_cell){.raw = {.status = PDH_CSTATUS_NO_INSTANCE, .multi_count = 1}};
}

static void forget_missing(struct columns *c, size_t first_source, size_t end_source)
{
    for (size_t i = 0; i < c->counters.count; i++) {
        struct column *column = &c->columns[i];
        if (column->has_older && column->source >= first_source && column->source < end_source &&
            c->cells[i].raw.status == PDH_CSTATUS_NO_INSTANCE)
            column->has_older = false;
    }
}

HRESULT columns_fill(struct columns *c, const struct inputs *in, size_t input)
{
    const struct input *from = &in->items[input];
    const bool ready = log_reader_info(from->reader)->has_values;
    size_t count;
    const struct log_counter *counters = log_reader_counters(from->reader, &count);
    HRESULT hr = S_OK;
    clear_cells(c);
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        const struct log_cell *cell = &from->cells[i];
        const size_t place = c->first_source[input] + i;
        if (place >= c->source_count || (input + 1 < in->count && place >= c->first_source[input + 1]))
            break; /* this counter appeared after the last columns_learn */
        struct source *s = &c->sources[place];
        if (!s->matches || (s->column == NO_COLUMN && !(counters[i].wildcard && c->values)))
            continue;
        if (!counters[i].wildcard)
            set_cell(c, s->column, place, &counters[i], &cell->raw, ready, cell->has_value, cell->value);
        else if (c->values)
            hr = list_items(c, s, place, &counters[i], cell, ready);
        else
            hr = keep_items(c, s, &counters[i], cell);
    }
    forget_missing(c, c->first_source[input], input + 1 < in->count ? c->first_source[input + 1] : c->source_count);
    return hr;
}

void columns_restart(struct columns *c)
{
    for (size_t i = 0; i < c->counters.count; i++)
        c->columns[i].has_older = false;
}

void columns_free(struct columns *c)
{
    for (size_t i = 0; i < c->source_count; i++) {
        for (size_t k = 0; k < c->sources[i].place_count; k++)
            memory_free(c->sources[i].places[k].name);
        memory_free(c->sources[i].places);
    }
    for (size_t i = 0; i < c->counters.count; i++)
        memory_free(c->columns[i].items);
    memory_free(c->columns);
    memory_free(c->cells);
    memory_free(c->sources);
    memory_free(c->first_source);
    memory_free(c->buckets);
    instance_numbers_free(&c->numbers);
    log_counters_free(&c->counters);
    *c = (struct columns){0};
}
