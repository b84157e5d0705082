/* SPDX-License-Identifier: MIT */
#include "cli/trace/trace_top_session.h"

#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/etw/etw_api.h"
#include "engine/etw/etw_types.h"
#include "engine/etw/kernel_event.h"
#include "engine/etw/trace_properties.h"

#include <string.h>

#define PREFIX "OpenPLA trace top "
enum { NAME_UNITS = 1025, SESSIONS = 64 };
enum { BUFFER_KB = 256, BUFFERS = 32, FLUSH_S = 1 }; /* 100,000 switches a second are 4 MB */
enum { FLAGS = FLAG_PROCESS | FLAG_THREAD | FLAG_SWITCH | FLAG_DISPATCHER | FLAG_DISK | FLAG_NETWORK };

struct block {
    EVENT_TRACE_PROPERTIES p;
    WCHAR name[NAME_UNITS];
    WCHAR file[NAME_UNITS];
};

static void clear(struct block *b)
{
    memset(b, 0, sizeof *b);
    b->p.Wnode.BufferSize = sizeof *b;
    b->p.Wnode.Flags = CONTROLLER_TRACED_GUID;
    b->p.LoggerNameOffset = offsetof(struct block, name);
    b->p.LogFileNameOffset = offsetof(struct block, file);
}

/* Whether the name is that of a session whose program is no more. */
static bool is_left(const WCHAR *units)
{
    size_t length = 0;
    char *name;
    uint64_t id;
    while (length < NAME_UNITS && units[length])
        length++;
    if (FAILED(text_from_utf16(units, length, true, &name)))
        return false;
    const bool left = !strncmp(name, PREFIX, sizeof PREFIX - 1) && text_to_u64(name + sizeof PREFIX - 1, &id) &&
                      id <= UINT32_MAX && process_start_time((uint32_t)id) == 0;
    memory_free(name);
    return left;
}

static void end_left_ones(const struct etw_api *etw)
{
    struct block *blocks = memory_alloc(SESSIONS * sizeof *blocks), *again = memory_alloc(sizeof *again);
    EVENT_TRACE_PROPERTIES *list[SESSIONS];
    ULONG count = 0;
    if (blocks && again) {
        for (size_t i = 0; i < SESSIONS; i++) {
            clear(&blocks[i]);
            list[i] = &blocks[i].p;
        }
        const ULONG code = etw->QueryAllTracesW(list, SESSIONS, &count);
        count = code == ERROR_SUCCESS ? count : code == ERROR_MORE_DATA ? SESSIONS : 0;
    }
    for (ULONG i = 0; i < count; i++) {
        if (!is_left(blocks[i].name))
            continue;
        clear(again);
        (void)etw->ControlTraceW(0, blocks[i].name, &again->p, EVENT_TRACE_CONTROL_STOP);
    }
    memory_free(again);
    memory_free(blocks);
}

static HRESULT with_name(const char *name, bool start)
{
    const struct etw_api *etw = host_etw();
    struct block *b = memory_alloc(sizeof *b);
    TRACEHANDLE handle = 0;
    WCHAR *units = NULL;
    HRESULT hr = b ? text_to_utf16(name, &units, NULL) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        clear(b);
        b->p.LogFileMode = TRACE_MODE_REAL_TIME | TRACE_MODE_SYSTEM_LOGGER;
        b->p.LogFileNameOffset = start ? 0 : b->p.LogFileNameOffset;
        b->p.BufferSize = BUFFER_KB;
        b->p.MinimumBuffers = b->p.MaximumBuffers = BUFFERS;
        b->p.FlushTimer = FLUSH_S;
        b->p.EnableFlags = FLAGS;
        error_clear();
        const ULONG code = start ? etw->StartTraceW(&handle, units, &b->p)
                                 : etw->ControlTraceW(0, units, &b->p, EVENT_TRACE_CONTROL_STOP);
        if (code != ERROR_SUCCESS)
            hr = error_prefix(HRESULT_FROM_WIN32((LONG)code), "session '%s'", name);
    }
    memory_free(units);
    memory_free(b);
    return hr;
}

HRESULT top_session_start(char **name)
{
    const struct etw_api *etw = host_etw();
    *name = NULL;
    if (!etw->StartTraceW)
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "this program has no sessions");
    end_left_ones(etw);
    *name = text_format(PREFIX "%u", (unsigned)process_own_id());
    HRESULT hr = *name ? with_name(*name, true) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(*name);
        *name = NULL;
    }
    return hr;
}

void top_session_stop(const char *name)
{
    if (name)
        (void)with_name(name, false);
}
