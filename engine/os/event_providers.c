/* SPDX-License-Identifier: MIT */
/* Lists of event providers and of what they define: their life. */
#include "engine/os/event_providers.h"

#include "engine/os/memory.h"

void event_providers_free(struct event_providers *providers)
{
    for (size_t i = 0; i < providers->count; i++)
        memory_free(providers->items[i].name);
    memory_free(providers->items);
    *providers = (struct event_providers){0};
}

void event_fields_free(struct event_fields *fields)
{
    for (size_t i = 0; i < fields->count; i++) {
        memory_free(fields->items[i].name);
        memory_free(fields->items[i].description);
    }
    memory_free(fields->items);
    *fields = (struct event_fields){0};
}
