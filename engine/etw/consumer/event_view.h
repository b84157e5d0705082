/* SPDX-License-Identifier: MIT */
/* An event as consumers get it, made of each kind of header: EVENT_RECORD, and EVENT_TRACE for those of before Windows
   Vista. */
#ifndef OPENPLA_EVENT_VIEW_H
#define OPENPLA_EVENT_VIEW_H

#include "engine/etw/etw_types.h"
#include "engine/logs/etl_record.h"

/* An event has at most 64 KB, an item 8 bytes. */
enum { EVENT_VIEW_ITEMS = 0x10000 / 8 };

/* Points into the event, and into itself. */
struct event_view {
    EVENT_RECORD record;
    EVENT_TRACE trace;
    EVENT_EXTENDED_ITEM_INSTANCE instance;
    EVENT_HEADER_EXTENDED_DATA_ITEM item[EVENT_VIEW_ITEMS];
};
/* view->record of the event. `time`: its time as the consumer wants it; `pointer_size`: of the log, for events that do
   not tell their own. `in_process`: of a private logger. UserContext stays as it is. */
void event_view_record(const struct etl_record *e, int64_t time, uint32_t pointer_size, bool in_process,
                       struct event_view *view);
/* view->trace. Events that have a number, of manifests and messages, have it as Version. */
void event_view_trace(const struct etl_record *e, int64_t time, struct event_view *view);

#endif
