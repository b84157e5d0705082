/* SPDX-License-Identifier: MIT */
/* The texts of a Linux process's or thread's files in /proc/<id> as numbers. */
#ifndef OPENPLA_PROCESS_TEXT_H
#define OPENPLA_PROCESS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_stat {
    const char *name; /* in the text, not terminated */
    size_t name_length;
    char state; /* 'R', 'S' ...; 'Z': it has ended, and its parent has not heard of it */
    uint32_t parent, threads;
    uint64_t user_ticks, kernel_ticks, start_ticks; /* of 10 ms; the start counts from the host's boot */
    uint64_t faults;                                /* minor and major */
    uint64_t virtual_bytes, resident_pages;
};
/* Of stat. False when the text is cut off or is something else. */
bool process_stat_parse(const char *text, size_t size, struct process_stat *out);

/* Figures by name; INT64_MIN for one that is not there. */
struct process_status {
    int64_t virtual_peak, resident_peak, resident_private, swapped; /* bytes */
    int64_t switches;                                               /* of the thread, voluntary or not */
};
/* Of status. */
void process_status_parse(const char *text, size_t size, struct process_status *out);

struct process_io {
    int64_t reads, writes, read_bytes, written_bytes;
};
/* Of io: all calls that read or write, files or not. */
void process_io_parse(const char *text, size_t size, struct process_io *out);

#endif
