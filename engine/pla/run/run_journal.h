/* SPDX-License-Identifier: MIT */
/* Writes events about runs, with the ids and fields of Windows' PLA, and further ids of OpenPLA. */
#ifndef OPENPLA_RUN_JOURNAL_H
#define OPENPLA_RUN_JOURNAL_H

#include "engine/base/text.h"

/* Ids below 9000 belong to the event provider Microsoft-Windows-Diagnosis-PLA (behaviour 19). */
enum journal_id {
    JOURNAL_SET_CREATED = 1000,
    JOURNAL_SET_CHANGED = 1001,
    JOURNAL_SET_DELETED = 1002,
    JOURNAL_STARTED = 1003,
    JOURNAL_START_FAILED = 1004,
    JOURNAL_STOPPED = 1005,
    JOURNAL_STOPPED_BY_ERROR = 1006,
    JOURNAL_TASK_STARTED = 1007,
    JOURNAL_TASK_FAILED = 1008,
    JOURNAL_COUNTER_DROPPED = 1010,
    JOURNAL_CONFIGURATION_DONE = 1011,
    JOURNAL_COMPILING = 1012,
    JOURNAL_SEGMENTED = 1013,
    JOURNAL_ALERT_TASK_FAILED = 1014,
    JOURNAL_ALERT_TRIGGER_FAILED = 1015,
    JOURNAL_ALERT_EVENT_FAILED = 1016,
    JOURNAL_CABINET_NOT_SENT = 1017,
    JOURNAL_ALERT = 2031,
    JOURNAL_REPORT_NOTE = 3000,
    JOURNAL_REPORT_WARNING = 3001,
    JOURNAL_REPORT_ERROR = 3002,
    JOURNAL_SAMPLES_LOST = 9001,
    JOURNAL_START_MISSED = 9002,
    JOURNAL_STARTED_AGAIN = 9003,
    JOURNAL_EXPIRED = 9004,
    JOURNAL_UPDATED = 9005,
    JOURNAL_RECORD_NOT_WRITTEN = 9006,
    JOURNAL_SET_DAMAGED = 9007,
    JOURNAL_SUPERVISOR_KEPT_OUT = 9008,
    JOURNAL_ALERTS_DROPPED = 9011,
    JOURNAL_ALERT_CLEAR = 9012,
    JOURNAL_REFUSED = 9020,
    JOURNAL_STOP_ASKED = 9021,
    JOURNAL_REPORT_MADE = 9022,
    JOURNAL_REPORT_FAILED = 9023,
    JOURNAL_FOLDER_STEP = 9030,
    JOURNAL_FOLDER_STEP_FAILED = 9031,
    JOURNAL_LIMIT_NOT_HELD = 9032,
    JOURNAL_FOLDER_KEPT = 9033,
    JOURNAL_EXPORT_FAILED = 9050,
    JOURNAL_EXPORT_RESUMED = 9051
};

/* The data of an event; members that an event does not have are NULL or 0. Strings are borrowed. */
struct journal_facts {
    const char *space, *name; /* namespace and name of the set */
    const char *key, *user, *task;
    const char *counter, *collector, *file, *reason;
    const char *value, *comparison, *threshold; /* for an alert */
    const char *server;
    const char *action; /* retention step of the data manager */
    uint64_t count;     /* number of samples, actions or bytes */
    HRESULT error;
};
/* Writes the event to the event file, and to the system's event log if its event provider defines the id. Preserves the
   thread's error text. Callers ignore a failure: a run must not end because an event could not be written. */
HRESULT journal_write(enum journal_id id, const struct journal_facts *facts);

#endif
