/* SPDX-License-Identifier: MIT */
/* What verbs say when a command line is wrong or nothing came of it. */
#include "cli/cli.h"
#include "engine/os/error.h"

#include <stdarg.h>
#include <stdio.h>

int cli_error(const char *verb, HRESULT hr)
{
    fprintf(stderr, "openpla %s: %s (0x%08X)\n", verb, error_text(hr), (unsigned)hr);
    return CLI_FAILED;
}

int cli_usage(const char *verb, const char *format, ...)
{
    va_list list;
    fprintf(stderr, "openpla %s: ", verb);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fprintf(stderr, "\nSee: openpla help %s\n", verb);
    return CLI_USAGE;
}
