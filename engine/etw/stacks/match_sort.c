/* SPDX-License-Identifier: MIT */
/* Sorts by insertion, which is linear for records that are nearly in order. If a trace is far out of order, a heap sort
   takes over. */
#include "engine/etw/stacks/match_sort.h"

#include <stdbool.h>

static void heap_sink(struct match *m, size_t at, size_t count)
{
    const struct match item = m[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && m[child + 1].number > m[child].number;
        if (m[child].number <= item.number)
            break;
        m[at] = m[child];
    }
    m[at] = item;
}

static void heap_sort(struct match *m, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        heap_sink(m, i, count);
    for (size_t end = count; end > 1;) {
        const struct match last = m[--end];
        m[end] = m[0];
        m[0] = last;
        heap_sink(m, 0, end);
    }
}

void match_sort(struct match *m, size_t count)
{
    enum { MOVES = 64 }; /* maximum moves per record, on average */
    uint64_t left = (uint64_t)count * MOVES;
    for (size_t i = 1; i < count; i++) {
        const struct match item = m[i];
        size_t at = i;
        for (; at > 0 && m[at - 1].number > item.number && left != 0; at--, left--)
            m[at] = m[at - 1];
        m[at] = item;
        if (left == 0) {
            heap_sort(m, count);
            return;
        }
    }
}
