/* SPDX-License-Identifier: MIT */
/* A DCE RPC client that encodes PDUs and NDR itself. */
#include "tests/wire/rpc_client.h"

#include <stdlib.h>
#include <string.h>

#define HEADER   16
#define REQUEST  0
#define RESPONSE 2
#define FAULT    3
#define BIND     11
#define BIND_ACK 12
#define FIRST    1
#define LAST     2

bool rpc_send(struct rpc_client *c, const void *bytes, size_t size)
{
    DWORD done;
    if (c->socket == INVALID_SOCKET)
        return WriteFile(c->pipe, bytes, (DWORD)size, &done, NULL) && done == size;
    return send(c->socket, bytes, (int)size, 0) == (int)size;
}

static bool take(struct rpc_client *c, void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        DWORD done = 0;
        if (c->socket != INVALID_SOCKET) {
            int n = recv(c->socket, (char *)bytes + at, (int)(size - at), 0);
            done = n > 0 ? (DWORD)n : 0;
        } else if (!ReadFile(c->pipe, (uint8_t *)bytes + at, (DWORD)(size - at), &done, NULL) &&
                   GetLastError() != ERROR_MORE_DATA) {
            done = 0;
        }
        if (!done)
            return false;
        at += done;
    }
    return true;
}

/* Receives one PDU: type, flags and body (from malloc). Returns false if the connection has ended. */
static bool take_pdu(struct rpc_client *c, uint8_t *type, uint8_t *flags, uint8_t **body, size_t *size)
{
    uint8_t head[HEADER];
    uint16_t length;
    *body = NULL;
    if (!take(c, head, sizeof head))
        return false;
    memcpy(&length, head + 8, sizeof length);
    *type = head[2];
    *flags = head[3];
    *size = length < HEADER ? 0 : (size_t)length - HEADER;
    *body = malloc(*size + 1);
    return *body && take(c, *body, *size);
}

static bool send_pdu(struct rpc_client *c, uint8_t type, uint8_t flags, const void *body, size_t size)
{
    uint8_t head[HEADER] = {5, 0, type, flags, 0x10}, *all = malloc(HEADER + size);
    uint16_t length = (uint16_t)(HEADER + size);
    memcpy(head + 8, &length, sizeof length);
    memcpy(head + 12, &c->call, sizeof c->call);
    if (!all)
        return false;
    memcpy(all, head, HEADER);
    memcpy(all + HEADER, body, size);
    bool ok = rpc_send(c, all, HEADER + size);
    free(all);
    return ok;
}

static bool bind_interface(struct rpc_client *c)
{
    /* Fragments of 4280 bytes, no association group, one context with PerflibV2 1.0 and NDR 2.0. */
    static const uint8_t body[] = {0xB8, 0x10, 0xB8, 0x10, 0,    0,    0,    0,    1,    0,    0,    0,    0,    0,
                                   1,    0,    0xC5, 0x86, 0x5A, 0xDA, 0xC2, 0x12, 0x43, 0x49, 0xAB, 0x30, 0x7F, 0x74,
                                   0xA8, 0x13, 0xD8, 0x53, 1,    0,    0,    0,    0x04, 0x5D, 0x88, 0x8A, 0xEB, 0x1C,
                                   0xC9, 0x11, 0x9F, 0xE8, 0x08, 0x00, 0x2B, 0x10, 0x48, 0x60, 2,    0,    0,    0};
    uint8_t type, flags, *answer = NULL;
    size_t size;
    bool ok = send_pdu(c, BIND, FIRST | LAST, body, sizeof body) && take_pdu(c, &type, &flags, &answer, &size) &&
              type == BIND_ACK && size >= 24;
    /* The result of the only context is 24 bytes before the end: result, reason, syntax. */
    ok = ok && answer[size - 24] == 0 && answer[size - 23] == 0;
    free(answer);
    return ok;
}

bool rpc_connect_port(struct rpc_client *c, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *c = (struct rpc_client){.socket = socket(AF_INET, SOCK_STREAM, 0), .pipe = INVALID_HANDLE_VALUE, .call = 1};
    if (c->socket != INVALID_SOCKET && connect(c->socket, (struct sockaddr *)&address, sizeof address) == 0 &&
        bind_interface(c))
        return true;
    rpc_disconnect(c);
    return false;
}

