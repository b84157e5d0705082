/* SPDX-License-Identifier: MIT */
/* A hash table of sorts: a GUID, a number and an opcode, and of TraceLogging the name of the event. */
#include "engine/etw/event_summary.h"

#include "engine/base/memory.h"
#include "engine/etw/dump_text.h"

#include <stdlib.h>
#include <string.h>

struct event_sort {
    uint64_t hash, events;
    GUID guid;
    char *name, *type; /* name NULL: a free place */
    uint16_t id;
    uint8_t opcode;
};

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001B3);
    return hash;
}

/* An event that nobody knows is of its provider's and its number's sort. */
static const char *label_of(const struct dumped_event *e)
{
    return e->schema && e->schema->source == SCHEMA_TRACE_LOGGING ? e->schema->event_name : NULL;
}

static uint64_t hash_of(const struct dumped_event *e, const char *label)
{
    const EVENT_HEADER *h = &e->record->EventHeader;
    uint64_t words[2];
    memcpy(words, &h->ProviderId, sizeof words);
    uint64_t hash = (words[0] ^ words[1] * UINT64_C(0x9E3779B97F4A7C15)) + ((uint64_t)h->EventDescriptor.Id << 8) +
                    h->EventDescriptor.Opcode;
    hash ^= hash >> 29;
    hash *= UINT64_C(0xBF58476D1CE4E5B9);
    hash ^= hash >> 32;
    return label ? mix(hash, label, strlen(label)) : hash;
}

static bool is_of(const struct event_sort *sort, const struct dumped_event *e, const char *name)
{
    const EVENT_HEADER *h = &e->record->EventHeader;
    return sort->id == h->EventDescriptor.Id && sort->opcode == h->EventDescriptor.Opcode &&
           guid_equal(&sort->guid, &h->ProviderId) && (!name || strcmp(sort->name, name) == 0);
}

static HRESULT grow(struct event_summary *s)
{
    const size_t room = s->room != 0 ? s->room * 2 : 64;
    struct event_sort *sorts = memory_zero(room, sizeof *sorts);
    if (!sorts)
        return error_set(E_OUTOFMEMORY, "out of memory for the summary of %zu sorts of events", s->count);
    for (size_t i = 0; i < s->room; i++) {
        if (!s->sorts[i].name)
            continue;
        size_t at = (size_t)s->sorts[i].hash & (room - 1);
        while (sorts[at].name)
            at = (at + 1) & (room - 1);
        sorts[at] = s->sorts[i];
    }
    memory_free(s->sorts);
    s->sorts = sorts;
    s->room = room;
    return S_OK;
}

static HRESULT add_sort(struct event_summary *s, struct event_sort *place, const struct dumped_event *e, uint64_t hash,
                        const char *name)
{
    const EVENT_HEADER *h = &e->record->EventHeader;
    const char *type = e->schema ? e->schema->opcode_name : NULL;
    struct event_sort sort = {.hash = hash,
                              .guid = h->ProviderId,
                              .id = h->EventDescriptor.Id,
                              .opcode = h->EventDescriptor.Opcode,
                              .events = 1,
                              .name = text_copy(name ? name : "Unknown"),
                              .type = type ? text_copy(type) : text_format("%u", (unsigned)h->EventDescriptor.Opcode)};
    if (!sort.name || !sort.type) {
        memory_free(sort.name);
        memory_free(sort.type);
        return error_set(E_OUTOFMEMORY, "out of memory for the summary of %zu sorts of events", s->count);
    }
    *place = sort;
    s->count++;
    return S_OK;
}

HRESULT event_summary_count(struct event_summary *s, const struct dumped_event *e, bool decoded)
{
    const int64_t time = e->record->EventHeader.TimeStamp.QuadPart;
    const char *label = label_of(e);
    s->first = s->events == 0 || time < s->first ? time : s->first;
    s->last = s->events == 0 || time > s->last ? time : s->last;
    s->events++;
    s->undecoded += !decoded;
    if (s->count * 2 >= s->room && s->count < EVENT_SUMMARY_SORTS) {
        const HRESULT hr = grow(s);
        if (FAILED(hr))
            return hr;
    }
    const uint64_t hash = hash_of(e, label);
    const char *name = label ? dumped_event_name(e, &s->name) : NULL;
    size_t at = (size_t)hash & (s->room - 1);
    while (s->sorts[at].name && !(s->sorts[at].hash == hash && is_of(&s->sorts[at], e, name)))
        at = (at + 1) & (s->room - 1);
    if (s->sorts[at].name) {
        s->sorts[at].events++;
        return S_OK;
    }
    if (s->count >= EVENT_SUMMARY_SORTS)
        return S_OK; /* those that are left over are told in one line */
    return add_sort(s, &s->sorts[at], e, hash, label ? name : dumped_event_name(e, &s->name));
}

static int by_events(const void *a, const void *b)
{
    const struct event_sort *const *x = a, *const *y = b;
    if ((*x)->events != (*y)->events)
        return (*x)->events > (*y)->events ? -1 : 1;
    const int order = strcmp((*x)->name, (*y)->name);
    return order != 0 ? order : (int)(*x)->id - (int)(*y)->id;
}

enum { COUNT_WIDTH = 12, NAME_WIDTH = 30, TYPE_WIDTH = 18 };

static void line(struct text_buffer *out)
{
    text_buffer_add(out, "+------------------------------------------------------------------------------"
                         "-----------------------------+\r\n");
}

HRESULT event_summary_table(const struct event_summary *s, struct text_buffer *out)
{
    const struct event_sort **sorted = memory_alloc((s->count + 1) * sizeof *sorted);
    uint64_t told = 0;
    size_t n = 0;
    if (!sorted)
        return error_set(E_OUTOFMEMORY, "out of memory for the summary of %zu sorts of events", s->count);
    for (size_t i = 0; i < s->room; i++)
        if (s->sorts[i].name)
            sorted[n++] = &s->sorts[i];
    if (n != 0)
        qsort(sorted, n, sizeof *sorted, by_events);
    line(out);
    text_buffer_format(out, "|%*s  %-*s  %-*s  %-*s|\r\n", COUNT_WIDTH, "Event Count", NAME_WIDTH, "Event Name",
                       TYPE_WIDTH, "Event Type", 41, "Guid");
    line(out);
    for (size_t i = 0; i < n; i++) {
        text_buffer_format(out, "|%*llu  %-*s  %-*s  ", COUNT_WIDTH, (unsigned long long)sorted[i]->events, NAME_WIDTH,
                           sorted[i]->name, TYPE_WIDTH, sorted[i]->type);
        text_buffer_add_guid(out, &sorted[i]->guid);
        text_buffer_add(out, "   |\r\n");
        told += sorted[i]->events;
    }
    if (told < s->events)
        text_buffer_format(out, "|%*llu  %-*s  %-*s  %-*s|\r\n", COUNT_WIDTH, (unsigned long long)(s->events - told),
                           NAME_WIDTH, "(more sorts)", TYPE_WIDTH, "", 41, "");
    line(out);
    memory_free(sorted);
    return out->failed ? E_OUTOFMEMORY : S_OK;
}

void event_summary_free(struct event_summary *s)
{
    for (size_t i = 0; i < s->room; i++) {
        memory_free(s->sorts[i].name);
        memory_free(s->sorts[i].type);
    }
    memory_free(s->sorts);
    text_buffer_free(&s->name);
    *s = (struct event_summary){0};
}
