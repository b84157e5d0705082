/* SPDX-License-Identifier: MIT */
/* write_wildcard_log FILE: writes a binary log with raw values of two plain counters and a wildcard counter. Instances
   of the wildcard counter appear and disappear, and two of them have the same name. relog.py knows the values. */
#include "engine/logs/log.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(10000000)
#define START  INT64_C(132590000000000000) /* 2021-02-28 02:13:20 UTC */

static const struct log_counter counters[] = {
    {.machine = "\\\\BOX", .object = "Memory", .counter = "Available MBytes", .type = 0x00010000},
    {.machine = "\\\\BOX",
     .object = "Process",
     .instance = "*",
     .wildcard = true,
     .counter = "% Processor Time",
     .type = 0x20510500, /* PERF_100NSEC_TIMER */
     .time_base = SECOND},
    {.machine = "\\\\BOX",
     .object = "System",
     .counter = "Context Switches/sec",
     .type = 0x10410400, /* PERF_COUNTER_COUNTER */
     .time_base = SECOND},
};

int main(int argc, char **argv)
{
    /* The instances in each second; a letter is a name. An instance of "a", "b" or "c" uses 10, 20 or 30 % of a
       processor. */
    static const char *const instances[] = {"ab", "abb", "bc", "abc"};
    const struct log_options options = {.zone = {.known = true, .name = "Somewhere"}};
    struct log_writer *log;
    if (argc != 2 || log_writer_create(LOG_BINARY, argv[1], counters, 3, START, &options, &log) != S_OK) {
        fprintf(stderr, "usage: write_wildcard_log FILE\n");
        return 1;
    }
    for (int64_t i = 0; i < 4; i++) {
        struct log_item items[3] = {0};
        struct log_cell cells[3] = {0};
        char names[3][2] = {"", "", ""};
        size_t count = 0;
        for (const char *c = instances[i]; *c; c++, count++) {
            names[count][0] = *c;
            items[count] = (struct log_item){
                .instance = names[count],
                .raw = {.first = (*c - 'a' + 1) * i * SECOND / 10, .second = START + i * SECOND, .multi_count = 1}};
        }
        cells[0].raw = (struct log_raw){.first = 1000 - i, .multi_count = 1};
        cells[1].items = items;
        cells[1].item_count = count;
        cells[2].raw = (struct log_raw){.first = i * i * 100, .second = START + i * SECOND, .multi_count = 1};
        if (log_writer_append(log, START + i * SECOND, cells) != S_OK)
            return 1;
    }
    return log_writer_close(log) == S_OK ? 0 : 1;
}
