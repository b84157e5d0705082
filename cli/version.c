/* SPDX-License-Identifier: MIT */
/* openpla version: which version of the program this is, on one line that scripts read. */
#include "cli/verbs.h"

static int run(int argc, char **argv)
{
    const int result = options_parse("version", argc, argv, NULL, 0, NULL);
    if (result == CLI_DONE)
        printf("OpenPLA %s\n", OPENPLA_VERSION);
    return result;
}

const struct verb verb_version = {
    .name = "version",
    .summary = "shows the version of this program",
    .help = "openpla version\n"
            "\n"
            "Shows the version of this program.\n",
    .run = run,
};
