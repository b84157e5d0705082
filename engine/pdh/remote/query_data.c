/* SPDX-License-Identifier: MIT */
/* The values of a query's counters (MS-PCQ 3.1.4.1.6). */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/pdh/remote/queries.h"

struct sample {
    const struct pcq_query *query;
    struct pcq_set *sets; /* of the query's counters, in their order; one without members has its status in `errors` */
    DWORD *errors;
    struct source_time time;
};

static void write_value(struct block_writer *w, const struct counter_object *o, size_t row, const struct pcq_member *m)
{
    uint64_t value;
    bool large = (m->type & PERF_SIZE_LARGE) != 0;
    struct pcq_value head = {.data_size = large ? 8 : 4, .size = sizeof head + 8};
    if (!pcq_member_value(o, row, m, &value))
        head = (struct pcq_value){.size = sizeof head};
    block_put(w, &head, sizeof head);
    if (head.data_size) {
        value = large ? value : (uint32_t)value;
        block_put(w, &value, sizeof value);
    }
}

static void write_ids(struct block_writer *w, const struct pcq_members *members)
{
    uint32_t count = (uint32_t)members->count;
    block_put(w, &(struct pcq_counters){(uint32_t)sizeof(struct pcq_counters) + 4 * count, count},
              sizeof(struct pcq_counters));
    for (size_t i = 0; i < members->count; i++)
        block_put(w, &members->items[i].id, sizeof members->items[i].id);
}

/* The values of one row: of the one counter, or of all. */
static void write_row(struct block_writer *w, const struct pcq_counter *c, const struct pcq_set *set, size_t row)
{
    for (size_t i = 0; i < set->members->count; i++)
        if (c->all_counters || set->members->items[i].id == c->id) {
            write_value(w, set->object, row, &set->members->items[i]);
            if (!c->all_counters)
                return;
        }
}

static void write_instances(struct block_writer *w, const struct pcq_counter *c, const struct pcq_set *set)
{
    size_t from = w->size;
    uint32_t count = 0;
    const struct instance_list *list = set->object->instances;
    block_put(w, &(struct pcq_instances){0}, sizeof(struct pcq_instances));
    for (size_t i = 0; list && i < list->count && block_goes_on(w); i++) {
        const struct instance *one = &list->items[i];
        if ((c->instance != PCQ_ANY && c->instance != pcq_instance_id(one)) || !text_matches(c->name, one->name))
            continue;
        block_put_instance(w, one);
        write_row(w, c, set, i);
        count++;
    }
    block_set_number(w, from + offsetof(struct pcq_instances, size), (uint32_t)(w->size - from));
    block_set_number(w, from + offsetof(struct pcq_instances, instances), count);
}

/* A single value that is not there is an error. */
static DWORD look_at_one(const struct pcq_counter *c, const struct pcq_set *set, size_t row)
{
    uint64_t value;
    const struct pcq_member *m = pcq_member_find(set->members, c->id);
    if (!m)
        return PCQ_ITEM_NOT_FOUND;
    return pcq_member_value(set->object, row, m, &value) ? ERROR_SUCCESS : ERROR_INVALID_DATA;
}

static void write_block(struct block_writer *w, const struct sample *s, size_t i)
{
    const struct pcq_counter *c = &s->query->counters[i];
    const struct pcq_set *set = &s->sets[i];
    struct pcq_block head = {.status = s->errors[i]};
    size_t from = w->size, row = 0;
    if (head.status == ERROR_SUCCESS && !c->all_instances) {
        row = set->object->provider->has_instances ? pcq_row_find(c, set->object) : 0;
        head.status = row >= set->object->rows ? ERROR_PATH_NOT_FOUND
                      : c->all_counters        ? ERROR_SUCCESS
                                               : look_at_one(c, set, row);
    }
    if (head.status == ERROR_SUCCESS)
        head.kind = c->all_counters    ? c->all_instances ? PCQ_COUNTERSET : PCQ_MULTI_COUNTERS
                    : c->all_instances ? PCQ_MULTI_INSTANCES
                                       : PCQ_SINGLE_COUNTER;
    block_put(w, &head, sizeof head);
    if (head.kind == PCQ_MULTI_COUNTERS || head.kind == PCQ_COUNTERSET)
        write_ids(w, set->members);
    if (head.kind != PCQ_ERROR && c->all_instances)
        write_instances(w, c, set);
    else if (head.kind != PCQ_ERROR)
        write_row(w, c, set, row);
    block_pad(w, from);
    block_set_number(w, from + offsetof(struct pcq_block, size), (uint32_t)(w->size - from));
}

