/* SPDX-License-Identifier: MIT */
/* Access to the memory of programs that call TDH's functions. The addresses in a call may be invalid. So input is
   copied once, before it is used, and output is written last. In native builds, an invalid address crashes the
   program. */
#ifndef OPENPLA_PROGRAM_MEMORY_H
#define OPENPLA_PROGRAM_MEMORY_H

#include "engine/base/text.h"
#include "engine/etw/etw_types.h"

/* Copies `size` bytes from the program. False: the address is invalid. */
bool program_read(void *to, const void *from, size_t size);
bool program_write(void *to, const void *from, size_t size);
/* Copies a string as UTF-8, from memory_alloc. Fails with HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER) if the string is
   longer than `units`. Other errors: HRESULT_FROM_WIN32(ERROR_NOACCESS), E_OUTOFMEMORY. */
HRESULT program_text(const WCHAR *text, size_t units, char **out);

/* A copy of an event with everything that decoding needs: its data and the relevant items. */
struct program_event {
    EVENT_RECORD record;
    EVENT_HEADER_EXTENDED_DATA_ITEM items[3];
    uint8_t *bytes;
};
/* Copies an event. Errors: HRESULT_FROM_WIN32(ERROR_NOACCESS), E_OUTOFMEMORY. */
HRESULT program_event_take(const EVENT_RECORD *event, struct program_event *out);
void program_event_free(struct program_event *event);

/* Returns a structure to the program as all TDH functions do: on input, *size is the available size; on output, it is
   the used or required size. Errors: ERROR_INSUFFICIENT_BUFFER, ERROR_INVALID_PARAMETER, ERROR_NOACCESS. */
ULONG program_give(const void *block, size_t block_size, void *buffer, ULONG *size);
/* Converts a failure to a Windows error code; S_FALSE becomes ERROR_NOT_FOUND. */
ULONG tdh_status(HRESULT hr);

#endif
