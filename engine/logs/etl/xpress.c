/* SPDX-License-Identifier: MIT */
/* Decompression of plain XPRESS: words of 32 flags, each flag a literal byte or a match of 16 bits and more. */
#include "engine/logs/etl/xpress.h"

#include "engine/logs/little_endian.h"

struct packed {
    const uint8_t *at;
    size_t size, next;
    size_t half; /* place of a byte whose upper half is the next match's length; 0: none */
};

/* The length of a match that its three bits do not hold. 0: the stream ends. */
static uint32_t long_match(struct packed *p)
{
    uint32_t length;
    if (p->half != 0) {
        length = p->at[p->half] >> 4;
        p->half = 0;
    } else {
        if (p->next >= p->size)
            return 0;
        p->half = p->next++;
        length = p->at[p->half] & 15;
    }
    if (length < 15)
        return length + 7 + 3;
    if (p->next >= p->size)
        return 0;
    length = p->at[p->next++];
    if (length < 255)
        return length + 15 + 7 + 3;
    if (p->size - p->next < 2)
        return 0;
    length = get_u16(p->at + p->next);
    p->next += 2;
    if (length == 0) {
        if (p->size - p->next < 4)
            return 0;
        length = get_u32(p->at + p->next);
        p->next += 4;
    }
    return length < 15 + 7 || length > UINT32_MAX - 3 ? 0 : length + 3;
}

size_t xpress_unpack(const uint8_t *packed, size_t packed_size, uint8_t *out, size_t size)
{
    struct packed p = {.at = packed, .size = packed_size};
    uint32_t flags = 0;
    size_t made = 0;
    for (unsigned left = 0; made < size; left--) {
        if (left == 0) {
            if (p.size - p.next < 4)
                return made;
            flags = get_u32(p.at + p.next);
            p.next += 4;
            left = 32;
        }
        if ((flags >> (left - 1) & 1) == 0) {
            if (p.next >= p.size)
                return made;
            out[made++] = p.at[p.next++];
            continue;
        }
        if (p.size - p.next < 2)
            return made;
        uint32_t match = get_u16(p.at + p.next), length = (match & 7) + 3;
        size_t distance = (match >> 3) + 1;
        p.next += 2;
        if (length == 7 + 3)
            length = long_match(&p);
        if (length == 0 || distance > made)
            return made;
        for (uint32_t i = 0; i < length && made < size; i++, made++)
            out[made] = out[made - distance];
    }
    return made;
}
