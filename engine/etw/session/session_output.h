/* SPDX-License-Identifier: MIT */
/* The destinations of a session's events: its log files and its real-time consumers. Failures to write are reported in
   the event journal. */
#ifndef OPENPLA_SESSION_OUTPUT_H
#define OPENPLA_SESSION_OUTPUT_H

#include "engine/etw/autologger.h"
#include "engine/etw/directory.h"
#include "engine/etw/session/realtime_ring.h"
#include "engine/etw/session/session_drain.h"
#include "engine/logs/etl_file.h"

/* ---- log files: .etl files with the buffers of all processors, as LogFileMode requests ---- */

struct session_file_options {
    const char *path; /* full path; with EVENT_TRACE_FILE_MODE_NEWFILE, its %d is replaced by 1, 2, 3 ... */
    uint32_t mode;    /* EVENT_TRACE_FILE_MODE_* */
    uint64_t maximum; /* bytes of a file, counted in whole buffers; 0: no limit */
    uint64_t events_lost, buffers_lost; /* events and buffers that the session lost before it began this file */
    /* The contents of log file headers. buffer_size, processors, clock, start_utc, start_stamp, frequency and the
       names must be set; file_name is filled in. Copied. */
    struct etl_log log;
};
/* Fills in the data that are the same for all sessions that start now on this host OS: version, build, time zone, boot
   time, rates, and the start of the clock (ETL_CLOCK_*). Free the strings with etl_log_free. Errors: E_OUTOFMEMORY. */
HRESULT session_log_of_host(uint32_t clock, struct etl_log *out);
/* Prepares *log for another file of the same session, which begins now. It keeps the clock of the first file, so that a
   time stamp means the same time in all files. */
void session_log_begin_again(struct etl_log *log);

struct session_file;
/* Creates the file, or opens the one to append to. Returns the errors of etl_file_create and etl_file_resume. Returns
   HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER) if the existing file has another buffer size, number of processors or
   clock, or if its clock has restarted since the file was written. Returns HRESULT_FROM_WIN32(ERROR_DISK_FULL) if the
   disk has no room for the preallocated size. */
HRESULT session_file_create(const struct session_file_options *options, struct session_file **out);
/* Continues file number `number` of a session whose host process has exited. `reported`: the losses of events and
   buffers that the file already reports (session_totals). */
HRESULT session_file_continue(const struct session_file_options *options, uint64_t number, const uint64_t reported[2],
                              struct session_file **out);
/* The `holds` function of session_sink, with a continued session_file as context. */
bool session_file_holds(void *file, uint64_t number);
/* Returns a number that is higher than the number of any buffer in the file. */
uint64_t session_file_first_number(const struct session_file *f);
/* Returns the number of the file that is being written: 1, 2, 3 ... with EVENT_TRACE_FILE_MODE_NEWFILE. */
uint64_t session_file_number(const struct session_file *f);
/* The `write` function of session_sink, with a session_file as context. Returns S_FALSE if the file has reached its
   maximum and no next file follows. */
HRESULT session_file_write(void *file, const struct etl_buffer_header *head, const uint8_t *bytes);
/* Completes the file and continues in the next one (EVENT_TRACE_CONTROL_INCREMENT_FILE). Returns S_FALSE if the mode is
   not EVENT_TRACE_FILE_MODE_NEWFILE. The next file is created first: if that fails the session stays with the old one.
   If the old file cannot be completed, the failure is returned, but the session has switched to the new one. */
HRESULT session_file_next(struct session_file *f);
/* Sets the total losses of the session so far. A file reports only the losses since it was begun. */
void session_file_lost(struct session_file *f, uint64_t events, uint64_t buffers);
/* Writes everything to the file, with exact counts. */
HRESULT session_file_flush(struct session_file *f);
/* Closes the file as it is and frees nothing, because the thread that was writing to it was killed. */
void session_file_cut_off(struct session_file *f);
/* Completes the file, with the FILETIME `utc` as its end. Frees *f, even on failure. NULL is allowed. */
HRESULT session_file_close(struct session_file *f, int64_t utc);

