/* SPDX-License-Identifier: MIT */
/* The running processes with their values and threads. On Windows, the list contains the system's processes; in native
   builds, the processes in /proc, including kernel threads. Under Wine, the list contains the Windows processes of this
   prefix with their Windows names, or the processes of the host OS if the user has selected those
   (os_processes_wanted). */
#ifndef OPENPLA_PDH_PROCESS_LIST_H
#define OPENPLA_PDH_PROCESS_LIST_H

#include "engine/base/error.h"
#include "engine/base/kernel_file.h"

/* A value that the system does not report for this process. */
#define PROCESS_ABSENT  INT64_MIN

/* Groups of values, as bits. Values that are not requested may be absent or from an earlier reading. If any group is
   requested, the set of processes, their start times and their numbers of threads are current. Without a group, only
   the number of processes and the total number of threads are read. */
#define PROCESS_MEMORY  1u /* peaks, private bytes */
#define PROCESS_IO      2u
#define PROCESS_HANDLES 4u
#define PROCESS_THREADS 8u
#define PROCESS_FAULTS  16u
#define PROCESS_USE     32u /* name, times, working set, virtual size */

/* Windows' numbers for the states that can be determined here. */
enum thread_state { THREAD_RUNNING = 2, THREAD_ENDED = 4, THREAD_WAITING = 5 };
enum thread_wait { WAIT_EXECUTIVE = 0, WAIT_SUSPENDED = 5, WAIT_USER_REQUEST = 6 };

struct thread_entry {
    uint32_t id;
    int64_t start;                  /* FILETIME UTC */
    int64_t user_time, kernel_time; /* in units of 100 ns */
    /* PROCESS_ABSENT if unknown: */
    int64_t context_switches;
    int64_t base_priority, priority; /* 1 to 31, as on Windows */
    int64_t state, wait_reason;      /* enum thread_state, enum thread_wait */
};

struct process_entry {
    const char *name;    /* UTF-8, without ".exe"; borrowed until the list is read again */
    uint32_t id, parent; /* ids in the system to which the list belongs; parent 0: unknown */
    uint32_t threads;
    int64_t start;        /* FILETIME UTC; identifies the process together with the id, even if the id is reused */
    int64_t user_time;    /* in units of 100 ns */
    int64_t kernel_time;  /* in units of 100 ns */
    int64_t working_set;  /* bytes */
    int64_t virtual_size; /* bytes */
    /* The following values may be PROCESS_ABSENT. */
    int64_t virtual_peak, working_set_peak, working_set_private, private_bytes; /* bytes */
    int64_t page_faults;
    int64_t base_priority; /* 1 to 31, as on Windows */
    int64_t handles;
    int64_t reads, writes, read_bytes, written_bytes;
    const struct thread_entry *first_thread; /* `listed_threads` elements, borrowed; only with PROCESS_THREADS */
    uint32_t listed_threads;
};

struct process_list;
/* Opens the list. `root` is a prefix for the paths of kernel files: "" except in tests. */
HRESULT process_list_open(const char *root, struct process_list **out);
/* Reads the requested values. *entries is in the system's order and borrowed until the next read or close. Skips
   processes that exit during the reading. */
HRESULT process_list_read(struct process_list *list, uint32_t figures, const struct process_entry **entries,
                          size_t *count);
void process_list_close(struct process_list *list); /* NULL is allowed */

/* The implementations of process lists. process_list.c chooses one. */
struct process_lister {
    HRESULT (*open)(const char *root, void **list);
    HRESULT (*read)(void *list, uint32_t figures, const struct process_entry **entries, size_t *count);
    void (*close)(void *list);
};
/* The processes of the host OS, and the Windows processes (not in native builds). */
extern const struct process_lister process_lister_host, process_lister_windows;

/* Reads numbers that change whenever a process or thread of the host OS starts or ends; all are zero if the kernel does
   not report them. `load` is /proc/loadavg, opened at the first call; the caller closes it with kernel_file_close. */
struct kernel_load process_changes_read(const char *root, struct kernel_file **load);

/* The files of one Linux process in /proc/<id>, read through handles that stay open between readings. */
struct process_files {
    uint32_t id;
    struct kernel_file *stat, *status, *io; /* NULL: opened for each reading */
    struct kernel_file *run_time, *size;    /* schedstat and statm, for lists that do not read idle processes again */
};
/* The number of handles that a process list keeps open, and the maximum of this number. */
struct process_kept {
    size_t count, most; /* `most` is from kernel_file_share() */
};

/* Reads and parses stat; the result is borrowed until the next reading. *kept counts the handles of all processes.
   If the process has exited, its open handle reads nothing; the file is then opened again, because another process may
   now have the id. Fails if no process has this id. */
HRESULT process_files_stat(struct process_files *f, const char *root, struct process_kept *kept,
                           struct process_stat *out);
/* Reads the requested groups, except the threads, into *e; other values remain unchanged. Values that cannot be read
   become PROCESS_ABSENT. Fails with E_OUTOFMEMORY. */
HRESULT process_files_figures(struct process_files *f, const char *root, struct process_kept *kept, uint32_t figures,
                              struct process_entry *e);
void process_files_close(struct process_files *f, struct process_kept *kept);
/* Sets all values that can be absent to PROCESS_ABSENT. */
void process_entry_clear(struct process_entry *e);

#endif
