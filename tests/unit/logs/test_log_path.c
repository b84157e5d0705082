/* SPDX-License-Identifier: MIT */
/* Counter paths: every form that a data collector set can contain is parsed as PDH parses it. */
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/os.h"
#include "engine/logs/counter_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

#define NONE PATH_NO_INDEX
static const struct {
    const char *text, *machine, *object, *parent, *instance;
    uint32_t index;
    const char *counter;
} good[] = {
    {"\\Memory\\Available Bytes", NULL, "Memory", NULL, NULL, NONE, "Available Bytes"},
    {"\\Processor(0)\\% User Time", NULL, "Processor", NULL, "0", NONE, "% User Time"},
    {"\\\\BOX\\Processor(_Total)\\*", "BOX", "Processor", NULL, "_Total", NONE, "*"},
    {"\\\\.\\System\\Threads", ".", "System", NULL, NULL, NONE, "Threads"},
    {"\\Process(svchost#12)\\ID Process", NULL, "Process", NULL, "svchost", 12, "ID Process"},
    {"\\Process(c#)\\X", NULL, "Process", NULL, "c#", NONE, "X"},
    {"\\Process(c#1x)\\X", NULL, "Process", NULL, "c#1x", NONE, "X"},
    {"\\Process(#3)\\X", NULL, "Process", NULL, "", 3, "X"},
    {"\\Process(a#99999999999)\\X", NULL, "Process", NULL, "a#99999999999", NONE, "X"},
    {"\\Process(a#4294967295)\\X", NULL, "Process", NULL, "a#4294967295", NONE, "X"},
    {"\\Thread(cmd/0#1)\\ID Thread", NULL, "Thread", "cmd", "0", 1, "ID Thread"},
    {"\\Thread(/0)\\X", NULL, "Thread", NULL, "/0", NONE, "X"},
    {"\\Thread(cmd/)\\X", NULL, "Thread", NULL, "cmd/", NONE, "X"},
    {"\\Processor()\\X", NULL, "Processor", NULL, "", NONE, "X"},
    /* slashes, per cent and parentheses in the counter's name */
    {"\\PhysicalDisk(0 C:)\\Avg. Disk sec/Read", NULL, "PhysicalDisk", NULL, "0 C:", NONE, "Avg. Disk sec/Read"},
    {"\\Memory\\Pages (in)/sec", NULL, "Memory", NULL, NULL, NONE, "Pages (in)/sec"},
    {"\\A(b)\\c(d)", NULL, "A", NULL, "b", NONE, "c(d)"},
    /* backslashes and parentheses in the instance's name */
    {"\\Paging File(\\??\\C:\\pagefile.sys)\\% Usage", NULL, "Paging File", NULL, "\\??\\C:\\pagefile.sys", NONE,
     "% Usage"},
    {"\\Network(Card (new) 2)\\Bytes", NULL, "Network", NULL, "Card (new) 2", NONE, "Bytes"},
    {"\\Network(Card :()\\Bytes", NULL, "Network", NULL, "Card :(", NONE, "Bytes"},
    /* parentheses in the object's name */
    {"\\Queue (x64)(q1)\\Length", NULL, "Queue (x64)", NULL, "q1", NONE, "Length"},
    {"\\Queue (x64) Two\\Length", NULL, "Queue (x64) Two", NULL, NULL, NONE, "Length"},
    {"\\Prozessor(\xC3\xBC\xE4\xB8\xAD)\\Z\xC3\xA4hler", NULL, "Prozessor", NULL, "\xC3\xBC\xE4\xB8\xAD", NONE,
     "Z\xC3\xA4hler"},
};

static void assert_text(const char *got, const char *expected)
{
    if (expected) {
        assert_non_null(got);
        assert_string_equal(got, expected);
    } else {
        assert_null(got);
    }
}

/* A path that is valid on Windows must not be rejected, and must not select another counter. */
static void valid_paths_are_parsed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct counter_path path;
        print_message("%s\n", good[i].text);
        assert_int_equal(counter_path_parse(good[i].text, &path), ERROR_SUCCESS);
        assert_int_equal(counter_path_check(good[i].text), ERROR_SUCCESS);
        assert_text(path.machine, good[i].machine);
        assert_text(path.object, good[i].object);
        assert_text(path.parent, good[i].parent);
        assert_text(path.instance, good[i].instance);
        assert_int_equal(path.index, good[i].index);
        assert_text(path.counter, good[i].counter);
        char *again = counter_path_format(&path);
        assert_string_equal(again, good[i].text);
        memory_free(again);
        counter_path_free(&path);
    }
}

