/* SPDX-License-Identifier: MIT */
/* Logs and traces that benches write for themselves. Each ends the bench where it fails. */
#ifndef OPENPLA_BENCH_MADE_FILES_H
#define OPENPLA_BENCH_MADE_FILES_H

#include <stddef.h>
#include <stdint.h>

/* A binary log of so many bytes, of single counters and one wildcard counter of so many instances: gives its samples.
 *seconds: processor time that it took. */
uint64_t made_log(const char *path, uint64_t bytes, size_t singles, size_t instances, double *bytes_per_sample,
                  double *seconds);
/* Writes a trace of that size of TraceLogging events with five fields, with the writer of the relogger; returns their
   number. */
uint64_t made_trace(const char *path, uint64_t bytes);
/* Reads all of a file: the processor time that takes, and *bytes that it has. */
double read_raw(const char *path, uint64_t *bytes);

#endif
