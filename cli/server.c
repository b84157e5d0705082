/* SPDX-License-Identifier: MIT */
/* In the native program, runs the command of the server's package. If this package is not installed, names it in a
   message. */
#include "cli/cli.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"

#include <string.h>

#define NEEDS_SERVER "needs the package openpla (the server under Wine)"

int cli_needs_server(const char *verb)
{
    fprintf(cli_messages(), "openpla %s: " NEEDS_SERVER "\n", verb);
    return CLI_FAILED;
}

#ifdef _WIN32
HRESULT cli_start_error(HRESULT hr, const char *program)
{
    (void)program;
    return hr;
}
#else
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

HRESULT cli_start_error(HRESULT hr, const char *program)
{
    char *path = hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) ? program_beside_module(program) : NULL;
    if (path && !file_exists(path))
        hr = error_set(hr, "a start " NEEDS_SERVER);
    memory_free(path);
    return hr;
}

/* Returns true for verbs that this program always runs itself, because their output does not depend on a Wine
   prefix. */
static bool is_own(const char *word)
{
    static const char *const own[] = {"help", "completion", "schema", "version", "--version", "-V"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(word, own[i]) == 0)
            return true;
    return cli_asks_for_help(word);
}

int cli_hand_to_server(int *argc, char **argv)
{
    if (*argc > 1 && strcmp(argv[1], "--native") == 0) {
        memmove(argv + 1, argv + 2, (size_t)(*argc - 1) * sizeof *argv);
        --*argc;
        return CLI_DONE;
    }
    if (*argc < 2 || is_own(argv[1]))
        return CLI_DONE;
    char *command = program_beside_module("../lib/openpla/openpla-server");
    struct stat found;
    int result = CLI_DONE;
    /* In a folder such as /tmp/x, other users may have created the file, so check its owner. */
    if (command && stat(command, &found) == 0 && (found.st_uid == 0 || found.st_uid == geteuid())) {
        char *const own = argv[0];
        argv[0] = command;
        execv(command, argv);
        argv[0] = own;
        fprintf(stderr, "openpla: cannot start '%s': %s (openpla --native VERB works without it)\n", command,
                strerror(errno));
        result = CLI_FAILED;
    }
    memory_free(command);
    return result;
}
#endif
