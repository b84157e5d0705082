/* SPDX-License-Identifier: MIT */
/* What the files of a host share: the run, and the loop that does its work. */
#ifndef OPENPLA_SET_HOST_H
#define OPENPLA_SET_HOST_H

#include "engine/pla/run/run_journal.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/run/segment.h"

struct run {
    struct run_set set;
    const char *run_key;         /* borrowed */
    char user[START_USER_BYTES]; /* for whom it was started; "": for nobody else */
    run_compile compile;         /* NULL: nothing comes after a segment */
    struct segment segment;
    struct ended_segments *ended; /* NULL until one has ended that is to be compiled */
    struct run_section *section;
    struct run_state state;
    int64_t started; /* tick_clock */
    int64_t segment_started;
    bool roll;                 /* a limit is reached: the next sample goes into a new segment */
    bool first_over;           /* the first segment has reached its limit */
    bool end;                  /* the run is over */
    struct error_kept failure; /* what the run's result is, if it fails */
};

/* Takes the step of the machine and publishes the phase after it. */
void run_move(struct run *r, enum run_step step);
/* Publishes the state of the run. */
void run_publish(struct run *r);
/* Publishes the figures of a member. */
void run_show_figures(struct run *r, size_t index);
/* Puts number, folder and members of the segment that has begun into what is shown. */
void run_show_segment(struct run *r);
/* Puts what happened to the run's set, in its present folder, into the journal. */
void run_write_event(const struct run *r, enum journal_id id, const struct journal_facts *more);
/* Writes what is known about the run into its record. A record that cannot be written must not end the run: it may be
   the same full disk that it tells of; who must know gets the reason. */
HRESULT run_write_record(struct run *r, bool running);
void run_end(struct run *r, HRESULT hr);

/* Whether the run's last segment is the data manager's work. */
bool run_is_managed(const struct run *r);
/* Closes a segment of the run, which ran by `set`, and puts it in line for the data manager and the set's task if there
   is work for one of them. It is to be freed. */
HRESULT run_end_segment(struct run *r, const struct run_set *set, struct segment *s);
/* Takes up what is said of the segments that are done with, and of their tasks, none of which makes the run fail. True:
   something failed. */
bool run_take_ended(struct run *r);

/* ---- the loop ---- */

/* Samples until the run is over; `began` is called once, when the first samples are taken. */
void run_loop(struct run *r, void (*began)(void *user), void *user);

#endif
