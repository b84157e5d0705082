/* SPDX-License-Identifier: MIT */
/* The contents of a trace, for logstat and `openpla trace schema`: the computer on which it was recorded, and its event
   providers. For each event provider, they include the percentage of its events that can be decoded, and the sources of
   the definitions. */
#ifndef OPENPLA_TRACE_CONTENTS_H
#define OPENPLA_TRACE_CONTENTS_H

#include "cli/output.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/trace_input.h"

/* The kind of definition that decoded an event. */
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
/* Returns a name such as "registered manifest", or for JSON "registeredManifest". */
const char *decoded_by_name(enum decoded_by way, bool for_json);

struct provider_contents {
    GUID provider; /* the event provider or the event's class; zero: unknown */
    char *name;    /* NULL if unknown */
    uint64_t events, decoded, by[DECODED_WAYS];
};

enum { TRACE_MACHINE_MOST = 64 }; /* maximum number of volumes, and maximum number of interfaces */
/* The computer that recorded the trace. Strings are NULL if the trace does not contain them. */
struct trace_machine {
    char *product, *build, *windows_folder;
    uint32_t mhz, processors, memory_mb;
    struct texts volumes;    /* for example "\Device\HarddiskVolume3\ = C:\" or "C: NTFS" */
    struct texts interfaces; /* "Ethernet: Example Adapter" */
    bool mapped;             /* the volumes were written by a program that merges traces */
};

/* Zero-initialise. */
struct trace_contents {
    struct provider_contents *providers; /* sorted by GUID; after trace_contents_sort, by number of events */
    size_t count, capacity, newest;
    uint64_t events, decoded, by[DECODED_WAYS];
    struct trace_machine machine;
};
/* Counts an event; `provider` is the event's provider or class. Fails with E_OUTOFMEMORY. */
HRESULT trace_contents_add(struct trace_contents *c, const GUID *provider, const struct dumped_event *e, bool decoded);
/* Sorts the providers by number of events, in descending order. No event may be added afterwards. */
void trace_contents_sort(struct trace_contents *c);
void trace_contents_free(struct trace_contents *c);

/* Adds a percentage such as "54 %". Only exact values are shown as 0 or 100. */
void add_share(struct text_buffer *b, uint64_t part, uint64_t whole);
/* Prints the computer's data as lines with labels, like logstat. */
void trace_machine_print(const struct trace_machine *m);
void trace_machine_json(const struct trace_machine *m, struct json *j);
/* Prints the lines below "Providers:". */
void trace_providers_print(const struct trace_contents *c);
void trace_providers_json(const struct trace_contents *c, struct json *j);

/* Runs `openpla trace schema`, without these two words in the arguments. Returns an enum cli_exit. */
int trace_schema(int argc, char **argv);

#endif
