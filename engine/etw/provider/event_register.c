/* SPDX-License-Identifier: MIT */
/* EventRegister and what belongs to a registration. */
#include "engine/etw/controller/trace_security.h"
#include "engine/etw/provider/event_api.h"
#include "engine/etw/provider/provider_sessions.h"

ULONG WINAPI EventRegister(LPCGUID guid, PENABLECALLBACK callback, PVOID context, REGHANDLE *handle)
{
    ULONG said;
    uint64_t made = 0;
    if (handle)
        *handle = 0;
    if (!guid || !handle || (context && !callback))
        return ERROR_INVALID_PARAMETER;
    if (process_is_ending())
        return ERROR_SUCCESS; /* handle 0 is harmless */
    const struct provider_options options = {.guid = *guid, .callback = callback, .context = context};
    ULONG status = trace_allowed(guid, TRACE_RIGHT_REGISTER_GUIDS);
    if (status == ERROR_SUCCESS)
        status = provider_begin(&options, &made);
    if (status != ERROR_SUCCESS)
        return status;
    *handle = made; /* the callback may write events already */
    status = provider_join(made, guid, false, &said);
    if (status != ERROR_SUCCESS)
        *handle = 0;
    return status;
}

ULONG WINAPI EventUnregister(REGHANDLE handle)
{
    return handle == 0 ? ERROR_SUCCESS : provider_part(handle, false);
}

static ULONG set_traits(REGHANDLE handle, const void *traits, ULONG length)
{
    GUID group;
    bool has_group;
    const ULONG status = provider_set_traits(handle, traits, length, &group, &has_group);
    if (status == ERROR_SUCCESS)
        provider_tell_name(handle, (const char *)traits + sizeof(USHORT)); /* behind the size of all */
    return status == ERROR_SUCCESS && has_group ? provider_join_group(handle, &group) : status;
}

ULONG WINAPI EventSetInformation(REGHANDLE handle, EVENT_INFO_CLASS info_class, PVOID information, ULONG length)
{
    if (handle == 0 || !registration_of(handle) || (!information && length != 0))
        return ERROR_INVALID_PARAMETER;
    switch ((int)info_class) {
    case ETW_INFO_BINARY_TRACK: /* nobody asks for the path of the module */
        return length <= 1 ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
    case ETW_INFO_TRAITS:
        return length != 0 ? set_traits(handle, information, length) : ERROR_INVALID_PARAMETER;
    case ETW_INFO_DESCRIPTOR_TYPE:
        return length == 1 ? provider_set_typed(handle, *(const uint8_t *)information != 0) : ERROR_INVALID_PARAMETER;
    default:
        return ERROR_NOT_SUPPORTED;
    }
}
