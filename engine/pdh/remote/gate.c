/* SPDX-License-Identifier: MIT */
/* Who may ask for this computer's counters by RPC. */
#include "engine/pdh/gate.h"

#include "engine/base/access.h"
#include "engine/base/environment.h"
#include "engine/base/memory.h"

#include <string.h>

#define PACKET_PRIVACY  6 /* RPC_C_AUTHN_LEVEL_PKT_PRIVACY */
#define MONITOR_USERS   "S-1-5-32-558"
#define LONGEST_ADDRESS 64

HRESULT pcq_settings_read(struct pcq_settings *out)
{
    char *port = NULL;
    uint64_t number = 0;
    *out = (struct pcq_settings){0};
    HRESULT hr = environment_read_setting("OPENPLA_COUNTER_QUERY_PORT", PCQ_PORT_VALUE, &port);
    if (hr != S_OK)
        return hr;
    if (!text_to_u64(port, &number) || number > UINT16_MAX)
        hr = error_set(E_INVALIDARG, PCQ_PORT_VALUE " \"%s\": a port is a number of 0 to 65535", port);
    memory_free(port);
    if (SUCCEEDED(hr))
        hr = environment_read_setting("OPENPLA_COUNTER_QUERY_FROM", PCQ_FROM_VALUE, &out->from);
    if (hr == S_FALSE) {
        out->from = text_copy(PCQ_FROM_HERE);
        hr = out->from ? S_OK : E_OUTOFMEMORY;
    }
    if (FAILED(hr))
        pcq_settings_free(out);
    out->port = SUCCEEDED(hr) ? (uint16_t)number : 0;
    return hr;
}

void pcq_settings_free(struct pcq_settings *s)
{
    memory_free(s->from);
    *s = (struct pcq_settings){0};
}

static bool is_among(const char *address, const char *from)
{
    static const char between[] = " ,;\t";
    for (size_t length; *(from += strspn(from, between)); from += length) {
        char pattern[LONGEST_ADDRESS];
        length = strcspn(from, between);
        if (length >= sizeof pattern)
            continue;
        memcpy(pattern, from, length);
        pattern[length] = 0;
        if (text_matches(pattern, address))
            return true;
    }
    return false;
}

uint32_t pcq_gate(const struct pcq_call *call, const char *from)
{
    if (call->level_known && call->level < PACKET_PRIVACY)
        return ERROR_ACCESS_DENIED;
    if (call->address && !is_among(call->address, from))
        return ERROR_ACCESS_DENIED;
    const bool anonymous = call->address && !call->level_known;
    bool may = anonymous || call->caller.in_process || access_is_administrator(&call->caller) ||
               access_is_account(&call->caller, MONITOR_USERS);
    return may ? ERROR_SUCCESS : ERROR_ACCESS_DENIED;
}
