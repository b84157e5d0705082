/* SPDX-License-Identifier: MIT */
/* What the forms of a dump are: how they begin, what an event is, how they end. */
#ifndef OPENPLA_EVENT_DUMP_FORM_H
#define OPENPLA_EVENT_DUMP_FORM_H

#include "engine/tdh/dump_text.h"
#include "engine/tdh/event_dump.h"
#include "engine/tdh/event_inserts.h"
#include "engine/tdh/event_values.h"

struct event_dump {
    struct event_dump_options options;
    const struct event_dump_writer *writer;
    struct text_buffer text;      /* not written yet */
    struct text_buffer cell;      /* of one value */
    struct event_inserts inserts; /* of the event, for its message and its UserData */
    struct dump_clock clock;
    bool begun; /* something was written */
};

/* Of an event that was begun. */
enum { EVENT_DUMP_DEPTH = 64 };
struct event_dump_step {
    struct event_dump *dump;
    const struct dumped_event *event;
    bool elements;                         /* names of values are elements (UserData) */
    const char *structs[EVENT_DUMP_DEPTH]; /* the elements of those that are open */
    unsigned depth;
};

struct event_dump_writer {
    void (*begin)(struct event_dump *d);
    void (*head)(struct event_dump_step *s); /* what comes before the values */
    HRESULT (*values)(struct event_dump_step *s);
    event_value_taker *value;
    void (*end_values)(struct event_dump_step *s);
    /* Bytes that could not be decoded, in place of the values or behind them; `code` is Windows'. */
    void (*undecoded)(struct event_dump_step *s, const uint8_t *bytes, size_t size, uint32_t code, const char *reason);
    void (*tail)(struct event_dump_step *s);
    void (*end)(struct event_dump *d);
};
extern const struct event_dump_writer event_dump_csv, event_dump_xml;

#endif
