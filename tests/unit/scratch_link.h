/* SPDX-License-Identifier: MIT */
/* Creates links on the host OS. Under Wine, uses the command ln of the host OS. Windows has no such command. */
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
/* Runs a command in `folder` with the shell of the host OS, and frees the string. If there is no shell, skips the test.
   Wine does not detect that such a program has exited, so the shell creates a file at the end. */
static inline void scratch_command(const char *folder, char *command)
{
    char *line = text_format("sh -c \"%s && touch done\"", command), *done = path_join(folder, "done");
    STARTUPINFOA start = {.cb = sizeof start};
    PROCESS_INFORMATION process = {0};
    BOOL runs = CreateProcessA("Z:\\bin\\sh", line, NULL, NULL, FALSE, 0, NULL, folder, &start, &process);
    memory_free(line);
    memory_free(command);
    if (!runs) {
        memory_free(done);
        assert_false(os_is_wine()); /* under Wine, there must be a shell */
        print_message("skipped: no shell to create links\n");
        skip();
    }
    if (process.hProcess) {
        CloseHandle(process.hThread);
        CloseHandle(process.hProcess);
    }
    for (int i = 0; i < PATIENCE_MS / 20 && !file_exists(done); i++)
        Sleep(20);
    assert_int_equal(file_delete(done), S_OK);
    memory_free(done);
}
#endif

/* Creates `name` in `folder` as a symbolic or hard link to `target`. This path is relative to `folder` and has '/'
   between names. */
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

/* Removes the link, because scratch_remove would follow it. */
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
