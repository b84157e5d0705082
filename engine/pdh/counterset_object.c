/* SPDX-License-Identifier: MIT */
/* Objects out of the countersets in shared memory. */
#include "engine/pdh/counterset_object.h"

#include "engine/os/clock.h"
#include "engine/os/hash.h"
#include "engine/os/memory.h"
#include "engine/os/text.h"
#include "engine/pdh/counterset_share.h"

#include <stdatomic.h>
#include <string.h>

struct counterset_object {
    struct provider provider; /* first */
    struct countersets *countersets;
    GUID guid;
    struct counter_schema *schemas;
    uint32_t *places; /* per value of a row: its place among an instance's values */
};

struct countersets {
    struct counterset_views views;
    struct counterset_object **objects;
    size_t count, capacity;
    bool used;
};

struct counterset_sample {
    const struct counterset_record **instances;
    size_t capacity;
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

static int64_t value_at(const struct counterset_record *r, uint32_t place)
{
    return atomic_load((const _Atomic int64_t *)&counterset_values(r)[place]);
}

/* The live instances of the counterset, of all providers. */
static HRESULT find_instances(const struct counterset_object *co, struct counterset_sample *s, size_t *count)
{
    const struct counterset_views *views = &co->countersets->views;
    *count = 0;
    for (size_t i = 0; i < views->count; i++) {
        const struct counterset_view *v = &views->items[i];
        for (const struct counterset_record *r = NULL; (r = counterset_next(v, r));) {
            if (r->kind != COUNTERSET_KIND_INSTANCE || !counterset_is_live(r))
                continue;
            const struct counterset_record *set = counterset_of(v, r);
            if (!set || !guid_equal(&set->guid, &co->guid) || r->count < co->provider.value_count)
                continue;
            void *instances = s->instances;
            if (!memory_grow(&instances, &s->capacity, *count + 1, sizeof *s->instances))
                return E_OUTOFMEMORY;
            s->instances = instances;
            s->instances[(*count)++] = r;
        }
    }
    return S_OK;
}

static uint64_t hash_names(const struct counterset_sample *s, size_t count)
{
    uint64_t h = HASH_START;
    for (size_t i = 0; i < count; i++) {
        for (size_t n = 0; n < COUNTERSET_INSTANCE_BYTES && s->instances[i]->name[n]; n++)
            h = hash_number(h, (uint8_t)s->instances[i]->name[n]);
        h = hash_number(h, s->instances[i]->id ^ 0x100);
    }
    return h;
}

static HRESULT name_instances(struct counter_object *o, const struct counterset_sample *s, size_t count)
{
    char **names = memory_zero(count, sizeof *names);
    uint64_t *keys = memory_zero(count, sizeof *keys);
    bool ok = names && keys;
    for (size_t i = 0; ok && i < count; i++) {
        const char *name = s->instances[i]->name;
        const char *end = memchr(name, 0, COUNTERSET_INSTANCE_BYTES);
        names[i] = text_copy_n(name, end ? (size_t)(end - name) : 0);
        keys[i] = s->instances[i]->id;
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
    if (SUCCEEDED(hr) && !co->provider.has_instances && count > 1)
        count = 1;
    if (SUCCEEDED(hr))
        hr = counter_object_set_rows(o, count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        int64_t *row = counter_object_row(o, i);
        for (uint32_t n = 0; n < co->provider.value_count; n++)
            row[n] = value_at(s->instances[i], co->places[n]);
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
    memory_free(((struct counterset_sample *)o->state)->instances);
}

/* The counters that are shown first, the bases behind them; a fraction's base is the next counter of its set. */
static HRESULT make_counters(struct counterset_object *co, const struct counterset_record *set)
{
    const struct counterset_counter *counters = counterset_counters(set);
    uint32_t count = set->count, shown = 0, behind = 0;
    co->schemas = memory_zero(count, sizeof *co->schemas);
    co->places = memory_zero(count, sizeof *co->places);
    if (!co->schemas || !co->places)
        return E_OUTOFMEMORY;
    for (uint32_t i = 0; i < count; i++)
        behind += !is_base(counters[i].type);
    co->provider.counters = co->schemas;
    for (uint32_t i = 0; i < count; i++) {
        if (is_base(counters[i].type)) {
            if (shown)
                co->schemas[shown - 1].base = behind;
            co->places[behind++] = i;
            continue;
        }
        const char *end = memchr(counters[i].name, 0, COUNTERSET_NAME_BYTES);
        char *name = text_copy_n(counters[i].name, end ? (size_t)(end - counters[i].name) : 0);
        if (!name)
            return E_OUTOFMEMORY;
        co->schemas[shown] = (struct counter_schema){.name = name,
                                                     .help = "",
                                                     .type = counters[i].type,
                                                     .detail = counters[i].detail,
                                                     .scale = counters[i].scale};
        co->places[shown++] = i;
        co->provider.counter_count = shown;
    }
    /* A fraction without a base would divide by another counter. */
    for (uint32_t i = 0; i < shown; i++) {
        bool fraction =
            (co->schemas[i].type & PERF_TYPE_COUNTER) && (co->schemas[i].type & 0x00070000) == PERF_COUNTER_FRACTION;
        if (fraction && !co->schemas[i].base)
            return S_FALSE;
    }
    co->provider.value_count = count;
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
    const char *end = memchr(set->name, 0, COUNTERSET_INSTANCE_BYTES);
    co->countersets = s;
    co->guid = set->guid;
    co->provider = (struct provider){.name = text_copy_n(set->name, end ? (size_t)(end - set->name) : 0),
                                     .help = "",
                                     .has_instances = !set->single,
                                     .at_once = true,
                                     .sample = sample,
                                     .state_size = sizeof(struct counterset_sample),
                                     .close = close_sample};
    HRESULT hr = co->provider.name ? make_counters(co, set) : E_OUTOFMEMORY;
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
        const struct counterset_view *v = &s->views.items[i];
        for (const struct counterset_record *r = NULL; SUCCEEDED(hr) && (r = counterset_next(v, r));)
            if (r->kind == COUNTERSET_KIND_SET && counterset_is_live(r) && !is_known(s, &r->guid))
                hr = add_object(s, r, c);
    }
    return FAILED(hr) ? hr : S_OK;
}
