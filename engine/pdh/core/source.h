/* SPDX-License-Identifier: MIT */
/* The sources of counter objects: kernel files and the process list, which the objects of a query share, and small
   kernel files that stay open between samples. */
#ifndef OPENPLA_PDH_SOURCE_H
#define OPENPLA_PDH_SOURCE_H

#include "engine/base/clock.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pdh/objects/process_list.h"

/* Small kernel files, one per item (/sys/class/thermal/thermal_zone3/temp). Opening one of these files costs many times
   more than reading it, so handles stay open between samples. A sweep closes the files that were not read since the
   previous sweep. */

/* Zero-initialise. */
struct kept_files {
    struct kept_file *files;
    size_t count, capacity;
    size_t next;               /* index of the file that is likely to be requested next */
    struct kernel_file *spare; /* the file that was read last, if it is not in `files` because too many files are
                                  open */
};
/* Reads the current text of a file, borrowed until the next call. Fails like kernel_file_open and kernel_file_read. */
HRESULT kept_files_text(struct kept_files *k, const char *path, const char **text, size_t *size);
/* Reads the number at the beginning of the file. S_FALSE if the file does not begin with a number or cannot be read.
   Fails with E_OUTOFMEMORY. */
HRESULT kept_files_number(struct kept_files *k, const char *path, int64_t *value);
void kept_files_sweep(struct kept_files *k);
void kept_files_close(struct kept_files *k);

/* The names in a kernel folder that begin with `prefix`, sorted by number and then by name. The list is refreshed every
   ten seconds, because listing a folder is expensive under Wine. Zero-initialise. */
struct kept_folder {
    struct texts names;
    uint64_t listed_at; /* clock_monotonic_ms() of the last listing; 0: never */
};
/* Refreshes the list if it is too old. A folder that does not exist has no names. Fails with E_OUTOFMEMORY. */
HRESULT kept_folder_follow(struct kept_folder *k, const char *path, const char *prefix);
void kept_folder_close(struct kept_folder *k);

/* The kernel files and the process list that the objects of one query share. The files stay open, and each is read at
   most once per sample, no matter how many objects and counters need it. source.c describes how threads share them. */

/* The time of a reading. */
struct source_time {
    int64_t utc;   /* FILETIME */
    int64_t ticks; /* performance counter */
};

/* X(part, short name in the counters' `source`, file, true if the kernel writes the file in one piece). While one of
   these files is read, the kernel waits only for locks that are held for a short time; source.c lists the exceptions
   (part_may_wait). */
#define SOURCE_FILES(X)                                                                                                \
    X(SOURCE_STAT, "stat", "/proc/stat", true)                                                                         \
    X(SOURCE_MEMINFO, "meminfo", "/proc/meminfo", true)                                                                \
    X(SOURCE_VMSTAT, "vmstat", "/proc/vmstat", false)                                                                  \
    X(SOURCE_INTERRUPTS, "interrupts", "/proc/interrupts", false)                                                      \
    X(SOURCE_SOFTIRQS, "softirqs", "/proc/softirqs", true)                                                             \
    X(SOURCE_CPUINFO, "cpuinfo", "/proc/cpuinfo", false)                                                               \
    X(SOURCE_DISKSTATS, "diskstats", "/proc/diskstats", false)                                                         \
    X(SOURCE_MOUNTS, "mountinfo", "/proc/self/mountinfo", false)                                                       \
    X(SOURCE_SWAPS, "swaps", "/proc/swaps", false)                                                                     \
    X(SOURCE_NET_DEV, "net/dev", "/proc/net/dev", false)                                                               \
    X(SOURCE_SNMP, "net/snmp", "/proc/net/snmp", true)                                                                 \
    X(SOURCE_SNMP6, "net/snmp6", "/proc/net/snmp6", true)                                                              \
    X(SOURCE_TCP, "net/tcp", "/proc/net/tcp", false)                                                                   \
    X(SOURCE_TCP6, "net/tcp6", "/proc/net/tcp6", false)                                                                \
    X(SOURCE_SOCKETS, "net/sockstat", "/proc/net/sockstat", true)                                                      \
    X(SOURCE_SOCKETS6, "net/sockstat6", "/proc/net/sockstat6", true)                                                   \
    X(SOURCE_CIFS, "fs/cifs/Stats", "/proc/fs/cifs/Stats", false)

#define SOURCE_PART(part, name, path, piece) part,
enum source_part { SOURCE_FILES(SOURCE_PART) SOURCE_PROCESSES, SOURCE_PARTS };
#undef SOURCE_PART

/* What one object uses in its current sample. Zero-initialise. */
struct source_hold {
    uint64_t serial; /* serial of the sample in which the object uses `parts` */
    uint32_t parts;  /* one bit per part */
    /* must_not_wait: the object is sampled on the query's thread; would_wait: source_may_wait has returned false. */
    bool must_not_wait, would_wait;
};

/* One user's reference to the shared files. Zero-initialise. */
struct source {
    struct source_files *files;
    struct clock_zone zone;
};
/* Starts a sample. In the new sample, the first use of a part reads the part again. */
void source_begin(struct source *s);
/* Initialises *other as a second user of the files of `s`. Fails with E_OUTOFMEMORY. */
HRESULT source_share(struct source *s, struct source *other);
void source_close(struct source *s);
/* Sets a prefix for the paths of sources that are created from now on; borrowed. For tests. */
void source_set_root(const char *root);
const char *source_root(const struct source *s);
/* The time limit in milliseconds for reading one object. If reading takes longer, the object's sample counts as
   missing. The environment variable OPENPLA_SAMPLE_LIMIT overrides it; 0 means no limit and no extra thread. */
#define SOURCE_LIMIT_MS 2000
uint32_t source_limit(void);

/* Begins an object's use of the current sample. */
void source_hold_begin(struct source *s, struct source_hold *hold, bool must_not_wait);
/* Must be called by an object before an operation that may wait for a disk, a driver, another program or another
   computer. False means that the object must not wait now and returns E_PENDING. The caller then discards the sample
   and takes it again on a thread with a time limit. */
bool source_may_wait(struct source_hold *hold);
/* Releases everything that the object holds. */
void source_hold_end(struct source *s, struct source_hold *hold);
/* Returns the text of a file in this sample, borrowed until source_hold_end, and the time at which it was read (may be
   NULL). If reading fails, except for lack of memory, every later call in this sample fails without a retry; the next
   sample opens the file again. Fails with E_PENDING if the call might wait and the hold must not wait. */
HRESULT source_text(struct source *s, struct source_hold *hold, enum source_part part, const char **text, size_t *size,
                    struct source_time *time);
/* Like source_text, for the processes of this sample. `figures` (process_list.h) selects the values that the caller
   needs. */
HRESULT source_processes(struct source *s, struct source_hold *hold, uint32_t figures,
                         const struct process_entry **entries, size_t *count, struct source_time *time);
/* Returns the part with the short name in the `length` bytes at `name`; SOURCE_PARTS if the name is unknown. */
enum source_part source_find(const char *name, size_t length);

#endif
