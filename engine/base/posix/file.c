/* SPDX-License-Identifier: MIT */
/* Files on POSIX systems: open files, whole files, lock files. Writers hold flock, so that no two processes write the
   same file. */
#include "engine/base/file.h"

#include "engine/base/base_private.h"
#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/posix/posix_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    int fd;
    uint64_t end; /* offset of the next file_write */
    char path[];
};

/* Makes this process the only writer, so that truncating the file cannot affect another writer's data. */
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
    if (!error && mode == FILE_APPEND && fstat(fd, &st)) /* another writer may have extended the file */
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
    /* The path may name a pipe, and opening it must not wait for the other end. */
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
            /* No part of a failed write may remain after the old end. */
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
    /* Releases the lock explicitly. If another thread is just starting a child process, the child has a copy of the
       descriptor until it executes its program. With close alone, this copy would still hold the lock. */
    (void)flock(f->fd, LOCK_UN);
    close(f->fd);
    memory_free(f);
}

/* Flushes the folder, because a rename is on the disk only after its folder has been flushed. If the folder cannot be
   opened, or its file system cannot flush it, the host OS decides when the rename is written. */
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

/* Tries once. If the previous holder has deleted the file in the meantime, the lock is on a file without a name, and
   the try has failed. */
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
    (void)what; /* in the native build only this account has access */
    uint64_t limit = clock_monotonic_ms() + timeout_ms;
    TRACE_STEP(base, "lock file %s: wait up to %u ms", path, (unsigned)timeout_ms);
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
        return error_set(HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION),
                         "cannot lock '%s': another process held the lock for %u ms", path, (unsigned)timeout_ms);
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

/* ---- renames ---- */

HRESULT file_rename(const char *from, const char *to)
{
    HRESULT hr = file_operation(FILE_OPERATION_RENAME, to);
    if (FAILED(hr))
        return hr;
    return rename(from, to) ? posix_failed(errno, from) : S_OK;
}

/* Renames through a hard link, which never replaces an existing name. S_FALSE: this file system supports no links, or
   no links to folders. */
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

/* Creates an empty file or folder with the new name and renames over it, so that nothing else is replaced. */
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
    if (errno != EINVAL && errno != ENOSYS) /* results of NFS, many FUSE file systems, and older kernels */
        return posix_failed(errno, path);
    hr = by_link(at, from, to, path);
    return hr == S_FALSE ? by_name(at, from, to, path) : hr;
}

HRESULT file_rename_new(const char *from, const char *to)
{
    return posix_rename_new(AT_FDCWD, from, to, to);
}

/* ---- files below a base folder ----
   Each folder on the way is opened from the previous one, and its path is queried, so that the file is created in the
   folder that was checked. */

/* The base folder, and the folder that the walk has reached. */
struct walk {
    const char *base, *path;
    char real[PATH_MAX]; /* path of the base with all links resolved */
    int fd;
};

static HRESULT leads_out(const struct walk *w)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME),
                     "cannot follow a link in '%s': it leads out of '%s' or its target does not exist", w->path,
                     w->base);
}

static int real_path(int fd, char real[PATH_MAX])
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, real, PATH_MAX);
    if (n < 0)
        return errno;
    if (n == PATH_MAX)
        return ENAMETOOLONG;
    real[n] = 0;
    return 0;
}

static HRESULT check_below(const struct walk *w, int fd)
{
    char real[PATH_MAX];
    size_t n = strcmp(w->real, "/") != 0 ? strlen(w->real) : 0;
    int error = real_path(fd, real);
    if (error)
        return posix_failed(error, w->path);
    return strncmp(real, w->real, n) != 0 || (real[n] && real[n] != '/') ? leads_out(w) : S_OK;
}

/* Enters the folder `name`, and creates it if it is missing and `make` is set. */
static HRESULT walk_enter_folder(struct walk *w, const char *name, bool make)
{
    const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    int next = openat(w->fd, name, flags);
    if (next < 0 && errno == ENOENT && make) {
        HRESULT hr = file_operation(FILE_OPERATION_CREATE_FOLDER, w->path);
        if (FAILED(hr))
            return hr;
        if (mkdirat(w->fd, name, 0777) && errno != EEXIST)
            return posix_failed(errno, w->path);
        next = openat(w->fd, name, flags);
    }
    if (next < 0)
        return errno == ENOTDIR && make
                   ? error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                               "cannot create the folder '%s': a file with this name exists", w->path)
                   : posix_failed(errno, w->path);
    HRESULT hr = check_below(w, next);
    close(w->fd);
    w->fd = next;
    return hr;
}

