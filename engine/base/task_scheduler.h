/* SPDX-License-Identifier: MIT */
/* Windows' Task Scheduler, where there is one that works. */
#ifndef OPENPLA_TASK_SCHEDULER_H
#define OPENPLA_TASK_SCHEDULER_H

#include "engine/base/error.h"

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
/* NULL: there is none, as natively, or it loses what a task is to do, as Wine's (DECISIONS 33). */
const struct task_scheduler *host_task_scheduler(void);

#endif
