/* SPDX-License-Identifier: MIT */
/* Every counter of every object must change when its source changes: a counter that never changes could look like good
   news for years. */
#include "engine/pdh/core/counter_object.h"

#define ROOT_NAME "test_pdh_follow"
#include "tests/unit/pdh/root_query.h"
#include "tests/unit/pdh/samba_root.h"

/* Counters that need not change in this test. Some identify something, and some depend on a start time or state that
   stays the same. The last two show the space of a real file system; tests/bench/cross_check.py compares it with df. */
static const char *const still[] = {"ID Process",   "ID Thread",      "Creating Process ID",
                                    "Elapsed Time", "System Up Time", "Thread Wait Reason",
                                    "Thread State", "% Free Space",   "Free Megabytes"};
/* Files that are not changed like the others: their numbers identify things, or the test writes them separately. */
static const char *const names[] = {"/proc/self/mountinfo", "/proc/self/cgroup", "/proc/net/tcp",
                                    "/proc/net/tcp6",       "/proc/net/snmp",    "/proc/net/snmp6"};

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(name, list[i]))
            return true;
    return false;
}
#define ONE_OF(name, list) is_one_of(name, list, sizeof(list) / sizeof *(list))

static bool is_between(char c)
{
    return !c || strchr(" \t\n:=", c);
}

/* Returns the text with each separate number n replaced with 2 n + 1. Processor numbers and device numbers, which are
   the first two numbers in a disk's line, stay unchanged. */
static char *grown(const char *path, const char *text)
{
    struct text_buffer b = {0};
    size_t passed = 0;
    for (const char *p = text; *p;) {
        bool begins = (*p >= '0' && *p <= '9') && (p == text || is_between(p[-1]));
        size_t digits = strspn(p, "0123456789");
        const char *line = p;
        while (line > text && line[-1] != '\n')
            line--;
        bool is_name = !strncmp(line, "processor", 9) || (!strcmp(path, "/proc/diskstats") && passed < 2);
        if (begins && is_between(p[digits]) && p[digits] != ':') {
            passed++;
            uint64_t value = strtoull(p, NULL, 10);
            text_buffer_format(&b, "%llu", (unsigned long long)(is_name ? value : value * 2 + 1));
            p += digits;
        } else {
            text_buffer_format(&b, "%c", *p++);
        }
    }
    char *made = text_buffer_take(&b);
    assert_non_null(made);
    return made;
}

/* The names of all numbers that the kernel reports for these protocols. */
static const char *const protocols[] = {
    "Ip: Forwarding DefaultTTL InReceives InHdrErrors InAddrErrors ForwDatagrams InUnknownProtos "
    "InDiscards InDelivers OutRequests OutDiscards OutNoRoutes ReasmTimeout ReasmReqds ReasmOKs "
    "ReasmFails FragOKs FragFails FragCreates OutTransmits",
    "Icmp: InMsgs InErrors InCsumErrors InDestUnreachs InTimeExcds InParmProbs InSrcQuenchs "
    "InRedirects InEchos InEchoReps InTimestamps InTimestampReps InAddrMasks InAddrMaskReps OutMsgs "
    "OutErrors OutRateLimitGlobal OutRateLimitHost OutDestUnreachs OutTimeExcds OutParmProbs "
    "OutSrcQuenchs OutRedirects OutEchos OutEchoReps OutTimestamps OutTimestampReps OutAddrMasks "
    "OutAddrMaskReps",
    "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets "
    "CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors",
    "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors "
    "IgnoredMulti MemErrors",
};
static const char protocol_6[] =
    "Ip6InReceives Ip6InHdrErrors Ip6InTooBigErrors Ip6InNoRoutes Ip6InAddrErrors "
    "Ip6InUnknownProtos Ip6InTruncatedPkts Ip6InDiscards Ip6InDelivers Ip6OutForwDatagrams "
    "Ip6OutRequests Ip6OutDiscards Ip6OutNoRoutes Ip6ReasmTimeout Ip6ReasmReqds Ip6ReasmOKs "
    "Ip6ReasmFails Ip6FragOKs Ip6FragFails Ip6FragCreates Ip6InMcastPkts Ip6OutMcastPkts "
    "Ip6InOctets Ip6OutOctets Ip6InMcastOctets Ip6OutMcastOctets Ip6InBcastOctets Ip6OutBcastOctets "
    "Ip6InNoECTPkts Ip6InECT1Pkts Ip6InECT0Pkts Ip6InCEPkts Ip6OutTransmits Icmp6InMsgs "
    "Icmp6InErrors Icmp6OutMsgs Icmp6OutErrors Icmp6InCsumErrors Icmp6OutRateLimitHost "
    "Icmp6InDestUnreachs Icmp6InPktTooBigs Icmp6InTimeExcds Icmp6InParmProblems Icmp6InEchos "
    "Icmp6InEchoReplies Icmp6InGroupMembQueries Icmp6InGroupMembResponses "
    "Icmp6InGroupMembReductions Icmp6InRouterSolicits Icmp6InRouterAdvertisements "
    "Icmp6InNeighborSolicits Icmp6InNeighborAdvertisements Icmp6InRedirects Icmp6InMLDv2Reports "
    "Icmp6OutDestUnreachs Icmp6OutPktTooBigs Icmp6OutTimeExcds Icmp6OutParmProblems Icmp6OutEchos "
    "Icmp6OutEchoReplies Icmp6OutGroupMembQueries Icmp6OutGroupMembResponses "
    "Icmp6OutGroupMembReductions Icmp6OutRouterSolicits Icmp6OutRouterAdvertisements "
    "Icmp6OutNeighborSolicits Icmp6OutNeighborAdvertisements Icmp6OutRedirects Icmp6OutMLDv2Reports "
    "Udp6InDatagrams Udp6NoPorts Udp6InErrors Udp6OutDatagrams Udp6RcvbufErrors Udp6SndbufErrors "
    "Udp6InCsumErrors Udp6IgnoredMulti Udp6MemErrors ";