static HRESULT walk_begin(struct walk *w, const char *base, const char *path, const char **names)
{
    *w = (struct walk){.base = base, .path = path, .fd = -1};
    *names = path_names_behind(base, path);
    const char *fault = *names ? path_names_fault(*names) : "it does not begin with the path of the base folder";
    if (fault)
        return error_set(E_INVALIDARG, "'%s' is not below '%s': %s", path, base, fault);
    char *folder = path_with_separator(base);
    if (!folder)
        return E_OUTOFMEMORY;
    w->fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int error = w->fd < 0 ? errno : real_path(w->fd, w->real);
    memory_free(folder);
    return error ? posix_failed(error, base) : S_OK;
}

static void end(struct walk *w)
{
    if (w->fd >= 0)
        close(w->fd);
}

/* Walks to the folder that contains the path's last component. If `whole` is set, also enters the folder that the last
   component names. *last is the last component, borrowed from the path. */
static HRESULT walk_to_folder(struct walk *w, const char *base, const char *path, bool make, bool whole,
                              const char **last)
{
    const char *at;
    HRESULT hr = walk_begin(w, base, path, &at);
    while (SUCCEEDED(hr)) {
        size_t length = strcspn(at, "/");
        *last = at;
        if (!at[length] && (!whole || !length))
            return S_OK;
        char *name = text_copy_n(at, length);
        hr = !name ? E_OUTOFMEMORY : *name ? walk_enter_folder(w, name, make) : S_OK;
        memory_free(name);
        at += length + (at[length] == '/');
    }
    return hr;
}

HRESULT folder_create_below(const char *base, const char *path)
{
    struct walk w;
    const char *last;
    HRESULT hr = walk_to_folder(&w, base, path, true, true, &last);
    end(&w);
    return hr;
}

/* Opens or creates the file that is the path's last component. Creating a file follows no link. The caller checks an
   existing file before it is changed. */
static int open_last(int folder, const char *name, enum file_mode mode)
{
    const int more = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    const int flags = file_mode_flags[mode];
    if (!(flags & O_CREAT))
        return openat(folder, name, flags | more);
    int fd = openat(folder, name, flags | O_EXCL | more, 0666);
    return fd < 0 && errno == EEXIST && !(flags & O_EXCL) ? openat(folder, name, (flags & ~O_CREAT) | more) : fd;
}

static HRESULT check_file(const struct walk *w, int fd, enum file_mode mode)
{
    struct stat st;
    if (fstat(fd, &st))
        return posix_failed(errno, w->path);
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), "cannot open '%s': it is a device or a pipe", w->path);
    if (S_ISREG(st.st_mode) && st.st_nlink > 1 && mode != FILE_READ)
        return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME),
                         "cannot open '%s': it has several hard links, and some may be outside '%s'", w->path, w->base);
    return check_below(w, fd);
}

HRESULT file_open_below(const char *base, const char *path, enum file_mode mode, struct file **out)
{
    struct walk w;
    const char *last;
    struct file *f = NULL;
    *out = NULL;
    HRESULT hr = walk_to_folder(&w, base, path, false, false, &last);
    if (SUCCEEDED(hr)) {
        f = file_reserve(path);
        hr = f ? file_operation(mode == FILE_READ ? FILE_OPERATION_OPEN : FILE_OPERATION_CREATE, path) : E_OUTOFMEMORY;
    }
    int fd = SUCCEEDED(hr) ? open_last(w.fd, last, mode) : -1;
    if (fd >= 0)
        hr = check_file(&w, fd, mode);
    else if (SUCCEEDED(hr)) /* ENOENT for a new file: its name is a link without a target */
        hr = errno == ENOENT && mode != FILE_READ ? leads_out(&w) : posix_failed(errno, path);
    if (SUCCEEDED(hr)) {
        hr = file_take(f, fd, mode, out);
    } else {
        if (fd >= 0)
            close(fd);
        memory_free(f);
    }
    end(&w);
    return hr;
}

HRESULT file_delete_below(const char *base, const char *path)
{
    struct walk w;
    const char *last;
    HRESULT hr = walk_to_folder(&w, base, path, false, false, &last);
    if (SUCCEEDED(hr))
        hr = file_operation(FILE_OPERATION_DELETE, path);
    if (SUCCEEDED(hr) && unlinkat(w.fd, last, 0))
        hr = posix_failed(errno, path);
    end(&w);
    return hr;
}

/* ---- times, mode and identity ---- */

static HRESULT check_kind(int fd, const char *path)
{
    struct stat st;
    if (fstat(fd, &st))
        return posix_failed(errno, path);
    if (S_ISDIR(st.st_mode))
        return error_set(HRESULT_FROM_WIN32(ERROR_DIRECTORY), "'%s' is a folder", path);
    return S_ISREG(st.st_mode)
               ? S_OK
               : error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "cannot open '%s': it is a device or a pipe", path);
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

HRESULT file_set_traits(struct file *f, const struct file_traits *traits)
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
        return error_set(HRESULT_FROM_WIN32(ERROR_DIRECTORY), "'%s' is not a folder", path);
    *out = (struct folder_identity){.volume = (uint64_t)st.st_dev, .number = (uint64_t)st.st_ino};
    return S_OK;
}
