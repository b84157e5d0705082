/* SPDX-License-Identifier: MIT */
/* Remote counters over TCP, without the RPC of the host OS. The test runs both sides of a real connection: logons,
   replies in many packets, rejected calls, and servers that do not use RPC. Under Wine, there is no other connection to
   remote counters. */
#include "engine/base/network.h"
#include "engine/base/thread.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/pcq_server.h"
#include "engine/pdh/remote/link.h"
#include "engine/pdh/remote/ndr.h"
#include "engine/pdh/remote/pcq_internal.h"
#include "engine/pdh/remote/pcq_session.h"
#include "engine/rpc/channel.h"
#include "engine/rpc/port.h"
#include "engine/rpc/remote_account.h"
#include "tests/unit/pcq_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct pcq_settings settings;
static struct pcq_service service;
static uint16_t port;
static struct link *client;

static bool find_account(void *user, const char *name, const char *domain, uint8_t hash[AUTH_HASH_BYTES],
                         char account[AUTH_NAME_BYTES])
{
    (void)user, (void)domain;
    if (strcmp(name, "reader") != 0 || FAILED(auth_hash_password("secret of tests", hash)))
        return false;
    text_fit(account, AUTH_NAME_BYTES, name);
    return true;
}
static const struct auth_accounts accounts = {.computer_name = "MACHINE", .find = find_account};

/* ---- the port, shared by all tests ---- */

static struct wakeup *session_ended;
static _Atomic unsigned sessions_begun, sessions_ended;

static HRESULT session_open(void *user, const char *address, const char *own, void **session)
{
    (void)user, (void)own, (void)address;
    sessions_begun++;
    return pcq_session_open(&service, "127.0.0.1", (struct pcq_session **)session);
}

static uint32_t session_call(void *user, void *session, const struct rpc_call *call, struct ndr_writer *stub)
{
    (void)user;
    return pcq_session_call(session, call, stub);
}

static void session_close(void *user, void *session)
{
    (void)user;
    pcq_session_close(session);
    sessions_ended++;
    wakeup_set(session_ended);
}

static void open_port(void)
{
    static const struct rpc_port_settings at = {
        .address = "127.0.0.1",
        .from = "*",
        .limits = {.delay_ms = 1, .failures = 100},
        .rpc_limits = {.request = PCQ_REQUEST_MOST, .response = PCQ_ANSWER_MOST}};
    const struct rpc_port_handler handler = {.open = session_open, .call = session_call, .close = session_close};
    if (port)
        return;
    assert_int_equal(wakeup_create(&session_ended), S_OK);
    assert_int_equal(rpc_port_open(&at, &accounts, pcq_service_serves, &handler, &port), S_OK);
}

/* Sets the account with which this process logs on; NULL: none. */
static void log_on_as(const char *user, const char *password)
{
    struct remote_account account;
    remote_account_forget_given();
    if (!user)
        return;
    assert_int_equal(remote_account_make(user, password, &account), S_OK);
    assert_int_equal(remote_account_give("127.0.0.1", &account), S_OK);
    remote_account_free(&account);
}

static HRESULT open_client(struct link **out)
{
    char machine[64];
    snprintf(machine, sizeof machine, "127.0.0.1:%u", (unsigned)port);
    return link_tcp.open(machine, out);
}

static void begin(const char *from)
{
    open_port();
    settings = (struct pcq_settings){.from = (char *)from};
    service = (struct pcq_service){.server = pcq_fixture(), .settings = &settings};
    log_on_as("reader", "secret of tests");
    assert_non_null(service.server);
    assert_int_equal(open_client(&client), S_OK);
}

static void end(void)
{
    if (client)
        link_tcp.close(client);
    client = NULL;
    while (sessions_ended != sessions_begun)
        wakeup_wait(session_ended, UINT32_MAX);
    pcq_server_close(service.server);
    assert_true(service.holds == 0);
}

