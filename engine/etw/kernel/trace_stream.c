/* SPDX-License-Identifier: MIT */
/* Each processor's pages are in order; what is taken of all is sorted by a heap over the processors, so a pass costs a
   copy of the pages and a comparison or two an event. */
#include "engine/etw/kernel/trace_stream.h"

#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"

#include <string.h>

enum { MOST_PAGES = 4096 }; /* of one processor in one pass: 16 MB; what is there beyond comes with the next */

/* Pages of a processor that were taken, and how far they have been handed out. */
struct lane {
    uint8_t *bytes;
    size_t pages, capacity; /* of page_size */
    size_t current;         /* the page that `page` reads */
    struct ring_page page;
    bool begun;
    struct ring_event next; /* data NULL: none now */
    uint64_t lost_in_ring;  /* as the ring told it the last time */
};
struct trace_stream {
    struct trace_instance *instance;
    const struct ring_layout *layout;
    uint32_t processors;
    struct lane *lanes;
    uint32_t *heap; /* lanes with an event, the oldest first */
    uint32_t heap_count;
    uint64_t unreadable; /* pages, or rests of them */
};

HRESULT trace_stream_create(struct trace_instance *t, struct trace_stream **out)
{
    struct trace_stream *s = memory_zero(1, sizeof *s);
    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    s->instance = t;
    s->layout = trace_instance_layout(t);
    s->processors = trace_instance_processors(t);
    s->lanes = memory_zero(s->processors, sizeof *s->lanes);
    s->heap = memory_zero(s->processors, sizeof *s->heap);
    if (!s->lanes || !s->heap) {
        trace_stream_free(s);
        return E_OUTOFMEMORY;
    }
    *out = s;
    return S_OK;
}

void trace_stream_free(struct trace_stream *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; s->lanes && i < s->processors; i++)
        memory_free(s->lanes[i].bytes);
    memory_free(s->lanes);
    memory_free(s->heap);
    memory_free(s);
}

/* ---- a lane ---- */

static void find_next(struct trace_stream *s, struct lane *lane)
{
    lane->next = (struct ring_event){0};
    for (; lane->current < lane->pages; lane->current++, lane->begun = false) {
        if (!lane->begun &&
            !ring_page_begin(&lane->page, s->layout, lane->bytes + lane->current * s->layout->page_size)) {
            s->unreadable++;
            continue;
        }
        lane->begun = true;
        const HRESULT hr = ring_page_next(&lane->page, &lane->next);
        if (hr == S_OK)
            return;
        if (FAILED(hr))
            s->unreadable++;
    }
    lane->next.data = NULL;
}

/* The pages that are done with make room. */
static void shift(const struct trace_stream *s, struct lane *lane)
{
    if (lane->current == 0)
        return;
    const size_t page = s->layout->page_size, left = lane->pages - lane->current;
    const ptrdiff_t moved = (ptrdiff_t)(lane->current * page);
    memmove(lane->bytes, lane->bytes + moved, left * page);
    if (lane->begun && left != 0) {
        lane->page.at -= moved;
        lane->page.end -= moved;
        if (lane->next.data)
            lane->next.data -= moved;
    }
    lane->pages = left;
    lane->current = 0;
}

/* A page more; the events of those that lie there may move. */
static bool make_room(const struct trace_stream *s, struct lane *lane)
{
    void *bytes = lane->bytes;
    const size_t page = s->layout->page_size;
    if (lane->pages < lane->capacity)
        return true;
    const size_t at = lane->begun ? (size_t)(lane->page.at - lane->bytes) : 0,
                 end = lane->begun ? (size_t)(lane->page.end - lane->bytes) : 0,
                 next = lane->next.data ? (size_t)(lane->next.data - lane->bytes) : 0;
    if (!memory_grow(&bytes, &lane->capacity, lane->pages + 16, page))
        return false;
    lane->bytes = bytes;
    if (lane->begun) {
        lane->page.at = lane->bytes + at;
        lane->page.end = lane->bytes + end;
    }
    if (lane->next.data)
        lane->next.data = lane->bytes + next;
    return true;
}

