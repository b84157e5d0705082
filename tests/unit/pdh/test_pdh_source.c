/* SPDX-License-Identifier: MIT */
/* The objects and their kernel files, which this test writes: the source of each value, files that change their format
   or disappear, instances that appear and disappear, and sources that take too long. */
#include "engine/base/clock.h"
#include "engine/base/thread.h"
#include "engine/pdh/core/counter_object.h"
#define ROOT_NAME "test_pdh_source"
#include "tests/unit/patience.h"
#include "tests/unit/pdh/root_query.h"
#ifndef _WIN32
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

/* If a counter had the wrong source, logs would contain wrong values under a name that users trust. */
static void each_value_follows_its_source(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int64_t first, second; /* `second` is not checked if it is 0 */
    } table[] = {
        {"\\Cache\\Dirty Page Threshold", 500, 0},
        {"\\Cache\\Dirty Pages", 1, 0},
        {"\\Cache\\Lazy Write Pages/sec", 900, 0},
        {"\\Control Group(own)\\% Processor Time", 70000, 0},
        {"\\Control Group(own)\\Memory Bytes", 555, 0},
        {"\\Control Group(system.slice)\\% User Time", 50000, 0},
        {"\\Control Group(system.slice)\\% Throttled Time", 90, 0},
        {"\\Control Group(system.slice)\\IO Read Bytes/sec", 1003, 0},
        {"\\Control Group(system.slice)\\IO Write Operations/sec", 6, 0},
        {"\\Control Group(system.slice_ssh.service)\\Tasks", 4, 0},
        {"\\Control Group(system.slice_ssh.service)\\Memory Limit Bytes", 9999, 0},
        {"\\GPU Adapter Memory(luid_0x00000000_0x00000300_phys_0)\\Dedicated Usage", 7000, 0},
        {"\\GPU Adapter Memory(luid_0x00000000_0x00000300_phys_0)\\Total Committed", 7400, 0},
        {"\\GPU Engine(pid_77_luid_0x00000000_0x00000300_phys_0_eng_1_engtype_Copy)\\Running Time", 30, 0},
        {"\\GPU Process Memory(pid_77_luid_0x00000000_0x00000300_phys_0)\\Shared Usage", 4096, 0},
        {"\\ICMP\\Messages/sec", 7, 0},
        {"\\ICMPv6\\Messages/sec", 3, 0},
        {"\\IPv4\\Datagrams/sec", 30, 0},
        {"\\IPv4\\Datagrams Received Header Errors", 1, 0},
        {"\\IPv6\\Datagrams Received/sec", 3, 0},
        {"\\Memory\\% Committed Bytes In Use", 50, 200},
        {"\\Memory\\Available KBytes", 600, 0},
        {"\\Memory\\Cache Bytes", 321 * 1024, 0},
        {"\\Memory\\Free & Zero Page List Bytes", 400 * 1024, 0},
        {"\\Memory\\Page Reads/sec", 50, 0},
        {"\\Memory\\Pages/sec", 7, 0},
        {"\\Memory\\Pool Nonpaged Bytes", 7 * 1024, 0},
        {"\\Memory\\Pool Paged Bytes", 300 * 1024, 0},
        {"\\Memory\\Pool Paged Resident Bytes", 300 * 1024, 0},
        {"\\Memory\\Standby Cache Normal Priority Bytes", 120 * 1024, 0},
        {"\\Memory\\Transition Pages RePurposed/sec", 33, 0},
        {"\\Network Adapter(eth0)\\Bytes Sent/sec", 3000, 0},
        {"\\Network Interface(eth0)\\Bytes Total/sec", 5000, 0},
        {"\\Network Interface(eth0)\\Current Bandwidth", 1000000000, 0},
        {"\\Network Interface(eth0)\\Packets Received Discarded", 2, 0},
        {"\\Network Interface(eth0)\\Packets Outbound Errors", 3, 0},
        {"\\NUMA Node Memory(0)\\Total MBytes", 3, 0},
        {"\\NUMA Node Memory(1)\\Free & Zero Page List MBytes", 4, 0},
        {"\\NUMA Node Memory(1)\\Available MBytes", 5, 0},
        {"\\NUMA Node Memory(_Total)\\Standby List MBytes", 3, 0},
        {"\\Paging File(swapfile)\\% Usage", 250, 1000},
        {"\\Paging File(_Total)\\% Usage", 250, 1000},
        {"\\Per Processor Network Interface Card Activity(1, eth0)\\Interrupts/sec", 5, 0},
        {"\\PhysicalDisk(_Total)\\Avg. Disk Bytes/Write", 600 * 512, 50},
        {"\\PhysicalDisk(_Total)\\Avg. Disk sec/Read", 3000000, 100},
        {"\\PhysicalDisk(_Total)\\Avg. Disk sec/Transfer", 10000000, 150},
        {"\\PhysicalDisk(_Total)\\Current Disk Queue Length", 3, 0},
        {"\\PhysicalDisk(_Total)\\Disk Bytes/sec", 2600 * 512, 0},
        {"\\Pressure(cpu)\\% Some Time", 444450, 0},
        {"\\Pressure(memory)\\% Full Time", 70, 0},
        {"\\Processor(0)\\% C1 Time", 4000 * 10, 0},
        {"\\Processor(0)\\C1 Transitions/sec", 40, 0},
        {"\\Processor(1)\\% C3 Time", 60000 * 10, 0},
        {"\\Processor(_Total)\\C3 Transitions/sec", 12, 0},
        {"\\Processor(1)\\DPC Rate", 3, 0},
        {"\\Processor(0)\\% Privileged Time", 14 * 100000, 0},
        {"\\Processor(1)\\% Interrupt Time", 100000, 0},
        {"\\Processor(1)\\Interrupts/sec", 205, 0},
        {"\\Processor(_Total)\\% DPC Time", 200000, 0},
        {"\\Processor(_Total)\\DPCs Queued/sec", 697, 0},
        {"\\Processor Information(0,0)\\% of Maximum Frequency", 1500, 3000},
        {"\\Processor Information(0,0)\\Idle Break Events/sec", 45, 0},
        {"\\Processor Information(0,0)\\Average Idle Time", 4100 * 10, 45},
        {"\\Processor Information(0,1)\\Processor Frequency", 2400, 0},
        {"\\Processor Performance(PPM_Processor_0)\\% of Maximum Frequency", 50, 0},
        {"\\Processor Performance(PPM_Processor_1)\\Processor Frequency", 2400, 0},
        {"\\Processor Information(0,_Total)\\Clock Interrupts/sec", 300, 0},
        {"\\Processor Information(_Total)\\% Idle Time", 303 * 100000, 0},
        {"\\Redirector\\Packets Transmitted/sec", 150, 0},
        {"\\Redirector\\Server Sessions", 2, 0},
        {"\\SMB Client Shares(server_data)\\Read Bytes/sec", 4096, 0},
        {"\\SMB Client Shares(server_data)\\Avg. Bytes/Write", 500, 5},
        {"\\SMB Client Shares(_Total)\\Metadata Requests/sec", 108, 0},
        {"\\System\\Context Switches/sec", 1000, 0},
        {"\\System\\Processor Queue Length", 3, 0},
        {"\\TCPv4\\Connections Established", 1, 0},
        {"\\TCPv4\\Segments/sec", 300, 0},
        {"\\TCPv6\\Connections Established", 0, 0},
        {"\\Thermal Zone Information(acpitz)\\Temperature", 314, 0},
        {"\\Thermal Zone Information(acpitz#1)\\High Precision Temperature", 2732 - 55, 0},
        {"\\UDPv4\\Datagrams Received Errors", 9, 0},
        {"\\UDPv6\\Datagrams Received/sec", 5, 0},
        {"\\Wine Server\\% Processor Time", 900 * 100000, 0},
        {"\\Wine Server\\Open Files", 2, 0},
#ifndef _WIN32 /* under Wine, these counters show Windows processes */
        {"\\Objects\\Processes", 1, 0},
        {"\\Process(some)\\% Processor Time", 110 * 100000, 0},
        {"\\Process(some)\\Handle Count", 1, 0},
        {"\\Process(some)\\IO Data Bytes/sec", 30, 0},
        {"\\Process(some)\\IO Write Operations/sec", 4, 0},
        {"\\Process(some)\\Page Faults/sec", 4, 0},
        {"\\Process(some)\\Private Bytes", 13 * 1024, 0},
        {"\\Process(some)\\Virtual Bytes Peak", 30 * 1024, 0},
        {"\\Process(some)\\Working Set", 42 * 4096, 0},
        {"\\Process(_Total)\\Working Set - Private", 11 * 1024, 0},
        {"\\Thread(some/0)\\Context Switches/sec", 7, 0},
        {"\\Thread(some/0)\\ID Thread", 77, 0},
        {"\\Thread(some/0)\\Thread State", 5, 0},
        {"\\Thread(some/0)\\Thread Wait Reason", 6, 0},
        {"\\Thread(_Total/_Total)\\% User Time", 50 * 100000, 0},
#endif
    };
    PDH_HCOUNTER counters[sizeof table / sizeof *table];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        counters[i] = add(table[i].path);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        PDH_RAW_COUNTER raw = raw_of(counters[i]);
        bool ok = raw.CStatus == PDH_CSTATUS_VALID_DATA && raw.FirstValue == table[i].first &&
                  (!table[i].second || raw.SecondValue == table[i].second);
        if (!ok) {
            print_message("%s: status 0x%08X, %lld and %lld\n", table[i].path, (unsigned)raw.CStatus,
                          (long long)raw.FirstValue, (long long)raw.SecondValue);
        }
        assert_true(ok);
    }
}

