/* SPDX-License-Identifier: MIT */
/* Who may ask for this computer's counters by RPC. */
#include "engine/pcq/gate.h"

#include "engine/os/access.h"
#include "engine/os/environment.h"
#include "engine/os/memory.h"
#include "engine/os/registry.h"

#include <string.h>

#define PACKET_PRIVACY  6 /* RPC_C_AUTHN_LEVEL_PKT_PRIVACY */
#define MONITOR_USERS   "S-1-5-32-558"
#define LONGEST_ADDRESS 64

/* A value of the registry as text. S_FALSE: there is none. */
static HRESULT read_value(struct registry_key *key, const char *name, char **out)
{
    struct registry_value v;
    uint64_t number;
    HRESULT hr = registry_read(key, name, &v);
    bool is_text = hr == S_OK && (v.type == REGISTRY_TEXT || v.type == REGISTRY_EXPAND_TEXT);
    if (hr != S_OK)
        return hr;
    registry_value_free(&v);
    if (is_text)
        return registry_read_text(key, name, out);
    hr = registry_read_number(key, name, &number);
    *out = hr == S_OK ? text_format("%llu", (unsigned long long)number) : NULL;
    return FAILED(hr) ? hr : *out ? S_OK : E_OUTOFMEMORY;
}

/* *out NULL: it is not set. */
static HRESULT read_setting(struct registry_key *key, const char *variable, const char *name, char **out)
{
    *out = NULL;
    HRESULT hr = environment_get(variable, out);
    if (hr == S_FALSE && key)
        hr = read_value(key, name, out);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT pcq_settings_read(struct pcq_settings *out)
{
    struct registry_key *key = NULL;
    char *port = NULL;
    uint64_t number = 0;
    *out = (struct pcq_settings){0};
    HRESULT hr = registry_open("Software\\OpenPLA", false, &key);
    if (SUCCEEDED(hr))
        hr = read_setting(key, "OPENPLA_COUNTER_QUERY_PORT", PCQ_PORT_VALUE, &port);
    if (SUCCEEDED(hr) && port && (!text_to_u64(port, &number) || number > UINT16_MAX))
        hr = error_set(E_INVALIDARG, PCQ_PORT_VALUE " \"%s\": a port is a number of 0 to 65535", port);
    if (SUCCEEDED(hr) && port)
        hr = read_setting(key, "OPENPLA_COUNTER_QUERY_FROM", PCQ_FROM_VALUE, &out->from);
    if (SUCCEEDED(hr) && port && !out->from)
        out->from = text_copy(PCQ_FROM_HERE);
    if (SUCCEEDED(hr) && port && !out->from)
        hr = E_OUTOFMEMORY;
    out->port = (uint16_t)number;
    const bool has_port = port != NULL;
    memory_free(port);
    registry_close(key);
    if (FAILED(hr) || !has_port) {
        pcq_settings_free(out);
        return FAILED(hr) ? hr : S_FALSE;
    }
    return S_OK;
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
