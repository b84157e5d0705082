/* SPDX-License-Identifier: MIT */
/* Writes logs to a database (MS-PLA 2.2.2.7). A database can be slow, hang or be unreachable for hours, while there is
   a new sample every second. Therefore a thread of the log does everything that can wait for the database, and the
   caller of append only adds its sample to a queue in memory.

       caller (append, flush, close)                    thread
       -----------------------------                    ------
       make_sample --> first -> ... -> end   --take_batch-->   batch --sql_set_write--> transaction --> commit
                       |<-- kept, kept_samples: bytes and number, the batch included ------------>|
       sets `work` after adding                         sets `done` after a commit, a failure, and at its end

   Access to the members:
   - Only the caller: number, rows.
   - Only the thread: set, slots, batch, in_doubt. The thread frees samples when they are committed.
   - Both, under the lock: the queue, its counts, the state of an outage, and the warnings. The lock is never held while
     waiting for the database.
   - `known` (which counter has which slot) has its own lock (sql_slots.c): the caller adds slots while it builds a
     sample, and the thread lists them before it takes samples that use them.
   - `owners` counts the caller and the thread; the last of the two frees the log. Therefore the caller can abandon a
     thread that hangs in a driver. The abandoned thread frees the log when the driver returns.

   Rules:
   - Samples stay in memory until they are committed, but at most log_options.kept_bytes. Beyond this limit, append
     rejects new samples: they are lost, and the error contains the reason. The numbers of lost samples are not reused,
     so RecordIndex shows the gap. With log_options.wait_for_database, append instead waits until there is room.
   - A failure closes the connection. The thread reconnects after 1, 2, 4 and then every 5 s, checks the tables and the
     log set again, and writes the batch again. In two cases a failure stops the thread, which then does not reconnect:
     wait_for_database is set, or no connection has succeeded yet.
   - If a commit fails, the batch is in doubt: the database may have committed it before the connection broke. After
     reconnecting, the thread searches the database for the batch and writes it only if it is missing. Therefore no
     sample is written twice or lost.
   - A transaction contains the waiting samples up to BATCH_ROWS rows, but always at least one sample.
   - At the end of an outage, a warning states its duration and the numbers of kept and lost samples
     (log_writer_warning).
   - Closing waits at most CLOSE_MS for the remaining samples, and then reports how many samples are lost.
   - max_bytes counts the bytes of the columns of CounterData, 76 for each row. `append` and `comment` have no effect.

   If this process dies, the database rolls back the open transaction. Committed samples stay; those in memory are
   lost. */
#include "engine/logs/sql_log.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"
#include "engine/logs/core/log_formats.h"
#include "engine/logs/pdh_types.h"
#include "engine/logs/sql/sql_set.h"

#include <inttypes.h>

enum {
    CREATE_MS = 20000, /* less than the time limit for starting a collector set */
    CLOSE_MS = 10000,
    FIRST_PAUSE_MS = 1000,
    LONGEST_PAUSE_MS = 5000,
    CLOSING_PAUSE_MS = 250,
    REST_MS = 3600000,
    BATCH_ROWS = 20000,
    ROW_BYTES = 76, /* bytes of a row of CounterData: GUID 16, seven integers 28, float 8, char(24) */
};

struct sql_log {
    struct log_writer base;
    /* Set during creation. */
    struct sql_source source;
    struct log_zone zone;
    uint64_t max_bytes, kept_max;
    bool wait_for_database;
    struct log_counters counters;
    struct thread *thread;
    struct wakeup *work, *done; /* `work` wakes the thread; `done` wakes callers that wait for the thread */
    struct sql_slots known;     /* the caller adds slots, and the thread lists them */

    /* Used only by the caller. */
    uint32_t number;
    uint64_t rows;

    /* Protected by the lock. */
    struct lock lock;
    unsigned owners; /* number of users of the log, at most 2: the caller and the thread; the last user frees it */
    struct sql_sample *first, **end;
    uint64_t kept, kept_samples; /* bytes and number of uncommitted samples, including the batch */
    bool closing, opened, ended;
    uint64_t deadline;  /* time (clock_monotonic_ms) until which closing waits for the samples */
    HRESULT failure;    /* error of the current outage; S_OK: no outage */
    char *failure_text; /* text of `failure`; NULL: no outage, or out of memory */
    int64_t away_since; /* start of the outage, FILETIME; 0: no outage */
    uint64_t refused;   /* samples rejected in the current outage */
    struct text_buffer warnings;

