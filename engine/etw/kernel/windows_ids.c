/* SPDX-License-Identifier: MIT */
/* Finds the Linux threads of Wine's processes.

   Wine does not show Linux numbers, but its server sets the affinity of Linux threads. Therefore this code sets the
   affinity of each new Windows thread to the value that the thread already has, and reads the clock before and after. A
   tracefs instance then shows which Linux thread the server changed in that interval. A result is used only if exactly
   one call falls into the interval; otherwise the thread is queried again, up to MOST_TRIES times. */
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/kernel/tracepoint.h"
#include "engine/logs/little_endian.h"

#include <stdio.h>
#include <inttypes.h>
#include <string.h>

enum { BUFFER_KB = 64, NS_PER_TICK = 100, MOST_IDS = 1 << 16, MOST_STARTING = 256, MOST_TRIES = 40 };
/* EARLIER_NS is a tolerance, because another instance can record the same event a little earlier or later. */
enum { LONGEST_START_NS = 1000000000, EARLIER_NS = 10000000, CLONE_SAME_PROCESS = 0x10000 };

/* The events of the instance. In each event, the field "pid" contains a thread's number: of the thread whose affinity
   is set, of the new thread, or of the thread that exits. */
enum { SET_PROCESSORS, THREAD_BEGINS, THREAD_ENDS, EVENTS };
static const char *const events[EVENTS][2] = {
    {"syscalls", "sys_enter_sched_setaffinity"}, {"task", "task_newtask"}, {"sched", "sched_process_exit"}};

struct known {
    uint32_t host; /* 0: unknown */
    uint32_t tries;
};

struct starting {
    /* ns. `since` is the start of the process. `until` is the end of its startup, or its exit; 0: neither happened. */
    uint64_t since, until;
};

/* A Windows thread whose affinity was set, and the Linux thread that the kernel reported for this call. */
struct windows_shown {
    struct windows_thread thread;
    uint64_t from, to; /* ticks */
    uint32_t host;     /* number of the Linux thread */
    unsigned times;    /* how many affinities the server set in this time; `host` is certain only if this is 1 */
};

struct windows_ids {
    struct trace_instance *instance;
    struct trace_stream *stream;
    uint32_t server; /* process of Wine's server, which sets the affinity */
    uint32_t ids[EVENTS];
    struct ring_field fields[EVENTS], caller, clone_flags;
    struct id_map by_host;  /* struct windows_thread */
    struct id_map threads;  /* struct known, by Windows' number */
    struct id_map starting; /* struct starting, by the number of the first Linux thread: processes that Wine's threads
                               have started */
    uint32_t mark;
    /* `asked`: the last listing of the threads succeeded; `again`: the threads must be listed again, because there is a
       new one or an attempt failed */
    bool asked, again;
    struct windows_shown *shown;
    size_t shown_count;
};

/* ---- events from the kernel ---- */

/* Notes that the server set the affinity of a Linux thread at that time. `shown` is in time order. */
static void windows_shown_note(struct windows_shown *shown, size_t count, uint64_t time, uint32_t host)
{
    size_t low = 0, high = count; /* index of the first entry whose interval ends at or after the time */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (shown[middle].to < time)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && shown[low].from <= time; low++) {
        shown[low].host = host;
        shown[low].times++;
    }
}

/* Handles the start of a thread or process. Wine forks twice: the new process is the child of the intermediate
   process. */
static HRESULT thread_begins(struct windows_ids *w, const struct ring_event *e, uint32_t creator, uint32_t host)
{
    id_map_remove(&w->by_host, host);
    if (!id_map_find(&w->by_host, creator) && !id_map_find(&w->starting, creator))
        return S_OK;
    w->again = true;
    if ((ring_number(e, &w->clone_flags) & CLONE_SAME_PROCESS) != 0)
        return S_OK;
    const struct starting *before = id_map_find(&w->starting, creator);
    const uint64_t since = before ? before->since : e->time - EARLIER_NS;
    struct starting *c = id_map_put(&w->starting, host);
    if (c)
        *c = (struct starting){.since = since};
    return c ? S_OK : E_OUTOFMEMORY;
}

static uint64_t now_ns(void)
{
    return (uint64_t)clock_ticks() * NS_PER_TICK;
}

/* Marks a process as started up or exited. */
static void mark_started(struct windows_ids *w, uint32_t host)
{
    struct starting *c = id_map_find(&w->starting, host);
    if (c && c->until == 0)
        c->until = now_ns();
}

