/* SPDX-License-Identifier: MIT */
/* Named memory, signals and mutexes on Windows: visible on the whole machine if this account may create global objects,
   otherwise only in its logon session. */
#include "engine/base/debug_trace.h"
#include "engine/base/file.h"
#include "engine/base/guard.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/win32/win32_call.h"

#include <sddl.h>
#include <string.h>
#include <wchar.h>

#define NAME_MAX_UNITS 200

/* Builds "Global\name" or "Local\name". Returns ERROR_SUCCESS, ERROR_INVALID_NAME if the name is too long, or
   ERROR_OUTOFMEMORY. */
static DWORD object_name(const char *name, bool global, const WCHAR *kind, WCHAR out[NAME_MAX_UNITS])
{
    WCHAR *wide;
    if (FAILED(text_to_utf16(name, &wide, NULL)))
        return ERROR_OUTOFMEMORY;
    int n = _snwprintf(out, NAME_MAX_UNITS, L"%ls\\%ls%ls", global ? L"Global" : L"Local", wide, kind);
    memory_free(wide);
    return n > 0 && n < NAME_MAX_UNITS ? ERROR_SUCCESS : ERROR_INVALID_NAME;
}

struct section {
    HANDLE handle;
    void *memory;
    HANDLE of;       /* the file that contains the section; NULL: none */
    uint64_t number; /* the number from lasting_mapping */
    struct mapped_file *mapped;
};

/* Returns the owner of an object; the handle must be open for READ_CONTROL. Under Wine an object that was created
   without a descriptor has no owner. */
static HRESULT owner_text(HANDLE handle, const char *name, char **out)
{
    SECURITY_DESCRIPTOR *descriptor = NULL;
    DWORD size = 0;
    PSID owner = NULL;
    BOOL defaulted;
    WCHAR *text = NULL;
    *out = NULL;
    GetKernelObjectSecurity(handle, OWNER_SECURITY_INFORMATION, NULL, 0, &size);
    if (GetLastError() != ERROR_INSUFFICIENT_BUFFER)
        return win32_failed(GetLastError(), name);
    HRESULT hr = (descriptor = memory_alloc(size)) ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && (!GetKernelObjectSecurity(handle, OWNER_SECURITY_INFORMATION, descriptor, size, &size) ||
                          !GetSecurityDescriptorOwner(descriptor, &owner, &defaulted) ||
                          (owner && !ConvertSidToStringSidW(owner, &text))))
        hr = win32_failed(GetLastError(), name);
    if (SUCCEEDED(hr))
        hr = text_from_utf16(text ? text : L"none", text ? wcslen(text) : 4, true, out);
    LocalFree(text);
    memory_free(descriptor);
    return hr;
}

static HRESULT check_owner(HANDLE handle, const struct shared *what)
{
    char *owner = NULL;
    HRESULT hr = what->owner ? owner_text(handle, what->name, &owner) : S_OK;
    if (owner && strcmp(owner, what->owner) != 0)
        hr = error_set(E_ACCESSDENIED, "'%s' belongs to the account %s, not to %s", what->name, owner, what->owner);
    memory_free(owner);
    return hr;
}

/* Opens the object with this name, or creates it with the attributes `made_with`. */
typedef HANDLE (*open_or_make)(const WCHAR *name, const SECURITY_ATTRIBUTES *made_with, uint64_t size, DWORD more);

