/* SPDX-License-Identifier: MIT */
/* What a run tells the world: events with the ids and fields of Windows' PLA, and some of our own. */
#ifndef OPENPLA_EVENTS_H
#define OPENPLA_EVENTS_H

#include "engine/os/text.h"

/* Below 9000: provider Microsoft-Windows-Diagnosis-PLA (pla-behaviour 19). */
enum event_id {
    EVENT_SET_CREATED = 1000,
    EVENT_SET_CHANGED = 1001,
    EVENT_SET_DELETED = 1002,
    EVENT_STARTED = 1003,
    EVENT_START_FAILED = 1004,
    EVENT_STOPPED = 1005,
    EVENT_STOPPED_BY_ERROR = 1006,
    EVENT_TASK_STARTED = 1007,
    EVENT_TASK_FAILED = 1008,
    EVENT_COUNTER_DROPPED = 1010,
    EVENT_CONFIGURATION_DONE = 1011,
    EVENT_COMPILING = 1012,
    EVENT_SEGMENTED = 1013,
    EVENT_ALERT_TASK_FAILED = 1014,
    EVENT_ALERT_TRIGGER_FAILED = 1015,
    EVENT_ALERT_EVENT_FAILED = 1016,
    EVENT_CABINET_NOT_SENT = 1017,
    EVENT_ALERT = 2031,
    EVENT_REPORT_NOTE = 3000,
    EVENT_REPORT_WARNING = 3001,
    EVENT_REPORT_ERROR = 3002,
    EVENT_SAMPLES_LOST = 9001,
    EVENT_START_MISSED = 9002,
    EVENT_STARTED_AGAIN = 9003,
    EVENT_EXPIRED = 9004,
    EVENT_UPDATED = 9005,
    EVENT_RECORD_NOT_WRITTEN = 9006
};

/* What an event may say; NULL and 0 where there is nothing. Texts are borrowed. */
struct event_facts {
    const char *space, *name; /* of the set */
    const char *key, *user, *task;
    const char *counter, *collector, *file, *reason;
    const char *value, *operator, * threshold; /* of an alert */
    const char *server;
    uint64_t count; /* of samples */
    HRESULT error;
};
/* Into the event file, and into the system's event log if the id is one of its provider's. Nothing that happens here
   is told: no run may end because an event could not be written. The thread's error text survives. */
void event_write(enum event_id id, const struct event_facts *facts);

/* For tests: the names of the event's official fields, with a comma after each; NULL for no event. */
const char *event_field_names(enum event_id id);

#endif
