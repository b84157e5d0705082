/* SPDX-License-Identifier: MIT */
/* Messages of a provider in each of its languages, as RT_MESSAGETABLE resources hold them, with their inserts, and the
   languages of resources (MS-LCID). Text is UTF-8. */
#ifndef OPENPLA_MESSAGE_TABLES_H
#define OPENPLA_MESSAGE_TABLES_H

#include "engine/base/text.h"

#include <stdbool.h>
#include <stdint.h>

#define MESSAGE_NONE 0xFFFFFFFFu /* the id of no message */

struct message {
    uint32_t id;
    char *text;
};
struct message_language {
    char *name; /* "en-US"; "" is neutral */
    struct message *items;
    size_t count, capacity;
    bool sorted; /* by id, each once */
};
struct message_tables {
    struct message_language *items;
    size_t count, capacity;
    size_t bytes; /* of all texts that were added, with their places */
};

/* Copies. Of two texts of one id in a language the first counts. */
HRESULT message_tables_add(struct message_tables *tables, const char *language, uint32_t id, const char *text);
/* Once after the last one was added: only then they are found. */
void message_tables_sort(struct message_tables *tables);
/* Borrowed; NULL: that language does not have it. */
const char *message_language_find(const struct message_language *language, uint32_t id);
/* Borrowed; NULL: no language has it. `languages` are the wanted ones, the best first, with ';' between (NULL: none);
   of each the exact one, then one of the same language, and last en-US, the neutral one, any. */
const char *message_tables_find(const struct message_tables *tables, uint32_t id, const char *languages);
void message_tables_free(struct message_tables *tables);

#define MESSAGES_MOST_BYTES (64u << 20) /* that are read into one `bytes` */
/* What a resource holds, which is not trusted, into the language. ERROR_INVALID_DATA's HRESULT with a text that says
   what cannot be; what was added before stays. */
HRESULT message_table_read(const uint8_t *bytes, size_t size, const char *language, struct message_tables *to);
/* *bytes from memory_alloc. The language must be sorted. */
HRESULT message_table_write(const struct message_language *language, uint8_t **bytes, size_t *size);

/* ---- messages with their inserts, as FormatMessage and TDH take them ---- */

/* Adds the message: inserts[0] in the place of %1 and of %1!s! (%1 to %99; one that is not there, or NULL, and one with
   another form behind it, stay as they are), %n a new line, %t a tab, %b a blank, %r a carriage return, %0 the end, %%
   a percent sign; %%n, also within an insert, is message n of `parameters` where that has one (NULL: none). */
void message_text_add(struct text_buffer *out, const char *message, const char *const *inserts, size_t count,
                      const struct message_tables *parameters, const char *languages);

/* ---- languages of resources (MS-LCID) ---- */

/* In any case. False: we know no number for it. */
bool language_number(const char *name, uint16_t *number);
/* One that we do not know has the name of its language without its country, else "": neutral. */
const char *language_name(uint16_t number);

#endif
