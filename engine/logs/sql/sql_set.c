/* SPDX-License-Identifier: MIT */
/* Writes one log set into a database: its row in DisplayToID, its counters and its samples. MS-PLA 2.2.2.7 does not
   define the following details; we decided:
   - All counters of a sample have the same RecordIndex: the number of the sample in its run, plus the largest index
     that the log set's counters had before. Therefore RecordIndex increases over all runs of the log set, and lost
     samples leave gaps.
   - Times are UTC (DECISIONS 8). LogStartTime is the start of the first run, LogStopTime is the time of the latest
     sample, and NumberOfRecords counts the samples of all runs.
   - InstanceName, InstanceIndex and ParentName are NULL if a counter has none. ParentObjectID and RunID are not used.
   - A value that cannot be formatted (such as the first value of a rate) is stored as 0, and so are infinities and
     NaNs. A counter without data has no row. */
#include "engine/logs/sql/sql_set.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/logs/sql_log.h"

#include <stdio.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct log_counter *names_of(const struct sql_slot *slot)
{
    return &slot->names.items[0];
}

/* The slots of a batch that have no CounterID yet, searchable by name. */
struct pending {
    struct sql_slot **slots;
    size_t count, capacity;
    uint32_t *table; /* hash table with open addressing: index + 1 in `slots`, 0 = empty */
    size_t mask;
};

static void pending_free(struct pending *p)
{
    memory_free(p->slots);
    memory_free(p->table);
}

/* Collects the slots without a CounterID, and marks them with the id -1. */
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

/* Assigns a row's id to the slots with these names. The first matching row wins. */
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

/* Searches CounterDetails for the pending slots, by machine and object. */
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
        /* One query finds all counters of an object. The slots of an object are usually adjacent, so it suffices to
           check whether the previous query was for the same object. */
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

/* Raises *highest to the largest RecordIndex that earlier runs used for the pending counters. Skips counters that have
   no row yet. */
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
            HRESULT hr =
                error_set(E_UNEXPECTED, "CounterDetails: the row of '%s' cannot be read back as it was written",
                          path ? path : "a counter");
            memory_free(path);
            return hr;
        }
    }
    return S_OK;
}

/* Sets the CounterID of every slot of the samples from `first` on. The CounterID comes from an existing row of
   CounterDetails or from a row that this function adds. The caller has begun a transaction. Raises *highest to the
   largest RecordIndex in existing rows of the log set `guid` (as text). After a failure, slots that had no id may
   remain without one. */
