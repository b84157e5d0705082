/* SPDX-License-Identifier: MIT */
/* openpla run: starts a program so that OpenPLA's sessions receive its events. */
#include "cli/run.h"

#include "cli/cli.h"
#include "cli/run_apis.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/api_trace.h"
#include "engine/etw/injection.h"

#include <stdio.h>
#include <windows.h>
#include <string.h>

/* Maximum number of attempts to start the program. Under Wine, about one in several thousand processes dies before its
   program has run. */
#define BIRTHS 5

struct reached {
    bool children;
    struct run_apis_options apis;
    struct run_apis *trace;
    char *path, *dll;  /* path of the program, UTF-8; path of openetw.dll, in the form that injection_into_process
                          expects */
    const WCHAR *line; /* the program's command line, unchanged */
    PROCESS_INFORMATION started;
};

/* Skips one argument of a command line and the spaces and tabs after it, by the rules of the C runtime. In the first
   argument, a path, a backslash is not an escape. */
static const WCHAR *skip_argument(const WCHAR *at, bool first)
{
    size_t backslashes = 0;
    for (bool quoted = false; *at && (quoted || (*at != ' ' && *at != '\t')); at++) {
        if (*at == '"' && (first || backslashes % 2 == 0))
            quoted = !quoted;
        backslashes = *at == '\\' ? backslashes + 1 : 0;
    }
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static HRESULT read_file(void *user, uint64_t offset, void *to, size_t size)
{
    size_t got;
    HRESULT hr = file_read_at(user, offset, to, size, &got);
    return FAILED(hr) ? hr : got == size ? S_OK : E_FAIL;
}

/* Finds the file that Windows would start for this name. */
static HRESULT find_program(const char *name, char **out)
{
    const DWORD room = 32768;
    WCHAR *wide, *path = memory_alloc(room * sizeof(WCHAR));
    HRESULT hr = path ? text_to_utf16(name, &wide, NULL) : E_OUTOFMEMORY;
    *out = NULL;
    if (SUCCEEDED(hr)) {
        const DWORD length = SearchPathW(NULL, wide, L".exe", room, path, NULL);
        hr = length && length < room ? text_from_utf16(path, length, true, out)
                                     : error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
                                                 "program '%s' not found in the current folder or in PATH", name);
        memory_free(wide);
    }
    memory_free(path);
    return hr;
}

/* Checks the program before it is started, because Wine also starts programs of the host OS, immediately and without
   returning a handle (behaviour 24). */
static HRESULT check_program(const char *path, bool apis)
{
    struct file *f;
    struct injection_image image;
    const char *extension = path_extension(path);
    if (text_equal_nocase(extension, ".bat") || text_equal_nocase(extension, ".cmd"))
        return error_set(HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT),
                         "cannot run '%s': it is a script (use: openpla run --children cmd /c %s)", path,
                         path_name(path));
    if (folder_exists(path))
        return error_set(HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT), "cannot run '%s': it is a folder", path);
    HRESULT hr = file_open(path, FILE_READ, &f);
    if (FAILED(hr))
        return hr;
    const struct injection_source source = {read_file, f};
    hr = apis ? api_trace_check_program(&source, path) : injection_image_read(&source, path, &image);
    file_close(f);
    return hr;
}

static HRESULT find_dll(char **out)
{
    char *folder = os_module_folder(), *path = folder ? path_join(folder, "openetw.dll") : NULL;
    *out = NULL;
    HRESULT hr = path ? S_OK : E_OUTOFMEMORY;
    if (path && !file_exists(path))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "cannot find '%s'", path);
    if (SUCCEEDED(hr))
        hr = injection_dll_path(folder, out);
    memory_free(path);
    memory_free(folder);
    return hr;
}

/* Creates the process with this process's streams, window and inherited C runtime handles, as if this process's parent
   had started it. */
static BOOL process_create(const WCHAR *path, WCHAR *line, PROCESS_INFORMATION *started)
{
    STARTUPINFOW startup;
    BOOL ok = FALSE;
    GetStartupInfoW(&startup);
    startup.lpTitle = NULL;
    for (int births = 0; !ok && births < BIRTHS; births++) {
        ok = CreateProcessW(path, line, NULL, NULL, TRUE, CREATE_SUSPENDED, NULL, NULL, &startup, started);
        if (!ok && GetLastError() != ERROR_INTERNAL_ERROR)
            break;
    }
    return ok;
}

