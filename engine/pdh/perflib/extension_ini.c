/* SPDX-License-Identifier: MIT */
/* Parses an extension DLL's ini file and header file. */
#include "engine/base/memory.h"
#include "engine/pdh/extension_registration.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN         80 /* maximum bytes of a key or value in an error message */
#define LONGEST_TEXT  32767u
#define MOST_SYMBOLS  65536u
#define LANGUAGE_SIZE 3

/* ---- lines ---- */

/* A part of a string, not terminated and without leading or trailing whitespace. */
struct span {
    const char *at;
    size_t length;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct span span_trim(const char *at, size_t length)
{
    while (length && is_blank(*at))
        at++, length--;
    while (length && is_blank(at[length - 1]))
        length--;
    return (struct span){at, length};
}

/* Compares without regard to the case of ASCII letters. */
static bool span_equals(struct span s, const char *word)
{
    size_t i = 0;
    for (; i < s.length && word[i]; i++) {
        const char a = s.at[i], b = word[i];
        if ((a >= 'A' && a <= 'Z' ? a + 32 : a) != (b >= 'A' && b <= 'Z' ? b + 32 : b))
            return false;
    }
    return i == s.length && !word[i];
}

static bool ends_with(struct span s, const char *end)
{
    const size_t length = strlen(end);
    return s.length >= length && span_equals((struct span){s.at + s.length - length, length}, end);
}

struct ini_lines {
    const char *next; /* NULL: at the end */
    uint32_t number;
    struct span section, key, value;
};

/* Reads the next "key=value" within a section. False at the end. Skips comments and lines without '='. */
static bool next_pair(struct ini_lines *l)
{
    while (l->next && *l->next) {
        const char *end = strchr(l->next, '\n');
        const struct span line = span_trim(l->next, end ? (size_t)(end - l->next) : strlen(l->next));
        const char *equal = line.length ? memchr(line.at, '=', line.length) : NULL;
        l->next = end ? end + 1 : NULL;
        l->number++;
        if (!line.length || *line.at == ';')
            continue;
        if (*line.at == '[' && line.at[line.length - 1] == ']') {
            l->section = span_trim(line.at + 1, line.length - 2);
        } else if (equal) {
            l->key = span_trim(line.at, (size_t)(equal - line.at));
            l->value = span_trim(equal + 1, (size_t)(line.at + line.length - equal - 1));
            return true;
        }
    }
    return false;
}

static HRESULT wrong(const struct ini_lines *l, const char *why)
{
    return error_set(EXTENSION_INVALID, "line %u: %.*s=%.*s: %s", (unsigned)l->number,
                     (int)(l->key.length < SHOWN ? l->key.length : SHOWN), l->key.at,
                     (int)(l->value.length < SHOWN ? l->value.length : SHOWN), l->value.at, why);
}

/* ---- the header's symbols ---- */

struct symbol {
    struct span name;
    uint32_t offset;
};
struct symbols {
    struct symbol *items;
    size_t count, capacity;
};

static int by_name(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    const size_t both = x->name.length < y->name.length ? x->name.length : y->name.length;
    const int order = memcmp(x->name.at, y->name.at, both);
    return order ? order : x->name.length < y->name.length ? -1 : x->name.length > y->name.length;
}

static struct span span_take_word(const char **at, const char *end)
{
    while (*at < end && is_blank(**at))
        ++*at;
    const char *from = *at;
    while (*at < end && !is_blank(**at))
        ++*at;
    return (struct span){from, (size_t)(*at - from)};
}

static bool to_number(struct span s, uint64_t *out)
{
    char text[24];
    if (!s.length || s.length >= sizeof text)
        return false;
    memcpy(text, s.at, s.length);
    text[s.length] = 0;
    return text_to_u64(text, out);
}

/* Reads lines such as "#define SYMBOL 0x10" and skips all others. */
static HRESULT read_symbols(const char *header, struct symbols *out)
{
    HRESULT hr = S_OK;
    for (const char *line = header, *end; SUCCEEDED(hr) && *line; line = *end ? end + 1 : end) {
        end = strchr(line, '\n');
        end = end ? end : line + strlen(line);
        const char *at = line;
        struct span define = span_take_word(&at, end);
        if (span_equals(define, "#")) /* "#  define" is also valid */
            define = span_take_word(&at, end);
        const struct span name = span_take_word(&at, end), value = span_take_word(&at, end);
        uint64_t offset;
        if ((!span_equals(define, "#define") && !span_equals(define, "define")) || !name.length ||
            !to_number(value, &offset) || offset > UINT32_MAX)
            continue;
        void *items = out->items;
        const bool room =
            out->count < MOST_SYMBOLS && memory_grow(&items, &out->capacity, out->count + 1, sizeof *out->items);
        out->items = items;
        if (room)
            out->items[out->count++] = (struct symbol){name, (uint32_t)offset};
        else
            hr = out->count == MOST_SYMBOLS
                     ? error_set(EXTENSION_INVALID, "the header file defines more than %u symbols", MOST_SYMBOLS)
                     : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr) && out->count)
        qsort(out->items, out->count, sizeof *out->items, by_name);
    return hr;
}

