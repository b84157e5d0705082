/* SPDX-License-Identifier: MIT */
/* The trace data collector: starts, checks and stops a trace session. The collector of the next segment takes over the
   session and changes its file, so that no event is lost between segments. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/etw_types.h"
#include "engine/pla/collect/kind.h"
#include "engine/pla/collect/trace_session.h"

#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

enum {
    LOOK_MS = 1000,           /* time between two checks of the statistics and the session */
    LOOK_FULL_MS = 250,       /* longest time between checks of a file that must be replaced when it is full */
    LOOK_NEARLY_FULL_MS = 20, /* shortest time between these checks */
    BUFFER_UNIT = 1024,
};
#define HELD_FIRST_WORD "trace "
#define HELD_KERNEL     "kernel "

struct trace_collector {
    struct collector collector;
    struct trace_plan plan; /* plan of the running session */
    char *path, *base;      /* output_path and output_base of collect_context */
    uint64_t handle;
    bool owns;                          /* this collector owns the session and must stop it */
    struct trace_collector *taken_from; /* previous owner of the session; valid only while the segment is opened */
    struct trace_session at_begin, now; /* statistics at the start of this segment, and at the latest check */
    uint32_t maximum_mb;                /* SegmentMaxSize */
    bool segmented, overwrites;
    bool snapshot;   /* a flush of this run has written `path` */
    uint64_t looked; /* clock_monotonic_ms of the latest check */
    void *user;      /* from collect_context */
    void (*note)(void *user, HRESULT reason, const char *subject, const char *text);
};

static struct trace_target target_of(const struct trace_collector *tc)
{
    return (struct trace_target){
        .name = tc->plan.session, .handle = tc->handle, .is_private = (tc->plan.mode & TRACE_MODE_PRIVATE_LOGGER) != 0};
}

/* ---- statistics ---- */

static uint32_t since(uint32_t now, uint32_t then)
{
    return now >= then ? now - then : now;
}

static void take_figures(struct trace_collector *tc, struct trace_session *now)
{
    struct collector_figures *f = &tc->collector.figures;
    const struct trace_session *then = &tc->at_begin;
    trace_session_free(&tc->now);
    tc->now = *now;
    f->events_lost = since(now->events_lost, then->events_lost);
    f->buffers_lost = since(now->buffers_lost, then->buffers_lost);
    f->real_time_buffers_lost = since(now->real_time_buffers_lost, then->real_time_buffers_lost);
    f->buffers_written = since(now->buffers_written, then->buffers_written);
    f->free_buffers = now->free_buffers;
}

static uint64_t bytes_written(const struct trace_collector *tc)
{
    return tc->collector.figures.buffers_written * tc->now.is.buffer_kb * BUFFER_UNIT;
}

/* Copies the numbers only. */
static struct trace_session numbers_of(const struct trace_session *s)
{
    struct trace_session copy = *s;
    copy.is = (struct trace_plan){.buffer_kb = s->is.buffer_kb};
    return copy;
}

static void begin_figures(struct trace_collector *tc, struct trace_session *now, bool from_zero)
{
    if (!from_zero)
        tc->at_begin = numbers_of(now);
    take_figures(tc, now);
    tc->looked = clock_monotonic_ms();
}

/* Adds a note to the run's message if the trace is incomplete. */
static void note_losses(struct trace_collector *tc)
{
    const struct collector_figures *f = &tc->collector.figures;
    if (!f->events_lost && !f->buffers_lost && !f->real_time_buffers_lost)
        return;
    char *text = text_format("trace session '%s' lost %" PRIu64 " events because no buffer was free, %" PRIu64
                             " buffers that could not be written and %" PRIu64 " buffers that no consumer read",
                             tc->plan.session, f->events_lost, f->buffers_lost, f->real_time_buffers_lost);
    if (text)
        tc->note(tc->user, S_OK, NULL, text);
    memory_free(text);
}

/* ---- session ---- */

/* Records a session of kernel events, so that it can be released after this process was killed (collect_context.hold).
   Other sessions are recorded with their Guid, which distinguishes them from a later session of the same name. Sessions
   of kernel events share one Guid, so they are identified by their file until they have started, and then by the thread
   that writes the file. */
static HRESULT hold_kernel(const struct trace_collector *tc, const struct collect_context *context, uint32_t thread)
{
    const char *file = tc->plan.file && !thread ? tc->plan.file : "";
    char *line =
        text_format(HELD_KERNEL "%u %u %s", (unsigned)(tc->plan.kernel - kernel_providers), (unsigned)thread, file);
    HRESULT hr = line ? context->hold(context->user, line) : E_OUTOFMEMORY;
    memory_free(line);
    return hr;
}

