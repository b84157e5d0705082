/* SPDX-License-Identifier: MIT */
/* openpla trace export: writes a trace in the format of another tool. */
#include "cli/trace/export/export.h"

#include "cli/cli.h"
#include "cli/trace/export/export_events.h"
#include "engine/base/assert.h"
#include "engine/base/memory.h"

#define VERB "trace"

static const struct export_format *const formats[] = {&export_firefox, &export_speedscope, &export_chrome,
                                                      &export_folded,  &export_pprof,      &export_ctf};
enum { FORMATS = sizeof formats / sizeof *formats };

struct command {
    struct texts files, providers, processes, symbols, begin, end;
    struct trace_inputs range; /* trace_range sets only the time range, and only the time range is used */
    const char *format, *to;
    bool yes;
    struct trace_knowledge known;
    struct trace_inputs inputs;
    struct trace_schemas schemas;
    struct trace_frames frames;
    struct output output;
    char *path;
};

static int command_check(struct command *c, struct export *x, const struct texts *words)
{
    for (size_t i = 0; i < words->count; i++) {
        const HRESULT hr = texts_add(&c->files, words->items[i]);
        if (FAILED(hr))
            return cli_error(VERB, hr);
    }
    if (c->files.count == 0)
        return cli_usage(VERB, "export: missing trace");
    for (int i = 0; i < FORMATS && c->format; i++)
        if (text_equal_nocase(c->format, formats[i]->name))
            x->format = formats[i];
    if (!c->format)
        return cli_usage(VERB, "export: missing format (-f firefox, speedscope, chrome, folded, pprof or ctf)");
    if (!x->format)
        return cli_usage(VERB, "-f: unknown format '%s': expected firefox, speedscope, chrome, folded, pprof or ctf",
                         c->format);
    return trace_range(&c->begin, &c->end, &c->range);
}

/* Determines the output's path: by default, NAME.etl becomes NAME.EXTENSION. */
static HRESULT command_path(struct command *c, const struct export *x)
{
    const char *from = c->files.items[0], *extension = path_extension(from);
    assert(x->format);
    if (c->to)
        c->path = text_copy(c->to);
    else
        c->path = text_format("%.*s.%s", (int)(extension - from), from, x->format->extension);
    return c->path ? S_OK : E_OUTOFMEMORY;
}

static HRESULT folder_open(struct command *c, struct export *x)
{
    struct texts names = {0};
    HRESULT hr = folder_create(c->path);
    if (SUCCEEDED(hr))
        hr = folder_list(c->path, false, &names);
    if (SUCCEEDED(hr) && names.count != 0 && !c->yes)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                       "'%s' already exists and has files (use -y to overwrite)", c->path);
    /* Remove the streams of an earlier export, because readers would take them for part of the new one. */
    for (size_t i = 0; i < names.count && SUCCEEDED(hr); i++) {
        if (strncmp(names.items[i], "cpu_", 4) != 0 && strcmp(names.items[i], "metadata") != 0)
            continue;
        char *path = path_join(c->path, names.items[i]);
        hr = path ? file_delete(path) : E_OUTOFMEMORY;
        memory_free(path);
    }
    texts_free(&names);
    char *metadata = SUCCEEDED(hr) ? path_join(c->path, "metadata") : NULL;
    if (SUCCEEDED(hr))
        hr = metadata ? file_open(metadata, FILE_REPLACE, &x->out.file) : E_OUTOFMEMORY;
    memory_free(metadata);
    x->folder = c->path;
    return hr;
}

static HRESULT output_open(struct command *c, struct export *x)
{
    HRESULT hr = command_path(c, x);
    assert(x->format);
    for (size_t i = 0; i < c->inputs.count && SUCCEEDED(hr); i++)
        hr = output_check_input(c->path, c->inputs.items[i].path);
    if (SUCCEEDED(hr) && x->format->folder)
        return folder_open(c, x);
    if (SUCCEEDED(hr))
        hr = output_begin(&c->output, c->path, c->yes ? OUTPUT_REPLACE : OUTPUT_ASK);
    return SUCCEEDED(hr) ? output_failed(&c->output, file_open(output_path(&c->output), FILE_REPLACE, &x->out.file))
                         : hr;
}

