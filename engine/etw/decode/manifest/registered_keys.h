/* SPDX-License-Identifier: MIT */
/* Where the registry holds event providers. */
#ifndef OPENPLA_REGISTERED_KEYS_H
#define OPENPLA_REGISTERED_KEYS_H

#include "engine/base/registry.h"

#define WINEVT_KEY     "SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WINEVT"
#define PUBLISHERS_KEY WINEVT_KEY "\\Publishers"
#define CHANNELS_KEY   WINEVT_KEY "\\Channels"
#define MANIFEST_VALUE "OpenPLAManifest" /* ours: the manifest that a provider was compiled from */

/* S_FALSE with *out NULL: the provider is not registered. */
HRESULT registered_provider_open(const GUID *guid, bool to_change, struct registry_key **out);

#endif
