/* SPDX-License-Identifier: MIT */
/* Entry points that only openpdh.dll has: the A forms, PDH's functions for Visual Basic, functions that are not
   implemented, and functions that need Windows' events. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/pdh.h"

#include <windows.h>
#include <string.h>

/* The functions to which the aliases in the .def file refer: one for each number of parameters, because a 32-bit
   function removes its parameters from the stack. The function without parameters also serves for functions that no
   header declares. */
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

/* A thread that collects a query's data every few seconds and sets an event. */
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

/* Replaces the query's collector (NULL: removes it) and waits for the old collector to end. The caller must not hold
   the query's lock, because the old collector may need it. */
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

/* Starts a thread that collects until the query is closed or this function is called again. */
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
    replace_collecting(q, c, end_collecting); /* another thread may have set a collector in the meantime */
    return ERROR_SUCCESS;
}

/* Accepts both sources of live data, because WMI, Windows' other source, has the same values. */
PDH_STATUS WINAPI PdhSetDefaultRealTimeDataSource(DWORD source)
{
    return source == DATA_SOURCE_REGISTRY || source == DATA_SOURCE_WBEM ? ERROR_SUCCESS
                                                                        : (PDH_STATUS)PDH_INVALID_ARGUMENT;
}

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved);
BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved)
{
    (void)module;
    if (reason == DLL_THREAD_DETACH)
        timed_work_thread_leaves();
    if (reason == DLL_PROCESS_DETACH && !reserved) /* FreeLibrary */
        handles_free();
    return TRUE;
}

/* ---- Visual Basic ---- */

/* The following functions are for Visual Basic. Other functions for Visual Basic, such as those with dialogs, are not
   implemented. Handles are in the caller's variables; strings are in the ANSI code page, in buffers that the caller has
   made long enough. A Visual Basic Long has 32 bits, like handles in its programs. */

PDH_STATUS WINAPI PdhVbOpenQuery(PDH_HQUERY *query);
PDH_STATUS WINAPI PdhVbAddCounter(PDH_HQUERY query, LPCSTR path, PDH_HCOUNTER *counter);
double WINAPI PdhVbGetDoubleCounterValue(PDH_HCOUNTER counter, LPDWORD status);
LONG WINAPI PdhVbIsGoodStatus(LONG status);
PDH_STATUS WINAPI PdhVbGetCounterPathElements(LPCSTR path, LPSTR machine, LPSTR object, LPSTR instance, LPSTR parent,
                                              LPSTR counter, DWORD size);

PDH_STATUS WINAPI PdhVbOpenQuery(PDH_HQUERY *query)
{
    return PdhOpenQueryW(NULL, 0, query);
}

PDH_STATUS WINAPI PdhVbAddCounter(PDH_HQUERY query, LPCSTR path, PDH_HCOUNTER *counter)
{
    return PdhAddCounterA(query, path, 0, counter);
}

/* Returns 0 if there is no value; *status is the reason. */
double WINAPI PdhVbGetDoubleCounterValue(PDH_HCOUNTER counter, LPDWORD status)
{
    PDH_FMT_COUNTERVALUE value = {0};
    PDH_STATUS got = PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &value);
    if (status)
        *status = got ? (DWORD)got : value.CStatus;
    return got ? 0 : value.doubleValue;
}

/* Returns a Boolean. In Visual Basic every value except 0 is True. */
LONG WINAPI PdhVbIsGoodStatus(LONG status)
{
    return status == (LONG)PDH_CSTATUS_VALID_DATA || status == (LONG)PDH_CSTATUS_NEW_DATA;
}

static bool copy_text_to_buffer(LPSTR to, LPCSTR text, DWORD size)
{
    const char *from = text ? text : "";
    size_t length = strlen(from);
    if (!to || length >= size)
        return false;
    memcpy(to, from, length + 1);
    return true;
}

/* Splits the path into the buffers, which have `size` bytes each. Parts that the path does not have become "". */
PDH_STATUS WINAPI PdhVbGetCounterPathElements(LPCSTR path, LPSTR machine, LPSTR object, LPSTR instance, LPSTR parent,
                                              LPSTR counter, DWORD size)
{
    DWORD bytes = 0;
    PDH_STATUS status = PdhParseCounterPathA(path, NULL, &bytes, 0);
    if ((DWORD)status != PDH_MORE_DATA)
        return status;
    PDH_COUNTER_PATH_ELEMENTS_A *e = memory_alloc(bytes);
    if (!e)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    status = PdhParseCounterPathA(path, e, &bytes, 0);
    if (!status &&
        !(copy_text_to_buffer(machine, e->szMachineName, size) && copy_text_to_buffer(object, e->szObjectName, size) &&
          copy_text_to_buffer(instance, e->szInstanceName, size) &&
          copy_text_to_buffer(parent, e->szParentInstance, size) &&
          copy_text_to_buffer(counter, e->szCounterName, size)))
        status = PDH_INSUFFICIENT_BUFFER;
    memory_free(e);
    return status;
}

/* ---- the A entry points ---- */

#define ENTRY(name)  name##A
#define FORM         API_ANSI
#define TEXT_IN      LPCSTR
#define LIST_OUT     LPSTR
#define STRUCT(name) name##_A
#include "engine/pdh/api/api_forms.inc"
