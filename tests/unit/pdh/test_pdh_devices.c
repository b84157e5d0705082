/* SPDX-License-Identifier: MIT */
/* Graphics cards, network shares, and Wine's server. The test writes the kernel files, in which objects appear,
   disappear, are shared, corrupt or missing. */
#include "engine/pdh/objects/parsers.h"

#define ROOT_NAME "test_pdh_devices"
#include "tests/unit/pdh/root_query.h"

#define CARD "luid_0x00000000_0x00000300_phys_0"

static PDH_STATUS status_of_adding(const WCHAR *path)
{
    PDH_HCOUNTER counter;
    return PdhAddEnglishCounterW(query, path, 0, &counter);
}

static void collect(void)
{
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
}

/* If a client has two file descriptors, as after dup(), its values must not be counted twice. */
static void shared_client_counts_once(void **state)
{
    (void)state;
#define CLIENT(id, busy, memory)                                                                                       \
    "drm-driver: i915\ndrm-pdev: 0000:03:00.0\ndrm-client-id: " id "\ndrm-engine-render: " busy                        \
    " ns\ndrm-memory-vram: " memory "\n"
    kernel_root_write(&root, "/proc/77/fdinfo/5", CLIENT("8", "2000", "8 KiB"));
    kernel_root_write(&root, "/proc/77/fdinfo/6", CLIENT("8", "2000", "8 KiB"));
    kernel_root_write(&root, "/proc/77/fdinfo/7", CLIENT("9", "500", "1 MiB"));
    /* process 77 passed client 9's file to this process */
    kernel_root_write(&root, "/proc/78/fdinfo/3", CLIENT("9", "500", "1 MiB"));
    kernel_root_delete(&root, "/sys/class/drm/card0/device/mem_info_vram_used");
    PDH_HCOUNTER engine = add("\\GPU Engine(pid_77_" CARD "_eng_0_engtype_3D)\\Running Time");
    PDH_HCOUNTER memory = add("\\GPU Process Memory(pid_77_" CARD ")\\Dedicated Usage");
    PDH_HCOUNTER other = add("\\GPU Process Memory(pid_78_" CARD ")\\Total Committed");
    PDH_HCOUNTER card = add("\\GPU Adapter Memory(" CARD ")\\Dedicated Usage");
    collect();
    assert_int_equal(raw_of(engine).FirstValue, 25);
    assert_int_equal(raw_of(memory).FirstValue, 8192 + 1048576);
    assert_int_equal(raw_of(other).FirstValue, 1048576);
    assert_int_equal(raw_of(card).FirstValue, 8192 + 1048576);
    /* The client's values increase. Then process 77 uses the file numbers for other files. */
    kernel_root_write(&root, "/proc/77/fdinfo/5", CLIENT("8", "9000", "16 KiB"));
    kernel_root_write(&root, "/proc/77/fdinfo/6", CLIENT("8", "9000", "16 KiB"));
    collect();
    assert_int_equal(raw_of(engine).FirstValue, 95);
    assert_int_equal(raw_of(memory).FirstValue, 16384 + 1048576);
    for (const char *file = "567"; *file; file++) {
        char path[] = "/proc/77/fdinfo/0";
        path[sizeof path - 2] = *file;
        kernel_root_write(&root, path, "pos: 0\nflags: 02\n");
    }
    collect();
    assert_int_equal(raw_of(engine).CStatus, PDH_CSTATUS_NO_INSTANCE);
    assert_int_equal(raw_of(card).FirstValue, 1048576);
    assert_int_equal(raw_of(other).FirstValue, 1048576);
}

