/* SPDX-License-Identifier: MIT */
/* Services of Windows that other host OSs do not have: WMI, Task Scheduler, the event log. */
#ifndef OPENPLA_WINDOWS_SERVICES_H
#define OPENPLA_WINDOWS_SERVICES_H

#include "engine/base/error.h"
#include "engine/base/text.h"

/* ---- WMI: the rows of a query. Not available in the native build (DECISIONS 28). ---- */

struct management_value {
    char *name;
    const char *type; /* CIM's type: "uint32", "datetime", "object"; for an array "string[]" */
    bool key;         /* whether the class declares it as a key */
    bool array, null;
    /* A value has one string, and an array has one string per element. Numbers are in decimal, booleans are "true" and
       "false", datetimes have WMI's form, and an object is in MOF. The bytes of an array of uint8 are one string of
       hexadecimal digits. */
    struct texts texts;
};
struct management_row {
    struct management_value *values;
    size_t count, capacity;
};

/* Runs the query in the namespace and calls `take` with each row as it arrives. `take` then owns the row, which is from
   memory_alloc. A failure of `take` ends the query and becomes its result. The call may take any amount of time or
   hang, so it should run on a thread that can be abandoned. If WMI returns an error (0x80041017: invalid WQL;
   0x80041010: unknown class), the error text names the namespace. Wine's WMI returns no rows and no error for an
   unknown class; the function still fails with 0x80041010. */
HRESULT management_query(const char *namespace_path, const char *query,
                         HRESULT (*take)(void *user, struct management_row *row), void *user);
void management_row_free(struct management_row *row); /* also frees the row itself; NULL is allowed */

/* ---- Task Scheduler ----
   Windows' Task Scheduler, for host OSs on which it works. */

struct scheduled_task; /* an instance of a task; only the thread that started it may use it */
struct task_scheduler {
    /* The arguments become $(Arg0) and $(Arg1) of the task's definition. as_self: the task runs under the caller's
       account. */
    HRESULT(*start)
    (const char *task, const char *arguments, const char *directory, bool as_self, struct scheduled_task **out);
    /* S_FALSE: it is still running after timeout_ms. *exit_code is the result of the task's latest instance; 0 while an
       instance runs, because the result is not known yet. */
    HRESULT (*wait)(struct scheduled_task *t, uint32_t timeout_ms, uint32_t *exit_code);
    void (*close)(struct scheduled_task *t); /* does not end the task */
};
/* NULL: there is no scheduler (native build), or the scheduler loses the actions of tasks (Wine, DECISIONS 33). */
const struct task_scheduler *host_task_scheduler(void);

/* ---- the event log ----
   Events of the event provider Microsoft-Windows-Diagnosis-PLA are written to the system's event log, in the form that
   Windows' PLA uses. */

/* A field of an event: a string, or a number if text is NULL. */
struct event_log_field {
    const char *text;
    uint32_t number;
};
#define EVENT_LOG_FIELDS_MAX 8
/* Writes an event. The fields have the order of the event provider's manifest; `level` is as in EVENT_DESCRIPTOR.
   S_FALSE: this host OS has no such log. */
HRESULT event_log_write(uint32_t id, uint8_t level, const struct event_log_field *fields, size_t count);

#endif
