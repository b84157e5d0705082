/* SPDX-License-Identifier: MIT */
/* TraceQueryInformation and TraceSetInformation. What they set in the kernel of Windows is refused as not supported
   when all else is right, but for the flags of a system logger: nothing here samples, or reads counters of
   processors. */
#include "engine/etw/controller.h"
#include "engine/etw/session_output.h"
#include "engine/etw/trace_properties.h"
#include "engine/etw/trace_query_api.h"
#include "engine/os/memory.h"

#include <string.h>

enum {
    GROUP_MASKS = 8, /* PERFINFO_GROUPMASK */
    MOST_STACK_EVENTS = 256,
    MOST_PMC = 4,
    PROFILE_TIME = 0,      /* KPROFILE_SOURCE */
    PROFILE_100NS = 10000, /* what Windows begins with */
    ANSWER_MS = 60000,
};

static ULONG find(TRACEHANDLE handle, struct directory **d, struct directory_session *s)
{
    const HRESULT hr = directory_get(d);
    *s = (struct directory_session){0};
    if (FAILED(hr))
        return session_code(hr);
    if (handle == 0)
        return controller_refuse(ERROR_INVALID_PARAMETER, "SessionHandle: it is 0");
    return controller_find(*d, handle, NULL, 0, false, s);
}

static ULONG find_system_logger(TRACEHANDLE handle, struct directory **d, struct directory_session *s)
{
    const ULONG code = find(handle, d, s);
    if (code != ERROR_SUCCESS || s->kernel || (s->mode & TRACE_MODE_SYSTEM_LOGGER) != 0)
        return code;
    directory_session_free(s);
    return controller_refuse(ERROR_INVALID_PARAMETER, "SessionHandle: the session takes no events of the system");
}

static ULONG no_session(TRACEHANDLE handle)
{
    return handle == 0 ? ERROR_SUCCESS
                       : controller_refuse(ERROR_INVALID_PARAMETER, "SessionHandle: 0x%llX is not 0",
                                           (unsigned long long)handle);
}

static ULONG is_missing(const void *buffer)
{
    return buffer ? ERROR_SUCCESS : controller_refuse(ERROR_INVALID_PARAMETER, "TraceInformation: it is NULL");
}

static ULONG is_sized(ULONG bytes, size_t size, bool exactly)
{
    return bytes == size || (!exactly && bytes > size)
               ? ERROR_SUCCESS
               : controller_refuse(ERROR_BAD_LENGTH, "InformationLength: %u bytes, %u are needed", (unsigned)bytes,
                                   (unsigned)size);
}

/* ---- query ---- */

static ULONG query_flags(TRACEHANDLE handle, void *out, ULONG bytes, ULONG *need)
{
    struct directory_session s;
    struct directory *d;
    *need = sizeof s.enable_flags;
    ULONG code = is_sized(bytes, sizeof s.enable_flags, false);
    if (code == ERROR_SUCCESS)
        code = is_missing(out);
    if (code == ERROR_SUCCESS)
        code = find_system_logger(handle, &d, &s);
    if (code != ERROR_SUCCESS)
        return code;
    memcpy(out, s.enable_flags, sizeof s.enable_flags);
    directory_session_free(&s);
    return ERROR_SUCCESS;
}

static ULONG query_disallowed(TRACEHANDLE handle, void *out, ULONG bytes, ULONG *need)
{
    struct directory_session s;
    struct directory *d;
    ULONG code = find(handle, &d, &s);
    if (code != ERROR_SUCCESS)
        return code;
    *need = s.disallowed_count * (ULONG)sizeof(GUID);
    if (bytes < *need)
        code = controller_refuse(ERROR_INSUFFICIENT_BUFFER, "InformationLength: %u bytes, %u are needed",
                                 (unsigned)bytes, (unsigned)*need);
    else if (*need != 0)
        code = is_missing(out);
    if (code == ERROR_SUCCESS && *need != 0)
        memcpy(out, s.disallowed, *need);
    directory_session_free(&s);
    return code;
}

