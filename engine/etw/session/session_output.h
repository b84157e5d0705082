/* SPDX-License-Identifier: MIT */
/* Where the events of a hosted session go: its log file, by mode, and the consumers that are connected now. What cannot
   be written is counted and told to the journal; the session goes on. */
#ifndef OPENPLA_SESSION_OUTPUT_H
#define OPENPLA_SESSION_OUTPUT_H

#include "engine/etw/directory.h"
#include "engine/etw/session/session_drain.h"
#include "engine/etw/session/session_file.h"
#include "engine/etw/session/session_realtime.h"

struct session_output {
    const struct directory_session *session; /* borrowed; as the directory has it */
    struct session_buffers *buffers;         /* borrowed */
    struct session_file *file;               /* NULL: none now */
    struct etl_log log;
    uint64_t written; /* buffers since session_output_show */
    HRESULT failure;  /* of the newest write to the file; S_OK: it went well */
    bool full;        /* the file has its maximum */
    struct session_realtime realtime;
    uint64_t events_told, buffers_told; /* of what was lost, to its consumers */
};

/* The log's header and the file's options for a session, with `file` as path; `log` owns the texts. */
HRESULT session_output_log(const struct directory_session *s, struct etl_log *log);
struct session_file_options session_output_options(const struct directory_session *s, const struct etl_log *log,
                                                   const char *file);
/* Opens the session's file, if it has one. An error code of Windows with a text: 161 for a file that is written by
   another session, 112 when there is no room for its maximum. The session has its buffers then or later. */
ULONG session_output_open(struct session_output *o, const struct directory_session *s, struct session_buffers *b);
/* Makes a file to go on in; the codes of session_output_open. */
ULONG session_output_create(struct session_output *o, const char *path, struct session_file **out);
/* Goes on in it; the file that was written until now ends. */
void session_output_take(struct session_output *o, struct session_file *file);
/* The file ends now, and there is none. */
void session_output_end_file(struct session_output *o);
/* session_realtime_pass, and shows what was not delivered. */
bool session_output_pass(struct session_output *o);
/* For its consumers nothing follows (session_realtime_leave). */
void session_output_leave(struct session_output *o);
/* EVENT_TRACE_CONTROL_INCREMENT_FILE. */
ULONG session_output_next(struct session_output *o);
struct session_sink session_output_sink(struct session_output *o);
/* All events until `time` of the session's clock have been written. */
void session_output_mark(struct session_output *o, int64_t time);
/* What was written is in the file, with true counts. */
void session_output_show(struct session_output *o);
/* When its consumers have gone. */
void session_output_close(struct session_output *o);
/* The file is closed as it lies there: who wrote it was ended in the midst of it. Nothing else of *o is of use. */
void session_output_cut_off(struct session_output *o);

/* The code of Windows for a failure of ours; what none fits is ERROR_GEN_FAILURE. */
ULONG session_code(HRESULT hr);

#endif
