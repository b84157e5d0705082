/* SPDX-License-Identifier: MIT */
/* Shared by the Windows files: results from system codes, paths, security descriptors, accounts, handles. */
#ifndef OPENPLA_WIN32_CALL_H
#define OPENPLA_WIN32_CALL_H

#include "engine/base/file.h"
#include "engine/base/process.h"
#include "engine/base/security.h"
#include "engine/base/text.h"

#include <windows.h>

/* HRESULT_FROM_WIN32(code) with an error text that names `what`. */
HRESULT win32_report(DWORD code, const char *what);
/* For a failed call: never returns success, regardless of the system's code. */
static inline HRESULT win32_failed(DWORD code, const char *what)
{
    HRESULT hr = win32_report(code, what);
    return FAILED(hr) ? hr : E_FAIL;
}
/* The path in UTF-16, made absolute, with the prefix \\?\ if it exceeds the classic limit of 260. From memory_alloc. */
HRESULT win32_path(const char *path, WCHAR **out);

/* ---- security descriptors ---- */

/* E_INVALIDARG, naming the text, if it is not SDDL. *out from LocalAlloc. */
HRESULT win32_descriptor(const char *sddl, PSECURITY_DESCRIPTOR *out);
/* The security of an object that is created. E_INVALIDARG also for a descriptor without a DACL, which would grant
   everyone all access. sddl NULL: without a descriptor, so that the object has the creator's default. Free the
   descriptor with LocalFree. */
HRESULT win32_security(const char *sddl, SECURITY_ATTRIBUTES *out);
/* Whether the descriptor grants all of the rights to the token, which is an impersonation token. */
HRESULT win32_access_check(PSECURITY_DESCRIPTOR descriptor, HANDLE token, DWORD rights, const GENERIC_MAPPING *mapping,
                           bool *allowed);

/* ---- the account of a token ---- */

struct account_name {
    WCHAR domain[256];
    WCHAR user[257]; /* without a domain: the string of a SID without a name */
};
/* False if it is unknown. The token must be open for TOKEN_QUERY. */
bool win32_account(HANDLE token, struct account_name *out);
/* DOMAIN\user. From memory_alloc; NULL: out of memory. */
char *win32_account_text(const struct account_name *name);

/* ---- processes ---- */

/* For waits together with a signal; borrowed. */
HANDLE process_handle(const struct process *p);
/* The number of threads of this process that have not ended, from the system's list of processes, which is slow. 0:
   unknown. */
uint32_t process_own_threads(void);

/* ---- files from handles that file_open did not open ---- */

/* CreateFile for a file of that mode, shared as file_open shares it. `more`: flags of CreateFile;
   FILE_FLAG_WRITE_THROUGH also requests the right to rename. A newly created file gets the protection.
   INVALID_HANDLE_VALUE on failure. */
HRESULT file_create_handle(const char *path, enum file_mode mode, DWORD disposition, DWORD more, enum protection what,
                           HANDLE *out);
/* Allocates a file object before the file itself is created, so that no file is left behind on failure. NULL: out of
   memory. */
struct file *file_reserve(const char *path);
/* Turns it and the handle into an open file. */
struct file *file_take(struct file *f, HANDLE handle);
/* The handle of an open file, borrowed. */
HANDLE file_handle(const struct file *f);
const char *file_path(const struct file *f);
/* The location of an open file with all links resolved; from memory_alloc. `path` is for error texts. A volume without
   a drive letter has only its device's name. */
HRESULT file_final_path(HANDLE handle, const char *path, WCHAR **out);

/* ---- the files of this Wine prefix's lasting sections (lasting_file.c) ----
   Under Wine, no other memory survives its last process. */

/* Maps the file that `what` names, with at least `size` bytes. Errors are those of section_open. *of is the file, and
 *number is unique among files as long as the mapping exists. */
HRESULT lasting_mapping(const struct shared *what, uint64_t size, HANDLE *out, HANDLE *of, uint64_t *number);
/* The number of the file that currently has the name. S_FALSE: no file has it. */
HRESULT lasting_number(const char *name, uint64_t *file);

#endif
