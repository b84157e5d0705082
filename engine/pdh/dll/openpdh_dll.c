/* SPDX-License-Identifier: MIT */
/* What only openpdh.dll has: the answer of the functions that are not implemented, and what needs Windows' events. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/base/timed_work.h"
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/pdh.h"

#include <windows.h>

/* Targets of the .def file's aliases, by their number of parameters: in 32 bits the function takes them off the stack.
   0 stands for those too whose parameters no header tells. */
#define NOT_IMPLEMENTED(count, ...)                                                                                    \
    PDH_STATUS WINAPI pdh_not_implemented_##count(__VA_ARGS__);                                                        \
    PDH_STATUS WINAPI pdh_not_implemented_##count(__VA_ARGS__)                                                         \
    {                                                                                                                  \
        return PDH_NOT_IMPLEMENTED;                                                                                    \
    }
NOT_IMPLEMENTED(0, void)
NOT_IMPLEMENTED(1, DWORD_PTR)
NOT_IMPLEMENTED(2, DWORD_PTR, DWORD_PTR)
NOT_IMPLEMENTED(3, DWORD_PTR, DWORD_PTR, DWORD_PTR)
NOT_IMPLEMENTED(4, DWORD_PTR, DWORD_PTR, DWORD_PTR, DWORD_PTR)
NOT_IMPLEMENTED(5, DWORD_PTR, DWORD_PTR, DWORD_PTR, DWORD_PTR, DWORD_PTR)
NOT_IMPLEMENTED(7, DWORD_PTR, DWORD_PTR, DWORD_PTR, DWORD_PTR, DWORD_PTR, DWORD_PTR, DWORD_PTR)

/* A thread that collects a query's data every few seconds and says so by an event. */
struct collecting {
    struct query *query;
    HANDLE event;
    DWORD interval_ms;
    struct wakeup *end;
    struct thread *thread;
};

static void collect_on(void *user)
{
    const struct collecting *c = user;
    uint64_t next = clock_monotonic_ms() + c->interval_ms;
    for (;;) {
        uint64_t now = clock_monotonic_ms();
        if (wakeup_wait(c->end, next > now ? (uint32_t)(next - now) : 0))
            return;
        next += c->interval_ms;
        query_collect(c->query, NULL);
        SetEvent(c->event);
    }
}

static void collecting_free(struct collecting *c)
{
    thread_close(c->thread);
    wakeup_free(c->end);
    if (c->event)
        CloseHandle(c->event);
    memory_free(c);
}

/* Puts another collector, or none, in the place of the query's and waits for the end of that one, which may need the
   query's lock for it. */
static void replace_collecting(struct query *q, struct collecting *c, void (*end)(struct query *q))
{
    query_enter(q);
    struct collecting *before = q->collecting;
    q->collecting = c;
    q->end_collecting = end;
    query_leave(q);
    if (before) {
        wakeup_set(before->end);
        thread_wait(before->thread, UINT32_MAX);
        collecting_free(before);
    }
}

static void end_collecting(struct query *q)
{
    replace_collecting(q, NULL, NULL);
}

/* Until the query is closed or this is called anew. */
PDH_STATUS WINAPI PdhCollectQueryDataEx(PDH_HQUERY query, DWORD seconds, HANDLE event)
{
    struct query *q = api_query(query);
    if (!q)
        return PDH_INVALID_HANDLE;
    if (!seconds || seconds > UINT32_MAX / 1000 || !event)
        return PDH_INVALID_ARGUMENT;
    end_collecting(q);
    struct collecting *c = memory_zero(1, sizeof *c);
    if (!c)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    c->query = q;
    c->interval_ms = seconds * 1000;
    HANDLE self = GetCurrentProcess();
    HRESULT hr = DuplicateHandle(self, event, self, &c->event, 0, FALSE, DUPLICATE_SAME_ACCESS) ? S_OK : E_INVALIDARG;
    if (SUCCEEDED(hr))
        hr = wakeup_create(&c->end);
    if (SUCCEEDED(hr))
        hr = thread_start(collect_on, c, &c->thread);
    if (FAILED(hr)) {
        collecting_free(c);
        return hr == E_INVALIDARG ? (PDH_STATUS)PDH_INVALID_ARGUMENT : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    replace_collecting(q, c, end_collecting); /* another thread may have been here meanwhile */
    return ERROR_SUCCESS;
}

/* Windows' other source of live data, WMI, gives the same figures: both choices are taken. */
PDH_STATUS WINAPI PdhSetDefaultRealTimeDataSource(DWORD source)
{
    return source == DATA_SOURCE_REGISTRY || source == DATA_SOURCE_WBEM ? ERROR_SUCCESS
                                                                        : (PDH_STATUS)PDH_INVALID_ARGUMENT;
}

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved);
BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved)
{
    (void)module, (void)reserved;
    if (reason == DLL_THREAD_DETACH)
        timed_work_thread_leaves();
    return TRUE;
}
