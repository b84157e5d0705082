/* SPDX-License-Identifier: MIT */
/* Counters over RPC as an independent computer sees them: all methods of MS-PCQ, by a client that encodes its own
   bytes, through a socket and through the named pipe, and with hostile bytes. */
#include "engine/base/text.h"
#include "engine/pdh/remote/blocks.h"
#include "perflib_server.h"
#include "tests/wire/rpc_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#define WHOLE            4000 /* number of parameter bytes in one PDU */
#define CONTEXT_MISMATCH 0x1C00001Au

static uint8_t in_bytes[1 << 20], out_bytes[4 << 20];
static struct ndr in, out;
static struct rpc_client client;
static PROCESS_INFORMATION server;
static uint16_t port;

static void begin(void)
{
    in = (struct ndr){.bytes = in_bytes, .room = sizeof in_bytes};
    out = (struct ndr){.bytes = out_bytes, .room = sizeof out_bytes};
}

/* Returns a port that is currently unused. */
static uint16_t free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int size = sizeof address;
    SOCKET s = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(s, (struct sockaddr *)&address, &size), 0);
    closesocket(s);
    return ntohs(address.sin_port);
}

/* Connects as soon as the server listens; fails the test if the server exits first. */
static void connect_port(void)
{
    while (!rpc_connect_port(&client, port))
        assert_int_equal(WaitForSingleObject(server.hProcess, 50), WAIT_TIMEOUT);
}

/* This client's packets contain no logon, so `unauthenticated` must be "1" where calls should succeed. */
static void start_listening(const char *from, const char *unauthenticated)
{
    char line[64], text[8];
    STARTUPINFOA startup = {.cb = sizeof startup};
    port = free_port();
    snprintf(text, sizeof text, "%u", port);
    SetEnvironmentVariableA("OPENPLA_COUNTER_QUERY_PORT", text);
    SetEnvironmentVariableA("OPENPLA_COUNTER_QUERY_FROM", from);
    SetEnvironmentVariableA("OPENPLA_COUNTER_QUERY_UNAUTHENTICATED", unauthenticated);
    SetEnvironmentVariableA("OPENPLA_SAMPLE_LIMIT", "0"); /* a sample may take long on a busy machine */
    snprintf(line, sizeof line, "openplasrv.exe /counters %lu", GetCurrentProcessId());
    assert_true(CreateProcessA(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &server));
}

static void start_server(const char *from, const char *unauthenticated)
{
    start_listening(from, unauthenticated);
    connect_port();
}

static int end_server(void **state)
{
    (void)state;
    rpc_disconnect(&client);
    TerminateProcess(server.hProcess, 0);
    WaitForSingleObject(server.hProcess, INFINITE);
    CloseHandle(server.hProcess);
    CloseHandle(server.hThread);
    return 0;
}

static int begin_server(void **state)
{
    (void)state;
    WSADATA data;
    WSAStartup(MAKEWORD(2, 2), &data);
    start_server(NULL, "1");
    return 0;
}

static uint32_t call(enum pcq_method method)
{
    return rpc_call(&client, (uint16_t)method, &in, WHOLE, &out);
}

/* Calls a method with a buffer of `room` units: returns the bytes, their number and the method's error. */
static const uint8_t *buffer(uint32_t room, size_t unit, uint32_t *size, uint32_t *needed, uint32_t *error)
{
    *size = ndr_number(&out);
    *needed = ndr_number(&out);
    assert_int_equal(ndr_number(&out), room);
    assert_int_equal(ndr_number(&out), 0);
    assert_int_equal(ndr_number(&out), *size);
    const uint8_t *bytes = ndr_take(&out, *size * unit);
    *error = ndr_number(&out);
    assert_int_equal(out.at, out.size);
    return bytes;
}

/* Calls as clients do: first for the size, then for the bytes, and again if the size has increased. The result is valid
   until the next call. */
