/* SPDX-License-Identifier: MIT */
/* openpla trace top: prints tables of the activity of threads and processes, from live kernel events or from files.
   Live events come from a kernel session that this program starts in real-time mode. */
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/trace/thread_figures.h"
#include "cli/trace/trace.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/etw/etw_api.h"
#include "engine/etw/etw_types.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/kernel_event.h"
#include "engine/etw/trace_properties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "OpenPLA trace top "
enum { NAME_UNITS = 1025, SESSIONS = 64 };
enum { BUFFER_KB = 256, BUFFERS = 32, FLUSH_S = 1 }; /* enough for 100,000 switches per second, which need 4 MB */
enum { FLAGS = FLAG_PROCESS | FLAG_THREAD | FLAG_SWITCH | FLAG_DISPATCHER | FLAG_DISK | FLAG_NETWORK };

struct block {
    EVENT_TRACE_PROPERTIES p;
    WCHAR name[NAME_UNITS];
    WCHAR file[NAME_UNITS];
};

static void block_clear(struct block *b)
{
    memset(b, 0, sizeof *b);
    b->p.Wnode.BufferSize = sizeof *b;
    b->p.Wnode.Flags = CONTROLLER_TRACED_GUID;
    b->p.LoggerNameOffset = offsetof(struct block, name);
    b->p.LogFileNameOffset = offsetof(struct block, file);
}

/* Returns true if the name belongs to a session whose program has exited. */
static bool is_left(const WCHAR *units)
{
    size_t length = 0;
    char *name;
    uint64_t id;
    while (length < NAME_UNITS && units[length])
        length++;
    if (FAILED(text_from_utf16(units, length, true, &name)))
        return false;
    const bool left = !strncmp(name, PREFIX, sizeof PREFIX - 1) && text_to_u64(name + sizeof PREFIX - 1, &id) &&
                      id <= UINT32_MAX && process_start_time((uint32_t)id) == 0;
    memory_free(name);
    return left;
}

static void end_left_ones(const struct etw_api *etw)
{
    struct block *blocks = memory_alloc(SESSIONS * sizeof *blocks), *again = memory_alloc(sizeof *again);
    EVENT_TRACE_PROPERTIES *list[SESSIONS];
    ULONG count = 0;
    if (blocks && again) {
        for (size_t i = 0; i < SESSIONS; i++) {
            block_clear(&blocks[i]);
            list[i] = &blocks[i].p;
        }
        const ULONG code = etw->QueryAllTracesW(list, SESSIONS, &count);
        count = code == ERROR_SUCCESS ? count : code == ERROR_MORE_DATA ? SESSIONS : 0;
    }
    for (ULONG i = 0; i < count; i++) {
        if (!is_left(blocks[i].name))
            continue;
        block_clear(again);
        (void)etw->ControlTraceW(0, blocks[i].name, &again->p, EVENT_TRACE_CONTROL_STOP);
    }
    memory_free(again);
    memory_free(blocks);
}

static HRESULT with_name(const char *name, bool start)
{
    const struct etw_api *etw = host_etw();
    struct block *b = memory_alloc(sizeof *b);
    TRACEHANDLE handle = 0;
    WCHAR *units = NULL;
    HRESULT hr = b ? text_to_utf16(name, &units, NULL) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        block_clear(b);
        b->p.LogFileMode = TRACE_MODE_REAL_TIME | TRACE_MODE_SYSTEM_LOGGER;
        b->p.LogFileNameOffset = start ? 0 : b->p.LogFileNameOffset;
        b->p.BufferSize = BUFFER_KB;
        b->p.MinimumBuffers = b->p.MaximumBuffers = BUFFERS;
        b->p.FlushTimer = FLUSH_S;
        b->p.EnableFlags = FLAGS;
        error_clear();
        const ULONG code = start ? etw->StartTraceW(&handle, units, &b->p)
                                 : etw->ControlTraceW(0, units, &b->p, EVENT_TRACE_CONTROL_STOP);
        if (code != ERROR_SUCCESS)
            hr = error_prefix(HRESULT_FROM_WIN32((LONG)code), "session '%s'", name);
    }
    memory_free(units);
    memory_free(b);
    return hr;
}

/* Starts the session, after stopping sessions whose program was killed. *name is from memory_alloc. Fails with an error
   of ETW and a message, for example with ERROR_ACCESS_DENIED, or with ERROR_NO_SYSTEM_RESOURCES if six such sessions
   already exist. */
