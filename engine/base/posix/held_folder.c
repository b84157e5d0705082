/* SPDX-License-Identifier: MIT */
/* Folders that are open, on POSIX systems: everything is done by the folder's descriptor. */
#include "engine/base/held_folder.h"

#include "engine/base/file_operation.h"
#include "engine/base/memory.h"
#include "engine/base/posix/open_file.h"
#include "engine/base/posix/posix_call.h"

#include <stdio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct held_folder {
    int fd;
    char path[];
};

static HRESULT is_a_link(const char *path)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), "\"%s\": is a link or a device", path);
}

/* ELOOP and ENOTDIR are what a link answers that is not to be followed. */
static HRESULT failed(int error, const char *path)
{
    return error == ELOOP ? is_a_link(path) : posix_failed(error, path);
}

/* By a descriptor of the folder that `name` is in, or AT_FDCWD. Takes over `path`. */
static HRESULT take(int at, const char *name, int more, char *path, struct held_folder **out)
{
    struct stat st;
    *out = NULL;
    if (!path)
        return E_OUTOFMEMORY;
    struct held_folder *f = memory_alloc(sizeof *f + strlen(path) + 1);
    HRESULT hr = f ? S_OK : E_OUTOFMEMORY;
    if (f) {
        memcpy(f->path, path, strlen(path) + 1);
        f->fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | more);
        int error = errno;
        if (f->fd < 0 && error == ENOTDIR && !fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
            error = ELOOP;
        if (f->fd < 0) {
            hr = failed(error, path);
            memory_free(f);
        }
    }
    if (SUCCEEDED(hr))
        *out = f;
    memory_free(path);
    return hr;
}