static HRESULT process_start(struct reached *r)
{
    WCHAR *path = NULL, *line = memory_copy(r->line, (wcslen(r->line) + 1) * sizeof(WCHAR));
    HRESULT hr = line ? text_to_utf16(r->path, &path, NULL) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !process_create(path, line, &r->started)) {
        const DWORD code = GetLastError();
        hr = error_set(HRESULT_FROM_WIN32(code), "cannot start '%s': error %lu", r->path, code);
    }
    memory_free(path);
    memory_free(line);
    if (FAILED(hr))
        return hr;
    hr = r->apis.log ? api_trace_inject(r->started.hProcess, r->path)
                     : injection_into_process(r->started.hProcess, r->path, r->dll, r->children);
    if (SUCCEEDED(hr))
        return S_OK;
    TerminateProcess(r->started.hProcess, 1);
    CloseHandle(r->started.hThread);
    CloseHandle(r->started.hProcess);
    return hr;
}

/* Ignores Ctrl+C. The console also sends Ctrl+C to the program, which decides what to do. */
static BOOL WINAPI on_control(DWORD control)
{
    return control == CTRL_C_EVENT || control == CTRL_BREAK_EVENT;
}

static int wait_for(struct reached *r)
{
    DWORD code = CLI_FAILED;
    SetConsoleCtrlHandler(on_control, TRUE);
    cli_console_restore();
    ResumeThread(r->started.hThread);
    CloseHandle(r->started.hThread);
    WaitForSingleObject(r->started.hProcess, INFINITE);
    GetExitCodeProcess(r->started.hProcess, &code);
    CloseHandle(r->started.hProcess);
    return (int)code;
}

static HRESULT run_prepare(struct reached *r, const char *name)
{
    if (!os_is_wine() && !r->apis.log)
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                         "openpla run is only for Wine: on Windows every program's events are recorded without it");
    HRESULT hr = find_program(name, &r->path);
    if (SUCCEEDED(hr))
        hr = check_program(r->path, r->apis.log != NULL);
    if (SUCCEEDED(hr))
        hr = find_dll(&r->dll);
    if (SUCCEEDED(hr) && r->children)
        hr = injection_children_supported();
    if (SUCCEEDED(hr) && r->apis.log)
        hr = run_apis_begin(&r->apis, r->path, &r->trace);
    return hr;
}

/* Parses an option at the start of argv, with its value if it has one. Returns the number of arguments that the option
   uses, or 0 if the option is unknown. */
static int take_option(struct reached *r, int argc, char **argv)
{
    const struct {
        const char *name;
        const char **value;
        bool *flag;
    } options[] = {{"children", NULL, &r->children},       {"apis", &r->apis.log, NULL},
                   {"mods", &r->apis.modules, NULL},       {"inapis", &r->apis.include, NULL},
                   {"exapis", &r->apis.exclude, NULL},     {"ano", NULL, &r->apis.names_only},
                   {"recursive", NULL, &r->apis.recursive}};
    const char *name = argv[0] + 1 + (argv[0][1] == '-');
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!text_equal_nocase(name, options[i].name))
            continue;
        if (options[i].value && argc < 2)
            return 0;
        if (options[i].value)
            *options[i].value = argv[1];
        else
            *options[i].flag = true;
        return options[i].value ? 2 : 1;
    }
    return 0;
}

static bool has_api_options(const struct reached *r)
{
    return r->apis.modules || r->apis.include || r->apis.exclude || r->apis.names_only || r->apis.recursive;
}

/* Ends the trace. Returns `result`, or an error if the program's calls could not be logged. */
static int end_trace(struct reached *r, int result)
{
    uint32_t lost;
    if (!r->trace)
        return result;
    const HRESULT hr = run_apis_end(r->trace, &lost);
    if (FAILED(hr))
        return cli_error("run", hr);
    if (lost)
        fprintf(stderr, "openpla run: the log '%s' is incomplete: %lu calls were lost\n", r->apis.log,
                (unsigned long)lost);
    return result;
}

int run_program(int argc, char **argv)
{
    struct reached r = {0};
    int options = 0;
    for (int taken; options < argc && argv[options][0] == '-'; options += taken) {
        if (strcmp(argv[options], "--") == 0) {
            options++;
            break;
        }
        taken = take_option(&r, argc - options, argv + options);
        if (!taken)
            return cli_usage("run", "unknown option '%s', or its value is missing", argv[options]);
    }
    if (options >= argc)
        return cli_usage("run", "missing program");
    if (r.children && r.apis.log)
        return cli_usage("run", "-apis cannot be combined with --children");
    if (has_api_options(&r) && !r.apis.log)
        return cli_usage("run", "-mods, -inapis, -exapis, -ano and -recursive require -apis");
    r.line = skip_argument(GetCommandLineW(), true);
    for (int i = 0; i <= options; i++) /* skip the verb and the options */
        r.line = skip_argument(r.line, false);
    HRESULT hr = run_prepare(&r, argv[options]);
    if (SUCCEEDED(hr))
        hr = process_start(&r);
    const int result = end_trace(&r, SUCCEEDED(hr) ? wait_for(&r) : cli_error("run", hr));
    memory_free(r.path);
    memory_free(r.dll);
    return result;
}
