/* SPDX-License-Identifier: MIT */
/* Samples the counters of alert thresholds, and evaluates the values by the rules. A threshold applies to one counter,
   or to all counters that its wildcards match. */
#include "engine/pla/collect/alert_watch.h"

#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/counter_path.h"
#include "engine/pdh/counter_query.h"

#include <math.h>
#include <string.h>

/* Search for at most this many missing counters at a time, so that a search costs little compared to a sample. */
#define SEARCHED_AT_ONCE 100

/* An instance matched by a wildcard. */
struct instance {
    char *name; /* NULL: moved to the list of the current sample */
    struct alert_state state;
};
struct instances {
    struct instance *items;
    size_t count, capacity;
};

/* A threshold applied to a column of the query. */
struct watched {
    size_t threshold, column;
    struct alert_state state;     /* state of a column without instances */
    struct instances last, spare; /* instances of the latest sample; memory for the list of the next sample */
};

struct threshold {
    struct alert_threshold parsed;
    struct counter_path path; /* the parts of parsed.path; zero: invalid */
    char *asked;              /* path for the query; matches all instances if `filter` selects some of them */
    char *filter;             /* pattern for the names of matching instances; NULL: all */
    char *first;   /* `filter` without its number, for names without a number, which count as #0; NULL: none */
    uint64_t hash; /* hash of path, operator and value */
    bool missing;
};

struct alert_watch {
    struct alert_listener listener;
    struct threshold *thresholds;
    size_t threshold_count;
    struct counter_query *query;
    struct watched *watched; /* in the order in which they were found */
    size_t watched_count, watched_capacity;
    size_t missing, next_search;
    bool failed; /* out of memory */
};

/* ---- thresholds ---- */

static bool has_wildcard(const char *text)
{
    return text && strchr(text, '*');
}

static bool is_all_wildcard(const char *text)
{
    return !text[strspn(text, "*/#")];
}

/* If a wildcard matches only some instances, the query path matches all instances, and a filter selects some of them.
   Because the query matches all instances, instances can appear and disappear while the query is open. */
static HRESULT choose_query_path(struct threshold *t)
{
    const struct counter_path *p = &t->path;
    bool some =
        (has_wildcard(p->instance) || has_wildcard(p->parent)) &&
        !(is_all_wildcard(p->instance) && (!p->parent || is_all_wildcard(p->parent)) && p->index == PATH_NO_INDEX);
    if (!some) {
        t->asked = text_copy(t->parsed.path);
        return t->asked ? S_OK : E_OUTOFMEMORY;
    }
    struct counter_path all = *p;
    all.parent = NULL;
    all.instance = (char *)"*";
    all.index = PATH_NO_INDEX;
    t->asked = counter_path_format(&all);
    t->filter = counter_path_instance(p);
    const char *number = t->filter ? strrchr(t->filter, '#') : NULL;
    bool numbered = number && text_matches(number + 1, "0");
    if (numbered)
        t->first = text_copy_n(t->filter, (size_t)(number - t->filter));
    return t->asked && t->filter && (t->first || !numbered) ? S_OK : E_OUTOFMEMORY;
}

static HRESULT take_threshold(const char *text, struct threshold *out)
{
    HRESULT hr = alert_threshold_parse(text, &out->parsed);
    if (FAILED(hr))
        return hr;
    uint64_t bits;
    memcpy(&bits, &out->parsed.value, sizeof bits);
    out->hash = hash_number(hash_number(text_hash_nocase(out->parsed.path), (uint64_t)out->parsed.operator_), bits);
    PDH_STATUS status = counter_path_parse(out->parsed.path, &out->path);
    if ((DWORD)status == PDH_MEMORY_ALLOCATION_FAILURE)
        return E_OUTOFMEMORY;
    if (!status)
        return choose_query_path(out);
    out->asked = text_copy(out->parsed.path); /* the query reports why the path is invalid */
    return out->asked ? S_OK : E_OUTOFMEMORY;
}

/* ---- columns ---- */

