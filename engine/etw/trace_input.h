/* SPDX-License-Identifier: MIT */
/* Reads event traces as one, with the events of several files merged by time, and finds the schemas of their events. */
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
    uint32_t pointer_size, timer_resolution; /* properties of the event's file or session */
    bool known;      /* false: a header of an unknown form, in which case UserData is the whole event */
    size_t input;    /* index of the event's trace; 0 for sessions */
    uint64_t number; /* number of the event in reading order, starting from 1, the same whenever the same files are
                        read; 0 for sessions */
};
/* Called for each event. If it fails, the reader stops and returns this failure. If it returns S_FALSE, the reader
   stops successfully. */
typedef HRESULT trace_take(void *context, const struct trace_event *e);

struct trace_input {
    char *path;
    struct etl_reader *reader;
    const struct etl_record *event; /* the next event, unless `ended` */
    bool header, ended;
    bool begun;               /* the header event of the trace was passed on */
    uint64_t buffers, events; /* buffers and events passed on so far */
    struct texts warnings;    /* warnings about corrupt data */
};

/* Reports the progress in bytes. The reader calls this function at the end of each buffer. */
typedef void trace_progress(void *context, uint64_t done, uint64_t total);

/* Zero-initialise. */
struct trace_inputs {
    struct trace_input *items;
    size_t count, capacity;
    bool raw;                      /* times are raw timestamps of the file's clock, not FILETIMEs */
    bool ranged;                   /* return only events from `from` to `to`, and the header event of each log */
    int64_t from, to;              /* FILETIMEs, inclusive */
    struct trace_schemas *schemas; /* learns the definitions in events outside the time range; may be NULL */
    uint64_t events_lost;          /* lost events that the logs report */
    uint64_t number;               /* number of the latest event */
    struct event_view *view;
    struct trace_input *current; /* the trace whose event trace_inputs_next returned last */
    trace_progress *progress;    /* NULL: not reported */
    void *progress_context;
};

/* Opens the traces. A name with * or ? selects all matching files. */
HRESULT trace_inputs_open(struct trace_inputs *in, const struct texts *paths);
/* Advances to the first event or, after trace_inputs_grow, to the first added event. */
HRESULT trace_inputs_begin(struct trace_inputs *in);
/* Returns the next event of all traces, valid until the next call; S_FALSE at the end. */
HRESULT trace_inputs_next(struct trace_inputs *in, struct trace_event *out);
/* Calls trace_inputs_begin and then `take` for every event. `progress` may be NULL. */
HRESULT trace_inputs_read(struct trace_inputs *in, trace_take *take, void *context, trace_progress *progress,
                          void *progress_context);
/* Allows reading traces that are still being written; call it before the first reading. Incomplete buffers are read
   when they are complete. */
HRESULT trace_inputs_follow(struct trace_inputs *in);
/* Checks whether data were added to the traces. Returns S_FALSE if there are no new data. */
HRESULT trace_inputs_grow(struct trace_inputs *in);
void trace_inputs_close(struct trace_inputs *in);

/* Builds the EVENT_RECORD of a logged event, also for headers of unknown form. */
void trace_event_view(const struct etl_record *e, const struct etl_log *log, bool raw, struct event_view *view,
                      struct trace_event *out);

/* ---- schemas: those registered on this computer and those that a user names ---- */

/* Sources of schemas that a user names. Each comment begins with the option of `openpla tracerpt` for the source. All
   members are borrowed and may be empty. */
struct trace_knowledge {
    struct texts manifests;     /* -import: manifests, or folders with manifests */
    struct texts programs;      /* -i: programs with manifests, or folders with such programs, separated by ';' */
    const char *formats;        /* -tmf: TMF files separated by ';'; NULL: none */
    const char *format_folders; /* -tp: folders separated by ';'; NULL: those of TRACE_FORMAT_SEARCH_PATH */
    bool gmt;                   /* -gmt: times in WPP messages are UTC */
    void (*warn)(void *context, const char *text); /* called with each source that could not be used; may be NULL */
    void *warn_context;
};
struct trace_schemas {
    struct event_schemas *all;
    struct inband_manifests *inband; /* manifests that .NET wrote into the traces */
    struct trace_metadata *metadata; /* definitions that a program added when it merged traces */
    bool gmt;
    void (*warn)(void *context, const char *text);
    void *warn_context;
};
HRESULT trace_schemas_open(const struct trace_knowledge *known, struct trace_schemas *out);
void trace_schemas_close(struct trace_schemas *schemas);
/* An event can contain definitions of other events. Learns these definitions, and warns about those that cannot be
   used. */
HRESULT trace_schemas_learn(struct trace_schemas *schemas, const struct trace_event *e);
/* Finds the schema of an event; call trace_schemas_learn first. Release *found with
   found_schema_release(schemas->all). */
HRESULT trace_schemas_find(struct trace_schemas *schemas, const struct trace_event *e, struct dumped_event *out,
                           const struct found_schema **found);

#endif
