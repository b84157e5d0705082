/* SPDX-License-Identifier: MIT */
/* Decides for each buffer of a session into which file it is written, and where in the file. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/trace_properties.h"

#include <string.h>

enum { CIRCULAR = TRACE_MODE_CIRCULAR, APPEND = TRACE_MODE_APPEND, NEWFILE = TRACE_MODE_NEWFILE };
/* 5 s, in units of 100 ns. Two boot times that differ by less than this count as equal, because a boot time is computed
   from two clocks. */
#define SAME_BOOT (INT64_C(5) * 10000000)

struct session_file {
    struct session_file_options options;
    char *path; /* the path as the caller gave it */
    char *logger_name, *standard_name, *daylight_name;
    struct etl_file *file;
    struct etl_file *before; /* the previous file, while it is being completed; its successor already exists */
    uint64_t number;
    uint64_t *held; /* numbers of the buffers that a continued file already contained, in file order */
    size_t held_count, held_capacity;
    uint64_t events_lost, buffers_lost; /* losses that the file reports so far */
};

static int64_t session_stamp(uint32_t clock, const struct clock_reading *at)
{
    return clock == ETL_CLOCK_SYSTEM ? at->utc : clock == ETL_CLOCK_CYCLES ? (int64_t)at->cycles : at->ticks;
}

HRESULT session_log_of_host(uint32_t clock, struct etl_log *out)
{
    /* This reading contains UTC and the session's clock at the same time. The times of all events in the file are
       computed from it. */
    const struct clock_reading now = clock_read();
    *out = (struct etl_log){
        .version_major = 10,
        .build = 19045,
        .processors = processor_count(),
        .start_utc = now.utc,
        .start_stamp = session_stamp(clock, &now),
        .clock = clock,
        .frequency = clock_frequency(),
        .cpu_mhz = clock_cpu_mhz(),
        .boot_utc = clock_boot_utc(),
        .zone.bias = clock_bias_minutes(now.utc),
        .standard_name = clock_zone_name(),
        .daylight_name = clock_zone_name(),
    };
    if (out->standard_name && out->daylight_name)
        return S_OK;
    etl_log_free(out);
    return error_set(E_OUTOFMEMORY, "out of memory for the name of the time zone");
}

void session_log_begin_again(struct etl_log *log)
{
    const struct clock_reading now = clock_read();
    const int64_t stamp = session_stamp(log->clock, &now);
    log->start_utc = etl_log_utc(log, stamp);
    log->start_stamp = stamp;
}

/* Returns the path of the file with this number, from memory_alloc. Returns NULL if memory runs out. */
static char *session_file_path(const struct session_file *f, uint64_t number)
{
    const char *at = (f->options.mode & NEWFILE) != 0 ? strstr(f->path, "%d") : NULL;
    if (!at)
        return text_copy(f->path);
    return text_format("%.*s%llu%s", (int)(at - f->path), f->path, (unsigned long long)number, at + 2);
}

static HRESULT no_memory(const struct session_file *f)
{
    return error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory", f->path);
}

static uint64_t ring_buffers(const struct session_file *f)
{
    return (f->options.mode & CIRCULAR) != 0 ? f->options.maximum / f->options.log.buffer_size : 0;
}

static HRESULT check_room(const char *path, uint64_t bytes)
{
    char *folder = path_folder(path);
    uint64_t free = 0;
    HRESULT hr = folder ? folder_free_bytes(*folder ? folder : ".", &free) : E_OUTOFMEMORY;
    memory_free(folder);
    if (SUCCEEDED(hr) && free < bytes) {
        hr = error_set(HRESULT_FROM_WIN32(ERROR_DISK_FULL),
                       "cannot create '%s': only %llu bytes are free, but its maximum size is %llu", path,
                       (unsigned long long)free, (unsigned long long)bytes);
    }
    return hr;
}

