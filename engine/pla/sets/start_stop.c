/* SPDX-License-Identifier: MIT */
/* Controls runs: starts their host processes, requests stops, updates and flushes, and identifies and terminates host
   processes. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "engine/pla/definition.h"
#include "engine/pla/run.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/set_credentials.h"

#include <stdio.h>
#include <string.h>

#define STEP_MS  20
#define ENDED_MS 5000 /* a terminated process exits within this time */

uint32_t run_wait_ms(uint32_t otherwise)
{
    char *text;
    uint64_t seconds = 0;
    if (environment_get("OPENPLA_WAIT_SECONDS", &text) == S_OK && !text_to_u64(text, &seconds))
        seconds = 0;
    memory_free(text);
    return seconds && seconds <= UINT32_MAX / 1000 ? (uint32_t)seconds * 1000 : otherwise;
}

/* Loads the definition, from memory_alloc, and checks that the set can be started. */
static HRESULT check_startable(const char *space, const char *name, char **xml, size_t *size)
{
    struct run_state state;
    HRESULT hr = definition_load(&caller_self, space, name, xml, size);
    if (SUCCEEDED(hr))
        hr = run_query(space, name, &state);
    if (FAILED(hr))
        return hr;
    enum run_phase next;
    hr = phase_after(state.phase, STEP_START, &next);
    return FAILED(hr) ? error_set(hr, "the set '%s\\%s' is %s (process %u)", space, name, phase_name(state.phase),
                                  (unsigned)state.process_id)
                      : S_OK;
}

/* Terminates a host process that does not finish its start: otherwise the set could never be started again. Preserves
   the thread's error text. */
static HRESULT terminate_host(struct process *host, HRESULT hr)
{
    struct error_kept why = error_keep(hr);
    process_terminate(process_id(host), process_start_time(process_id(host)));
    process_wait(host, ENDED_MS, NULL);
    return error_restore(&why);
}

/* Writes a failed start to the run record and to the journal. Call it only if the host process could not write these
   entries itself. Preserves the thread's error text. */
static void note_failed_start(const char *user, const char *space, const char *name, const char *run_key, HRESULT hr)
{
    struct error_kept why = error_keep(hr);
    char *account = user ? text_copy(user) : os_user_name();
    struct run_set set;
    if (SUCCEEDED(run_set_load(space, name, &set))) {
        run_set_record_no_run(&set, hr, why.text);
        run_set_free(&set);
    }
    journal_write(JOURNAL_START_FAILED,
                  &(struct journal_facts){
                      .space = space, .name = name, .key = run_key, .user = account, .error = hr, .reason = why.text});
    memory_free(account);
    error_restore(&why);
}

struct run_ahead {
    struct start_report *report;
    struct process *host;
    struct run_rights rights;
    const char *user; /* borrowed: the account that starts the run; NULL: this process itself */
    char run_key[33]; /* "": no key yet */
};

/* Starts a host process. Takes ownership of the rights. Call close_host on *out regardless of the result. */
static HRESULT make_host(const char *user, const char *space, const char *name, bool waits, struct run_rights *rights,
                         struct run_ahead *out)
{
    char *program = run_host_program();
    *out = (struct run_ahead){.rights = *rights, .user = user};
    *rights = (struct run_rights){.token = NULL};
    const struct account account = {.name = out->rights.account, .token = out->rights.token};
    HRESULT hr = program ? shared_new_key(out->run_key) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = run_rights_offer(&out->rights, out->run_key);
    if (SUCCEEDED(hr) && out->rights.sid)
        hr = store_let_run(space, name, out->rights.sid);
    if (SUCCEEDED(hr))
        hr = start_report_create(out->run_key, out->rights.security, &out->report);
    if (SUCCEEDED(hr) && user)
        start_report_put_user(out->report, user);
    if (SUCCEEDED(hr) && waits)
        hr = start_report_hold(out->report, out->run_key, out->rights.security);
    char *key = SUCCEEDED(hr) ? text_format("%s%s", waits ? RUN_KEY_AHEAD : "", out->run_key) : NULL;
    if (SUCCEEDED(hr) && !key)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        const char *arguments[] = {space, name, key};
        hr = process_start(&(struct program){.path = program,
                                             .arguments = arguments,
                                             .argument_count = 3,
                                             .is_whole_or_none = true,
                                             .account = account.token ? &account : NULL},
                           &out->host);
    }
    memory_free(key);
    memory_free(program);
    return hr;
}

