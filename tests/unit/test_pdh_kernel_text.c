/* SPDX-License-Identifier: MIT */
/* The kernel's texts as numbers, from samples of /proc files, whole and cut off. */
#include "engine/pdh/kernel_text.h"
#include "engine/pdh/object.h"
#include "engine/os/memory.h"
#ifndef _WIN32
#include "engine/os/posix/process_stat.h"
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static const char stat_text[] = "cpu  30 3 33 600 6 2 4 0 0 0\n"
                                "cpu0 10 1 11 200 2 1 2 7 0 0\n"
                                "cpu3 20 2 22 400 4 1 2 0 0 0\n"
                                "intr 774051 0 0 cpu1 ctxt 5\n"
                                "ctxt 17826520000\n"
                                "btime 1795251834\n"
                                "procs_running 5\n"
                                "procs_blocked 0\n";

/* Processor times would be those of something else: the columns are user nice system idle iowait irq softirq. */
static void stat_is_read(void **state)
{
    (void)state;
    struct kernel_stat s = {0};
    assert_int_equal(kernel_stat_parse(stat_text, sizeof stat_text - 1, &s), S_OK);
    assert_int_equal(s.count, 2);
    assert_int_equal(s.cpus[0].id, 0);
    assert_int_equal(s.cpus[0].user, 11);
    assert_int_equal(s.cpus[0].privileged, 14);
    assert_int_equal(s.cpus[0].idle, 202);
    assert_int_equal(s.cpus[1].id, 3);
    assert_int_equal(s.cpus[1].user, 22);
    assert_true(s.has_context_switches && s.context_switches == 17826520000);
    assert_true(s.has_running && s.running == 5);
    /* Without the lines behind the processors those counters are absent, not what they were. */
    assert_int_equal(kernel_stat_parse(stat_text, (size_t)(strstr(stat_text, "intr") - stat_text), &s), S_OK);
    assert_false(s.has_context_switches || s.has_running);
    assert_int_equal(kernel_stat_parse("cpu  1 2 3 4\n", 13, &s), E_FAIL);
    assert_int_equal(kernel_stat_parse("", 0, &s), E_FAIL);
    assert_int_equal(kernel_stat_parse("cpu0 1 2", 8, &s), E_FAIL);
    kernel_stat_free(&s);
}

static void meminfo_is_read(void **state)
{
    (void)state;
    static const char text[] = "MemTotal:       24611448 kB\nMemFree:        23344340 kB\nMemAvailable:   24153592 kB\n"
                               "CommitLimit:    12305724 kB\nCommitted_AS:     414572 kB\n";
    struct kernel_memory m;
    assert_int_equal(kernel_memory_parse(text, sizeof text - 1, &m), S_OK);
    assert_true(m.has_available && m.available == 24153592ull * 1024);
    assert_true(m.has_commit_limit && m.commit_limit == 12305724ull * 1024);
    assert_true(m.has_committed && m.committed == 414572ull * 1024);
    /* An old kernel has no MemAvailable: the counter is absent, not MemFree or 0. */
    assert_int_equal(kernel_memory_parse("MemTotal: 10 kB\nMemFree: 5 kB\n", 30, &m), S_OK);
    assert_false(m.has_available || m.has_committed || m.has_commit_limit);
    assert_int_equal(kernel_memory_parse("nothing\n", 8, &m), E_FAIL);
}

/* Two programs of one name must stay apart, whatever is in the names. */
static void doubles_are_numbered(void **state)
{
    (void)state;
    const char *names[] = {"svchost", "a(b)/c\\d#2", "SvcHost", "svchost", "x"};
    const uint64_t keys[] = {1, 2, 3, 4, 5};
    struct instance_list *list = instance_list_create(5, names, keys);
    assert_string_equal(list->items[0].name, "svchost");
    assert_string_equal(list->items[1].name, "a[b]_c_d_2");
    assert_string_equal(list->items[2].name, "SvcHost#1");
    assert_string_equal(list->items[3].name, "svchost#2");
    assert_int_equal(instance_list_find(list, "SVCHOST#2"), 3);
    assert_true(instance_list_find(list, "svchost#3") == SIZE_MAX);
    instance_list_release(list);
}

#ifndef _WIN32
/* A program that puts ") R 1" into its name must not change its own figures. */
static void process_stat_is_read(void **state)
{
    (void)state;
    static const char text[] = "77 (a) R 1 (b) S 3 77 77 0 -1 4194560 1 2 3 4 50 60 0 0 20 0 9 0 1234 5678 42 "
                               "18446744073709551615 1 1";
    struct process_stat s;
    assert_true(process_stat_parse(text, sizeof text - 1, &s));
    assert_int_equal(s.name_length, 9);
    assert_memory_equal(s.name, "a) R 1 (b", 9);
    assert_int_equal(s.parent, 3);
    assert_int_equal(s.user_ticks, 50);
    assert_int_equal(s.kernel_ticks, 60);
    assert_int_equal(s.threads, 9);
    assert_int_equal(s.start_ticks, 1234);
    assert_int_equal(s.resident_pages, 42);
    assert_false(process_stat_parse(text, 60, &s));
    assert_false(process_stat_parse("", 0, &s));
    assert_false(process_stat_parse("1 (x", 4, &s));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat_is_read),
        cmocka_unit_test(meminfo_is_read),
        cmocka_unit_test(doubles_are_numbered),
#ifndef _WIN32
        cmocka_unit_test(process_stat_is_read),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
