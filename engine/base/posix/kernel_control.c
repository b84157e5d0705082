/* SPDX-License-Identifier: MIT */
#include "engine/base/kernel_control.h"

#include "engine/base/memory.h"
#include "engine/base/posix/posix_call.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    return errno == EEXIST ? error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "\"%s\": is there already", path)
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
