/* SPDX-License-Identifier: MIT */
/* Declares what the writers of event files share: the functions that each format provides, and the strings to insert
   into an event's message. */
#ifndef OPENPLA_EVENT_DUMP_FORM_H
#define OPENPLA_EVENT_DUMP_FORM_H

#include "engine/etw/decode/event_schema.h"

enum { EVENT_INSERTS_MOST = 99 };
/* Zero-initialise. */
struct event_inserts {
    struct text_buffer texts; /* the strings, each with a NUL */
    size_t starts[EVENT_INSERTS_MOST];
    bool there[EVENT_INSERTS_MOST];
    size_t last; /* 1 + index of the last property that was added; 0: none */
};
/* Clears the strings for the next event. */
void event_inserts_clear(struct event_inserts *inserts);
void event_inserts_free(struct event_inserts *inserts);
/* Adds the text of a top-level value. Call it in the order of the properties. Several values of one property are the
   elements of an array and are joined with commas. */
void event_inserts_add(struct event_inserts *inserts, size_t property, const char *text);

/* Appends the schema's message with property n in place of %n. Appends nothing if the schema has no message. */
void event_inserts_add_message(const struct event_inserts *inserts, const struct event_schema *schema,
                               struct text_buffer *out);
/* Appends the XML of the schema's UserData, with escaped texts. */
void event_inserts_add_user_data(const struct event_inserts *inserts, const struct event_schema *schema,
                                 struct text_buffer *out);

/* ---- the writers of the formats ---- */

#define EVENT_DUMP_EVENT_SPACE "http://schemas.microsoft.com/win/2004/08/events/event"
#define EVENT_DUMP_TRACE_SPACE "http://schemas.microsoft.com/win/2004/08/events/trace"

#include "engine/etw/decode/evtx/evtx.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/event_values.h"

struct event_dump {
    struct event_dump_options options;
    const struct event_dump_writer *writer;
    struct text_buffer text;      /* output that is not written yet */
    struct text_buffer cell;      /* the current value */
    struct event_inserts inserts; /* strings for the event's message and UserData */
    struct dump_clock clock;
    bool begun;                /* something was written */
    struct evtx_writer *log;   /* EVTX only */
    struct evtx_record record; /* record of the current event */
    struct byte_buffer array;  /* strings of the current array */
};

/* State of the event being written. */
enum { EVENT_DUMP_DEPTH = 64 };
struct event_dump_step {
    struct event_dump *dump;
    const struct dumped_event *event;
    bool elements;                         /* each value becomes an element with the value's name (UserData) */
    const char *structs[EVENT_DUMP_DEPTH]; /* element names of the open structs */
    unsigned depth;
    struct evtx_place before_values;
    bool in_array; /* an array is open; its values are in event_dump.array */
    bool too_long; /* the EVTX record contains only a part of the data */
};

struct event_dump_writer {
    HRESULT (*begin)(struct event_dump *d);
    void (*head)(struct event_dump_step *s); /* writes everything before the values */
    HRESULT (*values)(struct event_dump_step *s);
    event_value_taker *value;
    void (*end_values)(struct event_dump_step *s);
    void (*discard_values)(struct event_dump_step *s); /* drops the output that `values` and `value` have written;
                                                          NULL: the caller truncates the output */
    /* Writes bytes that could not be decoded. If some values were decoded, the bytes follow these values. `code` is a
       Windows error code; ERROR_NOT_FOUND means that no schema is known; `bytes` are then all data of the event. */
    void (*undecoded)(struct event_dump_step *s, const uint8_t *bytes, size_t size, uint32_t code, const char *reason);
    HRESULT (*tail)(struct event_dump_step *s);
    void (*end)(struct event_dump *d);
    HRESULT (*written)(struct event_dump *d); /* called after everything has been written to the file; may be NULL */
};
extern const struct event_dump_writer event_dump_csv, event_dump_xml, event_dump_evtx;

/* Returns whether an element can have this name. Other names become attributes. */
bool event_dump_is_element_name(const char *name);
/* Returns the number of the processor that wrote the event. */
static inline uint16_t event_dump_processor(const EVENT_RECORD *r)
{
    return (r->EventHeader.Flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX) != 0 ? r->BufferContext.ProcessorIndex
                                                                           : r->BufferContext.ProcessorNumber;
}
/* TEMPLATE_FLAGS: the values are inside UserData. */
enum { EVENT_DUMP_USER_DATA = 2 };

#endif
