/* SPDX-License-Identifier: MIT */
/* Output of verbs: files, JSON, and strings and logs as they are displayed. */
#ifndef OPENPLA_OUTPUT_H
#define OPENPLA_OUTPUT_H

#include "engine/base/text.h"
#include "engine/logs/log_inputs.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* An output file. Until an output file is complete, its name refers to the old file or to no file. No partial file is
   therefore left under that name, no matter how the program ends. If the program can clean up, as after Ctrl+C and
   SIGTERM, it leaves no temporary file. typeperf writes its log under the final name, because others read it while it
   grows (DECISIONS 131). Zero-initialise. */
struct output {
    const char *path; /* borrowed */
    char *partial;    /* the temporary file; NULL: a device, a pipe or a link, which is written directly */
};
enum output_over {
    OUTPUT_ASK,      /* replace an existing file if the user agrees */
    OUTPUT_REPLACE,  /* replace it without asking */
    OUTPUT_CONTINUE, /* append: the temporary file begins as a copy of it */
};
/* Call it before output_begin for each file that is read while the output is written. E_INVALIDARG: `input` is the
   output, or the leftover temporary file that output_begin would overwrite. */
HRESULT output_check_input(const char *path, const char *input);
/* Creates the temporary file. HRESULT of ERROR_ALREADY_EXISTS: a folder, or the user refused. */
HRESULT output_begin(struct output *o, const char *path, enum output_over over);
/* The path to write to. */
const char *output_path(const struct output *o);
/* Reports a failure to write output_path under the name that the user gave. */
HRESULT output_failed(const struct output *o, HRESULT hr);
/* Renames the closed temporary file to its final name. */
HRESULT output_finish(struct output *o);
/* Deletes the temporary file if it was not finished. */
void output_close(struct output *o);

/* Makes strings from files safe for a terminal: line ends and tabs become \n, \r and \t; other control characters and
   those that change the direction of writing become \u and four digits. */
void add_shown(struct text_buffer *b, const char *text);
/* The number of columns on the terminal. */
size_t shown_width(const char *shown);
/* The number of blanks that fill a column of `width`, for printf's %*s, because %-39s counts bytes. */
int shown_room(const char *shown, size_t width);
/* To stdout. */
void print_shown(const char *text);

/* The name of the log's format: "CSV", "Binary". */
const char *format_name(const struct log_reader *reader);
/* "3/4/2021 9:51:39" as Windows' tools print times; `utc` is converted to the zone. */
char *format_time(int64_t utc, const struct log_zone *zone);
/* "2021-03-04T09:51:39.073Z" */
char *format_iso_time(int64_t utc);

/* Writes JSON (RFC 8259), two blanks deeper per level. */
enum { JSON_DEPTH = 48 };
struct json {
    FILE *out;
    struct text_buffer *text; /* written to instead of `out`: for many values at a time */
    int depth;
    bool filled[JSON_DEPTH];   /* the list at this depth has at least one element */
    char brackets[JSON_DEPTH]; /* its opening bracket */
    bool compact;              /* on one line */
};

/* `name` is the member's name inside an object, and NULL inside an array or at the top. A newline follows the outermost
   value. Strings are UTF-8; NULL and numbers that are not finite become null. */
void json_begin(struct json *j, const char *name, char bracket /* '{' or '[' */);
void json_end(struct json *j, char bracket /* '}' or ']' */);
void json_text(struct json *j, const char *name, const char *text);
void json_integer(struct json *j, const char *name, int64_t value);
void json_number(struct json *j, const char *name, double value);
/* Writes the string as a number, digit by digit, if it is a number; otherwise as a string. */
void json_number_text(struct json *j, const char *name, const char *text);
void json_bool(struct json *j, const char *name, bool value);

#endif
