/* SPDX-License-Identifier: MIT */
/* What `openpla trace show` has of an event: which are chosen, and their line. */
#ifndef OPENPLA_CLI_TRACE_SHOW_H
#define OPENPLA_CLI_TRACE_SHOW_H

#include "cli/trace/trace_process.h"

#include <stdio.h>

/* Which events are shown. Zero: all. */
struct trace_choice {
    struct texts providers; /* names with * and ?, or GUIDs */
    struct texts processes; /* ids, or names with * and ? */
    struct texts keywords;  /* numbers, of which a bit must be set, or names with * and ? */
    uint32_t worst;         /* levels up to this; 0: all */
    const char *text;       /* somewhere on the line, with * and ?; NULL: any */
};
/* All but the text. */
bool trace_choice_takes(const struct trace_choice *c, const struct dumped_event *e, const char *process);

/* Adds one line without its end. *decoded: it was known, and its data fit. E_OUTOFMEMORY. */
HRESULT trace_line(const struct dumped_event *e, const char *process, struct text_buffer *line, bool *decoded);
/* The same as a JSON object. */
HRESULT trace_json(const struct dumped_event *e, const char *process, FILE *out, bool *decoded);

#endif
