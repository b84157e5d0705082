/* SPDX-License-Identifier: MIT */
/* Connects the client's and the server's state machine of a connection, and sends hostile PDUs to the server's. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/rpc/admission.h"
#include "engine/rpc/connection.h"
#include "engine/rpc/pdu/pdu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

static const GUID first_iid = {0x11111111, 1, 2, {1, 2, 3, 4, 5, 6, 7, 8}};
static const GUID second_iid = {0x22222222, 1, 2, {1, 2, 3, 4, 5, 6, 7, 8}};
static const GUID unknown_iid = {0x33333333, 1, 2, {1, 2, 3, 4, 5, 6, 7, 8}};

static bool find(void *user, const char *name, const char *domain, uint8_t hash[AUTH_HASH_BYTES],
                 char account[AUTH_NAME_BYTES])
{
    (void)user;
    (void)domain;
    text_fit(account, AUTH_NAME_BYTES, "tester");
    return text_equal_nocase(name, "tester") && SUCCEEDED(auth_hash_password("secret", hash));
}

static bool serves(void *user, const GUID *iid, uint32_t version)
{
    (void)user;
    return !version && (guid_equal(iid, &first_iid) || guid_equal(iid, &second_iid));
}

static const struct auth_accounts accounts = {.computer_name = "MACHINE", .find = find};
static const struct rpc_service service = {.accounts = &accounts, .serves = serves, .port = 47135};

struct ends {
    struct rpc_connection *server;
    struct rpc_client *client;
    struct auth_credentials credentials;
    size_t step; /* maximum number of bytes that are transferred at once; 0: all */
    unsigned calls;
    enum auth_level level; /* authentication level of the last call */
    char account[AUTH_NAME_BYTES];
};

static void ends_open(struct ends *e, bool logs_on, const char *secret, enum auth_type type, enum auth_level level)
{
    *e = (struct ends){.credentials = {.user = "tester", .domain = ""}};
    assert_int_equal(auth_hash_password(secret, e->credentials.hash), S_OK);
    assert_int_equal(rpc_connection_open(&service, 1000, &e->server), S_OK);
    assert_int_equal(rpc_client_open(logs_on ? &e->credentials : NULL, type, level, &e->client), S_OK);
}

static void ends_close(struct ends *e)
{
    rpc_connection_close(e->server);
    rpc_client_close(e->client);
}

/* Replies to a call. For opnum 0, the reply is the stub; for any other opnum, the opnum is the fault code. */
static void answer_call(struct ends *e)
{
    struct rpc_call call;
    if (!rpc_connection_call(e->server, &call))
        return;
    e->calls++;
    e->level = call.level;
    text_fit(e->account, sizeof e->account, call.account ? call.account : "");
    rpc_connection_answer(e->server, call.opnum, call.stub, call.size);
}

/* Transfers bytes in both directions until neither side has any to send. */
static void ends_run(struct ends *e)
{
    for (bool moved = true; moved;) {
        size_t size;
        moved = false;
        const uint8_t *bytes = rpc_client_output(e->client, &size);
        if (size) {
            const size_t part = e->step && e->step < size ? e->step : size;
            const size_t taken = rpc_connection_take(e->server, bytes, part, 5000);
            rpc_client_sent(e->client, taken);
            answer_call(e);
            moved = true;
        }
        bytes = rpc_connection_output(e->server, &size);
        if (size) {
            const size_t part = e->step && e->step < size ? e->step : size;
            rpc_client_take(e->client, bytes, part);
            rpc_connection_sent(e->server, part);
            moved = true;
        }
    }
}

static void call_echo(struct ends *e, const GUID *iid, size_t size)
{
    uint8_t *stub = memory_alloc(size + 1);
    size_t got;
    uint32_t fault;
    for (size_t i = 0; i < size; i++)
        stub[i] = (uint8_t)(i * 7 + i / 251);
    assert_int_equal(rpc_client_call(e->client, iid, size % 2 ? &first_iid : NULL, 0, stub, size), S_OK);
    ends_run(e);
    assert_int_equal(rpc_client_state(e->client), RPC_CLIENT_READY);
    const uint8_t *answer = rpc_client_answer(e->client, &got, &fault);
    assert_int_equal(fault, 0);
    assert_int_equal(got, size);
    if (size)
        assert_memory_equal(answer, stub, size);
    memory_free(stub);
}

