/* SPDX-License-Identifier: MIT */
/* The table of events, and the conversion of events to messages. */
#include "engine/pla/run/run_journal.h"

#include "engine/base/memory.h"
#include "engine/base/windows_services.h"
#include "engine/logs/journal.h"

#include <stdio.h>
#include <inttypes.h>

enum fact {
    FACT_NONE, /* ends the list of fields */
    FACT_NAME,
    FACT_KEY,
    FACT_USER,
    FACT_ERROR,
    FACT_TASK,
    FACT_COUNTER,
    FACT_COLLECTOR,
    FACT_FILE,
    FACT_REASON,
    FACT_VALUE,
    FACT_OPERATOR,
    FACT_THRESHOLD,
    FACT_SERVER,
    FACT_COUNT,
    FACT_ACTION,
    FACTS
};
/* The field names in OpenPLA's events, and those of additional fields in Windows' events. */
static const char *const fact_names[FACTS] = {
    [FACT_NAME] = "Name",           [FACT_KEY] = "Key",           [FACT_USER] = "User",
    [FACT_ERROR] = "Error",         [FACT_TASK] = "TaskName",     [FACT_COUNTER] = "CounterName",
    [FACT_COLLECTOR] = "Collector", [FACT_FILE] = "File",         [FACT_REASON] = "Reason",
    [FACT_VALUE] = "Value",         [FACT_OPERATOR] = "Operator", [FACT_THRESHOLD] = "Threshold",
    [FACT_SERVER] = "ServerName",   [FACT_COUNT] = "Count",       [FACT_ACTION] = "Action",
};

