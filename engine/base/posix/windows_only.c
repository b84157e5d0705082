/* SPDX-License-Identifier: MIT */
/* Stubs for parts of Windows that a POSIX host OS lacks: processes of a Wine prefix, the event log, structured
   exceptions, thread detach notifications, WMI and the Task Scheduler. */
#include "engine/base/guard.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "engine/base/windows_services.h"

#include <stddef.h>

HRESULT windows_threads(struct windows_thread **out, size_t *count)
{
    *out = NULL;
    *count = 0;
    return S_OK;
}

uint32_t windows_threads_mark(void)
{
    return 0;
}

HRESULT windows_thread_show(const struct windows_thread *thread, uint64_t *from, uint64_t *to)
{
    (void)thread;
    *from = *to = 0;
    return S_FALSE;
}

HRESULT windows_process_read(uint32_t id, struct windows_process *out)
{
    (void)id;
    *out = (struct windows_process){0};
    return S_FALSE;
}

HRESULT event_log_write(uint32_t id, uint8_t level, const struct event_log_field *fields, size_t count)
{
    (void)id, (void)level, (void)fields, (void)count;
    return S_FALSE;
}

bool guard_call(void (*call)(void *argument), void *argument, enum guard_takes takes, void (*left)(void *argument))
{
    (void)takes, (void)left;
    call(argument);
    return true;
}

void last_thread_leaves(void)
{
}

bool last_thread_is_own(uint32_t others)
{
    (void)others;
    return false;
}

void last_thread_end_process(void)
{
}

HRESULT management_query(const char *namespace_path, const char *query,
                         HRESULT (*take)(void *user, struct management_row *row), void *user)
{
    (void)query;
    (void)take;
    (void)user;
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "cannot query '%.300s': this host OS has no WMI",
                     namespace_path);
}

const struct task_scheduler *host_task_scheduler(void)
{
    return NULL;
}
