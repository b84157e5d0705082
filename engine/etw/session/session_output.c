/* SPDX-License-Identifier: MIT */
/* Writes the buffers of a session to its file and consumers, and its entries to the event journal. */
#include "engine/etw/session/session_output.h"

#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/etw_types.h"
#include "engine/etw/trace_properties.h"
#include "engine/logs/journal.h"

#include <stdio.h>
#include <string.h>

/* ---- the journal ---- */

static const struct row {
    enum session_journal_id id;
    enum journal_level level;
    const char *message, *counted;
} rows[] = {
    {SESSION_RECOVERED, JOURNAL_WARNING,
     "The host process of a trace session ended unexpectedly; its events were recovered", "Events"},
    {SESSION_NOT_RECOVERED, JOURNAL_ERROR,
     "The host process of a trace session ended unexpectedly; its last events are lost", "Events"},
    {SESSION_NOT_WRITTEN, JOURNAL_ERROR, "The log of a trace session cannot be written; the session continues",
     "Buffers"},
    {SESSION_WRITTEN_AGAIN, JOURNAL_INFORMATION, "The log of a trace session can be written again", "BuffersLost"},
    {SESSION_RECOVERY_FAILED, JOURNAL_ERROR,
     "The host process of a trace session ended unexpectedly; its log cannot be written yet", ""},
    {SESSION_FULL, JOURNAL_INFORMATION, "The log of a trace session reached its maximum size and was closed",
     "Buffers"},
    {SESSION_WITHOUT_DIRECTORY, JOURNAL_WARNING, "The directory of trace sessions was deleted; the trace session ends",
     ""},
    {SESSION_UNDELIVERED, JOURNAL_WARNING, "A trace session ended before a consumer read its last events",
     "BuffersLost"},
    {SESSION_KEY_VALUE, JOURNAL_WARNING, "A registry value of an autologger is invalid", ""},
    {SESSION_KEY_PROVIDER, JOURNAL_WARNING, "An autologger could not enable a provider", ""},
    {SESSION_KEY_NOT_STARTED, JOURNAL_ERROR, "An autologger did not start", ""},
    {SESSION_WITHOUT_KERNEL, JOURNAL_WARNING,
     "A trace session requests kernel events, but this host OS has no source for them", ""},
    {SESSION_KERNEL_FLAGS, JOURNAL_INFORMATION,
     "Some kernel events that a trace session requests have no source on this host OS", ""},
    {SESSION_KERNEL_POORER, JOURNAL_WARNING,
     "A trace session of kernel events records only processes and threads, by polling", ""},
    {SESSION_KERNEL_HIDDEN, JOURNAL_WARNING, "A trace session of kernel events cannot see the processes of other users",
     ""},
    {SESSION_KERNEL_LEFT, JOURNAL_WARNING, "A trace session ended, but its kernel buffers could not be removed", ""},
    {SESSION_KERNEL_COUNTERS, JOURNAL_INFORMATION,
     "A trace session requests processor counters, which have no source on this host OS", ""},
    {SESSION_KERNEL_STACKS, JOURNAL_INFORMATION,
     "Some stacks that a trace session requests have no source on this host OS", ""},
};

static const struct row *journal_row(enum session_journal_id id)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

static void journal_append_entry(const struct journal_entry *entry)
{
    char *folder = journal_folder();
    if (folder)
        (void)journal_append(folder, entry);
    memory_free(folder);
}

void session_journal_event(enum session_journal_id id, const struct directory_session *s, HRESULT hr, uint64_t count)
{
    const struct row *row = journal_row(id);
    const struct error_kept why = error_keep(hr);
    char error[16], number[24];
    struct journal_entry entry = {.id = id, .level = row->level, .message = row->message};
    entry.fields[entry.count++] = (struct journal_field){"Session", s->name};
    if (s->file)
        entry.fields[entry.count++] = (struct journal_field){"File", s->file};
    if (count != 0) {
        snprintf(number, sizeof number, "%llu", (unsigned long long)count);
        entry.fields[entry.count++] = (struct journal_field){row->counted, number};
    }
    if (FAILED(hr)) {
        snprintf(error, sizeof error, "0x%08X", (unsigned)hr);
        entry.fields[entry.count++] = (struct journal_field){"Error", error};
        entry.fields[entry.count++] = (struct journal_field){"Reason", why.text};
    }
    journal_append_entry(&entry);
    (void)error_restore(&why);
}

void session_journal_missing(enum session_journal_id id, const struct directory_session *s, const char *field,
                             const char *what)
{
    const struct row *row = journal_row(id);
    struct journal_entry entry = {.id = id, .level = row->level, .message = row->message};
    entry.fields[entry.count++] = (struct journal_field){"Session", s->name};
    entry.fields[entry.count++] = (struct journal_field){field, what};
    journal_append_entry(&entry);
}

