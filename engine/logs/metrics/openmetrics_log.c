/* SPDX-License-Identifier: MIT */
/* Writes performance logs as OpenMetrics text 1.0 with timestamps, which `promtool tsdb create-blocks-from openmetrics`
   turns into blocks of Prometheus.

   OpenMetrics requires that all points of a series are consecutive, and that all series of a family are consecutive. In
   a log, however, each sample has a point of every series. Therefore samples are collected (column_store.h: in at most
   STORE_BYTES of memory, then in a temporary file), and log_writer_close writes them family by family. Names, units and
   labels are the same as in openpla serve (metric_form.h, metric_family.h), so that the exported data continue the
   series that Prometheus scrapes. Raw values are exported. A log that has only computed values (a text log) becomes
   gauges with other names.

   A column of the log is not always one series. When an svchost process exits, svchost#3 can become a different
   process. If the log has the counter ID Process, the values of this counter show which process svchost#3 is. Therefore
   a column is split into runs of one process each, and runs with the same labels form one series, even if they are from
   different columns:

       column svchost#1   [pid 7 .......][pid 9 ....]      series {name="svchost",pid="9"} = second run of svchost#1,
       column svchost#2   [pid 9 .......][no process]                                        first run of svchost#2

   A point that is not later than the previous point of its series is omitted, because readers reject such files. */
#include "engine/base/memory.h"
#include "engine/logs/export/column_store.h"
#include "engine/logs/export/log_output.h"
#include "engine/logs/metric_family.h"
#include "engine/logs/pdh_types.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

enum {
    STORE_BYTES = 64 << 20,
    MOST_RUNS = 1 << 20, /* maximum per family; Prometheus cannot use more */
    LINES_BETWEEN_CHECKS = 10000,
};
#define NO_COLUMN SIZE_MAX
enum { READ_TIME, READ_VALUE, READ_PROCESS, READ_THREAD }; /* the store's reader numbers */

struct om_column {
    struct metric_form form;
    size_t counter, family;
    size_t stored; /* its column in the store; NO_COLUMN: not stored (it has no metric, and other columns do not need it
                      as an ID) */
    size_t process, thread; /* columns in the store with the instance's ID Process and ID Thread; or NO_COLUMN */
    const char *computer;   /* without backslashes; "": unknown */
    char *instance;         /* "parent/name#index"; NULL: none */
    uint64_t labels;        /* hash of the labels */
    bool is_double, is_written;
};

struct om_run {
    uint64_t labels;   /* hash of the labels */
    size_t column;     /* index in om_log.columns */
    uint64_t from, to; /* first sample, and the sample after the last one */
    size_t series;     /* index of the first run with these labels */
    int64_t process, thread;
    bool has_process, has_thread;
};

struct om_log {
    struct log_writer base;
    struct log_output file;
    struct metric_families families;
    struct om_column *columns; /* in the order of the counters, later sorted by family */
    struct texts texts;        /* names of instances and machines */
    size_t count;
    struct column_store *store;
    size_t stored;
    size_t without_form, twins;
    char *first_without_form, *first_twin; /* paths of the first omitted counters */
    struct om_run *runs;
    size_t run_count, run_capacity;
    log_check *check;
    void *check_user;
    uint64_t lines;
};

static HRESULT om_no_memory(void)
{
    return error_set(E_OUTOFMEMORY, "out of memory for the metrics of a log");
}

static void om_free(struct om_log *log)
{
    column_store_free(log->store);
    metric_families_free(&log->families);
    texts_free(&log->texts);
    memory_free(log->columns);
    memory_free(log->first_without_form);
    memory_free(log->first_twin);
    memory_free(log->runs);
    memory_free(log);
}

/* ---- columns ---- */

static const char *om_machine(const struct log_counter *c)
{
    return c->machine ? c->machine + strspn(c->machine, "\\") : "";
}

/* Sets column->instance to "parent/name#index". */
static HRESULT om_take_instance(struct om_log *log, const struct log_counter *c, struct om_column *column)
{
    struct text_buffer b = {0};
    if (!c->instance)
        return S_OK;
    if (c->parent)
        text_buffer_format(&b, "%s/", c->parent);
    text_buffer_add(&b, c->instance);
    if (c->index > 0)
        text_buffer_format(&b, "#%u", (unsigned)c->index);
    column->instance = text_buffer_take(&b);
    if (!column->instance)
        return om_no_memory();
    HRESULT hr = texts_add_owned(&log->texts, column->instance);
    if (FAILED(hr))
        column->instance = NULL;
    return hr;
}

