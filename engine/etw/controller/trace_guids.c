/* SPDX-License-Identifier: MIT */
/* EnumerateTraceGuids and EnumerateTraceGuidsEx: which providers there are, who has registered them, and which sessions
   have enabled them. */
#include "engine/base/memory.h"
#include "engine/etw/controller/controller.h"
#include "engine/etw/controller/controller_api.h"
#include "engine/etw/session/session_output.h"

#include <stdlib.h>
#include <string.h>

/* All that the directory knows, as a copy. */
struct known {
    struct directory_registration *registrations;
    struct directory_enable *enables;
    size_t registration_count, enable_count;
};

static void forget(struct known *k)
{
    memory_free(k->registrations);
    directory_enables_free(k->enables, k->enable_count);
}

static ULONG learn(struct known *k)
{
    struct directory *d;
    uint64_t generation;
    *k = (struct known){.registrations = NULL};
    HRESULT hr = directory_get(&d);
    if (SUCCEEDED(hr))
        hr = directory_registrations(d, &k->registrations, &k->registration_count);
    if (SUCCEEDED(hr))
        hr = directory_enables(d, NULL, &k->enables, &k->enable_count, &generation);
    if (SUCCEEDED(hr))
        return ERROR_SUCCESS;
    forget(k);
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

/* Each once. *out from memory_alloc. */
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

static ULONG give(const void *data, size_t bytes, void *out, ULONG room, ULONG *need)
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

static ULONG give_guids(const struct known *k, unsigned which, void *out, ULONG room, ULONG *need)
{
    GUID *list;
    size_t count;
    ULONG status = list_guids(k, which, &list, &count);
    if (status == ERROR_SUCCESS)
        status = give(list, count * sizeof *list, out, room, need);
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
                .MatchAnyKeyword = e->any == 0 && !e->classic ? UINT64_MAX : e->any, /* as Windows keeps it */
                .MatchAllKeyword = e->all,
            };
            memcpy(to + count * sizeof info, &info, sizeof info);
        }
        count++;
    }
    return count;
}

/* One block of a registration (NULL: of none), with all enables behind it. Returns where the next one begins. */
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

static ULONG give_info(const struct known *k, const GUID *guid, bool group, void *out, ULONG room, ULONG *need)
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
    const ULONG status = give(block, at, out, room, need);
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
        return give(&most, sizeof most, out, out_bytes, need);
    if (of_one)
        memcpy(&guid, in, sizeof guid);
    ULONG status = learn(&k);
    if (status != ERROR_SUCCESS)
        return status;
    if (of_one)
        status = give_info(&k, &guid, what == TraceGroupQueryInfo, out, out_bytes, need);
    else
        status = give_guids(&k,
                            what == TraceGuidQueryProcess ? REGISTERED | OWN
                            : what == TraceGuidQueryList  ? REGISTERED | ENABLED
                                                          : REGISTERED | ENABLED | GROUPS,
                            out, out_bytes, need);
    forget(&k);
    return status;
}

/* With the newest enable of the provider. */
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
    ULONG status = learn(&k);
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
    forget(&k);
    return status;
}
