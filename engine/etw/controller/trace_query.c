/* SPDX-License-Identifier: MIT */
/* TraceQueryInformation, TraceSetInformation, EnumerateTraceGuids and EnumerateTraceGuidsEx. On Windows, the kernel
   applies the settings; here, the session's host process does. If this host OS has no source for the events that a
   setting enables, the setting is stored, and the journal reports this. */
#include "engine/base/memory.h"
#include "engine/etw/controller/controller.h"
#include "engine/etw/controller/controller_api.h"
#include "engine/etw/controller/trace_security.h"
#include "engine/etw/kernel_event.h"
#include "engine/etw/session/session_host.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/trace_properties.h"
#include "engine/logs/etl_record.h"

#include <stdlib.h>
#include <string.h>

enum {
    PROFILE_TIME = 0, /* KPROFILE_SOURCE */
    ANSWER_MS = 60000,
};

static ULONG query_find_session(TRACEHANDLE handle, struct directory **d, struct directory_session *s)
{
    const HRESULT hr = directory_get(d);
    *s = (struct directory_session){0};
    if (FAILED(hr))
        return session_code(hr);
    if (handle == 0)
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid SessionHandle: must not be 0");
    return controller_find(*d, handle, NULL, 0, false, s);
}

static ULONG find_system_logger(TRACEHANDLE handle, struct directory **d, struct directory_session *s)
{
    const ULONG code = query_find_session(handle, d, s);
    if (code != ERROR_SUCCESS || session_kernel_is_one(s))
        return code;
    directory_session_free(s);
    return controller_refuse(ERROR_INVALID_PARAMETER,
                             "invalid SessionHandle: the session does not accept system events");
}

/* Checks the caller's rights. Changing a setting requires the same rights as starting the session, as in
   ControlTrace. */
static ULONG may_set(struct directory_session *s)
{
    const ULONG code =
        trace_allowed(&s->guid, trace_rights_of_session((s->mode & TRACE_MODE_REAL_TIME) != 0, s->file != NULL));
    if (code != ERROR_SUCCESS)
        directory_session_free(s);
    return code;
}

static ULONG no_session(TRACEHANDLE handle)
{
    return handle == 0 ? ERROR_SUCCESS
                       : controller_refuse(ERROR_INVALID_PARAMETER, "invalid SessionHandle 0x%llX: expected 0",
                                           (unsigned long long)handle);
}

static ULONG is_missing(const void *buffer)
{
    return buffer ? ERROR_SUCCESS
                  : controller_refuse(ERROR_INVALID_PARAMETER, "invalid TraceInformation: must not be NULL");
}

