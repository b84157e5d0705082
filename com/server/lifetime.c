/* SPDX-License-Identifier: MIT */
/* Determines whether the server process must keep running: whether clients are alive or sets are running. This file
   also starts the child process that keeps Wine running. */
#include "com/server/call_entry.h"
#include "com/server/server.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pla/definition.h"
#include "engine/pla/run.h"
#include "engine/pla/store.h"

#include <stdio.h>
#include <windows.h>
#include <wchar.h>

struct client {
    DWORD id;
    HANDLE process; /* keeps the id from being reused */
};
static SRWLOCK clients_lock = SRWLOCK_INIT;
static struct client *clients;
static size_t client_count, client_capacity;
static bool has_unknown_client; /* a client could not be identified or recorded */

static bool client_note(DWORD id)
{
    for (size_t i = 0; i < client_count; i++)
        if (clients[i].id == id)
            return true;
    if (!memory_grow((void **)&clients, &client_capacity, client_count + 1, sizeof(*clients)))
        return false;
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, id);
    if (!process)
        return false;
    clients[client_count++] = (struct client){id, process};
    return true;
}

void clients_note_caller(void)
{
    DWORD id = com_caller().process;
    AcquireSRWLockExclusive(&clients_lock);
    if (!id || !client_note(id))
        has_unknown_client = true;
    ReleaseSRWLockExclusive(&clients_lock);
}

bool clients_alive(void)
{
    size_t i = 0;
    AcquireSRWLockExclusive(&clients_lock);
    while (i < client_count) {
        if (WaitForSingleObject(clients[i].process, 0) == WAIT_TIMEOUT) {
            i++;
            continue;
        }
        CloseHandle(clients[i].process);
        clients[i] = clients[--client_count];
    }
    bool alive = has_unknown_client || client_count;
    ReleaseSRWLockExclusive(&clients_lock);
    return alive;
}

/* ---- the child process that keeps Wine running while a service has work to do ---- */

HRESULT server_child_start(const char *option, struct process **child)
{
    char *program = program_beside_module("openplasrv"), *own = text_format("%lu", GetCurrentProcessId());
    HRESULT hr = E_OUTOFMEMORY;
    *child = NULL;
    if (program && own)
        hr = process_start(
            &(struct program){.path = program, .arguments = (const char *[]){option, own}, .argument_count = 2}, child);
    memory_free(program);
    memory_free(own);
    return hr;
}

HRESULT idle_child_start(struct process **child)
{
    return server_child_start("/idle", child);
}

void idle_child_end(struct process *child)
{
    if (!child)
        return;
    process_terminate(process_id(child), process_start_time(process_id(child)));
    process_close(child);
}

int idle_child_main(const WCHAR *parent)
{
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, wcstoul(parent, NULL, 10));
    if (!process)
        return 1;
    WaitForSingleObject(process, INFINITE);
    CloseHandle(process);
    return 0;
}

/* ---- whether any set is running: checked before the server exits ---- */

static bool is_running(const char *space, const char *name)
{
    struct run_state state;
    return name && SUCCEEDED(run_query(space, name, &state)) && state.status != RUN_STOPPED;
}

/* Called for each running set; true ends the enumeration. */
typedef bool (*each_running)(const char *space, const char *name);

static bool see(const char *space, const char *name, each_running each)
{
    return is_running(space, name) && each(space, name);
}

/* Checks only the stored sets that have run at least once. */
static HRESULT see_stored(const char *space, each_running each, bool *enough)
{
    struct stored_stamps stamps;
    HRESULT hr = store_list_stamps(space, &stamps);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < stamps.count && !*enough; i++) {
        char *name = NULL;
        *enough = stamps.items[i].has_run && SUCCEEDED(store_name_in(space, &stamps.items[i], &name)) &&
                  see(space, name, each);
        memory_free(name);
    }
    stored_stamps_free(&stamps);
    return S_OK;
}

static HRESULT see_shipped(const char *space, each_running each, bool *enough)
{
    struct texts names = {0};
    HRESULT hr = definition_list(&caller_self, space, &names);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < names.count && !*enough; i++)
        *enough = see(space, names.items[i], each);
    texts_free(&names);
    return S_OK;
}

/* S_FALSE: `each` returned true. Otherwise reads all namespaces, and fails with the error of the last namespace that
   could not be read. */
static HRESULT see_running(each_running each)
{
    bool enough = false;
    HRESULT failed = S_OK;
    for (const char *const *space = store_namespaces(); *space && !enough; space++) {
        const struct category *c = category_of(*space);
        if (!c->runs)
            continue;
        HRESULT hr =
            c->source == DEFINITION_STORED ? see_stored(*space, each, &enough) : see_shipped(*space, each, &enough);
        if (FAILED(hr))
            failed = hr;
    }
    return enough ? S_FALSE : failed;
}

static bool enough_at_once(const char *space, const char *name)
{
    (void)space, (void)name;
    return true;
}

bool server_set_is_running(void)
{
    return see_running(enough_at_once) == S_FALSE;
}

static bool print_running(const char *space, const char *name)
{
    printf("%s\\%s runs\n", space, name);
    return false;
}

static bool print_stopped(const char *space, const char *name)
{
    HRESULT hr = run_stop(space, name, true);
    if (FAILED(hr) && hr != PLA_E_DCS_NOT_RUNNING)
        printf("%s\\%s: 0x%08lX %s\n", space, name, (unsigned long)hr, error_text(hr));
    else
        printf("%s\\%s has been stopped\n", space, name);
    return false;
}

bool server_report_sets(bool stop_them)
{
    HRESULT hr = see_running(stop_them ? print_stopped : print_running);
    if (SUCCEEDED(hr))
        hr = see_running(enough_at_once);
    if (FAILED(hr))
        fprintf(stderr, "openplasrv: cannot query the running sets: 0x%08lX %s\n", (unsigned long)hr, error_text(hr));
    return hr != S_OK;
}
