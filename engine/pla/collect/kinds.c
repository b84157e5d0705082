/* SPDX-License-Identifier: MIT */
/* The table of the kinds of collectors. */
#include "engine/pla/collect/kind.h"

const struct collector_kind *const collector_kinds[] = {
    [0] = &counter_collector_kind,       /* plaPerformanceCounter */
    [1] = &trace_collector_kind,         /* plaTrace */
    [2] = &configuration_collector_kind, /* plaConfiguration */
    [3] = &alert_collector_kind,         /* plaAlert */
    [4] = &api_tracing_collector_kind,   /* plaApiTrace */
};
const size_t collector_kind_count = sizeof collector_kinds / sizeof collector_kinds[0];
