/* SPDX-License-Identifier: MIT */
/* Lists, holds and watches folders on POSIX systems. The only drive is the root. */
#include "engine/base/folder.h"

#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/posix/posix_call.h"
#include "engine/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

HRESULT file_find(const char *path)
{
    struct stat st;
    if (!stat(path, &st))
        return S_OK;
    return errno == ENOENT || errno == ENOTDIR ? S_FALSE : posix_failed(errno, path);
}

bool file_exists(const char *path)
{
    struct stat st;
    return !stat(path, &st) && !S_ISDIR(st.st_mode);
}

bool folder_exists(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

HRESULT folder_create(const char *path)
{
    size_t length = strlen(path);
    HRESULT hr = S_OK;
    if (folder_exists(path))
        return S_OK;
    char *part = text_copy(path);
    if (!part)
        return E_OUTOFMEMORY;
    for (size_t i = 1; i <= length && SUCCEEDED(hr); i++) {
        if (part[i] && part[i] != '/')
            continue;
        part[i] = 0;
        if (!folder_exists(part))
            hr = file_operation(FILE_OPERATION_CREATE_FOLDER, part);
        int error = SUCCEEDED(hr) && mkdir(part, 0777) ? errno : 0;
        if (error && !folder_exists(part))
            hr = error == EEXIST || error == ENOTDIR
                     ? error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                                 "cannot create the folder '%s': a file with this name exists", part)
                     : posix_failed(error, part);
        if (i < length)
            part[i] = '/';
    }
    memory_free(part);
    return hr;
}

HRESULT folder_create_temporary(char **out)
{
    const char *folder = getenv("TMPDIR");
    char *path = path_join(folder && *folder ? folder : "/tmp", "openpla.XXXXXX");
    *out = NULL;
    if (!path)
        return E_OUTOFMEMORY;
    if (!mkdtemp(path)) {
        const HRESULT hr = posix_failed(errno, path);
        memory_free(path);
        return hr;
    }
    *out = path;
    return S_OK;
}

HRESULT folder_delete(const char *path)
{
    HRESULT hr = file_operation(FILE_OPERATION_DELETE_FOLDER, path);
    if (FAILED(hr))
        return hr;
    return rmdir(path) ? posix_failed(errno, path) : S_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_folder(DIR *directory, const struct dirent *entry)
{
    struct stat st;
    if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
        return entry->d_type == DT_DIR;
    return !fstatat(dirfd(directory), entry->d_name, &st, 0) && S_ISDIR(st.st_mode);
}

static HRESULT names_list(const char *path, bool files, bool folders, struct texts *names)
{
    struct texts found = {0};
    struct dirent *entry;
    HRESULT hr = S_OK;
    DIR *directory = opendir(path);
    if (!directory)
        return errno == ENOENT ? error_set(HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND), "folder '%s' not found", path)
                               : posix_failed(errno, path);
    while (SUCCEEDED(hr) && (errno = 0, entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            ((files && folders) || is_folder(directory, entry) == folders))
            hr = texts_add(&found, entry->d_name);
    if (SUCCEEDED(hr) && errno)
        hr = posix_failed(errno, path);
    closedir(directory);
    if (FAILED(hr)) {
        texts_free(&found);
        return hr;
    }
    if (found.count)
        qsort(found.items, found.count, sizeof(char *), by_bytes);
    texts_free(names);
    *names = found;
    return S_OK;
}

HRESULT folder_list(const char *path, bool folders, struct texts *names)
{
    return names_list(path, !folders, folders, names);
}

HRESULT folder_list_all(const char *path, struct texts *names)
{
    return names_list(path, true, true, names);
}

HRESULT folder_each_file(const char *path, HRESULT (*each)(void *user, const struct file_entry *file), void *user)
{
    struct dirent *entry;
    HRESULT hr = S_OK;
    DIR *directory = opendir(path);
    if (!directory)
        return errno == ENOENT ? error_set(HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND), "folder '%s' not found", path)
                               : posix_failed(errno, path);
    while (SUCCEEDED(hr) && (errno = 0, entry = readdir(directory))) {
        struct stat st;
        if (fstatat(dirfd(directory), entry->d_name, &st, 0) || S_ISDIR(st.st_mode))
            continue; /* a folder, or an entry that has just been deleted */
        uint64_t stamp = hash_number(hash_number(HASH_START, (uint64_t)st.st_size), (uint64_t)st.st_mtim.tv_sec);
        stamp = hash_number(stamp, (uint64_t)st.st_mtim.tv_nsec);
        hr = each(user,
                  &(struct file_entry){entry->d_name, stamp, posix_filetime(st.st_mtim.tv_sec, st.st_mtim.tv_nsec)});
        errno = 0;
    }
    if (SUCCEEDED(hr) && errno)
        hr = posix_failed(errno, path);
    closedir(directory);
    return hr;
}

