/* SPDX-License-Identifier: MIT */
/* Samples of counter objects, and their lists of instances.

   Reading a source may hang: a disk that does not respond blocks the reading thread in the kernel indefinitely.
   Therefore every object has two sides, both of type struct counter_object:

       query's side  (struct counter_object *)      sampling side  (struct counter_object_work)
         values, instances, result of the     <--     side: what `sample` fills now
         last completed sample                        last: the completed sample, for `sample` to read

   - Objects whose type sets at_once (log files, extension DLLs, Perflib countersets, remote computers) limit their
     waits themselves. The caller samples these objects directly, and the rest of this list does not apply to them.
   - Objects whose type sets tries_at_once are first sampled on the caller's thread, because waking another thread,
     which then wakes the caller, costs more than reading a small kernel file. If the sample has to wait on the caller's
     thread (source_may_wait), the sample is discarded and taken again as described below.
   - counter_objects_sample passes a work item (struct timed_work) for each of the other objects to timed_work_run,
     which runs the items one after another on another thread. A work item that exceeds the time limit stays on its
     thread, and a new thread runs the remaining items.
   - Only the query's thread writes the query's side and `last`, and only while the object's work item does not run.
     Only the sampling thread writes `side`, and only while the work item runs. Therefore the query's thread and the
     sampling thread need no lock.
   - After the call, settle_sample runs for each object. If the work item is still running, the object's result is
     ERROR_TIMEOUT. The object keeps the values of the last published sample, but counters do not show an object's
     values while its result is an error. If the work item is complete and has succeeded, its sample is published:
     `side` is copied to `last` and to the query's side, and the next sample reuses the array of the old values.
   - A later sample does not start the work item again while it is still running. The object's values are missing until
     the work item is complete.
   - counter_object_close abandons a running work item. The work item outlives the object and the object's query, and
     frees itself when it is complete.

   Instance lists are immutable and reference-counted, so both sides and all counters can share one list. */
#include "engine/pdh/core/counter_object.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/thread.h"
#include "engine/pdh/formula.h"

#include <string.h>

