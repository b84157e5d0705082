/* SPDX-License-Identifier: MIT */
/* The set that a host runs: its stored definition, what is to be told about its run, and the run's record. */
#ifndef OPENPLA_RUN_SET_H
#define OPENPLA_RUN_SET_H

#include "engine/pla/model.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/run/start_report.h"
#include "engine/pla/sets/diagnostics.h"
#include "engine/pla/store.h"

struct run_set {
    const char *space, *name;       /* borrowed */
    struct data_collector_set *set; /* a reference */
    struct diagnostics diagnostics;
    bool noted;                   /* the diagnostics say more than the record */
    struct start_report *report;  /* borrowed; NULL when nobody waits for the start (any more) */
    struct run_section *section;  /* borrowed; what collectors wake the loop by */
    struct alert_actions *alerts; /* NULL: no alert has set off anything */
    struct texts held;            /* what outlives a host that is killed (held.h) */
};
/* Loads the committed set; the rest is zero. PLA_E_DCS_NOT_FOUND, OPENPLA_E_MALFORMED_XML. */
HRESULT run_set_load(const char *space, const char *name, struct run_set *out);
void run_set_free(struct run_set *r);

/* A set that has never run has no record; its own serial number is the next one then. */
void run_set_know_record(const struct run_set *r, struct run_record *record);
/* Puts the result and message of the run, and whether it goes on, into its record; the rest of the record stays. */
HRESULT run_set_record(const struct run_set *r, HRESULT result, const char *message, bool running);
/* The same about a start whose host is gone, unless another host of the set runs by now: then S_FALSE. */
HRESULT run_set_record_no_run(const struct run_set *r, HRESULT result, const char *message);

#endif
