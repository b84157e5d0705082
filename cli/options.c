/* SPDX-License-Identifier: MIT */
/* Parses a verb's command line and the -config files, or reports the verb's options. */
#include "cli/cli.h"
#include "engine/base/memory.h"

#include <string.h>

/* The current call of options_ask: the function that receives a verb's options, and the current sub-verb. */
static struct {
    options_heard *heard;
    void *user;
    const char *sub;
} asked;
static bool help_wanted;

void options_ask(const struct verb *verb, options_heard *heard, void *user)
{
    asked.heard = heard;
    asked.user = user;
    asked.sub = "";
    (void)verb->run(0, NULL);
    asked.heard = NULL;
}

bool options_are_asked(void)
{
    return asked.heard != NULL;
}

bool options_report(const char *sub, const struct option *options, size_t count)
{
    if (asked.heard)
        asked.heard(asked.user, sub ? sub : asked.sub, options, count);
    return asked.heard != NULL;
}

bool options_help_wanted(void)
{
    return help_wanted;
}

bool cli_asks_for_help(const char *argument)
{
    return strcmp(argument, "-?") == 0 || strcmp(argument, "/?") == 0 || strcmp(argument, "-h") == 0 ||
           text_equal_nocase(argument, "--help");
}

/* ---- sub-verbs ---- */

static int no_sub_verb(const char *verb, const struct sub_verb *verbs, size_t count, const char *word)
{
    struct text_buffer names = {0};
    struct nearest n = {.word = word};
    for (size_t i = 0; i < count; i++) {
        text_buffer_format(&names, "%s%s", i ? ", " : "", verbs[i].name);
        if (word)
            nearest_consider(&n, verbs[i].name);
    }
    char *all = text_buffer_take(&names);
    int result;
    if (!all)
        result = cli_error(verb, E_OUTOFMEMORY);
    else if (!word)
        result = cli_usage(verb, "missing verb: expected one of %s", all);
    else if (n.name)
        result = cli_usage(verb, "unknown verb '%s': expected one of %s (did you mean '%s'?)", word, all, n.name);
    else
        result = cli_usage(verb, "unknown verb '%s': expected one of %s", word, all);
    memory_free(all);
    return result;
}

int cli_sub_verb(const char *verb, const struct sub_verb *verbs, size_t count, int argc, char **argv)
{
    for (size_t i = 0; asked.heard && i < count; i++) {
        asked.sub = verbs[i].name;
        (void)verbs[i].run(0, NULL);
    }
    if (asked.heard)
        return CLI_USAGE;
    for (size_t i = 0; i < count; i++) {
        if (!*verbs[i].name)
            return verbs[i].run(argc, argv);
        if (argc && text_equal_nocase(argv[0], verbs[i].name))
            return verbs[i].run(argc - 1, argv + 1);
    }
    if (argc && cli_asks_for_help(argv[0])) {
        help_wanted = true;
        return CLI_USAGE;
    }
    return no_sub_verb(verb, verbs, count, argc ? argv[0] : NULL);
}

/* ---- mistyped words ---- */

static bool same_letter(char a, char b)
{
    return (a | 0x20) == (b | 0x20);
}

/* Returns the number of letters that were inserted, omitted, replaced or swapped with their neighbour (Damerau),
   ignoring case. Returns UINT32_MAX if a word is too long for a name. */
static unsigned letters_between(const char *a, const char *b)
{
    enum { MOST = 127 };
    unsigned rows[3][MOST + 1];
    const size_t m = strlen(a), n = strlen(b);
    if (m > MOST || n > MOST)
        return UINT32_MAX;
    for (size_t i = 0; i <= m; i++) {
        unsigned *to = rows[i % 3];
        const unsigned *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        for (size_t j = 0; j <= n; j++) {
            unsigned best = i ? above[j] + 1 : (unsigned)j;
            if (i && j) {
                const unsigned put_in = to[j - 1] + 1, other = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
                best = put_in < best ? put_in : best;
                best = other < best ? other : best;
            }
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]) &&
                two_above[j - 2] + 1 < best)
                best = two_above[j - 2] + 1;
            to[j] = best;
        }
    }
    return rows[m % 3][n];
}

