/* SPDX-License-Identifier: MIT */
/* Any bytes to the server's side of a connection, before and after a logon, and to the client's side. The first byte
   selects: the bytes unchanged, PDUs with valid headers, or calls that a client has signed. */
#include "engine/base/memory.h"
#include "engine/rpc/pdu/pdu.h"
#include "tests/rpc/made_up_class.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RAW = 1, LOGGED_ON = 2, TO_CLIENT = 4 };

static struct orpc_server *server;
static struct orpc_session *session;

static bool serves(void *user, const GUID *iid, uint32_t version)
{
    (void)user;
    return orpc_server_serves(server, iid, version);
}
static const struct rpc_service service = {.accounts = &made_up_accounts, .serves = serves, .port = 135};

static void pump(struct rpc_connection *c, const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size && !rpc_connection_is_over(c);) {
        struct rpc_call call;
        at += rpc_connection_take(c, bytes + at, size - at, 1);
        if (rpc_connection_call(c, &call)) {
            struct ndr_writer stub = {0};
            const uint32_t fault = orpc_session_call(session, &call, 1, &stub);
            rpc_connection_answer(c, fault, stub.bytes, stub.size);
            ndr_writer_free(&stub);
        }
    }
}

/* Sends PDUs whose kind, flags and length are from the input; the rest of the header is valid. */
static void pump_pdus(struct rpc_connection *c, const uint8_t *data, size_t size)
{
    static const uint8_t types[] = {PDU_REQUEST, PDU_REQUEST, PDU_BIND, PDU_ALTER_CONTEXT, PDU_AUTH3, PDU_ORPHANED, 99};
    while (size >= 4) {
        const size_t length = data[2] < size - 4 ? data[2] : size - 4, token = data[3];
        struct ndr_writer w = {0};
        pdu_start(&w, types[data[0] % sizeof types], data[1], 1);
        ndr_write_bytes(&w, data + 4, length);
        pdu_finish(&w, 0, token + PDU_TRAILER < length ? token : 0);
        pump(c, w.bytes, w.size);
        ndr_writer_free(&w);
        data += 4 + length;
        size -= 4 + length;
    }
}

static void exchange(struct rpc_connection *c, struct rpc_client *client)
{
    for (size_t size; rpc_client_output(client, &size);) {
        const uint8_t *bytes = rpc_client_output(client, &size);
        pump(c, bytes, size);
        rpc_client_sent(client, size);
        bytes = rpc_connection_output(c, &size);
        if (bytes) {
            rpc_client_take(client, bytes, size);
            rpc_connection_sent(c, size);
        }
    }
}

/* The input is a sequence of calls: interface, opnum, length, stub. */
static void signed_calls(struct rpc_connection *c, struct rpc_client *client, const uint8_t *data, size_t size)
{
    const GUID *const iids[] = {&orpc_iid_scm_activator, &orpc_iid_activation, &orpc_iid_rem_unknown, &made_up_iid};
    for (size_t i = 0; i < 4; i++) {
        rpc_client_bind(client, iids[i], 0);
        exchange(c, client);
    }
    while (size >= 3 && rpc_client_state(client) == RPC_CLIENT_READY) {
        const size_t length = data[2] < size - 3 ? data[2] : size - 3;
        struct ndr_writer w = {0};
        orpc_write_this(&w, &made_up_iid);
        ndr_write_bytes(&w, data + 3, length);
        rpc_client_call(client, iids[data[0] % 4], data[0] & 4 ? &made_up_class : NULL, data[1], w.bytes, w.size);
        ndr_writer_free(&w);
        exchange(c, client);
        data += 3 + length;
        size -= 3 + length;
    }
}

static void to_client(struct rpc_client *client, const uint8_t *data, size_t size)
{
    size_t ignored;
    uint32_t fault;
    rpc_client_bind(client, &made_up_iid, 0);
    rpc_client_take(client, data, size / 2);
    rpc_client_call(client, &made_up_iid, NULL, 3, data, size / 4);
    rpc_client_take(client, data + size / 2, size - size / 2);
    rpc_client_answer(client, &ignored, &fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct dual_strings bindings = {.count = 1, .addresses = {"127.0.0.1"}};
    struct auth_credentials credentials = {.user = "tester", .domain = ""};
    struct rpc_connection *c;
    struct rpc_client *client;
    if (!size)
        return 0;
    const uint8_t how = *data;
    auth_hash_password("secret of tests", credentials.hash);
    if (FAILED(orpc_server_open(&made_up_handler, NULL, &server)) ||
        FAILED(orpc_session_open(server, &bindings, &session)) || FAILED(rpc_connection_open(&service, 1, &c)) ||
        FAILED(rpc_client_open(how & 8 ? NULL : &credentials, how & 16 ? AUTH_SPNEGO : AUTH_NTLM, AUTH_LEVEL_PRIVACY,
                               &client)))
        abort();
    if (how & TO_CLIENT)
        to_client(client, data + 1, size - 1);
    else if (how & LOGGED_ON)
        signed_calls(c, client, data + 1, size - 1);
    else if (how & RAW)
        pump(c, data + 1, size - 1);
    else
        pump_pdus(c, data + 1, size - 1);
    rpc_connection_close(c);
    rpc_client_close(client);
    orpc_session_close(session);
    orpc_server_close(server);
    if (made_up_objects())
        abort();
    return 0;
}