static const struct symbol *find_symbol(const struct symbols *s, struct span name)
{
    const struct symbol key = {.name = name};
    return s->count ? bsearch(&key, s->items, s->count, sizeof key, by_name) : NULL;
}

/* ---- the ini file ---- */

static HRESULT ini_take_value(struct ini_lines *l, char **to)
{
    if (*to)
        return wrong(l, "duplicate key");
    if (!l->value.length)
        return wrong(l, "value is missing");
    *to = text_copy_n(l->value.at, l->value.length);
    return *to ? S_OK : E_OUTOFMEMORY;
}

HRESULT extension_ini_begin(const char *ini, struct extension_ini *out)
{
    struct ini_lines l = {.next = ini};
    HRESULT hr = S_OK;
    *out = (struct extension_ini){0};
    while (SUCCEEDED(hr) && next_pair(&l)) {
        if (!span_equals(l.section, "info"))
            continue;
        if (span_equals(l.key, "drivername"))
            hr = ini_take_value(&l, &out->service);
        else if (span_equals(l.key, "symbolfile"))
            hr = ini_take_value(&l, &out->symbol_file);
    }
    if (SUCCEEDED(hr) && !out->service)
        hr = error_set(EXTENSION_INVALID, "section [info] has no drivername");
    if (SUCCEEDED(hr) && (strlen(out->service) > 255 || strchr(out->service, '\\')))
        hr = error_set(EXTENSION_INVALID, "invalid service name '%.80s' in drivername", out->service);
    if (SUCCEEDED(hr) && !out->symbol_file)
        hr = error_set(EXTENSION_INVALID, "section [info] has no symbolfile");
    if (FAILED(hr))
        extension_ini_free(out);
    return hr;
}

static bool is_language(struct span s)
{
    for (size_t i = 0; i < s.length; i++)
        if (!memchr("0123456789ABCDEFabcdef", s.at[i], 22))
            return false;
    return s.length == LANGUAGE_SIZE;
}

static size_t find_language(const struct texts *languages, struct span s)
{
    size_t i = 0;
    while (i < languages->count && !span_equals(s, languages->items[i]))
        i++;
    return i;
}

static HRESULT read_languages(const char *ini, struct texts *out)
{
    struct ini_lines l = {.next = ini};
    HRESULT hr = S_OK;
    while (SUCCEEDED(hr) && next_pair(&l)) {
        if (!span_equals(l.section, "languages"))
            continue;
        if (!is_language(l.key))
            hr = wrong(&l, "expected a language of three hexadecimal digits such as 009");
        else if (find_language(out, l.key) < out->count)
            hr = wrong(&l, "duplicate language");
        char *text = SUCCEEDED(hr) ? text_copy_n(l.key.at, l.key.length) : NULL;
        if (SUCCEEDED(hr))
            hr = text ? texts_add_owned(out, text) : E_OUTOFMEMORY;
    }
    return SUCCEEDED(hr) && !out->count ? error_set(EXTENSION_INVALID, "section [languages] has no language") : hr;
}

/* Parses a key such as SYMBOL_009_NAME or SYMBOL_009_HELP. */
static HRESULT read_key(const struct ini_lines *l, const struct texts *languages, const struct symbols *symbols,
                        struct extension_text *out)
{
    struct span key = l->key;
    out->is_help = ends_with(key, "_HELP");
    if (!out->is_help && !ends_with(key, "_NAME"))
        return wrong(l, "expected a key that ends with _NAME or _HELP");
    key.length -= 5;
    const struct span language = {key.at + key.length - LANGUAGE_SIZE, LANGUAGE_SIZE};
    if (key.length < LANGUAGE_SIZE + 2 || language.at[-1] != '_' || !is_language(language))
        return wrong(l, "expected a symbol and a language as in SYMBOL_009_NAME");
    out->language = find_language(languages, language);
    if (out->language == languages->count)
        return wrong(l, "section [languages] does not list the language");
    key.length -= LANGUAGE_SIZE + 1;
    const struct symbol *s = find_symbol(symbols, key);
    if (!s)
        return wrong(l, "the header file does not define the symbol");
    if (s->offset % 2 || s->offset > EXTENSION_MOST_OFFSET)
        return wrong(l, "the symbol's number is odd or too large");
    out->offset = s->offset;
    out->line = l->number;
    return S_OK;
}

