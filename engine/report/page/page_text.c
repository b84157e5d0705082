/* SPDX-License-Identifier: MIT */
/* Formats the strings and numbers of a report for a page. Names of processes and files can be chosen by any user.
   Numbers are formatted as text, digit by digit, because byte counts and hashes have more than the 15 digits of a
   double. */
#include "engine/base/memory.h"
#include "engine/base/xml_text.h"
#include "engine/report/page/page_parts.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

#define ELLIPSIS    "\xE2\x80\xA6"
#define REPLACEMENT "\xEF\xBF\xBD"

/* Returns whether `at` points to a direction mark: U+202A to U+202E are E2 80 AA to AE, and U+2066 to U+2069 are E2 81
   A6 to A9. */
static bool is_direction(const char *at)
{
    const unsigned char *c = (const unsigned char *)at;
    return c[0] == 0xE2 &&
           ((c[1] == 0x80 && c[2] >= 0xAA && c[2] <= 0xAE) || (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9));
}

static void replace_directions(char *text)
{
    for (char *at = strchr(text, 0xE2); at; at = strchr(at + 1, 0xE2))
        if (is_direction(at))
            memcpy(at, REPLACEMENT, 3);
}

void page_text(struct text_buffer *out, const char *text, size_t longest, bool attribute)
{
    size_t length = text ? strlen(text) : 0;
    if (!length)
        return;
    const bool cut = length > longest;
    length = cut ? longest : length;
    while (cut && length && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--; /* whole characters */
    char *copy = text_copy_n(text, length);
    out->failed |= !copy;
    if (!copy)
        return;
    replace_directions(copy);
    xml_add_escaped(out, copy, attribute);
    memory_free(copy);
    text_buffer_add(out, cut ? ELLIPSIS : "");
}

void page_attribute(struct text_buffer *out, const char *name, const char *text, size_t longest)
{
    if (!text || !*text)
        return;
    text_buffer_format(out, " %s=\"", name);
    page_text(out, text, longest, true);
    text_buffer_add(out, "\"");
}

/* ---- numbers by masks ---- */

#define MOST_DIGITS   400 /* digits of a number; longer numbers are not formatted */
#define MOST_FRACTION 60  /* maximum number of digits that a mask can request */

bool page_is_number(const char *text)
{
    text += *text == '-';
    const size_t whole = strspn(text, "0123456789");
    if (!whole || whole > MOST_DIGITS / 2)
        return false;
    if (text[whole] != '.')
        return !text[whole];
    const size_t fraction = strspn(text + whole + 1, "0123456789");
    return fraction && fraction < MOST_DIGITS / 2 && !text[whole + 1 + fraction];
}

struct form {
    const char *before, *behind; /* the digits */
    size_t before_length, behind_length;
    size_t least_whole, least_fraction, most_fraction;
    bool grouped;
    unsigned shift; /* places by which the decimal point moves; 2 for percent */
};

/* Reads one half of a mask; the reader of schemas has rejected masks other than "text #,##0.0# text". */
static void read_half(const char *at, size_t size, struct form *f)
{
    const char *end = at + size, *digits = at;
    while (digits < end && !strchr("#0,.", *digits))
        digits++;
    *f = (struct form){.before = at, .before_length = (size_t)(digits - at)};
    bool fraction = false;
    for (at = digits; at < end && strchr("#0,.", *at); at++) {
        fraction |= *at == '.';
        f->grouped |= *at == ',';
        f->least_whole += !fraction && *at == '0';
        f->least_fraction += fraction && *at == '0';
        f->most_fraction += fraction && (*at == '0' || *at == '#');
    }
    f->behind = at;
    f->behind_length = (size_t)(end - at);
    f->least_fraction = f->least_fraction < MOST_FRACTION ? f->least_fraction : MOST_FRACTION;
    f->most_fraction = f->most_fraction < MOST_FRACTION ? f->most_fraction : MOST_FRACTION;
    f->least_whole = f->least_whole < MOST_FRACTION ? f->least_whole : MOST_FRACTION;
    f->shift = memchr(f->before, '%', f->before_length) || memchr(f->behind, '%', f->behind_length) ? 2 : 0;
}

/* A number without its sign: its digits, and the number of digits before the point. One position before the first digit
   is reserved for a carry. */
struct digits {
    char at[2 * MOST_DIGITS];
    size_t count, whole;
};

static void read_digits(const char *text, unsigned shift, struct digits *d)
{
    d->at[0] = '0';
    d->count = 1;
    d->whole = 0;
    for (; *text; text++)
        if (*text == '.')
            d->whole = d->count;
        else
            d->at[d->count++] = *text;
    d->whole = (d->whole ? d->whole : d->count) + shift;
    while (d->count < d->whole)
        d->at[d->count++] = '0';
}

static void round_at(struct digits *d, size_t fraction)
{
    const size_t keep = d->whole + fraction;
    if (keep >= d->count)
        return;
    bool up = d->at[keep] >= '5';
    d->count = keep;
    for (size_t i = keep; up && i-- > 0;) {
        up = d->at[i] == '9';
        d->at[i] = (char)(up ? '0' : d->at[i] + 1);
    }
}

static bool is_zero(const struct digits *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->at[i] != '0')
            return false;
    return true;
}

