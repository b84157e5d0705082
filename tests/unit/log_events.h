/* SPDX-License-Identifier: MIT */
/* The events of a finished trace log, for tests that only count them; each warning of the reader is a failure. */
#ifndef OPENPLA_LOG_EVENTS_H
#define OPENPLA_LOG_EVENTS_H

#include "engine/logs/etl_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static inline void keep_warning(void *context, const char *text)
{
    (void)context;
    fail_msg("%s", text);
}

/* Without the header and what else the session itself writes. */
static inline uint64_t events_in(const char *path)
{
    struct etl_reader *reader;
    struct etl_record record;
    uint64_t events = 0;
    assert_int_equal(etl_reader_open(path, keep_warning, NULL, &reader), S_OK);
    while (etl_reader_next(reader, &record) == S_OK)
        events += record.kind != ETL_RECORD_SYSTEM;
    etl_reader_close(reader);
    return events;
}

#endif
