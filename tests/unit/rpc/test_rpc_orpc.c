/* SPDX-License-Identifier: MIT */
/* Connects DCOM's client and server through two state machines. Also tests bodies that impacket and an experimental
   server exchanged. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/thread.h"
#include "engine/rpc/auth/digests.h"
#include "engine/rpc/dispatch.h"
#include "engine/rpc/orpc/objects.h"
#include "tests/rpc/made_up_class.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

static const GUID causality = {7, 7, 7, {7}};
static const struct dual_strings bindings = {.count = 1, .addresses = {"127.0.0.1[47135]"}};

/* Makes requests to the server as one account, without a connection. */
struct end {
    struct orpc_server *server;
    struct orpc_session *session;
    uint64_t now_ms;
    struct ndr_writer request, answer;
    struct ndr_reader reader; /* reads `answer` */
    struct ndr_arena arena;
};

static void end_open(struct end *e, const struct orpc_limits *limits)
{
    *e = (struct end){.now_ms = 1000000};
    assert_int_equal(orpc_server_open(&made_up_handler, limits, &e->server), S_OK);
    assert_int_equal(orpc_session_open(e->server, &bindings, &e->session), S_OK);
}

static void end_close(struct end *e)
{
    ndr_writer_free(&e->request);
    ndr_writer_free(&e->answer);
    ndr_arena_free(&e->arena);
    orpc_session_close(e->session);
    orpc_server_close(e->server);
    assert_int_equal(made_up_objects(), 0);
}

static uint32_t end_call_as(struct end *e, const char *account, enum auth_level level, const GUID *iid,
                            const GUID *object, uint16_t opnum)
{
    struct rpc_call call = {.iid = *iid,
                            .has_object = object != NULL,
                            .opnum = opnum,
                            .stub = e->request.bytes,
                            .size = e->request.size,
                            .account = account,
                            .level = level};
    if (object)
        call.object = *object;
    ndr_writer_free(&e->answer);
    const uint32_t fault = orpc_session_call(e->session, &call, e->now_ms, &e->answer);
    e->reader = ndr_reader_over(e->answer.bytes, e->answer.size);
    ndr_writer_free(&e->request);
    return fault;
}

static uint32_t end_call(struct end *e, const GUID *iid, const GUID *object, uint16_t opnum)
{
    return end_call_as(e, "tester", AUTH_LEVEL_PRIVACY, iid, object, opnum);
}

static void end_activate(struct end *e, struct orpc_activated *out)
{
    const GUID iids[2] = {made_up_iid, made_up_other_iid};
    orpc_write_activation(&e->request, &causality, &made_up_class, iids, 2, false);
    assert_int_equal(end_call(e, &orpc_iid_scm_activator, NULL, 4), 0);
    assert_int_equal(orpc_read_activation(&e->reader, &e->arena, out), S_OK);
    assert_int_equal(e->reader.fault, 0);
    assert_int_equal(out->count, 2);
    assert_int_equal(out->results[0] | out->results[1], S_OK);
}

static uint32_t end_add(struct end *e, const GUID *ipid, uint32_t *sum)
{
    orpc_write_this(&e->request, &causality);
    ndr_write_u32(&e->request, 40);
    ndr_write_u32(&e->request, 2);
    const uint32_t fault = end_call(e, &made_up_iid, ipid, MADE_UP_ADD);
    if (fault)
        return fault;
    orpc_read_that(&e->reader, NULL);
    *sum = ndr_read_u32(&e->reader);
    assert_int_equal(ndr_read_u32(&e->reader), S_OK);
    assert_int_equal(e->reader.at, e->answer.size);
    return 0;
}

static void end_release(struct end *e, const struct orpc_activated *a, const GUID *ipid, uint32_t count)
{
    const struct orpc_references one = {*ipid, count};
    orpc_write_references(&e->request, &causality, &one, 1);
    assert_int_equal(end_call(e, &orpc_iid_rem_unknown, &a->rem_unknown, 5), 0);
}

static void activated_objects_accept_calls_until_released(void **state)
{
    struct end e;
    struct orpc_activated a;
    uint32_t sum;
    (void)state;
    end_open(&e, NULL);
    end_activate(&e, &a);
    assert_string_equal(a.bindings.addresses[0], "127.0.0.1[47135]");
    assert_true(a.oxid == a.objects[0]->standard.oxid);
    assert_true(a.objects[0]->standard.oid == a.objects[1]->standard.oid);
    assert_int_equal(a.objects[0]->standard.references, ORPC_REFERENCES);
    const GUID ipid = a.objects[0]->standard.ipid;
    assert_int_equal(end_add(&e, &ipid, &sum), 0);
    assert_int_equal(sum, 42);
    end_release(&e, &a, &ipid, 4);
    assert_int_equal(end_add(&e, &ipid, &sum), 0);
    end_release(&e, &a, &ipid, 4); /* the client releases more references than it has */
    assert_int_equal(end_add(&e, &ipid, &sum), RPC_FAULT_DISCONNECTED);
    assert_int_equal(made_up_objects(), 1); /* the client still has a reference to another interface of the object */
    end_release(&e, &a, &a.objects[1]->standard.ipid, 5);
    assert_int_equal(made_up_objects(), 0);
    assert_int_equal(orpc_server_objects(e.server), 0);
    end_close(&e);
}

