/* SPDX-License-Identifier: MIT */
/* Creates a report: reads all inputs once, then writes one document.

   Inputs may be gigabytes of logs and traces, a schema may have dozens of tables, and the service creates the report
   while it does its other work. Therefore each input is read exactly once, and every sample and event is passed to all
   tables as it is read. Memory has a limit that does not depend on the inputs (REPORT_MEMORY).

                                     thread 1
       counter logs --inputs--> report_counters: statistics and a chart of fixed size per counter ----+
                                     this thread                                                      +--> document
       traces --trace_inputs--> report_events: each event to each event table (and to events_output) -+
       configuration documents ---------------------- copied while the document is written -----------+

   Steps (make_it):
   1. report_inputs_open opens every input. An unreadable input becomes a warning; the report fails only if no input is
      readable.
   2. create_parts gives half of the memory to the counters and half to the events. An event table that needs more
      memory uses a scratch file (row_sort.c). Counters that need more memory are omitted with a warning.
   3. read_all reads the inputs. If both counter logs and traces exist, a second thread reads the logs (thread 1 in the
      drawing). The calling thread (this thread) reads the traces, and only it calls the progress function. The two
      threads share only the byte counts for the progress (logs_done, traces_done) and `failed`, all atomic; `warnings`
      and `notes` belong to the calling thread. The thread that fails first sets `failed`, which stops the other one
      with ERROR_CANCELLED; read_both then returns the first failure.
   4. report_collect_warnings copies the readers' warnings about corrupt parts, and the notes about lost events and
      gaps. Lost events and gaps are facts of the recording, not problems of an input.
   5. write_document writes the sections in the order of the schema. The document has another name (it is a draft) until
      report_document_close renames it; events_output also is a draft until report_events_keep renames it. Therefore a
      failure, a stop or a crash leaves an old report unchanged; a crash leaves the draft behind.

   The document contains all warnings and notes (section "howMade"), because readers of the document do not see the
   messages of the program that created it. */
#include "engine/report/report.h"

#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"
#include "engine/report/make/report_counters.h"
#include "engine/report/make/report_inputs.h"
#include "engine/report/make/report_tables.h"

#include <stdatomic.h>
#include <string.h>

struct making {
    const struct report_make *make;
    struct report_inputs inputs;
    struct report_counters *counters; /* NULL means no counter logs */
    struct report_events *events;     /* NULL means no traces */
    struct report_totals totals;
    struct texts *warnings;
    char *names;                             /* fact about the number of counter names that were recognised; NULL if
                                                all names are English */
    struct texts notes;                      /* facts of the recording, not problems of an input or a schema */
    _Atomic uint64_t logs_done, traces_done; /* bytes */
    uint64_t logs_total, traces_total;
    struct error_kept logs_failed; /* the failure of the thread that reads the logs */
    atomic_bool failed;            /* one thread has failed, so the other thread must stop */
};

static bool is_stopped(struct making *m)
{
    return atomic_load_explicit(&m->failed, memory_order_relaxed) || (m->make->stop && m->make->stop(m->make->context));
}

static HRESULT cancelled(void)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_CANCELLED), "the report was stopped; no new report was written");
}

static void show_progress(struct making *m)
{
    if (m->make->progress)
        m->make->progress(m->make->context, atomic_load(&m->logs_done) + atomic_load(&m->traces_done),
                          m->logs_total + m->traces_total);
}

/* ---- reading ---- */

static bool log_sample_seen(void *context)
{
    struct making *m = context;
    uint64_t done, total;
    inputs_progress(&m->inputs.logs, &done, &total);
    atomic_store_explicit(&m->logs_done, done, memory_order_relaxed);
    if (!m->events)
        show_progress(m); /* if there are traces, the thread that reads them shows the progress */
    return !is_stopped(m);
}

static void read_logs(void *context)
{
    struct making *m = context;
    const HRESULT hr = report_counters_read(m->counters, &m->inputs.logs, log_sample_seen, m);
    if (FAILED(hr)) {
        m->logs_failed = error_keep(hr);
        atomic_store(&m->failed, true);
    }
}

static bool trace_part_seen(void *context, uint64_t done)
{
    struct making *m = context;
    atomic_store_explicit(&m->traces_done, done, memory_order_relaxed);
    show_progress(m);
    return !is_stopped(m);
}

