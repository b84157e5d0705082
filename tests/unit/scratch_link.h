/* SPDX-License-Identifier: MIT */
/* Symbolic links of the host, under Wine too: there its own ln makes them, which a Windows machine lacks. */
#ifndef OPENPLA_SCRATCH_LINK_H
#define OPENPLA_SCRATCH_LINK_H

#include "engine/base/os.h"
#include "tests/unit/patience.h"
#include "tests/unit/scratch_folder.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <unistd.h>
#endif

#ifdef _WIN32
/* Runs a command of the host's shell in `folder` and frees it. Skips the test without such a shell. Wine does not know
   when such a program exits, so the shell writes a file then. */
static inline void scratch_command(const char *folder, char *command)
{
    char *line = text_format("sh -c \"%s && touch done\"", command), *done = path_join(folder, "done");
    STARTUPINFOA start = {.cb = sizeof start};
    PROCESS_INFORMATION process;
    BOOL runs = CreateProcessA("Z:\\bin\\sh", line, NULL, NULL, FALSE, 0, NULL, folder, &start, &process);
    memory_free(line);
    memory_free(command);
    if (!runs) {
        memory_free(done);
        assert_false(os_is_wine()); /* which has the host's shell */
        print_message("skipped: no shell here that makes links\n");
        skip();
    }
    CloseHandle(process.hThread);
    CloseHandle(process.hProcess);
    for (int i = 0; i < PATIENCE_MS / 20 && !file_exists(done); i++)
        Sleep(20);
    assert_int_equal(file_delete(done), S_OK);
    memory_free(done);
}
#endif

/* Makes `name` in `folder` a link, soft or hard, to `target`, seen from there with '/' between names. */
static inline void scratch_link(const char *folder, const char *name, const char *target, bool hard)
{
#ifdef _WIN32
    scratch_command(folder, text_format("ln %s -- %s %s", hard ? "" : "-s", target, name));
#else
    char *from = path_join(folder, target), *to = path_join(folder, name);
    assert_int_equal(hard ? link(from, to) : symlink(target, to), 0);
    memory_free(from);
    memory_free(to);
#endif
}

/* scratch_remove would follow it. */
static inline void scratch_unlink(const char *folder, const char *name)
{
#ifdef _WIN32
    scratch_command(folder, text_format("rm -- %s", name));
#else
    char *path = path_join(folder, name);
    assert_int_equal(unlink(path), 0);
    memory_free(path);
#endif
}

#endif
