/* SPDX-License-Identifier: MIT */
/* Events that are a text and nothing else, as EventWriteString writes them: no manifest says them. */
#ifndef OPENPLA_TEXT_SCHEMA_H
#define OPENPLA_TEXT_SCHEMA_H

#include "engine/etw/decode/schemas.h"

#define EVENT_FLAG_STRING_ONLY 4 /* of the header's Flags */

/* One property, String; the provider's name where a manifest of it is known. E_OUTOFMEMORY. */
HRESULT text_event_schema(struct event_schemas *schemas, const EVENT_RECORD *event, struct event_schema **out);

#endif
