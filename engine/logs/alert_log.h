/* SPDX-License-Identifier: MIT */
/* Writes the alert log: a comma-separated file in UTF-8 with a byte order mark. Each alert is a row. Every cell is
   quoted. Quotation marks in a cell are doubled, and control characters become spaces. Rows end with CR LF. The file is
   open only while rows are written. Therefore the next segment or run can append to the file, and other programs can
   move the file. */
#ifndef OPENPLA_ALERT_LOG_H
#define OPENPLA_ALERT_LOG_H

#include "engine/base/text.h"

#define ALERT_LOG_COLUMNS "Time", "Counter", "Value", "Operator", "Threshold", "Kind", "Message"

struct alert_row {
    int64_t utc; /* FILETIME; the row contains the local time, as in counter logs */
    const char *counter, *value, *threshold, *kind, *message;
    char comparison; /* '>' or '<' */
};
/* Size of a value or threshold as text, with up to 15 digits. */
enum { ALERT_NUMBER_SIZE = 32 };
void alert_number(double number, char out[ALERT_NUMBER_SIZE]);
/* Size of "MM/DD/YYYY hh:mm:ss.mmm" in local time. */
enum { ALERT_TIME_SIZE = 32 };
void alert_time(int64_t utc, char out[ALERT_TIME_SIZE]);

struct alert_log;
/* Creates an alert log without opening its file. `path` must be below the folder `base`; both are copied. If `replace`
   is set, the first write empties an existing alert log; if it is not set, the first write appends to the log.
   E_OUTOFMEMORY is the only failure. */
HRESULT alert_log_create(const char *path, const char *base, bool replace, struct alert_log **out);
/* Queues the row for the next write. If ALERT_LOG_ROOM bytes are already queued, or memory runs out (E_OUTOFMEMORY),
   the row is dropped and counted. */
HRESULT alert_log_add(struct alert_log *log, const struct alert_row *row);
#define ALERT_LOG_ROOM (1u << 20)
/* Writes either all queued rows or none. A new or empty file first gets a header row. After a failure the rows stay
   queued for the next call. HRESULT_FROM_WIN32(ERROR_INVALID_DATA): the existing file is not an alert log; it is not
   changed. */
HRESULT alert_log_write(struct alert_log *log);
/* Makes the next alert_log_write empty the file and write a new header row. */
void alert_log_restart(struct alert_log *log);
uint64_t alert_log_written(const struct alert_log *log); /* bytes written since the file was created or restarted */
uint64_t alert_log_dropped(const struct alert_log *log); /* number of rows that were dropped */
/* Writes the queued rows, returns the result, and frees the log in any case. NULL is allowed. */
HRESULT alert_log_close(struct alert_log *log);

#endif
