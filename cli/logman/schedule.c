/* SPDX-License-Identifier: MIT */
#include "cli/logman/schedule.h"

#include "cli/logman/change.h"
#include "cli/logman/values.h"
#include "engine/base/clock.h"

#include <math.h>

#define SECONDS_PER_DAY 86400.0
enum { EVERY_DAY = 0x7F };

static HRESULT put_moment(struct object *schedule, const char *property, enum variant_type type, double value)
{
    const struct property *p = class_property(schedule->class, property);
    return object_put(schedule, p, &(struct value){p->kind, .variant = {.type = type, .real = value}});
}

static HRESULT get_moment(struct object *schedule, const char *property, double *out)
{
    struct value v;
    HRESULT hr = object_get(schedule, class_property(schedule->class, property), &v);
    *out = SUCCEEDED(hr) && v.variant.type == VARIANT_DATE ? v.variant.real : 0;
    if (SUCCEEDED(hr))
        value_free(&v);
    return hr;
}

static HRESULT first(struct object *schedules, struct object **out)
{
    if (collection_count(schedules) != 0)
        return collection_item(schedules, 0, out);
    HRESULT hr = object_create(&set_schedule_class, schedules, out);
    if (SUCCEEDED(hr) && FAILED(hr = collection_add(schedules, *out))) {
        object_release(*out);
        *out = NULL;
    }
    return hr;
}

static double now_local(void)
{
    return (double)clock_utc_to_local(clock_utc()) / 864e9 -
           109205.0; /* FILETIME counts from 1601, DATE from the end of 1899 */
}

/* ---- -m ---- */

static HRESULT make_manual(const struct logman_option *o, struct object *set, struct object *schedules)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < o->words.count && SUCCEEDED(hr); i++) {
        const char *word = o->words.items[i];
        if (text_equal_nocase(word, "start")) {
            collection_clear(schedules);
        } else if (text_equal_nocase(word, "stop")) {
            for (size_t j = 0; j < collection_count(schedules) && SUCCEEDED(hr); j++) {
                struct object *schedule;
                hr = collection_item(schedules, j, &schedule);
                if (SUCCEEDED(hr)) {
                    hr = put_moment(schedule, "EndDate", VARIANT_EMPTY, 0);
                    object_release(schedule);
                }
            }
            if (SUCCEEDED(hr))
                hr = logman_put_u32(set, "Duration", 0);
        } else {
            hr = error_set(E_INVALIDARG, "-m: \"%s\" is neither start nor stop", word);
        }
    }
    return hr;
}

/* ---- -b, -e, -r ---- */

struct moments {
    double begin_day, begin_time, end_day, end_time; /* times: -1: not said */
    bool begins, ends, daily;
};

static HRESULT read_moments(const struct logman_line *line, struct object *schedule, struct moments *m)
{
    const struct logman_option *begin = logman_option(line, LOGMAN_BEGIN), *end = logman_option(line, LOGMAN_END);
    const double now = now_local();
    double day;
    HRESULT hr = S_OK;
    *m = (struct moments){.begin_time = -1, .end_time = -1, .begins = begin, .ends = end};
    if (begin)
        hr = logman_moment("b", &begin->words, &m->begin_day, &m->begin_time);
    if (SUCCEEDED(hr) && end)
        hr = logman_moment("e", &end->words, &m->end_day, &m->end_time);
    if (FAILED(hr))
        return hr;
    if (begin && m->begin_day == 0)
        m->begin_day = floor(now);
    if (!begin) {
        hr = get_moment(schedule, "StartDate", &m->begin_day);
        if (SUCCEEDED(hr))
            hr = get_moment(schedule, "StartTime", &m->begin_time);
        if (m->begin_day == 0)
            m->begin_day = floor(now);
    }
    day = m->begin_day;
    if (end && m->end_day == 0)
        m->end_day = day;
    if (m->begin_time < 0)
        m->begin_time = 0;
    const struct logman_option *repeat = logman_option(line, LOGMAN_REPEAT);
    struct value days;
    if (FAILED(hr) || FAILED(hr = object_get(schedule, class_property(schedule->class, "Days"), &days)))
        return hr;
    m->daily = repeat ? !repeat->negated : days.u32 != 0;
    return hr;
}

static HRESULT put_end(const struct logman_line *line, struct object *set, struct object *schedule,
                       const struct moments *m)
{
    const double end = m->end_time < 0 ? 1 : m->end_time;
    double duration = m->end_day - m->begin_day + end - m->begin_time;
    if (m->daily || m->end_day == m->begin_day)
        duration = end > m->begin_time ? end - m->begin_time : 1 + end - m->begin_time;
    const double seconds = duration * SECONDS_PER_DAY + 0.5;
    if (m->end_day < m->begin_day || (!m->daily && m->end_day + end <= m->begin_day + m->begin_time))
        return error_set(E_INVALIDARG, "-e: the end is not after the begin");
    if (seconds > UINT32_MAX)
        return error_set(E_INVALIDARG, "-e: the end is more than %u seconds after the begin", (unsigned)UINT32_MAX);
    HRESULT hr = put_moment(schedule, "EndDate", VARIANT_DATE, m->end_day);
    if (SUCCEEDED(hr) && !logman_option(line, LOGMAN_RUN_FOR))
        hr = logman_put_u32(set, "Duration", (uint32_t)seconds);
    return hr;
}

HRESULT logman_put_schedule(const struct logman_line *line, struct object *set)
{
    const struct logman_option *manual = logman_option(line, LOGMAN_MANUAL),
                               *repeat = logman_option(line, LOGMAN_REPEAT);
    struct object *schedules = object_child(set, class_property(set->class, "Schedules")), *schedule;
    struct moments m;
    HRESULT hr = manual ? make_manual(manual, set, schedules) : S_OK;
    if (FAILED(hr) || (!logman_option(line, LOGMAN_BEGIN) && !logman_option(line, LOGMAN_END) && !repeat))
        return hr;
    hr = first(schedules, &schedule);
    if (FAILED(hr))
        return hr;
    hr = read_moments(line, schedule, &m);
    if (SUCCEEDED(hr) && m.begins && !m.daily && m.begin_day + m.begin_time < now_local())
        hr = error_set(E_INVALIDARG,
                       "-b: the begin is over, and without -r there is no other: the set would never start");
    if (SUCCEEDED(hr))
        hr = put_moment(schedule, "StartDate", VARIANT_DATE, m.begin_day);
    if (SUCCEEDED(hr))
        hr = put_moment(schedule, "StartTime", VARIANT_DATE, m.begin_time);
    if (SUCCEEDED(hr) && repeat)
        hr = logman_put_u32(schedule, "Days", repeat->negated ? 0 : EVERY_DAY);
    if (SUCCEEDED(hr) && m.ends)
        hr = put_end(line, set, schedule, &m);
    object_release(schedule);
    return hr;
}
