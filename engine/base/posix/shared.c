/* SPDX-License-Identifier: MIT */
/* Named memory, signals and mutexes on Linux. A name exists in the account's folder as long as at least one process
   holds a shared flock on it. A process that gets the exclusive lock is the only user: anything that it finds was left
   by processes that have exited. */
#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/guard.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/posix/posix_call.h"
#include "engine/base/process.h"

#include <stdatomic.h>
#include <stdio.h>
#include <dirent.h>
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

/* ---- the folder ----
   One folder below /dev/shm contains the names of all objects that processes of this account share. The folder has mode
   0700 and belongs to this account, so nobody else can create files or links in it. The folder's name is "openpla-UID",
   or, if another account uses that name, "openpla-UID-KEY" with a random key. If several folders are valid, the first
   one by name is used. */

#define SHARED_FOLDER_ROOT "/dev/shm"

enum { NAME_ROOM = 80, MAKE_TRIES = 100 };

static struct lock lock = LOCK_INIT;
static char known[NAME_ROOM]; /* Access it only while holding the lock; "": not known yet. */

static int shared_folder_open_own(int root, const char *name, int *out)
{
    struct stat st;
    const int fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno;
    if (!fstat(fd, &st) && st.st_uid == geteuid() && (st.st_mode & 077) == 0) {
        *out = fd;
        return 0;
    }
    close(fd);
    return EACCES;
}

/* Finds the first valid folder by name. False: not found. */
static bool shared_folder_find(int root, const char *plain, char name[NAME_ROOM])
{
    const size_t length = strlen(plain);
    const int again = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    name[0] = 0;
    for (struct dirent *e; list && (e = readdir(list));) {
        int fd = -1;
        if (strncmp(e->d_name, plain, length) != 0 || (e->d_name[length] && e->d_name[length] != '-') ||
            strlen(e->d_name) >= NAME_ROOM || (name[0] && strcmp(e->d_name, name) >= 0) ||
            shared_folder_open_own(root, e->d_name, &fd))
            continue;
        close(fd);
        memcpy(name, e->d_name, strlen(e->d_name) + 1);
    }
    if (list)
        closedir(list);
    else if (again >= 0)
        close(again);
    return name[0] != 0;
}

static int shared_folder_make(int root, const char *plain)
{
    char key[SHARED_KEY_DIGITS + 1], name[NAME_ROOM];
    if (!mkdirat(root, plain, 0700))
        return 0;
    if (errno != EEXIST)
        return errno;
    if (FAILED(shared_new_key(key)))
        return EIO;
    snprintf(name, sizeof name, "%s-%s", plain, key);
    return mkdirat(root, name, 0700) && errno != EEXIST ? errno : 0;
}

/* The caller must hold the lock. */
static int shared_folder_open_known(int root, int *out)
{
    char plain[NAME_ROOM];
    int error;
    if (known[0] && !shared_folder_open_own(root, known, out))
        return 0;
    snprintf(plain, sizeof plain, "openpla-%lu", (unsigned long)geteuid());
    for (int i = 0; i < MAKE_TRIES; i++) {
        if (shared_folder_find(root, plain, known) && !shared_folder_open_own(root, known, out))
            return 0;
        error = shared_folder_make(root, plain);
        if (error)
            return error;
    }
    return EACCES;
}

