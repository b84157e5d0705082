/* SPDX-License-Identifier: MIT */
/* Named memory and events on Windows: for the whole machine where this account may, else for its logon. */
#include "engine/os/memory.h"
#include "engine/os/process.h"
#include "engine/os/win32/process_handle.h"
#include "engine/os/win32/win32_call.h"

#include <wchar.h>

#define NAME_MAX_UNITS 200

/* "Global\name" or "Local\name"; false when the name is too long. */
static bool object_name(const char *name, bool global, const WCHAR *kind, WCHAR out[NAME_MAX_UNITS])
{
    WCHAR *wide;
    int n;

    if (FAILED(text_to_utf16(name, &wide, NULL)))
        return false;
    n = _snwprintf(out, NAME_MAX_UNITS, L"%ls\\%ls%ls", global ? L"Global" : L"Local", wide, kind);
    memory_free(wide);
    return n > 0 && n < NAME_MAX_UNITS;
}

struct section {
    HANDLE handle;
    void *memory;
};

static HANDLE open_mapping(const char *name, size_t size, bool create, bool global, DWORD *code)
{
    WCHAR wide[NAME_MAX_UNITS];
    HANDLE handle;

    if (!object_name(name, global, L"", wide)) {
        *code = ERROR_INVALID_NAME;
        return NULL;
    }
    handle = create ? CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, (DWORD)((uint64_t)size >> 32),
                                         (DWORD)size, wide)
                    : OpenFileMappingW(FILE_MAP_READ | FILE_MAP_WRITE, FALSE, wide);
    *code = GetLastError();
    return handle;
}

HRESULT section_open(const char *name, size_t size, bool create, struct section **out)
{
    struct section *s = memory_alloc(sizeof(*s));
    DWORD code;

    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    if (!size)
        size = 1;
    s->handle = open_mapping(name, size, create, true, &code);
    if (!s->handle)
        s->handle = open_mapping(name, size, create, false, &code);
    if (s->handle) {
        s->memory = MapViewOfFile(s->handle, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, size);
        if (s->memory) {
            *out = s;
            return S_OK;
        }
        code = GetLastError();
        CloseHandle(s->handle);
    }
    memory_free(s);
    return win32_failed(code, name);
}

void *section_memory(struct section *s)
{
    return s->memory;
}

void section_close(struct section *s)
{
    if (!s)
        return;
    UnmapViewOfFile(s->memory);
    CloseHandle(s->handle);
    memory_free(s);
}

struct signal {
    HANDLE handle;
};

static HANDLE open_event(const char *name, bool create, bool global, DWORD *code)
{
    WCHAR wide[NAME_MAX_UNITS];
    HANDLE handle;

    if (!object_name(name, global, L".event", wide)) {
        *code = ERROR_INVALID_NAME;
        return NULL;
    }
    handle =
        create ? CreateEventW(NULL, FALSE, FALSE, wide) : OpenEventW(EVENT_MODIFY_STATE | SYNCHRONIZE, FALSE, wide);
    *code = GetLastError();
    return handle;
}

HRESULT signal_open(const char *name, bool create, struct signal **out)
{
    struct signal *e = memory_alloc(sizeof(*e));
    DWORD code;

    *out = NULL;
    if (!e)
        return E_OUTOFMEMORY;
    e->handle = open_event(name, create, true, &code);
    if (!e->handle)
        e->handle = open_event(name, create, false, &code);
    if (!e->handle) {
        memory_free(e);
        return win32_failed(code, name);
    }
    *out = e;
    return S_OK;
}

HRESULT signal_set(struct signal *e)
{
    return SetEvent(e->handle) ? S_OK : win32_failed(GetLastError(), "event");
}

HRESULT signal_wait_or_process(struct signal *e, struct process *p, uint32_t timeout_ms)
{
    HANDLE handles[2] = {e->handle, p ? process_handle(p) : NULL};

    switch (WaitForMultipleObjects(p ? 2 : 1, handles, FALSE, timeout_ms)) {
    case WAIT_OBJECT_0:
        return S_OK;
    case WAIT_OBJECT_0 + 1:
        return error_set(E_ABORT, "process %u ended first", (unsigned)process_id(p));
    case WAIT_TIMEOUT:
        return S_FALSE;
    default:
        return win32_failed(GetLastError(), "wait for an event");
    }
}

HRESULT signal_wait(struct signal *e, uint32_t timeout_ms)
{
    return signal_wait_or_process(e, NULL, timeout_ms);
}

void signal_close(struct signal *e)
{
    if (!e)
        return;
    CloseHandle(e->handle);
    memory_free(e);
}