static ULONG query_fixed(TRACE_INFO_CLASS what, TRACEHANDLE handle, void *out, ULONG bytes, ULONG *need)
{
    const TRACE_VERSION_INFO version = {.EtwTraceProcessingVersion = 1};
    TRACE_PROFILE_INTERVAL interval;
    *need = sizeof version;
    ULONG code = no_session(handle);
    if (code == ERROR_SUCCESS)
        code = is_sized(bytes, sizeof version, true);
    if (code == ERROR_SUCCESS)
        code = is_missing(out);
    if (code != ERROR_SUCCESS)
        return code;
    if (what == TraceVersionInfo) {
        memcpy(out, &version, sizeof version);
        return ERROR_SUCCESS;
    }
    memcpy(&interval, out, sizeof interval);
    interval.Interval = interval.Source == PROFILE_TIME ? PROFILE_100NS : 0; /* 0: no such source */
    memcpy(out, &interval, sizeof interval);
    return ERROR_SUCCESS;
}

ULONG WINAPI TraceQueryInformation(TRACEHANDLE session, TRACE_INFO_CLASS what, void *out, ULONG bytes, ULONG *need)
{
    ULONG own = 0, code;
    switch (what) {
    case TraceSystemTraceEnableFlagsInfo:
        code = query_flags(session, out, bytes, &own);
        break;
    case TraceSampledProfileIntervalInfo:
    case TraceVersionInfo:
        code = query_fixed(what, session, out, bytes, &own);
        break;
    case TraceProfileSourceListInfo: /* there is none */
        code = no_session(session);
        break;
    case TraceDisallowListQuery:
        code = query_disallowed(session, out, bytes, &own);
        break;
    default:
        return controller_refuse(ERROR_NOT_SUPPORTED, "InformationClass: %d cannot be asked for", (int)what);
    }
    if (need)
        *need = own;
    return code;
}

/* ---- set ---- */

/* A list that the kernel of Windows would keep: right in itself, and of a system logger. */
static ULONG set_kernel_list(TRACEHANDLE handle, TRACE_INFO_CLASS what, const void *in, ULONG bytes, size_t size,
                             ULONG most)
{
    const bool may_be_empty = size == sizeof(CLASSIC_EVENT_ID);
    struct directory_session s;
    struct directory *d;
    if (bytes % size != 0 || bytes / size > most)
        return controller_refuse(ERROR_INCORRECT_SIZE, "InformationLength: %u bytes are not up to %u times %u",
                                 (unsigned)bytes, (unsigned)most, (unsigned)size);
    if (may_be_empty ? (bytes == 0) != !in : bytes == 0 || !in)
        return controller_refuse(ERROR_INVALID_PARAMETER, "TraceInformation: %u bytes at %s address", (unsigned)bytes,
                                 in ? "an" : "no");
    const ULONG code = find_system_logger(handle, &d, &s);
    if (code != ERROR_SUCCESS)
        return code;
    directory_session_free(&s);
    return controller_refuse(ERROR_NOT_SUPPORTED, "InformationClass: %d cannot be set here", (int)what);
}

static ULONG set_interval(TRACEHANDLE handle, const void *in, ULONG bytes)
{
    ULONG code = no_session(handle);
    if (code == ERROR_SUCCESS)
        code = is_sized(bytes, sizeof(TRACE_PROFILE_INTERVAL), true);
    if (code == ERROR_SUCCESS)
        code = is_missing(in);
    return code == ERROR_SUCCESS
               ? controller_refuse(ERROR_NOT_SUPPORTED, "InformationClass: no source of profiles can be set here")
               : code;
}

