/* SPDX-License-Identifier: MIT */
/* openpla task: manages the tasks that sets and alerts start, for systems without a working Task Scheduler. */
#include "engine/pla/task.h"

#include "cli/cli.h"
#include "cli/output.h"
#include "engine/base/command_line.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/windows_services.h"

#include <stdio.h>
#include <string.h>

#define VERB      "task"
#define FILE_MOST (1u << 20) /* maximum size in bytes */

struct choice {
    const char *xml, *folder;
    uint32_t limit, timeout;
    bool force, json;
    struct texts operands; /* the task's name and, for add, the task's program */
    int rest;              /* index of the first word that belongs to the task itself */
};

static const char *const with_value[] = {"-xml", "-folder", "-limit", "-timeout"};

/* Returns the index after the given number of operands. All arguments from this index on belong to the task, even if
   they look like options. */
static int find_rest(int argc, char **argv, int operands)
{
    int at = 0;
    while (at < argc && operands) {
        const char *word = argv[at++];
        if (word[0] != '-') {
            operands--;
            continue;
        }
        for (size_t i = 0; i < sizeof with_value / sizeof with_value[0]; i++)
            if (text_equal_nocase(word, with_value[i]) && at < argc) {
                at++;
                break;
            }
    }
    return at;
}

static int choice_parse(int argc, char **argv, int operands, struct choice *c)
{
    const struct option options[] = {
        {"xml", OPTION_TEXT, &c->xml},     {"folder", OPTION_TEXT, &c->folder},    {"limit", OPTION_COUNT, &c->limit},
        {"force", OPTION_FLAG, &c->force}, {"timeout", OPTION_COUNT, &c->timeout}, {"json", OPTION_FLAG, &c->json},
    };
    c->rest = find_rest(argc, argv, operands);
    return options_parse(VERB, c->rest, argv, options, sizeof options / sizeof options[0], &c->operands);
}

/* ---- add ---- */

