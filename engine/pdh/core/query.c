/* SPDX-License-Identifier: MIT */
/* Queries: adding counters, taking samples, keeping the last two; and the set of live handles. */
#include "engine/pdh/core/query.h"

#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"

#include <string.h>

static struct lock lock = LOCK_INIT;
static const void **slots;
static size_t slot_count, used; /* a power of two; at most half of the slots are used */

static size_t home(const void *handle)
{
    uint64_t h = (uint64_t)(uintptr_t)handle * 0x9E3779B97F4A7C15u;
    return (size_t)(h >> 32) & (slot_count - 1);
}

/* The slot of the handle, or the free slot where it belongs. */
static size_t handle_find_slot(const void *handle)
{
    size_t at = home(handle);
    while (slots[at] && slots[at] != handle)
        at = (at + 1) & (slot_count - 1);
    return at;
}

static bool handle_table_grow(void)
{
    const void **old = slots;
    size_t old_count = slot_count, count = old_count ? old_count * 2 : 64;
    const void **larger = memory_zero(count, sizeof *larger);
    if (!larger)
        return false;
    slots = larger;
    slot_count = count;
    for (size_t i = 0; i < old_count; i++)
        if (old[i])
            slots[handle_find_slot(old[i])] = old[i];
    memory_free(old);
    return true;
}

bool handle_add(const void *handle)
{
    lock_enter(&lock);
    bool ok = used * 2 < slot_count || handle_table_grow();
    if (ok) {
        slots[handle_find_slot(handle)] = handle;
        used++;
    }
    lock_leave(&lock);
    return ok;
}

/* Moves entries behind the gap forward if a search could no longer reach them. */
static void close_gap(size_t gap)
{
    size_t mask = slot_count - 1;
    for (size_t at = (gap + 1) & mask; slots[at]; at = (at + 1) & mask) {
        if (((at - home(slots[at])) & mask) >= ((at - gap) & mask)) {
            slots[gap] = slots[at];
            slots[at] = NULL;
            gap = at;
        }
    }
}

void handle_remove(const void *handle)
{
    lock_enter(&lock);
    size_t at = slot_count ? handle_find_slot(handle) : 0;
    if (slot_count && slots[at]) {
        slots[at] = NULL;
        close_gap(at);
        if (--used == 0) {
            memory_free(slots);
            slots = NULL;
            slot_count = 0;
        }
    }
    lock_leave(&lock);
}

bool handle_is_alive(const void *handle)
{
    lock_enter(&lock);
    bool alive = handle && slot_count && slots[handle_find_slot(handle)];
    lock_leave(&lock);
    return alive;
}

/* ---- queries ---- */

void query_enter(struct query *q)
{
    lock_enter(&q->lock);
}

void query_leave(struct query *q)
{
    lock_leave(&q->lock);
}

DWORD counter_type(const struct counter *c)
{
    return c->object->type->counters[c->schema].type;
}

PDH_STATUS query_create(DWORD_PTR user_data, struct catalogue *catalogue, struct query **out)
{
    struct query *q = memory_zero(1, sizeof *q);
    *out = NULL;
    if (!q || !handle_add(q)) {
        memory_free(q);
        catalogue_close(catalogue);
        return PDH_MEMORY_ALLOCATION_FAILURE;
    }
    q->kind = QUERY_HANDLE;
    q->user_data = user_data;
    q->catalogue = catalogue;
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
    handle_remove(c);
    counter_path_free(&c->path);
    memory_free(c->instance);
    items_free(&c->newer_items);
    items_free(&c->older_items);
    memory_free(c);
}

void query_destroy(struct query *q)
{
    if (q->end_collecting)
        q->end_collecting(q);
    handle_remove(q);
    for (struct counter *c = q->first, *next; c; c = next) {
        next = c->next;
        counter_free(c);
    }
    for (size_t i = 0; i < q->object_count; i++) {
        counter_object_close(q->objects[i].object);
        memory_free(q->objects[i].uses);
    }
    source_close(&q->source);
    catalogue_close(q->catalogue);
    memory_free(q->objects);
    memory_free(q->uses);
    memory_free(q);
}

