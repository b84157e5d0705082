/* SPDX-License-Identifier: MIT */
/* The server's sets. */
#include "engine/pdh/remote/sets.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"

#define LOOK_AGAIN_MS 1000

HRESULT pcq_server_open(struct catalogue *catalogue, struct pcq_server **out)
{
    *out = memory_zero(1, sizeof **out);
    if (!*out) {
        catalogue_close(catalogue);
        return E_OUTOFMEMORY;
    }
    if (query_create(0, catalogue, &(*out)->query) != ERROR_SUCCESS) {
        memory_free(*out);
        *out = NULL;
        return E_OUTOFMEMORY;
    }
    return S_OK;
}

void pcq_server_close(struct pcq_server *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->member_count; i++)
        pcq_members_free(&s->members[i]);
    query_destroy(s->query);
    memory_free(s->members);
    memory_free(s);
}

HRESULT pcq_sets_refresh(struct pcq_server *s)
{
    struct catalogue *c = s->query->catalogue;
    uint64_t now = clock_monotonic_ms();
    if (!c->functions->refresh || (s->looked && clock_passed_ms(s->looked, now) < LOOK_AGAIN_MS))
        return S_OK;
    PDH_STATUS status = c->functions->refresh(c, NULL);
    if (status == (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE)
        return E_OUTOFMEMORY;
    s->looked = now ? now : 1;
    return S_OK;
}

HRESULT pcq_set_at(struct pcq_server *s, size_t position, struct pcq_set *out)
{
    void *items = s->members;
    bool ok = memory_grow(&items, &s->member_capacity, position + 1, sizeof *s->members);
    s->members = items;
    if (!ok)
        return E_OUTOFMEMORY;
    while (s->member_count <= position)
        s->members[s->member_count++] = (struct pcq_members){0};
    *out = (struct pcq_set){.position = position, .members = &s->members[position]};
    PDH_STATUS status = query_object(s->query, position, &out->object);
    if (status == (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE)
        return E_OUTOFMEMORY;
    return status != ERROR_SUCCESS ? S_FALSE : pcq_members_of(&s->members[position], out->object);
}

static DWORD find(struct pcq_server *s, const GUID *guid, size_t from, struct pcq_set *out)
{
    struct catalogue *c = s->query->catalogue;
    for (size_t i = from; i < c->count; i++) {
        GUID own;
        pcq_guid(c->providers[i], &own);
        if (!guid_equal(&own, guid))
            continue;
        HRESULT hr = pcq_set_at(s, i, out);
        return FAILED(hr) ? PCQ_OUT_OF_MEMORY : hr == S_OK ? ERROR_SUCCESS : PCQ_GUID_NOT_FOUND;
    }
    return PCQ_GUID_NOT_FOUND;
}

DWORD pcq_set_find(struct pcq_server *s, const GUID *guid, struct pcq_set *out)
{
    size_t known = s->query->catalogue->count;
    DWORD error = find(s, guid, 0, out);
    if (error == PCQ_GUID_NOT_FOUND)
        error = FAILED(pcq_sets_refresh(s)) ? PCQ_OUT_OF_MEMORY : find(s, guid, known, out);
    return error;
}

void pcq_sets_sample(struct pcq_server *s, const struct counter_object_use *uses, size_t count)
{
    struct catalogue *c = s->query->catalogue;
    if (c->functions->begin)
        c->functions->begin(c);
    source_begin(&s->query->source);
    counter_objects_sample(uses, count, &s->query->source);
}

DWORD pcq_error_of(HRESULT hr)
{
    return ((uint32_t)hr >> 16 & 0x1FFF) == 7 ? (uint32_t)hr & 0xFFFF : PCQ_SAMPLE_FAILED;
}