static void watch_add_column(void *user, size_t threshold, size_t column)
{
    struct alert_watch *w = user;
    for (size_t i = w->watched_count; i-- > 0 && w->watched[i].threshold == threshold;)
        if (w->watched[i].column == column)
            return;
    void *items = w->watched;
    if (!memory_grow(&items, &w->watched_capacity, w->watched_count + 1, sizeof *w->watched)) {
        w->failed = true;
        return;
    }
    w->watched = items;
    w->watched[w->watched_count++] = (struct watched){.threshold = threshold, .column = column};
}

static void threshold_report_missing(struct alert_watch *w, struct threshold *t, HRESULT reason, const char *text)
{
    if (!t->missing)
        w->listener.missing(w->listener.user, reason, t->parsed.path, text);
    w->missing += !t->missing;
    t->missing = true;
}

static HRESULT open_query(struct alert_watch *w, struct alert_watch *before)
{
    const struct texts none = {0};
    struct counter_query_request request = {.paths = &none,
                                            .keep_instances = true,
                                            .values = true,
                                            .previous = before ? before->query : NULL,
                                            .gives = watch_add_column,
                                            .user = w};
    struct texts asked = {0};
    HRESULT hr = host_pdh(&request.pdh);
    for (size_t i = 0; SUCCEEDED(hr) && i < w->threshold_count; i++)
        hr = texts_add(&asked, w->thresholds[i].asked);
    request.paths = &asked;
    if (SUCCEEDED(hr))
        hr = counter_query_open(&request, &w->query);
    texts_free(&asked);
    return SUCCEEDED(hr) && w->failed ? E_OUTOFMEMORY : hr;
}

/* Finds thresholds without a column, and adds each one to the query again to get the reason. */
static HRESULT find_missing(struct alert_watch *w)
{
    bool *has = memory_zero(w->threshold_count + 1, sizeof *has);
    if (!has)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < w->watched_count; i++)
        has[w->watched[i].threshold] = true;
    HRESULT hr = S_OK;
    for (size_t i = 0; hr != E_OUTOFMEMORY && i < w->threshold_count; i++) {
        if (has[i])
            continue;
        hr = counter_query_add(w->query, w->thresholds[i].asked, i);
        if (FAILED(hr) && hr != E_OUTOFMEMORY)
            threshold_report_missing(w, &w->thresholds[i], hr, error_text(hr));
    }
    memory_free(has);
    return hr == E_OUTOFMEMORY || w->failed ? E_OUTOFMEMORY : S_OK;
}

HRESULT alert_watch_search(struct alert_watch *w)
{
    size_t tried = 0;
    HRESULT hr = S_OK;
    for (size_t n = 0; n < w->threshold_count && w->missing && tried < SEARCHED_AT_ONCE; n++) {
        size_t i = w->next_search++ % w->threshold_count;
        struct threshold *t = &w->thresholds[i];
        if (!t->missing)
            continue;
        tried++;
        hr = counter_query_add(w->query, t->asked, i);
        if (hr == E_OUTOFMEMORY || w->failed)
            return E_OUTOFMEMORY;
        if (FAILED(hr))
            continue;
        t->missing = false;
        w->missing--;
        w->listener.appeared(w->listener.user, t->parsed.path);
    }
    error_clear();
    return S_OK;
}

size_t alert_watch_missing(const struct alert_watch *w)
{
    return w->missing;
}

/* ---- state of instances ---- */

static void free_instances(struct instances *list)
{
    for (size_t i = 0; i < list->count; i++)
        memory_free(list->items[i].name);
    memory_free(list->items);
    *list = (struct instances){0};
}

static HRESULT copy_instances(const struct instances *from, struct instances *to)
{
    void *items = NULL;
    for (size_t i = 0; i < from->count; i++) {
        if (!memory_grow(&items, &to->capacity, i + 1, sizeof *to->items))
            return E_OUTOFMEMORY;
        to->items = items;
        to->items[i] = (struct instance){text_copy(from->items[i].name), from->items[i].state};
        to->count = i + 1;
        if (!to->items[i].name)
            return E_OUTOFMEMORY;
    }
    return S_OK;
}

