/* SPDX-License-Identifier: MIT */
/* The contents of a trace: the computer on which it was recorded, and its event providers with the percentage of their
   events that can be decoded, and the sources that decode them. For logstat and `openpla trace schema`. */
#ifndef OPENPLA_TRACE_CONTENTS_H
#define OPENPLA_TRACE_CONTENTS_H

#include "cli/output.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/trace_input.h"

/* What decoded an event. */
enum decoded_by {
    DECODED_BY_ITSELF, /* TraceLogging */
    DECODED_BY_CLASS,  /* MOF */
    DECODED_BY_FORMAT, /* TMF */
    DECODED_BY_COMPUTER,
    DECODED_BY_USER,
    DECODED_BY_MERGER,
    DECODED_BY_WRITER,
    DECODED_BY_TEXT, /* EventWriteString */
    DECODED_WAYS,
};
/* "registered manifest"; for JSON "registeredManifest". */
const char *decoded_by_name(enum decoded_by way, bool for_json);

struct provider_contents {
    GUID provider; /* or class; zero: unknown */
    char *name;    /* NULL: unknown */
    uint64_t events, decoded, by[DECODED_WAYS];
};

enum { TRACE_MACHINE_MOST = 64 }; /* volumes, and interfaces */
/* Strings are NULL if the trace has none. */
struct trace_machine {
    char *product, *build, *windows_folder;
    uint32_t mhz, processors, memory_mb;
    struct texts volumes;    /* "\Device\HarddiskVolume3\ = C:\", or "C: NTFS" */
    struct texts interfaces; /* "Ethernet: Example Adapter" */
    bool mapped;             /* the volumes were written by a merging program */
};

/* Zero-initialise. */
struct trace_contents {
    struct provider_contents *providers; /* sorted by GUID, then (trace_contents_sort) by number of events */
    size_t count, capacity, newest;
    uint64_t events, decoded, by[DECODED_WAYS];
    struct trace_machine machine;
};
/* Counts an event; `provider` is the event's provider, or its class. E_OUTOFMEMORY. */
HRESULT trace_contents_add(struct trace_contents *c, const GUID *provider, const struct dumped_event *e, bool decoded);
/* The provider with the most events comes first. No event may be added afterwards. */
void trace_contents_sort(struct trace_contents *c);
void trace_contents_free(struct trace_contents *c);

/* "54 %"; a fraction never becomes 0 or 100. */
void add_share(struct text_buffer *b, uint64_t part, uint64_t whole);
/* Lines with labels in a column, as logstat prints them. */
void trace_machine_print(const struct trace_machine *m);
void trace_machine_json(const struct trace_machine *m, struct json *j);
/* The lines below "Providers:". */
void trace_providers_print(const struct trace_contents *c);
void trace_providers_json(const struct trace_contents *c, struct json *j);

/* `openpla trace schema`, without these two words. Returns an enum cli_exit. */
int trace_schema(int argc, char **argv);

#endif
