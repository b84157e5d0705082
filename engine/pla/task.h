/* SPDX-License-Identifier: MIT */
/* Tasks, which sets and alerts start (MS-PLA 3.2.4.1, 3.2.4.8): their arguments, and instances of them at work. On
   Windows they are Task Scheduler's, under Wine and natively those of task_store.h. All functions are for any thread;
   an instance belongs to the thread that has started it. */
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

#endif
