/* SPDX-License-Identifier: MIT */
/* -config FILE: a command line kept in a file. */
#include "cli/cli.h"
#include "cli/lines.h"
#include "engine/base/memory.h"

#include <string.h>

/* Words between blanks; quotes hold blanks together. */
static HRESULT add_words(const char *line, struct texts *out)
{
    HRESULT hr = S_OK;
    while (SUCCEEDED(hr)) {
        line += strspn(line, " \t");
        if (!*line)
            break;
        struct text_buffer word = {0};
        bool quoted = false;
        for (; *line && (quoted || (*line != ' ' && *line != '\t')); line++)
            if (*line == '"')
                quoted = !quoted;
            else
                text_buffer_add_n(&word, line, 1);
        char *text = text_buffer_take(&word);
        hr = text ? texts_add(out, text) : E_OUTOFMEMORY;
        memory_free(text);
    }
    return hr;
}

/* "[o]" names an option whose values are the lines that follow; "-o out.csv" is a piece of a command line. */
static HRESULT add_settings(const char *path, struct texts *out)
{
    struct texts lines = {0};
    bool values = false;
    HRESULT hr = lines_read(path, &lines);
    for (size_t i = 0; i < lines.count && SUCCEEDED(hr); i++) {
        const char *line = lines.items[i];
        const size_t length = strlen(line);
        if (line[0] == '[' && line[length - 1] == ']') {
            char *option = text_format("-%.*s", (int)length - 2, line + 1);
            hr = option ? texts_add(out, option) : E_OUTOFMEMORY;
            memory_free(option);
            values = true;
        } else if (line[0] == '-' || (line[0] == '/' && !values)) {
            values = false;
            hr = add_words(line, out);
        } else {
            hr = values ? texts_add(out, line) : add_words(line, out);
        }
    }
    texts_free(&lines);
    return hr;
}

bool settings_is_config(const char *argument)
{
    return text_equal_nocase(argument, "-config") || text_equal_nocase(argument, "/config") ||
           text_equal_nocase(argument, "--config");
}

HRESULT settings_expand(int argc, char **argv, struct texts *out)
{
    HRESULT hr = S_OK;
    for (int i = 0; i < argc && SUCCEEDED(hr); i++)
        if (!settings_is_config(argv[i]))
            hr = texts_add(out, argv[i]);
        else if (i + 1 == argc)
            hr = error_set(E_INVALIDARG, "-config: its value is missing");
        else
            hr = add_settings(argv[++i], out);
    return hr;
}

int options_with_settings(const char *verb, int argc, char **argv, struct texts *out)
{
    static const struct option config = {"config", OPTION_TEXT, NULL};
    (void)options_told(NULL, &config, 1);
    const HRESULT hr = settings_expand(argc, argv, out);
    if (hr == E_INVALIDARG)
        return cli_usage(verb, "%s", error_text(hr));
    return FAILED(hr) ? cli_error(verb, hr) : CLI_DONE;
}
