/* SPDX-License-Identifier: MIT */
/* Parsing the kernel's text files: complete and truncated examples of files in /proc. */
#include "engine/base/memory.h"
#include "engine/pdh/core/counter_object.h"
#include "engine/pdh/core/kernel_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

static const char stat_text[] = "cpu  30 3 33 600 6 2 4 0 0 0\n"
                                "cpu0 10 1 11 200 2 1 2 7 0 0\n"
                                "cpu3 20 2 22 400 4 1 2 0 0 0\n"
                                "intr 774051 0 0 cpu1 ctxt 5\n"
                                "ctxt 17826520000\n"
                                "btime 1795251834\n"
                                "procs_running 5\n"
                                "procs_blocked 0\n";

/* The columns must be user nice system idle iowait irq softirq. */
static void processors_are_read(void **state)
{
    (void)state;
    struct kernel_cpus s = {0};
    assert_int_equal(kernel_cpus_parse(stat_text, sizeof stat_text - 1, &s), S_OK);
    assert_int_equal(s.count, 2);
    assert_int_equal(s.cpus[0].id, 0);
    assert_int_equal(s.cpus[0].times[CPU_USER], 10);
    assert_int_equal(s.cpus[0].times[CPU_NICE], 1);
    assert_int_equal(s.cpus[0].times[CPU_IOWAIT], 2);
    assert_int_equal(s.cpus[0].times[CPU_SOFTIRQ], 2);
    assert_int_equal(s.cpus[1].id, 3);
    assert_int_equal(s.cpus[1].times[CPU_IDLE], 400);
    assert_int_equal(kernel_cpus_parse("cpu  1 2 3 4\n", 13, &s), E_FAIL);
    assert_int_equal(kernel_cpus_parse("", 0, &s), E_FAIL);
    assert_int_equal(kernel_cpus_parse("cpu0 1 2", 8, &s), E_FAIL);
    kernel_cpus_free(&s);
}

static bool has(const struct kernel_keys *k, const char *name, uint64_t value)
{
    for (size_t i = 0; i < k->count; i++)
        if (!strcmp(k->keys[i].name, name))
            return k->keys[i].has && k->keys[i].value == value;
    return false;
}

static struct kernel_keys keys_of(const char *const *names, size_t count)
{
    struct kernel_keys k = {0};
    size_t slot;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(kernel_keys_add(&k, names[i], strlen(names[i]), &slot), S_OK);
        assert_int_equal(slot, i);
    }
    return k;
}

/* A number that has another name, or was in the file only when it was read before, must not appear. */
static void numbers_are_read_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {"MemFree", "MemAvailable", "ctxt", "Mem", "Ip6InReceives", "Active(file)"};
    static const char text[] = "MemTotal:       24611448 kB\nMemFree:        23344340 kB\nActive(file):     77 kB\n"
                               "ctxt 17826520000\nIp6InReceives                   \t3\nHuge: none\n";
    struct kernel_keys k = keys_of(names, 6);
    size_t slot;
    assert_int_equal(kernel_keys_add(&k, "ctxt", 4, &slot), S_OK);
    assert_int_equal(slot, 2);
    assert_int_equal(kernel_keys_parse(text, sizeof text - 1, &k), S_OK);
    assert_true(has(&k, "MemFree", 23344340) && has(&k, "ctxt", 17826520000) && has(&k, "Ip6InReceives", 3));
    assert_true(has(&k, "Active(file)", 77));
    /* An old kernel has no MemAvailable: the counter is absent, and not replaced by MemFree or 0. */
    assert_false(k.keys[1].has || k.keys[3].has);
    assert_int_equal(kernel_keys_parse("ctxt 5", 6, &k), S_OK);
    assert_true(has(&k, "ctxt", 5));
    assert_false(k.keys[0].has);
    assert_int_equal(kernel_keys_parse("nothing\n", 8, &k), E_FAIL);
    assert_int_equal(kernel_keys_parse("ctxt", 4, &k), E_FAIL);
    kernel_keys_free(&k);
}

