/* SPDX-License-Identifier: MIT */
/* The DCOM client connected to our server over TCP: the lifetime of an object, calls by name, references and pings,
   several threads, and the errors for a wrong password or an unreachable server. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/thread.h"
#include "engine/rpc/orpc_client.h"
#include "engine/rpc/port.h"
#include "tests/rpc/made_up_class.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

enum { RUN_DOWN_MS = 1500, PING_MS = 100 };

static struct orpc_server *server;
static char port_text[8], advertised[8]; /* the server's port, and the address that it tells clients */
static struct wakeup *session_ended;
static _Atomic unsigned begun, ended;

static HRESULT session_open(void *user, const char *address, const char *own, void **session)
{
    struct dual_strings bindings = {.count = 1};
    (void)user, (void)address;
    snprintf(bindings.addresses[0], sizeof bindings.addresses[0], "%s[%s]", own, advertised);
    begun++;
    return orpc_session_open(server, &bindings, (struct orpc_session **)session);
}

static uint32_t session_call(void *user, void *session, const struct rpc_call *call, struct ndr_writer *stub)
{
    (void)user;
    return orpc_session_call(session, call, clock_monotonic_ms(), stub);
}

static void session_close(void *user, void *session)
{
    (void)user;
    orpc_session_close(session);
    ended++;
    wakeup_set(session_ended);
}

static bool serves(void *user, const GUID *iid, uint32_t version)
{
    return orpc_server_serves(*(struct orpc_server **)user, iid, version);
}

static int open_server(void **state)
{
    static const struct rpc_port_settings at = {
        .address = "127.0.0.1", .from = "*", .limits = {.delay_ms = 1, .failures = 1000}};
    const struct rpc_port_handler handler = {
        .user = &server, .open = session_open, .call = session_call, .close = session_close};
    uint16_t port;
    (void)state;
    if (FAILED(orpc_server_open(&made_up_handler, &(struct orpc_limits){.run_down_ms = RUN_DOWN_MS}, &server)) ||
        FAILED(wakeup_create(&session_ended)) || FAILED(rpc_port_open(&at, &made_up_accounts, serves, &handler, &port)))
        return -1;
    snprintf(port_text, sizeof port_text, "%u", port);
    snprintf(advertised, sizeof advertised, "%u", port);
    return 0;
}

static struct orpc_peer *open_peer_as(const char *user, const char *password)
{
    struct orpc_peer *p;
    struct auth_credentials credentials = {.user = user, .domain = ""};
    assert_int_equal(auth_hash_password(password, credentials.hash), S_OK);
    const struct orpc_target target = {
        .host = "127.0.0.1", .port = advertised, .credentials = &credentials, .ping_ms = PING_MS};
    assert_int_equal(orpc_peer_open(&target, &p), S_OK);
    return p;
}

static struct orpc_peer *open_peer(void)
{
    return open_peer_as("tester", "secret of tests");
}

static struct orpc_object *create(struct orpc_peer *p, const GUID *iid)
{
    struct orpc_object *o;
    assert_int_equal(orpc_activate(p, &made_up_class, iid, &o), S_OK);
    return o;
}

/* When everything is released, the server must free all objects immediately, without a run-down. */
static void expect_nothing_left(void)
{
    while (ended != begun)
        wakeup_wait(session_ended, UINT32_MAX);
    assert_int_equal(orpc_server_objects(server), 0);
    assert_int_equal(made_up_objects(), 0);
}

static uint32_t add(struct orpc_object *o, uint32_t a, uint32_t b)
{
    struct ndr_writer request = {0};
    struct orpc_answer answer;
    assert_int_equal(orpc_request_begin(&request), S_OK);
    ndr_write_u32(&request, a);
    ndr_write_u32(&request, b);
    assert_int_equal(orpc_call(o, MADE_UP_ADD, &request, &answer), S_OK);
    const uint32_t sum = ndr_read_u32(&answer.reader);
    assert_int_equal(ndr_read_u32(&answer.reader), S_OK);
    orpc_answer_free(&answer);
    return sum;
}

