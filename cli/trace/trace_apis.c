/* SPDX-License-Identifier: MIT */
/* openpla trace api-summary: counts calls, time and failures per function and per calling module, in traces that API
   tracing has recorded. */
#include "cli/output.h"
#include "cli/trace/trace.h"
#include "engine/base/memory.h"
#include "engine/etw/api_trace.h"
#include "engine/etw/event_values.h"

#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

#define VERB "trace"
enum {
    PLACES = 1 << 17,   /* size of the hash table; a power of two */
    MOST_NAMES = 60000, /* maximum number of functions, and of modules; all others share one row */
    MOST_MODULES = 65536,
    ROWS = 50,
    LONGEST_NAME = 512,
};

/* A function, or a calling module. */
struct row {
    char *name;
    uint64_t calls, failed, unwound, timed;
    uint64_t duration, longest; /* in ns; total and maximum of the calls that `timed` counts */
};
struct table {
    struct row *rows;
    size_t count, room;
    uint32_t *places; /* hash table; each entry is the index of a row + 1 */
};
/* A module of a process, from the event that reports it. */
struct module {
    uint32_t process;
    uint64_t base, size;
    char *name;
};

struct summary {
    struct table functions, callers;
    struct module *modules;
    size_t module_count, module_room;
    uint64_t processes, calls, corrupt;
    uint32_t limit;
    bool as_json;
    const char *sort;
};

/* ---- tables ---- */

static struct row *table_append(struct table *t, const char *name)
{
    if (t->count == t->room) {
        const size_t room = t->room ? 2 * t->room : 256;
        struct row *more = memory_resize(t->rows, room * sizeof *more);
        if (!more)
            return NULL;
        t->rows = more;
        t->room = room;
    }
    struct row *row = &t->rows[t->count];
    *row = (struct row){.name = text_copy(name)};
    t->count += row->name != NULL;
    return row->name ? row : NULL;
}

/* Finds or adds the row. Returns NULL if memory runs out. */
static struct row *table_find(struct table *t, const char *name)
{
    if (!t->places && !(t->places = memory_zero(PLACES, sizeof *t->places)))
        return NULL;
    const char *key = t->count < MOST_NAMES ? name : "(others)";
    for (const char *wanted = name;; wanted = key) {
        size_t at = (size_t)(hash_bytes(HASH_START, wanted, strlen(wanted)) >> 32) % PLACES;
        while (t->places[at] && strcmp(t->rows[t->places[at] - 1].name, wanted) != 0)
            at = (at + 1) % PLACES;
        if (t->places[at])
            return &t->rows[t->places[at] - 1];
        if (wanted != key)
            continue;
        struct row *row = table_append(t, wanted);
        if (row)
            t->places[at] = (uint32_t)t->count;
        return row;
    }
}

static void table_free(struct table *t)
{
    for (size_t i = 0; i < t->count; i++)
        memory_free(t->rows[i].name);
    memory_free(t->rows);
    memory_free(t->places);
}

/* ---- events ---- */

/* The fields of an event, read in order. `good` becomes false at the first incomplete field. */
struct fields {
    const uint8_t *at, *end;
    bool good, wide; /* `wide`: pointers have 8 bytes */
};

static void read_text(struct fields *f, char out[LONGEST_NAME])
{
    const uint8_t *end = f->good && f->at < f->end ? memchr(f->at, 0, (size_t)(f->end - f->at)) : NULL;
    out[0] = 0;
    f->good = end != NULL;
    if (!end)
        return;
    text_fit(out, LONGEST_NAME, (const char *)f->at);
    f->at = end + 1;
}

static uint64_t read_number(struct fields *f, size_t bytes)
{
    uint64_t value = 0;
    f->good = f->good && (size_t)(f->end - f->at) >= bytes;
    if (!f->good)
        return 0;
    memcpy(&value, f->at, bytes);
    f->at += bytes;
    return value;
}

static uint64_t read_pointer(struct fields *f)
{
    return read_number(f, f->wide ? 8 : 4);
}