void nearest_consider(struct nearest *n, const char *name)
{
    const size_t length = strlen(n->word);
    const unsigned most = length > 12 ? 3 : length > 4 ? 2 : 1, distance = letters_between(n->word, name);
    /* Without this limit, a word of one letter would be similar to every other word of one letter. */
    if (distance <= most && distance < strlen(name) && (!n->name || distance < n->distance)) {
        n->name = name;
        n->distance = distance;
    }
}

static int no_such_option(const char *verb, const char *argument, const struct option *options, size_t count)
{
    struct nearest n = {.word = argument + strspn(argument, "-")};
    for (size_t i = 0; i < count; i++)
        nearest_consider(&n, options[i].name);
    return n.name ? cli_usage(verb, "unknown option '%s' (did you mean -%s?)", argument, n.name)
                  : cli_usage(verb, "unknown option '%s'", argument);
}

/* ---- options ---- */

/* Returns the option that the argument names; NULL if it is not an option. */
static const struct option *find_option(const char *argument, const struct option *options, size_t count)
{
    const char *name = argument;
    /* Web pages use en and em dashes in place of hyphens. */
    const bool dash = strncmp(argument, "\xE2\x80\x93", 3) == 0 || strncmp(argument, "\xE2\x80\x94", 3) == 0;
    if (dash || argument[0] == '-' || argument[0] == '/') {
        name += dash ? 3 : argument[0] == '-' && argument[1] == '-' ? 2 : 1;
        for (size_t i = 0; i < count; i++)
            if (text_equal_nocase(name, options[i].name))
                return &options[i];
    }
    return NULL;
}

/* Returns true for "-x", but not for "-5" and "-", which are values. */
static bool looks_like_option(const char *argument)
{
    return argument[0] == '-' && argument[1] && (argument[1] < '0' || argument[1] > '9');
}

static int take_count(const char *verb, const char *name, const char *value, uint32_t *target)
{
    uint64_t number;
    if (!text_to_u64(value, &number) || number == 0 || number > UINT32_MAX)
        return cli_usage(verb, "-%s: invalid number '%s': expected a whole number from %u to %u", name, value, 1u,
                         (unsigned)UINT32_MAX);
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
        return cli_usage(verb, "-%s: missing value", option->name);
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
    if (options_report(NULL, options, count))
        return CLI_USAGE;
    for (int at = 0; at < argc;) {
        const char *argument = argv[at++];
        const struct option *option = only_operands ? NULL : find_option(argument, options, count);
        int result = CLI_DONE;
        if (option) {
            result = take_option(verb, option, argc, argv, options, count, &at);
        } else if (!only_operands && strcmp(argument, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && cli_asks_for_help(argument)) {
            help_wanted = true;
            result = CLI_USAGE;
        } else if (!only_operands && looks_like_option(argument)) {
            result = no_such_option(verb, argument, options, count);
        } else if (!operands) {
            result = cli_usage(verb, "unexpected argument '%s'", argument);
        } else {
            HRESULT hr = texts_add(operands, argument);
            result = FAILED(hr) ? cli_error(verb, hr) : CLI_DONE;
        }
        if (result != CLI_DONE)
            return result;
    }
    return CLI_DONE;
}

/* ---- -config FILE: a command line kept in a file ---- */

/* Adds the words of a line. Words are separated by spaces and tabs; a quoted word may contain spaces and tabs. */
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

/* Adds the contents of a file. A line "[o]" stands for the option -o; each of the following lines is a value of this
   option. A line such as "-o out.csv" is part of a command line. */
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
            hr = error_set(E_INVALIDARG, "-config: missing value");
        else
            hr = add_settings(argv[++i], out);
    return hr;
}

int options_with_settings(const char *verb, int argc, char **argv, struct texts *out)
{
    static const struct option config = {"config", OPTION_TEXT, NULL};
    (void)options_report(NULL, &config, 1);
    const HRESULT hr = settings_expand(argc, argv, out);
    if (hr == E_INVALIDARG)
        return cli_usage(verb, "%s", error_text(hr));
    return FAILED(hr) ? cli_error(verb, hr) : CLI_DONE;
}
