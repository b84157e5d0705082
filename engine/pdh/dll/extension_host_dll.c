/* SPDX-License-Identifier: MIT */
/* The host process of one performance extension DLL, started as "rundll32 openpdh.dll,PdhExtensionHost CHANNEL
   SERVICE". Crashes and hangs of the DLL affect only this process, which never outlives the process that started it.
   Microsoft documents the DLL's functions as OpenPerformanceData, CollectPerformanceData and ClosePerformanceData.
   extension_host.c describes the protocol of the channel. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"
#include "engine/logs/journal.h"
#include "engine/pdh/extension/extension_host.h"

#include <stdatomic.h>
#include <stdio.h>
#include <windows.h>
#include <winperf.h>

#define JOURNAL_EXTENSION_REFUSED 9010

struct extension {
    PM_OPEN_PROC *open;
    PM_COLLECT_PROC *collect;
    PM_CLOSE_PROC *close;
    WCHAR *devices; /* value Export of the key Linkage; NULL: none */
};

static void set(uint32_t *at, uint32_t value)
{
    atomic_store((_Atomic uint32_t *)at, value);
}

/* Exits the process after a crash, without a dialog or a debugger. */
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
    if (!error && type != REG_SZ && type != REG_EXPAND_SZ)
        error = ERROR_INVALID_DATATYPE;
    out[error ? 0 : bytes / sizeof *out] = 0;
    return error;
}

/* Returns the value Library as a full path, from memory_alloc. */
static HRESULT library_path(HKEY key, char **out)
{
    WCHAR name[MAX_PATH], expanded[MAX_PATH], folder[MAX_PATH];
    char *library = NULL, *system = NULL;
    DWORD error = read_text(key, u"Library", name, MAX_PATH);
    *out = NULL;
    if (error)
        return error_set(HRESULT_FROM_WIN32(error), "cannot read the registry value 'Library': error %u",
                         (unsigned)error);
    DWORD units = ExpandEnvironmentStringsW(name, expanded, MAX_PATH);
    if (!units || units > MAX_PATH || !GetSystemDirectoryW(folder, MAX_PATH))
        return error_set(HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE), "the registry value 'Library' is too long");
    HRESULT hr = text_from_utf16(expanded, wcslen(expanded), true, &library);
    if (SUCCEEDED(hr))
        hr = text_from_utf16(folder, wcslen(folder), true, &system);
    if (SUCCEEDED(hr))
        hr = extension_library_path(library, system, out);
    memory_free(library);
    memory_free(system);
    return hr;
}

/* Loads the DLL. The imports of the DLL are searched only in its own folder and the system folder. */
static HRESULT load_library(const char *path, HMODULE *out)
{
    WCHAR *wide;
    HRESULT hr = text_to_utf16(path, &wide, NULL);
    *out = NULL;
    if (FAILED(hr))
        return hr;
    *out = LoadLibraryExW(wide, NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
    DWORD error = *out ? 0 : GetLastError();
    WCHAR *name = wcsrchr(wide, L'\\');
    if (*out && name) { /* DLLs that it loads by name at run time are searched in the same two folders */
        *name = 0;
        AddDllDirectory(wide);
        SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_USER_DIRS | LOAD_LIBRARY_SEARCH_SYSTEM32);
    }
    memory_free(wide);
    return error ? error_set(HRESULT_FROM_WIN32(error), "cannot load '%s': %s", path,
                             error_standard_text(HRESULT_FROM_WIN32(error)))
                 : S_OK;
}

/* Writes the reason to the journal, where users can find out why counters are missing. */
static void report_refused_dll(const WCHAR *service, const char *reason)
{
    char *name = NULL, *folder = journal_folder();
    if (folder && SUCCEEDED(text_from_utf16(service, wcslen(service), true, &name))) {
        const struct journal_entry entry = {.id = JOURNAL_EXTENSION_REFUSED,
                                            .level = JOURNAL_WARNING,
                                            .message = "A performance extension DLL is not used",
                                            .count = 2,
                                            .fields = {{"Service", name}, {"Reason", reason}}};
        journal_append(folder, &entry);
    }
    memory_free(name);
    memory_free(folder);
}

