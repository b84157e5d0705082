/* SPDX-License-Identifier: MIT */
/* openpla help: prints the verbs and their options from their tables. This file also implements openpla version. */
#include "cli/cli.h"
#include "cli/output.h"
#include "engine/base/memory.h"

#include <string.h>

const struct verb *help_find_verb(const char *name)
{
    for (size_t i = 0; cli_verbs[i]; i++)
        if (text_equal_nocase(cli_verbs[i]->name, name))
            return cli_verbs[i];
    return NULL;
}

/* ---- sub-verbs ---- */

/* Adds the first word of each sub-verb's name, without duplicates. */
static void hear_sub_verb(void *user, const char *sub, const struct option *options, size_t count)
{
    struct texts *names = user;
    char *word = text_copy_n(sub, strcspn(sub, " "));
    bool known = !word || !*word;
    (void)options;
    (void)count;
    for (size_t i = 0; i < names->count && !known; i++)
        known = strcmp(names->items[i], word) == 0;
    if (!known)
        (void)texts_add(names, word);
    memory_free(word);
}

int help_no_verb(const char *name)
{
    struct nearest n = {.word = name};
    const char *behind = NULL;
    for (size_t i = 0; cli_verbs[i]; i++) {
        struct texts subs = {0};
        nearest_consider(&n, cli_verbs[i]->name);
        if (strcmp(cli_verbs[i]->name, "logman") == 0)
            options_ask(cli_verbs[i], hear_sub_verb, &subs);
        for (size_t j = 0; j < subs.count; j++)
            if (text_equal_nocase(subs.items[j], name))
                behind = cli_verbs[i]->name;
        texts_free(&subs);
    }
    fprintf(stderr, "openpla: unknown verb '%s'", name);
    if (behind)
        fprintf(stderr, " (did you mean 'openpla %s %s'?)", behind, name);
    else if (n.name)
        fprintf(stderr, " (did you mean '%s'?)", n.name);
    fputs("\nSee: openpla help\n", stderr);
    return CLI_USAGE;
}

/* ---- as text ---- */

int help_list(FILE *out)
{
    fputs("OpenPLA: performance logs and alerts.\n\nopenpla VERB ...\nopenpla help VERB\n"
          "openpla --trace AREAS VERB ...\n\n",
          out);
    for (size_t i = 0; cli_verbs[i]; i++) {
        struct texts subs = {0};
        fprintf(out, "  %-11s%s\n", cli_verbs[i]->name, cli_verbs[i]->summary);
        options_ask(cli_verbs[i], hear_sub_verb, &subs);
        for (size_t j = 0; j < subs.count; j++)
            fprintf(out, "%s%s%s", j ? ", " : "             ", subs.items[j], j + 1 == subs.count ? "\n" : "");
        texts_free(&subs);
    }
    fputs("\nExit codes: 0 done, 1 failed, 2 wrong command line, 3 done with warnings; logman's is the\n"
          "HRESULT.\n",
          out);
    return CLI_DONE;
}

int help_print(const struct verb *verb, int argc, char **argv)
{
    struct texts words = {0};
    HRESULT hr = S_OK;
    if (verb->help) {
        fputs(verb->help, stdout);
        return CLI_DONE;
    }
    for (int i = 0; i < argc && SUCCEEDED(hr); i++)
        hr = texts_add(&words, argv[i]);
    if (SUCCEEDED(hr))
        hr = texts_add(&words, "-?");
    const int result = SUCCEEDED(hr) ? verb->run((int)words.count, words.items) : cli_error("help", hr);
    texts_free(&words);
    return result;
}

/* ---- as JSON ---- */

static void put_options(void *user, const char *sub, const struct option *options, size_t count)
{
    struct json *j = user;
    for (size_t i = 0; i < count; i++) {
        json_begin(j, NULL, '{');
        json_text(j, "of", sub);
        json_text(j, "name", options[i].name);
        json_bool(j, "value", options[i].kind != OPTION_FLAG);
        json_end(j, '}');
    }
}

static int show_json(const struct verb *only)
{
    struct json j = {.out = stdout};
    json_begin(&j, NULL, '[');
    for (size_t i = 0; cli_verbs[i]; i++) {
        struct texts subs = {0};
        if (only && only != cli_verbs[i])
            continue;
        options_ask(cli_verbs[i], hear_sub_verb, &subs);
        json_begin(&j, NULL, '{');
        json_text(&j, "verb", cli_verbs[i]->name);
        json_text(&j, "summary", cli_verbs[i]->summary);
        json_begin(&j, "verbs", '[');
        for (size_t k = 0; k < subs.count; k++)
            json_text(&j, NULL, subs.items[k]);
        json_end(&j, ']');
        json_begin(&j, "options", '[');
        options_ask(cli_verbs[i], put_options, &j);
        json_end(&j, ']');
        json_end(&j, '}');
        texts_free(&subs);
    }
    json_end(&j, ']');
    return CLI_DONE;
}

int help_of(int argc, char **argv)
{
    const bool as_json = argc > 0 && text_equal_nocase(argv[argc - 1] + strspn(argv[argc - 1], "-"), "json");
    const struct verb *verb = NULL;
    argc -= as_json;
    if (argc > 0 && !(verb = help_find_verb(argv[0])))
        return help_no_verb(argv[0]);
    if (as_json)
        return show_json(verb);
    return verb ? help_print(verb, argc - 1, argv + 1) : help_list(stdout);
}

/* ---- openpla version: one line that scripts can parse ---- */

static int version_run(int argc, char **argv)
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
    .run = version_run,
};
