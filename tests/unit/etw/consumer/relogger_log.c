/* SPDX-License-Identifier: MIT */
/* The log for test_etw_relogger_com.c; separate, because that test includes relogger.h and therefore no header of the
   engine. */
#include "tests/unit/etw/consumer/relogger_log.h"

#include "tests/unit/etw/consumer/consumer_fixture.h"

int make_relogger_log(const char *path)
{
    struct small_container c;
    small_begin(&c, ETL_MODE_SEQUENTIAL, 8, ETL_CLOCK_TICKS);
    add_numbered(&c, 0, 0, 15, false);
    add_numbered(&c, 1, 10, 5, false);
    store(&c, path);
    return file_exists(path) ? 0 : -1;
}
