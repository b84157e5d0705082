/* SPDX-License-Identifier: MIT */
/* A member of a segment is one open collector. This header declares the sample times of members, the actions of alerts,
   and the list of the resources that remain if the host process is killed. */
#ifndef OPENPLA_MEMBER_H
#define OPENPLA_MEMBER_H

#include "engine/pla/collect/alert_watch.h"
#include "engine/pla/collect/collect.h"
#include "engine/pla/model.h"
#include "engine/pla/run/run_state.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- ticks: sample times on an absolute grid, so that a late sample does not shift the next ones ---- */

#define TICK_NEVER INT64_MAX

/* All times are milliseconds of tick_clock. */
struct tick_grid {
    int64_t start;
    uint64_t interval; /* 0: there are no ticks */
    uint64_t taken;    /* number of ticks that were sampled or missed */
};

/* Returns the time of the grids' monotonic clock, in milliseconds. */
int64_t tick_clock(void);
/* Creates a grid whose first tick is due at `start`. */
struct tick_grid tick_grid_from(int64_t start, uint64_t interval);
/* Returns when the next tick is due, or TICK_NEVER. */
int64_t tick_grid_next(const struct tick_grid *s);
/* Returns when the last taken tick was due. */
int64_t tick_grid_last(const struct tick_grid *s);
/* Takes the latest tick that is due at `now`. False: no tick is due. *missed: number of earlier ticks that were not
   taken and are skipped. */
bool tick_grid_take(struct tick_grid *s, int64_t now, uint64_t *missed);

/* ---- settings of an alert collector (settings.def), and its message ---- */

struct alert_settings {
    struct alert_rules rules;
    char *message, *command; /* "" for none */
    bool log;
};
/* Reads the settings of the collector. Invalid values, which Commit has reported, count as the default. E_OUTOFMEMORY;
   on success the previous contents of `out` are freed. */
HRESULT alert_settings_read(struct object *set, const char *collector, struct alert_settings *out);
void alert_settings_free(struct alert_settings *s);

/* Adds an item to `issues` (a plaValidation map) for each alert collector whose Task or TriggerDataCollectorSet is
   not a valid name. */
HRESULT alert_names_validate(struct object *set, struct object *issues);

/* A variable {name} in a message, and its value. */
struct alert_variable {
    const char *name, *value;
};
/* Returns the pattern with known variables replaced; their values are not expanded again. From memory_alloc. */
char *alert_text(const char *pattern, const struct alert_variable *variables, size_t count);

/* ---- actions of alerts: events, tasks, starts of sets ---- */

/* Each kind has a queue and a thread, so that samples do not wait for actions, and actions do not wait for actions of
   another kind. MS-PLA 3.2.4.8. */

enum alert_action { ALERT_EVENT, ALERT_TASK, ALERT_TRIGGER, ALERT_ACTIONS };

/* Maximum queue lengths. Further actions are dropped, counted and reported. Queued starts of the same set are
   merged. */
#define ALERT_EVENTS_WAITING   16384
#define ALERT_TASKS_WAITING    1024
#define ALERT_TRIGGERS_WAITING 64
/* Maximum number of tasks of a run that run at the same time. A further task waits until one has exited. */
#define ALERT_TASKS_AT_ONCE    8
/* The time in milliseconds that a run waits at its end for queued actions to start. */
#define ALERT_END_MS           10000

/* An action to perform. The queue contains a copy of the action. Members that the kind of action does not need are
   NULL. */
struct alert_order {
    const char *collector;
    const struct crossing *crossing; /* for an event */
    const char *message;             /* for an event */
    const char *task, *arguments;    /* for a task; expanded */
    const char *command;             /* for a task: a command line that runs instead of a task */
    const char *directory;           /* for a task: its current folder */
    bool as_self;
    const char *set; /* the set to start */
};

struct alert_actions;
/* Creates the queues. `wake` is called on any thread when there are notes to take. */
HRESULT alert_actions_create(const char *space, const char *name, void (*wake)(void *user), void *user,
                             struct alert_actions **out);
/* Queues the action without waiting. */
void alert_actions_add(struct alert_actions *a, enum alert_action what, const struct alert_order *order);
/* Adds the notes of actions to the run's diagnostics. True: at least one note is new. */
bool alert_actions_take_notes(struct alert_actions *a, struct diagnostics *out);
/* Waits up to ALERT_END_MS until all queued actions have been started; drops and reports the rest. An action that hangs
   only blocks its own thread. NULL is allowed. */
void alert_actions_end(struct alert_actions *a, struct diagnostics *out);

/* ---- resources that outlive a killed host process ---- */

/* These resources are trace sessions of collectors, and unfinished reports. Before the host process creates such a
   resource, it writes a line about the resource to a file beside the set's definition. After the host process has died,
   the supervisor or the set's next host process releases the resources. */

/* Adds the line to the file, unless the file already contains it. */
HRESULT held_add(struct run_set *r, const char *line);
/* Records that the data manager is working on the folder. If the host process dies, event 9023 and the run's message
   say that the report was lost. */
HRESULT held_add_report(struct run_set *r, const char *folder);
/* Removes the file. Call at the end of the run, when all resources have been released. */
void held_clear(struct run_set *r);
/* Releases the resources that a dead host process left. Does nothing while a host process exists, because a starting
   host process releases the resources itself. The next call retries failed releases. S_FALSE: nothing to release. */
HRESULT held_release(const char *space, const char *name);
/* Works like held_release, for the set's host process, which holds the run lock. */
HRESULT held_release_by_host(const char *space, const char *name);

/* ---- members ---- */

struct name_context;
/* A collector of the set in one segment. */
struct member {
    struct object *model;        /* a reference */
    struct run_set *set;         /* borrowed */
    struct collector *collector; /* NULL: not open */
    char *file;                  /* full path of the output file, "" for a kind without a file */
    bool created;                /* the file did not exist before */
    atomic_bool woken;           /* the collector has called `wake` */
    bool done, failed;           /* from polls: the collector is complete; it has failed */
    int64_t looked;              /* tick_clock of the last poll */
    struct alert_settings alert; /* settings of an alert collector */
    struct tick_grid grid;       /* grid of its samples */
};
/* Determines the member's file in `folder`. `follows` has the same meaning as in output_file. Fails as output_file
   does. */
HRESULT member_choose_file(struct member *m, const char *folder, const struct name_context *context, bool follows);
/* Opens the collector with that file, which must be below `root`. `previous`: the member of the previous segment, whose
   counters and grid continue; NULL: none. Fails as collector_open does. */
HRESULT member_open(struct member *m, const char *root, struct member *previous);
/* Returns when the member must be polled even if it has not called `wake`, or TICK_NEVER. */
int64_t member_next_look(const struct member *m);
const char *member_name(const struct member *m);
/* Reads the set's current alert settings. E_OUTOFMEMORY. */
HRESULT member_read_alert(struct member *m);
void member_free(struct member *m);
/* Callbacks of collect_context. member_alert performs the actions of a crossing; member_alert_rules returns the alert
   rules. */
char *member_alert(void *member, const struct crossing *crossing);
void member_alert_rules(void *member, struct alert_rules *out);
/* Adds a failure of the collector, with error_text(hr), to the run's diagnostics. */
void member_note(struct member *m, HRESULT hr);

#endif
