/* SPDX-License-Identifier: MIT */
/* openpla doctor under Windows and Wine: checks the registration and its files, Wine itself, the service, whether the
   server answers, and whether a program listens on the port for counters. */
#include "cli/doctor/doctor.h"
#include "com/facade/facade.h"
#include "com/facade/server_call.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "engine/etw/api_trace.h"
#include "engine/pdh/pcq_server.h"
#include "reg/registration_check.h"
#include "reg/service.h"

#include <objbase.h>
#include <windows.h>
#include <winsock2.h>

#define SERVER     "openplasrv.exe"
#define MOST_ROWS  20 /* maximum number of listed registry faults; further faults are only counted */
#define FIRST_WINE 8  /* oldest Wine version with which the tests run */

/* ---- files ---- */

static HRESULT check_file(struct doctor *d, const char *folder, const char *name)
{
    char *path = path_join(folder, name);
    HRESULT hr = path ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !file_exists(path))
        hr = doctor_find(d, DOCTOR_FOUND_FILE_MISSING, NULL, "%s is missing", path);
    memory_free(path);
    return hr;
}

static HRESULT check_files(struct doctor *d, const char *folder)
{
    static const char *const files[] = {"openpla.dll",     SERVER,        "openplahost.exe",
                                        "openpdh.dll",     "openetw.dll", "opentdh.dll",
                                        "openetwhost.exe", API_TRACE_DLL, NULL};
    HRESULT hr = S_OK;
    for (size_t i = 0; files[i] && SUCCEEDED(hr); i++)
        hr = check_file(d, folder, files[i]);
    return hr;
}

/* Returns true if two files have the same contents; false if one cannot be read. */
static bool is_same_build(const char *a, const char *b)
{
    struct file *left = NULL, *right = NULL;
    static char one[65536], other[65536];
    size_t got = 1, got_other = 1;
    HRESULT hr = file_open(a, FILE_READ, &left);
    if (SUCCEEDED(hr))
        hr = file_open(b, FILE_READ, &right);
    bool same = SUCCEEDED(hr);
    for (uint64_t at = 0; same && got; at += got) {
        hr = file_read_at(left, at, one, sizeof one, &got);
        if (SUCCEEDED(hr))
            hr = file_read_at(right, at, other, sizeof other, &got_other);
        same = SUCCEEDED(hr) && got == got_other && !memcmp(one, other, got);
    }
    file_close(left);
    file_close(right);
    error_clear();
    return same;
}

/* Reports that this program is not in the server's folder. */
static HRESULT check_elsewhere(struct doctor *d, const char *own)
{
    char *mine = path_join(own, "openpla.exe"), *theirs = path_join(d->folder, "openpla.exe");
    HRESULT hr = mine && theirs ? doctor_find(d, DOCTOR_FOUND_REGISTERED_ELSEWHERE, NULL,
                                              "the server runs from %s, this program from %s", d->folder, own)
                                : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && file_exists(mine) && file_exists(theirs) && !is_same_build(mine, theirs))
        hr = doctor_find(d, DOCTOR_FOUND_VERSIONS_DIFFER, NULL, "%s and %s differ", mine, theirs);
    memory_free(mine);
    memory_free(theirs);
    return hr;
}

/* ---- the registry values ---- */

struct rows {
    struct doctor *d;
    uint32_t wide, narrow;
};

static HRESULT see_row(void *user, const struct registration_fault *f)
{
    struct rows *r = user;
    if (f->narrow) {
        r->narrow++;
        return S_OK;
    }
    if (r->wide++ >= MOST_ROWS)
        return S_OK;
    return doctor_find(r->d, DOCTOR_FOUND_REGISTRATION_DAMAGED, NULL, "HKLM\\%s, value \"%s\": %s%s%s, expected %s%s%s",
                       f->key, f->name, f->is ? "is \"" : "is ", f->is ? f->is : "absent", f->is ? "\"" : "",
                       f->expected ? "\"" : "", f->expected ? f->expected : "absent", f->expected ? "\"" : "");
}

/* Returns true if this Wine runs 32-bit programs. Only such a Wine has files in the 32-bit system folder. */
static bool runs_32(void)
{
    char *path = os_expand_environment("%SystemRoot%\\syswow64\\cscript.exe");
    const bool runs = path && file_exists(path);
    memory_free(path);
    return runs;
}

