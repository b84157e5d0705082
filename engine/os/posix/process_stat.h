/* SPDX-License-Identifier: MIT */
/* The text of a Linux process's /proc/<id>/stat as numbers. */
#ifndef OPENPLA_POSIX_PROCESS_STAT_H
#define OPENPLA_POSIX_PROCESS_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_stat {
    const char *name; /* in the text, not terminated */
    size_t name_length;
    uint32_t parent, threads;
    uint64_t user_ticks, kernel_ticks, start_ticks; /* of 10 ms; the start counts from the host's boot */
    uint64_t resident_pages;
};
/* False when the text is cut off or is something else. */
bool process_stat_parse(const char *text, size_t size, struct process_stat *out);

#endif
