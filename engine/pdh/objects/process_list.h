/* SPDX-License-Identifier: MIT */
/* The processes that run, with their figures and threads. Which ones: on Windows the system's; natively the host's
   processes as /proc shows them to us, kernel threads included; under Wine the Windows processes of this prefix under
   their Windows names, or, as the user wants it (host_processes_wanted), the host's processes as natively. */
#ifndef OPENPLA_PDH_PROCESS_LIST_H
#define OPENPLA_PDH_PROCESS_LIST_H

#include "engine/base/error.h"
#include "engine/base/kernel_file.h"

/* A figure that the system does not tell of this process. */
#define PROCESS_ABSENT  INT64_MIN

/* Groups of figures, as bits: what is not asked for may be absent, or that of an earlier reading. Which processes there
   are, their starts and their numbers of threads are of now if any is asked for; if none is, only how many processes
   there are and how many threads in all. */
#define PROCESS_MEMORY  1u /* peaks, private bytes */
#define PROCESS_IO      2u
#define PROCESS_HANDLES 4u
#define PROCESS_THREADS 8u
#define PROCESS_FAULTS  16u
#define PROCESS_USE     32u /* name, times, working set, virtual size */

/* Windows' numbers, of which these can be told here. */
enum thread_state { THREAD_RUNNING = 2, THREAD_ENDED = 4, THREAD_WAITING = 5 };
enum thread_wait { WAIT_EXECUTIVE = 0, WAIT_SUSPENDED = 5, WAIT_USER_REQUEST = 6 };

struct thread_entry {
    uint32_t id;
    int64_t start;                  /* FILETIME UTC */
    int64_t user_time, kernel_time; /* 100 ns */
    /* Or PROCESS_ABSENT: */
    int64_t context_switches;
    int64_t base_priority, priority; /* 1..31 as Windows counts */
    int64_t state, wait_reason;      /* enum thread_state, enum thread_wait */
};

struct process_entry {
    const char *name;    /* UTF-8, without ".exe"; borrowed from the list until the process leaves it */
    uint32_t id, parent; /* ids of the world they come from; parent 0 = none known */
    uint32_t threads;
    int64_t start;        /* FILETIME UTC; with the id it names one process for ever */
    int64_t user_time;    /* 100 ns */
    int64_t kernel_time;  /* 100 ns */
    int64_t working_set;  /* bytes */
    int64_t virtual_size; /* bytes */
    /* Those below may be PROCESS_ABSENT. */
    int64_t virtual_peak, working_set_peak, working_set_private, private_bytes; /* bytes */
    int64_t page_faults;
    int64_t base_priority; /* 1..31 as Windows counts */
    int64_t handles;
    int64_t reads, writes, read_bytes, written_bytes;
    const struct thread_entry *first_thread; /* `listed_threads` of them, borrowed; with PROCESS_THREADS */
    uint32_t listed_threads;
};

struct process_list;
/* `root` is put before the paths of the kernel's files: "" but for tests. */
HRESULT process_list_open(const char *root, struct process_list **out);
/* Reads the figures afresh. *entries is borrowed until the next read or close, in the system's order. A process that
   ends meanwhile is left out. */
HRESULT process_list_read(struct process_list *list, uint32_t figures, const struct process_entry **entries,
                          size_t *count);
void process_list_close(struct process_list *list); /* NULL is allowed */

/* The kinds of process lists; process_list.c chooses. */
struct process_lister {
    HRESULT (*open)(const char *root, void **list);
    HRESULT (*read)(void *list, uint32_t figures, const struct process_entry **entries, size_t *count);
    void (*close)(void *list);
};
/* The host's, and (not natively) the Windows processes. */
extern const struct process_lister process_lister_host, process_lister_windows;

/* The files of one Linux process in /proc/<id>, through handles that are kept from one reading to the next. */
struct process_files {
    uint32_t id;
    struct kernel_file *stat, *status, *io; /* NULL: opened for each reading */
};
/* The handles that a list of processes keeps. */
struct process_kept {
    size_t count, most; /* kernel_file_share() */
};

/* The text of stat, borrowed until the next reading; *kept counts the handles of all processes. Fails when the process
   has ended; a handle of a process that ended reads nothing, its id may belong to another by now. */
HRESULT process_files_stat(struct process_files *f, const char *root, struct process_kept *kept,
                           struct process_stat *out);
/* The figures of the groups `figures` but the threads, into *e, which keeps the others; what cannot be read becomes
   PROCESS_ABSENT. E_OUTOFMEMORY. */
HRESULT process_files_figures(struct process_files *f, const char *root, struct process_kept *kept, uint32_t figures,
                              struct process_entry *e);
void process_files_close(struct process_files *f, struct process_kept *kept);
/* All figures that may be absent are. */
void process_entry_clear(struct process_entry *e);

#endif