static HRESULT top_session_start(char **name)
{
    const struct etw_api *etw = host_etw();
    *name = NULL;
    if (!etw->StartTraceW)
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                         "cannot start a trace session: this program does not support sessions");
    end_left_ones(etw);
    *name = text_format(PREFIX "%u", (unsigned)process_own_id());
    HRESULT hr = *name ? with_name(*name, true) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(*name);
        *name = NULL;
    }
    return hr;
}

static void top_session_stop(const char *name)
{
    if (name)
        (void)with_name(name, false);
}

/* ---- the verb ---- */

#define VERB         "trace"
#define SECOND       INT64_C(10000000)
/* the EnableFlags for events of processes, threads, switches, disks, ready threads and the network */
#define NEEDED_FLAGS "0x10913"
enum { ROWS = 20, INTERVAL = 2, DELAY = 3, SILENCE = 5 }; /* in seconds, except ROWS */

enum sort_key { SORT_CPU, SORT_READY, SORT_SWITCHES, SORT_READ, SORT_WRITE, SORT_RECEIVE, SORT_SEND, SORT_ID };
static const char *const sort_names[] = {"cpu", "ready", "switches", "read", "write", "receive", "send", "id"};

struct top {
    const char *sort;
    uint32_t interval, rows, max; /* 0 if not specified */
    bool of_threads, as_json;
    struct trace_knowledge known;

    struct trace_inputs inputs;
    struct trace_schemas schemas;
    struct thread_figures figures;
    enum sort_key key;
    int64_t next;   /* FILETIME of the next table; 0 means no event yet */
    int64_t latest; /* time of the latest event */
    int64_t started;
    uint32_t shown;
    bool live, warned;
};

/* ---- a table ---- */

static uint64_t number_of(const struct figures_row *r, enum sort_key key)
{
    switch (key) {
    case SORT_READY:
        return r->of.ready;
    case SORT_SWITCHES:
        return r->of.switches;
    case SORT_READ:
        return r->of.read;
    case SORT_WRITE:
        return r->of.written;
    case SORT_RECEIVE:
        return r->of.received;
    case SORT_SEND:
        return r->of.sent;
    default:
        return r->of.ran;
    }
}

static enum sort_key sorted_by;

