/* SPDX-License-Identifier: MIT */
/* Private to engine/base: functions through which its portable files and its files in posix/ and win32/ call each
   other. */
#ifndef OPENPLA_BASE_PRIVATE_H
#define OPENPLA_BASE_PRIVATE_H

#include "engine/base/file.h"
#include "engine/base/os.h"
#include "engine/base/security.h"

/* ---- a file that is being stored (file_store_begin) ---- */

struct file_storing {
    struct file *file;
    char *folder, *temporary;
    char path[];
};

/* Creates the temporary file and opens it as this host OS requires for the rename. */
HRESULT file_storing_open(struct file_storing *s);
/* Renames the temporary file, which is already written and flushed, to `path`. Closes the temporary file if the host OS
   requires this. */
HRESULT file_storing_rename(struct file_storing *s);

/* ---- access checks without tokens (account_access.c) ---- */

/* Like access_allows, for an account that is described by its SIDs. */
HRESULT account_allows(const struct account_sids *account, const char *descriptor, const struct access_rights *kind,
                       uint32_t rights, bool *allowed);

/* ---- secrets and logons ---- */

const struct logon *logon_of_os(void);        /* NULL: the host OS has no accounts to log on */
HRESULT secret_is_too_long(const char *text); /* E_INVALIDARG if the string is too long, otherwise S_OK */
/* These functions create, read and delete a key's file, which only this account can open. S_FALSE: the file does not
   exist. The functions reject links, and also files and folders of other accounts. */
HRESULT secret_file_write(const char *key, const void *data, size_t size);
HRESULT secret_file_read(const char *key, size_t most, char **data, size_t *size);
HRESULT secret_file_delete(const char *key);

/* ---- the trace switch (debug_trace.c): reading and writing on the host OS ----
   None of these functions allocates memory or sets an error text. None of them uses clock.h or process.h, so that a
   small DLL can report errors without linking all of base. */

#define DEBUG_TRACE_NO_FILE ((intptr_t)-2) /* no file is open */
/* Writes the beginning of a line, "2026-01-31T10:20:30.123456Z 1234.5678" (time in UTC, process, thread), and returns
   its length. */
size_t debug_trace_head(char *text, size_t size);
uint32_t debug_trace_process(void);
/* Reads an environment variable in UTF-8. The result is "" if the variable is not set; on Windows, also if its value
   does not fit into `text`. */
void debug_trace_setting(const char *name, char *text, size_t size);
/* Opens the file for appending and creates it if it does not exist. Returns stderr for "" and for a file that cannot be
   opened. */
intptr_t debug_trace_open(const char *path);
void debug_trace_close(intptr_t file);
void debug_trace_write(intptr_t file, const char *line, size_t size);
/* These functions call GetLastError and SetLastError; no effect in the native build. */
uint32_t debug_trace_last_error(void);
void debug_trace_restore_last_error(uint32_t code);
/* Terminates this process immediately, without a message box or handlers. The native build raises SIGABRT. A debugger
   stops here. */
_Noreturn void debug_trace_end_process(uint32_t code);

#endif
