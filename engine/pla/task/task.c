/* SPDX-License-Identifier: MIT */
/* Runs tasks (in Task Scheduler, or as processes for tasks in the store), and expands their arguments (DECISIONS
   14). */
#include "engine/pla/task.h"

#include "engine/base/clock.h"
#include "engine/base/command_line.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/base/windows_services.h"

#include <string.h>

#define LINE_MOST 32767 /* UTF-16 units of a command line, CreateProcess's limit */

struct task_instance {
    const struct task_scheduler *scheduler; /* NULL: the task is a process */
    struct scheduled_task *scheduled;
    struct process *process;
    uint64_t start_time;
    uint64_t began;         /* clock_monotonic_ms */
    uint32_t limit_seconds; /* 0: no limit */
};

static HRESULT start_process(const struct task_program *program, struct task_instance *t)
{
    size_t length = text_utf16_length(program->path) + text_utf16_length(program->line) + sizeof "\"\" ";
    if (length > LINE_MOST)
        return error_set(HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE),
                         "the command line has %llu characters (at most %d are allowed)", (unsigned long long)length,
                         LINE_MOST);
    HRESULT hr = process_start(&(struct program){.path = program->path,
                                                 .line = program->line,
                                                 .directory = program->directory[0] ? program->directory : NULL,
                                                 .console = true},
                               &t->process);
    if (FAILED(hr))
        return hr;
    t->start_time = process_start_time(process_id(t->process));
    t->began = clock_monotonic_ms();
    return S_OK;
}

static HRESULT start_defined(const struct task_definition *d, const char *arguments, const char *directory,
                             struct task_instance *t)
{
    struct task_program program;
    HRESULT hr = task_definition_resolve(d, arguments, directory, &program);
    if (FAILED(hr))
        return hr;
    t->limit_seconds = d->limit_seconds;
    hr = start_process(&program, t);
    task_program_free(&program);
    return hr;
}

static HRESULT start_stored(const char *task, const char *arguments, const char *directory, struct task_instance *t)
{
    struct task_definition d;
    HRESULT hr = task_store_load(task, &d);
    if (FAILED(hr))
        return hr;
    hr = d.disabled ? error_set(SCHED_E_TASK_DISABLED, "the task is disabled")
                    : start_defined(&d, arguments, directory, t);
    task_definition_free(&d);
    return FAILED(hr) ? error_prefix(hr, "task '%.300s'", task) : hr;
}

HRESULT task_start(const char *task, const char *arguments, const char *directory, bool as_self,
                   struct task_instance **out)
{
    const struct task_scheduler *scheduler = host_task_scheduler();
    const char *bare;
    *out = NULL;
    HRESULT hr = task_name_check(task, &bare);
    struct task_instance *t = SUCCEEDED(hr) ? memory_zero(1, sizeof *t) : NULL;
    if (!t)
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    t->scheduler = scheduler;
    hr = scheduler ? scheduler->start(bare, arguments, directory, as_self, &t->scheduled)
                   : start_stored(bare, arguments, directory, t);
    TRACE_STEP(task, "start task %s %s: 0x%08X", bare, arguments ? arguments : "", (unsigned)hr);
    if (FAILED(hr)) {
        memory_free(t);
        return hr;
    }
    *out = t;
    return S_OK;
}

/* Splits off the first argument. *rest: where the other arguments begin. */
static HRESULT take_program(const char *line, char **program, const char **rest)
{
    struct command_line_reader r = {.at = line + strspn(line, " \t")};
    struct text_buffer name = {0};
    char c;
    for (enum command_line_piece piece; (piece = command_line_next(&r, &c)) != COMMAND_LINE_END;) {
        if (piece == COMMAND_LINE_BLANK)
            break;
        if (piece == COMMAND_LINE_TEXT)
            text_buffer_add_n(&name, &c, 1);
    }
    *rest = r.at;
    *program = text_buffer_take(&name);
    return *program ? S_OK : E_OUTOFMEMORY;
}

HRESULT task_start_command(const char *command_line, const char *directory, struct task_instance **out)
{
    char none[] = "", *program;
    const char *rest;
    *out = NULL;
    HRESULT hr = take_program(command_line, &program, &rest);
    if (FAILED(hr))
        return hr;
    if (!program[0])
        hr = error_set(E_INVALIDARG, "the command line '%.300s' has no program", command_line);
    struct task_instance *t = SUCCEEDED(hr) ? memory_zero(1, sizeof *t) : NULL;
    struct task_program found = {0};
    if (SUCCEEDED(hr))
        hr =
            t ? task_definition_resolve(
                    &(struct task_definition){.command = program, .arguments = none, .directory = none}, "", "", &found)
              : E_OUTOFMEMORY;
    memory_free(program);
    if (SUCCEEDED(hr)) {
        memory_free(found.line);
        memory_free(found.directory);
        found.line = text_copy(rest);
        found.directory = text_copy(directory);
        hr = found.line && found.directory ? start_process(&found, t) : E_OUTOFMEMORY;
        task_program_free(&found);
    }
    if (FAILED(hr)) {
        memory_free(t);
        return hr;
    }
    *out = t;
    return S_OK;
}

