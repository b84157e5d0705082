/* SPDX-License-Identifier: MIT */
/* What the registry holds of event providers, of which Wine's TDH tells nothing. */
#include "engine/base/memory.h"
#include "engine/etw/openetw.h"
#include "engine/etw/registered_manifests.h"

HRESULT registered_providers(struct event_providers *list)
{
    struct known_providers known = {0};
    HRESULT hr = registered_providers_list(&known);
    for (size_t i = 0; SUCCEEDED(hr) && i < known.count; i++)
        hr = event_providers_add(list, &known.items[i].guid, text_copy(known.items[i].name));
    known_providers_free(&known);
    return hr;
}
