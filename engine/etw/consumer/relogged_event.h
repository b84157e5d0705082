/* SPDX-License-Identifier: MIT */
/* An event that is kept: a copy of an EVENT_RECORD that can be changed, and its bytes in a log file. */
#ifndef OPENPLA_RELOGGED_EVENT_H
#define OPENPLA_RELOGGED_EVENT_H

#include "engine/base/error.h"
#include "engine/etw/etw_types.h"

enum { RELOGGED_EVENT_LARGEST = 0x10000 }; /* its bytes in a file are fewer */

/* Zero-initialise; `record` points into the rest. */
struct relogged_event {
    EVENT_RECORD record;
    uint8_t *bytes; /* items and data */
    size_t capacity;
    EVENT_HEADER_EXTENDED_DATA_ITEM *items;
    size_t item_capacity;
};
/* Copies the record with its data and items. E_OUTOFMEMORY; then *e is as it was. */
HRESULT relogged_event_copy(struct relogged_event *e, const EVENT_RECORD *record);
/* Other data. E_INVALIDARG with a text: more than an event can have. */
HRESULT relogged_event_set_data(struct relogged_event *e, const void *data, size_t size);
void relogged_event_free(struct relogged_event *e);

/* The bytes that the event has in a file whose clock counts FILETIMEs: with the kernel's short headers for the kernel's
   classes, as a classic event, as a message, else with the header of manifests. *size: how many, of at most
   RELOGGED_EVENT_LARGEST. ERROR_MORE_DATA's HRESULT with a text: it has no room there. */
HRESULT relogged_event_bytes(const EVENT_RECORD *record, uint8_t *out, uint32_t *size);

#endif
