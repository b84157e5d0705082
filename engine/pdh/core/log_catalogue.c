/* SPDX-License-Identifier: MIT */
/* Log files as the data source of a query. The counters of the files become objects, and each sample of a file provides
   their raw values. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/counter_path.h"
#include "engine/logs/perf_data.h"
#include "engine/pdh/core/catalogue.h"

#include <string.h>

#define MINUTE 600000000 /* in units of 100 ns */

/* Assigns a logged counter of a file to a counter of an object. `cell` is the index of the logged counter. */
struct place {
    size_t cell;
    uint32_t counter; /* index in the object */
    char *instance;   /* as in a path; NULL means all instances, or that the object has no instances */
    bool wildcard;
};

struct places {
    struct place *items;
    size_t count, capacity;
};

struct log_file {
    struct log_reader *reader;
    size_t mapped; /* number of the reader's counters that have been added to objects */
    bool has_sample;
    int64_t utc; /* time of the sample */
    const struct log_cell *cells;
};

/* An object of the log files. */
struct log_object {
    struct counter_object_type type; /* must be the first member: log_object_sample and the function `raw` cast a
                                        pointer to `type` to a pointer to the log_object */
    struct log_catalogue *catalogue;
    struct counter_schema *schemas;
    int64_t *time_bases;
    size_t schema_capacity, base_capacity;
    struct places *places; /* one list per file */
};

struct log_catalogue {
    struct catalogue catalogue; /* must be the first member */
    struct log_file *files;
    size_t file_count, current;
    bool fresh; /* the current file's sample has not been delivered yet */
    int64_t begin, end;
    struct log_object **objects;
    size_t object_count, object_capacity;
};

/* Rows with the same name form a chain. The hash table contains the first row of each chain. A reference to a row is
   its position + 1; 0 means none. */
struct log_row {
    uint32_t next; /* the next row of the chain */
    /* Used only in the first row of a chain: */
    uint32_t last;
    uint32_t free;  /* the next row that `taker` has not used yet */
    uint64_t taker; /* number of the search that used the chain last; there is one search for each place */
};

/* An object's sample: the raw value, if any, for each row and counter. */
struct log_sample {
    const struct log_raw **raw;
    size_t capacity;
    const char **names;
    size_t name_capacity;
    uint64_t *keys;
    size_t key_capacity;
    struct log_row *rows;
    size_t row_capacity;
    uint32_t *buckets; /* hash table by name; an element refers to the first row of a chain */
    size_t bucket_count;
    uint64_t search; /* number of the current search; there is one search for each place */
};

static int64_t local_of(const struct log_reader *reader, int64_t utc)
{
    const struct log_zone *zone = &log_reader_info(reader)->zone;
    return zone->known ? utc - (int64_t)zone->bias_minutes * MINUTE : clock_utc_to_local(utc);
}

static struct log_file *current(const struct log_object *lo)
{
    return &lo->catalogue->files[lo->catalogue->current];
}

static bool same_or_both_null(const char *a, const char *b)
{
    return a && b ? text_equal_nocase(a, b) : a == b;
}

/* Returns the bucket of the first row with the name, or the free bucket for a new row. */
static size_t find_bucket(const struct log_sample *s, const char *name)
{
    size_t at = (size_t)(text_hash_nocase(name) >> 32) & (s->bucket_count - 1);
    while (s->buckets[at] && !text_equal_nocase(s->names[s->buckets[at] - 1], name))
        at = (at + 1) & (s->bucket_count - 1);
    return at;
}

/* Returns the row for the next instance with this name at the current place. A place may have several instances with
   the same name, and each has its own row. SIZE_MAX if the place has used all rows with this name. */
static size_t take_row(struct log_sample *s, const char *name)
{
    const uint32_t first = s->buckets ? s->buckets[find_bucket(s, name)] : 0;
    if (!first)
        return SIZE_MAX;
    struct log_row *row = &s->rows[first - 1];
    if (row->taker != s->search) {
        row->taker = s->search;
        row->free = first;
    }
    const uint32_t taken = row->free;
    if (!taken)
        return SIZE_MAX;
    row->free = s->rows[taken - 1].next;
    return taken - 1;
}

