/* SPDX-License-Identifier: MIT */
/* Kernel files that a test writes into a folder. The folder replaces /proc and /sys, so that files can vanish, change
   their format or hang. */
#ifndef OPENPLA_KERNEL_ROOT_H
#define OPENPLA_KERNEL_ROOT_H

#include "engine/base/os.h"
#include "engine/pdh/core/source.h"
#include "tests/unit/scratch_folder.h"
#ifdef _WIN32
#include <windows.h>
#else
#include <limits.h>
#endif

struct kernel_root {
    char *folder; /* path in the test's own notation */
    char *root;   /* the folder as a Unix path */
};

static inline void kernel_root_write_bytes(const struct kernel_root *r, const char *path, const void *bytes,
                                           size_t size)
{
    char *file = text_format("%s%s", r->folder, path), *folder = text_copy(file);
    *strrchr(folder, '/') = 0;
    assert_int_equal(folder_create(folder), S_OK);
    struct file *f;
    assert_int_equal(file_open(file, FILE_REPLACE, &f), S_OK);
    assert_int_equal(file_write(f, bytes, size), S_OK);
    file_close(f);
    memory_free(folder);
    memory_free(file);
}

static inline void kernel_root_write(const struct kernel_root *r, const char *path, const char *text)
{
    kernel_root_write_bytes(r, path, text, strlen(text));
}

static inline void kernel_root_delete(const struct kernel_root *r, const char *path)
{
    char *file = text_format("%s%s", r->folder, path);
    assert_int_equal(file_delete(file), S_OK);
    memory_free(file);
}

/* Returns a Unix path; under Wine, the program that knows the drive letters converts it. */
static inline char *kernel_root_unix(const char *folder)
{
#ifdef _WIN32
    union {
        FARPROC address;
        char *(*CDECL call)(const WCHAR *path);
    } unix_name = {GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "wine_get_unix_file_name")};
    WCHAR *wide, full[MAX_PATH];
    assert_non_null(unix_name.address);
    assert_int_equal(text_to_utf16(folder, &wide, NULL), S_OK);
    assert_true(GetFullPathNameW(wide, MAX_PATH, full, NULL) > 0);
    memory_free(wide);
    char *found = unix_name.call(full), *copy;
    assert_non_null(found);
    copy = text_copy(found);
    HeapFree(GetProcessHeap(), 0, found);
    return copy;
#else
    char full[PATH_MAX];
    assert_non_null(realpath(folder, full));
    return text_copy(full);
#endif
}

/* Files of two processors, a disk, a network interface, a swap file, network folders, Wine's server, and a process that
   uses a graphics card. */
