/* SPDX-License-Identifier: MIT */
/* Where the events of a session go: its log files, the consumers that are connected now, and, for what goes wrong on
   the way, the event journal. */
#ifndef OPENPLA_SESSION_OUTPUT_H
#define OPENPLA_SESSION_OUTPUT_H

#include "engine/etw/autologger.h"
#include "engine/etw/directory.h"
#include "engine/etw/session/realtime_ring.h"
#include "engine/etw/session/session_drain.h"
#include "engine/logs/etl_file.h"

/* ---- the log files, by the modes of LogFileMode: buffers of all processors in, .etl files out ---- */

struct session_file_options {
    const char *path; /* full; of EVENT_TRACE_FILE_MODE_NEWFILE with one %d, in whose place 1, 2, 3 ... come */
    uint32_t mode;    /* EVENT_TRACE_FILE_MODE_* */
    uint64_t maximum; /* bytes of a file, of which whole buffers count; 0: none */
    uint64_t events_lost, buffers_lost; /* of the session, before its file is begun */
    /* What headers say; buffer_size, processors, clock, start_utc, start_stamp, frequency and the names count for more
       than that. file_name is filled in. Copied. */
    struct etl_log log;
};
/* What is the same on this host for all sessions that start now: version, build, zone, boot, rates, and the clock's
   start. `clock`: ETL_CLOCK_*. Texts in it from memory_alloc, to be freed by etl_log_free. E_OUTOFMEMORY. */
HRESULT session_log_of_host(uint32_t clock, struct etl_log *out);
/* Of a further file of a session that runs: it begins now, by the clock that `log` was begun with, so that a stamp is
   the same moment in all of them. */
void session_log_begin_again(struct etl_log *log);

struct session_file;
/* Creates the file, or opens the one to be appended to. Errors: those of etl_file_create and etl_file_resume;
   ERROR_INVALID_PARAMETER's HRESULT for a file to append to with other buffers, processors or clock, or whose clock has
   started anew since; ERROR_DISK_FULL's when there is no room to preallocate. */
HRESULT session_file_create(const struct session_file_options *options, struct session_file **out);
/* Goes on with the file number `number` of a session whose host has ended, which had told the losses in `told`
   (session_totals). */
HRESULT session_file_continue(const struct session_file_options *options, uint64_t number, const uint64_t reported[2],
                              struct session_file **out);
/* session_sink's holds, with a session_file that goes on as context. */
bool session_file_holds(void *file, uint64_t number);
/* Above all numbers of buffers that the file holds. */
uint64_t session_file_first_number(const struct session_file *f);
/* The number of the file that is written: 1, 2, 3 ... of NEWFILE. */
uint64_t session_file_number(const struct session_file *f);
/* session_sink's write, with a session_file as context. S_FALSE: the file has its maximum, and there is no next. */
HRESULT session_file_write(void *file, const struct etl_buffer_header *head, const uint8_t *bytes);
/* Ends the file now and goes on in the next one (EVENT_TRACE_CONTROL_INCREMENT_FILE). S_FALSE: not NEWFILE. The new one
   is made first: when that fails the old one goes on; a failure to end the old one is told, and the new one goes on. */
HRESULT session_file_next(struct session_file *f);
/* What the session has lost so far in all; a file tells what was lost since it was begun. */
void session_file_lost(struct session_file *f, uint64_t events, uint64_t buffers);
/* All that was written is in the file, with true counts. */
HRESULT session_file_flush(struct session_file *f);
/* Closes it as it lies there and frees nothing: whoever was at it has been ended in the midst of it. */
void session_file_cut_off(struct session_file *f);
/* Ends the file at this FILETIME, and frees, also when it fails. NULL is allowed. */
HRESULT session_file_close(struct session_file *f, int64_t utc);

/* ---- real-time consumers ---- */

/* The real-time consumers of a hosted session: a ring for each, what waits for those that are behind, and what for who
   comes first. The host never waits for them: what finds no room is lost, and counted. */
enum { SESSION_CONSUMERS = 32 };

struct session_realtime {
    struct session_consumer *consumer[SESSION_CONSUMERS];
    struct process *process[SESSION_CONSUMERS]; /* of each, in the same order, for waits */
    size_t count;
    struct realtime_backlog backlog; /* of who comes first */
    uint32_t patience_ms;
    uint64_t lost; /* buffers, by all */
};
/* How much may wait, for each; and how long one that is to have no more may take nothing of what waits for it. */
void session_realtime_begin(struct session_realtime *r, uint64_t backlog_bytes, uint32_t patience_ms);
/* A consumer has made the section of its ring and the signal that wakes it under this name. The first thing in its ring
   is `log`, then what was waiting. Codes of Windows: 1450 there are SESSION_CONSUMERS; 87 it is no ring for such
   buffers, or the process does not live. */