/* A host OS without these devices must not show zeros: the objects do not exist. */
static void missing_devices_have_no_object(void **state)
{
    (void)state;
    kernel_root_delete(&root, "/proc/fs/cifs/Stats");
    kernel_root_write(&root, "/proc/self/stat", "9 (bash) S 1 9 9 0 -1 0 1 2 3 4 5 4 0 0 20 0 1 0 1 5678 42 0 1 1\n");
    assert_int_equal(status_of_adding(u"\\Redirector\\Server Sessions"), (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(status_of_adding(u"\\SMB Client Shares(*)\\Read Bytes/sec"), (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(status_of_adding(u"\\Wine Server\\Open Files"), (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
}

/* In a container without a block device and groups, with an adapter without a speed and a share that reports nothing,
   these counters have no values. They must still be accepted; otherwise a set from a template would not start. */
static void counters_exist_without_values(void **state)
{
    (void)state;
    static const WCHAR *const paths[] = {u"\\LogicalDisk(*)\\% Disk Time",
                                         u"\\LogicalDisk(*)\\Avg. Disk sec/Read",
                                         u"\\LogicalDisk(_Total)\\% Free Space",
                                         u"\\PhysicalDisk(*)\\Current Disk Queue Length",
                                         u"\\Network Interface(*)\\Current Bandwidth",
                                         u"\\Network Adapter(eth0)\\Current Bandwidth",
                                         u"\\SMB Client Shares(*)\\Read Bytes/sec",
                                         u"\\GPU Process Memory(*)\\Dedicated Usage",
                                         u"\\GPU Adapter Memory(*)\\Shared Usage",
                                         u"\\Control Group(*)\\IO Read Bytes/sec"};
    kernel_root_write(&root, "/proc/diskstats", "");
    kernel_root_write(&root, "/proc/self/mountinfo", "22 1 0:21 / / rw - overlay overlay rw\n");
    kernel_root_write(&root, "/proc/net/dev", "head\nhead\n eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    kernel_root_delete(&root, "/sys/class/net/eth0/speed");
    kernel_root_delete(&root, "/sys/fs/cgroup/system.slice/io.stat");
    kernel_root_delete(&root, "/sys/class/drm/card0/device/mem_info_vram_used");
    kernel_root_write(&root, "/proc/77/fdinfo/5",
                      "drm-driver: i915\ndrm-pdev: 0000:03:00.0\ndrm-engine-render: 1 ns\n");
    kernel_root_write(&root, "/proc/fs/cifs/Stats", "CIFS Session: 1\n1) \\\\a\\c\tDISCONNECTED\n");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (status_of_adding(paths[i]) != ERROR_SUCCESS)
            fail_msg("path %zu: 0x%08X", i, (unsigned)status_of_adding(paths[i]));
    collect();
    PDH_HCOUNTER queue = add("\\LogicalDisk(_Total)\\Current Disk Queue Length");
    collect();
    assert_false(is_valid(queue));
}

/* Shares are mounted and unmounted while a log is written: they must appear in it and disappear. */
static void shares_appear_and_disappear(void **state)
{
    (void)state;
    kernel_root_write(&root, "/proc/fs/cifs/Stats", "CIFS Session: 0\nOperations (MIDs): 0\n");
    PDH_HCOUNTER sessions = add("\\Redirector\\Server Sessions"), sent = add("\\Redirector\\Packets Transmitted/sec");
    PDH_HCOUNTER all = add("\\SMB Client Shares(_Total)\\Read Bytes/sec");
    collect();
    assert_true(is_valid(sessions) && is_valid(sent) && raw_of(sent).FirstValue == 0);
    kernel_root_write(&root, "/proc/fs/cifs/Stats",
                      "CIFS Session: 1\n1) \\\\a b\\c d\tDISCONNECTED \nSMBs: 5\nBytes read: 99  Bytes written: 1\n");
    PDH_HCOUNTER one = add("\\SMB Client Shares(a b_c d)\\Read Bytes/sec");
    collect();
    assert_int_equal(raw_of(sessions).FirstValue, 1);
    assert_int_equal(raw_of(sent).FirstValue, 5);
    assert_int_equal(raw_of(one).FirstValue, 99);
    assert_int_equal(raw_of(all).FirstValue, 99);
    kernel_root_write(&root, "/proc/fs/cifs/Stats", "CIFS Session: 0\n");
    collect();
    assert_int_equal(raw_of(one).CStatus, PDH_CSTATUS_NO_INSTANCE);
}

static void write_interrupts(unsigned first)
{
    char *table = text_format("  CPU0 CPU3\n 38: %u 6 PCI-MSIX-0000:00:03.0 1-edge virtio2-input.0\n"
                              " 39: 7 0 PCI-MSIX-0000:00:03.0 2-edge virtio2-output.0\n"
                              " 40: 100 100 PCI-MSIX-0000:00:04.0 0-edge virtio20-config\n"
                              " 11: 3 2 IO-APIC 11-fasteoi ens9\n 12: 500 500 IO-APIC 12-fasteoi usb1, ens9\n"
                              " 13: 50 50 IO-APIC 13-edge ens90\nLOC: 9 9 Local timer interrupts\n",
                              first);
    kernel_root_write(&root, "/proc/interrupts", table);
    memory_free(table);
}

/* There are three ways to find a card's interrupts. Those of other cards or devices must not count as its load. */
static void interrupts_are_assigned_to_cards(void **state)
{
    (void)state;
    static const char *const cards[] = {"/sys/class/net/eth1/mtu", "/sys/class/net/ens9/mtu", "/sys/class/net/lo/mtu",
                                        "/sys/bus/virtio/devices/virtio2/net/eth1/mtu",
                                        "/sys/bus/virtio/devices/virtio3/driver"};
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
        kernel_root_write(&root, cards[i], "");
    write_interrupts(1);
    PDH_HCOUNTER virtio = add("\\Per Processor Network Interface Card Activity(0, eth1)\\Interrupts/sec");
    PDH_HCOUNTER other = add("\\Per Processor Network Interface Card Activity(3, eth1)\\Interrupts/sec");
    PDH_HCOUNTER old = add("\\Per Processor Network Interface Card Activity(3, ens9)\\Interrupts/sec");
    PDH_HCOUNTER none = add("\\Per Processor Network Interface Card Activity(0, lo)\\Interrupts/sec");
    collect();
    assert_int_equal(raw_of(virtio).FirstValue, 8);
    assert_int_equal(raw_of(other).FirstValue, 6);
    assert_int_equal(raw_of(old).FirstValue, 2);
    assert_int_equal(raw_of(none).CStatus, PDH_CSTATUS_NO_INSTANCE);
    write_interrupts(41);
    collect();
    assert_int_equal(raw_of(virtio).FirstValue, 48);
    kernel_root_write(&root, "/proc/interrupts", "  CPU0 CPU3\n 1: 2 3 IO-APIC 1-edge i8042\n");
    collect();
    assert_false(is_valid(virtio));
}

/* Drivers write many kinds of strings. None may cause a crash, a hang, or invented values. */
static void arbitrary_driver_texts_are_safe(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_one;
        size_t engines;
        int64_t busy, dedicated, shared;
        uint32_t device;
    } table[] = {
        {"", false, 0, 0, INT64_MIN, INT64_MIN, 0},
        {"drm-driver", false, 0, 0, INT64_MIN, INT64_MIN, 0},
        {"drm-engine-render: 5 ns\n", false, 1, 5, INT64_MIN, INT64_MIN, 0},
        {"drm-driver: x\ndrm-engine-: 5 ns\ndrm-engine-a\ndrm-engine-b: ns\ndrm-memory-vram: \n", true, 0, 0, INT64_MIN,
         INT64_MIN, 0},
        {"drm-driver: x\ndrm-engine-a: 99999999999999999999999 ns\ndrm-memory-cpu: 99999999999999999999 MiB\n", true, 1,
         INT64_MAX, INT64_MIN, INT64_MAX, 0},
        {"drm-driver: x\ndrm-engine-a: 8 ns\ndrm-engine-capacity-a: 99999999999\n", true, 1, 0, INT64_MIN, INT64_MIN,
         0},
        {"drm-driver: x\ndrm-engine-a-name-that-is-longer-than-any: 8 ns\ndrm-pdev: 0000:ZZ:00.0\n", true, 1, 8,
         INT64_MIN, INT64_MIN, 0},
        {"drm-driver: x\ndrm-pdev: ffff:ff:1f.7\ndrm-resident-vram0: 1 KiB\ndrm-resident-vram1: 2 KiB\n"
         "drm-memory-vram: 77 KiB\ndrm-resident-system0: 3\n",
         true, 0, 0, 3072, 3, 0xFFFFFFFF},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct drm_file f;
        print_message("%s\n", table[i].text);
        assert_int_equal(drm_file_parse(table[i].text, strlen(table[i].text), &f), table[i].is_one);
        assert_int_equal(f.engine_count, table[i].engines);
        assert_true(!f.engine_count || f.engines[0].busy == table[i].busy);
        assert_true(f.memory.dedicated == table[i].dedicated && f.memory.shared == table[i].shared);
        assert_int_equal(f.device, table[i].device);
    }
    struct text_buffer b = {0};
    text_buffer_add(&b, "drm-driver: x\n");
    for (unsigned i = 0; i < 1000; i++)
        text_buffer_format(&b, "drm-engine-e%u: %u ns\n", i, i);
    char *many = text_buffer_take(&b);
    struct drm_file f;
    assert_non_null(many);
    assert_true(drm_file_parse(many, strlen(many), &f));
    assert_int_equal(f.engine_count, DRM_ENGINES);
    memory_free(many);
    static const char stats[] =
        "SMBs: 7\n1)\n2) \\\\s\\t\nSMBs: -1\nSMBs: 99999999999999999999\nReads: x Bytes: 3\n3) ";
    const char *at = stats, *end = stats + sizeof stats - 1;
    struct cifs_part part;
    assert_true(cifs_next(&at, end, &part));
    assert_true(part.length == 0 && part.figures[CIFS_REQUESTS] == 7);
    assert_true(cifs_next(&at, end, &part));
    assert_true(part.length == 5 && part.figures[CIFS_REQUESTS] == INT64_MAX && part.figures[CIFS_READS] == INT64_MIN &&
                part.figures[CIFS_BYTES_READ] == 3);
    assert_false(cifs_next(&at, end, &part));
}

/* A sample must not take long if processes have thousands of open files. Each sample checks only some files, so the
   card's users are found after some samples. */
static void open_files_are_scanned_in_parts(void **state)
{
    (void)state;
    char path[64];
    for (unsigned id = 100; id < 104; id++) {
        for (unsigned file = 0; file < 400; file++) {
            snprintf(path, sizeof path, "/proc/%u/fdinfo/%u", id, file);
            kernel_root_write(&root, path, "pos: 0\n");
        }
    }
    kernel_root_write(&root, "/proc/104/fdinfo/1", CLIENT("3", "700", "1 KiB"));
    PDH_HCOUNTER all = add("\\GPU Process Memory(*)\\Dedicated Usage");
    DWORD bytes = 0, count = 0;
    for (int i = 0; i < 3; i++)
        collect();
    PDH_STATUS status = PdhGetRawCounterArrayW(all, &bytes, &count, NULL);
    assert_int_equal(status, (PDH_STATUS)PDH_MORE_DATA);
    PDH_RAW_COUNTER_ITEM_W *items = memory_alloc(bytes);
    assert_non_null(items);
    assert_int_equal(PdhGetRawCounterArrayW(all, &bytes, &count, items), ERROR_SUCCESS);
    assert_int_equal(count, 2);
    memory_free(items);
}

#define WITH_QUERY(test) cmocka_unit_test_setup_teardown(test, open_query, close_query)
int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_QUERY(shared_client_counts_once),
        WITH_QUERY(missing_devices_have_no_object),
        WITH_QUERY(shares_appear_and_disappear),
        WITH_QUERY(open_files_are_scanned_in_parts),
        WITH_QUERY(interrupts_are_assigned_to_cards),
        WITH_QUERY(counters_exist_without_values),
        cmocka_unit_test(arbitrary_driver_texts_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
