/* SPDX-License-Identifier: MIT */
/* The lines after the XML of a stored definition: account, Security, then name and owner. Each is a processing
   instruction. */
#include "engine/base/hash_long.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pla/store.h"
#include "engine/pla/store/set_file.h"

#include <stdio.h>
#include <inttypes.h>
#include <string.h>

#define NAME_BEGIN  "\n<?openpla-set name=\""
#define OWNER_BEGIN "\" owner=\"" /* a name cannot contain a quotation mark */
#define NAME_END    "\"?>\n"

void stored_name_add(struct text_buffer *content, const char *name, const char *owner)
{
    text_buffer_add(content, NAME_BEGIN);
    text_buffer_add(content, name);
    if (*owner) {
        text_buffer_add(content, OWNER_BEGIN);
        text_buffer_add(content, owner);
    }
    text_buffer_add(content, NAME_END);
}

char *stored_line_cut(char *xml, size_t *size, const char **owner)
{
    const size_t begin = sizeof(NAME_BEGIN) - 1, end = sizeof(NAME_END) - 1;
    *owner = "";
    if (*size < begin + end || memcmp(xml + *size - end, NAME_END, end) != 0)
        return NULL;
    for (size_t at = *size - end - begin + 1; at--;) {
        if (xml[at] != '\n')
            continue;
        if (memcmp(xml + at, NAME_BEGIN, begin) != 0)
            return NULL; /* the instruction must be the last line */
        xml[*size - end] = 0;
        xml[at] = 0;
        *size = at;
        char *behind = strstr(xml + at + begin, OWNER_BEGIN);
        if (behind) {
            *behind = 0;
            *owner = behind + sizeof(OWNER_BEGIN) - 1;
        }
        return xml + at + begin;
    }
    return NULL;
}

char *stored_name_cut(char *xml, size_t *size)
{
    const char *owner;
    return stored_line_cut(xml, size, &owner);
}

bool stored_owner_fits(const char *owner)
{
    size_t length = strlen(owner);
    if (!length || length > STORED_OWNER_MAX || strpbrk(owner, "\"<>?"))
        return false;
    for (const char *c = owner; *c; c++)
        if ((unsigned char)*c < 0x20)
            return false;
    return true;
}

/* ---- account and secret ---- */

#define ACCOUNT_LINE_BEGIN "\n<?openpla-account user=\""
#define ACCOUNT_LINE_KEY   "\" key=\""
#define ACCOUNT_LINE_END   "\"?>\n"

/* Returns the last line if it is an account line, otherwise NULL. *end: where ACCOUNT_LINE_END begins. */
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

/* ---- Security ---- */

#define SECURITY_LINE_BEGIN  "\n<?openpla-security of=\""
#define SECURITY_LINE_MIDDLE "\" text=\""
#define SECURITY_LINE_END    "\"?>"
#define TEXT_MOST            2048 /* bytes; a longer descriptor is read from the XML */

enum { DIGITS = 16 };

static void digits_of(const char *xml, size_t size, char out[DIGITS + 1])
{
    snprintf(out, DIGITS + 1, "%016" PRIx64, hash_long(HASH_START, xml, size));
}

void stored_security_add(struct text_buffer *content, const char *security)
{
    char digits[DIGITS + 1];
    if (content->failed || strlen(security) > TEXT_MOST || strpbrk(security, "\r\n") || strstr(security, "?>"))
        return;
    digits_of(content->text, content->length, digits);
    text_buffer_format(content, SECURITY_LINE_BEGIN "%s" SECURITY_LINE_MIDDLE "%s" SECURITY_LINE_END, digits, security);
}

char *stored_security_cut(char *xml, size_t *size, bool used)
{
    const size_t begin = sizeof(SECURITY_LINE_BEGIN) - 1, middle = sizeof(SECURITY_LINE_MIDDLE) - 1,
                 end = sizeof(SECURITY_LINE_END) - 1;
    const size_t least = begin + DIGITS + middle + end;
    char digits[DIGITS + 1];
    if (*size < least || memcmp(xml + *size - end, SECURITY_LINE_END, end) != 0)
        return NULL;
    size_t at = *size - end;
    while (at && xml[at] != '\n')
        at--;
    if (*size - at < least || memcmp(xml + at, SECURITY_LINE_BEGIN, begin) != 0 ||
        memcmp(xml + at + begin + DIGITS, SECURITY_LINE_MIDDLE, middle) != 0)
        return NULL;
    xml[*size - end] = 0;
    *size = at;
    if (used)
        digits_of(xml, at, digits);
    const bool same = used && !memcmp(digits, xml + at + begin, DIGITS);
    xml[at] = 0;
    return same ? xml + at + begin + DIGITS + middle : NULL;
}
