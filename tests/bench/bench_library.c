/* SPDX-License-Identifier: MIT */
/* bench_library write FILE [SAMPLES [COUNTERS]] | read FILE: writes a binary log of SAMPLES (86,400: a day) of COUNTERS
   (82), half of them rates, through libopenpla-logs; reads it sample by sample, and as a table. Prints the processor
   seconds of both ways of reading on one line. library_frame.py compares them with Python's. */
#include "library/include/openpla/logs.h"
#include "tests/bench/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 86400, COUNTERS = 82, RATE = 0x10410400, COUNT = 0x00010000 };
#define START  INT64_C(132590000000000000)
#define SECOND INT64_C(10000000)

static void check(openpla_result result)
{
    if (result < 0) {
        fprintf(stderr, "bench_library: %s\n", openpla_error());
        exit(1);
    }
}

static void write_log(const char *path, int64_t samples, size_t count)
{
    const struct openpla_writer_options options = {.size = sizeof options, .replace = true, .start = START};
    struct openpla_counter *counters = calloc(count, sizeof *counters);
    struct openpla_value *values = calloc(count, sizeof *values);
    char(*paths)[96] = calloc(count, sizeof *paths);
    openpla_writer *writer;
    if (!counters || !values || !paths)
        exit(1);
    for (size_t i = 0; i < count; i++) {
        snprintf(paths[i], sizeof paths[i], "\\\\BOX\\Object %zu(instance)\\Counter %zu", i / 8, i);
        counters[i] = (struct openpla_counter){
            .path = paths[i], .type = i % 2 == 0 ? COUNT : RATE, .time_base = i % 2 == 0 ? 0 : SECOND};
    }
    check(openpla_writer_create(path, counters, count, &options, &writer));
    for (int64_t k = 0; k < samples; k++) {
        for (size_t i = 0; i < count; i++)
            values[i] =
                (struct openpla_value){.first = k * (int64_t)(i + 1), .second = START + k * SECOND, .multi_count = 1};
        check(openpla_writer_append(writer, START + k * SECOND, values, count));
    }
    check(openpla_writer_close(writer));
    free(counters);
    free(values);
    free(paths);
}

static double read_samples(const char *path)
{
    const struct openpla_log_options options = {.size = sizeof options, .flags = OPENPLA_LOG_STREAM};
    const struct openpla_sample *sample;
    double sum = 0;
    openpla_log *log;
    openpla_result result;
    const double begin = processor_seconds();
    check(openpla_log_open(path, &options, &log));
    while ((result = openpla_log_next(log, &sample)) == OPENPLA_OK)
        for (size_t i = 0; i < sample->count; i++)
            sum += sample->values[i].has_value ? sample->values[i].value : 0;
    check(result);
    check(openpla_log_close(log));
    const double seconds = processor_seconds() - begin;
    return sum == 42 ? seconds + 1e-9 : seconds; /* so that the reading is not optimised away */
}

static double read_table(const char *path)
{
    const struct openpla_log_options options = {.size = sizeof options, .flags = OPENPLA_LOG_STREAM};
    struct openpla_table *table;
    openpla_log *log;
    const double begin = processor_seconds();
    check(openpla_log_open(path, &options, &log));
    check(openpla_log_read_table(log, 0, &table));
    openpla_table_free(table);
    check(openpla_log_close(log));
    return processor_seconds() - begin;
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "write") == 0) {
        write_log(argv[2], argc > 3 ? strtoll(argv[3], NULL, 10) : SAMPLES,
                  argc > 4 ? (size_t)strtoull(argv[4], NULL, 10) : COUNTERS);
    } else if (argc == 3 && strcmp(argv[1], "read") == 0) {
        const double samples = read_samples(argv[2]);
        printf("%.6f %.6f\n", samples, read_table(argv[2]));
    } else {
        fprintf(stderr, "usage: bench_library write FILE [SAMPLES [COUNTERS]] | read FILE\n");
        return 2;
    }
    return 0;
}
