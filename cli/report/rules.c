/* SPDX-License-Identifier: MIT */
/* openpla rules: checks a report, or the report of a log, against rules. */
#include "engine/report/rules.h"

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/report/report.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/log.h"

#include <string.h>

#define VERB "rules"

enum { RULES_SERIOUS = 4 }; /* exit code that means: the most severe finding is serious */

struct rules_request {
    struct texts operands, rules; /* rules: names of rules files; empty: the built-in rules */
    struct texts name_files;      /* files of the option -names */
    const char *output, *language, *log;
    bool as_json, yes, listed;
    uint32_t seconds;
    const char *report;           /* path of the report: the operand itself, or the temporary report of the operand */
    struct temporary_report made; /* report of a log, a trace or a folder */
    struct rules *read;
    struct rules_outcome outcome;
};

static const char *severity_name(enum rules_severity severity)
{
    static const char *const names[] = {"nothing", "information", "warning", "error"};
    return names[severity];
}

static bool is_trace(const char *path)
{
    struct etl_reader *reader;
    const bool is = SUCCEEDED(etl_reader_open(path, NULL, NULL, &reader));
    if (is)
        etl_reader_close(reader);
    return is;
}

static bool is_counter_log(const char *path)
{
    struct log_reader *reader;
    const bool is = SUCCEEDED(log_reader_open(path, &reader));
    if (is)
        log_reader_close(reader);
    return is;
}

/* Finds the report. If the operand is a log, a trace or the folder of a run, creates its report first. is_trace may
   also accept a binary counter log, because both have the same container format. */
static HRESULT find_report(struct rules_request *r)
{
    const char *path = r->operands.items[0];
    const bool is_input = folder_exists(path) || (file_exists(path) && (is_counter_log(path) || is_trace(path)));
    r->report = path;
    if (!is_input)
        return S_OK;
    const HRESULT hr = temporary_report_make(&r->made, path, r->rules.count ? r->read : NULL, &r->name_files);
    r->report = r->made.path;
    return hr;
}

/* Checks the outputs. The output can be the report itself; the user has then specified it twice, so no question is
   asked. */
static HRESULT check_output(const struct rules_request *r)
{
    const char *const asked[] = {r->output, r->log};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const bool is_report = asked[i] && file_is_same(asked[i], r->operands.items[0]);
        if (is_report && asked[i] == r->log)
            return error_set(E_INVALIDARG, "cannot write '%s': the log (-log) would overwrite the report", asked[i]);
        if (is_report && r->made.path)
            return error_set(E_INVALIDARG, "cannot write '%s': it is an input file", asked[i]);
        if (asked[i] && !is_report && !r->yes && file_exists(asked[i]) && !cli_may_overwrite(asked[i]))
            return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "'%s' already exists (use -y to overwrite)",
                             asked[i]);
    }
    return S_OK;
}

static HRESULT rules_request_apply(struct rules_request *r)
{
    const struct rules_job job = {
        .rules = r->read,
        .report = r->report,
        .output = r->output,
        .language = r->language,
        .log_level = r->log ? RULES_LOG_ERRORS | RULES_LOG_RULES | RULES_LOG_STEPS | RULES_LOG_ACTIONS : 0,
        .seconds = r->seconds,
        .stop = interrupt_asked,
    };
    HRESULT hr = rules_apply(&job, &r->outcome);
    if (SUCCEEDED(hr) && r->log)
        hr = file_store(r->log, r->outcome.log, strlen(r->outcome.log));
    return hr;
}

/* Runs the command. Ctrl+C is reported as an error from here on, so that the temporary report is removed. */
static HRESULT rules_request_do(struct rules_request *r)
{
    if (!interrupt_begin())
        return error_set(E_FAIL, "cannot wait for Ctrl+C");
    HRESULT hr = rules_read_named(&r->rules, &r->read);
    if (SUCCEEDED(hr))
        hr = find_report(r);
    if (SUCCEEDED(hr))
        hr = check_output(r);
    if (SUCCEEDED(hr))
        hr = rules_request_apply(r);
    const struct error_kept why = error_keep(hr);
    interrupt_end();
    return FAILED(hr) ? error_restore(&why) : S_OK;
}

/* Prints a string, which may have several lines, with indentation. */
static void show_indented(const char *text)
{
    for (const char *end; *text; text = end + (*end == '\n')) {
        end = text + strcspn(text, "\n");
        printf("    %.*s\n", (int)(end - text), text);
    }
}

