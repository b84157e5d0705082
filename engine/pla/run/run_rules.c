/* SPDX-License-Identifier: MIT */
#include "engine/pla/run/run_rules.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/pla/retention/folder_record.h"
#include "engine/pla/run/run_journal.h"
#include "engine/report/rules.h"

#include <string.h>

#define INLINE_RULES "Rules"

enum { MOST_TOLD = 5 }; /* symptoms of one event */

static void tell(const struct run_report *what, const char *report, enum rules_severity severity, const char *text)
{
    static const enum journal_id ids[] = {JOURNAL_REPORT_NOTE, JOURNAL_REPORT_NOTE, JOURNAL_REPORT_WARNING,
                                          JOURNAL_REPORT_ERROR};
    journal_write(ids[severity], &(struct journal_facts){.name = what->name, .file = report, .reason = text});
}

/* One event for all warnings, by the worst of them. */
static HRESULT tell_warnings(const struct run_report *what, const char *report, const struct rules_outcome *o)
{
    struct text_buffer b = {0};
    for (size_t i = 0; i < o->warning_count && i < MOST_TOLD; i++)
        text_buffer_format(&b, "%s%s", i ? "; " : "", o->warnings[i].symptom);
    if (o->warning_count > MOST_TOLD)
        text_buffer_format(&b, "; and %llu more", (unsigned long long)(o->warning_count - MOST_TOLD));
    if (!o->warning_count)
        text_buffer_add(&b, "nothing was found");
    if (b.text && !b.failed)
        tell(what, report, o->worst, b.text);
    const bool failed = b.failed;
    text_buffer_free(&b);
    return failed ? E_OUTOFMEMORY : S_OK;
}

/* The first of what was wrong is an event too. */
static HRESULT tell_faults(const struct run_report *what, const char *report, const struct texts *faults, bool errors,
                           bool *told, struct texts *remarks)
{
    HRESULT hr = S_OK;
    if (faults->count && errors && !*told) {
        tell(what, report, RULES_ERROR, faults->items[0]);
        *told = true;
    }
    for (size_t i = 0; i < faults->count && SUCCEEDED(hr); i++)
        hr = texts_add(remarks, faults->items[i]);
    return hr;
}

/* A name that is another file of the run would cost that file. */
static bool is_log_name(const char *name)
{
    return !path_names_fault(name) && !strpbrk(name, "/\\") &&
           (text_equal_nocase(path_extension(name), ".log") || text_equal_nocase(path_extension(name), ".txt"));
}

static HRESULT write_log(const struct run_report *what, const char *name, const char *log, struct texts *remarks)
{
    struct file *f = NULL;
    if (!is_log_name(name)) {
        char *text = text_format("Logging: \"%.200s\" is no name of a log (.log, .txt) beside the report; it is %s",
                                 name, RULES_LOG_NAME);
        HRESULT hr = text ? texts_give(remarks, text) : E_OUTOFMEMORY;
        if (FAILED(hr))
            return hr;
        name = RULES_LOG_NAME;
    }
    char *path = path_join(what->folder, name);
    if (path)
        (void)run_files_add(what->root, what->folder, path, false); /* one that cannot be named is kept */
    HRESULT hr = path ? file_open_below(what->root, path, FILE_REPLACE, &f) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_write(f, log, strlen(log));
    file_close(f);
    memory_free(path);
    if (FAILED(hr) && hr != E_OUTOFMEMORY) /* the report says the same, and more */
        hr = texts_add(remarks, error_keep(hr).text);
    return hr;
}

static HRESULT apply(const struct run_report *what, const struct rules_job *job, struct texts *remarks)
{
    struct rules_outcome o = {0};
    bool told = false;
    HRESULT hr = rules_apply(job, &o);
    if (SUCCEEDED(hr))
        hr = tell_warnings(what, job->report, &o);
    for (size_t i = 0; i < o.notice_count && SUCCEEDED(hr); i++)
        tell(what, job->report, o.notices[i].severity, o.notices[i].text);
    if (SUCCEEDED(hr))
        hr = tell_faults(what, job->report, rules_errors(job->rules), true, &told, remarks);
    if (SUCCEEDED(hr))
        hr = tell_faults(what, job->report, &o.errors, true, &told, remarks);
    if (SUCCEEDED(hr))
        hr = tell_faults(what, job->report, rules_remarks(job->rules), false, &told, remarks);
    if (SUCCEEDED(hr))
        hr = tell_faults(what, job->report, &o.remarks, false, &told, remarks);
    if (SUCCEEDED(hr) && o.log)
        hr = write_log(what, rules_log_name(job->rules), o.log, remarks);
    rules_outcome_free(&o);
    return hr;
}

HRESULT run_rules_apply(const struct run_report *what, const char *report, bool (*stop)(void *context), void *context,
                        struct texts *remarks)
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
        hr = apply(
            what,
            &(struct rules_job){
                .rules = r, .report = report, .output = report, .base = what->root, .stop = stop, .context = context},
            remarks);
    if (hr == PLA_E_RULES_MANAGER_FAILED) {
        const struct error_kept why = error_keep(hr);
        tell(what, report, RULES_ERROR, why.text);
        hr = error_restore(&why);
    }
    rules_free(r);
    return hr;
}