static void interfaces_are_queried(void **state)
{
    struct end e;
    struct orpc_activated a;
    struct std_objref objects[3];
    HRESULT results[3];
    uint32_t sum;
    const GUID iids[3] = {made_up_iid, {1, 2, 3, {4}}, orpc_iid_unknown};
    (void)state;
    end_open(&e, NULL);
    end_activate(&e, &a);
    orpc_write_query(&e.request, &causality, &a.objects[1]->standard.ipid, 3, iids, 3);
    assert_int_equal(end_call(&e, &orpc_iid_rem_unknown, &a.rem_unknown, 3), 0);
    assert_int_equal(orpc_read_query(&e.reader, 3, objects, results), S_FALSE);
    assert_int_equal(e.reader.fault, 0);
    assert_int_equal(results[0], S_OK);
    assert_int_equal(results[1], E_NOINTERFACE);
    assert_int_equal(results[2], S_OK);
    assert_true(guid_equal(&objects[0].ipid, &a.objects[0]->standard.ipid));
    assert_int_equal(objects[0].references, 3);
    assert_int_equal(end_add(&e, &objects[0].ipid, &sum), 0);
    /* This method exists only in IRemUnknown2, not in IRemUnknown. */
    orpc_write_this(&e.request, &causality);
    ndr_write_guid(&e.request, &a.objects[0]->standard.ipid);
    ndr_write_u16(&e.request, 1);
    ndr_write_u32(&e.request, 1);
    ndr_write_guid(&e.request, &made_up_other_iid);
    struct ndr_writer again = {0};
    ndr_write_bytes(&again, e.request.bytes, e.request.size);
    assert_int_equal(end_call(&e, &orpc_iid_rem_unknown, &a.rem_unknown, 6), RPC_FAULT_OPNUM);
    e.request = again;
    assert_int_equal(end_call(&e, &orpc_iid_rem_unknown2, &a.rem_unknown, 6), 0);
    struct objref *o;
    orpc_read_that(&e.reader, NULL);
    ndr_expect_u32(&e.reader, 1);
    assert_int_equal(ndr_read_u32(&e.reader), S_OK);
    ndr_expect_u32(&e.reader, 1);
    ndr_read_object(&e.reader, &e.arena, &o);
    assert_true(o && guid_equal(&o->standard.ipid, &a.objects[1]->standard.ipid));
    assert_int_equal(ndr_read_u32(&e.reader), S_OK);
    assert_int_equal(e.reader.fault, 0);
    end_close(&e);
}

