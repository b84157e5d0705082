/* SPDX-License-Identifier: MIT */
/* Tasks that sets and alerts start (MS-PLA 3.2.4.1, 3.2.4.8): arguments, instances, and the tasks in files of hosts
   without a Task Scheduler. On Windows tasks belong to Task Scheduler; under Wine and natively they are files. All
   functions may be called from any thread; an instance belongs to the thread that started it. */
#ifndef OPENPLA_TASK_H
#define OPENPLA_TASK_H

#include "engine/base/text.h"

/* ---- arguments ---- */

/* The value of a variable {name} in TaskArguments; names ignore case. */
struct task_variable {
    const char *name;         /* without the braces */
    const char *text;         /* its value; NULL means "" */
    const struct texts *list; /* used instead of `text`: a list, whose empty items are omitted; NULL: not a list */
};
/* Replaces the variables in TaskArguments; the first variable of a name counts. {name} and \{name\} are equivalent;
   unknown names stay as they are, and values are not expanded again. Parsed as a command line (command_line.h), the
   result has the arguments of the pattern: outside quotes a value is one argument, or part of one, each item of a
   list is an argument, and an empty list is nothing; within quotes a value is part of that argument, with blanks
   between the items of a list. *out from memory_alloc. HRESULT of ERROR_FILENAME_EXCED_RANGE: longer than any
   command line; E_OUTOFMEMORY. */
HRESULT task_expand_arguments(const char *pattern, const struct task_variable *variables, size_t count, char **out);

/* ---- instances ---- */

struct task_instance;
/* Starts the task of that name, such as "\My\Task", without waiting for it. `arguments` is $(Arg0) of its
   definition, `directory` is $(Arg1). as_self: under this process's account instead of the task's, which is the same
   for tasks in files (DECISIONS 63). Failures name the task: E_INVALIDARG for an invalid name, HRESULT of
   ERROR_FILE_NOT_FOUND (task, program), ERROR_FILENAME_EXCED_RANGE (command line too long), OPENPLA_E_MALFORMED_XML,
   SCHED_E_TASK_DISABLED, Task Scheduler's errors. */
HRESULT task_start(const char *task, const char *arguments, const char *directory, bool as_self,
                   struct task_instance **out);
/* Starts a command line: a program, in quotes if it contains blanks, and its arguments. `directory` "": the current
   one. */
HRESULT task_start_command(const char *command_line, const char *directory, struct task_instance **out);
/* S_FALSE: still running after timeout_ms. S_OK: exited, with *exit_code, which may be NULL. HRESULT of
   ERROR_TIMEOUT, with a message: terminated because it exceeded its ExecutionTimeLimit. Other failures: its state
   cannot be determined any more. */
HRESULT task_wait(struct task_instance *t, uint32_t timeout_ms, uint32_t *exit_code);
void task_close(struct task_instance *t); /* does not terminate it; NULL is allowed */

#define SCHED_E_TASK_DISABLED   ((HRESULT)0x80041326)
#define SCHED_E_ALREADY_RUNNING ((HRESULT)0x8004131F)

/* ---- definitions of tasks in files: a program, in the XML that Task Scheduler exports ---- */

/* Strings are from memory_alloc, "" if absent. Zero-initialise. */
struct task_definition {
    char *name;      /* RegistrationInfo/URI without its leading backslash */
    char *command;   /* of the only Exec action, like the following */
    char *arguments; /* $(Arg0): arguments of the start; $(Arg1): the folder */
    char *directory;
    uint32_t limit_seconds; /* ExecutionTimeLimit; 0: none */
    bool disabled;
};
#define TASK_LIMIT_USUAL (72u * 3600) /* Task Scheduler's default */

/* Reads a file's XML: UTF-8, or UTF-16 with a byte order mark. *ignored (may be NULL): the names of elements about
   triggers and principals, which are ignored, "" if absent; from memory_alloc. OPENPLA_E_MALFORMED_XML also
   for a document that is not a task or has no program; HRESULT of ERROR_NOT_SUPPORTED for other actions,
   E_INVALIDARG for invalid values. `out` is zero on failure. */
HRESULT task_definition_read(const char *xml, size_t size, struct task_definition *out, char **ignored);
/* *xml from memory_alloc. */
HRESULT task_definition_write(const struct task_definition *d, char **xml);
void task_definition_free(struct task_definition *d);

/* The program that a start runs: its path (searched in PATH if it is only a name), the command line and the folder. */
struct task_program {
    char *path, *line, *directory;
};
/* HRESULT of ERROR_FILE_NOT_FOUND: no such program; ERROR_PATH_NOT_FOUND: no such folder; ERROR_NOT_SUPPORTED: a
   batch file, because cmd.exe parses arguments by other rules, so that a value could become a command. */
HRESULT task_definition_resolve(const struct task_definition *d, const char *arguments, const char *directory,
                                struct task_program *out);
void task_program_free(struct task_program *p);

/* ---- tasks in files: <data folder>/tasks/<name>.xml ---- */

/* The name without a leading backslash, borrowed: folders and name separated by backslashes (MS-TSCH 2.3.11).
   E_INVALIDARG, showing the name, for an empty part, / : * ? " < > |, control characters, "." and "..". */
HRESULT task_name_check(const char *name, const char **bare);
/* Saves it under d->name. HRESULT of ERROR_ALREADY_EXISTS unless `replace`. */
HRESULT task_store_save(const struct task_definition *d, bool replace);
/* HRESULT of ERROR_FILE_NOT_FOUND, naming the task; errors of task_definition_read prefixed with the file's path. */
HRESULT task_store_load(const char *name, struct task_definition *out);
HRESULT task_store_remove(const char *name);
/* The names of all tasks, sorted by file. */
HRESULT task_store_list(struct texts *names);

#endif
