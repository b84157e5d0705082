/* SPDX-License-Identifier: MIT */
/* The system's own event log: events of the provider Microsoft-Windows-Diagnosis-PLA, as Windows' PLA writes them. */
#ifndef OPENPLA_EVENT_LOG_H
#define OPENPLA_EVENT_LOG_H

#include "engine/base/error.h"

/* One field of an event: a text, or a number where text is NULL. */
struct event_log_field {
    const char *text;
    uint32_t number;
};
#define EVENT_LOG_FIELDS_MAX 8
/* Fields in the order of the provider's manifest; `level` as in EVENT_DESCRIPTOR. S_FALSE: this host has no such log.
 */
HRESULT event_log_write(uint32_t id, uint8_t level, const struct event_log_field *fields, size_t count);

#endif
