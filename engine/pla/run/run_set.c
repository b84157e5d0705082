/* SPDX-License-Identifier: MIT */
/* The set of a run: loads it, writes its run record, reports its start, and collects its diagnostics. */
#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/pla/definition.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/set_credentials.h"

#include <stdatomic.h>
#include <inttypes.h>
#include <string.h>

HRESULT run_set_load(const char *space, const char *name, struct run_set *out)
{
    struct object *set = NULL;
    char *xml = NULL;
    size_t size = 0;
    *out = (struct run_set){.space = space, .name = name};
    HRESULT hr = definition_load(&caller_self, space, name, &xml, &size);
    if (SUCCEEDED(hr))
        hr = definition_name_file(set_create_from_xml(xml, size, &set), space, name);
    if (SUCCEEDED(hr))
        hr = object_put_text(set, class_property(&data_collector_set_class, "Name"), name);
    if (SUCCEEDED(hr))
        hr = set_credentials_restore(set, space, name, xml, size);
    memory_free(xml);
    if (FAILED(hr)) {
        object_release(set);
        return hr;
    }
    out->set = set_of(set);
    return S_OK;
}

void run_set_free(struct run_set *r)
{
    if (r->set)
        object_release(&r->set->object);
    diagnostics_free(&r->diagnostics);
    texts_free(&r->held);
    memset(r, 0, sizeof *r);
}

void run_set_know_record(const struct run_set *r, struct run_record *record)
{
    if (!record->known) {
        record->known = true;
        record->serial_number = r->set->SerialNumber;
    }
}

struct outcome {
    const struct run_set *set;
    HRESULT result;
    const char *message;
    bool running;
};

static HRESULT put_outcome(struct run_record *record, const void *user)
{
    const struct outcome *o = user;
    run_set_know_record(o->set, record);
    record->last_result = o->result;
    record->running = o->running;
    return run_record_set_text(&record->last_message, o->message);
}

HRESULT run_set_record(const struct run_set *r, HRESULT result, const char *message, bool running)
{
    const struct outcome o = {r, result, message, running};
    return store_update_run(r->space, r->name, &(struct run_change){put_outcome, &o});
}

static HRESULT put_outcome_of_none(struct run_record *record, const void *user)
{
    const struct outcome *o = user;
    struct run_state state;
    /* This check is reliable under the lock of the record, because a run publishes its state before it writes to the
       record. */
    HRESULT hr = run_query(o->set->space, o->set->name, &state);
    return FAILED(hr) ? hr : state.phase != PHASE_STOPPED ? S_FALSE : put_outcome(record, user);
}

HRESULT run_set_record_no_run(const struct run_set *r, HRESULT result, const char *message)
{
    const struct outcome o = {r, result, message, false};
    return store_update_run(r->space, r->name, &(struct run_change){put_outcome_of_none, &o});
}

/* ---- the report of a start ---- */

#define REPORT_TEXT 1024 /* longer error messages are truncated */
#define LOOK_MS     1000 /* milliseconds between two checks that the starter of a waiting host process is alive */

enum hold { HOLD_NONE, HOLD_WAIT, HOLD_BEGIN, HOLD_UNWANTED };

struct shared_report {
    atomic_uint_least32_t hold; /* enum hold */
    uint32_t starter;
    uint64_t starter_time; /* process_start_time */
    atomic_uint_least32_t accepted;
    atomic_uint_least32_t sent; /* set last */
    atomic_int_least32_t result;
    char text[REPORT_TEXT];
    char opening[REPORT_TEXT];
    char user[START_USER_BYTES];
};

struct start_report {
    struct section *section;
    struct signal *signal, *acknowledged; /* signals the starter; signals a waiting host process */
    struct shared_report *shared;
};

static bool is_run_key(const char *key)
{
    size_t length = strspn(key, "0123456789abcdef");
    return length >= 1 && length <= 64 && !key[length];
}

static HRESULT open_report(const char *run_key, bool create, const char *security, struct start_report **out)
{
    if (!is_run_key(run_key))
        return error_set(E_INVALIDARG, "run key '%s': not 1 to 64 hexadecimal digits", run_key);
    struct start_report *r = memory_zero(1, sizeof *r);
    char *section_name = text_format("openpla-start-%s", run_key);
    char *signal_name = text_format("openpla-started-%s", run_key);
    HRESULT hr = r && section_name && signal_name ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = section_open(
            &(struct shared){.name = section_name, .create = create, .fresh = create, .security = security},
            sizeof *r->shared, &r->section);
    if (SUCCEEDED(hr))
        hr = signal_open(&(struct shared){.name = signal_name, .create = create, .fresh = create, .security = security},
                         &r->signal);
    memory_free(section_name);
    memory_free(signal_name);
    if (FAILED(hr)) {
        start_report_close(r);
        return hr;
    }
    r->shared = section_memory(r->section);
    *out = r;
    return S_OK;
}

