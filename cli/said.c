/* SPDX-License-Identifier: MIT */
/* What verbs say when a command line is wrong or nothing came of it. */
#include "cli/cli.h"
#include "engine/base/error.h"

#include <stdarg.h>
#include <stdio.h>

/* Whether messages have the form and the place of those of Windows' tools (DECISIONS 130). */
static bool as_windows;

void cli_speak_as_windows(int argc, char **argv)
{
    as_windows = !options_are_asked() && !cli_wants_json(argc, argv);
}

FILE *cli_messages(void)
{
    return as_windows ? stdout : stderr;
}

bool cli_wants_json(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (text_equal_nocase(argv[i], "-json") || text_equal_nocase(argv[i], "--json") ||
            text_equal_nocase(argv[i], "/json"))
            return true;
    return false;
}

/* Of a message: programs split what Windows' tools write at CR LF. */
static const char *line_end(void)
{
    return as_windows ? "\r\n" : "\n";
}

static void begin_message(const char *verb)
{
    if (as_windows)
        fputs("\r\nError: ", stdout);
    else
        fprintf(stderr, "openpla %s: ", verb);
}

int cli_error(const char *verb, HRESULT hr)
{
    begin_message(verb);
    fprintf(cli_messages(), "%s (0x%08X)%s", error_text(hr), (unsigned)hr, line_end());
    return CLI_FAILED;
}

int cli_usage(const char *verb, const char *format, ...)
{
    va_list list;
    begin_message(verb);
    va_start(list, format);
    vfprintf(cli_messages(), format, list);
    va_end(list);
    fprintf(cli_messages(), "%sSee: openpla help %s%s", line_end(), verb, line_end());
    return CLI_USAGE;
}