/* The number of TCP segments must be right even if a kernel has one column more or less. */
static void pairs_of_lines_are_read(void **state)
{
    (void)state;
    static const char *const names[] = {"Tcp.MaxConn", "Tcp.InSegs", "Udp.InSegs", "Udp.NoPorts", "Tcp.More"};
    static const char text[] = "Ip: InSegs\nIp: 9\nTcp: RtoMin MaxConn InSegs More\nTcp: 200 -1 3703\n"
                               "Udp: In NoPorts\nUdp: 1 18446744073709551615\n";
    struct kernel_keys k = keys_of(names, 5);
    assert_int_equal(kernel_keys_parse(text, sizeof text - 1, &k), S_OK);
    assert_true(has(&k, "Tcp.InSegs", 3703) && has(&k, "Udp.NoPorts", UINT64_MAX));
    assert_false(k.keys[0].has || k.keys[2].has || k.keys[4].has);
    kernel_keys_free(&k);
}

static void interrupts_are_summed(void **state)
{
    (void)state;
    static const char text[] =
        "           CPU0       CPU2       \n 24:          1          5  IO-APIC   5-edge  ACPI:Ged\n"
        "LOC:     156732     163115   Local timer interrupts\nERR:          7\nTLB: 50 60 TLB shootdowns\n";
    struct kernel_counts c = {0};
    assert_int_equal(kernel_counts_parse(text, sizeof text - 1, &c), S_OK);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.counts[1].cpu, 2);
    assert_int_equal(c.counts[0].sum, 156733);
    assert_int_equal(c.counts[1].sum, 163120);
    assert_true(c.has_clock && c.counts[1].clock == 163115);
    assert_int_equal(kernel_counts_parse("nothing", 7, &c), E_FAIL);
    kernel_counts_free(&c);
}

static bool named(const struct kernel_row *row, const char *name)
{
    return row->length == strlen(name) && !memcmp(row->name, name, row->length);
}

static void rows_are_read(void **state)
{
    (void)state;
    static const char disks[] = "   7       0 loop0 0 0 0 0\n junk\n 254       0 vda 99381 29456 6001706 31872 29979\n";
    const char *at = disks, *end = disks + sizeof disks - 1;
    struct kernel_row row;
    assert_true(kernel_disk_next(&at, end, &row) && named(&row, "loop0"));
    assert_true(kernel_disk_next(&at, end, &row) && named(&row, "vda"));
    assert_int_equal(row.count, 7);
    assert_true(row.values[0] == 254 && row.values[2] == 99381 && row.values[6] == 29979);
    assert_false(kernel_disk_next(&at, end, &row));

    static const char net[] = "Inter-|   Receive  |  Transmit\n face |bytes    packets|bytes\n    lo:    3507      33\n"
                              "eth0:1:200575054 3713 0\n";
    at = net;
    end = net + sizeof net - 1;
    assert_true(kernel_interface_next(&at, end, &row) && named(&row, "lo") && row.values[1] == 33);
    assert_true(kernel_interface_next(&at, end, &row) && named(&row, "eth0:1") && row.values[0] == 200575054);
    assert_false(kernel_interface_next(&at, end, &row));

    static const char swaps[] = "Filename Type Size Used Priority\n/dev/vda2 partition 2097148 1024 -2\n";
    at = swaps;
    end = swaps + sizeof swaps - 1;
    assert_true(kernel_swap_next(&at, end, &row) && named(&row, "/dev/vda2"));
    assert_true(row.values[0] == 2097148 && row.values[1] == 1024);

    static const char mounts[] = "27 1 254:3 / /a\\040b rw,relatime - ext4 /dev/vda rw\n";
    at = mounts;
    end = mounts + sizeof mounts - 1;
    assert_true(kernel_mount_next(&at, end, &row) && named(&row, "/a\\040b"));
    assert_true(row.values[0] == 254 && row.values[1] == 3);

    static const char cpus[] = "processor\t: 0\nmodel name\t: x\ncpu MHz\t\t: 2299.998\n\nprocessor\t: 4\n";
    at = cpus;
    end = cpus + sizeof cpus - 1;
    assert_true(kernel_cpuinfo_next(&at, end, &row) && row.count == 2 && row.values[1] == 2299998);
    assert_true(kernel_cpuinfo_next(&at, end, &row) && row.count == 1 && row.values[0] == 4);
    assert_false(kernel_cpuinfo_next(&at, end, &row));
    assert_true(kernel_list_has("0-3,8\n", 6, 2) && kernel_list_has("0-3,8\n", 6, 8));
    assert_false(kernel_list_has("0-3,8\n", 6, 4) || kernel_list_has("", 0, 0));
}

