/* SPDX-License-Identifier: MIT */
/* Reads a set for the supervisor and computes its next start. */
#include "engine/pla/sets/supervised_set.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/pla/definition.h"
#include "engine/pla/run.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/run/segment.h"
#include "engine/pla/settings.h"
#include "engine/pla/store.h"

#include <math.h>
#include <string.h>

static int host_bias(const void *zone, int64_t utc)
{
    (void)zone;
    return clock_bias_minutes(utc);
}
const struct start_zone host_zone = {host_bias, NULL};

#define LOOK_FIRST_MS 1000
#define LOOK_LAST_MS  512000 /* longest pause; after a longer one, the full comparison would come first */

bool second_look_plan(struct second_look *l, uint64_t now, bool changed)
{
    bool due = l->at && l->at <= now;
    if (changed || !l->pause_ms)
        l->pause_ms = LOOK_FIRST_MS;
    else if (due)
        l->pause_ms *= 2;
    /* Rounded up to full seconds, so that thousands of files cause at most one wake-up per second. */
    if (l->pause_ms > LOOK_LAST_MS)
        l->at = 0;
    else if (changed || due || !l->at)
        l->at = (now + l->pause_ms + 999) / 1000 * 1000;
    return l->pause_ms > LOOK_FIRST_MS;
}

bool second_look_is_first(const struct second_look *l)
{
    return l->pause_ms == LOOK_FIRST_MS;
}

static HRESULT read_rules(struct object *set, struct start_rule **rules, size_t *count)
{
    struct object **schedules;
    size_t n;
    *rules = NULL;
    *count = 0;
    if (!set_of(set)->SchedulesEnabled)
        return S_OK;
    HRESULT hr = collection_snapshot(set_of(set)->Schedules, &schedules, &n);
    if (FAILED(hr))
        return hr;
    *rules = memory_zero(n + 1, sizeof **rules);
    for (size_t i = 0; *rules && i < n; i++)
        (*rules)[i] = start_rule_of((struct set_schedule *)schedules[i]);
    *count = *rules ? n : 0;
    objects_release(schedules, n);
    return *rules ? S_OK : E_OUTOFMEMORY;
}

static bool rules_equal(const struct supervised_set *s, const struct start_rule *rules, size_t count)
{
    bool equal = s->rule_count == count;
    for (size_t i = 0; equal && i < count; i++)
        equal = s->rules[i].first_day == rules[i].first_day && s->rules[i].last_day == rules[i].last_day &&
                s->rules[i].second == rules[i].second && s->rules[i].days == rules[i].days;
    return equal;
}

/* Reads the schedules and settings from the definition. *same: the schedules are unchanged. */
static HRESULT read_definition(struct supervised_set *s, const char *xml, size_t size, bool *same)
{
    struct object *set;
    struct start_rule *rules = NULL;
    size_t count = 0;
    uint32_t restart = RESTART_NEVER, stop = STOP_AT_EXPIRY_NO;
    HRESULT hr = set_create_from_xml(xml, size, &set);
    if (SUCCEEDED(hr))
        hr = read_rules(set, &rules, &count);
    /* Invalid values count as the default; Commit has reported them. */
    if (SUCCEEDED(hr) && (setting_read(set, SETTING_Restart, &restart) == E_OUTOFMEMORY ||
                          setting_read(set, SETTING_StopAtExpiry, &stop) == E_OUTOFMEMORY))
        hr = E_OUTOFMEMORY;
    object_release(set);
    if (FAILED(hr)) {
        memory_free(rules);
        return hr;
    }
    *same = rules_equal(s, rules, count);
    memory_free(s->rules);
    s->rules = rules;
    s->rule_count = count;
    s->restart = restart;
    s->stop_at_expiry = stop != STOP_AT_EXPIRY_NO;
    return S_OK;
}

HRESULT supervised_set_take(struct supervised_set *s, const char *xml, size_t size, bool has_record, int64_t now)
{
    struct run_record record = {0};
    uint64_t hash = hash_text(HASH_START, xml);
    bool first = !s->hash, same = hash == s->hash, same_rules = same;
    s->seen = hash;
    HRESULT hr = has_record ? store_load_run(s->space, s->name, &record) : S_OK;
    if (definition_is_damaged(hr)) { /* the set is started nevertheless; the start reports that the record is corrupt */
        record = (struct run_record){0};
        hr = S_OK;
    }
    if (SUCCEEDED(hr) && !same) /* the last step that can fail, because s->hash must match the results */
        hr = read_definition(s, xml, size, &same_rules);
    if (SUCCEEDED(hr)) {
        s->hash = hash;
        if (first || !same_rules) /* new schedules do not make earlier starts due */
            s->known = now;
        s->running = record.running;
        if (first) /* afterwards, this process has a newer value than the record */
            s->done = record.last_scheduled;
    }
    run_record_free(&record);
    return FAILED(hr) ? hr : same ? S_FALSE : S_OK;
}

