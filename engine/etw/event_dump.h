/* SPDX-License-Identifier: MIT */
/* Writes events to files for other programs (CSV, XML and the event log's .evtx, as tracerpt does) and summarizes the
   kinds of events in a trace. Dumps are streams: nothing is kept from one event to the next. Data that cannot be
   decoded are written in hexadecimal, with the reason. */
#ifndef OPENPLA_EVENT_DUMP_H
#define OPENPLA_EVENT_DUMP_H

#include "engine/base/text.h"
#include "engine/etw/decode/event_schema.h"
#include "engine/etw/decode/manifest/manifest_document.h"

/* An event and the information known about it. All pointers are borrowed. */
struct dumped_event {
    const EVENT_RECORD *record;
    const struct event_schema *schema; /* NULL: unknown */
    const char *reason;                /* why the schema is unknown */
    uint32_t pointer_size;             /* pointer size of the trace; used for events whose header has no pointer size */
    uint32_t timer_resolution;         /* length of one unit of the header's KernelTime and UserTime, in 100 ns */
    bool gmt;                          /* times in WPP messages are UTC, otherwise local */
};

enum event_dump_form { EVENT_DUMP_CSV, EVENT_DUMP_XML, EVENT_DUMP_EVTX };
enum event_dump_encoding { EVENT_DUMP_UTF8, EVENT_DUMP_ANSI, EVENT_DUMP_UTF16 /* with a byte order mark */ };
struct event_dump_options {
    enum event_dump_form form;
    enum event_dump_encoding encoding; /* applies to CSV; XML is always UTF-8 */
    bool raw_time;                     /* the header's time is a raw timestamp of the trace's clock, not a FILETIME */
    bool lenient; /* for data that do not match their schema, write the values that could be read and the rest in
                     hexadecimal */
    /* Receives the output. A failure becomes the result of the dump. */
    HRESULT (*write)(void *context, const void *bytes, size_t size);
    /* EVTX only: overwrites the output at `offset`, because the file's header is known only at the end. */
    HRESULT (*write_at)(void *context, uint64_t offset, const void *bytes, size_t size);
    void *context;
};

struct event_dump;
/* Begins a dump. Fails with E_OUTOFMEMORY or with the failure that `write` returned. */
HRESULT event_dump_create(const struct event_dump_options *options, struct event_dump **out);
/* Writes an event. *decoded is true if the event has a schema, its data match the schema and, in EVTX files, the event
   fits into a record. After a failure the dump must not be continued; HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE) means
   that the EVTX file is full. */
HRESULT event_dump_add(struct event_dump *d, const struct dumped_event *e, bool *decoded);
/* Ends the dump and frees it, even on failure. NULL is allowed. */
HRESULT event_dump_close(struct event_dump *d);

/* Returns "Provider/Event" for a TraceLogging event, the task name (for example "Process") for an event of a MOF class,
   otherwise the provider's name. An event without a schema has a name only if its provider is well known. NULL if
   unknown. A composed name is written to `room`. */
const char *dumped_event_name(const struct dumped_event *e, struct text_buffer *room);
/* Appends the text of a WPP message with its arguments. Returns EVENT_DATA_INVALID if the data are too short. */
HRESULT dumped_event_sentence(const struct dumped_event *e, struct text_buffer *out);
/* Decodes the event and discards the result. */
HRESULT dumped_event_decodes(const struct dumped_event *e, bool *decoded);
/* Returns the data of the event's extended item of this type; NULL if the event has no such item of at least `size`
   bytes. */
const void *dumped_event_item(const struct dumped_event *e, uint16_t type, size_t size);

/* ---- the table of tracerpt's summary: number of events of each kind ---- */

/* Zero-initialise. */
struct event_summary {
    struct summary_kind *kinds; /* hash table of `room` entries */
    size_t count, room;
    uint64_t events, undecoded; /* `undecoded` is included in `events` */
    int64_t first, last;        /* times of the headers */
    struct text_buffer name;    /* scratch space for lookups */
};

/* Beyond this number, all further kinds are counted as one, which limits the memory. */
enum { EVENT_SUMMARY_KINDS = 65536 };
/* Counts an event. Fails only with E_OUTOFMEMORY. */
HRESULT event_summary_count(struct event_summary *s, const struct dumped_event *e, bool decoded);
/* Appends the table, in descending order of the number of events. If there were more than EVENT_SUMMARY_KINDS kinds,
   the last row has the events of all further kinds. */
HRESULT event_summary_table(const struct event_summary *s, struct text_buffer *out);
void event_summary_free(struct event_summary *s);

/* ---- kinds of events and their schemas: tracerpt -export and -int ---- */

struct counted_kind {
    const struct found_schema *found; /* held (found_schema_hold) */
    GUID provider;
    EVENT_DESCRIPTOR descriptor; /* descriptor of the first event of this kind */
    uint64_t events, undecoded;  /* `undecoded` is included in `events` */
};
/* Zero-initialise and set `schemas`, which must outlive it. */
struct event_kinds {
    struct event_schemas *schemas;
    struct counted_kind *items; /* in order of appearance */
    size_t count, capacity;
    uint32_t *places; /* hash table of indexes in `items`, plus 1; 0: free */
    size_t room;
    uint64_t events_more; /* number of events that belong to no kind in `items`, because `items` already has
                             EVENT_KINDS_MOST kinds */
};
enum { EVENT_KINDS_MOST = 16384 }; /* the schema of each kind stays in memory, so the number of kinds is limited */
/* Counts an event. Fails only with E_OUTOFMEMORY. */
HRESULT event_kinds_count(struct event_kinds *s, const EVENT_RECORD *event, const struct found_schema *found,
                          bool decoded);
void event_kinds_free(struct event_kinds *s);

/* Adds the event providers to the document. Each provider gets the counted events that its manifest defines. For
   skipped events, adds their number and the reason to `warnings`. */
HRESULT event_kinds_export(const struct event_kinds *s, struct manifest_document *d, struct texts *warnings);
/* Appends a description of each kind: the number of events, the names, and each property with its type, length, count
   and map. For an unknown kind, appends the reason in place of the properties. Lines end with CR LF. */
HRESULT event_kinds_structures(const struct event_kinds *s, struct text_buffer *out);

/* ---- parts of dumps; the buffer remembers a failed allocation ---- */

/* Caches the text of the current second. Zero-initialise. */
struct dump_clock {
    int64_t second;
    char text[24];
    size_t length; /* 0: nothing cached */
};
/* Appends "2026-12-31T23:59:59.1234567" for a FILETIME, without a Z or offset. */
void dump_time(struct text_buffer *b, struct dump_clock *clock, int64_t filetime);

/* Appends the text in quotation marks, and doubles the quotation marks inside it. Line ends and other control
   characters become spaces, so an event stays on one line. */
void dump_quoted(struct text_buffer *b, const char *text, size_t size);
/* Returns whether the text contains no quotation marks and no control characters. dump_quoted adds only the enclosing
   quotation marks to such a text. */
bool dump_is_quotable(const char *text, size_t size);

#endif
