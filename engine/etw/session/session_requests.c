/* SPDX-License-Identifier: MIT */
/* What controllers and consumers ask of a session's host, and what it does then. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/etw_controller_types.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/session/session_host.h"
#include "engine/etw/trace_properties.h"

#include <string.h>

#define FILE_MODES                                                                                                     \
    ((uint32_t)(TRACE_MODE_SEQUENTIAL | TRACE_MODE_CIRCULAR | TRACE_MODE_APPEND | TRACE_MODE_NEWFILE |                 \
                TRACE_MODE_PREALLOCATE))

enum { PATIENCE_MS = 1000 };

static bool is_in_memory(const struct session_host *h)
{
    return (h->session.mode & TRACE_MODE_BUFFERING) != 0;
}

/* Another session's log is not made anew, also when its host has ended and has it open no more. */
static ULONG check_unused(struct session_host *h, const char *path)
{
    struct directory_session *list;
    size_t count;
    const HRESULT hr = directory_sessions(h->d, &list, &count);
    if (FAILED(hr))
        return session_code(hr);
    ULONG code = ERROR_SUCCESS;
    for (size_t i = 0; i < count; i++)
        if (list[i].logger != h->session.logger && list[i].logger != h->session.whole && list[i].file &&
            text_equal_nocase(list[i].file, path))
            code = ERROR_BAD_PATHNAME;
    directory_sessions_free(list, count);
    return code;
}

/* ---- a session in memory: its snapshot ---- */

static ULONG write_snapshot(struct session_host *h, const char *path)
{
    struct session_file_options options = session_output_options(&h->session, &h->output.log, path);
    struct session_statistics statistics;
    struct session_file *file;
    const ULONG used = check_unused(h, path);
    if (used != ERROR_SUCCESS)
        return used;
    options.mode = TRACE_MODE_SEQUENTIAL;
    options.maximum = 0;
    HRESULT hr = session_file_create(&options, &file);
    if (FAILED(hr))
        return hr == HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION) ? ERROR_BAD_PATHNAME : session_code(hr);
    const struct session_sink sink = {.write = session_file_write, .context = file};
    hr = session_drain_snapshot(h->drain, &sink);
    session_statistics_read(&h->buffers, &statistics);
    session_file_lost(file, statistics.events_lost, statistics.buffers_lost);
    const struct error_kept why = error_keep(hr);
    const HRESULT closed = session_file_close(file, clock_utc());
    if (SUCCEEDED(hr) && SUCCEEDED(closed))
        return ERROR_SUCCESS;
    (void)file_delete(path);
    return session_code(FAILED(hr) ? error_restore(&why) : closed);
}

/* ---- changes ---- */

/* In real time buffers do not wait until they are full. */
static void be_in_real_time(struct directory_session *s)
{
    enum { SECOND = 1000 };
    s->mode |= TRACE_MODE_REAL_TIME;
    if (s->flush_timer == 0) {
        s->flush_timer = (s->mode & TRACE_MODE_USE_MS_FLUSH_TIMER) != 0 ? SECOND : 1;
        s->flush_ms = trace_flush_ms(s->mode, s->flush_timer);
    }
}

/* The directory has the session as *next says; its texts are then the host's. */
static ULONG change(struct session_host *h, const struct directory_session *next)
{
    HRESULT hr = directory_begin(h->d);
    if (FAILED(hr))
        return session_code(hr);
    hr = directory_session_set(h->d, next);
    (void)directory_end(h->d, NULL, 0);
    if (hr == HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION))
        return ERROR_BAD_PATHNAME;
    if (hr != S_OK)
        return hr == S_FALSE ? ERROR_WMI_INSTANCE_NOT_FOUND : session_code(hr);
    h->session = *next;
    return ERROR_SUCCESS;
}

/* The next event goes to `file` (NULL: to none). */
static ULONG change_with_file(struct session_host *h, struct directory_session *next, const char *file)
{
    char *before = h->session.file;
    struct session_file *made = NULL;
    next->file = file ? text_copy(file) : NULL;
    ULONG code = file && !next->file ? ERROR_OUTOFMEMORY : ERROR_SUCCESS;
    if (code == ERROR_SUCCESS && file)
        code = check_unused(h, file);
    if (code == ERROR_SUCCESS && file)
        code = session_output_create(&h->output, file, &made);
    if (code == ERROR_SUCCESS) {
        session_host_flush(h);
        code = change(h, next);
    }
    if (code != ERROR_SUCCESS) {
        (void)session_file_close(made, clock_utc());
        memory_free(next->file);
        return code;
    }
    if (made)
        session_output_take(&h->output, made);
    else
        session_output_end_file(&h->output);
    memory_free(before);
    return ERROR_SUCCESS;
}