static void close_host(struct run_ahead *host)
{
    if (host->host)
        process_close(host->host);
    start_report_close(host->report);
    run_rights_free(&host->rights);
}

static HRESULT await_report(const struct run_ahead *host, bool synchronous)
{
    return start_report_wait(host->report, host->host, !synchronous, run_wait_ms(RUN_START_WAIT_MS));
}

/* Handles the result of a start and closes the handles of the host process. `silent`: there is no host process that
   could report the failure. */
static HRESULT end_start(const char *space, const char *name, struct run_ahead *host, HRESULT hr, bool silent)
{
    bool late = hr == PLA_E_DCS_START_WAIT_TIMEOUT || hr == PLA_E_DC_START_WAIT_TIMEOUT;
    if (late)
        hr = terminate_host(host->host, hr);
    if (silent || late || hr == OPENPLA_E_HOST_DIED)
        note_failed_start(host->user, space, name, host->run_key, hr);
    close_host(host);
    return hr;
}

HRESULT run_start_with(const char *account, const char *space, const char *name, bool synchronous,
                       struct run_rights *rights)
{
    struct run_ahead host;
    char *xml;
    size_t size;
    HRESULT hr = check_startable(space, name, &xml, &size);
    memory_free(xml);
    if (FAILED(hr)) {
        run_rights_free(rights);
        return hr;
    }
    hr = make_host(account, space, name, false, rights, &host);
    bool silent = FAILED(hr) && *host.run_key;
    if (SUCCEEDED(hr))
        hr = await_report(&host, synchronous);
    return end_start(space, name, &host, hr, silent);
}

HRESULT run_start(const char *space, const char *name, bool synchronous)
{
    return run_start_for(NULL, space, name, synchronous);
}

HRESULT run_start_for(const char *account, const char *space, const char *name, bool synchronous)
{
    struct run_rights rights;
    char *xml = NULL;
    size_t size;
    HRESULT hr = run_rights_may_start(space, name);
    if (SUCCEEDED(hr))
        hr = check_startable(space, name, &xml, &size);
    if (FAILED(hr)) {
        memory_free(xml);
        return hr;
    }
    hr = run_rights_of_definition(space, name, xml, size, &rights);
    memory_free(xml);
    if (FAILED(hr)) { /* there is no host process yet that could report the failure */
        note_failed_start(account, space, name, "", hr);
        return hr;
    }
    return run_start_with(account, space, name, synchronous, &rights);
}

HRESULT run_make_ahead(const char *space, const char *name, struct run_ahead **out)
{
    struct run_rights rights;
    char *xml;
    size_t size;
    struct run_ahead *a = memory_zero(1, sizeof *a);
    *out = NULL;
    if (!a)
        return E_OUTOFMEMORY;
    HRESULT hr = definition_load(&caller_self, space, name, &xml, &size);
    if (SUCCEEDED(hr))
        hr = run_rights_of_definition(space, name, xml, size, &rights);
    if (SUCCEEDED(hr))
        hr = make_host(NULL, space, name, true, &rights, a);
    memory_free(xml);
    if (FAILED(hr)) {
        close_host(a);
        memory_free(a);
        return hr;
    }
    *out = a;
    return S_OK;
}

/* Checks whether the prepared host process can be used. S_FALSE: the host process has exited, or the set's account or
   passwords have changed. */
static HRESULT check_ahead(const char *space, const char *name, const struct run_ahead *ahead)
{
    char *xml = NULL;
    size_t size;
    if (!ahead || process_wait(ahead->host, 0, NULL) != S_FALSE)
        return S_FALSE;
    HRESULT hr = check_startable(space, name, &xml, &size);
    if (SUCCEEDED(hr) && !run_rights_are_of(&ahead->rights, xml, size))
        hr = S_FALSE;
    memory_free(xml);
    return hr;
}

HRESULT run_start_ahead(const char *space, const char *name, struct run_ahead *ahead)
{
    HRESULT hr = check_ahead(space, name, ahead);
    if (hr != S_OK) {
        run_ahead_free(ahead);
        return FAILED(hr) ? hr : run_start(space, name, false);
    }
    start_report_let(ahead->report, true);
    hr = await_report(ahead, false);
    if (hr == OPENPLA_E_HOST_DIED) { /* the host process died before it locked the set, so another can be started */
        run_ahead_free(ahead);
        return run_start(space, name, false);
    }
    hr = end_start(space, name, ahead, hr, false);
    memory_free(ahead);
    return hr;
}

