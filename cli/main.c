/* SPDX-License-Identifier: MIT */
/* openpla.exe: finds the verb and runs it. Exit codes: enum cli_exit. Results go to stdout, everything else (errors,
   warnings, progress) to stderr, both in UTF-8. */
#include "cli/cli.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/etw/directory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include "engine/base/os.h"

#include <windows.h>
#include <fcntl.h>
#include <io.h>
#elif defined(OPENPLA_STATIC)
#include <nss.h>
#endif

const struct verb *const cli_verbs[] = {
    &verb_check,    &verb_compare,  &verb_completion, &verb_config, &verb_data,   &verb_dcom,    &verb_diskperf,
    &verb_doctor,   &verb_events,   &verb_live,       &verb_lodctr, &verb_logman, &verb_logstat, &verb_manifest,
    &verb_mof,      &verb_plot,     &verb_push,       &verb_relog,  &verb_remote, &verb_report,  &verb_rules,
    &verb_run,      &verb_schema,   &verb_serve,      &verb_store,  &verb_task,   &verb_trace,   &verb_tracerpt,
    &verb_typeperf, &verb_unlodctr, &verb_version,    NULL,
};

/* Returns the verb that the program's file name selects: logman.exe is a copy of openpla.exe. */
static const struct verb *own_verb(const char *program)
{
    char name[16];
    const char *base = program;
    for (const char *at = program; *at; at++)
        if (*at == '/' || *at == '\\')
            base = at + 1;
    text_fit(name, sizeof name, base);
    name[strcspn(name, ".")] = 0;
    return help_find_verb(name);
}

static bool asks_for_version(const char *argument)
{
    return strcmp(argument, "-V") == 0 || text_equal_nocase(argument, "--version") ||
           text_equal_nocase(argument, "-version") || text_equal_nocase(argument, "/version");
}

/* Applies "--trace LIST" before the verb: sets the environment variable, so that processes that this process starts are
   traced too. Returns an enum cli_exit. */
static int trace_switch_set(const char *list)
{
    if (!list || FAILED(debug_trace_check(list))) {
        fprintf(stderr, "openpla: --trace: %s\n", list ? error_text(E_INVALIDARG) : "expected a list of areas");
        return CLI_USAGE;
    }
#ifdef _WIN32
    WCHAR *wide;
    const HRESULT hr = text_to_utf16(list, &wide, NULL);
    const bool is_set = SUCCEEDED(hr) && SetEnvironmentVariableW(L"" DEBUG_TRACE_VARIABLE, wide);
    if (SUCCEEDED(hr))
        memory_free(wide);
#else
    const bool is_set = setenv(DEBUG_TRACE_VARIABLE, list, 1) == 0;
#endif
    if (!is_set)
        fputs("openpla: --trace: out of memory\n", stderr);
    return is_set ? CLI_DONE : CLI_FAILED;
}

static int verb_run_line(int argc, char **argv)
{
    const struct verb *verb = argc > 0 ? own_verb(argv[0]) : NULL;
    int at = 1;
    if (!verb && argc > 1 && strcmp(argv[1], "--trace") == 0) {
        const int result = trace_switch_set(argc > 2 ? argv[2] : NULL);
        if (result != CLI_DONE)
            return result;
        argc -= 2;
        argv += 2;
    }
    if (!verb && argc < 2) {
        (void)help_list(stderr);
        return CLI_USAGE;
    }
    if (!verb && (cli_asks_for_help(argv[1]) || text_equal_nocase(argv[1], "help")))
        return help_of(argc - 2, argv + 2);
    if (!verb && asks_for_version(argv[1])) {
        verb = &verb_version;
        at++;
    }
    if (!verb)
        verb = help_find_verb(argv[at++]);
    if (!verb)
        return help_no_verb(argv[1]);
    if (argc == at + 1 && cli_asks_for_help(argv[at]))
        return help_print(verb, 0, NULL);
    int result = verb->run(argc - at, argv + at);
    if (options_help_wanted())
        result = help_print(verb, 0, NULL);
    /* A full disk or a closed pipe may be detected only when the rest of the output is written. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "openpla %s: cannot write the output\n", verb->name);
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
    /* Binary mode is set because the verbs themselves write the line ends that the output requires. The console is set
       to UTF-8. */
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
    console_page = GetConsoleOutputCP();
    SetConsoleOutputCP(CP_UTF8);
    int result = verb_run_line(argc, arguments.items);
    directory_leave();
    fflush(stderr);
    cli_console_restore();
    texts_free(&arguments);
    return result;
}
#else
int main(int argc, char **argv)
{
#ifdef OPENPLA_STATIC
    /* Use only the name services that are built into this C library. Other name services would be loaded from libraries
       of this computer, which are built for a different C library. */
    (void)__nss_configure_lookup("passwd", "files");
    (void)__nss_configure_lookup("hosts", "files dns");
#endif
    const int handed = cli_hand_to_server(&argc, argv);
    const int result = handed == CLI_DONE ? verb_run_line(argc, argv) : handed;
    directory_leave();
    return result;
}
#endif
