/* SPDX-License-Identifier: MIT */
/* Copies strings and events from a calling program, and returns blocks to it. */
#include "engine/etw/decode/program_memory.h"

#include "engine/base/guard.h"
#include "engine/base/memory.h"
#include "engine/etw/tmf.h"

#include <string.h>

enum { ITEM_SCHEMA = 0xB, ITEM_TRAITS = 0xC, ITEMS = 3 };

static bool is_read(uint16_t type)
{
    return type == ITEM_SCHEMA || type == ITEM_TRAITS || type == TMF_ITEM_SEQUENCE;
}

struct copy {
    void *to;
    const void *from;
    size_t size;
};

static void run_copy(void *argument)
{
    const struct copy *c = argument;
    memcpy(c->to, c->from, c->size);
}

bool program_read(void *to, const void *from, size_t size)
{
    struct copy c = {to, from, size};
    return size == 0 || guard_call(run_copy, &c, GUARD_TAKES_BAD_ADDRESSES, NULL);
}

bool program_write(void *to, const void *from, size_t size)
{
    return program_read(to, from, size);
}

struct measure {
    const WCHAR *text;
    size_t most, units;
};

static void run_measure(void *argument)
{
    struct measure *m = argument;
    while (m->units < m->most && m->text[m->units])
        m->units++;
}

HRESULT program_text(const WCHAR *text, size_t units, char **out)
{
    struct measure m = {text, units + 1, 0};
    *out = NULL;
    if (!guard_call(run_measure, &m, GUARD_TAKES_BAD_ADDRESSES, NULL))
        return HRESULT_FROM_WIN32(ERROR_NOACCESS);
    if (m.units > units)
        return HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER);
    WCHAR *copy = memory_alloc((m.units + 1) * sizeof(WCHAR));
    if (!copy)
        return E_OUTOFMEMORY;
    HRESULT hr = program_read(copy, text, m.units * sizeof(WCHAR)) ? S_OK : HRESULT_FROM_WIN32(ERROR_NOACCESS);
    if (SUCCEEDED(hr))
        hr = text_from_utf16(copy, m.units, true, out);
    memory_free(copy);
    return hr;
}

/* Copies the first item of each kind that decoding needs. */
static HRESULT take_items(const EVENT_RECORD *event, struct program_event *out)
{
    EVENT_HEADER_EXTENDED_DATA_ITEM item;
    unsigned count = 0;
    for (USHORT i = 0; i < event->ExtendedDataCount && count < ITEMS; i++) {
        if (!program_read(&item, &event->ExtendedData[i], sizeof item))
            return HRESULT_FROM_WIN32(ERROR_NOACCESS);
        bool first = is_read(item.ExtType) && item.DataPtr;
        for (unsigned k = 0; k < count; k++)
            first = first && out->items[k].ExtType != item.ExtType;
        if (first)
            out->items[count++] = item;
    }
    out->record.ExtendedDataCount = (USHORT)count;
    out->record.ExtendedData = count != 0 ? out->items : NULL;
    return S_OK;
}

HRESULT program_event_take(const EVENT_RECORD *event, struct program_event *out)
{
    memset(out, 0, sizeof *out);
    if (!program_read(&out->record, event, sizeof *event))
        return HRESULT_FROM_WIN32(ERROR_NOACCESS);
    EVENT_RECORD *r = &out->record;
    HRESULT hr = S_OK;
    if ((r->EventHeader.Flags & EVENT_HEADER_FLAG_EXTENDED_INFO) != 0 && r->ExtendedData) {
        const EVENT_RECORD given = *r;
        hr = take_items(&given, out);
    } else {
        r->ExtendedDataCount = 0;
        r->ExtendedData = NULL;
    }
    if (FAILED(hr))
        return hr; /* do not read the items: the record's information about them is untrusted */
    size_t size = r->UserData ? r->UserDataLength : 0;
    for (USHORT i = 0; i < r->ExtendedDataCount; i++)
        size += r->ExtendedData[i].DataSize;
    out->bytes = memory_alloc(size);
    if (!out->bytes)
        return E_OUTOFMEMORY;
    size_t at = r->UserData ? r->UserDataLength : 0;
    bool good = program_read(out->bytes, r->UserData, at);
    r->UserDataLength = (USHORT)at;
    r->UserData = out->bytes;
    for (USHORT i = 0; good && i < r->ExtendedDataCount; i++) {
        EVENT_HEADER_EXTENDED_DATA_ITEM *item = &r->ExtendedData[i];
        good = program_read(out->bytes + at, (const void *)(uintptr_t)item->DataPtr, item->DataSize);
        item->DataPtr = (uintptr_t)(out->bytes + at);
        at += item->DataSize;
    }
    if (!good)
        program_event_free(out);
    return good ? S_OK : HRESULT_FROM_WIN32(ERROR_NOACCESS);
}

void program_event_free(struct program_event *event)
{
    memory_free(event->bytes);
    event->bytes = NULL;
}

ULONG program_give(const void *block, size_t block_size, void *buffer, ULONG *size)
{
    ULONG room;
    const ULONG need = (ULONG)block_size;
    if (block_size > UINT32_MAX)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (!program_read(&room, size, sizeof room))
        return ERROR_NOACCESS;
    const bool fits = room >= need;
    if (fits && !buffer && need != 0)
        return ERROR_INVALID_PARAMETER;
    if ((fits && !program_write(buffer, block, need)) || !program_write(size, &need, sizeof need))
        return ERROR_NOACCESS;
    return fits ? ERROR_SUCCESS : ERROR_INSUFFICIENT_BUFFER;
}

ULONG tdh_status(HRESULT hr)
{
    if (hr == S_OK)
        return ERROR_SUCCESS;
    if (hr == S_FALSE)
        return ERROR_NOT_FOUND;
    if (hr == E_OUTOFMEMORY)
        return ERROR_NOT_ENOUGH_MEMORY;
    return ((uint32_t)hr & 0xFFFF0000u) == 0x80070000u ? (ULONG)hr & 0xFFFF : ERROR_INVALID_PARAMETER;
}
