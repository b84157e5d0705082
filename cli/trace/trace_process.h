/* SPDX-License-Identifier: MIT */
/* The names of processes that a trace tells of, by their ids. */
#ifndef OPENPLA_CLI_TRACE_PROCESS_H
#define OPENPLA_CLI_TRACE_PROCESS_H

#include "engine/etw/event_dump.h"

enum { TRACE_PROCESSES = 8192 }; /* of which names are kept; another one of the same place takes it */
/* Zero-initialise. */
struct trace_processes {
    struct {
        uint32_t id;
        char *name;
    } kept[TRACE_PROCESSES];
    bool live; /* also those that run on this computer now */
};
/* Notes the name, if the event is the start of a process. E_OUTOFMEMORY. */
HRESULT trace_processes_note(struct trace_processes *p, const struct dumped_event *e);
/* NULL: it was not told. Borrowed until the next call. */
const char *trace_process_name(struct trace_processes *p, uint32_t id);
/* What stands behind the last separator of either kind. */
const char *trace_process_base_name(const char *path);
void trace_processes_free(struct trace_processes *p);

#endif
