/* SPDX-License-Identifier: MIT */
/* What the verbs over traces know of events: what is registered on this computer, and what the command line names. */
#ifndef OPENPLA_CLI_TRACE_SCHEMAS_H
#define OPENPLA_CLI_TRACE_SCHEMAS_H

#include "cli/trace_input.h"
#include "engine/tdh/event_dump.h"
#include "engine/tdh/inband_manifests.h"
#include "engine/tdh/schemas.h"

/* Names of the command line; all borrowed, each may be empty. */
struct trace_knowledge {
    struct texts manifests;     /* -import */
    struct texts programs;      /* -i: with manifests in them, or folders of such, "a;b" each */
    const char *formats;        /* -tmf, "a;b"; NULL: none */
    const char *format_folders; /* -tp, "a;b"; NULL: those of TRACE_FORMAT_SEARCH_PATH */
    bool gmt;                   /* -gmt: times in the sentences of WPP are UTC */
};
struct trace_schemas {
    struct event_schemas *all;
    struct inband_manifests *inband; /* those that .NET writes into traces */
    bool gmt;
};
HRESULT trace_schemas_open(const struct trace_knowledge *known, struct trace_schemas *out);
void trace_schemas_close(struct trace_schemas *schemas);
/* What is known of an event; `found` is to be given back to `all`. A piece of a manifest is taken on the way, and a
   manifest that cannot be used is told on stderr. */
HRESULT trace_schemas_find(struct trace_schemas *schemas, const struct trace_event *e, struct dumped_event *out,
                           const struct found_schema **found);

#endif
