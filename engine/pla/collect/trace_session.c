/* SPDX-License-Identifier: MIT */
/* Controls trace sessions with the ETW functions of the host OS, and checks the files that the sessions write. */
#include "engine/pla/collect/trace_session.h"

#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/etw_api.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/log.h"
#include "engine/pla/collect/kind.h"

#include <string.h>

enum {
    NAME_UNITS = 1025,
    FILE_UNITS = 4097,
    SESSIONS = 64,        /* initial size of the list; a system may allow more sessions */
    PROVIDERS_MS = 5000,  /* total time to wait for event providers, per call */
    LIST_ATTEMPTS = 8,    /* attempts to read a list that grows */
    LOGGER_MASK = 0xFFFF, /* bits of a handle that contain the session number */
};

/* EVENT_TRACE_PROPERTIES with room for both names. */
struct block {
    EVENT_TRACE_PROPERTIES p;
    WCHAR name[NAME_UNITS];
    WCHAR file[FILE_UNITS];
};

static HRESULT etw_functions(const struct etw_api **out)
{
    *out = host_etw();
    return (*out)->StartTraceW ? S_OK
                               : error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                                           "trace sessions are not available in 32-bit programs");
}

/* Converts an ETW error. OpenPLA's own ETW functions set an error text, which is kept; Windows' functions only return a
   code. */
static HRESULT failed(ULONG code, const char *session)
{
    return code == ERROR_NOT_ENOUGH_MEMORY || code == ERROR_OUTOFMEMORY
               ? E_OUTOFMEMORY
               : error_prefix(HRESULT_FROM_WIN32(code), "trace session '%s'", session);
}

void trace_session_free(struct trace_session *s)
{
    trace_plan_free(&s->is);
    *s = (struct trace_session){.number = 0};
}

struct trace_target trace_target_of(const struct trace_session *s)
{
    return (struct trace_target){
        .name = s->is.session, .handle = s->handle, .is_private = (s->is.mode & TRACE_MODE_PRIVATE_LOGGER) != 0};
}

/* ---- blocks ---- */

static void block_clear(struct block *b)
{
    memset(b, 0, sizeof *b);
    b->p.Wnode.BufferSize = sizeof *b;
    b->p.Wnode.Flags = CONTROLLER_TRACED_GUID;
    b->p.LoggerNameOffset = offsetof(struct block, name);
    b->p.LogFileNameOffset = offsetof(struct block, file);
}

static HRESULT block_create(struct block **out)
{
    *out = memory_alloc(sizeof **out);
    if (*out)
        block_clear(*out);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT put_file(struct block *b, const char *file)
{
    WCHAR *units;
    size_t length;
    HRESULT hr = text_to_utf16(file, &units, &length);
    if (FAILED(hr))
        return hr;
    if (length < FILE_UNITS)
        memcpy(b->file, units, (length + 1) * sizeof *units);
    else
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE),
                       "the path '%.100s...' is too long: %zu characters", file, length);
    memory_free(units);
    return hr;
}

static HRESULT take_text(const WCHAR *from, size_t most, char **out)
{
    size_t length = 0;
    while (length < most && from[length])
        length++;
    return text_from_utf16(from, length, true, out);
}

static HRESULT read_block(const struct block *b, struct trace_session *out)
{
    const EVENT_TRACE_PROPERTIES *p = &b->p;
    *out = (struct trace_session){
        .is = {.guid = p->Wnode.Guid,
               .clock = p->Wnode.ClientContext,
               .mode = p->LogFileMode,
               .buffer_kb = p->BufferSize,
               .minimum_buffers = p->MinimumBuffers,
               .maximum_buffers = p->MaximumBuffers,
               .maximum_file = p->MaximumFileSize,
               .flush_timer = p->FlushTimer,
               .kernel = p->LogFileMode & TRACE_MODE_SYSTEM_LOGGER ? &kernel_providers[0]
                                                                   : kernel_provider_find(&p->Wnode.Guid)},
        .buffers = p->NumberOfBuffers,
        .free_buffers = p->FreeBuffers,
        .events_lost = p->EventsLost,
        .buffers_written = p->BuffersWritten,
        .buffers_lost = p->LogBuffersLost,
        .real_time_buffers_lost = p->RealTimeBuffersLost,
    };
    memcpy(&out->handle, &p->Wnode.HistoricalContext, sizeof out->handle);
    memcpy(&out->thread, &p->LoggerThreadId, sizeof out->thread);
    out->number = (uint16_t)(out->handle & LOGGER_MASK);
    HRESULT hr = take_text(b->name, NAME_UNITS, &out->is.session);
    if (SUCCEEDED(hr) && b->file[0])
        hr = take_text(b->file, FILE_UNITS, &out->is.file);
    if (FAILED(hr))
        trace_session_free(out);
    return hr;
}

