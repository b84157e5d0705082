/* SPDX-License-Identifier: MIT */
/* Samples of performance objects and their instance lists. */
#include "engine/pdh/object.h"
#include "engine/os/memory.h"
#include "engine/os/text.h"
#include <string.h>

const struct provider *const pdh_providers[] = {&pdh_memory, &pdh_process, &pdh_processor, &pdh_system};
const size_t pdh_provider_count = sizeof pdh_providers / sizeof *pdh_providers;

PDH_STATUS pdh_status_of(HRESULT hr, DWORD otherwise)
{
    if (SUCCEEDED(hr)) {
        return ERROR_SUCCESS;
    }
    return hr == E_OUTOFMEMORY ? (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE : (PDH_STATUS)otherwise;
}

/* FNV-1a over ASCII letters in one case; others count alike, since only text_compare_nocase knows their case. */
static uint32_t name_hash(const char *name, size_t length)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        c = c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
        if (c < 0x80) {
            h = (h ^ c) * 16777619u;
        }
    }
    return h;
}

void instance_list_release(struct instance_list *list)
{
    if (!list || --list->references > 0) {
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        memory_free(list->items[i].name);
    }
    memory_free(list->items);
    memory_free(list);
}

static void make_safe(char *name)
{
    for (; *name; name++) {
        if (*name == '(') {
            *name = '[';
        } else if (*name == ')') {
            *name = ']';
        } else if (*name == '/' || *name == '\\' || *name == '#') {
            *name = '_';
        }
    }
}

/* How many of the items before `item` bear its name. */
static unsigned doubles_before(const struct instance_list *list, const struct instance *item)
{
    unsigned doubles = 0;
    for (const struct instance *other = item; other-- > list->items;) {
        if (other->base_hash != item->base_hash) {
            continue;
        }
        char end = other->name[other->base_length];
        other->name[other->base_length] = 0;
        bool same = text_equal_nocase(other->name, item->name);
        other->name[other->base_length] = end;
        if (same) {
            /* The nearest one knows its own number. */
            uint64_t number = 0;
            if (end && text_to_u64(other->name + other->base_length + 1, &number)) {
                doubles = (unsigned)number;
            }
            return doubles + 1;
        }
    }
    return 0;
}

static bool set_instance(struct instance_list *list, size_t at, const char *name, uint64_t key)
{
    struct instance *item = &list->items[at];
    char *base = text_copy(name);
    if (!base) {
        return false;
    }
    make_safe(base);
    size_t length = strlen(base);
    uint32_t hash = name_hash(base, length);
    *item = (struct instance){base, length, hash, hash, key};
    list->count = at + 1;
    unsigned doubles = doubles_before(list, item);
    if (doubles) {
        item->name = text_format("%s#%u", base, doubles);
        memory_free(base);
        list->count = item->name ? at + 1 : at;
        item->hash = item->name ? name_hash(item->name, strlen(item->name)) : 0;
    }
    return item->name != NULL;
}

struct instance_list *instance_list_create(size_t count, const char *const *names, const uint64_t *keys)
{
    struct instance_list *list = memory_zero(1, sizeof *list);
    if (!list) {
        return NULL;
    }
    list->references = 1;
    list->items = memory_zero(count, sizeof *list->items);
    for (size_t i = 0; list->items && i < count; i++) {
        if (!set_instance(list, i, names[i], keys[i])) {
            break;
        }
    }
    if (!list->items || list->count < count) {
        instance_list_release(list);
        return NULL;
    }
    return list;
}

size_t instance_list_find(const struct instance_list *list, const char *name)
{
    uint32_t hash = name_hash(name, strlen(name));
    for (size_t i = 0; list && i < list->count; i++) {
        if (list->items[i].hash == hash && text_equal_nocase(list->items[i].name, name)) {
            return i;
        }
    }
    return SIZE_MAX;
}

void object_set_instances(struct object *o, struct instance_list *list)
{
    instance_list_release(o->instances);
    o->instances = list;
    o->generation++;
}

HRESULT object_set_rows(struct object *o, size_t rows)
{
    size_t need = rows * o->provider->value_count;
    o->rows = 0;
    if (!memory_grow((void **)&o->values, &o->capacity, need, sizeof *o->values)) {
        return E_OUTOFMEMORY;
    }
    for (size_t i = 0; i < need; i++) {
        o->values[i] = VALUE_ABSENT;
    }
    o->rows = rows;
    return S_OK;
}

int64_t *object_row(struct object *o, size_t row)
{
    return o->values + row * o->provider->value_count;
}

HRESULT object_sample(struct object *o, struct source *source, uint64_t wanted)
{
    o->result = o->provider->sample(o, source, wanted);
    uint64_t local = (uint64_t)source_local(source, o->time.utc);
    o->local_time.dwLowDateTime = (DWORD)local;
    o->local_time.dwHighDateTime = (DWORD)(local >> 32);
    return o->result;
}

HRESULT object_open(const struct provider *provider, struct source *source, struct object **out)
{
    struct object *o = memory_zero(1, sizeof *o);
    *out = NULL;
    if (!o) {
        return E_OUTOFMEMORY;
    }
    o->provider = provider;
    o->state = memory_zero(1, provider->state_size);
    if (!o->state) {
        memory_free(o);
        return E_OUTOFMEMORY;
    }
    HRESULT hr = object_sample(o, source, UINT64_MAX);
    if (FAILED(hr)) {
        object_close(o);
        return hr;
    }
    *out = o;
    return S_OK;
}

void object_close(struct object *o)
{
    if (!o) {
        return;
    }
    if (o->provider->close) {
        o->provider->close(o);
    }
    instance_list_release(o->instances);
    memory_free(o->state);
    memory_free(o->values);
    memory_free(o);
}

uint32_t object_find_counter(const struct object *o, const char *name)
{
    const struct provider *p = o->provider;
    for (uint32_t i = 0; i < p->counter_count; i++) {
        if ((o->present >> i & 1) && text_equal_nocase(p->counters[i].name, name)) {
            return i;
        }
    }
    return p->counter_count;
}

/* PDH's SecondValue: what the formula divides by or counts from. */
static int64_t second_value(const struct object *o, const int64_t *row, const struct counter_schema *c)
{
    if (!(c->type & PERF_TYPE_COUNTER)) {
        return 0;
    }
    if ((c->type & 0x00070000) == PERF_COUNTER_FRACTION) {
        return row[c->base];
    }
    return c->type & (PERF_TIMER_100NS | PERF_OBJECT_TIMER) ? o->time.utc : o->time.ticks;
}

void object_raw(const struct object *o, size_t row, uint32_t counter, PDH_RAW_COUNTER *out)
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
    const struct counter_schema *c = &o->provider->counters[counter];
    const int64_t *values = o->values + row * o->provider->value_count;
    if (values[counter] == VALUE_ABSENT) {
        return;
    }
    out->CStatus = PDH_CSTATUS_VALID_DATA;
    out->FirstValue = c->type & PERF_SIZE_LARGE ? values[counter] : (int64_t)(uint32_t)values[counter];
    out->SecondValue = second_value(o, values, c);
}
