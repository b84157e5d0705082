/* SPDX-License-Identifier: MIT */
/* Private header of the host process: the run, and its loop. */
#ifndef OPENPLA_SET_HOST_H
#define OPENPLA_SET_HOST_H

#include "engine/pla/run/run_journal.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/run/segment.h"

struct run {
    struct run_set set;
    const char *run_key;         /* borrowed */
    char user[START_USER_BYTES]; /* account that it was started for; "": none */
    run_compile compile;         /* NULL: ended segments are not processed */
    struct segment segment;
    struct ended_segments *ended; /* NULL until a segment has ended that has work */
    struct run_section *section;
    struct run_state state;
    int64_t started; /* tick_clock */
    int64_t segment_started;
    bool roll;                 /* a limit was reached: the next sample goes to a new segment */
    bool first_over;           /* the first segment has reached its limit */
    bool end;                  /* the run must end */
    struct error_kept failure; /* the run's result if it fails */
};

/* Takes a step of the state machine and publishes the new phase. */
void run_move(struct run *r, enum run_step step);
/* Publishes the state of the run. */
void run_publish(struct run *r);
/* Publishes the statistics of a member. */
void run_show_figures(struct run *r, size_t index);
/* Publishes number, folder and members of the new segment. */
void run_show_segment(struct run *r);
/* Writes an event about the run's set and current folder to the journal. */
void run_write_event(const struct run *r, enum journal_id id, const struct journal_facts *more);
/* Writes the known results into the run record. The caller decides about a failure: an unwritable record, for
   example on a full disk, must not end the run. */
HRESULT run_write_record(struct run *r, bool running);
void run_end(struct run *r, HRESULT hr);

/* Whether the data manager processes the run's last segment. */
bool run_is_managed(const struct run *r);
/* Closes a segment that ran with `set`, and queues it if the data manager or a task has work. The caller frees it. */
HRESULT run_end_segment(struct run *r, const struct run_set *set, struct segment *s);
/* Collects the results of processed segments and tasks, none of which makes the run fail. True: something failed. */
bool run_take_ended(struct run *r);

/* ---- the loop ---- */

/* Samples until the run is over; `began` is called once, after the first samples. */
void run_loop(struct run *r, void (*began)(void *user), void *user);

#endif