HRESULT supervised_set_read(struct supervised_set *s, int64_t now)
{
    char *xml;
    size_t size;
    HRESULT hr = definition_load(&caller_self, s->space, s->name, &xml, &size);
    if (SUCCEEDED(hr))
        hr = supervised_set_take(s, xml, size, true, now);
    memory_free(xml);
    return hr;
}

static void report_corrupt(const struct supervised_set *s, const struct error_kept *why)
{
    char *path = store_definition_path(s->space, s->name);
    journal_write(JOURNAL_SET_DAMAGED,
                  &(struct journal_facts){
                      .space = s->space, .name = s->name, .file = path, .error = s->damage, .reason = why->text});
    memory_free(path);
}

void supervised_set_look_again(struct supervised_set *s, HRESULT hr, bool changed)
{
    struct error_kept why = error_keep(hr);
    if (FAILED(hr)) {
        bool stays = second_look_plan(&s->look, clock_monotonic_ms(), changed);
        if (!stays || !definition_is_damaged(hr) || hr == s->damage)
            return;
        s->damage = hr;
        report_corrupt(s, &why);
        return;
    }
    if (s->look.pause_ms && FAILED(store_complete_name(s->space, s->name)))
        error_clear(); /* the set then has the name of its file */
    s->damage = S_OK;
    s->look = (struct second_look){0};
}

static int64_t first_start(const struct supervised_set *s, int64_t after, const struct start_zone *zone)
{
    int64_t first = NEXT_START_NEVER;
    for (size_t i = 0; i < s->rule_count; i++) {
        int64_t start = next_start(&s->rules[i], after, zone);
        if (start < first)
            first = start;
    }
    return first;
}

HRESULT supervised_set_plan(struct supervised_set *s, int64_t now, const struct start_zone *zone, int64_t *missed)
{
    HRESULT hr = S_OK;
    s->due = first_start(s, start_base(now, s->done, s->known), zone);
    s->expiry = s->stop_at_expiry && s->rule_count ? INT64_MIN : NEXT_START_NEVER;
    for (size_t i = 0; s->expiry != NEXT_START_NEVER && i < s->rule_count; i++) {
        int64_t end = start_rule_end(&s->rules[i], zone);
        if (end > s->expiry)
            s->expiry = end;
    }
    /* Finds a start that was missed more than START_GRACE ago. Such a start is only reported. */
    int64_t last = s->done > s->known ? s->done : s->known;
    if (last && last < now) {
        *missed = first_start(s, last, zone);
        if (*missed < now - START_GRACE) {
            s->known = now - START_GRACE;
            hr = S_FALSE;
        }
    }
    return hr;
}

void supervised_set_free(struct supervised_set *s)
{
    memory_free(s->name);
    memory_free(s->rules);
    run_ahead_free(s->ahead);
    memset(s, 0, sizeof *s);
}

bool supervised_set_expires(const char *space, const char *name)
{
    struct supervised_set s = {.space = space, .name = text_copy(name)};
    const int64_t now = clock_utc();
    int64_t missed;
    HRESULT hr = s.name ? supervised_set_read(&s, now) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = supervised_set_plan(&s, now, &host_zone, &missed);
    const bool expires = SUCCEEDED(hr) && s.expiry != NEXT_START_NEVER;
    supervised_set_free(&s);
    error_clear();
    return expires;
}

/* ---- the record ---- */

struct start_note {
    int64_t due;
    uint32_t serial_number; /* used if the set has no record yet */
};

static HRESULT put_start(struct run_record *record, const void *user)
{
    const struct start_note *note = user;
    if (!record->known)
        record->serial_number = note->serial_number;
    record->last_scheduled = note->due;
    return S_OK;
}

HRESULT supervised_set_note_start(const char *space, const char *name, int64_t due)
{
    struct run_set set;
    HRESULT hr = run_set_load(space, name, &set);
    if (FAILED(hr))
        return hr;
    const struct start_note note = {due, set.set->SerialNumber};
    run_set_free(&set);
    return store_update_run(space, name, &(struct run_change){put_start, &note});
}

struct death {
    const char *space, *name;
    bool *noted;
};

static HRESULT put_death(struct run_record *record, const void *user)
{
    const struct death *death = user;
    struct run_state state;
    /* The state is read under the lock of the record. A run publishes its state before it writes to the record, so if
       the record names a run and no state is visible, the run has died. */
    if (!record->running)
        return S_FALSE;
    HRESULT hr = run_query(death->space, death->name, &state);
    if (FAILED(hr) || state.phase != PHASE_STOPPED)
        return FAILED(hr) ? hr : S_FALSE;
    record->running = false;
    *death->noted = true;
    return run_record_put_death(record);
}

