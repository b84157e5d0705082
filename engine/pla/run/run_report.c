/* SPDX-License-Identifier: MIT */
/* Creates a report (MS-PLA 2.2.2.6, plaCreateReport): determines its schema, inputs, output and time limit. Applies the
   rules to the report (plaRunRules, DECISIONS 101). */
#include "engine/pla/run/run_report.h"

#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/log.h"
#include "engine/pla/retention/folder_record.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/sets.h"
#include "engine/pla/settings.h"
#include "engine/report/page.h"
#include "engine/report/report.h"
#include "engine/report/report_schema.h"
#include "engine/report/rules.h"

#include <string.h>

/* ---- rules ---- */

#define INLINE_RULES "Rules"

enum { MOST_TOLD = 5 }; /* maximum number of symptoms in one event */

static void report_journal(const struct run_report *what, const char *report, enum rules_severity severity,
                           const char *text)
{
    static const enum journal_id ids[] = {JOURNAL_REPORT_NOTE, JOURNAL_REPORT_NOTE, JOURNAL_REPORT_WARNING,
                                          JOURNAL_REPORT_ERROR};
    journal_write(ids[severity], &(struct journal_facts){.name = what->name, .file = report, .reason = text});
}

/* Writes one event for all warnings, with the severity of the worst one. */
static HRESULT journal_warnings(const struct run_report *what, const char *report, const struct rules_outcome *o)
{
    struct text_buffer b = {0};
    for (size_t i = 0; i < o->warning_count && i < MOST_TOLD; i++)
        text_buffer_format(&b, "%s%s", i ? "; " : "", o->warnings[i].symptom);
    if (o->warning_count > MOST_TOLD)
        text_buffer_format(&b, "; and %llu more", (unsigned long long)(o->warning_count - MOST_TOLD));
    if (!o->warning_count)
        text_buffer_add(&b, "nothing was found");
    if (b.text && !b.failed)
        report_journal(what, report, o->worst, b.text);
    const bool failed = b.failed;
    text_buffer_free(&b);
    return failed ? E_OUTOFMEMORY : S_OK;
}

/* Adds the faults to `notes`. The first fault also becomes an event. */
static HRESULT note_faults(const struct run_report *what, const char *report, const struct texts *faults, bool errors,
                           bool *journaled, struct texts *notes)
{
    HRESULT hr = S_OK;
    if (faults->count && errors && !*journaled) {
        report_journal(what, report, RULES_ERROR, faults->items[0]);
        *journaled = true;
    }
    for (size_t i = 0; i < faults->count && SUCCEEDED(hr); i++)
        hr = texts_add(notes, faults->items[i]);
    return hr;
}

/* Returns whether the rules may write a log with this name. Other names could overwrite a file of the run. */
static bool is_log_name(const char *name)
{
    return !path_names_fault(name) && !strpbrk(name, "/\\") &&
           (text_equal_nocase(path_extension(name), ".log") || text_equal_nocase(path_extension(name), ".txt"));
}

static HRESULT write_log(const struct run_report *what, const char *name, const char *log, struct texts *notes)
{
    struct file *f = NULL;
    if (!is_log_name(name)) {
        char *text = text_format(
            "Logging: invalid name '%.200s': expected a name that ends with .log or .txt, without a folder (using %s)",
            name, RULES_LOG_NAME);
        HRESULT hr = text ? texts_add_owned(notes, text) : E_OUTOFMEMORY;
        if (FAILED(hr))
            return hr;
        name = RULES_LOG_NAME;
    }
    char *path = path_join(what->folder, name);
    if (path)
        (void)run_files_add(what->root, what->folder, path,
                            false); /* a file that cannot be registered is kept by retention */
    HRESULT hr = path ? file_open_below(what->root, path, FILE_REPLACE, &f) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_write(f, log, strlen(log));
    file_close(f);
    memory_free(path);
    /* A failure only adds a note, because the report also contains the lines of the log. */
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        hr = texts_add(notes, error_keep(hr).text);
    return hr;
}