static void thread_ends(struct windows_ids *w, uint32_t host)
{
    const struct windows_thread *t = id_map_find(&w->by_host, host);
    const struct known *known = t ? id_map_find(&w->threads, t->id) : NULL;
    mark_started(w, host);
    if (known && known->host == host) {
        id_map_remove(&w->threads, t->id);
        w->again = true; /* list the threads again, because a new thread may get the same number immediately */
    }
}

static HRESULT ids_take_record(void *context, const struct trace_record *r)
{
    struct windows_ids *w = context;
    const uint32_t id = r->event.size < 2 ? RING_NO_EVENT : get_u16(r->event.data),
                   caller = (uint32_t)ring_number(&r->event, &w->caller);
    for (int i = 0; i < EVENTS; i++) {
        if (id == RING_NO_EVENT || w->ids[i] != id)
            continue;
        const uint32_t host = (uint32_t)ring_number(&r->event, &w->fields[i]);
        if (i == THREAD_BEGINS)
            return thread_begins(w, &r->event, caller, host);
        if (i == THREAD_ENDS)
            thread_ends(w, host);
        else if (caller == w->server && host != 0)
            windows_shown_note(w->shown, w->shown_count, r->event.time / NS_PER_TICK, host);
    }
    return S_OK;
}

/* Reads all events that have been recorded. */
static HRESULT ids_read_events(struct windows_ids *w)
{
    const struct trace_sink sink = {ids_take_record, w};
    return trace_stream_pass(w->stream, 0, true, &sink);
}

/* ---- learning new threads ---- */

/* Stores the information about the listed threads. A number can have moved to another process without an event. */
static HRESULT ids_keep_listed(struct windows_ids *w, const struct windows_thread *threads, size_t count)
{
    struct id_map kept = {.item_size = w->threads.item_size, .most = w->threads.most};
    for (size_t i = 0; i < count; i++) {
        const struct known *known = id_map_find(&w->threads, threads[i].id);
        const struct windows_thread *t = known ? id_map_find(&w->by_host, known->host) : NULL;
        struct known *to = id_map_put(&kept, threads[i].id);
        if (!to) {
            id_map_free(&kept);
            return E_OUTOFMEMORY;
        }
        if (known && (!t || t->process == threads[i].process))
            *to = *known;
    }
    id_map_free(&w->threads);
    w->threads = kept;
    return S_OK;
}

static HRESULT ids_show_new(struct windows_ids *w, const struct windows_thread *threads, size_t count)
{
    memory_free(w->shown);
    w->shown_count = 0;
    w->shown = memory_zero(count ? count : 1, sizeof *w->shown);
    if (!w->shown)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < count; i++) {
        struct known *known = id_map_find(&w->threads, threads[i].id);
        if (!known || known->host != 0 || known->tries >= MOST_TRIES)
            continue;
        known->tries++;
        struct windows_shown *shown = &w->shown[w->shown_count];
        if (windows_thread_show(&threads[i], &shown->from, &shown->to) == S_OK)
            w->shown[w->shown_count++].thread = threads[i];
        else
            id_map_remove(&w->threads, threads[i].id); /* another thread may soon have this number */
    }
    return S_OK;
}

static HRESULT ids_learn_shown(struct windows_ids *w)
{
    for (size_t i = 0; i < w->shown_count; i++) {
        const struct windows_shown *shown = &w->shown[i];
        struct known *known = id_map_find(&w->threads, shown->thread.id);
        if (!known)
            continue;
        if (shown->times != 1) { /* unclear: Linux has not reported the call yet, or there were several calls */
            w->again |= known->tries < MOST_TRIES;
            continue;
        }
        struct windows_thread *t = id_map_put(&w->by_host, shown->host);
        if (!t)
            return E_OUTOFMEMORY;
        *t = shown->thread;
        mark_started(w, shown->host);
        known->host = shown->host;
    }
    w->shown_count = 0;
    return S_OK;
}

/* Drops processes that started up or exited so long ago that no more events about them can arrive. Also drops processes
   that never become Wine's, such as the host OS's programs that Wine starts. */
static void forget_finished(struct windows_ids *w)
{
    const uint64_t now = now_ns();
    uint64_t host, late;
    do {
        size_t at = 0;
        late = 0;
        for (const struct starting *c; late == 0 && (c = id_map_next(&w->starting, &at, &host)) != NULL;)
            late = now > (c->until ? c->until + TRACE_STREAM_KEPT_NS : c->since + LONGEST_START_NS) ? host : 0;
        id_map_remove(&w->starting, late);
    } while (late != 0);
}