static ULONG is_sized(ULONG bytes, size_t size, bool exactly)
{
    return bytes == size || (!exactly && bytes > size)
               ? ERROR_SUCCESS
               : controller_refuse(ERROR_BAD_LENGTH, "invalid InformationLength %u: expected %u bytes", (unsigned)bytes,
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
    ULONG code = query_find_session(handle, &d, &s);
    if (code != ERROR_SUCCESS)
        return code;
    *need = s.disallowed_count * (ULONG)sizeof(GUID);
    if (bytes < *need)
        code = controller_refuse(ERROR_INSUFFICIENT_BUFFER, "invalid InformationLength %u: expected %u bytes",
                                 (unsigned)bytes, (unsigned)*need);
    else if (*need != 0)
        code = is_missing(out);
    if (code == ERROR_SUCCESS && *need != 0)
        memcpy(out, s.disallowed, *need);
    directory_session_free(&s);
    return code;
}

/* Returns the profile interval, which is the same for all sessions. An interval outside the limits of the host OS is
   returned as the nearest limit. */
static ULONG query_interval(TRACE_PROFILE_INTERVAL *interval)
{
    struct directory *d;
    const HRESULT hr = directory_get(&d);
    if (SUCCEEDED(hr)) /* for an unknown source, the interval is 0 */
        interval->Interval =
            interval->Source == PROFILE_TIME ? kernel_profile_interval(directory_profile_interval(d)) : 0;
    return session_code(hr);
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
    code = query_interval(&interval);
    if (code == ERROR_SUCCESS)
        memcpy(out, &interval, sizeof interval);
    return code;
}

/* Returns the list of profile sources (PROFILE_SOURCE_INFO); time is the only source. */
static ULONG query_sources(TRACEHANDLE handle, void *out, ULONG bytes, ULONG *need)
{
    static const WCHAR name[] = {'T', 'i', 'm', 'e', 'r', 0};
    enum { SOURCE_AT = 4, LEAST_AT = 8, MOST_AT = 12, NAME_AT = 24, BYTES = (NAME_AT + sizeof name + 7) & ~7u };
    uint8_t info[BYTES] = {0};
    *need = BYTES;
    const ULONG code = no_session(handle);
    if (code != ERROR_SUCCESS || bytes == 0)
        return code;
    if (!out || bytes < BYTES)
        return out ? controller_refuse(ERROR_INSUFFICIENT_BUFFER, "invalid InformationLength %u: expected %u bytes",
                                       (unsigned)bytes, (unsigned)BYTES)
                   : is_missing(out);
    put_u32(info + SOURCE_AT, PROFILE_TIME);
    put_u32(info + LEAST_AT, KERNEL_PROFILE_100NS);
    put_u32(info + MOST_AT, KERNEL_PROFILE_MOST_100NS);
    memcpy(info + NAME_AT, name, sizeof name);
    memcpy(out, info, sizeof info);
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
    case TraceProfileSourceListInfo:
        code = query_sources(session, out, bytes, &own);
        break;
    case TraceDisallowListQuery:
        code = query_disallowed(session, out, bytes, &own);
        break;
    default:
        return controller_refuse(ERROR_NOT_SUPPORTED, "invalid InformationClass %d: cannot be queried", (int)what);
    }
    if (need)
        *need = own;
    return code;
}

/* ---- set ---- */

/* Sends the request to the session's host process and waits for the answer. */
static ULONG ask_host(struct directory *d, const struct directory_session *s, struct directory_request *request)
{
    uint32_t answer = ERROR_SUCCESS;
    request->process = (struct directory_process){process_own_id(), process_start_time(process_own_id())};
    const HRESULT hr = directory_ask(d, s->logger, s->generation, request, ANSWER_MS, &answer);
    return hr == S_OK ? answer
           : hr == S_FALSE
               ? controller_refuse(ERROR_TIMEOUT, "cannot control session '%.200s': its host process does not respond",
                                   s->name)
           : hr == E_ABORT ? controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND,
                                               "cannot control session '%.200s': it has ended", s->name)
                           : session_code(hr);
}

/* Converts events to hook ids. Skips events that are not kernel events. */
static uint32_t read_hooks(const CLASSIC_EVENT_ID *events, ULONG count, uint32_t *hooks)
{
    uint32_t found = 0;
    for (ULONG i = 0; i < count; i++) {
        CLASSIC_EVENT_ID id;
        uint8_t group;
        memcpy(&id, &events[i], sizeof id);
        if (etl_kernel_group(&id.EventGuid, id.Type, &group))
            hooks[found++] = (uint32_t)group << 8 | id.Type;
    }
    return found;
}

ULONG trace_information_set_list(TRACEHANDLE handle, enum directory_kernel_list list, const uint32_t *items,
                                 uint32_t count)
{
    struct directory_session s;
    struct directory *d;
    ULONG code = find_system_logger(handle, &d, &s);
    if (code == ERROR_SUCCESS)
        code = may_set(&s);
    if (code != ERROR_SUCCESS)
        return code;
    struct directory_request request = {.verb = DIRECTORY_SET_LIST, .list = list, .item_count = count};
    memcpy(request.items, items, count * sizeof *items);
    code = ask_host(d, &s, &request);
    directory_session_free(&s);
    return code;
}

