/* SPDX-License-Identifier: MIT */
/* Pages of a kernel ring buffer, written by tests in the format that Linux documents. */
#ifndef OPENPLA_RING_PAGES_H
#define OPENPLA_RING_PAGES_H

#include "engine/etw/kernel/ftrace_ring.h"
#include "engine/logs/little_endian.h"

#include <string.h>

enum { RING_TEST_PAGE = 256, RING_TEST_HEAD = 16 };
static const struct ring_layout ring_test_layout = {8, 8, RING_TEST_HEAD, RING_TEST_PAGE};

struct written_page {
    uint8_t bytes[RING_TEST_PAGE];
    uint32_t used; /* bytes used after the header */
};

static inline void page_word(struct written_page *p, uint32_t value)
{
    put_u32(p->bytes + RING_TEST_HEAD + p->used, value);
    p->used += 4;
    put_u64(p->bytes + 8, p->used);
}

static inline void page_start(struct written_page *p, uint64_t time)
{
    memset(p, 0, sizeof *p);
    put_u64(p->bytes, time);
}

/* Adds an event with `words` words of data, beginning with `id` and its position. */
static inline void page_event(struct written_page *p, uint32_t delta, uint32_t words, uint16_t id)
{
    page_word(p, delta << 5 | words);
    page_word(p, id);
    for (uint32_t i = 1; i < words; i++)
        page_word(p, i);
}

#endif
