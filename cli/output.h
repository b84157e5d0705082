/* SPDX-License-Identifier: MIT */
/* The output of verbs: functions that write files and JSON, and that display strings and logs. */
#ifndef OPENPLA_OUTPUT_H
#define OPENPLA_OUTPUT_H

#include "engine/base/text.h"
#include "engine/logs/log_inputs.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* An output file. Until the new file is complete, its final name refers to the old file or to no file. Therefore no
   partial file remains under the final name, however the program ends. If the program can clean up (for example, after
   Ctrl+C or SIGTERM), it also leaves no temporary file. typeperf writes its log under the final name, because other
   programs read it while it grows (DECISIONS 131). Zero-initialise. */
struct output {
    const char *path; /* borrowed */
    char *partial;    /* the temporary file; NULL if the output is a device, a pipe or a link, which is written
                         directly */
};
enum output_over {
    OUTPUT_ASK,      /* replace an existing file if the user agrees */
    OUTPUT_REPLACE,  /* replace an existing file without asking */
    OUTPUT_CONTINUE, /* append: the temporary file begins as a copy of the existing file */
};
/* Call it before output_begin for each file that is read while the output is written. Fails with E_INVALIDARG if
   `input` is the output, or the temporary file of an earlier run, which output_begin would overwrite. */
HRESULT output_check_input(const char *path, const char *input);
/* Creates the temporary file. Fails with HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) if the output is a folder or the user
   refused to overwrite it. */
HRESULT output_begin(struct output *o, const char *path, enum output_over over);
/* Returns the path to which to write. */
const char *output_path(const struct output *o);
/* Converts an error `hr` of writing to output_path. In the message, the path that the user specified replaces the path
   of the temporary file. */
HRESULT output_failed(const struct output *o, HRESULT hr);
/* Renames the closed temporary file to its final name. */
HRESULT output_finish(struct output *o);
/* Deletes the temporary file if output_finish has not renamed it. */
void output_close(struct output *o);

/* Adds a string from a file in a form that is safe for a terminal. Line ends and tabs become \n, \r and \t. Other
   control characters, and characters that change the direction of writing, become \u and four digits. */
void add_shown(struct text_buffer *b, const char *text);
/* Returns the number of terminal columns that the string takes. */
size_t shown_width(const char *shown);
/* Returns how many spaces must follow `shown` to fill a column of `width`. Pass the number to printf's %*s; %-39s would
   not work, because it counts bytes. */
int shown_room(const char *shown, size_t width);
/* Prints the string to stdout in the form that add_shown produces. */
void print_shown(const char *text);

/* Returns the name of the log's format, such as "CSV" or "Binary". */
const char *format_name(const struct log_reader *reader);
/* Returns a time in the form of Windows' tools, such as "3/4/2021 9:51:39"; `utc` is converted to the zone. */
char *format_time(int64_t utc, const struct log_zone *zone);
/* Returns a time such as "2021-03-04T09:51:39.073Z". */
char *format_iso_time(int64_t utc);

/* A writer of JSON (RFC 8259), which indents by two spaces per level. */
enum { JSON_DEPTH = 48 };
struct json {
    FILE *out;
    struct text_buffer *text; /* if not NULL, output goes to this buffer instead of `out`; this is faster for many
                                 values */
    int depth;
    bool filled[JSON_DEPTH];   /* the list at this depth has at least one element */
    char brackets[JSON_DEPTH]; /* the opening bracket of the list at this depth */
    bool compact;              /* write everything on one line */
};

/* Write values. `name` is the member's name inside an object, and NULL inside an array or at the top. A newline follows
   the outermost value. Strings are UTF-8; NULL strings and numbers that are not finite become null. */
void json_begin(struct json *j, const char *name, char bracket /* '{' or '[' */);
void json_end(struct json *j, char bracket /* '}' or ']' */);
void json_text(struct json *j, const char *name, const char *text);
void json_integer(struct json *j, const char *name, int64_t value);
void json_number(struct json *j, const char *name, double value);
/* Writes the string as a number, with the same digits, if it is a number; otherwise as a string. */
void json_number_text(struct json *j, const char *name, const char *text);
void json_bool(struct json *j, const char *name, bool value);

#endif
