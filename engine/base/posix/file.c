/* SPDX-License-Identifier: MIT */
/* Open files, whole files and lock files on POSIX systems. Writers hold flock, so that two never write one file. */
#include "engine/base/file.h"

#include "engine/base/clock.h"
#include "engine/base/file_operation.h"
#include "engine/base/file_storing.h"
#include "engine/base/memory.h"
#include "engine/base/posix/open_file.h"
#include "engine/base/posix/posix_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    int fd;
    uint64_t end; /* where file_write goes on */
    char path[];
};

/* Makes this the only writer; what is cut is nobody else's then. */
static int claim(int fd, bool cut)
{
    int error = posix_flock(fd, LOCK_EX);
    return !error && cut && ftruncate(fd, 0) ? errno : error;
}

const int file_mode_flags[] = {
    [FILE_READ] = O_RDONLY,
    [FILE_CREATE_NEW] = O_RDWR | O_CREAT | O_EXCL,
    [FILE_REPLACE] = O_RDWR | O_CREAT,
    [FILE_APPEND] = O_RDWR | O_CREAT,
};

int file_descriptor(const struct file *f)
{
    return f->fd;
}

const char *file_path(const struct file *f)
{
    return f->path;
}

struct file *file_reserve(const char *path)
{
    size_t length = strlen(path);
    struct file *f = memory_alloc(sizeof(*f) + length + 1);
    if (!f)
        return NULL;
    memcpy(f->path, path, length + 1);
    f->fd = -1;
    return f;
}

HRESULT file_take(struct file *f, int fd, enum file_mode mode, struct file **out)
{
    struct stat st = {0};
    int error = 0;
    f->fd = fd;
    if (fstat(fd, &st))
        error = errno;
    else if (S_ISDIR(st.st_mode))
        error = EISDIR;
    else if (mode != FILE_READ)
        error = claim(fd, mode == FILE_REPLACE && S_ISREG(st.st_mode));
    if (!error && mode == FILE_APPEND && fstat(fd, &st)) /* the last writer may have gone on until now */
        error = errno;
    if (error) {
        HRESULT hr = posix_failed(error, f->path);
        file_close(f);
        return hr;
    }
    f->end = mode == FILE_REPLACE || !S_ISREG(st.st_mode) ? 0 : (uint64_t)st.st_size;
    *out = f;
    return S_OK;
}

HRESULT file_open(const char *path, enum file_mode mode, struct file **out)
{
    return file_open_as(path, mode, PROTECTION_NONE, out);
}

HRESULT file_open_as(const char *path, enum file_mode mode, enum protection what, struct file **out)
{
    struct file *f = file_reserve(path);
    *out = NULL;
    HRESULT hr =
        f ? file_operation(mode == FILE_READ ? FILE_OPERATION_OPEN : FILE_OPERATION_CREATE, path) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(f);
        return hr;
    }
    /* A pipe that somebody put where a file is expected: who opens it must not wait for its other end. */
    int fd =
        open(path, file_mode_flags[mode] | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, what == PROTECTION_NONE ? 0666 : 0600);
    if (fd >= 0)
        return file_take(f, fd, mode, out);
    hr = posix_failed(errno, path);
    memory_free(f);
    return hr;
}

HRESULT file_open_scratch(struct file **out)
{
    const char *folder = getenv("TMPDIR");
    char *path = path_join(folder && *folder ? folder : "/tmp", "openpla.XXXXXX");
    struct file *f = path ? file_reserve(path) : NULL;
    memory_free(path);
    *out = NULL;
    if (!f)
        return E_OUTOFMEMORY;
    int fd = mkostemp(f->path, O_CLOEXEC);
    if (fd >= 0) {
        unlink(f->path);
        return file_take(f, fd, FILE_REPLACE, out);
    }
    HRESULT hr = posix_failed(errno, f->path);
    memory_free(f);
    return hr;
}

HRESULT file_open_wait(const char *path, enum file_mode mode, uint32_t timeout_ms, struct file **out)
{
    uint64_t limit = clock_monotonic_ms() + timeout_ms;
    unsigned wait_us = 200;
    HRESULT hr;
    while ((hr = file_open(path, mode, out)) == HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION) &&
           clock_monotonic_ms() < limit) {
        usleep(wait_us);
        if (wait_us < 5000)
            wait_us *= 2;
    }
    return hr;
}

HRESULT file_write_at(struct file *f, uint64_t offset, const void *data, size_t size)
{
    size_t done = 0;
    if (offset > INT64_MAX - (uint64_t)size)
        return posix_failed(EFBIG, f->path);
    const HRESULT hr = file_operation(FILE_OPERATION_WRITE, f->path);
    if (FAILED(hr))
        return hr;
    const size_t room = hr == S_FALSE ? size / 2 : size;
    while (done < size) {
        size_t ask = done < room ? room - done : 0;
        ssize_t n = pwrite(f->fd, (const char *)data + done, ask, (off_t)(offset + done));
        int error = n < 0 ? errno : ENOSPC;
        if (n > 0) {
            done += (size_t)n;
        } else if (error != EINTR) {
            /* Behind the old end nothing of a write that failed may stay. */
            if (done && offset + done > f->end && ftruncate(f->fd, (off_t)f->end))
                return posix_failed(errno, f->path);
            return posix_failed(done ? ENOSPC : error, f->path);
        }
    }
    if (offset + size > f->end)
        f->end = offset + size;
    return S_OK;
}

