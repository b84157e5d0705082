/* SPDX-License-Identifier: MIT */
/* openpla tracerpt: converts event traces to CSV, XML or EVTX, and writes summaries and reports. */
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/report/report.h"
#include "cli/trace/trace.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/event_dump.h"

#include <stdio.h>
#include <string.h>

/* Zero-initialise. */
struct trace_output {
    struct output output;
    struct file *file;
};

/* Opens the output. Asks before overwriting unless `yes` is set; fails with HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) if
   the user declines, and with E_INVALIDARG if the file is an input trace. */
static HRESULT trace_output_open(struct trace_output *o, const char *path, bool yes, const struct trace_inputs *in)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < in->count && SUCCEEDED(hr); i++)
        hr = output_check_input(path, in->items[i].path);
    if (SUCCEEDED(hr))
        hr = output_begin(&o->output, path, yes ? OUTPUT_REPLACE : OUTPUT_ASK);
    return SUCCEEDED(hr) ? output_failed(&o->output, file_open(output_path(&o->output), FILE_REPLACE, &o->file)) : hr;
}

/* The function `write` of event_dump_options; the context is the output. */
static HRESULT trace_output_write(void *output, const void *bytes, size_t size)
{
    struct trace_output *o = output;
    return output_failed(&o->output, file_write(o->file, bytes, size));
}

static HRESULT trace_output_write_at(void *output, uint64_t offset, const void *bytes, size_t size)
{
    struct trace_output *o = output;
    return output_failed(&o->output, file_write_at(o->file, offset, bytes, size));
}

/* Closes the file and gives it its final name. */
static HRESULT trace_output_finish(struct trace_output *o)
{
    file_close(o->file);
    o->file = NULL;
    return output_finish(&o->output);
}

/* Deletes unfinished output. */
static void trace_output_close(struct trace_output *o)
{
    file_close(o->file);
    o->file = NULL;
    output_close(&o->output);
}

/* ---- the verb ---- */

#define VERB "tracerpt"

struct tracerpt {
    struct texts files, sessions, begin, end;
    struct trace_knowledge known;
    const char *output, *form, *encoding, *summary, *report, *report_form, *level, *counting, *symbols, *exported,
        *structure;
    bool lenient, raw, yes;

    struct event_dump_options options;
    struct trace_inputs inputs;
    struct trace_schemas schemas;
    struct trace_output dump_file, summary_file, manifest_file, structure_file;
    struct event_dump *dump;
    struct event_summary counts;
    struct event_kinds kinds; /* for -export and -int */
    uint64_t lost;            /* number of lost events that sessions reported */
    uint64_t undecoded;       /* number of events that could not be decoded; printed at the end */
    struct report_request request;
    struct cli_progress progress;
};

static int failed(struct tracerpt *t, HRESULT hr)
{
    cli_progress_end(&t->progress);
    return cli_error(VERB, hr);
}

/* ---- the command line ---- */

/* Checks the options of a report. A report needs files, which may also be counter logs. */
static int check_report(struct tracerpt *t)
{
    uint64_t level = 0;
    t->request.html = t->report_form && text_equal_nocase(t->report_form, "HTML");
    if (t->report_form && !t->request.html && !text_equal_nocase(t->report_form, "XML"))
        return cli_usage(VERB, "-f: unknown format '%s': expected XML or HTML", t->report_form);
    if (t->level && (!text_to_u64(t->level, &level) || level < 1 || level > SCHEMA_HIGHEST_LEVEL))
        return cli_usage(VERB, "-rl: invalid level '%s': expected 1 to %d", t->level, SCHEMA_HIGHEST_LEVEL);
    t->request.level = (uint32_t)level;
    if (!t->report && (t->report_form || t->level || t->counting))
        return cli_usage(VERB, "-%s: requires -report", t->report_form ? "f" : t->level ? "rl" : "df");
    if (t->report && t->sessions.count != 0)
        return cli_usage(VERB, "-report: requires files, not sessions");
    if (t->report && t->begin.count + t->end.count != 0)
        return cli_usage(VERB, "-report: cannot be combined with -b and -e");
    if (t->report && !t->report[0])
        t->report = t->request.html ? "workload.html" : "workload.xml";
    return CLI_DONE;
}