static void each_account_has_its_own_objects(void **state)
{
    struct end e;
    struct orpc_activated a;
    (void)state;
    end_open(&e, NULL);
    end_activate(&e, &a);
    const GUID ipid = a.objects[0]->standard.ipid;
    static const struct {
        const char *account;
        enum auth_level level;
        uint32_t fault;
    } rows[] = {{"other", AUTH_LEVEL_PRIVACY, RPC_FAULT_DISCONNECTED},
                {"tester", AUTH_LEVEL_INTEGRITY, RPC_FAULT_DENIED},
                {NULL, AUTH_LEVEL_NONE, RPC_FAULT_DENIED},
                {"tester", AUTH_LEVEL_PRIVACY, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        orpc_write_this(&e.request, &causality);
        ndr_write_u64(&e.request, 0);
        assert_int_equal(end_call_as(&e, rows[i].account, rows[i].level, &made_up_iid, &ipid, MADE_UP_ADD),
                         rows[i].fault);
    }
    const struct orpc_references one = {ipid, 5};
    orpc_write_references(&e.request, &causality, &one, 1);
    assert_int_equal(end_call_as(&e, "other", AUTH_LEVEL_PRIVACY, &orpc_iid_rem_unknown, &a.rem_unknown, 5), 0);
    uint32_t sum;
    assert_int_equal(end_add(&e, &ipid, &sum), 0); /* the other account could not release this account's reference */
    orpc_write_activation(&e.request, &causality, &made_up_class, &made_up_iid, 1, false);
    assert_int_equal(end_call_as(&e, NULL, AUTH_LEVEL_NONE, &orpc_iid_scm_activator, NULL, 4), RPC_FAULT_DENIED);
    end_close(&e);
}

static void unused_objects_are_run_down(void **state)
{
    struct end e;
    struct orpc_activated a, b;
    uint64_t set;
    uint32_t sum;
    const struct orpc_limits limits = {.run_down_ms = 1000};
    (void)state;
    end_open(&e, &limits);
    end_activate(&e, &a);
    const GUID ipid = a.objects[0]->standard.ipid;
    const uint64_t oid = a.objects[0]->standard.oid, unknown = 1234;
    struct orpc_session *first = e.session;
    assert_int_equal(orpc_session_open(e.server, &bindings, &e.session), S_OK);
    end_activate(&e, &b);
    const GUID other = b.objects[0]->standard.ipid;
    /* A call on a connection postpones the run-down of all objects of that connection, but of no others. */
    e.now_ms += 800;
    assert_int_equal(end_add(&e, &other, &sum), 0);
    e.now_ms += 800;
    orpc_server_run_down(e.server, e.now_ms);
    assert_int_equal(orpc_server_objects(e.server), 1);
    assert_int_equal(end_add(&e, &ipid, &sum), RPC_FAULT_DISCONNECTED);
    assert_int_equal(end_add(&e, &other, &sum), 0);
    orpc_session_close(first);
    /* A ping also postpones the run-down, and needs no logon. A ping set with unknown objects is not created. */
    orpc_write_complex_ping(&e.request, 0, 1, &unknown, 1, NULL, 0);
    assert_int_equal(end_call_as(&e, NULL, AUTH_LEVEL_NONE, &orpc_iid_object_exporter, NULL, 2), 0);
    assert_int_equal(orpc_read_complex_ping(&e.reader, &set), 0x777);
    assert_true(set == 0);
    const uint64_t live = b.objects[0]->standard.oid;
    assert_true(live != oid);
    orpc_write_complex_ping(&e.request, 0, 1, &live, 1, NULL, 0);
    assert_int_equal(end_call_as(&e, NULL, AUTH_LEVEL_NONE, &orpc_iid_object_exporter, NULL, 2), 0);
    assert_int_equal(orpc_read_complex_ping(&e.reader, &set), 0);
    for (int i = 0; i < 5; i++) {
        e.now_ms += 800;
        ndr_write_u64(&e.request, set);
        assert_int_equal(end_call_as(&e, NULL, AUTH_LEVEL_NONE, &orpc_iid_object_exporter, NULL, 1), 0);
        assert_int_equal(ndr_read_u32(&e.reader), 0);
        orpc_server_run_down(e.server, e.now_ms);
        assert_int_equal(orpc_server_objects(e.server), 1);
    }
    e.now_ms += 1001;
    orpc_server_run_down(e.server, e.now_ms);
    assert_int_equal(orpc_server_objects(e.server), 0);
    ndr_write_u64(&e.request, set);
    assert_int_equal(end_call_as(&e, NULL, AUTH_LEVEL_NONE, &orpc_iid_object_exporter, NULL, 1), 0);
    assert_int_equal(ndr_read_u32(&e.reader), 0x778);
    end_close(&e);
}

static void limits_of_objects_hold_for_each_account(void **state)
{
    struct end e;
    struct orpc_activated a;
    const struct orpc_limits limits = {.objects = 3, .objects_of_account = 2};
    static const char *const accounts[] = {"tester", "tester", "tester", "other", "other"};
    static const bool taken[] = {true, true, false, true, false};
    (void)state;
    end_open(&e, &limits);
    for (size_t i = 0; i < 5; i++) {
        orpc_write_activation(&e.request, &causality, &made_up_class, &made_up_iid, 1, false);
        assert_int_equal(end_call_as(&e, accounts[i], AUTH_LEVEL_INTEGRITY, &orpc_iid_scm_activator, NULL, 4), 0);
        const HRESULT hr = orpc_read_activation(&e.reader, &e.arena, &a);
        assert_int_equal(hr, taken[i] ? S_OK : HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA));
    }
    assert_int_equal(made_up_objects(), 3);
    end_close(&e);
}

static void error_information_precedes_the_body(void **state)
{
    struct end e;
    struct orpc_activated a;
    struct ndr_reader why;
    (void)state;
    end_open(&e, NULL);
    end_activate(&e, &a);
    orpc_write_this(&e.request, &causality);
    assert_int_equal(end_call(&e, &made_up_iid, &a.objects[0]->standard.ipid, MADE_UP_FAIL), 0);
    orpc_read_that(&e.reader, &why);
    assert_int_equal(e.reader.fault, 0);
    assert_int_equal(e.reader.at % 8, 0);
    assert_int_equal(why.size, 3);
    assert_memory_equal(why.bytes, "why", 3);
    assert_int_equal((HRESULT)ndr_read_u32(&e.reader), E_FAIL);
    end_close(&e);
}