/* The connection tables are read only if a connection may have been opened or closed. Each opened connection must be
   counted, and no closed one. */
static void connections_are_counted_when_they_change(void **state)
{
    (void)state;
#define SNMP(active, passive, now)                                                                                     \
    "Tcp: ActiveOpens PassiveOpens CurrEstab InSegs OutSegs\nTcp: " active " " passive " " now " 1 1\n"
#define HEAD        "  sl  local_address rem_address   st\n"
#define LINE(state) "   0: 0100007F:0016 0100007F:1234 " state " 0 0\n"
#define LINE6       "   0: 00000000000000000000000001000000:0016 00000000000000000000000001000000:C1DA 01 0\n"
    static const struct {
        const char *snmp, *tcp, *tcp6; /* NULL: unchanged */
        int64_t ipv4, ipv6;
    } steps[] = {
        {SNMP("5", "6", "1"), HEAD LINE("01"), HEAD, 1, 0},
        {NULL, HEAD, HEAD LINE6, 1, 0}, /* the kernel reports no change: the tables are not read */
        {SNMP("5", "7", "1"), NULL, NULL, 0, 1},
        {SNMP("6", "7", "1"), HEAD LINE("02"), HEAD LINE6, 0, 1},
        {NULL, HEAD LINE("01"), HEAD, 1, 0}, /* a connection was being opened or closed before */
        {NULL, HEAD LINE("01"), HEAD LINE6, 1, 0},
        {SNMP("6", "7", "2"), NULL, NULL, 1, 1},
        {SNMP("6", "7", "1"), HEAD LINE("08"), HEAD, 1, 0},
        {NULL, HEAD, NULL, 0, 0}, /* older kernels change no number when a connection in CLOSE_WAIT is closed */
        {"Tcp: InSegs\nTcp: 1\n", HEAD LINE("01"), NULL, 1, 0},
        {NULL, HEAD, HEAD LINE6, 0, 1}, /* snmp has no numbers of connections to compare */
    };
    PDH_HCOUNTER ipv4 = add("\\TCPv4\\Connections Established"), ipv6 = add("\\TCPv6\\Connections Established");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        static const char *const paths[] = {"/proc/net/snmp", "/proc/net/tcp", "/proc/net/tcp6"};
        const char *const texts[] = {steps[i].snmp, steps[i].tcp, steps[i].tcp6};
        for (size_t k = 0; k < 3; k++)
            if (texts[k])
                kernel_root_write(&root, paths[k], texts[k]);
        assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
        PDH_RAW_COUNTER four = raw_of(ipv4), six = raw_of(ipv6);
        if (four.FirstValue != steps[i].ipv4 || six.FirstValue != steps[i].ipv6)
            print_message("step %u: %d and %d\n", (unsigned)i, (int)four.FirstValue, (int)six.FirstValue);
        assert_int_equal(four.CStatus, PDH_CSTATUS_VALID_DATA);
        assert_true(four.FirstValue == steps[i].ipv4 && six.FirstValue == steps[i].ipv6);
    }
}