static HRESULT sql_details_resolve(struct odbc *c, const char *guid, struct sql_slot *const *slots,
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

/* ---- the log set and its samples ---- */

enum {
    LOGIN_SECONDS = 10,
    ROWS_PER_INSERT = 32, /* SQL Server accepts at most 2100 parameters per statement */
    ROW_VALUES = 9,
};

struct sql_set {
    const struct sql_source *source;
    const struct log_zone *zone;
    int64_t start_utc;
    GUID guid;
    char guid_text[SQL_GUID_UNITS];
    int64_t base;    /* a sample's RecordIndex is its number plus this */
    int64_t highest; /* the largest RecordIndex of the log set's counters so far */
    const struct sql_dialect *dialect;
    struct odbc *connection; /* NULL: not connected */
    struct odbc_statement *insert_one, *insert_many;
    struct odbc_value values[ROWS_PER_INSERT * ROW_VALUES];
    WCHAR times[ROWS_PER_INSERT][SQL_TIME_UNITS];
    size_t filled; /* number of rows in `values` */
};

HRESULT sql_set_create(const struct sql_source *source, int64_t start_utc, const struct log_zone *zone,
                       struct sql_set **out)
{
    struct sql_set *s = memory_zero(1, sizeof *s);
    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    s->source = source;
    s->start_utc = start_utc;
    s->zone = zone;
    HRESULT hr = os_new_guid(&s->guid);
    if (FAILED(hr)) {
        memory_free(s);
        return hr;
    }
    *out = s;
    return S_OK;
}

bool sql_set_connected(const struct sql_set *s)
{
    return s->connection != NULL;
}

void sql_set_disconnect(struct sql_set *s)
{
    odbc_close(s->insert_one);
    odbc_close(s->insert_many);
    odbc_disconnect(s->connection);
    s->insert_one = s->insert_many = NULL;
    s->connection = NULL;
}

void sql_set_free(struct sql_set *s)
{
    if (s) {
        sql_set_disconnect(s);
        memory_free(s);
    }
}

/* Sets a time as char(24). Like Windows, appends a NUL, but only if the database can store it. */
static void put_time(const struct sql_set *s, struct odbc_value *v, int64_t utc)
{
    char text[SQL_TIME_UNITS];
    sql_time_text(utc, text);
    odbc_set_text(v, text);
    if (s->dialect->time_nul)
        v->length += (intptr_t)sizeof(WCHAR);
}

/* Finds the log set's row. S_FALSE: there is no row yet. */
static HRESULT find_set(struct sql_set *s)
{
    WCHAR name[SQL_NAME_UNITS], guid[SQL_GUID_UNITS];
    struct odbc_value in = odbc_text(name, SQL_NAME_UNITS), out = odbc_text(guid, SQL_GUID_UNITS);
    struct odbc_statement *select;
    odbc_set_text(&in, s->source->log_set);
    HRESULT hr =
        odbc_prepare(s->connection, "SELECT GUID FROM DisplayToID WHERE DisplayString = ?", &in, 1, &out, 1, &select);
    if (FAILED(hr))
        return hr;
    hr = odbc_execute(select);
    if (SUCCEEDED(hr))
        hr = odbc_fetch(select);
    if (hr == S_OK) {
        char *text;
        hr = odbc_get_text(&out, &text);
        if (SUCCEEDED(hr) && !text_to_guid(text, &s->guid))
            hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "DisplayToID: '%s' is not a GUID", text);
        memory_free(text);
    }
    odbc_close(select);
    return hr;
}

static HRESULT insert_set(struct sql_set *s)
{
    WCHAR name[SQL_NAME_UNITS], start[SQL_TIME_UNITS], stop[SQL_TIME_UNITS], zone[SQL_ZONE_UNITS];
    struct odbc_value in[] = {odbc_text(name, SQL_NAME_UNITS),
                              odbc_text(start, SQL_TIME_UNITS),
                              odbc_text(stop, SQL_TIME_UNITS),
                              {.kind = ODBC_INTEGER},
                              odbc_text(zone, SQL_ZONE_UNITS)};
    char sql[256];
    struct odbc_statement *insert;
    odbc_set_text(&in[0], s->source->log_set);
    put_time(s, &in[1], s->start_utc);
    put_time(s, &in[2], s->start_utc);
    in[3].integer = s->zone->bias_minutes;
    odbc_set_text(&in[4], s->zone->name);
    snprintf(sql, sizeof sql,
             "INSERT INTO DisplayToID (GUID, RunID, DisplayString, LogStartTime, LogStopTime, NumberOfRecords, "
             "MinutesToUTC, TimeZoneName) VALUES ('%s', 0, ?, ?, ?, 0, ?, ?)",
             s->guid_text);
    HRESULT hr = odbc_prepare(s->connection, sql, in, 5, NULL, 0, &insert);
    if (SUCCEEDED(hr)) {
        hr = odbc_execute(insert);
        odbc_close(insert);
    }
    return hr;
}

static HRESULT ensure_set(struct sql_set *s)
{
    HRESULT hr = find_set(s);
    sql_guid_text(&s->guid, s->guid_text);
    if (hr == S_FALSE) {
        hr = insert_set(s);
        if (FAILED(hr)) { /* another run with the same name may have created it first */
            struct error_kept why = error_keep(hr);
            HRESULT found = find_set(s);
            if (found == S_OK) {
                sql_guid_text(&s->guid, s->guid_text);
                hr = S_OK;
            } else {
                error_restore(&why);
            }
        }
    }
    return hr;
}

