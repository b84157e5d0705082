/* SPDX-License-Identifier: MIT */
/* openpla logstat for event traces: shows the computer, the number of lost events and, for each event provider, the
   number of events and the percentage that can be decoded. Reads the whole trace. */
#include "cli/trace/logstat_trace.h"

#include "cli/cli.h"
#include "cli/trace/trace.h"
#include "cli/trace/trace_contents.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/blg_records.h"
#include "engine/logs/etl_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace_statistics {
    uint64_t bytes, events, buffers; /* `events` does not count the log file header, but `buffers` counts the buffer
                                        that contains this header */
    uint64_t unknown;                /* number of events of an unknown form; included in `events` */
    int64_t first, last;             /* FILETIMEs of the first and last event */
    uint64_t counter_samples;        /* number of events from a log of performance counters */
    struct trace_contents contents;
    char *computer; /* name of the computer, which even an incomplete event can provide; from memory_alloc; NULL if
                       unknown */
    struct texts damage;
    struct event_view *view;
    struct trace_schemas schemas;
};

enum {
    HOOK_CPU =
        0x0B0A, /* SystemConfig, CPU: MHz, processors, memory, page size, granularity, then the computer's name */
    COMPUTER_AT = 20,
    COMPUTER_BYTES = 512,
    MOST_DAMAGE = 100, /* maximum number of warnings */
};

static void take_warning(void *context, const char *text)
{
    struct trace_statistics *s = context;
    if (s->damage.count < MOST_DAMAGE)
        (void)texts_add(&s->damage, text); /* lack of memory for warnings does not stop the reading */
}

static HRESULT count_contents(struct trace_statistics *s, const struct etl_record *e, const struct etl_log *log)
{
    const GUID provider = *etl_record_provider(e);
    const struct found_schema *found;
    struct trace_event event;
    struct dumped_event dumped;
    bool decoded = false;
    trace_event_view(e, log, false, s->view, &event);
    HRESULT hr = trace_schemas_find(&s->schemas, &event, &dumped, &found);
    if (SUCCEEDED(hr))
        hr = dumped_event_decodes(&dumped, &decoded);
    if (SUCCEEDED(hr))
        hr = trace_contents_add(&s->contents, &provider, &dumped, decoded);
    found_schema_release(s->schemas.all, found);
    return hr;
}

static HRESULT count_event(struct trace_statistics *s, const struct etl_record *e, const struct etl_log *log)
{
    const HRESULT hr = count_contents(s, e, log);
    if (FAILED(hr))
        return hr;
    s->first = s->events == 0 || e->utc < s->first ? e->utc : s->first;
    s->last = s->events == 0 || e->utc > s->last ? e->utc : s->last;
    s->events++;
    s->unknown += e->kind == ETL_RECORD_OTHER;
    s->counter_samples += e->kind == ETL_RECORD_CLASSIC && memcmp(e->event + 0x18, blg_class, sizeof blg_class) == 0;
    if (!s->computer && e->kind == ETL_RECORD_SYSTEM && e->id == HOOK_CPU && e->data_size > COMPUTER_AT) {
        const uint32_t rest = e->data_size - COMPUTER_AT;
        size_t units;
        if (etl_text_length(e->data + COMPUTER_AT, rest < COMPUTER_BYTES ? rest : COMPUTER_BYTES, &units))
            s->computer = etl_text(e->data + COMPUTER_AT, units);
    }
    return S_OK;
}

