/* SPDX-License-Identifier: MIT */
/* Event traces as the verbs read them: files and sessions, event definitions, names of processes, selection of events,
   and their output as a line. */
#ifndef OPENPLA_TRACE_H
#define OPENPLA_TRACE_H

#include "cli/cli.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/trace_input.h"

#include <stdio.h>

/* Like trace_progress; the context is a struct cli_progress. */
void trace_inputs_progress(void *progress, uint64_t done, uint64_t total);
/* Prints corruption to stderr. Returns CLI_DONE or CLI_REMARKS. */
int trace_inputs_print_warnings(const struct trace_inputs *in, const char *verb);

/* trace_schemas_open; prints warnings about unusable files to stderr. */
HRESULT cli_trace_schemas_open(struct trace_knowledge *known, struct trace_schemas *out);

/* Passes the events of the sessions one at a time as they arrive, until all sessions have ended, Ctrl+C is pressed, or
   `take` ends it. `raw`: times are timestamps of the session's clock. `after` (may be NULL) is called from time to time
   when `take` is not running, for work that must not wait for the next event; its failure also ends the loop. Errors:
   those of `take`; ERROR_WMI_INSTANCE_NOT_FOUND's HRESULT with a text: no such session, or it is not in real time. */
HRESULT trace_sessions_read(const struct texts *names, bool raw, trace_take *take, HRESULT (*after)(void *context),
                            void *context);

enum { TRACE_PROCESSES = 8192 }; /* slots for names; a new name replaces the old one in its slot */
/* The names of a trace's processes, by id. Zero-initialise. */
struct trace_processes {
    struct {
        uint32_t id;
        char *name;
    } kept[TRACE_PROCESSES];
    bool live; /* also the processes of this computer that are running now */
};
/* Stores the name if the event is the start of a process. E_OUTOFMEMORY. */
HRESULT trace_processes_note(struct trace_processes *p, const struct dumped_event *e);
/* NULL: unknown. Borrowed until the next call. */
const char *trace_process_name(struct trace_processes *p, uint32_t id);
/* The part after the last separator of either kind. */
const char *trace_process_base_name(const char *path);
void trace_processes_free(struct trace_processes *p);

/* The selection of events. Zero: all. */
struct trace_choice {
    struct texts providers; /* names with * and ?, or GUIDs */
    struct texts processes; /* ids, or names with * and ? */
    struct texts keywords;  /* numbers of which at least one bit must be set, or names with * and ? */
    uint32_t worst;         /* levels up to this; 0: all */
    const char *text;       /* somewhere on the line, with * and ?; NULL: any */
};

struct json;
/* Adds members to the JSON object of an event. */
typedef void trace_json_more(void *context, struct json *j);

/* Adds a line without its end. *decoded: the event's schema was known and its data matched. E_OUTOFMEMORY. */
HRESULT trace_line(const struct dumped_event *e, const char *process, struct text_buffer *line, bool *decoded);
/* Adds the event as a JSON object on a line. `more` may be NULL. */
HRESULT trace_json(const struct dumped_event *e, const char *process, trace_json_more *more, void *context,
                   struct text_buffer *line, bool *decoded);

/* Reads the words of -b and -e, in this computer's time zone, as the range of the inputs. Returns CLI_DONE, or
   CLI_USAGE or CLI_FAILED after printing a message. */
int trace_range(const struct texts *begin, const struct texts *end, struct trace_inputs *out);

/* `openpla trace top`, without these two words. Returns an enum cli_exit. */
int trace_top(int argc, char **argv);
/* The same for `openpla trace api-summary`. */
int trace_api_summary(int argc, char **argv);
/* `openpla trace export`, without these two words. Returns an enum cli_exit. */
int trace_export(int argc, char **argv);

#endif
