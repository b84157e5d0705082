/* SPDX-License-Identifier: MIT */
/* Retention of run folders: reads the policy from a set's data manager, and runs the passes that scan the folders, plan
   the steps and perform them. */
#ifndef OPENPLA_RETENTION_H
#define OPENPLA_RETENTION_H

#include "engine/pla/model.h"
#include "engine/pla/retention/plan.h"

/* ---- policy ---- */

/* Returns whether each run of the set has a folder below RootPath. Otherwise retention does nothing. */
bool set_has_run_folders(const struct data_collector_set *set);
/* Returns the RETENTION_ bits of the parts that a pass of the set needs; 0: its data manager is disabled, or has no
   actions and no limits. */
unsigned set_retention_parts(const struct data_collector_set *set);
/* Returns the file names of the set's reports; borrowed from the set, or static. */
struct content_names set_content_names(const struct data_collector_set *set);
/* Converts the set's policy. An invalid SendCabTo means no destination. */
HRESULT set_retention_policy(const struct data_collector_set *set, struct retention_policy *out);
void retention_policy_free(struct retention_policy *policy);

/* ---- pass ---- */

/* Reports the result of a step, or a problem. */
struct retention_event {
    const char *folder;                /* path of the folder; RootPath if a limit is reported */
    const struct retention_step *step; /* NULL: the folder could not be read, or a limit cannot be met */
    const char *destination;           /* the destination of a cabinet */
    const struct folder_kept *kept;    /* files that remain because no run created them; NULL: none */
    HRESULT hr;                        /* result, with its error text unless it is S_OK */
};
struct retention_pass {
    struct scan scan;
    const struct retention_policy *policy;
    unsigned parts;    /* RETENTION_ACTIONS and RETENTION_LIMITS bits */
    const char *only;  /* name of the only folder to process, below root; NULL: all */
    bool room_for_one; /* before a start: leaves room for one more folder under MaxFolderCount, ignores MaxSize */
    int64_t now;
    void (*report)(void *user, const struct retention_event *event);
    void *user;
};
/* Problems with single folders are reported and do not end the pass. If `only` is not a folder of the set, or its run
   is active, reports E_ACCESSDENIED or PLA_E_DCS_IN_USE. Fails with the store's errors or E_OUTOFMEMORY. */
HRESULT retention_pass_run(const struct retention_pass *pass);
/* Plans a pass without performing it; free both results. */
HRESULT retention_pass_plan(const struct retention_pass *pass, struct scanned *scanned, struct retention_plan *plan);

#endif
