/* SPDX-License-Identifier: MIT */
/* Parser of /proc/<id>/stat: "id (name) state parent ...". */
#include "engine/os/posix/process_stat.h"
#include <string.h>

/* Numbers of proc(5)'s field list, which counts the id as 1. */
enum {
    FIELD_PARENT = 4,
    FIELD_USER = 14,
    FIELD_KERNEL = 15,
    FIELD_THREADS = 20,
    FIELD_START = 22,
    FIELD_RESIDENT = 24
};

bool process_stat_parse(const char *text, size_t size, struct process_stat *out)
{
    const char *end = text + size;
    const char *open = memchr(text, '(', size);
    const char *close = NULL;
    /* The name may hold anything, parentheses and blanks too: the last ")" ends it. */
    for (const char *p = end; open && p > open; p--) {
        if (p[-1] == ')') {
            close = p - 1;
            break;
        }
    }
    if (!close) {
        return false;
    }
    *out = (struct process_stat){.name = open + 1, .name_length = (size_t)(close - open - 1)};
    uint64_t values[FIELD_RESIDENT + 1] = {0};
    unsigned field = 2;
    for (const char *p = close + 1; p < end && field < FIELD_RESIDENT;) {
        if (*p == ' ') {
            p++;
            field++;
            uint64_t v = 0;
            while (p < end && *p >= '0' && *p <= '9') {
                v = v * 10 + (uint64_t)(*p++ - '0');
            }
            values[field] = v;
        } else {
            p++; /* the state's letter, a sign */
        }
    }
    out->parent = (uint32_t)values[FIELD_PARENT];
    out->user_ticks = values[FIELD_USER];
    out->kernel_ticks = values[FIELD_KERNEL];
    out->threads = (uint32_t)values[FIELD_THREADS];
    out->start_ticks = values[FIELD_START];
    out->resident_pages = values[FIELD_RESIDENT];
    return field == FIELD_RESIDENT;
}
