/* SPDX-License-Identifier: MIT */
/* Resolves the definition of a task for a start: its program, command line and folder. */
#include "engine/base/command_line.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/task.h"

#include <string.h>

#define ARG        "$(Arg"
#define ARG_LENGTH 7 /* length of "$(Arg0)" */
#ifdef _WIN32
#define PATH_SEPARATORS ";"
#define PROGRAM_ENDING  ".exe"
#else
#define PATH_SEPARATORS ":"
#define PROGRAM_ENDING  ""
#endif

void task_program_free(struct task_program *p)
{
    memory_free(p->path);
    memory_free(p->line);
    memory_free(p->directory);
    memset(p, 0, sizeof *p);
}

/* Returns '0' or '1' for the variable that begins at `at`; 0: no variable begins there. */
static char variable_at(const char *at)
{
    bool is = !strncmp(at, ARG, sizeof ARG - 1) && (at[5] == '0' || at[5] == '1') && at[6] == ')';
    return is ? at[5] : 0;
}

static void add_line(struct command_line *to, const char *line)
{
    struct command_line_reader r = {.at = line};
    while (command_line_copy(to, &r))
        continue;
    if (r.quoted) /* ends the quoted part */
        command_line_quote(to);
}

/* Builds the command line. Outside quotes, $(Arg0) becomes several arguments; within quotes, it is part of one
   argument. $(Arg1) is always part of one argument. */
static HRESULT fill_line(const char *pattern, const char *arguments, const char *directory, char **out)
{
    struct command_line_reader r = {.at = pattern};
    struct command_line line = {0};
    if (!strstr(pattern, ARG)) { /* unchanged, because it may be quoted by other rules, such as a shell's */
        *out = text_copy(pattern);
        return *out ? S_OK : E_OUTOFMEMORY;
    }
    for (bool more = true; more;) {
        char variable = variable_at(r.at);
        if (!variable)
            more = command_line_copy(&line, &r);
        else if (variable == '0' && !r.quoted)
            add_line(&line, arguments);
        else
            command_line_value(&line, variable == '0' ? arguments : directory);
        r.at += variable ? ARG_LENGTH : 0;
    }
    *out = command_line_take(&line);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* Replaces $(Arg0) and $(Arg1) in a path, without quoting. */
static char *fill_path(const char *pattern, const char *arguments, const char *directory)
{
    struct text_buffer b = {0};
    for (const char *c = pattern; *c;) {
        char variable = variable_at(c);
        if (variable)
            text_buffer_add(&b, variable == '0' ? arguments : directory);
        else
            text_buffer_add_n(&b, c, 1);
        c += variable ? ARG_LENGTH : 1;
    }
    return text_buffer_take(&b);
}

/* ---- the program ---- */

static bool is_absolute(const char *path)
{
#ifdef _WIN32
    return (path[0] == '\\' && path[1] == '\\') || (path[0] && path[1] == ':' && (path[2] == '\\' || path[2] == '/'));
#else
    return path[0] == '/';
#endif
}

/* Finds the file `path`. If this file does not exist, finds the file with PROGRAM_ENDING appended to its name. S_FALSE:
   neither file exists. */
static HRESULT find_file(const char *path, char **out)
{
    static const char *const endings[] = {"", PROGRAM_ENDING};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char *file = text_format("%s%s", path, endings[i]);
        if (!file)
            return E_OUTOFMEMORY;
        if (file_exists(file)) {
            *out = file;
            return S_OK;
        }
        memory_free(file);
    }
    return S_FALSE;
}

/* Searches the folders of PATH that are absolute. */
static HRESULT find_in_path(const char *name, char **out)
{
    char *path = os_expand_environment("%PATH%");
    HRESULT hr = path ? S_FALSE : E_OUTOFMEMORY;
    for (char *at = path; at && *at && hr == S_FALSE;) {
        size_t length = strcspn(at, PATH_SEPARATORS);
        char *folder = text_copy_n(at, length), *file = folder ? path_join(folder, name) : NULL;
        if (!file)
            hr = E_OUTOFMEMORY;
        else if (is_absolute(folder))
            hr = find_file(file, out);
        memory_free(folder);
        memory_free(file);
        at += length + (at[length] != 0);
    }
    memory_free(path);
    return hr;
}

static bool is_batch(const char *path)
{
    size_t length = strlen(path);
    char ending[5] = "";
    while (length && (path[length - 1] == '.' || path[length - 1] == ' ')) /* Windows ignores these characters */
        length--;
    if (length >= sizeof ending)
        memcpy(ending, path + length - 4, 4);
    return text_equal_nocase(ending, ".bat") || text_equal_nocase(ending, ".cmd");
}

static HRESULT find_program(const char *command, char **out)
{
    char *expanded = os_expand_environment(command), *path = expanded;
    size_t length = expanded ? strlen(expanded) : 0;
    HRESULT hr = expanded ? S_OK : E_OUTOFMEMORY;
    *out = NULL;
    if (length > 1 && path[0] == '"' && path[length - 1] == '"') {
        path[length - 1] = 0;
        path++;
    }
    if (SUCCEEDED(hr) && path_name(path) == path)
        hr = find_in_path(path, out);
    else if (SUCCEEDED(hr) && is_absolute(path))
        hr = find_file(path, out);
    else if (SUCCEEDED(hr))
        hr = error_set(E_INVALIDARG, "the program '%s' is neither an absolute path nor a name without folders", path);
    if (hr == S_FALSE)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "the program '%s' does not exist", path);
    if (SUCCEEDED(hr) && is_batch(*out)) {
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                       "the program '%s' is a batch file, to which values cannot be passed safely (use cmd.exe with "
                       "/c as the program)",
                       *out);
        memory_free(*out);
        *out = NULL;
    }
    memory_free(expanded);
    return hr;
}

HRESULT task_definition_resolve(const struct task_definition *d, const char *arguments, const char *directory,
                                struct task_program *out)
{
    char *line = os_expand_environment(d->arguments), *folder = os_expand_environment(d->directory);
    memset(out, 0, sizeof *out);
    HRESULT hr = line && folder ? find_program(d->command, &out->path) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = fill_line(line, arguments, directory, &out->line);
    if (SUCCEEDED(hr) && !(out->directory = fill_path(folder, arguments, directory)))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && out->directory[0] && !folder_exists(out->directory))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND), "the working folder '%s' does not exist",
                       out->directory);
    memory_free(line);
    memory_free(folder);
    if (FAILED(hr))
        task_program_free(out);
    return hr;
}