static void ask(struct ndr_call *call, struct link_answer *answer)
{
    assert_int_equal(link_ask(client, call, answer), S_OK);
}

static void open_query(uint8_t handle[NDR_HANDLE_BYTES], uint32_t expected)
{
    struct ndr_call call = {.method = PCQ_OPEN_QUERY, .machine = "any"};
    struct link_answer answer = {0};
    ask(&call, &answer);
    assert_int_equal(answer.decoded.status, expected);
    memcpy(handle, answer.decoded.handle, NDR_HANDLE_BYTES);
    link_answer_free(&answer);
}

static void long_messages_take_many_packets(void **state)
{
    (void)state;
    enum { MANY = 3000, SIZE = 48 };
    struct link_answer answer = {0};
    struct ndr_call call = {.method = PCQ_ENUMERATE_SETS, .machine = "any"};
    begin(PCQ_FROM_HERE);
    ask(&call, &answer);
    assert_int_equal(answer.decoded.status, 0);
    assert_int_equal(answer.decoded.size, 2 * sizeof(GUID));
    struct ndr_call validate = {.method = PCQ_VALIDATE_COUNTERS, .size = MANY * SIZE, .add = true};
    open_query(validate.handle, 0);
    uint8_t *blocks = memory_zero(MANY, SIZE);
    assert_non_null(blocks);
    for (size_t i = 0; i < MANY; i++)
        put_u32(blocks + i * SIZE + 20, SIZE);
    validate.data = blocks;
    link_answer_free(&answer);
    ask(&validate, &answer);
    assert_int_equal(answer.decoded.status, 0);
    assert_int_equal(answer.decoded.size, MANY * SIZE);
    for (size_t i = 0; i < MANY; i++) /* the counterset is unknown; each identifier has its own status */
        assert_int_equal(get_u32(answer.decoded.data + i * SIZE + 16), PCQ_GUID_NOT_FOUND);
    link_answer_free(&answer);
    memory_free(blocks);
    end();
}

static void other_addresses_are_rejected(void **state)
{
    (void)state;
    uint8_t handle[NDR_HANDLE_BYTES];
    struct ndr_call call = {.method = PCQ_ENUMERATE_SETS, .machine = "any"};
    struct link_answer answer = {0};
    begin("10.99.99.99");
    ask(&call, &answer);
    assert_int_equal(answer.decoded.status, ERROR_ACCESS_DENIED);
    assert_int_equal(answer.decoded.size, 0);
    link_answer_free(&answer);
    open_query(handle, ERROR_ACCESS_DENIED);
    end();
}

/* Counters reveal what runs on a computer: access to the port must not be sufficient to read them. */
static void callers_without_an_account_are_rejected(void **state)
{
    (void)state;
    uint8_t handle[NDR_HANDLE_BYTES];
    struct ndr_call call = {.method = PCQ_ENUMERATE_SETS, .machine = "any"};
    struct link_answer answer = {0};
    begin(PCQ_FROM_HERE);
    link_tcp.close(client);
    log_on_as(NULL, NULL);
    assert_int_equal(open_client(&client), S_OK);
    ask(&call, &answer);
    assert_int_equal(answer.decoded.status, ERROR_ACCESS_DENIED);
    assert_int_equal(answer.decoded.size, 0);
    link_answer_free(&answer);
    open_query(handle, ERROR_ACCESS_DENIED);
    settings.unauthenticated = true; /* an administrator can allow anonymous callers */
    ask(&call, &answer);
    assert_int_equal(answer.decoded.status, ERROR_SUCCESS);
    link_answer_free(&answer);
    end();
}

