/* SPDX-License-Identifier: MIT */
/* Objects out of the countersets in shared memory. */
#include "engine/pdh/counterset_object.h"

#include "engine/os/clock.h"
#include "engine/os/hash.h"
#include "engine/os/memory.h"
#include "engine/os/text.h"
#include "engine/pdh/counterset_share.h"
#include "engine/pdh/formula.h"

#include <string.h>

/* Of all providers together. Nobody has so many; who claims to does not make every reader of counters wait. */
#define MOST_OBJECTS   1000
#define MOST_INSTANCES 32768 /* of one object */

struct counterset_object {
    struct provider provider; /* first */
    struct countersets *countersets;
    GUID guid;
    struct counter_schema *schemas;
    uint32_t *places; /* per value of a row: its place among an instance's values */
    uint32_t *ids;    /* per value of a row */
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

/* What an object keeps of its last sample. */
struct counterset_sample {
    struct counterset_instance *instances;
    int64_t *values; /* value_count of each instance, in the provider's order */
    size_t instance_capacity, value_capacity;
    uint64_t names; /* hash of the instances */
};

HRESULT countersets_open(struct countersets **out)
{
    *out = memory_zero(1, sizeof **out);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static void free_object(struct counterset_object *co)
{
    for (uint32_t i = 0; i < co->provider.counter_count; i++)
        memory_free((char *)co->schemas[i].name);
    memory_free((char *)co->provider.name);
    memory_free(co->schemas);
    memory_free(co->places);
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
        counterset_views_update(&s->views); /* without memory the known ones are read */
}

static bool is_base(uint32_t type)
{
    return (type & PERF_DISPLAY_NOSHOW) && (type & 0x00070000) == PERF_COUNTER_BASE;
}

static bool add_instance(struct counterset_sample *s, size_t at, const struct counterset_record *r, uint32_t values)
{
    void *instances = s->instances, *room = s->values;
    bool ok = memory_grow(&instances, &s->instance_capacity, at + 1, sizeof *s->instances);
    s->instances = instances;
    ok = ok && memory_grow(&room, &s->value_capacity, (at + 1) * values, sizeof *s->values);
    s->values = room;
    if (!ok)
        return false;
    s->instances[at].id = r->id;
    memcpy(s->instances[at].name, r->name, sizeof r->name);
    memcpy(s->values + at * values, counterset_values(r), values * sizeof *s->values);
    return true;
}

/* The live instances of the counterset, of all providers. */
static HRESULT find_instances(const struct counterset_object *co, struct counterset_sample *s, size_t *count)
{
    struct counterset_views *views = &co->countersets->views;
    const size_t most = co->provider.has_instances ? MOST_INSTANCES : 1;
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
            if (!set || !guid_equal(&set->guid, &co->guid) || r->count < co->provider.value_count)
                continue;
            if (!add_instance(s, *count, r, co->provider.value_count))
                return E_OUTOFMEMORY;
            ++*count;
        }
    }
    return S_OK;
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

static HRESULT sample(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)source;
    (void)wanted;
    const struct counterset_object *co = (const struct counterset_object *)o->provider;
    struct counterset_sample *s = o->state;
    size_t count;
    co->countersets->used = true;
    o->present = UINT64_MAX;
    o->time = (struct source_time){clock_utc(), clock_ticks()};
    HRESULT hr = find_instances(co, s, &count);
    if (SUCCEEDED(hr))
        hr = counter_object_set_rows(o, count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        int64_t *row = counter_object_row(o, i);
        for (uint32_t n = 0; n < co->provider.value_count; n++)
            row[n] = s->values[i * co->provider.value_count + co->places[n]];
    }
    uint64_t names = SUCCEEDED(hr) ? hash_names(s, count) : 0;
    if (SUCCEEDED(hr) && co->provider.has_instances && (!o->instances || names != s->names)) {
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

/* The counters that are shown first, the bases behind them; a fraction's base is the next counter of its set. S_FALSE:
   nothing of it can be shown. An empty name could not: it is where PDH's lists end. */
static HRESULT make_counters(struct counterset_object *co, const struct counterset_record *set)
{
    const struct counterset_counter *counters = counterset_counters(set);
    uint32_t count = set->count, shown = 0, behind = 0;
    co->schemas = memory_zero(count, sizeof *co->schemas);
    co->places = memory_zero(count, sizeof *co->places);
    co->ids = memory_zero(count, sizeof *co->ids);
    if (!co->schemas || !co->places || !co->ids)
        return E_OUTOFMEMORY;
    for (uint32_t i = 0; i < count; i++)
        behind += !is_base(counters[i].type);
    co->provider.counters = co->schemas;
    for (uint32_t i = 0; i < count; i++) {
        if (is_base(counters[i].type)) {
            if (shown)
                co->schemas[shown - 1].base = behind;
            co->ids[behind] = counters[i].id;
            co->places[behind++] = i;
            continue;
        }
        char *name = counterset_text(counters[i].name, COUNTERSET_NAME_BYTES);
        if (!name)
            return E_OUTOFMEMORY;
        if (!*name) {
            memory_free(name);
            return S_FALSE;
        }
        co->schemas[shown] = (struct counter_schema){.name = name,
                                                     .help = "",
                                                     .type = counters[i].type,
                                                     .detail = counters[i].detail,
                                                     .scale = counters[i].scale};
        co->ids[shown] = counters[i].id;
        co->places[shown++] = i;
        co->provider.counter_count = shown;
    }
    /* A fraction without a base would divide by another counter. */
    for (uint32_t i = 0; i < shown; i++)
        if (formula_is_fraction(co->schemas[i].type) && !co->schemas[i].base)
            return S_FALSE;
    co->provider.value_count = count;
    co->provider.guid = &co->guid;
    co->provider.value_ids = co->ids;
    return shown ? S_OK : S_FALSE;
}

static HRESULT add_object(struct countersets *s, const struct counterset_record *set, struct catalogue *c)
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
    co->provider = (struct provider){.name = counterset_text(set->name, COUNTERSET_INSTANCE_BYTES),
                                     .help = "",
                                     .has_instances = !set->single,
                                     .at_once = true,
                                     .sample = sample,
                                     .state_size = sizeof(struct counterset_sample),
                                     .close = close_sample};
    HRESULT hr = !co->provider.name ? E_OUTOFMEMORY : *co->provider.name ? make_counters(co, set) : S_FALSE;
    if (hr == S_OK && !catalogue_add(c, &co->provider))
        hr = E_OUTOFMEMORY;
    if (hr != S_OK) {
        free_object(co);
        return hr;
    }
    s->objects[s->count++] = co;
    return S_OK;
}

static bool is_known(const struct countersets *s, const GUID *guid)
{
    size_t i = 0;
    while (i < s->count && !guid_equal(&s->objects[i]->guid, guid))
        i++;
    return i < s->count;
}

HRESULT countersets_add_objects(struct countersets *s, struct catalogue *c)
{
    HRESULT hr = counterset_views_update(&s->views);
    for (size_t i = 0; i < s->views.count && SUCCEEDED(hr); i++) {
        struct counterset_bytes b;
        hr = counterset_view_copy(&s->views, i, &b);
        for (const struct counterset_record *r = NULL; SUCCEEDED(hr) && (r = counterset_next(&b, r));)
            if (r->kind == COUNTERSET_KIND_SET && r->live && s->count < MOST_OBJECTS && !is_known(s, &r->guid))
                hr = add_object(s, r, c);
    }
    return FAILED(hr) ? hr : S_OK;
}
