/* SPDX-License-Identifier: MIT */
/* Stores the strings of an import, builds XPath from texts, and converts HTML to plain text. */
#include "engine/base/memory.h"
#include "engine/report/rules/pal/pal_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

const char *pal_keep(struct pal_pool *p, char *owned)
{
    enum { MOST_BYTES = 256 << 20 };
    const size_t size = owned ? strlen(owned) + 1 : 0;
    if (size > MOST_BYTES - p->bytes) {
        memory_free(owned);
        owned = NULL;
    }
    if (owned && SUCCEEDED(texts_add_owned(&p->texts, owned))) {
        p->bytes += size;
        return owned;
    }
    p->failed = true;
    return "";
}

const char *pal_format(struct pal_pool *p, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    va_list again;
    va_copy(again, list);
    const int size = vsnprintf(NULL, 0, format, list);
    char *text = size >= 0 ? memory_alloc((size_t)size + 1) : NULL;
    if (text)
        vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    va_end(list);
    return pal_keep(p, text);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* ---- XPath ---- */

/* XPath literals have no escapes, so apostrophes are written in double quotes. Each opening brace is a separate
   literal, so that rules do not read "{name}" as a variable. */
const char *pal_literal(struct pal_pool *p, const char *text, bool folded)
{
    struct text_buffer b = {0};
    size_t parts = 0;
    const char *c = text;
    do {
        const char quote = *c == '\'' ? '"' : '\'';
        text_buffer_add(&b, parts++ ? "," : "");
        text_buffer_add_n(&b, &quote, 1);
        for (bool first = true; *c && (first || *c != '{') && (quote == '"' ? *c == '\'' : *c != '\''); first = false) {
            const char one = folded ? lower(*c) : *c;
            text_buffer_add_n(&b, &one, 1);
            if (*c++ == '{')
                break;
        }
        text_buffer_add_n(&b, &quote, 1);
    } while (*c);
    const char *joined = pal_keep(p, text_buffer_take(&b));
    return parts > 1 ? pal_format(p, "concat(%s)", joined) : joined;
}

/* Formats the number without an exponent, because XPath has none. */
const char *pal_number(struct pal_pool *p, double number)
{
    char text[64];
    snprintf(text, sizeof text, "%.15g", number);
    if (strchr(text, 'e') || strchr(text, 'n'))
        snprintf(text, sizeof text, "%.*f", fabs(number) < 1 ? 18 : 0, fabs(number) < 1e30 ? number : 1e30);
    return number < 0 ? pal_format(p, "(%s)", text) : pal_format(p, "%s", text);
}

const char *pal_rounded(struct pal_pool *p, const char *value, int decimals)
{
    static const char factor[] = "1000000000";
    if (decimals < 0)
        return value;
    return decimals ? pal_format(p, "round(%s*%.*s) div %.*s", value, decimals + 1, factor, decimals + 1, factor)
                    : pal_format(p, "round(%s)", value);
}

const char *pal_at(struct pal_pool *p, const char *condition, const char *row)
{
    struct text_buffer b = {0};
    for (const char *c = condition; *c; c++)
        if (*c == *PAL_ROW)
            text_buffer_add(&b, row);
        else
            text_buffer_add_n(&b, c, 1);
    text_buffer_add(&b, "");
    return pal_keep(p, text_buffer_take(&b));
}

/* ---- descriptions ---- */

enum { TEXT_MOST = 8000, LINKS_MOST = 10 };

struct html {
    struct text_buffer out;
    bool blank, line; /* a space or a line end must be written before the next character */
    struct texts *links;
};

static void html_add(struct html *h, const char *text, size_t size)
{
    if (h->out.length > TEXT_MOST)
        return;
    if (h->out.length && (h->blank || h->line))
        text_buffer_add(&h->out, h->line ? "\n" : " ");
    h->blank = h->line = false;
    text_buffer_add_n(&h->out, text, size);
}

/* Adds the character of an entity and returns the entity's length, or 0 if the ampersand does not begin an
   entity. */
static size_t html_entity(struct html *h, const char *at)
{
    static const struct {
        const char *name, *text;
    } names[] = {{"&amp;", "&"},        {"&lt;", "<"},
                 {"&gt;", ">"},         {"&quot;", "\""},
                 {"&apos;", "'"},       {"&ndash;", "-"},
                 {"&mdash;", "-"},      {"&lsquo;", "'"},
                 {"&rsquo;", "'"},      {"&ldquo;", "\""},
                 {"&rdquo;", "\""},     {"&bull;", "-"},
                 {"&reg;", "\xC2\xAE"}, {"&trade;", "\xE2\x84\xA2"},
                 {"&copy;", "\xC2\xA9"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(at, names[i].name, strlen(names[i].name))) {
            html_add(h, names[i].text, strlen(names[i].text));
            return strlen(names[i].name);
        }
    if (!strncmp(at, "&nbsp;", 6)) {
        h->blank = true;
        return 6;
    }
    if (at[1] != '#')
        return 0;
    char *end;
    const bool hexadecimal = at[2] == 'x' || at[2] == 'X';
    const unsigned long code = strtoul(at + 2 + hexadecimal, &end, hexadecimal ? 16 : 10);
    char bytes[4];
    if (*end != ';' || end - at > 10 || code < 0x20 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ||
        (code & 0xFFFE) == 0xFFFE)
        return 0;
    if (code == 0xA0)
        h->blank = true;
    else
        html_add(h, bytes, unicode_put((uint32_t)code, bytes));
    return (size_t)(end + 1 - at);
}

static bool is_name(const char *name, size_t length, const char *wanted)
{
    char *copy = text_copy_n(name, length);
    const bool is = copy && text_equal_nocase(copy, wanted);
    memory_free(copy);
    return is;
}

/* Adds the address of a link, in any of HTML's three notations. */
static void html_link(struct html *h, const char *tag, size_t size)
{
    const char *end = tag + size, *at = tag;
    for (; end - at > 5; at++)
        if ((at[-1] == ' ' || at[-1] == '\t' || at[-1] == '\n') && is_name(at, 4, "href"))
            break;
    if (end - at <= 5)
        return;
    for (at += 4; at < end && strchr(" \t\r\n=", *at); at++) {
    }
    const char quote = at < end && (*at == '"' || *at == '\'') ? *at++ : 0;
    size_t n = 0;
    while (at + n < end && (quote ? at[n] != quote : !strchr(" \t\r\n>", at[n])))
        n++;
    char *address = text_copy_n(at, n);
    bool wanted = address && h->links->count < LINKS_MOST &&
                  (is_name(address, n < 7 ? n : 7, "http://") || is_name(address, n < 8 ? n : 8, "https://"));
    for (size_t i = 0; wanted && i < h->links->count; i++)
        wanted = strcmp(h->links->items[i], address) != 0;
    if (!wanted)
        memory_free(address);
    else if (FAILED(texts_add_owned(h->links, address)))
        h->out.failed = true;
}

/* Returns the position after the tag. */
static const char *html_tag(struct html *h, const char *at)
{
    static const char *const lines[] = {"br", "p", "div", "tr", "table", "ul", "ol", "h1", "h2", "h3", "h4", "pre"};
    if (!strncmp(at, "<!--", 4)) {
        const char *end = strstr(at, "-->");
        return end ? end + 3 : at + strlen(at);
    }
    const bool closes = at[1] == '/';
    const char *name = at + 1 + closes, *end = strchr(at, '>');
    size_t n = strcspn(name, " \t\r\n/>");
    end = end ? end : at + strlen(at);
    if (is_name(name, n, "li")) {
        h->line = true;
        if (!closes) {
            html_add(h, "-", 1);
            h->blank = true;
        }
    } else if (is_name(name, n, "td")) {
        h->blank = true;
    } else if (is_name(name, n, "a") && !closes) {
        html_link(h, name + n, (size_t)(end - name - n));
    } else if (!closes && (is_name(name, n, "script") || is_name(name, n, "style"))) {
        const char *close = strstr(end, "</");
        return close ? close : at + strlen(at);
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        h->line |= is_name(name, n, lines[i]);
    return *end ? end + 1 : end;
}

static bool begins_tag(const char *at)
{
    const char c = lower(at[1]);
    return *at == '<' && ((c >= 'a' && c <= 'z') || c == '/' || c == '!');
}

const char *pal_html_text(struct pal_pool *p, const char *html, struct texts *links)
{
    struct html h = {.links = links};
    for (const char *c = html; *c;) {
        size_t n = 0;
        if (begins_tag(c)) {
            c = html_tag(&h, c);
            continue;
        }
        if (*c == '&')
            n = html_entity(&h, c);
        else if (strchr(" \t\r\n", *c)) {
            h.blank = true;
            n = 1;
        }
        if (!n) {
            html_add(&h, c, 1);
            n = 1;
        }
        c += n;
    }
    if (h.out.length > TEXT_MOST) { /* cut it, but not within a character */
        while (h.out.length && ((unsigned char)h.out.text[h.out.length - 1] & 0xC0) == 0x80)
            h.out.length--;
        h.out.length -= h.out.length && (unsigned char)h.out.text[h.out.length - 1] >= 0xC0;
        h.out.text[h.out.length] = 0;
        text_buffer_add(&h.out, " ...");
    }
    text_buffer_add(&h.out, "");
    return pal_keep(p, text_buffer_take(&h.out));
}