static void om_add_labels(struct text_buffer *b, const struct om_column *c, const struct om_run *run)
{
    const struct log_raw process = {.first = run->process}, thread = {.first = run->thread};
    if (*c->computer)
        metric_add_label(b, false, "computer", c->computer);
    if (c->instance)
        metric_add_instance(b, *c->computer != 0, c->instance, run->has_process ? &process : NULL,
                            run->has_thread ? &thread : NULL);
}

static HRESULT om_hash_labels(const struct om_column *c, const struct om_run *run, uint64_t *hash)
{
    struct text_buffer b = {0};
    om_add_labels(&b, c, run);
    *hash = hash_bytes(HASH_START, b.length > 0 ? b.text : "", b.length);
    const bool failed = b.failed;
    text_buffer_free(&b);
    return failed ? om_no_memory() : S_OK;
}

static HRESULT om_add_column(struct om_log *log, const struct log_counter *counters, size_t at)
{
    const struct log_counter *c = &counters[at];
    struct om_column *column = &log->columns[at];
    const struct om_run none = {0};
    char *name = NULL;
    *column = (struct om_column){.form = metric_form_of(c),
                                 .counter = at,
                                 .stored = NO_COLUMN,
                                 .process = NO_COLUMN,
                                 .thread = NO_COLUMN,
                                 .is_double = c->type == LOG_TYPE_DOUBLE,
                                 .computer = om_machine(c)};
    HRESULT hr = texts_add(&log->texts, column->computer);
    if (FAILED(hr))
        return hr;
    column->computer = log->texts.items[log->texts.count - 1];
    if (column->form.kind == METRIC_NONE) {
        if (log->without_form++ == 0)
            log->first_without_form = log_counter_path(c);
        return S_OK;
    }
    hr = om_take_instance(log, c, column);
    if (SUCCEEDED(hr))
        hr = metric_families_find(&log->families, c, &column->form, &column->family, &name);
    if (hr == S_FALSE)
        hr = metric_families_add(&log->families, name, metric_help_of(c, c->instance != NULL, NULL, &column->form),
                                 &column->form, NULL);
    if (SUCCEEDED(hr))
        hr = om_hash_labels(column, &none, &column->labels);
    column->is_written = SUCCEEDED(hr);
    return hr;
}

/* Returns a hash of the counter's instance. All counters of an instance have the same hash, with one exception: if
   merged logs contain both raw and computed values of an instance, the raw counters have one hash and the computed
   counters another. */
static uint64_t om_hash_instance(const struct log_counter *c)
{
    struct log_counter instance = *c;
    instance.counter = NULL;
    return hash_number(log_counter_hash(&instance), c->type == LOG_TYPE_DOUBLE);
}

struct om_hashed {
    uint64_t hash;
    size_t column;
};

