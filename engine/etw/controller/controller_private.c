/* SPDX-License-Identifier: MIT */
/* ControlTrace of private sessions. Such a session has a part in each of its processes. ControlTrace sends each request
   to all parts, and adds up their statistics. */
#include "engine/base/memory.h"
#include "engine/etw/controller/controller.h"
#include "engine/etw/provider/private_session.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_start.h"
#include "engine/etw/trace_properties.h"

#include <string.h>

/* ---- the filters that select the session's processes ---- */

/* Filters are stored in this order, so that equal filters have equal bytes. */
static const uint32_t scope_types[DIRECTORY_SCOPES] = {EVENT_FILTER_TYPE_PID, EVENT_FILTER_TYPE_EXECUTABLE_NAME,
                                                       EVENT_FILTER_TYPE_PACKAGE_ID, EVENT_FILTER_TYPE_PACKAGE_APP_ID};

static bool is_scope_type(uint32_t type)
{
    for (size_t i = 0; i < DIRECTORY_SCOPES; i++)
        if (scope_types[i] == type)
            return true;
    return false;
}

static void put_filters(const struct directory_enable *from, struct directory_scope *out)
{
    uint8_t *at = out->data;
    memset(out, 0, sizeof *out);
    for (size_t t = 0; t < DIRECTORY_SCOPES; t++) {
        for (uint32_t i = 0; i < from->filter_count; i++) {
            const struct directory_filter *f = &from->filter[i];
            const bool kept = f->type == EVENT_FILTER_TYPE_PID || f->type == EVENT_FILTER_TYPE_EXECUTABLE_NAME;
            if (f->type != scope_types[t])
                continue;
            out->filter[out->count].type = f->type;
            out->filter[out->count++].size = kept ? f->size : 0;
            if (kept) {
                memcpy(at, f->data, f->size);
                at += (f->size + 7) / 8 * 8;
            }
        }
    }
}

ULONG controller_scope(const EVENT_TRACE_PROPERTIES *p, struct directory_scope *out)
{
    const EVENT_TRACE_PROPERTIES_V2 *v2 = (const void *)p;
    struct directory_enable filters = {.filter_count = 0};
    ULONG code = ERROR_SUCCESS;
    memset(out, 0, sizeof *out);
    if ((p->Wnode.Flags & CONTROLLER_VERSIONED) == 0 || v2->FilterDescCount == 0)
        return ERROR_SUCCESS;
    if (v2->FilterDescCount > MAX_EVENT_FILTERS_COUNT || !v2->FilterDesc)
        return controller_refuse(ERROR_INVALID_PARAMETER,
                                 "invalid FilterDescCount %u: too large, or FilterDesc is NULL",
                                 (unsigned)v2->FilterDescCount);
    for (ULONG i = 0; i < v2->FilterDescCount && code == ERROR_SUCCESS; i++) {
        const EVENT_FILTER_DESCRIPTOR *f = &v2->FilterDesc[i];
        code = is_scope_type(f->Type)
                   ? controller_add_filter(&filters, f, "FilterDesc")
                   : controller_refuse(ERROR_INVALID_PARAMETER, "invalid FilterDesc.Type 0x%08X: not a process filter",
                                       (unsigned)f->Type);
    }
    if (code == ERROR_SUCCESS)
        put_filters(&filters, out);
    memory_free(filters.filter_data);
    return code;
}

/* Clears the start times, so that filters with the same process ids are equal. */
static void clear_start_times(struct directory_scope *s)
{
    struct directory_filter_process p;
    for (uint32_t i = 0;
         s->count != 0 && s->filter[0].type == EVENT_FILTER_TYPE_PID && i < s->filter[0].size / sizeof p; i++) {
        memcpy(&p, s->data + i * sizeof p, sizeof p);
        p.start_time = 0;
        memcpy(s->data + i * sizeof p, &p, sizeof p);
    }
}

/* Checks the filters of a call. Filters are optional; if the call has any, they must equal those of the session. */
static ULONG check_scope(const struct controller_call *c, const struct directory_session *s)
{
    struct directory_scope scope, own = s->scope;
    const ULONG code = controller_scope(c->properties, &scope);
    clear_start_times(&scope);
    clear_start_times(&own);
    if (code == ERROR_SUCCESS && scope.count != 0 && memcmp(&scope, &own, sizeof scope) != 0)
        return controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND,
                                 "invalid FilterDesc: session '%.200s' has different filters", s->name);
    return code;
}

/* ---- the session's totals ---- */

struct parts {
    struct directory_session *list;
    size_t count;
    struct controller_view *views;
    struct directory_totals ended;
};

static void close_parts(struct parts *p)
{
    for (size_t i = 0; p->views && i < p->count; i++)
        controller_view_close(&p->views[i]);
    memory_free(p->views);
    directory_sessions_free(p->list, p->count);
    *p = (struct parts){.list = NULL};
}