HRESULT file_write(struct file *f, const void *data, size_t size)
{
    return file_write_at(f, f->end, data, size);
}

HRESULT file_read_at(struct file *f, uint64_t offset, void *data, size_t size, size_t *got)
{
    *got = 0;
    HRESULT hr = file_operation(FILE_OPERATION_READ, f->path);
    if (FAILED(hr))
        return hr;
    while (*got < size && offset + *got <= INT64_MAX) {
        ssize_t n = pread(f->fd, (char *)data + *got, size - *got, (off_t)(offset + *got));
        if (!n)
            break;
        if (n > 0)
            *got += (size_t)n;
        else if (errno != EINTR)
            return posix_failed(errno, f->path);
    }
    return S_OK;
}

HRESULT file_size(struct file *f, uint64_t *size)
{
    struct stat st;
    if (fstat(f->fd, &st))
        return posix_failed(errno, f->path);
    *size = (uint64_t)st.st_size;
    return S_OK;
}

HRESULT file_set_size(struct file *f, uint64_t size)
{
    if (size > INT64_MAX)
        return posix_failed(EFBIG, f->path);
    HRESULT hr = file_operation(FILE_OPERATION_RESIZE, f->path);
    if (FAILED(hr))
        return hr;
    if (ftruncate(f->fd, (off_t)size))
        return posix_failed(errno, f->path);
    f->end = size;
    return S_OK;
}

HRESULT file_flush(struct file *f)
{
    HRESULT hr = file_operation(FILE_OPERATION_FLUSH, f->path);
    if (FAILED(hr))
        return hr;
    return fdatasync(f->fd) && errno != EINVAL ? posix_failed(errno, f->path) : S_OK;
}

void file_close(struct file *f)
{
    if (!f)
        return;
    /* A process that another thread begins just now has it open until it runs its program, and the claim with it. */
    (void)flock(f->fd, LOCK_UN);
    close(f->fd);
    memory_free(f);
}

/* The rename is on the disk only when the folder is. One that may not be opened, or that its file system cannot flush,
   is left to the host. */
static HRESULT flush_folder(const char *folder)
{
    HRESULT hr = file_operation(FILE_OPERATION_FLUSH_FOLDER, folder);
    int fd = SUCCEEDED(hr) ? open(*folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0)
        return hr;
    int error = fsync(fd) ? errno : 0;
    close(fd);
    return error == EIO || error == ENOSPC || error == EDQUOT ? posix_failed(error, folder) : S_OK;
}

HRESULT file_storing_open(struct file_storing *s)
{
    return file_open(s->temporary, FILE_REPLACE, &s->file);
}

HRESULT file_storing_rename(struct file_storing *s)
{
    HRESULT hr = file_operation(FILE_OPERATION_RENAME, s->path);
    if (FAILED(hr))
        return hr;
    if (rename(s->temporary, s->path))
        return posix_failed(errno, s->path);
    return flush_folder(s->folder);
}

HRESULT file_delete(const char *path)
{
    HRESULT hr = file_operation(FILE_OPERATION_DELETE, path);
    if (FAILED(hr))
        return hr;
    return unlink(path) ? posix_failed(errno, path) : S_OK;
}

struct file_lock {
    int fd;
};

/* One try. The holder may have deleted the file meanwhile: then the lock is on a file that nobody else finds. */
static int lock_once(const char *path, int *out)
{
    struct stat ours, now;
    int fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0)
        return errno;
    int error = posix_flock(fd, LOCK_EX);
    if (!error && (fstat(fd, &ours) || stat(path, &now) || ours.st_ino != now.st_ino || ours.st_dev != now.st_dev))
        error = EAGAIN;
    if (error)
        close(fd);
    else
        *out = fd;
    return error;
}

HRESULT file_lock_take_as(const char *path, enum protection what, uint32_t timeout_ms, struct file_lock **out)
{
    (void)what; /* the own account alone */
    uint64_t limit = clock_monotonic_ms() + timeout_ms;
    struct file_lock *lock = memory_alloc(sizeof(*lock));
    unsigned wait_us = 200;
    int error;
    *out = NULL;
    HRESULT hr = lock ? file_operation(FILE_OPERATION_LOCK, path) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(lock);
        return hr;
    }
    while ((error = lock_once(path, &lock->fd)) == EAGAIN && clock_monotonic_ms() < limit) {
        usleep(wait_us);
        if (wait_us < 5000)
            wait_us *= 2;
    }
    if (!error) {
        *out = lock;
        return S_OK;
    }
    memory_free(lock);
    if (error == EAGAIN)
        return error_set(HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION), "\"%s\": held by another after %u ms", path,
                         (unsigned)timeout_ms);
    return posix_failed(error, path);
}

HRESULT file_lock_take(const char *path, uint32_t timeout_ms, struct file_lock **out)
{
    return file_lock_take_as(path, PROTECTION_LOCK, timeout_ms, out);
}

void file_lock_release(struct file_lock *lock)
{
    if (!lock)
        return;
    close(lock->fd);
    memory_free(lock);
}
