/* SPDX-License-Identifier: MIT */
/* The tasks that a set starts for its segments (MS-PLA 3.2.4.1, Task), on the thread of ended segments: a task's own
   time is nobody's but its own, and the set's stop waits for it no longer than OpenPLA.TaskTimeout. */
#ifndef OPENPLA_SEGMENT_TASKS_H
#define OPENPLA_SEGMENT_TASKS_H

#include "engine/pla/run/ended_segments.h"
#include "engine/pla/task.h"

#define SEGMENT_TASKS_MAX    32 /* at work at a time; one more is not started: something is wrong with them */
#define TASK_TIMEOUT_USUAL   60 /* s */
#define SEGMENT_TASK_LOOK_MS 100

struct segment_task {
    struct task_instance *instance;
    char *name, *location; /* of the task; of the segment */
    uint64_t since;        /* clock_monotonic_ms */
    uint32_t timeout_seconds;
};
/* Those at work. Zero-initialise, but for what is borrowed. */
struct segment_tasks {
    const char *space, *set; /* borrowed */
    /* What the run's message must say; any thread may be the caller's. */
    void (*note)(void *user, HRESULT hr, const char *text);
    void *user;
    struct segment_task at_work[SEGMENT_TASKS_MAX];
    size_t count;
};
/* Adds an item to `issues` (a plaValidation map) for a Task of a name that no task can have. */
HRESULT segment_tasks_validate(struct object *set, struct object *issues);
/* Starts the task of the segment's definition, which has one. Event 1007, or 1008 and a note. */
void segment_tasks_start(struct segment_tasks *t, const struct ended_segment *e);
/* Lets go of those that have ended, or have taken their time: 1008 and a note for one that fails or hangs, which goes
   on by itself. False: none is at work. */
bool segment_tasks_look(struct segment_tasks *t);
void segment_tasks_let_go(struct segment_tasks *t); /* of all, as they are */

#endif