static int choose_form(struct tracerpt *t)
{
    t->options.form = EVENT_DUMP_XML;
    if (t->form && text_equal_nocase(t->form, "EVTX"))
        t->options.form = EVENT_DUMP_EVTX;
    else if (t->form && text_equal_nocase(t->form, "CSV"))
        t->options.form = EVENT_DUMP_CSV;
    else if (t->form && !text_equal_nocase(t->form, "XML"))
        return cli_usage(VERB, "-of: unknown format '%s': expected CSV, EVTX or XML", t->form);
    if (t->encoding && t->options.form != EVENT_DUMP_CSV)
        return cli_usage(VERB, "-en: only valid with -of CSV (XML is UTF-8, EVTX has a fixed encoding)");
    if (t->encoding && text_equal_nocase(t->encoding, "ANSI"))
        t->options.encoding = EVENT_DUMP_ANSI;
    else if (t->encoding && text_equal_nocase(t->encoding, "Unicode"))
        t->options.encoding = EVENT_DUMP_UTF16;
    else if (t->encoding)
        return cli_usage(VERB, "-en: unknown encoding '%s': expected ANSI or Unicode", t->encoding);
    return CLI_DONE;
}

static const char *const dump_names[] = {
    [EVENT_DUMP_CSV] = "dumpfile.csv", [EVENT_DUMP_XML] = "dumpfile.xml", [EVENT_DUMP_EVTX] = "dumpfile.evtx"};

/* Chooses the outputs. Without output options a dump and a summary are written. */
static int choose_outputs(struct tracerpt *t)
{
    if (t->raw && t->summary)
        return cli_usage(VERB, "-rts: requires -o (a summary has no raw times)");
    if (!t->output && !t->summary && !t->exported && !t->structure && !t->report) {
        t->output = "";
        t->summary = t->raw ? NULL : "";
    }
    if (t->output && !t->output[0])
        t->output = dump_names[t->options.form];
    if (t->summary && !t->summary[0])
        t->summary = "summary.txt";
    if (t->exported && !t->exported[0])
        t->exported = "schema.man";
    return CLI_DONE;
}

static bool is_nowhere(const char *path)
{
    return text_equal_nocase(path, "NUL") || strcmp(path, "/dev/null") == 0;
}

static int tracerpt_check_line(struct tracerpt *t)
{
    int result = check_report(t);
    /* A command line with -pdb usually also specifies the formats in another way, so -pdb causes a warning, not an
       error. */
    if (t->symbols)
        fprintf(cli_messages(),
                "openpla " VERB ": -pdb: program symbols are not read (extract the formats with tracepdb, and "
                "name them with -tmf or -tp)\n");
    if (result == CLI_DONE && t->files.count == 0 && t->sessions.count == 0)
        result = cli_usage(VERB, "missing trace or session (-rt)");
    if (result == CLI_DONE && t->files.count != 0 && t->sessions.count != 0)
        result = cli_usage(VERB, "-rt: sessions cannot be combined with files");
    if (result == CLI_DONE && t->sessions.count != 0 && t->begin.count + t->end.count != 0)
        result = cli_usage(VERB, "-%s: only valid for files (a session delivers only new events)",
                           t->begin.count != 0 ? "b" : "e");
    if (result == CLI_DONE)
        result = choose_form(t);
    return result == CLI_DONE ? choose_outputs(t) : result;
}

/* Reads -b and -e in the time zone of the first trace. */
static int read_range(struct tracerpt *t)
{
    const struct zone_rules *zone = &etl_reader_log(t->inputs.items[0].reader)->zone;
    int64_t from = 0, to = 0;
    int result = cli_time(VERB, "b", &t->begin, &from);
    if (result == CLI_DONE)
        result = cli_time(VERB, "e", &t->end, &to);
    t->inputs.ranged = true;
    t->inputs.from = t->begin.count != 0 ? zone_to_utc(zone, from, INT64_MIN) : INT64_MIN;
    t->inputs.to = t->end.count != 0 ? zone_to_utc(zone, to, INT64_MIN) : INT64_MAX;
    if (result == CLI_DONE && t->inputs.to < t->inputs.from)
        result = cli_usage(VERB, "-e: the end is before the start (-b)");
    return result;
}

/* ---- the events ---- */

static bool reports_lost_events(const EVENT_RECORD *r)
{
    static const GUID lost = {0x6A399AE0, 0x4BC6, 0x4DE9, {0x87, 0x0B, 0x36, 0x57, 0xF8, 0x94, 0x7E, 0x7E}};
    return r->EventHeader.EventDescriptor.Opcode == 32 && guid_equal(&r->EventHeader.ProviderId, &lost);
}