static HRESULT rules_apply_job(const struct run_report *what, const struct rules_job *job, struct texts *notes)
{
    struct rules_outcome o = {0};
    bool journaled = false;
    HRESULT hr = rules_apply(job, &o);
    if (SUCCEEDED(hr))
        hr = journal_warnings(what, job->report, &o);
    for (size_t i = 0; i < o.notice_count && SUCCEEDED(hr); i++)
        report_journal(what, job->report, o.notices[i].severity, o.notices[i].text);
    if (SUCCEEDED(hr))
        hr = note_faults(what, job->report, rules_errors(job->rules), true, &journaled, notes);
    if (SUCCEEDED(hr))
        hr = note_faults(what, job->report, &o.errors, true, &journaled, notes);
    if (SUCCEEDED(hr))
        hr = note_faults(what, job->report, rules_notes(job->rules), false, &journaled, notes);
    if (SUCCEEDED(hr))
        hr = note_faults(what, job->report, &o.notes, false, &journaled, notes);
    if (SUCCEEDED(hr) && o.log)
        hr = write_log(what, rules_log_name(job->rules), o.log, notes);
    rules_outcome_free(&o);
    return hr;
}

/* Applies the rules to the report, a file below RootPath. Writes findings and faults as events 3000 to 3002, and also
   adds faults to `notes`. If the rules request a log, writes the log beside the report. Calls `stop` often to ask
   whether the rules must stop; `stop` NULL: the rules never stop early. S_FALSE: the set has no rules.
   PLA_E_RULES_MANAGER_FAILED: no rule could run; the report is unchanged. */
static HRESULT run_rules_apply(const struct run_report *what, const char *report, bool (*stop)(void *context),
                               void *context, struct texts *notes)
{
    const struct data_manager *m = (const struct data_manager *)what->set->DataManager;
    if (!m->Rules[0])
        return S_FALSE;
    struct rules *r = rules_create();
    HRESULT hr = r ? rules_add(r, INLINE_RULES, m->Rules, strlen(m->Rules)) : E_OUTOFMEMORY;
    if (FAILED(hr) && hr != E_OUTOFMEMORY) {
        const struct error_kept why = error_keep(hr);
        hr = error_set(PLA_E_RULES_MANAGER_FAILED, "%s", why.text);
    }
    if (SUCCEEDED(hr))
        hr = rules_apply_job(
            what,
            &(struct rules_job){
                .rules = r, .report = report, .output = report, .base = what->root, .stop = stop, .context = context},
            notes);
    if (hr == PLA_E_RULES_MANAGER_FAILED) {
        const struct error_kept why = error_keep(hr);
        report_journal(what, report, RULES_ERROR, why.text);
        hr = error_restore(&why);
    }
    rules_free(r);
    return hr;
}

/* ---- the report ---- */

#define INLINE_SCHEMA "ReportSchema"

struct limit {
    uint64_t since; /* clock_monotonic_ms */
    uint32_t seconds;
};

static bool is_over(void *context)
{
    const struct limit *l = context;
    return clock_passed_ms(l->since, clock_monotonic_ms()) >= (uint64_t)l->seconds * 1000;
}