/* The kernel needs milliseconds to write the tables. Connections are therefore counted without them if the other files
   are sufficient to tell IPv4 from IPv6. */
static void connections_are_counted_without_their_tables(void **state)
{
    (void)state;
#define IN_USE(count)  "sockets: used 9\nTCP: inuse " count " orphan 0 tw 3\nUDP: inuse 7 mem 0\n"
#define IN_USE6(count) "TCP6: inuse " count "\nUDP6: inuse 0\n"
    static const struct {
        const char *snmp, *sockets, *sockets6, *tcp; /* NULL: unchanged */
        int64_t ipv4, ipv6;
    } steps[] = {
        {SNMP("5", "6", "2"), IN_USE("4"), IN_USE6("2"), HEAD LINE("01"), 1, 1},
        /* the table, which is different, is not read */
        {SNMP("5", "9", "5"), IN_USE("7"), NULL, HEAD, 4, 1},
        {SNMP("5", "9", "3"), IN_USE("5"), NULL, NULL, 2, 1},
        {SNMP("6", "9", "3"), NULL, NULL, NULL, 2, 1}, /* one connection was opened and closed */
        /* an IPv4 server begins to listen; then an IPv6 server stops */
        {NULL, IN_USE("6"), NULL, NULL, 2, 1},
        {SNMP("7", "9", "4"), IN_USE("7"), NULL, NULL, 3, 1},
        {SNMP("7", "9", "3"), NULL, IN_USE6("1"), HEAD LINE("01") LINE("01"), 2, 1},
        /* older kernels: one connection is in CLOSE_WAIT; it is in the table, and its socket is in use */
        {SNMP("7", "9", "2"), NULL, NULL, HEAD LINE("01") LINE("08"), 2, 1},
        {NULL, NULL, NULL, HEAD LINE("01"), 1, 1},
        {SNMP("8", "9", "1"), IN_USE("6"), NULL, HEAD LINE("02"), 0, 1},
        /* one connection was opened while the files were read, so the tables are read at the next change */
        {SNMP("8", "9", "2"), NULL, NULL, HEAD LINE("01") LINE("01"), 2, 1},
        {SNMP("8", "9", "3"), IN_USE("7"), NULL, NULL, 2, 1},
        {SNMP("8", "9", "4"), IN_USE("8"), NULL, NULL, 3, 1},
    };
    kernel_root_write(&root, "/proc/net/tcp6", HEAD LINE6);
    PDH_HCOUNTER ipv4 = NULL, ipv6 = NULL;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        static const char *const paths[] = {"/proc/net/snmp", "/proc/net/sockstat", "/proc/net/sockstat6",
                                            "/proc/net/tcp"};
        const char *const texts[] = {steps[i].snmp, steps[i].sockets, steps[i].sockets6, steps[i].tcp};
        for (size_t k = 0; k < 4; k++)
            if (texts[k])
                kernel_root_write(&root, paths[k], texts[k]);
        ipv4 = ipv4 ? ipv4 : add("\\TCPv4\\Connections Established");
        ipv6 = ipv6 ? ipv6 : add("\\TCPv6\\Connections Established");
        assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
        PDH_RAW_COUNTER four = raw_of(ipv4), six = raw_of(ipv6);
        if (four.FirstValue != steps[i].ipv4 || six.FirstValue != steps[i].ipv6)
            print_message("step %u: %d and %d\n", (unsigned)i, (int)four.FirstValue, (int)six.FirstValue);
        assert_true(four.FirstValue == steps[i].ipv4 && six.FirstValue == steps[i].ipv6);
    }
}