static void objects_are_created_called_and_released(void **state)
{
    struct orpc_object *other;
    struct ndr_writer request = {0};
    struct orpc_answer answer;
    struct objref *reference;
    (void)state;
    struct orpc_peer *p = open_peer();
    struct orpc_object *o = create(p, &made_up_iid), *child;
    assert_int_equal(add(o, 40, 2), 42);
    assert_int_equal(orpc_object_query(o, &made_up_other_iid, &other), S_OK);
    assert_int_equal(orpc_object_query(o, &(GUID){1, 2, 3, {4}}, &child), E_NOINTERFACE);
    assert_int_equal(orpc_request_begin(&request), S_OK);
    assert_int_equal(orpc_call(o, MADE_UP_CHILD, &request, &answer), S_OK);
    ndr_read_object(&answer.reader, &answer.arena, &reference);
    assert_int_equal(orpc_object_adopt(o, reference, &child), S_OK);
    orpc_answer_free(&answer);
    assert_int_equal(add(child, 1, 1), 2);
    assert_int_equal(made_up_objects(), 2);
    orpc_object_release(o);
    orpc_object_release(other);
    assert_int_equal(made_up_objects(), 1);
    orpc_object_release(child);
    orpc_peer_release(p);
    expect_nothing_left();
}

static void calls_by_name_return_values_and_error_messages(void **state)
{
    const struct ndr_variant numbers[2] = {{.vt = NDR_I4, .number = 40}, {.vt = NDR_I4, .number = 2}};
    struct orpc_answer answer;
    struct ndr_variant value;
    (void)state;
    struct orpc_peer *p = open_peer();
    struct orpc_object *o = create(p, &dispatch_iid);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(orpc_invoke(o, "Add", ORPC_METHOD, numbers, 2, &answer, &value), S_OK);
        assert_int_equal(value.vt, NDR_I4);
        assert_int_equal(value.number, 42);
        orpc_answer_free(&answer);
    }
    assert_int_equal(orpc_invoke(o, "Fail", ORPC_METHOD, NULL, 0, &answer, NULL), E_FAIL);
    assert_string_equal(error_text(E_FAIL), "why");
    orpc_answer_free(&answer);
    const HRESULT unknown = (HRESULT)0x80020006; /* DISP_E_UNKNOWNNAME */
    assert_int_equal(orpc_invoke(o, "Nothing", ORPC_METHOD, NULL, 0, &answer, NULL), unknown);
    assert_non_null(strstr(error_text(unknown), "'Nothing'"));
    orpc_answer_free(&answer);
    orpc_object_release(o);
    assert_non_null(strstr(error_text(unknown), "'Nothing'")); /* the release did not change this text */
    orpc_peer_release(p);
    expect_nothing_left();
}

/* An object that a program has but does not use must continue to exist. */
static void held_objects_outlive_the_run_down(void **state)
{
    (void)state;
    struct orpc_peer *p = open_peer();
    struct orpc_object *o = create(p, &made_up_iid);
    const uint64_t begin = clock_monotonic_ms();
    while (clock_monotonic_ms() - begin < 2 * RUN_DOWN_MS) {
        orpc_server_run_down(server, clock_monotonic_ms());
        thread_sleep(PING_MS);
    }
    assert_int_equal(add(o, 1, 2), 3);
    orpc_object_release(o);
    orpc_peer_release(p);
    expect_nothing_left();
}

static void many_objects_are_held(void **state)
{
    enum { COUNT = 300 }; /* more objects than a ping set can contain */
    static struct orpc_object *all[COUNT];
    (void)state;
    struct orpc_peer *p = open_peer();
    for (size_t i = 0; i < COUNT; i++)
        all[i] = create(p, &made_up_iid);
    assert_int_equal(made_up_objects(), COUNT);
    const uint64_t begin = clock_monotonic_ms();
    while (clock_monotonic_ms() - begin < 2 * RUN_DOWN_MS) {
        orpc_server_run_down(server, clock_monotonic_ms());
        thread_sleep(PING_MS);
    }
    assert_int_equal(made_up_objects(), COUNT);
    for (size_t i = 0; i < COUNT; i++)
        orpc_object_release(all[i]);
    orpc_peer_release(p);
    expect_nothing_left();
}

static void call_many_times(void *object)
{
    for (uint32_t i = 0; i < 100; i++)
        if (add(object, i, i) != 2 * i)
            abort();
}

