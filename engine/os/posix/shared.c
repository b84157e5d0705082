/* SPDX-License-Identifier: MIT */
/* Named memory and signals on Linux. A name lives in /dev/shm as long as one process holds a shared flock on it:
   whoever gets the exclusive lock is alone, and what it finds there was left by the dead. */
#include "engine/os/clock.h"
#include "engine/os/memory.h"
#include "engine/os/posix/posix_call.h"
#include "engine/os/process.h"

#include <stdatomic.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct section {
    int fd;
    void *memory;
    size_t size;
    char name[];
};

#define LOCK_PATIENCE 1000 /* ms; the exclusive lock is held for moments, or by somebody who means no good */
#define OPEN_TRIES    100  /* under a name that comes and goes */

static int lock_shared(int fd)
{
    uint64_t limit = clock_monotonic_ms() + LOCK_PATIENCE;
    int error;
    while ((error = posix_flock(fd, LOCK_SH)) == EWOULDBLOCK && clock_monotonic_ms() < limit)
        usleep(200);
    return error == EWOULDBLOCK ? ETIMEDOUT : error;
}

/* One try; EAGAIN when the name was removed meanwhile. */
static int open_once(const char *name, size_t size, const struct shared *what, int *out)
{
    const bool create = what->create;
    int fd = shm_open(name, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0600), error = 0;
    struct stat st;
    if (fd < 0)
        return errno;
    if (!fstat(fd, &st) && st.st_uid != geteuid()) {
        error = EACCES;
    } else if (!posix_flock(fd, LOCK_EX)) {
        if (fstat(fd, &st) || !st.st_nlink) {
            error = EAGAIN;
        } else if (!create) {
            shm_unlink(name);
            error = ENOENT;
        } else if (ftruncate(fd, 0) || ftruncate(fd, (off_t)size)) {
            error = errno;
        }
    } else if (what->fresh) {
        error = EEXIST;
    }
    if (!error)
        error = lock_shared(fd);
    if (!error && (fstat(fd, &st) || !st.st_nlink || !st.st_size))
        error = EAGAIN;
    else if (!error && (uint64_t)st.st_size < size)
        error = EINVAL;
    if (error)
        close(fd);
    else
        *out = fd;
    return error;
}

HRESULT section_open(const struct shared *what, size_t size, struct section **out)
{
    size_t length = strlen(what->name);
    struct section *s = memory_alloc(sizeof(*s) + length + 2);
    int error, tries = 0;
    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    s->name[0] = '/';
    memcpy(s->name + 1, what->name, length + 1);
    s->size = size ? size : 1;
    do
        error = open_once(s->name, s->size, what, &s->fd);
    while (error == EAGAIN && ++tries < OPEN_TRIES);
    if (!error) {
        s->memory = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
        if (s->memory == MAP_FAILED) {
            error = errno;
            close(s->fd);
        }
    }
    if (error) {
        memory_free(s);
        return error == EEXIST ? error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "\"%s\" is another's", what->name)
                               : posix_failed(error, what->name);
    }
    *out = s;
    return S_OK;
}

void *section_memory(struct section *s)
{
    return s->memory;
}

HRESULT section_owner(struct section *s, char **owner)
{
    struct stat st;
    if (fstat(s->fd, &st))
        return posix_failed(errno, s->name);
    *owner = text_format("%lu", (unsigned long)st.st_uid);
    return *owner ? S_OK : E_OUTOFMEMORY;
}

void section_close(struct section *s)
{
    if (!s)
        return;
    munmap(s->memory, s->size);
    if (!posix_flock(s->fd, LOCK_EX))
        shm_unlink(s->name);
    close(s->fd);
    memory_free(s);
}

/* A signal is a section with one word: 1 = set. */
struct signal {
    struct section *section;
    _Atomic uint32_t *word;
};

HRESULT signal_open(const struct shared *what, struct signal **out)
{
    struct signal *e = memory_alloc(sizeof(*e));
    char *own = text_format("%s.event", what->name);
    HRESULT hr = E_OUTOFMEMORY;
    *out = NULL;
    if (e && own)
        hr = section_open(&(struct shared){.name = own, .create = what->create, .fresh = what->fresh}, sizeof(uint32_t),
                          &e->section);
    memory_free(own);
    if (FAILED(hr) || !e->section) {
        memory_free(e);
        return hr;
    }
    e->word = section_memory(e->section);
    *out = e;
    return S_OK;
}

HRESULT signal_set(struct signal *e)
{
    atomic_store(e->word, 1);
    /* All waiters: one that is woken alone could be killed before it takes the signal. */
    syscall(SYS_futex, e->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return S_OK;
}

HRESULT signal_wait_or_process(struct signal *e, struct process *p, uint32_t timeout_ms)
{
    uint64_t limit = clock_monotonic_ms() + timeout_ms;
    for (;;) {
        uint32_t set = 1;
        uint64_t now, rest;
        struct timespec wait;
        if (atomic_compare_exchange_strong(e->word, &set, 0))
            return S_OK;
        if (p && process_wait(p, 0, NULL) == S_OK)
            return atomic_exchange(e->word, 0) ? S_OK
                                               : error_set(E_ABORT, "process %u ended first", (unsigned)process_id(p));
        now = clock_monotonic_ms();
        if (now >= limit)
            return S_FALSE;
        rest = limit - now;
        if (p && rest > 10)
            rest = 10; /* an end of a process does not wake a futex */
        wait.tv_sec = (time_t)(rest / 1000);
        wait.tv_nsec = (long)(rest % 1000) * 1000000;
        syscall(SYS_futex, e->word, FUTEX_WAIT, 0, &wait, NULL, 0);
    }
}

HRESULT signal_wait(struct signal *e, uint32_t timeout_ms)
{
    return signal_wait_or_process(e, NULL, timeout_ms);
}

void signal_close(struct signal *e)
{
    if (!e)
        return;
    section_close(e->section);
    memory_free(e);
}
