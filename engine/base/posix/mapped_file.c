/* SPDX-License-Identifier: MIT */
/* Handles SIGBUS, which is raised when a program accesses a mapped page after the end of the file. */
#include "engine/base/guard.h"
#include "engine/base/posix/posix_call.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static struct sigaction before;

static void pass_on(int number, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
    else
        (void)sigaction(number, &before, NULL); /* the instruction runs again, and now terminates the process */
}

/* Extends the file and allocates its space immediately. Otherwise, if the file system is full, the access would raise
   SIGBUS again at the same place. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    const struct mapped_file *m = info->si_code == BUS_ADRERR ? mapped_file_at((uintptr_t)info->si_addr) : NULL;
    if (!m || posix_take_room((int)m->file, m->size))
        pass_on(number, info, context);
    errno = error;
}

HRESULT mapped_file_watch(void)
{
    static struct lock lock = LOCK_INIT;
    struct sigaction own = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO}, now;
    HRESULT hr = S_OK;
    sigemptyset(&own.sa_mask);
    lock_enter(&lock);
    /* A program may have replaced the handler in the meantime. */
    if (sigaction(SIGBUS, NULL, &now))
        hr = posix_failed(errno, "installing a SIGBUS handler");
    else if ((now.sa_flags & SA_SIGINFO) == 0 || now.sa_sigaction != on_bus_error) {
        before = now;
        if (sigaction(SIGBUS, &own, NULL))
            hr = posix_failed(errno, "installing a SIGBUS handler");
    }
    lock_leave(&lock);
    return hr;
}