static ULONG set_list(TRACEHANDLE handle, enum directory_kernel_list list, const void *in, ULONG bytes)
{
    const bool of_events = list == DIRECTORY_STACKS || list == DIRECTORY_COUNTED_EVENTS;
    const ULONG size = of_events ? sizeof(CLASSIC_EVENT_ID) : sizeof(uint32_t), most = directory_kernel_room(list);
    uint32_t items[DIRECTORY_STACK_EVENTS], count = bytes / size;
    if (bytes % size != 0 || bytes / size > most)
        return controller_refuse(ERROR_INCORRECT_SIZE,
                                 "invalid InformationLength %u: expected up to %u elements of %u bytes",
                                 (unsigned)bytes, (unsigned)most, (unsigned)size);
    if (of_events ? (bytes == 0) != !in : bytes == 0 || !in)
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid TraceInformation: %s, but InformationLength is %u",
                                 in ? "not NULL" : "NULL", (unsigned)bytes);
    if (of_events)
        count = read_hooks(in, count, items);
    else
        memcpy(items, in, bytes);
    return trace_information_set_list(handle, list, items, count);
}

/* Sets the profile interval. As on Windows, an impossible interval is adjusted silently; TraceQueryInformation returns
   the interval at which the host OS can sample. Processor counters have no samples, so their intervals are ignored. */
static ULONG set_interval(TRACEHANDLE handle, const void *in, ULONG bytes)
{
    TRACE_PROFILE_INTERVAL interval;
    struct directory *d;
    ULONG code = no_session(handle);
    if (code == ERROR_SUCCESS)
        code = is_sized(bytes, sizeof interval, true);
    if (code == ERROR_SUCCESS)
        code = is_missing(in);
    if (code == ERROR_SUCCESS)
        code = session_code(directory_get(&d));
    if (code != ERROR_SUCCESS)
        return code;
    memcpy(&interval, in, sizeof interval);
    if (interval.Source == PROFILE_TIME)
        directory_set_profile_interval(d, interval.Interval);
    return ERROR_SUCCESS;
}

static ULONG set_flags(TRACEHANDLE handle, const void *in, ULONG bytes)
{
    struct directory_session s;
    struct directory *d;
    if (bytes % sizeof(uint32_t) != 0 || bytes > GROUP_MASKS * sizeof(uint32_t) || (bytes != 0 && !in))
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid InformationLength %u: expected up to %u group masks",
                                 (unsigned)bytes, (unsigned)GROUP_MASKS);
    ULONG code = find_system_logger(handle, &d, &s);
    if (code == ERROR_SUCCESS)
        code = may_set(&s);
    if (code != ERROR_SUCCESS)
        return code;
    struct directory_request request = {.verb = DIRECTORY_UPDATE, .mode = s.mode, .flags_given = 1};
    if (bytes != 0)
        memcpy(request.enable_flags, in, bytes);
    code = ask_host(d, &s, &request);
    directory_session_free(&s);
    return code;
}

