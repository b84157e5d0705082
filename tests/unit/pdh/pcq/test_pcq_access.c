/* SPDX-License-Identifier: MIT */
/* The access check for counters over RPC, with fake callers, and the settings for the port. */
#include "engine/base/memory.h"
#include "engine/base/registry.h"
#include "engine/pdh/pcq_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#define PRIVACY   6u
#define INTEGRITY 5u

static const char *const administrators[] = {"S-1-5-32-544", NULL};
static const char *const monitors[] = {"S-1-5-32-545", "S-1-5-32-558", NULL};
static const char *const users[] = {"S-1-5-32-545", NULL};

static uint32_t access_of(const char *const *groups, uint32_t level, bool known, const char *address, const char *from)
{
    const struct account_sids account = {.name = "X\\somebody", .user = "S-1-5-21-1-2-3-1001", .groups = groups};
    const struct pcq_call call = {.level_known = known,
                                  .level = level,
                                  .address = address,
                                  .caller = {.process = 1, .account = groups ? &account : NULL}};
    return pcq_access_check(&call, &(struct pcq_settings){.from = (char *)from});
}

static uint32_t access_by_port(const char *account, uint32_t level, const char *address, bool unauthenticated)
{
    const struct pcq_call call = {
        .by_port = true, .level_known = true, .level = level, .address = address, .account = account};
    return pcq_access_check(&call,
                            &(struct pcq_settings){.from = (char *)PCQ_FROM_HERE, .unauthenticated = unauthenticated});
}

/* Counters reveal which programs run on a computer, and for whom. */
static void non_members_are_rejected(void **state)
{
    (void)state;
    assert_int_equal(access_of(administrators, PRIVACY, true, NULL, ""), ERROR_SUCCESS);
    assert_int_equal(access_of(monitors, PRIVACY, true, NULL, ""), ERROR_SUCCESS);
    assert_int_equal(access_of(users, PRIVACY, true, NULL, ""), ERROR_ACCESS_DENIED);
    assert_int_equal(access_of(NULL, PRIVACY, true, NULL, ""), ERROR_ACCESS_DENIED);
    assert_int_equal(access_of(users, 0, false, NULL, ""), ERROR_ACCESS_DENIED);
    assert_int_equal(access_of(monitors, 0, false, NULL, ""), ERROR_SUCCESS);
    const struct pcq_call own = {.caller = caller_self};
    assert_int_equal(pcq_access_check(&own, &(struct pcq_settings){.from = (char *)""}), ERROR_SUCCESS);
}

/* Another computer can easily take over an address, so an address alone is never sufficient. */
static void port_needs_an_account_and_privacy(void **state)
{
    (void)state;
    assert_int_equal(access_by_port("tester", PRIVACY, "127.0.0.1", false), ERROR_SUCCESS);
    assert_int_equal(access_by_port("tester", INTEGRITY, "127.0.0.1", false), ERROR_ACCESS_DENIED);
    assert_int_equal(access_by_port("tester", INTEGRITY, "127.0.0.1", true), ERROR_ACCESS_DENIED);
    assert_int_equal(access_by_port("tester", PRIVACY, "10.0.0.1", false), ERROR_ACCESS_DENIED);
    assert_int_equal(access_by_port(NULL, 1, "127.0.0.1", false), ERROR_ACCESS_DENIED);
    assert_int_equal(access_by_port(NULL, 1, "127.0.0.1", true), ERROR_SUCCESS);
    assert_int_equal(access_by_port(NULL, 1, "10.0.0.1", true), ERROR_ACCESS_DENIED);
}

/* Not even an administrator may use a lower authentication level. */
static void missing_privacy_is_rejected(void **state)
{
    (void)state;
    assert_int_equal(access_of(administrators, INTEGRITY, true, NULL, ""), ERROR_ACCESS_DENIED);
    assert_int_equal(access_of(administrators, INTEGRITY, true, "10.0.0.1", "*"), ERROR_ACCESS_DENIED);
}