static void show_text(const struct rules_outcome *o)
{
    for (size_t i = 0; i < o->warning_count; i++) {
        const struct rules_warning *w = &o->warnings[i];
        const char *const more[] = {w->when, w->cause, w->details, w->resolution};
        printf("%s: %s\n", severity_name(w->severity), w->symptom);
        for (size_t k = 0; k < sizeof more / sizeof *more; k++)
            show_indented(more[k]);
    }
    for (size_t i = 0; i < o->notice_count; i++)
        printf("%s: %s\n", severity_name(o->notices[i].severity), o->notices[i].text);
    if (!o->warning_count && !o->notice_count)
        printf(o->unfinished ? "nothing was found before the rules were stopped\n"
               : o->known    ? "nothing found\n"
                             : "nothing was checked: no rule applies to a counter or event of this report\n");
}

static void show_texts(struct json *j, const char *name, const struct texts *a, const struct texts *b)
{
    json_begin(j, name, '[');
    for (size_t i = 0; i < a->count; i++)
        json_text(j, NULL, a->items[i]);
    for (size_t i = 0; i < b->count; i++)
        json_text(j, NULL, b->items[i]);
    json_end(j, ']');
}

static void show_json(const struct rules_request *r)
{
    const struct rules_outcome *o = &r->outcome;
    struct json j = {.out = stdout};
    json_begin(&j, NULL, '{');
    json_text(&j, "report", r->operands.items[0]);
    json_text(&j, "output", r->output);
    json_bool(&j, "known", o->known != 0);
    json_text(&j, "worst", severity_name(o->worst));
    if (r->made.names)
        json_text(&j, "names", r->made.names);
    json_begin(&j, "warnings", '[');
    for (size_t i = 0; i < o->warning_count; i++) {
        const struct rules_warning *w = &o->warnings[i];
        json_begin(&j, NULL, '{');
        json_text(&j, "severity", severity_name(w->severity));
        json_text(&j, "symptom", w->symptom);
        json_text(&j, "when", w->when);
        json_text(&j, "first", w->first);
        json_text(&j, "last", w->last);
        json_text(&j, "cause", w->cause);
        json_text(&j, "details", w->details);
        json_text(&j, "resolution", w->resolution);
        json_text(&j, "group", w->group);
        json_text(&j, "rule", w->rule);
        json_end(&j, '}');
    }
    json_end(&j, ']');
    json_begin(&j, "notices", '[');
    for (size_t i = 0; i < o->notice_count; i++) {
        json_begin(&j, NULL, '{');
        json_text(&j, "severity", severity_name(o->notices[i].severity));
        json_text(&j, "text", o->notices[i].text);
        json_end(&j, '}');
    }
    json_end(&j, ']');
    show_texts(&j, "errors", rules_errors(r->read), &o->errors);
    show_texts(&j, "remarks", rules_notes(r->read), &o->notes);
    json_end(&j, '}');
}

/* Prints the contents of the lists. Returns false if all lists are empty. */
static bool rules_print_warnings(const struct texts *const *said, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < said[i]->count; k++, any = true)
            fprintf(stderr, "openpla " VERB ": %s\n", said[i]->items[k]);
    return any;
}

static int rules_print_result(const struct rules_request *r)
{
    const struct texts *const said[] = {&r->made.warnings, rules_errors(r->read), &r->outcome.errors,
                                        rules_notes(r->read), &r->outcome.notes};
    const bool wrong = rules_print_warnings(said, sizeof said / sizeof *said);
    if (r->made.names)
        fprintf(stderr, "openpla " VERB ": %s\n", r->made.names);
    if (r->as_json)
        show_json(r);
    else
        show_text(&r->outcome);
    if (r->outcome.worst == RULES_ERROR)
        return RULES_SERIOUS;
    if (rules_know_nothing(&r->outcome))
        return CLI_UNCHECKED;
    return r->outcome.worst == RULES_WARNING || wrong ? CLI_REMARKS : CLI_DONE;
}

/* Lists the rules that the operands and -rules name. */
static int rules_show_list(struct rules_request *r)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < r->operands.count && SUCCEEDED(hr); i++)
        hr = texts_add(&r->rules, r->operands.items[i]);
    if (SUCCEEDED(hr))
        hr = rules_read_named(&r->rules, &r->read);
    if (SUCCEEDED(hr))
        hr = rules_print_list(r->read, r->language, r->as_json);
    if (FAILED(hr))
        return cli_error(VERB, hr);
    const struct texts *const said[] = {rules_errors(r->read), rules_notes(r->read)};
    return rules_print_warnings(said, sizeof said / sizeof *said) ? CLI_REMARKS : CLI_DONE;
}