    /* Used only by the thread. */
    struct sql_set *set;
    struct sql_slot **slots;
    size_t slot_count, slot_capacity;
    struct sql_sample *batch; /* samples being written, or to be written again */
    bool in_doubt;            /* the batch's commit failed, so the batch may be in the database */
};

static size_t sample_bytes(size_t rows)
{
    return sizeof(struct sql_sample) + rows * sizeof(struct sql_row);
}

static void free_samples(struct sql_sample *first)
{
    while (first) {
        struct sql_sample *next = first->next;
        memory_free(first);
        first = next;
    }
}

static void free_log(struct sql_log *log)
{
    free_samples(log->first);
    free_samples(log->batch);
    sql_slots_free(&log->known);
    memory_free(log->slots);
    log_counters_free(&log->counters);
    sql_set_free(log->set);
    thread_close(log->thread);
    wakeup_free(log->work);
    wakeup_free(log->done);
    text_buffer_free(&log->warnings);
    memory_free(log->failure_text);
    memory_free((void *)log->zone.name);
    sql_source_free(&log->source);
    memory_free(log);
}

static void sql_log_release(struct sql_log *log)
{
    lock_enter(&log->lock);
    bool last = --log->owners == 0;
    lock_leave(&log->lock);
    if (last)
        free_log(log);
}

/* ---- functions of the thread ---- */

static void set_failure(struct sql_log *log, HRESULT hr)
{
    char *text = text_copy(error_text(hr));
    lock_enter(&log->lock);
    memory_free(log->failure_text);
    log->failure_text = text;
    log->failure = hr;
    if (log->away_since == 0)
        log->away_since = clock_utc();
    lock_leave(&log->lock);
}

/* Ends the outage, if there was one. Called after a commit of `written` samples. The lock is held. */
static void end_outage(struct sql_log *log, uint64_t written)
{
    char from[SQL_TIME_UNITS], to[SQL_TIME_UNITS];
    if (log->away_since == 0)
        return;
    sql_time_text(log->away_since, from);
    sql_time_text(clock_utc(), to);
    text_buffer_format(&log->warnings,
                       "%s%s: the database was unreachable from %.19s to %.19s UTC; %" PRIu64
                       " samples were kept and written later, %" PRIu64 " were lost: %s (0x%08X)",
                       log->warnings.length > 0 ? "\n" : "", log->source.shown, from, to, log->kept_samples + written,
                       log->refused, log->failure_text ? log->failure_text : "the database did not respond",
                       (unsigned)log->failure);
    memory_free(log->failure_text);
    log->failure_text = NULL;
    log->failure = S_OK;
    log->away_since = 0;
    log->refused = 0;
}

/* Frees the batch, which has been written to the database. */
static void forget_batch(struct sql_log *log)
{
    uint64_t bytes = 0, count = 0;
    for (const struct sql_sample *s = log->batch; s; s = s->next) {
        bytes += sample_bytes(s->count);
        count++;
    }
    free_samples(log->batch);
    log->batch = NULL;
    log->in_doubt = false;
    lock_enter(&log->lock);
    log->kept -= bytes;
    log->kept_samples -= count;
    end_outage(log, count);
    lock_leave(&log->lock);
    wakeup_set(log->done);
}

/* Moves waiting samples to the batch. S_FALSE: no samples are waiting. */
static HRESULT take_batch(struct sql_log *log)
{
    lock_enter(&log->lock);
    bool listed = sql_slots_list(&log->known, &log->slots, &log->slot_count, &log->slot_capacity);
    if (listed) {
        size_t rows = 0;
        struct sql_sample **end = &log->first;
        while (*end && (end == &log->first || rows + (*end)->count <= BATCH_ROWS)) {
            rows += (*end)->count;
            end = &(*end)->next;
        }
        if (end != &log->first) {
            log->batch = log->first;
            log->first = *end;
            *end = NULL;
            if (!log->first)
                log->end = &log->first;
        }
    }
    lock_leave(&log->lock);
    return !listed ? E_OUTOFMEMORY : log->batch ? S_OK : S_FALSE;
}

static void disconnect(struct sql_log *log)
{
    sql_set_disconnect(log->set);
    for (size_t i = 0; i < log->slot_count; i++)
        log->slots[i]->id = 0;
}