/* If nothing uses IPv6, no table is needed with newer kernels: their number of connections is sufficient. */
static void connections_of_ipv4_alone_need_no_table(void **state)
{
    (void)state;
    kernel_root_write(&root, "/proc/net/tcp6", HEAD);
    kernel_root_write(&root, "/proc/net/tcp", HEAD LINE("08"));
    kernel_root_write(&root, "/proc/net/snmp", SNMP("5", "6", "3"));
    kernel_root_write(&root, "/proc/net/sockstat", IN_USE("4"));
    kernel_root_write(&root, "/proc/net/sockstat6", IN_USE6("0"));
    kernel_root_write(&root, "/proc/sys/kernel/osrelease", "6.10.2-test\n");
    PDH_HCOUNTER ipv4 = add("\\TCPv4\\Connections Established"), ipv6 = add("\\TCPv6\\Connections Established");
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(raw_of(ipv4).FirstValue == 3 && raw_of(ipv6).FirstValue == 0);
    kernel_root_write(&root, "/proc/net/snmp", SNMP("6", "6", "2"));
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(raw_of(ipv4).FirstValue == 2 && raw_of(ipv6).FirstValue == 0);
    /* the number of connections is ignored, because it exceeds the number of sockets in use */
    kernel_root_write(&root, "/proc/net/snmp", SNMP("7", "6", "9"));
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(raw_of(ipv4).FirstValue == 1 && raw_of(ipv6).FirstValue == 0);
    /* IPv6 is used */
    kernel_root_write(&root, "/proc/net/snmp", SNMP("7", "7", "3"));
    kernel_root_write(&root, "/proc/net/sockstat6", IN_USE6("1"));
    kernel_root_write(&root, "/proc/net/tcp6", HEAD LINE6);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(raw_of(ipv4).FirstValue == 1 && raw_of(ipv6).FirstValue == 1);
}