static void wrong_passwords_are_rejected(void **state)
{
    (void)state;
    struct ndr_call call = {.method = PCQ_ENUMERATE_SETS, .machine = "any"};
    struct link_answer answer = {0};
    begin(PCQ_FROM_HERE);
    settings.unauthenticated = true; /* a failed logon must not count as an anonymous caller */
    static const char *const wrong[][2] = {{"reader", "another"}, {"nobody", "secret of tests"}};
    for (size_t i = 0; i < 2; i++) {
        link_tcp.close(client);
        log_on_as(wrong[i][0], wrong[i][1]);
        assert_int_equal(open_client(&client), S_OK);
        assert_int_equal(link_ask(client, &call, &answer), HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED));
    }
    end();
}

/* MS-PCQ 3.1.4: with integrity alone, the values would be readable on the network. */
static void integrity_is_not_enough(void **state)
{
    (void)state;
    static const uint8_t any[] = {2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 'a', 0, 0, 0, 16, 0, 0, 0};
    struct auth_credentials credentials = {.user = "reader", .domain = ""};
    struct rpc_channel *channel;
    char text[8];
    const uint8_t *answer;
    size_t size;
    begin(PCQ_FROM_HERE);
    link_tcp.close(client);
    client = NULL;
    assert_int_equal(auth_hash_password("secret of tests", credentials.hash), S_OK);
    snprintf(text, sizeof text, "%u", (unsigned)port);
    assert_int_equal(rpc_channel_open(&(struct rpc_target){.host = "127.0.0.1",
                                                           .port = text,
                                                           .credentials = &credentials,
                                                           .level = AUTH_LEVEL_INTEGRITY},
                                      &channel),
                     S_OK);
    assert_int_equal(rpc_channel_call(channel, &pcq_interface, PCQ_INTERFACE_VERSION, NULL, PCQ_ENUMERATE_SETS, any,
                                      sizeof any, &answer, &size),
                     S_OK);
    assert_int_equal(get_u32(answer + size - 4), ERROR_ACCESS_DENIED);
    rpc_channel_close(channel);
    end();
}

/* If a call has a handle that is from another connection, was closed or was invented, the call fails and the link
   ends. */
static void handles_belong_to_one_connection(void **state)
{
    (void)state;
    uint8_t *reply;
    size_t size;
    struct ndr_call call = {.method = PCQ_CLOSE_QUERY};
    struct link_answer answer = {0};
    begin(PCQ_FROM_HERE);
    open_query(call.handle, 0);
    uint8_t first[NDR_HANDLE_BYTES];
    memcpy(first, call.handle, sizeof first);
    ask(&call, &answer);
    assert_int_equal(answer.decoded.status, 0);
    assert_true(FAILED(link_ask(client, &call, &answer)));
    link_tcp.close(client);
    assert_int_equal(open_client(&client), S_OK);
    open_query(call.handle, 0);
    assert_memory_not_equal(call.handle, first, sizeof first);
    assert_true(FAILED(link_tcp.call(client, PCQ_QUERY_INFO, first, 2, &reply, &size)));
    assert_null(reply);
    assert_true(FAILED(link_tcp.call(client, 8, first, sizeof first, &reply, &size)));
    end();
}

/* If a client disconnects without closing its queries, the server must free them, because it allows 64 per client. */
static void closed_connection_frees_its_queries(void **state)
{
    (void)state;
    uint8_t handle[NDR_HANDLE_BYTES];
    begin(PCQ_FROM_HERE);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < PCQ_QUERIES_OF_CLIENT; i++)
            open_query(handle, 0);
        open_query(handle, PCQ_NO_RESOURCES);
        link_tcp.close(client);
        while (sessions_ended != sessions_begun) /* the server notices the disconnect a little later */
            wakeup_wait(session_ended, UINT32_MAX);
        assert_int_equal(open_client(&client), S_OK);
    }
    end();
}

/* The port of a foreign server. */
static uint16_t other_port;

static void listen_somewhere(struct socket_end **listener)
{
    char address[SOCKET_ADDRESS_BYTES];
    assert_int_equal(socket_listen_at("127.0.0.1", 0, listener), S_OK);
    socket_own_address(*listener, address, &other_port);
}