/* Opens the folder, and creates it if it is missing. Returns 0 or errno. */
static int shared_folder_open(int *out)
{
    const int root = open(SHARED_FOLDER_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return errno;
    lock_enter(&lock);
    const int error = shared_folder_open_known(root, out);
    lock_leave(&lock);
    close(root);
    return error;
}

HRESULT section_folder(char **out)
{
    int fd = -1;
    const int error = shared_folder_open(&fd);
    *out = NULL;
    if (error)
        return posix_failed(error, SHARED_FOLDER_ROOT);
    close(fd);
    lock_enter(&lock);
    *out = text_format("%s/%s", SHARED_FOLDER_ROOT, known);
    lock_leave(&lock);
    return *out ? S_OK : E_OUTOFMEMORY;
}

void sections_sweep(void)
{
}

/* ---- sections ---- */

struct section {
    int fd;
    void *memory;
    size_t size;
    struct mapped_file *mapped;
    bool lasting;
    char name[];
};

#define LOCK_PATIENCE 1000 /* ms; the exclusive lock is held only briefly, except by a hostile process */
#define OPEN_TRIES    100  /* attempts, for a name that is created and removed repeatedly */

/* Like shm_open and shm_unlink, in the folder. Return 0 or errno. */
static int name_open(const char *name, int flags, int *out)
{
    int folder = -1, error = shared_folder_open(&folder);
    if (error)
        return error;
    *out = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    error = *out < 0 ? errno : 0;
    close(folder);
    return error;
}

static int name_delete(const char *name)
{
    int folder = -1, error = shared_folder_open(&folder);
    if (error)
        return error;
    error = unlinkat(folder, name, 0) ? errno : 0;
    close(folder);
    return error;
}

static int lock_shared(int fd)
{
    uint64_t limit = clock_monotonic_ms() + LOCK_PATIENCE;
    int error;
    while ((error = posix_flock(fd, LOCK_SH)) == EWOULDBLOCK && clock_monotonic_ms() < limit)
        usleep(200);
    return error == EWOULDBLOCK ? ETIMEDOUT : error;
}

/* Tries once. EAGAIN if the name was removed in the meantime. */
static int open_once(const char *name, size_t size, const struct shared *what, int *out)
{
    const bool create = what->create;
    int fd = -1, error = name_open(name, create ? O_CREAT : 0, &fd);
    struct stat st;
    if (error)
        return error;
    if (!fstat(fd, &st) && st.st_uid != geteuid()) {
        error = EACCES;
    } else if (!posix_flock(fd, LOCK_EX)) {
        if (fstat(fd, &st) || !st.st_nlink) {
            error = EAGAIN;
        } else if (!create) {
            (void)name_delete(name);
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

static int open_own(const char *name, int flags, struct stat *st, int *out)
{
    int fd = -1, error = name_open(name, flags, &fd);
    if (error)
        return error;
    if (fstat(fd, st))
        error = errno;
    else if (st->st_uid != geteuid() || (st->st_mode & 077))
        error = EACCES;
    if (error)
        close(fd);
    else
        *out = fd;
    return error;
}

/* Allocates the section's space now. Otherwise, if the file system is full, the first use of a page would raise
   SIGBUS. */
static int open_lasting(const char *name, size_t size, const struct shared *what, int *out)
{
    struct stat st = {0};
    int error = open_own(name, (what->create ? O_CREAT : 0) | (what->fresh ? O_EXCL : 0), &st, out);
    if (error)
        return error;
    if ((uint64_t)st.st_size < size)
        error = what->create ? posix_take_room(*out, size) : EINVAL;
    if (error) {
        close(*out);
        if (what->fresh)
            (void)name_delete(name);
    }
    return error;
}

HRESULT section_open(const struct shared *what, size_t size, struct section **out)
{
    const size_t room = strlen(what->name) + 1;
    struct section *s = memory_alloc(sizeof(*s) + room);
    int error, tries = 0;
    *out = NULL;
    TRACE_STEP(base, "section %s: open%s, %zu bytes", what->name, what->create ? " or create" : "", size);
    if (!s)
        return E_OUTOFMEMORY;
    s->lasting = what->lasting;
    memcpy(s->name, what->name, room);
    s->size = size ? size : 1;
    do
        error =
            what->lasting ? open_lasting(s->name, s->size, what, &s->fd) : open_once(s->name, s->size, what, &s->fd);
    while (error == EAGAIN && ++tries < OPEN_TRIES);
    if (!error) {
        s->memory = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
        error = s->memory == MAP_FAILED ? errno : 0;
        if (!error && FAILED(mapped_file_add(s->memory, s->size, s->fd, &s->mapped))) {
            munmap(s->memory, s->size);
            error = ENOMEM;
        }
        if (error)
            close(s->fd);
    }
    if (error) {
        memory_free(s);
        return error == EEXIST ? error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "'%s' is another's", what->name)
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
    mapped_file_remove(s->mapped);
    munmap(s->memory, s->size);
    if (!s->lasting && !posix_flock(s->fd, LOCK_EX))
        (void)name_delete(s->name);
    close(s->fd);
    memory_free(s);
}

HRESULT section_delete(const char *name)
{
    const int error = name_delete(name);
    if (!error)
        return S_OK;
    return error == ENOENT ? S_FALSE : posix_failed(error, name);
}

HRESULT section_is_named(struct section *s, const char *name)
{
    struct stat own = {0}, there = {0};
    int fd = -1, error;
    if (!s->lasting)
        return S_OK;
    if (fstat(s->fd, &own))
        return posix_failed(errno, name);
    error = open_own(s->name, 0, &there, &fd);
    if (error)
        return error == ENOENT || error == EACCES ? S_FALSE : posix_failed(error, name);
    close(fd);
    return own.st_dev == there.st_dev && own.st_ino == there.st_ino ? S_OK : S_FALSE;
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
    /* Wake all waiting threads. If only one were woken, it could be killed before it consumes the signal. */
    syscall(SYS_futex, e->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return S_OK;
}

HRESULT signal_wait_or_processes(struct signal *e, struct process *const *p, size_t count, uint32_t timeout_ms,
                                 size_t *ended)
{
    uint64_t limit = clock_monotonic_ms() + timeout_ms;
    for (;;) {
        uint32_t set = 1;
        uint64_t now, rest;
        struct timespec wait;
        if (atomic_compare_exchange_strong(e->word, &set, 0))
            return S_OK;
        for (size_t i = 0; i < count; i++) {
            if (process_wait(p[i], 0, NULL) == S_OK) {
                *ended = i;
                return atomic_exchange(e->word, 0) ? S_OK : E_ABORT;
            }
        }
        now = clock_monotonic_ms();
        if (now >= limit && timeout_ms != UINT32_MAX)
            return S_FALSE;
        rest = timeout_ms == UINT32_MAX ? 60000 : limit - now;
        if (count && rest > 10)
            rest = 10; /* the exit of a process does not wake a futex */
        wait.tv_sec = (time_t)(rest / 1000);
        wait.tv_nsec = (long)(rest % 1000) * 1000000;
        syscall(SYS_futex, e->word, FUTEX_WAIT, 0, &wait, NULL, 0);
    }
}

HRESULT signal_wait_or_process(struct signal *e, struct process *p, uint32_t timeout_ms)
{
    size_t ended;
    HRESULT hr = signal_wait_or_processes(e, &p, p ? 1 : 0, timeout_ms, &ended);
    return hr == E_ABORT ? error_set(hr, "process %u exited before the signal was set", (unsigned)process_id(p)) : hr;
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

/* A lock belongs to an open file description, so each acquisition opens the file again. Threads and forked processes
   therefore do not share a lock. */
struct mutex {
    int fd; /* the holder's descriptor */
    char name[];
};

HRESULT mutex_open(const char *name, struct mutex **out)
{
    static const char kind[] = ".mutex";
    const size_t room = strlen(name) + sizeof kind;
    struct mutex *m = memory_alloc(sizeof(*m) + room);
    *out = NULL;
    if (!m)
        return E_OUTOFMEMORY;
    snprintf(m->name, room, "%s%s", name, kind);
    *out = m;
    return S_OK;
}

HRESULT mutex_take(struct mutex *m, uint32_t timeout_ms)
{
    uint64_t limit = clock_monotonic_ms() + timeout_ms;
    struct stat st;
    int fd = -1, error = open_own(m->name, O_CREAT, &st, &fd);
    if (error)
        return posix_failed(error, m->name);
    if (timeout_ms == UINT32_MAX)
        do
            error = flock(fd, LOCK_EX) ? errno : 0;
        while (error == EINTR);
    else
        while ((error = posix_flock(fd, LOCK_EX)) == EWOULDBLOCK && clock_monotonic_ms() < limit)
            usleep(200);
    if (!error) {
        m->fd = fd;
        return S_OK;
    }
    close(fd);
    return error == EWOULDBLOCK ? S_FALSE : posix_failed(error, m->name);
}

void mutex_release(struct mutex *m)
{
    close(m->fd);
}

void mutex_close(struct mutex *m)
{
    memory_free(m);
}
