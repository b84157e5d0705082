/* SPDX-License-Identifier: MIT */
/* Converts events to the two forms that consumers receive: EVENT_RECORD, and the older EVENT_TRACE, which dates from
   before Windows Vista. */
#ifndef OPENPLA_EVENT_VIEW_H
#define OPENPLA_EVENT_VIEW_H

#include "engine/etw/etw_types.h"
#include "engine/logs/etl_record.h"

/* An event has at most 64 KB, and an item has at least 8 bytes. */
enum { EVENT_VIEW_ITEMS = 0x10000 / 8 };

/* The pointers in this struct refer to the event and to members of the struct. */
struct event_view {
    EVENT_RECORD record;
    EVENT_TRACE trace;
    EVENT_EXTENDED_ITEM_INSTANCE instance;
    EVENT_HEADER_EXTENDED_DATA_ITEM item[EVENT_VIEW_ITEMS];
};
/* Fills in view->record. `time` is the event's time in the form that the consumer requested. `pointer_size` is the
   pointer size of the log; it applies to events that do not record their own pointer size. `in_process` is true if a
   private logger wrote the log. UserContext is unchanged. */
void event_view_record(const struct etl_record *e, int64_t time, uint32_t pointer_size, bool in_process,
                       struct event_view *view);
/* Fills in view->trace. For manifest events and messages, Version is set to the event id. */
void event_view_trace(const struct etl_record *e, int64_t time, struct event_view *view);

#endif
