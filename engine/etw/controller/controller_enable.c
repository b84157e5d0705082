/* SPDX-License-Identifier: MIT */
/* Implements EnableTrace, EnableTraceEx and EnableTraceEx2. These functions check a controller's request to enable a
   provider for a session, store its settings in the directory, and wait until the provider's processes have applied
   them. */
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/etw/controller/controller.h"
#include "engine/etw/controller/trace_security.h"
#include "engine/etw/provider/provider_filter.h"
#include "engine/etw/provider/provider_table.h"
#include "engine/etw/session/session_host.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/trace_properties.h"

#include <string.h>

/* ---- filters ---- */

/* A provider group allows no filters by event id, event name or payload. */
static bool is_for_group(uint32_t type)
{
    return type != EVENT_FILTER_TYPE_EVENT_ID && type != EVENT_FILTER_TYPE_EVENT_NAME &&
           type != EVENT_FILTER_TYPE_PAYLOAD;
}

/* Extends a filter by process ids: adds the start times of the processes that currently have these ids. */
static ULONG find_processes(struct directory_enable *to, struct directory_filter *f)
{
    const size_t count = f->size / sizeof(uint32_t);
    struct directory_filter_process *found = memory_zero(count, sizeof *found);
    if (!found)
        return controller_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for a process filter");
    for (size_t i = 0; i < count; i++) {
        memcpy(&found[i].id, f->data + i * sizeof found[i].id, sizeof found[i].id);
        found[i].start_time = process_start_time(found[i].id);
    }
    to->filter_data = (uint8_t *)found;
    f->data = to->filter_data;
    f->size = (uint32_t)(count * sizeof *found);
    return ERROR_SUCCESS;
}

ULONG controller_add_filter(struct directory_enable *to, const EVENT_FILTER_DESCRIPTOR *f, const char *member)
{
    const struct filter_kind *kind = filter_kind_of(f->Type);
    const uint8_t *data = (const uint8_t *)(uintptr_t)f->Ptr;
    if (!kind)
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid %s.Type 0x%08X", member, (unsigned)f->Type);
    if (f->Size < kind->least || f->Size > kind->most || !data)
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid %s.Size %u: not the size of a %s", member,
                                 (unsigned)f->Size, kind->name);
    for (uint32_t i = 0; i < to->filter_count; i++)
        if (to->filter[i].type == f->Type)
            return controller_refuse(ERROR_INVALID_PARAMETER, "invalid %s: contains a %s twice", member, kind->name);
    if ((to->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) != 0 && !is_for_group(f->Type))
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid %s: a provider group does not allow a %s", member,
                                 kind->name);
    if (kind->check && !kind->check(data, f->Size))
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid %s: malformed data of a %s", member, kind->name);
    struct directory_filter *added = &to->filter[to->filter_count++];
    *added = (struct directory_filter){.type = f->Type, .size = f->Size, .data = data};
    return f->Type == EVENT_FILTER_TYPE_PID ? find_processes(to, added) : ERROR_SUCCESS;
}

/* Reads the parameters. Version 1 has no count: EnableFilterDesc is one descriptor or NULL. */
static ULONG read_parameters(const ENABLE_TRACE_PARAMETERS *p, struct directory_enable *to)
{
    if (p->Version != 1 && p->Version != 2)
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid EnableParameters.Version %u: expected 1 or 2",
                                 (unsigned)p->Version);
    const ULONG count = p->Version == 2 ? p->FilterDescCount : p->EnableFilterDesc ? 1 : 0;
    to->property = p->EnableProperty;
    to->source = p->SourceId;
    if (count > MAX_EVENT_FILTERS_COUNT || (count != 0 && !p->EnableFilterDesc))
        return controller_refuse(ERROR_INVALID_PARAMETER,
                                 "invalid FilterDescCount %u: too large, or EnableFilterDesc is NULL", (unsigned)count);
    ULONG code = ERROR_SUCCESS;
    for (ULONG i = 0; i < count && code == ERROR_SUCCESS; i++)
        if (p->EnableFilterDesc[i].Type != EVENT_FILTER_TYPE_NONE || p->EnableFilterDesc[i].Size != 0)
            code = controller_add_filter(to, &p->EnableFilterDesc[i], "EnableFilterDesc");
    return code;
}

/* ---- the call ---- */

static HRESULT enable_apply(struct directory *d, ULONG code, const struct directory_enable *e)
{
    switch (code) {
    case EVENT_CONTROL_CODE_DISABLE_PROVIDER:
        return directory_enable_clear(d, e->logger, e->generation, &e->provider);
    case EVENT_CONTROL_CODE_ENABLE_PROVIDER:
        return directory_enable_set(d, e);
    default:
        return directory_enable_capture(d, e->logger, e->generation, &e->provider, &e->source);
    }
}