bool rpc_connect_pipe(struct rpc_client *c, const char *name)
{
    DWORD mode = PIPE_READMODE_MESSAGE;
    *c = (struct rpc_client){.socket = INVALID_SOCKET, .call = 1};
    c->pipe = CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    if (c->pipe != INVALID_HANDLE_VALUE && SetNamedPipeHandleState(c->pipe, &mode, NULL, NULL) && bind_interface(c))
        return true;
    rpc_disconnect(c);
    return false;
}

void rpc_disconnect(struct rpc_client *c)
{
    if (c->socket != INVALID_SOCKET)
        closesocket(c->socket);
    if (c->pipe != INVALID_HANDLE_VALUE)
        CloseHandle(c->pipe);
    c->socket = INVALID_SOCKET;
    c->pipe = INVALID_HANDLE_VALUE;
}

void ndr_align(struct ndr *n, size_t to)
{
    while (n->size % to)
        ndr_put(n, "", 1);
}

void ndr_put(struct ndr *n, const void *bytes, size_t size)
{
    if (size > n->room - n->size)
        abort();
    memcpy(n->bytes + n->size, bytes, size);
    n->size += size;
}

void ndr_put_number(struct ndr *n, uint32_t number)
{
    ndr_align(n, 4);
    ndr_put(n, &number, sizeof number);
}

void ndr_put_text(struct ndr *n, const char *text)
{
    uint32_t length = (uint32_t)strlen(text) + 1;
    ndr_put_number(n, length);
    ndr_put_number(n, 0);
    ndr_put_number(n, length);
    for (uint32_t i = 0; i < length; i++)
        ndr_put(n, &(uint16_t){(uint8_t)text[i]}, 2);
}

const uint8_t *ndr_take(struct ndr *n, size_t size)
{
    if (size > n->size - n->at)
        abort();
    n->at += size;
    return n->bytes + n->at - size;
}

uint32_t ndr_number(struct ndr *n)
{
    uint32_t number;
    n->at = (n->at + 3) / 4 * 4;
    if (n->at > n->size)
        abort();
    memcpy(&number, ndr_take(n, sizeof number), sizeof number);
    return number;
}

static bool send_request(struct rpc_client *c, uint16_t opnum, const struct ndr *in, size_t fragment)
{
    for (size_t at = 0, part = 0; at == 0 || at < in->size; at += part) {
        part = in->size - at < fragment ? in->size - at : fragment;
        uint8_t *body = malloc(8 + part);
        uint32_t hint = (uint32_t)(in->size - at);
        if (!body)
            return false;
        memcpy(body, &hint, 4);
        memset(body + 4, 0, 2);
        memcpy(body + 6, &opnum, 2);
        memcpy(body + 8, in->bytes + at, part);
        uint8_t flags = (uint8_t)((at ? 0 : FIRST) | (at + part == in->size ? LAST : 0));
        bool ok = send_pdu(c, REQUEST, flags, body, 8 + part);
        free(body);
        if (!ok)
            return false;
        if (!part)
            break;
    }
    return true;
}

uint32_t rpc_call(struct rpc_client *c, uint16_t opnum, const struct ndr *in, size_t fragment, struct ndr *out)
{
    out->size = out->at = 0;
    c->call++;
    if (!send_request(c, opnum, in, fragment))
        return UINT32_MAX;
    for (bool last = false; !last;) {
        uint8_t type, flags, *body;
        size_t size;
        uint32_t status = UINT32_MAX;
        bool ok = take_pdu(c, &type, &flags, &body, &size) && size >= 8;
        if (ok && type == FAULT && size >= 12)
            memcpy(&status, body + 8, sizeof status);
        ok = ok && type == RESPONSE;
        if (ok)
            ndr_put(out, body + 8, size - 8);
        free(body);
        if (!ok)
            return status;
        last = (flags & LAST) != 0;
    }
    return 0;
}
