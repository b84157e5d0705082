/* SPDX-License-Identifier: MIT */
/* The process of one performance extension DLL, started as "rundll32 openpdh.dll,PdhExtensionHost CHANNEL SERVICE".
   Whatever the DLL does ends with this process. The calls: Microsoft's documentation of OpenPerformanceData,
   CollectPerformanceData and ClosePerformanceData. */
#include "engine/os/clock.h"
#include "engine/os/memory.h"
#include "engine/pdh/extension_host.h"

#include <stdatomic.h>
#include <stdio.h>
#include <windows.h>
#include <winperf.h>

struct extension {
    PM_OPEN_PROC *open;
    PM_COLLECT_PROC *collect;
    PM_CLOSE_PROC *close;
    WCHAR *devices; /* Linkage\Export, NULL: none */
};

static void set(uint32_t *at, uint32_t value)
{
    atomic_store((_Atomic uint32_t *)at, value);
}

/* No dialog, no debugger: the process ends, which is all that is wanted. */
static LONG WINAPI on_crash(EXCEPTION_POINTERS *exception)
{
    (void)exception;
    TerminateProcess(GetCurrentProcess(), 3);
    return EXCEPTION_EXECUTE_HANDLER;
}

static DWORD read_text(HKEY key, const WCHAR *name, WCHAR *out, DWORD units)
{
    DWORD bytes = (units - 1) * (DWORD)sizeof *out, type = 0;
    DWORD error = (DWORD)RegQueryValueExW(key, name, NULL, &type, (BYTE *)out, &bytes);
    out[error ? 0 : bytes / sizeof *out] = 0;
    return error;
}

static DWORD read_entry(HKEY key, HMODULE module, const WCHAR *name, FARPROC *out)
{
    WCHAR wide[256];
    char ansi[256];
    DWORD error = read_text(key, name, wide, 256);
    if (error)
        return error;
    WideCharToMultiByte(CP_ACP, 0, wide, -1, ansi, sizeof ansi, NULL, NULL);
    *out = GetProcAddress(module, ansi);
    return *out ? 0 : ERROR_PROC_NOT_FOUND;
}

static WCHAR *read_devices(const WCHAR *service)
{
    HKEY key;
    WCHAR path[400];
    DWORD bytes = 0;
    WCHAR *list = NULL;
    swprintf(path, 400, u"SYSTEM\\CurrentControlSet\\Services\\%.255ls\\Linkage", service);
    if (RegOpenKeyExW(HKEY_LOCAL_MACHINE, path, 0, KEY_READ, &key))
        return NULL;
    if (!RegQueryValueExW(key, u"Export", NULL, NULL, NULL, &bytes)) {
        list = memory_zero(bytes + 2 * sizeof *list, 1);
        if (list)
            RegQueryValueExW(key, u"Export", NULL, NULL, (BYTE *)list, &bytes);
    }
    RegCloseKey(key);
    return list;
}

static DWORD load(const WCHAR *service, struct extension *e)
{
    HKEY key;
    WCHAR path[400], name[MAX_PATH], library[MAX_PATH];
    swprintf(path, 400, u"SYSTEM\\CurrentControlSet\\Services\\%.255ls\\Performance", service);
    DWORD error = (DWORD)RegOpenKeyExW(HKEY_LOCAL_MACHINE, path, 0, KEY_READ, &key);
    if (error)
        return error;
    error = read_text(key, u"Library", name, MAX_PATH);
    HMODULE module = NULL;
    if (!error) {
        ExpandEnvironmentStringsW(name, library, MAX_PATH);
        module = LoadLibraryW(library);
        error = module ? 0 : GetLastError();
    }
    FARPROC entries[3];
    static const WCHAR *const names[] = {u"Open", u"Collect", u"Close"};
    for (int i = 0; i < 3 && !error; i++)
        error = read_entry(key, module, names[i], &entries[i]);
    RegCloseKey(key);
    if (!error) {
        e->open = (PM_OPEN_PROC *)(void *)entries[0];
        e->collect = (PM_COLLECT_PROC *)(void *)entries[1];
        e->close = (PM_CLOSE_PROC *)(void *)entries[2];
        e->devices = read_devices(service);
    }
    return error;
}