/* Sets the list of providers that stay disabled when the session enables a provider group that contains them. */
static ULONG set_disallowed(TRACEHANDLE handle, const void *in, ULONG bytes)
{
    struct directory_enable *enables;
    struct directory_session s;
    struct directory *d;
    uint64_t revision;
    size_t count, groups = 0;
    if (bytes % sizeof(GUID) != 0 || (bytes != 0 && !in))
        return controller_refuse(
            ERROR_INVALID_PARAMETER,
            "invalid InformationLength %u: expected a multiple of 16 and a TraceInformation that is not NULL",
            (unsigned)bytes);
    if (bytes > sizeof s.disallowed)
        return controller_refuse(ERROR_NO_SYSTEM_RESOURCES, "invalid InformationLength: expected at most %u GUIDs",
                                 (unsigned)DIRECTORY_DISALLOWED);
    ULONG code = query_find_session(handle, &d, &s);
    if (code == ERROR_SUCCESS)
        code = may_set(&s);
    if (code != ERROR_SUCCESS)
        return code;
    HRESULT hr = directory_enables(d, NULL, &enables, &count, &revision);
    GUID *woken = SUCCEEDED(hr) ? memory_alloc((count + 1) * sizeof *woken) : NULL;
    if (SUCCEEDED(hr) && !woken)
        hr = E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        if (enables[i].logger == s.logger && (enables[i].property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) != 0)
            woken[groups++] = enables[i].provider;
    directory_enables_free(enables, count); /* after a failure, the list is empty */
    if (SUCCEEDED(hr))
        hr = directory_begin(d);
    if (SUCCEEDED(hr)) {
        hr = directory_session_disallow(d, s.logger, s.generation, in, bytes / sizeof(GUID));
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
        return set_list(session, DIRECTORY_STACKS, in, bytes);
    case TraceSystemTraceEnableFlagsInfo:
        return set_flags(session, in, bytes);
    case TraceSampledProfileIntervalInfo:
        return set_interval(session, in, bytes);
    case TraceProfileSourceConfigInfo:
        return set_list(session, DIRECTORY_PROFILE_SOURCES, in, bytes);
    case TracePmcEventListInfo:
        return set_list(session, DIRECTORY_COUNTED_EVENTS, in, bytes);
    case TracePmcCounterListInfo:
        return set_list(session, DIRECTORY_COUNTER_SOURCES, in, bytes);
    case TraceSetDisallowList:
        return set_disallowed(session, in, bytes);
    default:
        return controller_refuse(ERROR_NOT_SUPPORTED, "invalid InformationClass %d: cannot be set", (int)what);
    }
}

/* ---- EnumerateTraceGuids(Ex): lists of providers, their processes and the sessions that enable them ---- */

/* A copy of the directory's registrations and enable settings. */
struct known {
    struct directory_registration *registrations;
    struct directory_enable *enables;
    size_t registration_count, enable_count;
};

static void known_free(struct known *k)
{
    memory_free(k->registrations);
    directory_enables_free(k->enables, k->enable_count);
}

static ULONG known_read(struct known *k)
{
    struct directory *d;
    uint64_t revision;
    *k = (struct known){.registrations = NULL};
    HRESULT hr = directory_get(&d);
    if (SUCCEEDED(hr))
        hr = directory_registrations(d, &k->registrations, &k->registration_count);
    if (SUCCEEDED(hr))
        hr = directory_enables(d, NULL, &k->enables, &k->enable_count, &revision);
    if (SUCCEEDED(hr))
        return ERROR_SUCCESS;
    known_free(k);
    return session_code(hr);
}

static bool is_group(const struct directory_enable *e)
{
    return (e->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) != 0;
}

/* ---- lists of GUIDs ---- */

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(GUID));
}

enum { REGISTERED = 1, ENABLED = 2, GROUPS = 4, OWN = 8 };

/* Lists each GUID once. *out is from memory_alloc. */
static ULONG list_guids(const struct known *k, unsigned which, GUID **out, size_t *count)
{
    const bool groups = (which & GROUPS) != 0;
    const uint32_t own = process_own_id();
    size_t n = 0;
    GUID *list = memory_alloc((k->registration_count + k->enable_count + 1) * sizeof *list);
    *out = list;
    *count = 0;
    if (!list)
        return ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; i < k->registration_count && (which & REGISTERED) != 0; i++)
        if (k->registrations[i].group == groups && ((which & OWN) == 0 || k->registrations[i].process.id == own))
            list[n++] = k->registrations[i].provider;
    for (size_t i = 0; i < k->enable_count && (which & ENABLED) != 0; i++)
        if (is_group(&k->enables[i]) == groups)
            list[n++] = k->enables[i].provider;
    qsort(list, n, sizeof *list, by_bytes);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !guid_equal(&list[i], &list[*count - 1]))
            list[(*count)++] = list[i];
    return ERROR_SUCCESS;
}