PDH_STATUS pdh_status_of(HRESULT hr, DWORD otherwise)
{
    if (SUCCEEDED(hr))
        return ERROR_SUCCESS;
    if (hr == (HRESULT)PDH_CSTATUS_NO_MACHINE || hr == (HRESULT)PDH_ACCESS_DENIED)
        return hr;
    return hr == E_OUTOFMEMORY ? (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE : (PDH_STATUS)otherwise;
}

uint32_t instance_name_hash(const char *name)
{
    return (uint32_t)(text_hash_nocase(name) >> 32); /* the upper bits, because they are well mixed */
}

void instance_list_release(struct instance_list *list)
{
    if (!list || atomic_fetch_sub(&list->references, 1) > 1)
        return;
    for (size_t i = 0; i < list->count; i++)
        memory_free(list->items[i].name);
    memory_free(list->items);
    memory_free(list->buckets);
    memory_free(list);
}

void instance_name_make_safe(char *name)
{
    for (; *name; name++)
        if (*name == '(')
            *name = '[';
        else if (*name == ')')
            *name = ']';
        else if (*name == '/' || *name == '\\' || *name == '#')
            *name = '_';
}

/* Finds duplicate base names while a list is created. `last` has the last item of each hash bucket; `before` has, for
   each item, the previous item in the same bucket. */
struct doubles {
    uint32_t *last, *before;
};

static bool same_base(const struct instance *a, const struct instance *b)
{
    if (a->base_hash != b->base_hash)
        return false;
    char end = a->name[a->base_length];
    a->name[a->base_length] = 0;
    bool same = text_equal_nocase(a->name, b->name);
    a->name[a->base_length] = end;
    return same;
}

/* Returns the number of items before `at` with the same base name. The item at `at` has only its base name so far. */
static uint64_t doubles_before(const struct instance_list *list, const struct doubles *d, size_t at)
{
    const struct instance *item = &list->items[at];
    for (uint32_t i = d->before[at]; i; i = d->before[i - 1]) {
        const struct instance *other = &list->items[i - 1];
        if (same_base(other, item)) {
            /* the nearest item with the same base name already has its number */
            uint64_t number = 0;
            if (other->name[other->base_length])
                text_to_u64(other->name + other->base_length + 1, &number);
            return number + 1;
        }
    }
    return 0;
}

static void enter_bucket(uint32_t *bucket, uint32_t *next, size_t at)
{
    *next = *bucket;
    *bucket = (uint32_t)at + 1;
}

/* Returns the length without "#1" at the end. In a name that instance_name_make_safe has processed, no other '#' can
   occur. */
static size_t bare_length(const char *name, size_t length)
{
    size_t at = length;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at > 1 && at < length && name[at - 1] == '#' ? at - 1 : length;
}

static bool set_instance(struct instance_list *list, struct doubles *d, size_t at, const char *name, uint64_t key,
                         bool ready)
{
    struct instance *item = &list->items[at];
    char *base = text_copy(name);
    if (!base)
        return false;
    if (!ready)
        instance_name_make_safe(base);
    size_t length = strlen(base);
    uint32_t hash = instance_name_hash(base);
    *item = (struct instance){base, length, ready ? bare_length(base, length) : length, hash, hash, key, 0};
    list->count = at + 1;
    enter_bucket(&d->last[hash & list->mask], &d->before[at], at);
    uint64_t doubles = doubles_before(list, d, at);
    if (doubles) {
        item->name = text_format("%s#%u", base, (unsigned)doubles);
        memory_free(base);
        list->count = item->name ? at + 1 : at;
        item->hash = item->name ? instance_name_hash(item->name) : 0;
    }
    return item->name != NULL;
}

static struct instance_list *make_list(size_t count, const char *const *names, const uint64_t *keys, bool ready)
{
    struct instance_list *list = memory_zero(1, sizeof *list);
    struct doubles d = {NULL, NULL};
    if (!list)
        return NULL;
    atomic_init(&list->references, 1);
    list->mask = 15;
    while (list->mask < count)
        list->mask = list->mask * 2 + 1;
    list->items = memory_zero(count, sizeof *list->items);
    list->buckets = memory_zero(list->mask + 1, sizeof *list->buckets);
    d.last = memory_zero(list->mask + 1, sizeof *d.last);
    d.before = memory_zero(count, sizeof *d.before);
    bool ok = list->items && list->buckets && d.last && d.before && count < UINT32_MAX;
    for (size_t i = 0; ok && i < count; i++)
        ok = set_instance(list, &d, i, names[i], keys[i], ready);
    memory_free(d.last);
    memory_free(d.before);
    if (!ok) {
        instance_list_release(list);
        return NULL;
    }
    for (size_t i = count; i-- > 0;)
        enter_bucket(&list->buckets[list->items[i].hash & list->mask], &list->items[i].next, i);
    return list;
}

struct instance_list *instance_list_create(size_t count, const char *const *names, const uint64_t *keys)
{
    return make_list(count, names, keys, false);
}

struct instance_list *instance_list_create_ready(size_t count, const char *const *names, const uint64_t *keys)
{
    return make_list(count, names, keys, true);
}

size_t instance_list_find(const struct instance_list *list, const char *name)
{
    return instance_list_find_hashed(list, name, instance_name_hash(name));
}

size_t instance_list_find_hashed(const struct instance_list *list, const char *name, uint32_t hash)
{
    for (uint32_t i = list ? list->buckets[hash & list->mask] : 0; i; i = list->items[i - 1].next)
        if (list->items[i - 1].hash == hash && text_equal_nocase(list->items[i - 1].name, name))
            return i - 1;
    return SIZE_MAX;
}

void counter_object_set_instances(struct counter_object *o, struct instance_list *list)
{
    instance_list_release(o->instances);
    o->instances = list;
    o->generation++;
}

HRESULT counter_object_set_rows(struct counter_object *o, size_t rows)
{
    size_t need = rows * o->type->value_count;
    o->rows = 0;
    if (!memory_grow((void **)&o->values, &o->capacity, need, sizeof *o->values))
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < need; i++)
        o->values[i] = VALUE_ABSENT;
    o->rows = rows;
    return S_OK;
}

