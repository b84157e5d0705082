/* SPDX-License-Identifier: MIT */
/* Functions that the Windows files share. They convert system codes to results, and handle paths, security descriptors,
   accounts and handles. */
#ifndef OPENPLA_WIN32_CALL_H
#define OPENPLA_WIN32_CALL_H

#include "engine/base/file.h"
#include "engine/base/process.h"
#include "engine/base/security.h"
#include "engine/base/text.h"

#include <windows.h>

/* Returns HRESULT_FROM_WIN32(code) with an error text that names `what`. */
HRESULT win32_report(DWORD code, const char *what);
/* Like win32_report, for a failed call: never returns success, regardless of the system's code. */
static inline HRESULT win32_failed(DWORD code, const char *what)
{
    HRESULT hr = win32_report(code, what);
    return FAILED(hr) ? hr : E_FAIL;
}
/* Makes the path absolute, and converts it to UTF-16. A path that exceeds the classic limit of 260 gets the prefix
   \\?\. *out is from memory_alloc. */
HRESULT win32_path(const char *path, WCHAR **out);

/* ---- security descriptors ---- */

/* Converts SDDL to a descriptor from LocalAlloc. Fails with E_INVALIDARG if the string is not SDDL; the error text
   names the string. */
HRESULT win32_descriptor(const char *sddl, PSECURITY_DESCRIPTOR *out);
/* Fills the security attributes for an object that will be created. Fails with E_INVALIDARG if the string is not SDDL,
   or if the descriptor has no DACL, because such a descriptor would grant everyone all access. If `sddl` is NULL, the
   object gets the creator's default descriptor. Free the descriptor with LocalFree. */
HRESULT win32_security(const char *sddl, SECURITY_ATTRIBUTES *out);
/* Whether the descriptor grants all of the rights to the token, which is an impersonation token. */
HRESULT win32_access_check(PSECURITY_DESCRIPTOR descriptor, HANDLE token, DWORD rights, const GENERIC_MAPPING *mapping,
                           bool *allowed);

/* ---- the account of a token ---- */

struct account_name {
    WCHAR domain[256];
    WCHAR user[257]; /* the SID's string, without a domain, if the account has no name */
};
/* Finds the account of a token, which must be open for TOKEN_QUERY. False if the account is unknown. */
bool win32_account(HANDLE token, struct account_name *out);
/* Returns DOMAIN\user, from memory_alloc; NULL: out of memory. */
char *win32_account_text(const struct account_name *name);

/* ---- processes ---- */

/* Returns the process's handle, for waits together with a signal; borrowed. */
HANDLE process_handle(const struct process *p);
/* Returns the number of threads of this process that have not ended. The function reads the system's list of processes,
   which is slow. 0: unknown. */
uint32_t process_own_threads(void);

/* ---- files from handles that file_open did not open ---- */

/* Like CreateFile, with the access rights for `mode` and the sharing of file_open. `more`: flags of CreateFile;
   FILE_FLAG_WRITE_THROUGH also requests the right to rename. A newly created file gets the protection.
   INVALID_HANDLE_VALUE on failure. */
HRESULT file_create_handle(const char *path, enum file_mode mode, DWORD disposition, DWORD more, enum protection what,
                           HANDLE *out);
/* Allocates a file object before the file itself is created, so that no file is left behind on failure. NULL: out of
   memory. */
struct file *file_reserve(const char *path);
/* Makes an open file from a reserved object and a handle. */
struct file *file_take(struct file *f, HANDLE handle);
/* Returns the handle of an open file, borrowed. */
HANDLE file_handle(const struct file *f);
const char *file_path(const struct file *f);
/* Returns the location of an open file with all links resolved, from memory_alloc. `path` is for error texts. On a
   volume without a drive letter, the location begins with the device's name. */
HRESULT file_final_path(HANDLE handle, const char *path, WCHAR **out);

/* ---- the files of this Wine prefix's lasting sections (lasting_file.c) ----
   Under Wine, other named memory disappears with the last process that uses it. */

/* Maps the file that `what` names, with at least `size` bytes. Fails like section_open. *of is the file, and *number is
   unique among files as long as the mapping exists. */
HRESULT lasting_mapping(const struct shared *what, uint64_t size, HANDLE *out, HANDLE *of, uint64_t *number);
/* Returns the number of the file that currently has the name. S_FALSE: no file has the name. */
HRESULT lasting_number(const char *name, uint64_t *file);

#endif