/* Commit must not accept a set that can never start. */
static void invalid_paths_are_rejected(void **state)
{
    (void)state;
    static const char *const bad[] = {"Memory\\Available Bytes",
                                      "\\",
                                      "\\\\",
                                      "\\Memory",
                                      "\\Memory\\",
                                      "\\\\BOX",
                                      "\\\\BOX\\",
                                      "\\\\BOX\\Memory",
                                      "\\\\\\Memory\\X",
                                      "\\(0)\\X",
                                      "\\Processor(0)",
                                      "\\Processor(0)\\",
                                      "\\Processor(0",
                                      "\\Memory\\a\\b",
                                      "x"};
    struct counter_path path;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        print_message("%s\n", bad[i]);
        assert_int_equal(counter_path_parse(bad[i], &path), (PDH_STATUS)PDH_CSTATUS_BAD_COUNTERNAME);
        assert_int_equal(counter_path_check(bad[i]), (PDH_STATUS)PDH_CSTATUS_BAD_COUNTERNAME);
        assert_null(path.object);
        assert_null(path.machine);
    }
    assert_int_equal(counter_path_parse("", &path), (PDH_STATUS)PDH_CSTATUS_NO_COUNTERNAME);
}

/* A path of Windows' maximum length is valid; one more character is not. */
static void longest_path_has_2048_characters(void **state)
{
    (void)state;
    char text[PDH_MAX_COUNTER_PATH + 2] = "\\Memory\\";
    memset(text + 8, 'x', PDH_MAX_COUNTER_PATH - 8);
    struct counter_path path;
    assert_int_equal(counter_path_parse(text, &path), ERROR_SUCCESS);
    counter_path_free(&path);
    text[PDH_MAX_COUNTER_PATH] = 'x';
    assert_int_equal(counter_path_parse(text, &path), (PDH_STATUS)PDH_CSTATUS_BAD_COUNTERNAME);
}

/* A set that was created on this computer contains the computer's name in each path. A path with the name of another
   computer must not get this computer's values. */
static void only_this_computer_is_local(void **state)
{
    (void)state;
    char *name = os_computer_name();
    assert_int_equal(counter_path_machine_is_ours(NULL), ERROR_SUCCESS);
    assert_int_equal(counter_path_machine_is_ours("."), ERROR_SUCCESS);
    assert_int_equal(counter_path_machine_is_ours("LocalHost"), ERROR_SUCCESS);
    assert_int_equal(counter_path_machine_is_ours("\\\\localhost"), ERROR_SUCCESS);
    assert_int_equal(counter_path_machine_is_ours(name), ERROR_SUCCESS);
    assert_int_equal(counter_path_machine_is_ours("no-such-machine"), (PDH_STATUS)PDH_CSTATUS_NO_MACHINE);
    memory_free(name);
}

static void machine_is(const char *machine, PDH_STATUS expected)
{
    const PDH_STATUS status = counter_path_machine_is_ours(machine);
    if (status != expected)
        fail_msg("%s: 0x%08X", machine, (unsigned)status);
}

/* A template may contain this computer's address or fully qualified name instead of its short name. If these did not
   match, the log would have no columns for the template's counters. */
static void own_addresses_are_local(void **state)
{
    (void)state;
    static const char *const ours[] = {"127.0.0.1",       "\\\\127.8.9.10",  "::1", "[::1]", "\\\\[::1]",
                                       "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"};
    static const char *const others[] = {"192.0.2.1",   "[2001:db8::1]", "2001:db8::1", "127.0.0.1:47001",
                                         "[::1]:47001", "[::1",          "127.1",       "no.such.host.example"};
    const PDH_STATUS other = (PDH_STATUS)PDH_CSTATUS_NO_MACHINE;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        machine_is(ours[i], ERROR_SUCCESS);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        machine_is(others[i], other);
    struct ip_addresses all = {0};
    assert_int_equal(ip_addresses_own(&all), S_OK);
    for (size_t i = 0; i < all.count; i++) {
        const uint8_t *b = all.items[i].bytes;
        char text[64], *at = text;
        if (all.items[i].length == 4)
            snprintf(text, sizeof text, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
        for (size_t k = 0; all.items[i].length == 16 && k < 16; k += 2)
            at += snprintf(at, sizeof text - (size_t)(at - text), k ? ":%x" : "%x", b[k] << 8 | b[k + 1]);
        machine_is(text, ERROR_SUCCESS);
        /* An IPv6 address may have a suffix with the interface. */
        char *zone = text_format(all.items[i].length == 16 ? "[%s%%3]" : "%s", text);
        machine_is(zone, ERROR_SUCCESS);
        memory_free(zone);
    }
    memory_free(all.items);
    char full[OS_DNS_NAME_BYTES];
    os_dns_name(full);
    machine_is(full, ERROR_SUCCESS);
    char *longer = text_format("%s.elsewhere.example", full);
    machine_is(longer, strchr(full, '.') ? other : ERROR_SUCCESS);
    memory_free(longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_paths_are_parsed),           cmocka_unit_test(invalid_paths_are_rejected),
        cmocka_unit_test(longest_path_has_2048_characters), cmocka_unit_test(only_this_computer_is_local),
        cmocka_unit_test(own_addresses_are_local),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
