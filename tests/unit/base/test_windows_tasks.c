/* SPDX-License-Identifier: MIT */
/* Tasks that Windows' Task Scheduler runs. This test replaces the scheduler's COM class, because Wine's runs nothing. A
   wrong call would mean that an alert's task never starts, runs under the wrong account, or is reported as ended while
   it runs. */
#include "engine/base/error.h"
#include "engine/base/windows_services.h"

#include <initguid.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <windows.h>
#include <cmocka.h>
#include <string.h>
#include <taskschd.h>
#include <wchar.h>

#define HAS_ENDED   ((HRESULT)0x8004130B) /* SCHED_E_TASK_NOT_RUNNING */
#define IS_AT_WORK  0x00041301            /* SCHED_S_TASK_RUNNING */
#define AS_SELF     1                     /* TASK_RUN_AS_SELF */
#define NO_SUCH     HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)
#define LONG_ENOUGH 60000

bool __wrap_os_is_wine(void);
bool __wrap_os_is_wine(void)
{
    return false;
}

static struct {
    LONG held; /* reference count of all objects */
    WCHAR arguments[2][64];
    LONG flags;
    HRESULT connect, run;
    bool no_instance; /* the task ended before its instance could be returned */
    int looks;        /* refreshes until the task has ended */
    HRESULT refresh;  /* result of the last refresh */
    TASK_STATE state; /* state after the last refresh */
    LONG result;
} scheduler;

/* One COM class serves all interfaces. */
static HRESULT WINAPI query(void *object, REFIID iid, void **out)
{
    (void)iid;
    InterlockedIncrement(&scheduler.held);
    *out = object;
    return S_OK;
}

static ULONG WINAPI add_ref(void *object)
{
    (void)object;
    return (ULONG)InterlockedIncrement(&scheduler.held);
}

static ULONG WINAPI release(void *object)
{
    (void)object;
    return (ULONG)InterlockedDecrement(&scheduler.held);
}
#define UNKNOWN(interface)                                                                                             \
    .QueryInterface = (HRESULT(WINAPI *)(interface *, REFIID, void **))query,                                          \
    .AddRef = (ULONG(WINAPI *)(interface *))add_ref, .Release = (ULONG(WINAPI *)(interface *))release

static HRESULT WINAPI refresh(IRunningTask *This)
{
    (void)This;
    return --scheduler.looks > 0 ? S_OK : scheduler.refresh;
}

static HRESULT WINAPI get_state(IRunningTask *This, TASK_STATE *out)
{
    (void)This;
    *out = scheduler.looks > 1 ? TASK_STATE_RUNNING : scheduler.looks > 0 ? TASK_STATE_QUEUED : scheduler.state;
    return S_OK;
}
static IRunningTaskVtbl running_methods = {UNKNOWN(IRunningTask), .Refresh = refresh, .get_State = get_state};
static IRunningTask running = {&running_methods};

static HRESULT WINAPI run(IRegisteredTask *This, VARIANT parameters, LONG flags, LONG session, BSTR user,
                          IRunningTask **out)
{
    LONG lowest, highest;
    (void)This;
    *out = NULL;
    assert_int_equal(session, 0);
    assert_null(user);
    scheduler.flags = flags;
    assert_int_equal(parameters.vt, VT_ARRAY | VT_BSTR);
    assert_int_equal(SafeArrayGetLBound(parameters.parray, 1, &lowest), S_OK);
    assert_int_equal(SafeArrayGetUBound(parameters.parray, 1, &highest), S_OK);
    assert_int_equal(lowest, 0);
    assert_int_equal(highest, 1);
    for (LONG i = 0; i < 2; i++) {
        BSTR text;
        assert_int_equal(SafeArrayGetElement(parameters.parray, &i, &text), S_OK);
        assert_true(SysStringLen(text) < ARRAYSIZE(scheduler.arguments[i]));
        wcscpy(scheduler.arguments[i], text);
        SysFreeString(text);
    }
    if (FAILED(scheduler.run))
        return scheduler.run;
    if (!scheduler.no_instance) {
        add_ref(&running);
        *out = &running;
    }
    return S_OK;
}

static HRESULT WINAPI get_result(IRegisteredTask *This, LONG *out)
{
    (void)This;
    *out = scheduler.result;
    return S_OK;
}
static IRegisteredTaskVtbl task_methods = {UNKNOWN(IRegisteredTask), .RunEx = run, .get_LastTaskResult = get_result};
static IRegisteredTask task = {&task_methods};

static HRESULT WINAPI get_task(ITaskFolder *This, BSTR path, IRegisteredTask **out)
{
    (void)This;
    *out = NULL;
    if (wcscmp(path, L"\\M\u00FCller\\Clean up") != 0)
        return NO_SUCH;
    add_ref(&task);
    *out = &task;
    return S_OK;
}
static ITaskFolderVtbl folder_methods = {UNKNOWN(ITaskFolder), .GetTask = get_task};
static ITaskFolder folder = {&folder_methods};

static HRESULT WINAPI connect(ITaskService *This, VARIANT server, VARIANT user, VARIANT domain, VARIANT password)
{
    (void)This;
    assert_true(server.vt == VT_EMPTY && user.vt == VT_EMPTY && domain.vt == VT_EMPTY && password.vt == VT_EMPTY);
    return scheduler.connect;
}

