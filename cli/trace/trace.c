/* SPDX-License-Identifier: MIT */
/* openpla trace show: selects events of traces and running sessions and shows them, one line each. */
#include "cli/trace/trace.h"

#include "cli/cli.h"
#include "cli/trace/frames.h"
#include "cli/trace/trace_contents.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/etw/provider_manifest.h"
#include "engine/etw/provider_names.h"

#include <stdio.h>
#include <string.h>

static bool provider_matches(const char *wanted, const struct dumped_event *e)
{
    GUID guid;
    const struct event_schema *s = e->schema;
    if (text_to_guid(wanted, &guid))
        return guid_equal(&guid, &e->record->EventHeader.ProviderId) || (s && guid_equal(&guid, &s->provider));
    if (!s) {
        const char *name = provider_known_name(&e->record->EventHeader.ProviderId);
        return name && text_matches(wanted, name);
    }
    return (s->provider_name && text_matches(wanted, s->provider_name)) ||
           (s->source == SCHEMA_MOF && s->task_name && text_matches(wanted, s->task_name));
}

static bool process_matches(const char *wanted, const struct dumped_event *e, const char *process)
{
    uint64_t id;
    if (text_to_u64(wanted, &id))
        return id == e->record->EventHeader.ProcessId;
    return process && text_matches(wanted, process);
}

static bool keyword_matches(const char *wanted, const struct dumped_event *e)
{
    uint64_t bits;
    if (text_to_u64(wanted, &bits))
        return (e->record->EventHeader.EventDescriptor.Keyword & bits) != 0;
    for (size_t i = 0; e->schema && i < e->schema->keyword_count; i++)
        if (text_matches(wanted, e->schema->keyword_names[i]))
            return true;
    return false;
}

/* Checks all conditions except the text. */
static bool trace_choice_takes(const struct trace_choice *c, const struct dumped_event *e, const char *process)
{
    bool provider = c->providers.count == 0, chosen = c->processes.count == 0, keyword = c->keywords.count == 0;
    if (c->worst != 0 && e->record->EventHeader.EventDescriptor.Level > c->worst)
        return false;
    for (size_t i = 0; i < c->providers.count && !provider; i++)
        provider = provider_matches(c->providers.items[i], e);
    for (size_t i = 0; i < c->processes.count && !chosen; i++)
        chosen = process_matches(c->processes.items[i], e, process);
    for (size_t i = 0; i < c->keywords.count && !keyword; i++)
        keyword = keyword_matches(c->keywords.items[i], e);
    return provider && chosen && keyword;
}

/* ---- the verb ---- */

#define VERB "trace"
enum { LOOK_MS = 250, OUTPUT_BLOCK = 1 << 16 };

struct show {
    struct texts files, sessions, begin, end, symbols;
    struct trace_knowledge known;
    struct trace_choice choice;
    const char *level;
    uint32_t max; /* 0 means no limit */
    bool follow, as_json, stacks;

    struct trace_frames frames; /* used only if `stacks` is set */
    struct event_stack stack;   /* stack of the current event */
    uint64_t number;            /* number of the current event */
    bool has_stack;
    struct trace_inputs inputs;
    struct trace_schemas schemas;
    struct trace_processes *processes;
    struct text_buffer line;
    char *pattern; /* the selection's `text` as a pattern */
    uint64_t shown, undecoded;
};

struct shown_stack {
    struct show *show;
    uint32_t process;
};

static void show_stack_json(void *context, struct json *j)
{
    const struct shown_stack *s = context;
    trace_frames_json(&s->show->frames, &s->show->stack, s->process, s->show->number, j);
}

static HRESULT show_event(struct show *s, const struct dumped_event *e, const char *process)
{
    bool decoded;
    s->line.length = 0;
    HRESULT hr = S_OK;
    if (!s->as_json || s->pattern)
        hr = trace_line(e, process, &s->line, &decoded);
    if (SUCCEEDED(hr) && s->line.length != 0 && s->has_stack)
        trace_frames_add_lines(&s->frames, &s->stack, e->record->EventHeader.ProcessId, s->number, &s->line);
    if (SUCCEEDED(hr) && s->line.failed)
        hr = E_OUTOFMEMORY;
    if (FAILED(hr) || (s->pattern && !text_matches(s->pattern, s->line.text)))
        return hr;
    if (s->as_json) {
        struct shown_stack shown = {s, e->record->EventHeader.ProcessId};
        s->line.length = 0;
        hr = trace_json(e, process, s->has_stack ? show_stack_json : NULL, &shown, &s->line, &decoded);
    } else {
        text_buffer_add(&s->line, "\n");
        hr = s->line.failed ? E_OUTOFMEMORY : S_OK;
    }
    if (SUCCEEDED(hr))
        (void)fwrite(s->line.text, 1, s->line.length, stdout);
    s->shown++;
    s->undecoded += SUCCEEDED(hr) && !decoded;
    if (SUCCEEDED(hr) && ferror(stdout))
        return S_FALSE; /* the program that reads stdout has closed it; main reports this */
    return SUCCEEDED(hr) && s->max != 0 && s->shown >= s->max ? S_FALSE : hr;
}

