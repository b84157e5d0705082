/* SPDX-License-Identifier: MIT */
/* The live counters that typeperf shows: a query of the host's PDH, its counters as columns. */
#ifndef OPENPLA_CLI_LIVE_COUNTERS_H
#define OPENPLA_CLI_LIVE_COUNTERS_H

#include "engine/os/host.h"
#include "engine/os/pdh_types.h"

struct live_counter {
    char *path; /* with the computer's name */
    PDH_HCOUNTER handle;
};

/* Zero-initialise. */
struct live_counters {
    const struct pdh_api *pdh;
    PDH_HQUERY query;
    struct live_counter *items;
    size_t count, capacity;
};

/* The PDH of this host and a query on it. */
HRESULT live_counters_open(struct live_counters *l);
/* Adds what the path stands for now: wildcards are expanded, `machine` (NULL: none) is put before a path without one.
   The error's text names the path. */
HRESULT live_counters_add(struct live_counters *l, const char *path, const char *machine);
/* Takes a sample; *utc (FILETIME) is its time. */
HRESULT live_counters_collect(struct live_counters *l, int64_t *utc);
/* False: no value in this sample. */
bool live_counter_value(const struct live_counters *l, size_t i, double *value);
void live_counters_close(struct live_counters *l);

/* All objects of the computer, or of one its counters; with `instances` each of them in each instance. `machine` may be
   NULL. The paths are added to `out`. */
HRESULT live_counters_list(const struct pdh_api *pdh, const char *machine, const char *object, bool instances,
                           struct texts *out);

#endif
