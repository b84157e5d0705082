/* SPDX-License-Identifier: MIT */
/* Waits for Ctrl+C. On Windows, this file installs a handler for the console; elsewhere, it blocks the signals and
   waits for them. */
#include "cli/cli.h"
#include "engine/base/clock.h"

#include <stdatomic.h>

#ifdef _WIN32
#include <windows.h>

static HANDLE asked, done;
static int begun;

/* Runs on a system thread. When the window is closed, the user logs off or the system shuts down, the process is
   terminated as soon as this function returns. Therefore this function waits at most 4 seconds for interrupt_end, so
   that the verb can complete its file. */
static BOOL WINAPI on_control(DWORD control)
{
    SetEvent(asked);
    if (control != CTRL_C_EVENT && control != CTRL_BREAK_EVENT)
        WaitForSingleObject(done, 4000);
    return TRUE;
}

bool interrupt_begin(void)
{
    if (begun++ != 0)
        return true;
    asked = CreateEventW(NULL, TRUE, FALSE, NULL);
    done = CreateEventW(NULL, TRUE, FALSE, NULL);
    return asked && done && SetConsoleCtrlHandler(on_control, TRUE);
}

bool interrupt_wait(uint32_t timeout_ms)
{
    return WaitForSingleObject(asked, timeout_ms) == WAIT_OBJECT_0;
}

/* Ends the handling of Ctrl+C. Does not close the events, because a handler may still run. */
void interrupt_end(void)
{
    if (--begun != 0)
        return;
    SetEvent(done);
    SetConsoleCtrlHandler(on_control, FALSE);
}
#else
#include <errno.h>
#include <signal.h>
#include <time.h>

static sigset_t signals, before;
static bool asked;
static int begun;

bool interrupt_begin(void)
{
    if (begun++ != 0)
        return true;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    asked = false;
    return sigprocmask(SIG_BLOCK, &signals, &before) == 0;
}

bool interrupt_wait(uint32_t timeout_ms)
{
    struct timespec time = {(time_t)(timeout_ms / 1000), (long)(timeout_ms % 1000) * 1000000};
    if (!asked) {
        int signal;
        while ((signal = sigtimedwait(&signals, NULL, &time)) < 0 && errno == EINTR) {
        }
        asked = signal > 0;
    }
    return asked;
}

void interrupt_end(void)
{
    if (--begun == 0)
        sigprocmask(SIG_SETMASK, &before, NULL);
}
#endif

bool interrupt_asked(void *context)
{
    enum { ASKED_EACH = 100 /* ms */ };
    static atomic_uint_fast64_t asked_last;
    static atomic_flag asking = ATOMIC_FLAG_INIT;
    static atomic_bool interrupted;
    (void)context;
    const uint64_t now = clock_monotonic_ms();
    if (atomic_load(&interrupted) || now - atomic_load(&asked_last) < ASKED_EACH || atomic_flag_test_and_set(&asking))
        return atomic_load(&interrupted);
    atomic_store(&asked_last, now);
    if (interrupt_wait(0))
        atomic_store(&interrupted, true);
    atomic_flag_clear(&asking);
    return atomic_load(&interrupted);
}
