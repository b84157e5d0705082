/* SPDX-License-Identifier: MIT */
/* JSON strings (RFC 8259). */
#ifndef OPENPLA_JSON_TEXT_H
#define OPENPLA_JSON_TEXT_H

#include "engine/base/text.h"

/* Returns the number of bytes at the beginning of the text that need no escape in JSON. */
size_t json_plain_length(const char *text);
enum { JSON_ESCAPE_MOST = 8 };
/* Writes the escape for a character at which json_plain_length stopped, and returns the escape's length. */
size_t json_put_escape(char out[JSON_ESCAPE_MOST], char c);
/* Adds the text as a JSON string, in quotes. */
void json_add_text(struct text_buffer *b, const char *text);
/* Adds the text without quotes. */
void json_add_content(struct text_buffer *b, const char *text);
/* Writes `size` bytes of text as a JSON string, in quotes, and returns the end. `at` must have space for two quotes and
   JSON_ESCAPE_MOST bytes per byte. */
char *json_put_text(char *at, const char *text, size_t size);

#endif
