/* SPDX-License-Identifier: MIT */
/* Queries: adding counters, taking samples, and keeping the last two samples. This file also contains the set of live
   handles. */
#include "engine/pdh/core/query.h"

#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"

#include <string.h>

/* The live handles. Programs pass a handle with each request for a value, so checking a handle takes no lock: the check
   searches the current table while another thread may change the table.
   - A slot that contains the handle proves that the handle was alive during the check.
   - A removal moves handles to other slots, so a check without the lock may miss a live handle. Therefore a handle that
     was not found is searched again with the lock.
   - A full table is replaced by a larger one, but not freed, because a check may still search it. All older tables
     together are smaller than the current one. */
struct handle_table {
    size_t count; /* a power of two; at most half of the slots are used */
    struct handle_table *older;
    _Atomic(const void *) slots[];
};
static struct lock lock = LOCK_INIT;
static _Atomic(struct handle_table *) handles; /* NULL before the first handle */
static size_t used;

static size_t home(const struct handle_table *t, const void *handle)
{
    uint64_t h = (uint64_t)(uintptr_t)handle * 0x9E3779B97F4A7C15u;
    return (size_t)(h >> 32) & (t->count - 1);
}

static const void *handle_at(const struct handle_table *t, size_t at)
{
    return atomic_load_explicit(&t->slots[at], memory_order_relaxed);
}

/* Returns the slot of the handle, or the free slot for it. Without the lock this function may return a wrong slot. */
static size_t handle_find_slot(const struct handle_table *t, const void *handle)
{
    size_t at = home(t, handle);
    /* limits the search in case another thread changes the table */
    for (size_t tries = 0; tries < t->count; tries++, at = (at + 1) & (t->count - 1)) {
        const void *there = handle_at(t, at);
        if (!there || there == handle)
            break;
    }
    return at;
}

static bool handle_table_grow(void)
{
    struct handle_table *old = atomic_load(&handles);
    const size_t count = old ? old->count * 2 : 64;
    struct handle_table *larger = memory_zero(1, sizeof *larger + count * sizeof *larger->slots);
    if (!larger)
        return false;
    larger->count = count;
    larger->older = old;
    for (size_t i = 0; old && i < old->count; i++) {
        const void *handle = handle_at(old, i);
        if (handle)
            atomic_init(&larger->slots[handle_find_slot(larger, handle)], handle);
    }
    atomic_store(&handles, larger);
    return true;
}

bool handle_add(const void *handle)
{
    lock_enter(&lock);
    struct handle_table *t = atomic_load(&handles);
    const bool ok = (t && used * 2 < t->count) || handle_table_grow();
    if (ok) {
        t = atomic_load(&handles);
        atomic_store(&t->slots[handle_find_slot(t, handle)], handle);
        used++;
    }
    lock_leave(&lock);
    return ok;
}

/* Closes the gap that a removed entry left: moves an entry into the gap if a search would not find the entry otherwise,
   and then closes the new gap in the same way. */
static void close_gap(struct handle_table *t, size_t gap)
{
    const size_t mask = t->count - 1;
    const void *there;
    for (size_t at = (gap + 1) & mask; (there = handle_at(t, at)); at = (at + 1) & mask) {
        if (((at - home(t, there)) & mask) >= ((at - gap) & mask)) {
            atomic_store(&t->slots[gap], there);
            atomic_store(&t->slots[at], NULL);
            gap = at;
        }
    }
}

void handle_remove(const void *handle)
{
    lock_enter(&lock);
    struct handle_table *t = atomic_load(&handles);
    const size_t at = t ? handle_find_slot(t, handle) : 0;
    if (t && handle_at(t, at)) {
        atomic_store(&t->slots[at], NULL);
        close_gap(t, at);
        used--;
    }
    lock_leave(&lock);
}

static bool handle_is_listed(const void *handle)
{
    const struct handle_table *t = atomic_load_explicit(&handles, memory_order_acquire);
    return t && handle_at(t, handle_find_slot(t, handle)) == handle;
}

void handles_free(void)
{
    for (struct handle_table *t = atomic_exchange(&handles, NULL), *older; t; t = older) {
        older = t->older;
        memory_free(t);
    }
}

bool handle_is_alive(const void *handle)
{
    if (!handle || handle_is_listed(handle))
        return handle != NULL;
    lock_enter(&lock);
    const bool alive = handle_is_listed(handle);
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

/* Finds the object and the counter of the parsed path. */
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
    c->type = c->object->type->counters[c->schema].type;
    c->time_base = counter_object_time_base(c->object, c->schema);
    if (c->path.instance) {
        c->instance = counter_path_instance(&c->path);
        if (!c->instance)
            return PDH_MEMORY_ALLOCATION_FAILURE;
        c->has_instance = true;
        c->instance_hash = instance_name_hash(c->instance);
        c->is_wildcard = strpbrk(c->instance, "*?") != NULL;
    }
    return ERROR_SUCCESS;
}

/* Adds `change` (1 or -1) to the number of the query's counters that use this counter of the object. False if memory
   runs out. */
