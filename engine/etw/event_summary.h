/* SPDX-License-Identifier: MIT */
/* How many events of each sort there were: the table of tracerpt's summary. */
#ifndef OPENPLA_EVENT_SUMMARY_H
#define OPENPLA_EVENT_SUMMARY_H

#include "engine/etw/event_dump.h"

/* Zero-initialise. */
struct event_summary {
    struct event_sort *sorts; /* a table of hashes with free places */
    size_t count, room;
    uint64_t events, undecoded; /* ... which are among the events */
    int64_t first, last;        /* the header's times */
    struct text_buffer name;    /* while one is looked up */
};

/* Sorts beyond this many are counted as one, so that no trace needs more memory than that. */
enum { EVENT_SUMMARY_SORTS = 65536 };
/* E_OUTOFMEMORY. */
HRESULT event_summary_count(struct event_summary *s, const struct dumped_event *e, bool decoded);
/* Adds the table, the sort with the most events first, and its line of what was not decoded. */
HRESULT event_summary_table(const struct event_summary *s, struct text_buffer *out);
void event_summary_free(struct event_summary *s);

#endif
