/* SPDX-License-Identifier: MIT */
/* The trace switch on POSIX systems: reads its environment variables and writes its file. */
#include "engine/base/base_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

uint32_t debug_trace_process(void)
{
    return (uint32_t)getpid();
}

size_t debug_trace_head(char *text, size_t size)
{
    struct timespec now;
    struct tm t;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &t);
    const size_t length = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &t);
    return length + (size_t)snprintf(text + length, size - length, ".%06ldZ %d.%d", now.tv_nsec / 1000, (int)getpid(),
                                     (int)gettid());
}

void debug_trace_setting(const char *name, char *text, size_t size)
{
    const char *set = getenv(name);
    snprintf(text, size, "%s", set ? set : "");
}

intptr_t debug_trace_open(const char *path)
{
    const int fd = *path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    return fd < 0 ? STDERR_FILENO : fd;
}

void debug_trace_close(intptr_t file)
{
    if (file != STDERR_FILENO)
        close((int)file);
}

void debug_trace_write(intptr_t file, const char *line, size_t size)
{
    /* One call per line, so that lines of several processes that share the file do not mix. */
    const ssize_t written = write((int)file, line, size);
    (void)written;
}

uint32_t debug_trace_last_error(void)
{
    return 0;
}

void debug_trace_restore_last_error(uint32_t code)
{
    (void)code;
}

void debug_trace_end_process(uint32_t code)
{
    (void)code;
    abort();
}