/* Opens a view of each running or stopping part. S_FALSE: a part ended before its view could be opened. */
static HRESULT open_once(struct directory *d, const struct directory_session *s, struct parts *out)
{
    HRESULT hr = private_parts(d, s, &out->ended, &out->list, &out->count);
    if (FAILED(hr))
        return hr;
    out->views = memory_zero(out->count, sizeof *out->views);
    if (!out->views)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < out->count; i++) {
        const struct directory_session *part = &out->list[i];
        if (part->state != DIRECTORY_RUNNING && part->state != DIRECTORY_STOPPING)
            continue;
        controller_view_open(part, &out->views[i]);
        if (!out->views[i].section)
            hr = S_FALSE;
    }
    return hr;
}

static ULONG open_parts(struct directory *d, const struct directory_session *s, struct parts *out)
{
    enum { TRIES = 10 };
    *out = (struct parts){.list = NULL};
    HRESULT hr = S_FALSE;
    for (int i = 0; i < TRIES && hr == S_FALSE; i++) {
        close_parts(out);
        hr = open_once(d, s, out);
    }
    if (FAILED(hr))
        close_parts(out);
    return session_code(hr);
}

/* Adds up the totals of all parts. For a part that has ended in the meantime, uses its final totals. */
static struct controller_totals totals_of(const struct parts *p)
{
    struct controller_totals f = {
        .all = {.events_lost = p->ended.events_lost,
                .buffers_written = p->ended.buffers_written,
                .buffers_lost = p->ended.buffers_lost},
    };
    for (size_t i = 0; i < p->count; i++) {
        controller_totals_add(&p->views[i], &f);
        if (f.thread == 0 || p->list[i].host.id == process_own_id())
            f.thread = p->list[i].thread;
    }
    return f;
}

/* ---- requests to the parts ---- */

/* Sends the request to the host process of a part. It is not an error if the part has ended. */
static ULONG ask_part(struct directory *d, const struct controller_call *c, const struct directory_request *r,
                      const struct directory_session *part)
{
    struct directory_request own = *r;
    own.file = private_part_file(part, r->file);
    if (r->file && !own.file)
        return controller_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for the log file name");
    const ULONG code = controller_ask(d, c, &own, part);
    memory_free(own.file);
    if (code == ERROR_SUCCESS && c->code == EVENT_TRACE_CONTROL_STOP)
        (void)session_remove(d, part); /* the part's host thread waits for this */
    return code == ERROR_WMI_INSTANCE_NOT_FOUND ? ERROR_SUCCESS : code;
}

/* Sends the request to all parts. Returns the first failure. */
static ULONG ask_all(struct directory *d, const struct controller_call *c, const struct directory_request *r,
                     const struct parts *p)
{
    ULONG first = ERROR_SUCCESS;
    for (size_t i = 0; i < p->count; i++) {
        const ULONG code = p->list[i].state != DIRECTORY_OVER ? ask_part(d, c, r, &p->list[i]) : ERROR_SUCCESS;
        if (first == ERROR_SUCCESS)
            first = code;
    }
    return first;
}

/* Converts an HRESULT to a Windows error code. S_FALSE means that the session no longer exists. */
static ULONG found_code(HRESULT hr)
{
    return hr == S_FALSE ? ERROR_WMI_INSTANCE_NOT_FOUND : session_code(hr);
}

static ULONG private_change(struct directory *d, const struct directory_session *s)
{
    HRESULT hr = directory_begin(d);
    if (FAILED(hr))
        return session_code(hr);
    hr = directory_session_set(d, s);
    (void)directory_end(d, NULL, 0);
    return hr == HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION) ? ERROR_BAD_PATHNAME : found_code(hr);
}

/* Updates the parts that differ from *r. First updates the part whose log has exactly the given name; the names of the
   other logs are derived from this name. If this part cannot use its file, the other parts cannot use their files
   either, and no part is changed. */
static ULONG update_parts(struct directory *d, const struct controller_call *c, const struct directory_request *r,
                          const struct directory_session *s, bool *named)
{
    struct directory_session *list;
    size_t count;
    const HRESULT hr = private_parts(d, s, NULL, &list, &count);
    ULONG code = session_code(hr);
    *named = false;
    for (int others = 0; others < 2; others++) {
        for (size_t i = 0; i < count && code == ERROR_SUCCESS; i++) {
            struct directory_session *part = &list[i];
            if (part->named == (others != 0) || part->state == DIRECTORY_OVER)
                continue;
            char *file = private_part_file(part, r->file);
            const bool same = (!file || (part->file && strcmp(file, part->file) == 0)) &&
                              (r->flush_timer == 0 || part->flush_timer == r->flush_timer);
            memory_free(file);
            *named = *named || part->named;
            if (!same)
                code = ask_part(d, c, r, part);
        }
    }
    directory_sessions_free(list, count);
    return code;
}