static PDH_STATUS status_of_adding(const WCHAR *path)
{
    PDH_HCOUNTER counter;
    return PdhAddEnglishCounterW(query, path, 0, &counter);
}

/* A number or file that a kernel lacks must not appear as 0. */
static void missing_sources_result_in_absent_counters(void **state)
{
    (void)state;
    kernel_root_delete(&root, "/proc/vmstat");
    kernel_root_delete(&root, "/proc/swaps");
    kernel_root_write(&root, "/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 400 kB\n");
    add("\\Memory\\Free & Zero Page List Bytes");
    assert_int_equal(status_of_adding(u"\\Memory\\Page Faults/sec"), (PDH_STATUS)PDH_CSTATUS_NO_COUNTER);
    assert_int_equal(status_of_adding(u"\\Memory\\% Committed Bytes In Use"), (PDH_STATUS)PDH_CSTATUS_NO_COUNTER);
    assert_int_equal(status_of_adding(u"\\Paging File(_Total)\\% Usage"), (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(status_of_adding(u"\\Cache\\Dirty Pages"), (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
}

/* The object exists even if a computer has no swap space, so that lists contain it and templates can use it. */
static void object_exists_without_instances(void **state)
{
    WCHAR paths[200];
    DWORD units = 200;
    (void)state;
    kernel_root_write(&root, "/proc/swaps", "Filename Type Size Used Priority\n");
    PDH_HCOUNTER usage = add("\\Paging File(_Total)\\% Usage");
    assert_int_equal(PdhExpandWildCardPathW(NULL, u"\\Paging File(*)\\*", paths, &units, 0), ERROR_SUCCESS);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(is_valid(usage) && raw_of(usage).FirstValue == 0 && raw_of(usage).SecondValue == 1);
}

/* The rate of soft interrupts must depend only on the last interval. Otherwise an alert would depend on interrupts that
   occurred hours ago. */
static void dpc_rate_covers_the_last_interval(void **state)
{
    (void)state;
    PDH_HCOUNTER rate = add("\\Processor(0)\\DPC Rate"), all = add("\\Processor(_Total)\\DPC Rate");
    static const struct {
        const char *ticks, *softirqs;
        int64_t first, both;
    } steps[] = {{"LOC: 200 300 x", "TIMER: 113 984", 1, 4},
                 {"LOC: 210 301 x", "TIMER: 363 991", 25, 32},
                 {"LOC: 210 302 x", "TIMER: 393 991", 25, 25}, /* no tick: the rate is kept */
                 {"LOC: 220 303 x", "TIMER: 403 991", 4, 4}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char *ticks = text_format("  CPU0 CPU1\n%s\n", steps[i].ticks);
        char *softirqs = text_format("  CPU0 CPU1\n%s\n", steps[i].softirqs);
        kernel_root_write(&root, "/proc/interrupts", ticks);
        kernel_root_write(&root, "/proc/softirqs", softirqs);
        memory_free(ticks);
        memory_free(softirqs);
        assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
        assert_int_equal(raw_of(rate).FirstValue, steps[i].first);
        assert_int_equal(raw_of(all).FirstValue, steps[i].both);
    }
}

/* If a sensor is disabled, or a zone disappears and gets the same number again, no old value may be shown. */
static void small_files_are_read_again(void **state)
{
    (void)state;
    PDH_HCOUNTER zone = add("\\Thermal Zone Information(acpitz)\\Temperature");
    PDH_HCOUNTER memory = add("\\NUMA Node Memory(0)\\Free & Zero Page List MBytes");
    PDH_HCOUNTER cpu = add("\\Pressure(cpu)\\% Some Time"), slept = add("\\Processor(0)\\% C1 Time");
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    kernel_root_write(&root, "/sys/class/thermal/thermal_zone0/temp", "87000\n");
    kernel_root_write(&root, "/sys/devices/system/node/node0/meminfo",
                      "Node 0 MemTotal: 4096 kB\nNode 0 MemFree: 9216 kB\n");
    kernel_root_write(&root, "/proc/pressure/cpu", "some avg10=9.00 avg60=1.00 avg300=0.00 total=50000\n");
    kernel_root_write(&root, "/sys/devices/system/cpu/cpu0/cpuidle/state1/time", "9000\n");
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_int_equal(raw_of(zone).FirstValue, 360);
    assert_int_equal(raw_of(memory).FirstValue, 9);
    assert_int_equal(raw_of(cpu).FirstValue, 500000);
    assert_int_equal(raw_of(slept).FirstValue, 90000);
    /* the host OS may have hierarchies of cgroup version 1 */
    PDH_HCOUNTER own = add("\\Control Group(own)\\% Processor Time"), held = add("\\Control Group(own)\\Memory Bytes");
    kernel_root_write(&root, "/proc/self/cgroup", "4:memory:/a/b\n2:cpu,cpuacct:/\n1:name=systemd:/\n0::/\n");
    kernel_root_write(&root, "/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "777\n");
    kernel_root_write(&root, "/sys/fs/cgroup/cpuacct/cpuacct.usage", "5000\n");
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_int_equal(raw_of(own).FirstValue, 50);
    assert_int_equal(raw_of(held).FirstValue, 777);
    kernel_root_write(&root, "/sys/class/thermal/thermal_zone0/temp", "");
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_false(is_valid(zone));
    assert_true(is_valid(memory));
}

/* If a file changes its format, values from other files must be unaffected, and its old values must not look new. */
static void changed_file_format_harms_no_other(void **state)
{
    (void)state;
    PDH_HCOUNTER faults = add("\\Memory\\Page Faults/sec"), free = add("\\Memory\\Free & Zero Page List Bytes");
    PDH_HCOUNTER processor = add("\\Processor(0)\\% User Time"), disk = add("\\PhysicalDisk(_Total)\\Disk Reads/sec");
    PDH_HCOUNTER interface = add("\\Network Interface(eth0)\\Packets/sec");
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(is_valid(faults) && is_valid(free) && is_valid(processor) && is_valid(disk) && is_valid(interface));
    kernel_root_write(&root, "/proc/vmstat", "something else\n");
    kernel_root_write(&root, "/proc/diskstats", "");
    kernel_root_write(&root, "/proc/net/dev", "no table\n");
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(is_valid(free) && is_valid(processor));
    assert_false(is_valid(faults) || is_valid(disk) || is_valid(interface));
    kernel_root_write(&root, "/proc/vmstat", "pgfault 6000\n");
    kernel_root_write(&root, "/proc/diskstats", " 254 0 vda 100 1 2000 300 50 2 600 700 3 800 1100 0\n");
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(is_valid(faults) && is_valid(disk) && raw_of(faults).FirstValue == 6000);
}

static void write_interfaces(size_t from, size_t to, uint64_t bytes)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, "Inter-| Receive\n face |bytes\n");
    for (size_t i = from; i < to; i++)
        text_buffer_format(&b, "veth%u: %u 20 1 2 0 0 0 0 0 30 3 4 0 0 0 0\n", (unsigned)i, (unsigned)(bytes + i));
    char *text = text_buffer_take(&b);
    assert_non_null(text);
    kernel_root_write(&root, "/proc/net/dev", text);
    memory_free(text);
}

#ifdef _WIN32
#define MANY 10000 /* number of interfaces; opening a file for each takes long under Wine */
#else
#define MANY 100000
#endif
/* With very many instances, no sample may fail, and values must stay with their instances when some disappear. */
static void hundred_thousand_instances_are_sampled(void **state)
{
    (void)state;
    write_interfaces(0, MANY, 1000);
    scratch_environment("OPENPLA_SAMPLE_LIMIT", "60000");
    PDH_HCOUNTER all = add("\\Network Interface(*)\\Bytes Received/sec");
    char *path = text_format("\\Network Interface(veth%u)\\Bytes Received/sec", MANY - 1u);
    PDH_HCOUNTER one = add(path);
    memory_free(path);
    PDH_HCOUNTER gone = add("\\Network Interface(veth7)\\Bytes Received/sec");
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    write_interfaces(MANY / 2, MANY + MANY / 2, 3000);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(is_valid(one) && raw_of(one).FirstValue == 3000 + MANY - 1);
    assert_int_equal(raw_of(gone).CStatus, PDH_CSTATUS_NO_INSTANCE);
    DWORD bytes = 0, count = 0;
    assert_int_equal(PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, &bytes, &count, NULL),
                     (PDH_STATUS)PDH_MORE_DATA);
    PDH_FMT_COUNTERVALUE_ITEM_W *items = memory_alloc(bytes);
    assert_non_null(items);
    assert_int_equal(PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, &bytes, &count, items), ERROR_SUCCESS);
    assert_int_equal(count, MANY);
    /* The first half existed before; the second half is new and has no rate yet. */
    assert_int_equal(items[0].FmtValue.CStatus, PDH_CSTATUS_VALID_DATA);
    assert_int_equal(items[MANY / 2 - 1].FmtValue.CStatus, PDH_CSTATUS_VALID_DATA);
    assert_int_equal(items[MANY / 2].FmtValue.CStatus, PDH_CSTATUS_INVALID_DATA);
    memory_free(items);
    scratch_environment("OPENPLA_SAMPLE_LIMIT", "");
}

#ifndef _WIN32
/* A disk that hangs for half a minute must not stop the logging of everything else. */
static void hanging_file_delays_only_its_object(void **state)
{
    (void)state;
    PDH_HCOUNTER memory = add("\\Memory\\Free & Zero Page List Bytes"), user = add("\\Processor(0)\\% User Time");
    PDH_HCOUNTER paging;
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    char *fifo = text_format("%s/proc/swaps", root.root);
    kernel_root_delete(&root, "/proc/swaps");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    scratch_environment("OPENPLA_SAMPLE_LIMIT", "1500");
    /* Whether the object exists is not known yet, so this call waits for the file. */
    paging = add("\\Paging File(_Total)\\% Usage");
    for (int i = 0; i < 3; i++) {
        uint64_t before = clock_monotonic_ms();
        assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
        print_message("a sample beside a file that hangs: %u ms\n", (unsigned)(clock_monotonic_ms() - before));
        assert_true(is_valid(memory) && is_valid(user));
        assert_false(is_valid(paging));
        assert_int_equal(raw_of(paging).CStatus, PDH_CSTATUS_INVALID_DATA);
    }
    /* The read returns invalid data, and the next one returns valid data. */
    int end = open(fifo, O_WRONLY);
    assert_true(end >= 0);
    assert_int_equal(unlink(fifo), 0);
    kernel_root_write(&root, "/proc/swaps", "Filename\n/swapfile file 1000 250 -2\n");
    close(end);
    for (int i = 0; i < PATIENCE_MS / 10 && !is_valid(paging); i++) {
        usleep(10000);
        assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    }
    assert_true(is_valid(paging) && raw_of(paging).FirstValue == 250);
    memory_free(fifo);
    scratch_environment("OPENPLA_SAMPLE_LIMIT", "");
}
#endif

/* This test controls two objects. One can wait while it is sampled; the other never does. */
static struct wakeup *go;
static atomic_bool waits;
static atomic_size_t closed;

static HRESULT sample_test(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)source;
    (void)wanted;
    if (o->type->index == 1 && waits)
        wakeup_wait(go, PATIENCE_MS);
    HRESULT hr = counter_object_set_rows(o, 1);
    if (SUCCEEDED(hr)) {
        *counter_object_row(o, 0) = ++*(int64_t *)o->state;
        o->time = (struct source_time){clock_utc(), clock_ticks()};
        o->present = UINT64_MAX;
    }
    return hr;
}