static ULONG query_copy_answer(const void *data, size_t bytes, void *out, ULONG room, ULONG *need)
{
    if (bytes > UINT32_MAX)
        return ERROR_NOT_ENOUGH_MEMORY;
    *need = (ULONG)bytes;
    if (bytes > room)
        return ERROR_INSUFFICIENT_BUFFER;
    if (bytes != 0 && !out)
        return ERROR_INVALID_PARAMETER;
    if (bytes != 0)
        memcpy(out, data, bytes);
    return ERROR_SUCCESS;
}

static ULONG query_guids(const struct known *k, unsigned which, void *out, ULONG room, ULONG *need)
{
    GUID *list;
    size_t count;
    ULONG status = list_guids(k, which, &list, &count);
    if (status == ERROR_SUCCESS)
        status = query_copy_answer(list, count * sizeof *list, out, room, need);
    memory_free(list);
    return status;
}

/* ---- one provider, or one group ---- */

static size_t pack_enables(const struct known *k, const GUID *guid, bool group, uint8_t *to)
{
    size_t count = 0;
    for (size_t i = 0; i < k->enable_count; i++) {
        const struct directory_enable *e = &k->enables[i];
        if (!guid_equal(&e->provider, guid) || is_group(e) != group)
            continue;
        if (to) {
            const TRACE_ENABLE_INFO info = {
                .IsEnabled = 1,
                .Level = e->level,
                .LoggerId = (USHORT)e->logger,
                .EnableProperty = e->property,
                /* Windows replaces a mask of 0 with a mask of all bits. */
                .MatchAnyKeyword = e->any == 0 && !e->classic ? UINT64_MAX : e->any,
                .MatchAllKeyword = e->all,
            };
            memcpy(to + count * sizeof info, &info, sizeof info);
        }
        count++;
    }
    return count;
}

/* Writes the structure for a registration, followed by all enable settings of the provider. `r` is NULL if the provider
   is enabled but not registered. Returns the size in bytes, even if `to` is NULL. */
static size_t pack_instance(const struct known *k, const GUID *guid, bool group, const struct directory_registration *r,
                            bool last, uint8_t *to)
{
    const size_t enables = pack_enables(k, guid, group, NULL),
                 bytes = sizeof(TRACE_PROVIDER_INSTANCE_INFO) + enables * sizeof(TRACE_ENABLE_INFO);
    if (to) {
        const TRACE_PROVIDER_INSTANCE_INFO info = {
            .NextOffset = last ? 0 : (ULONG)bytes,
            .EnableCount = (ULONG)enables,
            .Pid = r ? r->process.id : 0,
            .Flags = !r           ? PROVIDER_FLAG_PRE_ENABLE
                     : r->classic ? PROVIDER_FLAG_LEGACY
                                  : 0,
        };
        memcpy(to, &info, sizeof info);
        (void)pack_enables(k, guid, group, to + sizeof info);
    }
    return bytes;
}

static ULONG query_guid_info(const struct known *k, const GUID *guid, bool group, void *out, ULONG room, ULONG *need)
{
    size_t instances = 0, packed = 0, at = sizeof(TRACE_GUID_INFO);
    for (size_t i = 0; i < k->registration_count; i++)
        instances += guid_equal(&k->registrations[i].provider, guid) && k->registrations[i].group == group;
    const bool waits = instances == 0 && pack_enables(k, guid, group, NULL) != 0;
    if (instances == 0 && !waits)
        return ERROR_WMI_GUID_NOT_FOUND;
    const size_t one = pack_instance(k, guid, group, NULL, true, NULL), all = waits ? 1 : instances;
    if (all > (UINT32_MAX - at) / one)
        return ERROR_NOT_ENOUGH_MEMORY;
    uint8_t *block = memory_zero(1, at + all * one);
    if (!block)
        return ERROR_NOT_ENOUGH_MEMORY;
    memcpy(block, &(TRACE_GUID_INFO){.InstanceCount = (ULONG)all}, sizeof(TRACE_GUID_INFO));
    for (size_t i = 0; i < k->registration_count; i++) {
        const struct directory_registration *r = &k->registrations[i];
        if (guid_equal(&r->provider, guid) && r->group == group)
            at += pack_instance(k, guid, group, r, ++packed == all, block + at);
    }
    if (waits)
        at += pack_instance(k, guid, group, NULL, true, block + at);
    const ULONG status = query_copy_answer(block, at, out, room, need);
    memory_free(block);
    return status;
}