/* Connects if necessary and writes one batch. S_FALSE: no samples are waiting. */
static HRESULT write_waiting(struct sql_log *log)
{
    bool committing = false, there = false;
    HRESULT hr = sql_set_connected(log->set) ? S_OK : sql_set_connect(log->set);
    if (SUCCEEDED(hr) && log->in_doubt) {
        hr = sql_set_has(log->set, log->slots, log->batch, &there);
        if (there)
            forget_batch(log);
    }
    if (SUCCEEDED(hr) && !log->batch)
        hr = take_batch(log);
    if (hr != S_OK)
        return hr;
    hr = sql_set_write(log->set, log->slots, log->batch, &committing);
    log->in_doubt = committing;
    if (SUCCEEDED(hr))
        forget_batch(log);
    return hr;
}

/* Waits before the next attempt. Closing the log shortens the wait; new samples do not. */
static void pause_for(struct sql_log *log, uint32_t ms)
{
    uint64_t now = clock_monotonic_ms(), from = now;
    while (now < from + ms) {
        lock_enter(&log->lock);
        bool closing = log->closing;
        lock_leave(&log->lock);
        if (closing && ms > CLOSING_PAUSE_MS)
            ms = CLOSING_PAUSE_MS;
        else
            wakeup_wait(log->work, (uint32_t)(from + ms - now));
        now = clock_monotonic_ms();
    }
}

/* Handles the result of write_waiting, and returns whether the thread continues. */
static bool goes_on(struct sql_log *log, HRESULT hr)
{
    lock_enter(&log->lock);
    bool more = SUCCEEDED(hr) || (log->opened && !log->wait_for_database);
    if (log->closing)
        more = more && clock_monotonic_ms() < log->deadline && (hr != S_FALSE || log->first);
    if (SUCCEEDED(hr))
        log->opened = true;
    lock_leave(&log->lock);
    wakeup_set(log->done);
    return more;
}

static void thread_body(void *user)
{
    struct sql_log *log = user;
    uint32_t pause = 0;
    for (;;) {
        HRESULT hr = write_waiting(log);
        if (FAILED(hr)) {
            disconnect(log);
            set_failure(log, hr);
        }
        if (!goes_on(log, hr))
            break;
        if (FAILED(hr)) {
            pause = pause == 0 ? FIRST_PAUSE_MS : pause * 2 < LONGEST_PAUSE_MS ? pause * 2 : LONGEST_PAUSE_MS;
            pause_for(log, pause);
        } else {
            pause = 0;
            if (hr == S_FALSE)
                wakeup_wait(log->work, REST_MS);
        }
    }
    disconnect(log);
    lock_enter(&log->lock);
    log->ended = true;
    lock_leave(&log->lock);
    wakeup_set(log->done);
    sql_log_release(log);
}

/* ---- functions of the caller ---- */

static void add_row(struct sql_sample *sample, uint32_t slot, const struct log_raw *raw, bool has_value, double value)
{
    bool has_raw = raw->status <= PDH_CSTATUS_NEW_DATA;
    if (has_raw || has_value) {
        sample->rows[sample->count++] = (struct sql_row){.slot = slot,
                                                         .multi_count = raw->multi_count != 0 ? raw->multi_count : 1,
                                                         .has_raw = has_raw,
                                                         .value = has_value ? value : 0,
                                                         .first = raw->first,
                                                         .second = raw->second};
    }
}

static HRESULT make_sample(struct sql_log *log, int64_t utc, const struct log_cell *cells, struct sql_sample **out)
{
    size_t most = 0;
    for (size_t i = 0; i < log->counters.count; i++)
        most += log->counters.items[i].wildcard ? cells[i].item_count : 1;
    struct sql_sample *sample = memory_alloc(sample_bytes(most));
    HRESULT hr = sample ? S_OK : E_OUTOFMEMORY;
    if (sample)
        *sample = (struct sql_sample){.utc = utc, .number = log->number + 1};
    for (size_t i = 0, single = 0; i < log->counters.count && SUCCEEDED(hr); i++) {
        if (!log->counters.items[i].wildcard)
            add_row(sample, (uint32_t)single++, &cells[i].raw, cells[i].has_value, cells[i].value);
        for (size_t k = 0; log->counters.items[i].wildcard && k < cells[i].item_count && SUCCEEDED(hr); k++) {
            const struct log_item *item = &cells[i].items[k];
            uint32_t slot;
            hr = sql_slots_find(&log->known, (uint32_t)i, item->instance, sample->number, &slot);
            if (SUCCEEDED(hr))
                add_row(sample, slot, &item->raw, item->has_value, item->value);
        }
    }
    if (FAILED(hr)) {
        memory_free(sample);
        return hr;
    }
    *out = sample;
    return S_OK;
}

