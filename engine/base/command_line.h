/* SPDX-License-Identifier: MIT */
/* Splits and builds command lines by the rules of Windows' C runtime. CommandLineToArgvW uses mostly the same rules.
   Spaces and tabs outside quotes separate arguments. Before a quote, 2n backslashes mean n backslashes, and 2n+1
   backslashes mean n backslashes and a literal quote. Inside quotes, two quotes in a row mean a literal quote. */
#ifndef OPENPLA_COMMAND_LINE_H
#define OPENPLA_COMMAND_LINE_H

#include "engine/base/text.h"

/* ---- splitting ---- */

struct command_line_reader {
    const char *at;
    bool quoted;
    size_t plain, backslashes; /* `plain`: number of literal backslashes at `at`; `backslashes`: number of backslashes
                                  at `at` that precede a quote */
};
enum command_line_piece {
    COMMAND_LINE_END,
    COMMAND_LINE_BLANK, /* between arguments */
    COMMAND_LINE_QUOTE, /* a quoted section begins or ends */
    COMMAND_LINE_TEXT,  /* a byte of the argument */
};
/* Reads the next piece; *c is its byte. */
enum command_line_piece command_line_next(struct command_line_reader *r, char *c);
/* Adds the arguments to `out`, which the caller frees even after a failure. */
HRESULT command_line_split(const char *line, struct texts *out);

/* ---- building ---- */

/* A command line under construction; zero-initialise. Quotes are written only when they are needed, so an argument
   never contains two consecutive quotes, which programs interpret in different ways. */
struct command_line {
    struct text_buffer text;
    size_t backslashes; /* backslashes of the argument, not written yet */
    /* quoted: the argument's part of `text` ends inside quotes. written: that part is not empty. */
    bool quoted, written;
    bool wants_quotes; /* whether the next byte must be inside quotes */
    bool argument;     /* an argument has begun */
};
void command_line_quote(struct command_line *l); /* begins or ends a quoted section */
void command_line_text(struct command_line *l,
                       const char *text);                /* appends a byte to the argument; spaces require quotes */
void command_line_blank(struct command_line *l, char c); /* ends the argument */
/* Appends a string to the current argument, and opens quotes if the string needs them and none are open. */
void command_line_value(struct command_line *l, const char *text);
/* Appends the next piece of the line in `from` unchanged. False: the line in `from` has no more pieces. */
bool command_line_copy(struct command_line *l, struct command_line_reader *from);
/* Appends an argument, after a space unless it is the first. */
void command_line_argument(struct command_line *l, const char *text);
/* Returns the line like text_buffer_take; afterwards `l` is empty. */
char *command_line_take(struct command_line *l);

#endif