static int rules_check_run(int argc, char **argv)
{
    struct rules_request r = {0};
    const struct option options[] = {
        {"rules", OPTION_TEXTS, &r.rules},
        {"o", OPTION_TEXT, &r.output},
        {"log", OPTION_TEXT, &r.log},
        {"language", OPTION_TEXT, &r.language},
        {"names", OPTION_TEXTS, &r.name_files},
        {"json", OPTION_FLAG, &r.as_json},
        {"y", OPTION_FLAG, &r.yes},
        {"timeout", OPTION_COUNT, &r.seconds},
        {"list", OPTION_FLAG, &r.listed},
    };
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, &r.operands);
    if (result == CLI_DONE && r.listed && (r.output || r.log || r.yes || r.seconds || r.name_files.count))
        result =
            cli_usage(VERB, "-list cannot be combined with -o, -log, -names, -timeout or -y, because it runs no rules");
    if (result == CLI_DONE && !r.listed && r.operands.count != 1)
        result = cli_usage(VERB, r.operands.count ? "expected one report" : "missing report");
    if (result == CLI_DONE && r.listed) {
        result = rules_show_list(&r);
    } else if (result == CLI_DONE) {
        const HRESULT hr = rules_request_do(&r);
        result = FAILED(hr) ? cli_error(VERB, hr) : rules_print_result(&r);
    }
    rules_outcome_free(&r.outcome);
    rules_free(r.read);
    temporary_report_free(&r.made);
    texts_free(&r.operands);
    texts_free(&r.rules);
    texts_free(&r.name_files);
    return result;
}

static int rules_run(int argc, char **argv)
{
    static const struct sub_verb verbs[] = {{"import-pal", rules_import_pal}, {"", rules_check_run}};
    return cli_sub_verb(VERB, verbs, sizeof verbs / sizeof *verbs, argc, argv);
}

const struct verb verb_rules = {
    VERB, "checks a report or a log with rules",
    "openpla rules REPORT.xml|LOG|FOLDER [-rules RULES ...] [-o OUTPUT.xml] [-names FILE ...] [--json]\n"
    "openpla rules -list [RULES ...] [--json]\n"
    "openpla rules import-pal FILE.xml [-answer NAME=VALUE ...] [-means] [-o RULES.xml] [-y]\n"
    "\n"
    "Applies rules (MS-PLA 2.2.3.4) to a report that \"openpla report\" created, and shows the resulting warnings.\n"
    "For a log, a trace or a run's folder, a temporary report is created first.\n"
    "\n"
    "  -rules     rules: files, or built-in ones such as Rules.SQLServer.xml; default Rules.General.xml, which\n"
    "             contains all of them\n"
    "  -o         write the report with its warnings and the other changes of the rules; may be the report itself.\n"
    "             Without -o nothing is written\n"
    "  -list      show the rules of files, or the built-in ones, with limits and sources; nothing is checked\n"
    "  -log       write a log of what each rule did\n"
    "  -language  the language of strings, if rules have several\n"
    "  -timeout   time limit in seconds for all rules together; default 120. When it is reached, the warnings found "
    "so\n"
    "             far are shown, and the message names the rule that was running\n"
    "  -names     translated counter names: an export (.reg) of the registry key Perflib of the computer that wrote\n"
    "             the log, or its files perfcNNN.dat; six languages are built in\n"
    "  -y         overwrite existing files without asking\n"
    "  --json     print the warnings as JSON\n"
    "\n"
    "import-pal creates rules from a PAL threshold file and the files from which it inherits:\n"
    "\n"
    "  -answer    answers to the questions of the file; default: the answers in the file\n"
    "  -means     compare the mean of each time slice; default: the slice's maximum or minimum, as PAL does\n"
    "  -o         the rules; default FILE.rules.xml in the current folder\n"
    "\n"
    "Exit code 3: the rules were created, but not from all thresholds; stderr lists the others.\n"
    "\n"
    "Exit codes: 0 no warnings; 3 warnings, or invalid rules (see stderr); 4 serious warnings;\n"
    "5 no rule applies to any counter or event of the report, so nothing was checked; 1 the rules could not be "
    "applied\n"
    "or were stopped by Ctrl+C, and nothing was written; 2 wrong command line.\n",
    rules_run};