static HRESULT read_text(struct ini_lines *l, const struct texts *languages, const struct symbols *symbols,
                         struct extension_ini *out)
{
    struct extension_text one = {.line = l->number};
    HRESULT hr = read_key(l, languages, symbols, &one);
    if (SUCCEEDED(hr) && l->value.length > LONGEST_TEXT)
        hr = wrong(l, "string is too long");
    if (SUCCEEDED(hr) && !l->value.length && !one.is_help)
        hr = wrong(l, "name is missing");
    if (FAILED(hr) || !l->value.length)
        return hr;
    void *items = out->items;
    const bool room = memory_grow(&items, &out->capacity, out->count + 1, sizeof *out->items);
    out->items = items;
    one.text = room ? text_copy_n(l->value.at, l->value.length) : NULL;
    if (!one.text)
        return E_OUTOFMEMORY;
    out->items[out->count++] = one;
    out->last = one.offset > out->last ? one.offset : out->last;
    return S_OK;
}

static HRESULT read_object(struct ini_lines *l, const struct texts *languages, const struct symbols *symbols,
                           struct extension_ini *out)
{
    struct extension_text one = {.line = 0};
    HRESULT hr = read_key(l, languages, symbols, &one);
    char *number = SUCCEEDED(hr) ? text_format("%u", (unsigned)one.offset) : NULL;
    if (SUCCEEDED(hr) && !number)
        hr = E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < out->objects.count; i++)
        if (strcmp(out->objects.items[i], number) == 0) { /* already listed for another language */
            memory_free(number);
            return S_OK;
        }
    return SUCCEEDED(hr) ? texts_add_owned(&out->objects, number) : hr;
}

static int by_place(const void *a, const void *b)
{
    const struct extension_text *x = a, *y = b;
    if (x->language != y->language)
        return x->language < y->language ? -1 : 1;
    if (x->is_help != y->is_help)
        return x->is_help ? 1 : -1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static HRESULT check_doubles(const struct extension_ini *ini)
{
    for (size_t i = 1; i < ini->count; i++)
        if (by_place(&ini->items[i - 1], &ini->items[i]) == 0)
            return error_set(EXTENSION_INVALID, "lines %u and %u both define the %s of symbol number %u",
                             (unsigned)ini->items[i - 1].line, (unsigned)ini->items[i].line,
                             ini->items[i].is_help ? "help" : "name", (unsigned)ini->items[i].offset);
    return S_OK;
}

static HRESULT read_texts(const char *ini, const struct symbols *symbols, struct extension_ini *out)
{
    struct ini_lines l = {.next = ini};
    HRESULT hr = S_OK;
    while (SUCCEEDED(hr) && next_pair(&l))
        if (span_equals(l.section, "text"))
            hr = read_text(&l, &out->languages, symbols, out);
        else if (span_equals(l.section, "objects"))
            hr = read_object(&l, &out->languages, symbols, out);
    if (SUCCEEDED(hr) && !out->count)
        hr = error_set(EXTENSION_INVALID, "section [text] has no entry");
    if (SUCCEEDED(hr))
        qsort(out->items, out->count, sizeof *out->items, by_place);
    return SUCCEEDED(hr) ? check_doubles(out) : hr;
}

static void forget_texts(struct extension_ini *ini)
{
    for (size_t i = 0; i < ini->count; i++)
        memory_free(ini->items[i].text);
    memory_free(ini->items);
    texts_free(&ini->languages);
    texts_free(&ini->objects);
    ini->items = NULL;
    ini->count = ini->capacity = 0;
    ini->last = 0;
}

HRESULT extension_ini_read(const char *ini, const char *symbols, struct extension_ini *out)
{
    struct symbols all = {0};
    HRESULT hr = read_symbols(symbols, &all);
    if (SUCCEEDED(hr))
        hr = read_languages(ini, &out->languages);
    if (SUCCEEDED(hr))
        hr = read_texts(ini, &all, out);
    memory_free(all.items);
    if (FAILED(hr))
        forget_texts(out);
    return hr;
}

void extension_ini_free(struct extension_ini *ini)
{
    forget_texts(ini);
    memory_free(ini->service);
    memory_free(ini->symbol_file);
    *ini = (struct extension_ini){0};
}