/* ---- event providers ---- */

/* Returns whether `e` is a kernel provider. The events of a kernel provider are enabled by flags of the session
   (set_masks, fill_block). */
static bool is_kernel(const struct trace_enable *e)
{
    return kernel_provider_find(&e->guid) != NULL;
}

static HRESULT ask_provider(const struct etw_api *etw, uint64_t handle, const char *session,
                            const struct trace_enable *e, ULONG code, uint64_t until)
{
    EVENT_FILTER_DESCRIPTOR filter = {
        .Ptr = (uintptr_t)e->filter.items, .Size = (ULONG)e->filter.count, .Type = e->filter_type};
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = 2, /* because FilterDescCount is used */
        .EnableProperty = e->properties,
        .EnableFilterDesc = e->filtered ? &filter : NULL,
        .FilterDescCount = e->filtered ? 1 : 0,
    };
    const uint64_t now = clock_monotonic_ms();
    char guid[39];
    if (is_kernel(e))
        return S_OK;
    error_clear();
    const ULONG result = etw->EnableTraceEx2(handle, &e->guid, code, e->level, e->any, e->all,
                                             now < until ? (ULONG)(until - now) : 0, &parameters);
    if (result == ERROR_SUCCESS || result == ERROR_TIMEOUT) /* after a timeout, the event provider is enabled, too */
        return S_OK;
    text_from_guid(&e->guid, guid);
    HRESULT hr = failed(result, session);
    return hr == E_OUTOFMEMORY ? hr : error_prefix(hr, "provider %s %s", e->name ? e->name : "", guid);
}

static HRESULT enable(const struct etw_api *etw, uint64_t handle, const char *session, const struct trace_enable *e,
                      uint64_t until)
{
    return ask_provider(etw, handle, session, e, EVENT_CONTROL_CODE_ENABLE_PROVIDER, until);
}

static HRESULT disable(const struct etw_api *etw, uint64_t handle, const char *session, const struct trace_enable *e,
                       uint64_t until)
{
    const struct trace_enable bare = {.guid = e->guid, .name = e->name};
    return ask_provider(etw, handle, session, &bare, EVENT_CONTROL_CODE_DISABLE_PROVIDER, until);
}

/* Calls EnumerateTraceGuidsEx, repeatedly if the result grows between two calls. *out from memory_alloc; S_FALSE: the
   event provider is no longer registered. */
static HRESULT ask_guids(const struct etw_api *etw, TRACE_QUERY_INFO_CLASS what, const GUID *of, uint8_t **out,
                         ULONG *bytes)
{
    ULONG need = 0, code = ERROR_INSUFFICIENT_BUFFER;
    *out = NULL;
    *bytes = 0;
    for (int i = 0; i < LIST_ATTEMPTS && code == ERROR_INSUFFICIENT_BUFFER; i++) {
        memory_free(*out);
        *bytes = need;
        *out = memory_zero(1, *bytes);
        if (!*out)
            return E_OUTOFMEMORY;
        GUID guid = of ? *of : (GUID){0};
        code = etw->EnumerateTraceGuidsEx(what, of ? &guid : NULL, of ? sizeof guid : 0, *out, *bytes, &need);
    }
    if (code == ERROR_SUCCESS)
        return S_OK;
    memory_free(*out);
    *out = NULL;
    *bytes = 0;
    if (code == ERROR_WMI_GUID_NOT_FOUND)
        return S_FALSE;
    return code == ERROR_NOT_ENOUGH_MEMORY ? E_OUTOFMEMORY : error_prefix(HRESULT_FROM_WIN32(code), "event providers");
}