int64_t *counter_object_row(struct counter_object *o, size_t row)
{
    return o->values + row * o->type->value_count;
}

/* The sampling side. If the query's side is closed while the work item is running, the sampling side exists until the
   work item is complete. */
struct counter_object_work {
    struct timed_work work;
    struct counter_object side, last;
    struct source source;
    uint64_t wanted;
};

static void take_sample(struct counter_object_work *w, bool must_not_wait)
{
    struct counter_object *side = &w->side;
    source_hold_begin(&w->source, &side->hold, must_not_wait);
    side->result = side->type->sample(side, &w->source, w->wanted);
    source_hold_end(&w->source, &side->hold);
}

static void run_sample(struct timed_work *work)
{
    take_sample((struct counter_object_work *)work, false);
}

/* Samples the object on the calling thread. False: the caller must sample the object on another thread. */
static bool sample_on_own_thread(struct counter_object_work *w, uint32_t limit)
{
    const struct counter_object_type *type = w->side.type;
    if (!type->at_once && (!type->tries_at_once || limit == 0))
        return false;
    take_sample(w, !type->at_once);
    return !w->side.hold.would_wait;
}

static void work_free(struct counter_object_work *w)
{
    if (w->side.state && w->side.type->close)
        w->side.type->close(&w->side);
    instance_list_release(w->side.instances);
    instance_list_release(w->last.instances);
    memory_free(w->side.values);
    memory_free(w->last.values);
    memory_free(w->side.state);
    source_close(&w->source);
    memory_free(w);
}

static void abandoned(struct timed_work *work)
{
    work_free((struct counter_object_work *)work);
}

/* Publishes the completed sample as the last sample, and reuses the old values' array for the next sample. */
static void publish_sample(struct counter_object *o)
{
    struct counter_object *side = &o->work->side, *last = &o->work->last;
    struct counter_object old = *last;
    *last = *side;
    last->work = o->work;
    side->values = old.values;
    side->capacity = old.capacity;
    side->rows = 0;
    if (old.instances != last->instances) {
        instance_list_release(old.instances);
        if (last->instances)
            atomic_fetch_add(&last->instances->references, 1);
    }
    *o = *last;
}

/* Publishes the completed sample, or records that the sample is not complete. */
static void settle_sample(struct counter_object *o, struct source *source)
{
    if (timed_work_running(&o->work->work)) {
        o->result = HRESULT_FROM_WIN32(ERROR_TIMEOUT);
        o->time = (struct source_time){clock_utc(), clock_ticks()};
    } else if (SUCCEEDED(o->work->side.result)) {
        publish_sample(o);
    } else {
        o->result = o->work->side.result;
        o->time = o->work->side.time;
    }
    uint64_t local = (uint64_t)clock_local(&source->zone, o->time.utc);
    o->local_time.dwLowDateTime = (DWORD)local;
    o->local_time.dwHighDateTime = (DWORD)(local >> 32);
}

/* The number of objects that are sampled together. A slow object does not delay the other objects of its group. */
#define MOST_AT_ONCE 64

static void sample_some(const struct counter_object_use *uses, size_t count, struct source *source)
{
    struct timed_work *work[MOST_AT_ONCE];
    const uint32_t limit = source_limit();
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        struct counter_object_work *w = uses[i].object->work;
        if (timed_work_running(&w->work))
            continue; /* still running since an earlier sample */
        w->wanted = uses[i].wanted;
        if (!sample_on_own_thread(w, limit))
            work[n++] = &w->work;
    }
    if (n > 0)
        timed_work_run(work, n, limit);
    for (size_t i = 0; i < count; i++)
        settle_sample(uses[i].object, source);
}