/* Copies the state of each threshold and column that exists in both watches. */
static HRESULT take_states(struct alert_watch *w, const struct alert_watch *from)
{
    size_t count, from_count, at = 0;
    const struct log_counter *columns = counter_query_columns(w->query, &count);
    for (size_t i = 0; i < w->watched_count; i++) {
        struct watched *to = &w->watched[i];
        /* Usually the lists of both watches have the same order. */
        for (size_t n = 0; n < from->watched_count; n++, at++) {
            const struct watched *old = &from->watched[at % from->watched_count];
            const struct log_counter *from_columns =
                from->query ? counter_query_columns(from->query, &from_count) : NULL;
            if (!from_columns || from->thresholds[old->threshold].hash != w->thresholds[to->threshold].hash ||
                !log_counter_same(&from_columns[old->column], &columns[to->column]))
                continue;
            to->state = old->state;
            HRESULT hr = copy_instances(&old->last, &to->last);
            if (FAILED(hr))
                return hr;
            at++;
            break;
        }
    }
    return S_OK;
}

/* ---- a sample ---- */

/* Returns the full path of the counter in this column, with the given instance. From memory_alloc. */
static char *path_of(const struct threshold *t, const struct log_counter *column, const char *instance)
{
    struct counter_path path = t->path;
    if (has_wildcard(path.object))
        path.object = (char *)column->object;
    if (has_wildcard(path.counter))
        path.counter = (char *)column->counter;
    if (has_wildcard(path.machine))
        path.machine = (char *)(column->machine ? column->machine + strspn(column->machine, "\\") : NULL);
    if (instance) { /* `instance` contains the parent and the number */
        path.parent = NULL;
        path.instance = (char *)instance;
        path.index = PATH_NO_INDEX;
    } else if (has_wildcard(path.instance) || (column->instance && !path.instance)) {
        path.parent = (char *)column->parent;
        path.instance = (char *)column->instance;
        path.index = column->index ? column->index : PATH_NO_INDEX;
    }
    return counter_path_format(&path);
}

struct sample {
    struct alert_watch *w;
    const struct alert_rules *rules;
    const struct log_counter *columns;
    const struct log_cell *cells;
    uint64_t now;
    bool plain;
    HRESULT hr;
};

static void sample_report(struct sample *s, const struct watched *on, const char *instance, enum alert_verdict verdict,
                          const double *value)
{
    const struct threshold *t = &s->w->thresholds[on->threshold];
    char *path = path_of(t, &s->columns[on->column], instance);
    if (!path) {
        s->hr = E_OUTOFMEMORY;
        return;
    }
    s->w->listener.found(s->w->listener.user,
                         &(struct alert_found){&t->parsed, path, verdict, value != NULL, value ? *value : 0});
    memory_free(path);
}

static void evaluate_value(struct sample *s, const struct watched *on, const char *instance, double value,
                           struct alert_state *state)
{
    enum alert_verdict verdict =
        alert_evaluate(s->rules, &s->w->thresholds[on->threshold].parsed, value, s->now, state);
    if (verdict != ALERT_NONE)
        sample_report(s, on, instance, verdict, &value);
}

static void instance_forget(struct sample *s, const struct watched *on, struct instance *i)
{
    enum alert_verdict verdict = i->name ? alert_evaluate_gone(s->rules, &i->state) : ALERT_NONE;
    if (verdict != ALERT_NONE)
        sample_report(s, on, i->name, verdict, NULL);
    memory_free(i->name);
    i->name = NULL;
}

static bool passes(const struct threshold *t, const char *name)
{
    return !t->filter || text_matches(t->filter, name) ||
           (t->first && !strchr(name, '#') && text_matches(t->first, name));
}

