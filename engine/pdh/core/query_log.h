/* SPDX-License-Identifier: MIT */
/* A query's samples written to a log file. */
#ifndef OPENPLA_PDH_QUERY_LOG_H
#define OPENPLA_PDH_QUERY_LOG_H

#include "engine/logs/log.h"
#include "engine/pdh/core/query.h"

struct query_log;
/* Creates (options->append: continues) the log with the counters that the query has now. In CSV and TSV a wildcard
   counter becomes one column for each instance of this moment. `circular`: a log that
   reached its limit makes room for the newest samples: a binary one in place, a text one by starting over.
   PDH_FILE_ALREADY_EXISTS, PDH_ACCESS_DENIED, PDH_LOG_FILE_CREATE_ERROR, PDH_UNMATCHED_APPEND_COUNTER,
   PDH_UNKNOWN_LOG_FORMAT, PDH_INVALID_DATASOURCE (SQL), PDH_NO_COUNTERS, PDH_MEMORY_ALLOCATION_FAILURE; the error's
   text (engine/base/error.h) says more. */
PDH_STATUS query_log_create(struct query *q, const struct log_format_traits *format, const char *path,
                            const struct log_options *options, bool circular, struct query_log **out);
/* Takes a sample and writes it, to the disk's cache at least. PDH_END_OF_LOG_FILE: the limit is reached, nothing was
   written; a counter that was removed meanwhile has no values. Otherwise the statuses of query_collect and
   PDH_LOG_FILE_CREATE_ERROR for a failed write. */
PDH_STATUS query_log_update(struct query_log *l);
uint64_t query_log_size(const struct query_log *l);
/* Completes the file, frees l also when that fails. NULL is allowed. */
PDH_STATUS query_log_close(struct query_log *l);

#endif
