/* SPDX-License-Identifier: MIT */
/* The table of events, and how one is put into words. */
#include "engine/run/events.h"

#include "engine/log/event_file.h"
#include "engine/os/clock.h"
#include "engine/os/memory.h"
#include "engine/os/system_events.h"

#include <stdio.h>
#include <inttypes.h>
#include <string.h>

enum fact {
    FACT_NONE, /* ends a row */
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
    FACTS
};
/* As our own events and the additions call them. */
static const char *const fact_names[FACTS] = {
    [FACT_NAME] = "Name",           [FACT_KEY] = "Key",           [FACT_USER] = "User",
    [FACT_ERROR] = "Error",         [FACT_TASK] = "TaskName",     [FACT_COUNTER] = "CounterName",
    [FACT_COLLECTOR] = "Collector", [FACT_FILE] = "File",         [FACT_REASON] = "Reason",
    [FACT_VALUE] = "Value",         [FACT_OPERATOR] = "Operator", [FACT_THRESHOLD] = "Threshold",
    [FACT_SERVER] = "ServerName",   [FACT_COUNT] = "Count",
};

#define FIELDS_MAX 5
static const struct event_row {
    enum event_id id;
    enum event_level level;
    const char *message;
    struct {
        enum fact fact;
        const char *name; /* NULL: that of the fact */
    } fields[FIELDS_MAX + 1];
} rows[] = {
    {EVENT_SET_CREATED, EVENT_INFORMATION, "The set was created", {{FACT_NAME, NULL}, {FACT_USER, NULL}}},
    {EVENT_SET_CHANGED, EVENT_INFORMATION, "The set was changed", {{FACT_NAME, NULL}, {FACT_USER, NULL}}},
    {EVENT_SET_DELETED, EVENT_INFORMATION, "The set was deleted", {{FACT_NAME, NULL}, {FACT_USER, NULL}}},
    {EVENT_STARTED, EVENT_INFORMATION, "The set was started", {{FACT_NAME, NULL}, {FACT_KEY, NULL}, {FACT_USER, NULL}}},
    {EVENT_START_FAILED,
     EVENT_ERROR,
     "The set could not be started",
     {{FACT_NAME, NULL}, {FACT_KEY, NULL}, {FACT_USER, NULL}, {FACT_ERROR, NULL}}},
    {EVENT_STOPPED, EVENT_INFORMATION, "The set has stopped", {{FACT_NAME, NULL}}},
    {EVENT_STOPPED_BY_ERROR, EVENT_ERROR, "An error ended the set", {{FACT_NAME, NULL}, {FACT_ERROR, NULL}}},
    {EVENT_TASK_STARTED, EVENT_INFORMATION, "The set's task was started", {{FACT_NAME, NULL}, {FACT_TASK, NULL}}},
    {EVENT_TASK_FAILED,
     EVENT_ERROR,
     "The set's task could not be started",
     {{FACT_NAME, NULL}, {FACT_TASK, NULL}, {FACT_ERROR, NULL}}},
    {EVENT_COUNTER_DROPPED,
     EVENT_ERROR,
     "A counter is not collected",
     {{FACT_NAME, NULL}, {FACT_COUNTER, NULL}, {FACT_ERROR, NULL}}},
    /* The provider's own spelling of its field. */
    {EVENT_CONFIGURATION_DONE,
     EVENT_INFORMATION,
     "A configuration collector is complete",
     {{FACT_NAME, "DataCollecotrSet"}, {FACT_COLLECTOR, "Name"}}},
    {EVENT_COMPILING, EVENT_INFORMATION, "The set's data is compiled", {{FACT_NAME, NULL}}},
    {EVENT_SEGMENTED, EVENT_INFORMATION, "The set has begun a new segment", {{FACT_NAME, NULL}}},
    {EVENT_ALERT_TASK_FAILED,
     EVENT_ERROR,
     "An alert could not start its task",
     {{FACT_NAME, "DataCollecotrSet"}, {FACT_COLLECTOR, "Name"}, {FACT_ERROR, NULL}}},
    {EVENT_ALERT_TRIGGER_FAILED,
     EVENT_ERROR,
     "An alert could not start its set",
     {{FACT_NAME, "DataCollecotrSet"}, {FACT_COLLECTOR, "Name"}, {FACT_ERROR, NULL}}},
    {EVENT_ALERT_EVENT_FAILED,
     EVENT_ERROR,
     "An alert could not write its event",
     {{FACT_NAME, "DataCollecotrSet"}, {FACT_COLLECTOR, "Name"}, {FACT_ERROR, NULL}}},
    {EVENT_CABINET_NOT_SENT,
     EVENT_ERROR,
     "A cabinet was not sent",
     {{FACT_SERVER, NULL}, {FACT_FILE, "CabName"}, {FACT_ERROR, NULL}}},
    {EVENT_ALERT,
     EVENT_INFORMATION,
     "A threshold was crossed",
     {{FACT_COUNTER, "Counter"},
      {FACT_VALUE, NULL},
      {FACT_OPERATOR, NULL},
      {FACT_THRESHOLD, NULL},
      {FACT_REASON, "Message"}}},
    {EVENT_REPORT_NOTE,
     EVENT_INFORMATION,
     "The rules of a report have a note",
     {{FACT_FILE, "ReportFileName"}, {FACT_REASON, "Description"}}},
    {EVENT_REPORT_WARNING,
     EVENT_WARNING,
     "The rules of a report have a warning",
     {{FACT_FILE, "ReportFileName"}, {FACT_REASON, "Description"}}},
    {EVENT_REPORT_ERROR,
     EVENT_ERROR,
     "The rules of a report have an error",
     {{FACT_FILE, "ReportFileName"}, {FACT_REASON, "Description"}}},
    {EVENT_SAMPLES_LOST,
     EVENT_WARNING,
     "Samples were lost",
     {{FACT_NAME, NULL}, {FACT_COLLECTOR, NULL}, {FACT_COUNT, NULL}, {FACT_ERROR, NULL}}},
    {EVENT_START_MISSED, EVENT_WARNING, "A scheduled start was missed", {{FACT_NAME, NULL}}},
    {EVENT_STARTED_AGAIN, EVENT_INFORMATION, "The set is started again", {{FACT_NAME, NULL}}},
    {EVENT_EXPIRED, EVENT_INFORMATION, "The set is stopped as its schedules have expired", {{FACT_NAME, NULL}}},
    {EVENT_UPDATED, EVENT_INFORMATION, "The running set has taken up its new definition", {{FACT_NAME, NULL}}},
    {EVENT_RECORD_NOT_WRITTEN,
     EVENT_WARNING,
     "The end of a run cannot be noted in its record",
     {{FACT_NAME, NULL}, {FACT_ERROR, NULL}}},
};

