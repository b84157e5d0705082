/* SPDX-License-Identifier: MIT */
/* What verbs write: files, texts and logs as people are told of them, JSON. */
#ifndef OPENPLA_OUTPUT_H
#define OPENPLA_OUTPUT_H

#include "engine/base/text.h"
#include "engine/logs/log_inputs.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A file that a verb writes: its name has the old file, or none, until the new one is whole. Whatever ends the program
   leaves no part of a file under the name; where the program can still tidy up, as after Ctrl+C and SIGTERM, it leaves
   nothing at all. A log of typeperf is written under its final name, because others read it while it grows (DECISIONS
   131).
   Zero-initialise. */
struct output {
    const char *path; /* borrowed */
    char *partial;    /* written until it is whole; NULL: the path itself, of a device, a pipe or a link */
};
enum output_over {
    OUTPUT_ASK,      /* what has the name is replaced if the user says so */
    OUTPUT_REPLACE,  /* unasked */
    OUTPUT_CONTINUE, /* it is continued: what is written to begins as a copy of it */
};
/* Before output_begin, of each file that is read while the output is written. E_INVALIDARG: `input` is the output
   itself, or the file that output_begin would replace as a killed program's. */
HRESULT output_check_input(const char *path, const char *input);
/* Makes the file that is written to. ERROR_ALREADY_EXISTS' HRESULT: a folder, or the user has refused. */
HRESULT output_begin(struct output *o, const char *path, enum output_over over);
/* Where to write to. */
const char *output_path(const struct output *o);
/* A failure while output_path is written, told of the file that the user named. */
HRESULT output_failed(const struct output *o, HRESULT hr);
/* Takes the name, in place of what has it. The file is closed by now. */
HRESULT output_finish(struct output *o);
/* Deletes what is not finished. */
void output_close(struct output *o);

/* Texts of other people's files on a terminal: what would move the cursor, end the line or turn the direction of
   writing is written out.
   Line ends and tabs as \n, \r and \t, other controls as \u and four digits. */
void add_shown(struct text_buffer *b, const char *text);
/* Places on the line, one for each character. */
size_t shown_width(const char *shown);
/* Blanks behind it in a column of `width`, as printf's %*s takes them, whose own %-39s counts bytes. */
int shown_room(const char *shown, size_t width);
/* To stdout. */
void print_shown(const char *text);

/* What the log is: "CSV", "Binary". */
const char *format_name(const struct log_reader *reader);
/* "3/4/2021 9:51:39" as Windows' tools say times; `utc` in the zone. */
char *format_time(int64_t utc, const struct log_zone *zone);
/* "2021-03-04T09:51:39.073Z" */
char *format_iso_time(int64_t utc);

/* Writes JSON (RFC 8259), two blanks deeper per level. */
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
/* The text as a number where it is one, digit by digit; else as a text. */
void json_number_text(struct json *j, const char *name, const char *text);
void json_bool(struct json *j, const char *name, bool value);

#endif