PDH_STATUS query_object(struct query *q, size_t position, struct counter_object **out)
{
    HRESULT hr = S_OK;
    void *items = q->objects;
    *out = NULL;
    if (!memory_grow(&items, &q->object_capacity, position + 1, sizeof *q->objects))
        return PDH_MEMORY_ALLOCATION_FAILURE;
    q->objects = items;
    if (!memory_grow((void **)&q->uses, &q->use_capacity, position + 1, sizeof *q->uses))
        return PDH_MEMORY_ALLOCATION_FAILURE;
    while (q->object_count <= position)
        q->objects[q->object_count++] = (struct query_object){0};
    struct query_object *slot = &q->objects[position];
    if (!slot->object)
        hr = counter_object_open(q->catalogue->types[position], &q->source, &slot->object);
    *out = slot->object;
    return pdh_status_of(hr, PDH_CSTATUS_NO_OBJECT);
}

/* Finds the object and counter of the parsed path. */
static PDH_STATUS resolve_counter(struct query *q, struct counter *c)
{
    PDH_STATUS status = catalogue_machine(q->catalogue, c->path.machine);
    if (status != ERROR_SUCCESS)
        return status;
    c->position = catalogue_find(q->catalogue, c->path.machine, c->path.object);
    if (c->position == q->catalogue->count)
        return PDH_CSTATUS_NO_OBJECT;
    status = query_object(q, c->position, &c->object);
    if (status != ERROR_SUCCESS)
        return status;
    c->schema = counter_object_find_counter(c->object, c->path.counter);
    if (c->schema == c->object->type->counter_count)
        return PDH_CSTATUS_NO_COUNTER;
    if (c->object->type->has_instances != (c->path.instance != NULL))
        return PDH_CSTATUS_NO_INSTANCE;
    c->time_base = counter_object_time_base(c->object, c->schema);
    if (c->path.instance) {
        c->instance = counter_path_instance(&c->path);
        if (!c->instance)
            return PDH_MEMORY_ALLOCATION_FAILURE;
        c->is_wildcard = strpbrk(c->instance, "*?") != NULL;
    }
    return ERROR_SUCCESS;
}

/* Changes the number of counters that use a counter of an object by `change` (1 or -1). False if memory runs out. */
static bool note_use(struct query *q, const struct counter *c, int change)
{
    struct query_object *slot = &q->objects[c->position];
    uint32_t count = c->object->type->counter_count;
    while (slot->use_count < count) { /* a log file may add counters while it is read */
        void *uses = slot->uses;
        bool ok = memory_grow(&uses, &slot->use_capacity, count, sizeof *slot->uses);
        slot->uses = uses;
        if (!ok)
            return false;
        slot->uses[slot->use_count++] = 0;
    }
    slot->uses[c->schema] += (uint32_t)change;
    if (change > 0) {
        slot->wanted |= OBJECT_BIT(c->schema);
    } else if (slot->uses[c->schema] == 0) {
        slot->wanted = 0;
        for (uint32_t i = 0; i < count; i++)
            slot->wanted |= slot->uses[i] ? OBJECT_BIT(i) : 0;
    }
    return true;
}

static PDH_STATUS query_attach_counter(struct query *q, struct counter *c)
{
    PDH_STATUS status = resolve_counter(q, c);
    if (status != ERROR_SUCCESS)
        return status;
    if (!note_use(q, c, 1))
        return PDH_MEMORY_ALLOCATION_FAILURE;
    c->newer.CStatus = c->older.CStatus = PDH_CSTATUS_INVALID_DATA;
    c->row = SIZE_MAX;
    c->generation = UINT64_MAX;
    c->newer_items.generation = c->older_items.generation = UINT64_MAX;
    c->query = q;
    c->serial = ++q->serial;
    c->previous = q->last;
    *(q->last ? &q->last->next : &q->first) = c;
    q->last = c;
    return ERROR_SUCCESS;
}

PDH_STATUS query_add(struct query *q, const char *path, DWORD_PTR user_data, struct counter **out)
{
    struct counter *c = memory_zero(1, sizeof *c);
    *out = NULL;
    if (!c)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    c->kind = COUNTER_HANDLE;
    c->user_data = user_data;
    PDH_STATUS status = handle_add(c) ? counter_path_parse(path, &c->path) : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (status == ERROR_SUCCESS) {
        query_enter(q);
        status = query_attach_counter(q, c);
        query_leave(q);
    }
    TRACE_STEP(pdh, "add %s: 0x%08X", path, (unsigned)status);
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
    note_use(q, c, -1);
    query_leave(q);
    counter_free(c);
}

