/* SPDX-License-Identifier: MIT */
/* Sets that consist of one trace session. Contains the code that Session and Autosession share, and presents running
   sessions as sets (MS-PLA 3.2.1, TraceSession). */
#include "engine/pla/sets/trace_set.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/etw_api.h"
#include "engine/etw/etw_types.h"
#include "engine/pla/collect/trace_session.h"
#include "engine/pla/model/name_pattern.h"
#include "engine/pla/model/validate.h"
#include "engine/pla/run/segment.h"
#include "engine/pla/store.h"

#include <string.h>

#define NO_SUCH_SESSION HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND)

HRESULT trace_set_collector(struct object *set, struct object **out)
{
    *out = NULL;
    if (FAILED(collection_item(set_of(set)->DataCollectors, 0, out)) || (*out)->class != &trace_data_collector_class) {
        object_release(*out);
        *out = NULL;
        return error_set(PLA_E_DCS_SINGLETON_REQUIRED, "DataCollectors: the set has no trace collector");
    }
    return S_OK;
}

static HRESULT file_of(struct object *set, struct object *collector, char **out)
{
    const struct name_context nothing = {.computer = ""};
    struct value name;
    char *file = NULL, *folder = NULL;
    const char *fault;
    *out = NULL;
    HRESULT hr = object_get(collector, &collector->class->properties[ITraceDataCollector_FileName], &name);
    if (FAILED(hr))
        return hr;
    object_lock(set);
    char *root = text_copy(set_root(set_of(set)));
    object_unlock(set);
    if (!root)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = name_decorate_file(name.text, collector->class->extension, 0, "", &nothing, &file);
    if (SUCCEEDED(hr) && (fault = path_names_fault(file)))
        hr = error_set(E_INVALIDARG, "FileName: '%.300s' is not below RootPath: %s", name.text, fault);
    if (SUCCEEDED(hr)) {
        folder = os_expand_environment(root);
        *out = folder ? path_join(folder, file) : NULL;
        hr = *out ? S_OK : E_OUTOFMEMORY;
    }
    memory_free(folder);
    memory_free(file);
    memory_free(root);
    value_free(&name);
    return hr;
}

HRESULT trace_set_file(struct object *set, char **out)
{
    struct object *collector;
    *out = NULL;
    HRESULT hr = trace_set_collector(set, &collector);
    if (SUCCEEDED(hr))
        hr = file_of(set, collector, out);
    object_release(collector);
    return hr;
}

HRESULT trace_set_plan(struct object *set, const char *name, struct trace_plan *out)
{
    struct object *collector;
    char *file = NULL, *session = text_copy(name);
    *out = (struct trace_plan){.session = NULL};
    HRESULT hr = trace_set_collector(set, &collector);
    if (SUCCEEDED(hr) && !session)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && trace_plan_writes_file(collector))
        hr = file_of(set, collector, &file);
    if (SUCCEEDED(hr))
        hr = trace_plan_make(collector, &(struct trace_output){.file = file, .maximum_mb = set_of(set)->SegmentMaxSize},
                             out);
    if (SUCCEEDED(hr) && trace_plan_is_reserved(out) && !text_equal_nocase(name, out->session)) {
        hr = error_set(PLA_E_INVALID_SESSION_NAME,
                       "TraceDataProviders: the events of %s require session '%s', or EVENT_TRACE_SYSTEM_LOGGER_MODE "
                       "(0x2000000) in ExtendedModes; they cannot be in session '%.100s'",
                       out->kernel->name, out->session, name);
        struct error_kept why = error_keep(hr);
        trace_plan_free(out);
        error_restore(&why);
    } else if (SUCCEEDED(hr)) {
        memory_free(out->session);
        out->session = session;
        session = NULL;
    }
    memory_free(session);
    memory_free(file);
    object_release(collector);
    return hr;
}

/* ---- access ---- */

/* Used if the host OS stores no descriptor for kernel sessions. */
#define KERNEL_SECURITY "O:BAG:BAD:(A;;0x120fff;;;SY)(A;;0x120fff;;;BA)"

