/* SPDX-License-Identifier: MIT */
/* The native build always uses OpenPLA's ETW, because Linux has no other. */
#include "engine/etw/etw_api.h"

const struct etw_api *host_etw(void)
{
    return &openetw_api;
}

HRESULT event_provider_get_security(const GUID *guid, uint32_t parts, char **sddl)
{
    (void)guid, (void)parts;
    *sddl = NULL;
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                     "cannot access the security of an event provider: not supported on this host OS");
}

HRESULT event_provider_set_security(const GUID *guid, const char *sddl)
{
    (void)guid, (void)sddl;
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                     "cannot access the security of an event provider: not supported on this host OS");
}