void session_journal_source(enum session_journal_id id, const char *session, const char *source, const char *why)
{
    const struct row *row = journal_row(id);
    struct journal_entry entry = {.id = row->id, .level = row->level, .message = row->message};
    entry.fields[entry.count++] = (struct journal_field){"Session", session};
    if (source)
        entry.fields[entry.count++] = (struct journal_field){"Source", source};
    if (why)
        entry.fields[entry.count++] = (struct journal_field){"Reason", why};
    journal_append_entry(&entry);
}

void session_journal_key(enum session_journal_id id, const struct autologger *a, HRESULT hr, const char *below,
                         const char *text)
{
    const struct row *row = journal_row(id);
    const struct error_kept why = error_keep(hr);
    struct journal_entry entry = {.id = id, .level = row->level, .message = row->message};
    char error[16], *key = a->global
                               ? text_copy(a->name)
                               : text_format("Autologger\\%s%s%s", a->name, below ? "\\" : "", below ? below : "");
    if (key)
        entry.fields[entry.count++] = (struct journal_field){"Key", key};
    if (FAILED(hr)) {
        snprintf(error, sizeof error, "0x%08X", (unsigned)hr);
        entry.fields[entry.count++] = (struct journal_field){"Error", error};
    }
    entry.fields[entry.count++] = (struct journal_field){"Reason", FAILED(hr) ? why.text : text};
    journal_append_entry(&entry);
    memory_free(key);
    (void)error_restore(&why);
}

/* ---- the sink ---- */

#define BACKLOG_BYTES        (UINT64_C(16) << 20) /* limit for a consumer that is behind, or has not connected yet */
#define PATIENCE_MS          2000                 /* limit for a consumer that does not read its last events */
#define TIMER_RESOLUTION     156250               /* in units of 100 ns, as on Windows */
#define ROOM_WITHOUT_MAXIMUM (UINT64_C(200) << 20)

ULONG session_code(HRESULT hr)
{
    if (SUCCEEDED(hr))
        return ERROR_SUCCESS;
    return ((uint32_t)hr & 0xFFFF0000u) == 0x80070000u ? (ULONG)hr & 0xFFFF : ERROR_GEN_FAILURE;
}

static uint64_t maximum_of(const struct directory_session *s)
{
    return (uint64_t)s->maximum_file << ((s->mode & TRACE_MODE_USE_KBYTES) != 0 ? 10 : 20);
}

HRESULT session_output_log(const struct directory_session *s, struct etl_log *log)
{
    HRESULT hr = session_log_of_host(s->clock, log);
    char *name = SUCCEEDED(hr) ? text_copy(s->name) : NULL;
    if (SUCCEEDED(hr) && !name) {
        etl_log_free(log);
        return error_set(E_OUTOFMEMORY, "out of memory for the log of session '%.200s'", s->name);
    }
    if (FAILED(hr))
        return hr;
    log->logger_name = name;
    log->buffer_size = s->buffer_kb * ETL_BUFFER_UNIT;
    log->maximum_file_mb = s->maximum_file;
    log->mode = s->mode;
    log->timer_resolution = TIMER_RESOLUTION;
    log->private_logger = (s->mode & TRACE_MODE_PRIVATE_LOGGER) != 0;
    log->process = process_own_id();
    log->thread = thread_own_id();
    return S_OK;
}

struct session_file_options session_output_options(const struct directory_session *s, const struct etl_log *log,
                                                   const char *file)
{
    return (struct session_file_options){.path = file, .mode = s->mode, .maximum = maximum_of(s), .log = *log};
}

static HRESULT output_check_room(const struct directory_session *s, const char *file)
{
    const uint64_t need = s->maximum_file != 0 ? maximum_of(s) : ROOM_WITHOUT_MAXIMUM;
    uint64_t free = 0;
    char *folder = path_folder(file);
    HRESULT hr = folder ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && *folder && !folder_exists(folder))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND), "cannot create '%s': its folder does not exist", file);
    if (SUCCEEDED(hr))
        hr = folder_free_bytes(*folder ? folder : ".", &free);
    memory_free(folder);
    if (SUCCEEDED(hr) && free < need) {
        hr = error_set(HRESULT_FROM_WIN32(ERROR_DISK_FULL),
                       "cannot create '%s': %llu bytes are free, the session requires %llu", file,
                       (unsigned long long)free, (unsigned long long)need);
    }
    return hr;
}

ULONG session_output_create(struct session_output *o, const char *path, struct session_file **out)
{
    struct session_file_options options = session_output_options(o->session, &o->log, path);
    struct session_statistics statistics;
    session_statistics_read(o->buffers, &statistics);
    options.events_lost = statistics.events_lost;
    options.buffers_lost = statistics.buffers_lost;
    if (o->file)
        session_log_begin_again(&options.log);
    HRESULT hr = output_check_room(o->session, path);
    if (SUCCEEDED(hr))
        hr = session_file_create(&options, out);
    /* Only sessions keep a log open for writing, so a sharing violation means that another session writes the file. */
    return hr == HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION) ? ERROR_BAD_PATHNAME : session_code(hr);
}