static HRESULT hold_session(const struct trace_collector *tc, const struct collect_context *context)
{
    char guid[39];
    if (trace_plan_is_reserved(&tc->plan))
        return hold_kernel(tc, context, 0);
    text_from_guid(&tc->plan.guid, guid);
    const bool is_private = (tc->plan.mode & TRACE_MODE_PRIVATE_LOGGER) != 0;
    char *line = text_format(HELD_FIRST_WORD "%s %d %s", guid, is_private, tc->plan.session);
    HRESULT hr = line ? context->hold(context->user, line) : E_OUTOFMEMORY;
    memory_free(line);
    return hr;
}

/* Stops the session, unless its name now belongs to another session. */
static HRESULT release_sessions(struct trace_target *t, bool (*is_ours)(const struct trace_session *s, const void *of),
                                const void *of)
{
    struct trace_session s;
    HRESULT hr = trace_session_query(t, &s);
    if (hr == HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND))
        return S_OK;
    if (FAILED(hr))
        return hr;
    const bool ours = is_ours(&s, of);
    t->handle = s.handle;
    trace_session_free(&s);
    hr = ours ? trace_session_stop(t, &s) : S_OK;
    if (ours && SUCCEEDED(hr))
        trace_session_free(&s);
    return hr;
}

struct held_kernel {
    uint32_t thread;
    const char *file;
};

static bool is_held_kernel(const struct trace_session *s, const void *of)
{
    const struct held_kernel *k = of;
    return k->thread ? s->thread == k->thread : k->file[0] && s->is.file && text_equal_nocase(s->is.file, k->file);
}

static HRESULT release_kernel_session(const char *numbers)
{
    char *end;
    const unsigned long which = strtoul(numbers, &end, 10), thread = strtoul(end, &end, 10);
    if (which >= KERNEL_PROVIDERS || *end != ' ')
        return S_FALSE;
    const struct held_kernel held = {.thread = (uint32_t)thread, .file = end + 1};
    return release_sessions(&(struct trace_target){.name = kernel_providers[which].session}, is_held_kernel, &held);
}

static bool has_guid(const struct trace_session *s, const void *of)
{
    return guid_equal(&s->is.guid, of);
}

static HRESULT trace_collector_release_held(const char *line)
{
    const size_t first = sizeof HELD_FIRST_WORD - 1, at_kind = first + 39, at_name = at_kind + 2;
    GUID guid;
    if (!strncmp(line, HELD_KERNEL, sizeof HELD_KERNEL - 1))
        return release_kernel_session(line + sizeof HELD_KERNEL - 1);
    if (strncmp(line, HELD_FIRST_WORD, first) != 0)
        return S_FALSE;
    char *text = strlen(line) > at_name ? text_copy_n(line + first, 38) : NULL;
    const bool known = text && text_to_guid(text, &guid);
    memory_free(text);
    if (!known)
        return S_FALSE;
    return release_sessions(&(struct trace_target){.name = line + at_name, .is_private = line[at_kind] == '1'},
                            has_guid, &guid);
}

static HRESULT check_file(const struct trace_collector *tc, bool over)
{
    const bool is_private = (tc->plan.mode & TRACE_MODE_PRIVATE_LOGGER) != 0;
    return is_private ? trace_file_check_private(tc->base, tc->path, over) : trace_file_check(tc->base, tc->path, over);
}

static HRESULT start_session(struct trace_collector *tc, const struct collect_context *context)
{
    static const GUID none;
    struct trace_session now;
    HRESULT hr = guid_equal(&tc->plan.guid, &none) ? os_new_guid(&tc->plan.guid) : S_OK;
    if (SUCCEEDED(hr) && tc->plan.file)
        hr = check_file(tc, tc->overwrites || (tc->plan.mode & TRACE_MODE_APPEND));
    if (SUCCEEDED(hr))
        hr = hold_session(tc, context);
    if (SUCCEEDED(hr))
        hr = trace_session_start(&tc->plan, &now);
    if (FAILED(hr))
        return hr;
    tc->owns = true;
    tc->handle = now.handle;
    begin_figures(tc, &now, true);
    return trace_plan_is_reserved(&tc->plan) ? hold_kernel(tc, context, tc->now.thread) : S_OK;
}

/* Queries the session. Sessions with the kernel's name all have the same handle, which may now belong to another
   program's session. If the handle belongs to another program's session, fails with ERROR_WMI_INSTANCE_NOT_FOUND, as if
   the session had been stopped. */
