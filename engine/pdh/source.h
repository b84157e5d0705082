/* SPDX-License-Identifier: MIT */
/* Where the objects of one query get their figures: the kernel's files and the process list, kept open, and read at
   most once per sample however many objects and counters want them. Not locked: the query's lock covers it. */
#ifndef OPENPLA_PDH_SOURCE_H
#define OPENPLA_PDH_SOURCE_H

#include "engine/os/kernel_file.h"
#include "engine/os/process_list.h"
#include "engine/pdh/kernel_text.h"

/* The moment at which something was read. */
struct source_time {
    int64_t utc;   /* FILETIME */
    int64_t ticks; /* performance counter */
};

enum source_part {
    SOURCE_STAT,
    SOURCE_MEMORY,
    SOURCE_PROCESSES,
    SOURCE_PARTS,
};

struct source {
    struct kernel_file *files[SOURCE_PROCESSES];
    struct process_list *list;
    uint64_t serial;                /* of the sample under way */
    uint64_t read_in[SOURCE_PARTS]; /* serial of the sample that tried to read the part last, 0 = never */
    HRESULT result[SOURCE_PARTS];
    struct source_time time[SOURCE_PARTS];
    struct kernel_stat stat;
    struct kernel_memory memory;
    const struct process_entry *processes;
    size_t process_count;
    int64_t local_minute, local_offset; /* see source_local */
};

/* Starts a sample: the next use of each part reads it afresh. Zero-initialise the source before the first. */
void source_begin(struct source *s);
void source_close(struct source *s);
/* Local time of a UTC time, both FILETIME. The offset is asked for once a minute: rules change it at full minutes. */
int64_t source_local(struct source *s, int64_t utc);
/* Brings the part up to this sample, the moment of its reading to *time. A part that cannot be read fails every time
   in this sample without another try, unless only memory was lacking. */
HRESULT source_need(struct source *s, enum source_part part, struct source_time *time);

#endif