static HRESULT prepare_insert(struct sql_set *s, size_t rows, struct odbc_statement **out)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, "INSERT INTO CounterData (GUID, CounterID, RecordIndex, CounterDateTime, CounterValue, "
                        "FirstValueA, FirstValueB, SecondValueA, SecondValueB, MultiCount) VALUES ");
    for (size_t i = 0; i < rows; i++)
        text_buffer_format(&b, "%s('%s', ?, ?, ?, ?, ?, ?, ?, ?, ?)", i > 0 ? ", " : "", s->guid_text);
    char *sql = text_buffer_take(&b);
    HRESULT hr = sql ? odbc_prepare(s->connection, sql, s->values, rows * ROW_VALUES, NULL, 0, out) : E_OUTOFMEMORY;
    memory_free(sql);
    return hr;
}

static HRESULT prepare_inserts(struct sql_set *s)
{
    for (size_t i = 0; i < ROWS_PER_INSERT; i++) {
        struct odbc_value *v = &s->values[i * ROW_VALUES];
        memset(v, 0, ROW_VALUES * sizeof *v);
        v[2] = odbc_text(s->times[i], SQL_TIME_UNITS);
        v[3].kind = ODBC_REAL;
    }
    HRESULT hr = prepare_insert(s, 1, &s->insert_one);
    return SUCCEEDED(hr) ? prepare_insert(s, ROWS_PER_INSERT, &s->insert_many) : hr;
}

HRESULT sql_set_connect(struct sql_set *s)
{
    HRESULT hr = odbc_connect(s->source->connection, LOGIN_SECONDS, &s->connection);
    if (SUCCEEDED(hr))
        hr = sql_dialect_of(s->connection, &s->dialect);
    if (SUCCEEDED(hr))
        hr = sql_tables_ensure(s->connection, s->dialect, true);
    if (SUCCEEDED(hr))
        hr = ensure_set(s);
    if (SUCCEEDED(hr))
        hr = prepare_inserts(s);
    if (FAILED(hr))
        sql_set_disconnect(s);
    return hr;
}

static void fill_row(struct sql_set *s, const struct sql_slot *slot, const struct sql_sample *sample,
                     const struct sql_row *row, const WCHAR *time, intptr_t time_length)
{
    struct odbc_value *v = &s->values[s->filled * ROW_VALUES];
    odbc_set_integer(&v[0], true, (uint32_t)slot->id);
    odbc_set_integer(&v[1], true, (uint32_t)(s->base + sample->number));
    memcpy(v[2].text, time, SQL_TIME_UNITS * sizeof *time);
    v[2].length = time_length;
    v[3].real = isfinite(row->value) ? row->value : 0;
    v[3].length = 0;
    odbc_set_integer(&v[4], row->has_raw, (uint32_t)row->first);
    odbc_set_integer(&v[5], row->has_raw, (uint32_t)((uint64_t)row->first >> 32));
    odbc_set_integer(&v[6], row->has_raw, (uint32_t)row->second);
    odbc_set_integer(&v[7], row->has_raw, (uint32_t)((uint64_t)row->second >> 32));
    odbc_set_integer(&v[8], row->has_raw, row->multi_count);
    s->filled++;
}

/* Writes the last rows, which do not fill a multi-row statement, one by one with the buffers of row 0. */
static HRESULT insert_rest(struct sql_set *s)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < s->filled && SUCCEEDED(hr); i++) {
        struct odbc_value *v = s->values, *from = &s->values[i * ROW_VALUES];
        for (size_t k = 0; i > 0 && k < ROW_VALUES; k++) {
            v[k].length = from[k].length;
            v[k].integer = from[k].integer;
            v[k].real = from[k].real;
        }
        memmove(v[2].text, from[2].text, SQL_TIME_UNITS * sizeof *v[2].text);
        hr = odbc_execute(s->insert_one);
    }
    s->filled = 0;
    return hr;
}

static HRESULT insert_samples(struct sql_set *s, struct sql_slot *const *slots, const struct sql_sample *first)
{
    HRESULT hr = S_OK;
    s->filled = 0;
    for (const struct sql_sample *sample = first; sample && SUCCEEDED(hr); sample = sample->next) {
        WCHAR room[SQL_TIME_UNITS] = {0};
        struct odbc_value time = odbc_text(room, SQL_TIME_UNITS);
        put_time(s, &time, sample->utc);
        for (size_t i = 0; i < sample->count && SUCCEEDED(hr); i++) {
            fill_row(s, slots[sample->rows[i].slot], sample, &sample->rows[i], room, time.length);
            if (s->filled == ROWS_PER_INSERT) {
                hr = odbc_execute(s->insert_many);
                s->filled = 0;
            }
        }
    }
    return SUCCEEDED(hr) ? insert_rest(s) : hr;
}

