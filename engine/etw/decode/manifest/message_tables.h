/* SPDX-License-Identifier: MIT */
/* The messages of a provider in the languages that it has, as an RT_MESSAGETABLE resource holds those of one. Text is
   UTF-8. */
#ifndef OPENPLA_MESSAGE_TABLES_H
#define OPENPLA_MESSAGE_TABLES_H

#include "engine/base/text.h"

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

#endif