static HRESULT session_file_create_numbered(const struct session_file *f, uint64_t number, struct etl_file **out)
{
    const bool preallocates = (f->options.mode & TRACE_MODE_PREALLOCATE) != 0 && f->options.maximum != 0;
    char *path = session_file_path(f, number);
    if (!path)
        return no_memory(f);
    struct etl_log log = f->options.log;
    struct etl_file *file = NULL;
    log.file_name = path;
    HRESULT hr = preallocates ? check_room(path, f->options.maximum) : S_OK;
    if (SUCCEEDED(hr))
        hr = etl_file_create(path, true, &log, &file);
    if (SUCCEEDED(hr)) {
        if (ring_buffers(f) != 0)
            hr = etl_file_make_ring(file, ring_buffers(f));
        if (SUCCEEDED(hr) && preallocates)
            hr = etl_file_preallocate(file, f->options.maximum);
        if (SUCCEEDED(hr)) {
            *out = file;
        } else {
            const struct error_kept why = error_keep(hr);
            etl_file_abandon(file);
            (void)file_delete(path);
            hr = error_restore(&why);
        }
    }
    memory_free(path);
    return hr;
}

static bool same_boot(const struct etl_log *a, const struct etl_log *b)
{
    const int64_t difference = a->boot_utc - b->boot_utc;
    return a->clock == ETL_CLOCK_SYSTEM || (difference <= SAME_BOOT && difference >= -SAME_BOOT);
}

/* Time stamps continue in the old file's clock. If the session's host process has exited, its stamps are in that clock
   even if the two boot times appear to differ; therefore boot times are compared only if `appends` is set. */
static HRESULT session_file_check_same(const struct session_file *f, const char *path, bool appends)
{
    const struct etl_log *old = etl_file_log(f->file), *own = &f->options.log;
    const HRESULT hr = HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER);
    if (old->buffer_size != own->buffer_size) {
        return error_set(hr, "cannot append to '%s': its buffers have %u bytes, but the session's buffers have %u",
                         path, (unsigned)old->buffer_size, (unsigned)own->buffer_size);
    }
    if (old->processors != own->processors) {
        return error_set(hr, "cannot append to '%s': it has %u processors, but the session has %u", path,
                         (unsigned)old->processors, (unsigned)own->processors);
    }
    if (old->clock != own->clock || old->frequency != own->frequency)
        return error_set(hr, "cannot append to '%s': it uses clock %u, but the session uses clock %u", path,
                         (unsigned)old->clock, (unsigned)own->clock);
    if (appends && !same_boot(old, own))
        return error_set(
            hr,
            "cannot append to '%s': the clock of this log started over when the computer was restarted (a log "
            "can be continued only if it uses system time)",
            path);
    return S_OK;
}

static HRESULT session_file_keep_number(void *context, uint64_t sequence)
{
    struct session_file *f = context;
    void *items = f->held;
    const bool room = memory_grow(&items, &f->held_capacity, f->held_count + 1, sizeof *f->held);
    f->held = items;
    if (!room)
        return no_memory(f);
    f->held[f->held_count++] = sequence;
    return S_OK;
}

bool session_file_holds(void *file, uint64_t number)
{
    const struct session_file *f = file;
    for (size_t i = 0; i < f->held_count; i++)
        if (f->held[i] == number)
            return true;
    return false;
}

static HRESULT session_file_resume_numbered(struct session_file *f, uint64_t number, bool appends)
{
    char *path = session_file_path(f, number);
    HRESULT hr = path ? etl_file_resume(path, ring_buffers(f), session_file_keep_number, f, &f->file) : no_memory(f);
    if (SUCCEEDED(hr))
        hr = session_file_check_same(f, path, appends);
    memory_free(path);
    return hr;
}

static HRESULT session_file_open_first(struct session_file *f)
{
    if ((f->options.mode & APPEND) == 0)
        return session_file_create_numbered(f, 1, &f->file);
    const HRESULT found = file_find(f->path);
    if (FAILED(found))
        return found;
    return found == S_OK ? session_file_resume_numbered(f, 1, true) : session_file_create_numbered(f, 1, &f->file);
}

static void free_file(struct session_file *f)
{
    memory_free(f->path);
    memory_free(f->held);
    memory_free(f->logger_name);
    memory_free(f->standard_name);
    memory_free(f->daylight_name);
    memory_free(f);
}

static HRESULT session_file_new(const struct session_file_options *options, struct session_file **out)
{
    struct session_file *f = memory_zero(1, sizeof *f);
    const struct etl_log *log = &options->log;
    *out = NULL;
    if (f) {
        f->options = *options;
        f->path = text_copy(options->path);
        f->options.log.logger_name = f->logger_name = text_copy(log->logger_name ? log->logger_name : "");
        f->options.log.standard_name = f->standard_name = text_copy(log->standard_name ? log->standard_name : "");
        f->options.log.daylight_name = f->daylight_name = text_copy(log->daylight_name ? log->daylight_name : "");
    }
    if (f && f->path && f->logger_name && f->standard_name && f->daylight_name) {
        *out = f;
        return S_OK;
    }
    if (f)
        free_file(f);
    (void)error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory", options->path);
    return E_OUTOFMEMORY;
}

