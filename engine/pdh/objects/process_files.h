/* SPDX-License-Identifier: MIT */
/* The files of one Linux process in /proc/<id>, through handles that are kept from one reading to the next. */
#ifndef OPENPLA_PDH_PROCESS_FILES_H
#define OPENPLA_PDH_PROCESS_FILES_H

#include "engine/base/kernel_file.h"
#include "engine/base/process_text.h"
#include "engine/pdh/objects/process_list.h"

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
/* The threads, added to an array that grows; *count counts them. E_OUTOFMEMORY; a process that has ended has none.
   `boot` is what start times count from. */
HRESULT process_files_threads(uint32_t id, const char *root, int64_t boot, struct thread_entry **threads,
                              size_t *capacity, size_t *count);
void process_files_close(struct process_files *f, struct process_kept *kept);
/* All figures that may be absent are. */
void process_entry_clear(struct process_entry *e);

#endif
