/* SPDX-License-Identifier: MIT */
/* Queries of MS-PCQ clients: their counters (3.1.4.1.4, 3.1.4.1.5, 3.1.4.1.8) and values (3.1.4.1.6). pcq_server.c
   describes the server and its limits. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pdh/remote/pcq_internal.h"

#include <string.h>

/* Maximum per call. A million identifiers that all fail would keep the lock for a long time. */
#define MOST_IDENTIFIERS 65536
#define MOST_NAME        1024 /* maximum UTF-16 units of an instance's name, like PDH_MAX_INSTANCE_NAME */

static size_t queries_of(const struct pcq_server *s, const char *client)
{
    size_t count = 0;
    for (const struct pcq_query *q = s->queries; q; q = q->next)
        count += strcmp(q->client, client) == 0;
    return count;
}

DWORD pcq_open_query(struct pcq_server *s, const char *client, struct pcq_query **out)
{
    struct pcq_query *q = memory_zero(1, sizeof *q);
    char *name = text_copy(client);
    *out = NULL;
    if (!q || !name) {
        memory_free(q);
        memory_free(name);
        return PCQ_OUT_OF_MEMORY;
    }
    query_enter(s->query);
    bool room = s->query_count < PCQ_QUERIES && queries_of(s, client) < PCQ_QUERIES_OF_CLIENT;
    if (room) {
        *q = (struct pcq_query){.server = s, .client = name, .next = s->queries};
        s->queries = *out = q;
        s->query_count++;
    }
    query_leave(s->query);
    if (!room) {
        memory_free(q);
        memory_free(name);
    }
    return room ? ERROR_SUCCESS : PCQ_NO_RESOURCES;
}

static void remove_counter(struct pcq_query *q, size_t at)
{
    q->name_bytes -= strlen(q->counters[at].name);
    memory_free(q->counters[at].name);
    memmove(q->counters + at, q->counters + at + 1, (q->count - at - 1) * sizeof *q->counters);
    q->count--;
}

void pcq_close_query(struct pcq_query *q)
{
    if (!q)
        return;
    struct pcq_server *s = q->server;
    query_enter(s->query);
    struct pcq_query **at = &s->queries;
    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
    s->query_count--;
    query_leave(s->query);
    while (q->count)
        remove_counter(q, q->count - 1);
    memory_free(q->counters);
    memory_free(q->client);
    memory_free(q);
}

/* ---- identifiers ---- */

/* Returns true if all blocks are within the bytes. */
static bool blocks_fit(const uint8_t *bytes, size_t size)
{
    if (size < sizeof(struct pcq_identifier))
        return false;
    for (size_t at = 0; at < size;) {
        struct pcq_identifier id;
        if (size - at < sizeof id)
            return false;
        memcpy(&id, bytes + at, sizeof id);
        if (id.size < sizeof id || id.size > size - at)
            return false;
        at += id.size;
    }
    return true;
}

/* Reads the name after the identifier. Fails with ERROR_INVALID_PARAMETER if the name does not end within the block, is
   too long or is invalid UTF-16. */
static DWORD name_of(const uint8_t *block, size_t size, char **out)
{
    WCHAR name[MOST_NAME];
    size_t units = 0, room = (size - sizeof(struct pcq_identifier)) / sizeof(uint16_t);
    bool ended = room == 0; /* a counterset without instances needs no name */
    while (!ended && units < room && units < MOST_NAME) {
        uint16_t unit;
        memcpy(&unit, block + sizeof(struct pcq_identifier) + units * sizeof unit, sizeof unit);
        ended = unit == 0;
        if (!ended)
            name[units++] = unit;
    }
    *out = NULL;
    if (!ended)
        return ERROR_INVALID_PARAMETER;
    HRESULT hr = text_from_utf16(name, units, false, out);
    return SUCCEEDED(hr) ? ERROR_SUCCESS : hr == E_OUTOFMEMORY ? PCQ_OUT_OF_MEMORY : ERROR_INVALID_PARAMETER;
}

static bool is_pattern(const char *name)
{
    return strpbrk(name, "*?") != NULL;
}

