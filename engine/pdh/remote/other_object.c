/* SPDX-License-Identifier: MIT */
/* Objects out of what another computer answers. Its values are kept as they came: a rate is told in its clock, while
   the time of a sample is ours, as of all objects in a log. */
#include "engine/pdh/remote/other_object.h"

#include "engine/base/clock.h"
#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "engine/pdh/formula.h"
#include "engine/pdh/remote/other_query.h"

#include <string.h>

/* Of one object. Nobody has more; who claims to costs itself. */
#define MOST_INSTANCES 32768u
#define MOST_IDS       8192u
#define MOST_VALUES    (4u << 20) /* of all its instances */

/* What one catalogue has of one computer. */
struct machine {
    struct other_query *query;
    size_t known; /* of the computer's sets: those that are objects here, or could not become any */
};

struct other_object {
    struct provider provider; /* first */
    struct other_query *query;
    struct other_set *set;
};

struct other_objects {
    struct machine *machines;
    size_t count, capacity;
    struct other_object **objects;
    size_t object_count, object_capacity;
};

/* What an object keeps of its last sample. */
struct other_sample {
    bool open;
    int64_t ticks, utc;                /* the host's */
    struct answer_instance *instances; /* names borrowed of the answer */
    uint32_t *places;                  /* the column of each value that the answer's rows have */
    size_t instance_capacity, place_capacity;
    uint64_t names; /* hash of the instances */
};

static HRESULT not_valid(void)
{
    return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
}

static void close_sample(struct counter_object *o)
{
    struct other_sample *s = o->state;
    memory_free(s->instances);
    memory_free(s->places);
}

/* The name may hold its parent's, "parent/name"; what ends an instance in a path may be in none. */
static void make_safe(char *name)
{
    if (strpbrk(name, "()\\"))
        instance_name_make_safe(name);
}

static HRESULT make_list(struct counter_object *o, size_t count)
{
    const struct other_sample *s = o->state;
    char **names = memory_zero(count, sizeof *names);
    uint64_t *keys = memory_zero(count, sizeof *keys);
    HRESULT hr = names && keys ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        hr = answer_text_copy(s->instances[i].name, &names[i]);
        keys[i] = s->instances[i].id;
        if (SUCCEEDED(hr))
            make_safe(names[i]);
    }
    struct instance_list *list =
        SUCCEEDED(hr) ? instance_list_create_ready(count, (const char *const *)names, keys) : NULL;
    if (list)
        counter_object_set_instances(o, list);
    else if (SUCCEEDED(hr))
        hr = E_OUTOFMEMORY;
    for (size_t i = 0; names && i < count; i++)
        memory_free(names[i]);
    memory_free(names);
    memory_free(keys);
    return hr;
}

/* Another list only where there are other instances: who reads values by their positions keeps them then. */
static HRESULT name_instances(struct counter_object *o, size_t count)
{
    struct other_sample *s = o->state;
    uint64_t names = HASH_START;
    for (size_t i = 0; i < count; i++) {
        const struct answer_text name = s->instances[i].name;
        names = hash_number(hash_bytes(names, name.at, name.units * 2), s->instances[i].id);
    }
    if (o->instances && names == s->names)
        return S_OK;
    HRESULT hr = make_list(o, count);
    s->names = SUCCEEDED(hr) ? names : 0;
    return hr;
}

static bool room_for_instance(struct other_sample *s, size_t count)
{
    void *instances = s->instances;
    bool room = memory_grow(&instances, &s->instance_capacity, count, sizeof *s->instances);
    s->instances = instances;
    return room;
}

/* Opened for a list or an expansion, of which most are closed without a sample: what it is called and which instances
   it has now costs the host less than values. */
static HRESULT open_object(struct counter_object *o, struct other_object *object)
{
    struct other_sample *s = o->state;
    struct answer_place place = {0};
    struct other_set *set = object->set;
    HRESULT hr = other_query_describe(object->query, set, &place);
    if (FAILED(hr))
        return hr;
    object->provider.help = set->help;
    object->provider.has_instances = set->has_instances;
    object->provider.counters = set->schemas;
    object->provider.counter_count = set->shown;
    object->provider.value_count = set->count;
    size_t count = 0;
    struct answer_instance instance;
    while (set->has_instances && count < MOST_INSTANCES && place.at && answer_next_instance(&place, &instance)) {
        if (!room_for_instance(s, count + 1))
            return E_OUTOFMEMORY;
        s->instances[count++] = instance;
    }
    hr = set->has_instances ? name_instances(o, count) : S_OK;
    s->open = SUCCEEDED(hr);
    return hr; /* without rows until values come */
}