/* Grows the table if one more row would fill more than half of the buckets. */
static bool grow_buckets(struct log_sample *s, size_t rows)
{
    if (2 * (rows + 1) <= s->bucket_count)
        return true;
    const size_t old_count = s->bucket_count, count = old_count ? 4 * old_count : 64;
    uint32_t *old = s->buckets, *buckets = memory_zero(count, sizeof *buckets);
    if (!buckets)
        return false;
    s->buckets = buckets;
    s->bucket_count = count;
    for (size_t i = 0; i < old_count; i++)
        if (old[i])
            buckets[find_bucket(s, s->names[old[i] - 1])] = old[i];
    memory_free(old);
    return true;
}

/* Adds a row, and marks it as used by the current search. */
static bool add_row(struct log_sample *s, size_t *rows, const char *name)
{
    void *names = s->names, *keys = s->keys, *links = s->rows;
    bool ok = memory_grow(&names, &s->name_capacity, *rows + 1, sizeof *s->names);
    s->names = names;
    ok = ok && memory_grow(&keys, &s->key_capacity, *rows + 1, sizeof *s->keys);
    s->keys = keys;
    ok = ok && memory_grow(&links, &s->row_capacity, *rows + 1, sizeof *s->rows);
    s->rows = links;
    if (!ok || !grow_buckets(s, *rows))
        return false;
    const size_t at = find_bucket(s, name);
    const uint32_t first = s->buckets[at], row = (uint32_t)++ * rows;
    s->names[row - 1] = name;
    s->keys[row - 1] = 0; /* logs identify instances only by name */
    s->rows[row - 1] = (struct log_row){.last = row, .taker = s->search};
    if (first) {
        s->rows[s->rows[first - 1].last - 1].next = row;
        s->rows[first - 1].last = row;
    } else {
        s->buckets[at] = row;
    }
    return true;
}

static bool collect_rows(struct log_sample *s, const struct places *places, const struct log_file *file, size_t *rows)
{
    bool ok = true;
    *rows = 0;
    if (s->buckets)
        memset(s->buckets, 0, s->bucket_count * sizeof *s->buckets);
    for (size_t i = 0; ok && i < places->count; i++) {
        const struct place *p = &places->items[i];
        const struct log_cell *cell = &file->cells[p->cell];
        s->search++;
        for (size_t item = 0; ok && p->wildcard && item < cell->item_count; item++)
            ok = take_row(s, cell->items[item].instance) != SIZE_MAX || add_row(s, rows, cell->items[item].instance);
        if (!p->wildcard && p->instance)
            ok = take_row(s, p->instance) != SIZE_MAX || add_row(s, rows, p->instance);
    }
    return ok;
}

static void fill_raw(struct log_sample *s, const struct log_object *lo, const struct places *places,
                     const struct log_file *file)
{
    size_t width = lo->type.counter_count;
    for (size_t i = 0; i < places->count; i++) {
        const struct place *p = &places->items[i];
        const struct log_cell *cell = &file->cells[p->cell];
        s->search++;
        if (!p->wildcard) {
            const size_t row = p->instance ? take_row(s, p->instance) : 0;
            if (row != SIZE_MAX)
                s->raw[row * width + p->counter] = &cell->raw;
            continue;
        }
        for (size_t item = 0; item < cell->item_count; item++) {
            const size_t row = take_row(s, cell->items[item].instance);
            if (row != SIZE_MAX)
                s->raw[row * width + p->counter] = &cell->items[item].raw;
        }
    }
}

/* Returns true if the instances are the same as in the last sample. */
static bool same_instances(const struct counter_object *o, const struct log_sample *s, size_t rows)
{
    if (!o->instances || o->instances->count != rows)
        return false;
    for (size_t i = 0; i < rows; i++) {
        const struct instance *was = &o->instances->items[i];
        if (strncmp(was->name, s->names[i], was->base_length) != 0 || s->names[i][was->base_length])
            return false;
    }
    return true;
}