/* Returns the row of the requested instance in the object's last sample; SIZE_MAX if the instance does not exist. */
static size_t pcq_row_find(const struct pcq_counter *c, const struct counter_object *o)
{
    size_t row = instance_list_find(o->instances, c->name);
    bool is_it =
        row != SIZE_MAX && (c->instance == PCQ_ANY || pcq_instance_id(&o->instances->items[row]) == c->instance);
    return is_it ? row : SIZE_MAX;
}

/* Hashes the members that identify a counter. Counters of countersets without instances have the name "". */
static uint64_t hash_of(const struct pcq_counter *c)
{
    uint64_t h = hash_bytes(HASH_START, &c->guid, sizeof c->guid);
    h = hash_number(hash_number(h, c->id), c->instance);
    return hash_number(h, text_hash_nocase(c->name));
}

static size_t find_counter(const struct pcq_query *q, const struct pcq_counter *c)
{
    size_t i = 0;
    while (i < q->count &&
           (q->counters[i].hash != c->hash || q->counters[i].id != c->id || q->counters[i].instance != c->instance ||
            !guid_equal(&q->counters[i].guid, &c->guid) || !text_equal_nocase(q->counters[i].name, c->name)))
        i++;
    return i;
}

/* The countersets that this call already sampled to find unknown instances. All other clients wait during such a
   sample. With this list, a call with many invalid names takes one sample per counterset instead of one sample per
   name. */
struct sampled {
    size_t *positions;
    size_t count, capacity;
};

/* Finds the instance, if necessary after a new sample. */
static DWORD find_row_by_name(struct pcq_server *s, const struct pcq_counter *c, const struct pcq_set *set,
                              struct sampled *sampled)
{
    size_t i = 0;
    if (pcq_row_find(c, set->object) != SIZE_MAX)
        return ERROR_SUCCESS;
    while (i < sampled->count && sampled->positions[i] != set->position)
        i++;
    if (i < sampled->count)
        return ERROR_PATH_NOT_FOUND;
    void *positions = sampled->positions;
    bool ok = memory_grow(&positions, &sampled->capacity, sampled->count + 1, sizeof *sampled->positions);
    sampled->positions = positions;
    if (!ok)
        return PCQ_OUT_OF_MEMORY;
    sampled->positions[sampled->count++] = set->position;
    pcq_sets_sample(s, &(struct counter_object_use){set->object, OBJECT_BIT(0)}, 1);
    return pcq_row_find(c, set->object) == SIZE_MAX ? ERROR_PATH_NOT_FOUND : ERROR_SUCCESS;
}

/* Adds the counter to the query. Takes ownership of c->name on success. */
static DWORD add_counter(struct pcq_query *q, struct pcq_counter *c, struct sampled *sampled)
{
    struct pcq_server *s = q->server;
    struct pcq_set set;
    if (q->count >= PCQ_COUNTERS_OF_QUERY || q->name_bytes + strlen(c->name) > PCQ_NAMES_OF_QUERY)
        return PCQ_OUT_OF_MEMORY;
    DWORD error = pcq_set_find(s, &c->guid, &set);
    if (error != ERROR_SUCCESS)
        return error;
    const struct counter_object_type *p = set.object->type;
    if (c->id != PCQ_ANY && !pcq_member_find(set.members, c->id))
        return PCQ_ITEM_NOT_FOUND;
    if (!p->has_instances) {
        *c->name = 0;
        c->instance = 0;
    }
    c->hash = hash_of(c);
    if (find_counter(q, c) < q->count)
        return ERROR_ALREADY_EXISTS;
    c->position = set.position;
    c->all_counters = c->id == PCQ_ANY;
    c->all_instances = p->has_instances && is_pattern(c->name);
    error = p->has_instances && !c->all_instances ? find_row_by_name(s, c, &set, sampled) : ERROR_SUCCESS;
    if (error != ERROR_SUCCESS)
        return error;
    void *items = q->counters;
    bool ok = memory_grow(&items, &q->capacity, q->count + 1, sizeof *q->counters);
    q->counters = items;
    if (!ok)
        return PCQ_OUT_OF_MEMORY;
    q->counters[q->count++] = *c;
    q->name_bytes += strlen(c->name);
    c->name = NULL;
    return ERROR_SUCCESS;
}

