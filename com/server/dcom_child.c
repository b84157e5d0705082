/* SPDX-License-Identifier: MIT */
/* Keeps the front process running as the settings require. One thread waits for a change of the settings, the exit of
   the front process, and the end of the service; another thread serves the front process. If the settings change, the
   front process is replaced and its clients reconnect; their objects are kept unless limits have changed. */
#include "com/server/dcom.h"
#include "com/server/server.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"
#include "engine/base/win32/win32_call.h"
#include "reg/service.h"

#include <stdio.h>
#include <string.h>

enum { PAUSE_MS = 500, MOST_PAUSE_MS = 30000, LIVED_MS = 10000 };

/* A running front process. */
struct front_process {
    struct process *process;
    struct thread *server; /* serves it */
    struct dcom_host *host;
    HANDLE from_front, to_front;
};

static struct {
    struct thread *keeper;
    HANDLE end, changed;
    HKEY key;
    struct dcom_settings settings; /* the settings that the running front process and DCOM host use */
    struct dcom_host *host;
    struct front_process front;
    struct process *idle; /* without this process, Wine would stop the service when the last other program exits */
} keeper;

/* ---- the front process ---- */

/* Serves the front process until the pipe ends. Then terminates the front process, because it may have violated the
   protocol. */
static void front_serve(void *user)
{
    const struct front_process *f = user;
    dcom_host_serve(f->host, f->from_front, f->to_front);
    process_terminate(process_id(f->process), process_start_time(process_id(f->process)));
}

static HRESULT pipe_create(HANDLE *read_end, HANDLE *write_end, bool child_reads)
{
    if (!CreatePipe(read_end, write_end, NULL, 65536))
        return win32_failed(GetLastError(), "pipe");
    return SetHandleInformation(child_reads ? *read_end : *write_end, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT)
               ? S_OK
               : win32_failed(GetLastError(), "pipe");
}

static void handle_close(HANDLE *handle)
{
    if (*handle)
        CloseHandle(*handle);
    *handle = NULL;
}

static HRESULT front_process_start(HANDLE child_reads, HANDLE child_writes, struct process **out)
{
    HANDLE own = NULL; /* inherited by the front process, which waits for this process to exit */
    if (!DuplicateHandle(GetCurrentProcess(), GetCurrentProcess(), GetCurrentProcess(), &own, SYNCHRONIZE, TRUE, 0))
        return win32_failed(GetLastError(), "process");
    void *const handles[] = {child_reads, child_writes, own};
    char *program = program_beside_module("openplasrv");
    char *reads = text_format("%llu", (unsigned long long)(uintptr_t)child_reads);
    char *writes = text_format("%llu", (unsigned long long)(uintptr_t)child_writes);
    char *service = text_format("%llu", (unsigned long long)(uintptr_t)own);
    HRESULT hr = program && reads && writes && service
                     ? process_start(&(struct program){.path = program,
                                                       .arguments = (const char *[]){"/dcom", reads, writes, service},
                                                       .argument_count = 4,
                                                       .handles = handles,
                                                       .handle_count = ARRAYSIZE(handles)},
                                     out)
                     : E_OUTOFMEMORY;
    memory_free(program);
    memory_free(reads);
    memory_free(writes);
    memory_free(service);
    CloseHandle(own);
    return hr;
}

/* Terminates the front process, which has no state to save. The exit of the front process breaks the pipes. This side's
   handles are closed later, when no thread uses the pipes any more. */
static void front_stop(struct front_process *f)
{
    if (f->process)
        process_terminate(process_id(f->process), process_start_time(process_id(f->process)));
    if (f->server) {
        thread_wait(f->server, UINT32_MAX);
        thread_close(f->server);
    }
    handle_close(&f->to_front);
    handle_close(&f->from_front);
    process_close(f->process);
    *f = (struct front_process){0};
}

static HRESULT front_start(struct dcom_host *host, struct front_process *f)
{
    HANDLE child_reads = NULL, child_writes = NULL;
    *f = (struct front_process){.host = host};
    HRESULT hr = pipe_create(&child_reads, &f->to_front, true);
    if (SUCCEEDED(hr))
        hr = pipe_create(&f->from_front, &child_writes, false);
    if (SUCCEEDED(hr))
        hr = front_process_start(child_reads, child_writes, &f->process);
    handle_close(&child_reads);
    handle_close(&child_writes);
    if (SUCCEEDED(hr))
        hr = thread_start(front_serve, f, &f->server);
    if (FAILED(hr))
        front_stop(f);
    return hr;
}

/* ---- what the settings request ---- */

static bool same_limits(const struct dcom_settings *a, const struct dcom_settings *b)
{
    return memcmp(a->limits, b->limits, sizeof a->limits) == 0;
}

static bool same_settings(const struct dcom_settings *a, const struct dcom_settings *b)
{
    return a->is_on == b->is_on && a->port == b->port && a->advertised_port == b->advertised_port && a->address &&
           b->address && strcmp(a->address, b->address) == 0 && strcmp(a->from, b->from) == 0 && same_limits(a, b);
}

static void keeper_stop_front(void)
{
    front_stop(&keeper.front);
    idle_child_end(keeper.idle);
    keeper.idle = NULL;
}

static void keeper_close_host(void)
{
    dcom_host_close(keeper.host);
    keeper.host = NULL;
}

