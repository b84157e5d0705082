/* SPDX-License-Identifier: MIT */
/* The processes that run, with their figures. Which ones: on Windows and under Wine the Windows processes that the
   system tells of (under Wine those of this prefix, under their Windows names, not the host's other processes);
   natively the host's processes as /proc shows them to us, kernel threads included. */
#ifndef OPENPLA_PROCESS_LIST_H
#define OPENPLA_PROCESS_LIST_H

#include "engine/os/error.h"

struct process_entry {
    const char *name;    /* UTF-8, without ".exe"; borrowed from the list until the process leaves it */
    uint32_t id, parent; /* ids of the world they come from; parent 0 = none known */
    uint32_t threads;
    int64_t start;        /* FILETIME UTC; with the id it names one process for ever */
    int64_t user_time;    /* 100 ns */
    int64_t kernel_time;  /* 100 ns */
    uint64_t working_set; /* bytes */
};

struct process_list;
HRESULT process_list_open(struct process_list **out);
/* Reads all figures afresh. *entries is borrowed until the next read or close, in the system's order. A process that
   ends meanwhile is left out. */
HRESULT process_list_read(struct process_list *list, const struct process_entry **entries, size_t *count);
/* Changes with every read that brought other processes, another order or another name than the read before. */
uint64_t process_list_generation(const struct process_list *list);
void process_list_close(struct process_list *list); /* NULL is allowed */

#endif