static const GUID *activate_as(struct end *e, const GUID *iid, GUID *ipid)
{
    struct orpc_activated a;
    orpc_write_activation(&e->request, &causality, &made_up_class, iid, 1, false);
    assert_int_equal(end_call(e, &orpc_iid_scm_activator, NULL, 4), 0);
    assert_int_equal(orpc_read_activation(&e->reader, &e->arena, &a), S_OK);
    *ipid = a.objects[0]->standard.ipid;
    orpc_write_this(&e->request, &causality);
    return ipid;
}

static void members_are_called_by_name(void **state)
{
    struct end e;
    GUID ipid;
    int32_t ids[2];
    const struct dispatch_names names = {.count = 2,
                                         .names = {{.bytes = (const uint8_t *)"A\0d\0d", .size = 6},
                                                   {.bytes = (const uint8_t *)"F\0a\0i\0l", .size = 8}}};
    (void)state;
    end_open(&e, NULL);
    activate_as(&e, &dispatch_iid, &ipid);
    dispatch_write_names(&e.request, &names);
    assert_int_equal(end_call(&e, &dispatch_iid, &ipid, DISPATCH_NAMES), 0);
    orpc_read_that(&e.reader, NULL);
    assert_int_equal(dispatch_read_ids(&e.reader, ids, 2), S_OK);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[1], 2);
    struct dispatch_invoke invoke = {.id = 1, .count = 3, .named_count = 1, .named = {-3}};
    invoke.arguments[0] = (struct ndr_variant){.vt = NDR_I4, .number = 1};
    invoke.arguments[1] = (struct ndr_variant){.vt = NDR_I4 | NDR_BYREF, .number = 20};
    invoke.arguments[2] = (struct ndr_variant){.vt = NDR_I4, .number = 300};
    for (int i = 0; i < 2; i++) {
        struct dispatch_result result;
        invoke.id = ids[i];
        orpc_write_this(&e.request, &causality);
        dispatch_write_invoke(&e.request, &invoke);
        assert_int_equal(end_call(&e, &dispatch_iid, &ipid, DISPATCH_INVOKE), 0);
        orpc_read_that(&e.reader, NULL);
        dispatch_read_result(&e.reader, &e.arena, &result);
        assert_int_equal(e.reader.fault, 0);
        assert_int_equal(e.reader.at, e.answer.size);
        assert_int_equal(result.reference_count, 1);
        assert_int_equal(result.references[0].vt, NDR_I4 | NDR_BYREF);
        assert_int_equal(result.references[0].number, 1020);
        assert_int_equal(result.hr, i ? (HRESULT)0x80020009 : S_OK);
        assert_int_equal(result.value.number, i ? 0 : 321);
        assert_int_equal(result.description.is_null, !i);
        assert_true(!i || (result.description.size == 6 && result.scode == E_FAIL));
    }
    end_close(&e);
}

static void enumerators_return_the_requested_items(void **state)
{
    struct end e;
    GUID ipid;
    (void)state;
    end_open(&e, NULL);
    for (uint32_t asked = 0; asked < 6; asked++) {
        struct ndr_variant *values;
        uint32_t count;
        activate_as(&e, &enum_variant_iid, &ipid);
        ndr_write_u32(&e.request, asked);
        assert_int_equal(end_call(&e, &enum_variant_iid, &ipid, ENUM_NEXT), 0);
        orpc_read_that(&e.reader, NULL);
        assert_int_equal(enum_read_values(&e.reader, &e.arena, &values, &count), asked <= 3 ? S_OK : S_FALSE);
        assert_int_equal(e.reader.fault, 0);
        assert_int_equal(count, asked < 3 ? asked : 3);
        assert_true(!count || values[count - 1].number == count);
    }
    activate_as(&e, &enum_variant_iid, &ipid);
    ndr_write_u32(&e.request, ENUM_NEXT_MOST + 1);
    assert_int_equal(end_call(&e, &enum_variant_iid, &ipid, ENUM_NEXT), RPC_FAULT_BAD_STUB);
    end_close(&e);
}

