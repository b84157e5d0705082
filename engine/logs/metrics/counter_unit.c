/* SPDX-License-Identifier: MIT */
/* Derives the units of counters from their types and names. */
#include "engine/logs/counter_unit.h"

#include "engine/base/text.h"
#include "engine/logs/pdh_types.h"

#include <stdio.h>
#include <string.h>

/* Returns the unit of the first pattern that matches the name. */
static const char *unit_from_name(const char *counter)
{
    static const struct {
        const char *pattern, *unit;
    } things[] = {{"*KBytes*", "KiB"},
                  {"*MBytes*", "MiB"},
                  {"*Megabytes*", "MiB"},
                  {"*Byte*", "bytes"},
                  {"*Working Set*", "bytes"},
                  {"*Bandwidth*", "bit/s"},
                  {"Commit Limit", "bytes"},
                  {"*Frequency*", "MHz"},
                  {"High Precision Temperature", "0.1 K"},
                  {"*Temperature*", "K"},
                  {"Average Idle Time", "100 ns"}};
    if (strncmp(counter, "% ", 2) == 0)
        return "%";
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        if (text_matches(things[i].pattern, counter))
            return things[i].unit;
    return "";
}

void counter_unit(const char *counter, uint32_t type, char *out, size_t room)
{
    const uint32_t display = type & 0xF0000000, percent = PERF_DISPLAY_PERCENT, seconds = PERF_DISPLAY_SECONDS;
    const char *of = unit_from_name(counter);
    if (display == percent)
        snprintf(out, room, "%%");
    else if (display == seconds)
        snprintf(out, room, "s");
    else if (display == PERF_DISPLAY_PER_SEC)
        snprintf(out, room, "%s/s", *of ? of : "1");
    else
        snprintf(out, room, "%s", of);
}
