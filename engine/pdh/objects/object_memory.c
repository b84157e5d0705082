/* SPDX-License-Identifier: MIT */
/* The objects Memory and Cache, from /proc/meminfo and /proc/vmstat. */
#include "engine/pdh/core/table.h"

#define MEMORY_ROWS                                                                                                    \
    COUNTER("Page Faults/sec", PERF_COUNTER_COUNTER, 28, 0, SUM, "vmstat.pgfault",                                     \
            "Page faults: accesses of a program to a page that was not mapped for it, whether the page was in memory " \
            "or had to be read from a disk.")                                                                          \
    COUNTER("Available Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 24, -6, SUM, "meminfo.MemAvailable * 1024",                \
            "Memory available to programs without paging, in bytes.")                                                  \
    COUNTER("Committed Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 26, -6, SUM, "meminfo.Committed_AS * 1024",                \
            "Memory committed to programs, in bytes.")                                                                 \
    COUNTER("Commit Limit", PERF_COUNTER_LARGE_RAWCOUNT, 30, -6, SUM, "meminfo.CommitLimit * 1024",                    \
            "Memory that can be committed before the paging space must grow, in bytes. A kernel that overcommits "     \
            "exceeds this limit.")                                                                                     \
    COUNTER("Pages/sec", PERF_COUNTER_COUNTER, 40, 0, SUM, "vmstat.pswpin + vmstat.pswpout",                           \
            "Pages read from or written to the paging space. Pages of other files are not counted.")                   \
    COUNTER("Pages Input/sec", PERF_COUNTER_COUNTER, 822, 0, SUM, "vmstat.pswpin",                                     \
            "Pages read from the paging space. Pages of other files are not counted.")                                 \
    COUNTER("Page Reads/sec", PERF_COUNTER_COUNTER, 42, 0, SUM, "vmstat.pgmajfault",                                   \
            "Page faults that read a page from a disk (hard faults).")                                                 \
    COUNTER("Pages Output/sec", PERF_COUNTER_COUNTER, 48, 0, SUM, "vmstat.pswpout",                                    \
            "Pages written to the paging space to free memory. Pages of other files are not counted.")                 \
    COUNTER("Pool Nonpaged Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 58, -5, SUM, "meminfo.SUnreclaim * 1024",              \
            "Memory of kernel objects, in bytes, that the kernel cannot reclaim while the objects are in use.")        \
    COUNTER("Pool Paged Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 56, -5, SUM, "meminfo.SReclaimable * 1024",               \
            "Memory of kernel objects, in bytes, that the kernel can reclaim: mainly names and attributes of files.")  \
    COUNTER("Pool Paged Resident Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 66, -5, SUM, "meminfo.SReclaimable * 1024",      \
            "The part of Pool Paged Bytes that is in memory, in bytes. The Linux kernel never pages its own memory, "  \
            "so the value equals Pool Paged Bytes.")                                                                   \
    COUNTER("Cache Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 818, -5, SUM,                                                  \
            "meminfo.Buffers * 1024 + meminfo.Cached * 1024 + meminfo.SReclaimable * 1024",                            \
            "Memory that caches contents, names and attributes of files, in bytes.")                                   \
    COUNTER("System Cache Resident Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 76, -5, SUM,                                   \
            "meminfo.Buffers * 1024 + meminfo.Cached * 1024",                                                          \
            "Memory that caches contents of files, in bytes. Unlike Cache Bytes, the value does not include names "    \
            "and attributes.")                                                                                         \
    COUNTER("Transition Pages RePurposed/sec", PERF_COUNTER_COUNTER, 824, 0, SUM,                                      \
            "vmstat.pgsteal_kswapd + vmstat.pgsteal_direct",                                                           \
            "Pages that still cached data and were reused for another purpose because memory was short.")              \
    /* As on Windows, value and base have only 32 bits. Both are in pages, not bytes. */                               \
    COUNTER("% Committed Bytes In Use", PERF_RAW_FRACTION, 1406, 0, SUM OVER(COMMIT_LIMIT_PAGES),                      \
            "meminfo.Committed_AS / 4", "Committed Bytes as a share of Commit Limit.")                                 \
    COUNTER("Available KBytes", PERF_COUNTER_LARGE_RAWCOUNT, 0, -3, SUM, "meminfo.MemAvailable",                       \
            "Available Bytes in units of 1,024 bytes.")                                                                \
    COUNTER("Available MBytes", PERF_COUNTER_LARGE_RAWCOUNT, 0, 0, SUM, "meminfo.MemAvailable / 1024",                 \
            "Available Bytes in units of 1,048,576 bytes.")                                                            \
    COUNTER("Free & Zero Page List Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 1676, -6, SUM, "meminfo.MemFree * 1024",       \
            "Unused memory, in bytes.")                                                                                \
    COUNTER(                                                                                                           \
        "Modified Page List Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 1678, -6, SUM, "meminfo.Dirty * 1024",                \
        "Modified file contents in memory that must be written to disk before the memory can be reused, in bytes.")    \
    COUNTER(                                                                                                           \
        "Standby Cache Normal Priority Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 1682, -6, SUM,                             \
        "meminfo.Inactive(file) * 1024",                                                                               \
        "File contents in memory that were not used recently and are reclaimed first when memory is short, in bytes.") \
    BASE(COMMIT_LIMIT_PAGES, PERF_RAW_BASE, SUM, "meminfo.CommitLimit / 4")

#define OBJECT memory
#define ROWS   MEMORY_ROWS
#include "engine/pdh/core/counter_rows.inc"

const struct counter_object_type pdh_memory = {
    .name = "Memory", .index = 4, .help = "The physical memory of this computer.", KERNEL_FILE_OBJECT(memory)};

#define CACHE_ROWS                                                                                                     \
    COUNTER("Lazy Write Pages/sec", PERF_COUNTER_COUNTER, 136, 0, SUM, "vmstat.nr_written",                            \
            "Pages of files written from memory to disk. Pages that a program asked to be written immediately are "    \
            "included.")                                                                                               \
    COUNTER("Dirty Pages", PERF_COUNTER_RAWCOUNT, 0, 0, SUM, "vmstat.nr_dirty",                                        \
            "Pages of files in memory that have been modified and not yet written.")                                   \
    COUNTER("Dirty Page Threshold", PERF_COUNTER_RAWCOUNT, 0, 0, SUM, "vmstat.nr_dirty_threshold",                     \
            "Number of dirty pages above which programs that write must wait until pages have been written to disk.")

#define OBJECT cache
#define ROWS   CACHE_ROWS
#include "engine/pdh/core/counter_rows.inc"

const struct counter_object_type pdh_cache = {
    .name = "Cache", .index = 86, .help = "The file cache in physical memory.", KERNEL_FILE_OBJECT(cache)};
