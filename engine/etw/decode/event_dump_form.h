/* SPDX-License-Identifier: MIT */
/* Shared by the writers of event files: what a format consists of, and the strings that an event's message inserts. */
#ifndef OPENPLA_EVENT_DUMP_FORM_H
#define OPENPLA_EVENT_DUMP_FORM_H

#include "engine/etw/decode/event_schema.h"

enum { EVENT_INSERTS_MOST = 99 };
/* Zero-initialise. */
struct event_inserts {
    struct text_buffer texts; /* each with its NUL */
    size_t starts[EVENT_INSERTS_MOST];
    bool there[EVENT_INSERTS_MOST];
    size_t last; /* property + 1 that the end of `texts` is of */
};
/* Of the next event. */
void event_inserts_clear(struct event_inserts *inserts);
void event_inserts_free(struct event_inserts *inserts);
/* The text of a value at the top, in the order of the properties; of an array one after another, with commas between.
 */
void event_inserts_add(struct event_inserts *inserts, size_t property, const char *text);

/* Adds the schema's message, %n being property n. Nothing when it has none. */
void event_inserts_add_message(const struct event_inserts *inserts, const struct event_schema *schema,
                               struct text_buffer *out);
/* Adds the XML of the schema's UserData, with the texts escaped. */
void event_inserts_add_user_data(const struct event_inserts *inserts, const struct event_schema *schema,
                                 struct text_buffer *out);

/* ---- formats: how a file begins, what an event is, how it ends ---- */

#define EVENT_DUMP_EVENT_SPACE "http://schemas.microsoft.com/win/2004/08/events/event"
#define EVENT_DUMP_TRACE_SPACE "http://schemas.microsoft.com/win/2004/08/events/trace"

#include "engine/etw/decode/evtx/evtx.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/event_values.h"

struct event_dump {
    struct event_dump_options options;
    const struct event_dump_writer *writer;
    struct text_buffer text;      /* not written yet */
    struct text_buffer cell;      /* of one value */
    struct event_inserts inserts; /* of the event, for its message and its UserData */
    struct dump_clock clock;
    bool begun;                /* something was written */
    struct evtx_writer *log;   /* of EVTX */
    struct evtx_record record; /* the event's */
    struct byte_buffer array;  /* texts of its values, while they come */
};

/* Of an event that was begun. */
enum { EVENT_DUMP_DEPTH = 64 };
struct event_dump_step {
    struct event_dump *dump;
    const struct dumped_event *event;
    bool elements;                         /* names of values are elements (UserData) */
    const char *structs[EVENT_DUMP_DEPTH]; /* the elements of those that are open */
    unsigned depth;
    struct evtx_place before_values;
    bool in_array; /* one is open, whose values are in the dump's */
    bool too_long; /* for a record of EVTX: it has a part of the data */
};

struct event_dump_writer {
    HRESULT (*begin)(struct event_dump *d);
    void (*head)(struct event_dump_step *s); /* what comes before the values */
    HRESULT (*values)(struct event_dump_step *s);
    event_value_taker *value;
    void (*end_values)(struct event_dump_step *s);
    void (*take_back)(struct event_dump_step *s); /* all since `values` began; NULL: it is text */
    /* Bytes that could not be decoded, in place of the values or behind them; `code` is Windows'. */
    /* `code`: ERROR_NOT_FOUND when no schema is known, so that the bytes are all there is. */
    void (*undecoded)(struct event_dump_step *s, const uint8_t *bytes, size_t size, uint32_t code, const char *reason);
    HRESULT (*tail)(struct event_dump_step *s);
    void (*end)(struct event_dump *d);
    HRESULT (*written)(struct event_dump *d); /* all is in the file; may be NULL */
};
extern const struct event_dump_writer event_dump_csv, event_dump_xml, event_dump_evtx;

/* A name that an element may have; others are attributes. */
bool event_dump_is_element_name(const char *name);
/* The number of the processor on which it was written. */
static inline uint16_t event_dump_processor(const EVENT_RECORD *r)
{
    return (r->EventHeader.Flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX) != 0 ? r->BufferContext.ProcessorIndex
                                                                           : r->BufferContext.ProcessorNumber;
}
/* TEMPLATE_FLAGS: the values are below UserData. */
enum { EVENT_DUMP_USER_DATA = 2 };

#endif