/* Joins words to a command line. $(Arg0) is not quoted, because it can expand to several arguments. */
static HRESULT words_to_line(int argc, char **argv, char **out)
{
    struct text_buffer b = {0};
    HRESULT hr = S_OK;
    for (int i = 0; SUCCEEDED(hr) && i < argc; i++) {
        struct command_line one = {0};
        bool variable = strstr(argv[i], "$(Arg") && !strpbrk(argv[i], " \t\"");
        if (!variable)
            command_line_argument(&one, argv[i]);
        char *word = variable ? text_copy(argv[i]) : command_line_take(&one);
        hr = word ? S_OK : E_OUTOFMEMORY;
        text_buffer_add(&b, i ? " " : "");
        text_buffer_add(&b, word ? word : "");
        memory_free(word);
    }
    *out = text_buffer_take(&b);
    return SUCCEEDED(hr) && *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT task_define(const struct choice *c, int argc, char **argv, struct task_definition *d)
{
    d->command = text_copy(c->operands.items[1]);
    d->directory = text_copy(c->folder ? c->folder : "$(Arg1)");
    d->limit_seconds = c->limit ? c->limit : TASK_LIMIT_USUAL;
    HRESULT hr = S_OK;
    if (argc)
        hr = words_to_line(argc, argv, &d->arguments);
    else
        d->arguments = text_copy("$(Arg0)");
    return d->command && d->directory && d->arguments ? hr : E_OUTOFMEMORY;
}

static HRESULT read_xml(const char *path, struct task_definition *d)
{
    char *xml, *ignored;
    size_t size;
    HRESULT hr = file_load(path, FILE_MOST, &xml, &size);
    if (FAILED(hr))
        return hr;
    hr = task_definition_read(xml, size, d, &ignored);
    if (SUCCEEDED(hr) && ignored[0])
        fprintf(stderr, "openpla " VERB ": '%s': ignored: %s (sets and alerts start the task under their account)\n",
                path, ignored);
    memory_free(ignored);
    memory_free(xml);
    return FAILED(hr) ? error_prefix(hr, "%s", path) : hr;
}

static HRESULT add_task(const struct choice *c, int argc, char **argv)
{
    struct task_definition d = {0};
    HRESULT hr = c->xml ? read_xml(c->xml, &d) : task_define(c, argc, argv, &d);
    const char *bare;
    if (SUCCEEDED(hr))
        hr = task_name_check(c->operands.items[0], &bare);
    if (SUCCEEDED(hr)) {
        memory_free(d.name);
        d.name = text_copy(bare);
        hr = d.name ? task_store_save(&d, c->force) : E_OUTOFMEMORY;
    }
    task_definition_free(&d);
    return hr;
}

static int task_add(int argc, char **argv)
{
    struct choice c = {0};
    int result = choice_parse(argc, argv, 2, &c);
    if (result == CLI_DONE && c.operands.count != (c.xml ? 1u : 2u))
        result = cli_usage(VERB, c.xml ? "add: expected one name with -xml" : "add: expected a name and a program");
    if (result == CLI_DONE && c.xml && (c.folder || c.limit || c.rest != argc))
        result = cli_usage(VERB, "add: -xml cannot be combined with -folder, -limit or arguments");
    if (result == CLI_DONE) {
        HRESULT hr = add_task(&c, argc - c.rest, argv + c.rest);
        result = FAILED(hr) ? cli_error(VERB, hr) : CLI_DONE;
    }
    texts_free(&c.operands);
    return result;
}

/* ---- list ---- */

static void print_json(struct json *j, const char *name, HRESULT hr, const struct task_definition *d)
{
    json_begin(j, NULL, '{');
    json_text(j, "name", name);
    if (FAILED(hr)) {
        json_text(j, "error", error_text(hr));
    } else {
        json_text(j, "command", d->command);
        json_text(j, "arguments", d->arguments);
        json_text(j, "folder", d->directory);
        json_integer(j, "limit", d->limit_seconds);
        json_bool(j, "enabled", !d->disabled);
    }
    json_end(j, '}');
}

static void print_text(const char *name, HRESULT hr, const struct task_definition *d)
{
    if (FAILED(hr))
        printf("%s: %s\n", name, error_text(hr));
    else
        printf("%s: %s %s%s\n", name, d->command, d->arguments, d->disabled ? " (disabled)" : "");
}

static HRESULT task_show(bool as_json, bool *damaged)
{
    struct json j = {.out = stdout};
    struct texts names = {0};
    HRESULT hr = task_store_list(&names);
    if (SUCCEEDED(hr) && as_json)
        json_begin(&j, NULL, '[');
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++) {
        struct task_definition d;
        HRESULT one = task_store_load(names.items[i], &d);
        *damaged = *damaged || FAILED(one);
        if (as_json)
            print_json(&j, names.items[i], one, &d);
        else
            print_text(names.items[i], one, &d);
        task_definition_free(&d);
    }
    if (SUCCEEDED(hr) && as_json)
        json_end(&j, ']');
    texts_free(&names);
    return hr;
}

static int task_list(int argc, char **argv)
{
    bool json = false, damaged = false;
    const struct option options[] = {{"json", OPTION_FLAG, &json}};
    int result = options_parse(VERB, argc, argv, options, 1, NULL);
    if (result != CLI_DONE)
        return result;
    HRESULT hr = task_show(json, &damaged);
    return FAILED(hr) ? cli_error(VERB, hr) : damaged ? CLI_REMARKS : CLI_DONE;
}

static int remove_task(int argc, char **argv)
{
    struct choice c = {0};
    int result = choice_parse(argc, argv, 1, &c);
    if (result == CLI_DONE && (c.operands.count != 1 || c.rest != argc))
        result = cli_usage(VERB, "remove: expected one name");
    if (result == CLI_DONE) {
        HRESULT hr = task_store_remove(c.operands.items[0]);
        result = FAILED(hr) ? cli_error(VERB, hr) : CLI_DONE;
    }
    texts_free(&c.operands);
    return result;
}