void run_ahead_free(struct run_ahead *ahead)
{
    if (!ahead)
        return;
    start_report_let(ahead->report, false);
    close_host(ahead);
    memory_free(ahead);
}

/* ---- waiting for a host process: by polling, because a handle exists only in the process that started it ---- */

static HRESULT end_late_host(struct run_section *section, struct wakeup *pause, const char *space, const char *name,
                             uint32_t waited_ms)
{
    HRESULT hr = run_section_end_host(section, space, name);
    if (FAILED(hr))
        return hr;
    for (uint32_t waited = 0; run_section_alive(section) && waited < ENDED_MS; waited += STEP_MS)
        wakeup_wait(pause, STEP_MS);
    return error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT), "the set '%s\\%s' did not stop within %u s; %s", space, name,
                     waited_ms / 1000,
                     run_section_alive(section)
                         ? "its host process is still running"
                         : "its host process was terminated; the logs end with their last complete sample");
}

static HRESULT wait_for_end(struct run_section *section, const char *space, const char *name)
{
    struct wakeup *pause; /* only waited for, never set */
    HRESULT hr = wakeup_create(&pause);
    if (FAILED(hr))
        return hr;
    uint32_t stop_ms = run_wait_ms(RUN_STOP_WAIT_MS), report_ms = run_wait_ms(RUN_REPORT_WAIT_MS);
    uint64_t began = clock_monotonic_ms(), seen_since = began, all_ms = (uint64_t)stop_ms + report_ms + stop_ms;
    bool was_compiling = false;
    struct run_state state;
    while (SUCCEEDED(hr) && run_section_read(section, &state)) {
        uint64_t now = clock_monotonic_ms();
        bool compiling = state.phase == PHASE_COMPILING;
        /* The time limits of the stop and of the data manager are separate: the measurement restarts when the data
           manager begins and when it ends. The measurement uses this process's clock, and the total time is also
           limited, because the set's account could forge times in the section. */
        if (compiling != was_compiling)
            seen_since = now;
        was_compiling = compiling;
        if (compiling && clock_passed_ms(seen_since, now) >= report_ms)
            hr =
                error_set(PLA_E_REPORT_WAIT_TIMEOUT, "the data manager of the set '%s\\%s' is still working after %u s",
                          space, name, report_ms / 1000);
        else if ((!compiling && clock_passed_ms(seen_since, now) >= stop_ms) || clock_passed_ms(began, now) >= all_ms)
            hr = end_late_host(section, pause, space, name, stop_ms);
        else
            wakeup_wait(pause, STEP_MS);
    }
    wakeup_free(pause);
    return hr;
}

static HRESULT run_request_stop(const char *space, const char *name, enum stop_reason why, bool synchronous)
{
    struct run_section *section;
    struct run_state state;
    HRESULT hr = run_section_open_running(space, name, &section, &state);
    if (hr == S_FALSE)
        return error_set(PLA_E_DCS_NOT_RUNNING, "the set '%s\\%s' is not running", space, name);
    if (FAILED(hr))
        return hr;
    hr = run_section_request_stop(section, why);
    if (SUCCEEDED(hr) && synchronous)
        hr = wait_for_end(section, space, name);
    run_section_close(section);
    return hr;
}

HRESULT run_stop(const char *space, const char *name, bool synchronous)
{
    return run_request_stop(space, name, STOP_ASKED, synchronous);
}

HRESULT run_stop_expired(const char *space, const char *name)
{
    return run_request_stop(space, name, STOP_EXPIRED, false);
}

HRESULT run_end_host(const char *space, const char *name, const struct run_state *seen)
{
    struct run_section *section;
    struct run_state state;
    HRESULT hr = run_section_open_running(space, name, &section, &state);
    if (hr != S_OK)
        return hr;
    bool same = state.process_id == seen->process_id && state.started_utc == seen->started_utc;
    hr = same ? run_section_end_host(section, space, name) : S_FALSE;
    run_section_close(section);
    return hr;
}

/* Waits until the host process has answered. S_FALSE: the host process cannot answer, because it is stopping or has
   exited. */