HRESULT folder_free_bytes(const char *path, uint64_t *bytes)
{
    struct statvfs st;
    if (statvfs(path, &st))
        return posix_failed(errno, path);
    *bytes = (uint64_t)st.f_bavail * st.f_frsize;
    return S_OK;
}

size_t drives_list(struct drive drives[DRIVES_MOST])
{
    drives[0] = (struct drive){"Z:"};
    return 1;
}

bool drive_is_remote(char letter)
{
    (void)letter;
    return false;
}

HRESULT drive_space(const struct drive *drive, uint64_t *size, uint64_t *free)
{
    (void)drive;
    return kernel_folder_space("/", size, free);
}

/* ---- open folders: all operations use the folder's descriptor ---- */

struct held_folder {
    int fd;
    char path[];
};

static HRESULT is_a_link(const char *path)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), "'%s' is a link or a device", path);
}

/* Converts an error. ELOOP and ENOTDIR are the results for a link that must not be followed. */
static HRESULT failed(int error, const char *path)
{
    return error == ELOOP ? is_a_link(path) : posix_failed(error, path);
}

/* Opens the folder `name` in its parent folder, whose descriptor is `at` (or AT_FDCWD). Takes ownership of `path`. */
static HRESULT held_folder_take(int at, const char *name, int more, char *path, struct held_folder **out)
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
        return error_set(E_INVALIDARG, "invalid folder name '%s' in '%s'", name, f->path);
    return held_folder_take(f->fd, name, O_NOFOLLOW, path_join(f->path, name), out);
}

