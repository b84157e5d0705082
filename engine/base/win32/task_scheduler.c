/* SPDX-License-Identifier: MIT */
/* Task Scheduler by its COM interfaces. */
#include "engine/base/task_scheduler.h"

#include "engine/base/clock.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/base/win32/win32_call.h"

#include <objbase.h>
#include <oleauto.h>
/* Of Task Scheduler's alone: with the identifiers of all COM in this object, openetw.dll took it, and ole32, for one.
 */
#include <initguid.h>
#include <taskschd.h>

#define LOOK_MS        100
#define TASK_HAS_ENDED ((HRESULT)0x8004130B) /* SCHED_E_TASK_NOT_RUNNING */
#define IS_AT_WORK     0x00041301            /* SCHED_S_TASK_RUNNING, the result of a task that has an instance */
#define RUN_AS_SELF    1                     /* TASK_RUN_AS_SELF */

struct scheduled_task {
    IRegisteredTask *task;
    IRunningTask *instance;
    bool initialised; /* COM, by us */
};

static HRESULT text_to_bstr(const char *text, BSTR *out)
{
    WCHAR *wide;
    size_t units;
    *out = NULL;
    HRESULT hr = text_to_utf16(text, &wide, &units);
    if (FAILED(hr))
        return hr;
    *out = SysAllocStringLen(wide, (UINT)units);
    memory_free(wide);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT find(const char *name, IRegisteredTask **out)
{
    VARIANT none;
    ITaskService *service = NULL;
    ITaskFolder *root = NULL;
    BSTR path = NULL, top = SysAllocString(L"\\");
    HRESULT hr = top ? text_to_bstr(name, &path) : E_OUTOFMEMORY;
    VariantInit(&none);
    if (SUCCEEDED(hr))
        hr = CoCreateInstance(&CLSID_TaskScheduler, NULL, CLSCTX_INPROC_SERVER, &IID_ITaskService, (void **)&service);
    if (SUCCEEDED(hr))
        hr = ITaskService_Connect(service, none, none, none, none);
    if (SUCCEEDED(hr))
        hr = ITaskService_GetFolder(service, top, &root);
    if (SUCCEEDED(hr))
        hr = ITaskFolder_GetTask(root, path, out);
    if (root)
        ITaskFolder_Release(root);
    if (service)
        ITaskService_Release(service);
    SysFreeString(path);
    SysFreeString(top);
    return hr;
}

static HRESULT parameters(const char *arguments, const char *directory, VARIANT *out)
{
    const char *const texts[] = {arguments, directory};
    SAFEARRAY *array = SafeArrayCreateVector(VT_BSTR, 0, 2);
    HRESULT hr = array ? S_OK : E_OUTOFMEMORY;
    for (LONG i = 0; SUCCEEDED(hr) && i < 2; i++) {
        BSTR text;
        hr = text_to_bstr(texts[i], &text);
        if (SUCCEEDED(hr))
            hr = SafeArrayPutElement(array, &i, text);
        SysFreeString(text);
    }
    VariantInit(out);
    if (FAILED(hr)) {
        SafeArrayDestroy(array);
        return hr;
    }
    out->vt = VT_ARRAY | VT_BSTR;
    out->parray = array;
    return S_OK;
}

static void close_task(struct scheduled_task *t)
{
    if (!t)
        return;
    if (t->instance)
        IRunningTask_Release(t->instance);
    if (t->task)
        IRegisteredTask_Release(t->task);
    if (t->initialised)
        CoUninitialize();
    memory_free(t);
}

static HRESULT start_task(const char *task, const char *arguments, const char *directory, bool as_self,
                          struct scheduled_task **out)
{
    VARIANT given;
    VariantInit(&given);
    *out = NULL;
    struct scheduled_task *t = memory_zero(1, sizeof *t);
    if (!t)
        return E_OUTOFMEMORY;
    t->initialised = SUCCEEDED(CoInitializeEx(NULL, COINIT_MULTITHREADED));
    HRESULT hr = find(task, &t->task);
    if (SUCCEEDED(hr))
        hr = parameters(arguments, directory, &given);
    if (SUCCEEDED(hr))
        hr = IRegisteredTask_RunEx(t->task, given, as_self ? RUN_AS_SELF : 0, 0, NULL, &t->instance);
    VariantClear(&given);
    if (FAILED(hr)) {
        close_task(t);
        return error_set(hr, "Task Scheduler does not run the task \"%.300s\": %s", task, error_standard_text(hr));
    }
    *out = t;
    return S_OK;
}

static bool has_ended(struct scheduled_task *t)
{
    TASK_STATE state;
    if (!t->instance)
        return true;
    HRESULT hr = IRunningTask_Refresh(t->instance);
    return hr == TASK_HAS_ENDED || FAILED(IRunningTask_get_State(t->instance, &state)) ||
           (state != TASK_STATE_RUNNING && state != TASK_STATE_QUEUED);
}

static HRESULT wait_for_task(struct scheduled_task *t, uint32_t timeout_ms, uint32_t *exit_code)
{
    LONG result = 0;
    for (uint64_t since = clock_monotonic_ms(); !has_ended(t);) {
        uint64_t passed = clock_passed_ms(since, clock_monotonic_ms());
        if (passed >= timeout_ms)
            return S_FALSE;
        Sleep(timeout_ms - passed < LOOK_MS ? (DWORD)(timeout_ms - passed) : LOOK_MS);
    }
    HRESULT hr = IRegisteredTask_get_LastTaskResult(t->task, &result);
    *exit_code = result == IS_AT_WORK ? 0 : (uint32_t)result; /* what ours came to is lost behind another's start */
    return hr;
}

const struct task_scheduler *host_task_scheduler(void)
{
    static const struct task_scheduler windows = {start_task, wait_for_task, close_task};
    return host_is_wine() ? NULL : &windows;
}