static HRESULT check_rows(struct doctor *d)
{
    struct rows rows = {d, 0, 0};
    const enum registration_mode mode = registration_mode_here();
    bool by_service = false;
    char *narrow = path_join(d->folder, OPENPLA_FOLDER_32 "\\openpla.dll");
    HRESULT hr = narrow ? registration_is_by_service(mode, &by_service) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = registration_compare(mode, d->folder, by_service, see_row, &rows);
    if (SUCCEEDED(hr) && rows.wide > MOST_ROWS)
        hr = doctor_find(d, DOCTOR_FOUND_REGISTRATION_DAMAGED, NULL, "%u more values are missing or different",
                         (unsigned)(rows.wide - MOST_ROWS));
    if (SUCCEEDED(hr) && runs_32() && !file_exists(narrow))
        hr = doctor_find(d, DOCTOR_FOUND_PROGRAMS_32, NULL, "%s is missing", narrow);
    else if (SUCCEEDED(hr) && rows.narrow)
        hr = doctor_find(d, DOCTOR_FOUND_PROGRAMS_32, NULL,
                         "%u registry values of the 32-bit view are missing or different", (unsigned)rows.narrow);
    memory_free(narrow);
    return hr;
}

static HRESULT check_server_of(struct doctor *d, const char *server, const char *own)
{
    if (!text_equal_nocase(path_name(server), SERVER))
        return doctor_find(d, DOCTOR_FOUND_REGISTERED_OTHER, NULL, "the classes are served by %s", server);
    d->folder = path_folder(server);
    if (!d->folder)
        return E_OUTOFMEMORY;
    HRESULT hr = check_files(d, d->folder);
    if (SUCCEEDED(hr))
        hr = check_rows(d);
    if (SUCCEEDED(hr) && !text_equal_nocase(d->folder, own) && !file_is_same(d->folder, own))
        hr = check_elsewhere(d, own);
    return hr;
}

HRESULT doctor_check_registration(struct doctor *d)
{
    char *server = NULL, *own = os_module_folder();
    HRESULT hr = own ? registration_find_server(registration_mode_here(), &server) : E_OUTOFMEMORY;
    if (hr == S_FALSE)
        hr = doctor_find(d, DOCTOR_FOUND_NOT_REGISTERED, NULL, "PLA's classes are not registered");
    else if (SUCCEEDED(hr))
        hr = check_server_of(d, server, own);
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        hr = doctor_find(d, DOCTOR_FOUND_REGISTRATION_DAMAGED, NULL, "the registry cannot be read: %s", error_text(hr));
    memory_free(server);
    memory_free(own);
    return FAILED(hr) ? hr : S_OK;
}

/* ---- Wine ---- */

static HRESULT check_version(struct doctor *d)
{
    HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    const char *(*version)(void) =
        ntdll ? (const char *(*)(void))(void *)GetProcAddress(ntdll, "wine_get_version") : NULL;
    const char *text = version ? version() : "";
    uint32_t major = 0;
    for (const char *at = text; *at >= '0' && *at <= '9' && major < 1000; at++)
        major = major * 10 + (uint32_t)(*at - '0');
    return *text && major < FIRST_WINE ? doctor_find(d, DOCTOR_FOUND_WINE_OLD, NULL, "this is Wine %s", text) : S_OK;
}

static HRESULT check_prefix(struct doctor *d)
{
    static const char *const folders[] = {"%SystemRoot%", "%ProgramData%", NULL};
    HRESULT hr = S_OK;
    for (size_t i = 0; folders[i] && SUCCEEDED(hr); i++) {
        struct ownership o;
        char *path = os_expand_environment(folders[i]);
        if (!path)
            return E_OUTOFMEMORY;
        hr = file_ownership(path, &o);
        if (hr == S_OK && o.is_foreign)
            hr = doctor_find(d, DOCTOR_FOUND_PREFIX_FOREIGN, NULL, "%s belongs to %s, not to the user who runs Wine",
                             path, o.owner);
        else if (FAILED(hr) && hr != E_OUTOFMEMORY)
            hr = doctor_find(d, DOCTOR_FOUND_PREFIX_FOREIGN, NULL, "%s: %s", path, error_text(hr));
        memory_free(path);
    }
    return hr;
}

