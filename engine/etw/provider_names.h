/* SPDX-License-Identifier: MIT */
/* Information about an event without a schema: the name of a well-known event provider, and the strings in the data. */
#ifndef OPENPLA_PROVIDER_NAMES_H
#define OPENPLA_PROVIDER_NAMES_H

#include "engine/base/text.h"

/* Returns the name of a well-known event provider; NULL if the GUID is not in provider_names.def. */
const char *provider_known_name(const GUID *provider);

/* A run of printable characters in binary data. */
struct data_string {
    const uint8_t *bytes;
    size_t characters;
    bool wide; /* UTF-16, otherwise ASCII */
};
/* Shorter runs are likely to be numbers. */
enum { DATA_STRING_LEAST = 4 };
/* Finds the next run at or after *at, and moves *at past it. Returns false if there are no more runs. */
bool data_string_next(const uint8_t *bytes, size_t size, size_t *at, struct data_string *out);
/* Appends the run as UTF-8. */
void data_string_add(const struct data_string *s, struct text_buffer *out);

#endif
