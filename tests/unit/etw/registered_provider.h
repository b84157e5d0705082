/* SPDX-License-Identifier: MIT */
/* Returns whether an event provider is registered in this process. */
#ifndef OPENPLA_REGISTERED_PROVIDER_H
#define OPENPLA_REGISTERED_PROVIDER_H

#include "engine/etw/provider/provider_table.h"

static inline bool provider_is_registered(const GUID *guid)
{
    bool found = false;
    lock_enter(&provider_lock);
    for (struct registration *r = provider_in_use; r && !found; r = r->record->next)
        found = !r->record->gone && guid_equal(&r->record->options.guid, guid);
    lock_leave(&provider_lock);
    return found;
}

#endif