static HRESULT log_object_sample(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)source;
    (void)wanted;
    const struct log_object *lo = (const struct log_object *)o->type;
    struct log_sample *s = o->state;
    const struct log_file *file = current(lo);
    const struct places *places = &lo->places[lo->catalogue->current];
    size_t rows = 1;
    o->time = (struct source_time){file->utc, 0};
    o->present = UINT64_MAX;
    o->rows = 0;
    if (!file->has_sample)
        return S_OK;
    bool ok = !lo->type.has_instances || collect_rows(s, places, file, &rows);
    void *raw = s->raw;
    size_t cells = rows * lo->type.counter_count;
    ok = ok && memory_grow(&raw, &s->capacity, cells, sizeof *s->raw);
    s->raw = raw;
    if (!ok)
        return E_OUTOFMEMORY;
    if (lo->type.has_instances && !same_instances(o, s, rows)) {
        struct instance_list *list = instance_list_create_ready(rows, s->names, s->keys);
        if (!list)
            return E_OUTOFMEMORY;
        counter_object_set_instances(o, list);
    }
    memset(s->raw, 0, cells * sizeof *s->raw);
    fill_raw(s, lo, places, file);
    o->rows = rows;
    return S_OK;
}

static void raw_value(const struct counter_object *o, size_t row, uint32_t counter, PDH_RAW_COUNTER *out)
{
    const struct log_sample *s = o->state;
    const struct log_file *file = current((const struct log_object *)o->type);
    const struct log_raw *raw = s->raw[row * o->type->counter_count + counter];
    uint64_t local = (uint64_t)local_of(file->reader, file->utc);
    out->TimeStamp = (FILETIME){(DWORD)local, (DWORD)(local >> 32)};
    if (raw)
        log_raw_to_pdh(raw, out);
}

static int64_t time_base(const struct counter_object *o, uint32_t counter)
{
    return ((const struct log_object *)o->type)->time_bases[counter];
}

static void close_sample(struct counter_object *o)
{
    struct log_sample *s = o->state;
    memory_free(s->raw);
    memory_free(s->names);
    memory_free(s->keys);
    memory_free(s->rows);
    memory_free(s->buckets);
}

static void free_object(struct log_object *lo, size_t files)
{
    for (size_t i = 0; lo->places && i < files; i++) {
        for (size_t n = 0; n < lo->places[i].count; n++)
            memory_free(lo->places[i].items[n].instance);
        memory_free(lo->places[i].items);
    }
    for (uint32_t i = 0; i < lo->type.counter_count; i++)
        memory_free((char *)lo->schemas[i].name);
    memory_free(lo->places);
    memory_free(lo->schemas);
    memory_free(lo->time_bases);
    memory_free((char *)lo->type.name);
    memory_free((char *)lo->type.machine);
    memory_free(lo);
}

static struct log_object *add_object(struct log_catalogue *lc, const struct log_counter *from, const char *machine)
{
    struct log_object *lo = memory_zero(1, sizeof *lo);
    if (!lo)
        return NULL;
    lo->catalogue = lc;
    lo->type = (struct counter_object_type){.name = text_copy(from->object),
                                            .help = "",
                                            .machine = machine ? text_copy(machine) : NULL,
                                            .has_instances = from->instance != NULL,
                                            .at_once = true,
                                            .sample = log_object_sample,
                                            .raw = raw_value,
                                            .time_base = time_base,
                                            .state_size = sizeof(struct log_sample),
                                            .close = close_sample};
    lo->places = memory_zero(lc->file_count, sizeof *lo->places);
    void *items = lc->objects;
    bool ok = lo->type.name && (!machine || lo->type.machine) && lo->places &&
              memory_grow(&items, &lc->object_capacity, lc->object_count + 1, sizeof *lc->objects);
    lc->objects = items;
    if (!ok || !catalogue_add(&lc->catalogue, &lo->type)) {
        free_object(lo, lc->file_count);
        return NULL;
    }
    lc->objects[lc->object_count++] = lo;
    return lo;
}

static struct log_object *counter_object_for(struct log_catalogue *lc, const struct log_counter *from)
{
    const char *machine = from->machine ? from->machine + strspn(from->machine, "\\") : NULL;
    for (size_t i = lc->object_count;
         i-- > 0;) { /* files list counters object by object, so most counters belong to the newest object */
        struct log_object *lo = lc->objects[i];
        if (text_equal_nocase(lo->type.name, from->object ? from->object : "") &&
            same_or_both_null(lo->type.machine, machine) && lo->type.has_instances == (from->instance != NULL))
            return lo;
    }
    return add_object(lc, from, machine);
}

