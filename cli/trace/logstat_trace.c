/* SPDX-License-Identifier: MIT */
/* Says what is in an event trace. */
#include "cli/trace/logstat_trace.h"

#include "cli/trace/trace_statistics.h"
#include "engine/base/memory.h"

#include <stdio.h>

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

/* A session that still runs, or whose end nobody wrote, has none: then the newest event. 0: there is none. */
static int64_t end_of(const struct etl_log *log, const struct trace_statistics *s)
{
    return log->end_utc != 0 ? log->end_utc : s->last;
}

static void print_providers(const struct trace_statistics *s)
{
    printf("%-12s%zu\n", "Providers:", s->provider_count);
    for (size_t i = 0; i < s->provider_count; i++) {
        const struct provider_events *p = &s->providers[i];
        const char *name = etl_kernel_class(&p->provider);
        char guid[39];
        text_from_guid(&p->provider, guid);
        printf("  %s  %llu%s%s\n", guid, (unsigned long long)p->events, name ? "  " : "", name ? name : "");
    }
}

static void print_text(const char *path, const struct etl_log *log, const struct trace_statistics *s)
{
    const struct log_zone zone = {true, zone_bias_minutes(&log->zone, zone_to_local(&log->zone, log->start_utc), false),
                                  log->standard_name};
    const int64_t end = end_of(log, s);
    printf("%-12s%s\n%-12sEvent trace\n%-12s%llu bytes\n", "File:", path,
           "Format:", "Size:", (unsigned long long)s->bytes);
    printf("%-12s%s\n", "Computer:", s->computer ? s->computer : "not told");
    printf("%-12s%u.%u.%u, %u processors, %u bits\n", "System:", (unsigned)log->version_major,
           (unsigned)log->version_minor, (unsigned)log->build, (unsigned)log->processors,
           (unsigned)log->pointer_size * 8);
    printf("%-12s%s\n", "Session:", log->logger_name[0] ? log->logger_name : "not told");
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
        printf("%-12snot told: the session runs, or was cut off\n", "End:");
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
    print_providers(s);
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
    json_begin(j, "damage", '[');
    for (size_t i = 0; i < s->damage.count; i++)
        json_text(j, NULL, s->damage.items[i]);
    json_end(j, ']');
    json_begin(j, "providers", '[');
    for (size_t i = 0; i < s->provider_count; i++) {
        char guid[39];
        text_from_guid(&s->providers[i].provider, guid);
        json_begin(j, NULL, '{');
        json_text(j, "guid", guid);
        json_text(j, "name", etl_kernel_class(&s->providers[i].provider));
        json_integer(j, "events", (int64_t)s->providers[i].events);
        json_end(j, '}');
    }
    json_end(j, ']');
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
    } else if (SUCCEEDED(hr) && s.counter_samples == 0) { /* else a performance log, and it is that which is damaged */
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