/* A port of another kind of server causes an error, not a wait. */
static void other_servers_are_reported(void **state)
{
    (void)state;
    struct link *l;
    struct socket_end *s;
    char machine[64];
    listen_somewhere(&s);
    socket_close(s);
    snprintf(machine, sizeof machine, "127.0.0.1:%u", (unsigned)other_port);
    assert_int_equal(link_tcp.open(machine, &l), HRESULT_FROM_WIN32(1722)); /* RPC_S_SERVER_UNAVAILABLE */
    assert_null(l);
    assert_int_equal(link_tcp.open("nowhere.invalid:47", &l), HRESULT_FROM_WIN32(1722));
    assert_int_equal(link_tcp.open("nowhere", &l), HRESULT_FROM_WIN32(ERROR_BAD_NETPATH));
    assert_int_equal(link_tcp.open("somewhere:0", &l), E_INVALIDARG);
}

/* Receives one packet and returns its length. */
static size_t receive_packet(struct socket_end *s, uint8_t bytes[65536])
{
    if (socket_receive(s, bytes, 16) != S_OK)
        return 0;
    const size_t length = get_u16(bytes + 8);
    return socket_receive(s, bytes + 16, length - 16) == S_OK ? length : 0;
}

/* Accepts every bind, and answers calls with empty packets until the client stops reading them. */
static void send_empty_packets(void *listener)
{
    struct socket_end *s;
    char address[SOCKET_ADDRESS_BYTES];
    /* `bound` accepts a bind: no secondary address, context 0 accepted. Each reply gets the call id of its request. */
    static uint8_t received[65536], bound[16 + 40] = {5, 0, 12, 3, 0x10, 0, 0, 0, 56};
    static uint8_t nothing[24] = {5, 0, 2, 1, 0x10, 0, 0, 0, 24};
    put_u16(bound + 16, 5840);
    put_u16(bound + 18, 5840);
    put_u32(bound + 28, 1);
    if (SUCCEEDED(socket_accept(listener, &s, address))) {
        if (receive_packet(s, received)) {
            memcpy(bound + 12, received + 12, 4);
            if (SUCCEEDED(socket_send(s, bound, sizeof bound)) && receive_packet(s, received)) {
                memcpy(nothing + 12, received + 12, 4);
                while (SUCCEEDED(socket_send(s, nothing, sizeof nothing)))
                    ;
            }
        }
        socket_close(s);
    }
}

/* A reply without an end must fail. Otherwise a client thread would run forever, and the client would get no counters
   of that computer until it restarts. */
static void endless_answer_fails(void **state)
{
    (void)state;
    struct thread *thread;
    struct link_answer answer = {0};
    struct ndr_call call = {.method = PCQ_ENUMERATE_SETS, .machine = "any"};
    struct socket_end *listener;
    char machine[64];
    log_on_as(NULL, NULL);
    listen_somewhere(&listener);
    assert_int_equal(thread_start(send_empty_packets, listener, &thread), S_OK);
    snprintf(machine, sizeof machine, "127.0.0.1:%u", (unsigned)other_port);
    assert_int_equal(link_tcp.open(machine, &client), S_OK);
    assert_int_equal(link_ask(client, &call, &answer), HRESULT_FROM_WIN32(1726)); /* RPC_S_CALL_FAILED */
    link_tcp.close(client);
    client = NULL;
    thread_wait(thread, UINT32_MAX);
    thread_close(thread);
    socket_close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_messages_take_many_packets),
        cmocka_unit_test(other_addresses_are_rejected),
        cmocka_unit_test(callers_without_an_account_are_rejected),
        cmocka_unit_test(wrong_passwords_are_rejected),
        cmocka_unit_test(integrity_is_not_enough),
        cmocka_unit_test(handles_belong_to_one_connection),
        cmocka_unit_test(closed_connection_frees_its_queries),
        cmocka_unit_test(other_servers_are_reported),
        cmocka_unit_test(endless_answer_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