static void write_data(struct block_writer *w, const void *what)
{
    const struct sample *s = what;
    struct calendar_time t = clock_calendar(s->time.utc);
    struct pcq_data head = {.counters = (uint32_t)s->query->count,
                            .ticks = (uint64_t)s->time.ticks,
                            .utc = (uint64_t)s->time.utc,
                            .frequency = (uint64_t)clock_frequency(),
                            .system = {(uint16_t)t.year, (uint16_t)t.month, (uint16_t)t.weekday, (uint16_t)t.day,
                                       (uint16_t)t.hour, (uint16_t)t.minute, (uint16_t)t.second,
                                       (uint16_t)t.millisecond}};
    block_put(w, &head, sizeof head);
    for (size_t i = 0; i < s->query->count && block_goes_on(w); i++)
        write_block(w, s, i);
    block_set_number(w, offsetof(struct pcq_data, size), (uint32_t)w->size);
}

/* What the counter needs of its object. */
static uint64_t wanted_by(const struct pcq_counter *c, const struct pcq_set *set)
{
    const struct pcq_member *m = c->all_counters ? NULL : pcq_member_find(set->members, c->id);
    return m ? OBJECT_BIT(m->counter) : UINT64_MAX;
}

/* One use for each object, however many counters want it. False: out of memory. */
static bool sample_all(struct sample *s)
{
    const struct pcq_query *q = s->query;
    size_t objects = q->server->query->catalogue->count, count = 0;
    struct counter_object_use *uses = memory_zero(objects, sizeof *uses);
    if (!uses)
        return false;
    for (size_t i = 0; i < q->count; i++)
        if (s->errors[i] == ERROR_SUCCESS) {
            uses[s->sets[i].position].object = s->sets[i].object;
            uses[s->sets[i].position].wanted |= wanted_by(&q->counters[i], &s->sets[i]);
        }
    for (size_t i = 0; i < objects; i++)
        if (uses[i].object)
            uses[count++] = uses[i];
    pcq_sets_sample(q->server, uses, count);
    s->time = (struct source_time){clock_utc(), clock_ticks()};
    for (size_t i = 0; i < count; i++)
        if (SUCCEEDED(uses[i].object->result) && uses[i].object->time.utc < s->time.utc)
            s->time = uses[i].object->time;
    memory_free(uses);
    return true;
}

/* Finds the sets before the sample and their members, which it may change, after it. */
static void look_at_sets(struct sample *s, bool after)
{
    const struct pcq_query *q = s->query;
    for (size_t i = 0; i < q->count; i++) {
        HRESULT hr =
            after && s->errors[i] != ERROR_SUCCESS ? S_OK : pcq_set_at(q->server, q->counters[i].position, &s->sets[i]);
        if (hr == S_OK && after && s->errors[i] == ERROR_SUCCESS && FAILED(s->sets[i].object->result))
            s->errors[i] = pcq_error_of(s->sets[i].object->result);
        else if (hr != S_OK)
            s->errors[i] = FAILED(hr) ? PCQ_OUT_OF_MEMORY : PCQ_GUID_NOT_FOUND;
    }
}

DWORD pcq_query_data(struct pcq_query *q, struct pcq_buffer *out)
{
    struct sample s = {.query = q};
    out->written = out->needed = 0;
    query_enter(q->server->query);
    s.sets = memory_zero(q->count, sizeof *s.sets);
    s.errors = memory_zero(q->count, sizeof *s.errors);
    DWORD error = PCQ_OUT_OF_MEMORY;
    if (s.sets && s.errors) {
        look_at_sets(&s, false);
        if (sample_all(&s)) {
            look_at_sets(&s, true);
            error = block_deliver(out, 1, write_data, &s);
        }
    }
    query_leave(q->server->query);
    memory_free(s.sets);
    memory_free(s.errors);
    return error;
}
