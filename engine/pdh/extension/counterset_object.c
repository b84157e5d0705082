/* SPDX-License-Identifier: MIT */
/* Counter objects built from registered countersets and from the countersets of running Perflib providers. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pdh/counter_types.h"
#include "engine/pdh/extension/counterset_share.h"
#include "engine/pdh/extension/extension_object.h"
#include "engine/pdh/perflib/counterset_registration.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of objects of all Perflib providers together. Well-behaved providers never reach this number. The
   limit keeps a hostile provider from slowing down all readers. */
#define MOST_OBJECTS   1000
#define MOST_INSTANCES 32768 /* maximum per object */

/* A value of a row. Each provider may store the value at a different position in the row. */
struct counterset_value {
    uint32_t id, type;
    uint32_t at; /* index in the row */
    uint32_t aggregate;
};

struct counterset_object {
    struct counter_object_type type; /* must be the first member */
    struct countersets *countersets;
    GUID guid, provider_guid;
    bool is_aggregate; /* one row aggregates the instances of all providers */
    struct counter_schema *schemas;
    struct counterset_value *values; /* sorted by id */
    uint32_t *ids;                   /* ids of the values, in the order of the row */
};

struct countersets {
    struct counterset_views views;
    struct counterset_object **objects;
    size_t count, capacity;
    bool used;
};

struct counterset_instance {
    uint32_t id;
    char name[COUNTERSET_INSTANCE_BYTES];
};

/* The state of an object between samples. */
struct counterset_sample {
    struct counterset_instance *instances;
    int64_t *values; /* value_count per instance */
    size_t instance_capacity, value_capacity;
    uint64_t names; /* hash of the instances' names */
};

