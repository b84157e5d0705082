/* SPDX-License-Identifier: MIT */
/* Our own ETW, for hosts whose own is empty. */
#ifndef OPENPLA_OPENETW_H
#define OPENPLA_OPENETW_H

#include "engine/etw/etw_api.h"
#include "engine/etw/event_providers.h"

/* 32-bit programs have no sessions of ours: the functions for them are NULL there. */
extern const struct etw_api openetw_api;

/* As TdhEnumerateProviders gives a list: ERROR_INSUFFICIENT_BUFFER with the *size that is needed;
   ERROR_NOT_ENOUGH_MEMORY. */
ULONG openetw_pack_providers(const struct event_providers *list, PROVIDER_ENUMERATION_INFO *buffer, ULONG *size);

/* Those whose manifests are registered (engine/etw/registered_manifests.h). Added to *out. */
HRESULT registered_providers(struct event_providers *out);

#endif
