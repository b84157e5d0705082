/* SPDX-License-Identifier: MIT */
/* Messages of an event provider by language, their form in RT_MESSAGETABLE resources, their inserts, and the languages
   of resources (MS-LCID). Strings are UTF-8. */
#ifndef OPENPLA_MESSAGE_TABLES_H
#define OPENPLA_MESSAGE_TABLES_H

#include "engine/base/text.h"

#include <stdbool.h>
#include <stdint.h>

#define MESSAGE_NONE 0xFFFFFFFFu /* no message */

struct message {
    uint32_t id;
    char *text;
};
struct message_language {
    char *name; /* "en-US"; "" is the neutral language */
    struct message *items;
    size_t count, capacity;
    bool sorted; /* the messages are sorted by id and have no duplicates */
};
struct message_tables {
    struct message_language *items;
    size_t count, capacity;
    size_t bytes; /* bytes of all added texts and their entries */
};

/* Adds a message; copies the text. If an id has two texts in the same language, the first text is used. */
HRESULT message_tables_add(struct message_tables *tables, const char *language, uint32_t id, const char *text);
/* Sorts the messages. Call it once, after adding the last message; until then, no message is found. */
void message_tables_sort(struct message_tables *tables);
/* Returns the text of a message, borrowed; NULL: the language does not have the message. */
const char *message_language_find(const struct message_language *language, uint32_t id);
/* Returns the text of a message, borrowed; NULL: no language has it. `languages` are the preferred languages, separated
   by ';' (NULL: none). For each preferred language, the exact language is tried first, and then a related language.
   After that, en-US, the neutral language, and any other language are tried. */
const char *message_tables_find(const struct message_tables *tables, uint32_t id, const char *languages);
void message_tables_free(struct message_tables *tables);

#define MESSAGES_MOST_BYTES (64u << 20) /* limit of message_tables.bytes, per table and per file */
/* Adds the messages of an untrusted resource. Returns HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with an error text;
   messages that were added before the error remain. */
HRESULT message_table_read(const uint8_t *bytes, size_t size, const char *language, struct message_tables *to);
/* Writes the messages of a language as a resource. The messages must be sorted. *bytes is from memory_alloc. */
HRESULT message_table_write(const struct message_language *language, uint8_t **bytes, size_t *size);

/* ---- messages with their inserts, in the syntax of FormatMessage and TDH ---- */

/* Appends a message with its inserts replaced:
   - %1 and %1!s! become inserts[0], and so on up to %99. They stay unchanged if the insert is missing or NULL, or if
     they have a format other than !s! or !S!.
   - %n is a new line, %t a tab, %b a space, %r a carriage return, %0 the end of the message, and %% a percent sign.
   - %%n, also inside an insert, becomes message n of `parameters` (NULL: none) if that message exists. */
void message_text_add(struct text_buffer *out, const char *message, const char *const *inserts, size_t count,
                      const struct message_tables *parameters, const char *languages);

/* ---- languages of resources (MS-LCID) ---- */

/* Finds the number of a language by its name, ignoring case. False: the name is unknown. */
bool language_number(const char *name, uint16_t *number);
/* Returns the name of a language. If the number is unknown, returns the language without the country or, if this is
   unknown too, "" (neutral). */
const char *language_name(uint16_t number);

#endif