static HRESULT find_places(struct other_sample *s, const struct other_set *set, const struct answer_block *b)
{
    void *places = s->places;
    if (!b->ids || b->counters > MOST_IDS)
        return not_valid();
    bool room = memory_grow(&places, &s->place_capacity, b->counters, sizeof *s->places);
    s->places = places;
    for (size_t i = 0; room && i < b->counters; i++)
        s->places[i] = other_set_column(set, answer_block_id(b, i), (uint32_t)i);
    return room ? S_OK : E_OUTOFMEMORY;
}

static int64_t combine(int64_t sum, int64_t value, uint32_t function)
{
    if (sum == VALUE_ABSENT)
        return value;
    if (function == AGGREGATE_MINIMUM)
        return value < sum ? value : sum;
    if (function == AGGREGATE_MAXIMUM)
        return value > sum ? value : sum;
    return (int64_t)((uint64_t)sum + (uint64_t)value);
}

/* One row of the answer into one of ours. False: the answer ends within it. */
static bool read_row(const struct other_sample *s, const struct other_set *set, struct answer_block *b, int64_t *row)
{
    for (size_t i = 0; i < b->counters; i++) {
        struct answer_value v;
        if (!answer_next_value(&b->values, &v))
            return false;
        uint32_t at = s->places[i];
        if (v.present && at != OTHER_NO_COLUMN)
            row[at] = set->is_aggregate ? combine(row[at], v.value, set->functions[at]) : v.value;
    }
    return true;
}

static HRESULT read_rows(struct counter_object *o, const struct other_set *set, struct answer_block *b)
{
    struct other_sample *s = o->state;
    size_t rows = b->rows < MOST_INSTANCES ? b->rows : MOST_INSTANCES, count = 0;
    if (rows > MOST_VALUES / set->count || (set->has_instances && !b->named))
        return not_valid();
    HRESULT hr = counter_object_set_rows(o, set->has_instances ? rows : 1);
    for (; SUCCEEDED(hr) && count < rows; count++) {
        if (!room_for_instance(s, count + 1))
            return E_OUTOFMEMORY;
        if (b->named && !answer_next_instance(&b->values, &s->instances[count]))
            return not_valid();
        if (!read_row(s, set, b, counter_object_row(o, set->has_instances ? count : 0)))
            return not_valid();
        if (!set->has_instances && !set->is_aggregate)
            break;
    }
    for (uint32_t i = 0; SUCCEEDED(hr) && set->is_aggregate && count && i < set->count; i++)
        if (set->functions[i] == AGGREGATE_AVERAGE && *(counter_object_row(o, 0) + i) != VALUE_ABSENT)
            *(counter_object_row(o, 0) + i) /= (int64_t)count;
    return SUCCEEDED(hr) && set->has_instances ? name_instances(o, count) : hr;
}

/* Why there are no values, as PDH says it: of a host that is not there, or that is not to be talked with. */
static HRESULT reason(HRESULT hr)
{
    const HRESULT denied = HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY || hr == not_valid())
        return hr;
    return hr == denied ? (HRESULT)PDH_ACCESS_DENIED : (HRESULT)PDH_CSTATUS_NO_MACHINE;
}

static HRESULT sample(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)source;
    (void)wanted;
    struct other_object *object = (struct other_object *)o->provider;
    struct other_sample *s = o->state;
    struct pcq_data head;
    struct answer_block block;
    o->present = UINT64_MAX;
    o->time = (struct source_time){clock_utc(), clock_ticks()};
    if (!s->open)
        return reason(open_object(o, object));
    HRESULT hr = other_query_values(object->query, object->set, &head, &block);
    o->time = (struct source_time){clock_utc(), clock_ticks()};
    if (SUCCEEDED(hr))
        hr = find_places(s, object->set, &block);
    if (SUCCEEDED(hr))
        hr = read_rows(o, object->set, &block);
    if (SUCCEEDED(hr)) {
        s->ticks = (int64_t)head.ticks;
        s->utc = (int64_t)head.utc;
    }
    return reason(hr);
}

static int64_t value_at(const int64_t *row, uint32_t column, int64_t otherwise)
{
    return column == OTHER_NO_COLUMN || row[column] == VALUE_ABSENT ? otherwise : row[column];
}

static bool is_in_units(DWORD type)
{
    return (type & (PERF_TIMER_100NS | PERF_OBJECT_TIMER)) != 0;
}

#define UNITS 10000000 /* 100 ns */

static int64_t in_units(int64_t ticks, int64_t frequency)
{
    return (int64_t)((double)ticks / (double)frequency * UNITS);
}

