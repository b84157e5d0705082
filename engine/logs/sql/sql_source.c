/* SPDX-License-Identifier: MIT */
/* Parses the names of SQL logs and the ODBC connection strings in them. */
#include "engine/base/memory.h"
#include "engine/logs/sql/odbc.h"
#include "engine/logs/sql_log.h"

#include <string.h>

#define PREFIX      "SQL:"
#define LONGEST_SET 1024 /* DisplayString varchar(1024), MS-PLA 2.2.2.7 */

bool sql_source_is(const char *name)
{
    return text_matches(PREFIX "*", name);
}

/* Parses the part before the '!'. *mark becomes the '!', or the end of the text. */
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
                hr = error_set(E_INVALIDARG, "'%s' has a password but no data source or driver", out->shown);
        }
    } else if (SUCCEEDED(hr)) {
        out->shown = text_format(PREFIX "%s", *mark);
        hr = out->shown ? S_OK : E_OUTOFMEMORY;
    }
    memory_free(name);
    memory_free(text);
    return hr;
}

static HRESULT sql_source_split(const char *name, struct sql_source *out)
{
    const char *mark;
    if (!sql_source_is(name)) /* a connection string without the prefix can contain a password */
        return error_set(E_INVALIDARG, "invalid log name '%s': expected SQL:<data source>!<log set>",
                         strchr(name, '=') ? "..." : name);
    const char *source = name + strlen(PREFIX);
    HRESULT hr = split_source(source, out, &mark);
    if (FAILED(hr))
        return hr;
    if (*mark != '!' || mark == source || !mark[1])
        return error_set(E_INVALIDARG, "invalid log name '%s': expected SQL:<data source>!<log set>", out->shown);
    if (text_utf16_length(mark + 1) > LONGEST_SET)
        return error_set(E_INVALIDARG, "the log set name of '%.64s...' exceeds %d characters", out->shown, LONGEST_SET);
    out->log_set = text_copy(mark + 1);
    return out->log_set ? S_OK : E_OUTOFMEMORY;
}

