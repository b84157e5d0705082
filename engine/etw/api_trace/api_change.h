/* SPDX-License-Identifier: MIT */
/* Injects openapitrace.dll into one process, in steps. No function waits for the process to complete a step. */
#ifndef OPENPLA_API_CHANGE_H
#define OPENPLA_API_CHANGE_H

#include "engine/etw/api_trace/api_inject.h"

struct api_change;

enum api_change_state {
    API_CHANGE_PENDING,
    API_CHANGE_SILENT,   /* still pending, but the process has not answered for some seconds; returned once */
    API_CHANGE_ENTERED,  /* loaded at the entry point: no call is missed */
    API_CHANGE_LATE,     /* loaded by a remote thread, after the entry point: the first calls are missed */
    API_CHANGE_ATTACHED, /* loaded by a remote thread, in a process that was already running */
    API_CHANGE_FAILED,   /* the error text says why */
    API_CHANGE_ENDED,    /* the process has exited */
};

/* Begins to inject into the process. Takes ownership of the handle, even on failure. `attaches` is true if the process
   was running before the watcher. Returns NULL if out of memory, or if the process cannot be suspended because it has
   no thread yet or is exiting. */
struct api_change *api_change_begin(HANDLE process, const char *program, bool attaches);
/* Starts the next step if the current one is complete, and returns the state. For API_CHANGE_SILENT and
   API_CHANGE_FAILED, *reason is the failure, with an error text. The states from API_CHANGE_ENTERED on are final. */
enum api_change_state api_change_continue(struct api_change *c, HRESULT *reason);
/* Frees *c. Abandons an injection whose state is not final; the process then continues to run, with or without the
   DLL. */
void api_change_release(struct api_change *c);

#endif
