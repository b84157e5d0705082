/* SPDX-License-Identifier: MIT */
/* Converts events to the forms that consumers receive: EVENT_RECORD, and EVENT_TRACE from before Windows Vista. */
#ifndef OPENPLA_EVENT_VIEW_H
#define OPENPLA_EVENT_VIEW_H

#include "engine/etw/etw_types.h"
#include "engine/logs/etl_record.h"

/* An event has at most 64 KB, an item at least 8 bytes. */
enum { EVENT_VIEW_ITEMS = 0x10000 / 8 };

/* Points into the event and into itself. */
struct event_view {
    EVENT_RECORD record;
    EVENT_TRACE trace;
    EVENT_EXTENDED_ITEM_INSTANCE instance;
    EVENT_HEADER_EXTENDED_DATA_ITEM item[EVENT_VIEW_ITEMS];
};
/* Fills in view->record. `time`: the event's time as the consumer requests it; `pointer_size`: of the log, for
   events without their own; `in_process`: of a private logger. UserContext is unchanged. */
void event_view_record(const struct etl_record *e, int64_t time, uint32_t pointer_size, bool in_process,
                       struct event_view *view);
/* Fills in view->trace. For manifest events and messages, Version is their id. */
void event_view_trace(const struct etl_record *e, int64_t time, struct event_view *view);

#endif