/* Returns whether the session has enabled the event provider. Reads the entry of one process only, because the entries
   of all processes are the same. */
static bool find_enable(const uint8_t *block, ULONG bytes, uint16_t number, struct trace_enable *out)
{
    TRACE_PROVIDER_INSTANCE_INFO instance;
    size_t at = sizeof(TRACE_GUID_INFO);
    if (bytes < at + sizeof instance)
        return false;
    memcpy(&instance, block + at, sizeof instance);
    at += sizeof instance;
    for (ULONG i = 0; i < instance.EnableCount && bytes - at >= sizeof(TRACE_ENABLE_INFO); i++) {
        TRACE_ENABLE_INFO info;
        memcpy(&info, block + at, sizeof info);
        at += sizeof info;
        if (info.LoggerId != number || !info.IsEnabled)
            continue;
        out->level = info.Level;
        out->any = info.MatchAnyKeyword; /* ETW stores 0 as all keywords, so 0 is read back as all keywords */
        out->all = info.MatchAllKeyword;
        out->properties = info.EnableProperty;
        return true;
    }
    return false;
}

/* Adds the kernel provider, which ETW does not list among the enabled event providers. */
static HRESULT add_kernel(const struct etw_api *etw, struct trace_session *s)
{
    ULONG need = 0;
    error_clear();
    const ULONG code =
        etw->TraceQueryInformation(s->handle, TraceSystemTraceEnableFlagsInfo, s->is.masks, sizeof s->is.masks, &need);
    if (code != ERROR_SUCCESS)
        return failed(code, s->is.session);
    group_masks_place(s->is.masks);
    return trace_plan_add(&s->is, &(struct trace_enable){.guid = s->is.kernel->guid});
}

HRESULT trace_session_providers(struct trace_session *s)
{
    const struct etw_api *etw;
    uint8_t *guids = NULL;
    ULONG bytes = 0;
    HRESULT hr = etw_functions(&etw);
    if (SUCCEEDED(hr) && s->is.kernel)
        hr = add_kernel(etw, s);
    if (SUCCEEDED(hr))
        hr = ask_guids(etw, TraceGuidQueryList, NULL, &guids, &bytes);
    for (size_t i = 0; SUCCEEDED(hr) && i + sizeof(GUID) <= bytes; i += sizeof(GUID)) {
        struct trace_enable e = {.name = NULL};
        uint8_t *info;
        ULONG size;
        memcpy(&e.guid, guids + i, sizeof e.guid);
        hr = ask_guids(etw, TraceGuidQueryInfo, &e.guid, &info, &size);
        if (hr == S_OK && find_enable(info, size, s->number, &e))
            hr = trace_plan_add(&s->is, &e);
        memory_free(info);
    }
    memory_free(guids);
    return FAILED(hr) ? hr : S_OK;
}

/* ---- start ---- */

/* Fills in the properties of a new session. For a private session, MS-PLA 3.2.4.9 appends the process id to each file
   name, while ETW omits the process id from the first file name. */
static HRESULT fill_block(const struct etw_api *etw, const struct trace_plan *plan, struct block *b)
{
    if (etw == &openetw_api && (plan->mode & TRACE_MODE_PRIVATE_LOGGER))
        b->p.Wnode.Flags |= CONTROLLER_NUMBERED;
    b->p.Wnode.Guid = plan->guid;
    b->p.Wnode.ClientContext = plan->clock;
    b->p.LogFileMode = plan->mode;
    b->p.BufferSize = plan->buffer_kb;
    b->p.MinimumBuffers = plan->minimum_buffers;
    b->p.MaximumBuffers = plan->maximum_buffers;
    b->p.MaximumFileSize = plan->maximum_file;
    b->p.FlushTimer = plan->flush_timer;
    b->p.EnableFlags = group_masks_flags(plan->masks);
    if (plan->file)
        return put_file(b, plan->file);
    return S_OK;
}