static const uint8_t *ask(enum pcq_method method, size_t unit, size_t before, uint32_t *size)
{
    uint32_t needed, error;
    ndr_put_number(&in, 0);
    assert_int_equal(call(method), 0);
    buffer(0, unit, size, &needed, &error);
    assert_int_equal(error, 8);
    const uint8_t *bytes;
    do {
        const uint32_t room = needed + 7;
        in.size = before;
        ndr_put_number(&in, room);
        assert_int_equal(call(method), 0);
        bytes = buffer(room, unit, size, &needed, &error);
        assert_true(error == 0 || (error == 8 && needed > room));
    } while (error != 0);
    assert_int_equal(*size, needed);
    return bytes;
}

static const uint8_t *registration(const uint8_t *guid, uint32_t request, uint32_t lcid, uint32_t *size)
{
    begin();
    ndr_put_text(&in, "anything");
    ndr_align(&in, 4);
    ndr_put(&in, guid, 16);
    ndr_put_number(&in, request);
    ndr_put_number(&in, lcid);
    return ask(PCQ_REGISTRATION_INFO, 1, in.size, size);
}

static bool is_text(const uint8_t *units, const char *text)
{
    for (; units[0] == (uint8_t)*text && !units[1] && *text; text++)
        units += 2;
    return !*text && !units[0] && !units[1];
}

/* Finds the GUID of a counterset by its English name. */
static void find_set(const char *name, uint8_t guid[16])
{
    static uint8_t all[256 * 16];
    uint32_t count, size;
    begin();
    ndr_put_text(&in, "anything");
    const uint8_t *guids = ask(PCQ_ENUMERATE_SETS, 16, in.size, &count);
    assert_true(count > 10 && count <= 256);
    memcpy(all, guids, count * 16);
    for (uint32_t i = 0; i < count; i++)
        if (is_text(registration(all + 16 * i, 9, 0, &size), name)) {
            memcpy(guid, all + 16 * i, 16);
            return;
        }
    fail_msg("no counterset %s", name);
}

static uint32_t find_counter(const uint8_t *guid, const char *name)
{
    uint32_t size, count, id, offset;
    const uint8_t *names = registration(guid, 10, 0, &size);
    memcpy(&count, names + 4, 4);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&id, names + 8 + 8 * i, 4);
        memcpy(&offset, names + 8 + 8 * i + 4, 4);
        assert_true(8 + 8 * count + offset < size);
        if (is_text(names + 8 + 8 * count + offset, name))
            return id;
    }
    fail_msg("no counter %s", name);
    return 0;
}

static void open_query(uint8_t handle[20], uint32_t expected)
{
    begin();
    ndr_put_text(&in, "anything");
    assert_int_equal(call(PCQ_OPEN_QUERY), 0);
    memcpy(handle, ndr_take(&out, 20), 20);
    assert_int_equal(ndr_number(&out), expected);
}

/* Adds or deletes one counter and returns its status. */
static uint32_t validate(const uint8_t *handle, const uint8_t *guid, uint32_t counter, const char *name, bool add)
{
    uint8_t block[200] = {0};
    uint32_t size = (40 + 2 * (uint32_t)strlen(name) + 2 + 7) / 8 * 8, status;
    memcpy(block, guid, 16);
    memcpy(block + 20, &size, 4);
    memcpy(block + 24, &counter, 4);
    memset(block + 28, 0xFF, 4);
    for (size_t i = 0; name[i]; i++)
        block[40 + 2 * i] = (uint8_t)name[i];
    begin();
    ndr_put(&in, handle, 20);
    ndr_put_number(&in, size);
    ndr_put_number(&in, size);
    ndr_put(&in, block, size);
    ndr_put_number(&in, add);
    assert_int_equal(call(PCQ_VALIDATE_COUNTERS), 0);
    assert_int_equal(ndr_number(&out), size);
    memcpy(&status, ndr_take(&out, size) + 16, 4);
    assert_int_equal(ndr_number(&out), 0);
    return status;
}