HRESULT task_wait(struct task_instance *t, uint32_t timeout_ms, uint32_t *exit_code)
{
    uint32_t code = 0;
    HRESULT hr;
    if (t->scheduler) {
        hr = t->scheduler->wait(t->scheduled, timeout_ms, &code);
    } else {
        uint64_t limit_ms = (uint64_t)t->limit_seconds * 1000;
        uint64_t passed = clock_passed_ms(t->began, clock_monotonic_ms());
        uint64_t left = limit_ms && passed < limit_ms ? limit_ms - passed : 0;
        bool ends = limit_ms && left <= timeout_ms;
        hr = process_wait(t->process, ends ? (uint32_t)left : timeout_ms, &code);
        if (hr == S_FALSE && ends) {
            process_terminate(process_id(t->process), t->start_time);
            hr = error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT), "terminated after its ExecutionTimeLimit of %u s",
                           (unsigned)t->limit_seconds);
        }
    }
    if (exit_code && hr == S_OK)
        *exit_code = code;
    return hr;
}

void task_close(struct task_instance *t)
{
    if (!t)
        return;
    if (t->scheduled)
        t->scheduler->close(t->scheduled);
    process_close(t->process);
    memory_free(t);
}

/* ---- arguments: variables and values ---- */

#define PATTERN_MOST (4 * 32767) /* bytes of the longest string that CreateProcess takes */

/* A variable in the pattern; `bytes` includes its braces. */
struct place {
    const struct task_variable *variable; /* NULL: no variable here */
    size_t bytes;
};

static HRESULT place_find_variable(const char *at, const struct task_variable *variables, size_t count,
                                   struct place *out)
{
    size_t escape = *at == '\\';
    const char *name = at + escape + 1;
    *out = (struct place){NULL, 0};
    if (at[escape] != '{')
        return S_OK;
    size_t length = strcspn(name, "{}");
    bool closed = name[length] == '}' && (!escape || (length && name[length - 1] == '\\'));
    char *called = closed ? text_copy_n(name, length - escape) : NULL;
    for (size_t i = 0; called && !out->variable && i < count; i++)
        if (text_equal_nocase(called, variables[i].name))
            *out = (struct place){&variables[i], escape + 1 + length + 1};
    memory_free(called);
    return closed && !called ? E_OUTOFMEMORY : S_OK;
}

static void add_value(struct command_line *l, const struct task_variable *v, bool quoted)
{
    if (!v->list) {
        command_line_value(l, v->text ? v->text : "");
        return;
    }
    bool first = true;
    for (size_t i = 0; i < v->list->count; i++) {
        if (!v->list->items[i][0])
            continue;
        if (!first && quoted)
            command_line_text(l, " ");
        else if (!first)
            command_line_blank(l, ' ');
        command_line_value(l, v->list->items[i]);
        first = false;
    }
}

HRESULT task_expand_arguments(const char *pattern, const struct task_variable *variables, size_t count, char **out)
{
    struct command_line_reader r = {.at = pattern};
    struct command_line line = {0};
    HRESULT hr = S_OK;
    *out = NULL;
    if (strlen(pattern) > PATTERN_MOST)
        return error_set(HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE),
                         "TaskArguments: %llu bytes are too many (at most %d fit into a command line)",
                         (unsigned long long)strlen(pattern), PATTERN_MOST);
    for (bool more = true; SUCCEEDED(hr) && more;) {
        struct place place = {NULL, 0};
        /* An escape begins with the last backslash of a sequence. A backslash before a quotation mark does not begin an
           escape. */
        if (!r.backslashes)
            hr = place_find_variable(r.at, variables, count, &place);
        if (!place.variable) {
            more = command_line_copy(&line, &r);
            continue;
        }
        add_value(&line, place.variable, r.quoted);
        r.at += place.bytes;
        r.plain = 0;
    }
    char *text = command_line_take(&line);
    if (FAILED(hr))
        memory_free(text);
    *out = SUCCEEDED(hr) ? text : NULL;
    return *out ? S_OK : E_OUTOFMEMORY;
}