/* Sets the flags of the session that StartTrace cannot set. */
static HRESULT set_masks(const struct etw_api *etw, uint64_t handle, const struct trace_plan *plan)
{
    uint32_t masks[GROUP_MASKS];
    if (!plan->kernel || !group_masks_beyond_flags(plan->masks))
        return S_OK;
    memcpy(masks, plan->masks, sizeof masks);
    error_clear();
    const ULONG code = etw->TraceSetInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, sizeof masks);
    return code == ERROR_SUCCESS ? S_OK : failed(code, plan->session);
}

static HRESULT session_control(const struct etw_api *etw, const struct trace_target *t, struct block *b, ULONG code)
{
    WCHAR *name;
    HRESULT hr = text_to_utf16(t->name, &name, NULL);
    if (FAILED(hr))
        return hr;
    if (t->is_private)
        b->p.LogFileMode |= TRACE_MODE_PRIVATE_LOGGER;
    error_clear();
    const ULONG result = etw->ControlTraceW(t->handle, t->handle ? NULL : name, &b->p, code);
    memory_free(name);
    /* ERROR_MORE_DATA: a name was too long for the block and was cut off; otherwise the call has succeeded. */
    return result == ERROR_SUCCESS || result == ERROR_MORE_DATA ? S_OK : failed(result, t->name);
}

static HRESULT stop(const struct etw_api *etw, const struct trace_target *t, struct block *b)
{
    block_clear(b);
    return session_control(etw, t, b, EVENT_TRACE_CONTROL_STOP);
}

static HRESULT start_trace(const struct etw_api *etw, const struct trace_plan *plan, struct block *b,
                           TRACEHANDLE *handle)
{
    WCHAR *name;
    HRESULT hr = text_to_utf16(plan->session, &name, NULL);
    if (SUCCEEDED(hr))
        hr = fill_block(etw, plan, b);
    if (SUCCEEDED(hr)) {
        if (!plan->file)
            b->p.LogFileNameOffset = 0;
        error_clear();
        const ULONG code = etw->StartTraceW(handle, name, &b->p);
        TRACE_STEP(collect, "StartTrace %s: %lu", plan->session, (unsigned long)code);
        if (code != ERROR_SUCCESS)
            hr = failed(code, plan->session);
    }
    memory_free(name);
    return hr;
}

HRESULT trace_session_start(const struct trace_plan *plan, struct trace_session *out)
{
    const struct etw_api *etw;
    struct block *b = NULL;
    TRACEHANDLE handle = 0;
    const bool is_private = (plan->mode & TRACE_MODE_PRIVATE_LOGGER) != 0;
    const bool existed = plan->file && (is_private ? trace_file_private_exists(plan->file) : file_exists(plan->file));
    *out = (struct trace_session){.number = 0};
    HRESULT hr = etw_functions(&etw);
    if (SUCCEEDED(hr))
        hr = block_create(&b);
    if (SUCCEEDED(hr))
        hr = start_trace(etw, plan, b, &handle);
    if (FAILED(hr)) {
        memory_free(b);
        return hr;
    }
    const struct trace_target t = {.name = plan->session, .handle = handle, .is_private = is_private};
    const uint64_t until = clock_monotonic_ms() + PROVIDERS_MS;
    hr = read_block(b, out);
    if (SUCCEEDED(hr))
        hr = set_masks(etw, handle, plan);
    for (size_t i = 0; SUCCEEDED(hr) && i < plan->count; i++)
        hr = enable(etw, handle, plan->session, &plan->enables[i], until);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        (void)stop(etw, &t, b);
        if (plan->file && !existed)
            (void)file_delete(plan->file);
        if (plan->file && !existed && is_private)
            trace_file_delete_parts(NULL, plan->file);
        trace_session_free(out);
        error_restore(&why);
    }
    memory_free(b);
    return hr;
}