/* Finds the instance in the list of the previous sample. Starts after the instance that the previous call found. */
static struct instance *find_instance(const struct instances *list, size_t *at, const char *name)
{
    for (size_t n = 0; n < list->count; n++) {
        size_t i = (*at + n) % list->count;
        if (list->items[i].name && !strcmp(list->items[i].name, name)) {
            *at = i + 1;
            return &list->items[i];
        }
    }
    return NULL;
}

/* Appends the instance; moves it from `old` if that is not NULL. The list must have room. */
static HRESULT append_instance(struct instances *list, struct instance *old, const char *name, struct instance **out)
{
    *out = &list->items[list->count];
    **out = old ? *old : (struct instance){.name = text_copy(name)};
    if (!(*out)->name)
        return E_OUTOFMEMORY;
    if (old)
        old->name = NULL;
    list->count++;
    return S_OK;
}

/* Evaluates all instances of a column by rules that need a state, and forgets instances that no longer exist. Allocates
   memory first, so that a failed allocation does not make an instance look as if it no longer existed. */
static void evaluate_instances(struct sample *s, struct watched *on)
{
    const struct threshold *t = &s->w->thresholds[on->threshold];
    const struct log_cell *cell = &s->cells[on->column];
    size_t at = 0;
    if (cell->raw.status && cell->raw.status != PDH_CSTATUS_NO_INSTANCE)
        return; /* instances could not be listed, so no instance is known to have disappeared */
    void *room = on->spare.items;
    if (!memory_grow(&room, &on->spare.capacity, cell->item_count, sizeof *on->spare.items)) {
        s->hr = E_OUTOFMEMORY;
        return;
    }
    on->spare.items = room;
    for (size_t i = 0; i < cell->item_count; i++) {
        const struct log_item *item = &cell->items[i];
        struct instance *now;
        if (!passes(t, item->instance))
            continue;
        HRESULT hr = append_instance(&on->spare, find_instance(&on->last, &at, item->instance), item->instance, &now);
        if (FAILED(hr))
            s->hr = hr;
        else if (item->has_value)
            evaluate_value(s, on, item->instance, item->value, &now->state);
    }
    for (size_t i = 0; i < on->last.count; i++)
        instance_forget(s, on, &on->last.items[i]);
    on->last.count = 0;
    struct instances list = on->last;
    on->last = on->spare;
    on->spare = list;
}

static void evaluate_single(struct sample *s, const struct watched *on)
{
    const struct threshold *t = &s->w->thresholds[on->threshold];
    const struct log_cell *cell = &s->cells[on->column];
    if (!s->columns[on->column].wildcard) {
        if (cell->has_value && alert_is_beyond(&t->parsed, cell->value))
            sample_report(s, on, NULL, ALERT_BEYOND, &cell->value);
        return;
    }
    for (size_t i = 0; i < cell->item_count; i++) {
        const struct log_item *item = &cell->items[i];
        if (item->has_value && alert_is_beyond(&t->parsed, item->value) && passes(t, item->instance))
            sample_report(s, on, item->instance, ALERT_BEYOND, &item->value);
    }
}

HRESULT alert_watch_sample(struct alert_watch *w, const struct alert_rules *rules, int64_t *utc)
{
    size_t count;
    struct sample s = {.w = w, .rules = rules, .plain = alert_rules_are_plain(rules), .now = clock_monotonic_ms()};
    HRESULT hr = counter_query_sample(w->query, utc, &s.cells);
    TRACE_STEP(collect, "thresholds of %zu counters: 0x%08X", w->watched_count, (unsigned)hr);
    if (FAILED(hr))
        return hr;
    s.columns = counter_query_columns(w->query, &count);
    for (size_t i = 0; i < w->watched_count; i++) {
        struct watched *on = &w->watched[i];
        const struct log_cell *cell = &s.cells[on->column];
        if (s.plain)
            evaluate_single(&s, on);
        else if (s.columns[on->column].wildcard)
            evaluate_instances(&s, on);
        else if (cell->has_value)
            evaluate_value(&s, on, NULL, cell->value, &on->state);
    }
    return s.hr;
}