static HRESULT export_read(struct command *c, struct export *x, struct export_events *events)
{
    struct cli_progress progress = {0};
    HRESULT hr = trace_frames_open(&c->frames, &c->files, &c->symbols, export_events_prepare, events);
    if (SUCCEEDED(hr))
        hr = x->format->begin(x);
    if (SUCCEEDED(hr))
        hr = trace_inputs_read(&c->inputs, export_events_take, events, trace_inputs_progress, &progress);
    cli_progress_end(&progress);
    if (SUCCEEDED(hr))
        hr = export_events_end(events);
    if (SUCCEEDED(hr))
        hr = x->format->end(x);
    return hr;
}

static HRESULT export_write(struct command *c, struct export *x)
{
    struct export_events events = {
        .to = x, .schemas = &c->schemas, .providers = &c->providers, .processes = &c->processes};
    events.from = c->range.from;
    events.until = c->range.to;
    HRESULT hr = cli_trace_schemas_open(&c->known, &c->schemas);
    if (SUCCEEDED(hr))
        hr = trace_inputs_open(&c->inputs, &c->files);
    if (SUCCEEDED(hr))
        hr = output_open(c, x);
    x->frames = &c->frames;
    x->live = &events.live;
    x->title = path_name(c->files.items[0]);
    if (SUCCEEDED(hr))
        hr = export_read(c, x, &events);
    if (SUCCEEDED(hr))
        hr = export_file_flush(&x->out);
    const struct error_kept why = error_keep(hr);
    if (x->of_format)
        x->format->free(x);
    export_file_close(&x->out);
    export_events_free(&events);
    x->live = NULL;
    hr = SUCCEEDED(hr) && !x->format->folder ? output_finish(&c->output) : hr;
    return FAILED(why.hr) ? error_restore(&why) : hr;
}

static void print_result(const struct command *c, const struct export *x)
{
    printf("%s: %llu samples, %llu runs, %llu waits, %llu events of %zu threads\n", c->path,
           (unsigned long long)x->samples, (unsigned long long)x->runs, (unsigned long long)x->waits,
           (unsigned long long)x->events, x->thread_count);
    if (x->undecoded != 0)
        fprintf(stderr, "openpla " VERB ": %llu of %llu events could not be decoded\n",
                (unsigned long long)x->undecoded, (unsigned long long)x->events);
    if (x->tree.refused != 0)
        fprintf(stderr, "openpla " VERB
                        ": some stacks are truncated: the trace has more stacks than OpenPLA keeps in memory\n");
    if (x->samples == 0 && !x->format->event)
        fprintf(stderr,
                "openpla " VERB ": no CPU samples (record them with a kernel session with the flag 0x1000000)\n");
}

int trace_export(int argc, char **argv)
{
    struct command c = {0};
    struct export x = {0};
    struct texts words = {0};
    const struct option options[] = {
        {"f", OPTION_TEXT, &c.format},
        {"o", OPTION_TEXT, &c.to},
        {"y", OPTION_FLAG, &c.yes},
        {"symbols", OPTION_TEXTS, &c.symbols},
        {"b", OPTION_TEXTS, &c.begin},
        {"e", OPTION_TEXTS, &c.end},
        {"provider", OPTION_TEXTS, &c.providers},
        {"process", OPTION_TEXTS, &c.processes},
        {"import", OPTION_TEXTS, &c.known.manifests},
        {"i", OPTION_TEXTS, &c.known.programs},
        {"tmf", OPTION_TEXT, &c.known.formats},
        {"tp", OPTION_TEXT, &c.known.format_folders},
    };
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, &words);
    if (result == CLI_DONE)
        result = command_check(&c, &x, &words);
    if (result == CLI_DONE) {
        const HRESULT hr = export_write(&c, &x);
        if (SUCCEEDED(hr))
            print_result(&c, &x);
        if (SUCCEEDED(hr))
            trace_frames_report(&c.frames);
        result = FAILED(hr) ? cli_error(VERB, hr) : trace_inputs_print_warnings(&c.inputs, VERB);
    }
    export_threads_free(&x);
    export_stacks_free(&x);
    output_close(&c.output);
    trace_inputs_close(&c.inputs);
    trace_schemas_close(&c.schemas);
    trace_frames_close(&c.frames);
    memory_free(c.path);
    struct texts *const texts[] = {
        &c.files, &c.providers, &c.processes, &c.known.manifests, &c.known.programs, &c.symbols,
        &c.begin, &c.end,       &words};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        texts_free(texts[i]);
    return result;
}