/* ---- running sessions ---- */

static HRESULT control_and_read(const struct trace_target *t, ULONG code, struct trace_session *out)
{
    const struct etw_api *etw;
    struct block *b = NULL;
    *out = (struct trace_session){.number = 0};
    HRESULT hr = etw_functions(&etw);
    if (SUCCEEDED(hr))
        hr = block_create(&b);
    if (SUCCEEDED(hr))
        hr = session_control(etw, t, b, code);
    if (SUCCEEDED(hr))
        hr = read_block(b, out);
    memory_free(b);
    return hr;
}

HRESULT trace_session_query(const struct trace_target *t, struct trace_session *out)
{
    return control_and_read(t, EVENT_TRACE_CONTROL_QUERY, out);
}

HRESULT trace_session_stop(const struct trace_target *t, struct trace_session *out)
{
    return control_and_read(t, EVENT_TRACE_CONTROL_STOP, out);
}

HRESULT trace_session_flush(const struct trace_target *t, const char *file)
{
    const struct etw_api *etw;
    struct block *b = NULL;
    HRESULT hr = etw_functions(&etw);
    if (SUCCEEDED(hr))
        hr = block_create(&b);
    if (SUCCEEDED(hr) && file)
        hr = put_file(b, file);
    if (SUCCEEDED(hr))
        hr = session_control(etw, t, b, EVENT_TRACE_CONTROL_FLUSH);
    memory_free(b);
    return hr;
}

/* ---- changes ---- */

static const struct trace_enable *find_provider(const struct trace_plan *plan, const GUID *guid)
{
    for (size_t i = 0; i < plan->count; i++)
        if (guid_equal(&plan->enables[i].guid, guid))
            return &plan->enables[i];
    return NULL;
}

/* Changes the session's event providers from the event providers of `from` to the event providers of `to`. *done:
   number of completed steps, at most to->count + from->count. */
static HRESULT change_providers(const struct etw_api *etw, const struct trace_session *s, const struct trace_plan *from,
                                const struct trace_plan *to, size_t steps, size_t *done)
{
    const uint64_t until = clock_monotonic_ms() + PROVIDERS_MS;
    HRESULT hr = S_OK;
    for (*done = 0; SUCCEEDED(hr) && *done < steps;) {
        const size_t i = *done;
        const bool gone = i >= to->count;
        const struct trace_enable *e = gone ? &from->enables[i - to->count] : &to->enables[i];
        const struct trace_enable *other = find_provider(gone ? to : from, &e->guid);
        if (gone && !other)
            hr = disable(etw, s->handle, s->is.session, e, until);
        else if (!gone && (!other || !trace_enable_same(e, other)))
            hr = enable(etw, s->handle, s->is.session, e, until);
        if (SUCCEEDED(hr))
            ++*done;
    }
    return hr;
}

/* Undoes the completed steps in reverse order. */
static void change_back(const struct etw_api *etw, const struct trace_session *s, const struct trace_plan *from,
                        const struct trace_plan *to, size_t done)
{
    for (size_t i = done; i-- > 0;) {
        const bool gone = i >= to->count;
        const struct trace_enable *e = gone ? &from->enables[i - to->count] : &to->enables[i];
        const struct trace_enable *other = find_provider(gone ? to : from, &e->guid);
        if (gone && !other)
            (void)enable(etw, s->handle, s->is.session, e, 0);
        else if (!gone && other && !trace_enable_same(e, other))
            (void)enable(etw, s->handle, s->is.session, other, 0);
        else if (!gone && !other)
            (void)disable(etw, s->handle, s->is.session, e, 0);
    }
}