static HRESULT tracerpt_take_event(void *context, const struct trace_event *e)
{
    struct tracerpt *t = context;
    struct dumped_event event;
    const struct found_schema *found;
    bool decoded;
    /* For sessions, Ctrl+C is not an error: trace_sessions_read then ends the reading. */
    if (t->sessions.count == 0 && interrupt_asked(NULL))
        return error_set(HRESULT_FROM_WIN32(ERROR_CANCELLED), "interrupted by the user");
    HRESULT hr = trace_schemas_find(&t->schemas, e, &event, &found);
    if (SUCCEEDED(hr))
        hr = t->dump ? event_dump_add(t->dump, &event, &decoded) : dumped_event_decodes(&event, &decoded);
    if (SUCCEEDED(hr)) {
        t->undecoded += !decoded;
        if (t->sessions.count != 0 && reports_lost_events(e->record)) {
            uint32_t count = 1;
            if (e->record->UserDataLength >= sizeof count)
                memcpy(&count, e->record->UserData, sizeof count);
            t->lost += count;
        }
        hr = event_summary_count(&t->counts, &event, decoded);
    }
    if (SUCCEEDED(hr) && found && (t->exported || t->structure))
        hr = event_kinds_count(&t->kinds, e->record, found, decoded);
    if (found)
        found_schema_release(t->schemas.all, found);
    return hr;
}

static void add_time(struct text_buffer *b, const char *label, int64_t utc, const struct log_zone *zone)
{
    char *text = format_time(utc, zone);
    text_buffer_format(b, "%-24s%s\r\n", label, text ? text : "");
    b->failed |= !text;
    memory_free(text);
}

static struct log_zone zone_of(const struct tracerpt *t)
{
    if (t->inputs.count == 0)
        return (struct log_zone){.known = true, .bias_minutes = clock_bias_minutes(t->counts.first)};
    const struct etl_log *log = etl_reader_log(t->inputs.items[0].reader);
    return (struct log_zone){.known = true,
                             .bias_minutes =
                                 zone_bias_minutes(&log->zone, zone_to_local(&log->zone, t->counts.first), false)};
}

/* Writes the whole contents of a buffer and finishes the output. */
static HRESULT write_text(struct trace_output *to, const struct text_buffer *b)
{
    const HRESULT hr = trace_output_write(to, b->text ? b->text : "", b->length);
    return SUCCEEDED(hr) ? trace_output_finish(to) : hr;
}

static HRESULT write_summary(struct tracerpt *t)
{
    struct text_buffer b = {0};
    const struct log_zone zone = zone_of(t);
    uint64_t buffers = 0;
    text_buffer_add(&b, t->sessions.count != 0 ? "Sessions Processed:\r\n" : "Files Processed:\r\n");
    for (size_t i = 0; i < t->sessions.count; i++)
        text_buffer_format(&b, "\t%s\r\n", t->sessions.items[i]);
    for (size_t i = 0; i < t->inputs.count; i++) {
        text_buffer_format(&b, "\t%s\r\n", t->inputs.items[i].path);
        buffers += t->inputs.items[i].buffers;
    }
    text_buffer_format(&b, "Total Buffers Processed %llu\r\n", (unsigned long long)buffers);
    text_buffer_format(&b, "Total Events  Processed %llu\r\n", (unsigned long long)t->counts.events);
    text_buffer_format(&b, "Total Events  Lost      %llu\r\n", (unsigned long long)t->inputs.events_lost + t->lost);
    text_buffer_format(&b, "Total Events  Undecoded %llu\r\n", (unsigned long long)t->counts.undecoded);
    if (t->counts.events != 0) {
        add_time(&b, "Start Time", t->counts.first, &zone);
        add_time(&b, "End Time", t->counts.last, &zone);
    }
    text_buffer_format(&b, "Elapsed Time            %lld sec\r\n\r\n",
                       (long long)((t->counts.last - t->counts.first) / 10000000));
    HRESULT hr = event_summary_table(&t->counts, &b);
    if (SUCCEEDED(hr))
        hr = b.failed ? E_OUTOFMEMORY : write_text(&t->summary_file, &b);
    text_buffer_free(&b);
    return hr;
}