static void sample_single(struct counter *c)
{
    const struct counter_object *o = c->object;
    c->older = c->newer;
    if (!c->instance) {
        counter_object_raw(o, 0, c->schema, &c->newer);
        return;
    }
    if (c->generation != o->generation) {
        c->generation = o->generation;
        c->row = instance_list_find(o->instances, c->instance);
        uint64_t key = c->row == SIZE_MAX ? 0 : o->instances->items[c->row].key;
        if (c->row == SIZE_MAX || key != c->key)
            c->older.CStatus = PDH_CSTATUS_INVALID_DATA; /* a rate between two different things is meaningless */
        c->key = key;
    }
    counter_object_raw(o, c->row, c->schema, &c->newer);
}

/* Finds the matching instances and keeps a reference to the object's current list. */
static bool match_items(struct counter_items *items, const struct counter_object *o, const char *pattern)
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
    if (!ok)
        return false;
    for (size_t i = 0; i < most; i++)
        if (text_matches(pattern, o->instances->items[i].name))
            items->positions[items->count++] = i;
    items->list = o->instances;
    if (items->list)
        items->list->references++;
    items->generation = o->generation;
    return true;
}

static void sample_wildcard(struct counter *c)
{
    const struct counter_object *o = c->object;
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
    for (size_t i = 0; i < items->count; i++)
        counter_object_raw(o, items->positions[i], c->schema, &items->raw[i]);
    c->newer.CStatus = items->count ? PDH_CSTATUS_VALID_DATA : PDH_CSTATUS_NO_INSTANCE;
}

/* Takes a sample of the objects in use. *earliest is the UTC time of the first reading. */
static void sample_objects(struct query *q, int64_t *earliest)
{
    source_begin(&q->source);
    *earliest = INT64_MAX;
    size_t count = 0;
    for (size_t i = 0; i < q->object_count; i++)
        if (q->objects[i].wanted)
            q->uses[count++] = (struct counter_object_use){q->objects[i].object, q->objects[i].wanted};
    counter_objects_sample(q->uses, count, &q->source);
    for (size_t i = 0; i < count; i++) {
        int64_t utc = q->uses[i].object->time.utc;
        *earliest = utc < *earliest ? utc : *earliest;
    }
}

static PDH_STATUS query_collect_locked(struct query *q, int64_t *time)
{
    int64_t local = 0, earliest;
    const struct catalogue_functions *functions = q->catalogue->functions;
    if (!q->first)
        return PDH_NO_DATA;
    PDH_STATUS status = functions->advance ? functions->advance(q->catalogue, &local) : ERROR_SUCCESS;
    if (status != ERROR_SUCCESS)
        return status;
    if (functions->begin)
        functions->begin(q->catalogue);
    sample_objects(q, &earliest);
    q->sample_utc = earliest;
    for (struct counter *c = q->first; c; c = c->next)
        if (c->is_wildcard)
            sample_wildcard(c);
        else
            sample_single(c);
    if (time)
        *time = functions->advance ? local : clock_local(&q->source.zone, earliest);
    return ERROR_SUCCESS;
}

PDH_STATUS query_collect(struct query *q, int64_t *time)
{
    query_enter(q);
    PDH_STATUS status = query_collect_locked(q, time);
    query_leave(q);
    TRACE_STEP(pdh, "collect query %p: 0x%08X", (void *)q, (unsigned)status);
    return status;
}

const char *counter_item_name(const struct counter_items *items, size_t i)
{
    return items->list->items[items->positions[i]].name;
}

const char *counter_item_bare_name(const struct counter_items *items, size_t i, size_t *length)
{
    const struct instance *item = &items->list->items[items->positions[i]];
    *length = item->bare_length;
    return item->name;
}

/* The index of the item whose instance is at `place` in the list; SIZE_MAX if it does not match. */
static size_t find_item(const struct counter_items *items, size_t place)
{
    size_t low = 0, high = items->count; /* positions are sorted */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (items->positions[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < items->count && items->positions[low] == place ? low : SIZE_MAX;
}

size_t counter_item_find(const struct counter *c, const char *name)
{
    size_t place = instance_list_find(c->newer_items.list, name);
    return place == SIZE_MAX ? SIZE_MAX : find_item(&c->newer_items, place);
}

const PDH_RAW_COUNTER *counter_item_older(const struct counter *c, size_t i)
{
    const struct counter_items *older = &c->older_items, *newer = &c->newer_items;
    if (older->generation == UINT64_MAX || !older->list)
        return NULL;
    if (older->generation == newer->generation)
        return &older->raw[i];
    const struct instance *item = &newer->list->items[newer->positions[i]];
    size_t was = instance_list_find(older->list, item->name);
    if (was == SIZE_MAX || older->list->items[was].key != item->key)
        return NULL;
    size_t at = find_item(older, was);
    return at == SIZE_MAX ? NULL : &older->raw[at];
}