static HRESULT module_take(struct summary *s, uint32_t process, struct fields *f)
{
    struct module m = {.process = process};
    char *path;
    m.base = read_pointer(f);
    m.size = read_number(f, 4);
    size_t units = 0;
    const size_t most = f->good ? (size_t)(f->end - f->at) / 2 : 0;
    while (units < most && (f->at[2 * units] || f->at[2 * units + 1]))
        units++;
    if (!f->good || units == most) {
        s->corrupt++;
        return S_OK;
    }
    if (s->module_count >= MOST_MODULES)
        return S_OK;
    WCHAR *copy = memory_copy(f->at, (units + 1) * 2);
    HRESULT hr = copy ? text_from_utf16(copy, units, false, &path) : E_OUTOFMEMORY;
    memory_free(copy);
    if (FAILED(hr))
        return hr;
    m.name = text_copy(trace_process_base_name(path));
    memory_free(path);
    if (m.name && s->module_count == s->module_room) {
        const size_t room = s->module_room ? 2 * s->module_room : 64;
        struct module *more = memory_resize(s->modules, room * sizeof *more);
        if (!more) {
            memory_free(m.name);
            return E_OUTOFMEMORY;
        }
        s->modules = more;
        s->module_room = room;
    }
    if (!m.name)
        return E_OUTOFMEMORY;
    s->modules[s->module_count++] = m;
    return S_OK;
}

/* Returns the module that the process loaded last at that address. */
static const char *module_of(const struct summary *s, uint32_t process, uint64_t address)
{
    for (size_t i = s->module_count; i-- > 0;)
        if (s->modules[i].process == process && address >= s->modules[i].base &&
            address - s->modules[i].base < s->modules[i].size)
            return s->modules[i].name;
    return "(unknown)";
}

static HRESULT count_call(struct table *t, const char *name, uint16_t id, uint64_t duration, bool failed)
{
    struct row *row = table_find(t, name);
    if (!row)
        return E_OUTOFMEMORY;
    row->calls++;
    row->unwound += id == API_EVENT_UNWOUND;
    if (id != API_EVENT_RETURN)
        return S_OK;
    row->timed++;
    row->failed += failed;
    row->duration += duration;
    row->longest = duration > row->longest ? duration : row->longest;
    return S_OK;
}

static HRESULT call_take(struct summary *s, uint16_t id, uint32_t process, struct fields *f)
{
    char api[LONGEST_NAME], rest[LONGEST_NAME];
    uint64_t duration = 0, failed = 0;
    read_text(f, api);
    if (id != API_EVENT_CALL)
        read_text(f, rest);
    if (id == API_EVENT_RETURN) {
        read_text(f, rest);
        (void)read_number(f, 4);
        duration = read_number(f, 8);
    }
    const uint64_t caller = read_pointer(f);
    if (id == API_EVENT_RETURN)
        failed = read_number(f, 1);
    if (!f->good) {
        s->corrupt++;
        return S_OK;
    }
    s->calls++;
    HRESULT hr = count_call(&s->functions, api, id, duration, failed != 0);
    return SUCCEEDED(hr) ? count_call(&s->callers, module_of(s, process, caller), id, duration, failed != 0) : hr;
}

static HRESULT summary_take(void *context, const struct trace_event *e)
{
    struct summary *s = context;
    const EVENT_HEADER *h = &e->record->EventHeader;
    const uint16_t id = h->EventDescriptor.Id;
    if (!e->known || !guid_equal(&h->ProviderId, &api_trace_provider))
        return S_OK;
    const uint8_t *data = e->record->UserData;
    struct fields f = {.at = data,
                       .end = data + e->record->UserDataLength,
                       .good = true,
                       .wide = event_data_of(e->record, e->pointer_size).pointer_size != 4};
    s->processes += id == API_EVENT_START;
    if (id == API_EVENT_MODULE)
        return module_take(s, h->ProcessId, &f);
    return id >= API_EVENT_CALL && id <= API_EVENT_UNWOUND ? call_take(s, id, h->ProcessId, &f) : S_OK;
}

/* ---- output ---- */

static int order(uint64_t a, uint64_t b)
{
    return a < b ? 1 : a > b ? -1 : 0;
}

static int by_calls(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    const int calls = order(x->calls, y->calls);
    return calls ? calls : strcmp(x->name, y->name);
}

static int by_time(const void *a, const void *b)
{
    const int time = order(((const struct row *)a)->duration, ((const struct row *)b)->duration);
    return time ? time : by_calls(a, b);
}

static int by_failures(const void *a, const void *b)
{
    const int failures = order(((const struct row *)a)->failed, ((const struct row *)b)->failed);
    return failures ? failures : by_calls(a, b);
}

static const struct sort {
    const char *key;
    int (*compare)(const void *a, const void *b);
} sorts[] = {{"time", by_time}, {"calls", by_calls}, {"errors", by_failures}};