HRESULT sql_source_parse(const char *name, struct sql_source *out)
{
    memset(out, 0, sizeof *out);
    HRESULT hr = sql_source_split(name, out);
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

/* ---- connection strings ---- */

enum kind { DRIVER, SOURCE, TEXT, SETTING, SECRET };

/* The same list is in docs/user/databases.md. Attributes that are not in the list are rejected. Some of the rejected
   attributes load a library (LoadExt, TranslationDLL, Network, the key stores), read settings from a file (FILEDSN),
   write a file (SAVEFILE, the drivers' traces), or run a statement. */
static const struct attribute {
    const char *name;
    enum kind kind;
} attributes[] = {
    {"Driver", DRIVER},
    {"DSN", SOURCE},
    {"Description", TEXT},
    {"Database", TEXT},
    {"Server", TEXT},
    {"Servername", TEXT},
    {"Address", TEXT},
    {"Addr", TEXT},
    {"Port", SETTING},
    {"UID", TEXT},
    {"User", TEXT},
    {"User ID", TEXT},
    {"Username", TEXT},
    {"PWD", SECRET},
    {"Password", SECRET},
    {"Timeout", SETTING},
    /* SQL Server and FreeTDS */
    {"Trusted_Connection", SETTING},
    {"Authentication", SECRET},
    {"APP", TEXT},
    {"WSID", TEXT},
    {"Language", TEXT},
    {"Encrypt", SETTING},
    {"TrustServerCertificate", SETTING},
    {"HostNameInCertificate", TEXT},
    {"ServerSPN", TEXT},
    {"Failover_Partner", TEXT},
    {"MultiSubnetFailover", SETTING},
    {"ApplicationIntent", SETTING},
    {"ConnectRetryCount", SETTING},
    {"ConnectRetryInterval", SETTING},
    {"MARS_Connection", SETTING},
    {"AnsiNPW", SETTING},
    {"QuotedId", SETTING},
    {"AutoTranslate", SETTING},
    {"Regional", SETTING},
    {"TDS_Version", SETTING},
    {"ClientCharset", SETTING},
    /* PostgreSQL */
    {"SSLmode", SETTING},
    {"ReadOnly", SETTING},
    {"KeepaliveTime", SETTING},
    {"KeepaliveInterval", SETTING},
    {"UseServerSidePrepare", SETTING},
    {"BoolsAsChar", SETTING},
    {"ByteaAsLongVarBinary", SETTING},
    {"MaxVarcharSize", SETTING},
    {"MaxLongVarcharSize", SETTING},
    {"LFConversion", SETTING},
    {"UseDeclareFetch", SETTING},
    {"Fetch", SETTING},
    /* SQLite */
    {"JournalMode", SETTING},
    {"SyncPragma", SETTING},
    {"NoTXN", SETTING},
    {"StepAPI", SETTING},
    {"ShortNames", SETTING},
    {"LongNames", SETTING},
    {"NoCreat", SETTING},
    {"NoWCHAR", SETTING},
    {"FKSupport", SETTING},
    {"OEMCP", SETTING},
    {"BigInt", SETTING},
    {"JDConv", SETTING},
};
enum { ATTRIBUTES = sizeof attributes / sizeof *attributes, NAME_MAX_SHOWN = 40 };

#define WORD_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

/* A part of the string, without surrounding spaces. */
struct piece {
    const char *at;
    size_t size;
};

static struct piece piece_trim(const char *at, size_t size)
{
    for (; size && *at == ' '; size--)
        at++;
    while (size && at[size - 1] == ' ')
        size--;
    return (struct piece){at, size};
}

/* Finds an attribute by its name. S_FALSE: unknown attribute. */
static HRESULT attribute_find(struct piece name, const struct attribute **out)
{
    char *text = text_copy_n(name.at, name.size);
    *out = NULL;
    if (!text)
        return E_OUTOFMEMORY;
    for (size_t i = 0; !*out && i < ATTRIBUTES; i++)
        if (text_equal_nocase(attributes[i].name, text))
            *out = &attributes[i];
    memory_free(text);
    return *out ? S_OK : S_FALSE;
}

/* Reports an unknown attribute. The message shows the attribute's name only if the text looks like a name; other text
   can be part of a password. */
static HRESULT attribute_unknown_error(struct piece name, int number)
{
    bool plain = name.size && name.size <= NAME_MAX_SHOWN;
    for (size_t i = 0; plain && i < name.size; i++)
        plain = strchr(WORD_CHARACTERS " -", name.at[i]) != NULL;
    if (plain)
        return error_set(E_INVALIDARG, "invalid connection string: attribute '%.*s' is not allowed", (int)name.size,
                         name.at);
    return error_set(E_INVALIDARG, "invalid connection string: attribute number %d is not allowed", number);
}

/* Rejects a value that drivers could interpret in different ways. `inner` is the value without its braces. */
static HRESULT check_value(const struct attribute *a, struct piece value, struct piece *inner)
{
    bool braced = value.size && value.at[0] == '{', separates = false, equals = false;
    *inner = braced ? (struct piece){value.at + 1, value.size - 2} : value;
    for (size_t i = 0; i < inner->size; i++) {
        char c = inner->at[i];
        if ((unsigned char)c < ' ' || c == 0x7F)
            return error_set(E_INVALIDARG, "invalid connection string: the value of '%s' contains a control character",
                             a->name);
        if (!braced && (c == '{' || c == '}'))
            return error_set(E_INVALIDARG,
                             "invalid connection string: the value of '%s' contains a brace, so it must be in braces",
                             a->name);
        separates |= strchr(";{}", c) != NULL;
        equals |= c == '=';
        if (a->kind == SETTING && !strchr(WORD_CHARACTERS " .-", c))
            return error_set(E_INVALIDARG, "invalid connection string: the value of '%s' must be a word or a number",
                             a->name);
    }
    if (separates && equals)
        return error_set(E_INVALIDARG,
                         "invalid connection string: the value of '%s' contains '=' with ';', '{' or '}', which "
                         "drivers read as another attribute",
                         a->name);
    if ((a->kind == DRIVER || a->kind == SOURCE) && (!inner->size || separates || equals))
        return error_set(E_INVALIDARG, "invalid connection string: the value of '%s' is not a name", a->name);
    if (a->kind == DRIVER && (memchr(inner->at, '/', inner->size) || memchr(inner->at, '\\', inner->size)))
        return error_set(E_INVALIDARG,
                         "invalid connection string: Driver must be the registered name of a driver, not a file");
    return S_OK;
}

/* Reads a value up to its closing brace if it is braced, otherwise up to ';', '!' or the end of the text. *end becomes
   this position. */
static HRESULT take_value(const struct attribute *a, const char *at, struct piece *value, const char **end)
{
    at += strspn(at, " ");
    const char *from = at;
    if (*at == '{') {
        do {
            at = strchr(at + 1, '}');
            if (!at)
                return error_set(E_INVALIDARG, "invalid connection string: a '{' is not closed");
            at++;
        } while (*at == '}');
        *end = at + strspn(at, " ");
        *value = (struct piece){from, (size_t)(at - from)};
        return !**end || strchr(";!", **end)
                   ? S_OK
                   : error_set(E_INVALIDARG, "invalid connection string: text follows the '}' of '%s'", a->name);
    }
    *end = at + strcspn(at, ";!");
    *value = piece_trim(from, (size_t)(*end - from));
    return S_OK;
}

struct attributes_parse {
    struct text_buffer rest, shown, open, secret;
    struct odbc_string *out;
    bool seen[ATTRIBUTES], source;
    bool more; /* the string contains OpenPLA's defaults for attributes that the user did not set */
};

static void add(struct text_buffer *b, const struct attribute *a, struct piece value)
{
    text_buffer_format(b, "%s%s=", b->length ? ";" : "", a->name);
    text_buffer_add_n(b, value.at, value.size);
}

static HRESULT attribute_keep(struct attributes_parse *p, const struct attribute *a, struct piece value,
                              struct piece inner)
{
    bool *seen = &p->seen[a - attributes];
    if (*seen && p->more)
        return S_OK;
    if (*seen)
        return error_set(E_INVALIDARG, "invalid connection string: duplicate attribute '%s'", a->name);
    *seen = true;
    p->source |= a->kind == SOURCE;
    const char *separator = p->shown.length ? ";" : "";
    text_buffer_format(&p->shown, "%s%s=", separator, a->name);
    text_buffer_add_n(&p->shown, a->kind == SECRET ? "***" : value.at, a->kind == SECRET ? 3 : value.size);
    add(a->kind == SECRET ? &p->secret : &p->open, a, value);
    if (a->kind == DRIVER) {
        p->out->driver = text_copy_n(inner.at, inner.size);
        return p->out->driver ? S_OK : E_OUTOFMEMORY;
    }
    add(&p->rest, a, value);
    return S_OK;
}

static HRESULT attributes_parse(struct attributes_parse *p, const char *at, const char **end)
{
    for (int number = 1; *at && *at != '!'; number++) {
        size_t size = strcspn(at, "=;!");
        struct piece name = piece_trim(at, size), value = {0}, inner = {0};
        const struct attribute *a;
        *end = at + size;
        if (at[size] == '=') {
            HRESULT hr = attribute_find(name, &a);
            if (hr == S_FALSE)
                return attribute_unknown_error(name, number);
            if (SUCCEEDED(hr))
                hr = take_value(a, at + size + 1, &value, end);
            if (SUCCEEDED(hr) && a->kind == SECRET && **end == '!' && *value.at != '{' && strchr(*end + 1, '!'))
                hr = error_set(E_INVALIDARG,
                               "invalid connection string: the value of '%s' contains a '!' (put the value in braces)",
                               a->name); /* otherwise the rest would be interpreted as a name and shown */
            if (SUCCEEDED(hr))
                hr = check_value(a, value, &inner);
            if (SUCCEEDED(hr))
                hr = attribute_keep(p, a, value, inner);
            if (FAILED(hr))
                return hr;
        } else if (name.size) { /* the text is not shown, because it can be part of a password */
            return error_set(E_INVALIDARG, "invalid connection string: attribute %d is not of the form key=value",
                             number);
        }
        at = *end + (**end == ';');
    }
    *end = at;
    return p->source && p->out->driver
               ? error_set(E_INVALIDARG, "invalid connection string: it names both a data source and a driver")
               : S_OK;
}

/* Parses `text`, and then `more` unless it is NULL. *end becomes the end of the parsed part of `text`. */
static HRESULT parse_both(const char *text, const char *more, struct odbc_string *out, const char **end)
{
    struct attributes_parse p = {.out = out};
    const char *more_end;
    *out = (struct odbc_string){0};
    text_buffer_add(&p.rest, "");
    text_buffer_add(&p.shown, "");
    text_buffer_add(&p.open, "");
    text_buffer_add(&p.secret, "");
    HRESULT hr = attributes_parse(&p, text, end);
    p.more = true;
    if (SUCCEEDED(hr) && more)
        hr = attributes_parse(&p, more, &more_end);
    if (SUCCEEDED(hr)) {
        out->rest = text_buffer_take(&p.rest);
        out->shown = text_buffer_take(&p.shown);
        out->open = text_buffer_take(&p.open);
        out->secret = text_buffer_take(&p.secret);
        hr = out->rest && out->shown && out->open && out->secret ? S_OK : E_OUTOFMEMORY;
    }
    text_buffer_free(&p.rest);
    text_buffer_free(&p.shown);
    text_buffer_free(&p.open);
    text_buffer_free(&p.secret);
    if (FAILED(hr))
        odbc_string_free(out);
    return hr;
}

HRESULT odbc_string_parse(const char *text, struct odbc_string *out, const char **end)
{
    return parse_both(text, NULL, out, end);
}

HRESULT odbc_string_add(const char *text, const char *more, char **out)
{
    struct odbc_string s;
    const char *end;
    *out = NULL;
    HRESULT hr = parse_both(text, more, &s, &end);
    if (FAILED(hr))
        return hr;
    *out = odbc_string_with(&s, s.driver);
    odbc_string_free(&s);
    return *out ? S_OK : E_OUTOFMEMORY;
}

char *odbc_string_with(const struct odbc_string *s, const char *driver)
{
    return driver ? text_format("Driver={%s}%s%s", driver, *s->rest ? ";" : "", s->rest) : text_copy(s->rest);
}

void odbc_string_free(struct odbc_string *s)
{
    memory_free(s->driver);
    memory_free_secret(s->rest);
    memory_free(s->shown);
    memory_free(s->open);
    memory_free_secret(s->secret);
    *s = (struct odbc_string){0};
}
