/* SPDX-License-Identifier: MIT */
/* A POSIX host has no Windows event log. */
#include "engine/os/system_events.h"

HRESULT system_event_write(uint32_t id, uint8_t level, const struct system_event_field *fields, size_t count)
{
    (void)id, (void)level, (void)fields, (void)count;
    return S_FALSE;
}
