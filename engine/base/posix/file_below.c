/* SPDX-License-Identifier: MIT */
/* Files below a base folder on Linux: each folder on the way is opened from the one before and asked for its path, so
   that what is then made in it lies where it was asked. */
#include "engine/base/file_operation.h"
#include "engine/base/memory.h"
#include "engine/base/posix/open_file.h"
#include "engine/base/posix/posix_call.h"

#include <stdio.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The base, and the folder that the walk has come to. */
struct walk {
    const char *base, *path;
    char real[PATH_MAX]; /* of the base, all links followed */
    int fd;
};

static HRESULT leads_out(const struct walk *w)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), "\"%s\": a link leads out of \"%s\" or nowhere", w->path,
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

/* Into the folder `name`, which is made where `make` says so and it is missing. */
static HRESULT enter(struct walk *w, const char *name, bool make)
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
                   ? error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "\"%s\": a file is in the way", w->path)
                   : posix_failed(errno, w->path);
    HRESULT hr = check_below(w, next);
    close(w->fd);
    w->fd = next;
    return hr;
}

static HRESULT begin(struct walk *w, const char *base, const char *path, const char **names)
{
    *w = (struct walk){.base = base, .path = path, .fd = -1};
    *names = path_names_behind(base, path);
    const char *fault = *names ? path_names_fault(*names) : "it does not begin with its base";
    if (fault)
        return error_set(E_INVALIDARG, "\"%s\" is no place below \"%s\": %s", path, base, fault);
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

/* As far as the folder of the last name, or into that too. *last is borrowed from the path. */
static HRESULT walk(struct walk *w, const char *base, const char *path, bool make, bool whole, const char **last)
{
    const char *at;
    HRESULT hr = begin(w, base, path, &at);
    while (SUCCEEDED(hr)) {
        size_t length = strcspn(at, "/");
        *last = at;
        if (!at[length] && (!whole || !length))
            return S_OK;
        char *name = text_copy_n(at, length);
        hr = !name ? E_OUTOFMEMORY : *name ? enter(w, name, make) : S_OK;
        memory_free(name);
        at += length + (at[length] == '/');
    }
    return hr;
}

HRESULT folder_create_below(const char *base, const char *path)
{
    struct walk w;
    const char *last;
    HRESULT hr = walk(&w, base, path, true, true, &last);
    end(&w);
    return hr;
}

/* Creating follows no link; what was there already is opened, and looked at before anything is done to it. */
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
        return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), "\"%s\": is no file but a device or a pipe", w->path);
    if (S_ISREG(st.st_mode) && st.st_nlink > 1 && mode != FILE_READ)
        return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME),
                         "\"%s\": the file has another name (a hard link), which may lie outside \"%s\"", w->path,
                         w->base);
    return check_below(w, fd);
}

HRESULT file_open_below(const char *base, const char *path, enum file_mode mode, struct file **out)
{
    struct walk w;
    const char *last;
    struct file *f = NULL;
    *out = NULL;
    HRESULT hr = walk(&w, base, path, false, false, &last);
    if (SUCCEEDED(hr)) {
        f = file_reserve(path);
        hr = f ? file_operation(mode == FILE_READ ? FILE_OPERATION_OPEN : FILE_OPERATION_CREATE, path) : E_OUTOFMEMORY;
    }
    int fd = SUCCEEDED(hr) ? open_last(w.fd, last, mode) : -1;
    if (fd >= 0)
        hr = check_file(&w, fd, mode);
    else if (SUCCEEDED(hr)) /* creating finds a name, opening finds no file */
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
    HRESULT hr = walk(&w, base, path, false, false, &last);
    if (SUCCEEDED(hr))
        hr = file_operation(FILE_OPERATION_DELETE, path);
    if (SUCCEEDED(hr) && unlinkat(w.fd, last, 0))
        hr = posix_failed(errno, path);
    end(&w);
    return hr;
}
