/* SPDX-License-Identifier: MIT */
/* Local time of a log's samples, without asking the system for its zone each time (0.4 ms a call under Wine). */
#ifndef OPENPLA_LOCAL_TIME_H
#define OPENPLA_LOCAL_TIME_H

#include "engine/log/log.h"
#include "engine/os/clock.h"

/* Zones change their bias at quarters of an hour of UTC only, so one answer serves for one. Zero-initialise. */
struct local_time {
    bool known, fixed; /* fixed: one offset for all times */
    int64_t quarter, offset;
};

/* What log_options.zone asks for. */
static inline struct local_time local_time_in(const struct log_zone *zone)
{
    struct local_time memory = {.fixed = zone->known};
    memory.offset = zone->known ? zone->bias_minutes * -(60 * INT64_C(10000000)) : 0;
    return memory;
}

/* clock_utc_to_local, or in the fixed zone; FILETIMEs. */
static inline int64_t local_time(struct local_time *memory, int64_t utc)
{
    const int64_t quarter = utc / (15 * 60 * INT64_C(10000000));
    if (!memory->fixed && (!memory->known || quarter != memory->quarter)) {
        memory->offset = clock_utc_to_local(utc) - utc;
        memory->quarter = quarter;
        memory->known = true;
    }
    return utc + memory->offset;
}

#endif
