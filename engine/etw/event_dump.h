/* SPDX-License-Identifier: MIT */
/* Events as files for other programs (CSV, XML and the event log's .evtx, as tracerpt writes them), and summaries of
   the kinds of events that were read. Writing is a stream: nothing of an event is kept when the next one comes. What
   cannot be decoded is written in hexadecimal, with the reason. */
#ifndef OPENPLA_EVENT_DUMP_H
#define OPENPLA_EVENT_DUMP_H

#include "engine/base/text.h"
#include "engine/etw/decode/event_schema.h"
#include "engine/etw/decode/manifest/manifest_document.h"

/* An event, and what is known of it. All borrowed. */
struct dumped_event {
    const EVENT_RECORD *record;
    const struct event_schema *schema; /* NULL: nobody knows it */
    const char *reason;                /* why not */
    uint32_t pointer_size;             /* of the trace, for events that do not tell their own */
    uint32_t timer_resolution;         /* 100 ns in a unit of the header's KernelTime and UserTime */
    bool gmt;                          /* times in a sentence of WPP are UTC, else local */
};

enum event_dump_form { EVENT_DUMP_CSV, EVENT_DUMP_XML, EVENT_DUMP_EVTX };
enum event_dump_encoding { EVENT_DUMP_UTF8, EVENT_DUMP_ANSI, EVENT_DUMP_UTF16 /* with a byte order mark */ };
struct event_dump_options {
    enum event_dump_form form;
    enum event_dump_encoding encoding; /* of CSV; XML is UTF-8 */
    bool raw_time;                     /* the header's time is a stamp of the trace's clock, no FILETIME */
    bool
        lenient; /* of data that do not fit their schema: the values that could be read, then the rest in hexadecimal */
    /* Takes what is written; its failure is that of the dump. */
    HRESULT (*write)(void *context, const void *bytes, size_t size);
    /* Of EVTX, whose header is known at the end: writes over what was written from that byte on. */
    HRESULT (*write_at)(void *context, uint64_t offset, const void *bytes, size_t size);
    void *context;
};

struct event_dump;
/* Begins the dump. Errors: E_OUTOFMEMORY, and those of `write`. */
HRESULT event_dump_create(const struct event_dump_options *options, struct event_dump **out);
/* *decoded: it was known, its data fit, and a record of EVTX held them. After a failure the dump is at its end, which
   is ERROR_FILE_TOO_LARGE's HRESULT where EVTX has no more room. */
HRESULT event_dump_add(struct event_dump *d, const struct dumped_event *e, bool *decoded);
/* Ends the dump and frees it, also when it fails. NULL is allowed. */
HRESULT event_dump_close(struct event_dump *d);

/* "Provider/Event" of an event without a number, "Process" of a class, else its provider; NULL: nobody knows. Written
   into `room` when it is made of two. */
const char *dumped_event_name(const struct dumped_event *e, struct text_buffer *room);
/* Adds the sentence of a message of WPP, with its arguments. EVENT_DATA_INVALID: its data end too early. */
HRESULT dumped_event_sentence(const struct dumped_event *e, struct text_buffer *out);
/* Decodes and throws away. */
HRESULT dumped_event_decodes(const struct dumped_event *e, bool *decoded);
/* The data of an item of the event's header, NULL: it has none of at least `size` bytes. */
const void *dumped_event_item(const struct dumped_event *e, uint16_t type, size_t size);

/* ---- the table of tracerpt's summary: events of each kind ---- */

/* Zero-initialise. */
struct event_summary {
    struct summary_kind *kinds; /* a table of hashes with free places */
    size_t count, room;
    uint64_t events, undecoded; /* ... which are among the events */
    int64_t first, last;        /* the header's times */
    struct text_buffer name;    /* while one is looked up */
};

/* Sorts beyond this many are counted as one, so that no trace needs more memory than that. */
enum { EVENT_SUMMARY_KINDS = 65536 };
/* E_OUTOFMEMORY. */
HRESULT event_summary_count(struct event_summary *s, const struct dumped_event *e, bool decoded);
/* Adds the table, the sort with the most events first, and its line of what was not decoded. */
HRESULT event_summary_table(const struct event_summary *s, struct text_buffer *out);
void event_summary_free(struct event_summary *s);

/* ---- kinds of events and what decodes them: tracerpt -export and -int ---- */

struct counted_kind {
    const struct found_schema *found; /* held */
    GUID provider;
    EVENT_DESCRIPTOR descriptor; /* of the first event */
    uint64_t events, undecoded;  /* ... which are among the events */
};
/* Zero-initialise, and set `schemas`, which must live longer. */
struct event_kinds {
    struct event_schemas *schemas;
    struct counted_kind *items; /* as they were met */
    size_t count, capacity;
    uint32_t *places; /* a table of hashes: index + 1, 0: free */
    size_t room;
    uint64_t events_more; /* of sorts beyond EVENT_KINDS_MOST */
};
enum { EVENT_KINDS_MOST = 16384 }; /* their schemas are kept: no trace needs more memory than that */
/* E_OUTOFMEMORY. */
HRESULT event_kinds_count(struct event_kinds *s, const EVENT_RECORD *event, const struct found_schema *found,
                          bool decoded);
void event_kinds_free(struct event_kinds *s);

/* Adds the providers with those of the events that a manifest says. What is left out is a text in `remarks`: how many
   events of how many sorts, and why. */
HRESULT event_kinds_export(const struct event_kinds *s, struct manifest_document *d, struct texts *warnings);
/* Adds, sort by sort, the names, the properties with their types, lengths, counts and maps, and the number of events;
   of those that nobody knows the reason. Lines end with CR LF. */
HRESULT event_kinds_structures(const struct event_kinds *s, struct text_buffer *out);

/* ---- pieces of dumps; out of memory sticks in the buffer ---- */

/* Events of one second follow each other: its text is kept. Zero-initialise. */
struct dump_clock {
    int64_t second;
    char text[24];
    size_t length; /* 0: none kept */
};
/* "2026-12-31T23:59:59.1234567" of a FILETIME, the letters Z or an offset not included. */
void dump_time(struct text_buffer *b, struct dump_clock *clock, int64_t filetime);

/* In quotation marks, those inside doubled; line ends and other controls become blanks, so an event stays a line. */
void dump_quoted(struct text_buffer *b, const char *text, size_t size);

#endif
