/* SPDX-License-Identifier: MIT */
/* The events of an instance's processors as one stream in the order of time. What is handed out is complete up to its
   time: the moment is noted before the rings are asked how much they hold, and events of the last 100 ms are kept back.
   One that a processor took longer to write, as a virtual one may that is stopped meanwhile, comes late and alone. */
#ifndef OPENPLA_TRACE_STREAM_H
#define OPENPLA_TRACE_STREAM_H

#include "engine/etw/trace_instance.h"

enum { TRACE_STREAM_KEPT_NS = 100000000 };
struct trace_stream;
struct trace_record {
    struct ring_event event; /* data until the sink returns */
    uint32_t processor;
};
struct trace_sink {
    /* A failure ends the pass, and the event counts as handed out. */
    HRESULT (*event)(void *context, const struct trace_record *r);
    void *context;
};

/* The instance is borrowed. E_OUTOFMEMORY. */
HRESULT trace_stream_create(struct trace_instance *t, struct trace_stream **out);
/* Takes what the rings hold and hands out every event up to 100 ms before `now`, in ns of the instance's clock, which
   is read before the call. `all`: nothing is recorded any more, and all is handed out. */
HRESULT trace_stream_pass(struct trace_stream *s, uint64_t now, bool all, const struct trace_sink *sink);
/* Of all processors since the beginning: lost in the kernel, and in pages that could not be read. */
uint64_t trace_stream_lost(struct trace_stream *s);
void trace_stream_free(struct trace_stream *s); /* NULL is allowed */

#endif
