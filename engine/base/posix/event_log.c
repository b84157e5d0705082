/* SPDX-License-Identifier: MIT */
/* A POSIX host has no Windows event log. */
#include "engine/base/event_log.h"

HRESULT event_log_write(uint32_t id, uint8_t level, const struct event_log_field *fields, size_t count)
{
    (void)id, (void)level, (void)fields, (void)count;
    return S_FALSE;
}
