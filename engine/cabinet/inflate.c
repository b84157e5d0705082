/* SPDX-License-Identifier: MIT */
/* The other way of deflate, RFC 1951: bits from the lowest up, three kinds of blocks, codes by their lengths. */
#include "engine/cabinet/inflate.h"

#include <string.h>

enum { CODE_BITS = 15, LITERALS = 288, DISTANCES = 32, LENGTH_CODES = 19, END_OF_BLOCK = 256 };

struct stream {
    const uint8_t *in;
    size_t size, at;
    uint32_t bits; /* read and not yet used, the next one lowest */
    unsigned count;
    bool short_of; /* more was asked for than there is */
    uint8_t *out;
    size_t wanted, done, history;
};

/* How many codes there are of each length, and the symbols in the order of their codes. */
struct codes {
    uint16_t count[CODE_BITS + 1];
    uint16_t symbols[LITERALS];
};

/* At most 16. Behind the end there are zeros, and short_of. */
static uint32_t take(struct stream *s, unsigned count)
{
    while (s->count < count) {
        if (s->at == s->size) {
            s->short_of = true;
            return 0;
        }
        s->bits |= (uint32_t)s->in[s->at++] << s->count;
        s->count += 8;
    }
    const uint32_t value = s->bits & ((1u << count) - 1);
    s->bits >>= count;
    s->count -= count;
    return value;
}

/* RFC 1951 3.2.2. False: more codes than their lengths have room for, or too few, but for one alone, which a distance
   may have. */
static bool codes_build(struct codes *c, const uint8_t *lengths, size_t count)
{
    uint16_t at[CODE_BITS + 1];
    int left = 1;
    memset(c->count, 0, sizeof c->count);
    for (size_t i = 0; i < count; i++)
        c->count[lengths[i]]++;
    const bool none_or_one = c->count[0] == count || (c->count[0] == count - 1 && c->count[1] == 1);
    for (unsigned n = 1; n <= CODE_BITS; n++) {
        left = left * 2 - c->count[n];
        if (left < 0)
            return false;
    }
    at[1] = 0;
    for (unsigned n = 1; n < CODE_BITS; n++)
        at[n + 1] = (uint16_t)(at[n] + c->count[n]);
    for (size_t i = 0; i < count; i++)
        if (lengths[i])
            c->symbols[at[lengths[i]]++] = (uint16_t)i;
    c->count[0] = 0;
    return !left || none_or_one;
}

/* The next symbol; -1: no code is so. */
static int symbol(struct stream *s, const struct codes *c)
{
    int code = 0, first = 0, index = 0;
    for (unsigned n = 1; n <= CODE_BITS; n++) {
        code |= (int)take(s, 1);
        if (s->short_of)
            return -1;
        if (code - c->count[n] < first)
            return c->symbols[index + (code - first)];
        index += c->count[n];
        first = (first + c->count[n]) * 2;
        code *= 2;
    }
    return -1;
}

static bool stored(struct stream *s)
{
    s->bits = 0; /* what is left of this byte */
    s->count = 0;
    if (s->size - s->at < 4)
        return false;
    const size_t length = s->in[s->at] | (size_t)s->in[s->at + 1] << 8;
    const size_t inverse = s->in[s->at + 2] | (size_t)s->in[s->at + 3] << 8;
    s->at += 4;
    if ((length ^ inverse) != 0xFFFF || length > s->size - s->at || length > s->wanted - s->done)
        return false;
    memcpy(s->out + s->done, s->in + s->at, length);
    s->at += length;
    s->done += length;
    return true;
}

/* A piece of what is there already; source and target may overlap, so byte by byte. */
static bool repeat(struct stream *s, size_t distance, size_t length)
{
    if (distance > s->done + s->history || length > s->wanted - s->done)
        return false;
    uint8_t *to = s->out + s->done;
    const uint8_t *from = to - distance;
    s->done += length;
    while (length--)
        *to++ = *from++;
    return true;
}

/* RFC 1951 3.2.5 */
static bool coded(struct stream *s, const struct codes *literals, const struct codes *distances)
{
    static const uint16_t lengths[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                       31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t distance_of[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                           33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                           1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    static const uint8_t distance_bits[] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                            6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
    for (;;) {
        const int what = symbol(s, literals);
        if (what < 0)
            return false;
        if (what == END_OF_BLOCK)
            return true;
        if (what < END_OF_BLOCK) {
            if (s->done == s->wanted)
                return false;
            s->out[s->done++] = (uint8_t)what;
            continue;
        }
        const size_t at = (size_t)what - END_OF_BLOCK - 1;
        if (at >= sizeof lengths / sizeof *lengths)
            return false;
        const size_t length = lengths[at] + take(s, length_bits[at]);
        const int far = symbol(s, distances);
        if (far < 0 || (size_t)far >= sizeof distance_of / sizeof *distance_of)
            return false;
        const size_t distance = distance_of[far] + take(s, distance_bits[far]);
        if (s->short_of || !repeat(s, distance, length))
            return false;
    }
}

static bool fixed(struct stream *s)
{
    struct codes literals, distances;
    uint8_t lengths[LITERALS];
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    (void)codes_build(&literals, lengths, LITERALS);
    memset(lengths, 5, DISTANCES);
    (void)codes_build(&distances, lengths, DISTANCES);
    return coded(s, &literals, &distances);
}

/* The lengths of both alphabets' codes, themselves coded: RFC 1951 3.2.7. */
static bool read_lengths(struct stream *s, const struct codes *by, uint8_t *lengths, size_t count)
{
    for (size_t i = 0; i < count;) {
        const int what = symbol(s, by);
        uint8_t value = 0;
        size_t times = 1;
        if (what < 0)
            return false;
        if (what < 16) {
            value = (uint8_t)what;
        } else if (what == 16) {
            if (!i)
                return false;
            value = lengths[i - 1];
            times = 3 + take(s, 2);
        } else {
            times = what == 17 ? 3 + take(s, 3) : 11 + take(s, 7);
        }
        if (s->short_of || times > count - i)
            return false;
        memset(lengths + i, value, times);
        i += times;
    }
    return true;
}

static bool dynamic(struct stream *s)
{
    static const uint8_t order[LENGTH_CODES] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    struct codes by, literals, distances;
    uint8_t lengths[LITERALS + DISTANCES] = {0};
    const size_t literal_count = 257 + take(s, 5), distance_count = 1 + take(s, 5), length_count = 4 + take(s, 4);
    if (literal_count > 286 || distance_count > 30)
        return false;
    for (size_t i = 0; i < length_count; i++)
        lengths[order[i]] = (uint8_t)take(s, 3);
    if (s->short_of || !codes_build(&by, lengths, LENGTH_CODES))
        return false;
    memset(lengths, 0, LENGTH_CODES);
    return read_lengths(s, &by, lengths, literal_count + distance_count) && lengths[END_OF_BLOCK] &&
           codes_build(&literals, lengths, literal_count) &&
           codes_build(&distances, lengths + literal_count, distance_count) && coded(s, &literals, &distances);
}

bool inflate_block(const uint8_t *in, size_t size, uint8_t *out, size_t wanted, size_t history)
{
    struct stream s = {.in = in, .size = size, .out = out, .wanted = wanted, .history = history};
    bool last, right;
    do {
        last = take(&s, 1);
        const uint32_t kind = take(&s, 2);
        right = !s.short_of && (kind == 0 ? stored(&s) : kind == 1 ? fixed(&s) : kind == 2 && dynamic(&s));
    } while (right && !last);
    return right && s.done == wanted;
}
