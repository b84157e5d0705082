/* SPDX-License-Identifier: MIT */
/* Schedules and their collection, and the conversion of dates and times from and to strings (MS-PLA 3.2.4.12, 3.2.4.14;
   behaviour 15). */
#include "engine/base/clock.h"
#include "engine/pla/model/validate.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define TICKS_PER_SECOND 10000000LL
#define SECONDS_PER_DAY  86400

/* Returns DATE 0, 1899-12-30 (MS-OAUT 2.2.25), as a FILETIME. */
static int64_t date_zero(void)
{
    static const struct calendar_time zero = {.year = 1899, .month = 12, .day = 30};
    return clock_from_calendar(&zero);
}

static bool day_to_date(int year, int month, int day, double *out)
{
    struct calendar_time t = {.year = year, .month = month, .day = day};
    if (year < 1601 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31)
        return false;
    int64_t ticks = clock_from_calendar(&t);
    struct calendar_time back = clock_calendar(ticks);
    if (back.month != month || back.day != day) /* for example 31 April */
        return false;
    int64_t days = (ticks - date_zero()) / TICKS_PER_SECOND / SECONDS_PER_DAY;
    *out = (double)days;
    return true;
}

/* Parses a number of one to `most` digits. scanf would also accept signs and whitespace within a date. */
static bool take_number(const char **at, int most, int *out)
{
    int digits = 0;
    for (*out = 0; digits < most && isdigit((unsigned char)**at); digits++)
        *out = *out * 10 + (*(*at)++ - '0');
    return digits && !isdigit((unsigned char)**at);
}

static bool time_take_char(const char **at, char c)
{
    if (**at != c)
        return false;
    ++*at;
    return true;
}

static bool take_three(const char **at, char between, int *a, int *b, int *c)
{
    return take_number(at, 4, a) && time_take_char(at, between) && take_number(at, 2, b) &&
           time_take_char(at, between) && take_number(at, 4, c);
}

static void skip_blanks(const char **at)
{
    *at += strspn(*at, " \t\r\n");
}

/* Parses hours, minutes and optional seconds. `fraction`: accepts fractions of a second. */
static bool take_time(const char **at, bool fraction, int *hour, int *minute, int *second)
{
    *second = 0;
    if (!take_number(at, 2, hour) || !time_take_char(at, ':') || !take_number(at, 2, minute))
        return false;
    if (time_take_char(at, ':') && !take_number(at, 2, second))
        return false;
    if (fraction && time_take_char(at, '.'))
        *at += strspn(*at, "0123456789");
    return *minute <= 59 && *second <= 59;
}

/* Returns whether the ISO 8601 date ends here. Accepts the end of the string, or a time of day with or without a zone.
   The time of day and the zone are ignored. */
static bool ends_iso_date(const char *at)
{
    int hour, minute, second;
    skip_blanks(&at);
    if (!*at)
        return true;
    time_take_char(&at, 'T');
    if (!take_time(&at, true, &hour, &minute, &second) || hour > 24)
        return false;
    if (!time_take_char(&at, 'Z') && (time_take_char(&at, '+') || time_take_char(&at, '-')) &&
        !take_time(&at, false, &hour, &minute, &second))
        return false;
    skip_blanks(&at);
    return !*at;
}

bool date_from_text(const char *text, double *out)
{
    int a, b, c;
    skip_blanks(&text);
    const char *at = text;
    if (take_three(&at, '/', &a, &b, &c)) {
        skip_blanks(&at);
        return !*at && (a > 31 ? day_to_date(a, b, c, out) : day_to_date(c, a, b, out));
    }
    at = text;
    return take_three(&at, '-', &a, &b, &c) && ends_iso_date(at) && day_to_date(a, b, c, out);
}

bool time_from_text(const char *text, double *out)
{
    int hour, minute, second;
    skip_blanks(&text);
    if (!take_time(&text, false, &hour, &minute, &second))
        return false;
    skip_blanks(&text);
    const int half = tolower((unsigned char)text[0]);
    if ((half == 'a' || half == 'p') && tolower((unsigned char)text[1]) == 'm') {
        if (hour < 1 || hour > 12)
            return false;
        hour = hour % 12 + (half == 'p' ? 12 : 0);
        text += 2;
        skip_blanks(&text);
    }
    if (*text || hour > 23)
        return false;
    *out = (hour * 3600 + minute * 60 + second) / (double)SECONDS_PER_DAY;
    return true;
}

char *date_to_text(double date)
{
    struct calendar_time t = clock_calendar(date_zero() + (int64_t)date * SECONDS_PER_DAY * TICKS_PER_SECOND);
    return text_format("%d/%d/%d", t.month, t.day, t.year);
}

char *time_to_text(double time)
{
    int seconds = (int)lround(fabs(time - trunc(time)) * SECONDS_PER_DAY) % SECONDS_PER_DAY;
    int hour = seconds / 3600;
    return text_format("%d:%02d:%02d %s", hour % 12 ? hour % 12 : 12, seconds / 60 % 60, seconds % 60,
                       hour < 12 ? "AM" : "PM");
}

#define CLASS     set_schedule
#define INTERFACE ISchedule
#define ROWS      "engine/pla/schedule.def"
#include "engine/pla/model/class_rows.inc"

/* Reports a schedule that never starts the set. Clients can set any dates (MS-PLA 3.2.4.12). */
static HRESULT schedule_validate(const struct validation *v, struct object *o, const struct object *copy)
{
    const struct set_schedule *s = (const struct set_schedule *)copy;
    bool begins = s->StartDate.type == VARIANT_DATE;
    const struct finding findings[] = {
        {!s->Days && !begins, PLA_E_PROPERTY_CONFLICT, "StartDate",
         "the schedule never starts because it has neither days of the week nor a first day"},
        {begins && s->EndDate.type == VARIANT_DATE && s->EndDate.real < s->StartDate.real, PLA_E_PROPERTY_CONFLICT,
         "EndDate", "it is before StartDate, so the schedule never starts"},
    };
    (void)o;
    return validation_report_all(v, findings, sizeof findings / sizeof findings[0]);
}

const struct class set_schedule_class = {
    .name = "Schedule",
    CLASS_ROWS(set_schedule, ISchedule),
    .validate = schedule_validate,
};

static const struct class *const schedule_items[] = {&set_schedule_class, NULL};
const struct class set_schedule_collection_class = {
    .name = "ScheduleCollection",
    .size = sizeof(struct collection),
    .items = offsetof(struct collection, items),
    .item_classes = schedule_items,
};