#define FIELDS_MAX 5
static const struct journal_row {
    enum journal_id id;
    enum journal_level level;
    const char *message;
    struct {
        enum fact fact;
        const char *name; /* NULL: the event uses the name in fact_names */
    } fields[FIELDS_MAX + 1];
} rows[] = {
    {JOURNAL_SET_CREATED, JOURNAL_INFORMATION, "The set was created", {{FACT_NAME, NULL}, {FACT_USER, NULL}}},
    {JOURNAL_SET_CHANGED, JOURNAL_INFORMATION, "The set was changed", {{FACT_NAME, NULL}, {FACT_USER, NULL}}},
    {JOURNAL_SET_DELETED, JOURNAL_INFORMATION, "The set was deleted", {{FACT_NAME, NULL}, {FACT_USER, NULL}}},
    {JOURNAL_STARTED,
     JOURNAL_INFORMATION,
     "The set was started",
     {{FACT_NAME, NULL}, {FACT_KEY, NULL}, {FACT_USER, NULL}}},
    {JOURNAL_START_FAILED,
     JOURNAL_ERROR,
     "The set could not be started",
     {{FACT_NAME, NULL}, {FACT_KEY, NULL}, {FACT_USER, NULL}, {FACT_ERROR, NULL}}},
    {JOURNAL_STOPPED, JOURNAL_INFORMATION, "The set stopped", {{FACT_NAME, NULL}}},
    {JOURNAL_STOPPED_BY_ERROR,
     JOURNAL_ERROR,
     "The set stopped because of an error",
     {{FACT_NAME, NULL}, {FACT_ERROR, NULL}}},
    {JOURNAL_TASK_STARTED, JOURNAL_INFORMATION, "The set's task was started", {{FACT_NAME, NULL}, {FACT_TASK, NULL}}},
    {JOURNAL_TASK_FAILED,
     JOURNAL_ERROR,
     "The set's task failed",
     {{FACT_NAME, NULL}, {FACT_TASK, NULL}, {FACT_ERROR, NULL}}},
    {JOURNAL_COUNTER_DROPPED,
     JOURNAL_ERROR,
     "A counter is not collected",
     {{FACT_NAME, NULL}, {FACT_COUNTER, NULL}, {FACT_ERROR, NULL}}},
    /* "DataCollecotrSet" is the spelling of Windows' event provider. */
    {JOURNAL_CONFIGURATION_DONE,
     JOURNAL_INFORMATION,
     "A configuration collector is complete",
     {{FACT_NAME, "DataCollecotrSet"}, {FACT_COLLECTOR, "Name"}}},
    {JOURNAL_COMPILING, JOURNAL_INFORMATION, "The data manager is processing the set's data", {{FACT_NAME, NULL}}},
    {JOURNAL_SEGMENTED, JOURNAL_INFORMATION, "The set started a new segment", {{FACT_NAME, NULL}}},
    {JOURNAL_ALERT_TASK_FAILED,
     JOURNAL_ERROR,
     "An alert could not start its task",
     {{FACT_NAME, "DataCollecotrSet"}, {FACT_COLLECTOR, "Name"}, {FACT_ERROR, NULL}}},
    {JOURNAL_ALERT_TRIGGER_FAILED,
     JOURNAL_ERROR,
     "An alert could not start its set",
     {{FACT_NAME, "DataCollecotrSet"}, {FACT_COLLECTOR, "Name"}, {FACT_ERROR, NULL}}},
    {JOURNAL_ALERT_EVENT_FAILED,
     JOURNAL_ERROR,
     "An alert could not write its event",
     {{FACT_NAME, "DataCollecotrSet"}, {FACT_COLLECTOR, "Name"}, {FACT_ERROR, NULL}}},
    {JOURNAL_CABINET_NOT_SENT,
     JOURNAL_ERROR,
     "A cabinet was not sent",
     {{FACT_SERVER, NULL}, {FACT_FILE, "CabName"}, {FACT_ERROR, NULL}}},
    {JOURNAL_ALERT,
     JOURNAL_INFORMATION,
     "A value crossed its threshold",
     {{FACT_COUNTER, "Counter"},
      {FACT_VALUE, NULL},
      {FACT_OPERATOR, NULL},
      {FACT_THRESHOLD, NULL},
      {FACT_REASON, "Message"}}},
    {JOURNAL_REPORT_NOTE,
     JOURNAL_INFORMATION,
     "Rules added a note to a report",
     {{FACT_FILE, "ReportFileName"}, {FACT_REASON, "Description"}}},
    {JOURNAL_REPORT_WARNING,
     JOURNAL_WARNING,
     "Rules added a warning to a report",
     {{FACT_FILE, "ReportFileName"}, {FACT_REASON, "Description"}}},
    {JOURNAL_REPORT_ERROR,
     JOURNAL_ERROR,
     "Rules added an error to a report",
     {{FACT_FILE, "ReportFileName"}, {FACT_REASON, "Description"}}},
    {JOURNAL_SAMPLES_LOST,
     JOURNAL_WARNING,
     "Samples were lost",
     {{FACT_NAME, NULL}, {FACT_COLLECTOR, NULL}, {FACT_COUNT, NULL}, {FACT_ERROR, NULL}}},
    {JOURNAL_START_MISSED, JOURNAL_WARNING, "A scheduled start was missed", {{FACT_NAME, NULL}}},
    {JOURNAL_STARTED_AGAIN, JOURNAL_INFORMATION, "The set is restarted", {{FACT_NAME, NULL}}},
    {JOURNAL_EXPIRED,
     JOURNAL_INFORMATION,
     "The set is stopped because its schedules have expired",
     {{FACT_NAME, NULL}}},
    {JOURNAL_UPDATED, JOURNAL_INFORMATION, "The running set uses its new definition", {{FACT_NAME, NULL}}},
    {JOURNAL_RECORD_NOT_WRITTEN,
     JOURNAL_WARNING,
     "The end of a run could not be written to its record",
     {{FACT_NAME, NULL}, {FACT_ERROR, NULL}}},
    {JOURNAL_SET_DAMAGED,
     JOURNAL_ERROR,
     "A stored set cannot be read; its schedules are suspended",
     {{FACT_NAME, NULL}, {FACT_FILE, NULL}, {FACT_ERROR, NULL}}},
    {JOURNAL_SUPERVISOR_KEPT_OUT, JOURNAL_ERROR, "The supervisor of sets cannot start", {{FACT_FILE, NULL}}},
    {JOURNAL_ALERTS_DROPPED, JOURNAL_WARNING, "Alert actions were dropped", {{FACT_NAME, NULL}, {FACT_COUNT, NULL}}},
    {JOURNAL_ALERT_CLEAR,
     JOURNAL_INFORMATION,
     "A value is no longer beyond its threshold",
     {{FACT_COUNTER, "Counter"},
      {FACT_VALUE, NULL},
      {FACT_OPERATOR, NULL},
      {FACT_THRESHOLD, NULL},
      {FACT_REASON, "Message"}}},
    {JOURNAL_REFUSED,
     JOURNAL_WARNING,
     "A caller was denied access",
     {{FACT_NAME, NULL}, {FACT_USER, NULL}, {FACT_REASON, NULL}, {FACT_COUNT, NULL}}},
    {JOURNAL_STOP_ASKED, JOURNAL_INFORMATION, "A client stopped the set", {{FACT_NAME, NULL}, {FACT_USER, NULL}}},
    {JOURNAL_REPORT_MADE,
     JOURNAL_INFORMATION,
     "The report of a run was created",
     {{FACT_NAME, NULL}, {FACT_FILE, NULL}, {FACT_COUNT, "Remarks"}}},
    {JOURNAL_REPORT_FAILED,
     JOURNAL_ERROR,
     "The report of a run could not be created",
     {{FACT_NAME, NULL}, {FACT_FILE, NULL}, {FACT_ERROR, NULL}}},
    {JOURNAL_FOLDER_STEP,
     JOURNAL_INFORMATION,
     "The data manager processed the folder of a run",
     {{FACT_NAME, NULL}, {FACT_FILE, "Folder"}, {FACT_ACTION, NULL}, {FACT_REASON, NULL}, {FACT_COUNT, "Bytes"}}},
    {JOURNAL_FOLDER_STEP_FAILED,
     JOURNAL_WARNING,
     "The data manager could not process the folder of a run",
     {{FACT_NAME, NULL}, {FACT_FILE, "Folder"}, {FACT_ACTION, NULL}, {FACT_ERROR, NULL}}},
    {JOURNAL_LIMIT_NOT_HELD,
     JOURNAL_WARNING,
     "A limit for run folders is exceeded",
     {{FACT_NAME, NULL}, {FACT_FILE, "Folder"}, {FACT_REASON, NULL}}},
    {JOURNAL_FOLDER_KEPT,
     JOURNAL_INFORMATION,
     "The data manager kept foreign files in the folder of a run",
     {{FACT_NAME, NULL}, {FACT_FILE, "Folder"}, {FACT_REASON, NULL}, {FACT_COUNT, "Files"}}},
    {JOURNAL_EXPORT_FAILED,
     JOURNAL_WARNING,
     "Counters of the set could not be exported",
     {{FACT_NAME, NULL}, {FACT_SERVER, NULL}, {FACT_ERROR, NULL}, {FACT_REASON, NULL}}},
    {JOURNAL_EXPORT_RESUMED,
     JOURNAL_INFORMATION,
     "The server accepts the counters of the set again",
     {{FACT_NAME, NULL}, {FACT_SERVER, NULL}}},
};

