/* SPDX-License-Identifier: MIT */
/* bench_report FOLDER [LOG_MEGABYTES [TRACE_MEGABYTES [COUNTERS [INSTANCES]]]]: creates a report of a binary log of
   LOG_MEGABYTES (1000) and of a trace of TRACE_MEGABYTES (1000). The log has COUNTERS (20) single counters and one
   counter with INSTANCES (200) instances. The report uses the general schema, which counts events by provider and
   process. In each of three rounds it also only reads both files. Prints megabytes per second of wall time and of
   processor time, the ratio to reading the same files, and the process's peak memory. Two threads read, one for each
   file. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/report/report.h"
#include "engine/report/report_schema.h"
#include "tests/bench/generated_files.h"
#include "tests/bench/measured.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 3, MEGABYTE = 1 << 20 };

int main(int argc, char **argv)
{
    char log[1024], trace[1024], output[1024];
    const uint64_t log_size = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    const uint64_t trace_size = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000;
    const size_t singles = argc > 4 ? (size_t)strtoull(argv[4], NULL, 10) : 20;
    const size_t instances = argc > 5 ? (size_t)strtoull(argv[5], NULL, 10) : 200;
    double bytes_per_sample, seconds;
    if (argc < 2 || singles + instances == 0 || log_size + trace_size == 0) {
        fprintf(stderr, "usage: bench_report FOLDER [LOG_MEGABYTES [TRACE_MEGABYTES [COUNTERS [INSTANCES]]]]\n");
        return 2;
    }
    snprintf(log, sizeof log, "%s/bench_report.blg", argv[1]);
    snprintf(trace, sizeof trace, "%s/bench_report.etl", argv[1]);
    snprintf(output, sizeof output, "%s/bench_report.tmp", argv[1]);
    (void)file_delete(trace);
    struct texts inputs = {0};
    if (log_size) {
        (void)generate_log(log, log_size * MEGABYTE, singles, instances, &bytes_per_sample, &seconds);
        must(texts_add(&inputs, log), "input");
    }
    if (trace_size) {
        (void)generate_trace(trace, trace_size * MEGABYTE);
        must(texts_add(&inputs, trace), "input");
    }
    struct report_schema schema = {0};
    must(report_schema_add_file(&schema, SCHEMA_GENERAL, schema_file_load), "schema");
    report_schema_order(&schema);
    for (int i = 0; i < ROUNDS; i++) {
        struct texts warnings = {0};
        uint64_t bytes = 0, all = 0;
        double raw = 0;
        for (size_t k = 0; k < inputs.count; k++, all += bytes)
            raw += read_raw(inputs.items[k], &bytes);
        const struct report_make make = {.inputs = &inputs, .schema = &schema, .output = output};
        const double begin = processor_seconds();
        const uint64_t since = clock_monotonic_ms();
        must(report_make(&make, &warnings), "report");
        const double passed = (double)(clock_monotonic_ms() - since) / 1000, spent = processor_seconds() - begin;
        printf("%6.0f MB  %6.0f MB/s  %6.0f MB/s of the processor  raw read %6.0f MB/s  time/raw %.1f  peak memory "
               "%.1f MB\n",
               (double)all / 1e6, (double)all / passed / 1e6, (double)all / spent / 1e6, (double)all / raw / 1e6,
               spent / raw, peak_megabytes());
        texts_free(&warnings);
    }
    report_schema_free(&schema);
    texts_free(&inputs);
    (void)file_delete(log);
    (void)file_delete(trace);
    must(file_delete(output), "delete");
    return 0;
}