HRESULT alert_watch_read(struct alert_watch *w)
{
    int64_t utc;
    const struct log_cell *cells;
    return counter_query_sample(w->query, &utc, &cells);
}

/* ---- open and close ---- */

void alert_watch_close(struct alert_watch *w)
{
    if (!w)
        return;
    counter_query_close(w->query);
    for (size_t i = 0; w->thresholds && i < w->threshold_count; i++) {
        memory_free(w->thresholds[i].parsed.path);
        counter_path_free(&w->thresholds[i].path);
        memory_free(w->thresholds[i].asked);
        memory_free(w->thresholds[i].filter);
        memory_free(w->thresholds[i].first);
    }
    for (size_t i = 0; i < w->watched_count; i++) {
        free_instances(&w->watched[i].last);
        free_instances(&w->watched[i].spare);
    }
    memory_free(w->watched);
    memory_free(w->thresholds);
    memory_free(w);
}

HRESULT alert_watch_open(const struct texts *thresholds, const struct alert_listener *listener,
                         struct alert_watch *before, struct alert_watch *beside, struct alert_watch **out)
{
    struct alert_watch *w = memory_zero(1, sizeof *w);
    *out = NULL;
    if (!w)
        return E_OUTOFMEMORY;
    w->listener = *listener;
    w->thresholds = memory_zero(thresholds->count + 1, sizeof *w->thresholds);
    HRESULT hr = w->thresholds ? S_OK : E_OUTOFMEMORY;
    for (; SUCCEEDED(hr) && w->threshold_count < thresholds->count; w->threshold_count++)
        hr = take_threshold(thresholds->items[w->threshold_count], &w->thresholds[w->threshold_count]);
    if (SUCCEEDED(hr))
        hr = open_query(w, before);
    if (SUCCEEDED(hr))
        hr = find_missing(w);
    if (SUCCEEDED(hr) && (before || beside))
        hr = take_states(w, before ? before : beside);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        alert_watch_close(w);
        return error_restore(&why);
    }
    *out = w;
    return S_OK;
}

/* ---- rules ---- */

bool alert_rules_are_plain(const struct alert_rules *rules)
{
    return !rules->on_crossing && rules->samples <= 1 && !rules->hold_off && !rules->all_clear;
}

bool alert_is_beyond(const struct alert_threshold *threshold, double value)
{
    return threshold->operator_ == '>' ? value > threshold->value : value < threshold->value;
}

static bool has_come_back(const struct alert_rules *rules, const struct alert_threshold *threshold, double value)
{
    double by = rules->relative ? fabs(threshold->value) * rules->hysteresis / 100 : rules->hysteresis;
    return threshold->operator_ == '>' ? value <= threshold->value - by : value >= threshold->value + by;
}

enum alert_verdict alert_evaluate_gone(const struct alert_rules *rules, struct alert_state *state)
{
    bool was_alert = state->was_alert;
    state->beyond = 0;
    state->raised = state->was_alert = false;
    return was_alert && rules->all_clear ? ALERT_CLEAR : ALERT_NONE;
}

enum alert_verdict alert_evaluate(const struct alert_rules *rules, const struct alert_threshold *threshold,
                                  double value, uint64_t now, struct alert_state *state)
{
    if (isnan(value))
        return ALERT_NONE;
    if (!alert_is_beyond(threshold, value)) {
        state->beyond = 0;
        return has_come_back(rules, threshold, value) ? alert_evaluate_gone(rules, state) : ALERT_NONE;
    }
    if (state->beyond < rules->samples)
        state->beyond++;
    state->raised = state->raised || state->beyond >= rules->samples;
    bool held = state->ever && now - state->latest < (uint64_t)rules->hold_off * 1000;
    /* A crossing during a hold-off is reported when the hold-off ends, if the value is still beyond the threshold. */
    if (!state->raised || held || (rules->on_crossing && state->was_alert))
        return ALERT_NONE;
    state->was_alert = state->ever = true;
    state->latest = now;
    return ALERT_BEYOND;
}