void counter_objects_sample(const struct counter_object_use *uses, size_t count, struct source *source)
{
    for (size_t i = 0; i < count; i += MOST_AT_ONCE)
        sample_some(uses + i, count - i < MOST_AT_ONCE ? count - i : MOST_AT_ONCE, source);
}

static struct counter_object_work *work_create(const struct counter_object_type *type, struct source *source)
{
    struct counter_object_work *w = memory_zero(1, sizeof *w);
    if (!w)
        return NULL;
    w->work.run = run_sample;
    w->work.abandoned = abandoned;
    w->side.type = w->last.type = type;
    w->side.last = &w->last;
    w->side.state = memory_zero(1, type->state_size);
    if (!w->side.state || FAILED(source_share(source, &w->source))) {
        work_free(w);
        return NULL;
    }
    return w;
}

HRESULT counter_object_open(const struct counter_object_type *type, struct source *source, struct counter_object **out)
{
    struct counter_object *o = memory_zero(1, sizeof *o);
    struct counter_object_work *w = o ? work_create(type, source) : NULL;
    *out = NULL;
    if (!w) {
        memory_free(o);
        return E_OUTOFMEMORY;
    }
    o->type = type;
    o->state = w->side.state;
    o->work = w;
    timed_work_enter();
    counter_objects_sample(&(struct counter_object_use){o, UINT64_MAX}, 1, source);
    if (o->result == HRESULT_FROM_WIN32(ERROR_TIMEOUT)) {
        o->present = UINT64_MAX;
    } else if (FAILED(o->result)) {
        HRESULT hr = o->result;
        counter_object_close(o);
        return hr;
    }
    *out = o;
    return S_OK;
}

void counter_object_close(struct counter_object *o)
{
    if (!o)
        return;
    if (timed_work_release(&o->work->work))
        work_free(o->work);
    timed_work_leave();
    memory_free(o);
}

uint32_t counter_object_find_counter(const struct counter_object *o, const char *name)
{
    const struct counter_object_type *p = o->type;
    for (uint32_t i = 0; i < p->counter_count; i++)
        if (counter_object_has_counter(o, i) && text_equal_nocase(p->counters[i].name, name))
            return i;
    return p->counter_count;
}

int64_t counter_object_time_base(const struct counter_object *o, uint32_t counter)
{
    return o->type->time_base ? o->type->time_base(o, counter) : formula_time_base(o->type->counters[counter].type);
}

/* Returns PDH's SecondValue: the denominator or the time of the value. */
static int64_t second_value(const struct counter_object *o, const int64_t *row, const struct counter_schema *c)
{
    if (!(c->type & PERF_TYPE_COUNTER))
        return 0;
    if (formula_is_fraction(c->type))
        return row[c->base];
    return c->type & (PERF_TIMER_100NS | PERF_OBJECT_TIMER) ? o->time.utc : o->time.ticks;
}

void counter_object_raw(const struct counter_object *o, size_t row, uint32_t counter, PDH_RAW_COUNTER *out)
{
    *out = (PDH_RAW_COUNTER){.CStatus = PDH_CSTATUS_INVALID_DATA, .TimeStamp = o->local_time, .MultiCount = 1};
    if (FAILED(o->result)) {
        out->CStatus = (DWORD)pdh_status_of(o->result, PDH_CSTATUS_INVALID_DATA);
        return;
    }
    if (row >= o->rows) {
        out->CStatus = PDH_CSTATUS_NO_INSTANCE;
        return;
    }
    if (o->type->raw) {
        o->type->raw(o, row, counter, out);
        return;
    }
    const struct counter_schema *c = &o->type->counters[counter];
    const int64_t *values = o->values + row * o->type->value_count;
    if (values[counter] == VALUE_ABSENT)
        return;
    out->CStatus = PDH_CSTATUS_VALID_DATA;
    out->FirstValue = c->type & PERF_SIZE_LARGE ? values[counter] : (int64_t)(uint32_t)values[counter];
    out->SecondValue = second_value(o, values, c);
}