static HRESULT read_traces(struct making *m)
{
    const HRESULT hr = report_events_read(m->events, &m->inputs.traces, trace_part_seen, m);
    TRACE_STEP(report, "all traces were read: 0x%08X", (unsigned)hr);
    if (FAILED(hr))
        atomic_store(&m->failed, true);
    return hr;
}

static HRESULT read_both(struct making *m)
{
    struct thread *thread = NULL;
    HRESULT hr = thread_start(read_logs, m, &thread);
    if (FAILED(hr))
        return hr;
    hr = read_traces(m);
    const struct error_kept why = error_keep(hr);
    while (!thread_wait(thread, 100))
        show_progress(m);
    thread_close(thread);
    /* The thread that failed first has stopped the other thread, whose error is ERROR_CANCELLED. */
    if (FAILED(m->logs_failed.hr) && (SUCCEEDED(hr) || hr == HRESULT_FROM_WIN32(ERROR_CANCELLED)))
        return error_restore(&m->logs_failed);
    return FAILED(hr) ? error_restore(&why) : S_OK;
}

static uint64_t trace_bytes(const struct trace_inputs *traces)
{
    uint64_t all = 0, done, total;
    for (size_t i = 0; i < traces->count; i++) {
        etl_reader_progress(traces->items[i].reader, &done, &total);
        all += total;
    }
    return all;
}

static HRESULT read_all(struct making *m)
{
    uint64_t done;
    inputs_progress(&m->inputs.logs, &done, &m->logs_total);
    m->traces_total = trace_bytes(&m->inputs.traces);
    HRESULT hr = S_OK;
    if (m->counters && m->events)
        hr = read_both(m);
    else if (m->events)
        hr = read_traces(m);
    else if (m->counters) {
        read_logs(m);
        hr = FAILED(m->logs_failed.hr) ? error_restore(&m->logs_failed) : S_OK;
    }
    return hr == HRESULT_FROM_WIN32(ERROR_CANCELLED) ? cancelled() : hr;
}

static HRESULT create_parts(struct making *m)
{
    const struct report_make *make = m->make;
    const size_t memory = make->memory ? make->memory : REPORT_MEMORY;
    const unsigned level = make->level ? make->level : 1;
    HRESULT hr = S_OK;
    if (make->events_output && !m->inputs.traces.count) {
        char *text = text_format("'%s' is not written: the inputs contain no trace", make->events_output);
        hr = text ? texts_add_owned(m->warnings, text) : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr) && m->inputs.logs.count)
        hr = report_counters_create(&(struct report_counters_make){make->schema, level, memory / 2, make->slice},
                                    &m->counters);
    if (SUCCEEDED(hr) && m->inputs.traces.count) {
        static const struct trace_knowledge nothing;
        hr = report_events_create(&(struct report_events_make){.schema = make->schema,
                                                               .level = level,
                                                               .memory = memory / 2,
                                                               .known = make->known ? make->known : &nothing,
                                                               .events_output = make->events_output,
                                                               .base = make->base},
                                  m->warnings, &m->notes, &m->events);
    }
    return hr;
}

/* ---- writing ---- */

static void add_count_fact(struct report_document *d, const char *name, uint64_t count)
{
    char *text = text_format("%llu", (unsigned long long)count);
    report_fact(d, name, text, NULL);
    memory_free(text);
}

/* Adds the size of the computer's memory: limits depend on it, but logs do not contain it. The memory of this computer
   is used only for logs of this computer. */
static void add_memory_fact(struct report_document *d, const char *computer)
{
    const uint64_t bytes = os_memory_bytes();
    char *own = os_computer_name();
    if (!own)
        report_fact(d, "memory", NULL, NULL);
    else if (bytes && text_equal_nocase(own, computer)) {
        char *text = text_format("%llu", (unsigned long long)(bytes >> 20));
        report_fact(d, "memory", text, "MB");
        memory_free(text);
    }
    memory_free(own);
}

static void write_header(const struct making *m, struct report_document *d)
{
    const struct report_totals *t = &m->totals;
    const char *computer = m->make->computer ? m->make->computer : m->inputs.computer;
    int64_t first = t->samples ? t->sample_first : t->first, last = t->samples ? t->sample_last : t->last;
    if (t->samples && t->events) {
        first = t->first < first ? t->first : first;
        last = t->last > last ? t->last : last;
    }
    if (computer) {
        report_fact(d, "computer", computer, NULL);
        add_memory_fact(d, computer);
    }
    if (m->make->set)
        report_fact(d, "set", m->make->set, NULL);
    if (t->samples || t->events) {
        char *duration = text_format("%.3f", ((double)last - (double)first) / 1e7);
        report_time_fact(d, "start", first);
        report_time_fact(d, "end", last);
        report_fact(d, "duration", duration, "s");
        memory_free(duration);
    }
    if (m->counters) {
        add_count_fact(d, "samples", t->samples);
        add_count_fact(d, "gaps", t->gaps);
        if (m->names)
            report_fact(d, "names", m->names, NULL);
    }
    if (m->events) {
        add_count_fact(d, "events", t->events);
        add_count_fact(d, "eventsLost", t->events_lost);
        add_count_fact(d, "buffersLost", t->buffers_lost);
    }
}

