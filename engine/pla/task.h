/* SPDX-License-Identifier: MIT */
/* Tasks, which sets and alerts start (MS-PLA 3.2.4.1, 3.2.4.8): their arguments, their instances, and the tasks in
   files of hosts without a Task Scheduler. On Windows tasks are those of Task Scheduler, under Wine and natively those
   in files. All functions are for any thread; an instance belongs to the thread that has started it. */
#ifndef OPENPLA_TASK_H
#define OPENPLA_TASK_H

#include "engine/base/text.h"

/* ---- arguments ---- */

/* What stands for {name}, in any case, in TaskArguments. */
struct task_variable {
    const char *name;         /* without the braces */
    const char *text;         /* its value; NULL stands for "" */
    const struct texts *list; /* instead of `text`: a list, whose empty texts are left out; NULL: it is none */
};
/* TaskArguments with the values in the place of their variables; of two of a name the first counts. {name} and \{name\}
   are the same; what names no variable stays as it is, and no value is looked into again. Taken apart as command lines
   are (command_line.h) it gives the arguments of the pattern: outside of quotes a value is one argument, or stands
   within one, each element of a list is an argument by itself, and an empty list is none; within quotes a value stands
   in that argument, a list with blanks between. *out from memory_alloc. HRESULT of
   ERROR_FILENAME_EXCED_RANGE for a pattern that is longer than any command line; E_OUTOFMEMORY. */
HRESULT task_expand_arguments(const char *pattern, const struct task_variable *variables, size_t count, char **out);

/* ---- instances ---- */

struct task_instance;
/* Starts the task of that name, with folders as "\My\Task", without waiting for it: $(Arg0) of its definition is
   `arguments`, $(Arg1) is `directory`. as_self: under this process' account instead of the task's own, which is the
   same where tasks are those of the store (DECISIONS 63). Failures name the task: E_INVALIDARG for a name that none can
   have, HRESULT of ERROR_FILE_NOT_FOUND (task, program), ERROR_FILENAME_EXCED_RANGE (a longer command line than there
   may be), OPENPLA_E_MALFORMED_XML, SCHED_E_TASK_DISABLED, what Task Scheduler says. */
HRESULT task_start(const char *task, const char *arguments, const char *directory, bool as_self,
                   struct task_instance **out);
/* The same for a command line: a program, in quotes if it has blanks, and its arguments. `directory` "": ours. */
HRESULT task_start_command(const char *command_line, const char *directory, struct task_instance **out);
/* S_FALSE: it is still at work after timeout_ms. S_OK: it has ended, with *exit_code, which may be NULL. HRESULT of
   ERROR_TIMEOUT, with a text: it has been ended as it took longer than its ExecutionTimeLimit. Other failures: it
   cannot be told any more. */
HRESULT task_wait(struct task_instance *t, uint32_t timeout_ms, uint32_t *exit_code);
void task_close(struct task_instance *t); /* does not end it; NULL is allowed */

#define SCHED_E_TASK_DISABLED   ((HRESULT)0x80041326)
#define SCHED_E_ALREADY_RUNNING ((HRESULT)0x8004131F)

/* ---- definitions of tasks in files: a program, in the XML that Task Scheduler exports ---- */

/* Texts are from memory_alloc, "" where there is none. Zero-initialise. */
struct task_definition {
    char *name;      /* RegistrationInfo/URI, without the backslash at its beginning */
    char *command;   /* of the one Exec action, as the others */
    char *arguments; /* $(Arg0): what the task is started with; $(Arg1): the folder */
    char *directory;
    uint32_t limit_seconds; /* ExecutionTimeLimit; 0: none */
    bool disabled;
};
#define TASK_LIMIT_USUAL (72u * 3600) /* Task Scheduler's, of a definition that says nothing */

/* The XML of a file: UTF-8, or UTF-16 with a byte order mark. *ignored, which may be NULL: the names of elements that
   say when and as whom it runs, "" if there are none; from memory_alloc. OPENPLA_E_MALFORMED_XML, also for a document
   that is no task or has no program; HRESULT of ERROR_NOT_SUPPORTED for actions that are not run, E_INVALIDARG for a
   value that none is. `out` is zero on failure. */
HRESULT task_definition_read(const char *xml, size_t size, struct task_definition *out, char **ignored);
/* *xml from memory_alloc. */
HRESULT task_definition_write(const struct task_definition *d, char **xml);
void task_definition_free(struct task_definition *d);

/* What a start of it comes to: the program's path, looked for in the folders of PATH if it is a name alone, its command
   line, the folder. */
struct task_program {
    char *path, *line, *directory;
};
/* HRESULT of ERROR_FILE_NOT_FOUND for a program that is not there, ERROR_PATH_NOT_FOUND for the folder;
   ERROR_NOT_SUPPORTED for a batch file: cmd.exe takes arguments apart by other rules, so a value could become a
   command. */
HRESULT task_definition_resolve(const struct task_definition *d, const char *arguments, const char *directory,
                                struct task_program *out);
void task_program_free(struct task_program *p);

/* ---- tasks in files: <data folder>/tasks/<name>.xml ---- */

/* The name without a backslash at its beginning, borrowed: folders and name with backslashes between (MS-TSCH 2.3.11).
   E_INVALIDARG with a text that shows the name for an empty part, / : * ? " < > | and controls, "." and "..". */
HRESULT task_name_check(const char *name, const char **bare);
/* Under d->name. HRESULT of ERROR_ALREADY_EXISTS for one that is there, unless it is to be replaced. */
HRESULT task_store_save(const struct task_definition *d, bool replace);
/* HRESULT of ERROR_FILE_NOT_FOUND, named; what task_definition_read says, with the file's path before. */
HRESULT task_store_load(const char *name, struct task_definition *out);
HRESULT task_store_remove(const char *name);
/* The names of all, in the order of their files. */
HRESULT task_store_list(struct texts *names);

#endif
