/* SPDX-License-Identifier: MIT */
/* Reads .etl and .blg containers: every event once, in the order of time, over the buffers of all processors. Both
   pointer sizes, compressed buffers, files that were never closed, cut or damaged ones. Keeps 40 bytes per buffer of
   the file and one buffer per processor in memory. */
#ifndef OPENPLA_ETL_READER_H
#define OPENPLA_ETL_READER_H

#include "engine/logs/etl_header.h"
#include "engine/logs/etl_record.h"

struct etl_reader;
/* Is told what is damaged, as the reading meets it: the place in the file and what is missing, without its name. After
   a seek backwards the same is said again. */
typedef void etl_remark(void *context, const char *text);
/* Opens the file as it is now; what is added to it later is not seen. `told` may be NULL.
   Errors: those of file_open and file_read_at; HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with a text when it does not
   begin with a log file header; HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) for a compression other than plain XPRESS. */
HRESULT etl_reader_open(const char *path, etl_remark *told, void *context, struct etl_reader **out);
const struct etl_log *etl_reader_log(const struct etl_reader *r); /* borrowed */
/* The next event; the log file header itself is the first. *record points into the reader until its next call.
   S_FALSE: no more. What cannot be read is left out and remarked; only an error of the file system or of memory is
   a failure. */
HRESULT etl_reader_next(struct etl_reader *r, struct etl_record *record);
/* Goes to where the first event at or after `stamp` (of the file's clock) is not yet passed; some earlier ones may
   still come. INT64_MIN: to the beginning. */
HRESULT etl_reader_seek(struct etl_reader *r, int64_t stamp);
/* For a file that is still written: of a last buffer that the file has a part of, nothing comes until it is whole. To
   be called before the first event. E_OUTOFMEMORY. */
HRESULT etl_reader_follow(struct etl_reader *r);
/* The buffers that the file has got behind those that were read to their end; the next events are theirs. What a
   circular log writes over older buffers is not seen. S_FALSE: there are none. */
HRESULT etl_reader_grow(struct etl_reader *r);
void etl_reader_progress(const struct etl_reader *r, uint64_t *done, uint64_t *total); /* bytes of the file */
void etl_reader_close(struct etl_reader *r);                                           /* NULL is allowed */

#endif
