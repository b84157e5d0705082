/* SPDX-License-Identifier: MIT */
/* A member of a segment (one collector of the set at work), when its samples are due, what its alerts set off, and what
   it would leave if its host were killed. */
#ifndef OPENPLA_MEMBER_H
#define OPENPLA_MEMBER_H

#include "engine/pla/collect/alert_watch.h"
#include "engine/pla/collect/collect.h"
#include "engine/pla/model.h"
#include "engine/pla/run/run_state.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- ticks: an absolute grid from the start of a run, so that late samples do not shift later ones ---- */

#define TICK_NEVER INT64_MAX

/* All times in milliseconds of one monotonic clock. */
struct tick_grid {
    int64_t start;
    uint64_t interval; /* 0: nothing is ever due */
    uint64_t taken;    /* ticks that are over: taken or missed */
};

/* The clock that grids run by. */
int64_t tick_clock(void);
/* The first tick is due at `start` itself. */
struct tick_grid tick_grid_from(int64_t start, uint64_t interval);
/* When the next tick is due; TICK_NEVER. */
int64_t tick_grid_next(const struct tick_grid *s);
/* When the tick that was taken last was due. */
int64_t tick_grid_last(const struct tick_grid *s);
/* True: a tick is due at `now`, and is taken by this call. *missed is the number of earlier ticks that nobody took:
   they are skipped, not made up for. */
bool tick_grid_take(struct tick_grid *s, int64_t now, uint64_t *missed);

/* ---- settings of one alert collector (settings.def), and its message ---- */

struct alert_settings {
    struct alert_rules rules;
    char *message, *command; /* "" for none */
    bool log;
};
/* Of the set for that collector. A value that is none counts as the default: Commit has told of it. E_OUTOFMEMORY; what
   `out` held is freed on success. */
HRESULT alert_settings_read(struct object *set, const char *collector, struct alert_settings *out);
void alert_settings_free(struct alert_settings *s);

/* Adds an item to `issues` (a plaValidation map) for each alert collector's Task that no task can be named by, and each
   TriggerDataCollectorSet that no set can. */
HRESULT alert_names_validate(struct object *set, struct object *issues);

/* A variable of a text: {name}. */
struct alert_variable {
    const char *name, *value;
};
/* The text with the variables that it knows replaced, once: what is in a value stays. From memory_alloc. */
char *alert_text(const char *pattern, const struct alert_variable *variables, size_t count);

/* ---- actions of alerts: events, tasks, starts of sets ---- */

/* Each kind has a queue and a thread, so that no sample waits for an action, and no action for one of another kind.
   MS-PLA 3.2.4.8. */

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

/* ---- what outlives a host that is killed ---- */

/* Trace sessions of its collectors, and a report that is not whole. The host writes it down beside the set before it
   creates it. The supervisor, or the set's next host, ends it when it finds that the host has died. */

/* Writes the line down, if it is not there yet. */
HRESULT held_add(struct run_set *r, const char *line);
/* The data manager is at work on that folder: who finds that the host has died tells of it (event 9023), and puts it
   into the run's message. */
HRESULT held_add_report(struct run_set *r, const char *folder);
/* The run is over, and has ended all that. */
void held_clear(struct run_set *r);
/* Ends what a host that is gone has left; nothing if there is a host. What cannot be ended is tried again by the next
   who asks. S_FALSE: there was nothing. */
HRESULT held_release(const char *space, const char *name);
/* The same by the set's host, which has the run lock. */
HRESULT held_release_by_host(const char *space, const char *name);

/* ---- members ---- */

struct name_context;
/* A collector of the set in one segment. */
struct member {
    struct object *model;        /* a reference */
    struct run_set *set;         /* borrowed */
    struct collector *collector; /* NULL: not open */
    char *file;                  /* full path of what it writes, "" for a kind that writes none */
    bool created;                /* that file was not there before */
    atomic_bool woken;           /* it has called */
    bool done, failed;           /* what poll has said */
    int64_t looked;              /* tick_clock of the latest poll */
    struct alert_settings alert; /* of an alert collector */
    struct tick_grid grid;       /* of its samples */
};
/* What the collector is to write in `folder`. `follows`, and errors: as output_file. */
HRESULT member_choose_file(struct member *m, const char *folder, const struct name_context *context, bool follows);
/* Opens the collector to write the file that was chosen, which may not be outside `root`. previous: the member of the
   segment before, whose counters and grid go on; NULL: none. What collector_open says. */
HRESULT member_open(struct member *m, const char *root, struct member *previous);
/* When it wants to be polled although it has not called; TICK_NEVER. */
int64_t member_next_look(const struct member *m);
const char *member_name(const struct member *m);
/* Takes up what the set, as it is now, says of alerts. E_OUTOFMEMORY. */
HRESULT member_read_alert(struct member *m);
void member_free(struct member *m);
/* collect_context's: what a crossing sets off, and the rules for it. */
char *member_alert(void *member, const struct crossing *crossing);
void member_alert_rules(void *member, struct alert_rules *out);
/* Puts a failure of the collector, error_text(hr), into the run's diagnostics. */
void member_note(struct member *m, HRESULT hr);

#endif
