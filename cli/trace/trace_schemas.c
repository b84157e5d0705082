/* SPDX-License-Identifier: MIT */
#include "cli/trace/trace_schemas.h"

#include "cli/cli.h"

#include <stdio.h>

static void tell(void *context, const char *text)
{
    (void)context;
    fprintf(cli_messages(), "openpla: %s\n", text);
}

HRESULT cli_trace_schemas_open(struct trace_knowledge *known, struct trace_schemas *out)
{
    known->told = tell;
    return trace_schemas_open(known, out);
}