static void add_digits(struct text_buffer *out, struct digits *d, const struct form *f)
{
    round_at(d, f->most_fraction);
    size_t first = 0, last = d->count;
    while (first < d->whole && d->at[first] == '0')
        first++;
    while (last > d->whole + f->least_fraction && d->at[last - 1] == '0')
        last--;
    const size_t shown = d->whole - first > f->least_whole ? d->whole - first : f->least_whole;
    for (size_t i = 0; i < shown; i++) {
        const size_t left = shown - i; /* number of digits up to the point, including the current digit */
        text_buffer_add_n(out, left > d->whole - first ? "0" : &d->at[d->whole - left], 1);
        if (f->grouped && left > 1 && left % 3 == 1)
            text_buffer_add_n(out, ",", 1);
    }
    if (!shown && last <= d->whole && !f->least_fraction)
        text_buffer_add_n(out, "0", 1);
    if (last > d->whole || f->least_fraction)
        text_buffer_add_n(out, ".", 1);
    if (last > d->whole)
        text_buffer_add_n(out, d->at + d->whole, last - d->whole);
    for (size_t i = last > d->whole ? last - d->whole : 0; i < f->least_fraction; i++)
        text_buffer_add_n(out, "0", 1);
}

/* Returns the decimal places for a number without a mask: enough for about three significant digits. */
static size_t places_of(const struct digits *d)
{
    size_t first = 0;
    while (first < d->count && d->at[first] == '0')
        first++;
    if (first >= d->count)
        return 0;
    if (first >= d->whole) {
        const size_t places = first - d->whole + 3;
        return places < MOST_FRACTION ? places : MOST_FRACTION;
    }
    const size_t whole = d->whole - first;
    return whole >= 4 ? 0 : whole == 3 ? 1 : 2;
}

void page_number_add(struct text_buffer *out, const char *text, const char *mask, bool grouped)
{
    struct form f = {.before = "", .behind = "", .least_whole = 1, .grouped = true};
    struct digits d;
    if (!page_is_number(text)) {
        text_buffer_add(out, text);
        return;
    }
    const bool negative = *text == '-', has_mask = mask && *mask;
    const char *second = has_mask ? strchr(mask, ';') : NULL;
    text += negative;
    if (has_mask && second && negative)
        read_half(second + 1, strlen(second + 1), &f);
    else if (has_mask)
        read_half(mask, strcspn(mask, ";"), &f);
    read_digits(text, f.shift, &d);
    if (!has_mask && d.count == d.whole)
        f.grouped = grouped;
    if (!has_mask)
        f.most_fraction = places_of(&d);
    struct digits rounded = d;
    round_at(&rounded, f.most_fraction);
    if (negative && !second && !is_zero(&rounded))
        text_buffer_add_n(out, "-", 1);
    text_buffer_add_n(out, f.before, f.before_length);
    add_digits(out, &d, &f);
    text_buffer_add_n(out, f.behind, f.behind_length);
}
