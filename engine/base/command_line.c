/* SPDX-License-Identifier: MIT */
/* Splits and builds command lines. */
#include "engine/base/command_line.h"

#include "engine/base/memory.h"

#include <string.h>

/* ---- splitting ---- */

static enum command_line_piece take(struct command_line_reader *r, size_t bytes, enum command_line_piece piece)
{
    r->at += bytes;
    return piece;
}

enum command_line_piece command_line_next(struct command_line_reader *r, char *c)
{
    *c = *r->at;
    if (*c == '\\' && !r->backslashes && !r->plain) {
        size_t run = strspn(r->at, "\\");
        *(r->at[run] == '"' ? &r->backslashes : &r->plain) = run;
    }
    if (r->plain) {
        r->plain--;
        return take(r, 1, COMMAND_LINE_TEXT);
    }
    if (r->backslashes > 1) {
        r->backslashes -= 2;
        return take(r, 2, COMMAND_LINE_TEXT);
    }
    if (r->backslashes) {
        r->backslashes = 0;
        *c = '"';
        return take(r, 2, COMMAND_LINE_TEXT);
    }
    if (*c == '"' && r->quoted && r->at[1] == '"')
        return take(r, 2, COMMAND_LINE_TEXT);
    if (*c == '"') {
        r->quoted = !r->quoted;
        return take(r, 1, COMMAND_LINE_QUOTE);
    }
    if (!*c)
        return COMMAND_LINE_END;
    return take(r, 1, !r->quoted && (*c == ' ' || *c == '\t') ? COMMAND_LINE_BLANK : COMMAND_LINE_TEXT);
}

HRESULT command_line_split(const char *line, struct texts *out)
{
    struct command_line_reader r = {.at = line};
    struct text_buffer argument = {0};
    bool begun = false;
    HRESULT hr = S_OK;
    for (enum command_line_piece piece = COMMAND_LINE_BLANK; SUCCEEDED(hr) && piece != COMMAND_LINE_END;) {
        char c;
        piece = command_line_next(&r, &c);
        if (piece == COMMAND_LINE_TEXT)
            text_buffer_add_n(&argument, &c, 1);
        if (piece == COMMAND_LINE_TEXT || piece == COMMAND_LINE_QUOTE) {
            begun = true;
        } else if (begun) {
            char *text = text_buffer_take(&argument);
            hr = text ? texts_add_owned(out, text) : E_OUTOFMEMORY;
            begun = false;
        }
    }
    text_buffer_free(&argument);
    return hr;
}

/* ---- building ---- */

static void write_backslashes(struct command_line *l, size_t each)
{
    for (size_t i = 0; i < l->backslashes * each; i++)
        text_buffer_add_n(&l->text, "\\", 1);
    l->backslashes = 0;
}

/* Opens or closes the quotes as the next piece requires. */
static void command_line_settle_quotes(struct command_line *l)
{
    if (l->quoted == l->wants_quotes)
        return;
    write_backslashes(l, 2);
    text_buffer_add(&l->text, "\"");
    l->quoted = l->wants_quotes;
    l->written = true;
}

void command_line_quote(struct command_line *l)
{
    l->wants_quotes = !l->wants_quotes;
    l->argument = true;
}

void command_line_text(struct command_line *l, const char *text)
{
    for (const char *c = text; *c; c++) {
        l->argument = true;
        if (*c == '\\') {
            l->backslashes++;
            continue;
        }
        command_line_settle_quotes(l);
        write_backslashes(l, *c == '"' ? 2 : 1);
        text_buffer_add(&l->text, *c == '"' ? "\\" : "");
        text_buffer_add_n(&l->text, c, 1);
        l->written = true;
    }
}

static void end_argument(struct command_line *l)
{
    l->wants_quotes = false;
    l->written = l->written || l->backslashes;
    command_line_settle_quotes(l);
    write_backslashes(l, 1);
    text_buffer_add(&l->text, l->argument && !l->written ? "\"\"" : "");
    l->argument = l->written = false;
}

void command_line_blank(struct command_line *l, char c)
{
    end_argument(l);
    text_buffer_add_n(&l->text, &c, 1);
}

/* Also true for characters that a shell would interpret outside quotes. */
static bool needs_quotes(const char *text)
{
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c <= ' ' || strchr("\"&|<>^()", *c))
            return true;
    return false;
}

void command_line_value(struct command_line *l, const char *text)
{
    bool quotes = !l->wants_quotes && needs_quotes(text);
    l->argument = true;
    if (quotes)
        command_line_quote(l);
    command_line_text(l, text);
    if (quotes)
        command_line_quote(l);
}

void command_line_argument(struct command_line *l, const char *text)
{
    if (l->argument)
        command_line_blank(l, ' ');
    command_line_value(l, text);
}

bool command_line_copy(struct command_line *l, struct command_line_reader *from)
{
    char piece[2] = "";
    switch (command_line_next(from, piece)) {
    case COMMAND_LINE_END:
        return false;
    case COMMAND_LINE_BLANK:
        command_line_blank(l, piece[0]);
        return true;
    case COMMAND_LINE_QUOTE:
        command_line_quote(l);
        return true;
    case COMMAND_LINE_TEXT:
        command_line_text(l, piece);
        return true;
    }
    return false;
}

char *command_line_take(struct command_line *l)
{
    end_argument(l);
    char *text = text_buffer_take(&l->text);
    memset(l, 0, sizeof *l);
    return text;
}