static HRESULT show_take_event(void *context, const struct trace_event *event)
{
    struct show *s = context;
    struct dumped_event e;
    const struct found_schema *found;
    if (s->stacks) {
        s->number = event->number;
        s->has_stack = stack_joiner_find(s->frames.stacks.joiner, event->number, &s->stack);
        if (stack_is_carrier(event->record))
            return S_OK;
    }
    HRESULT hr = trace_schemas_find(&s->schemas, event, &e, &found);
    if (SUCCEEDED(hr))
        hr = trace_processes_note(s->processes, &e);
    if (SUCCEEDED(hr)) {
        const char *process = trace_process_name(s->processes, e.record->EventHeader.ProcessId);
        if (trace_choice_takes(&s->choice, &e, process))
            hr = show_event(s, &e, process);
    }
    if (found)
        found_schema_release(s->schemas.all, found);
    return hr;
}

static HRESULT flush(void *context)
{
    (void)context;
    return fflush(stdout) == 0 ? S_OK : E_ABORT;
}

/* Follows the files until an exit is requested or enough events have been shown. */
static HRESULT show_follow_files(struct show *s)
{
    if (!interrupt_begin())
        return error_set(E_FAIL, "cannot wait for Ctrl+C");
    HRESULT hr = flush(s);
    while (SUCCEEDED(hr) && !(s->max != 0 && s->shown >= s->max) && !interrupt_wait(LOOK_MS)) {
        hr = trace_inputs_grow(&s->inputs);
        if (hr == S_OK)
            hr = trace_inputs_read(&s->inputs, show_take_event, s, NULL, NULL);
        if (SUCCEEDED(hr))
            hr = flush(s);
    }
    interrupt_end();
    return hr == E_ABORT ? S_OK : hr;
}

static HRESULT show_files(struct show *s)
{
    HRESULT hr = s->follow ? trace_inputs_follow(&s->inputs) : S_OK;
    if (SUCCEEDED(hr))
        hr = trace_inputs_read(&s->inputs, show_take_event, s, NULL, NULL);
    return SUCCEEDED(hr) && s->follow ? show_follow_files(s) : hr;
}

static HRESULT show_sessions(struct show *s)
{
    s->processes->live = true;
    const HRESULT hr = trace_sessions_read(&s->sessions, false, show_take_event, flush, s);
    return hr == E_ABORT ? S_OK : hr;
}

int trace_range(const struct texts *begin, const struct texts *end, struct trace_inputs *out)
{
    int64_t from = 0, to = 0;
    int result = cli_time(VERB, "b", begin, &from);
    if (result == CLI_DONE)
        result = cli_time(VERB, "e", end, &to);
    const int64_t minute = 60 * INT64_C(10000000);
    out->ranged = begin->count + end->count != 0;
    out->from = begin->count != 0 ? from + clock_bias_minutes(from) * minute : INT64_MIN;
    out->to = end->count != 0 ? to + clock_bias_minutes(to) * minute : INT64_MAX;
    return result;
}

enum { LEVEL_CRITICAL = 1, LEVEL_VERBOSE = 5 };

static int read_level(struct show *s)
{
    uint64_t number;
    if (!s->level)
        return CLI_DONE;
    for (uint32_t i = LEVEL_CRITICAL; i <= LEVEL_VERBOSE; i++)
        if (text_equal_nocase(winmeta_text_of(MANIFEST_LEVELS, i), s->level))
            s->choice.worst = i;
    if (s->choice.worst == 0 && text_to_u64(s->level, &number) && number != 0 && number <= 255)
        s->choice.worst = (uint32_t)number;
    if (s->choice.worst == 0)
        return cli_usage(
            VERB, "-level: unknown level '%s': expected critical, error, warning, information, verbose or 1 to 255",
            s->level);
    return CLI_DONE;
}

