/* SPDX-License-Identifier: MIT */
/* Sessions that run, read until they end or somebody asks to end. */
#ifndef OPENPLA_CLI_TRACE_SESSION_H
#define OPENPLA_CLI_TRACE_SESSION_H

#include "cli/trace/trace_input.h"

/* Gives the events of the sessions as they come, one at a time, until all of them have ended, Ctrl+C, or `take` ends
   it. `raw`: times are stamps of the session's clock. `after` (may be NULL) is called now and then, when nothing else
   is, for what must not wait for the next event; its failure ends the reading too. Errors: those of `take`;
   ERROR_WMI_INSTANCE_NOT_FOUND's HRESULT with a text: no such session, or it is not in real time. */
HRESULT trace_sessions_read(const struct texts *names, bool raw, trace_take *take, HRESULT (*after)(void *context),
                            void *context);

#endif