/* Sorts in descending order; rows with equal values are sorted by running time, then by id. */
static int by_key(const void *a, const void *b)
{
    const struct figures_row *x = a, *y = b;
    const uint64_t m = number_of(x, sorted_by), n = number_of(y, sorted_by);
    if (sorted_by != SORT_ID && m != n)
        return m > n ? -1 : 1;
    if (sorted_by != SORT_ID && x->of.ran != y->of.ran)
        return x->of.ran > y->of.ran ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

struct table {
    const struct figures_row *rows;
    size_t count;         /* number of all rows, including those that are not shown */
    double seconds, busy; /* busy: percent of all processors */
    int64_t begin;
};

static double part(uint64_t of, double seconds)
{
    return seconds > 0 ? 100 * (double)of / SECOND / seconds : 0;
}

static double kilobytes(uint64_t bytes, double seconds)
{
    return seconds > 0 ? (double)bytes / 1024 / seconds : 0;
}

static void print_text(const struct top *t, const struct table *table, size_t rows)
{
    static struct clock_zone zone;
    const struct calendar_time at = clock_calendar(clock_local(&zone, table->begin));
    const double s = table->seconds;
    if (!(t->live && screen_clear()) && t->shown != 0)
        printf("\n");
    printf("%04d-%02d-%02d %02d:%02d:%02d  %.1f s  %zu processors %.1f %% busy  %.0f switches/s", at.year, at.month,
           at.day, at.hour, at.minute, at.second, s, t->figures.processors.count, table->busy,
           s > 0 ? (double)t->figures.switches / s : 0);
    if (t->figures.lost != 0)
        printf("  %llu events lost", (unsigned long long)t->figures.lost);
    printf("\n%10s %s%6s %6s %9s %10s %10s %s %s\n", "PROCESS", t->of_threads ? "    THREAD " : "", "CPU%", "READY%",
           "SWITCH/s", "READ KB/s", "WRITE KB/s", t->of_threads ? "" : " RECV KB/s  SEND KB/s", "NAME");
    for (size_t i = 0; i < rows; i++) {
        const struct figures_row *r = &table->rows[i];
        printf("%10u ", (unsigned)r->process);
        if (t->of_threads)
            printf("%10u ", (unsigned)r->thread);
        printf("%6.1f %6.1f %9.0f %10.1f %10.1f", part(r->of.ran, s), part(r->of.ready, s),
               s > 0 ? (double)r->of.switches / s : 0, kilobytes(r->of.read, s), kilobytes(r->of.written, s));
        if (!t->of_threads)
            printf(" %10.1f %10.1f", kilobytes(r->of.received, s), kilobytes(r->of.sent, s));
        printf("  %s\n", r->name ? r->name : "?");
    }
}

static void print_json(const struct top *t, const struct table *table, size_t rows)
{
    struct json j = {.out = stdout, .compact = true};
    struct dump_clock clock = {0};
    struct text_buffer time = {0};
    dump_time(&time, &clock, table->begin);
    text_buffer_add(&time, "Z");
    json_begin(&j, NULL, '{');
    json_text(&j, "begin", time.failed ? NULL : time.text);
    json_number(&j, "seconds", table->seconds);
    json_integer(&j, "processors", (int64_t)t->figures.processors.count);
    json_number(&j, "busy", table->busy);
    json_integer(&j, "switches", (int64_t)t->figures.switches);
    json_integer(&j, "lost", (int64_t)t->figures.lost);
    json_begin(&j, "rows", '[');
    for (size_t i = 0; i < rows; i++) {
        const struct figures_row *r = &table->rows[i];
        json_begin(&j, NULL, '{');
        json_integer(&j, "process", r->process);
        if (t->of_threads)
            json_integer(&j, "thread", r->thread);
        json_text(&j, "name", r->name);
        json_number(&j, "cpuSeconds", (double)r->of.ran / SECOND);
        json_number(&j, "readySeconds", (double)r->of.ready / SECOND);
        json_integer(&j, "switches", (int64_t)r->of.switches);
        json_integer(&j, "read", (int64_t)r->of.read);
        json_integer(&j, "written", (int64_t)r->of.written);
        if (!t->of_threads) {
            json_integer(&j, "received", (int64_t)r->of.received);
            json_integer(&j, "sent", (int64_t)r->of.sent);
        }
        json_end(&j, '}');
    }
    json_end(&j, ']');
    json_end(&j, '}');
    text_buffer_free(&time);
}

/* Prints a table. Returns S_FALSE if this was the last table, or if the program that reads the output has closed the
   pipe. */
static HRESULT print_table(struct top *t, int64_t until)
{
    struct figures_row *rows;
    size_t count;
    struct table table = {.begin = t->figures.begin};
    HRESULT hr = thread_figures_rows(&t->figures, until, t->of_threads, &rows, &count);
    if (FAILED(hr))
        return hr;
    const size_t processors = t->figures.processors.count;
    sorted_by = t->key;
    qsort(rows, count, sizeof *rows, by_key);
    table.rows = rows;
    table.count = count;
    table.seconds = until > table.begin ? (double)(until - table.begin) / SECOND : 0;
    for (size_t i = 0; i < count && processors != 0; i++)
        table.busy += part(rows[i].of.ran, table.seconds) / (double)processors;
    (t->as_json ? print_json : print_text)(t, &table, count < t->rows ? count : t->rows);
    memory_free(rows);
    t->shown++;
    return fflush(stdout) != 0 || ferror(stdout) || (t->max != 0 && t->shown >= t->max) ? S_FALSE : S_OK;
}

static HRESULT next_table(struct top *t, int64_t now)
{
    const int64_t interval = t->interval * SECOND, until = t->next;
    const HRESULT hr = print_table(t, until);
    thread_figures_reset(&t->figures, until);
    t->next += interval;
    if (t->next > now)
        return hr;
    /* After a period without events, start again at the current event. */
    thread_figures_reset(&t->figures, now);
    t->next = now + interval;
    return hr;
}

/* ---- events ---- */

static HRESULT top_take_event(void *context, const struct trace_event *event)
{
    struct top *t = context;
    const int64_t time = event->record->EventHeader.TimeStamp.QuadPart;
    struct dumped_event e = {.record = event->record, .pointer_size = event->pointer_size};
    const struct found_schema *found = NULL;
    HRESULT hr = S_OK;
    if (t->next != 0 && time >= t->next)
        hr = next_table(t, time);
    if (hr != S_OK)
        return hr;
    if (thread_figures_want_class(event->record))
        hr = trace_schemas_find(&t->schemas, event, &e, &found);
    if (SUCCEEDED(hr))
        hr = thread_figures_take(&t->figures, &e);
    if (found)
        found_schema_release(t->schemas.all, found);
    if (t->next == 0 && t->figures.begin != 0 && t->interval != 0)
        t->next = t->figures.begin + t->interval * SECOND;
    t->latest = t->figures.begin != 0 && time > t->latest ? time : t->latest;
    return hr;
}

/* Called from time to time, because a table may be due although no event arrives. */
static HRESULT top_check_due(void *context)
{
    struct top *t = context;
    const int64_t now = clock_utc();
    if (t->figures.processors.count == 0 && !t->warned && now - t->started > SILENCE * SECOND) {
        t->warned = true;
        fprintf(stderr, "openpla " VERB " top: no context switches were received (`openpla events` shows whether the "
                        "host OS provides them)\n");
    }
    if (t->next == 0 || now < t->next + DELAY * SECOND)
        return S_OK;
    const HRESULT hr = next_table(t, t->next);
    return hr == S_FALSE ? E_ABORT : hr;
}

static HRESULT top_of_session(struct top *t)
{
    struct texts names = {0};
    char *name = NULL;
    if (!interrupt_begin())
        return error_set(E_FAIL, "cannot wait for Ctrl+C");
    t->live = true;
    t->started = clock_utc();
    HRESULT hr = top_session_start(&name);
    if (SUCCEEDED(hr))
        hr = texts_add(&names, name);
    if (SUCCEEDED(hr))
        hr = trace_sessions_read(&names, false, top_take_event, top_check_due, t);
    const struct error_kept why = error_keep(hr);
    top_session_stop(name);
    interrupt_end();
    texts_free(&names);
    memory_free(name);
    return hr == E_ABORT ? S_OK : FAILED(hr) ? error_restore(&why) : hr;
}

static HRESULT refuse_empty(struct top *t, const struct texts *files)
{
    trace_inputs_print_warnings(&t->inputs, VERB);
    return error_set(HRESULT_FROM_WIN32(ERROR_NO_DATA),
                     "cannot show '%s'%s: the kernel events for a table are missing (record them with a kernel "
                     "session with the flags " NEEDED_FLAGS ")",
                     files->items[0], files->count > 1 ? " and the other traces" : "");
}

static HRESULT top_of_files(struct top *t, const struct texts *files)
{
    HRESULT hr = trace_inputs_open(&t->inputs, files);
    if (SUCCEEDED(hr))
        hr = trace_inputs_read(&t->inputs, top_take_event, t, NULL, NULL);
    if (FAILED(hr) || (t->max != 0 && t->shown >= t->max))
        return hr;
    if (t->figures.begin == 0)
        return refuse_empty(t, files);
    if (t->figures.processors.count == 0)
        fprintf(stderr,
                "openpla " VERB " top: no context switches: CPU%%, READY%% and SWITCH/s are 0 (record them with "
                "a kernel session with the flags " NEEDED_FLAGS ")\n");
    if (t->shown != 0 && t->latest <= t->figures.begin)
        return S_OK;
    t->figures.lost += t->shown == 0 ? t->inputs.events_lost : 0;
    hr = print_table(t, t->latest);
    return FAILED(hr) ? hr : S_OK;
}

static int read_sort(struct top *t)
{
    if (!t->sort)
        return CLI_DONE;
    for (size_t i = 0; i < sizeof sort_names / sizeof *sort_names; i++)
        if (text_equal_nocase(t->sort, sort_names[i])) {
            t->key = (enum sort_key)i;
            return CLI_DONE;
        }
    return cli_usage(VERB, "-sort: unknown key '%s': expected cpu, ready, switches, read, write, receive, send or id",
                     t->sort);
}

int trace_top(int argc, char **argv)
{
    struct top t = {0};
    struct texts files = {0};
    const struct option options[] = {
        {"interval", OPTION_COUNT, &t.interval}, {"rows", OPTION_COUNT, &t.rows},   {"sort", OPTION_TEXT, &t.sort},
        {"threads", OPTION_FLAG, &t.of_threads}, {"json", OPTION_FLAG, &t.as_json}, {"max", OPTION_COUNT, &t.max},
    };
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, &files);
    if (result == CLI_DONE)
        result = read_sort(&t);
    if (result == CLI_DONE) {
        t.rows = t.rows != 0 ? t.rows : ROWS;
        t.interval = t.interval != 0 || files.count != 0 ? t.interval : INTERVAL;
        HRESULT hr = cli_trace_schemas_open(&t.known, &t.schemas);
        if (SUCCEEDED(hr))
            hr = files.count != 0 ? top_of_files(&t, &files) : top_of_session(&t);
        result = FAILED(hr) ? cli_error(VERB, hr) : trace_inputs_print_warnings(&t.inputs, VERB);
    }
    trace_inputs_close(&t.inputs);
    trace_schemas_close(&t.schemas);
    thread_figures_free(&t.figures);
    texts_free(&files);
    return result;
}
