/* SPDX-License-Identifier: MIT */
/* Messages of an event provider by language, in the form of RT_MESSAGETABLE resources, their inserts, and the languages
   of resources (MS-LCID). Text is UTF-8. */
#ifndef OPENPLA_MESSAGE_TABLES_H
#define OPENPLA_MESSAGE_TABLES_H

#include "engine/base/text.h"

#include <stdbool.h>
#include <stdint.h>

#define MESSAGE_NONE 0xFFFFFFFFu /* means: no message */

struct message {
    uint32_t id;
    char *text;
};
struct message_language {
    char *name; /* "en-US"; "" is the neutral language */
    struct message *items;
    size_t count, capacity;
    bool sorted; /* sorted by id without duplicates */
};
struct message_tables {
    struct message_language *items;
    size_t count, capacity;
    size_t bytes; /* of all added texts, with their entries */
};

/* Copies a text. If an id has two texts in the same language, the first one is used. */
HRESULT message_tables_add(struct message_tables *tables, const char *language, uint32_t id, const char *text);
/* Call it once after adding the last message; before that, no message is found. */
void message_tables_sort(struct message_tables *tables);
/* Returns a borrowed text; NULL if the language lacks the message. */
const char *message_language_find(const struct message_language *language, uint32_t id);
/* Returns a borrowed text; NULL if no language has it. `languages`: preferred languages separated by ';' (NULL: none).
   For each, the exact language is tried, then a related one; then en-US, the neutral language, and any other. */
const char *message_tables_find(const struct message_tables *tables, uint32_t id, const char *languages);
void message_tables_free(struct message_tables *tables);

#define MESSAGES_MOST_BYTES (64u << 20) /* limit for all messages together */
/* Reads an untrusted resource into the language. Returns ERROR_INVALID_DATA's HRESULT, with an error text; messages
   added before the error remain. */
HRESULT message_table_read(const uint8_t *bytes, size_t size, const char *language, struct message_tables *to);
/* *bytes is from memory_alloc. The language must be sorted. */
HRESULT message_table_write(const struct message_language *language, uint8_t **bytes, size_t *size);

/* ---- messages with their inserts, in the syntax of FormatMessage and TDH ---- */

/* Appends the message: inserts[0] replaces %1 and %1!s! (%1 to %99; a missing or NULL insert, and one with another
   format, are left unchanged), %n is a new line, %t a tab, %b a blank, %r a carriage return, %0 the end, %% a percent
   sign. %%n, also in an insert, is message n of `parameters` (NULL: none) if it exists. */
void message_text_add(struct text_buffer *out, const char *message, const char *const *inserts, size_t count,
                      const struct message_tables *parameters, const char *languages);

/* ---- languages of resources (MS-LCID) ---- */

/* Ignores case. Returns false if the name is unknown. */
bool language_number(const char *name, uint16_t *number);
/* Returns the name of a language; for an unknown number, the language without the country, or "" (neutral) if that is
   unknown too. */
const char *language_name(uint16_t number);

#endif