static HRESULT write_section(struct making *m, const struct schema_section *s, struct report_document *d)
{
    HRESULT hr = S_OK;
    char *key = s->has_key ? text_format("%llu", (unsigned long long)s->key) : NULL;
    report_section_begin(d, s->name, key, s->note);
    TRACE_STEP(report, "section %s: %zu tables", s->name ? s->name : "", s->count);
    for (size_t i = 0; i < s->count && SUCCEEDED(hr); i++) {
        const struct schema_table *table = &s->tables[i];
        if (is_stopped(m))
            hr = cancelled();
        else if (table->of_events)
            hr = m->events ? report_events_write(m->events, table, &m->totals, d) : S_OK;
        else if (m->counters)
            hr = report_counters_write(m->counters, table, d, m->warnings);
    }
    if (SUCCEEDED(hr) && m->counters)
        hr = report_counters_write_charts(m->counters, s, d);
    report_section_end(d);
    memory_free(key);
    return hr;
}

/* Writes all warnings and notes as a section. */
static void write_warnings(const struct making *m, struct report_document *d)
{
    static const struct report_column_head column = {.name = "remark", .left = true};
    const struct report_table_head head = {
        .name = "remarks", .columns = &column, .column_count = 1, .threshold = SCHEMA_SHOWN_ROWS};
    if (!m->warnings->count && !m->notes.count)
        return;
    report_section_begin(d, "howMade", NULL, NULL);
    report_table_begin(d, &head);
    for (size_t i = 0; i < m->warnings->count + m->notes.count; i++)
        if (report_row_begin(d)) {
            report_cell(d, i < m->warnings->count ? m->warnings->items[i] : m->notes.items[i - m->warnings->count]);
            report_row_end(d);
        }
    report_table_end(d, NULL);
    report_section_end(d);
}

/* Writes the strings of the schema, and OpenPLA's names that the schema does not define. */
static void write_strings(const struct making *m, struct report_document *d)
{
    static const char *const ours[][2] = {{"counter", "Counter"},
                                          {"instance", "Instance"},
                                          {"machine", "Computer"},
                                          {"mean", "Mean"},
                                          {"min", "Minimum"},
                                          {"max", "Maximum"},
                                          {"sum", "Sum"},
                                          {"count", "Values"},
                                          {"p50", "Median"},
                                          {"p95", "95th percentile"},
                                          {"p99", "99th percentile"},
                                          {"last", "Last"},
                                          {"trend", "Trend per hour"},
                                          {"howMade", "About this report"},
                                          {"remarks", "Notes"},
                                          {"remark", "Note"}};
    const struct report_schema *s = m->make->schema;
    const char *language = m->make->language ? m->make->language : "";
    for (size_t i = 0; i < s->string_count; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = strcmp(s->strings[k].id, s->strings[i].id) != 0;
        if (is_first)
            report_string(d, s->strings[i].id, report_schema_string(s, s->strings[i].id, language));
    }
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (report_schema_string(s, ours[i][0], language) == ours[i][0])
            report_string(d, ours[i][0], ours[i][1]);
}

static HRESULT write_document(struct making *m, struct report_document *d)
{
    const struct report_schema *s = m->make->schema;
    HRESULT hr = S_OK;
    m->totals.stop = m->make->stop;
    m->totals.stop_context = m->make->context;
    write_header(m, d);
    for (size_t i = 0; i < s->section_count && SUCCEEDED(hr); i++)
        hr = write_section(m, &s->sections[i], d);
    for (size_t i = 0; i < m->inputs.documents.count && SUCCEEDED(hr); i++)
        hr = is_stopped(m) ? cancelled() : report_configuration_write(m->inputs.documents.items[i], d, m->warnings);
    if (FAILED(hr))
        return hr;
    write_warnings(m, d);
    write_strings(m, d);
    return report_document_status(d);
}

