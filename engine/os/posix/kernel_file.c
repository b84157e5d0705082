/* SPDX-License-Identifier: MIT */
/* Kernel files through descriptors that are kept: a read at offset 0 gives fresh figures. */
#include "engine/os/kernel_file.h"
#include "engine/os/memory.h"
#include "engine/os/posix/posix_call.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
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
    int error;

    *out = NULL;
    if (!f)
        return E_OUTOFMEMORY;
    memcpy(f->path, path, length + 1);
    f->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (f->fd < 0) {
        error = errno;
        memory_free(f);
        return posix_failed(error, path);
    }
    *out = f;
    return S_OK;
}

HRESULT kernel_file_read(struct kernel_file *f, const char **text, size_t *size)
{
    size_t length = 0;

    for (;;) {
        void *grown = f->text;
        ssize_t n;

        if (!memory_grow(&grown, &f->capacity, length + 4096, 1))
            return E_OUTOFMEMORY;
        f->text = grown;
        n = pread(f->fd, f->text + length, f->capacity - length - 1, (off_t)length);
        if (!n)
            break;
        if (n > 0)
            length += (size_t)n;
        else if (errno != EINTR)
            return posix_failed(errno, f->path);
    }
    f->text[length] = 0;
    *text = f->text;
    *size = length;
    return S_OK;
}

void kernel_file_close(struct kernel_file *f)
{
    if (!f)
        return;
    close(f->fd);
    memory_free(f->text);
    memory_free(f);
}

HRESULT kernel_process_ids(uint32_t **ids, size_t *count)
{
    DIR *directory = opendir("/proc");
    void *list = NULL;
    size_t n = 0, capacity = 0;
    struct dirent *entry;

    *ids = NULL;
    *count = 0;
    if (!directory)
        return posix_failed(errno, "/proc");
    while ((entry = readdir(directory)) != NULL) {
        uint32_t id = 0;
        const char *c = entry->d_name;

        while (*c >= '0' && *c <= '9')
            id = id * 10 + (uint32_t)(*c++ - '0');
        if (*c)
            continue;
        if (!memory_grow(&list, &capacity, n + 1, sizeof(uint32_t))) {
            closedir(directory);
            memory_free(list);
            return E_OUTOFMEMORY;
        }
        ((uint32_t *)list)[n++] = id;
    }
    closedir(directory);
    *ids = list;
    *count = n;
    return S_OK;
}
