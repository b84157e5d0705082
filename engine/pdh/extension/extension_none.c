/* SPDX-License-Identifier: MIT */
/* A system without performance extension DLLs. */
#include "engine/pdh/extension/extension_host.h"

HRESULT extension_services(struct texts *out)
{
    (void)out;
    return S_OK;
}

HRESULT extension_names(const struct texts *services, struct texts *out)
{
    (void)services;
    (void)out;
    return S_OK;
}

HRESULT extension_start(const char *channel, const char *service, struct process **out)
{
    *out = NULL;
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "%s: %s: there are no extension DLLs here", service,
                     channel);
}
