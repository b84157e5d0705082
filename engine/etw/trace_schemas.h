/* SPDX-License-Identifier: MIT */
/* What is known of the events of traces: what is registered on this computer, and what a user names. */
#ifndef OPENPLA_TRACE_SCHEMAS_H
#define OPENPLA_TRACE_SCHEMAS_H

#include "engine/etw/decode/manifest/inband_manifests.h"
#include "engine/etw/decode/schemas.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/trace_input.h"

/* What a user names; all borrowed, each may be empty. The options are those of `openpla tracerpt`. */
struct trace_knowledge {
    struct texts manifests;                        /* -import */
    struct texts programs;                         /* -i: with manifests in them, or folders of such, "a;b" each */
    const char *formats;                           /* -tmf, "a;b"; NULL: none */
    const char *format_folders;                    /* -tp, "a;b"; NULL: those of TRACE_FORMAT_SEARCH_PATH */
    bool gmt;                                      /* -gmt: times in the sentences of WPP are UTC */
    void (*told)(void *context, const char *text); /* what could not be used of all that; NULL: nobody is told */
    void *told_context;
};
struct trace_schemas {
    struct event_schemas *all;
    struct inband_manifests *inband; /* those that .NET writes into traces */
    bool gmt;
    void (*told)(void *context, const char *text);
    void *told_context;
};
HRESULT trace_schemas_open(const struct trace_knowledge *known, struct trace_schemas *out);
void trace_schemas_close(struct trace_schemas *schemas);
/* What is known of an event; `found` is to be given back to `all`. A piece of a manifest is taken on the way, and a
   manifest that cannot be used is told. */
HRESULT trace_schemas_find(struct trace_schemas *schemas, const struct trace_event *e, struct dumped_event *out,
                           const struct found_schema **found);

#endif
