/* SPDX-License-Identifier: MIT */
/* What a task is where there is no Task Scheduler: a program, in the XML that Task Scheduler exports. */
#ifndef OPENPLA_TASK_DEFINITION_H
#define OPENPLA_TASK_DEFINITION_H

#include "engine/base/text.h"

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

#endif
