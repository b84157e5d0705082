/* SPDX-License-Identifier: MIT */
#include "engine/base/windows_task.h"

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
