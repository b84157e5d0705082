/* SPDX-License-Identifier: MIT */
/* Where the events of one processing handle come from: a log file, or a session that runs. */
#ifndef OPENPLA_CONSUMER_SOURCE_H
#define OPENPLA_CONSUMER_SOURCE_H

#include "engine/logs/etl_header.h"
#include "engine/logs/etl_record.h"

struct consumer_source {
    const struct etl_log *log;
    /* The next event in the order of time; the log file header is the first. *e points into the source until the next
       call. Waits where the events are still to happen. S_FALSE: no more. */
    HRESULT (*next)(struct consumer_source *s, struct etl_record *e);
    /* To the beginning once more. */
    HRESULT (*restart)(struct consumer_source *s);
    /* From any thread: what is queued still comes, then no more. */
    void (*stop)(struct consumer_source *s);
    void (*close)(struct consumer_source *s);
};
/* Errors: those of etl_reader_open. */
HRESULT consumer_source_of_file(const char *path, struct consumer_source **out);

#endif
