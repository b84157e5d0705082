/* SPDX-License-Identifier: MIT */
/* Where counter objects read from: the kernel's files and the process list, shared by the objects of a query, and small
   kernel files that stay open between samples. */
#ifndef OPENPLA_PDH_SOURCE_H
#define OPENPLA_PDH_SOURCE_H

#include "engine/base/clock.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pdh/objects/process_list.h"

/* Small files of the kernel, one for each of many things (/sys/class/thermal/thermal_zone3/temp), through handles that
   are kept from one sample to the next: to open a file costs many times what reading it does. Those that were not read
   between two sweeps are closed. */

/* Zero-initialise. */
struct kept_files {
    struct kept_file *files;
    size_t count, capacity;
    size_t next;               /* where the file that is asked for next is likely to be */
    struct kernel_file *spare; /* one beyond those that may be kept */
};
/* The text of a file as it is now, borrowed until the next call. Fails as kernel_file_open and kernel_file_read do. */
HRESULT kept_files_text(struct kept_files *k, const char *path, const char **text, size_t *size);
/* The number that the file begins with; S_FALSE when it begins with none, or cannot be read. E_OUTOFMEMORY. */
HRESULT kept_files_number(struct kept_files *k, const char *path, int64_t *value);
void kept_files_sweep(struct kept_files *k);
void kept_files_close(struct kept_files *k);

/* The names in a folder of the kernel that begin with `prefix`, sorted by number and then by name: looked for anew once
   in ten seconds, since to list a folder is dear under Wine. Zero-initialise. */
struct kept_folder {
    struct texts names;
    uint64_t looked; /* clock_monotonic_ms(); 0: never */
};
/* A folder that is not there has no names. E_OUTOFMEMORY. */
HRESULT kept_folder_follow(struct kept_folder *k, const char *path, const char *prefix);
void kept_folder_close(struct kept_folder *k);

/* Where the objects of one query get their figures: the kernel's files and the process list, kept open, and read at
   most once per sample however many objects and counters want them. Objects are sampled on several threads when one
   takes long: what one holds is not read anew until it lets go of it. */

/* The moment at which something was read. */
struct source_time {
    int64_t utc;   /* FILETIME */
    int64_t ticks; /* performance counter */
};

/* X(part, short name in sources, file, does the kernel write it in one piece?) */
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
    X(SOURCE_CIFS, "fs/cifs/Stats", "/proc/fs/cifs/Stats", false)

#define SOURCE_PART(part, name, path, piece) part,
enum source_part { SOURCE_FILES(SOURCE_PART) SOURCE_PROCESSES, SOURCE_PARTS };
#undef SOURCE_PART

/* What one object holds in its present sample. Zero-initialise. */
struct source_hold {
    uint64_t serial; /* of the sample it belongs to */
    uint32_t parts;  /* bits */
};

/* One user's hold on the shared files. Zero-initialise. */
struct source {
    struct source_files *files;
    struct clock_zone zone;
};
/* Starts a sample: the next use of each part reads it afresh. */
void source_begin(struct source *s);
/* Makes *other a second user of the same files. E_OUTOFMEMORY. */
HRESULT source_share(struct source *s, struct source *other);
void source_close(struct source *s);
/* For tests: what is put before the files' paths of the sources that begin from now on; borrowed. */
void source_set_root(const char *root);
const char *source_root(const struct source *s);
/* How long one object's reading may take before its sample counts as missing, in milliseconds: this, or what the
   environment's OPENPLA_SAMPLE_LIMIT says; 0 for no limit, and no other thread. */
#define SOURCE_LIMIT_MS 2000
uint32_t source_limit(void);

/* Begins an object's use of the sample under way. */
void source_hold_begin(struct source *s, struct source_hold *hold);
/* Lets go of all that the object holds. */
void source_hold_end(struct source *s, struct source_hold *hold);
/* The text of a file as of this sample, borrowed until source_hold_end, and the moment of its reading (or NULL). A part
   that cannot be read fails every time in this sample without another try, unless only memory was lacking; the next
   sample opens it anew. */
HRESULT source_text(struct source *s, struct source_hold *hold, enum source_part part, const char **text, size_t *size,
                    struct source_time *time);
/* The processes as of this sample, likewise. `figures` (process_list.h) are what the caller needs of each. */
HRESULT source_processes(struct source *s, struct source_hold *hold, uint32_t figures,
                         const struct process_entry **entries, size_t *count, struct source_time *time);
/* The part whose short name is the `length` bytes at `name`; SOURCE_PARTS when there is none. */
enum source_part source_find(const char *name, size_t length);

#endif