/* ---- run ---- */

static HRESULT run_task(const struct choice *c, int argc, char **argv)
{
    struct task_instance *t;
    uint32_t code = 0;
    const char *name = c->operands.items[0];
    char *arguments = NULL, *folder = os_full_path(c->folder ? c->folder : ".");
    HRESULT hr = folder ? words_to_line(argc, argv, &arguments) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = task_start(name, arguments, folder, false, &t);
    if (SUCCEEDED(hr)) {
        do
            hr = task_wait(t, c->timeout ? c->timeout * 1000 : UINT32_MAX, &code);
        while (hr == S_FALSE && !c->timeout);
        task_close(t);
        if (FAILED(hr))
            hr = error_prefix(hr, "task '%s'", name);
        else if (hr == S_FALSE)
            hr = error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT), "task '%s': still running after %u s", name,
                           (unsigned)c->timeout);
        else if (code)
            hr = error_set(E_FAIL, "task '%s': exited with code %u", name, (unsigned)code);
    }
    memory_free(arguments);
    memory_free(folder);
    return hr;
}

static int task_run_now(int argc, char **argv)
{
    struct choice c = {0};
    int result = choice_parse(argc, argv, 1, &c);
    if (result == CLI_DONE && c.operands.count != 1)
        result = cli_usage(VERB, "run: expected one name");
    if (result == CLI_DONE && c.timeout > UINT32_MAX / 1000)
        result = cli_usage(VERB, "-timeout: invalid value %u: the maximum is %u seconds", (unsigned)c.timeout,
                           UINT32_MAX / 1000);
    if (result == CLI_DONE) {
        HRESULT hr = run_task(&c, argc - c.rest, argv + c.rest);
        result = FAILED(hr) ? cli_error(VERB, hr) : CLI_DONE;
    }
    texts_free(&c.operands);
    return result;
}

static int task_run(int argc, char **argv)
{
    static const struct sub_verb verbs[] = {
        {"add", task_add}, {"list", task_list}, {"remove", remove_task}, {"run", task_run_now}};
    if (argc && !text_equal_nocase(argv[0], "run") && host_task_scheduler())
        return cli_error(VERB, error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                                         "tasks of this computer belong to Task Scheduler (use schtasks.exe)"));
    return cli_sub_verb(VERB, verbs, sizeof verbs / sizeof *verbs, argc, argv);
}

const struct verb verb_task = {
    .name = "task",
    .summary = "adds, lists, removes and runs the tasks that sets and alerts start",
    .help = "openpla task add [-folder FOLDER] [-limit SECONDS] [-force] NAME PROGRAM [ARGUMENT ...]\n"
            "openpla task add -xml FILE [-force] NAME\n"
            "openpla task list [-json]\n"
            "openpla task remove NAME\n"
            "openpla task run [-folder FOLDER] [-timeout SECONDS] NAME [ARGUMENT ...]\n"
            "\n"
            "The property Task of a set or an alert names a task: a program that is started without a window and "
            "without a\n"
            "shell. Under Wine OpenPLA stores the tasks; on Windows they belong to Task Scheduler, and only run is "
            "available.\n"
            "NAME may contain folders, such as \\My\\Task.\n"
            "\n"
            "  PROGRAM       a full path, or a name that is looked up in PATH; %NAME% is replaced by the environment "
            "variable\n"
            "  ARGUMENT      $(Arg0) is the expanded TaskArguments, $(Arg1) the folder of the run; without any "
            "ARGUMENT the\n"
            "                program gets $(Arg0)\n"
            "  -folder       the current folder of the program, default $(Arg1); with run: the value of $(Arg1)\n"
            "  -limit        terminate the program after this many seconds, default 259200 (three days)\n"
            "  -xml FILE     a task that Task Scheduler exported, with one Exec action\n"
            "  -force        replace an existing task of that name\n"
            "  -json         print JSON\n"
            "  -timeout      how many seconds run waits; default: until the task has ended\n",
    .run = task_run,
};