HRESULT held_folder_open(const char *base, const char *names, struct held_folder **out)
{
    const char *fault = *names ? path_names_fault(names) : NULL;
    struct held_folder *f = NULL;
    *out = NULL;
    if (fault)
        return error_set(E_INVALIDARG, "'%s' is not below '%s': %s", names, base, fault);
    HRESULT hr = held_folder_take(AT_FDCWD, base, 0, text_copy(base), &f);
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

/* Whether another disk or folder is mounted here; if so, its contents do not belong to the parent folder. */
static bool is_mounted(int folder, const char *name)
{
    struct statx st;
    return !statx(folder, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &st) &&
           (st.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

static HRESULT held_folder_report_entry(DIR *directory, const char *name,
                                        HRESULT (*each)(void *user, const struct held_entry *entry), void *user)
{
    struct stat st;
    if (fstatat(dirfd(directory), name, &st, AT_SYMLINK_NOFOLLOW))
        return S_OK; /* the entry has just been deleted */
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
    /* This descriptor has its own position in the list of entries. */
    int fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (!directory) {
        hr = posix_failed(errno, f->path);
        if (fd >= 0)
            close(fd);
        return hr;
    }
    while (SUCCEEDED(hr) && (errno = 0, entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            hr = held_folder_report_entry(directory, entry->d_name, each, user);
        errno = 0;
    }
    if (SUCCEEDED(hr) && errno)
        hr = posix_failed(errno, f->path);
    closedir(directory);
    return hr;
}

/* Checks the name and returns its path for error texts and observers, from memory_alloc. */
static HRESULT path_of(const struct held_folder *f, const char *name, char **path)
{
    *path = NULL;
    if (!*name || strchr(name, '/'))
        return error_set(E_INVALIDARG, "invalid name '%s' in '%s'", name, f->path);
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

/* Whether a process is writing the file and therefore holds flock. A file that cannot be opened can still be deleted,
   because the right to delete belongs to the folder. */
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
        hr = error_set(HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION), "cannot delete '%s': a process is writing to it",
                       path);
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

/* ---- watched folders: inotify, and an eventfd that wakes the waiting thread ---- */

struct folder_watch {
    int inotify, wake;
    int count;
    struct watched_folder {
        int number; /* inotify's */
        char *path;
    } folders[FOLDERS_WATCHED];
};

#define CHANGES                                                                                                        \
    (IN_CLOSE_WRITE | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)

HRESULT folder_watch_open(const char *path, struct folder_watch **out)
{
    struct folder_watch *w = memory_zero(1, sizeof(*w));
    HRESULT hr = S_OK;
    *out = NULL;
    if (!w)
        return E_OUTOFMEMORY;
    w->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->inotify < 0 || w->wake < 0)
        hr = posix_failed(errno, path);
    if (SUCCEEDED(hr))
        hr = folder_watch_add(w, path);
    if (FAILED(hr)) {
        folder_watch_close(w);
        return hr;
    }
    *out = w;
    return S_OK;
}

HRESULT folder_watch_add(struct folder_watch *w, const char *path)
{
    if (w->count == FOLDERS_WATCHED)
        return error_set(E_INVALIDARG, "cannot watch '%s': %d folders are already watched", path, FOLDERS_WATCHED);
    const int number = inotify_add_watch(w->inotify, path, CHANGES | IN_ONLYDIR);
    if (number < 0)
        return posix_failed(errno, path);
    char *copy = text_copy(path);
    if (!copy)
        return E_OUTOFMEMORY;
    w->folders[w->count++] = (struct watched_folder){number, copy};
    return S_OK;
}

/* Reads all pending changes. Returns the path of a watched folder that was itself deleted, moved or unmounted; NULL if
   all folders are still watched. */
static const char *take_changes(const struct folder_watch *w)
{
    _Alignas(struct inotify_event) char room[4096];
    ssize_t n;
    const char *deleted = NULL;

    while ((n = read(w->inotify, room, sizeof(room))) > 0) {
        for (char *at = room; at < room + n;) {
            const struct inotify_event *e = (const struct inotify_event *)(const void *)at;
            const bool gone = e->mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT);
            for (int i = 0; gone && i < w->count; i++)
                if (w->folders[i].number == e->wd)
                    deleted = w->folders[i].path;
            at += sizeof(*e) + e->len;
        }
    }
    return deleted;
}

HRESULT folder_watch_wait(struct folder_watch *w, uint32_t timeout_ms)
{
    struct pollfd both[2] = {{.fd = w->inotify, .events = POLLIN}, {.fd = w->wake, .events = POLLIN}};
    uint64_t limit = clock_monotonic_ms() + timeout_ms, woken;
    int n;
    do {
        uint64_t now = clock_monotonic_ms();
        n = poll(both, 2, now >= limit ? 0 : limit - now > INT32_MAX ? INT32_MAX : (int)(limit - now));
    } while ((n < 0 && errno == EINTR) || (!n && clock_monotonic_ms() < limit));
    if (n < 0)
        return posix_failed(errno, w->folders[0].path);
    if (!n)
        return S_FALSE;
    if (both[1].revents && read(w->wake, &woken, sizeof(woken)) < 0 && errno != EAGAIN)
        return posix_failed(errno, w->folders[0].path);
    const char *deleted = both[0].revents ? take_changes(w) : NULL;
    return deleted ? posix_failed(ENOENT, deleted) : S_OK;
}

void folder_watch_wake(struct folder_watch *w)
{
    uint64_t one = 1;
    while (write(w->wake, &one, sizeof(one)) < 0 && errno == EINTR)
        ; /* EAGAIN: the wake is already pending */
}

void folder_watch_close(struct folder_watch *w)
{
    if (!w)
        return;
    if (w->inotify >= 0)
        close(w->inotify);
    if (w->wake >= 0)
        close(w->wake);
    for (int i = 0; i < w->count; i++)
        memory_free(w->folders[i].path);
    memory_free(w);
}