static HRESULT WINAPI get_folder(ITaskService *This, BSTR path, ITaskFolder **out)
{
    (void)This;
    assert_int_equal(wcscmp(path, L"\\"), 0);
    add_ref(&folder);
    *out = &folder;
    return S_OK;
}
static ITaskServiceVtbl service_methods = {UNKNOWN(ITaskService), .Connect = connect, .GetFolder = get_folder};
static ITaskService service = {&service_methods};

static HRESULT WINAPI create(IClassFactory *This, IUnknown *outer, REFIID iid, void **out)
{
    (void)This;
    assert_null(outer);
    assert_true(IsEqualGUID(iid, &IID_ITaskService));
    return query(&service, iid, out);
}
static IClassFactoryVtbl factory_methods = {UNKNOWN(IClassFactory), .CreateInstance = create};
static IClassFactory factory = {&factory_methods};

/* ---- the scheduler's functions ---- */

static LONG held_before;

static int begin(void **state)
{
    (void)state;
    const LONG held = scheduler.held;
    memset(&scheduler, 0, sizeof scheduler);
    scheduler.held = held_before = held;
    scheduler.state = TASK_STATE_READY;
    return 0;
}

static int no_reference_is_left(void **state)
{
    (void)state;
    return scheduler.held != held_before;
}

static struct scheduled_task *started(bool as_self)
{
    struct scheduled_task *t;
    assert_int_equal(
        host_task_scheduler()->start("\\M\xC3\xBCller\\Clean up", "a \"b\" \xC3\xA4", "C:\\logs\\x", as_self, &t),
        S_OK);
    return t;
}

static void task_gets_its_arguments_and_account(void **state)
{
    (void)state;
    host_task_scheduler()->close(started(false));
    assert_int_equal(wcscmp(scheduler.arguments[0], L"a \"b\" \u00E4"), 0);
    assert_int_equal(wcscmp(scheduler.arguments[1], L"C:\\logs\\x"), 0);
    assert_int_equal(scheduler.flags, 0);
    host_task_scheduler()->close(started(true));
    assert_int_equal(scheduler.flags, AS_SELF);
}

static void run_waits_for_the_end_of_the_task(void **state)
{
    const struct task_scheduler *windows = host_task_scheduler();
    uint32_t code = 99;
    (void)state;
    struct scheduled_task *t = started(false);
    scheduler.looks = 1000;
    assert_int_equal(windows->wait(t, 0, &code), S_FALSE);
    assert_int_equal(code, 99);
    scheduler.looks = 2; /* running, queued, ended */
    scheduler.result = 5;
    assert_int_equal(windows->wait(t, LONG_ENOUGH, &code), S_OK);
    assert_int_equal(code, 5);
    scheduler.looks = 1;
    scheduler.refresh = HAS_ENDED;
    scheduler.state = TASK_STATE_RUNNING; /* state from the previous read */
    scheduler.result = IS_AT_WORK;        /* another instance */
    assert_int_equal(windows->wait(t, LONG_ENOUGH, &code), S_OK);
    assert_int_equal(code, 0);
    windows->close(t);
}

static void task_that_ended_immediately_is_reported_as_ended(void **state)
{
    const struct task_scheduler *windows = host_task_scheduler();
    uint32_t code = 99;
    (void)state;
    scheduler.no_instance = true;
    scheduler.result = (LONG)0x80070002;
    struct scheduled_task *t = started(false);
    assert_int_equal(windows->wait(t, 0, &code), S_OK);
    assert_int_equal(code, 0x80070002);
    windows->close(t);
}

static void task_that_does_not_start_is_named(void **state)
{
    const struct task_scheduler *windows = host_task_scheduler();
    struct scheduled_task *t = (struct scheduled_task *)1;
    (void)state;
    assert_int_equal(windows->start("\\none", "", "", false, &t), NO_SUCH);
    assert_null(t);
    assert_non_null(strstr(error_text(NO_SUCH), "the task '\\none'"));
    scheduler.run = HRESULT_FROM_WIN32(ERROR_LOGON_FAILURE);
    assert_int_equal(windows->start("\\M\xC3\xBCller\\Clean up", "", "", false, &t), scheduler.run);
    assert_null(t);
    scheduler.connect = E_ACCESSDENIED; /* the Task Scheduler service is disabled */
    assert_int_equal(windows->start("\\M\xC3\xBCller\\Clean up", "", "", false, &t), E_ACCESSDENIED);
    assert_null(t);
    windows->close(NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(task_gets_its_arguments_and_account, begin, no_reference_is_left),
        cmocka_unit_test_setup_teardown(run_waits_for_the_end_of_the_task, begin, no_reference_is_left),
        cmocka_unit_test_setup_teardown(task_that_ended_immediately_is_reported_as_ended, begin, no_reference_is_left),
        cmocka_unit_test_setup_teardown(task_that_does_not_start_is_named, begin, no_reference_is_left),
    };
    DWORD cookie;
    if (FAILED(CoInitializeEx(NULL, COINIT_MULTITHREADED)) ||
        FAILED(CoRegisterClassObject(&CLSID_TaskScheduler, (IUnknown *)&factory, CLSCTX_INPROC_SERVER,
                                     REGCLS_MULTIPLEUSE, &cookie)))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    CoRevokeClassObject(cookie);
    CoUninitialize();
    return failed;
}