static void calls_arrive_complete_at_every_level(void **state)
{
    static const struct {
        bool logs_on;
        enum auth_type type;
        enum auth_level level;
    } rows[] = {{false, AUTH_NTLM, AUTH_LEVEL_NONE},
                {true, AUTH_NTLM, AUTH_LEVEL_PRIVACY},
                {true, AUTH_NTLM, AUTH_LEVEL_INTEGRITY},
                {true, AUTH_SPNEGO, AUTH_LEVEL_PRIVACY},
                {true, AUTH_SPNEGO, AUTH_LEVEL_INTEGRITY}};
    static const size_t sizes[] = {0, 1, 15, 16, 17, 5776, 5792, 5816, 5817, 16000};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t step = 0; step < 3; step++) {
            struct ends e;
            ends_open(&e, rows[i].logs_on, "secret", rows[i].type, rows[i].level);
            e.step = (size_t[]){0, 1, 1000}[step];
            assert_int_equal(rpc_client_bind(e.client, &first_iid, 0), S_OK);
            ends_run(&e);
            assert_int_equal(rpc_client_result(e.client), S_OK);
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
                call_echo(&e, &first_iid, sizes[k]);
            assert_int_equal(e.level, rows[i].level);
            assert_string_equal(e.account, rows[i].logs_on ? "tester" : "");
            assert_int_equal(rpc_client_bind(e.client, &second_iid, 0), S_OK);
            ends_run(&e);
            call_echo(&e, &second_iid, 100);
            assert_int_equal(rpc_client_bind(e.client, &unknown_iid, 0), S_OK);
            ends_run(&e);
            assert_int_equal(rpc_client_result(e.client), E_NOINTERFACE);
            assert_int_equal(rpc_client_call(e.client, &unknown_iid, NULL, 0, NULL, 0), E_UNEXPECTED);
            if (rows[i].logs_on && e.step != 1)
                call_echo(&e, &first_iid, 400000);
            ends_close(&e);
        }
}

static void faults_are_returned(void **state)
{
    struct ends e;
    size_t size;
    uint32_t fault;
    (void)state;
    ends_open(&e, true, "secret", AUTH_NTLM, AUTH_LEVEL_PRIVACY);
    rpc_client_bind(e.client, &first_iid, 0);
    ends_run(&e);
    assert_int_equal(rpc_client_call(e.client, &first_iid, NULL, 5, (const uint8_t *)"x", 1), S_OK);
    ends_run(&e);
    rpc_client_answer(e.client, &size, &fault);
    assert_int_equal(fault, 5);
    assert_int_equal(rpc_client_result(e.client), E_ACCESSDENIED);
    call_echo(&e, &first_iid, 3);
    ends_close(&e);
}

static void wrong_passwords_end_the_connection(void **state)
{
    (void)state;
    for (enum auth_type type = AUTH_SPNEGO; type <= AUTH_NTLM; type++) {
        struct ends e;
        const char *account;
        ends_open(&e, true, "wrong", type, AUTH_LEVEL_PRIVACY);
        rpc_client_bind(e.client, &first_iid, 0);
        ends_run(&e);
        if (type == AUTH_NTLM) { /* auth3 has no reply, so only the first call fails */
            rpc_client_call(e.client, &first_iid, NULL, 0, NULL, 0);
            ends_run(&e);
        }
        assert_int_equal(rpc_client_state(e.client), RPC_CLIENT_FAILED);
        assert_int_equal(rpc_client_result(e.client), E_ACCESSDENIED);
        assert_true(rpc_connection_is_over(e.server));
        assert_true(rpc_connection_logon_failed(e.server, &account));
        assert_string_equal(account, "tester");
        assert_string_equal(rpc_connection_failure(e.server), "wrong password");
        assert_int_equal(e.calls, 0);
        ends_close(&e);
    }
}