static void close_test(struct counter_object *o)
{
    (void)o;
    closed++;
}

static const struct counter_schema test_counter[] = {{.name = "Number", .type = PERF_COUNTER_LARGE_RAWCOUNT}};
static const struct counter_object_type slow = {.name = "Slow",
                                                .index = 1,
                                                .counters = test_counter,
                                                .counter_count = 1,
                                                .value_count = 1,
                                                .sample = sample_test,
                                                .state_size = sizeof(int64_t),
                                                .close = close_test};
static const struct counter_object_type quick = {.name = "Quick",
                                                 .index = 2,
                                                 .counters = test_counter,
                                                 .counter_count = 1,
                                                 .value_count = 1,
                                                 .sample = sample_test,
                                                 .state_size = sizeof(int64_t),
                                                 .close = close_test};

static void expect(const struct counter_object *o, DWORD status, int64_t value)
{
    PDH_RAW_COUNTER raw;
    counter_object_raw(o, 0, 0, &raw);
    assert_int_equal(raw.CStatus, status);
    assert_int_equal(raw.FirstValue, value);
}

/* Like the previous test, but on every host OS, because objects hang instead of files. One is closed before it has
   returned its values. */
static void hanging_object_delays_no_other(void **state)
{
    (void)state;
    struct source source = {0};
    struct counter_object *a, *b;
    struct wakeup *pause;
    assert_int_equal(wakeup_create(&go), S_OK);
    assert_int_equal(wakeup_create(&pause), S_OK);
    closed = 0;
    waits = false;
    scratch_environment("OPENPLA_SAMPLE_LIMIT", "1500");
    source_begin(&source);
    assert_int_equal(counter_object_open(&slow, &source, &a), S_OK);
    assert_int_equal(counter_object_open(&quick, &source, &b), S_OK);
    const struct counter_object_use uses[] = {{a, 1}, {b, 1}};
    expect(a, PDH_CSTATUS_VALID_DATA, 1);
    waits = true;
    for (int64_t i = 2; i < 5; i++) {
        source_begin(&source);
        counter_objects_sample(uses, 2, &source);
        expect(a, PDH_CSTATUS_INVALID_DATA, 0);
        expect(b, PDH_CSTATUS_VALID_DATA, i);
    }
    waits = false;
    wakeup_set(go);
    for (int i = 0; i < 1000 && FAILED(a->result); i++) {
        wakeup_wait(pause, 10);
        counter_objects_sample(uses, 2, &source);
    }
    expect(a, PDH_CSTATUS_VALID_DATA, 3); /* the late result, 2, was discarded */
    waits = true;
    counter_objects_sample(uses, 2, &source);
    expect(a, PDH_CSTATUS_INVALID_DATA, 0);
    counter_object_close(a);
    counter_object_close(b);
    source_close(&source);
    assert_int_equal(closed, 1);
    wakeup_set(go);
    scratch_environment("OPENPLA_SAMPLE_LIMIT", "");
    for (int i = 0; i < 1000 && closed < 2; i++)
        wakeup_wait(pause, 10);
    assert_int_equal(closed, 2);
    wakeup_free(pause);
    wakeup_free(go);
}