static HRESULT add_all(struct texts *to, const struct texts *from)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < from->count && SUCCEEDED(hr); i++)
        hr = texts_add(to, from->items[i]);
    return hr;
}

static HRESULT report_collect_warnings(struct making *m)
{
    HRESULT hr = report_inputs_warnings(&m->inputs, m->warnings);
    if (SUCCEEDED(hr))
        hr = inputs_describe_names(&m->inputs.logs, &m->names);
    if (SUCCEEDED(hr) && m->counters)
        hr = report_counters_totals(m->counters, &m->totals, &m->notes);
    if (SUCCEEDED(hr) && m->totals.valueless)
        hr = texts_add(m->warnings, REPORT_NO_VALUES);
    if (SUCCEEDED(hr) && m->events) {
        report_events_totals(m->events, &m->totals);
        m->totals.events_lost = m->inputs.traces.events_lost;
        m->totals.buffers_lost = m->inputs.buffers_lost;
    }
    if (SUCCEEDED(hr) && (m->totals.events_lost || m->totals.buffers_lost)) {
        char *text = text_format("%llu events and %llu buffers were lost during recording: totals are too low",
                                 (unsigned long long)m->totals.events_lost, (unsigned long long)m->totals.buffers_lost);
        hr = text ? texts_add_owned(&m->notes, text) : E_OUTOFMEMORY;
    }
    return hr;
}

/* Returns the report's time zone: the zone of the first log, or of the first trace. The members `from` and `to` of
   struct report_make are also in this zone. */
static int bias_minutes(const struct making *m)
{
    if (m->inputs.logs.count)
        return log_reader_info(m->inputs.logs.items[0].reader)->zone.bias_minutes;
    if (!m->inputs.traces.count)
        return 0;
    const struct zone_rules *zone = &etl_reader_log(m->inputs.traces.items[0].reader)->zone;
    return zone_bias_minutes(zone, zone_to_local(zone, m->totals.first), false);
}

static HRESULT make_it(struct making *m)
{
    const struct report_schema *s = m->make->schema;
    struct report_document *d = NULL;
    m->inputs.logs.names = m->make->names;
    HRESULT hr = add_all(m->warnings, &s->errors);
    if (SUCCEEDED(hr))
        hr = add_all(m->warnings, &s->warnings);
    if (SUCCEEDED(hr))
        hr = report_inputs_open(&m->inputs, m->make->inputs, m->warnings);
    if (SUCCEEDED(hr) && m->make->ranged)
        hr = report_inputs_limit(&m->inputs, m->make->from, m->make->to);
    if (SUCCEEDED(hr) && !s->table_count && !m->inputs.documents.count)
        hr = error_set(REPORT_NO_DATA, "the report schema contains no table%s%s", s->errors.count ? ": " : "",
                       s->errors.count ? s->errors.items[0] : "");
    if (SUCCEEDED(hr))
        hr = create_parts(m);
    if (SUCCEEDED(hr))
        hr = read_all(m);
    if (SUCCEEDED(hr))
        hr = report_collect_warnings(m);
    if (SUCCEEDED(hr))
        hr = report_document_create(m->make->output,
                                    &(struct report_head){.name = s->name ? s->name : "report",
                                                          .base = m->make->base,
                                                          .bias_minutes = bias_minutes(m)},
                                    &d);
    if (FAILED(hr))
        return hr;
    TRACE_STEP(report, "write %s", m->make->output);
    hr = write_document(m, d);
    if (SUCCEEDED(hr) && m->events)
        hr = report_events_keep(m->events);
    if (SUCCEEDED(hr))
        return report_document_close(d);
    const struct error_kept why = error_keep(hr);
    report_document_drop(d);
    return error_restore(&why);
}

HRESULT report_make(const struct report_make *make, struct texts *warnings)
{
    struct making *m = memory_zero(1, sizeof *m);
    if (make->names_result)
        *make->names_result = NULL;
    if (!m)
        return E_OUTOFMEMORY;
    m->make = make;
    m->warnings = warnings;
    HRESULT hr = make_it(m);
    const struct error_kept why = error_keep(hr);
    report_counters_free(m->counters);
    report_events_free(m->events);
    report_inputs_close(&m->inputs);
    texts_free(&m->notes);
    if (make->names_result)
        *make->names_result = m->names;
    else
        memory_free(m->names);
    memory_free(m);
    return FAILED(why.hr) ? error_restore(&why) : S_OK;
}
