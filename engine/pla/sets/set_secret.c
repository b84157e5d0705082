/* SPDX-License-Identifier: MIT */
/* A set's secret as a text, and back. */
#include "engine/pla/sets/set_secret.h"

#include "engine/base/memory.h"
#include "engine/pla/credentials.h"
#include "engine/pla/store.h"

#include <string.h>

enum { SOURCE_COLLECTOR, SOURCE_OPEN, SOURCE_SECRET, SOURCE_TEXTS };

static char *identity(const char *space, const char *name)
{
    char *file = store_file_name(name), *text = file ? text_format("%s\\%s", space, file) : NULL;
    memory_free(file);
    return text;
}

HRESULT set_secret_begin(struct set_secret *out, const char *space, const char *name)
{
    out->set = identity(space, name);
    return out->set ? S_OK : E_OUTOFMEMORY;
}

void set_secret_free(struct set_secret *s)
{
    memory_free(s->set);
    memory_free(s->by);
    memory_free(s->sid);
    memory_free_secret(s->password);
    texts_free(&s->sources); /* our heap wipes what it gets back */
    *s = (struct set_secret){.set = NULL};
}

HRESULT set_secret_add_source(struct set_secret *s, const char *collector, const char *open, const char *secret)
{
    HRESULT hr = texts_add(&s->sources, collector);
    if (SUCCEEDED(hr))
        hr = texts_add(&s->sources, open);
    return SUCCEEDED(hr) ? texts_add(&s->sources, secret) : hr;
}

const char *set_secret_source(const struct set_secret *s, const char *collector, const char *open)
{
    for (size_t i = 0; i + SOURCE_TEXTS <= s->sources.count; i += SOURCE_TEXTS) {
        char *const *source = &s->sources.items[i];
        if (text_equal_nocase(source[SOURCE_COLLECTOR], collector) && !strcmp(source[SOURCE_OPEN], open))
            return source[SOURCE_SECRET];
    }
    return NULL;
}

static void add(struct text_buffer *b, const char *word, const char *value)
{
    if (!value)
        return;
    text_buffer_add(b, word);
    text_buffer_add_escaped(b, value);
    text_buffer_add(b, "\n");
}

HRESULT set_secret_text(const struct set_secret *s, char **text)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, "");
    add(&b, "set ", s->set);
    add(&b, "by ", s->by);
    add(&b, "sid ", s->sid);
    add(&b, "password ", s->password);
    for (size_t i = 0; i < s->sources.count; i++)
        add(&b, "source ", s->sources.items[i]);
    *text = text_buffer_take(&b);
    text_buffer_free(&b);
    return *text ? S_OK : E_OUTOFMEMORY;
}

/* The value of a line; what is no such line stays what it was. */
static HRESULT take(const char *line, const char *word, char **value)
{
    size_t n = strlen(word);
    if (strncmp(line, word, n) != 0)
        return S_FALSE;
    char *text = text_copy(line + n);
    if (!text)
        return E_OUTOFMEMORY;
    if (*value || !text_unescape(text)) {
        memory_free_secret(text);
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    }
    *value = text;
    return S_OK;
}

static HRESULT take_line(const char *line, struct set_secret *out)
{
    char *source = NULL;
    HRESULT hr = take(line, "set ", &out->set);
    if (hr == S_FALSE)
        hr = take(line, "by ", &out->by);
    if (hr == S_FALSE)
        hr = take(line, "sid ", &out->sid);
    if (hr == S_FALSE)
        hr = take(line, "password ", &out->password);
    if (hr == S_FALSE && (hr = take(line, "source ", &source)) == S_OK)
        hr = texts_give(&out->sources, source);
    return hr;
}

HRESULT set_secret_parse(char *text, struct set_secret *out)
{
    HRESULT hr = S_OK;
    for (char *line = text, *next; SUCCEEDED(hr) && *line; line = next) {
        next = strchr(line, '\n');
        if (!next)
            return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
        *next++ = 0;
        hr = take_line(line, out);
    }
    if (SUCCEEDED(hr) && out->sources.count % SOURCE_TEXTS)
        hr = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    return FAILED(hr) ? hr : S_OK;
}

/* Takes the text. */
static HRESULT parse_and_wipe(char *text, struct set_secret *out)
{
    const size_t size = strlen(text);
    HRESULT hr = set_secret_parse(text, out);
    memory_wipe(text, size); /* its lines have their ends */
    memory_free(text);
    return hr;
}

HRESULT set_secret_load(const char *key, const char *space, const char *name, struct set_secret *out)
{
    char *text = NULL, *own = identity(space, name);
    *out = (struct set_secret){.set = NULL};
    HRESULT hr = own ? run_secret_given(key, &text) : E_OUTOFMEMORY;
    if (hr == S_FALSE)
        hr = secret_load(key, &text);
    if (hr == S_OK)
        hr = parse_and_wipe(text, out);
    if (hr == S_OK && (!out->set || strcmp(out->set, own) != 0))
        hr = S_FALSE;
    if (hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA)) /* as one that is gone: another is asked for */
        hr = S_FALSE;
    if (hr != S_OK)
        set_secret_free(out);
    if (hr == S_FALSE)
        error_clear();
    memory_free(own);
    return hr;
}

HRESULT set_secret_delete(const char *key, const char *space, const char *name)
{
    struct set_secret found = {.set = NULL};
    char *text = NULL, *own = identity(space, name);
    HRESULT hr = own ? secret_load(key, &text) : E_OUTOFMEMORY;
    if (hr == S_OK)
        hr = parse_and_wipe(text, &found);
    const bool anothers = hr == S_OK && found.set && strcmp(found.set, own) != 0;
    set_secret_free(&found);
    memory_free(own);
    if (hr == E_OUTOFMEMORY)
        return hr;
    error_clear(); /* one that cannot be read is of no use to anybody */
    return anothers ? S_FALSE : secret_delete(key);
}
