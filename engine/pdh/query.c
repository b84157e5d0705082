/* SPDX-License-Identifier: MIT */
/* Queries: adding counters, taking samples, remembering the last two. */
#include "engine/pdh/query.h"
#include "engine/pdh/formula.h"
#include "engine/os/memory.h"
#include "engine/os/text.h"
#include <string.h>

void query_enter(struct query *q)
{
    host_lock_enter(&q->lock);
}

void query_leave(struct query *q)
{
    host_lock_leave(&q->lock);
}

DWORD counter_type(const struct counter *c)
{
    return c->object->provider->counters[c->schema].type;
}

PDH_STATUS query_create(DWORD_PTR user_data, struct query **out)
{
    struct query *q = memory_zero(1, sizeof *q);
    *out = NULL;
    if (!q) {
        return PDH_MEMORY_ALLOCATION_FAILURE;
    }
    q->objects = memory_zero(pdh_provider_count, sizeof *q->objects);
    q->wanted = memory_zero(pdh_provider_count, sizeof *q->wanted);
    if (!q->objects || !q->wanted) {
        memory_free(q->objects);
        memory_free(q->wanted);
        memory_free(q);
        return PDH_MEMORY_ALLOCATION_FAILURE;
    }
    q->mark = QUERY_MARK;
    q->user_data = user_data;
    source_begin(&q->source);
    *out = q;
    return ERROR_SUCCESS;
}

static void items_free(struct counter_items *items)
{
    instance_list_release(items->list);
    memory_free(items->positions);
    memory_free(items->raw);
}

static void counter_free(struct counter *c)
{
    c->mark = 0;
    counter_path_free(&c->path);
    memory_free(c->instance);
    items_free(&c->newer_items);
    items_free(&c->older_items);
    memory_free(c);
}

void query_destroy(struct query *q)
{
    q->mark = 0;
    for (struct counter *c = q->first, *next; c; c = next) {
        next = c->next;
        counter_free(c);
    }
    for (size_t i = 0; i < pdh_provider_count; i++) {
        object_close(q->objects[i]);
    }
    source_close(&q->source);
    memory_free(q->objects);
    memory_free(q->wanted);
    memory_free(q);
}

PDH_STATUS query_object(struct query *q, size_t provider, struct object **out)
{
    HRESULT hr = S_OK;
    if (!q->objects[provider]) {
        hr = object_open(pdh_providers[provider], &q->source, &q->objects[provider]);
    }
    *out = q->objects[provider];
    return pdh_status_of(hr, PDH_CSTATUS_NO_OBJECT);
}

static size_t find_provider(const char *name)
{
    size_t i = 0;
    while (i < pdh_provider_count && !text_equal_nocase(pdh_providers[i]->name, name)) {
        i++;
    }
    return i;
}

/* Fits the parsed path to an object and counter that exist. */
static PDH_STATUS resolve(struct query *q, struct counter *c)
{
    PDH_STATUS status = counter_path_machine_is_ours(c->path.machine);
    if (status != ERROR_SUCCESS) {
        return status;
    }
    size_t provider = find_provider(c->path.object);
    if (provider == pdh_provider_count) {
        return PDH_CSTATUS_NO_OBJECT;
    }
    status = query_object(q, provider, &c->object);
    if (status != ERROR_SUCCESS) {
        return status;
    }
    c->schema = object_find_counter(c->object, c->path.counter);
    if (c->schema == c->object->provider->counter_count) {
        return PDH_CSTATUS_NO_COUNTER;
    }
    if (c->object->provider->has_instances != (c->path.instance != NULL)) {
        return PDH_CSTATUS_NO_INSTANCE;
    }
    c->time_base = formula_time_base(counter_type(c));
    if (c->path.instance) {
        c->instance = counter_path_instance(&c->path);
        if (!c->instance) {
            return PDH_MEMORY_ALLOCATION_FAILURE;
        }
        c->is_wildcard = strpbrk(c->instance, "*?") != NULL;
    }
    return ERROR_SUCCESS;
}

static void note_wanted(struct query *q)
{
    memset(q->wanted, 0, pdh_provider_count * sizeof *q->wanted);
    for (const struct counter *c = q->first; c; c = c->next) {
        for (size_t i = 0; i < pdh_provider_count; i++) {
            if (q->objects[i] == c->object) {
                q->wanted[i] |= 1ull << c->schema;
            }
        }
    }
}

static PDH_STATUS add(struct query *q, struct counter *c)
{
    PDH_STATUS status = resolve(q, c);
    if (status != ERROR_SUCCESS) {
        return status;
    }
    c->newer.CStatus = c->older.CStatus = PDH_CSTATUS_INVALID_DATA;
    c->row = SIZE_MAX;
    c->generation = UINT64_MAX;
    c->newer_items.generation = c->older_items.generation = UINT64_MAX;
    c->query = q;
    c->previous = q->last;
    *(q->last ? &q->last->next : &q->first) = c;
    q->last = c;
    for (size_t i = 0; i < pdh_provider_count; i++) {
        if (q->objects[i] == c->object) {
            q->wanted[i] |= 1ull << c->schema;
        }
    }
    return ERROR_SUCCESS;
}

