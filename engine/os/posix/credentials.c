/* SPDX-License-Identifier: MIT */
/* Secrets natively: files that their owner alone can open, in a folder of the same kind. */
#include "engine/os/credentials_host.h"
#include "engine/os/memory.h"
#include "engine/os/posix/posix_call.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MOST (SECRET_MOST * 3 + 1) /* bytes of UTF-8 */

const struct logon *logon_of_host(void)
{
    return NULL;
}

/* One that is there already must be this account's and nobody else's to enter. */
static HRESULT make_folder(const char *folder)
{
    struct stat st;
    char *parent = path_folder(folder);
    HRESULT hr = parent ? folder_create_protected(parent, PROTECTION_DATA) : E_OUTOFMEMORY;
    memory_free(parent);
    if (FAILED(hr))
        return hr;
    if (mkdir(folder, 0700) && errno != EEXIST)
        return posix_failed(errno, folder);
    if (lstat(folder, &st))
        return posix_failed(errno, folder);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
        return error_set(E_ACCESSDENIED, "\"%s\": it is no folder of this account's alone, and no password goes there",
                         folder);
    return S_OK;
}

static HRESULT write_all(int fd, const char *path, const char *text)
{
    size_t size = strlen(text);
    while (size) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return posix_failed(n ? errno : ENOSPC, path);
        text += n;
        size -= (size_t)n;
    }
    return fsync(fd) ? posix_failed(errno, path) : S_OK;
}

HRESULT secret_store(const char *key, const char *text)
{
    char *folder = secret_folder(), *path = secret_path(key);
    HRESULT hr = folder && path ? secret_is_too_long(text) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !secret_key_is_one(key))
        hr = E_INVALIDARG;
    if (SUCCEEDED(hr))
        hr = make_folder(folder);
    if (SUCCEEDED(hr)) {
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        hr = fd < 0 ? posix_failed(errno, folder) : write_all(fd, folder, text);
        if (fd >= 0)
            close(fd);
        if (fd >= 0 && FAILED(hr))
            unlink(path);
    }
    memory_free(path);
    memory_free(folder);
    return hr;
}

static HRESULT read_all(int fd, const char *folder, char **text)
{
    char *room = memory_zero(1, FILE_MOST + 1);
    size_t size = 0;
    ssize_t n = 1;
    if (!room)
        return E_OUTOFMEMORY;
    while (size < FILE_MOST && (n = read(fd, room + size, FILE_MOST - size)) != 0) {
        if (n < 0 && errno != EINTR)
            break;
        size += n > 0 ? (size_t)n : 0;
    }
    HRESULT hr = n < 0 ? posix_failed(errno, folder) : S_OK;
    if (SUCCEEDED(hr) && (strlen(room) != size || !text_is_utf8(room, size)))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "\"%s\": a file in it is no secret", folder);
    if (SUCCEEDED(hr)) {
        *text = text_copy(room);
        hr = *text ? S_OK : E_OUTOFMEMORY;
    }
    memory_wipe(room, size);
    memory_free(room);
    return hr;
}

HRESULT secret_load(const char *key, char **text)
{
    *text = NULL;
    if (!secret_key_is_one(key))
        return S_FALSE;
    char *folder = secret_folder(), *path = secret_path(key);
    HRESULT hr = folder && path ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        hr = fd >= 0 ? read_all(fd, folder, text) : errno == ENOENT ? S_FALSE : posix_failed(errno, folder);
        if (fd >= 0)
            close(fd);
    }
    memory_free(path);
    memory_free(folder);
    return hr;
}

HRESULT secret_delete(const char *key)
{
    if (!secret_key_is_one(key))
        return S_FALSE;
    char *path = secret_path(key);
    HRESULT hr = !path ? E_OUTOFMEMORY : !unlink(path) ? S_OK : errno == ENOENT ? S_FALSE : posix_failed(errno, path);
    memory_free(path);
    return hr;
}