static const struct journal_row *row_of(enum journal_id id)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

static const char *field_name(const struct journal_row *row, size_t i)
{
    return row->fields[i].name ? row->fields[i].name : fact_names[row->fields[i].fact];
}

static bool is_number(enum fact fact)
{
    return fact == FACT_ERROR || fact == FACT_COUNT;
}

/* Returns the set's name for events, with the namespace unless that is "Service". From memory_alloc. */
static char *set_name(const struct journal_facts *f)
{
    if (!f->name || !f->space || text_equal_nocase(f->space, "Service"))
        return f->name ? text_copy(f->name) : NULL;
    return text_format("%s\\%s", f->space, f->name);
}

struct words {
    char *name, *error, *count;
};

static const char *word_of(const struct journal_facts *f, const struct words *w, enum fact fact)
{
    const char *const words[FACTS] = {
        [FACT_NAME] = w->name,           [FACT_KEY] = f->key,
        [FACT_USER] = f->user,           [FACT_ERROR] = w->error,
        [FACT_TASK] = f->task,           [FACT_COUNTER] = f->counter,
        [FACT_COLLECTOR] = f->collector, [FACT_FILE] = f->file,
        [FACT_REASON] = f->reason,       [FACT_VALUE] = f->value,
        [FACT_OPERATOR] = f->comparison, [FACT_THRESHOLD] = f->threshold,
        [FACT_SERVER] = f->server,       [FACT_COUNT] = w->count,
        [FACT_ACTION] = f->action,
    };
    return words[fact];
}

static bool is_official(const struct journal_row *row, enum fact fact)
{
    for (size_t i = 0; row->fields[i].fact; i++)
        if (row->fields[i].fact == fact)
            return true;
    return false;
}

static HRESULT to_file(const struct journal_row *row, const struct journal_facts *f, const struct words *w)
{
    struct journal_entry record = {.id = row->id, .level = row->level, .message = row->message};
    for (size_t i = 0; row->fields[i].fact; i++) {
        const char *word = word_of(f, w, row->fields[i].fact);
        record.fields[record.count++] = (struct journal_field){field_name(row, i), word ? word : ""};
    }
    for (enum fact fact = FACT_NAME; fact < FACTS && record.count < JOURNAL_FIELDS_MAX; fact++) {
        const char *word = is_official(row, fact) ? NULL : word_of(f, w, fact);
        if (word && word[0])
            record.fields[record.count++] = (struct journal_field){fact_names[fact], word};
    }
    char *folder = journal_folder();
    HRESULT hr = folder ? journal_append(folder, &record) : E_OUTOFMEMORY;
    memory_free(folder);
    return hr;
}

static void to_system(const struct journal_row *row, const struct journal_facts *f, const struct words *w)
{
    struct event_log_field fields[FIELDS_MAX];
    size_t count = 0;
    for (; row->fields[count].fact; count++) {
        enum fact fact = row->fields[count].fact;
        const char *word = word_of(f, w, fact);
        fields[count] = is_number(fact) ? (struct event_log_field){NULL, (uint32_t)f->error}
                                        : (struct event_log_field){word ? word : "", 0};
    }
    event_log_write(row->id, (uint8_t)row->level, fields, count);
}

HRESULT journal_write(enum journal_id id, const struct journal_facts *f)
{
    const struct journal_row *row = row_of(id);
    if (!row)
        return E_INVALIDARG;
    bool failed = FAILED(f->error);
    struct error_kept why = error_keep(f->error);
    struct words w = {set_name(f),
                      failed || is_official(row, FACT_ERROR) ? text_format("0x%08X", (unsigned)f->error) : NULL,
                      f->count ? text_format("%" PRIu64, f->count) : NULL};
    struct journal_facts all = *f;
    if (failed && !all.reason)
        all.reason = why.text;
    HRESULT hr = to_file(row, &all, &w);
    if (id < JOURNAL_SAMPLES_LOST)
        to_system(row, &all, &w);
    memory_free(w.name);
    memory_free(w.error);
    memory_free(w.count);
    if (failed)
        error_restore(&why);
    return hr;
}
