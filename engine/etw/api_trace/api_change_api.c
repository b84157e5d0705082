/* SPDX-License-Identifier: MIT */
/* Injects openapitrace.dll into a process without waiting for it.

   A new process is suspended, a jump to the stub (api_inject_api.c) is written to its entry point, and the process is
   resumed. If a process does not reach its entry point within 3 seconds, it had probably passed the entry point before.
   A remote thread then loads the DLL; the first calls of the process are missed. On a busy machine the process may just
   be slow: its first thread may not have reached the entry point yet, or may be running the stub. Therefore the jump
   and the protection of its page stay as they are: whenever the stub runs, it restores the original bytes. In a process
   that was running before the watcher, a remote thread loads the DLL at once.

   Under Wine, one of the target process's own threads must allocate and protect its memory and create its threads.
   Wine's server sends the request to this thread, a signal wakes it, and the caller waits for the answer. A process
   does not answer while it is stopped (SIGSTOP, a debugger, a frozen container), and never answers if it exits in the
   meantime. A thread that has just started can miss the signal. Therefore these calls run as timed work (thread.h): the
   watcher waits for them for STEP_MS at most, and handles other processes while one does not answer. After SILENT_MS, a
   call from another thread sends another signal.

   api_change_release does not wait for an answer. If the process answers after api_change_release, the timed work only
   cleans up. The work must not change the entry point, because the process is running again and may be executing the
   code there. `claim` decides between the timed work and api_change_release: the first of them to set `claim` wins. */
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/api_trace.h"
#include "engine/etw/api_trace/api_change.h"

#include <stdatomic.h>
#include <windows.h>

NTSYSAPI LONG NTAPI NtSuspendProcess(HANDLE process);
NTSYSAPI LONG NTAPI NtResumeProcess(HANDLE process);

enum {
    STEP_MS = 50,         /* maximum wait for a step; it usually takes less than a millisecond */
    SILENT_MS = 1500,     /* time without an answer after which another signal is sent */
    SIGNALS = 2,          /* number of further signals before the process is reported as silent */
    ENTRY_WAIT_MS = 3000, /* maximum time until a process reaches its entry point */
    SETTLE_MS = 2000,     /* how long injection into a new process is retried while the process cannot be read */
    PAGE_BYTES = 4096,
};

enum step { STEP_INJECT, STEP_AWAIT_ENTRY, STEP_LOAD, STEP_AWAIT_THREAD };
enum claim { CLAIM_FREE, CLAIM_CHANGED, CLAIM_RELEASED };

struct api_change {
    struct timed_work work;
    HANDLE process, thread; /* `thread`: remote thread that loads the DLL; NULL: not created */
    char *program;
    bool attaches;
    ULONGLONG began; /* GetTickCount64 */
    enum step step;
    ULONGLONG since; /* GetTickCount64 at which the step began */
    unsigned signals;
    struct api_entry entry;
    HRESULT result; /* result of the step's work; S_FALSE: the process cannot be read yet */
    char *failure;  /* error text of `result` */
    atomic_bool suspended;
    atomic_int claim;
};

/* ---- steps that wait for the process ---- */

static bool take_claim(struct api_change *c, enum claim claim)
{
    int expected = CLAIM_FREE;
    return atomic_compare_exchange_strong(&c->claim, &expected, claim);
}

/* Resumes the process. Both the timed work and api_change_release call this function; the second call has no effect. */
static void resume(struct api_change *c)
{
    if (atomic_exchange(&c->suspended, false))
        NtResumeProcess(c->process);
}

static HRESULT inject(struct api_change *c)
{
    HRESULT hr = (c->attaches ? api_attach_prepare : api_entry_prepare)(c->process, c->program, &c->entry);
    if (hr != S_OK)
        return hr;
    if (take_claim(c, CLAIM_CHANGED))
        return c->attaches ? api_entry_thread(&c->entry, c->program, &c->thread)
                           : api_entry_replace(&c->entry, c->program);
    if (!c->attaches)
        api_entry_protect(&c->entry);
    return S_OK;
}

static void run_step(struct timed_work *work)
{
    struct api_change *c = (struct api_change *)work;
    HRESULT hr = S_OK;
    if (c->step == STEP_LOAD) {
        hr = api_entry_thread(&c->entry, c->program, &c->thread);
    } else {
        hr = inject(c);
        resume(c);
    }
    c->result = hr;
    c->failure = FAILED(hr) ? text_copy(error_text(hr)) : NULL;
}

static void change_free(struct api_change *c)
{
    if (c->thread)
        CloseHandle(c->thread);
    CloseHandle(c->process);
    memory_free(c->program);
    memory_free(c->failure);
    memory_free(c);
}

static void work_abandoned(struct timed_work *work)
{
    change_free((struct api_change *)work);
}

static void set_step(struct api_change *c, enum step step)
{
    c->step = step;
    c->since = GetTickCount64();
    c->signals = 0;
}

static void begin_work(struct api_change *c, enum step step)
{
    struct timed_work *work = &c->work;
    set_step(c, step);
    timed_work_run(&work, 1, STEP_MS);
}