PDH_STATUS query_add(struct query *q, const char *path, DWORD_PTR user_data, struct counter **out)
{
    struct counter *c = memory_zero(1, sizeof *c);
    *out = NULL;
    if (!c) {
        return PDH_MEMORY_ALLOCATION_FAILURE;
    }
    c->mark = COUNTER_MARK;
    c->user_data = user_data;
    PDH_STATUS status = counter_path_parse(path, &c->path);
    if (status == ERROR_SUCCESS) {
        query_enter(q);
        status = add(q, c);
        query_leave(q);
    }
    if (status != ERROR_SUCCESS) {
        counter_free(c);
        return status;
    }
    *out = c;
    return ERROR_SUCCESS;
}

void query_remove(struct counter *c)
{
    struct query *q = c->query;
    query_enter(q);
    *(c->previous ? &c->previous->next : &q->first) = c->next;
    *(c->next ? &c->next->previous : &q->last) = c->previous;
    note_wanted(q);
    query_leave(q);
    counter_free(c);
}

static void sample_single(struct counter *c)
{
    const struct object *o = c->object;
    c->older = c->newer;
    if (!c->instance) {
        object_raw(o, 0, c->schema, &c->newer);
        return;
    }
    if (c->generation != o->generation) {
        c->generation = o->generation;
        c->row = instance_list_find(o->instances, c->instance);
        uint64_t key = c->row == SIZE_MAX ? 0 : o->instances->items[c->row].key;
        if (c->row == SIZE_MAX || key != c->key) {
            c->older.CStatus = PDH_CSTATUS_INVALID_DATA; /* a rate between two different things means nothing */
        }
        c->key = key;
    }
    object_raw(o, c->row, c->schema, &c->newer);
}

/* Finds the instances that match; the list is the same object's of now. */
static bool match_items(struct counter_items *items, const struct object *o, const char *pattern)
{
    size_t most = o->instances ? o->instances->count : 0;
    void *positions = items->positions, *raw = items->raw;
    bool ok = memory_grow(&positions, &items->capacity, most, sizeof *items->positions);
    items->positions = positions;
    ok = ok && memory_grow(&raw, &items->raw_capacity, most, sizeof *items->raw);
    items->raw = raw;
    instance_list_release(items->list);
    items->list = NULL;
    items->count = 0;
    items->generation = UINT64_MAX;
    if (!ok) {
        return false;
    }
    for (size_t i = 0; i < most; i++) {
        if (text_matches(pattern, o->instances->items[i].name)) {
            items->positions[items->count++] = i;
        }
    }
    items->list = o->instances;
    if (items->list) {
        items->list->references++;
    }
    items->generation = o->generation;
    return true;
}

static void sample_wildcard(struct counter *c)
{
    const struct object *o = c->object;
    struct counter_items reuse = c->older_items;
    c->older_items = c->newer_items;
    c->newer_items = reuse;
    c->older = c->newer;
    c->newer = (PDH_RAW_COUNTER){.CStatus = PDH_CSTATUS_INVALID_DATA, .TimeStamp = o->local_time};
    struct counter_items *items = &c->newer_items;
    if (FAILED(o->result)) {
        items->count = 0;
        items->generation = UINT64_MAX;
        c->newer.CStatus = (DWORD)pdh_status_of(o->result, PDH_CSTATUS_INVALID_DATA);
        return;
    }
    if (items->generation != o->generation && !match_items(items, o, c->instance)) {
        c->newer.CStatus = PDH_MEMORY_ALLOCATION_FAILURE;
        return;
    }
    for (size_t i = 0; i < items->count; i++) {
        object_raw(o, items->positions[i], c->schema, &items->raw[i]);
    }
    c->newer.CStatus = items->count ? PDH_CSTATUS_VALID_DATA : PDH_CSTATUS_NO_INSTANCE;
}

PDH_STATUS query_collect(struct query *q, int64_t *time)
{
    query_enter(q);
    if (!q->first) {
        query_leave(q);
        return PDH_NO_DATA;
    }
    source_begin(&q->source);
    int64_t earliest = INT64_MAX;
    for (size_t i = 0; i < pdh_provider_count; i++) {
        if (q->wanted[i]) {
            struct object *o = q->objects[i];
            object_sample(o, &q->source, q->wanted[i]);
            earliest = o->time.utc < earliest ? o->time.utc : earliest;
        }
    }
    for (struct counter *c = q->first; c; c = c->next) {
        if (c->is_wildcard) {
            sample_wildcard(c);
        } else {
            sample_single(c);
        }
    }
    if (time) {
        *time = source_local(&q->source, earliest);
    }
    query_leave(q);
    return ERROR_SUCCESS;
}

const char *counter_item_name(const struct counter_items *items, size_t i)
{
    return items->list->items[items->positions[i]].name;
}

const PDH_RAW_COUNTER *counter_item_older(const struct counter *c, size_t i)
{
    const struct counter_items *older = &c->older_items, *newer = &c->newer_items;
    if (older->generation == UINT64_MAX || !older->list) {
        return NULL;
    }
    if (older->generation == newer->generation) {
        return &older->raw[i];
    }
    const struct instance *item = &newer->list->items[newer->positions[i]];
    for (size_t n = 0; n < older->count; n++) {
        const struct instance *was = &older->list->items[older->positions[n]];
        if (was->key == item->key && was->hash == item->hash) {
            return &older->raw[n];
        }
    }
    return NULL;
}