static void failed_activation_is_reported_with_the_reason(void **state)
{
    struct end e;
    struct orpc_activated a;
    const GUID unknown = {9, 9, 9, {9}};
    (void)state;
    end_open(&e, NULL);
    const struct {
        const GUID *clsid, *iid;
        bool is_factory;
        HRESULT hr;
    } rows[] = {{&unknown, &made_up_iid, false, ORPC_CLASS_NOT_REGISTERED},
                {&made_up_class, &made_up_iid, true, ORPC_CLASS_NOT_REGISTERED},
                {&made_up_class, &unknown, false, E_NOINTERFACE}};
    for (size_t i = 0; i < 3; i++) {
        orpc_write_activation(&e.request, &causality, rows[i].clsid, rows[i].iid, 1, rows[i].is_factory);
        assert_int_equal(end_call(&e, &orpc_iid_scm_activator, NULL, rows[i].is_factory ? 3 : 4), 0);
        assert_int_equal(orpc_read_activation(&e.reader, &e.arena, &a), rows[i].hr);
        assert_int_equal(made_up_objects(), 0);
    }
    orpc_write_this(&e.request, &causality);
    e.request.bytes[0] = 6;
    assert_int_equal(end_call(&e, &orpc_iid_scm_activator, NULL, 4), RPC_FAULT_VERSION);
    end_close(&e);
}

/* ---- threads ---- */

struct worker {
    struct orpc_server *server;
    const GUID *shared; /* IPID of an object that all threads use */
    unsigned calls;
};

/* Repeatedly activates an object, calls it and the shared object, queries an interface, and releases. */
static void work(void *user)
{
    struct worker *k = user;
    struct end e = {.server = k->server, .now_ms = 1000000}; /* the same time as in the thread that runs objects down */
    struct orpc_activated a;
    uint32_t sum;
    if (FAILED(orpc_session_open(k->server, &bindings, &e.session)))
        return;
    for (int i = 0; i < 300; i++) {
        end_activate(&e, &a);
        const GUID ipid = a.objects[0]->standard.ipid;
        k->calls += end_add(&e, &ipid, &sum) == 0;
        k->calls += end_add(&e, k->shared, &sum) == 0;
        struct std_objref object;
        HRESULT result;
        orpc_write_query(&e.request, &causality, k->shared, 1, &made_up_other_iid, 1);
        if (!end_call(&e, &orpc_iid_rem_unknown, &a.rem_unknown, 3) &&
            SUCCEEDED(orpc_read_query(&e.reader, 1, &object, &result)))
            end_release(&e, &a, &object.ipid, 1);
        end_release(&e, &a, &ipid, 5);
        end_release(&e, &a, &a.objects[1]->standard.ipid, 5);
        ndr_arena_free(&e.arena);
    }
    ndr_writer_free(&e.request);
    ndr_writer_free(&e.answer);
    orpc_session_close(e.session);
}

static void threads_share_the_objects(void **state)
{
    enum { WORKERS = 4 };
    struct end e;
    struct orpc_activated a;
    struct thread *threads[WORKERS];
    struct worker workers[WORKERS];
    (void)state;
    end_open(&e, NULL);
    end_activate(&e, &a);
    const GUID shared = a.objects[0]->standard.ipid;
    for (size_t i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.server = e.server, .shared = &shared};
        assert_int_equal(thread_start(work, &workers[i], &threads[i]), S_OK);
    }
    for (size_t i = 0; i < WORKERS; i++) {
        while (!thread_wait(threads[i], 1)) /* checks all objects, but none is old enough to be run down */
            orpc_server_run_down(e.server, e.now_ms);
        thread_close(threads[i]);
        assert_int_equal(workers[i].calls, 600);
    }
    assert_int_equal(orpc_server_objects(e.server), 1);
    end_close(&e);
}

/* ---- a client and a server that exchange PDUs ---- */

static bool serves(void *user, const GUID *iid, uint32_t version)
{
    return orpc_server_serves(user, iid, version);
}

/* Transfers bytes in both directions until neither side has any to send. */
static void run_connection(struct end *e, struct rpc_connection *c, struct rpc_client *client)
{
    for (size_t size;;) {
        struct rpc_call call;
        const uint8_t *bytes = rpc_client_output(client, &size);
        if (!bytes)
            return;
        rpc_client_sent(client, rpc_connection_take(c, bytes, size, e->now_ms));
        if (rpc_connection_call(c, &call)) {
            ndr_writer_free(&e->answer);
            const uint32_t fault = orpc_session_call(e->session, &call, e->now_ms, &e->answer);
            rpc_connection_answer(c, fault, e->answer.bytes, e->answer.size);
        }
        bytes = rpc_connection_output(c, &size);
        if (!bytes)
            continue;
        assert_int_equal(rpc_client_take(client, bytes, size), S_OK);
        rpc_connection_sent(c, size);
    }
}

