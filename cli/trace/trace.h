/* SPDX-License-Identifier: MIT */
/* Functions for verbs that read event traces. They read files, sessions and event definitions, find the names of
   processes, select events, and write events as lines. */
#ifndef OPENPLA_TRACE_H
#define OPENPLA_TRACE_H

#include "cli/cli.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/trace_input.h"

#include <stdio.h>

/* A trace_progress function that shows the progress. The context of this function is a struct cli_progress. */
void trace_inputs_progress(void *progress, uint64_t done, uint64_t total);
/* Prints to stderr the warnings about corrupt parts of the traces. Returns CLI_DONE or CLI_REMARKS. */
int trace_inputs_print_warnings(const struct trace_inputs *in, const char *verb);

/* Works like trace_schemas_open, but prints warnings about unusable files to stderr. */
HRESULT cli_trace_schemas_open(struct trace_knowledge *known, struct trace_schemas *out);

/* Passes the events of the sessions to `take`, one at a time as they arrive. Stops when all sessions have ended, when
   Ctrl+C is pressed, or when `take` returns S_FALSE or fails. `raw` means that times are timestamps of the session's
   clock. `after` (may be NULL) is called from time to time while `take` is not running, for work that must not wait for
   the next event. If `after` fails, the loop also ends. Fails with the error of `take` or `after`, or with
   HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND) and a message if a session does not exist or is not a real-time
   session. */
HRESULT trace_sessions_read(const struct texts *names, bool raw, trace_take *take, HRESULT (*after)(void *context),
                            void *context);

enum { TRACE_PROCESSES = 8192 }; /* number of slots; if a slot is in use, a new name replaces the old one */
/* The names of a trace's processes, by id. Zero-initialise. */
struct trace_processes {
    struct {
        uint32_t id;
        char *name;
    } kept[TRACE_PROCESSES];
    bool live; /* also include the processes that are running on this computer now */
};
/* Stores the name if the event is the start of a process. Fails with E_OUTOFMEMORY. */
HRESULT trace_processes_note(struct trace_processes *p, const struct dumped_event *e);
/* Returns the name; NULL if it is unknown. The name is valid until the next call. */
const char *trace_process_name(struct trace_processes *p, uint32_t id);
/* Returns the part after the last separator, '/' or '\'. */
const char *trace_process_base_name(const char *path);
void trace_processes_free(struct trace_processes *p);

/* A selection of events. Zero selects all events. */
struct trace_choice {
    struct texts providers; /* names with * and ?, or GUIDs */
    struct texts processes; /* ids, or names with * and ? */
    struct texts keywords;  /* numbers (the event must have at least one of their bits), or names with * and ? */
    uint32_t worst;         /* highest level that is selected; 0 means all levels */
    const char *text;       /* pattern with * and ? that the event's line must contain; NULL means any line */
};

struct json;
/* A function that adds members to the JSON object of an event. */
typedef void trace_json_more(void *context, struct json *j);

/* Adds the event as a line, without a line end. *decoded is true if the event's schema was known and its data matched.
   Fails with E_OUTOFMEMORY. */
HRESULT trace_line(const struct dumped_event *e, const char *process, struct text_buffer *line, bool *decoded);
/* Adds the event as a JSON object on one line. `more` may be NULL. */
HRESULT trace_json(const struct dumped_event *e, const char *process, trace_json_more *more, void *context,
                   struct text_buffer *line, bool *decoded);

/* Converts the arguments of -b and -e, in this computer's time zone, to the time range of the inputs. Returns CLI_DONE,
   or prints a message and returns CLI_USAGE or CLI_FAILED. */
int trace_range(const struct texts *begin, const struct texts *end, struct trace_inputs *out);

/* Runs `openpla trace top`, without these two words in the arguments. Returns an enum cli_exit. */
int trace_top(int argc, char **argv);
/* Runs `openpla trace api-summary`, without these two words in the arguments. Returns an enum cli_exit. */
int trace_api_summary(int argc, char **argv);
/* Runs `openpla trace export`, without these two words in the arguments. Returns an enum cli_exit. */
int trace_export(int argc, char **argv);

#endif