/* Begins the first step. Returns false if the process cannot be suspended: it has no thread yet, or is exiting. */
static bool begin_injection(struct api_change *c)
{
    if (!c->attaches && NtSuspendProcess(c->process) < 0)
        return false;
    atomic_store(&c->suspended, !c->attaches);
    begin_work(c, STEP_INJECT);
    return true;
}

/* ---- silent processes ---- */

/* Allocates memory in the process, so that Wine's server sends a signal to the process. Blocks until the process
   answers or exits. Closes the handle. */
static DWORD WINAPI send_signal(void *process)
{
    void *page = VirtualAllocEx(process, NULL, PAGE_BYTES, MEM_RESERVE, PAGE_NOACCESS);
    if (page)
        VirtualFreeEx(process, page, 0, MEM_RELEASE);
    CloseHandle(process);
    return 0;
}

/* Sends another signal each time the process has not answered for SILENT_MS. If the process has not answered the last
   signal either, returns API_CHANGE_SILENT once. In all other cases returns API_CHANGE_PENDING. */
static enum api_change_state signal_again(struct api_change *c, HRESULT *reason)
{
    HANDLE process;
    if (c->signals > SIGNALS || GetTickCount64() - c->since < (c->signals + (ULONGLONG)1) * SILENT_MS)
        return API_CHANGE_PENDING;
    if (c->signals++ == SIGNALS) {
        *reason = api_inject_failed(c->program, "its process does not respond (it may be stopped)", WAIT_TIMEOUT);
        return API_CHANGE_SILENT;
    }
    if (DuplicateHandle(GetCurrentProcess(), c->process, GetCurrentProcess(), &process, 0, FALSE,
                        DUPLICATE_SAME_ACCESS)) {
        HANDLE thread = CreateThread(NULL, 0, send_signal, process, 0, NULL);
        CloseHandle(thread ? thread : process);
    }
    return API_CHANGE_PENDING;
}

/* ---- steps ---- */

static enum api_change_state injected(struct api_change *c, HRESULT *reason)
{
    if (c->result == S_OK) {
        set_step(c, c->attaches ? STEP_AWAIT_THREAD : STEP_AWAIT_ENTRY);
        return API_CHANGE_PENDING;
    }
    if (GetTickCount64() - c->began < SETTLE_MS) {
        (void)begin_injection(c); /* if this fails, the next call tries again */
        return API_CHANGE_PENDING;
    }
    *reason = api_inject_failed(c->program, "its process cannot be read", ERROR_PARTIAL_COPY);
    return API_CHANGE_FAILED;
}

static enum api_change_state await_entry(struct api_change *c)
{
    if (api_entry_is_done(&c->entry))
        return API_CHANGE_ENTERED;
    if (GetTickCount64() - c->since > ENTRY_WAIT_MS)
        begin_work(c, STEP_LOAD);
    return API_CHANGE_PENDING;
}

static enum api_change_state await_thread(struct api_change *c, HRESULT *reason)
{
    DWORD code = 0;
    if (WaitForSingleObject(c->thread, 0) == WAIT_OBJECT_0) {
        GetExitCodeThread(c->thread, &code);
        if (code)
            return c->attaches ? API_CHANGE_ATTACHED : API_CHANGE_LATE;
        *reason =
            api_inject_failed(c->program, API_TRACE_DLL " cannot be loaded into its process", ERROR_DLL_INIT_FAILED);
        return API_CHANGE_FAILED;
    }
    if (GetTickCount64() - c->since <= API_THREAD_WAIT_MS)
        return API_CHANGE_PENDING;
    *reason = api_inject_failed(c->program, "its process did not load " API_TRACE_DLL " in time", WAIT_TIMEOUT);
    return API_CHANGE_FAILED;
}

enum api_change_state api_change_continue(struct api_change *c, HRESULT *reason)
{
    if (WaitForSingleObject(c->process, 0) == WAIT_OBJECT_0)
        return API_CHANGE_ENDED;
    if (timed_work_running(&c->work))
        return signal_again(c, reason);
    if (FAILED(c->result)) {
        *reason = error_set(c->result, "%s", c->failure ? c->failure : "");
        return API_CHANGE_FAILED;
    }
    switch (c->step) {
    case STEP_INJECT:
        return injected(c, reason);
    case STEP_AWAIT_ENTRY:
        return await_entry(c);
    case STEP_LOAD:
        set_step(c, STEP_AWAIT_THREAD);
        return API_CHANGE_PENDING;
    case STEP_AWAIT_THREAD:
        break;
    }
    return await_thread(c, reason);
}

struct api_change *api_change_begin(HANDLE process, const char *program, bool attaches)
{
    struct api_change *c = memory_zero(1, sizeof *c);
    if (c && !(c->program = text_copy(program))) {
        memory_free(c);
        c = NULL;
    }
    if (!c) {
        CloseHandle(process);
        return NULL;
    }
    c->work.run = run_step;
    c->work.abandoned = work_abandoned;
    c->process = process;
    c->began = GetTickCount64();
    c->attaches = attaches;
    if (begin_injection(c))
        return c;
    change_free(c);
    return NULL;
}

void api_change_release(struct api_change *c)
{
    if (take_claim(c, CLAIM_RELEASED))
        resume(c);
    if (timed_work_release(&c->work))
        change_free(c);
}