ULONG session_realtime_connect(struct session_realtime *r, const struct directory_process *process, const char *name,
                               const struct etl_log *log);
void session_realtime_disconnect(struct session_realtime *r, const char *name);
void session_realtime_remove_ended(struct session_realtime *r, size_t consumer); /* its process has */
void session_realtime_write(struct session_realtime *r, const struct etl_buffer_header *head, const uint8_t *bytes);
/* Hands on what waits, and forgets who has left, has all that he is to have, or sleeps then. True: some of it waits for
   a consumer that is there. */
bool session_realtime_pass(struct session_realtime *r);
/* Forgets whose process has ended, without waiting. */
void session_realtime_reap(struct session_realtime *r);
/* All events until `time` of the session's clock have been written. */
void session_realtime_mark(struct session_realtime *r, int64_t time);
/* So many events and buffers more were lost on their way to us. */
void session_realtime_lost(struct session_realtime *r, uint64_t events, uint64_t buffers);
/* For the consumers that are there nothing follows: they end when they have what waits for them, or have read nothing
   for as long as patience is. What waited for nobody is lost. */
void session_realtime_leave(struct session_realtime *r);

/* ---- the output: file and consumers together ---- */

/* Where the events of a hosted session go: its log file, by mode, and the consumers that are connected now. What cannot
   be written is counted and told to the journal; the session goes on. */
struct session_output {
    const struct directory_session *session; /* borrowed; as the directory has it */
    struct session_buffers *buffers;         /* borrowed */
    struct session_file *file;               /* NULL: none now */
    struct etl_log log;
    uint64_t written; /* buffers since session_output_show */
    HRESULT failure;  /* of the newest write to the file; S_OK: it went well */
    bool full;        /* the file has its maximum */
    struct session_realtime realtime;
    uint64_t events_reported, buffers_reported; /* of what was lost, to its consumers */
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

/* ---- the journal ---- */

/* What happens to sessions and is nobody's answer, in the event journal. */
enum session_journal_id {
    SESSION_RECOVERED = 9101,     /* its host had ended */
    SESSION_NOT_RECOVERED = 9102, /* what its buffers held is lost */
    SESSION_NOT_WRITTEN = 9103,   /* the file takes no more; the session goes on in memory */
    SESSION_WRITTEN_AGAIN = 9104,
    SESSION_FULL = 9105,            /* the file has its maximum and is closed */
    SESSION_RECOVERY_FAILED = 9106, /* for now */
    SESSION_WITHOUT_DIRECTORY = 9107,
    SESSION_UNDELIVERED = 9108,  /* consumers did not take them from a session that had ended */
    SESSION_KEY_VALUE = 9109,    /* of an autologger in the registry: it is not as it must be */
    SESSION_KEY_PROVIDER = 9110, /* the session goes on without it */
    SESSION_KEY_NOT_STARTED = 9111,
    SESSION_WITHOUT_KERNEL = 9112,  /* a logger of the kernel's events has none here */
    SESSION_KERNEL_FLAGS = 9113,    /* of those that it asks for some have no source here */
    SESSION_KERNEL_LEFT = 9114,     /* buffers in the kernel could not be removed */
    SESSION_KERNEL_COUNTERS = 9116, /* it asks for counters of processors */
    SESSION_KERNEL_STACKS = 9117,   /* of those that it asks for some have no source here */
    SESSION_KERNEL_POORER = 9115,   /* they do not come from tracefs, or no more */
    SESSION_KERNEL_HIDDEN = 9118,   /* /proc shows no processes of other users, or no more */
};
/* `count`: events that were rescued, or buffers that were lost; 0: not said. Nothing that happens here is told. The
   thread's error text survives. */
void session_journal_event(enum session_journal_id id, const struct directory_session *s, HRESULT hr, uint64_t count);
/* What it asks for of the kernel in vain, as `field`, which is EnableFlags for example. */
void session_journal_missing(enum session_journal_id id, const struct directory_session *s, const char *field,
                             const char *what);
/* SESSION_KERNEL_POORER or SESSION_KERNEL_HIDDEN of the session of that name. `source` and `why` may be NULL. */
void session_journal_source(enum session_journal_id id, const char *session, const char *source, const char *why);
/* The same of the key of an autologger, and of the key `below` it if that is not NULL. `text`: what is wrong, of
   what has not failed. */
void session_journal_key(enum session_journal_id id, const struct autologger *a, HRESULT hr, const char *below,
                         const char *text);

#endif