/* Finds this process by its id among those that the server reports. */
static void find_own_process(void)
{
    uint8_t process[16], memory[16], handle[20];
    uint32_t size, count, word[4];
    bool found = false;
    find_set("Process", process);
    find_set("Memory", memory);
    uint32_t id = find_counter(process, "ID Process"), free_bytes = find_counter(memory, "Available Bytes");
    begin();
    ndr_put_text(&in, "anything");
    ndr_align(&in, 4);
    ndr_put(&in, process, 16);
    const uint8_t *p = ask(PCQ_ENUMERATE_INSTANCES, 1, in.size, &size);
    for (uint32_t at = 0; at < size; at += word[0]) {
        memcpy(word, p + at, 8);
        assert_true(word[0] >= 16 && word[0] % 8 == 0 && word[0] <= size - at);
        found = found || is_text(p + at + 8, "test_wire_counters");
    }
    assert_true(found);

    open_query(handle, 0);
    assert_int_equal(validate(handle, process, id, "test_wire_*", true), 0);
    assert_int_equal(validate(handle, memory, free_bytes, "", true), 0);
    assert_int_equal(validate(handle, memory, free_bytes, "", true), ERROR_ALREADY_EXISTS);
    assert_int_equal(validate(handle, process, id, "no such process", true), ERROR_PATH_NOT_FOUND);
    begin();
    ndr_put(&in, handle, 20);
    p = ask(PCQ_QUERY_INFO, 1, in.size, &size);
    memcpy(&count, p + 20, 4);
    memcpy(word, p + count + 24, 12);
    assert_int_equal(word[0], free_bytes);
    assert_int_equal(word[2], 1); /* its index */

    begin();
    ndr_put(&in, handle, 20);
    p = ask(PCQ_QUERY_DATA, 1, in.size, &size);
    memcpy(word, p, 8);
    assert_int_equal(word[0], size);
    assert_int_equal(word[1], 2);
    memcpy(word, p + 48, 16);
    assert_int_equal(word[0], 0);
    assert_int_equal(word[1], 4);
    const uint8_t *second = p + 48 + word[2];
    memcpy(&count, p + 48 + 20, 4);
    found = false;
    for (p += 48 + 24; count--;) {
        uint32_t value;
        memcpy(word, p, 4);
        memcpy(&value, p + word[0] + 8, 4);
        found = found || value == GetCurrentProcessId();
        memcpy(&value, p + word[0] + 4, 4);
        p += word[0] + value;
    }
    assert_true(found);
    assert_ptr_equal(p, second);
    uint64_t bytes;
    memcpy(word, second, 16);
    assert_int_equal(word[1], 1);
    memcpy(&bytes, second + 24, 8);
    assert_true(bytes > 1 << 20);

    assert_int_equal(validate(handle, memory, free_bytes, "", false), 0);
    begin();
    ndr_put(&in, handle, 20);
    assert_int_equal(call(PCQ_CLOSE_QUERY), 0);
    static const uint8_t null[20];
    assert_memory_equal(ndr_take(&out, 20), null, 20);
    assert_int_equal(ndr_number(&out), 0);
}

static void a_client_reads_counters_by_tcp(void **state)
{
    (void)state;
    find_own_process();
}

/* The server opens its endpoints one after another; TCP is not the last one. */
static void connect_pipe(const char *name)
{
    while (!rpc_connect_pipe(&client, name))
        assert_int_equal(WaitForSingleObject(server.hProcess, 50), WAIT_TIMEOUT);
}

static void await_listening(RPC_BINDING_HANDLE binding)
{
    while (RpcMgmtIsServerListening(binding) != RPC_S_OK)
        assert_int_equal(WaitForSingleObject(server.hProcess, 50), WAIT_TIMEOUT);
}

static void a_client_reads_counters_by_the_pipe(void **state)
{
    (void)state;
    rpc_disconnect(&client);
    connect_pipe("\\\\.\\pipe\\winreg");
    find_own_process();
}

static void expect_alive(void)
{
    uint8_t guid[16];
    find_set("Memory", guid);
}

static void reconnect(void)
{
    rpc_disconnect(&client);
    connect_port();
}