/* Reads the trace to its end. *out must be freed even after a failure. */
static HRESULT trace_statistics_read(const char *path, struct cli_progress *progress, struct trace_statistics *out,
                                     struct etl_reader **reader)
{
    struct etl_record e;
    uint64_t done;
    bool header = true;
    struct trace_knowledge known = {0};
    *out = (struct trace_statistics){.view = memory_zero(1, sizeof *out->view)};
    *reader = NULL;
    HRESULT hr = etl_reader_open(path, take_warning, out, reader);
    if (FAILED(hr)) {
        *reader = NULL;
        return hr;
    }
    hr = out->view ? cli_trace_schemas_open(&known, &out->schemas) : E_OUTOFMEMORY;
    if (FAILED(hr))
        return hr;
    while ((hr = etl_reader_next(*reader, &e)) == S_OK) {
        hr = header ? S_OK : count_event(out, &e, etl_reader_log(*reader));
        if (FAILED(hr))
            break;
        header = false;
        out->buffers += e.last;
        if (e.last) {
            etl_reader_progress(*reader, &done, &out->bytes);
            cli_progress_show(progress, done, out->bytes);
        }
    }
    etl_reader_progress(*reader, &done, &out->bytes);
    trace_contents_sort(&out->contents);
    return FAILED(hr) ? hr : S_OK;
}

static void trace_statistics_free(struct trace_statistics *s)
{
    trace_contents_free(&s->contents);
    trace_schemas_close(&s->schemas);
    memory_free(s->view);
    memory_free(s->computer);
    texts_free(&s->damage);
}

/* ---- output ---- */

#define VERB "logstat"

void print_log_time(const char *label, int64_t utc, const struct log_zone *zone)
{
    char *local = format_time(utc, zone), *iso = format_iso_time(utc);
    if (local && iso)
        printf("%-12s%s (%s)\n", label, local, iso);
    memory_free(local);
    memory_free(iso);
}

void json_log_time(struct json *j, const char *name, int64_t utc)
{
    char *iso = format_iso_time(utc);
    json_text(j, name, iso);
    memory_free(iso);
}

static const char *clock_name(uint32_t clock)
{
    return clock == ETL_CLOCK_TICKS    ? "performance counter"
           : clock == ETL_CLOCK_SYSTEM ? "system time"
           : clock == ETL_CLOCK_CYCLES ? "processor cycles"
                                       : "unknown";
}

/* Returns the end time; for a running or interrupted session the time of the newest event. 0 if there are no events. */
static int64_t end_of(const struct etl_log *log, const struct trace_statistics *s)
{
    return log->end_utc != 0 ? log->end_utc : s->last;
}

static void print_decoded(const struct trace_contents *c)
{
    struct text_buffer b = {0};
    add_share(&b, c->decoded, c->events);
    printf("%-12s%llu events, %s (openpla trace schema lists what the other events need)\n",
           "Decoded:", (unsigned long long)c->decoded, b.failed ? "" : b.text);
    text_buffer_free(&b);
}

static void print_text(const char *path, const struct etl_log *log, const struct trace_statistics *s)
{
    const struct log_zone zone = {true, zone_bias_minutes(&log->zone, zone_to_local(&log->zone, log->start_utc), false),
                                  log->standard_name};
    const int64_t end = end_of(log, s);
    printf("%-12s%s\n%-12sEvent trace\n%-12s%llu bytes\n", "File:", path,
           "Format:", "Size:", (unsigned long long)s->bytes);
    printf("%-12s%s\n", "Computer:", s->computer ? s->computer : "unknown");
    printf("%-12s%u.%u.%u, %u processors, %u bits\n", "System:", (unsigned)log->version_major,
           (unsigned)log->version_minor, (unsigned)log->build, (unsigned)log->processors,
           (unsigned)log->pointer_size * 8);
    trace_machine_print(&s->contents.machine);
    printf("%-12s%s\n", "Session:", log->logger_name[0] ? log->logger_name : "unknown");
    printf("%-12s%s, UTC = local time %+d minutes\n", "Zone:", zone.name, zone.bias_minutes);
    if (log->clock == ETL_CLOCK_TICKS)
        printf("%-12s%s, %lld a second\n", "Clock:", clock_name(log->clock), (long long)log->frequency);
    else if (log->clock == ETL_CLOCK_CYCLES)
        printf("%-12s%s, %u MHz\n", "Clock:", clock_name(log->clock), (unsigned)log->cpu_mhz);
    else
        printf("%-12s%s\n", "Clock:", clock_name(log->clock));
    printf("%-12s%llu of %u bytes\n", "Buffers:", (unsigned long long)s->buffers, (unsigned)log->buffer_size);
    print_log_time("Begin:", log->start_utc, &zone);
    if (log->end_utc == 0)
        printf("%-12sunknown: the session is running or was interrupted\n", "End:");
    else
        print_log_time("End:", log->end_utc, &zone);
    if (s->events != 0) {
        print_log_time("Oldest:", s->first, &zone);
        print_log_time("Newest:", s->last, &zone);
    }
    if (end != 0)
        printf("%-12s%.3f s\n", "Span:", (double)(end - log->start_utc) / 1e7);
    printf("%-12s%u events, %u buffers\n", "Lost:", (unsigned)log->events_lost, (unsigned)log->buffers_lost);
    for (size_t i = 0; i < s->damage.count; i++)
        printf("%-12s%s\n", "Damage:", s->damage.items[i]);
    printf("%-12s%llu\n", "Events:", (unsigned long long)s->events);
    if (s->unknown != 0)
        printf("%-12s%llu of them\n", "Unknown:", (unsigned long long)s->unknown);
    if (s->contents.decoded < s->contents.events)
        print_decoded(&s->contents);
    printf("%-12s%zu\n", "Providers:", s->contents.count);
    trace_providers_print(&s->contents);
}

