/* SPDX-License-Identifier: MIT */
/* What verbs say when a command line is wrong or nothing came of it. */
#include "cli/cli.h"
#include "engine/os/error.h"
#include "engine/os/memory.h"

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

int cli_sub_verb(const char *verb, const struct sub_verb *verbs_of_it, size_t count, int argc, char **argv)
{
    struct text_buffer names = {0};
    for (size_t i = 0; i < count; i++) {
        if (argc && text_equal_nocase(argv[0], verbs_of_it[i].name)) {
            memory_free(text_buffer_take(&names));
            return verbs_of_it[i].run(argc - 1, argv + 1);
        }
        text_buffer_format(&names, "%s%s", i ? ", " : "", verbs_of_it[i].name);
    }
    char *all = text_buffer_take(&names);
    if (!all)
        return cli_error(verb, E_OUTOFMEMORY);
    const int result =
        argc ? cli_usage(verb, "\"%s\" is none of %s", argv[0], all) : cli_usage(verb, "one of %s is wanted", all);
    memory_free(all);
    return result;
}
