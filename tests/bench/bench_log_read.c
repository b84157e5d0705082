/* SPDX-License-Identifier: MIT */
/* bench_log_read FOLDER [MEGABYTES [COUNTERS [INSTANCES]]]: measures the writer and the reader of large binary logs.
   Writes a log of MEGABYTES (1000) with COUNTERS single counters and a wildcard counter of INSTANCES instances, and
   writes the same bytes raw. In each of five rounds it reads the log with the reader and raw. Prints the medians, the
   ratios of the times, the bytes per sample compared with Windows' layout, and the process's peak memory. The reader's
   part is how much reading increases the peak. Times are processor times of one core, because there is no second
   thread; other work on the machine does not count. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/log.h"
#include "tests/bench/generated_files.h"
#include "tests/bench/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

enum { ROUNDS = 5, CHUNK = 0x10000, MEGABYTE = 1 << 20 };
static double write_raw(const char *path, uint64_t bytes)
{
    struct file *file;
    static uint8_t chunk[CHUNK];
    const double begin = processor_seconds();
    (void)file_delete(path);
    must(file_open(path, FILE_CREATE_NEW, &file), "create raw");
    for (uint64_t at = 0; at < bytes; at += CHUNK)
        must(file_write(file, chunk, CHUNK), "write raw");
    file_close(file);
    const double seconds = processor_seconds() - begin;
    must(file_delete(path), "delete raw");
    return seconds;
}

static double read_log(const char *path, uint64_t *samples, uint64_t *values)
{
    struct log_reader *reader;
    const struct log_cell *cells;
    size_t count;
    int64_t utc, sum = 0;
    const double begin = processor_seconds();
    *samples = *values = 0;
    must(log_reader_open(path, &reader), "open log");
    HRESULT hr;
    while ((hr = log_reader_next(reader, &utc, &cells)) == S_OK) {
        (void)log_reader_counters(reader, &count);
        ++*samples;
        *values += count;
        for (size_t i = 0; i < count; i++) {
            if (cells[i].item_count != 0) {
                *values += cells[i].item_count - 1;
                sum += cells[i].items[cells[i].item_count - 1].raw.first;
            } else {
                sum += cells[i].raw.first;
            }
        }
    }
    must(hr, "read log");
    log_reader_close(reader);
    const double seconds = processor_seconds() - begin;
    return sum == 42 ? seconds + 1e-9 : seconds; /* so that the reading is not optimised away */
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    char path[1024];
    const uint64_t megabytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    const size_t singles = argc > 3 ? (size_t)strtoull(argv[3], NULL, 10) : 1000;
    const size_t instances = argc > 4 ? (size_t)strtoull(argv[4], NULL, 10) : 0;
    double raw[ROUNDS], log[ROUNDS], bytes_per_sample, write_seconds;
    uint64_t bytes = 0, samples = 0, values = 0;
    if (argc < 2 || singles + instances == 0) {
        fprintf(stderr, "usage: bench_log_read FOLDER [MEGABYTES [COUNTERS [INSTANCES]]]\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/bench_log_read.tmp", argv[1]);
    const double raw_seconds = write_raw(path, megabytes * MEGABYTE);
    const uint64_t written =
        generate_log(path, megabytes * MEGABYTE, singles, instances, &bytes_per_sample, &write_seconds);
    (void)read_raw(path, &bytes);
    const double before = peak_megabytes();
    for (int i = 0; i < ROUNDS; i++) {
        raw[i] = read_raw(path, &bytes);
        log[i] = read_log(path, &samples, &values);
    }
    const double after = peak_megabytes();
    if (samples != written) {
        fprintf(stderr, "bench_log_read: %" PRIu64 " of %" PRIu64 " samples were read\n", samples, written);
        return 1;
    }
    qsort(raw, ROUNDS, sizeof *raw, compare_doubles);
    qsort(log, ROUNDS, sizeof *log, compare_doubles);
    const double r = raw[ROUNDS / 2], l = log[ROUNDS / 2];
    const double windows = 48.0 * (double)singles + (instances != 0 ? 32 + 24.0 * (double)instances : 0);
    printf("binary, written %6.0f MB  %7.2f M values/s  %5.1f ns/value  raw write %6.0f MB/s  time/raw %.2f\n",
           (double)bytes / 1e6, (double)values / write_seconds / 1e6, write_seconds / (double)values * 1e9,
           (double)bytes / raw_seconds / 1e6, write_seconds / raw_seconds);
    printf("binary, read    %6.0f MB  %7.2f M values/s  %5.1f ns/value (%.1f-%.1f)  %6.0f MB/s  raw read %6.0f MB/s  "
           "time/raw %.2f\n",
           (double)bytes / 1e6, (double)values / l / 1e6, l / (double)values * 1e9, log[0] / (double)values * 1e9,
           log[ROUNDS - 1] / (double)values * 1e9, (double)bytes / l / 1e6, (double)bytes / r / 1e6, l / r);
    printf("bytes/sample %.0f, of these values %.0f as Windows lays them out  peak memory %.1f MB, reading %.1f MB\n",
           bytes_per_sample, windows, after, after - before);
    must(file_delete(path), "delete");
    return 0;
}