static void changed_requests_are_rejected(void **state)
{
    (void)state;
    for (size_t at = 0; at < 100; at++) {
        struct ends e;
        size_t size;
        uint8_t copy[200];
        ends_open(&e, true, "secret", AUTH_NTLM, AUTH_LEVEL_PRIVACY);
        rpc_client_bind(e.client, &first_iid, 0);
        ends_run(&e);
        rpc_client_call(e.client, &first_iid, NULL, 0, (const uint8_t *)"0123456789", 10);
        const uint8_t *bytes = rpc_client_output(e.client, &size);
        assert_true(size <= sizeof copy);
        memcpy(copy, bytes, size);
        if (at < size)
            copy[at] ^= 4;
        rpc_connection_take(e.server, copy, size, 5000);
        answer_call(&e);
        assert_int_equal(e.calls, at >= size);
        if (at < size) { /* sending the unchanged bytes afterwards does not help */
            rpc_connection_take(e.server, bytes, size, 5000);
            answer_call(&e);
        } else {
            rpc_connection_take(e.server, bytes, size, 5000);
            answer_call(&e);
            assert_string_equal(rpc_connection_failure(e.server), "wrong signature");
        }
        assert_true(e.calls <= 1);
        ends_close(&e);
    }
}

/* If a bind replaces the security context between two fragments, the request must not continue with the old context. */
static void bind_between_fragments_ends_the_request(void **state)
{
    struct ends e;
    size_t size;
    (void)state;
    ends_open(&e, true, "secret", AUTH_NTLM, AUTH_LEVEL_PRIVACY);
    rpc_client_bind(e.client, &first_iid, 0);
    ends_run(&e);
    uint8_t stub[8000] = {0};
    rpc_client_call(e.client, &first_iid, NULL, 0, stub, sizeof stub);
    const uint8_t *bytes = rpc_client_output(e.client, &size);
    const size_t first = pdu_length(bytes);
    assert_true(first && first < size);
    rpc_connection_take(e.server, bytes, first, 5000);
    struct rpc_client *other;
    size_t bind_size;
    assert_int_equal(rpc_client_open(&e.credentials, AUTH_NTLM, AUTH_LEVEL_PRIVACY, &other), S_OK);
    rpc_client_bind(other, &first_iid, 0);
    const uint8_t *bind = rpc_client_output(other, &bind_size);
    rpc_connection_take(e.server, bind, bind_size, 5000);
    rpc_connection_take(e.server, bytes + first, size - first, 5000);
    answer_call(&e);
    assert_int_equal(e.calls, 0);
    assert_true(rpc_connection_is_over(e.server));
    rpc_client_close(other);
    ends_close(&e);
}

/* The deadline must not move if a client sends bytes that complete neither a call nor a logon. */
static void slow_clients_meet_the_deadline(void **state)
{
    struct ends e;
    size_t size;
    (void)state;
    ends_open(&e, true, "secret", AUTH_NTLM, AUTH_LEVEL_PRIVACY);
    assert_int_equal(rpc_connection_deadline_ms(e.server), 31000);
    rpc_client_bind(e.client, &first_iid, 0);
    const uint8_t *bytes = rpc_client_output(e.client, &size);
    rpc_connection_take(e.server, bytes, 20, 20000);
    assert_int_equal(rpc_connection_deadline_ms(e.server), 31000);
    rpc_connection_take(e.server, bytes + 20, size - 20, 25000);
    assert_int_equal(rpc_connection_deadline_ms(e.server), 31000);
    rpc_client_sent(e.client, size);
    ends_run(&e); /* at 5000 */
    assert_int_equal(rpc_connection_deadline_ms(e.server), 905000);
    ends_close(&e);
    ends_open(&e, false, "", AUTH_NTLM, AUTH_LEVEL_NONE);
    rpc_client_bind(e.client, &first_iid, 0);
    ends_run(&e);
    assert_int_equal(rpc_connection_deadline_ms(e.server), 31000);
    call_echo(&e, &first_iid, 3);
    assert_int_equal(rpc_connection_deadline_ms(e.server), 35000);
    ends_close(&e);
}

static void limits_are_enforced(void **state)
{
    struct ends e;
    size_t size;
    (void)state;
    ends_open(&e, false, "", AUTH_NTLM, AUTH_LEVEL_NONE);
    rpc_client_bind(e.client, &first_iid, 0);
    ends_run(&e);
    uint8_t *stub = memory_zero(1, 20000);
    rpc_client_call(e.client, &first_iid, NULL, 0, stub, 20000);
    ends_run(&e);
    assert_string_equal(rpc_connection_failure(e.server), "the request is too long");
    assert_int_equal(e.calls, 0);
    memory_free(stub);
    ends_close(&e);
    ends_open(&e, false, "", AUTH_NTLM, AUTH_LEVEL_NONE);
    static const uint8_t long_pdu[16] = {5, 0, 0, 3, 0x10, 0, 0, 0, 0xFF, 0xFF};
    assert_int_equal(rpc_connection_take(e.server, long_pdu, sizeof long_pdu, 5000), sizeof long_pdu);
    assert_string_equal(rpc_connection_failure(e.server), "malformed PDU");
    rpc_connection_output(e.server, &size);
    assert_int_equal(size, 0);
    ends_close(&e);
}