/* The id of the thread that sampled the object "Eager". This is the caller's thread unless the sample would wait. */
static uint32_t sampled_on;

static HRESULT sample_eagerly(struct counter_object *o, struct source *source, uint64_t wanted)
{
    if (waits && !source_may_wait(&o->hold))
        return S_OK; /* this result is discarded */
    sampled_on = thread_own_id();
    return sample_test(o, source, wanted);
}

static const struct counter_object_type eager = {.name = "Eager",
                                                 .index = 1,
                                                 .counters = test_counter,
                                                 .counter_count = 1,
                                                 .value_count = 1,
                                                 .tries_at_once = true,
                                                 .sample = sample_eagerly,
                                                 .state_size = sizeof(int64_t),
                                                 .close = close_test};

static void waiting_object_is_sampled_on_another_thread(void **state)
{
    (void)state;
    struct source source = {0};
    struct counter_object *o;
    assert_int_equal(wakeup_create(&go), S_OK);
    waits = false;
    scratch_environment("OPENPLA_SAMPLE_LIMIT", "1500");
    source_begin(&source);
    assert_int_equal(counter_object_open(&eager, &source, &o), S_OK);
    assert_int_equal(sampled_on, thread_own_id());
    const struct counter_object_use use = {o, 1};
    waits = true;
    wakeup_set(go); /* the object waits, but only for a moment */
    counter_objects_sample(&use, 1, &source);
    expect(o, PDH_CSTATUS_VALID_DATA, 2);
    assert_int_not_equal(sampled_on, thread_own_id());
    counter_objects_sample(&use, 1, &source);
    expect(o, PDH_CSTATUS_INVALID_DATA, 0); /* the object hangs */
    wakeup_set(go);
    waits = false;
    for (int i = 0; i < PATIENCE_MS / 10 && FAILED(o->result); i++) {
        thread_sleep(10);
        counter_objects_sample(&use, 1, &source);
    }
    counter_objects_sample(&use, 1, &source);
    assert_int_equal(o->result, S_OK);
    assert_int_equal(sampled_on, thread_own_id());
    counter_object_close(o);
    source_close(&source);
    wakeup_free(go);
    scratch_environment("OPENPLA_SAMPLE_LIMIT", "");
}

#define WITH_QUERY(test) cmocka_unit_test_setup_teardown(test, open_query, close_query)
int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_QUERY(each_value_follows_its_source),
        WITH_QUERY(connections_are_counted_when_they_change),
        WITH_QUERY(connections_are_counted_without_their_tables),
        WITH_QUERY(connections_of_ipv4_alone_need_no_table),
        WITH_QUERY(object_exists_without_instances),
        WITH_QUERY(missing_sources_result_in_absent_counters),
        WITH_QUERY(dpc_rate_covers_the_last_interval),
        WITH_QUERY(small_files_are_read_again),
        WITH_QUERY(changed_file_format_harms_no_other),
        WITH_QUERY(hundred_thousand_instances_are_sampled),
#ifndef _WIN32
        WITH_QUERY(hanging_file_delays_only_its_object),
#endif
        cmocka_unit_test(hanging_object_delays_no_other),
        cmocka_unit_test(waiting_object_is_sampled_on_another_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
