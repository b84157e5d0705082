/* SPDX-License-Identifier: MIT */
/* openpla diskperf: a tool of old Windows, which scripts still call before they log disks. */
#include "cli/verbs.h"

#include <stdio.h>

/* Its switches switched a driver of Windows 2000: whatever they say, the answer is the same. */
static int run(int argc, char **argv)
{
    if (options_told(NULL, NULL, 0))
        return CLI_DONE;
    if (argc && cli_asks_for_help(argv[0])) {
        fputs(verb_diskperf.help, stdout);
        return CLI_DONE;
    }
    puts("The counters of physical and of logical disks are always on; nothing has to be switched.");
    return CLI_DONE;
}

const struct verb verb_diskperf = {
    .name = "diskperf",
    .summary = "says that the counters of disks are on, as Windows' diskperf",
    .help =
        "openpla diskperf\n"
        "\n"
        "Windows 2000 had counters of disks that were switched on first. These always are: whatever the line says, it\n"
        "is told so, and the exit code is 0, so that a script goes on.\n",
    .run = run,
};
