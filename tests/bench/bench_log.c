/* SPDX-License-Identifier: MIT */
/* bench_log FOLDER [COUNTERS [SAMPLES]]: compares log writers and readers with a raw write and read of the same bytes
   in the same run. FOLDER should be on tmpfs (/dev/shm). Prints values per second and the ratio of the times. The raw
   write is one call per sample for text logs and one per buffer of 64 KB for binary logs, the raw read one call per 64
   KB; they are a floor, not a competitor. Median of five rounds. Times are processor times, so that other work on the
   machine does not count. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/log.h"
#include "tests/bench/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

enum { ROUNDS = 5 };
#define SECOND INT64_C(10000000)
#define START  INT64_C(132590000000000000)

struct load {
    char path[1024];
    size_t counters, samples;
    struct log_counter *names;
    struct log_cell *cells; /* 16 samples, used in rotation */
};

static double seconds_of_writer(const struct load *l, enum log_format format, bool flush, uint64_t *bytes)
{
    struct log_writer *log;
    (void)file_delete(l->path);
    must(log_writer_create(format, l->path, l->names, l->counters, START, NULL, &log), "create");
    const double begin = processor_seconds();
    for (size_t i = 0; i < l->samples; i++) {
        must(log_writer_append(log, START + (int64_t)i * SECOND, l->cells + i % 16 * l->counters), "append");
        if (flush)
            must(log_writer_flush(log), "flush");
    }
    *bytes = log_writer_size(log);
    must(log_writer_close(log), "close");
    return processor_seconds() - begin;
}

static double seconds_of_raw_write(const struct load *l, uint64_t bytes, size_t chunk)
{
    struct file *file;
    char *data;
    size_t size;
    must(file_load(l->path, SIZE_MAX, &data, &size), "load");
    must(file_delete(l->path), "delete");
    must(file_open(l->path, FILE_CREATE_NEW, &file), "open");
    const double begin = processor_seconds();
    for (uint64_t at = 0; at < bytes; at += chunk)
        must(file_write(file, data + at, bytes - at < chunk ? (size_t)(bytes - at) : chunk), "write");
    const double seconds = processor_seconds() - begin;
    file_close(file);
    memory_free(data);
    return seconds;
}

static double seconds_of_reader(const struct load *l)
{
    struct log_reader *log;
    const struct log_cell *cells;
    int64_t utc;
    const double begin = processor_seconds();
    size_t samples = 0;
    must(log_reader_open(l->path, &log), "open");
    while (log_reader_next(log, &utc, &cells) == S_OK)
        samples++;
    log_reader_close(log);
    must(samples == l->samples ? S_OK : E_UNEXPECTED, "read");
    return processor_seconds() - begin;
}

static double seconds_of_raw_read(const struct load *l)
{
    static char block[0x10000];
    struct file *file;
    size_t got;
    const double begin = processor_seconds();
    must(file_open(l->path, FILE_READ, &file), "open");
    uint64_t at = 0;
    do {
        must(file_read_at(file, at, block, sizeof block, &got), "read");
        at += got;
    } while (got == sizeof block);
    file_close(file);
    return processor_seconds() - begin;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const struct load *l, const char *name, const char *floor, double *ours, double *raw, uint64_t bytes)
{
    const double values = (double)l->counters * (double)l->samples;
    qsort(ours, ROUNDS, sizeof *ours, compare_doubles);
    qsort(raw, ROUNDS, sizeof *raw, compare_doubles);
    double w = ours[ROUNDS / 2], r = raw[ROUNDS / 2];
    printf("%-22s %7.2f M values/s  %6.1f ns/value (%.1f-%.1f)  %5.1f bytes/value  %6.0f MB/s  raw %s %6.0f MB/s  "
           "time/raw %.2f\n",
           name, values / w / 1e6, w / values * 1e9, ours[0] / values * 1e9, ours[ROUNDS - 1] / values * 1e9,
           (double)bytes / values, (double)bytes / w / 1e6, floor, (double)bytes / r / 1e6, w / r);
}

static void measure(const struct load *l, const char *name, enum log_format format, bool flush)
{
    double writer[ROUNDS], raw[ROUNDS];
    uint64_t bytes = 0;
    for (int i = 0; i < ROUNDS; i++) {
        writer[i] = seconds_of_writer(l, format, flush, &bytes);
        raw[i] = seconds_of_raw_write(l, bytes, format == LOG_BINARY ? 0x10000 : (size_t)(bytes / l->samples));
        must(file_delete(l->path), "delete");
    }
    print(l, name, "write", writer, raw, bytes);
}

static void measure_reader(const struct load *l, const char *name, enum log_format format)
{
    double reader[ROUNDS], raw[ROUNDS];
    uint64_t bytes = 0;
    (void)seconds_of_writer(l, format, false, &bytes);
    for (int i = 0; i < ROUNDS; i++) {
        reader[i] = seconds_of_reader(l);
        raw[i] = seconds_of_raw_read(l);
    }
    must(file_delete(l->path), "delete");
    print(l, name, "read", reader, raw, bytes);
}

int main(int argc, char **argv)
{
    struct load l = {.counters = argc > 2 ? (size_t)atoi(argv[2]) : 1000,
                     .samples = argc > 3 ? (size_t)atoi(argv[3]) : 1000};
    if (argc < 2 || l.counters == 0 || l.samples == 0) {
        fprintf(stderr, "usage: bench_log FOLDER [COUNTERS [SAMPLES]]\n");
        return 2;
    }
    snprintf(l.path, sizeof l.path, "%s/bench_log.tmp", argv[1]);
    l.names = calloc(l.counters, sizeof *l.names);
    l.cells = calloc(l.counters * 16, sizeof *l.cells);
    if (!l.names || !l.cells) {
        free(l.names);
        free(l.cells);
        return 1;
    }
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < l.counters * 16; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        /* a third each: percentages, whole numbers, small ratios */
        double value = i % 3 == 0   ? 100.0 * (double)(state % 9973) / 9973.0
                       : i % 3 == 1 ? (double)(state % 100000000)
                                    : (double)(state % 9973) / 1e7;
        l.cells[i] =
            (struct log_cell){.raw = {.first = (int64_t)state, .second = (int64_t)(state >> 1), .multi_count = 1},
                              .has_value = true,
                              .value = value};
    }
    for (size_t i = 0; i < l.counters; i++) {
        l.names[i] = (struct log_counter){.machine = "\\\\BOX",
                                          .object = "Process",
                                          .instance = "svchost",
                                          .index = (uint32_t)i,
                                          .counter = "% Processor Time",
                                          .type = 0x20510500};
    }
    measure(&l, "CSV", LOG_CSV, false);
    measure(&l, "binary", LOG_BINARY, false);
    measure(&l, "binary, each flushed", LOG_BINARY, true);
    measure_reader(&l, "CSV, read", LOG_CSV);
    measure_reader(&l, "binary, read", LOG_BINARY);
    free(l.names);
    free(l.cells);
    return 0;
}
