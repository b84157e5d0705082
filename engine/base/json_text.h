/* SPDX-License-Identifier: MIT */
/* Strings of JSON (RFC 8259). */
#ifndef OPENPLA_JSON_TEXT_H
#define OPENPLA_JSON_TEXT_H

#include "engine/base/text.h"

/* How many bytes of the text stand in JSON as they are. */
size_t json_plain_length(const char *text);
enum { JSON_ESCAPE_MOST = 8 };
/* Writes the escape of a character that json_plain_length stopped at, and returns its length. */
size_t json_put_escape(char out[JSON_ESCAPE_MOST], char c);
/* Adds the text as a JSON string, in quotes. */
void json_add_text(struct text_buffer *b, const char *text);

#endif
