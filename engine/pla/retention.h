/* SPDX-License-Identifier: MIT */
/* Retention: what a set's data manager says of the folders of its runs, and the pass over them that scans, plans and
   does it. */
#ifndef OPENPLA_RETENTION_H
#define OPENPLA_RETENTION_H

#include "engine/pla/model.h"
#include "engine/pla/retention/plan.h"

/* ---- policy ---- */

/* Whether each run of the set has a folder below RootPath: only then there is something to look after. */
bool set_has_run_folders(const struct data_collector_set *set);
/* Whether its data manager is on and has actions or limits; and the parts of a pass that it asks for. */
unsigned set_retention_parts(const struct data_collector_set *set);
/* What its reports are called; borrowed from the set, or static. */
struct content_names set_content_names(const struct data_collector_set *set);
/* A SendCabTo that is none has no destination. */
HRESULT set_retention_policy(const struct data_collector_set *set, struct retention_policy *out);
void retention_policy_free(struct retention_policy *policy);

/* ---- pass ---- */

/* What has come of a step, or what cannot be done. */
struct retention_event {
    const char *folder;                /* its path; of a limit RootPath */
    const struct retention_step *step; /* NULL: the folder could not be looked at, or a limit does not hold */
    const char *destination;           /* of a cabinet that is sent */
    const struct folder_kept *kept;    /* what stays in it, since no run has made it; NULL: nothing does */
    HRESULT hr;                        /* of a failure, with error_text's text */
};
struct retention_pass {
    struct scan scan;
    const struct retention_policy *policy;
    unsigned parts;    /* of RETENTION_ACTIONS and RETENTION_LIMITS */
    const char *only;  /* the name below root of the one folder that it is about; NULL: all */
    bool room_for_one; /* before a start: MaxFolderCount is to hold with one folder more, MaxSize is not asked */
    int64_t now;
    void (*report)(void *user, const struct retention_event *event);
    void *user;
};
/* What concerns one folder is told and does not end the pass. A folder that it is about and that is not the set's, or
   whose run goes on, is told as E_ACCESSDENIED, PLA_E_DCS_IN_USE. Failures: the store's, E_OUTOFMEMORY. */
HRESULT retention_pass_run(const struct retention_pass *pass);
/* What it would do, and of what; free both. */
HRESULT retention_pass_plan(const struct retention_pass *pass, struct scanned *scanned, struct retention_plan *plan);

#endif
