/* SPDX-License-Identifier: MIT */
/* A log file of events from elsewhere, each in the buffers of its processor. */
#ifndef OPENPLA_RELOGGED_FILE_H
#define OPENPLA_RELOGGED_FILE_H

#include "engine/etw/consumer/relogged_event.h"
#include "engine/logs/etl_header.h"

struct relogged_file;
/* Creates the file, or replaces one. `first`: the header of the first of the logs that it is made of; it has another
   clock then, whose stamps are FILETIMEs. Errors: those of etl_file_create. */
HRESULT relogged_file_create(const char *path, const struct etl_log *first, uint32_t processors,
                             struct relogged_file **out);
/* Events of a processor that come in another order than that of their times are put in order within a buffer. Errors:
   those of relogged_event_bytes, which change nothing, and of the file system. */
HRESULT relogged_file_add(struct relogged_file *f, const EVENT_RECORD *record);
/* Ends it and frees, also when it fails; it has lost so many. NULL is allowed. */
HRESULT relogged_file_close(struct relogged_file *f, uint64_t events_lost, uint64_t buffers_lost);

#endif
