/* SPDX-License-Identifier: MIT */
/* openpla.exe: finds the verb and runs it. Exit codes: enum cli_exit. What a verb gives goes to stdout, everything else
   (errors, remarks, progress) to stderr, both in UTF-8. */
#include "cli/cli.h"
#include "cli/verbs.h"
#include "engine/os/memory.h"

#include <stdio.h>
#include <string.h>

#ifdef _WIN32
#include "engine/os/libraries.h"

#include <windows.h>
#include <fcntl.h>
#include <io.h>
#endif

/* In the order of their names. */
static const struct verb *const verbs[] = {
    &verb_check, &verb_config, &verb_events, &verb_logman,   &verb_logstat,  &verb_manifest, &verb_mof, &verb_relog,
#ifdef _WIN32
    &verb_run,
#endif
    &verb_store, &verb_task,   &verb_trace,  &verb_tracerpt, &verb_typeperf, NULL,
};

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; verbs[i]; i++)
        if (text_equal_nocase(verbs[i]->name, name))
            return verbs[i];
    return NULL;
}

static int no_verb(const char *name)
{
    fprintf(stderr, "openpla: there is no verb \"%s\"\nSee: openpla help\n", name);
    return CLI_USAGE;
}

static int list_verbs(FILE *out)
{
    fputs("OpenPLA: performance logs and alerts.\n\nopenpla VERB ...\nopenpla help VERB\n\n", out);
    for (size_t i = 0; verbs[i]; i++)
        fprintf(out, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    fputs("\nExit codes: 0 done, 1 failed, 2 wrong command line, 3 done with remarks about damaged data.\n", out);
    return CLI_DONE;
}

static int help(int argc, char **argv)
{
    if (argc == 0)
        return list_verbs(stdout);
    const struct verb *verb = find_verb(argv[0]);
    if (!verb)
        return no_verb(argv[0]);
    fputs(verb->help, stdout);
    return CLI_DONE;
}

static bool asks_for_help(const char *argument)
{
    return strcmp(argument, "-?") == 0 || strcmp(argument, "/?") == 0 || strcmp(argument, "-h") == 0 ||
           strcmp(argument, "--help") == 0;
}

/* The verb whose name the program has: logman.exe is a copy of openpla.exe. */
static const struct verb *own_verb(const char *program)
{
    char name[16];
    const char *base = program;
    for (const char *at = program; *at; at++)
        if (*at == '/' || *at == '\\')
            base = at + 1;
    text_fit(name, sizeof name, base);
    name[strcspn(name, ".")] = 0;
    return find_verb(name);
}

static int run(int argc, char **argv)
{
    const struct verb *verb = argc > 0 ? own_verb(argv[0]) : NULL;
    int at = 1;
    if (!verb && argc < 2) {
        list_verbs(stderr);
        return CLI_USAGE;
    }
    if (!verb && (asks_for_help(argv[1]) || text_equal_nocase(argv[1], "help")))
        return help(argc - 2, argv + 2);
    if (!verb)
        verb = find_verb(argv[at++]);
    if (!verb)
        return no_verb(argv[1]);
    if (argc == at + 1 && asks_for_help(argv[at])) {
        fputs(verb->help, stdout);
        return CLI_DONE;
    }
    int result = verb->run(argc - at, argv + at);
    /* A full disk or a closed pipe shows at the latest here. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "openpla %s: the output could not be written\n", verb->name);
        result = result == CLI_DONE || result == CLI_REMARKS ? CLI_FAILED : result;
    }
    return result;
}

#ifdef _WIN32
int wmain(int argc, WCHAR **argv);

static UINT console_page;

void cli_console_restore(void)
{
    if (console_page)
        SetConsoleOutputCP(console_page);
    console_page = 0;
}

int wmain(int argc, WCHAR **argv)
{
    struct texts arguments = {0};
    HRESULT hr = S_OK;
    libraries_restrict();
    for (int i = 0; i < argc && SUCCEEDED(hr); i++) {
        char *text;
        hr = text_from_utf16(argv[i], wcslen(argv[i]), true, &text);
        if (SUCCEEDED(hr)) {
            hr = texts_add(&arguments, text);
            memory_free(text);
        }
    }
    if (FAILED(hr)) {
        fputs("openpla: out of memory\n", stderr);
        return CLI_FAILED;
    }
    /* Lines end as the verb writes them; the console is told that they are UTF-8. */
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
    console_page = GetConsoleOutputCP();
    SetConsoleOutputCP(CP_UTF8);
    int result = run(argc, arguments.items);
    fflush(stderr);
    cli_console_restore();
    texts_free(&arguments);
    return result;
}
#else
int main(int argc, char **argv)
{
    return run(argc, argv);
}
#endif
