/* SPDX-License-Identifier: MIT */
/* Inside the tracer: where the kernel's events come from. The first that can begin is taken; one that breaks down while
   it works is followed by the next. */
#ifndef OPENPLA_KERNEL_SOURCE_H
#define OPENPLA_KERNEL_SOURCE_H

#include "engine/etw/kernel/kernel_tracer.h"

struct kernel_source {
    const char *name; /* as traces, the journal and KERNEL_SOURCE_VARIABLE have it */
    /* Sets k->sources and k->processors; what it is to begin with is in k and in *options. */
    HRESULT (*begin)(struct kernel_tracer *k, const struct kernel_tracer_options *options);
    /* All processes and threads of the beginning are in k's maps. NULL: it does not matter. */
    void (*ran_down)(struct kernel_tracer *k);
    /* As kernel_tracer_pass. */
    HRESULT (*pass)(struct kernel_tracer *k, bool last, const struct kernel_sink *sink);
    /* Asked after a pass that failed. A failure: it gives no events any more. NULL: it always does. */
    HRESULT (*works)(struct kernel_tracer *k);
    /* Events, at least, that it was to give and could not. */
    uint64_t (*lost)(const struct kernel_tracer *k);
    /* S_OK where it had not begun. */
    HRESULT (*end)(struct kernel_tracer *k);
};
extern const struct kernel_source kernel_source_tracefs, kernel_source_polling;

#endif
