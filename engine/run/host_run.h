/* SPDX-License-Identifier: MIT */
/* What the files of a host share: the run that it is. */
#ifndef OPENPLA_HOST_RUN_H
#define OPENPLA_HOST_RUN_H

#include "engine/run/phase.h"
#include "engine/run/run_state.h"
#include "engine/run/segment.h"
#include "engine/run/tick_grid.h"

struct run {
    struct run_set set;
    const char *run_key; /* borrowed */
    struct segment segment;
    struct tick_grid *grids; /* one per collector */
    struct run_section *section;
    struct run_state state;
    int64_t started; /* tick_clock */
    int64_t segment_started;
    bool roll;       /* a limit is reached: the next sample goes into a new segment */
    bool first_over; /* the first segment has reached its limit */
    bool end;        /* the run is over */
    const char *why; /* it ended: static text, NULL when it was stopped or failed */
    HRESULT result;
};

/* Takes the step of the machine and publishes the phase after it. */
void run_move(struct run *r, enum run_step step);
/* Publishes the figures. */
void run_publish(struct run *r);
/* An event about the run's set and its present folder. */
void run_tell(const struct run *r, enum journal_id id, const struct journal_facts *more);
/* Writes what is known about the run into its record. A record that cannot be written must not end the run: it may be
   the same full disk that it tells of; who must know gets the reason. */
HRESULT run_write_record(struct run *r, bool running);
void run_end(struct run *r, HRESULT hr);
/* Puts number and folder of the segment that has begun into the state. */
void run_show_segment(struct run *r);

/* Samples until the run is over; `began` is called once, when the first samples are taken. */
void run_loop(struct run *r, void (*began)(void *user), void *user);
/* Takes up the definition that is stored now. On failure the run goes on with what it has. */
HRESULT run_take_definition(struct run *r);

#endif
