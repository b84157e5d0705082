/* SPDX-License-Identifier: MIT */
/* Calls PerflibV2 through the host OS' RPC without generated stubs: engine/pdh/remote/ndr.h encodes the parameters. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pdh/remote/blocks.h"
#include "engine/pdh/remote/link.h"

#include <windows.h>
#include <rpc.h>
#include <rpcdcep.h>
#include <string.h>

/* MS-PCQ 1.9; NDR: C706 14. */
static RPC_CLIENT_INTERFACE perflib = {
    .Length = sizeof perflib,
    .InterfaceId = {{0xda5a86c5, 0x12c2, 0x4943, {0xab, 0x30, 0x7f, 0x74, 0xa8, 0x13, 0xd8, 0x53}}, {1, 0}},
    .TransferSyntax = {{0x8a885d04, 0x1ceb, 0x11c9, {0x9f, 0xe8, 0x08, 0x00, 0x2b, 0x10, 0x48, 0x60}}, {2, 0}},
};

struct remote {
    struct link link; /* must be the first member */
    RPC_BINDING_HANDLE binding;
};

static HRESULT result(RPC_STATUS status)
{
    return status == RPC_S_OK ? S_OK : HRESULT_FROM_WIN32((DWORD)status);
}

static void close_remote(struct link *l)
{
    struct remote *r = (struct remote *)l;
    if (r->binding)
        RpcBindingFree(&r->binding);
    memory_free(r);
}

/* Creates the binding. The RPC runtime composes the binding string from protocol, host and endpoint, because in
   "protocol:host[endpoint]" some characters need escaping. */
static RPC_STATUS remote_bind(const struct link_address *a, RPC_BINDING_HANDLE *out)
{
    WCHAR *host = NULL, *port = NULL, *text = NULL;
    RPC_STATUS status = RPC_S_OUT_OF_MEMORY;
    if (SUCCEEDED(text_to_utf16(a->host, &host, NULL)) && SUCCEEDED(text_to_utf16(a->port ? a->port : "", &port, NULL)))
        status = a->port ? RpcStringBindingComposeW(NULL, (WCHAR *)u"ncacn_ip_tcp", host, port, NULL, &text)
                         : RpcStringBindingComposeW(NULL, (WCHAR *)u"ncacn_np", host, (WCHAR *)u"\\pipe\\winreg", NULL,
                                                    &text);
    if (status == RPC_S_OK)
        status = RpcBindingFromStringBindingW(text, out);
    if (text)
        RpcStringFreeW(&text);
    memory_free(host);
    memory_free(port);
    return status;
}

/* Uses packet privacy (MS-PCQ 3.2.3). */
static HRESULT remote_connect(struct remote *r, const struct link_address *a)
{
    RPC_STATUS status = remote_bind(a, &r->binding);
    if (status == RPC_S_OK)
        status = RpcBindingSetAuthInfoW(r->binding, NULL, RPC_C_AUTHN_LEVEL_PKT_PRIVACY, RPC_C_AUTHN_GSS_NEGOTIATE,
                                        NULL, RPC_C_AUTHZ_NONE);
    return result(status);
}

static HRESULT open_by_runtime(const struct link_address *address, struct link **out)
{
    struct remote *r = memory_zero(1, sizeof *r);
    HRESULT hr = r ? remote_connect(r, address) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        if (r)
            close_remote(&r->link);
        return hr;
    }
    r->link.kind = &link_remote;
    *out = &r->link;
    return S_OK;
}

static HRESULT open_remote(const char *machine, struct link **out)
{
    struct link_address address;
    HRESULT hr = link_address_of(machine, &address);
    *out = NULL;
    if (FAILED(hr))
        return hr;
    if (!os_is_wine())
        hr = open_by_runtime(&address, out);
    else
        hr = address.port ? link_tcp_open(machine, &address, out) : HRESULT_FROM_WIN32(ERROR_BAD_NETPATH);
    link_address_free(&address);
    return hr;
}

/* C706 14.1: the format of numbers that ndr.h uses. */
#define LITTLE_ENDIAN_ASCII_IEEE 0x10u
#define INTEGERS                 0xF0u

static HRESULT call_remote(struct link *l, unsigned opnum, const uint8_t *request, size_t size, uint8_t **reply,
                           size_t *reply_size)
{
    RPC_MESSAGE message = {.Handle = ((struct remote *)l)->binding,
                           .DataRepresentation = LITTLE_ENDIAN_ASCII_IEEE,
                           .BufferLength = (unsigned)size,
                           .ProcNum = opnum,
                           .RpcInterfaceInformation = &perflib};
    *reply = NULL;
    *reply_size = 0;
    RPC_STATUS status = I_RpcGetBuffer(&message);
    if (status != RPC_S_OK)
        return result(status);
    memcpy(message.Buffer, request, size);
    status = I_RpcSendReceive(&message);
    if (status != RPC_S_OK)
        return result(status);
    bool readable = (message.DataRepresentation & INTEGERS) == (LITTLE_ENDIAN_ASCII_IEEE & INTEGERS);
    *reply = readable ? memory_copy(message.Buffer, message.BufferLength) : NULL;
    *reply_size = *reply ? message.BufferLength : 0;
    I_RpcFreeBuffer(&message);
    return *reply ? S_OK : readable ? E_OUTOFMEMORY : HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
}

const struct link_kind link_remote = {open_remote, call_remote, close_remote};
