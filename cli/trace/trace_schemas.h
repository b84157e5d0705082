/* SPDX-License-Identifier: MIT */
/* What the verbs over traces know of events. */
#ifndef OPENPLA_CLI_TRACE_SCHEMAS_H
#define OPENPLA_CLI_TRACE_SCHEMAS_H

#include "cli/trace/trace_input.h"
#include "engine/etw/trace_input.h"

/* trace_schemas_open; what cannot be used is told on stderr. */
HRESULT cli_trace_schemas_open(struct trace_knowledge *known, struct trace_schemas *out);

#endif
