/* SPDX-License-Identifier: MIT */
/* The manifests that .NET's EventSource writes into a trace, piece by piece, as events 65534 of the provider itself. */
#ifndef OPENPLA_INBAND_MANIFESTS_H
#define OPENPLA_INBAND_MANIFESTS_H

#include "engine/etw/decode/manifest/manifest_xml.h"
#include "engine/etw/decode/schemas.h"

struct inband_manifests;
/* NULL when out of memory. `languages` as of manifest_origins.h. */
struct inband_manifests *inband_manifests_create(const char *languages);
void inband_manifests_free(struct inband_manifests *all); /* before the schemas; NULL is allowed */
/* Is this a piece of a manifest? */
bool inband_manifest_event(const EVENT_RECORD *event);
/* Takes a piece. With the last one the manifest joins the schemas, in the place of an earlier one of the provider, and
   its events are decoded from then on. S_OK; S_FALSE: it cannot be used, and error_text(S_FALSE) says why (pieces that
   do not fit, a manifest that is wrong, or another provider's). E_OUTOFMEMORY. */
HRESULT inband_manifests_take(struct inband_manifests *all, const EVENT_RECORD *event, struct event_schemas *schemas);

#endif
