/* SPDX-License-Identifier: MIT */
/* Takes the name of an SQL log apart. */
#include "engine/logs/sql_source.h"

#include "engine/base/memory.h"
#include "engine/logs/sql/odbc_string.h"

#include <string.h>

#define PREFIX      "SQL:"
#define LONGEST_SET 1024 /* DisplayString varchar(1024), MS-PLA 2.2.2.7 */

bool sql_source_is(const char *name)
{
    return text_matches(PREFIX "*", name);
}

/* What stands before the '!'. *mark: the '!', or the end. */
static HRESULT split_source(const char *source, struct sql_source *out, const char **mark)
{
    struct odbc_string parts;
    *mark = source + strcspn(source, "!=");
    bool attributes = **mark == '=';
    char *name = attributes ? NULL : text_copy_n(source, (size_t)(*mark - source));
    char *text = attributes || !name ? NULL : text_format("DSN=%s", name);
    const char *end;
    HRESULT hr = attributes || text ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && (attributes || *name)) {
        hr = odbc_string_parse(attributes ? source : text, &parts, &end);
        if (FAILED(hr)) {
            hr = hr == E_OUTOFMEMORY ? hr : error_prefix(hr, PREFIX "...");
        } else {
            *mark = attributes ? end : *mark;
            out->connection = odbc_string_with(&parts, parts.driver);
            out->shown = text_format(PREFIX "%s%s", attributes ? parts.shown : name, *mark);
            out->open = text_format(PREFIX "%s%s", attributes ? parts.open : name, *mark);
            out->secret = text_copy(parts.secret);
            bool alone = !*parts.open;
            odbc_string_free(&parts);
            hr = out->connection && out->shown && out->open && out->secret ? S_OK : E_OUTOFMEMORY;
            if (SUCCEEDED(hr) && alone)
                hr = error_set(E_INVALIDARG, "'%s' has a password, but nothing that it is for", out->shown);
        }
    } else if (SUCCEEDED(hr)) {
        out->shown = text_format(PREFIX "%s", *mark);
        hr = out->shown ? S_OK : E_OUTOFMEMORY;
    }
    memory_free(name);
    memory_free(text);
    return hr;
}

static HRESULT split(const char *name, struct sql_source *out)
{
    const char *mark;
    if (!sql_source_is(name)) /* a connection string that lacks the prefix may hold a password */
        return error_set(E_INVALIDARG, "'%s' is not of the form SQL:<data source>!<log set>",
                         strchr(name, '=') ? "..." : name);
    const char *source = name + strlen(PREFIX);
    HRESULT hr = split_source(source, out, &mark);
    if (FAILED(hr))
        return hr;
    if (*mark != '!' || mark == source || !mark[1])
        return error_set(E_INVALIDARG, "'%s' is not of the form SQL:<data source>!<log set>", out->shown);
    if (text_utf16_length(mark + 1) > LONGEST_SET) {
        return error_set(E_INVALIDARG, "the log set of '%.64s...' is longer than %d characters", out->shown,
                         LONGEST_SET);
    }
    out->log_set = text_copy(mark + 1);
    return out->log_set ? S_OK : E_OUTOFMEMORY;
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
    memory_free_secret(s->connection);
    memory_free(s->log_set);
    memory_free(s->shown);
    memory_free(s->open);
    memory_free_secret(s->secret);
    memset(s, 0, sizeof *s);
}

HRESULT sql_source_join(const char *open, const char *secret, char **name)
{
    struct sql_source s;
    HRESULT hr = sql_source_parse(open, &s);
    *name = NULL;
    if (FAILED(hr))
        return hr;
    *name = text_format(PREFIX "%s%s%s!%s", s.connection, *secret ? ";" : "", secret, s.log_set);
    sql_source_free(&s);
    return *name ? S_OK : E_OUTOFMEMORY;
}