static void report_error(const WCHAR *service, const WCHAR *function, DWORD error)
{
    char *reason = text_format("%ls: %s (%u)", (const wchar_t *)function,
                               error_standard_text(HRESULT_FROM_WIN32(error)), (unsigned)error);
    report_refused_dll(service, reason ? reason : "");
    memory_free(reason);
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

static DWORD extension_load_dll(const WCHAR *service, struct extension *e)
{
    HKEY key;
    WCHAR path[400];
    swprintf(path, 400, u"SYSTEM\\CurrentControlSet\\Services\\%.255ls\\Performance", service);
    DWORD error = (DWORD)RegOpenKeyExW(HKEY_LOCAL_MACHINE, path, 0, KEY_READ, &key);
    if (error)
        return error;
    HMODULE module = NULL;
    char *library = NULL;
    HRESULT hr = library_path(key, &library);
    if (SUCCEEDED(hr))
        hr = load_library(library, &module);
    memory_free(library);
    if (FAILED(hr)) {
        report_refused_dll(service, error_text(hr));
        error = HRESULT_FACILITY(hr) == FACILITY_WIN32 ? (DWORD)HRESULT_CODE(hr) : ERROR_BAD_PATHNAME;
    }
    FARPROC entries[3];
    static const WCHAR *const names[] = {u"Open", u"Collect", u"Close"};
    for (int i = 0; i < 3 && !error; i++) {
        error = read_entry(key, module, names[i], &entries[i]);
        if (error)
            report_error(service, names[i], error);
    }
    RegCloseKey(key);
    if (!error) {
        e->open = (PM_OPEN_PROC *)(void *)entries[0];
        e->collect = (PM_COLLECT_PROC *)(void *)entries[1];
        e->close = (PM_CLOSE_PROC *)(void *)entries[2];
        e->devices = read_devices(service);
        error = e->open(e->devices);
        if (error)
            report_error(service, names[0], error);
    }
    return error;
}

static void channel_collect_data(const struct extension *e, struct extension_channel *c)
{
    WCHAR value[] = u"Global";
    LPVOID end = c->data;
    DWORD bytes = EXTENSION_DATA_BYTES, objects = 0;
    c->ticks = clock_ticks();
    c->frequency = clock_frequency();
    c->utc = clock_utc();
    DWORD error = e->collect(value, &end, &bytes, &objects);
    /* the DLL returns both a size and a pointer to the end of its data; they must match */
    if (!error && (bytes > EXTENSION_DATA_BYTES || (BYTE *)end - c->data != (ptrdiff_t)bytes))
        error = ERROR_INVALID_DATA;
    c->error = error;
    c->size = error ? 0 : bytes;
    c->objects = error ? 0 : objects;
}

/* Waits for a request. False if the process has been parked for long enough. */
static bool wait_for_request(struct extension_channel *c, struct signal *ask)
{
    for (;;) {
        if (atomic_load((_Atomic uint32_t *)&c->request) != atomic_load((_Atomic uint32_t *)&c->reply))
            return true;
        const bool parked = atomic_load((_Atomic uint32_t *)&c->parked);
        if (signal_wait(ask, parked ? EXTENSION_PARKED_MS : INFINITE) != S_OK &&
            atomic_load((_Atomic uint32_t *)&c->parked))
            return false;
    }
}

static void channel_serve_requests(const struct extension *e, struct extension_channel *c, struct signal *ask,
                                   struct signal *answer)
{
    while (wait_for_request(c, ask)) {
        uint32_t request = atomic_load((_Atomic uint32_t *)&c->request);
        if (e->collect)
            channel_collect_data(e, c);
        set(&c->reply, request);
        signal_set(answer);
    }
}

/* Terminates the process when its owner exits, even if the DLL hangs. */
static void end_with_owner(void *user)
{
    const struct extension_channel *c = user;
    const uint32_t owner = c->owner;
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, owner);
    if (process && process_alive(owner, c->owner_start))
        WaitForSingleObject(process, INFINITE);
    TerminateProcess(GetCurrentProcess(), 4);
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
    if (length > 1 && *service == '"' && service[length - 1] == '"') { /* names with spaces are passed in quotation
                                                                          marks */
        service[length - 1] = 0;
        service++;
    }
    WideCharToMultiByte(CP_ACP, 0, line, -1, channel, sizeof channel, NULL, NULL);
    if (FAILED(open_channel(channel, &section, &ask, &answer)))
        ExitProcess(2);
    struct extension_channel *c = section_memory(section);
    struct thread *watch;
    if (c->version != EXTENSION_VERSION || FAILED(thread_start(end_with_owner, c, &watch)))
        ExitProcess(2);
    SetDllDirectoryW(u""); /* loading a DLL must not search the current folder */
    DWORD error = extension_load_dll(service, &e);
    c->error = error;
    set(&c->state, error ? EXTENSION_FAILED : EXTENSION_READY);
    if (error) {
        e = (struct extension){0};
        signal_set(answer);
    }
    channel_serve_requests(&e, c, ask, answer);
    if (e.close)
        e.close();
    ExitProcess(EXTENSION_EXIT_IDLE);
}