static HRESULT open_shared(const struct shared *what, const WCHAR *kind, open_or_make open, uint64_t size, HANDLE *out)
{
    SECURITY_ATTRIBUTES attributes;
    WCHAR name[NAME_MAX_UNITS];
    DWORD code = ERROR_SUCCESS;
    char *own = what->create && !what->security ? protection_sddl(PROTECTION_OBJECT) : NULL;
    HRESULT hr = own || what->security || !what->create ? win32_security(own ? own : what->security, &attributes)
                                                        : E_OUTOFMEMORY;
    memory_free(own);
    *out = NULL;
    if (FAILED(hr))
        return hr;
    for (int i = 0; !*out && i < 2; i++) {
        code = object_name(what->name, !i, kind, name);
        if (code != ERROR_SUCCESS)
            break;
        *out = open(name, what->create ? &attributes : NULL, size, what->owner ? READ_CONTROL : 0);
        code = GetLastError();
        /* If an object of another kind has the name, the result is an invalid handle. */
        if (what->fresh && (code == ERROR_ALREADY_EXISTS || code == ERROR_INVALID_HANDLE)) {
            code = ERROR_ALREADY_EXISTS;
            break;
        }
    }
    LocalFree(attributes.lpSecurityDescriptor);
    if (what->fresh && code == ERROR_ALREADY_EXISTS)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "'%s' is another's", what->name);
    else
        hr = *out ? check_owner(*out, what) : win32_failed(code, what->name);
    if (FAILED(hr) && *out) {
        CloseHandle(*out);
        *out = NULL;
    }
    return hr;
}

static HANDLE open_mapping(const WCHAR *name, const SECURITY_ATTRIBUTES *made_with, uint64_t size, DWORD more)
{
    if (!made_with)
        return OpenFileMappingW(FILE_MAP_READ | FILE_MAP_WRITE | more, FALSE, name);
    return CreateFileMappingW(INVALID_HANDLE_VALUE, (SECURITY_ATTRIBUTES *)made_with, PAGE_READWRITE,
                              (DWORD)(size >> 32), (DWORD)size, name);
}

HRESULT section_open(const struct shared *what, size_t size, struct section **out)
{
    struct section *s = memory_zero(1, sizeof(*s));
    *out = NULL;
    TRACE_STEP(base, "section %s: open%s, %zu bytes", what->name, what->create ? " or create" : "", size);
    if (!s)
        return E_OUTOFMEMORY;
    if (!size)
        size = 1;
    HRESULT hr = what->lasting && os_is_wine() ? lasting_mapping(what, size, &s->handle, &s->of, &s->number)
                                               : open_shared(what, L"", open_mapping, size, &s->handle);
    if (SUCCEEDED(hr)) {
        s->memory = MapViewOfFile(s->handle, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, size);
        hr = s->memory ? S_OK : win32_failed(GetLastError(), what->name);
    }
    if (SUCCEEDED(hr) && s->of)
        hr = mapped_file_add(s->memory, size, (intptr_t)s->of, &s->mapped);
    if (SUCCEEDED(hr))
        *out = s;
    else
        section_close(s);
    return hr;
}

void *section_memory(struct section *s)
{
    return s->memory;
}

HRESULT section_owner(struct section *s, char **owner)
{
    return owner_text(s->handle, "section", owner);
}

HRESULT section_is_named(struct section *s, const char *name)
{
    uint64_t there = 0;
    if (!s->of)
        return S_OK;
    HRESULT hr = lasting_number(name, &there);
    return hr == S_OK && there != s->number ? S_FALSE : hr;
}

void section_close(struct section *s)
{
    if (!s)
        return;
    mapped_file_remove(s->mapped);
    if (s->memory)
        UnmapViewOfFile(s->memory);
    if (s->handle)
        CloseHandle(s->handle);
    if (s->of)
        CloseHandle(s->of);
    memory_free(s);
}

struct signal {
    HANDLE handle;
};

static HANDLE open_event(const WCHAR *name, const SECURITY_ATTRIBUTES *made_with, uint64_t size, DWORD more)
{
    (void)size;
    return made_with ? CreateEventW((SECURITY_ATTRIBUTES *)made_with, FALSE, FALSE, name)
                     : OpenEventW(EVENT_MODIFY_STATE | SYNCHRONIZE | more, FALSE, name);
}

