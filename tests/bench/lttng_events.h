/* SPDX-License-Identifier: MIT */
/* The event of bench_lttng, in the form that LTTng-UST's macros require: this file is included several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/bench/lttng_events.h"

#if !defined(OPENPLA_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define OPENPLA_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(bench, event64, LTTNG_UST_TP_ARGS(const unsigned char *, payload),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_array(unsigned char, payload, payload, 64)))

#endif

#include <lttng/tracepoint-event.h>