HRESULT windows_ids_pass(struct windows_ids *w)
{
    struct windows_thread *threads = NULL;
    size_t count = 0;
    HRESULT hr = ids_read_events(w);
    forget_finished(w);
    const uint32_t mark = windows_threads_mark();
    if (SUCCEEDED(hr) && w->asked && !w->again && w->starting.count == 0 && mark == w->mark)
        return S_OK;
    w->again = false;
    w->mark = mark;
    if (SUCCEEDED(hr))
        hr = windows_threads(&threads, &count);
    if (SUCCEEDED(hr))
        hr = ids_keep_listed(w, threads, count);
    if (SUCCEEDED(hr))
        hr = trace_instance_enable(w->instance, events[SET_PROCESSORS][0], events[SET_PROCESSORS][1], NULL, true);
    if (SUCCEEDED(hr)) {
        hr = ids_show_new(w, threads, count);
        const HRESULT off =
            trace_instance_enable(w->instance, events[SET_PROCESSORS][0], events[SET_PROCESSORS][1], NULL, false);
        hr = FAILED(hr) ? hr : off;
    }
    memory_free(threads);
    if (SUCCEEDED(hr))
        hr = ids_read_events(w);
    if (SUCCEEDED(hr))
        hr = ids_learn_shown(w);
    w->asked = SUCCEEDED(hr);
    return hr;
}

const struct windows_thread *windows_ids_find(const struct windows_ids *w, uint32_t host_thread)
{
    return id_map_find(&w->by_host, host_thread);
}

uint64_t windows_ids_known_until(const struct windows_ids *w, uint64_t now)
{
    size_t at = 0;
    uint64_t until = now;
    for (const struct starting *c; (c = id_map_next(&w->starting, &at, NULL)) != NULL;)
        until = c->since < until ? c->since : until;
    return until;
}

/* ---- start and end ---- */

/* Reads the server's process number. Under Wine, the server opens all files, including /proc/self, so "self" is the
   server. */
static HRESULT read_server(uint32_t *id)
{
    char *text;
    HRESULT hr = kernel_file_text("/proc/self/stat", &text, NULL);
    if (SUCCEEDED(hr) && sscanf(text, "%" SCNu32, id) != 1)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                       "cannot read '/proc/self/stat': it does not begin with a number");
    memory_free(text);
    return hr;
}

static HRESULT ids_load_event(struct windows_ids *w, int event)
{
    char *format;
    HRESULT hr = trace_instance_format(w->instance, events[event][0], events[event][1], &format);
    if (FAILED(hr))
        return hr;
    w->ids[event] = ring_format_id(format);
    w->fields[event] = ring_format_field(format, "pid");
    w->caller = ring_format_field(format, "common_pid");
    if (event == THREAD_BEGINS)
        w->clone_flags = ring_format_field(format, "clone_flags");
    memory_free(format);
    return event == SET_PROCESSORS ? S_OK
                                   : trace_instance_enable(w->instance, events[event][0], events[event][1], NULL, true);
}

HRESULT windows_ids_begin(const char *name, struct windows_ids **out)
{
    char own[64];
    *out = NULL;
    if (!os_is_wine())
        return S_FALSE;
    struct windows_ids *w = memory_zero(1, sizeof *w);
    if (!w)
        return E_OUTOFMEMORY;
    snprintf(own, sizeof own, "%s-ids", name);
    const struct trace_options options = {.name = own, .buffer_kb = BUFFER_KB};
    w->by_host = (struct id_map){.item_size = sizeof(struct windows_thread), .most = MOST_IDS};
    w->starting = (struct id_map){.item_size = sizeof(struct starting), .most = MOST_STARTING};
    w->threads = (struct id_map){.item_size = sizeof(struct known), .most = MOST_IDS};
    HRESULT hr = read_server(&w->server);
    if (SUCCEEDED(hr))
        hr = trace_instance_begin(&options, &w->instance);
    if (SUCCEEDED(hr))
        hr = trace_stream_create(w->instance, &w->stream);
    for (int i = 0; SUCCEEDED(hr) && i < EVENTS; i++)
        hr = ids_load_event(w, i);
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        (void)windows_ids_end(w);
        return error_restore(&why);
    }
    *out = w;
    return S_OK;
}

HRESULT windows_ids_end(struct windows_ids *w)
{
    if (!w)
        return S_OK;
    trace_stream_free(w->stream);
    const HRESULT hr = trace_instance_end(w->instance);
    id_map_free(&w->by_host);
    id_map_free(&w->threads);
    id_map_free(&w->starting);
    memory_free(w->shown);
    memory_free(w);
    return hr;
}