static ULONG update(struct session_host *h, const struct directory_request *r)
{
    struct directory_session next = h->session;
    if (!is_in_memory(h))
        next.mode &= ~(uint32_t)TRACE_MODE_REAL_TIME;
    if (!is_in_memory(h) && (r->mode & TRACE_MODE_REAL_TIME) != 0)
        be_in_real_time(&next);
    if (!is_in_memory(h) && !next.file && !r->file && (next.mode & TRACE_MODE_REAL_TIME) == 0)
        return ERROR_INVALID_PARAMETER;
    if (r->maximum_buffers != 0 && !is_in_memory(h)) {
        next.maximum_buffers = r->maximum_buffers > next.minimum_buffers ? r->maximum_buffers : next.minimum_buffers;
        if (next.maximum_buffers > h->buffers.buffers)
            next.maximum_buffers = h->buffers.buffers;
    }
    if (r->flush_timer != 0 && !is_in_memory(h)) {
        next.flush_timer = r->flush_timer;
        next.flush_ms = trace_flush_ms(next.mode, r->flush_timer);
    }
    if (r->flags_given != 0)
        memcpy(next.enable_flags, r->enable_flags, sizeof next.enable_flags);
    const bool other_flags = memcmp(next.enable_flags, h->session.enable_flags, sizeof next.enable_flags) != 0;
    if (r->file && is_in_memory(h)) {
        ULONG code = write_snapshot(h, r->file);
        code = code == ERROR_SUCCESS ? change(h, &next) : code;
        if (code == ERROR_SUCCESS && other_flags)
            session_host_kernel(h, false);
        return code;
    }
    const bool leaves = (h->session.mode & ~next.mode & TRACE_MODE_REAL_TIME) != 0;
    if (leaves)
        session_host_flush(h);
    const ULONG code = r->file ? change_with_file(h, &next, r->file) : change(h, &next);
    if (code == ERROR_SUCCESS && r->maximum_buffers != 0 && !is_in_memory(h))
        session_buffers_bound(&h->buffers, h->session.maximum_buffers);
    if (code == ERROR_SUCCESS && leaves)
        session_output_leave(&h->output);
    if (code == ERROR_SUCCESS && other_flags)
        session_host_kernel(h, false);
    return code;
}

ULONG session_host_drop_file(struct session_host *h)
{
    struct directory_session next = h->session;
    if (is_in_memory(h))
        return ERROR_INVALID_PARAMETER;
    next.mode &= ~FILE_MODES;
    be_in_real_time(&next);
    return change_with_file(h, &next, NULL);
}

/* ---- files ---- */

static ULONG flush(struct session_host *h, const struct directory_request *r)
{
    if (is_in_memory(h))
        return r->file ? write_snapshot(h, r->file) : ERROR_INVALID_PARAMETER;
    const uint64_t from = clock_monotonic_ms();
    int64_t time;
    (void)session_clock_now(session_drain_clock(h->drain), &time);
    session_host_flush(h);
    /* For who was in the middle of an event then; what came since has its own time. */
    while (!session_host_has_until(h, time) && !h->output.full &&
           clock_passed_ms(from, clock_monotonic_ms()) < PATIENCE_MS) {
        (void)signal_wait(h->signal, 1);
        session_host_drain(h);
    }
    session_output_show(&h->output);
    return FAILED(h->output.failure) ? session_code(h->output.failure) : ERROR_SUCCESS;
}

static ULONG increment_file(struct session_host *h)
{
    if ((h->session.mode & TRACE_MODE_NEWFILE) == 0)
        return ERROR_INVALID_PARAMETER;
    session_host_flush(h);
    return session_output_next(&h->output);
}

/* ---- what is set for the kernel's events ---- */

static ULONG set_list(struct session_host *h, const struct directory_request *r)
{
    struct directory_session next = h->session;
    struct directory_kernel *lists = &next.lists;
    if (!session_kernel_is_one(&next))
        return ERROR_INVALID_PARAMETER;
    for (uint32_t i = 0; i < r->item_count; i++) {
        const uint32_t item = r->items[i];
        switch ((enum directory_kernel_list)r->list) {
        case DIRECTORY_STACKS:
            lists->stack[i] = (uint16_t)item;
            break;
        case DIRECTORY_COUNTED_EVENTS:
            lists->counted[i] = (uint16_t)item;
            break;
        case DIRECTORY_PROFILE_SOURCES:
            lists->source[i] = item;
            break;
        default:
            lists->counter[i] = item;
            break;
        }
    }
    lists->count[r->list] = r->item_count;
    const ULONG code = change(h, &next);
    if (code == ERROR_SUCCESS)
        session_kernel_list(h->kernel, &h->session, (enum directory_kernel_list)r->list, &h->told);
    return code;
}

static ULONG answer_to(struct session_host *h, const struct directory_request *r)
{
    switch (r->verb) {
    case DIRECTORY_FLUSH:
        return flush(h, r);
    case DIRECTORY_CONNECT:
        return (h->session.mode & TRACE_MODE_REAL_TIME) != 0
                   ? session_realtime_connect(&h->output.realtime, &r->process, r->file, &h->output.log)
                   : ERROR_INVALID_PARAMETER;
    case DIRECTORY_DISCONNECT:
        session_realtime_disconnect(&h->output.realtime, r->file);
        return ERROR_SUCCESS;
    case DIRECTORY_UPDATE:
        return update(h, r);
    case DIRECTORY_INCREMENT_FILE:
        return increment_file(h);
    case DIRECTORY_TO_REALTIME:
        return session_host_drop_file(h);
    case DIRECTORY_SET_LIST:
        return set_list(h, r);
    case DIRECTORY_SYSTEM_PROVIDERS:
        session_host_kernel(h, false);
        return ERROR_SUCCESS;
    default:
        return ERROR_NOT_SUPPORTED;
    }
}

void session_host_answer(struct session_host *h)
{
    struct directory_request r;
    if (!session_host_is_known(h) || directory_asked(h->d, h->session.logger, &r) != S_OK)
        return;
    if (r.verb == DIRECTORY_STOP) { /* answered when it has happened */
        h->end = h->asked_to_stop = true;
    } else {
        const ULONG answer = answer_to(h, &r);
        if (session_host_is_known(h))
            directory_answer(h->d, h->session.logger, answer);
    }
    directory_request_free(&r);
}