HRESULT countersets_open(struct countersets **out)
{
    *out = memory_zero(1, sizeof **out);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static void free_object(struct counterset_object *co)
{
    for (uint32_t i = 0; i < co->type.counter_count; i++) {
        memory_free((char *)co->schemas[i].name);
        memory_free((char *)co->schemas[i].help);
    }
    memory_free((char *)co->type.name);
    memory_free((char *)co->type.help);
    memory_free((char *)co->type.provider_name);
    memory_free(co->schemas);
    memory_free(co->values);
    memory_free(co->ids);
    memory_free(co);
}

void countersets_close(struct countersets *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        free_object(s->objects[i]);
    counterset_views_close(&s->views);
    memory_free(s->objects);
    memory_free(s);
}

void countersets_begin(struct countersets *s)
{
    if (s->used)
        counterset_views_update(&s->views); /* if memory runs out, only the providers that are already known are read */
}

static int by_id(const void *a, const void *b)
{
    const struct counterset_value *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Copies the values that the provider has to their positions in the row. */
static void read_values(const struct counterset_object *co, const struct counterset_record *set, const int64_t *from,
                        int64_t *row)
{
    const struct counterset_counter *counters = counterset_counters(set);
    for (uint32_t i = 0; i < co->type.value_count; i++)
        row[i] = VALUE_ABSENT;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct counterset_value key = {.id = counters[i].id};
        const struct counterset_value *v = bsearch(&key, co->values, co->type.value_count, sizeof key, by_id);
        if (v && v->type == counters[i].type)
            row[v->at] = from[i];
    }
}

static bool add_instance(const struct counterset_object *co, struct counterset_sample *s, size_t at,
                         const struct counterset_record *set, const struct counterset_record *r)
{
    const uint32_t values = co->type.value_count;
    void *instances = s->instances, *room = s->values;
    bool ok = memory_grow(&instances, &s->instance_capacity, at + 1, sizeof *s->instances);
    s->instances = instances;
    ok = ok && memory_grow(&room, &s->value_capacity, (at + 1) * values, sizeof *s->values);
    s->values = room;
    if (!ok)
        return false;
    s->instances[at].id = r->id;
    memcpy(s->instances[at].name, r->name, sizeof r->name);
    read_values(co, set, counterset_values(r), s->values + at * values);
    return true;
}

/* Finds the live instances of the counterset in the sections of all providers. */
static HRESULT find_instances(const struct counterset_object *co, struct counterset_sample *s, size_t *count)
{
    struct counterset_views *views = &co->countersets->views;
    const size_t most = co->type.has_instances || co->is_aggregate ? MOST_INSTANCES : 1;
    *count = 0;
    for (size_t i = 0; i < views->count; i++) {
        struct counterset_bytes b;
        HRESULT hr = counterset_view_copy(views, i, &b);
        if (FAILED(hr))
            return hr;
        for (const struct counterset_record *r = NULL; *count < most && (r = counterset_next(&b, r));) {
            if (r->kind != COUNTERSET_KIND_INSTANCE || !r->live)
                continue;
            const struct counterset_record *set = counterset_of(&b, r);
            if (!set || !guid_equal(&set->guid, &co->guid))
                continue;
            if (!add_instance(co, s, *count, set, r))
                return E_OUTOFMEMORY;
            ++*count;
        }
    }
    return S_OK;
}

static int64_t aggregate_value(uint32_t how, int64_t all, int64_t one, size_t before)
{
    if (one == VALUE_ABSENT || !before || all == VALUE_ABSENT)
        return one == VALUE_ABSENT ? all : one;
    switch (how) {
    case COUNTER_AGGREGATE_MINIMUM:
        return one < all ? one : all;
    case COUNTER_AGGREGATE_MAXIMUM:
        return one > all ? one : all;
    case COUNTER_AGGREGATE_AVERAGE: /* running mean, in whole numbers */
        return all + (one - all) / (int64_t)(before + 1);
    case COUNTER_AGGREGATE_SUM:
        return (int64_t)((uint64_t)all + (uint64_t)one);
    default: /* not specified: use the last value */
        return one;
    }
}

/* Aggregates all instances into the first row. */
static void fold_instances(const struct counterset_object *co, struct counterset_sample *s, size_t *count)
{
    const uint32_t values = co->type.value_count;
    for (size_t i = 1; i < *count; i++)
        for (uint32_t n = 0; n < values; n++) {
            const struct counterset_value *v = &co->values[n];
            s->values[v->at] = aggregate_value(v->aggregate, s->values[v->at], s->values[i * values + v->at], i);
        }
    *count = *count ? 1 : 0;
}

static uint64_t hash_names(const struct counterset_sample *s, size_t count)
{
    uint64_t h = HASH_START;
    for (size_t i = 0; i < count; i++) {
        for (size_t n = 0; n < COUNTERSET_INSTANCE_BYTES && s->instances[i].name[n]; n++)
            h = hash_number(h, (uint8_t)s->instances[i].name[n]);
        h = hash_number(h, s->instances[i].id ^ 0x100);
    }
    return h;
}

static HRESULT name_instances(struct counter_object *o, const struct counterset_sample *s, size_t count)
{
    char **names = memory_zero(count, sizeof *names);
    uint64_t *keys = memory_zero(count, sizeof *keys);
    bool ok = names && keys;
    for (size_t i = 0; ok && i < count; i++) {
        names[i] = counterset_text(s->instances[i].name, COUNTERSET_INSTANCE_BYTES);
        keys[i] = s->instances[i].id;
        ok = names[i] != NULL;
    }
    struct instance_list *list = ok ? instance_list_create(count, (const char *const *)names, keys) : NULL;
    if (list)
        counter_object_set_instances(o, list);
    for (size_t i = 0; names && i < count; i++)
        memory_free(names[i]);
    memory_free(names);
    memory_free(keys);
    return list ? S_OK : E_OUTOFMEMORY;
}

static HRESULT counterset_sample_rows(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)source;
    (void)wanted;
    const struct counterset_object *co = (const struct counterset_object *)o->type;
    struct counterset_sample *s = o->state;
    size_t count;
    co->countersets->used = true;
    o->present = UINT64_MAX;
    o->time = (struct source_time){clock_utc(), clock_ticks()};
    HRESULT hr = find_instances(co, s, &count);
    if (SUCCEEDED(hr) && co->is_aggregate)
        fold_instances(co, s, &count);
    if (SUCCEEDED(hr))
        hr = counter_object_set_rows(o, count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        memcpy(counter_object_row(o, i), s->values + i * co->type.value_count,
               co->type.value_count * sizeof *s->values);
    uint64_t names = SUCCEEDED(hr) ? hash_names(s, count) : 0;
    if (SUCCEEDED(hr) && co->type.has_instances && (!o->instances || names != s->names)) {
        hr = name_instances(o, s, count);
        s->names = names;
    }
    return hr;
}

static void close_sample(struct counter_object *o)
{
    struct counterset_sample *s = o->state;
    memory_free(s->instances);
    memory_free(s->values);
}

static bool is_shown(const struct registered_counter *c)
{
    return !counter_type_is_base(c->type) && !(c->attributes & COUNTER_NOT_SHOWN);
}

/* Returns the row index of the counter with the id; the number of values if it does not exist. */
static uint32_t place_of(const struct counterset_object *co, uint32_t id)
{
    const struct counterset_value key = {.id = id};
    const struct counterset_value *v = bsearch(&key, co->values, co->type.value_count, sizeof key, by_id);
    return v ? v->at : co->type.value_count;
}

/* Creates the counters, the visible ones first. S_FALSE if there is no visible counter. A counter needs a name, because
   an empty string ends PDH's lists. A fraction needs a base, because PDH would otherwise divide it by a different
   counter. */
static HRESULT make_counters(struct counterset_object *co, const struct registered_set *set)
{
    const uint32_t count = (uint32_t)set->count;
    uint32_t shown = 0, behind = 0;
    co->schemas = memory_zero(count, sizeof *co->schemas);
    co->values = memory_zero(count, sizeof *co->values);
    co->ids = memory_zero(count, sizeof *co->ids);
    if (!co->schemas || !co->values || !co->ids)
        return E_OUTOFMEMORY;
    for (uint32_t i = 0; i < count; i++)
        behind += is_shown(&set->counters[i]);
    for (uint32_t i = 0; i < count; i++) {
        const struct registered_counter *c = &set->counters[i];
        const uint32_t at = is_shown(c) ? shown++ : behind++;
        co->ids[at] = c->id;
        co->values[i] = (struct counterset_value){.id = c->id, .type = c->type, .at = at, .aggregate = c->aggregate};
    }
    qsort(co->values, count, sizeof *co->values, by_id);
    co->type.counters = co->schemas;
    co->type.value_count = count;
    co->type.guid = &co->guid;
    co->type.value_ids = co->ids;
    for (uint32_t i = 0; i < count; i++) {
        const struct registered_counter *c = &set->counters[i];
        const uint32_t base = place_of(co, c->base);
        if (!is_shown(c))
            continue;
        if (!*c->name || (counter_type_is_fraction(c->type) && (c->base == COUNTER_NO_ID || base == count)))
            return S_FALSE;
        struct counter_schema *schema = &co->schemas[co->type.counter_count++];
        *schema = (struct counter_schema){.name = text_copy(c->name),
                                          .help = text_copy(c->help),
                                          .type = c->type,
                                          .detail = c->detail,
                                          .scale = c->scale,
                                          .base = base < count ? base : 0};
        if (!schema->name || !schema->help)
            return E_OUTOFMEMORY;
    }
    return shown ? S_OK : S_FALSE;
}

/* Adds the counterset as an object. `of` is the counterset's provider; NULL if the provider is unknown. */
static HRESULT add_object(struct countersets *s, const struct registered_provider *of, const struct registered_set *set,
                          struct catalogue *c)
{
    struct counterset_object *co = memory_zero(1, sizeof *co);
    void *objects = s->objects;
    bool room = memory_grow(&objects, &s->capacity, s->count + 1, sizeof *s->objects);
    s->objects = objects;
    if (!co || !room) {
        memory_free(co);
        return E_OUTOFMEMORY;
    }
    co->countersets = s;
    co->guid = set->guid;
    co->is_aggregate = set->instances & COUNTERSET_AGGREGATE && !(set->instances & COUNTERSET_MULTIPLE);
    co->type = (struct counter_object_type){.name = text_copy(set->name),
                                            .help = text_copy(set->help),
                                            .has_instances = set->instances & COUNTERSET_MULTIPLE,
                                            .at_once = true,
                                            .sample = counterset_sample_rows,
                                            .state_size = sizeof(struct counterset_sample),
                                            .close = close_sample};
    if (of) {
        co->provider_guid = of->guid;
        co->type.provider_guid = &co->provider_guid;
        co->type.provider_name = text_copy(of->name);
    }
    bool named = co->type.name && co->type.help && (!of || co->type.provider_name);
    HRESULT hr = !named ? E_OUTOFMEMORY : *co->type.name ? make_counters(co, set) : S_FALSE;
    if (hr == S_OK && !catalogue_add(c, &co->type))
        hr = E_OUTOFMEMORY;
    if (hr != S_OK) {
        free_object(co);
        return hr;
    }
    s->objects[s->count++] = co;
    return S_OK;
}

/* Adds a counterset from the record in a provider's section. In a provider's section, the base of a fraction is the
   counter after the fraction. */
static HRESULT add_live(struct countersets *s, const struct counterset_record *r, struct catalogue *c)
{
    const struct counterset_counter *counters = counterset_counters(r);
    struct registered_countersets list = {0};
    struct registered_provider *p = registered_add_provider(&list, &r->guid);
    struct registered_set *set = p ? registered_add_set(p, &r->guid) : NULL;
    HRESULT hr = set ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        set->instances = r->single ? 0 : COUNTERSET_MULTIPLE;
        set->name = counterset_text(r->name, COUNTERSET_INSTANCE_BYTES);
        hr = set->name ? S_OK : E_OUTOFMEMORY;
    }
    for (uint32_t i = 0; SUCCEEDED(hr) && i < r->count; i++) {
        struct registered_counter *one = registered_add_counter(set, counters[i].id);
        if (one) {
            one->type = counters[i].type;
            one->detail = counters[i].detail;
            one->scale = counters[i].scale;
            one->name = counterset_text(counters[i].name, COUNTERSET_NAME_BYTES);
            if (i + 1 < r->count && counter_type_is_base(counters[i + 1].type))
                one->base = counters[i + 1].id;
        }
        hr = one && one->name ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = add_object(s, NULL, set, c);
    registered_countersets_free(&list);
    return hr;
}

static bool is_known(const struct countersets *s, const GUID *guid)
{
    size_t i = 0;
    while (i < s->count && !guid_equal(&s->objects[i]->guid, guid))
        i++;
    return i < s->count;
}

/* Adds the registered countersets as objects. A counterset's object exists even while the counterset's provider is not
   running, so that a log can be set up before the program starts. */
static HRESULT add_registered(struct countersets *s, struct catalogue *c)
{
    struct registered_countersets list;
    HRESULT hr = registered_countersets_read(&list);
    if (hr != E_OUTOFMEMORY && FAILED(hr)) /* the registry cannot be read */
        return S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < list.count; i++)
        for (size_t k = 0; SUCCEEDED(hr) && k < list.items[i].count && s->count < MOST_OBJECTS; k++) {
            const struct registered_set *set = &list.items[i].sets[k];
            if (set->is_defined && set->name && set->count && !is_known(s, &set->guid))
                hr = add_object(s, &list.items[i], set, c);
        }
    registered_countersets_free(&list);
    return hr;
}

HRESULT countersets_add_objects(struct countersets *s, struct catalogue *c)
{
    HRESULT hr = add_registered(s, c);
    if (SUCCEEDED(hr))
        hr = counterset_views_update(&s->views);
    for (size_t i = 0; i < s->views.count && SUCCEEDED(hr); i++) {
        struct counterset_bytes b;
        hr = counterset_view_copy(&s->views, i, &b);
        for (const struct counterset_record *r = NULL; SUCCEEDED(hr) && (r = counterset_next(&b, r));)
            if (r->kind == COUNTERSET_KIND_SET && r->live && s->count < MOST_OBJECTS && !is_known(s, &r->guid))
                hr = add_live(s, r, c);
    }
    return FAILED(hr) ? hr : S_OK;
}