/* Changes the session's entry, from which new parts take their settings. `now` is the current entry. */
static ULONG update_whole(struct directory *d, const struct directory_request *r, const struct directory_session *now,
                          bool named)
{
    struct directory_session next = *now;
    char *file = r->file ? text_copy(r->file) : NULL;
    if (r->file && !file)
        return controller_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for the log file name");
    if (file) {
        next.file = file;
        next.named = named;
    }
    if (r->flush_timer != 0) {
        next.flush_timer = r->flush_timer;
        next.flush_ms = trace_flush_ms(next.mode, r->flush_timer);
    }
    const ULONG code = private_change(d, &next);
    memory_free(file);
    return code;
}

/* If the update of a part fails, the parts that were already updated stay updated. A second call updates the remaining
   parts. */
static ULONG private_update(struct directory *d, const struct controller_call *c, struct directory_request *r,
                            struct directory_session *s)
{
    struct directory_session now;
    bool named;
    /* Only the file and the flush timer can change. */
    r->mode = r->maximum_buffers = r->flags_given = 0;
    ULONG code = update_parts(d, c, r, s, &named);
    if (code == ERROR_SUCCESS)
        code = found_code(directory_session_at(d, s->logger, s->generation, &now));
    if (code != ERROR_SUCCESS)
        return code;
    code = update_whole(d, r, &now, named);
    if (code == ERROR_SUCCESS) {
        code = update_parts(d, c, r, s, &named); /* also update the parts that have started in the meantime */
        if (code != ERROR_SUCCESS) {
            const struct error_kept why = error_keep(HRESULT_FROM_WIN32((LONG)code));
            /* Restores the entry. Otherwise a repeated call would be refused, because the session would already have
               that file. */
            (void)private_change(d, &now);
            (void)error_restore(&why);
        }
    }
    directory_session_free(&now);
    return code;
}

/* Marks the session as stopping, so that no further parts start. */
static ULONG private_publish_stopping(struct directory *d, struct directory_session *s)
{
    struct directory_session now;
    ULONG code = found_code(directory_session_at(d, s->logger, s->generation, &now));
    if (code != ERROR_SUCCESS)
        return code;
    now.state = DIRECTORY_STOPPING;
    code = private_change(d, &now);
    directory_session_free(&now);
    return code;
}

static ULONG private_control(struct directory *d, const struct controller_call *c, struct directory_session *s,
                             const struct parts *parts)
{
    struct directory_request r;
    ULONG code = controller_request(c, s, &r);
    if (code == ERROR_SUCCESS && c->code == EVENT_TRACE_CONTROL_UPDATE && (s->mode & TRACE_MODE_BUFFERING) == 0)
        code = private_update(d, c, &r, s);
    else if (code == ERROR_SUCCESS)
        code = ask_all(d, c, &r, parts);
    directory_request_free(&r);
    if (code == ERROR_SUCCESS && c->code == EVENT_TRACE_CONTROL_STOP)
        code = session_code(session_remove(d, s)); /* S_FALSE: another call removed it */
    return code;
}

static ULONG check_code(const struct controller_call *c, const struct directory_session *s)
{
    const EVENT_TRACE_PROPERTIES *p = c->properties;
    if (c->code == EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME ||
        (c->code == EVENT_TRACE_CONTROL_INCREMENT_FILE && (s->mode & TRACE_MODE_NEWFILE) == 0))
        return controller_refuse(ERROR_INVALID_PARAMETER,
                                 "invalid ControlCode %u: not supported by private session '%.200s'", (unsigned)c->code,
                                 s->name);
    if (c->code == EVENT_TRACE_CONTROL_FLUSH && (s->mode & TRACE_MODE_BUFFERING) != 0 && p->LogFileNameOffset == 0)
        return controller_refuse(ERROR_INVALID_PARAMETER,
                                 "invalid LogFileNameOffset: a private session in memory cannot be written to a file");
    return ERROR_SUCCESS;
}

ULONG controller_private(struct directory *d, const struct controller_call *c, struct directory_session *s)
{
    struct directory_session now;
    struct parts parts;
    ULONG code = check_scope(c, s);
    if (code == ERROR_SUCCESS)
        code = check_code(c, s);
    if (code == ERROR_SUCCESS && c->code == EVENT_TRACE_CONTROL_STOP)
        code = private_publish_stopping(d, s);
    if (code == ERROR_SUCCESS)
        code = open_parts(d, s, &parts);
    if (code != ERROR_SUCCESS)
        return code;
    if (c->code != EVENT_TRACE_CONTROL_QUERY)
        code = private_control(d, c, s, &parts);
    if (code == ERROR_SUCCESS && directory_session_at(d, s->logger, s->generation, &now) == S_OK) {
        directory_session_free(s);
        *s = now;
    }
    if (code == ERROR_SUCCESS) {
        const struct controller_totals totals = totals_of(&parts);
        code = controller_answered(c, controller_answer(c->wide, s, &totals, c->properties));
    }
    close_parts(&parts);
    return code;
}
