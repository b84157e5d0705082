/* SPDX-License-Identifier: MIT */
/* Serves remote DCOM clients under Wine, which has no remote activation. `openplasrv /dcom` (the front process)
   listens, checks logons, and decrypts; the service performs the calls. Two unnamed pipes connect the processes. The
   front process inherits the pipes, so no other program can impersonate it. */
#ifndef OPENPLA_DCOM_H
#define OPENPLA_DCOM_H

#include "com/server/dcom_settings.h"

#include <windows.h>

/* Bytes that were read from a pipe and not used yet. Initialise all members except `pipe` to zero. */
struct dcom_input {
    HANDLE pipe;
    size_t at, end;
    uint8_t bytes[4096];
};
/* Reads a message (com/server/dcom_link.h). False: the pipe has ended. The body is from memory_alloc; free it with
   dcom_message_free, because it can contain a password. */
struct link_header;
bool dcom_message_read(struct dcom_input *in, struct link_header *header, uint8_t **body);
void dcom_message_free(const struct link_header *header, uint8_t *body);
bool dcom_bytes_write(HANDLE pipe, const uint8_t *bytes, size_t size);

/* ---- the front process ---- */

/* The main program of `openplasrv /dcom READ WRITE SERVICE`. The arguments are the numbers of inherited handles: the
   handles of two pipes and of the service's process. Runs until the pipe or the service ends. Returns the exit code. */
int dcom_front_main(const WCHAR *read_handle, const WCHAR *write_handle, const WCHAR *service_handle);

/* ---- the service's side ---- */

/* The objects that remote clients use. */
struct dcom_host;
HRESULT dcom_host_open(const struct dcom_settings *settings, struct dcom_host **out);
/* Releases all objects. No front process may be connected; NULL is allowed. */
void dcom_host_close(struct dcom_host *h);
/* Replaces the accounts. Takes ownership of `accounts`. */
void dcom_host_set_accounts(struct dcom_host *h, struct dcom_accounts *accounts);
/* Performs the calls of a front process until the pipe ends. Closes neither handle. */
void dcom_host_serve(struct dcom_host *h, HANDLE read_handle, HANDLE write_handle);

/* For the service: keeps a front process running while the settings request one, and applies changes of the settings
   and accounts. No effect on Windows, which serves DCOM itself. */
void dcom_begin(void);
void dcom_end(void);
/* Whether the service is running, for programs that change the settings. */
bool dcom_service_is_running(void);

#endif