static HRESULT query_session(const struct trace_collector *tc, struct trace_session *now)
{
    const struct trace_target t = target_of(tc);
    HRESULT hr = trace_session_query(&t, now);
    if (FAILED(hr) || !trace_plan_is_reserved(&tc->plan) || now->thread == tc->now.thread)
        return hr;
    trace_session_free(now);
    return error_set(HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND),
                     "trace session '%s' has ended, and another program has started a session of this name",
                     tc->plan.session);
}

static HRESULT check_session(const struct trace_collector *tc)
{
    struct trace_session now;
    HRESULT hr = trace_plan_is_reserved(&tc->plan) ? query_session(tc, &now) : S_FALSE;
    if (hr == S_OK)
        trace_session_free(&now);
    return hr;
}

static HRESULT stop_session(struct trace_collector *tc)
{
    const struct trace_target t = target_of(tc);
    struct trace_session last;
    if (!tc->owns)
        return S_OK;
    tc->owns = false;
    HRESULT hr = check_session(tc);
    if (SUCCEEDED(hr))
        hr = trace_session_stop(&t, &last);
    if (SUCCEEDED(hr))
        take_figures(tc, &last);
    return hr;
}

/* Takes over the session of the previous segment. S_FALSE: that session cannot be changed to this plan. */
static HRESULT take_session_over(struct trace_collector *tc, struct trace_collector *before)
{
    const struct trace_target t = target_of(before);
    struct trace_session now;
    HRESULT hr = S_OK;
    if (!trace_plan_can_become(&before->plan, &tc->plan))
        return S_FALSE;
    if (tc->plan.file && !trace_plan_same_file(&before->plan, &tc->plan))
        hr = check_file(tc, tc->overwrites || (tc->plan.mode & TRACE_MODE_APPEND));
    if (SUCCEEDED(hr))
        hr = check_session(before);
    if (SUCCEEDED(hr))
        hr = trace_session_update(&t, &before->plan, &tc->plan, &now);
    if (hr != S_OK)
        return hr;
    tc->plan.guid = before->plan.guid;
    tc->handle = before->handle;
    tc->owns = true;
    tc->taken_from = before;
    before->owns = false;
    struct trace_session until = numbers_of(&now);
    take_figures(before, &until);
    begin_figures(tc, &now, false);
    return S_OK;
}

/* Continues the session of the previous segment, or starts one. Two sessions cannot have the same name, so a previous
   session that cannot continue is stopped first. */
static HRESULT begin_session(struct trace_collector *tc, const struct collect_context *context)
{
    struct trace_collector *before = (struct trace_collector *)context->previous;
    /* With LogAppend, the session continues in the same file. Without LogAppend, the same file is overwritten, so the
       session starts again. */
    const bool replaces_file = before && tc->plan.file && trace_plan_same_file(&before->plan, &tc->plan) &&
                               !(tc->plan.mode & TRACE_MODE_APPEND);
    HRESULT hr = before && before->owns && !replaces_file ? take_session_over(tc, before) : S_FALSE;
    if (hr != S_FALSE)
        return hr;
    if (before && text_equal_nocase(before->plan.session, tc->plan.session))
        hr = stop_session(before);
    return SUCCEEDED(hr) ? start_session(tc, context) : hr;
}

/* ---- the kind ---- */

static bool trace_collector_writes(const struct object *model)
{
    /* A session in memory writes a file when it is flushed. */
    const struct trace_data_collector *c = (const struct trace_data_collector *)model;
    return trace_plan_writes_file(model) || c->StreamMode == TRACE_STREAM_BUFFERING;
}

static bool is_private(const struct object *model)
{
    const struct trace_data_collector *c = (const struct trace_data_collector *)model;
    return c->ProcessMode || (c->ExtendedModes & TRACE_MODE_PRIVATE_LOGGER) != 0;
}

static bool trace_collector_is_there(const struct object *model, const char *file)
{
    return is_private(model) ? trace_file_private_exists(file) : file_exists(file);
}

/* ETW creates one file per process for a private session, and numbered files with EVENT_TRACE_FILE_MODE_NEWFILE. */
static bool trace_collector_writes_parts(const struct object *model, const char *file)
{
    return is_private(model) || strstr(file, "%d");
}

static void trace_collector_delete_file(const struct object *model, const char *base, const char *file)
{
    (void)file_delete_below(base, file);
    if (is_private(model))
        trace_file_delete_parts(base, file);
}