static const struct event_row *row_of(enum event_id id)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

static const char *field_name(const struct event_row *row, size_t i)
{
    return row->fields[i].name ? row->fields[i].name : fact_names[row->fields[i].fact];
}

const char *event_field_names(enum event_id id)
{
    static _Thread_local char names[128];
    const struct event_row *row = row_of(id);
    size_t length = 0;
    names[0] = 0;
    for (size_t i = 0; row && row->fields[i].fact && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s,", field_name(row, i));
    return row ? names : NULL;
}

static bool is_number(enum fact fact)
{
    return fact == FACT_ERROR || fact == FACT_COUNT;
}

/* What the set is called in events: the namespace only where it is not the usual one. From memory_alloc. */
static char *set_name(const struct event_facts *f)
{
    if (!f->name || !f->space || text_equal_nocase(f->space, "Service"))
        return f->name ? text_copy(f->name) : NULL;
    return text_format("%s\\%s", f->space, f->name);
}

struct words {
    char *name, *error, *count;
};

static const char *word_of(const struct event_facts *f, const struct words *w, enum fact fact)
{
    const char *const words[FACTS] = {
        [FACT_NAME] = w->name,
        [FACT_KEY] = f->key,
        [FACT_USER] = f->user,
        [FACT_ERROR] = w->error,
        [FACT_TASK] = f->task,
        [FACT_COUNTER] = f->counter,
        [FACT_COLLECTOR] = f->collector,
        [FACT_FILE] = f->file,
        [FACT_REASON] = f->reason,
        [FACT_VALUE] = f->value,
        [FACT_OPERATOR] = f->operator,
        [FACT_THRESHOLD] = f->threshold,
        [FACT_SERVER] = f->server,
        [FACT_COUNT] = w->count,
    };
    return words[fact];
}

static bool is_official(const struct event_row *row, enum fact fact)
{
    for (size_t i = 0; row->fields[i].fact; i++)
        if (row->fields[i].fact == fact)
            return true;
    return false;
}

static void to_file(const struct event_row *row, const struct event_facts *f, const struct words *w)
{
    struct event_record record = {.utc = clock_utc(), .id = row->id, .level = row->level, .message = row->message};
    for (size_t i = 0; row->fields[i].fact; i++) {
        const char *word = word_of(f, w, row->fields[i].fact);
        record.fields[record.count++] = (struct event_field){field_name(row, i), word ? word : ""};
    }
    for (enum fact fact = FACT_NAME; fact < FACTS && record.count < EVENT_FIELDS_MAX; fact++) {
        const char *word = is_official(row, fact) ? NULL : word_of(f, w, fact);
        if (word && word[0])
            record.fields[record.count++] = (struct event_field){fact_names[fact], word};
    }
    char *folder = event_folder();
    if (folder)
        event_file_append(folder, &record);
    memory_free(folder);
}

static void to_system(const struct event_row *row, const struct event_facts *f, const struct words *w)
{
    struct system_event_field fields[FIELDS_MAX];
    size_t count = 0;
    for (; row->fields[count].fact; count++) {
        enum fact fact = row->fields[count].fact;
        const char *word = word_of(f, w, fact);
        fields[count] = is_number(fact) ? (struct system_event_field){NULL, (uint32_t)f->error}
                                        : (struct system_event_field){word ? word : "", 0};
    }
    system_event_write(row->id, (uint8_t)row->level, fields, count);
}

void event_write(enum event_id id, const struct event_facts *f)
{
    const struct event_row *row = row_of(id);
    if (!row)
        return;
    bool failed = FAILED(f->error);
    char *text = failed ? text_copy(error_text(f->error)) : NULL;
    struct words w = {set_name(f),
                      failed || is_official(row, FACT_ERROR) ? text_format("0x%08X", (unsigned)f->error) : NULL,
                      f->count ? text_format("%" PRIu64, f->count) : NULL};
    struct event_facts all = *f;
    if (failed && !all.reason)
        all.reason = text;
    to_file(row, &all, &w);
    if (id < EVENT_SAMPLES_LOST)
        to_system(row, &all, &w);
    memory_free(w.name);
    memory_free(w.error);
    memory_free(w.count);
    if (text)
        error_set(f->error, "%s", text);
    memory_free(text);
}