/* Rejects a sample. The lock is held. */
static HRESULT sql_log_refuse_sample(struct sql_log *log)
{
    if (log->away_since == 0)
        log->away_since = clock_utc();
    log->refused++;
    return error_set(FAILED(log->failure) ? log->failure : HRESULT_FROM_WIN32(ERROR_TIMEOUT),
                     "cannot write to '%s': the queue of %" PRIu64 " samples is full: %s", log->source.shown,
                     log->kept_samples, log->failure_text ? log->failure_text : "the database does not respond");
}

/* Returns the failure that stopped the thread of a log with wait_for_database. */
static HRESULT ended_with(struct sql_log *log)
{
    return error_set(FAILED(log->failure) ? log->failure : E_UNEXPECTED, "%s: %s", log->source.shown,
                     log->failure_text ? log->failure_text : "out of memory");
}

static HRESULT sql_append(struct log_writer *w, int64_t utc, const struct log_cell *cells)
{
    struct sql_log *log = (struct sql_log *)w;
    struct sql_sample *sample;
    HRESULT hr = make_sample(log, utc, cells, &sample);
    if (FAILED(hr)) {
        log->number++; /* the lost sample's number is not reused */
        return error_set(hr, "cannot write to '%s': out of memory for a sample", log->source.shown);
    }
    if (log->max_bytes != 0 && (log->rows + sample->count) * ROW_BYTES > log->max_bytes) {
        memory_free(sample);
        return S_FALSE;
    }
    /* Counted now, because the thread frees samples after writing. */
    uint64_t rows = sample->count, bytes = sample_bytes(sample->count);
    log->number++;
    for (;;) {
        lock_enter(&log->lock);
        bool room = log->kept_samples == 0 || log->kept + bytes <= log->kept_max;
        if (log->ended) {
            hr = ended_with(log);
        } else if (room) {
            *log->end = sample;
            log->end = &sample->next;
            log->kept += bytes;
            log->kept_samples++;
        } else if (!log->wait_for_database) {
            hr = sql_log_refuse_sample(log);
        }
        lock_leave(&log->lock);
        if (room || FAILED(hr))
            break;
        wakeup_wait(log->done, REST_MS);
    }
    if (FAILED(hr)) {
        memory_free(sample);
        return hr;
    }
    log->rows += rows;
    wakeup_set(log->work);
    return S_OK;
}

/* Waits for the database only if wait_for_database is set. In any case, the thread writes waiting samples as fast as
   the database accepts them. */
static HRESULT sql_flush(struct log_writer *w)
{
    struct sql_log *log = (struct sql_log *)w;
    HRESULT hr = S_OK;
    for (bool waits = log->wait_for_database; waits;) {
        lock_enter(&log->lock);
        waits = log->kept_samples > 0 && !log->ended;
        if (log->ended)
            hr = ended_with(log);
        lock_leave(&log->lock);
        if (waits)
            wakeup_wait(log->done, REST_MS);
    }
    return hr;
}

static uint64_t sql_size(const struct log_writer *w)
{
    return ((const struct sql_log *)w)->rows * ROW_BYTES;
}

static HRESULT sql_log_take_warning(struct log_writer *w, char **text)
{
    struct sql_log *log = (struct sql_log *)w;
    HRESULT hr = S_FALSE;
    lock_enter(&log->lock);
    if (log->warnings.length > 0 || log->warnings.failed) {
        *text = text_buffer_take(&log->warnings);
        hr = *text ? S_OK : E_OUTOFMEMORY;
    }
    lock_leave(&log->lock);
    return hr;
}

/* Waits until the thread has stopped. If `opened` is set, also returns when the thread has connected. False: the thread
   has neither stopped nor connected within `ms`. */
static bool wait_for_thread(struct sql_log *log, bool opened, uint32_t ms)
{
    uint64_t now = clock_monotonic_ms(), until = now + ms;
    for (;;) {
        lock_enter(&log->lock);
        bool reached = log->ended || (opened && log->opened);
        lock_leave(&log->lock);
        if (reached || now >= until)
            return reached;
        wakeup_wait(log->done, (uint32_t)(until - now));
        now = clock_monotonic_ms();
    }
}