/* Returns the index of the counter in the object, and adds the counter if it is new; UINT32_MAX if memory runs out. If
   two files record a counter with different types, it becomes two counters. */
static uint32_t counter_for(struct log_object *lo, const struct log_counter *from)
{
    uint32_t n = lo->type.counter_count;
    for (uint32_t i = 0; i < n; i++)
        if (lo->schemas[i].type == from->type && text_equal_nocase(lo->schemas[i].name, from->counter))
            return i;
    void *schemas = lo->schemas, *bases = lo->time_bases;
    bool ok = memory_grow(&schemas, &lo->schema_capacity, n + 1, sizeof *lo->schemas);
    lo->type.counters = lo->schemas = schemas;
    ok = ok && memory_grow(&bases, &lo->base_capacity, n + 1, sizeof *lo->time_bases);
    lo->time_bases = bases;
    char *name = ok ? text_copy(from->counter) : NULL;
    if (!name)
        return UINT32_MAX;
    lo->schemas[n] = (struct counter_schema){
        .name = name, .help = "", .type = from->type, .detail = PERF_DETAIL_NOVICE, .scale = from->default_scale};
    lo->time_bases[n] = from->time_base;
    lo->type.counter_count = n + 1;
    return n;
}

static bool add_place(struct log_catalogue *lc, size_t file, size_t cell, const struct log_counter *from)
{
    struct log_object *lo = counter_object_for(lc, from);
    if (!lo)
        return false;
    struct places *places = &lo->places[file];
    void *items = places->items;
    bool ok = memory_grow(&items, &places->capacity, places->count + 1, sizeof *places->items);
    places->items = items;
    struct counter_path path = {.parent = (char *)from->parent,
                                .instance = (char *)from->instance,
                                .index = from->index ? from->index : PATH_NO_INDEX};
    struct place p = {.cell = cell, .counter = ok ? counter_for(lo, from) : UINT32_MAX, .wildcard = from->wildcard};
    ok = ok && p.counter != UINT32_MAX;
    if (ok && from->instance && !from->wildcard) {
        p.instance = counter_path_instance(&path);
        ok = p.instance != NULL;
    }
    if (ok)
        places->items[places->count++] = p;
    return ok;
}

/* Adds each counter that the file has defined so far to the object of the counter. */
static bool map_counters(struct log_catalogue *lc, size_t at)
{
    struct log_file *file = &lc->files[at];
    size_t count;
    const struct log_counter *counters = log_reader_counters(file->reader, &count);
    while (file->mapped < count) {
        if (!add_place(lc, at, file->mapped, &counters[file->mapped]))
            return false;
        file->mapped++;
    }
    return true;
}

/* Reads the file's next sample. S_FALSE at the end of the file. */
static HRESULT read_sample(struct log_catalogue *lc, size_t at)
{
    struct log_file *file = &lc->files[at];
    file->has_sample = false;
    HRESULT hr = log_reader_next(file->reader, &file->utc, &file->cells);
    if (hr == S_OK && !map_counters(lc, at))
        hr = E_OUTOFMEMORY;
    file->has_sample = hr == S_OK;
    return hr;
}

static PDH_STATUS log_catalogue_advance(struct catalogue *c, int64_t *local)
{
    struct log_catalogue *lc = (struct log_catalogue *)c;
    for (;;) {
        struct log_file *file = &lc->files[lc->current];
        HRESULT hr = lc->fresh && file->has_sample ? S_OK : read_sample(lc, lc->current);
        lc->fresh = false;
        if (FAILED(hr))
            return pdh_status_of(hr, PDH_INVALID_DATA);
        if (hr == S_OK) {
            *local = local_of(file->reader, file->utc);
            if (*local < lc->begin)
                continue;
            if (*local <= lc->end)
                return ERROR_SUCCESS;
        }
        if (lc->current + 1 >= lc->file_count) {
            file->has_sample = false;
            return PDH_NO_MORE_DATA;
        }
        lc->current++;
        lc->fresh = true;
    }
}