/* ---- the functions ---- */

ULONG WINAPI EnumerateTraceGuidsEx(TRACE_QUERY_INFO_CLASS what, void *in, ULONG in_bytes, void *out, ULONG out_bytes,
                                   ULONG *need)
{
    const bool of_one = what == TraceGuidQueryInfo || what == TraceGroupQueryInfo;
    const uint32_t most = DIRECTORY_SESSIONS;
    struct known k;
    GUID guid = {0};
    if (!need)
        return ERROR_INVALID_PARAMETER;
    *need = 0;
    if (of_one && (!in || in_bytes != sizeof guid))
        return ERROR_INVALID_PARAMETER;
    if (!of_one && what != TraceGuidQueryList && what != TraceGuidQueryProcess && what != TraceGroupQueryList &&
        what != TraceMaxLoggersQuery)
        return ERROR_INVALID_PARAMETER;
    if (what == TraceMaxLoggersQuery)
        return query_copy_answer(&most, sizeof most, out, out_bytes, need);
    if (of_one)
        memcpy(&guid, in, sizeof guid);
    ULONG status = known_read(&k);
    if (status != ERROR_SUCCESS)
        return status;
    if (of_one)
        status = query_guid_info(&k, &guid, what == TraceGroupQueryInfo, out, out_bytes, need);
    else
        status = query_guids(&k,
                             what == TraceGuidQueryProcess ? REGISTERED | OWN
                             : what == TraceGuidQueryList  ? REGISTERED | ENABLED
                                                           : REGISTERED | ENABLED | GROUPS,
                             out, out_bytes, need);
    known_free(&k);
    return status;
}

/* Returns the properties of a provider as set by the session that enabled it last. */
static TRACE_GUID_PROPERTIES properties_of(const struct known *k, const GUID *guid)
{
    TRACE_GUID_PROPERTIES p = {.Guid = *guid};
    uint64_t newest = 0;
    for (size_t i = 0; i < k->enable_count; i++) {
        const struct directory_enable *e = &k->enables[i];
        if (!guid_equal(&e->provider, guid) || is_group(e) || e->serial <= newest)
            continue;
        newest = e->serial;
        p.LoggerId = e->logger;
        p.EnableLevel = e->level;
        p.EnableFlags = (ULONG)e->any;
        p.IsEnable = 1;
    }
    return p;
}

ULONG WINAPI EnumerateTraceGuids(TRACE_GUID_PROPERTIES **list, ULONG room, ULONG *count)
{
    struct known k;
    GUID *guids;
    size_t n;
    if (!list || room == 0 || !count)
        return ERROR_INVALID_PARAMETER;
    for (ULONG i = 0; i < room; i++)
        if (!list[i])
            return ERROR_INVALID_PARAMETER;
    *count = 0;
    ULONG status = known_read(&k);
    if (status != ERROR_SUCCESS)
        return status;
    status = list_guids(&k, REGISTERED, &guids, &n);
    if (status == ERROR_SUCCESS) {
        *count = (ULONG)n;
        for (size_t i = 0; i < n && i < room; i++) {
            const TRACE_GUID_PROPERTIES p = properties_of(&k, &guids[i]);
            memcpy(list[i], &p, sizeof p);
        }
        status = n > room ? ERROR_MORE_DATA : ERROR_SUCCESS;
    }
    memory_free(guids);
    known_free(&k);
    return status;
}
