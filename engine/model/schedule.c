/* SPDX-License-Identifier: MIT */
/* Schedules and the collection of them; their dates as texts. MS-PLA 3.2.4.12, 3.2.4.14; behaviour 15. */
#include "engine/model/validate.h"
#include "engine/os/clock.h"

#include <stdio.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

#define TICKS_PER_SECOND 10000000LL
#define SECONDS_PER_DAY  86400

/* DATE 0 is 1899-12-30 (MS-OAUT 2.2.25); in FILETIME's ticks. */
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
    if (back.month != month || back.day != day) /* the 31st of a shorter month */
        return false;
    int64_t days = (ticks - date_zero()) / TICKS_PER_SECOND / SECONDS_PER_DAY;
    *out = (double)days;
    return true;
}

bool date_from_text(const char *text, double *out)
{
    int a, b, c, used = 0;
    if (sscanf(text, "%4d/%2d/%4d%n", &a, &b, &c, &used) == 3 && !text[used + strspn(text + used, " ")])
        return a > 31 ? day_to_date(a, b, c, out) : day_to_date(c, a, b, out);
    if (sscanf(text, "%4d-%2d-%2d%n", &a, &b, &c, &used) == 3 && (!text[used] || strchr("T ", text[used])))
        return day_to_date(a, b, c, out);
    return false;
}

bool time_from_text(const char *text, double *out)
{
    int hour, minute, second = 0, used = 0;
    if (sscanf(text, "%2d:%2d%n", &hour, &minute, &used) != 2)
        return false;
    const char *rest = text + used;
    if (*rest == ':') {
        if (sscanf(rest, ":%2d%n", &second, &used) != 1)
            return false;
        rest += used;
    }
    rest += strspn(rest, " ");
    if ((rest[0] == 'A' || rest[0] == 'a' || rest[0] == 'P' || rest[0] == 'p') &&
        tolower((unsigned char)rest[1]) == 'm') {
        if (hour < 1 || hour > 12)
            return false;
        hour = hour % 12 + (tolower((unsigned char)rest[0]) == 'p' ? 12 : 0);
        rest += 2;
    }
    if (*rest || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
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
#define ROWS      "engine/model/schedule.def"
#include "engine/model/class_rows.inc"

/* Tells of one that never starts the set: any date is legal for a put (MS-PLA 3.2.4.12). */
static HRESULT validate(const struct validation *v, struct object *o, const struct object *copy)
{
    const struct set_schedule *s = (const struct set_schedule *)copy;
    bool begins = s->StartDate.type == VARIANT_DATE;
    const struct finding findings[] = {
        {!s->Days && !begins, PLA_E_PROPERTY_CONFLICT, "StartDate",
         "without days of the week and without a first day the schedule never starts"},
        {begins && s->EndDate.type == VARIANT_DATE && s->EndDate.real < s->StartDate.real, PLA_E_PROPERTY_CONFLICT,
         "EndDate", "it lies before StartDate: the schedule never starts"},
    };
    (void)o;
    return validation_tell_all(v, findings, sizeof findings / sizeof findings[0]);
}

const struct class set_schedule_class = {
    .name = "Schedule",
    CLASS_ROWS(set_schedule, ISchedule),
    .validate = validate,
};

static const struct class *const schedule_items[] = {&set_schedule_class, NULL};
const struct class set_schedule_collection_class = {
    .name = "ScheduleCollection",
    .size = sizeof(struct collection),
    .items = offsetof(struct collection, items),
    .item_classes = schedule_items,
};
