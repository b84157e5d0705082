/* SPDX-License-Identifier: MIT */
/* openpla.exe: finds the verb and runs it. Exit codes: enum cli_exit. What a verb gives goes to stdout, everything else
   (errors, remarks, progress) to stderr, both in UTF-8. */
#include "cli/cli.h"
#include "cli/verbs.h"
#include "engine/os/memory.h"

#include <stdarg.h>
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
    &verb_check, &verb_config, &verb_events, &verb_logstat,  &verb_manifest, &verb_mof, &verb_relog,
#ifdef _WIN32
    &verb_run,
#endif
    &verb_store, &verb_task,   &verb_trace,  &verb_tracerpt, &verb_typeperf, NULL,
};

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

static int run(int argc, char **argv)
{
    if (argc < 2) {
        list_verbs(stderr);
        return CLI_USAGE;
    }
    if (asks_for_help(argv[1]) || text_equal_nocase(argv[1], "help"))
        return help(argc - 2, argv + 2);
    const struct verb *verb = find_verb(argv[1]);
    if (!verb)
        return no_verb(argv[1]);
    if (argc == 3 && asks_for_help(argv[2]))
        return help(1, argv + 1);
    int result = verb->run(argc - 2, argv + 2);
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