static const struct sort *sort_find(const char *key)
{
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++)
        if (text_equal_nocase(key, sorts[i].key))
            return &sorts[i];
    return NULL;
}

static void print_table(const struct summary *s, const struct table *t, const char *title)
{
    const size_t rows = t->count < s->limit ? t->count : s->limit;
    printf("\n%12s %12s %12s %12s %10s  %s\n", "CALLS", "TIME ms", "AVERAGE ns", "LONGEST ns", "ERRORS", title);
    for (size_t i = 0; i < rows; i++) {
        const struct row *r = &t->rows[i];
        printf("%12" PRIu64 " %12.3f %12" PRIu64 " %12" PRIu64 " %10" PRIu64 "  ", r->calls, (double)r->duration / 1e6,
               r->timed ? r->duration / r->timed : 0, r->longest, r->failed);
        print_shown(r->name);
        printf("\n");
    }
    if (rows < t->count)
        printf("%12s %zu more rows (use -rows)\n", "", t->count - rows);
}

static void json_table(struct json *j, const struct summary *s, const struct table *t, const char *name)
{
    json_begin(j, name, '[');
    for (size_t i = 0; i < t->count && i < s->limit; i++) {
        const struct row *r = &t->rows[i];
        json_begin(j, NULL, '{');
        json_text(j, "name", r->name);
        json_integer(j, "calls", (int64_t)r->calls);
        json_integer(j, "timeNs", (int64_t)r->duration);
        json_integer(j, "longestNs", (int64_t)r->longest);
        json_integer(j, "errors", (int64_t)r->failed);
        json_integer(j, "unwound", (int64_t)r->unwound);
        json_end(j, '}');
    }
    json_end(j, ']');
}

static void table_sort(struct table *t, const struct sort *sort)
{
    if (t->count)
        qsort(t->rows, t->count, sizeof *t->rows, sort->compare);
}

static void summary_print(struct summary *s, const struct sort *sort)
{
    table_sort(&s->functions, sort);
    table_sort(&s->callers, sort);
    if (s->as_json) {
        struct json j = {.out = stdout};
        json_begin(&j, NULL, '{');
        json_integer(&j, "processes", (int64_t)s->processes);
        json_integer(&j, "calls", (int64_t)s->calls);
        json_table(&j, s, &s->functions, "functions");
        json_table(&j, s, &s->callers, "callers");
        json_end(&j, '}');
        return;
    }
    printf("%" PRIu64 " calls of %zu functions in %" PRIu64 " processes\n", s->calls, s->functions.count, s->processes);
    print_table(s, &s->functions, "FUNCTION");
    print_table(s, &s->callers, "CALLER");
}

static int summary_make(struct summary *s, const struct texts *files)
{
    struct trace_inputs in = {.count = 0};
    const struct sort *sort = s->sort ? sort_find(s->sort) : &sorts[0];
    if (!files->count)
        return cli_usage(VERB, "api-summary: missing trace");
    if (!sort)
        return cli_usage(VERB, "-sort: unknown key '%s': expected time, calls or errors", s->sort);
    HRESULT hr = trace_inputs_open(&in, files);
    if (SUCCEEDED(hr))
        hr = trace_inputs_read(&in, summary_take, s, NULL, NULL);
    int result = FAILED(hr) ? cli_error(VERB, hr) : CLI_DONE;
    if (result == CLI_DONE) {
        summary_print(s, sort);
        if (s->corrupt)
            fprintf(stderr, "openpla " VERB ": %" PRIu64 " events of API tracing are corrupt\n", s->corrupt);
        result = trace_inputs_print_warnings(&in, VERB);
        result = result == CLI_DONE && s->corrupt ? CLI_REMARKS : result;
    }
    trace_inputs_close(&in);
    return result;
}

int trace_api_summary(int argc, char **argv)
{
    struct summary s = {.limit = ROWS};
    struct texts files = {0};
    const struct option options[] = {
        {"rows", OPTION_COUNT, &s.limit},
        {"sort", OPTION_TEXT, &s.sort},
        {"json", OPTION_FLAG, &s.as_json},
    };
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, &files);
    if (result == CLI_DONE && !options_are_asked() && !options_help_wanted())
        result = summary_make(&s, &files);
    table_free(&s.functions);
    table_free(&s.callers);
    for (size_t i = 0; i < s.module_count; i++)
        memory_free(s.modules[i].name);
    memory_free(s.modules);
    texts_free(&files);
    return result;
}
