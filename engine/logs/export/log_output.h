/* SPDX-License-Identifier: MIT */
/* What the writers of formats for other programs share: a buffered file, and the names of columns. */
#ifndef OPENPLA_LOG_OUTPUT_H
#define OPENPLA_LOG_OUTPUT_H

#include "engine/logs/core/log_formats.h"

/* Zero-initialise. */
struct log_output {
    struct file *file;
    uint64_t size;              /* in the file */
    struct text_buffer pending; /* what follows it; may contain NULs */
};

/* Creates the file. Refuses wildcard counters and appending. After a failure no new file remains. */
HRESULT log_output_create(struct log_output *f, const struct log_format_traits *format, const char *path,
                          const struct log_counter *counters, size_t count, const struct log_options *options);
/* Writes what is pending if it is much, or with `all` in any case. After a failure the file ends as before and all of
   it stays pending. */
HRESULT log_output_write(struct log_output *f, bool all);
uint64_t log_output_size(const struct log_output *f); /* with what is pending */
/* Writes what is pending unless `hr` is a failure, closes the file and returns the first failure. */
HRESULT log_output_close(struct log_output *f, HRESULT hr);

/* The paths of the counters, in their order. Readers expect columns of different names, so the second of two equal
   paths ends in " (2)". */
HRESULT log_output_names(const struct log_counter *counters, size_t count, struct texts *names);

#endif
