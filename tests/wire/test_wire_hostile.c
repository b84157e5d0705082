/* SPDX-License-Identifier: MIT */
/* Requests that no proxy sends, and servers that fail: each must end as an error of that call. A stub that continued
   would crash the server, which is the parent of every running data collector set, or read memory beyond the
   request. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "tests/wire/link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <rpc.h>
#include <string.h>

#define WIN32_HRESULT(error) ((HRESULT)(0x80070000u | (error)))

static const struct member *find(const char *interface_name, const char *name)
{
    for (size_t i = 0; i < MEMBERS; i++)
        if (!strcmp(members[i].interface_name, interface_name) && !strcmp(members[i].name, name))
            return &members[i];
    fail_msg("%s::%s", interface_name, name);
    return NULL;
}

static void unknown_opnums_fail(void **state)
{
    (void)state;
    for (size_t m = 0; m < MEMBERS; m++) {
        static const BYTE bytes[64];
        struct wire_link link;
        if (m && members[m].iid == members[m - 1].iid)
            continue;
        wire_link_open(&link, members[m].iid);
        recording_server_expect(&link.server, NULL);
        unsigned slots = interface_slots(members[m].interface_name);
        const unsigned opnums[] = {0, 1, 2, slots, slots + 1, 0x7fff, 0x8000, 0x8000 | slots, 0xffff};
        for (size_t i = 0; i < sizeof opnums / sizeof *opnums; i++) {
            assert_int_equal(wire_channel_invoke(&link.channel, opnums[i], bytes, sizeof bytes),
                             WIN32_HRESULT(RPC_S_PROCNUM_OUT_OF_RANGE));
        }
        assert_int_equal(link.server.calls, 0);
        wire_link_close(&link);
    }
}

/* A client may set the validity bit of an opnum; it is not part of the number. */
static void opnum_validity_bit_is_ignored(void **state)
{
    (void)state;
    struct wire_link link;
    wire_link_open(&link, &IID_IValueMap);
    recording_server_expect(&link.server, find("IValueMap", "METHOD Clear"));
    assert_int_equal(wire_channel_invoke(&link.channel, 0x8000 | 18, NULL, 0), S_OK);
    assert_int_equal(link.server.calls, 1);
    wire_link_close(&link);
}

/* Returns the minimum size of the [in] parameters if all pointers are null, and the end of the last scalar. */
static size_t least_size(const struct member *member)
{
    static const struct {
        size_t boundary, size;
    } rules[] = {
        [WIRE_ULONG] = {4, 4},      [WIRE_ULONG64] = {8, 8},  [WIRE_VARIANT_BOOL] = {2, 2}, [WIRE_ENUM] = {2, 2},
        [WIRE_GUID] = {4, 16},      [WIRE_BSTR] = {4, 4},     [WIRE_VARIANT] = {4, 4},      [WIRE_BSTR_ARRAY] = {4, 4},
        [WIRE_BYTE_ARRAY] = {4, 4}, [WIRE_INTERFACE] = {4, 4}};
    size_t size = 0;
    for (unsigned i = 0; i < member->count; i++) {
        if (member->parameters[i].in) {
            size_t boundary = rules[member->parameters[i].type].boundary;
            size = (size + boundary - 1) / boundary * boundary + rules[member->parameters[i].type].size;
        }
    }
    return size;
}

static bool has_variable_parameter(const struct member *member)
{
    for (unsigned i = 0; i < member->count; i++) {
        enum wire_type type = member->parameters[i].type;
        if (member->parameters[i].in &&
            (type == WIRE_VARIANT || type == WIRE_BSTR_ARRAY || type == WIRE_BYTE_ARRAY || type == WIRE_INTERFACE))
            return true;
    }
    return false;
}

/* Every request is truncated at every length. For members with only numbers and strings, every truncated request is
   rejected; for the others, every one that lacks a scalar or a pointer. */
static void truncated_requests_fail(void **state)
{
    (void)state;
    unsigned cuts = 0;
    for (size_t m = 0; m < MEMBERS; m++) {
        struct wire_link link;
        struct wire request = {.size = 0};
        union value values[MAX_PARAMETERS] = {{0}};
        for (unsigned i = 0; i < members[m].count; i++)
            value_make(members[m].parameters[i].type,
                       members[m].parameters[i].type == WIRE_INTERFACE ? VALUES_LEAST : 0, NULL, &values[i]);
        wire_put_parameters(&request, &members[m], true, values, 2);
        wire_link_open(&link, members[m].iid);
        recording_server_expect(&link.server, &members[m]);
        size_t refused = has_variable_parameter(&members[m]) ? least_size(&members[m]) : request.size;
        for (size_t size = 0; size < refused; size++, cuts++) {
            HRESULT hr = wire_channel_invoke(&link.channel, members[m].opnum, request.bytes, size);
            if (hr != WIN32_HRESULT(RPC_X_BAD_STUB_DATA) || link.server.calls)
                fail_msg("%s::%s, %u of %u bytes: %#x, %u calls", members[m].interface_name, members[m].name,
                         (unsigned)size, (unsigned)request.size, (unsigned)hr, link.server.calls);
        }
        wire_link_close(&link);
        for (unsigned i = 0; i < members[m].count; i++)
            value_free(members[m].parameters[i].type, &values[i]);
    }
    assert_true(cuts > 1000);
}

