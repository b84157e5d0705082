/* SPDX-License-Identifier: MIT */
/* Private header of the host process: the run, and the run loop. */
#ifndef OPENPLA_SET_HOST_H
#define OPENPLA_SET_HOST_H

#include "engine/pla/run/run_journal.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/run/segment.h"

struct run {
    struct run_set set;
    const char *run_key;         /* borrowed */
    char user[START_USER_BYTES]; /* account for which the run was started; "": none */
    run_compile compile;         /* NULL: ended segments are not processed */
    struct segment segment;
    struct ended_segments *ended; /* NULL until the first segment with work has ended */
    struct run_section *section;
    struct run_state state;
    int64_t started; /* tick_clock */
    int64_t segment_started;
    bool roll; /* the next sample goes to a new segment, because a limit was reached or the log needs new columns */
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
/* Publishes the serial number, folder and members of the new segment. */
void run_show_segment(struct run *r);
/* Writes an event about the run's set and current folder to the journal. */
void run_write_event(const struct run *r, enum journal_id id, const struct journal_facts *more);
/* Writes the results so far to the run record. A failure, for example because the disk is full, must not end the run;
   the caller decides what to do. */
HRESULT run_write_record(struct run *r, bool running);
void run_end(struct run *r, HRESULT hr);

/* Returns whether the data manager processes the run's last segment. */
bool run_is_managed(const struct run *r);
/* Closes a segment that ran with `set`, and queues it if the data manager or a task has work. The caller frees it. */
HRESULT run_end_segment(struct run *r, const struct run_set *set, struct segment *s);
/* Adds the failures of processed segments and tasks to the diagnostics. A failure does not end the run, but the first
   failure of a segment becomes the run's result. True: something failed. */
bool run_take_ended(struct run *r);

/* ---- the loop ---- */

/* Samples until the run is over. Calls `began` once, after the first samples. */
void run_loop(struct run *r, void (*began)(void *user), void *user);

#endif
