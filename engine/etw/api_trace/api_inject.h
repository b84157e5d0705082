/* SPDX-License-Identifier: MIT */
/* Lets another process load openapitrace.dll. */
#ifndef OPENPLA_API_INJECT_H
#define OPENPLA_API_INJECT_H

#include "engine/base/error.h"
#include "engine/base/wintypes.h"

enum { API_ENTRY_KEPT = 16, API_THREAD_WAIT_MS = 10000 /* until a thread has loaded the DLL */ };

/* A process whose entry point leads to a stub. */
struct api_entry {
    HANDLE process;
    uint8_t *stub, *entry;
    uint8_t *done;            /* in the process: set by the stub */
    void *routine, *argument; /* of a thread that loads the DLL instead */
    uint8_t kept[API_ENTRY_KEPT];
    DWORD protection; /* of the entry point's page before */
    bool protects;    /* the stub restores it */
};

/* "cannot trace 'name': what (error code)". */
HRESULT api_inject_failed(const char *name, const char *what, DWORD code);
/* Writes the stub and makes the entry point of a suspended process writable. S_FALSE: the process is not ready yet. */
HRESULT api_entry_prepare(HANDLE process, const char *name, struct api_entry *e);
/* Lets the entry point lead to the stub. */
HRESULT api_entry_replace(const struct api_entry *e, const char *name);
/* Whether the process has loaded the DLL at its entry point. */
bool api_entry_is_done(const struct api_entry *e);
/* Restores the protection of the entry point's page. */
void api_entry_protect(const struct api_entry *e);
/* Puts the program's own bytes back to its entry point. */
void api_entry_restore(const struct api_entry *e);
/* Writes what a thread of a running process needs to load the DLL. */
HRESULT api_attach_prepare(HANDLE process, const char *name, struct api_entry *e);
/* Creates a thread that loads the DLL. Its exit code is 0 if that fails. */
HRESULT api_entry_thread(const struct api_entry *e, const char *name, HANDLE *thread);

#endif