static ULONG enable_change(struct directory *d, const struct controller_enable *e,
                           const struct directory_enable *wanted)
{
    HRESULT hr = directory_begin(d);
    if (FAILED(hr))
        return session_code(hr);
    hr = enable_apply(d, e->code, wanted);
    const struct error_kept why = error_keep(hr);
    const uint64_t revision = directory_end(d, hr == S_OK ? &wanted->provider : NULL, hr == S_OK ? 1 : 0);
    if (FAILED(hr))
        return session_code(error_restore(&why));
    if (hr == S_FALSE) {
        if (e->code == EVENT_CONTROL_CODE_DISABLE_PROVIDER)
            return ERROR_SUCCESS;
        return controller_refuse(ERROR_INVALID_PARAMETER,
                                 "invalid ProviderId: the session has not enabled this provider");
    }
    if (e->timeout == 0)
        return ERROR_SUCCESS;
    hr = provider_wait_applied(d, &wanted->provider, revision, e->timeout);
    if (hr == S_FALSE)
        return controller_refuse(ERROR_TIMEOUT, "not all enable callbacks returned within %u ms", (unsigned)e->timeout);
    return session_code(hr);
}

/* System providers are not registered by any process, so the session's host process applies the change. */
static ULONG change_system(struct directory *d, const struct controller_enable *e, const struct directory_session *s,
                           const struct directory_enable *wanted)
{
    enum { ANSWER_MS = 60000 };
    const struct directory_request request = {.verb = DIRECTORY_SYSTEM_PROVIDERS,
                                              .process = {process_own_id(), process_start_time(process_own_id())}};
    uint32_t before = 0, now = 0, answer = ERROR_SUCCESS;
    if (!session_kernel_is_one(s))
        return controller_refuse(ERROR_INVALID_PARAMETER,
                                 "invalid ProviderId: session '%.200s' does not accept events of system providers",
                                 s->name);
    HRESULT hr = system_providers_enabled(d, s, &before);
    const ULONG code = SUCCEEDED(hr) ? enable_change(d, e, wanted) : session_code(hr);
    if (code != ERROR_SUCCESS || e->code == EVENT_CONTROL_CODE_CAPTURE_STATE)
        return code;
    hr = system_providers_enabled(d, s, &now);
    if (hr == S_OK && now != before)
        hr = directory_ask(d, s->logger, s->generation, &request, ANSWER_MS, &answer);
    return hr == S_OK ? answer
           : hr == S_FALSE
               ? controller_refuse(ERROR_TIMEOUT, "cannot control session '%.200s': its host process does not respond",
                                   s->name)
           : hr == E_ABORT ? controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND,
                                               "cannot control session '%.200s': it has ended", s->name)
                           : session_code(hr);
}

ULONG controller_enable(const struct controller_enable *e)
{
    struct directory_enable wanted = {.level = e->level, .any = e->any, .all = e->all, .classic = e->classic};
    struct directory_session s;
    struct directory *d;
    if (!e->provider)
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid ProviderId: must not be NULL");
    if (e->handle == 0)
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid TraceHandle: must not be 0");
    if (e->code > EVENT_CONTROL_CODE_CAPTURE_STATE)
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid ControlCode %u", (unsigned)e->code);
    wanted.provider = *e->provider;
    ULONG code = e->parameters ? read_parameters(e->parameters, &wanted) : ERROR_SUCCESS;
    if (code == ERROR_SUCCESS &&
        (guid_equal(&wanted.provider, &trace_kernel_guid) || guid_equal(&wanted.provider, &trace_context_guid)))
        code =
            controller_refuse(ERROR_INVALID_PARAMETER, "invalid ProviderId: kernel events are enabled by EnableFlags");
    if (code == ERROR_SUCCESS)
        code = trace_allowed(&wanted.provider, TRACE_RIGHT_GUID_ENABLE);
    if (code == ERROR_SUCCESS)
        code = session_code(directory_get(&d));
    if (code == ERROR_SUCCESS)
        code = controller_find(d, e->handle, NULL, 0, false, &s);
    if (code == ERROR_SUCCESS) {
        wanted.logger = s.logger;
        wanted.generation = s.generation;
        code =
            system_provider_is_one(&wanted.provider) ? change_system(d, e, &s, &wanted) : enable_change(d, e, &wanted);
        directory_session_free(&s);
    }
    TRACE_STEP(etw, "enable provider %08lX..., code %u, level %u: %lu", (unsigned long)wanted.provider.Data1,
               (unsigned)e->code, (unsigned)e->level, (unsigned long)code);
    memory_free(wanted.filter_data);
    return code;
}