static HRESULT trace_collector_close(struct collector *c)
{
    struct trace_collector *tc = (struct trace_collector *)c;
    HRESULT hr = stop_session(tc);
    note_losses(tc);
    trace_session_free(&tc->now);
    trace_plan_free(&tc->plan);
    memory_free(tc->path);
    memory_free(tc->base);
    memory_free(tc);
    return hr;
}

static HRESULT trace_collector_check(struct object *model)
{
    struct trace_plan plan;
    HRESULT hr = trace_plan_make(model, &(struct trace_output){.file = ""}, &plan);
    if (SUCCEEDED(hr))
        trace_plan_free(&plan);
    return hr;
}

static HRESULT trace_collector_open(struct object *object, const struct collect_context *context,
                                    struct collector **out)
{
    const struct trace_data_collector *model = (const struct trace_data_collector *)object;
    const struct trace_output output = {
        .file = context->output_path, .maximum_mb = context->segment_max_mb, .segmented = context->segmented};
    struct trace_collector *tc = memory_zero(1, sizeof *tc);
    if (!tc)
        return E_OUTOFMEMORY;
    tc->user = context->user;
    tc->note = context->note;
    tc->maximum_mb = context->segment_max_mb;
    tc->segmented = context->segmented;
    tc->overwrites = model->LogOverwrite || model->LogCircular;
    tc->path = text_copy(context->output_path);
    tc->base = text_copy(context->output_base);
    HRESULT hr = tc->path && tc->base ? trace_plan_make(object, &output, &tc->plan) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = begin_session(tc, context);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        trace_collector_close(&tc->collector);
        return error_restore(&why);
    }
    if (tc->owns)
        tc->collector.poll_ms = tc->segmented && tc->maximum_mb && tc->plan.file ? LOOK_FULL_MS : LOOK_MS;
    *out = &tc->collector;
    return S_OK;
}

/* Returns the milliseconds to the next check. The check is early enough to notice a full file soon, however fast it
   grows. */
static uint64_t next_look_ms(const struct trace_collector *tc, uint64_t before, uint64_t ms)
{
    const uint64_t bytes = bytes_written(tc), limit = (uint64_t)tc->maximum_mb << 20;
    if (bytes <= before || bytes >= limit)
        return LOOK_FULL_MS;
    const uint64_t wait = (limit - bytes) * (ms + 1) / (bytes - before) / 2;
    return wait < LOOK_NEARLY_FULL_MS ? LOOK_NEARLY_FULL_MS : wait < LOOK_FULL_MS ? wait : LOOK_FULL_MS;
}

/* Returns whether the session's file is full. When the file is full, ETW stops the session; if the session is also a
   real-time session, ETW only closes the file. */
static bool is_full(const struct trace_collector *tc)
{
    const uint64_t limit = (uint64_t)tc->maximum_mb << 20, buffer = (uint64_t)tc->now.is.buffer_kb * BUFFER_UNIT;
    struct file *file;
    uint64_t size = 0;
    if (!limit || !tc->plan.file || FAILED(file_open(tc->plan.file, FILE_READ, &file)))
        return false;
    HRESULT hr = file_size(file, &size);
    file_close(file);
    return SUCCEEDED(hr) && size + buffer > limit;
}

static enum collector_standing trace_collector_poll(struct collector *c, HRESULT *reason)
{
    struct trace_collector *tc = (struct trace_collector *)c;
    const uint64_t before = bytes_written(tc), passed = clock_passed_ms(tc->looked, clock_monotonic_ms());
    struct trace_session now;
    if (!tc->owns)
        return COLLECTOR_GOES_ON;
    HRESULT hr = query_session(tc, &now);
    if (hr == HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND)) {
        tc->owns = false;
        c->poll_ms = 0;
        if (is_full(tc))
            return COLLECTOR_AT_LIMIT;
        *reason = error_set(
            hr, "trace session '%s' was stopped by another program, or its host process died (see openpla events)",
            tc->plan.session);
        return COLLECTOR_FAILED;
    }
    if (FAILED(hr))
        return COLLECTOR_GOES_ON; /* retried at the next check */
    tc->looked += passed;
    take_figures(tc, &now);
    if (!tc->plan.file)
        return COLLECTOR_GOES_ON;
    if (!tc->segmented)
        return tc->now.is.file || !is_full(tc) ? COLLECTOR_GOES_ON : COLLECTOR_AT_LIMIT;
    if (!tc->maximum_mb)
        return COLLECTOR_GOES_ON;
    c->poll_ms = next_look_ms(tc, before, passed);
    return bytes_written(tc) >= (uint64_t)tc->maximum_mb << 20 ? COLLECTOR_AT_LIMIT : COLLECTOR_GOES_ON;
}

