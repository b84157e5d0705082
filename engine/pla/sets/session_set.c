/* SPDX-License-Identifier: MIT */
/* Live sessions as sets. MS-PLA 3.2.1, TraceSession. */
#include "engine/pla/sets/session_set.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/etw_types.h"
#include "engine/pla/collect/trace_session.h"
#include "engine/pla/gate.h"
#include "engine/pla/run/segment.h"
#include "engine/pla/sets/trace_set.h"

#include <string.h>

static HRESULT not_there(HRESULT hr, const char *name)
{
    return error_set(hr, "\"Session\\%.300s\": there is no such trace session", name);
}

/* One that ETW has and says nothing of, as its host has ended and its log cannot be rescued, hides no other, and can be
   stopped: it is as a definition that cannot be read. */
static HRESULT damaged(HRESULT hr, const char *name)
{
    if (hr == E_OUTOFMEMORY || hr == E_ACCESSDENIED)
        return hr;
    struct error_kept why = error_keep(hr);
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "\"Session\\%.300s\": %s", name, why.text);
}

static HRESULT to_xml(const struct trace_session *s, char **xml, size_t *size)
{
    struct object *set;
    HRESULT hr = set_create(&set);
    if (FAILED(hr))
        return hr;
    set_of(set)->category = "Session"; /* for the elements that it has */
    hr = trace_fill(set, &s->is, false, s);
    if (SUCCEEDED(hr))
        hr = trace_set_take_security(set, &s->is);
    if (SUCCEEDED(hr))
        hr = set_to_stored_xml(set, xml, size);
    object_release(set);
    return hr;
}

HRESULT session_set_load(const char *name, char **xml, size_t *size)
{
    struct trace_session s;
    *xml = NULL;
    HRESULT hr = trace_set_find(name, &s);
    if (hr == S_FALSE)
        return not_there(PLA_E_DCS_NOT_FOUND, name);
    if (FAILED(hr))
        return damaged(hr, name);
    hr = trace_session_providers(&s);
    if (SUCCEEDED(hr))
        hr = to_xml(&s, xml, size);
    trace_session_free(&s);
    return hr;
}

HRESULT session_set_list(struct texts *out)
{
    struct trace_session *list;
    size_t count;
    *out = (struct texts){0};
    HRESULT hr = trace_sessions_list(&list, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = texts_add(out, list[i].is.session);
    trace_sessions_free(list, count);
    if (FAILED(hr))
        texts_free(out);
    return hr;
}

HRESULT session_set_read_live(const char *name, struct set_live *out)
{
    struct trace_session s;
    HRESULT hr = trace_set_find(name, &s);
    out->serial_number = 1;
    if (hr != S_OK)
        return SUCCEEDED(hr) ? S_OK : hr;
    out->status = 1; /* plaRunning */
    if (s.is.file) {
        out->latest_location = path_folder(s.is.file);
        hr = out->latest_location ? texts_add(&out->latest_files, s.is.file) : E_OUTOFMEMORY;
    }
    trace_session_free(&s);
    if (FAILED(hr))
        set_live_free(out);
    return hr;
}

/* Of what is about to begin: the set may be another one since it was asked for. */
static HRESULT may_start(const struct caller *caller, const char *name, const struct trace_plan *plan)
{
    char *security;
    HRESULT hr = trace_plan_security(plan, &security);
    if (SUCCEEDED(hr))
        hr = gate_ask(caller, GATE_START,
                      &(struct gate_set){.space = "Session", .name = name, .security = security, .session = true});
    memory_free(security);
    return hr;
}

HRESULT session_set_start(struct object *set, const struct caller *caller, const char *name)
{
    struct trace_session s;
    struct trace_plan plan;
    HRESULT hr = trace_set_plan(set, name, &plan);
    if (FAILED(hr))
        return hr;
    hr = may_start(caller, name, &plan);
    if (SUCCEEDED(hr) && plan.file)
        hr = output_check_root(set_of(set));
    if (SUCCEEDED(hr))
        hr = trace_session_start(&plan, &s);
    trace_plan_free(&plan);
    if (hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS)) {
        struct error_kept why = error_keep(hr);
        if (trace_set_find(name, &s) == S_OK) {
            trace_session_free(&s);
            return error_set(PLA_E_DCS_IN_USE, "Start: the trace session '%s' is running", name);
        }
        return error_restore(&why); /* the Guid's */
    }
    if (FAILED(hr))
        return hr;
    /* MS-PLA 3.2.4.9, note 26: the one figure that a start tells. */
    struct object *collector;
    if (SUCCEEDED(trace_set_collector(set, &collector))) {
        object_lock(collector);
        ((struct trace_data_collector *)collector)->SessionId = s.number;
        object_unlock(collector);
    }
    object_release(collector);
    trace_session_free(&s);
    return S_OK;
}

HRESULT session_set_stop(const char *name)
{
    struct trace_session ended;
    HRESULT hr = trace_session_stop(&(struct trace_target){.name = name}, &ended);
    if (hr == HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND))
        hr = trace_session_stop(&(struct trace_target){.name = name, .is_private = true}, &ended);
    if (hr == HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND))
        return not_there(PLA_E_DCS_NOT_RUNNING, name);
    trace_session_free(&ended);
    return hr;
}
