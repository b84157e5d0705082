/* SPDX-License-Identifier: MIT */
/* No event providers are registered natively. */
#include "engine/os/event_providers.h"

HRESULT event_providers_list(struct event_providers *out)
{
    *out = (struct event_providers){0};
    return S_OK;
}

HRESULT event_provider_fields(const GUID *guid, bool keywords, struct event_fields *out)
{
    (void)guid, (void)keywords;
    *out = (struct event_fields){0};
    return S_FALSE;
}

HRESULT event_provider_get_security(const GUID *guid, uint32_t parts, char **sddl)
{
    (void)guid, (void)parts;
    *sddl = NULL;
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "this host keeps no security of event providers");
}

HRESULT event_provider_set_security(const GUID *guid, const char *sddl)
{
    (void)guid, (void)sddl;
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "this host keeps no security of event providers");
}