static void invalid_handles_return_faults(void **state)
{
    (void)state;
    uint8_t handle[20], other[20];
    struct rpc_client first = client;
    open_query(handle, 0);
    begin();
    ndr_put(&in, handle, 20);
    assert_int_equal(call(PCQ_CLOSE_QUERY), 0);
    begin();
    ndr_put(&in, handle, 20);
    ndr_put_number(&in, 0);
    assert_int_equal(call(PCQ_QUERY_DATA), CONTEXT_MISMATCH);
    /* another client's handle */
    open_query(handle, 0);
    connect_port();
    begin();
    ndr_put(&in, handle, 20);
    ndr_put_number(&in, 0);
    assert_int_equal(call(PCQ_QUERY_INFO), CONTEXT_MISMATCH);
    memset(other, 0x5A, sizeof other);
    begin();
    ndr_put(&in, other, 20);
    ndr_put_number(&in, 0);
    assert_int_not_equal(call(PCQ_QUERY_INFO), 0);
    /* not a handle */
    memset(other, 0, sizeof other);
    begin();
    ndr_put(&in, other, 20);
    ndr_put_number(&in, 0);
    assert_int_equal(call(PCQ_QUERY_INFO), CONTEXT_MISMATCH);
    assert_int_equal(call(PCQ_QUERY_DATA), CONTEXT_MISMATCH);
    ndr_put_number(&in, 0);
    ndr_put_number(&in, 1);
    assert_int_equal(call(PCQ_VALIDATE_COUNTERS), CONTEXT_MISMATCH);
    rpc_disconnect(&client);
    client = first;
    expect_alive();
}

/* Sizes beyond the limits, truncated parameters, an unknown opnum, and bytes that are not RPC: each fails only its own
   call or connection. */
static void invalid_requests_fail_separately(void **state)
{
    (void)state;
    uint8_t handle[20];
    static const uint32_t sizes[] = {0x40000001, 0xFFFFFFFF, 0x80000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        open_query(handle, 0);
        begin();
        ndr_put(&in, handle, 20);
        ndr_put_number(&in, sizes[i]);
        assert_int_not_equal(call(PCQ_QUERY_DATA), 0);
        reconnect();
    }
    /* The largest permitted buffer is valid, and takes no memory from others. */
    uint32_t size, needed, error;
    open_query(handle, 0);
    begin();
    ndr_put(&in, handle, 20);
    ndr_put_number(&in, 0x40000000);
    assert_int_equal(call(PCQ_QUERY_DATA), 0);
    buffer(0x40000000, 1, &size, &needed, &error);
    assert_int_equal(error, 0);
    assert_int_equal(size, needed);
    for (size_t cut = 0; cut < 60; cut += 7) {
        begin();
        ndr_put_text(&in, "anything");
        ndr_put(&in, "0123456789ABCDEF", 16);
        in.size = cut < in.size ? cut : in.size;
        assert_int_not_equal(call(PCQ_ENUMERATE_INSTANCES), 0);
        reconnect();
    }
    /* Announces 4 GB of identifiers, but does not send them. */
    open_query(handle, 0);
    begin();
    ndr_put(&in, handle, 20);
    ndr_put_number(&in, 4000000);
    ndr_put_number(&in, 4000000);
    ndr_put_number(&in, 1);
    assert_int_not_equal(call(PCQ_VALIDATE_COUNTERS), 0);
    reconnect();
    begin();
    assert_int_not_equal(rpc_call(&client, 8, &in, WHOLE, &out), 0);
    reconnect();
    memset(in_bytes, 'G', 5000);
    rpc_send(&client, in_bytes, 5000);
    reconnect();
    expect_alive();
}

/* Identifiers in many fragments; each invalid one gets its own status. */
static void requests_can_be_fragmented(void **state)
{
    (void)state;
    enum { COUNT = 1000, SIZE = 48 };
    uint8_t handle[20], block[SIZE] = {0};
    uint32_t size = SIZE, status;
    open_query(handle, 0);
    memcpy(block + 20, &size, 4);
    begin();
    ndr_put(&in, handle, 20);
    ndr_put_number(&in, COUNT * SIZE);
    ndr_put_number(&in, COUNT * SIZE);
    for (int i = 0; i < COUNT; i++)
        ndr_put(&in, block, SIZE);
    ndr_put_number(&in, 1);
    assert_int_equal(rpc_call(&client, PCQ_VALIDATE_COUNTERS, &in, 1000, &out), 0);
    assert_int_equal(ndr_number(&out), COUNT * SIZE);
    memcpy(&status, ndr_take(&out, COUNT * SIZE) + (COUNT - 1) * SIZE + 16, 4);
    assert_int_equal(status, 4200);
    assert_int_equal(ndr_number(&out), 0);
}

