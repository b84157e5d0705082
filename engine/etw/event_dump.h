/* SPDX-License-Identifier: MIT */
/* Events as files for other programs: CSV, XML and the event log's own form (.evtx) as tracerpt writes them. A stream:
   nothing is kept of an event when the next one comes. What cannot be decoded comes in hexadecimal, with the reason. */
#ifndef OPENPLA_EVENT_DUMP_H
#define OPENPLA_EVENT_DUMP_H

#include "engine/etw/decode/event_schema.h"

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

#endif
