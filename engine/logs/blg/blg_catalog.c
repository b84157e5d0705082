/* SPDX-License-Identifier: MIT */
/* What a binary log has before its samples: the names of its text counters, and the catalog of its counters. */
#include "engine/logs/blg/blg_catalog.h"

#include "engine/base/memory.h"
#include "engine/logs/blg/blg_text.h"
#include "engine/logs/blg_format.h"
#include "engine/logs/little_endian.h"

#include <stdio.h>
#include <string.h>

HRESULT blg_bytes_resize(struct blg_bytes *b, size_t size)
{
    if (size > BLG_MAX_RECORD)
        return error_set(E_INVALIDARG, "a record of %zu bytes is too long for a binary log", size);
    void *data = b->data;
    if (!memory_grow(&data, &b->capacity, size, 1))
        return error_set(E_OUTOFMEMORY, "out of memory for a log record of %zu bytes", size);
    b->data = data;
    b->size = size;
    return S_OK;
}

size_t blg_round_up_8(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

void blg_put_block_head(uint8_t *at, uint16_t kind, size_t size)
{
    at[0] = 'B';
    at[1] = 'L';
    put_u16(at + 2, kind);
    put_u32(at + 4, (uint32_t)size);
}

size_t blg_name_size(const char *name)
{
    size_t i = 0;
    while ((unsigned char)name[i] - 1u < 0x7F) /* ASCII, not the end: nearly every name */
        i++;
    return (!name[i] ? i + 1 : text_utf16_length(name) + 1) * 2;
}

HRESULT blg_put_name(uint8_t *at, const char *name, size_t size)
{
    size_t i = 0;
    for (; (unsigned char)name[i] - 1u < 0x7F; i++) /* ASCII, not the end: nearly every name */
        put_u16(at + 2 * i, (unsigned char)name[i]);
    if (!name[i]) {
        put_u16(at + 2 * i, 0);
        return S_OK;
    }
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(name, &wide, &units);
    if (FAILED(hr))
        return hr;
    if ((units + 1) * 2 != size)
        hr = error_set(E_INVALIDARG, "instance or counter name %s: malformed text", name);
    else
        for (i = 0; i <= units; i++)
            put_u16(at + 2 * i, wide[i]);
    memory_free(wide);
    return hr;
}

static HRESULT add_catalog_entry(struct blg_bytes *catalog, const struct log_counter *c)
{
    enum { NAMES = 5 };
    const bool object = blg_is_text(c);
    const char *names[NAMES] = {c->machine, c->object, c->wildcard || (object && c->instance) ? "*" : c->instance,
                                object ? NULL : c->parent, object ? "*" : c->counter};
    static const uint8_t places[NAMES] = {0x1C, 0x20, 0x24, 0x28, 0x30}; /* of the names' offsets in the entry */
    size_t sizes[NAMES] = {0}, begin = catalog->size, size = BLG_ENTRY_HEAD;
    for (int i = 0; i < NAMES; i++) {
        sizes[i] = names[i] ? blg_name_size(names[i]) : 0;
        size += sizes[i];
    }
    HRESULT hr = blg_bytes_resize(catalog, begin + blg_round_up_8(size));
    if (FAILED(hr))
        return hr;
    uint8_t *entry = catalog->data + begin;
    memset(entry, 0, blg_round_up_8(size));
    put_u32(entry, (uint32_t)blg_round_up_8(size));
    put_u32(entry + 0x04, object ? BLG_ENTRY_OBJECT : c->wildcard ? BLG_ENTRY_WILDCARD : 0);
    put_u32(entry + 0x0C, object ? BLG_ENTRY_OBJECT : c->type);
    if (!object) {
        put_u64(entry + 0x10, (uint64_t)c->time_base);
        put_u32(entry + 0x18, (uint32_t)c->default_scale);
        put_u32(entry + 0x2C, c->index);
    }
    uint32_t offset = 0;
    for (int i = 0; i < NAMES && SUCCEEDED(hr); i++) {
        put_u32(entry + places[i], names[i] ? offset : UINT32_MAX);
        if (names[i]) {
            hr = blg_put_name(entry + BLG_ENTRY_HEAD + offset, names[i], sizes[i]);
            offset += (uint32_t)sizes[i];
        }
    }
    return hr;
}

HRESULT blg_catalog_build(struct blg_bytes *catalog, const struct log_counter *counters, size_t count)
{
    HRESULT hr = blg_bytes_resize(catalog, BLG_CATALOG_HEAD);
    if (SUCCEEDED(hr)) {
        put_u32(catalog->data, 0x000006FF); /* constants of every file seen; 8 is PDH's number of the format */
        put_u32(catalog->data + 4, 0x00020008);
    }
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        hr = add_catalog_entry(catalog, &counters[i]);
    return hr;
}

HRESULT blg_names_build(struct blg_bytes *names, const struct log_counter *counter, size_t place)
{
    enum { TEXTS = 5, INDEX_ROOM = 16 };
    char object[INDEX_ROOM], name[INDEX_ROOM];
    snprintf(object, sizeof object, "%u", (unsigned)blg_text_title(place));
    snprintf(name, sizeof name, "%u", (unsigned)blg_text_title(place) + 2);
    const char *texts[TEXTS] = {counter->machine ? counter->machine : "", object, counter->object, name,
                                counter->counter};
    HRESULT hr = S_OK;
    names->size = 0;
    for (int i = 0; i < TEXTS && SUCCEEDED(hr); i++) {
        const size_t at = names->size, size = blg_name_size(texts[i]);
        hr = blg_bytes_resize(names, at + size);
        if (SUCCEEDED(hr))
            hr = blg_put_name(names->data + at, texts[i], size);
    }
    return hr;
}