static void our_client_activates_and_calls(void **state)
{
    struct end e;
    struct orpc_activated a;
    struct rpc_connection *c;
    struct rpc_client *client;
    struct auth_credentials credentials = {.user = "Tester", .domain = "ANY"};
    size_t size;
    uint32_t fault;
    (void)state;
    end_open(&e, NULL);
    const struct rpc_service service = {.accounts = &made_up_accounts, .user = e.server, .serves = serves};
    assert_int_equal(auth_hash_password("secret of tests", credentials.hash), S_OK);
    assert_int_equal(rpc_connection_open(&service, e.now_ms, &c), S_OK);
    assert_int_equal(rpc_client_open(&credentials, AUTH_SPNEGO, AUTH_LEVEL_PRIVACY, &client), S_OK);
    assert_int_equal(rpc_client_bind(client, &orpc_iid_scm_activator, 0), S_OK);
    run_connection(&e, c, client);
    orpc_write_activation(&e.request, &causality, &made_up_class, &made_up_iid, 1, false);
    assert_int_equal(rpc_client_call(client, &orpc_iid_scm_activator, NULL, 4, e.request.bytes, e.request.size), S_OK);
    run_connection(&e, c, client);
    const uint8_t *answer = rpc_client_answer(client, &size, &fault);
    assert_int_equal(fault, 0);
    struct ndr_reader r = ndr_reader_over(answer, size);
    assert_int_equal(orpc_read_activation(&r, &e.arena, &a), S_OK);
    assert_int_equal(rpc_client_bind(client, &made_up_iid, 0), S_OK);
    run_connection(&e, c, client);
    ndr_writer_free(&e.request);
    orpc_write_this(&e.request, &causality);
    ndr_write_u32(&e.request, 1);
    ndr_write_u32(&e.request, 2);
    const GUID ipid = a.objects[0]->standard.ipid;
    assert_int_equal(rpc_client_call(client, &made_up_iid, &ipid, MADE_UP_ADD, e.request.bytes, e.request.size), S_OK);
    run_connection(&e, c, client);
    answer = rpc_client_answer(client, &size, &fault);
    assert_int_equal(fault, 0);
    r = ndr_reader_over(answer, size);
    orpc_read_that(&r, NULL);
    assert_int_equal(ndr_read_u32(&r), 3);
    assert_int_equal(ndr_read_u32(&r), S_OK);
    rpc_client_close(client);
    rpc_connection_close(c);
    end_close(&e);
}

/* ---- recorded bytes ---- */

/* RemoteCreateInstance for another class, as impacket sent it to the experimental server. */
static const char impacket_request[] =
    "05000700 01000000 00000000 70194c2d 67dae748 306fcf7b 671d067e 00000000 00000000 476f0000 a0010000 a0010000"
    "4d454f57 04000000 a2010000 00000000 c0000000 00000046 38030000 00000000 c0000000 00000046 00000000 78010000"
    "68010000 00000000 01100800 cccccccc 88000000 cccccccc 68010000 98000000 00000000 02000000 04000000 00000000"
    "00000000 00000000 00000000 8d690000 65890000 00000000 04000000 ab010000 00000000 c0000000 00000046 a5010000"
    "00000000 c0000000 00000046 a4010000 00000000 c0000000 00000046 aa010000 00000000 c0000000 00000046 04000000"
    "58000000 28000000 20000000 30000000 01100800 cccccccc 44000000 cccccccc 21758303 8b09d811 94145050 54503030"
    "00000000 00000000 00000000 01000000 00000000 65f00000 00000000 05000700 01000000 20758303 8b09d811 94145050"
    "54503030 fafafafa 01100800 cccccccc 18000000 cccccccc 00000000 00000000 00000000 00000000 00000000 00000000"
    "01100800 cccccccc 10000000 cccccccc 00000000 00000000 00000000 00000000 01100800 cccccccc 1a000000 cccccccc"
    "00000000 d5bc0000 00000000 0100aaaa 996b0000 01000000 0700fafa fafafafa";
/* The reply of the experimental server, which impacket accepted. */
static const char experiment_answer[] =
    "00000000 00000000 00000200 08020000 08020000 4d454f57 04000000 a3010000 00000000 c0000000 00000046 39030000"
    "00000000 c0000000 00000046 00000000 d8010000 d0010000 00000000 01100800 cccccccc 60000000 00000000 d0010000"
    "70000000 00000000 02000000 02000000 00000000 00000000 00000000 00000000 00000200 04000200 00000000 02000000"
    "39030000 00000000 c0000000 00000046 b6010000 00000000 c0000000 00000046 02000000 d8000000 88000000 01100800"
    "cccccccc c8000000 00000000 01000000 00000200 04000200 08000200 01000000 20758303 8b09d811 94145050 54503030"
    "01000000 00000000 01000000 00000200 88000000 88000000 4d454f57 01000000 20758303 8b09d811 94145050 54503030"
    "00000000 05000000 90e0635a d28303d2 33666c87 b8d49d90 6112bf63 9bb6bd5e f3218ba4 3b0c9d3f 22001e00 07003100"
    "32003700 2e003000 2e003000 2e003100 5b003400 37003100 33003500 5d000000 07007600 6d005b00 34003700 31003300"
    "35005d00 00000000 0a00ffff 00000000 00000000 01100800 cccccccc 78000000 00000000 00000000 00000200 90e0635a"
    "d28303d2 04000200 e1570eab dc442ed1 9288c6d6 b6781168 06000000 05000700 22000000 22001e00 07003100 32003700"
    "2e003000 2e003000 2e003100 5b003400 37003100 33003500 5d000000 07007600 6d005b00 34003700 31003300 35005d00"
    "00000000 0a00ffff 00000000 00000000";