static HRESULT session_file_finish_open(HRESULT hr, struct session_file *f, struct session_file **out)
{
    if (SUCCEEDED(hr)) {
        *out = f;
        return S_OK;
    }
    etl_file_abandon(f->file);
    free_file(f);
    return hr;
}

HRESULT session_file_create(const struct session_file_options *options, struct session_file **out)
{
    struct session_file *f;
    HRESULT hr = session_file_new(options, &f);
    if (FAILED(hr))
        return hr;
    f->number = 1;
    f->events_lost = options->events_lost;
    f->buffers_lost = options->buffers_lost;
    return session_file_finish_open(session_file_open_first(f), f, out);
}

HRESULT session_file_continue(const struct session_file_options *options, uint64_t number, const uint64_t reported[2],
                              struct session_file **out)
{
    struct session_file *f;
    HRESULT hr = session_file_new(options, &f);
    if (FAILED(hr))
        return hr;
    f->number = number;
    f->events_lost = reported[0];
    f->buffers_lost = reported[1];
    return session_file_finish_open(session_file_resume_numbered(f, number, false), f, out);
}

uint64_t session_file_first_number(const struct session_file *f)
{
    return etl_file_next_sequence(f->file);
}

uint64_t session_file_number(const struct session_file *f)
{
    return f->number;
}

static HRESULT close_one(struct etl_file *file, int64_t utc)
{
    etl_file_end(file, utc);
    return etl_file_close(file);
}

/* Completes the previous file. session_file_cut_off can run at any time and closes both files, so f->before is reset
   before the file is closed and freed. */
static HRESULT complete_before(struct session_file *f)
{
    struct etl_file *before = f->before;
    etl_file_end(before, clock_utc());
    const HRESULT hr = etl_file_flush(before);
    f->before = NULL;
    const HRESULT closed = etl_file_close(before);
    return FAILED(hr) ? hr : closed;
}

HRESULT session_file_next(struct session_file *f)
{
    enum { TRIES = 16 }; /* how many numbers to try: the next file may still be open in a killed host process */
    struct etl_file *next = NULL;
    HRESULT hr = HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION);
    uint64_t number = f->number;
    if ((f->options.mode & NEWFILE) == 0)
        return S_FALSE;
    const struct etl_log log = f->options.log;
    session_log_begin_again(&f->options.log);
    for (int i = 0; i < TRIES && hr == HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION); i++)
        hr = session_file_create_numbered(f, ++number, &next);
    if (FAILED(hr)) {
        f->options.log = log;
        return hr;
    }
    f->before = f->file;
    f->file = next;
    f->number = number;
    return complete_before(f);
}

HRESULT session_file_write(void *file, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    struct session_file *f = file;
    const bool grows = (f->options.mode & CIRCULAR) == 0 && f->options.maximum != 0;
    if (grows && etl_file_size_with_buffer(f->file) > f->options.maximum) {
        const uint64_t number = f->number;
        const HRESULT hr = session_file_next(f);
        /* If the session has switched to a new file, a failure concerns only the old file, and writing continues. */
        if (f->number == number)
            return hr;
    }
    return etl_file_add_buffer(f->file, etl_log_utc(etl_file_log(f->file), head->time), head, bytes);
}

void session_file_lost(struct session_file *f, uint64_t events, uint64_t buffers)
{
    if (events > f->events_lost || buffers > f->buffers_lost)
        etl_file_count_lost(f->file, (size_t)(events - f->events_lost), (size_t)(buffers - f->buffers_lost));
    f->events_lost = events;
    f->buffers_lost = buffers;
}

HRESULT session_file_flush(struct session_file *f)
{
    return etl_file_flush(f->file);
}

void session_file_cut_off(struct session_file *f)
{
    etl_file_cut_off(f->file);
    if (f->before && f->before != f->file)
        etl_file_cut_off(f->before);
}

HRESULT session_file_close(struct session_file *f, int64_t utc)
{
    if (!f)
        return S_OK;
    const HRESULT hr = close_one(f->file, utc);
    free_file(f);
    return hr;
}
