/* SPDX-License-Identifier: MIT */
/* The calendar: converts FILETIME values to and from year, month and day, with the same arithmetic on every host OS.
   This file also reads several clocks together. */
#include "engine/base/clock.h"

#include "engine/base/thread.h"

#define TICKS_PER_MILLISECOND 10000LL
#define TICKS_PER_DAY         (86400000LL * TICKS_PER_MILLISECOND)
#define DAYS_PER_400_YEARS    146097

/* Returns the days from 1601-01-01 to the first of March of `year`. In years that begin in March, the leap day is the
   last day. */
static int64_t days_to_march(int64_t year)
{
    int64_t y = year - 1600, era = (y >= 0 ? y : y - 399) / 400, in_era = y - era * 400;
    /* 1600-03-01 is 306 days before 1601-01-01 */
    return era * DAYS_PER_400_YEARS + in_era * 365 + in_era / 4 - in_era / 100 - 306;
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int64_t clock_local(struct clock_zone *zone, int64_t utc)
{
    const int64_t quarter = utc / (15 * 60000 * TICKS_PER_MILLISECOND);
    if (!zone->fixed && (!zone->known || quarter != zone->quarter)) {
        zone->offset = clock_utc_to_local(utc) - utc;
        zone->quarter = quarter;
        zone->known = true;
    }
    return zone->offset > 0 ? (utc > INT64_MAX - zone->offset ? utc : utc + zone->offset)
                            : (utc < INT64_MIN - zone->offset ? utc : utc + zone->offset);
}

struct calendar_time clock_calendar(int64_t filetime)
{
    struct calendar_time t = {0};
    int64_t days = filetime / TICKS_PER_DAY, rest = filetime % TICKS_PER_DAY;
    if (rest < 0) {
        rest += TICKS_PER_DAY;
        days--;
    }
    /* 1601-01-01 was a Monday */
    t.weekday = (int)(((days + 1) % 7 + 7) % 7);
    days += 306;
    int64_t era = (days >= 0 ? days : days - (DAYS_PER_400_YEARS - 1)) / DAYS_PER_400_YEARS;
    int64_t day_of_era = days - era * DAYS_PER_400_YEARS;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int day_of_year = (int)(day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100)); /* counted from the
                                                                                                        first of
                                                                                                        March */
    int month = (5 * day_of_year + 2) / 153;
    t.day = day_of_year - (153 * month + 2) / 5 + 1;
    t.month = month < 10 ? month + 3 : month - 9;
    t.year = (int)(1600 + era * 400 + year_of_era + (t.month <= 2));
    t.day_of_year = t.month > 2 ? day_of_year + 60 + is_leap(t.year) : day_of_year - 305;
    rest /= TICKS_PER_MILLISECOND;
    t.millisecond = (int)(rest % 1000);
    t.second = (int)(rest / 1000 % 60);
    t.minute = (int)(rest / 60000 % 60);
    t.hour = (int)(rest / 3600000);
    return t;
}

int64_t clock_from_calendar(const struct calendar_time *t)
{
    int64_t year = t->month <= 2 ? t->year - 1 : t->year;
    int64_t month = t->month <= 2 ? t->month + 9 : t->month - 3;
    int64_t days = days_to_march(year) + (153 * month + 2) / 5 + t->day - 1;
    int64_t ms = ((t->hour * 60LL + t->minute) * 60 + t->second) * 1000 + t->millisecond;
    return days * TICKS_PER_DAY + ms * TICKS_PER_MILLISECOND;
}

int64_t clock_utc_to_local(int64_t utc)
{
    const int64_t bias = clock_bias_minutes(utc) * 60000 * TICKS_PER_MILLISECOND;
    /* The time of a file can be any number, so check for an overflow. */
    if (bias < 0 ? utc > INT64_MAX + bias : utc < INT64_MIN + bias)
        return utc;
    return utc - bias;
}

struct clock_reading clock_read(void)
{
    enum { MOST_READINGS = 16, EXACT_US = 10 };
    const int64_t exact = clock_frequency() * EXACT_US / 1000000;
    struct clock_reading best = {0};
    int64_t narrowest = INT64_MAX;
    for (int i = 0; i < MOST_READINGS && narrowest > exact; i++) {
        const int64_t from = clock_ticks();
        struct clock_reading r = {.utc = clock_utc(), .cycles = processor_cycles()};
        const int64_t width = clock_ticks() - from;
        r.ticks = from + width / 2;
        if (width < narrowest) {
            narrowest = width;
            best = r;
        }
    }
    return best;
}
