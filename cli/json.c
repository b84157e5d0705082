/* SPDX-License-Identifier: MIT */
/* The JSON writer of openpla.exe's --json. */
#include "cli/output.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', out);
        if (*c < ' ')
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

void json_add_text(struct text_buffer *b, const char *text)
{
    text_buffer_add(b, "\"");
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ') {
            text_buffer_format(b, "\\u%04x", (unsigned)(unsigned char)*c);
            continue;
        }
        if (*c == '"' || *c == '\\')
            text_buffer_add(b, "\\");
        text_buffer_add_n(b, c, 1);
    }
    text_buffer_add(b, "\"");
}

static void new_line(struct json *j)
{
    if (j->compact)
        return;
    fputc('\n', j->out);
    for (int i = 0; i < j->depth; i++)
        fputs("  ", j->out);
}

static void begin_value(struct json *j, const char *name)
{
    if (j->depth > 0) {
        if (j->filled[j->depth - 1])
            fputs(j->compact ? ", " : ",", j->out);
        j->filled[j->depth - 1] = true;
        new_line(j);
    }
    if (name) {
        put_text(j->out, name);
        fputs(": ", j->out);
    }
}

void json_begin(struct json *j, const char *name, char bracket)
{
    begin_value(j, name);
    fputc(bracket, j->out);
    if (j->depth < JSON_DEPTH) {
        j->brackets[j->depth] = bracket;
        j->filled[j->depth++] = false;
    }
}

void json_end(struct json *j, char bracket)
{
    const bool filled = j->filled[--j->depth];
    if (filled)
        new_line(j);
    fputc(bracket, j->out);
    if (j->depth == 0)
        fputc('\n', j->out);
}

void json_text(struct json *j, const char *name, const char *text)
{
    begin_value(j, name);
    if (text)
        put_text(j->out, text);
    else
        fputs("null", j->out);
}

void json_integer(struct json *j, const char *name, int64_t value)
{
    begin_value(j, name);
    fprintf(j->out, "%" PRId64, value);
}

void json_number(struct json *j, const char *name, double value)
{
    begin_value(j, name);
    if (isfinite(value))
        fprintf(j->out, "%.17g", value);
    else
        fputs("null", j->out);
}

/* Whether the text is a number as JSON has them: no blanks, no sign "+", no zeros in front. */
static bool json_is_number(const char *text)
{
    static const char digits[] = "0123456789";
    text += *text == '-';
    size_t length = strspn(text, digits);
    if (length == 0 || (length > 1 && *text == '0'))
        return false;
    text += length;
    if (*text == '.') {
        length = strspn(++text, digits);
        if (length == 0)
            return false;
        text += length;
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '-' || *text == '+';
        length = strspn(text, digits);
        text += length;
    }
    return length > 0 && !*text;
}

void json_number_text(struct json *j, const char *name, const char *text)
{
    if (!text || !json_is_number(text)) {
        json_text(j, name, text);
        return;
    }
    begin_value(j, name);
    fputs(text, j->out);
}

void json_bool(struct json *j, const char *name, bool value)
{
    begin_value(j, name);
    fputs(value ? "true" : "false", j->out);
}