static void collect(const struct extension *e, struct extension_channel *c)
{
    WCHAR value[] = u"Global";
    LPVOID end = c->data;
    DWORD bytes = EXTENSION_DATA_BYTES, objects = 0;
    c->ticks = clock_ticks();
    c->frequency = clock_frequency();
    c->utc = clock_utc();
    DWORD error = e->collect(value, &end, &bytes, &objects);
    /* What it says it wrote must be where it says it ended. */
    if (!error && (bytes > EXTENSION_DATA_BYTES || (BYTE *)end - c->data != (ptrdiff_t)bytes))
        error = ERROR_INVALID_DATA;
    c->error = error;
    c->size = error ? 0 : bytes;
    c->objects = error ? 0 : objects;
}

static void serve(const struct extension *e, struct extension_channel *c, struct signal *ask, struct signal *answer)
{
    while (!atomic_load((_Atomic uint32_t *)&c->end)) {
        uint32_t request = atomic_load((_Atomic uint32_t *)&c->request);
        if (request == atomic_load((_Atomic uint32_t *)&c->reply)) {
            if (signal_wait(ask, 1000) == S_FALSE && !process_alive(c->owner, c->owner_start))
                return;
            continue;
        }
        collect(e, c);
        set(&c->reply, request);
        signal_set(answer);
    }
}

static HRESULT open_channel(const char *name, struct section **section, struct signal **ask, struct signal **answer)
{
    char *ask_name = extension_request_signal(name), *answer_name = extension_reply_signal(name);
    HRESULT hr = ask_name && answer_name
                     ? section_open(&(struct shared){.name = name}, sizeof(struct extension_channel), section)
                     : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = signal_open(&(struct shared){.name = ask_name}, ask);
    if (SUCCEEDED(hr))
        hr = signal_open(&(struct shared){.name = answer_name}, answer);
    memory_free(ask_name);
    memory_free(answer_name);
    return hr;
}

void CALLBACK PdhExtensionHostW(HWND window, HINSTANCE instance, LPWSTR line, int show);
void CALLBACK PdhExtensionHostW(HWND window, HINSTANCE instance, LPWSTR line, int show)
{
    (void)window;
    (void)instance;
    (void)show;
    WCHAR *service = line ? wcschr(line, ' ') : NULL;
    char channel[64];
    struct section *section = NULL;
    struct signal *ask = NULL, *answer = NULL;
    struct extension e = {0};
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    SetUnhandledExceptionFilter(on_crash);
    if (!service || service - line >= (ptrdiff_t)sizeof channel)
        ExitProcess(2);
    *service++ = 0;
    size_t length = wcslen(service);
    if (length > 1 && *service == '"' && service[length - 1] == '"') { /* a name with blanks is passed in quotes */
        service[length - 1] = 0;
        service++;
    }
    WideCharToMultiByte(CP_ACP, 0, line, -1, channel, sizeof channel, NULL, NULL);
    if (FAILED(open_channel(channel, &section, &ask, &answer)))
        ExitProcess(2);
    struct extension_channel *c = section_memory(section);
    if (c->version != EXTENSION_VERSION)
        ExitProcess(2);
    DWORD error = load(service, &e);
    error = error ? error : e.open(e.devices);
    c->error = error;
    set(&c->state, error ? EXTENSION_FAILED : EXTENSION_READY);
    if (error) {
        signal_set(answer);
        /* Kept until the owner has read it. */
        while (!atomic_load((_Atomic uint32_t *)&c->end) && process_alive(c->owner, c->owner_start))
            signal_wait(ask, 1000);
    } else {
        serve(&e, c, ask, answer);
        e.close();
    }
    ExitProcess(error ? 1 : 0);
}