static void print_result(const struct tracerpt *t)
{
    printf("\nInput\n----------------\n%s\n", t->sessions.count != 0 ? "Session(s):" : "File(s):");
    for (size_t i = 0; i < t->sessions.count; i++)
        printf("     %s\n", t->sessions.items[i]);
    for (size_t i = 0; i < t->request.inputs.count; i++)
        printf("     %s\n", t->request.inputs.items[i]);
    for (size_t i = 0; i < t->inputs.count && t->request.inputs.count == 0; i++)
        printf("     %s\n", t->inputs.items[i].path);
    printf("\n100.00%%\n\nOutput\n----------------\n");
    if (t->output)
        printf("DumpFile:           %s\n", t->output);
    if (t->summary)
        printf("Summary:            %s\n", t->summary);
    if (t->exported)
        printf("Schema:             %s\n", t->exported);
    if (t->structure)
        printf("Structure:          %s\n", t->structure);
    if (t->report)
        printf("Report:             %s\n", t->request.page ? t->request.page : t->report);
    if (t->inputs.count == 0 && t->sessions.count == 0)
        return; /* the numbers are in the report */
    printf("\nEvents:             %llu\n", (unsigned long long)t->counts.events);
    if (t->undecoded != 0)
        printf("Not decoded:        %llu, dumped in hexadecimal%s\n", (unsigned long long)t->undecoded,
               t->options.form == EVENT_DUMP_CSV ? " with the reason" : " (-int FILE shows the reasons)");
}

/* Writes the manifest. Fails without writing anything if no event has a manifest. */
static HRESULT write_manifest(struct tracerpt *t)
{
    struct manifest_document d = {0};
    struct text_buffer b = {0};
    struct texts warnings = {0};
    HRESULT hr = event_kinds_export(&t->kinds, &d, &warnings);
    if (SUCCEEDED(hr))
        cli_progress_end(&t->progress);
    for (size_t i = 0; SUCCEEDED(hr) && i < warnings.count; i++)
        fprintf(cli_messages(), "openpla " VERB ": -export: %s\n", warnings.items[i]);
    if (SUCCEEDED(hr) && d.provider_count == 0)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND),
                       "-export: cannot write '%s': no event of the trace has a manifest", t->exported);
    if (SUCCEEDED(hr))
        hr = manifest_document_text(&d, &b);
    if (SUCCEEDED(hr))
        hr = write_text(&t->manifest_file, &b);
    texts_free(&warnings);
    text_buffer_free(&b);
    manifest_document_free(&d);
    return hr;
}

static HRESULT write_structures(struct tracerpt *t)
{
    struct text_buffer b = {0};
    HRESULT hr = event_kinds_structures(&t->kinds, &b);
    if (SUCCEEDED(hr))
        hr = write_text(&t->structure_file, &b);
    text_buffer_free(&b);
    return hr;
}

/* Opens the outputs. Two outputs must not be the same file. */
static HRESULT open_outputs(struct tracerpt *t)
{
    const struct {
        const char *option, *path;
        struct trace_output *file;
    } all[] = {{"o", t->output, &t->dump_file},
               {"summary", t->summary, &t->summary_file},
               {"export", t->exported, &t->manifest_file},
               {"int", t->structure, &t->structure_file}};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof all / sizeof *all; i++) {
        for (size_t k = 0; all[i].path && k < i; k++)
            if (all[k].path && !is_nowhere(all[k].path) && text_equal_nocase(all[i].path, all[k].path))
                return error_set(E_INVALIDARG, "-%s: '%s' is already the output of -%s", all[i].option, all[i].path,
                                 all[k].option);
        if (all[i].path && !is_nowhere(all[i].path))
            hr = trace_output_open(all[i].file, all[i].path, t->yes, &t->inputs);
    }
    if (SUCCEEDED(hr) && t->dump_file.file) {
        t->options.raw_time = t->raw;
        t->options.lenient = t->lenient;
        t->options.write = trace_output_write;
        t->options.write_at = trace_output_write_at;
        t->options.context = &t->dump_file;
        hr = event_dump_create(&t->options, &t->dump);
    }
    return hr;
}