HRESULT held_folder_enter(struct held_folder *f, const char *name, struct held_folder **out)
{
    *out = NULL;
    if (!*name || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
        return error_set(E_INVALIDARG, "\"%s\" is no name of a folder in \"%s\"", name, f->path);
    return take(f->fd, name, O_NOFOLLOW, path_join(f->path, name), out);
}

HRESULT held_folder_open(const char *base, const char *names, struct held_folder **out)
{
    const char *fault = *names ? path_names_fault(names) : NULL;
    struct held_folder *f = NULL;
    *out = NULL;
    if (fault)
        return error_set(E_INVALIDARG, "\"%s\" is no place below \"%s\": %s", names, base, fault);
    HRESULT hr = take(AT_FDCWD, base, 0, text_copy(base), &f);
    while (SUCCEEDED(hr) && *names) {
        size_t length = strcspn(names, "/");
        char *name = text_copy_n(names, length);
        struct held_folder *next = NULL;
        hr = name ? held_folder_enter(f, name, &next) : E_OUTOFMEMORY;
        memory_free(name);
        held_folder_close(f);
        f = next;
        names += length;
        names += strspn(names, "/");
    }
    if (SUCCEEDED(hr))
        *out = f;
    else
        held_folder_close(f);
    return hr;
}

const char *held_folder_path(const struct held_folder *f)
{
    return f->path;
}

void held_folder_close(struct held_folder *f)
{
    if (!f)
        return;
    close(f->fd);
    memory_free(f);
}

/* Whether another disk, or a folder of another place, lies over this one: what is in it is not of the folder around. */
static bool is_mounted(int folder, const char *name)
{
    struct statx st;
    return !statx(folder, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &st) &&
           (st.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

static HRESULT give(DIR *directory, const char *name, HRESULT (*each)(void *user, const struct held_entry *entry),
                    void *user)
{
    struct stat st;
    if (fstatat(dirfd(directory), name, &st, AT_SYMLINK_NOFOLLOW))
        return S_OK; /* it has just gone */
    struct held_entry entry = {
        .name = name,
        .kind = S_ISREG(st.st_mode)                                          ? HELD_FILE
                : S_ISDIR(st.st_mode) && !is_mounted(dirfd(directory), name) ? HELD_FOLDER
                                                                             : HELD_OTHER,
        .size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0,
        .written = posix_filetime(st.st_mtim.tv_sec, st.st_mtim.tv_nsec),
    };
    return each(user, &entry);
}

HRESULT held_folder_each(struct held_folder *f, HRESULT (*each)(void *user, const struct held_entry *entry), void *user)
{
    struct dirent *entry;
    HRESULT hr = S_OK;
    int fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* with a place of its own in the list */
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (!directory) {
        hr = posix_failed(errno, f->path);
        if (fd >= 0)
            close(fd);
        return hr;
    }
    while (SUCCEEDED(hr) && (errno = 0, entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            hr = give(directory, entry->d_name, each, user);
        errno = 0;
    }
    if (SUCCEEDED(hr) && errno)
        hr = posix_failed(errno, f->path);
    closedir(directory);
    return hr;
}

/* *path is for texts and observers, from memory_alloc. */
static HRESULT path_of(const struct held_folder *f, const char *name, char **path)
{
    *path = NULL;
    if (!*name || strchr(name, '/'))
        return error_set(E_INVALIDARG, "\"%s\" is no name in \"%s\"", name, f->path);
    *path = path_join(f->path, name);
    return *path ? S_OK : E_OUTOFMEMORY;
}

static HRESULT begin(const struct held_folder *f, const char *name, enum file_operation operation, char **path)
{
    HRESULT hr = path_of(f, name, path);
    return SUCCEEDED(hr) ? file_operation(operation, *path) : hr;
}

HRESULT held_folder_file(struct held_folder *f, const char *name, enum file_mode mode, struct file **out)
{
    char *path;
    struct file *file = NULL;
    struct stat st;
    int fd = -1;
    *out = NULL;
    HRESULT hr = begin(f, name, mode == FILE_READ ? FILE_OPERATION_OPEN : FILE_OPERATION_CREATE, &path);
    if (SUCCEEDED(hr) && !(file = file_reserve(path)))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        fd = openat(f->fd, name, file_mode_flags[mode] | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
        if (fd < 0)
            hr = failed(errno, path);
    }
    if (SUCCEEDED(hr) && (fstat(fd, &st) || !S_ISREG(st.st_mode)))
        hr = is_a_link(path);
    if (SUCCEEDED(hr)) {
        hr = file_take(file, fd, mode, out);
    } else {
        if (fd >= 0)
            close(fd);
        memory_free(file);
    }
    memory_free(path);
    return hr;
}

HRESULT held_folder_rename_new(struct held_folder *f, const char *from, const char *to)
{
    char *path;
    HRESULT hr = path_of(f, to, &path);
    if (SUCCEEDED(hr))
        hr = posix_rename_new(f->fd, from, to, path);
    if (SUCCEEDED(hr))
        hr = file_operation(FILE_OPERATION_FLUSH_FOLDER, path);
    if (SUCCEEDED(hr) && fsync(f->fd))
        hr = posix_failed(errno, f->path);
    memory_free(path);
    return hr;
}

/* Who writes a log holds flock. One that may not be opened is its folder's to delete. */
static bool is_written(struct held_folder *f, const char *name)
{
    int fd = openat(f->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool written = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return written;
}

HRESULT held_folder_delete(struct held_folder *f, const char *name)
{
    char *path;
    struct stat st;
    HRESULT hr = begin(f, name, FILE_OPERATION_DELETE, &path);
    if (SUCCEEDED(hr) && fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW))
        hr = posix_failed(errno, path);
    else if (SUCCEEDED(hr) && !S_ISREG(st.st_mode))
        hr = is_a_link(path);
    else if (SUCCEEDED(hr) && is_written(f, name))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION), "\"%s\": is being written", path);
    if (SUCCEEDED(hr) && unlinkat(f->fd, name, 0))
        hr = posix_failed(errno, path);
    memory_free(path);
    return hr;
}

HRESULT held_folder_delete_folder(struct held_folder *f, const char *name)
{
    char *path;
    HRESULT hr = begin(f, name, FILE_OPERATION_DELETE_FOLDER, &path);
    if (SUCCEEDED(hr) && unlinkat(f->fd, name, AT_REMOVEDIR))
        hr = posix_failed(errno, path);
    memory_free(path);
    return hr;
}