static int om_compare_hashed(const void *left, const void *right)
{
    const struct om_hashed *a = left, *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

static int om_compare_hash(const void *left, const void *right)
{
    const struct om_hashed *a = left, *b = right;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

static size_t om_stored(struct om_log *log, size_t at)
{
    if (log->columns[at].stored == NO_COLUMN)
        log->columns[at].stored = log->stored++;
    return log->columns[at].stored;
}

/* For each column, finds the column that contains the ID Process or ID Thread of the same instance. */
static void om_find_ids(struct om_log *log, const struct log_counter *counters, const char *name,
                        struct om_hashed *room)
{
    size_t count = 0;
    const bool is_thread = strcmp(name, "ID Thread") == 0;
    for (size_t i = 0; i < log->count; i++)
        if (log->columns[i].instance && strcmp(log_counter_english_counter(&counters[i]), name) == 0)
            room[count++] = (struct om_hashed){om_hash_instance(&counters[i]), i};
    qsort(room, count, sizeof *room, om_compare_hashed);
    for (size_t i = 0; i < log->count && count > 0; i++) {
        struct om_column *column = &log->columns[i];
        const struct om_hashed key = {.hash = om_hash_instance(&counters[i])};
        const struct om_hashed *found =
            column->is_written && column->instance ? bsearch(&key, room, count, sizeof *room, om_compare_hash) : NULL;
        if (found && is_thread && column->process != NO_COLUMN)
            column->thread = om_stored(log, found->column);
        else if (found && !is_thread)
            column->process = om_stored(log, found->column);
    }
}

/* Like openpla serve, omits _Total if the family has the instances of which it is the sum. */
static void om_drop_totals(struct om_log *log, struct om_hashed *room)
{
    size_t count = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct om_column *c = &log->columns[i];
        if (c->is_written && c->instance && !metric_is_total(c->instance))
            room[count++] = (struct om_hashed){hash_number(hash_text(HASH_START, c->computer), c->family), i};
    }
    qsort(room, count, sizeof *room, om_compare_hashed);
    for (size_t i = 0; i < log->count; i++) {
        struct om_column *c = &log->columns[i];
        const struct om_hashed key = {.hash = hash_number(hash_text(HASH_START, c->computer), c->family)};
        if (c->is_written && c->instance && metric_is_total(c->instance) &&
            bsearch(&key, room, count, sizeof *room, om_compare_hash))
            c->is_written = false;
    }
}

/* Omits counters that have the same name and labels as an earlier column. Different counters with the same name and
   labels show the same number in two units (Available Bytes and Available MBytes), so nothing is lost. */
static void om_drop_twins(struct om_log *log, const struct log_counter *counters, struct om_hashed *room)
{
    size_t count = 0;
    for (size_t i = 0; i < log->count; i++)
        if (log->columns[i].is_written)
            room[count++] = (struct om_hashed){hash_number(log->columns[i].labels, log->columns[i].family), i};
    qsort(room, count, sizeof *room, om_compare_hashed);
    for (size_t i = 1, first = 0; i < count; i++) {
        if (room[i].hash != room[first].hash) {
            first = i;
            continue;
        }
        const struct log_counter *a = &counters[room[first].column], *b = &counters[room[i].column];
        log->columns[room[i].column].is_written = false;
        if (strcmp(a->counter, b->counter) == 0 && log->twins++ == 0)
            log->first_twin = log_counter_path(b);
    }
}

static HRESULT om_arrange(struct om_log *log, const struct log_counter *counters)
{
    struct om_hashed *room = memory_zero(log->count + 1, sizeof *room);
    if (!room)
        return om_no_memory();
    om_drop_totals(log, room);
    om_drop_twins(log, counters, room);
    om_find_ids(log, counters, "ID Process", room);
    om_find_ids(log, counters, "ID Thread", room);
    memory_free(room);
    for (size_t i = 0; i < log->count; i++)
        if (log->columns[i].is_written)
            (void)om_stored(log, i);
    uint8_t *words = memory_alloc(log->stored + 1);
    if (!words)
        return om_no_memory();
    memset(words, 1, log->stored + 1); /* column 0 contains the times */
    for (size_t i = 0; i < log->count; i++) {
        const struct om_column *c = &log->columns[i];
        const enum metric_source source = c->form.scale.source;
        if (c->stored != NO_COLUMN &&
            (c->form.kind == METRIC_SUMMARY || (source != METRIC_FIRST && source != METRIC_DOUBLE)))
            words[c->stored] = 2;
    }
    const HRESULT hr = column_store_create(words, log->stored, STORE_BYTES, &log->store);
    memory_free(words);
    return hr;
}

/* ---- the writer ---- */

static HRESULT om_create(const struct log_format_traits *format, const char *path, const struct log_counter *counters,
                         size_t count, int64_t start_utc, const struct log_options *options, struct log_writer **out)
{
    struct om_log *log = memory_zero(1, sizeof *log);
    (void)start_utc;
    if (!log)
        return om_no_memory();
    log->base.functions = &log_openmetrics_functions;
    log->check = options->check;
    log->check_user = options->check_user;
    log->count = count;
    log->stored = 1;
    log->columns = memory_zero(count + 1, sizeof *log->columns);
    HRESULT hr = log->columns ? log_refuse_wildcards(path, counters, count) : om_no_memory();
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        hr = om_add_column(log, counters, i);
    if (SUCCEEDED(hr))
        hr = om_arrange(log, counters);
    if (SUCCEEDED(hr))
        hr = log_output_create(&log->file, format, path, counters, count, options);
    if (FAILED(hr)) {
        om_free(log);
        return hr;
    }
    *out = &log->base;
    return S_OK;
}

static HRESULT om_append(struct log_writer *w, int64_t utc, const struct log_cell *cells)
{
    struct om_log *log = (struct om_log *)w;
    column_store_set(log->store, 0, utc, 0);
    for (size_t i = 0; i < log->count; i++) {
        const struct om_column *c = &log->columns[i];
        const struct log_cell *cell = &cells[i];
        int64_t first = cell->raw.first;
        if (c->stored == NO_COLUMN)
            continue;
        if (c->is_double ? !cell->has_value || !isfinite(cell->value) : cell->raw.status > PDH_CSTATUS_NEW_DATA)
            continue;
        if (c->is_double)
            memcpy(&first, &cell->value, sizeof first);
        column_store_set(log->store, c->stored, first, cell->raw.second);
    }
    return column_store_next(log->store);
}

/* Does nothing, because the output cannot begin before the last sample. */
static HRESULT om_flush(struct log_writer *w)
{
    (void)w;
    return S_OK;
}

static uint64_t om_size(const struct log_writer *w)
{
    return log_output_size(&((const struct om_log *)w)->file);
}

static HRESULT om_warning(struct log_writer *w, char **text)
{
    struct om_log *log = (struct om_log *)w;
    size_t *count = log->twins > 0 ? &log->twins : &log->without_form;
    const char *first = log->twins > 0 ? log->first_twin : log->first_without_form;
    if (*count == 0)
        return S_FALSE;
    *text =
        text_format("omitted counters: %zu, because %s; the first is '%s'", *count,
                    log->twins > 0 ? "other counters have the same names" : "they are not numbers", first ? first : "");
    if (!*text)
        return E_OUTOFMEMORY;
    *count = 0;
    return S_OK;
}

/* ---- runs ---- */

static HRESULT om_add_run(struct om_log *log, struct om_run *run)
{
    void *runs = log->runs;
    if (log->run_count == MOST_RUNS)
        return error_set(
            E_INVALIDARG,
            "cannot write the metric family '%s': more than %d series, because too many instances come and go",
            log->families.items[log->columns[run->column].family].name, MOST_RUNS);
    HRESULT hr = om_hash_labels(&log->columns[run->column], run, &run->labels);
    if (SUCCEEDED(hr) && !memory_grow(&runs, &log->run_capacity, log->run_count + 1, sizeof *log->runs))
        hr = om_no_memory();
    if (FAILED(hr))
        return hr;
    log->runs = runs;
    run->series = log->run_count;
    log->runs[log->run_count++] = *run;
    return S_OK;
}

/* Reads the ID in a row; false: the row has no ID. */
static bool om_read_id(const struct column_part *part, size_t row, bool is_double, int64_t *id)
{
    double value;
    if (!part->first || !column_part_has(part, row))
        return false;
    *id = part->first[row];
    if (is_double) {
        memcpy(&value, id, sizeof value);
        if (!(fabs(value) < 1e15))
            return false;
        *id = (int64_t)value;
    }
    return true;
}

/* Splits a column into runs where its process or thread changes. */
static HRESULT om_cut_column(struct om_log *log, size_t at)
{
    const struct om_column *c = &log->columns[at];
    const uint64_t samples = column_store_samples(log->store);
    struct om_run run = {.column = at};
    HRESULT hr = S_OK;
    if (c->process == NO_COLUMN) {
        run.to = samples;
        return om_add_run(log, &run);
    }
    const size_t rows = column_store_part_rows(log->store);
    struct column_part processes, threads = {0};
    for (uint64_t sample = 0; sample < samples && SUCCEEDED(hr); sample++) {
        const size_t row = (size_t)(sample % rows);
        struct om_run next = {.column = at, .from = sample};
        if (row == 0)
            hr = column_store_read(log->store, READ_PROCESS, c->process, sample / rows, &processes);
        if (row == 0 && SUCCEEDED(hr) && c->thread != NO_COLUMN)
            hr = column_store_read(log->store, READ_THREAD, c->thread, sample / rows, &threads);
        if (FAILED(hr))
            return hr;
        next.has_process = om_read_id(&processes, row, c->is_double, &next.process);
        next.has_thread = om_read_id(&threads, row, c->is_double, &next.thread);
        run.to = sample;
        if (next.has_process == run.has_process && next.process == run.process && next.has_thread == run.has_thread &&
            next.thread == run.thread)
            continue;
        if (run.to > run.from)
            hr = om_add_run(log, &run);
        run = next;
    }
    run.to = samples;
    return SUCCEEDED(hr) && run.to > run.from ? om_add_run(log, &run) : hr;
}

static int om_compare_labels(const void *left, const void *right)
{
    const struct om_run *a = left, *b = right;
    if (a->labels != b->labels)
        return a->labels < b->labels ? -1 : 1;
    return (a->series > b->series) - (a->series < b->series);
}

static int om_compare_series(const void *left, const void *right)
{
    const struct om_run *a = left, *b = right;
    if (a->series != b->series)
        return a->series < b->series ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

/* Sorts the runs so that runs with the same labels are adjacent and in time order. The series are in the order of their
   first columns. */
static void om_sort_runs(struct om_log *log)
{
    if (log->run_count == 0)
        return;
    qsort(log->runs, log->run_count, sizeof *log->runs, om_compare_labels);
    for (size_t i = 1; i < log->run_count; i++)
        if (log->runs[i].labels == log->runs[i - 1].labels)
            log->runs[i].series = log->runs[i - 1].series;
    qsort(log->runs, log->run_count, sizeof *log->runs, om_compare_series);
}

/* ---- points ---- */

/* The beginnings of a run's lines. */
struct om_lines {
    /* For a summary, `first` is the text for the line of the sum, and `second` the text for the line of the count. */
    char *first, *second;
    size_t first_length, second_length;
};

static HRESULT om_begin_line(const struct om_log *log, const struct om_run *run, const char *suffix, char **text,
                             size_t *length)
{
    struct text_buffer labels = {0}, b = {0};
    const struct om_column *c = &log->columns[run->column];
    om_add_labels(&labels, c, run);
    text_buffer_add(&b, log->families.items[c->family].name);
    text_buffer_add(&b, suffix);
    if (labels.length > 0) {
        text_buffer_add(&b, "{");
        text_buffer_add_n(&b, labels.text, labels.length);
        text_buffer_add(&b, "}");
    }
    text_buffer_add(&b, " ");
    b.failed |= labels.failed;
    *length = b.length;
    *text = text_buffer_take(&b);
    text_buffer_free(&labels);
    return *text ? S_OK : om_no_memory();
}

/* Returns milliseconds since 1970, the unit of Prometheus' timestamps. */
static int64_t om_milliseconds(int64_t utc)
{
    static const int64_t epoch = INT64_C(116444736000000000);
    const int64_t ticks = utc < 0 ? -epoch : utc - epoch;
    return ticks / 10000 - (ticks % 10000 < 0);
}

static void om_add_time(struct text_buffer *b, int64_t milliseconds)
{
    const uint64_t size = milliseconds < 0 ? 0 - (uint64_t)milliseconds : (uint64_t)milliseconds;
    text_buffer_add_n(b, milliseconds < 0 ? " -" : " ", milliseconds < 0 ? 2 : 1);
    text_buffer_add_u64(b, size / 1000, 1);
    text_buffer_add_n(b, ".", 1);
    text_buffer_add_u64(b, size % 1000, 3);
    text_buffer_add_n(b, "\n", 1);
}

/* Adds a point. False: the point has no value, and the caller removes the added text. */
static bool om_add_point(struct text_buffer *b, const struct om_lines *lines, const struct metric_form *form,
                         const struct log_raw *raw, int64_t milliseconds)
{
    static const struct metric_scale count = {METRIC_SECOND, 1, 1, 0, false};
    text_buffer_add_n(b, lines->first, lines->first_length);
    if (!metric_add_value(b, &form->scale, raw))
        return false;
    om_add_time(b, milliseconds);
    if (lines->second) {
        text_buffer_add_n(b, lines->second, lines->second_length);
        (void)metric_add_value(b, &count, raw);
        om_add_time(b, milliseconds);
    }
    return true;
}

/* The state of the series that is being written. */
struct om_series {
    bool has_time, has_value;
    int64_t last_time, last_value;
};

static HRESULT om_write_run(struct om_log *log, const struct om_run *run, struct om_series *series, bool *has_head)
{
    const struct om_column *c = &log->columns[run->column];
    const bool is_summary = c->form.kind == METRIC_SUMMARY;
    const int64_t steady = metric_steady_limit(&c->form);
    const size_t rows = column_store_part_rows(log->store);
    struct text_buffer *b = &log->file.pending;
    struct column_part times = {0}, values = {0};
    struct om_lines lines = {0};
    HRESULT hr = om_begin_line(log, run, is_summary ? "_sum" : "", &lines.first, &lines.first_length);
    if (SUCCEEDED(hr) && is_summary)
        hr = om_begin_line(log, run, "_count", &lines.second, &lines.second_length);
    for (uint64_t sample = run->from; sample < run->to && SUCCEEDED(hr); sample++) {
        const size_t row = (size_t)(sample % rows);
        if (row == 0 || sample == run->from) {
            hr = column_store_read(log->store, READ_TIME, 0, sample / rows, &times);
            if (SUCCEEDED(hr))
                hr = column_store_read(log->store, READ_VALUE, c->stored, sample / rows, &values);
            if (FAILED(hr))
                break;
        }
        if (!column_part_has(&values, row))
            continue;
        const int64_t milliseconds = om_milliseconds(times.first[row]);
        if (series->has_time && milliseconds <= series->last_time)
            continue;
        struct log_raw raw = {.first = values.first[row], .second = values.second ? values.second[row] : 0};
        if (steady > 0 && series->has_value)
            raw.first = metric_steady(series->last_value, raw.first, steady);
        const size_t begun = b->length;
        if (!*has_head)
            metric_add_family(b, &log->families.items[c->family], true);
        if (!om_add_point(b, &lines, &c->form, &raw, milliseconds)) {
            b->length = begun;
            continue;
        }
        *has_head = true;
        *series = (struct om_series){true, true, milliseconds, raw.first};
        if (log->check && ++log->lines % LINES_BETWEEN_CHECKS == 0)
            hr = log->check(log->check_user);
        if (SUCCEEDED(hr))
            hr = log_output_write(&log->file, false);
    }
    memory_free(lines.first);
    memory_free(lines.second);
    return hr;
}

static int om_compare_families(const void *left, const void *right)
{
    const struct om_column *a = left, *b = right;
    if (a->family != b->family)
        return a->family < b->family ? -1 : 1;
    return (a->counter > b->counter) - (a->counter < b->counter);
}

static HRESULT om_write_families(struct om_log *log)
{
    HRESULT hr = S_OK;
    /* Counters without a metric also have family 0, but their is_written is false, so the loop skips them. */
    qsort(log->columns, log->count, sizeof *log->columns, om_compare_families);
    for (size_t first = 0, end; first < log->count && SUCCEEDED(hr); first = end) {
        bool has_head = false;
        log->run_count = 0;
        for (end = first; end < log->count && log->columns[end].family == log->columns[first].family; end++)
            if (log->columns[end].is_written && SUCCEEDED(hr))
                hr = om_cut_column(log, end);
        if (FAILED(hr))
            break;
        om_sort_runs(log);
        struct om_series series = {0};
        for (size_t i = 0; i < log->run_count && SUCCEEDED(hr); i++) {
            if (i > 0 && log->runs[i].series != log->runs[i - 1].series)
                series = (struct om_series){0};
            hr = om_write_run(log, &log->runs[i], &series, &has_head);
        }
    }
    return hr;
}

static HRESULT om_close(struct log_writer *w)
{
    struct om_log *log = (struct om_log *)w;
    HRESULT hr = log->check ? log->check(log->check_user) : S_OK;
    if (SUCCEEDED(hr))
        hr = om_write_families(log);
    text_buffer_add(&log->file.pending, "# EOF\n");
    hr = log_output_close(&log->file, hr);
    om_free(log);
    return hr;
}

const struct log_format_functions log_openmetrics_functions = {.create = om_create,
                                                               .append = om_append,
                                                               .flush = om_flush,
                                                               .size = om_size,
                                                               .warning = om_warning,
                                                               .close = om_close};