static int tracerpt_write(struct tracerpt *t)
{
    HRESULT hr = cli_trace_schemas_open(&t->known, &t->schemas);
    t->kinds.schemas = t->schemas.all;
    if (SUCCEEDED(hr) && t->files.count != 0)
        hr = trace_inputs_open(&t->inputs, &t->files);
    if (FAILED(hr))
        return failed(t, hr);
    t->inputs.raw = t->raw;
    t->inputs.schemas = &t->schemas;
    int result = t->begin.count + t->end.count != 0 ? read_range(t) : CLI_DONE;
    if (result != CLI_DONE)
        return result;
    hr = open_outputs(t);
    if (SUCCEEDED(hr)) {
        hr = t->sessions.count != 0
                 ? trace_sessions_read(&t->sessions, t->raw, tracerpt_take_event, NULL, t)
                 : trace_inputs_read(&t->inputs, tracerpt_take_event, t, trace_inputs_progress, &t->progress);
    }
    const struct error_kept why = error_keep(hr);
    const HRESULT closed = event_dump_close(t->dump);
    t->dump = NULL;
    hr = FAILED(hr) ? error_restore(&why) : closed;
    if (SUCCEEDED(hr) && t->dump_file.file)
        hr = trace_output_finish(&t->dump_file);
    if (SUCCEEDED(hr) && t->summary_file.file)
        hr = write_summary(t);
    if (SUCCEEDED(hr) && t->structure_file.file)
        hr = write_structures(t);
    if (SUCCEEDED(hr) && t->manifest_file.file)
        hr = write_manifest(t);
    if (FAILED(hr))
        return failed(t, hr);
    cli_progress_end(&t->progress);
    print_result(t);
    result = trace_inputs_print_warnings(&t->inputs, VERB);
    printf("\nThe command completed successfully.\n");
    return result;
}

/* Writes the report. report_request_make reads the input files itself, because some can be counter logs. */
static int make_report(struct tracerpt *t)
{
    struct report_request *r = &t->request;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < t->files.count && SUCCEEDED(hr); i++)
        hr = texts_add(&r->operands, t->files.items[i]);
    if (SUCCEEDED(hr) && t->counting && t->counting[0])
        hr = texts_add(&r->schemas, t->counting);
    r->output = t->report;
    r->yes = t->yes;
    r->show_progress = true;
    r->known = t->known;
    if (SUCCEEDED(hr))
        hr = report_request_make(r);
    if (FAILED(hr))
        return cli_error(VERB, hr);
    for (size_t i = 0; i < r->warnings.count; i++)
        fprintf(cli_messages(), "openpla " VERB ": %s\n", r->warnings.items[i]);
    return r->warnings.count ? CLI_REMARKS : CLI_DONE;
}

/* Removes the counter logs from the files, because only traces are dumped and counted. */
static HRESULT leave_logs_out(struct tracerpt *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->files.count; i++) {
        char *path = t->files.items[i];
        if (text_equal_nocase(path_extension(path), ".etl"))
            t->files.items[kept++] = path;
        else
            memory_free(path);
    }
    t->files.count = kept;
    return kept ? S_OK : error_set(E_INVALIDARG, "no input file is a trace (.etl)");
}

static int make_all(struct tracerpt *t)
{
    const bool dumps = t->output || t->summary || t->exported || t->structure;
    int reported = CLI_DONE;
    if (t->report) {
        reported = make_report(t);
        if (reported == CLI_FAILED)
            return reported;
        const HRESULT hr = dumps ? leave_logs_out(t) : S_OK;
        if (FAILED(hr))
            return cli_error(VERB, hr);
    }
    if (dumps) {
        const int result = tracerpt_write(t);
        return result == CLI_DONE ? reported : result;
    }
    print_result(t);
    printf("\nThe command completed successfully.\n");
    return reported;
}