static int show_check_line(struct show *s, const struct texts *words)
{
    for (size_t i = 0; i < words->count; i++) {
        const HRESULT hr = texts_add(&s->files, words->items[i]);
        if (FAILED(hr))
            return cli_error(VERB, hr);
    }
    if (s->files.count == 0 && s->sessions.count == 0)
        return cli_usage(VERB, "show: missing trace or session (-rt)");
    if (s->files.count != 0 && s->sessions.count != 0)
        return cli_usage(VERB, "-rt: sessions cannot be combined with files");
    if (s->sessions.count != 0 && s->begin.count + s->end.count != 0)
        return cli_usage(VERB, "-%s: only valid for files (a session delivers only new events)",
                         s->begin.count ? "b" : "e");
    if (s->symbols.count != 0 && !s->stacks)
        return cli_usage(VERB, "-symbols: only valid with -stack");
    if (s->stacks && (s->sessions.count != 0 || s->follow))
        return cli_usage(VERB, "-stack: only valid for complete traces (the stack of an event can follow much later)");
    const int result = read_level(s);
    return result == CLI_DONE ? trace_range(&s->begin, &s->end, &s->inputs) : result;
}

static int show_events(struct show *s)
{
    if (!screen_is_terminal(stdout))
        setvbuf(stdout, NULL, _IOFBF, OUTPUT_BLOCK);
    s->processes = memory_zero(1, sizeof *s->processes);
    HRESULT hr = s->processes ? cli_trace_schemas_open(&s->known, &s->schemas) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && s->choice.text)
        hr = (s->pattern = text_format("*%s*", s->choice.text)) ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && s->stacks)
        hr = trace_frames_open(&s->frames, &s->files, &s->symbols, NULL, NULL);
    if (SUCCEEDED(hr) && s->files.count != 0)
        hr = trace_inputs_open(&s->inputs, &s->files);
    s->inputs.schemas = &s->schemas;
    if (SUCCEEDED(hr))
        hr = s->sessions.count != 0 ? show_sessions(s) : show_files(s);
    if (FAILED(hr))
        return cli_error(VERB, hr);
    (void)fflush(stdout);
    if (s->undecoded != 0)
        fprintf(stderr, "openpla " VERB ": %llu of %llu events could not be decoded\n",
                (unsigned long long)s->undecoded, (unsigned long long)s->shown);
    trace_frames_report(&s->frames);
    return trace_inputs_print_warnings(&s->inputs, VERB);
}

static int run_show(int argc, char **argv)
{
    struct show s = {0};
    struct texts words = {0};
    const struct option options[] = {
        {"rt", OPTION_TEXTS, &s.sessions},
        {"provider", OPTION_TEXTS, &s.choice.providers},
        {"process", OPTION_TEXTS, &s.choice.processes},
        {"keyword", OPTION_TEXTS, &s.choice.keywords},
        {"level", OPTION_TEXT, &s.level},
        {"text", OPTION_TEXT, &s.choice.text},
        {"import", OPTION_TEXTS, &s.known.manifests},
        {"i", OPTION_TEXTS, &s.known.programs},
        {"tmf", OPTION_TEXT, &s.known.formats},
        {"tp", OPTION_TEXT, &s.known.format_folders},
        {"b", OPTION_TEXTS, &s.begin},
        {"e", OPTION_TEXTS, &s.end},
        {"max", OPTION_COUNT, &s.max},
        {"follow", OPTION_FLAG, &s.follow},
        {"stack", OPTION_FLAG, &s.stacks},
        {"symbols", OPTION_TEXTS, &s.symbols},
        {"json", OPTION_FLAG, &s.as_json},
    };
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, &words);
    if (result == CLI_DONE)
        result = show_check_line(&s, &words);
    if (result == CLI_DONE)
        result = show_events(&s);
    trace_inputs_close(&s.inputs);
    trace_frames_close(&s.frames);
    trace_schemas_close(&s.schemas);
    if (s.processes)
        trace_processes_free(s.processes);
    memory_free(s.processes);
    memory_free(s.pattern);
    text_buffer_free(&s.line);
    struct texts *const texts[] = {&s.files,
                                   &s.sessions,
                                   &s.begin,
                                   &s.end,
                                   &s.choice.providers,
                                   &s.choice.processes,
                                   &s.choice.keywords,
                                   &s.known.manifests,
                                   &s.known.programs,
                                   &s.symbols,
                                   &words};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        texts_free(texts[i]);
    return result;
}