static bool note_use(struct query *q, const struct counter *c, int change)
{
    struct query_object *slot = &q->objects[c->position];
    uint32_t count = c->object->type->counter_count;
    while (slot->use_count < count) { /* a log file may define more counters while it is being read */
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
    for (size_t i = 0; i < 2; i++)
        c->raw[i].raw = (PDH_RAW_COUNTER){.CStatus = PDH_CSTATUS_INVALID_DATA};
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

static void raw_value_store(union raw_value *to, const PDH_RAW_COUNTER *raw)
{
    uint64_t words[RAW_WORDS];
    memcpy(words, raw, sizeof words);
    /* Release order: if a reader gets a word of the new value, it also sees that q->turns is odd. */
    for (size_t i = 0; i < RAW_WORDS; i++)
        atomic_store_explicit(&to->words[i], words[i], memory_order_release);
}

static void raw_value_load(const union raw_value *from, PDH_RAW_COUNTER *raw)
{
    uint64_t words[RAW_WORDS] = {0};
    for (size_t i = 0; i < RAW_WORDS; i++)
        words[i] = atomic_load_explicit(&from->words[i], memory_order_acquire);
    memcpy(raw, words, sizeof words);
}

/* Reads without the lock, if possible. q->turns is odd while a sample stores values. Values that were read between two
   equal even numbers belong to the same sample. */
void counter_get(struct counter *c, PDH_RAW_COUNTER *newer, PDH_RAW_COUNTER *older)
{
    const struct query *q = c->query;
    const unsigned turns = atomic_load_explicit(&q->turns, memory_order_acquire);
    const unsigned now = turns / 2 % 2; /* the value of q->now that belongs to `turns` */
    if (!(turns & 1)) {
        raw_value_load(&c->raw[now], newer);
        if (older)
            raw_value_load(&c->raw[!now], older);
        if (atomic_load_explicit(&q->turns, memory_order_relaxed) == turns)
            return;
    }
    query_enter(c->query);
    *newer = *counter_newer(c);
    if (older)
        *older = *counter_older(c);
    query_leave(c->query);
}

/* Begins to replace the older value of each counter with a new value. q->turns is odd until values_end. */
static void values_begin(struct query *q)
{
    atomic_store_explicit(&q->turns, atomic_load_explicit(&q->turns, memory_order_relaxed) + 1, memory_order_relaxed);
    q->now = !q->now;
}

static void values_end(struct query *q)
{
    atomic_store_explicit(&q->turns, atomic_load_explicit(&q->turns, memory_order_relaxed) + 1, memory_order_release);
}

static void sample_single(struct counter *c)
{
    const struct counter_object *o = c->object;
    PDH_RAW_COUNTER raw;
    if (c->has_instance && c->generation != o->generation) {
        c->generation = o->generation;
        c->row = instance_list_find_hashed(o->instances, c->instance, c->instance_hash);
        uint64_t key = c->row == SIZE_MAX ? 0 : o->instances->items[c->row].key;
        if (c->row == SIZE_MAX || key != c->key)
            /* another process or device has the name now, so there must be no rate between the two values */
            raw_value_store(&c->raw[!c->query->now], &(PDH_RAW_COUNTER){.CStatus = PDH_CSTATUS_INVALID_DATA});
        c->key = key;
    }
    counter_object_raw(o, c->has_instance ? c->row : 0, c->schema, &raw);
    raw_value_store(&c->raw[c->query->now], &raw);
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

/* Reads the values of all items of a wildcard counter, and returns the status of the whole counter. */
static DWORD sample_items(struct counter *c)
{
    const struct counter_object *o = c->object;
    struct counter_items *items = &c->newer_items;
    if (FAILED(o->result)) {
        items->count = 0;
        items->generation = UINT64_MAX;
        return (DWORD)pdh_status_of(o->result, PDH_CSTATUS_INVALID_DATA);
    }
    if (items->generation != o->generation && !match_items(items, o, c->instance))
        return PDH_MEMORY_ALLOCATION_FAILURE;
    for (size_t i = 0; i < items->count; i++)
        counter_object_raw(o, items->positions[i], c->schema, &items->raw[i]);
    return items->count ? PDH_CSTATUS_VALID_DATA : PDH_CSTATUS_NO_INSTANCE;
}

static void sample_wildcard(struct counter *c)
{
    struct counter_items reuse = c->older_items;
    c->older_items = c->newer_items;
    c->newer_items = reuse;
    const PDH_RAW_COUNTER raw = {.CStatus = sample_items(c), .TimeStamp = c->object->local_time};
    raw_value_store(&c->raw[c->query->now], &raw);
}

/* Takes a sample of the objects in use. *earliest is the UTC time at which the first object was read. */
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
    values_begin(q);
    for (struct counter *c = q->first; c; c = c->next)
        if (c->is_wildcard)
            sample_wildcard(c);
        else
            sample_single(c);
    values_end(q);
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

/* Returns the index of the item whose instance is at index `place` of the list; SIZE_MAX if the instance does not
   match. */
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