static PDH_STATUS set_range(struct catalogue *c, int64_t begin, int64_t end)
{
    struct log_catalogue *lc = (struct log_catalogue *)c;
    for (size_t i = 0; i < lc->file_count; i++) {
        const struct log_zone *zone = &log_reader_info(lc->files[i].reader)->zone;
        /* If the time zone is unknown, seek to a day earlier; log_catalogue_advance skips samples that are too
           early. */
        int64_t early = zone->known ? (int64_t)zone->bias_minutes * MINUTE : -24 * 60LL * MINUTE;
        HRESULT hr = log_reader_seek(lc->files[i].reader, begin > INT64_MAX / 2 ? begin : begin + early);
        if (SUCCEEDED(hr))
            hr = read_sample(lc, i);
        if (FAILED(hr))
            return pdh_status_of(hr, PDH_INVALID_DATA);
    }
    lc->begin = begin;
    lc->end = end;
    lc->current = 0;
    lc->fresh = true;
    return ERROR_SUCCESS;
}

static void close_logs(struct catalogue *c)
{
    struct log_catalogue *lc = (struct log_catalogue *)c;
    for (size_t i = 0; i < lc->object_count; i++)
        free_object(lc->objects[i], lc->file_count);
    for (size_t i = 0; i < lc->file_count; i++)
        log_reader_close(lc->files[i].reader);
    memory_free(lc->objects);
    memory_free(lc->files);
    memory_free(lc);
}

static const struct catalogue_functions functions = {
    .advance = log_catalogue_advance, .set_range = set_range, .close = close_logs};

static PDH_STATUS open_status(HRESULT hr)
{
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND))
        return PDH_FILE_NOT_FOUND;
    if (hr == HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED))
        return PDH_ACCESS_DENIED;
    if (hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA))
        return PDH_LOG_TYPE_NOT_FOUND;
    /* Errors of databases are already PDH statuses. */
    return ((uint32_t)hr & 0xFFFF0000u) == 0xC0000000u ? (PDH_STATUS)hr : pdh_status_of(hr, PDH_LOG_FILE_OPEN_ERROR);
}

/* Sorts the files by their first samples; files without a sample come last. */
static void sort_files(struct log_catalogue *lc)
{
    for (size_t i = 1; i < lc->file_count; i++) {
        struct log_file file = lc->files[i];
        size_t at = i;
        while (at > 0 && file.has_sample && (!lc->files[at - 1].has_sample || lc->files[at - 1].utc > file.utc)) {
            lc->files[at] = lc->files[at - 1];
            at--;
        }
        lc->files[at] = file;
    }
}

/* Opens the files and reads the first sample of each, because in binary files only the samples contain the names of the
   instances and of some counters. */
static PDH_STATUS open_files(struct log_catalogue *lc, const struct texts *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        struct log_file *file = &lc->files[i];
        HRESULT hr = log_reader_open(paths->items[i], &file->reader);
        if (FAILED(hr))
            return open_status(hr);
        lc->file_count = i + 1;
        hr = log_reader_next(file->reader, &file->utc, &file->cells);
        if (FAILED(hr))
            return open_status(hr);
        file->has_sample = hr == S_OK;
    }
    sort_files(lc);
    for (size_t i = 0; i < lc->file_count; i++)
        if (!map_counters(lc, i))
            return PDH_MEMORY_ALLOCATION_FAILURE;
    return ERROR_SUCCESS;
}

PDH_STATUS catalogue_open_logs(const struct texts *paths, struct catalogue **out)
{
    struct log_catalogue *lc = memory_zero(1, sizeof *lc);
    *out = NULL;
    if (!lc)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    lc->catalogue.functions = &functions;
    lc->fresh = true;
    lc->begin = INT64_MIN;
    lc->end = INT64_MAX;
    lc->files = memory_zero(paths->count, sizeof *lc->files);
    PDH_STATUS status = !lc->files     ? (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE
                        : paths->count ? open_files(lc, paths)
                                       : (PDH_STATUS)PDH_INVALID_DATASOURCE;
    if (status != ERROR_SUCCESS) {
        catalogue_close(&lc->catalogue);
        return status;
    }
    *out = &lc->catalogue;
    return ERROR_SUCCESS;
}
