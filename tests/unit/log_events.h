/* SPDX-License-Identifier: MIT */
/* Counts the events of a finished trace log; each warning of the reader fails the test. */
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

/* Excludes the header and the other events that the session itself writes. */
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
