/* SPDX-License-Identifier: MIT */
/* Logs and traces that benchmarks write for themselves. Each function ends the benchmark if it fails. */
#ifndef OPENPLA_BENCH_GENERATED_FILES_H
#define OPENPLA_BENCH_GENERATED_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Writes a binary log of `bytes` bytes with `singles` single counters and a wildcard counter of `instances` instances.
   Returns the number of samples. *seconds: the processor time of the writing. */
uint64_t generate_log(const char *path, uint64_t bytes, size_t singles, size_t instances, double *bytes_per_sample,
                      double *seconds);
/* Writes a trace of `bytes` bytes of TraceLogging events with five fields, with the writer of the relogger. Returns the
   number of events. */
uint64_t generate_trace(const char *path, uint64_t bytes);
/* Reads the whole file; returns the processor time, and its size in *bytes. */
double read_raw(const char *path, uint64_t *bytes);

#endif