static void print_json(struct json *j, const char *path, const struct etl_log *log, const struct trace_statistics *s)
{
    char version[32];
    snprintf(version, sizeof version, "%u.%u.%u", (unsigned)log->version_major, (unsigned)log->version_minor,
             (unsigned)log->build);
    json_begin(j, NULL, '{');
    json_text(j, "file", path);
    json_text(j, "format", "Event trace");
    json_integer(j, "bytes", (int64_t)s->bytes);
    json_text(j, "computer", s->computer);
    json_text(j, "system", version);
    json_integer(j, "processors", log->processors);
    trace_machine_json(&s->contents.machine, j);
    json_integer(j, "pointerSize", log->pointer_size);
    json_text(j, "session", log->logger_name);
    json_text(j, "logFile", log->file_name);
    json_text(j, "zone", log->standard_name);
    json_text(j, "clock", clock_name(log->clock));
    json_integer(j, "frequency", log->frequency);
    json_integer(j, "megahertz", log->cpu_mhz);
    json_integer(j, "mode", log->mode);
    json_integer(j, "buffers", (int64_t)s->buffers);
    json_integer(j, "bufferSize", log->buffer_size);
    json_log_time(j, "begin", log->start_utc);
    if (log->end_utc != 0)
        json_log_time(j, "end", log->end_utc);
    if (s->events != 0) {
        json_log_time(j, "firstEvent", s->first);
        json_log_time(j, "lastEvent", s->last);
    }
    json_integer(j, "eventsLost", log->events_lost);
    json_integer(j, "buffersLost", log->buffers_lost);
    json_integer(j, "events", (int64_t)s->events);
    json_integer(j, "unknownEvents", (int64_t)s->unknown);
    json_integer(j, "decodedEvents", (int64_t)s->contents.decoded);
    json_begin(j, "damage", '[');
    for (size_t i = 0; i < s->damage.count; i++)
        json_text(j, NULL, s->damage.items[i]);
    json_end(j, ']');
    trace_providers_json(&s->contents, j);
    json_end(j, '}');
}

int logstat_trace(const char *path, const char *shown, struct json *j)
{
    struct trace_statistics s;
    struct etl_reader *reader;
    struct cli_progress progress = {0};
    int result = -1;
    HRESULT hr = trace_statistics_read(path, &progress, &s, &reader);
    cli_progress_end(&progress);
    if (FAILED(hr) && reader) {
        result = cli_error(VERB, hr);
    } else if (SUCCEEDED(hr) && s.counter_samples == 0) { /* a file with counter samples is a corrupt performance log */
        if (j)
            print_json(j, shown, etl_reader_log(reader), &s);
        else
            print_text(shown, etl_reader_log(reader), &s);
        result = s.damage.count != 0 ? CLI_REMARKS : CLI_DONE;
    }
    trace_statistics_free(&s);
    etl_reader_close(reader);
    return result;
}
