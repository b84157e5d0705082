/* SPDX-License-Identifier: MIT */
/* GUIDs and numbers of objects and counters, made of their names. */
#include "engine/pdh/members.h"

#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "engine/pdh/remote/blocks.h"

#include <string.h>

#define SUBTYPE(type)     ((type)&0x00070000)
#define SUBTYPE_PRECISION 0x00070000 /* PERF_COUNTER_PRECISION */
#define TIMER(type)       ((type)&0x00300000)
#define SIZE(type)        ((type)&0x00000300)
/* An id made of a name is between Windows' numbers of names and the bits of parts. */
#define ID_OF_NAME        0x01000000u

void pcq_guid(const struct provider *p, GUID *out)
{
    if (p->guid) {
        *out = *p->guid;
        return;
    }
    /* A UUID of version 8 (RFC 9562), whose makers choose its bits. */
    uint64_t high = hash_text(hash_text(HASH_START, "OpenPLA counterset:"), p->name),
             low = hash_text(hash_text(HASH_START, "OpenPLA object:"), p->name);
    *out = (GUID){.Data1 = (uint32_t)(high >> 32),
                  .Data2 = (uint16_t)(high >> 16),
                  .Data3 = (uint16_t)((high & 0x0FFF) | 0x8000)};
    for (int i = 0; i < 8; i++)
        out->Data4[i] = (uint8_t)(low >> (56 - 8 * i));
    out->Data4[0] = (uint8_t)((out->Data4[0] & 0x3F) | 0x80);
}

uint32_t pcq_id(const struct provider *p, uint32_t counter, enum pcq_part part)
{
    static const uint32_t bits[PCQ_PARTS] = {0, 0x80000000, 0x40000000, 0x20000000, 0x10000000};
    const struct counter_schema *c = &p->counters[counter];
    if (p->value_ids && part == PCQ_PART_BASE)
        return p->value_ids[c->base];
    uint32_t id = p->value_ids ? p->value_ids[counter]
                  : c->index   ? c->index
                               : ID_OF_NAME | (uint32_t)(hash_text(HASH_START, c->name) >> 40);
    return id ^ bits[part];
}

static uint32_t base_type(uint32_t type)
{
    switch (type) {
    case PERF_AVERAGE_TIMER:
    case PERF_AVERAGE_BULK:
        return PERF_AVERAGE_BASE;
    case PERF_SAMPLE_FRACTION:
        return PERF_SAMPLE_BASE;
    case PERF_RAW_FRACTION:
        return PERF_RAW_BASE;
    default:
        return PERF_LARGE_RAW_BASE;
    }
}

uint32_t pcq_part_type(const struct counter_schema *c, enum pcq_part part)
{
    bool counted = (c->type & PERF_TYPE_COUNTER) != 0, of_object = counted && TIMER(c->type) == PERF_OBJECT_TIMER;
    bool fraction =
        counted && (SUBTYPE(c->type) == PERF_COUNTER_FRACTION || (SUBTYPE(c->type) == SUBTYPE_PRECISION && !of_object));
    switch (part) {
    case PCQ_PART_VALUE:
        return SIZE(c->type) > PERF_SIZE_LARGE ? PCQ_NO_PART : c->type;
    case PCQ_PART_BASE:
        return fraction ? base_type(c->type) : PCQ_NO_PART;
    case PCQ_PART_TIME:
    case PCQ_PART_FREQUENCY:
        return of_object && !fraction ? PERF_COUNTER_LARGE_RAWCOUNT : PCQ_NO_PART;
    default:
        return counted && (c->type & PERF_MULTI_COUNTER) ? PERF_COUNTER_RAWCOUNT : PCQ_NO_PART;
    }
}

const struct pcq_member *pcq_member_find(const struct pcq_members *m, uint32_t id)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->items[i].id == id)
            return &m->items[i];
    return NULL;
}

void pcq_members_free(struct pcq_members *m)
{
    memory_free(m->items);
    *m = (struct pcq_members){0};
}

HRESULT pcq_members_of(struct pcq_members *m, const struct counter_object *o)
{
    const struct provider *p = o->provider;
    struct pcq_members made = {.present = o->present};
    if (m->items && m->present == o->present)
        return S_OK;
    for (uint32_t i = 0; i < p->counter_count; i++) {
        for (int part = 0; part < PCQ_PARTS; part++) {
            struct pcq_member one = {.id = pcq_id(p, i, (enum pcq_part)part),
                                     .counter = i,
                                     .part = (enum pcq_part)part,
                                     .type = pcq_part_type(&p->counters[i], (enum pcq_part)part)};
            if (!counter_object_has_counter(o, i) || one.type == PCQ_NO_PART ||
                pcq_part_type(&p->counters[i], PCQ_PART_VALUE) == PCQ_NO_PART)
                continue;
            if (p->value_ids && part == PCQ_PART_BASE && pcq_member_find(&made, one.id))
                continue; /* of two counters */
            void *items = made.items;
            bool ok = memory_grow(&items, &made.capacity, made.count + 1, sizeof *made.items);
            made.items = items;
            if (!ok) {
                pcq_members_free(&made);
                return E_OUTOFMEMORY;
            }
            made.items[made.count++] = one;
        }
    }
    if (!made.items)
        made.items = memory_zero(1, sizeof *made.items);
    if (!made.items)
        return E_OUTOFMEMORY;
    pcq_members_free(m);
    *m = made;
    return S_OK;
}

bool pcq_member_value(const struct counter_object *o, size_t row, const struct pcq_member *member, uint64_t *out)
{
    PDH_RAW_COUNTER raw;
    counter_object_raw(o, row, member->counter, &raw);
    switch (member->part) {
    case PCQ_PART_VALUE:
        *out = (uint64_t)raw.FirstValue;
        break;
    case PCQ_PART_BASE:
    case PCQ_PART_TIME:
        *out = (uint64_t)raw.SecondValue;
        break;
    case PCQ_PART_FREQUENCY:
        *out = (uint64_t)counter_object_time_base(o, member->counter);
        break;
    default:
        *out = raw.MultiCount;
        break;
    }
    return raw.CStatus == PDH_CSTATUS_VALID_DATA || raw.CStatus == PDH_CSTATUS_NEW_DATA;
}

uint32_t pcq_instance_id(const struct instance *instance)
{
    uint32_t id = (uint32_t)(instance->key ^ instance->key >> 32);
    return id == PCQ_ANY ? PCQ_ANY - 1 : id;
}