/* Returns whether the session may be a kernel session, by ETW's criteria. */
static bool may_have_kernel(const struct trace_plan *plan)
{
    bool named = false;
    for (size_t i = 0; i < KERNEL_PROVIDERS && plan->session; i++)
        named = named || text_equal_nocase(plan->session, kernel_providers[i].session);
    return named || plan->kernel || kernel_provider_find(&plan->guid) || plan->mode & TRACE_MODE_SYSTEM_LOGGER;
}

/* Returns the descriptor that is registered for the GUID. *sddl NULL: the GUID is not set, or the host OS stores no
   descriptor. */
static HRESULT security_of(const GUID *guid, char **sddl)
{
    enum { OWNER_GROUP_DACL = 7 };
    static const GUID none;
    *sddl = NULL;
    HRESULT hr = guid_equal(guid, &none) ? S_OK : event_provider_get_security(guid, OWNER_GROUP_DACL, sddl);
    if (hr == E_OUTOFMEMORY)
        return hr;
    error_clear();
    return S_OK;
}

static HRESULT plan_security(const struct trace_plan *plan, char **sddl)
{
    const bool kernel = may_have_kernel(plan);
    HRESULT hr = security_of(kernel ? &trace_kernel_guid : &plan->guid, sddl);
    if (FAILED(hr) || *sddl || !kernel)
        return hr;
    *sddl = text_copy(KERNEL_SECURITY);
    return *sddl ? S_OK : E_OUTOFMEMORY;
}

HRESULT trace_plan_security(const struct trace_plan *plan, char **sddl)
{
    HRESULT hr = plan_security(plan, sddl);
    if (SUCCEEDED(hr) && !*sddl && !(*sddl = text_copy("")))
        hr = E_OUTOFMEMORY;
    return hr;
}

HRESULT trace_set_take_security(struct object *set, const struct trace_plan *session)
{
    char *sddl;
    HRESULT hr = plan_security(session, &sddl);
    if (SUCCEEDED(hr) && sddl)
        hr = object_put_text(set, &set->class->properties[IDataCollectorSet_Security], sddl);
    memory_free(sddl);
    if (hr != E_INVALIDARG)
        return hr;
    error_clear(); /* the registered descriptor grants access to everyone, which a set cannot express */
    return S_OK;
}

/* Copies the fields that determine access to the collector's session, except the session's name. */
static HRESULT copy_access_fields(struct object *collector, struct trace_plan *out)
{
    struct value v;
    *out = (struct trace_plan){.mode = ((struct trace_data_collector *)collector)->ExtendedModes};
    HRESULT hr = object_get(collector, &collector->class->properties[ITraceDataCollector_Guid], &v);
    if (SUCCEEDED(hr)) {
        out->guid = v.guid;
        hr = object_get(collector, &collector->class->properties[ITraceDataCollector_IsKernelTrace], &v);
    }
    if (SUCCEEDED(hr) && v.boolean)
        out->kernel = &kernel_providers[0];
    return hr;
}

HRESULT trace_set_security(struct object *set, char **sddl)
{
    struct object *collector;
    struct trace_plan plan;
    *sddl = NULL;
    HRESULT hr = trace_set_collector(set, &collector);
    if (FAILED(hr))
        return hr;
    hr = copy_access_fields(collector, &plan);
    if (SUCCEEDED(hr))
        hr = trace_plan_security(&plan, sddl);
    object_release(collector);
    return hr;
}

HRESULT trace_set_asks_kernel(struct object *set, bool *asks)
{
    struct object *collector;
    struct trace_plan plan;
    *asks = false;
    HRESULT hr = trace_set_collector(set, &collector);
    if (FAILED(hr)) { /* reported elsewhere */
        error_clear();
        return S_OK;
    }
    hr = copy_access_fields(collector, &plan);
    *asks = SUCCEEDED(hr) && may_have_kernel(&plan);
    object_release(collector);
    return hr;
}

/* ---- validation ---- */