static HRESULT open_signal_pair(struct start_report *r, const char *run_key, bool create, const char *security)
{
    char *name = text_format("openpla-begin-%s", run_key);
    HRESULT hr =
        name ? signal_open(&(struct shared){.name = name, .create = create, .fresh = create, .security = security},
                           &r->acknowledged)
             : E_OUTOFMEMORY;
    memory_free(name);
    return hr;
}

HRESULT start_report_hold(struct start_report *r, const char *run_key, const char *security)
{
    HRESULT hr = open_signal_pair(r, run_key, true, security);
    if (FAILED(hr))
        return hr;
    r->shared->starter = process_own_id();
    r->shared->starter_time = process_start_time(process_own_id());
    atomic_store(&r->shared->hold, HOLD_WAIT);
    return S_OK;
}

void start_report_put_user(struct start_report *r, const char *user)
{
    text_fit(r->shared->user, START_USER_BYTES, user);
}

void start_report_get_user(const struct start_report *r, char out[START_USER_BYTES])
{
    out[0] = 0;
    if (!r)
        return;
    memcpy(out, r->shared->user, START_USER_BYTES);
    out[START_USER_BYTES - 1] = 0;
    if (!text_is_utf8(out, strlen(out)))
        out[0] = 0;
}

void start_report_let(struct start_report *r, bool begin)
{
    atomic_store(&r->shared->hold, begin ? HOLD_BEGIN : HOLD_UNWANTED);
    signal_set(r->acknowledged);
}

HRESULT start_report_await(struct start_report *r)
{
    uint32_t starter = r->shared->starter;
    uint64_t starter_time = r->shared->starter_time;
    while (atomic_load(&r->shared->hold) == HOLD_WAIT)
        if (FAILED(signal_wait(r->acknowledged, LOOK_MS)) || !process_alive(starter, starter_time))
            return S_FALSE;
    return atomic_load(&r->shared->hold) == HOLD_BEGIN ? S_OK : S_FALSE;
}

HRESULT start_report_create(const char *run_key, const char *security, struct start_report **out)
{
    return open_report(run_key, true, security, out);
}

HRESULT start_report_open(const char *run_key, struct start_report **out)
{
    HRESULT hr = open_report(run_key, false, NULL, out);
    if (SUCCEEDED(hr) && atomic_load(&(*out)->shared->hold) != HOLD_NONE) {
        hr = open_signal_pair(*out, run_key, false, NULL);
        if (FAILED(hr)) {
            start_report_close(*out);
            *out = NULL;
        }
    }
    return hr;
}

void start_report_close(struct start_report *r)
{
    if (!r)
        return;
    if (r->signal)
        signal_close(r->signal);
    if (r->acknowledged)
        signal_close(r->acknowledged);
    section_close(r->section);
    memory_free(r);
}

void start_report_accept(struct start_report **report)
{
    if (!*report)
        return;
    atomic_store(&(*report)->shared->accepted, 1);
    signal_set((*report)->signal);
}

void start_report_opening(struct start_report *r, const char *collector)
{
    if (r)
        text_fit(r->shared->opening, REPORT_TEXT, collector);
}

void start_report_send(struct start_report **report, HRESULT hr)
{
    struct start_report *r = *report;
    if (!r)
        return;
    text_fit(r->shared->text, REPORT_TEXT, FAILED(hr) ? error_text(hr) : "");
    atomic_store(&r->shared->result, hr);
    atomic_store(&r->shared->sent, 1);
    signal_set(r->signal);
    start_report_close(r);
    *report = NULL;
}

/* Copies the text before it is checked, because another process can still write to it. Invalid UTF-8 becomes "". */
static void take_text(char out[REPORT_TEXT], const char *shared)
{
    memcpy(out, shared, REPORT_TEXT);
    out[REPORT_TEXT - 1] = 0;
    if (!text_is_utf8(out, strlen(out)))
        out[0] = 0;
}

static HRESULT start_timed_out(struct start_report *r, struct process *host, uint32_t timeout_ms)
{
    unsigned seconds = timeout_ms / 1000, id = process_id(host);
    char opening[REPORT_TEXT];
    take_text(opening, r->shared->opening);
    if (opening[0])
        return error_set(PLA_E_DC_START_WAIT_TIMEOUT, "the collector '%s' did not start within %u s (host process %u)",
                         opening, seconds, id);
    return error_set(PLA_E_DCS_START_WAIT_TIMEOUT, "the host process %u did not report within %u s", id, seconds);
}

