/* SPDX-License-Identifier: MIT */
/* Calls a remote computer over TCP, and parses the addresses of computers. */
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/os.h"
#include "engine/pdh/remote/blocks.h"
#include "engine/pdh/remote/link.h"
#include "engine/pdh/remote/pcq_session.h"
#include "engine/rpc/channel.h"
#include "engine/rpc/remote_account.h"

#include <string.h>

void link_address_free(struct link_address *a)
{
    memory_free(a->host);
    memory_free(a->port);
    *a = (struct link_address){0};
}

/* Returns the value of "machine=" in the list, without leading spaces; NULL if it is not listed. */
static const char *find_named(const char *hosts, const char *machine, size_t *length)
{
    const size_t named = strlen(machine);
    for (const char *at = hosts; at && *at; at += strspn(at, ";")) {
        at += strspn(at, " ");
        const size_t entry = strcspn(at, ";");
        const char *equals = memchr(at, '=', entry);
        char *name = equals ? text_copy_n(at, (size_t)(equals - at)) : NULL;
        bool same = name && strlen(name) >= named && text_equal_nocase(name, machine);
        memory_free(name);
        if (same) {
            equals += 1 + strspn(equals + 1, " ");
            *length = (size_t)(at + entry - equals);
            return equals;
        }
        at += entry;
    }
    return NULL;
}

HRESULT link_address_find(const char *machine, const char *hosts, struct link_address *out)
{
    size_t length = strlen(machine);
    const char *named = find_named(hosts, machine, &length);
    char *text = text_copy_n(named ? named : machine, length);
    *out = (struct link_address){0};
    HRESULT hr = text ? host_split(text, &out->host, &out->port) : E_OUTOFMEMORY;
    memory_free(text);
    return hr;
}

HRESULT link_address_of(const char *machine, struct link_address *out)
{
    char *hosts = environment_setting("OPENPLA_COUNTER_HOSTS", "CounterHosts");
    HRESULT hr = link_address_find(machine, hosts, out);
    memory_free(hosts);
    return hr;
}

/* Calls PerflibV2 through engine/rpc instead of Wine's RPC runtime, which loses a thread for every computer that
   disappears without closing its connection. */

struct tcp {
    struct link link; /* must be the first member */
    struct rpc_channel *channel;
};

/* The errors of the host OS' RPC that callers expect. */
#define SERVER_UNAVAILABLE 1722 /* RPC_S_SERVER_UNAVAILABLE */
#define CALL_FAILED        1726 /* RPC_S_CALL_FAILED */

static HRESULT as_rpc(HRESULT hr, unsigned code)
{
    if (hr == E_OUTOFMEMORY)
        return hr;
    if (hr == E_ACCESSDENIED)
        return error_set(HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED), "the logon was refused");
    return error_set(HRESULT_FROM_WIN32(code), "%s", error_text(hr));
}

static void close_tcp(struct link *l)
{
    struct tcp *t = (struct tcp *)l;
    rpc_channel_close(t->channel);
    memory_free(t);
}

HRESULT link_tcp_open(const char *machine, const struct link_address *a, struct link **out)
{
    struct remote_account account = {0};
    struct tcp *t = memory_zero(1, sizeof *t);
    HRESULT hr = t ? remote_account_find(machine, &account) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        const struct auth_credentials credentials = remote_account_credentials(&account);
        hr = rpc_channel_open(&(struct rpc_target){.host = a->host,
                                                   .port = a->port,
                                                   .credentials = hr == S_OK ? &credentials : NULL,
                                                   .level = AUTH_LEVEL_PRIVACY},
                              &t->channel);
    }
    remote_account_free(&account);
    *out = NULL;
    if (FAILED(hr)) {
        memory_free(t);
        return as_rpc(hr, SERVER_UNAVAILABLE);
    }
    t->link.kind = &link_tcp;
    *out = &t->link;
    return S_OK;
}

static HRESULT call_tcp(struct link *l, unsigned opnum, const uint8_t *request, size_t size, uint8_t **reply,
                        size_t *reply_size)
{
    struct tcp *t = (struct tcp *)l;
    const uint8_t *answer;
    size_t answer_size;
    *reply = NULL;
    *reply_size = 0;
    HRESULT hr = rpc_channel_call(t->channel, &pcq_interface, PCQ_INTERFACE_VERSION, NULL, (uint16_t)opnum, request,
                                  size, &answer, &answer_size);
    if (SUCCEEDED(hr) && !(*reply = memory_copy(answer, answer_size)))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        *reply_size = answer_size;
    return FAILED(hr) ? as_rpc(hr, CALL_FAILED) : S_OK;
}

static HRESULT open_tcp(const char *machine, struct link **out)
{
    struct link_address address;
    HRESULT hr = link_address_of(machine, &address);
    *out = NULL;
    if (SUCCEEDED(hr) && !address.port)
        hr = HRESULT_FROM_WIN32(ERROR_BAD_NETPATH);
    if (SUCCEEDED(hr))
        hr = link_tcp_open(machine, &address, out);
    link_address_free(&address);
    return hr;
}

const struct link_kind link_tcp = {open_tcp, call_tcp, close_tcp};