static void threads_call_at_the_same_time(void **state)
{
    enum { THREADS = 6 };
    struct thread *threads[THREADS];
    (void)state;
    struct orpc_peer *p = open_peer();
    struct orpc_object *o = create(p, &made_up_iid);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(thread_start(call_many_times, o, &threads[i]), S_OK);
    for (size_t i = 0; i < THREADS; i++) {
        thread_wait(threads[i], UINT32_MAX);
        thread_close(threads[i]);
    }
    orpc_object_release(o);
    orpc_peer_release(p);
    expect_nothing_left();
}

static void refused_logons_name_computer_and_account(void **state)
{
    struct orpc_object *o;
    (void)state;
    struct orpc_peer *p;
    for (int i = 0; i < 50; i++) { /* the server may reject and close before or after it receives the first request */
        p = open_peer_as("tester", "wrong");
        assert_int_equal(orpc_activate(p, &made_up_class, &made_up_iid, &o), E_ACCESSDENIED);
        assert_null(o);
        assert_non_null(strstr(error_text(E_ACCESSDENIED), "'127.0.0.1': logon of 'tester' failed"));
        orpc_peer_release(p);
    }
    const struct orpc_target anonymous = {.host = "127.0.0.1", .port = port_text};
    assert_int_equal(orpc_peer_open(&anonymous, &p), S_OK);
    assert_int_equal(orpc_activate(p, &made_up_class, &made_up_iid, &o), E_ACCESSDENIED);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), "without an account"));
    orpc_peer_release(p);
    expect_nothing_left();
}

static void objects_of_another_account_are_unusable(void **state)
{
    (void)state;
    struct orpc_peer *p = open_peer(), *q = open_peer_as("other", "other secret");
    struct orpc_object *o = create(p, &made_up_iid), *mine = create(q, &made_up_iid), *stolen;
    struct ndr_writer request = {0};
    struct orpc_answer answer;
    struct objref *reference;
    assert_int_equal(orpc_request_begin(&request), S_OK);
    assert_int_equal(orpc_call(o, MADE_UP_CHILD, &request, &answer), S_OK);
    ndr_read_object(&answer.reader, &answer.arena, &reference);
    assert_int_equal(orpc_object_adopt(mine, reference, &stolen), S_OK);
    orpc_answer_free(&answer);
    assert_int_equal(orpc_request_begin(&request), S_OK);
    ndr_write_u32(&request, 1);
    ndr_write_u32(&request, 1);
    assert_int_equal(orpc_call(stolen, MADE_UP_ADD, &request, &answer), (HRESULT)RPC_FAULT_DISCONNECTED);
    orpc_answer_free(&answer);
    orpc_object_release(stolen);
    orpc_object_release(mine);
    orpc_object_release(o);
    orpc_peer_release(p);
    orpc_peer_release(q);
    while (orpc_server_objects(server)) /* only the run-down frees the child, because no client got its reference */
        orpc_server_run_down(server, clock_monotonic_ms() + 2 * RUN_DOWN_MS);
    expect_nothing_left();
}

static void unknown_classes_and_hosts_are_reported(void **state)
{
    struct orpc_object *o;
    (void)state;
    struct orpc_peer *p = open_peer();
    assert_int_equal(orpc_activate(p, &(GUID){1, 2, 3, {4}}, &made_up_iid, &o), ORPC_CLASS_NOT_REGISTERED);
    orpc_peer_release(p);
    const struct orpc_target nowhere = {.host = "nowhere.invalid"};
    assert_int_equal(orpc_peer_open(&nowhere, &p), S_OK);
    assert_int_equal(orpc_activate(p, &made_up_class, &made_up_iid, &o), HRESULT_FROM_WIN32(ERROR_BAD_NETPATH));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_BAD_NETPATH)), "nowhere.invalid"));
    orpc_peer_release(p);
    expect_nothing_left();
}

/* ---- a network that fails ---- */

enum { RELAYED_MOST = 8 };

/* Forwards connections to the server. `lose_answer` makes it drop the next reply and close that connection. `end_idle`
   makes it close all connections. */
struct relay {
    struct socket_end *listener, *ends[RELAYED_MOST][2]; /* client, server */
    _Atomic bool lose_answer, end_idle, stop;
    _Atomic unsigned lost;
    struct thread *thread;
};

static void relay_drop(struct relay *r, size_t i)
{
    for (size_t side = 0; side < 2; side++) {
        socket_close(r->ends[i][side]);
        r->ends[i][side] = NULL;
    }
}