/* A client can have 64 queries; the queries of one that disconnected without closing them are freed. */
static void closed_connection_frees_its_queries(void **state)
{
    (void)state;
    uint8_t handle[20];
    for (int i = 0; i < 64; i++)
        open_query(handle, 0);
    open_query(handle, 1450);
    reconnect();
    uint32_t error = 1450;
    while (error != 0) {
        begin();
        ndr_put_text(&in, "anything");
        assert_int_equal(call(PCQ_OPEN_QUERY), 0);
        ndr_take(&out, 20);
        error = ndr_number(&out);
        assert_true(error == 0 || error == 1450);
    }
}

void __RPC_FAR *__RPC_USER MIDL_user_allocate(size_t size)
{
    return malloc(size);
}

void __RPC_USER MIDL_user_free(void __RPC_FAR *bytes)
{
    free(bytes);
}

/* The system's RPC runtime, as clients on this computer use it: the local endpoint and the pipe. */
static void clients_of_the_rpc_runtime_work(void **state)
{
    (void)state;
    static const char *const bindings[] = {"ncalrpc:[OpenPLACounters]", "ncacn_np:[\\\\pipe\\\\winreg]"};
    for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++) {
        static PERFLIB_GUID guids[256];
        WCHAR machine[] = L"anything";
        unsigned long size = 0, needed = 0;
        RPC_HQUERY query = NULL;
        assert_int_equal(RpcBindingFromStringBindingA((RPC_CSTR)bindings[i], &perflib_binding), RPC_S_OK);
        await_listening(perflib_binding);
        assert_int_equal(PerflibV2EnumerateCounterSet(machine, 256, &size, &needed, guids), 0);
        assert_true(size > 10 && size == needed);
        assert_int_equal(PerflibV2OpenQueryHandle(machine, &query), 0);
        assert_non_null(query);
        assert_int_equal(PerflibV2CloseQueryHandle(&query), 0);
        assert_null(query);
        RpcBindingFree(&perflib_binding);
    }
}

static void expect_access_denied(void)
{
    uint32_t size, needed, error;
    uint8_t handle[20];
    begin();
    ndr_put_text(&in, "anything");
    ndr_put_number(&in, 256);
    assert_int_equal(call(PCQ_ENUMERATE_SETS), 0);
    buffer(256, 16, &size, &needed, &error);
    assert_int_equal(error, ERROR_ACCESS_DENIED);
    assert_int_equal(needed, 0);
    open_query(handle, ERROR_ACCESS_DENIED);
}

/* Over TCP, an address alone is not sufficient; programs in this prefix read counters through the pipe nevertheless. */
static void callers_without_a_logon_are_rejected(void **state)
{
    end_server(state);
    start_server(NULL, NULL);
    expect_access_denied();
    rpc_disconnect(&client);
    connect_pipe("\\\\.\\pipe\\winreg");
    expect_alive();
}

/* Waits until the port accepts connections; the server closes those from other addresses. */
static void await_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (bool listens = false; !listens;) {
        SOCKET s = socket(AF_INET, SOCK_STREAM, 0);
        listens = connect(s, (struct sockaddr *)&address, sizeof address) == 0;
        closesocket(s);
        if (!listens)
            assert_int_equal(WaitForSingleObject(server.hProcess, 50), WAIT_TIMEOUT);
    }
}

static void other_addresses_are_rejected(void **state)
{
    end_server(state);
    start_listening("10.99.99.99", "1");
    await_port();
    assert_false(rpc_connect_port(&client, port));
    connect_pipe("\\\\.\\pipe\\winreg");
    expect_alive();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_server, end_server)
    const struct CMUnitTest tests[] = {
        TEST(clients_of_the_rpc_runtime_work),     TEST(a_client_reads_counters_by_tcp),
        TEST(a_client_reads_counters_by_the_pipe), TEST(invalid_handles_return_faults),
        TEST(invalid_requests_fail_separately),    TEST(requests_can_be_fragmented),
        TEST(closed_connection_frees_its_queries), TEST(callers_without_a_logon_are_rejected),
        TEST(other_addresses_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
