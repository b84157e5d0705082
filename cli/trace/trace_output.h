/* SPDX-License-Identifier: MIT */
/* A file that is written as a stream and takes its name when it is whole. */
#ifndef OPENPLA_CLI_TRACE_OUTPUT_H
#define OPENPLA_CLI_TRACE_OUTPUT_H

#include "cli/output.h"
#include "cli/trace/trace_input.h"

/* Zero-initialise. */
struct trace_output {
    struct output output;
    struct file *file;
};
/* What is there is asked about, unless `yes`: ERROR_ALREADY_EXISTS' HRESULT. A trace that is read is E_INVALIDARG. */
HRESULT trace_output_open(struct trace_output *o, const char *path, bool yes, const struct trace_inputs *in);
/* event_dump_options' write, with the output as context. */
HRESULT trace_output_write(void *output, const void *bytes, size_t size);
HRESULT trace_output_write_at(void *output, uint64_t offset, const void *bytes, size_t size);
/* Takes the name. */
HRESULT trace_output_finish(struct trace_output *o);
/* Nothing is left of what is not finished. */
void trace_output_close(struct trace_output *o);

#endif