/* Reports a Security that differs from the session's. */
static HRESULT validate_security(struct object *set, struct object *issues)
{
    struct value put = {.kind = PROPERTY_TEXT};
    char *sddl = NULL;
    HRESULT hr = object_get_field(set, &set->class->properties[IDataCollectorSet_Security], &put);
    if (SUCCEEDED(hr) && strcmp(put.text, SET_DEFAULT_SECURITY) != 0) {
        hr = trace_set_security(set, &sddl);
        if (SUCCEEDED(hr) && strcmp(put.text, sddl) != 0)
            hr = issues_add(issues, PLA_S_PROPERTY_IGNORED, "Security",
                            "the session's Guid controls access to the session");
    }
    memory_free(sddl);
    value_free(&put);
    return hr;
}

HRESULT trace_set_validate(struct object *set, const char *name, struct object *issues)
{
    struct object *collector;
    struct value put;
    HRESULT hr = trace_set_collector(set, &collector);
    if (FAILED(hr))
        return hr;
    hr = validate_security(set, issues);
    if (FAILED(hr)) {
        object_release(collector);
        return hr;
    }
    hr = object_get_field(collector, &collector->class->properties[ITraceDataCollector_SessionName], &put);
    if (SUCCEEDED(hr)) {
        const struct property *row = &collector->class->properties[ITraceDataCollector_SessionName];
        if (put.text[0] && object_row_is_chosen(collector, row) && !text_equal_nocase(put.text, name))
            hr = issues_add(issues, PLA_S_PROPERTY_IGNORED, "TraceDataCollector[1]/SessionName",
                            "the session always has the same name as the set");
        value_free(&put);
    }
    object_release(collector);
    return hr;
}

/* ---- running sessions ---- */

HRESULT trace_set_find(const char *name, struct trace_session *out)
{
    HRESULT hr = trace_session_query(&(struct trace_target){.name = name}, out);
    if (hr == NO_SUCH_SESSION)
        hr = trace_session_query(&(struct trace_target){.name = name, .is_private = true}, out);
    if (hr != NO_SUCH_SESSION)
        return hr;
    error_clear();
    *out = (struct trace_session){.number = 0};
    return S_FALSE;
}

/* Returns the property that can be changed only by starting a new session; NULL: none. */
static const char *find_unchangeable_property(const struct trace_plan *is, const struct trace_plan *wanted)
{
    static const GUID none;
    const uint32_t other = is->mode ^ wanted->mode;
    if (!is->file != !wanted->file || other & TRACE_MODE_BUFFERING)
        return "StreamMode";
    if (other & TRACE_PLAN_OF_LogAppend)
        return "LogAppend";
    if (other & TRACE_PLAN_OF_LogCircular)
        return "LogCircular";
    if (!guid_equal(&wanted->guid, &none) && !guid_equal(&wanted->guid, &is->guid) &&
        !(is->mode & TRACE_MODE_PRIVATE_LOGGER))
        return "Guid";
    return other & ~(uint32_t)(TRACE_MODE_REAL_TIME | TRACE_MODE_SEQUENTIAL | TRACE_PLAN_OF_PreallocateFile |
                               TRACE_PLAN_OF_ProcessMode)
               ? "ExtendedModes"
               : NULL;
}

/* Keeps the session's values that ETW cannot change. Also keeps the values that are 0 in the new plan, because 0 means
   unchanged. */
static void keep_the_rest(const struct trace_plan *is, struct trace_plan *wanted)
{
    wanted->guid = is->guid;
    wanted->clock = is->clock;
    wanted->buffer_kb = is->buffer_kb;
    wanted->minimum_buffers = is->minimum_buffers;
    wanted->maximum_file = is->maximum_file;
    wanted->mode = (is->mode & ~(uint32_t)TRACE_MODE_REAL_TIME) | (wanted->mode & TRACE_MODE_REAL_TIME);
    if (!wanted->maximum_buffers)
        wanted->maximum_buffers = is->maximum_buffers;
    if (!wanted->flush_timer)
        wanted->flush_timer = is->flush_timer;
}

