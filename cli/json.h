/* SPDX-License-Identifier: MIT */
/* Writes JSON (RFC 8259), two blanks deeper per level. */
#ifndef OPENPLA_CLI_JSON_H
#define OPENPLA_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 48 };
struct json {
    FILE *out;
    int depth;
    bool filled[JSON_DEPTH];   /* the list at this depth has an element */
    char brackets[JSON_DEPTH]; /* which it was begun by */
    bool compact;              /* on one line */
};

/* `name` is the member's name inside an object and NULL inside an array or at the top. At the end of the outermost
   value a newline is written. Texts are UTF-8; NULL is null, and so is a number that is not finite. */
void json_begin(struct json *j, const char *name, char bracket /* '{' or '[' */);
void json_end(struct json *j, char bracket /* '}' or ']' */);
void json_text(struct json *j, const char *name, const char *text);
void json_integer(struct json *j, const char *name, int64_t value);
void json_number(struct json *j, const char *name, double value);
/* Whether the text is a number as JSON has them: no blanks, no sign "+", no zeros in front. */
bool json_is_number(const char *text);
/* The text as a number where it is one, digit by digit; else as a text. */
void json_number_text(struct json *j, const char *name, const char *text);
void json_bool(struct json *j, const char *name, bool value);

#endif