/* A TCP client's address must be listed, but does not make a known user a member. */
static void addresses_must_be_listed(void **state)
{
    (void)state;
    static const struct {
        const char *address, *from;
        uint32_t expected;
    } rows[] = {
        {"127.0.0.1", PCQ_FROM_HERE, ERROR_SUCCESS},
        {"10.0.0.1", PCQ_FROM_HERE, ERROR_ACCESS_DENIED},
        {"10.0.0.1", "", ERROR_ACCESS_DENIED},
        {"10.0.0.1", "10.0.0.2, 10.0.0.1", ERROR_SUCCESS},
        {"10.0.0.12", "10.0.0.2;10.0.0.1", ERROR_ACCESS_DENIED},
        {"10.0.0.12", "10.0.0.*", ERROR_SUCCESS},
        {"fe80::1", "*", ERROR_SUCCESS},
        {"10.0.0.1", " ,;", ERROR_ACCESS_DENIED},
        {"10.0.0.1", "10.0.0.1111111111111111111111111111111111111111111111111111111111111111111111111*",
         ERROR_ACCESS_DENIED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(access_of(NULL, 0, false, rows[i].address, rows[i].from), ERROR_ACCESS_DENIED);
        assert_int_equal(access_of(monitors, PRIVACY, true, rows[i].address, rows[i].from), rows[i].expected);
        assert_int_equal(access_of(users, PRIVACY, true, rows[i].address, rows[i].from), ERROR_ACCESS_DENIED);
    }
}

static void set(uint32_t type, const char *name, const char *text, uint64_t number)
{
    struct registry_key *key;
    bool made;
    assert_true(SUCCEEDED(registry_create("Software\\OpenPLA", &made, &key)));
    assert_int_equal(text ? registry_write_text(key, name, text) : registry_write_number(key, name, type, number),
                     S_OK);
    registry_close(key);
}

static void settings_choose_the_port(void **state)
{
    (void)state;
    struct pcq_settings s;
    assert_int_equal(pcq_settings_read(&s), S_FALSE);
    set(REGISTRY_NUMBER, "CounterQueryPort", NULL, 47001);
    assert_int_equal(pcq_settings_read(&s), S_OK);
    assert_int_equal(s.port, 47001);
    assert_string_equal(s.from, "127.0.0.1 ::1");
    pcq_settings_free(&s);
    set(0, "CounterQueryPort", "0", 0);
    set(0, "CounterQueryFrom", "10.0.0.*", 0);
    assert_int_equal(pcq_settings_read(&s), S_OK);
    assert_int_equal(s.port, 0);
    assert_string_equal(s.from, "10.0.0.*");
    pcq_settings_free(&s);
    set(0, "CounterQueryUnauthenticated", "1", 0);
    assert_int_equal(pcq_settings_read(&s), S_OK);
    assert_true(s.unauthenticated);
    pcq_settings_free(&s);
    set(0, "CounterQueryUnauthenticated", "yes", 0);
    assert_int_equal(pcq_settings_read(&s), E_INVALIDARG);
    assert_null(s.from);
    assert_non_null(strstr(error_text(E_INVALIDARG), "'yes'"));
    set(0, "CounterQueryUnauthenticated", "0", 0);
    static const char *const wrong[] = {"65536", "-1", "tcp", "0x1FFFF"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        set(0, "CounterQueryPort", wrong[i], 0);
        assert_int_equal(pcq_settings_read(&s), E_INVALIDARG);
        assert_null(s.from);
        assert_non_null(strstr(error_text(E_INVALIDARG), wrong[i]));
    }
    set(0, "CounterQueryPort", "47001", 0);
    HRESULT hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; FAILED(hr); n++) {
        memory_fail_at(n);
        hr = pcq_settings_read(&s);
        memory_fail_at(0);
        assert_true(hr == S_OK || (hr == E_OUTOFMEMORY && !s.from));
    }
    pcq_settings_free(&s);
    assert_int_equal(registry_delete("Software\\OpenPLA"), S_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_privacy_is_rejected), cmocka_unit_test(port_needs_an_account_and_privacy),
        cmocka_unit_test(non_members_are_rejected),    cmocka_unit_test(addresses_must_be_listed),
        cmocka_unit_test(settings_choose_the_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