static HRESULT trace_collector_flush(struct collector *c)
{
    struct trace_collector *tc = (struct trace_collector *)c;
    const struct trace_target t = target_of(tc);
    const bool snapshot = (tc->plan.mode & TRACE_MODE_BUFFERING) != 0;
    if (!tc->owns)
        return S_OK;
    HRESULT hr = snapshot ? check_file(tc, tc->snapshot || tc->overwrites) : S_OK;
    if (SUCCEEDED(hr))
        hr = check_session(tc);
    if (SUCCEEDED(hr))
        hr = trace_session_flush(&t, snapshot ? tc->path : NULL);
    tc->snapshot = tc->snapshot || (snapshot && SUCCEEDED(hr));
    return hr;
}

/* Creates the plan for another definition of this collector, but keeps the collector's output. */
static HRESULT plan_again(const struct trace_collector *tc, struct object *model, struct trace_plan *out)
{
    const struct trace_output output = {.file = tc->path, .maximum_mb = tc->maximum_mb, .segmented = tc->segmented};
    return trace_plan_make(model, &output, out);
}

static HRESULT trace_collector_update(struct collector *c, struct object *model)
{
    struct trace_collector *tc = (struct trace_collector *)c;
    const struct trace_target t = target_of(tc);
    struct trace_plan plan;
    struct trace_session now;
    HRESULT hr = tc->owns ? plan_again(tc, model, &plan) : S_FALSE;
    if (hr != S_OK)
        return hr;
    hr = trace_session_update(&t, &tc->plan, &plan, &now);
    if (hr == S_OK) {
        plan.guid = tc->plan.guid;
        trace_plan_free(&tc->plan);
        tc->plan = plan;
        take_figures(tc, &now);
    } else {
        struct error_kept why = error_keep(hr);
        trace_plan_free(&plan);
        error_restore(&why);
    }
    return hr;
}

static bool trace_collector_follows(const struct collector *c, struct object *model)
{
    const struct trace_collector *tc = (const struct trace_collector *)c;
    struct trace_plan plan;
    if (!tc->owns || FAILED(plan_again(tc, model, &plan)))
        return true; /* there is no session to stop first, or collector_open will fail with the reason */
    const bool follows = trace_plan_can_become(&tc->plan, &plan) || !text_equal_nocase(tc->plan.session, plan.session);
    trace_plan_free(&plan);
    return follows;
}

/* Changes the session back to `before`, but does not change the file. ETW treats 0 as unchanged for FlushTimer and
   MaximumBuffers, so `before` gets the current value instead of 0. */
static HRESULT change_back(const struct trace_collector *tc, struct trace_plan *before)
{
    const struct trace_target t = target_of(tc);
    struct trace_plan back = *before;
    struct trace_session now;
    back.file = tc->plan.file;
    if (!back.flush_timer)
        back.flush_timer = tc->plan.flush_timer;
    if (!back.maximum_buffers)
        back.maximum_buffers = tc->plan.maximum_buffers;
    HRESULT hr = trace_session_update(&t, &tc->plan, &back, &now);
    if (hr != S_OK)
        return hr;
    trace_session_free(&now);
    before->flush_timer = back.flush_timer;
    before->maximum_buffers = back.maximum_buffers;
    return S_OK;
}

static bool trace_collector_hand_back(struct collector *c)
{
    struct trace_collector *tc = (struct trace_collector *)c, *before = tc->taken_from;
    if (!before || !tc->owns)
        return false;
    const bool as_before = change_back(tc, &before->plan) == S_OK;
    struct trace_plan plan = before->plan;
    char *path = before->path, *file = plan.file;
    if (as_before) {
        before->plan.file = tc->plan.file;
        tc->plan.file = file;
    } else {
        before->plan = tc->plan;
        tc->plan = plan;
    }
    before->path = tc->path;
    tc->path = path;
    before->owns = true;
    tc->owns = false;
    return true;
}

const struct collector_kind trace_collector_kind = {
    .output = WRITES_FILE,
    .end = ENDS_AT_LIMIT,
    .writes = trace_collector_writes,
    .is_there = trace_collector_is_there,
    .delete_file = trace_collector_delete_file,
    .writes_parts = trace_collector_writes_parts,
    .check = trace_collector_check,
    .open = trace_collector_open,
    .poll = trace_collector_poll,
    .flush = trace_collector_flush,
    .close = trace_collector_close,
    .update = trace_collector_update,
    .follows = trace_collector_follows,
    .hand_back = trace_collector_hand_back,
    .release_held = trace_collector_release_held,
};
