/* SPDX-License-Identifier: MIT */
/* The log files of a session, by the modes of LogFileMode: sequential, circular, append, new file, preallocated, with a
   maximum. Buffers of all processors in, .etl files out. */
#ifndef OPENPLA_SESSION_FILE_H
#define OPENPLA_SESSION_FILE_H

#include "engine/logs/etl_file.h"

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
   (session_figures). */
HRESULT session_file_continue(const struct session_file_options *options, uint64_t number, const uint64_t told[2],
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

#endif