static size_t from_hex(const char *hex, uint8_t *out)
{
    size_t size = 0;
    for (; *hex; hex++)
        if (*hex != ' ') {
            const char digits[3] = {hex[0], hex[1], 0};
            out[size++] = (uint8_t)strtoul(digits, NULL, 16);
            hex++;
        }
    return size;
}

static void golden_request_is_read(void **state)
{
    struct end e;
    struct orpc_activated a;
    uint8_t bytes[600];
    const size_t size = from_hex(impacket_request, bytes);
    (void)state;
    end_open(&e, NULL);
    ndr_write_bytes(&e.request, bytes, size); /* it requests PLA's class, which is unknown here */
    assert_int_equal(end_call(&e, &orpc_iid_scm_activator, NULL, 4), 0);
    assert_int_equal(orpc_read_activation(&e.reader, &e.arena, &a), ORPC_CLASS_NOT_REGISTERED);
    /* Replaces the GUIDs with ours: the class is at 0x110, and the interface is at 0x144. */
    struct ndr_writer guids = {0};
    ndr_write_guid(&guids, &made_up_class);
    ndr_write_guid(&guids, &made_up_iid);
    memcpy(bytes + 0x110, guids.bytes, 16);
    memcpy(bytes + 0x144, guids.bytes + 16, 16);
    ndr_writer_free(&guids);
    ndr_write_bytes(&e.request, bytes, size);
    assert_int_equal(end_call(&e, &orpc_iid_scm_activator, NULL, 4), 0);
    assert_int_equal(orpc_read_activation(&e.reader, &e.arena, &a), S_OK);
    assert_int_equal(made_up_objects(), 1);
    end_close(&e);
}

static void our_request_equals_the_golden_request_layout(void **state)
{
    uint8_t bytes[600];
    const size_t size = from_hex(impacket_request, bytes);
    const GUID clsid = {0x03837521, 0x098B, 0x11D8, {0x94, 0x14, 0x50, 0x50, 0x54, 0x50, 0x30, 0x30}};
    const GUID iid = {0x03837520, 0x098B, 0x11D8, {0x94, 0x14, 0x50, 0x50, 0x54, 0x50, 0x30, 0x30}};
    struct ndr_writer w = {0};
    (void)state;
    orpc_write_activation(&w, &causality, &clsid, &iid, 1, false);
    assert_int_equal(w.size, size);
    assert_memory_equal(w.bytes + 0x28, bytes + 0x28, 0x34); /* OBJREF_CUSTOM except its reserved member */
    assert_memory_equal(w.bytes + 0x60, bytes + 0x60, 8);    /* the size of the properties */
    assert_memory_equal(w.bytes + 0x78, bytes + 0x78, 0x1C); /* the header's sizes */
    assert_memory_equal(w.bytes + 0xA8, bytes + 0xA8, 0x58); /* properties and their sizes */
    assert_memory_equal(w.bytes + 0x110, bytes + 0x110, 36); /* class, count */
    assert_memory_equal(w.bytes + 0x138, bytes + 0x138, 0x1C);
    ndr_writer_free(&w);
}

static void golden_answer_is_read(void **state)
{
    uint8_t bytes[600];
    struct ndr_arena arena = {0};
    struct orpc_activated a;
    struct ndr_reader r = ndr_reader_over(bytes, from_hex(experiment_answer, bytes));
    (void)state;
    assert_int_equal(orpc_read_activation(&r, &arena, &a), S_OK);
    assert_int_equal(r.fault, 0);
    assert_int_equal(a.count, 1);
    assert_int_equal(a.objects[0]->standard.references, 5);
    assert_true(a.oxid == 0xd20383d25a63e090u && a.oxid == a.objects[0]->standard.oxid);
    assert_int_equal(a.rem_unknown.Data1, 0xab0e57e1);
    assert_string_equal(a.bindings.addresses[1], "vm[47135]");
    ndr_arena_free(&arena);
}

