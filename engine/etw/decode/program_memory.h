/* SPDX-License-Identifier: MIT */
/* What programs give TDH's functions, and what these give back: addresses that may be bad are read once, into memory of
   our own, and written last. Natively a bad address ends the program. */
#ifndef OPENPLA_PROGRAM_MEMORY_H
#define OPENPLA_PROGRAM_MEMORY_H

#include "engine/base/text.h"
#include "engine/etw/etw_types.h"

/* False: the address is bad. */
bool program_read(void *to, const void *from, size_t size);
bool program_write(void *to, const void *from, size_t size);
/* A text of at most `units` (ERROR_INVALID_PARAMETER's HRESULT beyond that), as UTF-8, from memory_alloc.
   ERROR_NOACCESS's HRESULT; E_OUTOFMEMORY. */
HRESULT program_text(const WCHAR *text, size_t units, char **out);

/* An event with all that decoding looks at: its data, and the items that say what they are. */
struct program_event {
    EVENT_RECORD record;
    EVENT_HEADER_EXTENDED_DATA_ITEM items[3];
    uint8_t *bytes;
};
/* ERROR_NOACCESS's HRESULT; E_OUTOFMEMORY. */
HRESULT program_event_take(const EVENT_RECORD *event, struct program_event *out);
void program_event_free(struct program_event *event);

/* The block as all of these functions give one: *size says the room, and how much is taken or needed.
   ERROR_INSUFFICIENT_BUFFER, ERROR_INVALID_PARAMETER, ERROR_NOACCESS. */
ULONG program_give(const void *block, size_t block_size, void *buffer, ULONG *size);
/* The system's code of a failure; of S_FALSE ERROR_NOT_FOUND. */
ULONG tdh_status(HRESULT hr);

#endif