static const char *const kernel_root_files[][2] = {
    {"/proc/stat", "cpu  30 3 33 600 6 2 4 0 0 0\ncpu0 10 1 11 200 2 1 2 7 0 0\ncpu1 20 2 22 400 4 1 2 0 0 0\n"
                   "ctxt 1000\nprocs_running 5\n"},
    {"/proc/meminfo",
     "MemTotal: 1000 kB\nMemFree: 400 kB\nMemAvailable: 600 kB\nBuffers: 1 kB\nCached: 20 kB\n"
     "Inactive(file): 120 kB\nDirty: 4 kB\nSReclaimable: 300 kB\nSUnreclaim: 7 kB\nCommitLimit: 800 kB\n"
     "Committed_AS: 200 kB\n"},
    {"/proc/vmstat", "nr_dirty 1\nnr_dirty_threshold 500\npswpin 3\npswpout 4\npgfault 5000\npgmajfault 50\n"
                     "nr_written 900\npgsteal_kswapd 30\npgsteal_direct 3\n"},
    {"/proc/interrupts", "  CPU0 CPU1\n 24: 1 5 IO x\nLOC: 100 200 Local timer\nERR: 7\n"},
    {"/proc/softirqs", "  CPU0 CPU1\n TIMER: 10 620\n RCU: 3 64\n"},
    {"/proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2300.5\n\nprocessor\t: 1\ncpu MHz\t\t: 2400\n"},
    {"/proc/diskstats", " 254 0 vda 100 1 2000 300 50 2 600 700 3 800 1100 0\n"},
    {"/proc/self/mountinfo", "27 1 254:0 / / rw - ext4 /dev/vda rw\n"},
    {"/proc/swaps", "Filename Type Size Used Priority\n/swapfile file 1000 250 -2\n"},
    {"/proc/net/dev", "Inter-| Receive\n face |bytes\n lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
                      "eth0: 2000 20 1 2 0 0 0 0 3000 30 3 4 0 0 0 0\n"},
    {"/proc/net/snmp",
     "Ip: Forwarding InReceives InHdrErrors OutRequests\nIp: 1 10 1 20\nIcmp: InMsgs OutMsgs\nIcmp: 3 4\n"
     "Tcp: InSegs OutSegs RetransSegs\nTcp: 100 200 5\n"
     "Udp: InDatagrams NoPorts InErrors OutDatagrams\nUdp: 7 8 9 10\n"},
    {"/proc/net/snmp6", "Ip6InReceives \t3\nIp6OutRequests\t4\nIcmp6InMsgs\t1\nIcmp6OutMsgs\t2\nUdp6InDatagrams\t5\n"},
    {"/proc/net/tcp", "  sl  local_address rem_address   st\n   0: 0100007F:0016 0100007F:1234 01 0 0\n"},
    {"/proc/net/tcp6", "  sl  local_address remote_address st\n"},
    {"/proc/77/stat", "77 (some) S 3 77 77 0 -1 4194560 1 2 3 4 50 60 0 0 20 0 1 0 1234 5678 42 0 1 1\n"},
    {"/proc/77/status", "VmPeak: 30 kB\nVmHWM: 17 kB\nRssAnon: 11 kB\nVmSwap: 2 kB\n"},
    {"/proc/77/io", "rchar: 10\nwchar: 20\nsyscr: 3\nsyscw: 4\n"},
    {"/proc/77/fd/0", ""},
    {"/proc/77/task/77/stat", "77 (some) S 3 77 77 0 -1 4194560 1 2 3 4 50 60 0 0 20 0 1 0 1234 5678 42 0 1 1\n"},
    {"/proc/77/task/77/status", "voluntary_ctxt_switches: 3\nnonvoluntary_ctxt_switches: 4\n"},
    {"/sys/block/vda/device/uevent", ""},
    {"/sys/class/net/eth0/speed", "1000\n"},
    {"/sys/class/net/eth0/device/msi_irqs/24", "msix\n"},
    {"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3000000\n"},
    {"/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1500000\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state0/time", "100\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state0/usage", "5\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1_ACPI\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state1/time", "4000\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state1/usage", "40\n"},
    {"/sys/devices/system/cpu/cpu1/cpuidle/state0/name", "C6\n"},
    {"/sys/devices/system/cpu/cpu1/cpuidle/state0/time", "60000\n"},
    {"/sys/devices/system/cpu/cpu1/cpuidle/state0/usage", "12\n"},
    {"/sys/devices/system/node/node0/meminfo",
     "Node 0 MemTotal: 4000 kB\nNode 0 MemFree: 2048 kB\nNode 0 Inactive(file): 2048 kB\n"},
    {"/sys/devices/system/node/node1/meminfo",
     "Node 1 MemTotal: 8192 kB\nNode 1 MemFree: 4096 kB\nNode 1 Inactive(file): 1024 kB\n"},
    {"/sys/class/thermal/thermal_zone0/type", "acpitz\n"},
    {"/sys/class/thermal/thermal_zone0/temp", "41000\n"},
    {"/sys/class/thermal/thermal_zone1/type", "acpitz\n"},
    {"/sys/class/thermal/thermal_zone1/temp", "-5500\n"},
    {"/proc/self/cgroup", "0::/prefix\n"},
    {"/sys/fs/cgroup/cgroup.controllers", "cpu io memory pids\n"},
    {"/sys/fs/cgroup/prefix/cpu.stat", "usage_usec 7000\nuser_usec 4000\nsystem_usec 3000\n"},
    {"/sys/fs/cgroup/prefix/memory.current", "555\n"},
    {"/sys/fs/cgroup/prefix/memory.max", "max\n"},
    {"/sys/fs/cgroup/system.slice/cpu.stat",
     "usage_usec 8000\nuser_usec 5000\nsystem_usec 3000\nnr_throttled 1\nthrottled_usec 9\n"},
    {"/sys/fs/cgroup/system.slice/io.stat",
     "254:0 rbytes=1000 wbytes=20 rios=3 wios=4 dbytes=0 dios=0\n8:0 rbytes=3 wbytes=0 rios=1 wios=2\n"},
    {"/sys/fs/cgroup/system.slice/ssh.service/cpu.stat", "usage_usec 1\n"},
    {"/sys/fs/cgroup/system.slice/ssh.service/memory.max", "9999\n"},
    {"/sys/fs/cgroup/system.slice/ssh.service/pids.current", "4\n"},
    {"/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=44445\nfull avg10=0.00 total=0\n"},
    {"/proc/pressure/memory", "some avg10=0.00 total=9\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"},
    {"/proc/self/stat", "9 (wineserver) S 1 9 9 0 -1 4194560 1 2 3 4 500 400 0 0 20 0 1 0 1234 5678 42 0 1 1\n"},
    {"/proc/self/status", "voluntary_ctxt_switches: 30\nnonvoluntary_ctxt_switches: 4\n"},
    {"/proc/self/fd/0", ""},
    {"/proc/self/fd/1", ""},
    {"/proc/fs/cifs/Stats",
     "Resources in use\nCIFS Session: 2\nShare (unique mount targets): 2\nOperations (MIDs): 1\n\n"
     "3 session 4 share reconnects\nTotal vfs operations: 16 maximum at one time: 2\n\n"
     "1) \\\\server\\data\nSMBs: 100\nBytes read: 4096  Bytes written: 500\n"
     "Reads: 17 total 0 failed\nWrites: 5 total 0 failed\n"
     "2) \\\\old\\c$\nSMBs: 50 Oplocks breaks: 0\nReads:  10 Bytes: 4000\nWrites: 10 Bytes: 6000\n"},
    {"/sys/class/drm/card0/device/uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n"},
    {"/sys/class/drm/card0/device/mem_info_vram_used", "7000\n"},
    {"/sys/class/drm/card0/device/mem_info_gtt_used", "400\n"},
    {"/proc/77/fdinfo/0", "pos:\t0\nflags:\t02\n"},
    {"/proc/77/fdinfo/5", "pos:\t0\ndrm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t8\n"
                          "drm-engine-gfx:\t2000 ns\ndrm-engine-dma:\t6000 ns\ndrm-engine-capacity-dma:\t2\n"
                          "drm-total-vram:\t16 KiB\ndrm-resident-vram:\t8 KiB\ndrm-resident-gtt:\t4096\n"},
};

/* Creates the files; queries opened from now on read them. */
static inline struct kernel_root kernel_root_create(const char *test)
{
    struct kernel_root r = {.folder = scratch_create(test)};
    for (size_t i = 0; i < sizeof kernel_root_files / sizeof *kernel_root_files; i++)
        kernel_root_write(&r, kernel_root_files[i][0], kernel_root_files[i][1]);
    r.root = kernel_root_unix(r.folder);
    source_set_root(r.root);
    return r;
}

static inline void kernel_root_remove(struct kernel_root *r)
{
    source_set_root("");
    scratch_remove(r->folder);
    memory_free(r->folder);
    memory_free(r->root);
}

#endif