/* ---- real-time consumers ---- */

/* The real-time consumers of a hosted session. Each consumer has a ring and, while it is behind, a backlog of buffers.
   While no consumer is connected, another backlog keeps buffers for the first consumer that connects. The host process
   never waits for a consumer: buffers for which there is no room are lost and counted. */
enum { SESSION_CONSUMERS = 32 };

struct session_realtime {
    struct session_consumer *consumer[SESSION_CONSUMERS];
    struct process *process[SESSION_CONSUMERS]; /* process of each consumer, in the same order, to detect its exit */
    size_t count;
    struct realtime_backlog backlog; /* buffers for the first consumer that connects */
    uint32_t patience_ms;
    uint64_t lost; /* buffers lost by all consumers */
};
/* Sets the limit of each backlog, and how long to wait for consumers that are being disconnected. If such a consumer
   reads nothing for patience_ms, the buffers in its backlog are lost. */
void session_realtime_begin(struct session_realtime *r, uint64_t backlog_bytes, uint32_t patience_ms);
/* Connects a consumer. The consumer has created the section of its ring, and a signal by which it is woken, both with
   the name `name`. The first buffer in the ring is the header `log`; the buffers of the backlog follow. Returns a
   Windows error code: 1450 if SESSION_CONSUMERS consumers are already connected, 87 if the section is not a ring for
   buffers of this size or the process is not running, and 14 if memory runs out. */
ULONG session_realtime_connect(struct session_realtime *r, const struct directory_process *process, const char *name,
                               const struct etl_log *log);
void session_realtime_disconnect(struct session_realtime *r, const char *name);
/* Removes the consumer of this index, whose process has exited. */
void session_realtime_remove_ended(struct session_realtime *r, size_t consumer);
void session_realtime_write(struct session_realtime *r, const struct etl_buffer_header *head, const uint8_t *bytes);
/* Forwards waiting buffers. Removes consumers that have left. Also removes consumers that are being disconnected, as
   soon as they have received everything or stop reading. Returns true if a connected consumer is still behind. */
bool session_realtime_pass(struct session_realtime *r);
/* Removes consumers whose processes have exited, without waiting. */
void session_realtime_reap(struct session_realtime *r);
/* Reports that all events up to `time` of the session's clock have been written. */
void session_realtime_mark(struct session_realtime *r, int64_t time);
/* Adds `events` and `buffers` to the losses that consumers see. */
void session_realtime_lost(struct session_realtime *r, uint64_t events, uint64_t buffers);
/* Disconnects the current consumers: each is removed when it has received everything, or has read nothing for
   patience_ms. The buffers that wait for a first consumer are lost. */
void session_realtime_leave(struct session_realtime *r);

/* ---- the output: file and consumers together ---- */

/* The destinations of a hosted session: its log file, if its mode requires one, and the connected consumers. Buffers
   that cannot be written are counted and reported to the journal; the session continues. */
struct session_output {
    const struct directory_session *session; /* borrowed; the directory's current entry */
    struct session_buffers *buffers;         /* borrowed */
    struct session_file *file;               /* NULL: no file at present */
    struct etl_log log;
    uint64_t written; /* buffers written since the last session_output_show */
    HRESULT failure;  /* result of the newest write to the file */
    bool full;        /* the file has reached its maximum */
    struct session_realtime realtime;
    uint64_t events_reported, buffers_reported; /* losses reported to consumers so far */
};

/* session_output_log fills in the log's header; *log owns its strings. session_output_options returns the options of a
   file with the path `file`. */
HRESULT session_output_log(const struct directory_session *s, struct etl_log *log);
struct session_file_options session_output_options(const struct directory_session *s, const struct etl_log *log,
                                                   const char *file);
/* Opens the session's file, if it has one. Returns a Windows error code with an error text: 161 if another session is
   writing the file, and 112 if there is no room for its maximum size. */