static ULONG set_flags(TRACEHANDLE handle, const void *in, ULONG bytes)
{
    struct directory_session s;
    struct directory *d;
    uint32_t answer = ERROR_SUCCESS;
    if (bytes % sizeof(uint32_t) != 0 || bytes > GROUP_MASKS * sizeof(uint32_t) || (bytes != 0 && !in))
        return controller_refuse(ERROR_INVALID_PARAMETER, "InformationLength: %u bytes are not up to %u group masks",
                                 (unsigned)bytes, (unsigned)GROUP_MASKS);
    const ULONG code = find_system_logger(handle, &d, &s);
    if (code != ERROR_SUCCESS)
        return code;
    struct directory_request request = {.verb = DIRECTORY_UPDATE,
                                        .process = {process_own_id(), process_start_time(process_own_id())},
                                        .mode = s.mode,
                                        .flags_given = 1};
    if (bytes != 0)
        memcpy(request.enable_flags, in, bytes);
    const HRESULT hr = directory_ask(d, s.logger, s.turn, &request, ANSWER_MS, &answer);
    directory_session_free(&s);
    return hr == S_OK      ? answer
           : hr == S_FALSE ? controller_refuse(ERROR_TIMEOUT, "the session's host does not answer")
           : hr == E_ABORT ? controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND, "the session's host has ended")
                           : session_code(hr);
}

/* Members of provider groups that the session does not enable by their group. */
static ULONG set_disallowed(TRACEHANDLE handle, const void *in, ULONG bytes)
{
    struct directory_enable *enables;
    struct directory_session s;
    struct directory *d;
    uint64_t generation;
    size_t count, groups = 0;
    if (bytes % sizeof(GUID) != 0 || (bytes != 0 && !in))
        return controller_refuse(ERROR_INVALID_PARAMETER, "InformationLength: %u bytes are no GUIDs", (unsigned)bytes);
    if (bytes > sizeof s.disallowed)
        return controller_refuse(ERROR_NO_SYSTEM_RESOURCES, "InformationLength: more than %u GUIDs",
                                 (unsigned)DIRECTORY_DISALLOWED);
    const ULONG code = find(handle, &d, &s);
    if (code != ERROR_SUCCESS)
        return code;
    HRESULT hr = directory_enables(d, NULL, &enables, &count, &generation);
    GUID *woken = SUCCEEDED(hr) ? memory_alloc((count + 1) * sizeof *woken) : NULL;
    if (SUCCEEDED(hr) && !woken)
        hr = E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        if (enables[i].logger == s.logger && (enables[i].property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) != 0)
            woken[groups++] = enables[i].provider;
    directory_enables_free(enables, count); /* none when they could not be had */
    if (SUCCEEDED(hr))
        hr = directory_begin(d);
    if (SUCCEEDED(hr)) {
        hr = directory_session_disallow(d, s.logger, s.turn, in, bytes / sizeof(GUID));
        directory_end(d, woken, groups);
    }
    memory_free(woken);
    directory_session_free(&s);
    return hr == S_FALSE ? controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND, "the session has ended") : session_code(hr);
}

ULONG WINAPI TraceSetInformation(TRACEHANDLE session, TRACE_INFO_CLASS what, void *in, ULONG bytes)
{
    switch (what) {
    case TraceStackTracingInfo:
        return set_kernel_list(session, what, in, bytes, sizeof(CLASSIC_EVENT_ID), MOST_STACK_EVENTS);
    case TraceSystemTraceEnableFlagsInfo:
        return set_flags(session, in, bytes);
    case TraceSampledProfileIntervalInfo:
        return set_interval(session, in, bytes);
    case TraceProfileSourceConfigInfo:
    case TracePmcCounterListInfo:
        return set_kernel_list(session, what, in, bytes, sizeof(uint32_t), MOST_PMC);
    case TracePmcEventListInfo:
        return set_kernel_list(session, what, in, bytes, sizeof(CLASSIC_EVENT_ID), MOST_PMC);
    case TraceSetDisallowList:
        return set_disallowed(session, in, bytes);
    default:
        return controller_refuse(ERROR_NOT_SUPPORTED, "InformationClass: %d cannot be set", (int)what);
    }
}