static int run(int argc, char **argv)
{
    static const struct sub_verb verbs[] = {{"show", run_show},
                                            {"top", trace_top},
                                            {"schema", trace_schema},
                                            {"export", trace_export},
                                            {"api-summary", trace_api_summary}};
    return cli_sub_verb(VERB, verbs, sizeof verbs / sizeof *verbs, argc, argv);
}

const struct verb verb_trace = {
    "trace", "shows and exports the events of traces and sessions, and the activity of processes",
    "openpla trace show TRACE [TRACE ...] [options]\n"
    "openpla trace show -rt SESSION [SESSION ...] [options]\n"
    "openpla trace top [TRACE ...] [options]\n"
    "openpla trace api-summary TRACE [TRACE ...] [-rows N] [-sort time|calls|errors] [--json]\n"
    "openpla trace schema TRACE [TRACE ...] [options]\n"
    "openpla trace export TRACE [TRACE ...] -f FORMAT [options]\n"
    "\n"
    "Shows the events of .etl files, merged in time order, or of running sessions until they stop or Ctrl+C:\n"
    "time, process and its ids, event provider and event, level, fields.\n"
    "\n"
    "  -rt SESSION ...      real-time sessions\n"
    "  -follow              with files: keep running and show appended events, until Ctrl+C\n"
    "  -provider NAME ...   only these event providers or classes, by name (* and ? are wildcards) or GUID\n"
    "  -process ID|NAME ... only these processes\n"
    "  -keyword MASK|NAME ...  only events with one of these keywords\n"
    "  -level LEVEL         only this level (critical, error, warning, information, verbose or a number) and more\n"
    "                       severe ones\n"
    "  -text TEXT           only lines that contain the text\n"
    "  -b TIME, -e TIME     start and end time in this computer's time zone\n"
    "  -import PATH ..., -i PATH ..., -tmf FILE, -tp FOLDERS\n"
    "                       event definitions in addition to the registered ones, as in tracerpt\n"
    "  -stack               with files: the stack of each event that has one, a line per frame, innermost first\n"
    "  -symbols FOLDER ...  with -stack: read the names of functions from PDB files and images in these folders or\n"
    "                       symbol stores\n"
    "  -max N               exit after N events\n"
    "  --json               print one JSON object per line\n"
    "\n"
    "Events that cannot be decoded are shown in hexadecimal with the reason. Exit code 3: a trace was corrupt.\n"
    "\n"
    "schema lists the sources that decode the events of the traces (-import, -i, -tmf, -tp, --json). For event\n"
    "providers whose events cannot be decoded, it says what is needed.\n"
    "\n"
    "top shows a table computed from kernel events, updated until Ctrl+C, or one table for the given traces. For each\n"
    "process it shows its share of a processor (CPU%), how long it was ready but had no processor (READY%), how often\n"
    "it got one, and how much it read and wrote on disks, received and sent.\n"
    "\n"
    "  -interval N          a table every N seconds (default 2); with traces, one table per N seconds\n"
    "  -rows N              at most N rows (default 20)\n"
    "  -sort KEY            sort by cpu, ready, switches, read, write, receive, send or id\n"
    "  -threads             a row per thread\n"
    "  -max N               exit after N tables\n"
    "  --json               print one JSON object per table\n"
    "\n"
    "api-summary shows the calls in traces of API tracing: how often each function was called, its time and errors,\n"
    "and the same per calling module; by default the 50 rows with the most time (-rows, -sort).\n"
    "\n"
    "export converts traces for another tool: CPU samples with their stacks, running and waiting threads, counters, "
    "and\n"
    "events with their fields.\n"
    "\n"
    "  -f FORMAT            firefox, speedscope, chrome, folded, pprof or ctf\n"
    "  -o FILE              the output file (default: the trace's name with another extension); with ctf a folder\n"
    "  -y                   overwrite without asking\n"
    "  -symbols FOLDER ...  names of functions, as in show\n"
    "  -provider NAME ..., -process ID|NAME ..., -b TIME, -e TIME, -import FILE ..., -i PATH ..., -tmf FILE,\n"
    "  -tp FOLDERS          as in show\n",
    run};