static void relay_accept(struct relay *r)
{
    char address[SOCKET_ADDRESS_BYTES];
    size_t i = 0;
    while (i < RELAYED_MOST && r->ends[i][0])
        i++;
    if (i == RELAYED_MOST || FAILED(socket_accept(r->listener, &r->ends[i][0], address)) ||
        FAILED(socket_connect("127.0.0.1", port_text, 60000, &r->ends[i][1])))
        abort();
}

static void relay_forward(struct relay *r, size_t i, size_t side)
{
    uint8_t bytes[8192];
    size_t got;
    const bool is_received = socket_receive_some(r->ends[i][side], bytes, sizeof bytes, 1000, &got) == S_OK;
    const bool is_lost = is_received && side == 1 && r->lose_answer;
    if (is_lost) {
        r->lose_answer = false;
        r->lost++;
    }
    if (!is_received || is_lost || FAILED(socket_send(r->ends[i][1 - side], bytes, got)))
        relay_drop(r, i);
}

static void relay_run(void *user)
{
    struct relay *r = user;
    while (!r->stop) {
        struct socket_end *all[1 + 2 * RELAYED_MOST] = {r->listener};
        size_t place[1 + 2 * RELAYED_MOST], count = 1;
        bool ready[1 + 2 * RELAYED_MOST];
        for (size_t i = 0; i < 2 * RELAYED_MOST; i++)
            if (r->ends[i / 2][i % 2]) {
                place[count] = i;
                all[count++] = r->ends[i / 2][i % 2];
            }
        if (FAILED(sockets_wait(all, count, 10, ready)))
            abort();
        if (r->end_idle)
            for (size_t i = 0; i < RELAYED_MOST; i++)
                relay_drop(r, i);
        r->end_idle = false;
        for (size_t n = 1; n < count; n++)
            if (ready[n] && r->ends[place[n] / 2][place[n] % 2])
                relay_forward(r, place[n] / 2, place[n] % 2);
        if (ready[0])
            relay_accept(r);
    }
}

static void relay_open(struct relay *r)
{
    char address[SOCKET_ADDRESS_BYTES];
    uint16_t port;
    *r = (struct relay){.listener = NULL};
    assert_int_equal(socket_listen_at("127.0.0.1", 0, &r->listener), S_OK);
    socket_own_address(r->listener, address, &port);
    snprintf(advertised, sizeof advertised, "%u", port);
    assert_int_equal(thread_start(relay_run, r, &r->thread), S_OK);
}

static void relay_close(struct relay *r)
{
    r->stop = true;
    thread_wait(r->thread, UINT32_MAX);
    thread_close(r->thread);
    for (size_t i = 0; i < RELAYED_MOST; i++)
        relay_drop(r, i);
    socket_close(r->listener);
    snprintf(advertised, sizeof advertised, "%s", port_text);
}

static HRESULT create_child(struct orpc_object *o, struct orpc_object **child)
{
    struct ndr_writer request = {0};
    struct orpc_answer answer;
    struct objref *reference;
    *child = NULL;
    assert_int_equal(orpc_request_begin(&request), S_OK);
    HRESULT hr = orpc_call(o, MADE_UP_CHILD, &request, &answer);
    if (SUCCEEDED(hr)) {
        ndr_read_object(&answer.reader, &answer.arena, &reference);
        hr = orpc_object_adopt(o, reference, child);
    }
    orpc_answer_free(&answer);
    return hr;
}

/* If the reply to a call is lost, the call must not be made again. Otherwise a set could be started twice. */
static void a_call_whose_answer_is_lost_is_not_repeated(void **state)
{
    struct relay relay;
    struct orpc_object *child;
    (void)state;
    relay_open(&relay);
    struct orpc_peer *p = open_peer();
    struct orpc_object *o = create(p, &made_up_iid);
    assert_int_equal(create_child(o, &child), S_OK);
    orpc_object_release(child);
    assert_int_equal(made_up_objects(), 1);
    HRESULT hr = S_OK;
    for (int i = 0; i < 100 && SUCCEEDED(hr); i++) { /* repeats if the lost reply was for a ping */
        relay.lose_answer = true;
        hr = create_child(o, &child);
        orpc_object_release(child);
    }
    assert_true(FAILED(hr));
    assert_non_null(strstr(error_text(hr), "may have been executed"));
    assert_int_equal(made_up_objects(), 2); /* the call was executed once */
    relay.lose_answer = false;
    assert_int_equal(add(o, 1, 2), 3); /* the object still exists */
    orpc_object_release(o);
    orpc_peer_release(p);
    relay_close(&relay);
    while (orpc_server_objects(server))
        orpc_server_run_down(server, clock_monotonic_ms() + 2 * RUN_DOWN_MS);
    expect_nothing_left();
}

