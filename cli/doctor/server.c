/* SPDX-License-Identifier: MIT */
/* openpla doctor: the service, and whether the server answers. */
#include "cli/doctor/doctor.h"
#include "com/facade/facade.h"
#include "com/facade/server_call.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "reg/registration_check.h"
#include "reg/service.h"

#include <objbase.h>

/* ---- the service ---- */

static HRESULT check_command(struct doctor *d, const struct service_seen *s)
{
    char *expected = text_format("\"%s\\openplasrv.exe\" /service", d->folder);
    HRESULT hr = expected ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !text_equal_nocase(expected, s->command))
        hr = doctor_find(d, DOCTOR_FOUND_SERVICE_OTHER, NULL, "the service OpenPLA runs %s, and should run %s",
                         s->command, expected);
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
                         "the service OpenPLA counts as running, and its process %lu is not there", s->process);
    else if (SUCCEEDED(hr) && written && (int64_t)began < written)
        hr = doctor_find(d, DOCTOR_FOUND_SERVER_OUTDATED, NULL, "the server began before %s was replaced", module);
    memory_free(module);
    return hr;
}

static HRESULT check_seen(struct doctor *d, const struct service_seen *s)
{
    HRESULT hr = check_command(d, s);
    if (SUCCEEDED(hr) && s->disabled && !s->running)
        hr = doctor_find(d, DOCTOR_FOUND_SERVICE_DISABLED, NULL, "the service OpenPLA is disabled");
    else if (SUCCEEDED(hr) && !s->running)
        hr = doctor_find(d, DOCTOR_FOUND_SERVICE_STOPPED, NULL, "the service OpenPLA does not run");
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
        return doctor_find(d, DOCTOR_FOUND_SERVICE_MISSING, NULL, "there is no service OpenPLA");
    if (SUCCEEDED(hr)) {
        hr = check_seen(d, &seen);
        memory_free(seen.command);
    } else if (hr != E_OUTOFMEMORY) {
        hr = doctor_find(d, DOCTOR_FOUND_SERVICE_UNKNOWN, NULL, "%s", error_text(hr));
    }
    return FAILED(hr) ? hr : S_OK;
}

/* ---- the server ---- */

/* Outlives its asker where the server hangs: it is left to the end of the process then. */
struct question {
    HRESULT answer;
    char text[1024];
};

static void ask(void *user)
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

static HRESULT tell_answer(struct doctor *d, const struct question *q)
{
    if (SUCCEEDED(q->answer) || q->answer == E_OUTOFMEMORY)
        return FAILED(q->answer) ? q->answer : S_OK;
    const enum doctor_id id = server_is_gone(q->answer)     ? DOCTOR_FOUND_SERVER_DEAD_ENTRY
                              : q->answer == E_ACCESSDENIED ? DOCTOR_FOUND_NO_RIGHTS
                                                            : DOCTOR_FOUND_SERVER_FAILS;
    return doctor_find(d, id, NULL, "the server's answer to a query is %s (0x%08X)", q->text, (unsigned)q->answer);
}

/* A service that does not run is not started for this, and what is missing already needs no second finding. */
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
    HRESULT hr = q ? thread_start(ask, q, &thread) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(q);
        return E_OUTOFMEMORY;
    }
    const bool answered = thread_wait(thread, d->wait_ms);
    thread_close(thread);
    if (!answered)
        return doctor_find(d, DOCTOR_FOUND_SERVER_HANGS, NULL, "the server has not answered a query in %u seconds",
                           (unsigned)(d->wait_ms / 1000));
    hr = tell_answer(d, q);
    memory_free(q);
    return hr;
}
