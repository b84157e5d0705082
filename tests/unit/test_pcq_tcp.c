/* SPDX-License-Identifier: MIT */
/* Counters by TCP without the host OS' RPC, both sides through a real connection: answers of many packets, refusals,
   and servers that are not RPC. Without it there are no remote counters under Wine. */
#include "engine/base/thread.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/pcq_server.h"
#include "engine/pdh/remote/link.h"
#include "engine/pdh/remote/ndr.h"
#include "engine/pdh/remote/pcq_internal.h"
#include "engine/pdh/remote/rpc.h"
#include "pcq_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct rpc_service service;
static struct socket_end *listener;
static uint16_t port;
static struct link *client;

/* Serves connections one after another; a silent client ends it. */
static void serve(void *user)
{
    struct wakeup *ended = user;
    for (bool more = true; more;) {
        struct socket_end *s;
        char address[SOCKET_ADDRESS_BYTES];
        if (FAILED(socket_accept(listener, &s, address)))
            break;
        struct pdu_stream stream = pdu_stream_socket(s);
        uint8_t first = 0;
        rpc_connection_serve(&service, &stream, address);
        more = socket_receive(s, &first, 1) != S_OK || first != '.';
        socket_close(s);
    }
    wakeup_set(ended);
}

static HRESULT open_client(struct link **out)
{
    char machine[64];
    snprintf(machine, sizeof machine, "127.0.0.1:%u", (unsigned)port);
    return link_tcp.open(machine, out);
}

static struct wakeup *server_ended;

static void listen_somewhere(void)
{
    HRESULT hr = E_FAIL;
    for (port = 47110; FAILED(hr) && port < 47910; port++)
        hr = socket_listen(port, &listener);
    port--;
    assert_int_equal(hr, S_OK);
}

static void begin(const char *from)
{
    struct thread *thread;
    service = (struct rpc_service){.server = pcq_fixture(), .from = from};
    assert_non_null(service.server);
    listen_somewhere();
    assert_int_equal(wakeup_create(&server_ended), S_OK);
    assert_int_equal(thread_start(serve, server_ended, &thread), S_OK);
    thread_close(thread);
    assert_int_equal(open_client(&client), S_OK);
}

static void end(void)
{
    struct socket_end *s;
    char text[8];
    if (client)
        link_tcp.close(client);
    client = NULL;
    snprintf(text, sizeof text, "%u", (unsigned)port);
    /* Sixteen bytes that are not a packet, and the packet that ends the server. */
    assert_int_equal(socket_connect("127.0.0.1", text, 5000, &s), S_OK);
    assert_int_equal(socket_send(s, "no packet of RPC.", 17), S_OK);
    wakeup_wait(server_ended, UINT32_MAX);
    wakeup_free(server_ended);
    socket_close(s);
    socket_close(listener);
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
    for (size_t i = 0; i < MANY; i++) /* unknown counterset: the status of each is in its own place */
        assert_int_equal(get_u32(answer.decoded.data + i * SIZE + 16), PCQ_GUID_NOT_FOUND);
    link_answer_free(&answer);
    memory_free(blocks);
    end();
}

static void other_addresses_are_refused(void **state)
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

/* A handle of another connection, a closed one, and an invented one: each fails its call and ends its link. */
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

/* A client that leaves without closing its queries leaves none: the server allows 64 per client. */
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
        assert_int_equal(open_client(&client), S_OK);
    }
    end();
}

/* A port of another server is a failure, not a wait. */
static void other_servers_are_reported(void **state)
{
    (void)state;
    struct link *l;
    begin(PCQ_FROM_HERE);
    end();
    assert_int_equal(open_client(&l), HRESULT_FROM_WIN32(1722)); /* RPC_S_SERVER_UNAVAILABLE */
    assert_null(l);
    assert_int_equal(link_tcp.open("nowhere.invalid:47", &l), HRESULT_FROM_WIN32(1722));
    assert_int_equal(link_tcp.open("nowhere", &l), HRESULT_FROM_WIN32(ERROR_BAD_NETPATH));
    assert_int_equal(link_tcp.open("somewhere:0", &l), E_INVALIDARG);
}

/* Accepts every bind, and answers calls with empty packets as long as the client reads them. */
static void answer_nothing(void *user)
{
    struct wakeup *ended = user;
    struct socket_end *s;
    char address[SOCKET_ADDRESS_BYTES];
    struct pdu *p = memory_alloc(sizeof *p);
    if (p && SUCCEEDED(socket_accept(listener, &s, address))) {
        struct pdu_stream stream = pdu_stream_socket(s);
        struct byte_buffer bound = {0}, nothing = {0};
        HRESULT hr = pdu_receive(&stream, p);
        size_t at = pdu_begin(&bound, PDU_BIND_ACK, PDU_FIRST | PDU_LAST, p->call);
        static const uint8_t taken[16 + 24]; /* no secondary address, context 0 accepted */
        byte_buffer_put(&bound, taken, sizeof taken);
        pdu_end(&bound, at);
        if (hr == S_OK && SUCCEEDED(socket_send(s, bound.bytes, bound.size)) && pdu_receive(&stream, p) == S_OK) {
            at = pdu_begin(&nothing, PDU_RESPONSE, PDU_FIRST, p->call);
            byte_buffer_put(&nothing, taken, PDU_CALL_HEADER);
            pdu_end(&nothing, at);
            while (SUCCEEDED(socket_send(s, nothing.bytes, nothing.size)))
                ;
        }
        memory_free(bound.bytes);
        memory_free(nothing.bytes);
        socket_close(s);
    }
    memory_free(p);
    wakeup_set(ended);
}

/* Otherwise a thread of the client would run forever, and the client would get no counters of that computer until a
   restart. */
static void endless_answer_fails(void **state)
{
    (void)state;
    struct thread *thread;
    struct link_answer answer = {0};
    struct ndr_call call = {.method = PCQ_ENUMERATE_SETS, .machine = "any"};
    listen_somewhere();
    assert_int_equal(wakeup_create(&server_ended), S_OK);
    assert_int_equal(thread_start(answer_nothing, server_ended, &thread), S_OK);
    thread_close(thread);
    assert_int_equal(open_client(&client), S_OK);
    assert_int_equal(link_ask(client, &call, &answer), HRESULT_FROM_WIN32(1726)); /* RPC_S_CALL_FAILED */
    link_tcp.close(client);
    client = NULL;
    wakeup_wait(server_ended, UINT32_MAX);
    wakeup_free(server_ended);
    socket_close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_messages_take_many_packets),  cmocka_unit_test(other_addresses_are_refused),
        cmocka_unit_test(handles_belong_to_one_connection), cmocka_unit_test(closed_connection_frees_its_queries),
        cmocka_unit_test(other_servers_are_reported),       cmocka_unit_test(endless_answer_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
