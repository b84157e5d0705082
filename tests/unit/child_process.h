/* SPDX-License-Identifier: MIT */
/* For test programs that start themselves with an argument, and kill the child. Native tests and tests under Wine send
   SIGKILL, so under Wine the killed process cannot notify wineserver. */
#ifndef OPENPLA_CHILD_PROCESS_H
#define OPENPLA_CHILD_PROCESS_H

#include "engine/base/kernel_file.h"
#include "engine/base/os.h"
#include "tests/unit/patience.h"
#include "tests/unit/scratch_folder.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <signal.h>
#include <unistd.h>
#endif

#define CHILD_PATIENCE PATIENCE_MS

static const char *child_program; /* set by main from argv[0] */

static inline void child_sleep(unsigned ms)
{
#ifdef _WIN32
    Sleep(ms);
#else
    usleep(ms * 1000);
#endif
}

/* Starts this program as `program mode a b`. */
static inline struct process *child_start(const char *mode, const char *a, const char *b)
{
    const char *arguments[] = {mode, a, b};
    struct process *p;
    assert_int_equal(
        process_start(&(struct program){.path = child_program, .arguments = arguments, .argument_count = 3}, &p), S_OK);
    return p;
}

/* Returns the host OS's id of the process with `token` in its command line, 0 if no process has it. */
static inline uint32_t child_kernel_id(const char *token)
{
    uint32_t *ids, found = 0;
    size_t count;
    assert_int_equal(kernel_folder_numbers("/proc", &ids, &count), S_OK);
    for (size_t i = 0; i < count; i++) {
        struct kernel_file *f;
        char path[64];
        const char *text;
        size_t size;
        snprintf(path, sizeof(path), "/proc/%u/cmdline", (unsigned)ids[i]);
        if (FAILED(kernel_file_open(path, &f)))
            continue;
        if (SUCCEEDED(kernel_file_read(f, &text, &size))) {
            for (size_t at = 0; at + strlen(token) <= size; at++)
                if (!memcmp(text + at, token, strlen(token)))
                    found = ids[i];
        }
        kernel_file_close(f);
    }
    memory_free(ids);
    return found;
}

/* Kills the child; `token` is an argument that only this child has. */
static inline void child_kill(struct process *p, const char *token)
{
#ifdef _WIN32
    if (os_is_wine()) {
        STARTUPINFOW startup = {.cb = sizeof(startup)};
        PROCESS_INFORMATION started = {0};
        uint32_t id = child_kernel_id(token);
        WCHAR line[64];
        assert_int_not_equal(id, 0);
        _snwprintf(line, 64, L"kill -9 %u", (unsigned)id);
        assert_true(CreateProcessW(L"Z:\\bin\\kill", line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &started));
        if (started.hProcess) { /* Wine returns no process handle here, and no valid hThread */
            CloseHandle(started.hThread);
            CloseHandle(started.hProcess);
        }
    } else {
        HANDLE handle = OpenProcess(PROCESS_TERMINATE, FALSE, process_id(p));
        assert_true(TerminateProcess(handle, 137));
        CloseHandle(handle);
    }
#else
    (void)token;
    assert_int_equal(kill((pid_t)process_id(p), SIGKILL), 0);
#endif
}

#endif