static HRESULT change_session(const struct etw_api *etw, const struct trace_target *t, const struct trace_plan *from,
                              const struct trace_plan *to)
{
    struct block *b;
    const bool same_masks = !memcmp(from->masks, to->masks, sizeof to->masks);
    if (trace_plan_same_file(from, to) && from->flush_timer == to->flush_timer && same_masks &&
        from->maximum_buffers == to->maximum_buffers && !((from->mode ^ to->mode) & TRACE_MODE_REAL_TIME))
        return S_OK;
    HRESULT hr = block_create(&b);
    if (FAILED(hr))
        return hr;
    b->p.LogFileMode = to->mode & TRACE_MODE_REAL_TIME;
    b->p.FlushTimer = to->flush_timer;
    b->p.MaximumBuffers = to->maximum_buffers;
    b->p.EnableFlags = group_masks_flags(to->masks); /* all flags that the session has after the update */
    if (trace_plan_same_file(from, to))
        b->p.LogFileNameOffset = 0;
    else
        hr = put_file(b, to->file);
    if (SUCCEEDED(hr))
        hr = session_control(etw, t, b, EVENT_TRACE_CONTROL_UPDATE);
    if (SUCCEEDED(hr))
        hr = set_masks(etw, t->handle, to);
    memory_free(b);
    return hr;
}

HRESULT trace_session_update(const struct trace_target *t, const struct trace_plan *from, const struct trace_plan *to,
                             struct trace_session *out)
{
    const struct etw_api *etw;
    struct trace_session now;
    size_t done = 0;
    *out = (struct trace_session){.number = 0};
    if (!trace_plan_can_become(from, to))
        return S_FALSE;
    HRESULT hr = etw_functions(&etw);
    if (SUCCEEDED(hr))
        hr = trace_session_query(t, &now);
    if (FAILED(hr))
        return hr;
    const struct trace_target this_one = {.name = now.is.session, .handle = now.handle, .is_private = t->is_private};
    hr = change_providers(etw, &now, from, to, from->count + to->count, &done);
    if (SUCCEEDED(hr))
        hr = change_session(etw, &this_one, from, to);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        change_back(etw, &now, from, to, done);
        error_restore(&why);
    } else {
        hr = trace_session_query(&this_one, out);
    }
    trace_session_free(&now);
    return hr;
}

/* ---- listing sessions ---- */

void trace_sessions_free(struct trace_session *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        trace_session_free(&list[i]);
    memory_free(list);
}

static HRESULT query_all(const struct etw_api *etw, ULONG room, struct block **blocks, ULONG *count)
{
    EVENT_TRACE_PROPERTIES **list = memory_zero(room, sizeof *list);
    *blocks = memory_alloc((size_t)room * sizeof **blocks);
    ULONG code = ERROR_NOT_ENOUGH_MEMORY;
    *count = 0;
    if (list && *blocks) {
        for (ULONG i = 0; i < room; i++) {
            block_clear(&(*blocks)[i]);
            list[i] = &(*blocks)[i].p;
        }
        error_clear();
        code = etw->QueryAllTracesW(list, room, count);
    }
    memory_free(list);
    if (code == ERROR_SUCCESS)
        return S_OK;
    memory_free(*blocks);
    *blocks = NULL;
    return code == ERROR_MORE_DATA           ? S_FALSE
           : code == ERROR_NOT_ENOUGH_MEMORY ? E_OUTOFMEMORY
                                             : error_prefix(HRESULT_FROM_WIN32(code), "trace sessions");
}

HRESULT trace_sessions_list(struct trace_session **list, size_t *count)
{
    const struct etw_api *etw;
    struct block *blocks = NULL;
    ULONG room = SESSIONS, found = 0;
    *list = NULL;
    *count = 0;
    HRESULT hr = etw_functions(&etw);
    if (SUCCEEDED(hr))
        hr = query_all(etw, room, &blocks, &found);
    for (int i = 0; hr == S_FALSE && i < LIST_ATTEMPTS; i++) {
        room = found > room ? found : room;
        hr = query_all(etw, room, &blocks, &found);
    }
    if (hr == S_FALSE)
        hr =
            error_set(HRESULT_FROM_WIN32(ERROR_MORE_DATA), "the list of trace sessions keeps growing while it is read");
    if (FAILED(hr))
        return hr;
    *list = memory_zero(found + 1, sizeof **list);
    if (!*list)
        hr = E_OUTOFMEMORY;
    for (; SUCCEEDED(hr) && *count < found; ++*count) {
        hr = read_block(&blocks[*count], &(*list)[*count]);
        if (FAILED(hr))
            break;
    }
    memory_free(blocks);
    if (FAILED(hr)) {
        trace_sessions_free(*list, *count);
        *list = NULL;
        *count = 0;
    }
    return hr;
}