static HRESULT keep_file(const struct trace_plan *is, struct trace_plan *wanted)
{
    char *file = is->file ? text_copy(is->file) : NULL;
    if (is->file && !file)
        return E_OUTOFMEMORY;
    memory_free(wanted->file);
    wanted->file = file;
    return S_OK;
}

/* Returns whether both names mean the same file. The set's name may have an additional ".etl" at the end. */
static bool is_same_file(const char *is, const char *wanted)
{
    const size_t length = strlen(is);
    return !strncmp(is, wanted, length) && (!wanted[length] || text_equal_nocase(wanted + length, ".etl"));
}

HRESULT trace_set_update(struct object *set, const struct trace_session *running, bool stored)
{
    struct trace_session now = {.number = 0};
    struct trace_target t = trace_target_of(running);
    struct trace_plan wanted;
    HRESULT hr = trace_set_plan(set, running->is.session, &wanted);
    if (FAILED(hr))
        return hr;
    /* A plan without a file size is not circular, but a circular session stays circular and keeps its size. */
    if (!wanted.maximum_file && (running->is.mode & TRACE_PLAN_OF_LogCircular))
        wanted.mode |= running->is.mode & (TRACE_PLAN_OF_LogCircular | TRACE_PLAN_OF_PreallocateFile);
    if (stored || (wanted.file && running->is.file && is_same_file(running->is.file, wanted.file)))
        hr = keep_file(&running->is, &wanted);
    const char *property = stored ? NULL : find_unchangeable_property(&running->is, &wanted);
    if (SUCCEEDED(hr) && property)
        hr = error_set(E_INVALIDARG, "%s: cannot be changed in the running trace session '%s'", property,
                       running->is.session);
    keep_the_rest(&running->is, &wanted);
    if (SUCCEEDED(hr))
        hr = trace_session_update(&t, &running->is, &wanted, &now);
    if (hr == S_FALSE)
        hr = error_set(E_INVALIDARG, "the running trace session '%s' cannot be changed to the set's new definition",
                       running->is.session);
    trace_session_free(&now);
    trace_plan_free(&wanted);
    return hr;
}

HRESULT trace_set_flush(struct object *set, const char *space, const char *name)
{
    struct trace_session running;
    char *file = NULL;
    HRESULT hr = trace_set_find(name, &running);
    if (hr == S_FALSE)
        return error_set(PLA_E_DCS_NOT_FOUND, "'%s\\%.300s': the trace session does not exist", space, name);
    if (FAILED(hr))
        return hr;
    /* A session that is only in memory is flushed to the file that the set's RootPath and FileName specify. */
    if (running.is.mode & TRACE_MODE_BUFFERING)
        hr = trace_set_file(set, &file);
    if (SUCCEEDED(hr)) {
        const struct trace_target t = trace_target_of(&running);
        hr = trace_session_flush(&t, file);
    }
    memory_free(file);
    trace_session_free(&running);
    return hr;
}

/* ---- running sessions as sets ---- */

static HRESULT not_there(HRESULT hr, const char *name)
{
    return error_set(hr, "'%s\\%.300s': the trace session does not exist", "Session", name);
}

/* Converts the error of a session that ETW lists but cannot describe, because its session host has exited and its log
   cannot be recovered. Such a session is treated like an unreadable definition: it does not hide others, and can be
   stopped. */
static HRESULT session_unreadable(HRESULT hr, const char *name)
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
    set_of(set)->category = "Session"; /* this determines the elements of its XML */
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
        return session_unreadable(hr, name);
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

/* Checks access to the plan that will be started, because the set may have changed since the request. */
static HRESULT may_start(const struct caller *caller, const char *name, const struct trace_plan *plan)
{
    char *security;
    HRESULT hr = trace_plan_security(plan, &security);
    if (SUCCEEDED(hr))
        hr = set_access_check_caller(
            caller, SET_ACCESS_START,
            &(struct set_access_object){.space = "Session", .name = name, .security = security, .session = true});
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
        return error_restore(&why); /* another session has the Guid */
    }
    if (FAILED(hr))
        return hr;
    /* MS-PLA 3.2.4.9, note 26: the only statistic that a start returns. */
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
