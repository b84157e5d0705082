/* SPDX-License-Identifier: MIT */
/* Command lines as Windows' programs split them (the C runtime's rules, and CommandLineToArgvW's where these are
   the same): blanks and tabs separate; a quote begins or ends a piece in which they do not; 2n backslashes before a
   quote are n, 2n+1 are n and a quote that is text; within a quoted piece two quotes are one that is text. */
#ifndef OPENPLA_COMMAND_LINE_H
#define OPENPLA_COMMAND_LINE_H

#include "engine/base/text.h"

/* ---- splitting ---- */

struct command_line_reader {
    const char *at;
    bool quoted;
    size_t plain, backslashes; /* of those at `at`, how many are known to stand for themselves, or before a quote */
};
enum command_line_piece {
    COMMAND_LINE_END,
    COMMAND_LINE_BLANK, /* between arguments */
    COMMAND_LINE_QUOTE, /* a piece in quotes begins or ends */
    COMMAND_LINE_TEXT,  /* a byte of the argument */
};
/* The next piece; *c is the byte that it is. */
enum command_line_piece command_line_next(struct command_line_reader *r, char *c);
/* Its arguments, added to `out`, which is freed by the caller on failure too. */
HRESULT command_line_split(const char *line, struct texts *out);

/* ---- building ---- */

/* A line that is being built; zero-initialise. Quotes are written no sooner than they are needed, so two never stand
   beside each other within an argument, which programs read in different ways. */
struct command_line {
    struct text_buffer text;
    size_t backslashes;   /* of the argument, not written yet */
    bool quoted, written; /* of the present argument: what is in `text` of it so far is in quotes; there is something */
    bool wants_quotes;    /* of what comes next */
    bool argument;        /* one has begun */
};
void command_line_quote(struct command_line *l); /* begins or ends a piece in quotes */
void command_line_text(struct command_line *l,
                       const char *text);                /* what the argument is to have; blanks only in quotes */
void command_line_blank(struct command_line *l, char c); /* ends the argument */
/* Text of the present argument that is in quotes if it needs them, which it then opens if none are open. */
void command_line_value(struct command_line *l, const char *text);
/* The next piece of another line as it is; false: that is at its end. */
bool command_line_copy(struct command_line *l, struct command_line_reader *from);
/* The next argument, behind a blank unless it is the first. */
void command_line_argument(struct command_line *l, const char *text);
/* The line, as text_buffer_take gives it; `l` is empty again. */
char *command_line_take(struct command_line *l);

#endif