/* ---- files ---- */

/* Checks that the file may be overwritten because it is a trace or empty. */
static HRESULT check_is_trace(const char *path, struct file *file)
{
    struct etl_reader *reader;
    uint64_t size = 0;
    HRESULT hr = file_size(file, &size);
    if (FAILED(hr) || !size)
        return hr;
    hr = etl_reader_open(path, NULL, NULL, &reader);
    if (SUCCEEDED(hr)) {
        etl_reader_close(reader);
        return S_OK;
    }
    return hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA)
               ? error_set(hr, "'%s' already exists and is not a trace (not overwritten)", path)
               : hr;
}

static HRESULT check_there(const char *base, const char *path, bool over)
{
    struct file *file = NULL;
    if (!over)
        return collector_file_exists(path);
    HRESULT hr = file_open_below(base, path, FILE_READ, &file);
    if (SUCCEEDED(hr))
        hr = check_is_trace(path, file);
    file_close(file);
    return hr;
}

HRESULT trace_file_check(const char *base, const char *path, bool over)
{
    const struct log_options options = {.base = base};
    struct file *file = NULL;
    bool fresh;
    HRESULT hr = log_file_begin(path, &options, false, &file, &fresh);
    file_close(file);
    if (SUCCEEDED(hr))
        return log_file_delete(path, &options);
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) ? check_there(base, path, over) : hr;
}

/* ---- files of private sessions ---- */

struct search {
    const char *folder, *name;
    HRESULT (*each)(void *user, const char *file);
    void *user;
};

static HRESULT compare_file(void *user, const struct file_entry *file)
{
    const struct search *s = user;
    const size_t length = strlen(s->name);
    if (strnlen(file->name, length + 1) <= length || file->name[length] != '_')
        return S_OK;
    const char *id = file->name + length + 1;
    if (!*id || id[strspn(id, "0123456789_")])
        return S_OK;
    char *head = text_copy_n(file->name, length), *path = path_join(s->folder, file->name);
    HRESULT hr = head && path ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && text_equal_nocase(head, s->name))
        hr = s->each(s->user, path);
    memory_free(head);
    memory_free(path);
    return hr;
}

HRESULT trace_file_each_part(const char *path, HRESULT (*each)(void *user, const char *file), void *user)
{
    char *folder = path_folder(path);
    struct search s = {.folder = folder, .name = path_name(path), .each = each, .user = user};
    HRESULT hr = folder ? folder_each_file(folder, compare_file, &s) : E_OUTOFMEMORY;
    memory_free(folder);
    return hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND) ? S_OK : hr;
}

struct check {
    const char *base;
    bool over;
};

static HRESULT check_part(void *user, const char *file)
{
    const struct check *c = user;
    return check_there(c->base, file, c->over);
}

HRESULT trace_file_check_private(const char *base, const char *path, bool over)
{
    struct check c = {base, over};
    HRESULT hr = trace_file_check(base, path, over);
    return SUCCEEDED(hr) ? trace_file_each_part(path, check_part, &c) : hr;
}

static HRESULT found(void *user, const char *file)
{
    (void)user;
    (void)file;
    return HRESULT_FROM_WIN32(ERROR_FILE_EXISTS);
}

bool trace_file_private_exists(const char *path)
{
    return file_exists(path) || FAILED(trace_file_each_part(path, found, NULL));
}

static HRESULT delete_part(void *user, const char *file)
{
    const char *base = user;
    (void)(base ? file_delete_below(base, file) : file_delete(file));
    return S_OK;
}

void trace_file_delete_parts(const char *base, const char *path)
{
    (void)trace_file_each_part(path, delete_part, (void *)base);
}
