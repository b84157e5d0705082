/* SPDX-License-Identifier: MIT */
/* The injection of openapitrace.dll into one process, in steps of which none is waited for. */
#ifndef OPENPLA_API_CHANGE_H
#define OPENPLA_API_CHANGE_H

#include "engine/etw/api_trace/api_inject.h"

struct api_change;

enum api_change_state {
    API_CHANGE_PENDING,
    API_CHANGE_SILENT,   /* as PENDING, but the process has not answered for some seconds; reported once */
    API_CHANGE_ENTERED,  /* at the entry point: nothing is missing */
    API_CHANGE_LATE,     /* by a thread, after the entry point */
    API_CHANGE_ATTACHED, /* by a thread, into a process that ran already */
    API_CHANGE_FAILED,   /* the error text says why */
    API_CHANGE_ENDED,    /* the process has exited */
};

/* Begins to change the process, whose handle it takes over, also on failure; `created` is the process's start, FILETIME
   UTC. `attaches`: it ran before the watcher. NULL: out of memory, or the process exits. */
struct api_change *api_change_begin(HANDLE process, const char *program, int64_t created, bool attaches);
/* Does what has become possible. *reason is the failure of API_CHANGE_SILENT and API_CHANGE_FAILED, with an error text.
   The states from API_CHANGE_ENTERED on are final. */
enum api_change_state api_change_continue(struct api_change *c, HRESULT *reason);
/* A change that is not final stops: the process then runs on, with the DLL or without it. */
void api_change_release(struct api_change *c);

#endif