ULONG session_output_open(struct session_output *o, const struct directory_session *s, struct session_buffers *b);
/* Creates a file in which the session can continue. Returns the same error codes as session_output_open. */
ULONG session_output_create(struct session_output *o, const char *path, struct session_file **out);
/* Continues in `file` and completes the current file. */
void session_output_take(struct session_output *o, struct session_file *file);
/* Completes the file; afterwards the session has no file. */
void session_output_end_file(struct session_output *o);
/* Calls session_realtime_pass, and publishes how many buffers were not delivered. */
bool session_output_pass(struct session_output *o);
/* Disconnects the consumers (session_realtime_leave). */
void session_output_leave(struct session_output *o);
/* Continues in the next file (EVENT_TRACE_CONTROL_INCREMENT_FILE). */
ULONG session_output_next(struct session_output *o);
struct session_sink session_output_sink(struct session_output *o);
/* Reports that all events up to `time` of the session's clock have been written. */
void session_output_mark(struct session_output *o, int64_t time);
/* Writes everything to the file, with exact counts. */
void session_output_show(struct session_output *o);
/* Completes the file. Call it when no consumers are left. */
void session_output_close(struct session_output *o);
/* Closes the file without completing it, because the thread that was writing to it was killed. No other member of *o
   may be used. */
void session_output_cut_off(struct session_output *o);

/* Converts a failure to a Windows error code; ERROR_GEN_FAILURE if no other fits. */
ULONG session_code(HRESULT hr);

/* ---- the journal ---- */

/* Events about sessions in the event journal, for conditions that no error code reports to a caller. */
enum session_journal_id {
    SESSION_RECOVERED = 9101,     /* after the exit of a host process, the session's events were recovered */
    SESSION_NOT_RECOVERED = 9102, /* after the exit of a host process, the session's last events are lost */
    SESSION_NOT_WRITTEN = 9103,   /* the file cannot be written; the session continues in memory */
    SESSION_WRITTEN_AGAIN = 9104,
    SESSION_FULL = 9105,            /* the file has reached its maximum and is closed */
    SESSION_RECOVERY_FAILED = 9106, /* recovery failed and will be tried again */
    SESSION_WITHOUT_DIRECTORY = 9107,
    SESSION_UNDELIVERED = 9108,  /* a session ended before its consumers read everything */
    SESSION_KEY_VALUE = 9109,    /* an invalid registry value of an autologger */
    SESSION_KEY_PROVIDER = 9110, /* the session continues without this provider */
    SESSION_KEY_NOT_STARTED = 9111,
    SESSION_WITHOUT_KERNEL = 9112,  /* a kernel logger has no source of events here */
    SESSION_KERNEL_FLAGS = 9113,    /* some of the requested flags have no source here */
    SESSION_KERNEL_LEFT = 9114,     /* buffers in the kernel could not be removed */
    SESSION_KERNEL_COUNTERS = 9116, /* processor counters are requested, which have no source here */
    SESSION_KERNEL_STACKS = 9117,   /* some of the requested stacks have no source here */
    SESSION_KERNEL_POORER = 9115,   /* events do not come from tracefs, or no longer come from it */
    SESSION_KERNEL_HIDDEN = 9118,   /* /proc hides the processes of other users, or has begun to hide them */
};
/* Appends the event to the journal. `count`: events recovered, or buffers lost; 0: not given. Failures are ignored.
   Keeps the thread's error text. */
void session_journal_event(enum session_journal_id id, const struct directory_session *s, HRESULT hr, uint64_t count);
/* Reports a request that the kernel's source cannot fulfil; `field` names the request, such as EnableFlags. */
void session_journal_missing(enum session_journal_id id, const struct directory_session *s, const char *field,
                             const char *what);
/* Reports SESSION_KERNEL_POORER or SESSION_KERNEL_HIDDEN for the session of that name. `source` and `why` may be
   NULL. */
void session_journal_source(enum session_journal_id id, const char *session, const char *source, const char *why);
/* Reports an event about the key of an autologger, or about its subkey `below` if that is not NULL. If `hr` is not a
   failure, `text` is the reason. */
void session_journal_key(enum session_journal_id id, const struct autologger *a, HRESULT hr, const char *below,
                         const char *text);

#endif
