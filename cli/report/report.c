/* SPDX-License-Identifier: MIT */
/* openpla report: creates a report from the logs, traces and configurations of a run. */
#include "cli/report/report.h"

#include "cli/cli.h"
#include "cli/report/config.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/report/page.h"
#include "engine/report/report.h"
#include "engine/report/report_schema.h"

#include <string.h>

#define VERB "report"

static void show(void *context, uint64_t done, uint64_t total)
{
    struct report_request *r = context;
    if (r->show_progress)
        cli_progress_show(&r->progress, done, total);
}

/* Replaces the extension .xml, .html or .htm with `extension`. To any other name, appends `extension`. */
static char *with_extension(const char *path, const char *extension)
{
    const char *own = path_extension(path);
    const bool replaced =
        text_equal_nocase(own, ".xml") || text_equal_nocase(own, ".html") || text_equal_nocase(own, ".htm");
    return text_format("%.*s%s", (int)(strlen(path) - (replaced ? strlen(own) : 0)), path, extension);
}

/* Chooses the page's path: the folder and name of the report, unless -o specifies a page. */
static HRESULT name_page(struct report_request *r)
{
    if (!r->html)
        return S_OK;
    const bool is_said = r->output && !text_equal_nocase(path_extension(r->output), ".xml");
    r->page = is_said && *path_extension(r->output) ? text_copy(r->output) : with_extension(r->path, ".html");
    return r->page ? S_OK : E_OUTOFMEMORY;
}

/* Finds the input files, including those of folders. The report is created in the folder unless -o is specified. */
static HRESULT find_inputs(struct report_request *r)
{
    struct texts except = {0};
    HRESULT hr = S_OK;
    const char *folder = NULL;
    if (r->output)
        hr = texts_add(&except, path_name(r->output));
    for (size_t i = 0; i < r->operands.count && SUCCEEDED(hr); i++) {
        const bool is_folder = folder_exists(r->operands.items[i]);
        folder = is_folder ? r->operands.items[i] : folder;
        hr = is_folder ? report_find_inputs(r->operands.items[i], &except, &r->inputs)
                       : texts_add(&r->inputs, r->operands.items[i]);
    }
    texts_free(&except);
    if (FAILED(hr))
        return hr;
    if (r->output && r->html)
        r->path = with_extension(r->output, ".xml");
    else
        r->path = r->output ? text_copy(r->output) : path_join(folder ? folder : "", REPORT_FILE_NAME);
    return r->path ? name_page(r) : E_OUTOFMEMORY;
}

/* Adds slices for the counters to which a user's rules refer. For the built-in rules, the general schema already has
   these slices. */
static HRESULT slice_for_rules(struct report_request *r)
{
    struct text_buffer patterns = {0};
    HRESULT hr = rules_slice_patterns(r->slices_for, &patterns);
    if (SUCCEEDED(hr) && patterns.length > 0)
        hr = report_schema_want_slices(&r->schema, patterns.text);
    text_buffer_free(&patterns);
    return hr;
}

static HRESULT read_schemas(struct report_request *r)
{
    HRESULT hr = r->schemas.count ? S_OK : texts_add(&r->schemas, SCHEMA_GENERAL);
    for (size_t i = 0; i < r->schemas.count && SUCCEEDED(hr); i++)
        hr = report_schema_add_file(&r->schema, r->schemas.items[i], schema_file_load);
    if (SUCCEEDED(hr) && r->slices_for)
        hr = slice_for_rules(r);
    if (SUCCEEDED(hr))
        report_schema_order(&r->schema);
    return hr;
}

static HRESULT check_output(const struct report_request *r)
{
    for (size_t i = 0; i < r->inputs.count; i++)
        if (file_is_same(r->inputs.items[i], r->path) || (r->events && file_is_same(r->inputs.items[i], r->events)))
            return error_set(E_INVALIDARG, "cannot write '%s': it is an input file", r->inputs.items[i]);
    if (r->events && (text_equal_nocase(r->events, r->path) || file_is_same(r->events, r->path)))
        return error_set(E_INVALIDARG, "cannot write '%s': the report and the events (-events) need two files",
                         r->path);
    const char *const asked[] = {r->output ? r->path : NULL, r->events, r->output ? r->page : NULL};
    for (size_t i = 0; i < sizeof asked / sizeof *asked && !r->yes; i++)
        if (asked[i] && file_exists(asked[i]) && !cli_may_overwrite(asked[i]))
            return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "'%s' already exists (use -y to overwrite)",
                             asked[i]);
    return S_OK;
}

static HRESULT make_page(struct report_request *r)
{
    return page_make(&(struct page_make){.report = r->path,
                                         .output = r->page,
                                         .sheet = r->sheet,
                                         .seconds = r->seconds,
                                         .stop = interrupt_asked,
                                         .context = r},
                     &r->warnings);
}

/* Reads the rules before the report is created, because rules may need data that the report contains only on
   request. */
static HRESULT report_request_read_rules(struct report_request *r)
{
    HRESULT hr = r->checked ? rules_read_named(&r->rules, &r->read) : S_OK;
    if (SUCCEEDED(hr) && r->rules.count)
        r->slices_for = r->read;
    return hr;
}

