/* SPDX-License-Identifier: MIT */
/* Writes the JSON of openpla.exe's option --json. */
#include "cli/output.h"
#include "engine/base/json_text.h"
#include "engine/base/text_put.h"

#include <math.h>
#include <string.h>

/* Collects the output of one call and writes it with one fwrite, because each fwrite takes a lock. */
struct pending {
    FILE *out;
    size_t size;
    char bytes[512];
};

static void put_out(struct pending *out)
{
    fwrite(out->bytes, 1, out->size, out->out);
    out->size = 0;
}

static void put_bytes(struct pending *out, const char *text, size_t size)
{
    if (size > sizeof out->bytes - out->size)
        put_out(out);
    if (size > sizeof out->bytes) {
        fwrite(text, 1, size, out->out);
        return;
    }
    memcpy(out->bytes + out->size, text, size);
    out->size += size;
}

static void put_text(struct pending *out, const char *text)
{
    char escape[JSON_ESCAPE_MOST];
    put_bytes(out, "\"", 1);
    for (;;) {
        const size_t plain = json_plain_length(text);
        put_bytes(out, text, plain);
        text += plain;
        if (!*text)
            break;
        put_bytes(out, escape, json_put_escape(escape, *text++));
    }
    put_bytes(out, "\"", 1);
}

/* ---- writing to `text` (memory for a whole value is reserved first) ---- */

enum { AROUND = 2 * JSON_DEPTH + 16 }; /* comma, line, spaces, quotes, and the NUL of json_put_escape */

static char *put_line(const struct json *j, char *at)
{
    const size_t blanks = 2 * (size_t)j->depth;
    if (j->compact)
        return at;
    *at++ = '\n';
    memset(at, ' ', blanks);
    return at + blanks;
}

/* Writes everything that precedes a value (comma, line end, indentation, name), and reserves `size` bytes for the
   value. Returns NULL if memory runs out; j->text then also reports the failure. */
static char *text_begin(struct json *j, const char *name, size_t size)
{
    const size_t length = name ? strlen(name) : 0;
    char *at = text_buffer_reserve(j->text, AROUND + JSON_ESCAPE_MOST * length + size);
    if (!at)
        return NULL;
    if (j->depth > 0) {
        if (j->filled[j->depth - 1]) {
            *at++ = ',';
            if (j->compact)
                *at++ = ' ';
        }
        j->filled[j->depth - 1] = true;
        at = put_line(j, at);
    }
    if (name) {
        at = json_put_text(at, name, length);
        *at++ = ':';
        *at++ = ' ';
    }
    return at;
}

static void text_end(const struct json *j, char *end)
{
    *end = 0;
    j->text->length = (size_t)(end - j->text->text);
}

static void text_put_value(struct json *j, const char *name, const char *text, size_t size)
{
    char *at = text_begin(j, name, size);
    if (at)
        text_end(j, (char *)memcpy(at, text, size) + size);
}

static void text_put_string(struct json *j, const char *name, const char *text)
{
    const size_t size = strlen(text);
    char *at = text_begin(j, name, JSON_ESCAPE_MOST * size);
    if (at)
        text_end(j, json_put_text(at, text, size));
}

static void new_line(const struct json *j, struct pending *out)
{
    if (j->compact)
        return;
    char line[1 + 2 * JSON_DEPTH];
    const size_t size = 1 + 2 * (size_t)j->depth;
    line[0] = '\n';
    memset(line + 1, ' ', size - 1);
    put_bytes(out, line, size);
}

static void begin_value(struct json *j, struct pending *out, const char *name)
{
    out->out = j->out;
    out->size = 0;
    if (j->depth > 0) {
        if (j->filled[j->depth - 1])
            put_bytes(out, ", ", j->compact ? 2 : 1);
        j->filled[j->depth - 1] = true;
        new_line(j, out);
    }
    if (name) {
        put_text(out, name);
        put_bytes(out, ": ", 2);
    }
}

static void put_value(struct json *j, const char *name, const char *text, size_t size)
{
    struct pending out;
    if (j->text) {
        text_put_value(j, name, text, size);
        return;
    }
    begin_value(j, &out, name);
    put_bytes(&out, text, size);
    put_out(&out);
}

void json_begin(struct json *j, const char *name, char bracket)
{
    put_value(j, name, &bracket, 1);
    if (j->depth < JSON_DEPTH) {
        j->brackets[j->depth] = bracket;
        j->filled[j->depth++] = false;
    }
}

void json_end(struct json *j, char bracket)
{
    const bool filled = j->filled[--j->depth];
    if (j->text) {
        char *at = text_buffer_reserve(j->text, AROUND);
        if (at) {
            at = filled ? put_line(j, at) : at;
            *at++ = bracket;
            if (j->depth == 0)
                *at++ = '\n';
            text_end(j, at);
        }
        return;
    }
    struct pending out;
    out.out = j->out;
    out.size = 0;
    if (filled)
        new_line(j, &out);
    put_bytes(&out, &bracket, 1);
    if (j->depth == 0)
        put_bytes(&out, "\n", 1);
    put_out(&out);
}

void json_text(struct json *j, const char *name, const char *text)
{
    struct pending out;
    if (!text) {
        put_value(j, name, "null", 4);
        return;
    }
    if (j->text) {
        text_put_string(j, name, text);
        return;
    }
    begin_value(j, &out, name);
    put_text(&out, text);
    put_out(&out);
}

void json_integer(struct json *j, const char *name, int64_t value)
{
    char text[1 + TEXT_PUT_DECIMAL] = "-";
    const char *end = text_put_u64(text + 1, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    const char *begin = value < 0 ? text : text + 1;
    put_value(j, name, begin, (size_t)(end - begin));
}

void json_number(struct json *j, const char *name, double value)
{
    char text[32] = "null";
    if (isfinite(value))
        snprintf(text, sizeof text, "%.17g", value);
    put_value(j, name, text, strlen(text));
}

/* Returns true if the string is a number in JSON's form: no whitespace, no "+" sign, no leading zeros. */
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
    put_value(j, name, text, strlen(text));
}

void json_bool(struct json *j, const char *name, bool value)
{
    put_value(j, name, value ? "true" : "false", value ? 4 : 5);
}