/* Like impacket, this client makes a new logon with a new context for each change of the interface, without limit. */
static void many_logons_replace_the_oldest(void **state)
{
    struct rpc_connection *server;
    (void)state;
    assert_int_equal(rpc_connection_open(&service, 1000, &server), S_OK);
    for (uint32_t i = 0; i < 200; i++) {
        struct auth_credentials credentials = {.user = "tester", .domain = ""};
        struct auth_context *a;
        uint8_t *token, *next;
        size_t size, next_size;
        auth_hash_password("secret", credentials.hash);
        assert_int_equal(auth_initiate(AUTH_NTLM, &credentials, &a), S_OK);
        assert_int_equal(auth_step(a, NULL, 0, &token, &size), S_FALSE);
        struct ndr_writer w = {0};
        pdu_start(&w, i ? PDU_ALTER_CONTEXT : PDU_BIND, PDU_FIRST | PDU_LAST, i);
        ndr_write_u32(&w, PDU_FRAGMENT | PDU_FRAGMENT << 16);
        ndr_write_u32(&w, 0);
        ndr_write_u32(&w, 1);
        ndr_write_u32(&w, i | 1 << 16);
        ndr_write_guid(&w, &first_iid);
        ndr_write_u32(&w, 0);
        ndr_write_bytes(&w, pdu_ndr_syntax, PDU_SYNTAX_BYTES);
        pdu_write_token(&w, 0, AUTH_NTLM, AUTH_LEVEL_PRIVACY, i, token, size);
        pdu_finish(&w, 0, size);
        memory_free(token);
        rpc_connection_take(server, w.bytes, w.size, 5000);
        ndr_writer_free(&w);
        struct pdu p;
        const uint8_t *out = rpc_connection_output(server, &size);
        uint8_t *copy = memory_copy(out, size);
        assert_true(pdu_read(copy, size, &p));
        assert_int_equal(auth_step(a, p.trailer + PDU_TRAILER, p.token_size, &next, &next_size), S_OK);
        rpc_connection_sent(server, size);
        memory_free(copy);
        pdu_start(&w, PDU_AUTH3, PDU_FIRST | PDU_LAST, i);
        pdu_write_token(&w, 0, AUTH_NTLM, AUTH_LEVEL_PRIVACY, i, next, next_size);
        pdu_finish(&w, 0, next_size);
        memory_free(next);
        rpc_connection_take(server, w.bytes, w.size, 5000);
        ndr_writer_free(&w);
        const struct pdu_security security = {.auth = a, .type = AUTH_NTLM, .level = AUTH_LEVEL_PRIVACY, .id = i};
        pdu_write_call(&w, PDU_REQUEST, i, (uint16_t)i, 0, NULL, (const uint8_t *)"hello", 5, PDU_FRAGMENT, &security);
        rpc_connection_take(server, w.bytes, w.size, 5000);
        ndr_writer_free(&w);
        struct rpc_call call;
        assert_true(rpc_connection_call(server, &call));
        assert_int_equal(call.size, 5);
        assert_string_equal(call.account, "tester");
        rpc_connection_answer(server, 0, call.stub, call.size);
        rpc_connection_output(server, &size);
        rpc_connection_sent(server, size);
        auth_close(a);
    }
    rpc_connection_close(server);
}

