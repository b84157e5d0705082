/* SPDX-License-Identifier: MIT */
/* The trace switch for maintainers. With OPENPLA_TRACE=pdh,run, each step in these areas writes one line with the time,
   the process and the thread to stderr, or to the file OPENPLA_TRACE_FILE. docs/developer/debugging.md shows how to use
   it.

   The environment is read at the first step of the process. While an area is off, its steps cost one load and one
   branch, and their arguments are not evaluated. A step allocates no memory, takes no lock and changes neither errno
   nor the last error, so it may be used anywhere except in a signal handler. */
#ifndef OPENPLA_DEBUG_TRACE_H
#define OPENPLA_DEBUG_TRACE_H

#include "engine/base/error.h"

#include <stdint.h>

/* The areas. The word "pla" means the areas from `sets` to `retention`; "all" means every area. */
#define DEBUG_AREAS(AREA)                                                                                              \
    AREA(base)                                                                                                         \
    AREA(logs)                                                                                                         \
    AREA(etw)                                                                                                          \
    AREA(pdh)                                                                                                          \
    AREA(report)                                                                                                       \
    AREA(sets)                                                                                                         \
    AREA(store)                                                                                                        \
    AREA(run)                                                                                                          \
    AREA(collect)                                                                                                      \
    AREA(task)                                                                                                         \
    AREA(retention)                                                                                                    \
    AREA(com)                                                                                                          \
    AREA(rpc)

enum debug_area_number {
#define DEBUG_AREA_NUMBER(name) DEBUG_AREA_NUMBER_##name,
    DEBUG_AREAS(DEBUG_AREA_NUMBER)
#undef DEBUG_AREA_NUMBER
};
enum debug_area {
#define DEBUG_AREA_BIT(name) DEBUG_AREA_##name = 1 << DEBUG_AREA_NUMBER_##name,
    DEBUG_AREAS(DEBUG_AREA_BIT)
#undef DEBUG_AREA_BIT
};

#define DEBUG_TRACE_VARIABLE      "OPENPLA_TRACE"
#define DEBUG_TRACE_FILE_VARIABLE "OPENPLA_TRACE_FILE"
/* Maximum bytes of a line's message; a longer message is truncated. */
enum { DEBUG_TRACE_BYTES = 800 };

/* TRACE_STEP(pdh, "sample: %zu counters", count): an area's name, a printf format and its arguments. */
#define TRACE_STEP(area, ...)                                                                                          \
    do {                                                                                                               \
        if (__builtin_expect(debug_trace_areas & DEBUG_AREA_##area, 0))                                                \
            debug_trace_step(DEBUG_AREA_##area, __VA_ARGS__);                                                          \
    } while (0)

/* Used only by TRACE_STEP. The bits of enum debug_area for the areas that are on. All bits are set until the
   environment has been read. */
extern volatile uint32_t debug_trace_areas;
void debug_trace_step(enum debug_area area, const char *format, ...) PRINTF_LIKE(2, 3);

/* Checks a list of areas as in OPENPLA_TRACE. Fails with E_INVALIDARG if an area is unknown; the error text names the
   first unknown area. */
HRESULT debug_trace_check(const char *list);

#endif
