/* SPDX-License-Identifier: MIT */
/* The line with a set's account. */
#include "engine/pla/store/stored_account.h"

#include "engine/base/memory.h"

#include <string.h>

#define ACCOUNT_LINE_BEGIN "\n<?openpla-account user=\""
#define ACCOUNT_LINE_KEY   "\" key=\""
#define ACCOUNT_LINE_END   "\"?>\n"

/* The last line; NULL: there is none. *end is where ACCOUNT_LINE_END begins. */
static const char *find_line(const char *xml, size_t size, const char **end)
{
    const size_t begin = sizeof ACCOUNT_LINE_BEGIN - 1, tail = sizeof ACCOUNT_LINE_END - 1;
    if (size < begin + tail || memcmp(xml + size - tail, ACCOUNT_LINE_END, tail) != 0)
        return NULL;
    *end = xml + size - tail;
    for (const char *at = *end - 1; at > xml; at--)
        if (*at == '\n')
            return *end >= at + begin && !memcmp(at, ACCOUNT_LINE_BEGIN, begin) ? at : NULL;
    return NULL;
}

HRESULT set_account_read(const char *xml, size_t size, struct set_account *out)
{
    const char *end, *at = xml ? find_line(xml, size, &end) : NULL, *key = NULL;
    *out = (struct set_account){.user = NULL};
    at = at ? at + sizeof ACCOUNT_LINE_BEGIN - 1 : NULL;
    for (const char *c = at; c && !key && c + sizeof ACCOUNT_LINE_KEY - 1 <= end; c++)
        key = !memcmp(c, ACCOUNT_LINE_KEY, sizeof ACCOUNT_LINE_KEY - 1) ? c : NULL;
    if (key) {
        const char *digits = key + sizeof ACCOUNT_LINE_KEY - 1;
        size_t n = (size_t)(end - digits);
        if (n < sizeof out->key)
            memcpy(out->key, digits, n);
    }
    out->user = key ? text_copy_n(at, (size_t)(key - at)) : text_copy("");
    return out->user ? S_OK : E_OUTOFMEMORY;
}

void set_account_free(struct set_account *a)
{
    memory_free(a->user);
    *a = (struct set_account){.user = NULL};
}

HRESULT set_account_add(const struct set_account *a, char **xml, size_t *size)
{
    if (!*a->user && !*a->key)
        return S_OK;
    char *both =
        text_format("%s" ACCOUNT_LINE_BEGIN "%s" ACCOUNT_LINE_KEY "%s" ACCOUNT_LINE_END, *xml, a->user, a->key);
    if (!both)
        return E_OUTOFMEMORY;
    memory_free(*xml);
    *xml = both;
    *size = strlen(both);
    return S_OK;
}

HRESULT set_account_find_keys(const char *text, size_t size, struct texts *keys)
{
    const size_t head = sizeof ACCOUNT_LINE_KEY - 1, most = head + SHARED_KEY_DIGITS;
    HRESULT hr = S_OK;
    for (size_t at = 0; SUCCEEDED(hr) && at + most <= size; at++) {
        char key[SHARED_KEY_DIGITS + 1] = "";
        if (text[at] != ACCOUNT_LINE_KEY[0] || memcmp(text + at, ACCOUNT_LINE_KEY, head) != 0)
            continue;
        memcpy(key, text + at + head, SHARED_KEY_DIGITS);
        if (strspn(key, "0123456789abcdef") == SHARED_KEY_DIGITS)
            hr = texts_add(keys, key);
    }
    return hr;
}
