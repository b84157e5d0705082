/* SPDX-License-Identifier: MIT */
/* Starts the tasks of sets and alerts (MS-PLA 3.2.4.1, 3.2.4.8), expands their arguments, and stores tasks as files on
   host OSes without a Task Scheduler. On Windows, tasks belong to Task Scheduler; under Wine and in the native build,
   they are files. All functions may be called from any thread; only the thread that started an instance may use it. */
#ifndef OPENPLA_TASK_H
#define OPENPLA_TASK_H

#include "engine/base/text.h"

/* ---- arguments ---- */

/* A variable {name} in TaskArguments, and its value. Names are compared without case. */
struct task_variable {
    const char *name;         /* without the braces */
    const char *text;         /* the value; NULL means "" */
    const struct texts *list; /* a list, used instead of `text`; empty items are omitted; NULL: not a list */
};
/* Replaces the variables in TaskArguments. If several variables have the same name, the first one is used. {name} and
   \{name\} are equivalent; unknown names stay as they are, and values are not expanded again. Values are quoted so that
   the result, parsed as a command line (command_line.h), has the same arguments as the pattern. Outside quotes, a value
   is an argument or part of an argument; each item of a list is a separate argument, and an empty list adds nothing.
   Within quotes, a value is part of the quoted argument, with spaces between the items of a list. *out is from
   memory_alloc. HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE): the result is longer than any command line;
   E_OUTOFMEMORY. */
HRESULT task_expand_arguments(const char *pattern, const struct task_variable *variables, size_t count, char **out);

/* ---- instances ---- */

struct task_instance;
/* Starts the task with that name, such as "\My\Task", without waiting for it. `arguments` replaces $(Arg0) in the
   definition of the task, and `directory` replaces $(Arg1). `as_self`: starts the task under this process's account
   instead of the task's account; for tasks in files the two accounts are the same (DECISIONS 63). Failures name the
   task: E_INVALIDARG for an invalid name, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) (task, program),
   HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE) (command line too long), OPENPLA_E_MALFORMED_XML,
   SCHED_E_TASK_DISABLED, Task Scheduler's errors. */
HRESULT task_start(const char *task, const char *arguments, const char *directory, bool as_self,
                   struct task_instance **out);
/* Starts a command line: a program, in quotes if its path contains spaces, and its arguments. `directory` "": the
   current folder. */
HRESULT task_start_command(const char *command_line, const char *directory, struct task_instance **out);
/* Waits until the task exits. S_OK: the task has exited with *exit_code (`exit_code` may be NULL). S_FALSE: after
   timeout_ms, the task is still running. HRESULT_FROM_WIN32(ERROR_TIMEOUT), with a message: the task was terminated
   because it exceeded its ExecutionTimeLimit. Other failures: the state of the task can no longer be determined. */
HRESULT task_wait(struct task_instance *t, uint32_t timeout_ms, uint32_t *exit_code);
void task_close(struct task_instance *t); /* does not terminate the task; NULL is allowed */

#define SCHED_E_TASK_DISABLED   ((HRESULT)0x80041326)
#define SCHED_E_ALREADY_RUNNING ((HRESULT)0x8004131F)

/* ---- definitions of tasks in files: a program, in the XML that Task Scheduler exports ---- */

/* Strings are from memory_alloc, "" if absent. Zero-initialise. */
struct task_definition {
    char *name;      /* RegistrationInfo/URI without its leading backslash */
    char *command;   /* `command`, `arguments` and `directory` come from the only Exec action */
    char *arguments; /* may contain $(Arg0) and $(Arg1), for `arguments` and `directory` of task_start */
    char *directory;
    uint32_t limit_seconds; /* ExecutionTimeLimit; 0: none */
    bool disabled;
};
#define TASK_LIMIT_USUAL (72u * 3600) /* Task Scheduler's default */

/* Parses the XML of a task file: UTF-8, or UTF-16 with a byte order mark. Ignores elements about triggers and
   principals, and returns their names in *ignored, from memory_alloc, "" if the document has no such elements;
   `ignored` may be NULL. OPENPLA_E_MALFORMED_XML: the document is malformed, is not a task, or has no program;
   HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED): the task has another kind of action; E_INVALIDARG: an invalid value. `out`
   is zero on failure. */
HRESULT task_definition_read(const char *xml, size_t size, struct task_definition *out, char **ignored);
/* Formats the definition as XML; *xml is from memory_alloc. */
HRESULT task_definition_write(const struct task_definition *d, char **xml);
void task_definition_free(struct task_definition *d);

/* The program that a start runs: its path, the command line and the current folder. */
struct task_program {
    char *path, *line, *directory;
};
/* Determines the program for a start; searches PATH if the command is only a name.
   HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND): no such program; HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND): no such folder;
   HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED): the program is a batch file. Batch files are rejected because cmd.exe parses
   arguments by other rules, so a value could be executed as a command. */
HRESULT task_definition_resolve(const struct task_definition *d, const char *arguments, const char *directory,
                                struct task_program *out);
void task_program_free(struct task_program *p);

/* ---- tasks in files: <data folder>/tasks/<name>.xml ---- */

/* Checks the name of a task: folders and a name, separated by backslashes (MS-TSCH 2.3.11). *bare is the name without a
   leading backslash, borrowed. E_INVALIDARG: the name has an empty part, / : * ? " < > |, a control character, "." or
   ".."; the message names the task. */
HRESULT task_name_check(const char *name, const char **bare);
/* Saves the task under d->name. HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS): the task exists and `replace` is false. */
HRESULT task_store_save(const struct task_definition *d, bool replace);
/* Loads the definition of a task. HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND): the task does not exist; the message names
   it. Also fails with the errors of task_definition_read; the path of the file precedes their messages. */
HRESULT task_store_load(const char *name, struct task_definition *out);
HRESULT task_store_remove(const char *name);
/* Lists the names of all tasks, sorted by file. */
HRESULT task_store_list(struct texts *names);

#endif
