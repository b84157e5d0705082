/* SPDX-License-Identifier: MIT */
/* Event traces read as one, with the events of several files in the order of time, and what is known of their events.
 */
#ifndef OPENPLA_TRACE_INPUT_H
#define OPENPLA_TRACE_INPUT_H

#include "engine/etw/consumer/event_view.h"
#include "engine/etw/decode/event_schema.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/manifest_origins.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/log_inputs.h"

struct trace_event {
    const EVENT_RECORD *record;
    uint32_t pointer_size, timer_resolution; /* of the file, or of the session */
    bool known; /* false: a form of header that nobody knows; UserData is the whole event */
};
/* What is made of an event. A failure ends the reading and is its result; S_FALSE ends it, and all is well. */
typedef HRESULT trace_take(void *context, const struct trace_event *e);

struct trace_input {
    char *path;
    struct etl_reader *reader;
    struct etl_record event; /* to be given next, if it is not `ended` */
    bool header, ended;
    bool begun;               /* its header was given */
    uint64_t buffers, events; /* given */
    struct texts warnings;    /* what is damaged */
};

/* Zero-initialise. */
struct trace_inputs {
    struct trace_input *items;
    size_t count, capacity;
    bool raw;             /* times are stamps of the file's clock, not FILETIMEs */
    bool ranged;          /* only events of the time from `from` to `to`, and each log's header */
    int64_t from, to;     /* FILETIMEs, inclusive */
    uint64_t events_lost; /* as the logs say it */
    struct event_view *view;
};

/* Opens the traces. A name with * or ? stands for all files that it matches. */
HRESULT trace_inputs_open(struct trace_inputs *in, const struct texts *paths);
/* Bytes of the files, at the end of each buffer. */
typedef void trace_progress(void *context, uint64_t done, uint64_t total);
/* `progress` NULL: nobody is told. */
HRESULT trace_inputs_read(struct trace_inputs *in, trace_take *take, void *context, trace_progress *progress,
                          void *progress_context);
/* For traces that are still written, before the first reading: what is no whole buffer yet comes later. */
HRESULT trace_inputs_follow(struct trace_inputs *in);
/* Is there more to read now? S_FALSE: not yet. */
HRESULT trace_inputs_grow(struct trace_inputs *in);
void trace_inputs_close(struct trace_inputs *in);

/* EVENT_RECORD of what a log holds, also of a form that nobody knows. */
void trace_event_view(const struct etl_record *e, const struct etl_log *log, bool raw, struct event_view *view,
                      struct trace_event *out);

/* ---- schemas: what is registered on this computer, and what a user names ---- */

/* What a user names; all borrowed, each may be empty. The options are those of `openpla tracerpt`. */
struct trace_knowledge {
    struct texts manifests;                        /* -import */
    struct texts programs;                         /* -i: with manifests in them, or folders of such, "a;b" each */
    const char *formats;                           /* -tmf, "a;b"; NULL: none */
    const char *format_folders;                    /* -tp, "a;b"; NULL: those of TRACE_FORMAT_SEARCH_PATH */
    bool gmt;                                      /* -gmt: times in the sentences of WPP are UTC */
    void (*warn)(void *context, const char *text); /* what could not be used of all that; NULL: nobody is told */
    void *warn_context;
};
struct trace_schemas {
    struct event_schemas *all;
    struct inband_manifests *inband; /* those that .NET writes into traces */
    bool gmt;
    void (*warn)(void *context, const char *text);
    void *warn_context;
};
HRESULT trace_schemas_open(const struct trace_knowledge *known, struct trace_schemas *out);
void trace_schemas_close(struct trace_schemas *schemas);
/* What is known of an event; `found` is to be given back to `all`. A piece of a manifest is taken on the way, and a
   manifest that cannot be used is told. */
HRESULT trace_schemas_find(struct trace_schemas *schemas, const struct trace_event *e, struct dumped_event *out,
                           const struct found_schema **found);

#endif
