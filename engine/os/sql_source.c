/* SPDX-License-Identifier: MIT */
/* Takes the name of an SQL log apart. */
#include "engine/os/sql_source.h"

#include "engine/os/memory.h"

#include <string.h>

#define PREFIX      "SQL:"
#define LONGEST_SET 1024 /* DisplayString varchar(1024), MS-PLA 2.2.2.7 */

bool sql_source_is(const char *name)
{
    return text_matches(PREFIX "*", name);
}

/* Behind a value that begins at `at`: at ';', '!' or the end. NULL: a brace is not closed. */
static const char *value_end(const char *at)
{
    if (*at == '{') {
        do {
            at = strchr(at + 1, '}');
            if (!at)
                return NULL;
            at++;
        } while (*at == '}');
    }
    return at + strcspn(at, ";!");
}

/* Is the value of this key for nobody's eyes? Also when it cannot be known. */
static bool is_secret(const char *key, size_t bytes)
{
    for (; bytes > 0 && *key == ' '; bytes--)
        key++;
    while (bytes > 0 && key[bytes - 1] == ' ')
        bytes--;
    char *text = text_copy_n(key, bytes);
    bool secret = !text || text_equal_nocase(text, "PWD") || text_equal_nocase(text, "PASSWORD");
    memory_free(text);
    return secret;
}

/* Walks over key=value;... and writes it to `shown` without what nobody may read. *out is the '!' or the end. */
static HRESULT walk_attributes(const char *at, struct text_buffer *shown, const char **out)
{
    for (int number = 1; *at && *at != '!'; number++) {
        size_t key = strcspn(at, "=;!");
        text_buffer_add_n(shown, at, key);
        if (at[key] == '=') {
            const char *value = at + key + 1, *end = value_end(value);
            if (!end)
                return error_set(E_INVALIDARG, PREFIX "...: a '{' of the connection string is not closed");
            bool secret = is_secret(at, key);
            text_buffer_add(shown, "=");
            text_buffer_add_n(shown, secret ? "***" : value, secret ? 3 : (size_t)(end - value));
            at = end;
        } else if (strspn(at, " ") < key) {
            /* Not its text: it may be half a password. */
            return error_set(E_INVALIDARG, PREFIX "...: attribute %d of the connection string is not key=value",
                             number);
        } else {
            at += key;
        }
        if (*at == ';') {
            text_buffer_add(shown, ";");
            at++;
        }
    }
    *out = at;
    return S_OK;
}

static HRESULT split(const char *name, struct sql_source *out)
{
    struct text_buffer shown = {0};
    if (!sql_source_is(name))
        return error_set(E_INVALIDARG, "'%s' is not of the form SQL:<data source>!<log set>", name);
    const char *source = name + strlen(PREFIX), *mark = source + strcspn(source, "!=");
    bool attributes = *mark == '=';
    text_buffer_add(&shown, PREFIX);
    if (attributes) {
        HRESULT hr = walk_attributes(source, &shown, &mark);
        if (FAILED(hr)) {
            text_buffer_free(&shown);
            return hr;
        }
    } else {
        text_buffer_add_n(&shown, source, (size_t)(mark - source));
    }
    text_buffer_add(&shown, mark);
    out->shown = text_buffer_take(&shown);
    if (!out->shown)
        return E_OUTOFMEMORY;
    if (*mark != '!' || mark == source || !mark[1])
        return error_set(E_INVALIDARG, "'%s' is not of the form SQL:<data source>!<log set>", out->shown);
    if (text_utf16_length(mark + 1) > LONGEST_SET) {
        return error_set(E_INVALIDARG, "the log set of '%.64s...' is longer than %d characters", out->shown,
                         LONGEST_SET);
    }
    char *connection = text_copy_n(source, (size_t)(mark - source));
    out->log_set = text_copy(mark + 1);
    out->connection = !connection || attributes ? connection : text_format("DSN=%s", connection);
    if (out->connection != connection)
        memory_free(connection);
    return out->connection && out->log_set ? S_OK : E_OUTOFMEMORY;
}

HRESULT sql_source_parse(const char *name, struct sql_source *out)
{
    memset(out, 0, sizeof *out);
    HRESULT hr = split(name, out);
    if (FAILED(hr))
        sql_source_free(out);
    return hr;
}

void sql_source_free(struct sql_source *s)
{
    memory_free(s->connection);
    memory_free(s->log_set);
    memory_free(s->shown);
    memset(s, 0, sizeof *s);
}
