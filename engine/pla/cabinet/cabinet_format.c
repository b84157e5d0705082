/* SPDX-License-Identifier: MIT */
#include "engine/pla/cabinet/cabinet_format.h"

#include "engine/base/clock.h"
#include "engine/logs/little_endian.h"

uint32_t cabinet_checksum(const uint8_t *bytes, size_t size, uint32_t seed)
{
    uint32_t rest = 0;
    for (; size >= 4; size -= 4, bytes += 4)
        seed ^= get_u32(bytes);
    while (size--)
        rest = rest << 8 | *bytes++; /* the first of the rest is its highest */
    return seed ^ rest;
}

void cabinet_dos_time(int64_t local, uint16_t *date, uint16_t *time)
{
    struct calendar_time t = clock_calendar(local);
    if (t.year < 1980)
        t = (struct calendar_time){.year = 1980, .month = 1, .day = 1};
    if (t.year > 2107)
        t = (struct calendar_time){.year = 2107, .month = 12, .day = 31, .hour = 23, .minute = 59, .second = 58};
    *date = (uint16_t)((t.year - 1980) << 9 | t.month << 5 | t.day);
    *time = (uint16_t)(t.hour << 11 | t.minute << 5 | t.second / 2);
}

int64_t cabinet_time_of_dos(uint16_t date, uint16_t time)
{
    const struct calendar_time t = {.year = 1980 + (date >> 9),
                                    .month = date >> 5 & 15,
                                    .day = date & 31,
                                    .hour = time >> 11,
                                    .minute = time >> 5 & 63,
                                    .second = (time & 31) * 2};
    if (t.month < 1 || t.month > 12 || t.day < 1 || t.hour > 23 || t.minute > 59 || t.second > 59)
        return 0;
    return clock_from_calendar(&t);
}
