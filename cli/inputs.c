/* SPDX-License-Identifier: MIT */
#include "cli/inputs.h"

#include "engine/base/clock.h"

const char *format_name(const struct log_reader *reader)
{
    return log_format_traits(log_reader_info(reader)->format)->name;
}

char *format_time(int64_t utc, const struct log_zone *zone)
{
    const struct calendar_time t = clock_calendar(utc - zone->bias_minutes * (60 * INT64_C(10000000)));
    return text_format("%d/%d/%d %d:%02d:%02d", t.month, t.day, t.year, t.hour, t.minute, t.second);
}

char *format_iso_time(int64_t utc)
{
    const struct calendar_time t = clock_calendar(utc);
    return text_format("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.year, t.month, t.day, t.hour, t.minute, t.second,
                       t.millisecond);
}
