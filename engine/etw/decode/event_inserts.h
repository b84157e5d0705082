/* SPDX-License-Identifier: MIT */
/* The texts of an event's values for what names them by number: its message, and its UserData. */
#ifndef OPENPLA_EVENT_INSERTS_H
#define OPENPLA_EVENT_INSERTS_H

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

#endif
