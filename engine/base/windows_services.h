/* SPDX-License-Identifier: MIT */
/* Services of Windows that other host OSs lack: WMI, Task Scheduler, the event log. */
#ifndef OPENPLA_WINDOWS_SERVICES_H
#define OPENPLA_WINDOWS_SERVICES_H

#include "engine/base/error.h"
#include "engine/base/text.h"

/* ---- WMI: the rows of a query. Natively it has none (DECISIONS 28). ---- */

struct management_value {
    char *name;
    const char *type; /* CIM's: "uint32", "datetime", "object", of an array "string[]" */
    bool key;         /* the class says that it identifies its objects */
    bool array, null;
    /* One, of an array each: numbers in decimal, booleans as "true" and "false", datetimes as WMI has them, an object
       in MOF. The bytes of an array of uint8 are one text of hexadecimal digits. */
    struct texts texts;
};
struct management_row {
    struct management_value *values;
    size_t count, capacity;
};

/* Runs the query in the namespace and hands each row over as it comes, which `take` owns then, from memory_alloc. A
   failure of `take` ends it, and is its result. May take any time, and may hang: for a thread that may be abandoned.
   WMI's results (0x80041017: no WQL; 0x80041010: no such class, on hosts too that answer with no rows then), with a
   text that names the namespace. */
HRESULT management_query(const char *namespace_path, const char *query,
                         HRESULT (*take)(void *user, struct management_row *row), void *user);
void management_row_free(struct management_row *row); /* with the row itself; NULL is allowed */

/* ---- Task Scheduler ----
   Windows' Task Scheduler, where there is one that works. */

struct scheduled_task; /* an instance, of the thread that has started it */
struct task_scheduler {
    /* The arguments become $(Arg0) and $(Arg1) of the task's definition. as_self: under the caller's account. */
    HRESULT(*start)
    (const char *task, const char *arguments, const char *directory, bool as_self, struct scheduled_task **out);
    /* S_FALSE: it still runs after timeout_ms. *exit_code: the result of the task's latest instance; 0 while
       one is at work, as it is not known then. */
    HRESULT (*wait)(struct scheduled_task *t, uint32_t timeout_ms, uint32_t *exit_code);
    void (*close)(struct scheduled_task *t); /* does not end it */
};
/* NULL: the host OS has no scheduler, as natively, or one that loses a task's actions, as Wine's (DECISIONS 33). */
const struct task_scheduler *host_task_scheduler(void);

/* ---- the event log ----
   The system's own event log: events of the provider Microsoft-Windows-Diagnosis-PLA, as Windows' PLA writes them. */

/* One field of an event: a text, or a number where text is NULL. */
struct event_log_field {
    const char *text;
    uint32_t number;
};
#define EVENT_LOG_FIELDS_MAX 8
/* Fields in the order of the provider's manifest; `level` as in EVENT_DESCRIPTOR. S_FALSE: this host has no such log.
 */
HRESULT event_log_write(uint32_t id, uint8_t level, const struct event_log_field *fields, size_t count);

#endif