static uint64_t events_on(const struct trace_stream *s, const uint8_t *bytes)
{
    struct ring_page page;
    struct ring_event e;
    uint64_t count = 0;
    if (!ring_page_begin(&page, s->layout, bytes))
        return 0;
    while (ring_page_next(&page, &e) == S_OK)
        count++;
    return count;
}

/* Only as many pages as hold the events that were there: the next one might have to be waited for. *until is brought
   down to where the lane is complete when its bound leaves some in the ring. */
static HRESULT take(struct trace_stream *s, uint32_t processor, uint64_t *until)
{
    uint64_t taken = 0;
    struct lane *lane = &s->lanes[processor];
    struct trace_state state;
    HRESULT hr = trace_instance_state(s->instance, processor, &state);
    if (FAILED(hr))
        return hr;
    lane->lost_in_ring = state.lost;
    shift(s, lane);
    for (uint64_t on_page = 1; taken < state.entries && on_page != 0 && lane->pages < MOST_PAGES; taken += on_page) {
        if (!make_room(s, lane))
            return E_OUTOFMEMORY;
        uint8_t *page = lane->bytes + lane->pages * s->layout->page_size;
        hr = trace_instance_page(s->instance, processor, page);
        if (hr != S_OK)
            break;
        lane->pages++;
        on_page = events_on(s, page);
    }
    if (taken < state.entries && lane->pages == MOST_PAGES) {
        const uint64_t newest = get_u64(lane->bytes + (lane->pages - 1) * s->layout->page_size);
        *until = newest < *until ? newest : *until;
    }
    if (!lane->next.data)
        find_next(s, lane);
    return hr;
}

/* ---- the heap ---- */

static bool is_older(const struct trace_stream *s, uint32_t a, uint32_t b)
{
    const uint64_t x = s->lanes[a].next.time, y = s->lanes[b].next.time;
    return x < y || (x == y && a < b);
}

static void sink_down(struct trace_stream *s, uint32_t at)
{
    const uint32_t lane = s->heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= s->heap_count)
            break;
        if (child + 1 < s->heap_count && is_older(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!is_older(s, s->heap[child], lane))
            break;
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = lane;
}

static void make_heap(struct trace_stream *s)
{
    s->heap_count = 0;
    for (uint32_t i = 0; i < s->processors; i++)
        if (s->lanes[i].next.data)
            s->heap[s->heap_count++] = i;
    for (uint32_t i = s->heap_count / 2; i-- > 0;)
        sink_down(s, i);
}

static HRESULT hand_out(struct trace_stream *s, uint64_t until, const struct trace_sink *sink)
{
    HRESULT hr = S_OK;
    make_heap(s);
    while (SUCCEEDED(hr) && s->heap_count != 0) {
        const uint32_t processor = s->heap[0];
        struct lane *lane = &s->lanes[processor];
        if (lane->next.time > until)
            break;
        const struct trace_record record = {lane->next, processor};
        hr = sink->event(sink->context, &record);
        find_next(s, lane);
        if (!lane->next.data)
            s->heap[0] = s->heap[--s->heap_count];
        if (s->heap_count != 0)
            sink_down(s, 0);
    }
    return hr;
}

HRESULT trace_stream_pass(struct trace_stream *s, uint64_t now, bool all, const struct trace_sink *sink)
{
    uint64_t until = all ? UINT64_MAX : now > TRACE_STREAM_KEPT_NS ? now - TRACE_STREAM_KEPT_NS : 0;
    HRESULT hr = S_OK;
    for (uint32_t i = 0; SUCCEEDED(hr) && i < s->processors; i++)
        hr = take(s, i, &until);
    const HRESULT handed = hand_out(s, until, sink);
    return FAILED(hr) ? hr : handed;
}

uint64_t trace_stream_lost(struct trace_stream *s)
{
    uint64_t lost = s->unreadable;
    for (uint32_t i = 0; i < s->processors; i++)
        lost += s->lanes[i].lost_in_ring;
    return lost;
}