static void raw(const struct counter_object *o, size_t row, uint32_t counter, PDH_RAW_COUNTER *out)
{
    const struct other_sample *s = o->state;
    const struct other_set *set = ((const struct other_object *)o->provider)->set;
    const struct counter_schema *c = &set->schemas[counter];
    const struct other_columns *columns = &set->columns[counter];
    const int64_t *values = o->values + row * set->count;
    if (values[counter] == VALUE_ABSENT)
        return;
    out->CStatus = PDH_CSTATUS_VALID_DATA;
    out->FirstValue = values[counter];
    out->MultiCount = (DWORD)value_at(values, columns->multi, 1);
    if (formula_is_fraction(c->type))
        out->SecondValue = value_at(values, c->base, 0);
    else if (c->type & PERF_TYPE_COUNTER)
        out->SecondValue = value_at(values, columns->time, is_in_units(c->type) ? s->utc : s->ticks);
    /* A clock of the counter's own: both are told in the ticks that PDH takes such a clock to have. */
    int64_t frequency = value_at(values, columns->frequency, 0);
    if (frequency > 0 && frequency != UNITS && c->type & PERF_OBJECT_TIMER) {
        out->FirstValue = in_units(out->FirstValue, frequency);
        out->SecondValue = in_units(out->SecondValue, frequency);
    }
}

static int64_t time_base(const struct counter_object *o, uint32_t counter)
{
    const struct other_object *object = (const struct other_object *)o->provider;
    const DWORD type = object->set->schemas[counter].type;
    const int64_t host = other_query_frequency(object->query);
    return host > 0 && !is_in_units(type) ? host : formula_time_base(type);
}

static void free_objects(struct other_objects *all)
{
    for (size_t i = 0; i < all->object_count; i++)
        memory_free(all->objects[i]);
    for (size_t i = 0; i < all->count; i++)
        other_query_close(all->machines[i].query);
    memory_free(all->objects);
    memory_free(all->machines);
    memory_free(all);
}

static HRESULT add_object(struct other_objects *all, struct machine *m, struct other_set *set, struct catalogue *c)
{
    struct other_object *object = memory_zero(1, sizeof *object);
    void *objects = all->objects;
    bool room = memory_grow(&objects, &all->object_capacity, all->object_count + 1, sizeof *all->objects);
    all->objects = objects;
    if (!object || !room) {
        memory_free(object);
        return E_OUTOFMEMORY;
    }
    object->query = m->query;
    object->set = set;
    object->provider = (struct provider){.name = set->name,
                                         .help = "",
                                         .machine = other_computer_name(other_query_computer(m->query)),
                                         .at_once = true,
                                         .sample = sample,
                                         .raw = raw,
                                         .time_base = time_base,
                                         .state_size = sizeof(struct other_sample),
                                         .close = close_sample};
    if (!catalogue_add(c, &object->provider)) {
        memory_free(object);
        return E_OUTOFMEMORY;
    }
    all->objects[all->object_count++] = object;
    return S_OK;
}

static struct machine *find_machine(struct other_objects *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (text_equal_nocase(other_computer_name(other_query_computer(all->machines[i].query)), name))
            return &all->machines[i];
    return NULL;
}

static HRESULT add_machine(struct other_objects *all, const char *name, struct machine **out)
{
    void *machines = all->machines;
    bool room = memory_grow(&machines, &all->capacity, all->count + 1, sizeof *all->machines);
    all->machines = machines;
    struct machine m = {0};
    HRESULT hr = room ? other_query_open(name, &m.query) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        all->machines[all->count] = m;
        *out = &all->machines[all->count++];
    }
    return hr;
}

/* A catalogue that has met the host asks it anew only where it is to look again. */
static PDH_STATUS connect(struct other_objects **all, const char *machine, bool look_again, struct catalogue *c)
{
    if (!*all)
        *all = memory_zero(1, sizeof **all);
    if (!*all)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    struct machine *m = find_machine(*all, machine);
    HRESULT hr = S_OK;
    if (!m)
        hr = add_machine(*all, machine, &m);
    if (SUCCEEDED(hr) && (look_again || !m->known))
        hr = other_query_list(m->query);
    struct other_set *set;
    while (SUCCEEDED(hr) && (set = other_computer_set(other_query_computer(m->query), m->known))) {
        hr = add_object(*all, m, set, c);
        m->known += SUCCEEDED(hr);
    }
    if (hr == HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED))
        return PDH_ACCESS_DENIED;
    return pdh_status_of(hr, PDH_CSTATUS_NO_MACHINE);
}

/* All hosts are asked before the first one is waited for. */
static void begin(struct other_objects *all)
{
    for (size_t i = 0; i < all->count; i++)
        other_query_begin(all->machines[i].query);
}

const struct catalogue_others other_objects_of_catalogues = {.connect = connect, .begin = begin, .close = free_objects};