static HRESULT sql_close(struct log_writer *w)
{
    struct sql_log *log = (struct sql_log *)w;
    uint32_t patience = log->wait_for_database ? REST_MS : CLOSE_MS;
    HRESULT hr = S_OK;
    lock_enter(&log->lock);
    log->closing = true;
    log->deadline = clock_monotonic_ms() + patience;
    lock_leave(&log->lock);
    wakeup_set(log->work);
    (void)wait_for_thread(log, false, patience);
    lock_enter(&log->lock);
    if (log->kept_samples > 0) {
        hr = error_set(FAILED(log->failure) ? log->failure : HRESULT_FROM_WIN32(ERROR_TIMEOUT),
                       "cannot close '%s': the last %" PRIu64 " samples could not be written and are lost: %s",
                       log->source.shown, log->kept_samples,
                       log->failure_text ? log->failure_text : "the database does not respond");
    }
    lock_leave(&log->lock);
    sql_log_release(log);
    return hr;
}

static HRESULT set_zone(struct sql_log *log, int64_t start_utc, const struct log_zone *zone)
{
    log->zone.known = true;
    if (!zone->known) {
        log->zone.bias_minutes = clock_bias_minutes(start_utc);
        log->zone.name = clock_zone_name();
        return log->zone.name ? S_OK : E_OUTOFMEMORY;
    }
    log->zone.bias_minutes = zone->bias_minutes;
    log->zone.name = zone->name ? text_copy(zone->name) : NULL;
    return !zone->name || log->zone.name ? S_OK : E_OUTOFMEMORY;
}

static HRESULT sql_log_prepare(struct sql_log *log, const char *path, const struct log_counter *counters, size_t count,
                               int64_t start_utc, const struct log_options *options)
{
    HRESULT hr = sql_source_parse(path, &log->source);
    if (SUCCEEDED(hr))
        hr = set_zone(log, start_utc, &options->zone);
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        hr = log_counters_add(&log->counters, &counters[i]);
    if (SUCCEEDED(hr))
        hr = sql_slots_init(&log->known, &log->counters);
    if (SUCCEEDED(hr))
        hr = wakeup_create(&log->work);
    if (SUCCEEDED(hr))
        hr = wakeup_create(&log->done);
    if (SUCCEEDED(hr))
        hr = sql_set_create(&log->source, start_utc, &log->zone, &log->set);
    return hr;
}

/* Starts the thread and waits until it has connected. Fails if the database rejects the connection or does not
   respond. */
static HRESULT open_database(struct sql_log *log)
{
    log->owners = 2;
    HRESULT hr = thread_start(thread_body, log, &log->thread);
    if (FAILED(hr)) {
        log->owners = 1;
        return hr;
    }
    if (!wait_for_thread(log, true, CREATE_MS)) {
        lock_enter(&log->lock);
        log->closing = true;
        lock_leave(&log->lock);
        return error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT),
                         "cannot open '%s': the database did not respond within %d s", log->source.shown,
                         CREATE_MS / 1000);
    }
    lock_enter(&log->lock);
    if (!log->opened)
        hr = ended_with(log);
    lock_leave(&log->lock);
    return hr;
}

static HRESULT sql_create(const struct log_format_traits *format, const char *path, const struct log_counter *counters,
                          size_t count, int64_t start_utc, const struct log_options *options, struct log_writer **out)
{
    (void)format;
    struct sql_log *log = memory_zero(1, sizeof *log);
    if (!log)
        return E_OUTOFMEMORY;
    log->base.functions = &log_sql_functions;
    log->owners = 1;
    log->end = &log->first;
    log->max_bytes = options->max_bytes;
    log->kept_max = options->kept_bytes != 0 ? options->kept_bytes : LOG_KEPT_BYTES;
    log->wait_for_database = options->wait_for_database;
    HRESULT hr = sql_log_prepare(log, path, counters, count, start_utc, options);
    if (SUCCEEDED(hr))
        hr = open_database(log);
    if (FAILED(hr)) {
        sql_log_release(log);
        return hr;
    }
    *out = &log->base;
    return S_OK;
}

const struct log_format_functions log_sql_functions = {.create = sql_create,
                                                       .append = sql_append,
                                                       .flush = sql_flush,
                                                       .size = sql_size,
                                                       .warning = sql_log_take_warning,
                                                       .close = sql_close};