/* A listening socket, or an IPv4 connection in the IPv6 table, must be counted correctly. */
static void connections_are_counted(void **state)
{
    (void)state;
    static const char tcp[] = "  sl  local_address rem_address   st\n   0: 00000000:07E8 00000000:0000 0A 0 0\n"
                              "   1: 0100007F:0016 0100007F:1234 01 0 0\n   2: 0100007F:0016 0100007F:1234 08 0 0\n";
    static const char tcp6[] =
        "  sl  local_address                         remote_address                        st\n"
        "   0: 0000000000000000FFFF00000100007F:0016 0000000000000000FFFF00000100007F:C1DA 01 0\n"
        "   1: 00000000000000000000000001000000:0016 00000000000000000000000001000000:C1DA 01 0\n"
        "   2: 00000000000000000000000001000000:0016 00000000000000000000000001000000:C1DA 06 0\n";
    struct kernel_connections c = {0};
    assert_true(kernel_connections_add(tcp6, sizeof tcp6 - 1, &c));
    assert_false(c.under_way);
    assert_true(kernel_connections_add(tcp, sizeof tcp - 1, &c));
    assert_int_equal(c.ipv4, 3);
    assert_int_equal(c.ipv6, 1);
    assert_true(c.under_way); /* one connection is being closed */
    assert_false(kernel_connections_add("x\n", 2, &c));
}

/* Two programs of the same name must be distinguished, whatever their names contain. */
static void duplicate_names_are_numbered(void **state)
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

/* A program with ") R 1" in its name must not change its own values. */
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
    assert_int_equal(s.virtual_bytes, 5678);
    assert_int_equal(s.resident_pages, 42);
    assert_int_equal(s.faults, 1 + 3);
    assert_false(process_stat_parse(text, 60, &s));
    assert_false(process_stat_parse("", 0, &s));
    assert_false(process_stat_parse("1 (x", 4, &s));
}

/* If a number is incomplete or missing, it must not look as if processes had started. */
static void process_load_is_read(void **state)
{
    (void)state;
    static const char text[] = "0.00 0.01 0.05 1/123 4567\n";
    static const char *const bad[] = {
        "", "x\n", "0.00 0.01 0.05 1/ 4567\n", "0.00 0.01 0.05 1/123 -\n", "1/123", "0.00 0.01 0.05 1/123 0\n"};
    struct kernel_load load;
    assert_true(kernel_load_parse(text, sizeof text - 1, &load));
    assert_true(load.threads == 123 && load.last_id == 4567);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        load.threads = 1;
        assert_false(kernel_load_parse(bad[i], strlen(bad[i]), &load));
        assert_true(load.threads == 0 && load.last_id == 0);
    }
}

/* Values that a kernel thread lacks, such as memory, must not be 0. */
static void process_values_are_read(void **state)
{
    (void)state;
    static const char text[] = "Name:\tcat\nVmPeak:\t    3060 kB\nVmHWM:\t    1748 kB\nRssAnon:\t     112 kB\n"
                               "VmSwap:\t       8 kB\nThreads:\t1\nvoluntary_ctxt_switches:\t3\n"
                               "nonvoluntary_ctxt_switches:\t4\n";
    struct process_status s;
    process_status_parse(text, sizeof text - 1, &s);
    assert_true(s.virtual_peak == 3060 * 1024 && s.resident_peak == 1748 * 1024 && s.resident_private == 112 * 1024);
    assert_true(s.swapped == 8 * 1024 && s.switches == 7);
    process_status_parse("Name:\tkthreadd\n", 15, &s);
    assert_true(s.virtual_peak == INT64_MIN && s.resident_private == INT64_MIN && s.switches == INT64_MIN);
    struct process_io io;
    static const char transfers[] = "rchar: 10\nwchar: 20\nsyscr: 3\nsyscw: 4\nread_bytes: 0\nwrite_bytes: 0\n";
    process_io_parse(transfers, sizeof transfers - 1, &io);
    assert_true(io.reads == 3 && io.writes == 4 && io.read_bytes == 10 && io.written_bytes == 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_are_read),
        cmocka_unit_test(numbers_are_read_by_name),
        cmocka_unit_test(pairs_of_lines_are_read),
        cmocka_unit_test(interrupts_are_summed),
        cmocka_unit_test(rows_are_read),
        cmocka_unit_test(connections_are_counted),
        cmocka_unit_test(duplicate_names_are_numbered),
        cmocka_unit_test(process_stat_is_read),
        cmocka_unit_test(process_load_is_read),
        cmocka_unit_test(process_values_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