/* Reads the result. Rejects results that no host process sends, because other processes of the same account can write
   to the section. */
static HRESULT take_result(const struct start_report *r, const struct process *host)
{
    char text[REPORT_TEXT];
    const HRESULT hr = atomic_load(&r->shared->result);
    if (!error_is_result(hr) || hr == S_FALSE)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                         "the report of the host process %u contains the invalid result 0x%08X",
                         host ? (unsigned)process_id(host) : 0, (unsigned)hr);
    take_text(text, r->shared->text);
    return FAILED(hr) ? error_set(hr, "%s", text[0] ? text : error_standard_text(hr)) : hr;
}

HRESULT start_report_wait(struct start_report *r, struct process *host, bool accepted, uint32_t timeout_ms)
{
    uint64_t limit = clock_monotonic_ms() + timeout_ms, now;
    for (;;) {
        now = clock_monotonic_ms();
        HRESULT hr = signal_wait_or_process(r->signal, host, now < limit ? (uint32_t)(limit - now) : 0);
        TRACE_STEP(run, "wait for the report of host %u: 0x%08X", (unsigned)process_id(host), (unsigned)hr);
        if (atomic_load(&r->shared->sent)) /* checked first, because the host process may exit right after its report */
            return take_result(r, host);
        if (accepted && atomic_load(&r->shared->accepted))
            return S_OK;
        if (hr == S_FALSE || (hr == S_OK && now >= limit)) /* the signal can be set without a report */
            return start_timed_out(r, host, timeout_ms);
        if (hr == E_ABORT) {
            uint32_t exit_code = 0;
            process_wait(host, 0, &exit_code);
            return error_set(OPENPLA_E_HOST_DIED, "the host process %u exited with code 0x%08X before it reported",
                             (unsigned)process_id(host), (unsigned)exit_code);
        }
        if (FAILED(hr))
            return hr;
    }
}

/* ---- diagnostics ---- */

#define NOTES_KEPT 200

static char *line_of(HRESULT reason, const char *text)
{
    return FAILED(reason) ? text_format("%s (0x%08X)", text, (unsigned)reason) : text_copy(text);
}

bool diagnostics_note(struct diagnostics *d, HRESULT reason, const char *text)
{
    char *note = line_of(reason, text);
    bool known = !note;
    for (size_t i = 0; !known && i < d->notes.count; i++)
        known = strcmp(d->notes.items[i], note) == 0;
    if (!note || (!known && (d->notes.count >= NOTES_KEPT || FAILED(texts_add(&d->notes, note)))))
        d->notes_cut++;
    memory_free(note);
    return !known;
}

bool diagnostics_lost(struct diagnostics *d, HRESULT hr)
{
    bool first = d->loss != hr;
    d->lost_failed++;
    d->loss = hr;
    if (first) {
        memory_free(d->loss_text);
        d->loss_text = text_copy(error_text(hr));
    }
    return first;
}

#define LOSSES_PAUSE_MS 60000 /* time between two events of a run about lost samples */

void diagnostics_losses_reported(struct diagnostics *d, uint64_t count, uint64_t now_ms)
{
    d->losses_reported = count;
    d->losses_reported_ms = now_ms;
}

bool diagnostics_losses_due(const struct diagnostics *d, uint64_t now_ms, uint64_t *total)
{
    *total = d->lost_late + d->lost_failed;
    return d->losses_reported && *total > d->losses_reported &&
           clock_passed_ms(d->losses_reported_ms, now_ms) >= LOSSES_PAUSE_MS;
}

void diagnostics_end(struct diagnostics *d, HRESULT reason, const char *text)
{
    if (!d->end)
        d->end = line_of(reason, text);
}

char *diagnostics_text(const struct diagnostics *d)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, "");
    for (size_t i = 0; i < d->notes.count; i++)
        text_buffer_format(&b, "%s\n", d->notes.items[i]);
    if (d->notes_cut)
        text_buffer_format(&b, "%" PRIu64 " more\n", d->notes_cut);
    if (d->lost_failed)
        text_buffer_format(&b, "%" PRIu64 " samples lost: %s (0x%08X)\n", d->lost_failed,
                           d->loss_text ? d->loss_text : "out of memory", (unsigned)d->loss);
    if (d->lost_late)
        text_buffer_format(&b, "%" PRIu64 " samples lost: their time passed while an earlier sample was taken\n",
                           d->lost_late);
    if (d->end)
        text_buffer_format(&b, "%s\n", d->end);
    return text_buffer_take(&b);
}

void diagnostics_free(struct diagnostics *d)
{
    texts_free(&d->notes);
    memory_free(d->end);
    memory_free(d->loss_text);
    memset(d, 0, sizeof *d);
}