HRESULT supervised_set_note_death(const char *space, const char *name)
{
    bool died = false;
    const struct death death = {space, name, &died};
    HRESULT hr = store_update_run(space, name, &(struct run_change){put_death, &death});
    return SUCCEEDED(hr) && !died ? S_FALSE : hr;
}

/* ---- schedules ---- */

#define SECOND      INT64_C(10000000)
#define DAY         (86400 * SECOND)
#define DATE_1601   109205 /* days from 1601-01-01 to DATE 0, 1899-12-30 */
#define WEEK        7
#define MONDAY_1601 1 /* 1601-01-01 was a Monday; 0 = Sunday */

struct start_rule start_rule_of(const struct set_schedule *s)
{
    struct start_rule rule = {.first_day = INT64_MIN, .last_day = INT64_MAX, .days = s->Days & 0x7F};
    if (s->StartDate.type == VARIANT_DATE)
        rule.first_day = (int64_t)floor(s->StartDate.real) + DATE_1601;
    if (s->EndDate.type == VARIANT_DATE)
        rule.last_day = (int64_t)floor(s->EndDate.real) + DATE_1601;
    if (s->StartTime.type == VARIANT_DATE)
        rule.second = (int32_t)lround(fabs(s->StartTime.real - trunc(s->StartTime.real)) * 86400) % 86400;
    return rule;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t to_local(int64_t utc, const struct start_zone *zone)
{
    return utc - zone->bias(zone->zone, utc) * 60 * SECOND;
}

/* Returns the UTC time at which the clocks first show `local`, or skip it. */
static int64_t to_utc(int64_t local, const struct start_zone *zone)
{
    /* The result is between two times. The first is computed with the time zone offset of the day before, the second
       with the offset of the day after. */
    int64_t early = local + zone->bias(zone->zone, local - DAY) * 60 * SECOND;
    int64_t late = local + zone->bias(zone->zone, local + DAY) * 60 * SECOND;
    if (early > late) {
        int64_t swap = early;
        early = late;
        late = swap;
    }
    if (to_local(early, zone) == local)
        return early;
    if (to_local(late, zone) == local)
        return late;
    /* The clocks skip `local` between `early` and `late`. */
    while (late - early > 1) {
        int64_t middle = early + (late - early) / 2;
        if (to_local(middle, zone) < local)
            early = middle;
        else
            late = middle;
    }
    return late;
}

/* Returns the time at which the rule starts the set on the local day `day`. NEXT_START_NEVER: the time zone skips this
   day. */
static int64_t start_on(const struct start_rule *rule, int64_t day, const struct start_zone *zone)
{
    int64_t utc = to_utc(day * DAY + rule->second * SECOND, zone);
    /* Samoa had no 30 December 2011: the clocks skipped a whole day. */
    if (to_local(utc, zone) >= (day + 1) * DAY && to_local(utc - 1, zone) < day * DAY)
        return NEXT_START_NEVER;
    return utc;
}

int64_t next_start(const struct start_rule *rule, int64_t after, const struct start_zone *zone)
{
    if (!rule->days) {
        int64_t once = rule->first_day == INT64_MIN || rule->first_day > rule->last_day
                           ? NEXT_START_NEVER
                           : start_on(rule, rule->first_day, zone);
        return once > after ? once : NEXT_START_NEVER;
    }
    int64_t day = floor_divide(to_local(after, zone), DAY) - 1;
    if (rule->first_day > day)
        day = rule->first_day;
    /* Two weeks are searched, because the time zone may have skipped the day in the first week. */
    for (int64_t end = day + 2 * WEEK + 2; day < end && day <= rule->last_day; day++) {
        int weekday = (int)(((day + MONDAY_1601) % WEEK + WEEK) % WEEK);
        int64_t utc = rule->days >> weekday & 1 ? start_on(rule, day, zone) : NEXT_START_NEVER;
        if (utc > after && utc != NEXT_START_NEVER)
            return utc;
    }
    return NEXT_START_NEVER;
}

int64_t start_rule_end(const struct start_rule *rule, const struct start_zone *zone)
{
    return rule->last_day == INT64_MAX ? NEXT_START_NEVER : to_utc((rule->last_day + 1) * DAY, zone);
}

int64_t start_base(int64_t now, int64_t done, int64_t known)
{
    int64_t base = now - START_GRACE;
    if (known > base && known <= now)
        base = known;
    if (done > base && done <= now + DAY)
        base = done;
    return base;
}