/* A call that only reads is made again if its reply is lost. A call is also made again if its connection was closed
   before. */
static void reads_and_calls_on_ended_connections_succeed(void **state)
{
    const struct ndr_variant one = {.vt = NDR_I4, .number = 1};
    struct relay relay;
    struct orpc_object *other, *child;
    struct orpc_answer answer;
    (void)state;
    relay_open(&relay);
    struct orpc_peer *p = open_peer();
    struct orpc_object *o = create(p, &dispatch_iid);
    for (unsigned lost = relay.lost; relay.lost == lost;) {
        relay.lose_answer = true;
        assert_int_equal(orpc_invoke(o, "Add", ORPC_METHOD | ORPC_REPEATABLE, &one, 1, &answer, NULL), S_OK);
        orpc_answer_free(&answer);
    }
    relay.lose_answer = false;
    assert_int_equal(orpc_object_query(o, &made_up_iid, &other), S_OK);
    for (unsigned i = 0; i < 5; i++) {
        relay.end_idle = true;
        while (relay.end_idle)
            thread_sleep(1);
        assert_int_equal(create_child(other, &child), S_OK);
        orpc_object_release(child);
    }
    orpc_object_release(other);
    orpc_object_release(o);
    orpc_peer_release(p);
    relay_close(&relay);
    while (orpc_server_objects(server))
        orpc_server_run_down(server, clock_monotonic_ms() + 2 * RUN_DOWN_MS);
    expect_nothing_left();
}

static HRESULT one_life(void)
{
    const struct ndr_variant one = {.vt = NDR_I4, .number = 1};
    struct auth_credentials credentials = {.user = "tester", .domain = ""};
    struct orpc_peer *p;
    struct orpc_object *o = NULL, *other = NULL;
    struct orpc_answer answer = {0};
    HRESULT hr = auth_hash_password("secret of tests", credentials.hash);
    const struct orpc_target target = {.host = "127.0.0.1", .port = port_text, .credentials = &credentials};
    if (SUCCEEDED(hr))
        hr = orpc_peer_open(&target, &p);
    if (FAILED(hr))
        return hr;
    hr = orpc_activate(p, &made_up_class, &dispatch_iid, &o);
    if (SUCCEEDED(hr))
        hr = orpc_invoke(o, "Add", ORPC_METHOD, &one, 1, &answer, NULL);
    if (SUCCEEDED(hr))
        hr = orpc_object_query(o, &made_up_iid, &other);
    orpc_answer_free(&answer);
    orpc_object_release(other);
    orpc_object_release(o);
    orpc_peer_release(p);
    return hr;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    HRESULT hr = E_OUTOFMEMORY;
    uint64_t n = 0;
    while (hr == E_OUTOFMEMORY) {
        memory_fail_at(++n);
        hr = one_life();
        memory_fail_at(0);
    }
    assert_int_equal(hr, S_OK);
    assert_true(n > 10);
    while (orpc_server_objects(server))
        orpc_server_run_down(server, clock_monotonic_ms() + 2 * RUN_DOWN_MS);
    expect_nothing_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_created_called_and_released),
        cmocka_unit_test(calls_by_name_return_values_and_error_messages),
        cmocka_unit_test(held_objects_outlive_the_run_down),
        cmocka_unit_test(many_objects_are_held),
        cmocka_unit_test(threads_call_at_the_same_time),
        cmocka_unit_test(refused_logons_name_computer_and_account),
        cmocka_unit_test(objects_of_another_account_are_unusable),
        cmocka_unit_test(unknown_classes_and_hosts_are_reported),
        cmocka_unit_test(a_call_whose_answer_is_lost_is_not_repeated),
        cmocka_unit_test(reads_and_calls_on_ended_connections_succeed),
        cmocka_unit_test(out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, open_server, NULL);
}