ULONG session_output_open(struct session_output *o, const struct directory_session *s, struct session_buffers *b)
{
    *o = (struct session_output){.session = s, .buffers = b};
    session_realtime_begin(&o->realtime, BACKLOG_BYTES, PATIENCE_MS);
    const HRESULT hr = session_output_log(s, &o->log);
    if (FAILED(hr))
        return session_code(hr);
    const ULONG code = s->file ? session_output_create(o, s->file, &o->file) : ERROR_SUCCESS;
    if (code != ERROR_SUCCESS)
        etl_log_free(&o->log);
    return code;
}

static void output_publish_file(const struct session_output *o)
{
    atomic_store_explicit(&o->buffers->shared->totals.file, session_file_number(o->file), memory_order_release);
}

void session_output_show(struct session_output *o)
{
    struct session_totals *totals = &o->buffers->shared->totals;
    struct session_statistics statistics;
    if (!o->file)
        return;
    session_statistics_read(o->buffers, &statistics);
    session_file_lost(o->file, statistics.events_lost, statistics.buffers_lost);
    if (FAILED(session_file_flush(o->file)))
        return; /* `written` is not reset, so a later call tries again */
    o->written = 0;
    atomic_store(&totals->events_reported, statistics.events_lost);
    atomic_store(&totals->buffers_reported, statistics.buffers_lost);
}

void session_output_end_file(struct session_output *o)
{
    struct session_statistics statistics;
    if (!o->file)
        return;
    session_statistics_read(o->buffers, &statistics);
    session_file_lost(o->file, statistics.events_lost, statistics.buffers_lost);
    struct session_file *file = o->file;
    o->file = NULL; /* reset before the file is freed, because of session_output_cut_off */
    o->full = false;
    const HRESULT hr = session_file_close(file, clock_utc());
    if (FAILED(hr))
        session_journal_event(SESSION_NOT_WRITTEN, o->session, hr, 0);
}

void session_output_take(struct session_output *o, struct session_file *file)
{
    session_output_end_file(o);
    o->file = file;
    o->full = false;
    o->failure = S_OK;
    output_publish_file(o);
}

ULONG session_output_next(struct session_output *o)
{
    const HRESULT hr = o->file ? session_file_next(o->file) : S_FALSE;
    if (hr == S_FALSE)
        return ERROR_INVALID_PARAMETER;
    output_publish_file(o);
    return session_code(hr);
}

/* Reports the first failure, and the first success after it. */
static void output_report_failure(struct session_output *o, HRESULT hr)
{
    if (FAILED(hr) && SUCCEEDED(o->failure))
        session_journal_event(SESSION_NOT_WRITTEN, o->session, hr, 0);
    else if (hr == S_OK && FAILED(o->failure))
        session_journal_event(SESSION_WRITTEN_AGAIN, o->session, S_OK,
                              atomic_load(&o->buffers->shared->totals.buffers_lost));
    o->failure = hr;
}

static void output_publish_undelivered(const struct session_output *o)
{
    atomic_store_explicit(&o->buffers->shared->totals.realtime_lost, o->realtime.lost, memory_order_relaxed);
}

void session_output_mark(struct session_output *o, int64_t time)
{
    struct session_statistics statistics;
    session_statistics_read(o->buffers, &statistics);
    session_realtime_lost(&o->realtime, statistics.events_lost - o->events_reported,
                          o->file ? 0 : statistics.buffers_lost - o->buffers_reported);
    o->events_reported = statistics.events_lost;
    o->buffers_reported = statistics.buffers_lost;
    session_realtime_mark(&o->realtime, time);
}

static HRESULT output_write_buffer(void *context, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    struct session_output *o = context;
    HRESULT hr = S_OK;
    if ((o->session->mode & TRACE_MODE_REAL_TIME) != 0) {
        session_realtime_write(&o->realtime, head, bytes);
        output_publish_undelivered(o);
    }
    if (o->file) {
        hr = session_file_write(o->file, head, bytes);
        output_publish_file(o);
        output_report_failure(o, hr);
        o->full = o->full || hr == S_FALSE;
        o->written++;
    }
    return hr;
}

struct session_sink session_output_sink(struct session_output *o)
{
    return (struct session_sink){.write = output_write_buffer, .context = o};
}

bool session_output_pass(struct session_output *o)
{
    const bool behind = session_realtime_pass(&o->realtime);
    output_publish_undelivered(o);
    return behind;
}

void session_output_leave(struct session_output *o)
{
    session_realtime_leave(&o->realtime);
    output_publish_undelivered(o);
}

void session_output_cut_off(struct session_output *o)
{
    if (o->file)
        session_file_cut_off(o->file);
}

void session_output_close(struct session_output *o)
{
    session_output_end_file(o);
    etl_log_free(&o->log);
}