HRESULT doctor_check_wine(struct doctor *d)
{
    if (!os_is_wine())
        return S_OK;
    HRESULT hr = check_version(d);
    if (SUCCEEDED(hr))
        hr = check_prefix(d);
    return FAILED(hr) ? hr : S_OK;
}

/* ---- the service ---- */

static HRESULT check_command(struct doctor *d, const struct service_seen *s)
{
    char *expected = text_format("\"%s\\openplasrv.exe\" /service", d->folder);
    HRESULT hr = expected ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !text_equal_nocase(expected, s->command))
        hr = doctor_find(d, DOCTOR_FOUND_SERVICE_OTHER, NULL, "the service OpenPLA runs %s, expected %s", s->command,
                         expected);
    memory_free(expected);
    return hr;
}

static HRESULT check_process(struct doctor *d, const struct service_seen *s)
{
    const uint64_t began = process_start_time(s->process);
    char *module = path_join(d->folder, "openpla.dll");
    HRESULT hr = module ? S_OK : E_OUTOFMEMORY;
    const int64_t written = module ? doctor_file_written(module) : 0;
    if (SUCCEEDED(hr) && !process_alive(s->process, began))
        hr = doctor_find(d, DOCTOR_FOUND_SERVICE_DEAD, NULL,
                         "the service OpenPLA is listed as running, but its process %lu does not exist", s->process);
    else if (SUCCEEDED(hr) && written && (int64_t)began < written)
        hr =
            doctor_find(d, DOCTOR_FOUND_SERVER_OUTDATED, NULL, "the server was started before %s was replaced", module);
    memory_free(module);
    return hr;
}

static HRESULT check_seen(struct doctor *d, const struct service_seen *s)
{
    HRESULT hr = check_command(d, s);
    if (SUCCEEDED(hr) && s->disabled && !s->running)
        hr = doctor_find(d, DOCTOR_FOUND_SERVICE_DISABLED, NULL, "the service OpenPLA is disabled");
    else if (SUCCEEDED(hr) && !s->running)
        hr = doctor_find(d, DOCTOR_FOUND_SERVICE_STOPPED, NULL, "the service OpenPLA is not running");
    else if (SUCCEEDED(hr) && s->process)
        hr = check_process(d, s);
    return hr;
}

HRESULT doctor_check_service(struct doctor *d)
{
    struct service_seen seen;
    bool by_service;
    if (!d->folder)
        return S_OK;
    HRESULT hr = registration_is_by_service(registration_mode_here(), &by_service);
    if (SUCCEEDED(hr) && !by_service)
        return doctor_find(d, DOCTOR_FOUND_NO_SERVICE, NULL, "OpenPLA is registered without its service");
    if (SUCCEEDED(hr))
        hr = service_look(&seen);
    if (hr == S_FALSE)
        return doctor_find(d, DOCTOR_FOUND_SERVICE_MISSING, NULL, "the service OpenPLA does not exist");
    if (SUCCEEDED(hr)) {
        hr = check_seen(d, &seen);
        memory_free(seen.command);
    } else if (hr != E_OUTOFMEMORY) {
        hr = doctor_find(d, DOCTOR_FOUND_SERVICE_UNKNOWN, NULL, "%s", error_text(hr));
    }
    return FAILED(hr) ? hr : S_OK;
}

/* ---- the server ---- */

/* A query to the server. If the server hangs, this struct is never freed, because the thread still uses it. */
struct question {
    HRESULT answer;
    char text[1024];
};

static void server_ask(void *user)
{
    struct question *q = user;
    IDispatch *set = NULL;
    HRESULT hr = CoInitializeEx(NULL, COINIT_MULTITHREADED);
    const bool begun = SUCCEEDED(hr);
    if (begun)
        hr = peer_query("System", "System Performance", NULL, false, &set);
    if (FAILED(hr))
        text_fit(q->text, sizeof q->text, error_text(hr));
    if (set)
        set->lpVtbl->Release(set);
    q->answer = hr;
    if (begun)
        CoUninitialize();
}

