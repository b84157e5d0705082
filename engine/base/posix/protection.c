/* SPDX-License-Identifier: MIT */
/* Owners and protection of files on POSIX systems: modes that give the owner all rights and others none. */
#include "engine/base/file.h"
#include "engine/base/posix/posix_call.h"

#include <stdio.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

HRESULT file_ownership(const char *path, struct ownership *out)
{
    struct stat st;
    *out = (struct ownership){.is_folder = false};
    if (lstat(path, &st))
        return errno == ENOENT || errno == ENOTDIR ? S_FALSE : posix_failed(errno, path);
    out->is_folder = S_ISDIR(st.st_mode);
    out->is_link = S_ISLNK(st.st_mode);
    out->is_foreign = st.st_uid != geteuid() && st.st_uid != 0;
    out->is_open = !out->is_link && (st.st_mode & 077);
    snprintf(out->owner, sizeof out->owner, "%lu", (unsigned long)st.st_uid);
    return S_OK;
}

HRESULT file_protect(const char *path, enum protection what)
{
    struct ownership o;
    HRESULT hr = file_ownership(path, &o);
    if (hr == S_FALSE)
        return posix_failed(ENOENT, path);
    if (FAILED(hr) || o.is_link || what == PROTECTION_NONE)
        return hr;
    return chmod(path, o.is_folder ? 0700 : 0600) ? posix_failed(errno, path) : S_OK;
}

HRESULT folder_create_one(const char *path, enum protection what)
{
    HRESULT hr = file_operation(FILE_OPERATION_CREATE_FOLDER, path);
    if (FAILED(hr))
        return hr;
    return mkdir(path, what == PROTECTION_NONE ? 0777 : 0700) ? posix_failed(errno, path) : S_OK;
}

HRESULT file_check_owner(struct file *f)
{
    struct stat st;
    if (fstat(file_descriptor(f), &st))
        return posix_failed(errno, file_path(f));
    if (st.st_uid == 0 || st.st_uid == geteuid())
        return S_OK;
    return error_set(E_ACCESSDENIED, "cannot use '%s': it belongs to the account %u", file_path(f),
                     (unsigned)st.st_uid);
}

HRESULT file_grant(const char *path, const char *sid, enum file_grant what)
{
    (void)path, (void)sid, (void)what;
    return S_FALSE;
}
