/* SPDX-License-Identifier: MIT */
/* What the texts of the Linux kernel's /proc files say, as numbers. Pure parsers: text and size in, numbers out. */
#ifndef OPENPLA_PDH_KERNEL_TEXT_H
#define OPENPLA_PDH_KERNEL_TEXT_H

#include "engine/os/error.h"

/* Times in ticks of 10 ms (USER_HZ is 100 on every architecture we run on). */
struct kernel_cpu {
    uint32_t id;
    uint64_t user;       /* user + nice; guests are inside */
    uint64_t privileged; /* system + irq + softirq */
    uint64_t idle;       /* idle + iowait: Windows counts waiting for a disk as idle */
};

struct kernel_stat {
    struct kernel_cpu *cpus; /* those online, in the file's order; owned */
    size_t count, capacity;
    uint64_t context_switches;
    uint64_t running; /* runnable tasks, those on a processor included */
    bool has_context_switches, has_running;
};
/* Fills *out anew from /proc/stat, keeping its array. E_FAIL when no "cpuN" line is there. */
HRESULT kernel_stat_parse(const char *text, size_t size, struct kernel_stat *out);
void kernel_stat_free(struct kernel_stat *stat);

/* Bytes; has_* false where the kernel does not tell. */
struct kernel_memory {
    uint64_t total, available, committed, commit_limit;
    bool has_total, has_available, has_committed, has_commit_limit;
};
/* From /proc/meminfo. E_FAIL when none of the lines is there. */
HRESULT kernel_memory_parse(const char *text, size_t size, struct kernel_memory *out);

#endif