static void oversized_string_lengths_fail(void **state)
{
    (void)state;
    static const ULONG counts[] = {5, 0x7f, 0x7fffffff, 0x80000000, 0xffffffff};
    const struct member *member = find("IDataCollectorSet", "PUT Description");
    size_t header = os_is_wine() ? 8 : 4;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct wire_link link;
        struct wire request = {.size = 0};
        union value value = {.text = SysAllocString(L"text")};
        wire_link_open(&link, member->iid);
        recording_server_expect(&link.server, member);
        wire_put(&request, WIRE_BSTR, &value);
        memcpy(request.bytes + header, &counts[i], 4);
        memcpy(request.bytes + header + 8, &counts[i], 4);
        assert_int_equal(wire_channel_invoke(&link.channel, member->opnum, request.bytes, request.size),
                         WIN32_HRESULT(RPC_X_BAD_STUB_DATA));
        assert_int_equal(link.server.calls, 0);
        wire_link_close(&link);
        SysFreeString(value.text);
    }
}

/* Returns 0, hidden from compilers and checkers. */
static int nought(void)
{
    return (int)(GetTickCount64() >> 62);
}

static void write_nowhere(void)
{
    int *nowhere = argument_place((ULONG_PTR)nought());
    *nowhere = 1;
}

static void divide_by_zero(void)
{
    volatile int quotient = 7 / nought();
    (void)quotient;
}

static void raise_rpc_status(void)
{
    RpcRaiseException(RPC_S_CANNOT_SUPPORT);
}

static void raise_hresult(void)
{
    RaiseException((DWORD)E_OUTOFMEMORY, 0, 0, NULL);
}

static void raise_of_a_language(void)
{
    RaiseException(0xe06d7363, EXCEPTION_NONCONTINUABLE, 0, NULL);
}

static void raise_breakpoint(void)
{
    RaiseException((DWORD)EXCEPTION_BREAKPOINT, 0, 0, NULL);
}

static void exceptions_become_call_errors(void **state)
{
    (void)state;
    static const struct {
        void (*raise)(void);
        HRESULT result;
    } cases[] = {
        {write_nowhere, RPC_E_SERVERFAULT},
        {divide_by_zero, RPC_E_SERVERFAULT},
        {raise_rpc_status, WIN32_HRESULT(RPC_S_CANNOT_SUPPORT)},
        {raise_hresult, E_OUTOFMEMORY},
        {raise_of_a_language, RPC_E_SERVERFAULT},
        {raise_breakpoint, RPC_E_SERVERFAULT},
    };
    const struct member *member = find("IDataCollectorSet", "METHOD GetValue");
    struct wire_link link;
    struct wire request = {.size = 0};
    union value key = {.text = SysAllocString(L"key")};
    wire_put(&request, WIRE_BSTR, &key);
    wire_link_open(&link, member->iid);
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            recording_server_expect(&link.server, member);
            link.server.raise = cases[i].raise;
            assert_int_equal(wire_channel_invoke(&link.channel, member->opnum, request.bytes, request.size),
                             cases[i].result);
            assert_int_equal(link.server.calls, 1);
            /* our client gets the same error, and the stub continues to serve */
            union value arguments[MAX_PARAMETERS] = {key};
            assert_int_equal(wire_link_call(&link, member, arguments), cases[i].result);
            recording_server_expect(&link.server, member);
            assert_int_equal(wire_channel_invoke(&link.channel, member->opnum, request.bytes, request.size), S_OK);
        }
    }
    wire_link_close(&link);
    SysFreeString(key.text);
}

/* The frame that catches the exception restores the caller's registers. */
static void registers_survive_an_exception(void **state)
{
    (void)state;
    const struct member *member = find("IValueMap", "METHOD Clear");
    struct wire_link link;
    wire_link_open(&link, member->iid);
    double sum = 0.0;
    unsigned long long a = 1, b = 2, c = 3, d = 4;
    for (unsigned i = 1; i <= 50; i++) {
        recording_server_expect(&link.server, member);
        link.server.raise = raise_of_a_language; /* Wine's rpcrt4 does not catch this exception */
        HRESULT hr = wire_channel_invoke(&link.channel, member->opnum, NULL, 0);
        sum += i * 0.5;
        a += i;
        b += a;
        c ^= b;
        d += c;
        assert_int_equal(hr, RPC_E_SERVERFAULT);
    }
    unsigned long long w = 1, x = 2, y = 3, z = 4;
    for (unsigned i = 1; i <= 50; i++) {
        w += i;
        x += w;
        y ^= x;
        z += y;
    }
    assert_true(sum == 637.5);
    assert_true(a == w && b == x && c == y && d == z);
    wire_link_close(&link);
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    const struct member *member = find("IValueMap", "METHOD Clear");
    struct wire_link link;
    wire_link_open(&link, member->iid);
    recording_server_expect(&link.server, member);
    memory_fail_at(1);
    assert_int_equal(wire_channel_invoke(&link.channel, member->opnum, NULL, 0), E_OUTOFMEMORY);
    memory_fail_at(0);
    assert_int_equal(link.server.calls, 0);
    assert_int_equal(wire_channel_invoke(&link.channel, member->opnum, NULL, 0), S_OK);
    wire_link_close(&link);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_opnums_fail),           cmocka_unit_test(opnum_validity_bit_is_ignored),
        cmocka_unit_test(truncated_requests_fail),       cmocka_unit_test(oversized_string_lengths_fail),
        cmocka_unit_test(exceptions_become_call_errors), cmocka_unit_test(registers_survive_an_exception),
        cmocka_unit_test(out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, wire_link_open_apartment, wire_link_close_apartment);
}
