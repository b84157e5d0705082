/* SPDX-License-Identifier: MIT */
/* Reads kernel files through descriptors that stay open, because a read at offset 0 returns current values. */
#include "engine/base/kernel_file.h"

#include "engine/base/memory.h"
#include "engine/base/posix/posix_call.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct kernel_file {
    int fd;
    char *text;
    size_t capacity;
    char path[];
};

HRESULT kernel_file_open(const char *path, struct kernel_file **out)
{
    size_t length = strlen(path);
    struct kernel_file *f = memory_zero(1, sizeof(*f) + length + 1);
    *out = NULL;
    if (!f)
        return E_OUTOFMEMORY;
    memcpy(f->path, path, length + 1);
    f->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (f->fd < 0) {
        int error = errno;
        memory_free(f);
        return posix_failed(error, path);
    }
    *out = f;
    return S_OK;
}

static HRESULT read_all(struct kernel_file *f, bool piece, const char **text, size_t *size)
{
    size_t length = 0;
    for (;;) {
        void *grown = f->text;
        ssize_t n;
        if (f->capacity < length + 512 && !memory_grow(&grown, &f->capacity, length + 2048, 1))
            return E_OUTOFMEMORY;
        f->text = grown;
        n = pread(f->fd, f->text + length, f->capacity - length - 1, (off_t)length);
        if (!n)
            break;
        if (n > 0)
            length += (size_t)n;
        else if (errno != EINTR)
            return posix_failed(errno, f->path);
        if (n > 0 && piece && length + 1 < f->capacity)
            break;
    }
    f->text[length] = 0;
    *text = f->text;
    *size = length;
    return S_OK;
}

HRESULT kernel_file_read(struct kernel_file *f, const char **text, size_t *size)
{
    return read_all(f, false, text, size);
}

HRESULT kernel_file_read_piece(struct kernel_file *f, const char **text, size_t *size)
{
    return read_all(f, true, text, size);
}

void kernel_file_close(struct kernel_file *f)
{
    if (!f)
        return;
    close(f->fd);
    memory_free(f->text);
    memory_free(f);
}

size_t kernel_file_share(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur < 128)
        return 64;
    return limit.rlim_cur < 40000 ? (size_t)limit.rlim_cur / 2 : 20000;
}

HRESULT kernel_folder_each(const char *path, HRESULT (*each)(void *user, const char *name), void *user)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    HRESULT hr = S_OK;
    if (!directory)
        return posix_failed(errno, path);
    while (SUCCEEDED(hr) && (entry = readdir(directory)))
        hr = each(user, entry->d_name);
    closedir(directory);
    return hr;
}

HRESULT kernel_folder_each_like(const char *path, const char *prefix, size_t more,
                                HRESULT (*each)(void *user, const char *name), void *user)
{
    (void)prefix, (void)more;
    return kernel_folder_each(path, each, user);
}

HRESULT kernel_folder_space(const char *path, uint64_t *size, uint64_t *free)
{
    struct statvfs s;
    if (statvfs(path, &s))
        return posix_failed(errno, path);
    *size = (uint64_t)s.f_blocks * s.f_frsize;
    *free = (uint64_t)s.f_bavail * s.f_frsize;
    return S_OK;
}

struct kernel_stream {
    int fd;
    char path[];
};

HRESULT kernel_control_write(const char *path, const char *text)
{
    const size_t length = strlen(text);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return posix_failed(errno, path);
    const ssize_t n = write(fd, text, length);
    const int error = n < 0 ? errno : EIO;
    close(fd);
    return n == (ssize_t)length ? S_OK : posix_failed(error, path);
}

HRESULT kernel_control_folder(const char *path)
{
    if (mkdir(path, 0750) == 0)
        return S_OK;
    return errno == EEXIST ? error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "'%s' already exists", path)
                           : posix_failed(errno, path);
}

HRESULT kernel_control_remove(const char *path)
{
    return rmdir(path) == 0 || errno == ENOENT ? S_OK : posix_failed(errno, path);
}

const char *kernel_trace_clock(void)
{
    return "mono";
}

HRESULT kernel_stream_open(const char *path, struct kernel_stream **out)
{
    const size_t length = strlen(path);
    struct kernel_stream *s = memory_zero(1, sizeof(*s) + length + 1);
    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    memcpy(s->path, path, length + 1);
    s->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (s->fd < 0) {
        const int error = errno;
        memory_free(s);
        return posix_failed(error, path);
    }
    *out = s;
    return S_OK;
}

HRESULT kernel_stream_read(struct kernel_stream *s, void *to, uint32_t bytes)
{
    for (;;) {
        const ssize_t n = read(s->fd, to, bytes);
        if (n == (ssize_t)bytes)
            return S_OK;
        if (n >= 0 || errno == EAGAIN)
            return S_FALSE;
        if (errno != EINTR)
            return posix_failed(errno, s->path);
    }
}

void kernel_stream_close(struct kernel_stream *s)
{
    if (!s)
        return;
    close(s->fd);
    memory_free(s);
}