static HRESULT server_check_answer(struct doctor *d, const struct question *q)
{
    if (SUCCEEDED(q->answer) || q->answer == E_OUTOFMEMORY)
        return FAILED(q->answer) ? q->answer : S_OK;
    const enum doctor_id id = server_is_gone(q->answer)     ? DOCTOR_FOUND_SERVER_DEAD_ENTRY
                              : q->answer == E_ACCESSDENIED ? DOCTOR_FOUND_NO_RIGHTS
                                                            : DOCTOR_FOUND_SERVER_FAILS;
    return doctor_find(d, id, NULL, "a query to the server failed: %s (0x%08X)", q->text, (unsigned)q->answer);
}

/* Returns false in two cases: a query would start a stopped service, or its result would only repeat an earlier
   finding. */
static bool is_worth_asking(const struct doctor *d)
{
    for (size_t i = 0; i < d->count; i++)
        switch (d->items[i].id) {
        case DOCTOR_FOUND_FILE_MISSING:
        case DOCTOR_FOUND_SERVICE_MISSING:
        case DOCTOR_FOUND_SERVICE_DISABLED:
        case DOCTOR_FOUND_SERVICE_STOPPED:
            return false;
        default:
            break;
        }
    return d->folder != NULL;
}

HRESULT doctor_check_server(struct doctor *d)
{
    struct thread *thread;
    if (!is_worth_asking(d))
        return S_OK;
    server_create_repairs_nothing();
    struct question *q = memory_zero(1, sizeof *q);
    HRESULT hr = q ? thread_start(server_ask, q, &thread) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(q);
        return E_OUTOFMEMORY;
    }
    const bool answered = thread_wait(thread, d->wait_ms);
    thread_close(thread);
    if (!answered)
        return doctor_find(d, DOCTOR_FOUND_SERVER_HANGS, NULL, "the server did not answer a query within %u seconds",
                           (unsigned)(d->wait_ms / 1000));
    hr = server_check_answer(d, q);
    memory_free(q);
    return hr;
}

/* ---- the ports on which counters are served ---- */

#define ANSWER_SECONDS 2

/* Returns true if the port accepts a connection from this computer. */
static bool is_open(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    u_long without_waiting = 1;
    fd_set done, failed;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const SOCKET s = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    if (s == INVALID_SOCKET)
        return false;
    bool open = false;
    if (!ioctlsocket(s, (long)FIONBIO, &without_waiting)) {
        open = !connect(s, (struct sockaddr *)&to, sizeof to);
        FD_ZERO(&done);
        FD_ZERO(&failed);
        FD_SET(s, &done);
        FD_SET(s, &failed);
        if (!open && WSAGetLastError() == WSAEWOULDBLOCK)
            open = select(0, NULL, &done, &failed, &limit) > 0 && FD_ISSET(s, &done) && !FD_ISSET(s, &failed);
    }
    closesocket(s);
    return open;
}

bool doctor_service_runs(const struct doctor *d)
{
    for (size_t i = 0; i < d->count; i++)
        switch (d->items[i].id) {
        case DOCTOR_FOUND_NO_SERVICE:
        case DOCTOR_FOUND_SERVICE_MISSING:
        case DOCTOR_FOUND_SERVICE_DISABLED:
        case DOCTOR_FOUND_SERVICE_STOPPED:
        case DOCTOR_FOUND_SERVICE_DEAD:
            return false;
        default:
            break;
        }
    return d->folder != NULL;
}

HRESULT doctor_check_ports(struct doctor *d)
{
    struct pcq_settings settings;
    WSADATA data;
    HRESULT hr = pcq_settings_read(&settings);
    if (hr == E_OUTOFMEMORY)
        return hr;
    if (FAILED(hr))
        return doctor_find(d, DOCTOR_FOUND_PORT_SETTING, NULL, "%s", error_text(hr));
    const uint16_t port = hr == S_OK ? settings.port : 0;
    if (hr == S_OK)
        pcq_settings_free(&settings);
    if (!port || !doctor_service_runs(d) || WSAStartup(MAKEWORD(2, 2), &data))
        return S_OK;
    hr = S_OK;
    if (!is_open(port))
        hr = doctor_find(d, DOCTOR_FOUND_PORT_CLOSED, NULL,
                         "counters are configured for TCP port %u, but no program listens there", (unsigned)port);
    WSACleanup();
    return hr;
}