/* Applies the rules and adds their warnings to the report. */
static HRESULT report_request_check(struct report_request *r)
{
    const struct rules *rules = r->read;
    struct rules_outcome outcome = {0};
    HRESULT hr = rules_apply(&(struct rules_job){.rules = rules,
                                                 .report = r->path,
                                                 .output = r->path,
                                                 .language = r->language,
                                                 .seconds = r->seconds,
                                                 .stop = interrupt_asked},
                             &outcome);
    const struct texts *const said[] = {rules_errors(rules), &outcome.errors, rules_notes(rules), &outcome.notes};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        for (size_t k = 0; k < said[i]->count && SUCCEEDED(hr); k++)
            hr = texts_add(&r->warnings, said[i]->items[k]);
    r->unchecked = SUCCEEDED(hr) && rules_know_nothing(&outcome);
    const struct error_kept why = error_keep(hr);
    rules_outcome_free(&outcome);
    return FAILED(hr) ? error_restore(&why) : S_OK;
}

/* Creates the page of an existing report, which is the only operand. */
static HRESULT report_request_make_page(struct report_request *r)
{
    r->path = text_copy(r->operands.items[0]);
    HRESULT hr = r->path ? name_page(r) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && file_is_same(r->path, r->page))
        hr = error_set(E_INVALIDARG, "cannot write '%s': it is an input file", r->path);
    if (SUCCEEDED(hr) && r->output && !r->yes && file_exists(r->page) && !cli_may_overwrite(r->page))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "'%s' already exists (use -y to overwrite)", r->page);
    if (SUCCEEDED(hr) && r->rules.count)
        hr = report_request_read_rules(r);
    if (SUCCEEDED(hr) && r->read)
        hr = report_request_check(r);
    return SUCCEEDED(hr) ? make_page(r) : hr;
}

HRESULT report_request_make(struct report_request *r)
{
    struct report_make make = {.inputs = &r->inputs,
                               .schema = &r->schema,
                               .events_output = r->events,
                               .set = r->set,
                               .language = r->language,
                               .level = r->level,
                               .slice = r->slice,
                               .names_result = &r->names,
                               .known = &r->known,
                               .stop = interrupt_asked,
                               .progress = show,
                               .context = r};
    struct counter_names *names = NULL;
    HRESULT hr = find_inputs(r);
    if (SUCCEEDED(hr))
        hr = report_request_read_rules(r);
    if (SUCCEEDED(hr))
        hr = read_schemas(r);
    if (SUCCEEDED(hr))
        hr = check_output(r);
    if (SUCCEEDED(hr))
        hr = counter_names_create(&r->name_files, &names);
    const bool begun = SUCCEEDED(hr) && interrupt_begin();
    if (SUCCEEDED(hr) && !begun)
        hr = error_set(E_FAIL, "cannot wait for Ctrl+C");
    make.output = r->path;
    make.names = names;
    if (SUCCEEDED(hr))
        hr = report_make(&make, &r->warnings);
    if (SUCCEEDED(hr) && r->read)
        hr = report_request_check(r);
    if (SUCCEEDED(hr) && r->page)
        hr = make_page(r);
    const struct error_kept why = error_keep(hr);
    if (begun)
        interrupt_end();
    cli_progress_end(&r->progress);
    counter_names_free(names);
    return FAILED(hr) ? error_restore(&why) : S_OK;
}

static HRESULT show_json(struct report_request *r)
{
    struct json j = {.out = stdout};
    struct texts warnings = {0};
    const HRESULT hr = config_show_json(r->path, &(struct texts){0}, &j, &warnings);
    texts_free(&warnings);
    return hr;
}

static int report_print_result(struct report_request *r)
{
    for (size_t i = 0; i < r->warnings.count; i++)
        fprintf(stderr, "openpla " VERB ": %s\n", r->warnings.items[i]);
    if (r->names)
        fprintf(stderr, "openpla " VERB ": %s\n", r->names);
    if (r->unchecked)
        fprintf(stderr,
                "openpla " VERB ": nothing was checked: no rule applies to a counter or event of this report\n");
    if (!r->as_json)
        printf("%s\n", r->path);
    if (!r->as_json && r->page)
        printf("%s\n", r->page);
    const HRESULT hr = r->as_json ? show_json(r) : S_OK;
    if (FAILED(hr))
        return cli_error(VERB, hr);
    return r->unchecked ? CLI_UNCHECKED : r->warnings.count ? CLI_REMARKS : CLI_DONE;
}

void report_request_free(struct report_request *r)
{
    texts_free(&r->operands);
    texts_free(&r->schemas);
    texts_free(&r->rules);
    texts_free(&r->inputs);
    texts_free(&r->warnings);
    report_schema_free(&r->schema);
    rules_free(r->read);
    memory_free(r->path);
    memory_free(r->page);
    memory_free(r->names);
}

/* Returns true if the operand is an existing report, which may already have results of rules. */
static bool is_report_alone(const struct report_request *r)
{
    return r->html && r->operands.count == 1 && text_equal_nocase(path_extension(r->operands.items[0]), ".xml");
}