static DWORD delete_counter(struct pcq_query *q, struct pcq_counter *c)
{
    c->hash = hash_of(c);
    size_t at = find_counter(q, c);
    if (at == q->count) { /* without instances the name and number are ignored */
        *c->name = 0;
        c->instance = 0;
        c->hash = hash_of(c);
        at = find_counter(q, c);
    }
    if (at == q->count)
        return ERROR_INVALID_PARAMETER;
    remove_counter(q, at);
    return ERROR_SUCCESS;
}

static DWORD validate_counter(struct pcq_query *q, const uint8_t *block, const struct pcq_identifier *id, bool add,
                              struct sampled *sampled)
{
    struct pcq_counter c = {.guid = id->guid, .id = id->counter, .instance = id->instance};
    DWORD error = name_of(block, id->size, &c.name);
    if (error == ERROR_SUCCESS)
        error = add ? add_counter(q, &c, sampled) : delete_counter(q, &c);
    memory_free(c.name);
    return error;
}

DWORD pcq_validate_counters(struct pcq_query *q, void *data, uint32_t size, bool add)
{
    uint8_t *bytes = data;
    struct sampled sampled = {0};
    if (!blocks_fit(bytes, size))
        return ERROR_INVALID_PARAMETER;
    query_enter(q->server->query);
    for (size_t at = 0, count = 0; at < size; count++) {
        struct pcq_identifier id;
        memcpy(&id, bytes + at, sizeof id);
        id.status = count < MOST_IDENTIFIERS ? validate_counter(q, bytes + at, &id, add, &sampled) : PCQ_OUT_OF_MEMORY;
        memcpy(bytes + at + offsetof(struct pcq_identifier, status), &id.status, sizeof id.status);
        at += id.size;
    }
    query_leave(q->server->query);
    memory_free(sampled.positions);
    return ERROR_SUCCESS;
}

static void write_identifiers(struct block_writer *w, const void *what)
{
    const struct pcq_query *q = what;
    for (size_t i = 0; i < q->count; i++) {
        const struct pcq_counter *c = &q->counters[i];
        size_t from = w->size;
        block_put(
            w,
            &(struct pcq_identifier){.guid = c->guid, .counter = c->id, .instance = c->instance, .index = (uint32_t)i},
            sizeof(struct pcq_identifier));
        block_put_text(w, c->name);
        block_pad(w, from);
        block_set_number(w, from + offsetof(struct pcq_identifier, size), (uint32_t)(w->size - from));
    }
}

DWORD pcq_query_info(struct pcq_query *q, struct pcq_buffer *out)
{
    query_enter(q->server->query);
    DWORD error = block_deliver(out, 1, write_identifiers, q);
    query_leave(q->server->query);
    return error;
}

/* ---- values ---- */

struct sample {
    const struct pcq_query *query;
    struct pcq_set *sets; /* one for each counter of the query; `errors`: status of counters without a counterset */
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

/* Writes the row's values of one counter, or of all counters. */
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

/* Returns the status of one value. A missing value is an error here, because only this value is requested. */
static DWORD sample_one_counter(const struct pcq_counter *c, const struct pcq_set *set, size_t row)
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
        row = set->object->type->has_instances ? pcq_row_find(c, set->object) : 0;
        head.status = row >= set->object->rows ? ERROR_PATH_NOT_FOUND
                      : c->all_counters        ? ERROR_SUCCESS
                                               : sample_one_counter(c, set, row);
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

/* Returns the counters that must be sampled, as OBJECT_BITs. */
static uint64_t wanted_by(const struct pcq_counter *c, const struct pcq_set *set)
{
    const struct pcq_member *m = c->all_counters ? NULL : pcq_member_find(set->members, c->id);
    return m ? OBJECT_BIT(m->counter) : UINT64_MAX;
}

/* Samples each object once, with all values that the query's counters need. False if memory runs out. */
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

/* Finds the countersets before the sample. After the sample, finds the members of these countersets again, because the
   sample may have changed the members. */
static void sample_sets(struct sample *s, bool after)
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
        sample_sets(&s, false);
        if (sample_all(&s)) {
            sample_sets(&s, true);
            error = block_deliver(out, 1, write_data, &s);
        }
    }
    query_leave(q->server->query);
    memory_free(s.sets);
    memory_free(s.errors);
    return error;
}