/* A request of impacket, RemQueryInterface for IDispatch, and the reply. */
static void golden_query_is_read_and_written(void **state)
{
    static const char request[] = "6112bf63 9bb6bd5e f3218ba4 3b0c9d3f 05000000 01000000 01000000 00040200 00000000"
                                  "c0000000 00000046";
    static const char answer[] = "00000000 00000000 00000200 01000000 00000000 00000000 00000000 05000000 90e0635a"
                                 "d28303d2 33666c87 b8d49d90 7dfb3324 b81bbb3a d1be27cc 4a029b5c 00000000";
    uint8_t bytes[128];
    struct ndr_writer w = {0};
    struct std_objref object;
    HRESULT result;
    size_t size = from_hex(request, bytes);
    (void)state;
    struct ndr_reader r = ndr_reader_over(bytes, size);
    const GUID ipid = ndr_read_guid(&r);
    orpc_write_query(&w, &causality, &ipid, 5, &dispatch_iid, 1);
    assert_int_equal(w.size, 32 + size);
    assert_memory_equal(w.bytes + 32, bytes, 22);
    assert_memory_equal(w.bytes + 56, bytes + 24, size - 24); /* the bytes between them are padding */
    ndr_writer_free(&w);
    size = from_hex(answer, bytes);
    r = ndr_reader_over(bytes, size);
    assert_int_equal(orpc_read_query(&r, 1, &object, &result), S_OK);
    assert_int_equal(r.fault, 0);
    assert_int_equal(r.at, size);
    assert_int_equal(result, S_OK);
    assert_int_equal(object.references, 5);
    assert_true(object.oxid == 0xd20383d25a63e090u);
    assert_int_equal(object.ipid.Data1, 0x2433fb7d);
}

/* Each request is truncated at each position, and each of its bytes is changed. The server must reply or reject it, and
   nothing may leak. */
static void malformed_requests_are_rejected(void **state)
{
    struct end e;
    uint8_t bytes[600];
    struct ndr_writer guids = {0};
    size_t size = from_hex(impacket_request, bytes);
    (void)state;
    end_open(&e, NULL);
    ndr_write_guid(&guids, &made_up_class);
    ndr_write_guid(&guids, &made_up_iid);
    memcpy(bytes + 0x110, guids.bytes, 16);
    memcpy(bytes + 0x144, guids.bytes + 16, 16);
    ndr_writer_free(&guids);
    for (size_t cut = 0; cut < size; cut++) {
        ndr_write_bytes(&e.request, bytes, cut);
        assert_int_not_equal(end_call(&e, &orpc_iid_scm_activator, NULL, 4), 0);
    }
    for (size_t at = 0; at < size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            ndr_write_bytes(&e.request, bytes, size);
            e.request.bytes[at] ^= (uint8_t)(1 << bit);
            end_call(&e, &orpc_iid_scm_activator, NULL, 4);
        }
    end_close(&e);
}

static void memory_failures_leave_no_objects(void **state)
{
    struct end e;
    struct orpc_activated a;
    (void)state;
    end_open(&e, NULL);
    for (uint64_t n = 1;; n++) {
        const GUID iids[2] = {made_up_iid, made_up_other_iid};
        orpc_write_activation(&e.request, &causality, &made_up_class, iids, 2, false);
        memory_fail_at(n);
        const uint32_t fault = end_call(&e, &orpc_iid_scm_activator, NULL, 4);
        const bool is_past = memory_count() < n;
        memory_fail_at(0);
        if (is_past) {
            assert_int_equal(fault, 0);
            assert_int_equal(orpc_read_activation(&e.reader, &e.arena, &a), S_OK);
            break;
        }
        if (!fault)
            orpc_read_activation(&e.reader, &e.arena, &a);
        e.now_ms += 10000000;
        orpc_server_run_down(e.server, e.now_ms);
        assert_int_equal(made_up_objects(), 0);
    }
    end_close(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activated_objects_accept_calls_until_released),
        cmocka_unit_test(interfaces_are_queried),
        cmocka_unit_test(each_account_has_its_own_objects),
        cmocka_unit_test(unused_objects_are_run_down),
        cmocka_unit_test(limits_of_objects_hold_for_each_account),
        cmocka_unit_test(error_information_precedes_the_body),
        cmocka_unit_test(members_are_called_by_name),
        cmocka_unit_test(enumerators_return_the_requested_items),
        cmocka_unit_test(failed_activation_is_reported_with_the_reason),
        cmocka_unit_test(threads_share_the_objects),
        cmocka_unit_test(our_client_activates_and_calls),
        cmocka_unit_test(golden_request_is_read),
        cmocka_unit_test(our_request_equals_the_golden_request_layout),
        cmocka_unit_test(golden_answer_is_read),
        cmocka_unit_test(golden_query_is_read_and_written),
        cmocka_unit_test(malformed_requests_are_rejected),
        cmocka_unit_test(memory_failures_leave_no_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
