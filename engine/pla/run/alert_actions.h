/* SPDX-License-Identifier: MIT */
/* What alerts set off: events, tasks, starts of sets. Each sort has a line and a thread of its own, so no sample waits
   for one, and none for another sort. MS-PLA 3.2.4.8. */
#ifndef OPENPLA_ALERT_ACTIONS_H
#define OPENPLA_ALERT_ACTIONS_H

#include "engine/pla/collect/collect.h"
#include "engine/pla/sets/diagnostics.h"

enum alert_action { ALERT_EVENT, ALERT_TASK, ALERT_TRIGGER, ALERT_ACTIONS };

/* How many may wait of each; more are dropped, counted and told. Starts of one set that wait are one. */
#define ALERT_EVENTS_WAITING   16384
#define ALERT_TASKS_WAITING    1024
#define ALERT_TRIGGERS_WAITING 64
/* So many tasks of a run are at work at a time; the next one begins when one of them has ended. */
#define ALERT_TASKS_AT_ONCE    8
/* How long the end of a run waits for what its alerts have set off to be begun. */
#define ALERT_END_MS           10000

/* What is to be done; copied. NULL where a sort has no use for it. */
struct alert_order {
    const char *collector;
    const struct crossing *crossing; /* of an event */
    const char *message;             /* of an event */
    const char *task, *arguments;    /* of a task, expanded */
    const char *command;             /* of a task: a command line in its place */
    const char *directory;           /* of a task: where it begins */
    bool as_self;
    const char *set; /* to start: its name */
};

struct alert_actions;
/* For the run of a set; `wake` is called, on any thread, when there are notes to take. */
HRESULT alert_actions_create(const char *space, const char *name, void (*wake)(void *user), void *user,
                             struct alert_actions **out);
/* Puts it in line and waits for nobody. */
void alert_actions_add(struct alert_actions *a, enum alert_action what, const struct alert_order *order);
/* Moves what the actions had to say to the run's diagnostics. True: there is something new. */
bool alert_actions_take_notes(struct alert_actions *a, struct diagnostics *out);
/* Waits, up to ALERT_END_MS, until all that is in line has been begun; the rest is dropped and told. An action that
   hangs keeps its thread and nothing else. NULL is allowed. */
void alert_actions_end(struct alert_actions *a, struct diagnostics *out);

#endif
