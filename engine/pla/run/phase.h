/* SPDX-License-Identifier: MIT */
/* The states of a set as one machine: what each step does in each state, and what is refused. */
#ifndef OPENPLA_PHASE_H
#define OPENPLA_PHASE_H

#include "engine/pla/run.h"

enum run_step {
    STEP_START,   /* a client or a schedule asks for it */
    STEP_BEGUN,   /* the collectors are open: the first segment, or the next one */
    STEP_FAILED,  /* a start, a segment or a sample makes going on impossible */
    STEP_LIMIT,   /* a limit that begins the next segment is reached */
    STEP_UPDATE,  /* a new definition is to be taken up */
    STEP_STOP,    /* a client asks for it, or the run is over */
    STEP_COMPILE, /* the collectors are closed; the data manager has work */
    STEP_DONE,    /* nothing is left to do */
    STEP_LOST,    /* the host has died */
    RUN_STEPS
};

/* S_OK: *next is the phase after the step. S_FALSE: the step changes nothing; it is remembered where it was asked for.
   PLA_E_DCS_IN_USE, PLA_E_DCS_NOT_RUNNING: refused. E_UNEXPECTED: it cannot come in that phase. Without a text. */
HRESULT phase_after(enum run_phase phase, enum run_step step, enum run_phase *next);
/* What Status shows (MS-PLA 2.2.2.4). A set that is starting is not running yet; one that is stopping still is. */
enum run_status phase_status(enum run_phase phase);
const char *phase_name(enum run_phase phase);
/* Whether at `now` (clock_monotonic_ms) a host has been starting for more than start_ms, or has been asked to stop for
   more than stop_ms; the data manager's work has no such limit. */
bool phase_is_overdue(const struct run_state *state, uint64_t now, uint32_t start_ms, uint32_t stop_ms);

#endif