static void memory_failures_end_the_connection(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct ends e;
        ends_open(&e, true, "secret", AUTH_SPNEGO, AUTH_LEVEL_PRIVACY);
        memory_fail_at(n);
        bool good = SUCCEEDED(rpc_client_bind(e.client, &first_iid, 0));
        if (good)
            ends_run(&e);
        good = good && rpc_client_state(e.client) == RPC_CLIENT_READY &&
               SUCCEEDED(rpc_client_call(e.client, &first_iid, NULL, 0, (const uint8_t *)"x", 1));
        if (good)
            ends_run(&e);
        const bool is_past = memory_count() < n;
        memory_fail_at(0);
        good = good && rpc_client_state(e.client) == RPC_CLIENT_READY && !rpc_client_result(e.client);
        assert_true(!is_past || good);
        if (good) /* the failed allocation was only needed to release something */
            call_echo(&e, &first_iid, 20);
        ends_close(&e);
        if (is_past)
            break;
    }
}

static void admission_counts_connections_and_failures(void **state)
{
    const struct admission_limits limits = {
        .connections = 3, .connections_of_address = 2, .delay_ms = 7, .failures = 3, .block_ms = 1000};
    struct admission *a;
    const char *why;
    (void)state;
    assert_int_equal(admission_open(&limits, &a), S_OK);
    assert_true(admission_enter(a, "10.0.0.1", 1, &why));
    assert_true(admission_enter(a, "10.0.0.1", 1, &why));
    assert_false(admission_enter(a, "10.0.0.1", 1, &why));
    assert_string_equal(why, "too many connections from this address");
    assert_true(admission_enter(a, "10.0.0.2", 1, &why));
    assert_false(admission_enter(a, "10.0.0.3", 1, &why));
    assert_string_equal(why, "too many connections");
    admission_leave(a, "10.0.0.1");
    assert_true(admission_enter(a, "10.0.0.3", 1, &why));
    /* A successful logon resets the number of failed ones. After three failures in a row, the address is blocked. */
    assert_int_equal(admission_logon_failed(a, "10.0.0.3", 10), 7);
    admission_logon_failed(a, "10.0.0.3", 10);
    admission_logon_succeeded(a, "10.0.0.3");
    for (int i = 0; i < 3; i++) {
        admission_leave(a, "10.0.0.3");
        assert_true(admission_enter(a, "10.0.0.3", 20, &why));
        admission_logon_failed(a, "10.0.0.3", 20);
    }
    admission_leave(a, "10.0.0.3");
    assert_false(admission_enter(a, "10.0.0.3", 1019, &why));
    assert_string_equal(why, "blocked after failed logons");
    assert_true(admission_enter(a, "10.0.0.3", 1020, &why));
    for (int i = 0; i < 5; i++) { /* the number of failures starts at 0 again */
        admission_logon_failed(a, "10.0.0.3", 1030);
        admission_logon_succeeded(a, "10.0.0.3");
    }
    admission_leave(a, "10.0.0.3");
    assert_true(admission_enter(a, "10.0.0.3", 1040, &why));
    admission_close(a);
}

/* When an address disconnects, its entry is removed. Entries of addresses that failed remain; if there is no room, the
   oldest one is replaced. */
static void admission_has_room_for_new_addresses(void **state)
{
    struct admission *a;
    const char *why;
    (void)state;
    assert_int_equal(admission_open(&(const struct admission_limits){.failures = 1}, &a), S_OK);
    for (unsigned i = 0; i < 3000; i++) {
        char address[16];
        snprintf(address, sizeof address, "10.0.%u.%u", i / 250, i % 250);
        assert_true(admission_enter(a, address, i + 1, &why));
        admission_logon_failed(a, address, i + 1);
        admission_leave(a, address);
        assert_false(admission_enter(a, address, i + 1, &why));
    }
    assert_false(admission_enter(a, "10.0.11.200", 3001, &why)); /* lately */
    assert_true(admission_enter(a, "10.0.0.0", 3001, &why));
    assert_false(admission_enter(a, "", 3001, &why));
    admission_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_arrive_complete_at_every_level),
        cmocka_unit_test(faults_are_returned),
        cmocka_unit_test(wrong_passwords_end_the_connection),
        cmocka_unit_test(changed_requests_are_rejected),
        cmocka_unit_test(bind_between_fragments_ends_the_request),
        cmocka_unit_test(slow_clients_meet_the_deadline),
        cmocka_unit_test(limits_are_enforced),
        cmocka_unit_test(many_logons_replace_the_oldest),
        cmocka_unit_test(admission_counts_connections_and_failures),
        cmocka_unit_test(admission_has_room_for_new_addresses),
        cmocka_unit_test(memory_failures_end_the_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
