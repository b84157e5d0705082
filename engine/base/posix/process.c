/* SPDX-License-Identifier: MIT */
/* Starts processes on Linux, independently of this process, and watches them through /proc. */
#include "engine/base/process.h"

#include "engine/base/clock.h"
#include "engine/base/command_line.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/posix/posix_call.h"

#include <stdio.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct process {
    pid_t id;
    uint64_t start_time; /* 0: the process is a child of this process, which reaps it */
    bool ended;
    uint32_t exit_code;
};

/* Starts the process in a new session without a terminal, and with default signals. The standard streams are connected
   to /dev/null; the process inherits no other descriptors. */
static int process_spawn(const struct program *program, char **arguments, pid_t *id)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    if (posix_spawn_file_actions_init(&actions))
        return ENOMEM;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (!error && program->directory)
        error = posix_spawn_file_actions_addchdir_np(&actions, program->directory);
    if (!error)
        error = posix_spawnattr_setsigmask(&attributes, &none);
    if (!error)
        error = posix_spawnattr_setsigdefault(&attributes, &all);
    if (!error)
        error =
            posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!error)
        error = posix_spawn(id, program->path, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

HRESULT process_start(const struct program *program, struct process **out)
{
    size_t count = program->argument_count;
    *out = NULL;
    if (program->account)
        return error_set(
            PLA_E_CREDENTIALS_REQUIRED,
            "cannot run '%s' as '%s': on this host OS, processes can be started only under the current account",
            program->path, program->account->name);
    struct texts more = {0};
    struct process *p = memory_zero(1, sizeof(*p));
    HRESULT hr = p ? command_line_split(program->line ? program->line : "", &more) : E_OUTOFMEMORY;
    char **list = SUCCEEDED(hr) ? memory_zero(count + more.count + 2, sizeof(char *)) : NULL;
    if (!list) {
        memory_free(p);
        texts_free(&more);
        return E_OUTOFMEMORY;
    }
    /* posix_spawn expects char *, but does not write to the strings */
    memcpy(list, &program->path, sizeof(program->path));
    if (count)
        memcpy(list + 1, program->arguments, count * sizeof(*program->arguments));
    if (more.count)
        memcpy(list + 1 + count, more.items, more.count * sizeof(*more.items));
    int error = process_spawn(program, list, &p->id);
    memory_free(list);
    texts_free(&more);
    if (error) {
        memory_free(p);
        return posix_failed(error, program->path);
    }
    *out = p;
    TRACE_STEP(base, "process %u started: %s", (unsigned)p->id, program->path);
    return S_OK;
}

uint32_t process_id(const struct process *p)
{
    return (uint32_t)p->id;
}

static bool process_reap(struct process *p)
{
    int status;
    if (p->start_time)
        p->ended = p->ended || !process_alive((uint32_t)p->id, p->start_time);
    else if (!p->ended && waitpid(p->id, &status, WNOHANG) == p->id) {
        p->ended = true;
        p->exit_code = WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : 128u + (uint32_t)WTERMSIG(status);
    }
    return p->ended;
}

HRESULT process_wait(struct process *p, uint32_t timeout_ms, uint32_t *exit_code)
{
    uint64_t limit = clock_monotonic_ms() + timeout_ms;
    if (!process_reap(p) && timeout_ms) {
        int fd = (int)syscall(SYS_pidfd_open, p->id, 0);
        for (uint64_t now; !process_reap(p) && (now = clock_monotonic_ms()) < limit;) {
            uint64_t rest = limit - now;
            struct pollfd wait = {.fd = fd, .events = POLLIN};
            if (fd < 0 && rest > 2)
                rest = 2; /* old kernels lack pidfd_open */
            poll(&wait, fd < 0 ? 0 : 1, rest > 60000 ? 60000 : (int)rest);
        }
        if (fd >= 0)
            close(fd);
    }
    if (!process_reap(p))
        return S_FALSE;
    if (exit_code)
        *exit_code = p->exit_code;
    return S_OK;
}

void process_close(struct process *p)
{
    if (!p)
        return;
    process_reap(p);
    memory_free(p);
}

uint32_t process_own_id(void)
{
    return (uint32_t)getpid();
}

char *process_own_sid(void)
{
    return text_copy("");
}

/* Reads the state letter and the start time (field 22, ticks since boot) from /proc/<id>/stat. */
static bool read_stat(uint32_t id, char *status, uint64_t *start)
{
    char path[32], text[1024];
    unsigned long long ticks;
    snprintf(path, sizeof(path), "/proc/%u/stat", (unsigned)id);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = 0;
    char *after = strrchr(text, ')'); /* the name before it may contain any character */
    if (!after || sscanf(after + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                         status, &ticks) != 2)
        return false;
    *start = ticks;
    return true;
}

uint64_t process_start_time(uint32_t id)
{
    uint64_t start;
    char status;
    return read_stat(id, &status, &start) ? start : 0;
}

bool process_alive(uint32_t id, uint64_t start_time)
{
    uint64_t start;
    char status;
    return start_time && read_stat(id, &status, &start) && start == start_time && status != 'Z' && status != 'X';
}

HRESULT process_open(uint32_t id, uint64_t start_time, struct process **out)
{
    *out = NULL;
    if (!process_alive(id, start_time))
        return S_FALSE;
    struct process *p = memory_zero(1, sizeof(*p));
    if (!p)
        return E_OUTOFMEMORY;
    p->id = (pid_t)id;
    p->start_time = start_time;
    *out = p;
    return S_OK;
}

bool process_has_thread(uint32_t id, uint64_t start_time, uint32_t thread)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/task/%u", (unsigned)id, (unsigned)thread);
    return access(path, F_OK) == 0 && process_alive(id, start_time);
}

HRESULT process_program(uint32_t id, uint64_t start_time, char **path)
{
    static const char deleted[] = " (deleted)"; /* added by Linux if the file was replaced after the start */
    char link[32], target[PATH_MAX];
    *path = NULL;
    snprintf(link, sizeof(link), "/proc/%u/exe", (unsigned)id);
    ssize_t n = readlink(link, target, sizeof(target));
    int error = errno;
    if (!process_alive(id, start_time))
        return S_FALSE;
    if (n < 0)
        return posix_failed(error, "reading the program of a process");
    size_t length = (size_t)n, tail = sizeof(deleted) - 1;
    if (length > tail && !memcmp(target + length - tail, deleted, tail))
        length -= tail;
    *path = text_copy_n(target, length);
    return *path ? S_OK : E_OUTOFMEMORY;
}

HRESULT process_terminate(uint32_t id, uint64_t start_time)
{
    int fd = (int)syscall(SYS_pidfd_open, (pid_t)id, 0), error = 0;
    /* The descriptor refers to the same process for as long as it is open, even if another process gets the id. */
    bool alive = process_alive(id, start_time);
    if (alive && (fd < 0 ? kill((pid_t)id, SIGKILL) : (int)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0)))
        error = errno;
    if (fd >= 0)
        close(fd);
    if (!alive || error == ESRCH)
        return S_FALSE;
    return error ? posix_failed(error, "terminating a process") : S_OK;
}
