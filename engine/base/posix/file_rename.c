/* SPDX-License-Identifier: MIT */
/* Files that get other names, on POSIX systems. */
#include "engine/base/file.h"
#include "engine/base/file_operation.h"
#include "engine/base/posix/posix_call.h"

#include <stdio.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

HRESULT file_rename(const char *from, const char *to)
{
    HRESULT hr = file_operation(FILE_OPERATION_RENAME, to);
    if (FAILED(hr))
        return hr;
    return rename(from, to) ? posix_failed(errno, from) : S_OK;
}

/* A link is never put in the place of another name. S_FALSE: this file system makes none, or of folders none. */
static HRESULT by_link(int at, const char *from, const char *to, const char *path)
{
    if (linkat(at, from, at, to, 0))
        return errno == EEXIST ? posix_failed(EEXIST, path) : S_FALSE;
    HRESULT hr = file_operation(FILE_OPERATION_DELETE, path);
    if (SUCCEEDED(hr) && unlinkat(at, from, 0))
        hr = posix_failed(errno, path);
    if (FAILED(hr))
        (void)unlinkat(at, to, 0);
    return hr;
}

/* What has the name is our own, empty, when it is replaced; of folders no other is. */
static HRESULT by_name(int at, const char *from, const char *to, const char *path)
{
    struct stat st;
    HRESULT hr = fstatat(at, from, &st, AT_SYMLINK_NOFOLLOW) ? posix_failed(errno, path)
                                                             : file_operation(FILE_OPERATION_CREATE, path);
    if (FAILED(hr))
        return hr;
    const bool folder = S_ISDIR(st.st_mode);
    const int fd = folder ? mkdirat(at, to, 0700) : openat(at, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return posix_failed(errno, path);
    if (!folder)
        close(fd);
    hr = file_operation(FILE_OPERATION_RENAME, path);
    if (SUCCEEDED(hr) && renameat(at, from, at, to))
        hr = posix_failed(errno, path);
    if (FAILED(hr))
        (void)unlinkat(at, to, folder ? AT_REMOVEDIR : 0);
    return hr;
}

HRESULT posix_rename_new(int at, const char *from, const char *to, const char *path)
{
    HRESULT hr = file_operation(FILE_OPERATION_RENAME, path);
    if (FAILED(hr) || !renameat2(at, from, at, to, RENAME_NOREPLACE))
        return hr;
    if (errno != EINVAL && errno != ENOSYS) /* those of NFS and many FUSE file systems, and of an older kernel */
        return posix_failed(errno, path);
    hr = by_link(at, from, to, path);
    return hr == S_FALSE ? by_name(at, from, to, path) : hr;
}

HRESULT file_rename_new(const char *from, const char *to)
{
    return posix_rename_new(AT_FDCWD, from, to, to);
}
