/* SPDX-License-Identifier: MIT */
/* Makes another process load openapitrace.dll. */
#ifndef OPENPLA_API_INJECT_H
#define OPENPLA_API_INJECT_H

#include "engine/base/error.h"
#include "engine/base/wintypes.h"

enum { API_ENTRY_KEPT = 16, API_THREAD_WAIT_MS = 10000 /* maximum time for a thread to load the DLL */ };

/* A process into which a stub was written. Unless `entry` is NULL, the process's entry point jumps to the stub. */
struct api_entry {
    HANDLE process;
    uint8_t *stub, *entry;
    uint8_t *done;            /* the flag that the stub sets; an address in the process */
    void *routine, *argument; /* start address and argument for a remote thread that loads the DLL */
    uint8_t kept[API_ENTRY_KEPT];
    DWORD protection; /* original protection of the entry point's page */
};

/* Returns `code` as an HRESULT, with the error text "cannot trace 'name': what (error code)". */
HRESULT api_inject_failed(const char *name, const char *what, DWORD code);
/* Writes the stub and makes the entry point of a suspended process writable. S_FALSE: the process is not ready yet. */
HRESULT api_entry_prepare(HANDLE process, const char *name, struct api_entry *e);
/* Makes the entry point jump to the stub. */
HRESULT api_entry_replace(const struct api_entry *e, const char *name);
/* Returns whether the process has run the stub, which loads the DLL. */
bool api_entry_is_done(const struct api_entry *e);
/* Restores the protection of the entry point's page. Call it if api_entry_replace will not be called. */
void api_entry_protect(const struct api_entry *e);
/* Writes the stub into a running process, for api_entry_thread. */
HRESULT api_attach_prepare(HANDLE process, const char *name, struct api_entry *e);
/* Creates a remote thread that loads the DLL. The thread's exit code is 0 if loading fails. */
HRESULT api_entry_thread(const struct api_entry *e, const char *name, HANDLE *thread);

#endif
