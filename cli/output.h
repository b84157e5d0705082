/* SPDX-License-Identifier: MIT */
/* A file that a verb writes: its name has the old file, or none, until the new one is whole. Whatever ends the program
   leaves no part of a file under the name; where the program can still tidy up, as after Ctrl+C and SIGTERM, it leaves
   nothing at all. A log of typeperf is written under its final name, because others read it while it grows (DECISIONS
   131). */
#ifndef OPENPLA_CLI_OUTPUT_H
#define OPENPLA_CLI_OUTPUT_H

#include "engine/base/text.h"

/* Zero-initialise. */
struct output {
    const char *path; /* borrowed */
    char *partial;    /* written until it is whole; NULL: the path itself, of a device, a pipe or a link */
};
enum output_over {
    OUTPUT_ASK,      /* what has the name is replaced if the user says so */
    OUTPUT_REPLACE,  /* unasked */
    OUTPUT_CONTINUE, /* it is continued: what is written to begins as a copy of it */
};
/* Before output_begin, of each file that is read while the output is written. E_INVALIDARG: `input` is the output
   itself, or the file that output_begin would replace as a killed program's. */
HRESULT output_check_input(const char *path, const char *input);
/* Makes the file that is written to. ERROR_ALREADY_EXISTS' HRESULT: a folder, or the user has refused. */
HRESULT output_begin(struct output *o, const char *path, enum output_over over);
/* Where to write to. */
const char *output_path(const struct output *o);
/* A failure while output_path is written, told of the file that the user named. */
HRESULT output_failed(const struct output *o, HRESULT hr);
/* Takes the name, in place of what has it. The file is closed by now. */
HRESULT output_finish(struct output *o);
/* Deletes what is not finished. */
void output_close(struct output *o);

#endif