HRESULT signal_open(const struct shared *what, struct signal **out)
{
    struct signal *e = memory_alloc(sizeof(*e));
    HRESULT hr = e ? open_shared(what, L".event", open_event, 0, &e->handle) : E_OUTOFMEMORY;
    *out = NULL;
    if (FAILED(hr)) {
        memory_free(e);
        return hr;
    }
    *out = e;
    return S_OK;
}

HRESULT signal_set(struct signal *e)
{
    return SetEvent(e->handle) ? S_OK : win32_failed(GetLastError(), "signal");
}

/* The system limits the number of objects in one wait. All further processes are polled at this interval. */
#define MORE_EACH 100 /* ms */

HRESULT signal_wait_or_processes(struct signal *e, struct process *const *p, size_t count, uint32_t timeout_ms,
                                 size_t *ended)
{
    HANDLE handles[MAXIMUM_WAIT_OBJECTS];
    const size_t most = MAXIMUM_WAIT_OBJECTS - 1, waited = count < most ? count : most;
    const ULONGLONG start = GetTickCount64();
    handles[0] = e->handle;
    for (size_t i = 0; i < waited; i++)
        handles[i + 1] = process_handle(p[i]);
    for (;;) {
        const ULONGLONG passed = GetTickCount64() - start;
        DWORD rest = timeout_ms == INFINITE ? INFINITE : passed < timeout_ms ? (DWORD)(timeout_ms - passed) : 0;
        const bool last = count <= most || rest <= MORE_EACH;
        const DWORD got = WaitForMultipleObjects((DWORD)waited + 1, handles, FALSE, last ? rest : MORE_EACH);
        if (got == WAIT_OBJECT_0)
            return S_OK;
        if (got - WAIT_OBJECT_0 <= waited) {
            *ended = got - WAIT_OBJECT_0 - 1;
            return E_ABORT;
        }
        if (got != WAIT_TIMEOUT)
            return win32_failed(GetLastError(), "waiting for a signal");
        for (size_t i = most; i < count; i++) {
            if (process_wait(p[i], 0, NULL) == S_OK) {
                *ended = i;
                return E_ABORT;
            }
        }
        if (last)
            return S_FALSE;
    }
}

HRESULT signal_wait_or_process(struct signal *e, struct process *p, uint32_t timeout_ms)
{
    size_t ended;
    HRESULT hr = signal_wait_or_processes(e, &p, p ? 1 : 0, timeout_ms, &ended);
    return hr == E_ABORT ? error_set(hr, "process %u exited before the signal was set", (unsigned)process_id(p)) : hr;
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

struct mutex {
    HANDLE handle;
};

static HANDLE make_mutex(const WCHAR *name, const SECURITY_ATTRIBUTES *made_with, uint64_t size, DWORD more)
{
    (void)size, (void)more;
    return CreateMutexW((SECURITY_ATTRIBUTES *)made_with, FALSE, name);
}

HRESULT mutex_open(const char *name, struct mutex **out)
{
    struct mutex *m = memory_alloc(sizeof(*m));
    HRESULT hr = m ? open_shared(&(struct shared){.name = name, .create = true}, L".mutex", make_mutex, 0, &m->handle)
                   : E_OUTOFMEMORY;
    *out = NULL;
    if (FAILED(hr)) {
        memory_free(m);
        return hr;
    }
    *out = m;
    return S_OK;
}

HRESULT mutex_take(struct mutex *m, uint32_t timeout_ms)
{
    switch (WaitForSingleObject(m->handle, timeout_ms)) {
    case WAIT_OBJECT_0:
    case WAIT_ABANDONED:
        return S_OK;
    case WAIT_TIMEOUT:
        return S_FALSE;
    default:
        return win32_failed(GetLastError(), "mutex");
    }
}

void mutex_release(struct mutex *m)
{
    ReleaseMutex(m->handle);
}

void mutex_close(struct mutex *m)
{
    if (!m)
        return;
    CloseHandle(m->handle);
    memory_free(m);
}
