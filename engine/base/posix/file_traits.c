/* SPDX-License-Identifier: MIT */
/* Times, mode and identity of files on POSIX systems. */
#include "engine/base/file_traits.h"

#include "engine/base/memory.h"
#include "engine/base/posix/open_file.h"
#include "engine/base/posix/posix_call.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static HRESULT check_kind(int fd, const char *path)
{
    struct stat st;
    if (fstat(fd, &st))
        return posix_failed(errno, path);
    if (S_ISDIR(st.st_mode))
        return error_set(HRESULT_FROM_WIN32(ERROR_DIRECTORY), "\"%s\": is a folder", path);
    return S_ISREG(st.st_mode)
               ? S_OK
               : error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "\"%s\": is no file but a device or a pipe", path);
}

HRESULT file_open_source(const char *path, struct file **out)
{
    struct file *f = file_reserve(path);
    *out = NULL;
    if (!f)
        return E_OUTOFMEMORY;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    HRESULT hr = fd < 0 ? posix_failed(errno, path) : check_kind(fd, path);
    if (SUCCEEDED(hr))
        return file_take(f, fd, FILE_READ, out);
    if (fd >= 0)
        close(fd);
    memory_free(f);
    return hr;
}

static int64_t time_of(struct timespec t)
{
    return posix_filetime(t.tv_sec, t.tv_nsec);
}

HRESULT file_traits_of(struct file *f, struct file_traits *out)
{
    struct stat st;
    if (fstat(file_descriptor(f), &st))
        return posix_failed(errno, file_path(f));
    *out = (struct file_traits){.size = (uint64_t)st.st_size,
                                .accessed = time_of(st.st_atim),
                                .written = time_of(st.st_mtim),
                                .attributes = (st.st_mode & 0222 ? 0 : FILE_TRAIT_READ_ONLY) |
                                              (*path_name(file_path(f)) == '.' ? FILE_TRAIT_HIDDEN : 0)};
    return S_OK;
}

static struct timespec timespec_of(int64_t filetime)
{
    const int64_t ticks = filetime - EPOCH_1970, second = 10000000;
    const int64_t whole = ticks >= 0 ? ticks / second : -((second - 1 - ticks) / second);
    if (!filetime)
        return (struct timespec){.tv_nsec = UTIME_OMIT};
    return (struct timespec){.tv_sec = (time_t)whole, .tv_nsec = (long)(ticks - whole * second) * 100};
}

HRESULT file_put_traits(struct file *f, const struct file_traits *traits)
{
    const int fd = file_descriptor(f);
    const struct timespec times[] = {timespec_of(traits->accessed), timespec_of(traits->written)};
    struct stat st;
    if (futimens(fd, times) || fstat(fd, &st))
        return posix_failed(errno, file_path(f));
    if ((traits->attributes & FILE_TRAIT_READ_ONLY) && fchmod(fd, st.st_mode & 0555))
        return posix_failed(errno, file_path(f));
    return S_OK;
}

HRESULT folder_identify(const char *path, struct folder_identity *out)
{
    struct stat st;
    if (stat(path, &st))
        return posix_failed(errno, path);
    if (!S_ISDIR(st.st_mode))
        return error_set(HRESULT_FROM_WIN32(ERROR_DIRECTORY), "\"%s\": is no folder", path);
    *out = (struct folder_identity){.volume = (uint64_t)st.st_dev, .number = (uint64_t)st.st_ino};
    return S_OK;
}
