/* SPDX-License-Identifier: MIT */
/* The requests to a run: start its host, ask it to stop, read its state. */
#include "engine/run/run.h"

#include "engine/os/clock.h"
#include "engine/os/file.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"
#include "engine/os/process.h"
#include "engine/run/definition.h"
#include "engine/run/run_state.h"
#include "engine/run/start_report.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#define START_WAIT_MS 30000
#define STOP_WAIT_MS  60000
#define STOP_STEP_MS  20

/* The program beside our module that runs sets; the environment variable OPENPLA_HOST names another one. */
static char *host_program(void)
{
    static const char variable[] = "%OPENPLA_HOST%";
    char *program = host_expand_environment(variable);
    if (!program || strcmp(program, variable) != 0)
        return program;
    memory_free(program);
    static const char *const names[] = {"openplahost.exe", "openplahost"};
    char *folder = host_module_folder();
    program = NULL;
    for (size_t i = 0; folder && i < sizeof names / sizeof names[0]; i++) {
        memory_free(program);
        program = path_join(folder, names[i]);
        if (!program || file_exists(program))
            break;
    }
    memory_free(folder);
    return program;
}

/* Unlike that of any other start on this computer: process, moment and count of starts. */
static char *new_run_key(void)
{
    static atomic_uint starts;
    return text_format("%08x%016" PRIx64 "%08x", (unsigned)process_own_id(), (uint64_t)clock_utc(),
                       (unsigned)atomic_fetch_add(&starts, 1));
}

HRESULT run_query(const char *space, const char *name, struct run_state *state)
{
    struct run_section *section;
    memset(state, 0, sizeof *state);
    HRESULT hr = run_section_open(space, name, &section);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        return S_OK;
    if (FAILED(hr))
        return hr;
    if (!run_section_read(section, state) || state->status == RUN_STOPPED)
        memset(state, 0, sizeof *state);
    run_section_close(section);
    return S_OK;
}

static HRESULT check_startable(const char *space, const char *name)
{
    struct run_state state;
    char *xml;
    size_t size;
    HRESULT hr = definition_load(space, name, &xml, &size);
    if (FAILED(hr))
        return hr;
    memory_free(xml);
    hr = run_query(space, name, &state);
    if (SUCCEEDED(hr) && state.status != RUN_STOPPED)
        hr = error_set(PLA_E_DCS_IN_USE, "the set \"%s\\%s\" is running (process %u)", space, name,
                       (unsigned)state.process_id);
    return hr;
}

HRESULT run_start(const char *space, const char *name, bool synchronous)
{
    struct start_report *report = NULL;
    struct process *host = NULL;
    HRESULT hr = check_startable(space, name);
    if (FAILED(hr))
        return hr;
    char *program = host_program(), *run_key = new_run_key();
    hr = program && run_key ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && synchronous)
        hr = start_report_create(run_key, &report);
    if (SUCCEEDED(hr)) {
        const char *arguments[] = {space, name, run_key};
        hr = process_start(program, arguments, 3, &host);
    }
    if (SUCCEEDED(hr) && synchronous)
        hr = start_report_wait(report, host, START_WAIT_MS);
    if (host)
        process_close(host);
    start_report_close(report);
    memory_free(program);
    memory_free(run_key);
    return hr;
}

/* Polls: there is no handle of a process that another one started. The event is only a way to rest. */
static HRESULT wait_for_end(struct run_section *section, const char *space, const char *name)
{
    struct event *pause;
    char *key = new_run_key();
    HRESULT hr = key ? event_open(key, true, &pause) : E_OUTOFMEMORY;
    memory_free(key);
    if (FAILED(hr))
        return hr;
    uint64_t limit = clock_monotonic_ms() + STOP_WAIT_MS;
    while (SUCCEEDED(hr) && run_section_alive(section)) {
        if (clock_monotonic_ms() >= limit)
            hr = error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT), "the set \"%s\\%s\" did not stop within %u s", space,
                           name, STOP_WAIT_MS / 1000);
        else
            hr = event_wait(pause, STOP_STEP_MS);
    }
    event_close(pause);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT run_stop(const char *space, const char *name, bool synchronous)
{
    struct run_section *section;
    struct run_state state;
    HRESULT hr = run_section_open(space, name, &section);
    bool running = false;
    if (SUCCEEDED(hr)) {
        running = run_section_read(section, &state) && state.status != RUN_STOPPED;
        hr = running ? run_section_request_stop(section) : S_OK;
        if (SUCCEEDED(hr) && running && synchronous)
            hr = wait_for_end(section, space, name);
        run_section_close(section);
    } else if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)) {
        hr = S_OK;
    }
    return FAILED(hr) || running ? hr
                                 : error_set(PLA_E_DCS_NOT_RUNNING, "the set \"%s\\%s\" is not running", space, name);
}
