/* SPDX-License-Identifier: MIT */
/* What people are asked, and the times that they say. */
#include "cli/cli.h"
#include "engine/log/text_cells.h"
#include "engine/os/memory.h"

#include <stdio.h>
#include <string.h>

int cli_time(const char *verb, const char *option, const struct texts *words, int64_t *local)
{
    struct text_buffer b = {0};
    if (words->count == 0)
        return CLI_DONE;
    for (size_t i = 0; i < words->count; i++)
        text_buffer_format(&b, "%s%s", i > 0 ? " " : "", words->items[i]);
    char *text = text_buffer_take(&b);
    if (!text)
        return cli_error(verb, E_OUTOFMEMORY);
    int result = CLI_DONE;
    if (!text_time_read(text, strlen(text), TIME_MONTH_FIRST, local))
        result = cli_usage(verb, "-%s: \"%s\" is no time; \"12/31/2026 23:59:59\" is one", option, text);
    memory_free(text);
    return result;
}

bool cli_may_overwrite(const char *path)
{
    char answer[8] = "";
    fprintf(stderr, "%s is there already. Overwrite it? [y/n] ", path);
    fflush(stderr);
    return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}
