/* SPDX-License-Identifier: MIT */
/* The bytes of the filters of enables: blocks of an arena, each of which is the enable's whose record names it, and
   free with it. */
#include "engine/base/memory.h"
#include "engine/etw/directory/directory_parts.h"
#include "engine/etw/etw_provider_types.h"
#include "engine/etw/etw_types.h"

static uint32_t rounded(uint32_t size)
{
    return (size + 7) & ~7u;
}

uint32_t directory_filter_units(uint32_t bytes)
{
    return (bytes + ARENA_UNIT - 1) / ARENA_UNIT;
}

/* Marks what enables use that somebody sees, or will. */
static void mark_used(struct directory *d, uint64_t used[ARENA_UNITS / 64])
{
    const uint32_t enables = directory_bounded(&d->shared->enables_used, DIRECTORY_ENABLES);
    for (uint32_t i = 0; i < enables; i++) {
        struct enable_record *record = &d->shared->enable[i];
        struct enable_payload p;
        if (directory_is_free(d, &record->span))
            continue;
        directory_load(&p, record->words, sizeof p);
        if (p.filter_bytes > DIRECTORY_FILTER_BYTES * 2u || p.filter_at >= ARENA_UNITS)
            continue;
        const uint32_t end = p.filter_at + directory_filter_units(p.filter_bytes);
        for (uint32_t unit = p.filter_at; unit < end && unit < ARENA_UNITS; unit++)
            used[unit / 64] |= UINT64_C(1) << unit % 64;
    }
}

/* The first run of free units; ARENA_UNITS: there is none. */
static uint32_t find_free(const uint64_t used[ARENA_UNITS / 64], uint32_t units)
{
    uint32_t run = 0;
    for (uint32_t unit = 0; unit < ARENA_UNITS; unit++) {
        run = used[unit / 64] >> unit % 64 & 1 ? 0 : run + 1;
        if (run == units)
            return unit + 1 - units;
    }
    return ARENA_UNITS;
}

static HRESULT check_filters(const struct directory_enable *e, uint32_t *bytes)
{
    uint32_t data = 0;
    if (e->filter_count > DIRECTORY_FILTERS)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER), "filters: %u are more than %u",
                         (unsigned)e->filter_count, (unsigned)DIRECTORY_FILTERS);
    for (uint32_t i = 0; i < e->filter_count; i++) {
        if (e->filter[i].size > DIRECTORY_FILTER_BYTES - data ||
            rounded(e->filter[i].size) > DIRECTORY_FILTER_BYTES - data)
            return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER), "filters: more than %u bytes",
                             (unsigned)DIRECTORY_FILTER_BYTES);
        data += rounded(e->filter[i].size);
    }
    *bytes = e->filter_count * 8 + data;
    return S_OK;
}

HRESULT directory_filters_put(struct directory *d, const struct directory_enable *e, struct enable_payload *payload)
{
    uint64_t used[ARENA_UNITS / 64] = {0};
    uint32_t bytes = 0, at;
    HRESULT hr = check_filters(e, &bytes);
    payload->filter_count = 0;
    payload->filter_at = payload->filter_bytes = 0;
    if (FAILED(hr) || e->filter_count == 0)
        return hr;
    mark_used(d, used);
    const uint32_t first = find_free(used, directory_filter_units(bytes));
    if (first == ARENA_UNITS)
        return error_set(HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES), "filters: no room for %u bytes",
                         (unsigned)bytes);
    uint8_t *block = memory_zero(1, bytes);
    if (!block)
        return E_OUTOFMEMORY;
    at = e->filter_count * 8;
    for (uint32_t i = 0; i < e->filter_count; i++) {
        memcpy(block + 8 * i, &e->filter[i].type, 4);
        memcpy(block + 8 * i + 4, &e->filter[i].size, 4);
        if (e->filter[i].size)
            memcpy(block + at, e->filter[i].data, e->filter[i].size);
        at += rounded(e->filter[i].size);
    }
    directory_store(d->shared->arena[first], block, bytes);
    memory_free(block);
    payload->filter_count = (uint16_t)e->filter_count;
    payload->filter_at = first;
    payload->filter_bytes = bytes;
    return S_OK;
}

HRESULT directory_filters_take(struct directory *d, const struct enable_payload *payload, struct directory_enable *out)
{
    const uint32_t count = payload->filter_count, bytes = payload->filter_bytes;
    uint32_t at = count * 8;
    out->filter_count = 0;
    out->filter_data = NULL;
    if (count == 0 || count > DIRECTORY_FILTERS || bytes < at || bytes > at + DIRECTORY_FILTER_BYTES || bytes % 8 ||
        payload->filter_at >= ARENA_UNITS || directory_filter_units(bytes) > ARENA_UNITS - payload->filter_at)
        return S_OK;
    uint8_t *block = memory_alloc(bytes);
    if (!block)
        return E_OUTOFMEMORY;
    directory_load(block, d->shared->arena[payload->filter_at], bytes);
    for (uint32_t i = 0; i < count; i++) {
        struct directory_filter *f = &out->filter[i];
        memcpy(&f->type, block + 8 * i, 4);
        memcpy(&f->size, block + 8 * i + 4, 4);
        if (f->size > bytes - at || rounded(f->size) > bytes - at) {
            memory_free(block);
            return S_OK;
        }
        f->data = block + at;
        at += rounded(f->size);
    }
    out->filter_count = count;
    out->filter_data = block;
    return S_OK;
}
