/* SPDX-License-Identifier: MIT */
/* No Task Scheduler. */
#include "engine/base/task_scheduler.h"

#include <stddef.h>

const struct task_scheduler *host_task_scheduler(void)
{
    return NULL;
}