static void write_protocols(unsigned value)
{
    struct text_buffer b = {0}, b6 = {0};
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
        text_buffer_format(&b, "%s\n%.*s", protocols[i], (int)(strchr(protocols[i], ' ') - protocols[i]), protocols[i]);
        for (const char *p = protocols[i]; (p = strchr(p, ' ')); p++)
            text_buffer_format(&b, " %u", value);
        text_buffer_add(&b, "\n");
    }
    for (const char *p = protocol_6; *p; p = strchr(p, ' ') + 1)
        text_buffer_format(&b6, "%.*s \t%u\n", (int)(strchr(p, ' ') - p), p, value);
    char *text = text_buffer_take(&b), *text_6 = text_buffer_take(&b6);
    assert_true(text && text_6);
    kernel_root_write(&root, "/proc/net/snmp", text);
    kernel_root_write(&root, "/proc/net/snmp6", text_6);
    memory_free(text);
    memory_free(text_6);
}

static void move_all(void)
{
    for (size_t i = 0; i < sizeof kernel_root_files / sizeof *kernel_root_files; i++) {
        const char *path = kernel_root_files[i][0];
        if (ONE_OF(path, names))
            continue;
        char *text = grown(path, kernel_root_files[i][1]);
        kernel_root_write(&root, path, text);
        memory_free(text);
    }
    write_protocols(1999);
    samba_write(&root, 4, 9);
    kernel_root_write(&root, "/sys/devices/system/cpu/cpu1/cpuidle/state1/time", "700\n");
    kernel_root_write(&root, "/sys/devices/system/cpu/cpu1/cpuidle/state1/usage", "70\n");
    /* "DPC Rate" is the increase since the last sample, per tick of the clock. */
    kernel_root_write(&root, "/proc/softirqs", "  CPU0 CPU1\n TIMER: 77777 88888\n RCU: 3 64\n");
    kernel_root_write(&root, "/proc/net/tcp", "  sl  local_address rem_address   st\n");
    kernel_root_write(&root, "/proc/net/tcp6",
                      "  sl  local_address remote_address st\n   0: "
                      "00000000000000000000000001000000:0016 "
                      "00000000000000000000000001000000:C1DA 01 0\n");
    kernel_root_write(&root, "/proc/77/fd/1", "");
    kernel_root_write(&root, "/proc/self/fd/2", "");
    kernel_root_write(&root, "/proc/78/stat",
                      "78 (more) S 3 78 78 0 -1 4194560 1 2 3 4 50 60 0 0 20 0 1 0 1234 5678 42 0 1 1\n");
}

