/* SPDX-License-Identifier: MIT */
/* Splits the PowerShell of a threshold file into tokens. Before PAL runs the code, it replaces $NAME in the text of the
   code if NAME is a collection or a question. Therefore such names may contain characters that the names of
   PowerShell's variables cannot contain: #, ==>, +, -. If several known names match, the longest name takes
   precedence. */
#include "engine/base/memory.h"
#include "engine/report/rules/pal/pal_parts.h"

#include <stdlib.h>
#include <string.h>

enum { TOKENS_MAX = 20000 };

struct reading {
    struct pal_pool *pool;
    const struct texts *names;
    const char *at;
    struct pal_tokens *out;
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t word_length(const char *at)
{
    size_t n = 0;
    while (is_letter(at[n]) || is_digit(at[n]))
        n++;
    return n;
}

static HRESULT add(struct reading *r, enum pal_token_kind kind, const char *text, double number)
{
    void *items = r->out->items;
    if (r->out->count >= TOKENS_MAX)
        return S_FALSE;
    if (!memory_grow(&items, &r->out->capacity, r->out->count + 1, sizeof *r->out->items))
        return E_OUTOFMEMORY;
    r->out->items = items;
    r->out->items[r->out->count++] = (struct pal_token){kind, text, number};
    return S_OK;
}

static const char *lower_copy(struct reading *r, const char *text, size_t size)
{
    char *copy = text_copy_n(text, size);
    for (char *c = copy; c && *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c |= 0x20;
    return pal_keep(r->pool, copy);
}

static bool begins_nocase(const char *text, const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const char a = text[i], b = name[i];
        const bool letters = ((a | 0x20) >= 'a' && (a | 0x20) <= 'z') && (a | 0x20) == (b | 0x20);
        if (a != b && !letters)
            return false;
    }
    return true;
}

/* Reads a variable's name; the $ has been read. */
static HRESULT read_variable(struct reading *r)
{
    const bool braced = *r->at == '{';
    const char *at = r->at + braced, *name = NULL;
    size_t known = 0, n = word_length(at);
    for (size_t i = 0; i < r->names->count; i++) {
        const size_t size = strlen(r->names->items[i]);
        if (size > known && begins_nocase(at, r->names->items[i], size)) {
            known = size;
            name = r->names->items[i];
        }
    }
    if (braced && !strchr(at, '}'))
        n = 0;
    else if (braced && known < strcspn(at, "}"))
        n = strcspn(at, "}");
    while (!braced && n && at[n] == ':' && at[n + 1] != ':' && word_length(at + n + 1)) /* a scope */
        n += 1 + word_length(at + n + 1);
    const bool is_known = known && known >= n;
    n = is_known ? known : n;
    r->at = at + n + (braced && at[n] == '}');
    return add(r, PAL_VARIABLE, is_known ? lower_copy(r, name, known) : lower_copy(r, at, n), 0);
}

static HRESULT read_number(struct reading *r)
{
    static const char units[] = "KMGTP";
    char *end;
    double number;
    if (r->at[0] == '0' && (r->at[1] | 0x20) == 'x') {
        number = (double)strtoull(r->at + 2, &end, 16);
    } else {
        char digits[64];
        size_t n = strspn(r->at, "0123456789");
        n += r->at[n] == '.' && is_digit(r->at[n + 1]) ? 1 + strspn(r->at + n + 1, "0123456789") : 0;
        if ((r->at[n] | 0x20) == 'e' &&
            (is_digit(r->at[n + 1]) || (strchr("+-", r->at[n + 1]) && r->at[n + 1] && is_digit(r->at[n + 2]))))
            n += 2 + strspn(r->at + n + 2, "0123456789");
        const size_t copied = n < sizeof digits - 1 ? n : sizeof digits - 1;
        memcpy(digits, r->at, copied);
        digits[copied] = 0;
        number = strtod(digits, NULL);
        end = (char *)(uintptr_t)(r->at + n);
    }
    for (size_t i = 0; units[i]; i++)
        if ((end[0] & ~0x20) == units[i] && (end[0] & 0x40) && (end[1] | 0x20) == 'b' && !is_letter(end[2])) {
            for (size_t k = 0; k <= i; k++)
                number *= 1024;
            end += 2;
            break;
        }
    r->at = end;
    return add(r, PAL_NUMBER, "", number < 1e30 ? number : 1e30);
}

/* Reads a string. '' and "" inside quotes stand for the quote; ` escapes a character in "...". */
static HRESULT read_string(struct reading *r)
{
    const char quote = *r->at++;
    struct text_buffer b = {0};
    while (*r->at && (*r->at != quote || r->at[1] == quote)) {
        r->at += *r->at == quote || (quote == '"' && *r->at == '`' && r->at[1]);
        text_buffer_add_n(&b, r->at++, 1);
    }
    r->at += *r->at == quote;
    text_buffer_add(&b, "");
    return add(r, PAL_STRING, pal_keep(r->pool, text_buffer_take(&b)), 0);
}

/* Skips a comment. # begins a comment only if it is not inside a word. */
static bool skip_comment(struct reading *r)
{
    if (!strncmp(r->at, "<#", 2)) {
        const char *end = strstr(r->at, "#>");
        r->at = end ? end + 2 : r->at + strlen(r->at);
        return true;
    }
    if (*r->at != '#')
        return false;
    r->at += strcspn(r->at, "\r\n");
    return true;
}

static HRESULT read_sign(struct reading *r)
{
    static const char *const twos[] = {"++", "--", "+=", "-=", "*=", "/=", "::", "==", "&&", "||"};
    size_t n = 1;
    for (size_t i = 0; i < sizeof twos / sizeof *twos; i++)
        if (!strncmp(r->at, twos[i], 2))
            n = 2;
    const char *text = pal_keep(r->pool, text_copy_n(r->at, n));
    r->at += n;
    return add(r, PAL_SIGN, text, 0);
}

static HRESULT read_token(struct reading *r)
{
    const char c = *r->at;
    if (c == ' ' || c == '\t' || (c == '`' && (r->at[1] == '\r' || r->at[1] == '\n'))) {
        r->at += c == '`' ? 1 + strspn(r->at + 1, "\r") : 1;
        r->at += c == '`' && *r->at == '\n';
        return S_OK;
    }
    if (skip_comment(r))
        return S_OK;
    if (c == '\r' || c == '\n' || c == ';') {
        r->at++;
        return add(r, PAL_LINE, "", 0);
    }
    if (c == '$' && (word_length(r->at + 1) || r->at[1] == '{' || (r->at[1] && !strchr("( \t\r\n", r->at[1])))) {
        r->at++;
        return read_variable(r);
    }
    if (c == '$') { /* $( ) */
        r->at++;
        return S_OK;
    }
    if (is_digit(c) || (c == '.' && is_digit(r->at[1])))
        return read_number(r);
    if (c == '"' || c == '\'')
        return read_string(r);
    if (c == '-' && is_letter(r->at[1])) {
        const size_t n = word_length(r->at + 1);
        const char *word = lower_copy(r, r->at + 1, n);
        r->at += 1 + n;
        r->at += *r->at == ':' && r->at[1] != ':';
        return add(r, PAL_DASH, word, 0);
    }
    if (is_letter(c)) {
        const size_t n = word_length(r->at);
        const char *word = lower_copy(r, r->at, n);
        r->at += n;
        return add(r, PAL_WORD, word, 0);
    }
    return read_sign(r);
}

HRESULT pal_tokens_read(struct pal_pool *p, const char *code, const struct texts *names, struct pal_tokens *out)
{
    struct reading r = {.pool = p, .names = names, .at = code, .out = out};
    HRESULT hr = S_OK;
    while (*r.at && hr == S_OK)
        hr = read_token(&r);
    for (int i = 0; i < 4 && SUCCEEDED(hr); i++) { /* add four end tokens, so that code that looks ahead needs no
                                                      bounds check */
        void *items = out->items;
        if (!memory_grow(&items, &out->capacity, out->count + 1, sizeof *out->items))
            return E_OUTOFMEMORY;
        out->items = items;
        out->items[out->count++] = (struct pal_token){PAL_END, "", 0};
    }
    return SUCCEEDED(hr) && p->failed ? E_OUTOFMEMORY : hr;
}
