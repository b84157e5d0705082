/* SPDX-License-Identifier: MIT */
/* Which folders there are below a set's RootPath: those of its runs, and others. */
#ifndef OPENPLA_RETENTION_SCAN_H
#define OPENPLA_RETENTION_SCAN_H

#include "engine/pla/retention/folder_record.h"
#include "engine/pla/retention/folder_walk.h"
#include "engine/pla/retention/plan.h"

/* A folder that could not be looked at: whether it is the set's is not known, and nothing is done with it. */
struct scan_failure {
    const char *name; /* of the record */
    HRESULT hr;
    char *reason;
};
struct scanned {
    struct retained_folder *folders; /* whose names are those of the records */
    const struct folder_record **of; /* the record of each */
    size_t count;
    struct folder_records records;
    const struct folder_record **lost; /* whose folder is there no more */
    size_t lost_count;
    struct scan_failure *failures;
    size_t failure_count;
};
struct scan {
    const char *space, *set, *root; /* RootPath as the host has it */
    struct content_names names;
    const char *running; /* the folder of the run that goes on; NULL: none does */
    bool latest_runs;    /* the newest folder is being written */
};
/* A root that is not there has no folders. A folder that cannot be looked at is left out, and told. */
HRESULT retention_scan(const struct scan *scan, struct scanned *out);
void scanned_free(struct scanned *s);

#endif