static int tracerpt_run(int argc, char **argv)
{
    struct tracerpt t = {0};
    struct texts arguments = {0};
    const struct option options[] = {
        {"l", OPTION_TEXTS, &t.files},
        {"rt", OPTION_TEXTS, &t.sessions},
        {"o", OPTION_OPTIONAL, &t.output},
        {"of", OPTION_TEXT, &t.form},
        {"en", OPTION_TEXT, &t.encoding},
        {"summary", OPTION_OPTIONAL, &t.summary},
        {"report", OPTION_OPTIONAL, &t.report},
        {"f", OPTION_TEXT, &t.report_form},
        {"rl", OPTION_TEXT, &t.level},
        {"df", OPTION_OPTIONAL, &t.counting},
        {"pdb", OPTION_TEXT, &t.symbols},
        {"export", OPTION_OPTIONAL, &t.exported},
        {"int", OPTION_TEXT, &t.structure},
        {"import", OPTION_TEXTS, &t.known.manifests},
        {"i", OPTION_TEXTS, &t.known.programs},
        {"tmf", OPTION_TEXT, &t.known.formats},
        {"tp", OPTION_TEXT, &t.known.format_folders},
        {"gmt", OPTION_FLAG, &t.known.gmt},
        {"lr", OPTION_FLAG, &t.lenient},
        {"rts", OPTION_FLAG, &t.raw},
        {"b", OPTION_TEXTS, &t.begin},
        {"e", OPTION_TEXTS, &t.end},
        {"y", OPTION_FLAG, &t.yes},
    };
    cli_speak_as_windows(argc, argv);
    int result = options_with_settings(VERB, argc, argv, &arguments);
    if (result == CLI_DONE) {
        result = options_parse(VERB, (int)arguments.count, arguments.items, options, sizeof options / sizeof *options,
                               &t.files);
    }
    if (result == CLI_DONE)
        result = tracerpt_check_line(&t);
    const bool begun = result == CLI_DONE && interrupt_begin();
    if (result == CLI_DONE)
        result = begun ? make_all(&t) : cli_error(VERB, error_set(E_FAIL, "cannot wait for Ctrl+C"));
    report_request_free(&t.request);
    trace_output_close(&t.dump_file);
    trace_output_close(&t.summary_file);
    trace_output_close(&t.manifest_file);
    trace_output_close(&t.structure_file);
    if (begun)
        interrupt_end();
    trace_inputs_close(&t.inputs);
    event_kinds_free(&t.kinds);
    trace_schemas_close(&t.schemas);
    event_summary_free(&t.counts);
    struct texts *const texts[] = {&t.files,           &t.sessions,       &t.begin,  &t.end,
                                   &t.known.manifests, &t.known.programs, &arguments};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        texts_free(texts[i]);
    return result;
}

const struct verb verb_tracerpt = {
    "tracerpt", "dumps event traces as CSV, XML or EVTX, and summarizes them",
    "openpla tracerpt TRACE [TRACE ...] [options]\n"
    "openpla tracerpt -rt SESSION [SESSION ...] [options]\n"
    "\n"
    "Decodes the events of .etl files, merged in time order, or of running sessions, until they stop or Ctrl+C.\n"
    "A name may contain * and ?. If none of -o, -summary, -export and -int is given, it writes a dump and a summary "
    "to\n"
    "the current folder.\n"
    "\n"
    "  -l TRACE ...      traces to read\n"
    "  -rt SESSION ...   real-time sessions to read\n"
    "  -o [FILE]         the dump; default dumpfile.xml, dumpfile.csv or dumpfile.evtx; NUL: none\n"
    "  -of CSV|EVTX|XML  format of the dump, default XML. EVTX is for the event viewer\n"
    "  -en ANSI|Unicode  encoding of CSV, default UTF-8\n"
    "  -summary [FILE]   the number of events of each type; default summary.txt\n"
    "  -export [FILE]    a manifest of the events in the trace, for -import and \"openpla manifest add\";\n"
    "                    default schema.man\n"
    "  -int FILE         the layout of each event type: names, fields with their types, maps\n"
    "  -report [FILE]    a report of the traces and of the counter logs (.blg, .csv, .tsv) among the files, as "
    "created\n"
    "                    by \"openpla report\"; default workload.xml\n"
    "  -f XML|HTML       format of the report; HTML is a page, and the report itself is written to the same folder as "
    "XML\n"
    "  -rl LEVEL         include the report's tables up to this level, 1 to 5; default 1\n"
    "  -df FILE          the report schema\n"
    "  -lr               for events whose data do not match their definition, show the values that can be read\n"
    "  -rts              show times as raw values of the trace's clock; not with -summary\n"
    "  -b TIME           start time, \"12/31/2026 23:59:59\" or \"2026-12-31 23:59:59\" in the first trace's time "
    "zone\n"
    "  -e TIME           end time\n"
    "  -import PATH ...  manifests of event providers, or folders with manifests, in addition to the registered ones\n"
    "  -i PATH ...       programs and DLLs that contain manifests, or folders with these; may be separated by ';'\n"
    "  -tmf FILE         the messages of WPP events in the trace; TRACE_FORMAT_PREFIX is printed before each message\n"
    "  -tp FOLDERS       folders with GUID.tmf files, separated by ';'; default TRACE_FORMAT_SEARCH_PATH\n"
    "  -gmt              times in WPP messages are in UTC instead of this computer's time zone\n"
    "  -config FILE      read more of the command line from this file, as options or as \"[option]\" and lines of "
    "values\n"
    "  -y                overwrite existing files without asking\n"
    "\n"
    "Events that cannot be decoded are counted and dumped in hexadecimal (in CSV with the reason).\n"
    "Exit code 3: done, but a trace was corrupt; a message says where.\n",
    tracerpt_run};