/* Returns the path of a file of the data manager. */
static HRESULT file_below(const struct run_report *what, const char *property, const char *name, char **out)
{
    const char *fault = path_names_fault(name);
    if (fault || log_is_log_name(name)) /* a report must not replace a log in the folder */
        return error_set(E_INVALIDARG, "%s: '%s': %s", property, name,
                         fault ? fault : "the extension of a log is not allowed");
    *out = path_join(what->folder, name);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* Fails if the file exists and is the output of a configuration collector. S_OK: the file may be written. */
static HRESULT check_replaced(const char *property, const char *path)
{
    char *computer = NULL;
    HRESULT hr = file_exists(path) ? report_configuration_is(path, &computer) : S_FALSE;
    memory_free(computer);
    if (hr == S_OK)
        return error_set(E_INVALIDARG, "%s: '%s': this file is the output of a configuration collector", property,
                         path_name(path));
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT add_schema(const struct data_manager *m, struct report_schema *s)
{
    HRESULT hr = m->ReportSchema[0] ? report_schema_add(s, INLINE_SCHEMA, m->ReportSchema, strlen(m->ReportSchema),
                                                        schema_file_load_of_set)
                                    : report_schema_add_file(s, SCHEMA_GENERAL, schema_file_load);
    if (SUCCEEDED(hr))
        report_schema_order(s);
    return hr;
}

/* Lists the input files. The report itself is never an input. In a shared folder only the files of this segment are
   inputs. */
static HRESULT find_inputs(const struct run_report *what, const char *path, struct texts *out)
{
    struct texts except = {0};
    const struct data_manager *m = (const struct data_manager *)what->set->DataManager;
    HRESULT hr = S_OK;
    for (size_t i = 0; what->files && SUCCEEDED(hr) && i < what->files->count; i++)
        if (what->files->items[i][0] && file_exists(what->files->items[i]))
            hr = texts_add(out, what->files->items[i]);
    if (what->files)
        return hr;
    const char *const names[] = {path_name(path), m->ReportFileName, m->EventsFileName};
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof names / sizeof *names; i++)
        if (names[i][0])
            hr = texts_add(&except, names[i]);
    if (SUCCEEDED(hr))
        hr = report_find_inputs(what->folder, &except, out);
    texts_free(&except);
    return hr;
}

/* Returns the path of EventsFileName, beside the report (MS-PLA 3.2.4.2); *out NULL: not requested. */
static HRESULT find_events_file(const struct run_report *what, const char *report, char **out)
{
    const struct data_manager *m = (const struct data_manager *)what->set->DataManager;
    *out = NULL;
    if (!m->EventsFileName[0])
        return S_OK;
    HRESULT hr = file_below(what, "EventsFileName", m->EventsFileName, out);
    if (SUCCEEDED(hr) && text_equal_nocase(*out, report))
        hr = error_set(E_INVALIDARG, "EventsFileName: '%s': the report has the same name", m->EventsFileName);
    return SUCCEEDED(hr) ? check_replaced("EventsFileName", *out) : hr;
}

/* Registers the file that is about to be created, and its draft, as files of the run. */
static HRESULT name_file(const struct run_report *what, const char *path)
{
    char *draft = text_format("%s.new", path);
    HRESULT hr = draft ? run_files_add(what->root, what->folder, path, false) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = run_files_add(what->root, what->folder, draft, false);
    memory_free(draft);
    return hr == E_OUTOFMEMORY ? hr : S_OK; /* a file that cannot be registered is kept by retention */
}

static HRESULT report_create(const struct run_report *what, struct limit *limit, const char *path, struct texts *notes)
{
    struct report_schema schema = {0};
    struct texts inputs = {0};
    struct counter_names *names = NULL;
    char *events;
    HRESULT hr = find_events_file(what, path, &events);
    if (SUCCEEDED(hr))
        hr = find_inputs(what, path, &inputs);
    if (SUCCEEDED(hr) && !inputs.count)
        hr = REPORT_NO_DATA;
    if (hr == S_OK)
        hr = name_file(what, path);
    if (hr == S_OK && events)
        hr = name_file(what, events);
    if (SUCCEEDED(hr))
        hr = add_schema((const struct data_manager *)what->set->DataManager, &schema);
    if (SUCCEEDED(hr))
        hr = counter_names_create(NULL, &names);
    if (SUCCEEDED(hr))
        hr = report_make(&(struct report_make){.inputs = &inputs,
                                               .schema = &schema,
                                               .output = path,
                                               .base = what->root,
                                               .events_output = events,
                                               .set = what->name,
                                               .names = names,
                                               .stop = is_over,
                                               .context = limit},
                         notes);
    counter_names_free(names);
    report_schema_free(&schema);
    texts_free(&inputs);
    memory_free(events);
    return hr;
}

/* Returns the path of the report page, which is always HTML regardless of its name (MS-PLA 2.2.3.4). */
static HRESULT find_page_file(const struct run_report *what, const char *report, char **out)
{
    const struct data_manager *m = (const struct data_manager *)what->set->DataManager;
    const char *name = m->ReportFileName[0] ? m->ReportFileName : PAGE_FILE_NAME;
    HRESULT hr = file_below(what, "ReportFileName", name, out);
    if (SUCCEEDED(hr) &&
        (text_equal_nocase(path_name(*out), path_name(report)) || text_equal_nocase(name, m->EventsFileName)))
        hr = error_set(E_INVALIDARG, "ReportFileName: '%s': the report document or the events file has the same name",
                       name);
    return SUCCEEDED(hr) ? check_replaced("ReportFileName", *out) : hr;
}

static HRESULT make_page(const struct run_report *what, struct limit *limit, const char *report, const char *page,
                         struct texts *notes)
{
    char *sheet = NULL;
    HRESULT hr =
        setting_read_text(&((struct data_collector_set *)what->set)->object, NULL, SETTING_ReportSheet, &sheet);
    if (SUCCEEDED(hr) && !file_exists(report))
        hr = S_FALSE;
    else if (SUCCEEDED(hr))
        hr = name_file(what, page);
    if (hr == S_OK) {
        hr = page_make(&(struct page_make){.report = report,
                                           .output = page,
                                           .base = what->root,
                                           .sheet = *sheet ? sheet : NULL,
                                           .stop = is_over,
                                           .context = limit},
                       notes);
        if (FAILED(hr))
            hr = error_prefix(hr, "the page '%s'", path_name(page));
    }
    memory_free(sheet);
    return hr;
}

/* Applies the rules. If the rules fail, the report is kept, and the failure becomes a note and event 3002. */
static HRESULT apply_rules(const struct run_report *what, struct limit *limit, const char *path, struct texts *notes)
{
    HRESULT hr = run_rules_apply(what, path, is_over, limit, notes);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
        return FAILED(hr) ? hr : S_OK;
    const struct error_kept why = error_keep(hr);
    char *text = text_format("Rules: %s", why.text);
    return text ? texts_add_owned(notes, text) : E_OUTOFMEMORY;
}

HRESULT run_report_make(const struct run_report *what, char **path, struct texts *notes)
{
    const struct data_manager *m = (const struct data_manager *)what->set->DataManager;
    struct limit limit = {.since = clock_monotonic_ms()};
    bool has_data = true;
    *path = NULL;
    HRESULT hr = setting_read(&((struct data_collector_set *)what->set)->object, SETTING_ReportTimeout, &limit.seconds);
    if (SUCCEEDED(hr) && !limit.seconds)
        limit.seconds = REPORT_TIMEOUT_USUAL;
    if (SUCCEEDED(hr))
        hr = file_below(what, "RuleTargetFileName", m->RuleTargetFileName[0] ? m->RuleTargetFileName : REPORT_FILE_NAME,
                        path);
    if (SUCCEEDED(hr)) /* the folder exists, so this call only checks the folder's location */
        hr = folder_create_below(what->root, what->folder);
    if (SUCCEEDED(hr))
        hr = check_replaced("RuleTargetFileName", *path);
    char *page = NULL;
    if (SUCCEEDED(hr) && what->steps & STEP_CREATE_HTML)
        hr = find_page_file(what, *path, &page);
    if (SUCCEEDED(hr) && what->steps & STEP_CREATE_REPORT)
        hr = report_create(what, &limit, *path, notes);
    /* The next two steps use the existing report, old or new (MS-PLA 2.2.2.6). However, if runs share the folder, an
       old report does not belong to the files of this segment. */
    if (hr == REPORT_NO_DATA) {
        has_data = false;
        hr = S_OK;
    }
    const bool report_is_ours = has_data || !what->files;
    if (SUCCEEDED(hr) && report_is_ours && what->steps & STEP_RUN_RULES)
        hr = file_exists(*path) ? apply_rules(what, &limit, *path, notes) : S_FALSE;
    if (SUCCEEDED(hr) && report_is_ours && page)
        hr = make_page(what, &limit, *path, page, notes);
    memory_free(page);
    if (FAILED(hr) && is_over(&limit))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT),
                       "creating the report took longer than %u s (OpenPLA.ReportTimeout)", (unsigned)limit.seconds);
    return SUCCEEDED(hr) && !has_data ? S_FALSE : hr;
}
