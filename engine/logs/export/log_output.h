/* SPDX-License-Identifier: MIT */
/* Functions that the writers of export formats share: a buffered output file, and column names. */
#ifndef OPENPLA_LOG_OUTPUT_H
#define OPENPLA_LOG_OUTPUT_H

#include "engine/logs/core/log_formats.h"

/* A buffered output file. Zero-initialise. */
struct log_output {
    struct file *file;
    uint64_t size;              /* bytes in the file */
    struct text_buffer pending; /* data that follow the bytes in the file and are not written yet; can contain NULs */
};

/* Creates the file. Returns an error for wildcard counters and for appending. No new file remains after a failure. */
HRESULT log_output_create(struct log_output *f, const struct log_format_traits *format, const char *path,
                          const struct log_counter *counters, size_t count, const struct log_options *options);
/* Writes the pending data if there is enough of it or `all` is set. After a failure, the file has its previous size and
   all data stay pending. */
HRESULT log_output_write(struct log_output *f, bool all);
uint64_t log_output_size(const struct log_output *f); /* including the pending data */
/* Writes the pending data unless `hr` is a failure, closes the file, and returns the first failure. */
HRESULT log_output_close(struct log_output *f, HRESULT hr);

/* Returns the paths of the counters, in the order of the counters. Readers expect that column names are unique, so the
   second of two equal paths gets the suffix " (2)". */
HRESULT log_output_names(const struct log_counter *counters, size_t count, struct texts *names);

#endif
