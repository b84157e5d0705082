/* SPDX-License-Identifier: MIT */
/* The states of a set and the way between them. */
#include "engine/pla/run/phase.h"

#include "engine/base/clock.h"

struct way {
    HRESULT hr;
    enum run_phase next; /* with S_OK */
};

#define TO(phase)                                                                                                      \
    {                                                                                                                  \
        S_OK, PHASE_##phase                                                                                            \
    }
#define STAYS                                                                                                          \
    {                                                                                                                  \
        S_FALSE, PHASE_STOPPED                                                                                         \
    }
#define IN_USE                                                                                                         \
    {                                                                                                                  \
        PLA_E_DCS_IN_USE, PHASE_STOPPED                                                                                \
    }
#define NOT_RUN                                                                                                        \
    {                                                                                                                  \
        PLA_E_DCS_NOT_RUNNING, PHASE_STOPPED                                                                           \
    }
#define NEVER                                                                                                          \
    {                                                                                                                  \
        E_UNEXPECTED, PHASE_STOPPED                                                                                    \
    }

/* clang-format off */
static const struct way ways[RUN_PHASES][RUN_STEPS] = {
    /*                   START         BEGUN        FAILED        LIMIT           UPDATE          STOP          COMPILE        DONE         LOST */
    [PHASE_STOPPED]    = {TO(STARTING), NEVER,       NEVER,        NEVER,          STAYS,          NOT_RUN,      NEVER,         NEVER,       STAYS},
    [PHASE_STARTING]   = {IN_USE,       TO(RUNNING), TO(STOPPED),  NEVER,          STAYS,          STAYS,        NEVER,         NEVER,       TO(STOPPED)},
    [PHASE_RUNNING]    = {IN_USE,       NEVER,       TO(STOPPING), TO(SEGMENTING), TO(SEGMENTING), TO(STOPPING), NEVER,         NEVER,       TO(STOPPED)},
    [PHASE_SEGMENTING] = {IN_USE,       TO(RUNNING), TO(STOPPING), NEVER,          STAYS,          STAYS,        NEVER,         NEVER,       TO(STOPPED)},
    [PHASE_STOPPING]   = {IN_USE,       NEVER,       STAYS,        NEVER,          STAYS,          STAYS,        TO(COMPILING), TO(STOPPED), TO(STOPPED)},
    [PHASE_COMPILING]  = {IN_USE,       NEVER,       STAYS,        NEVER,          STAYS,          STAYS,        NEVER,         TO(STOPPED), TO(STOPPED)},
};
/* clang-format on */

HRESULT phase_after(enum run_phase phase, enum run_step step, enum run_phase *next)
{
    const struct way *way = &ways[phase][step];
    *next = way->hr == S_OK ? way->next : phase;
    return way->hr;
}

enum run_status phase_status(enum run_phase phase)
{
    static const enum run_status statuses[RUN_PHASES] = {
        [PHASE_STOPPED] = RUN_STOPPED,    [PHASE_STARTING] = RUN_STOPPED, [PHASE_RUNNING] = RUN_RUNNING,
        [PHASE_SEGMENTING] = RUN_RUNNING, [PHASE_STOPPING] = RUN_RUNNING, [PHASE_COMPILING] = RUN_COMPILING,
    };
    return statuses[phase];
}

const char *phase_name(enum run_phase phase)
{
    static const char *const names[RUN_PHASES] = {
        [PHASE_STOPPED] = "stopped",       [PHASE_STARTING] = "starting", [PHASE_RUNNING] = "running",
        [PHASE_SEGMENTING] = "segmenting", [PHASE_STOPPING] = "stopping", [PHASE_COMPILING] = "compiling",
    };
    return names[phase];
}

bool phase_is_overdue(const struct run_state *state, uint64_t now, uint32_t start_ms, uint32_t stop_ms)
{
    if (state->phase == PHASE_COMPILING)
        return false;
    return (state->phase == PHASE_STARTING && clock_passed_ms(state->phase_since, now) > start_ms) ||
           (state->stop_since && clock_passed_ms(state->stop_since, now) > stop_ms);
}
