/* SPDX-License-Identifier: MIT */
#include "engine/etw/kernel/ring_page.h"

#include "engine/logs/little_endian.h"

/* The low five bits of an event's first word; the others are the time since the event before. */
enum {
    LENGTH_FOLLOWS = 0,
    LONGEST_IN_WORD = 28, /* 1 to 28: words of data */
    PADDING = 29,
    TIME_EXTEND = 30,
    TIME_STAMP = 31
};
#define COMMIT_BYTES   0x3FFFFFFFu
#define COMMIT_MISSED  0x80000000u
#define COMMIT_COUNTED 0x40000000u
#define STAMP_BITS     59

static uint64_t word(const uint8_t *at, uint32_t size)
{
    return size == 8 ? get_u64(at) : get_u32(at);
}

bool ring_page_begin(struct ring_page *p, const struct ring_layout *layout, const uint8_t *page)
{
    const uint64_t commit = word(page + layout->commit_offset, layout->commit_size);
    const uint32_t used = (uint32_t)commit & COMMIT_BYTES, room = layout->page_size - layout->data_offset;
    if (used > room)
        return false;
    *p = (struct ring_page){.at = page + layout->data_offset, .time = get_u64(page)};
    p->end = p->at + used;
    if ((commit & COMMIT_MISSED) == 0)
        return true;
    /* A full page has no room for the number. */
    const bool counted = (commit & COMMIT_COUNTED) != 0 && room - used >= layout->commit_size;
    const uint64_t missed = counted ? word(p->end, layout->commit_size) : 0;
    p->missed = counted && missed <= INT64_MAX ? (int64_t)missed : RING_UNCOUNTED;
    return true;
}

static HRESULT broken(struct ring_page *p)
{
    p->at = p->end;
    return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
}

/* What is no event: the time goes on, or an event was taken back. False: it goes beyond the page. */
static bool pass_over(struct ring_page *p, uint32_t kind, uint32_t delta)
{
    const uint32_t left = (uint32_t)(p->end - p->at);
    if (left < 8)
        return false;
    const uint32_t second = get_u32(p->at + 4);
    if (kind == PADDING) {
        if (second < 4 || second > left - 4) /* the length counts itself */
            return false;
        p->time += delta > 1 ? delta : 0; /* 1 stands for none, which would say that the page is done */
        p->at += 4 + second;
        return true;
    }
    const uint64_t time = ((uint64_t)second << 27) + delta, low = (UINT64_C(1) << STAMP_BITS) - 1;
    p->time = kind == TIME_EXTEND ? p->time + time : (time & low) | (p->time & ~low);
    p->at += 8;
    return true;
}

HRESULT ring_page_next(struct ring_page *p, struct ring_event *e)
{
    while (p->end - p->at >= 4) {
        const uint32_t head = get_u32(p->at), kind = head & 31, delta = head >> 5;
        uint32_t left = (uint32_t)(p->end - p->at) - 4, size = kind * 4;
        const uint8_t *data = p->at + 4;
        if (kind == PADDING && delta == 0)
            break;
        if (kind > LONGEST_IN_WORD) {
            if (!pass_over(p, kind, delta))
                return broken(p);
            continue;
        }
        if (kind == LENGTH_FOLLOWS) {
            if (left < 4 || get_u32(data) < 4 || get_u32(data) > left)
                return broken(p);
            size = (get_u32(data) - 4 + 3) & ~3u; /* the length counts itself */
            data += 4;
            left -= 4;
        }
        if (size > left)
            return broken(p);
        p->time += delta;
        p->at = data + size;
        *e = (struct ring_event){p->time, data, size};
        return S_OK;
    }
    p->at = p->end;
    return S_FALSE;
}
