/* SPDX-License-Identifier: MIT */
#include "cli/trace/trace_input.h"

#include <stdio.h>

void trace_inputs_progress(void *progress, uint64_t done, uint64_t total)
{
    cli_progress_show(progress, done, total);
}

int trace_inputs_remarks(const struct trace_inputs *in, const char *verb)
{
    int result = CLI_DONE;
    for (size_t i = 0; i < in->count; i++) {
        for (size_t k = 0; k < in->items[i].remarks.count; k++) {
            fprintf(cli_messages(), "openpla %s: %s: %s\n", verb, in->items[i].path, in->items[i].remarks.items[k]);
            result = CLI_REMARKS;
        }
    }
    return result;
}