static HRESULT keeper_start_front(void)
{
    HRESULT hr = keeper.host ? S_OK : dcom_host_open(&keeper.settings, &keeper.host);
    struct dcom_accounts accounts;
    if (SUCCEEDED(hr))
        hr = dcom_accounts_read(&accounts);
    if (SUCCEEDED(hr)) {
        dcom_host_set_accounts(keeper.host, &accounts);
        hr = front_start(keeper.host, &keeper.front);
    }
    if (SUCCEEDED(hr) && !keeper.idle)
        idle_child_start(&keeper.idle);
    return hr;
}

/* Reads and applies the settings and accounts. True: the settings differ from the previous ones. */
static bool keeper_read(void)
{
    struct dcom_settings s;
    struct dcom_accounts accounts;
    HRESULT hr = dcom_settings_read(&s);
    if (FAILED(hr)) {
        fprintf(stderr, "openplasrv: 0x%08lX %s\n", (unsigned long)hr, error_text(hr));
        s = (struct dcom_settings){.is_on = false}; /* invalid settings count as off */
    }
    if (keeper.host && SUCCEEDED(dcom_accounts_read(&accounts)))
        dcom_host_set_accounts(keeper.host, &accounts);
    if (same_settings(&s, &keeper.settings)) {
        dcom_settings_free(&s);
        return false;
    }
    keeper_stop_front();
    if (!s.is_on || !same_limits(&s, &keeper.settings))
        keeper_close_host();
    dcom_settings_free(&keeper.settings);
    keeper.settings = s;
    return true;
}

/* Waits for the end of the service, a change of the settings or, while the front process runs, its exit. */
static DWORD keeper_wait(uint32_t pause)
{
    HANDLE events[3] = {keeper.end, keeper.changed};
    DWORD count = 2;
    if (keeper.front.process)
        events[count++] = process_handle(keeper.front.process);
    const DWORD timeout = keeper.settings.is_on && !keeper.front.process ? pause : INFINITE;
    return WaitForMultipleObjects(count, events, FALSE, timeout);
}

/* Opens the parent key of the settings. The parent key is watched, because it still exists after the settings are
   deleted. Wine reports no further changes of a deleted key. */
static LSTATUS keeper_open_key(void)
{
    return RegCreateKeyExW(HKEY_LOCAL_MACHINE, L"Software\\OpenPLA", 0, NULL, 0,
                           KEY_NOTIFY | KEY_READ | KEY_WOW64_64KEY, NULL, &keeper.key, NULL);
}

static void keeper_run(void *user)
{
    uint32_t pause = PAUSE_MS;
    uint64_t started = 0;
    DWORD what = WAIT_OBJECT_0 + 1;
    (void)user;
    while (what != WAIT_OBJECT_0) {
        if (what == WAIT_OBJECT_0 + 1) { /* watch the key before reading it, so that no change is missed */
            RegNotifyChangeKeyValue(keeper.key, TRUE, REG_NOTIFY_CHANGE_NAME | REG_NOTIFY_CHANGE_LAST_SET,
                                    keeper.changed, TRUE);
            if (keeper_read())
                pause = PAUSE_MS;
        }
        if (keeper.settings.is_on && !keeper.front.process) {
            started = clock_monotonic_ms();
            const HRESULT hr = keeper_start_front();
            if (FAILED(hr))
                fprintf(stderr, "openplasrv: 0x%08lX %s\n", (unsigned long)hr, error_text(hr));
        }
        what = keeper_wait(pause);
        if (what == WAIT_OBJECT_0 + 2) { /* the front process exited: its port is in use, or it failed */
            front_stop(&keeper.front);
            if (clock_passed_ms(started, clock_monotonic_ms()) >= LIVED_MS)
                pause = PAUSE_MS;
            what = keeper_wait(pause);
            pause = pause * 2 < MOST_PAUSE_MS ? pause * 2 : MOST_PAUSE_MS;
        }
    }
    keeper_stop_front();
}

bool dcom_service_is_running(void)
{
    struct service_seen seen;
    if (service_look(&seen) != S_OK)
        return false;
    const bool is_running = seen.running;
    memory_free(seen.command);
    return is_running;
}

void dcom_begin(void)
{
    if (!os_is_wine())
        return;
    HRESULT hr = S_OK;
    keeper.end = CreateEventW(NULL, TRUE, FALSE, NULL);
    keeper.changed = CreateEventW(NULL, FALSE, FALSE, NULL);
    const LSTATUS status = keeper_open_key();
    if (!keeper.end || !keeper.changed)
        hr = win32_failed(GetLastError(), "event");
    else if (status)
        hr = win32_failed((DWORD)status, "HKLM\\Software\\OpenPLA");
    if (SUCCEEDED(hr) && keeper_read() && keeper.settings.is_on)
        idle_child_start(&keeper.idle);
    if (SUCCEEDED(hr))
        hr = thread_start(keeper_run, NULL, &keeper.keeper);
    if (FAILED(hr))
        fprintf(stderr, "openplasrv: 0x%08lX %s\n", (unsigned long)hr, error_text(hr));
}

void dcom_end(void)
{
    if (!keeper.keeper)
        return;
    SetEvent(keeper.end);
    thread_wait(keeper.keeper, UINT32_MAX);
}