static int report_run(int argc, char **argv)
{
    struct report_request r = {0};
    const struct option options[] = {{"schema", OPTION_TEXTS, &r.schemas},
                                     {"o", OPTION_TEXT, &r.output},
                                     {"events", OPTION_TEXT, &r.events},
                                     {"level", OPTION_COUNT, &r.level},
                                     {"slice", OPTION_COUNT, &r.slice},
                                     {"timeout", OPTION_COUNT, &r.seconds},
                                     {"set", OPTION_TEXT, &r.set},
                                     {"language", OPTION_TEXT, &r.language},
                                     {"names", OPTION_TEXTS, &r.name_files},
                                     {"import", OPTION_TEXTS, &r.known.manifests},
                                     {"i", OPTION_TEXTS, &r.known.programs},
                                     {"json", OPTION_FLAG, &r.as_json},
                                     {"html", OPTION_FLAG, &r.html},
                                     {"sheet", OPTION_TEXT, &r.sheet},
                                     {"rules", OPTION_TEXTS, &r.rules},
                                     {"progress", OPTION_FLAG, &r.show_progress},
                                     {"y", OPTION_FLAG, &r.yes}};
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, &r.operands);
    if (result == CLI_DONE && !r.operands.count)
        result = cli_usage(VERB, "missing folder or files");
    if (result == CLI_DONE && r.level > SCHEMA_HIGHEST_LEVEL)
        result = cli_usage(VERB, "-level: invalid level %u: expected 1 to %d", (unsigned)r.level, SCHEMA_HIGHEST_LEVEL);
    if (result == CLI_DONE && r.slice > SCHEMA_LONGEST_SLICE)
        result = cli_usage(VERB, "-slice: invalid length %u: expected 1 to %d seconds", (unsigned)r.slice,
                           SCHEMA_LONGEST_SLICE);
    if (result == CLI_DONE && r.sheet && !r.html)
        result = cli_usage(VERB, "-sheet: requires -html");
    const bool none = r.rules.count == 1 && text_equal_nocase(r.rules.items[0], "none");
    r.checked = (r.html || r.rules.count) && !none;
    if (none)
        texts_free(&r.rules);
    if (result == CLI_DONE) {
        HRESULT hr = interrupt_begin() ? S_OK : error_set(E_FAIL, "cannot wait for Ctrl+C");
        if (SUCCEEDED(hr))
            hr = is_report_alone(&r) ? report_request_make_page(&r) : report_request_make(&r);
        result = FAILED(hr) ? cli_error(VERB, hr) : report_print_result(&r);
        interrupt_end();
    }
    report_request_free(&r);
    texts_free(&r.name_files);
    texts_free(&r.known.manifests);
    texts_free(&r.known.programs);
    return result;
}

const struct verb verb_report = {
    VERB, "creates a report from logs, traces and configurations",
    "openpla report FOLDER|FILE ... [-schema SCHEMA ...] [-o REPORT.xml] [-level N] [--progress] [--json]\n"
    "openpla report FOLDER|FILE ...|REPORT.xml -html [-rules RULES ...|none] [-o PAGE.html] [-sheet SHEET.xsl]\n"
    "\n"
    "Creates a report, an XML document, from the counter logs (.blg, .csv, .tsv), traces (.etl) and configuration\n"
    "documents (.xml) of a folder, or from the given files. The report has tables of counters and events as defined "
    "by\n"
    "report schemas, and the results of configuration collectors.\n"
    "\n"
    "  -schema    report schemas (MS-PLA 2.2.3.3): files, or built-in ones such as\n"
    "             Report.System.Performance.xml; default Report.General.xml\n"
    "  -o         the report; default report.xml in the folder\n"
    "  -events    also write all events to this file, as XML\n"
    "  -level     include tables up to this level, 1 to 5; default 1\n"
    "  -slice     length in seconds of the slices that rules check; default: depends on the log's length,\n"
    "             300 for eight hours\n"
    "  -html      check the report with rules and create a report page (report.html) in the same folder; for an\n"
    "             existing report, create only the page\n"
    "  -rules     check the report with these rules (see \"openpla rules\"): files, or built-in ones; default with\n"
    "             -html: Rules.General.xml; none: do not run rules\n"
    "  -sheet     create the report page with your own XSLT file\n"
    "  -timeout   time limit in seconds for the rules, and for your XSLT file; default 120 each\n"
    "  -set       the name of the set, for the report's header\n"
    "  -language  the language of titles, if a schema has several\n"
    "  -names     translated counter names: an export (.reg) of the registry key Perflib of the computer that wrote\n"
    "             the logs, or its files perfcNNN.dat; six languages are built in\n"
    "  -import    manifests that describe events; -i: programs that contain manifests\n"
    "  -y         overwrite existing files without asking\n"
    "  --progress show the progress\n"
    "  --json     also print the report as JSON\n"
    "\n"
    "Exit code 3: the report was created, with warnings about its inputs or schemas; 5: it was created, but no rule\n"
    "applies to any of its counters or events. Ctrl+C cancels the command without writing a report.\n",
    report_run};