/* Updates the log set's row, as the first statement of a transaction. This statement takes SQLite's write lock
   immediately, so that two logs in one database wait for each other instead of failing. */
static HRESULT count_samples(struct sql_set *s, const struct sql_sample *first)
{
    int64_t latest = first->utc;
    unsigned count = 0;
    for (const struct sql_sample *sample = first; sample; sample = sample->next) {
        latest = sample->utc > latest ? sample->utc : latest;
        count++;
    }
    WCHAR room[SQL_TIME_UNITS];
    struct odbc_value time = odbc_text(room, SQL_TIME_UNITS);
    struct odbc_statement *update;
    char sql[192];
    put_time(s, &time, latest);
    snprintf(sql, sizeof sql,
             "UPDATE DisplayToID SET LogStopTime = ?, NumberOfRecords = NumberOfRecords + %u WHERE GUID = '%s'", count,
             s->guid_text);
    HRESULT hr = odbc_prepare(s->connection, sql, &time, 1, NULL, 0, &update);
    if (SUCCEEDED(hr)) {
        hr = odbc_execute(update);
        odbc_close(update);
    }
    return hr;
}

static HRESULT write_batch(struct sql_set *s, struct sql_slot *const *slots, const struct sql_sample *first)
{
    HRESULT hr = count_samples(s, first);
    if (SUCCEEDED(hr))
        hr = sql_details_resolve(s->connection, s->guid_text, slots, first, &s->highest);
    if (FAILED(hr))
        return hr;
    if (s->base + first->number <= s->highest)
        s->base = s->highest + 1 - first->number;
    hr = insert_samples(s, slots, first);
    for (const struct sql_sample *sample = first; sample; sample = sample->next)
        s->highest = s->base + sample->number;
    return hr;
}

HRESULT sql_set_write(struct sql_set *s, struct sql_slot *const *slots, const struct sql_sample *first,
                      bool *committing)
{
    *committing = false;
    HRESULT hr = odbc_begin(s->connection);
    if (FAILED(hr))
        return hr;
    int64_t highest = s->highest;
    hr = write_batch(s, slots, first); /* after a failure, disconnecting rolls the transaction back */
    if (SUCCEEDED(hr)) {
        hr = odbc_end(s->connection, true);
        *committing = FAILED(hr);
    }
    if (FAILED(hr))
        s->highest = highest; /* after a rollback, the RecordIndexes can be used again; after a doubtful commit,
                                 sql_set_has checks for them */
    return hr;
}

HRESULT sql_set_has(struct sql_set *s, struct sql_slot *const *slots, const struct sql_sample *first, bool *there)
{
    WCHAR room[SQL_TIME_UNITS];
    struct odbc_value in[2] = {{.kind = ODBC_INTEGER}, odbc_text(room, SQL_TIME_UNITS)}, out = {.kind = ODBC_INTEGER};
    char sql[192];
    struct odbc_statement *select;
    *there = false;
    const struct sql_sample *sample = first;
    while (sample && sample->count == 0)
        sample = sample->next;
    if (!sample)
        return S_OK;
    HRESULT hr = sql_details_resolve(s->connection, s->guid_text, slots, first, &s->highest);
    if (FAILED(hr))
        return hr;
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM CounterData WHERE GUID = '%s' AND CounterID = ? AND RecordIndex = %" PRId64
             " AND CounterDateTime = ?",
             s->guid_text, s->base + sample->number);
    hr = odbc_prepare(s->connection, sql, in, 2, &out, 1, &select);
    if (SUCCEEDED(hr)) {
        in[0].integer = slots[sample->rows[0].slot]->id;
        put_time(s, &in[1], sample->utc);
        hr = odbc_execute(select);
        if (SUCCEEDED(hr))
            hr = odbc_fetch(select);
        *there = hr == S_OK && out.integer > 0;
        odbc_close(select);
    }
    return FAILED(hr) ? hr : S_OK;
}
