/* SPDX-License-Identifier: MIT */
/* Reads a verb's command line. */
#include "cli/cli.h"
#include "engine/os/memory.h"

#include <string.h>

/* The option that an argument names, NULL when it names none. */
static const struct option *find_option(const char *argument, const struct option *options, size_t count)
{
    const char *name = argument;
    if (argument[0] == '-' || argument[0] == '/') {
        name += argument[0] == '-' && argument[1] == '-' ? 2 : 1;
        for (size_t i = 0; i < count; i++)
            if (text_equal_nocase(name, options[i].name))
                return &options[i];
    }
    return NULL;
}

/* "-5" and "-" are values, "-x" should have been an option. */
static bool looks_like_option(const char *argument)
{
    return argument[0] == '-' && argument[1] && (argument[1] < '0' || argument[1] > '9');
}

static int take_count(const char *verb, const char *name, const char *value, uint32_t *target)
{
    uint64_t number;
    if (!text_to_u64(value, &number) || number == 0 || number > UINT32_MAX)
        return cli_usage(verb, "-%s: \"%s\" is no whole number from 1 to %u", name, value, (unsigned)UINT32_MAX);
    *target = (uint32_t)number;
    return CLI_DONE;
}

static int take_texts(const char *verb, int argc, char **argv, const struct option *options, size_t count,
                      struct texts *target, int *at)
{
    for (; *at < argc && !find_option(argv[*at], options, count) && !looks_like_option(argv[*at]); ++*at) {
        HRESULT hr = texts_add(target, argv[*at]);
        if (FAILED(hr))
            return cli_error(verb, hr);
    }
    return CLI_DONE;
}

static int take_option(const char *verb, const struct option *option, int argc, char **argv,
                       const struct option *options, size_t count, int *at)
{
    const bool has_value = *at < argc && !find_option(argv[*at], options, count);
    if (option->kind == OPTION_FLAG) {
        *(bool *)option->target = true;
        return CLI_DONE;
    }
    if (option->kind == OPTION_OPTIONAL && (!has_value || looks_like_option(argv[*at]))) {
        *(const char **)option->target = "";
        return CLI_DONE;
    }
    if (!has_value)
        return cli_usage(verb, "-%s: its value is missing", option->name);
    if (option->kind == OPTION_TEXTS)
        return take_texts(verb, argc, argv, options, count, option->target, at);
    const char *value = argv[(*at)++];
    if (option->kind == OPTION_COUNT)
        return take_count(verb, option->name, value, option->target);
    *(const char **)option->target = value;
    return CLI_DONE;
}

int options_parse(const char *verb, int argc, char **argv, const struct option *options, size_t count,
                  struct texts *operands)
{
    bool only_operands = false;
    for (int at = 0; at < argc;) {
        const char *argument = argv[at++];
        const struct option *option = only_operands ? NULL : find_option(argument, options, count);
        int result = CLI_DONE;
        if (option) {
            result = take_option(verb, option, argc, argv, options, count, &at);
        } else if (!only_operands && strcmp(argument, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && looks_like_option(argument)) {
            result = cli_usage(verb, "%s: there is no such option", argument);
        } else if (!operands) {
            result = cli_usage(verb, "\"%s\" belongs to no option", argument);
        } else {
            HRESULT hr = texts_add(operands, argument);
            result = FAILED(hr) ? cli_error(verb, hr) : CLI_DONE;
        }
        if (result != CLI_DONE)
            return result;
    }
    return CLI_DONE;
}