/* One counter of one instance. */
struct row {
    const char *object, *name;
    PDH_HCOUNTER counter;
    PDH_RAW_COUNTER before;
    bool moved;
};
#define ROWS_MOST 4000
static struct row rows[ROWS_MOST];
static size_t row_count;
static unsigned missing;

static void add_instances(const struct counter_object_type *p, const char *counter)
{
    static WCHAR list[1 << 16];
    DWORD units = sizeof list / sizeof *list;
    WCHAR *wide;
    char *path = text_format("\\%s%s\\%s", p->name, p->has_instances ? "(*)" : "", counter);
    size_t before = row_count;
    assert_int_equal(text_to_utf16(path, &wide, NULL), S_OK);
    if (PdhExpandWildCardPathW(NULL, wide, list, &units, 0) == ERROR_SUCCESS) {
        for (const WCHAR *at = list; *at; at++) {
            struct row *row = &rows[row_count];
            assert_true(row_count < ROWS_MOST);
            *row = (struct row){.object = p->name, .name = counter};
            row_count += PdhAddEnglishCounterW(query, at, 0, &row->counter) == ERROR_SUCCESS;
            while (*at)
                at++;
        }
    }
    if (row_count == before) {
        print_message("\\%s\\%s: has no value\n", p->name, counter);
        missing++;
    }
    memory_free(wide);
    memory_free(path);
}

/* Under Wine, these counters show Windows processes and do not depend on the kernel's files. */
static bool is_process_object(const struct counter_object_type *p, const char *counter)
{
#ifdef _WIN32
    return !strcmp(p->name, "Process") || !strcmp(p->name, "Thread") || !strcmp(p->name, "Objects") ||
           (!strcmp(p->name, "System") && (!strcmp(counter, "Processes") || !strcmp(counter, "Threads")));
#else
    (void)p;
    return !strcmp(counter, "Priority Base") ||
           !strcmp(counter, "Priority Current"); /* only Windows programs have them */
#endif
}

static void sample_all(bool again)
{
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    for (size_t i = 0; i < row_count; i++) {
        PDH_RAW_COUNTER now = raw_of(rows[i].counter), *before = &rows[i].before;
        rows[i].moved = again && now.CStatus == PDH_CSTATUS_VALID_DATA && before->CStatus == PDH_CSTATUS_VALID_DATA &&
                        (now.FirstValue != before->FirstValue || now.SecondValue != before->SecondValue);
        *before = now;
    }
}

/* A counter must change in at least one of its instances, because the files have no numbers for some of them. */
static void every_counter_follows_its_source(void **state)
{
    (void)state;
    unsigned dead = 0, seen = 0;
    write_protocols(7);
    samba_write(&root, 2, 3);
    kernel_root_write(&root, "/sys/devices/system/cpu/cpu1/cpuidle/state1/name", "C2\n");
    kernel_root_write(&root, "/sys/devices/system/cpu/cpu1/cpuidle/state1/time", "300\n");
    kernel_root_write(&root, "/sys/devices/system/cpu/cpu1/cpuidle/state1/usage", "30\n");
    for (size_t i = 0; i < counter_object_type_count; i++)
        for (uint32_t k = 0; k < counter_object_types[i]->counter_count; k++)
            if (!ONE_OF(counter_object_types[i]->counters[k].name, still) &&
                !is_process_object(counter_object_types[i], counter_object_types[i]->counters[k].name))
                add_instances(counter_object_types[i], counter_object_types[i]->counters[k].name);
    sample_all(false);
    move_all();
    sample_all(true);
    for (size_t i = 0, next; i < row_count; i = next, seen++) {
        bool moved = false;
        for (next = i; next < row_count && rows[next].name == rows[i].name && rows[next].object == rows[i].object;
             next++)
            moved |= rows[next].moved;
        if (!moved)
            print_message("\\%s\\%s: does not change\n", rows[i].object, rows[i].name);
        dead += !moved;
    }
    print_message("%u counters, %u of them do not change\n", seen, dead);
    assert_int_equal(missing, 0);
    assert_int_equal(dead, 0);
    assert_true(seen > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_counter_follows_its_source, open_query, close_query)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