static HRESULT wait_for_answer(struct run_section *section, enum run_request request, uint64_t number,
                               const char *space, const char *name)
{
    struct wakeup *pause; /* only waited for, never set */
    struct run_state state;
    HRESULT hr = wakeup_create(&pause), answer = S_FALSE;
    if (FAILED(hr))
        return hr;
    uint32_t limit_ms = run_wait_ms(RUN_START_WAIT_MS);
    uint64_t limit = clock_monotonic_ms() + limit_ms;
    while (!run_section_answered(section, request, number, &answer)) {
        bool ends = !run_section_read(section, &state) || state.phase == PHASE_STOPPED ||
                    state.phase == PHASE_STOPPING || state.phase == PHASE_COMPILING;
        if (ends && !run_section_answered(section, request, number, &answer))
            answer = S_FALSE;
        if (!ends && clock_monotonic_ms() >= limit)
            answer = error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT),
                               "the host process of the set '%s\\%s' did not %s within %u s", space, name,
                               request == REQUEST_UPDATE ? "apply the new definition" : "flush", limit_ms / 1000);
        if (ends || FAILED(answer))
            break;
        wakeup_wait(pause, STEP_MS);
    }
    wakeup_free(pause);
    return answer;
}

static HRESULT run_request_answer(const char *space, const char *name, enum run_request request)
{
    struct run_section *section;
    struct run_state state;
    uint64_t number;
    HRESULT hr = run_section_open_running(space, name, &section, &state);
    if (hr != S_OK)
        return hr;
    hr = run_section_ask(section, request, &number);
    if (SUCCEEDED(hr))
        hr = wait_for_answer(section, request, number, space, name);
    run_section_close(section);
    return hr;
}

HRESULT run_update(const char *space, const char *name)
{
    return run_request_answer(space, name, REQUEST_UPDATE);
}

HRESULT run_flush(const char *space, const char *name)
{
    return run_request_answer(space, name, REQUEST_FLUSH);
}

HRESULT run_record_put_death(struct run_record *record)
{
    char *message = text_format(
        "the host process died before it could close the logs; they end with their last complete sample\n%s",
        record->last_message ? record->last_message : "");
    if (!message)
        return E_OUTOFMEMORY;
    memory_free(record->last_message);
    record->last_message = message;
    record->last_result = OPENPLA_E_HOST_DIED;
    return S_OK;
}

/* ---- the host process ---- */

char *run_host_program(void)
{
    static const char variable[] = "%OPENPLA_HOST%";
    char *program = os_expand_environment(variable);
    if (!program || strcmp(program, variable) != 0)
        return program;
    memory_free(program);
    return program_beside_module("openplahost");
}

/* Sets *held to whether a process holds the run lock; errors count as held. The test takes a free lock for a moment; a
   host process that starts at this moment waits until the lock is free again. */
static HRESULT lock_is_held(const char *space, const char *name, bool *held)
{
    struct file_lock *lock = NULL;
    char *path = store_run_lock_path(space, name);
    if (!path)
        return E_OUTOFMEMORY;
    HRESULT hr = file_find(path) == S_FALSE ? S_FALSE : file_lock_take(path, 0, &lock);
    *held = FAILED(hr);
    file_lock_release(lock);
    memory_free(path);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

HRESULT run_host_find(const char *space, const char *name, struct run_host *out)
{
    bool held = false;
    HRESULT hr = store_load_host(space, name, out);
    if (hr == S_OK && run_host_lives(out))
        hr = lock_is_held(space, name, &held);
    return SUCCEEDED(hr) && !held ? S_FALSE : hr;
}

bool run_host_lives(const struct run_host *host)
{
    return host->process_id && process_alive(host->process_id, host->process_start);
}

HRESULT run_host_end(const char *space, const char *name, const struct run_host *host)
{
    struct run_host now;
    char *program = NULL, *ours = NULL;
    HRESULT hr = run_host_find(space, name, &now);
    if (hr == S_OK && strcmp(now.key, host->key) != 0)
        hr = S_FALSE;
    if (hr == S_OK)
        hr = process_program(now.process_id, now.process_start, &program);
    if (hr == S_OK && !(ours = run_host_program()))
        hr = E_OUTOFMEMORY;
    if (hr == S_OK && !text_equal_nocase(path_name(program), path_name(ours)))
        hr =
            error_set(E_ACCESSDENIED,
                      "the set '%s\\%s': process %u runs '%s', which is not a set host process (it was not terminated)",
                      space, name, (unsigned)now.process_id, program);
    if (hr == S_OK)
        hr = process_terminate(now.process_id, now.process_start);
    memory_free(program);
    memory_free(ours);
    return hr;
}
