/* SPDX-License-Identifier: MIT */
/* TdhFormatProperty: the text of one value, by a map that a program has got in a block. */
#include "engine/base/memory.h"
#include "engine/etw/decode/program_memory.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/decode/tdh/tdh_block.h"
#include "engine/etw/value_text.h"
#include "engine/logs/little_endian.h"

enum { MOST_ENTRIES = 0x10000, TEXT_UNITS = 0x8000 };

static HRESULT take_text(const uint8_t *block, uint32_t offset, char **out)
{
    *out = NULL;
    return offset != 0 ? program_text((const WCHAR *)(const void *)(block + offset), TEXT_UNITS, out) : S_OK;
}

static HRESULT take_map(const uint8_t *block, struct event_map *map)
{
    uint8_t head[TDH_MAP_HEAD], entry[TDH_MAP_ENTRY];
    *map = (struct event_map){0};
    if (!program_read(head, block, sizeof head))
        return HRESULT_FROM_WIN32(ERROR_NOACCESS);
    const uint32_t count = get_u32(head + 8), texts = get_u32(head + 12);
    map->flag = get_u32(head + 4);
    if (count > MOST_ENTRIES || texts > 1)
        return E_INVALIDARG;
    map->entries = memory_zero(count, sizeof *map->entries);
    HRESULT hr = map->entries ? take_text(block, get_u32(head), &map->name) : E_OUTOFMEMORY;
    for (uint32_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        struct event_map_entry *e = &map->entries[map->count++];
        if (!program_read(entry, block + TDH_MAP_HEAD + (size_t)i * TDH_MAP_ENTRY, sizeof entry))
            return HRESULT_FROM_WIN32(ERROR_NOACCESS);
        hr = take_text(block, get_u32(entry), &e->text);
        if (SUCCEEDED(hr) && texts)
            hr = take_text(block, get_u32(entry + 4), &e->input);
        else
            e->value = get_u32(entry + 4);
    }
    return hr;
}

static ULONG give_text(const char *text, size_t used, ULONG *size, WCHAR *buffer, USHORT *used_out)
{
    WCHAR *wide;
    size_t units;
    const USHORT consumed = (USHORT)used;
    HRESULT hr = text_to_utf16(text, &wide, &units);
    if (FAILED(hr))
        return tdh_status(hr);
    ULONG status = program_give(wide, (units + 1) * sizeof(WCHAR), buffer, size);
    memory_free(wide);
    if (status == ERROR_SUCCESS && !program_write(used_out, &consumed, sizeof consumed))
        status = ERROR_NOACCESS;
    return status;
}

ULONG WINAPI tdh_format_property(const void *info, const void *map, ULONG pointer_size, USHORT in, USHORT out,
                                 USHORT length, USHORT data_size, const uint8_t *data, ULONG *size, WCHAR *buffer,
                                 USHORT *used)
{
    const struct value_type type = {.in = in,
                                    .out = out,
                                    .has_length = length != 0,
                                    .length = length,
                                    .pointer_size = pointer_size,
                                    .six_decimals = true};
    struct event_map own_map = {0};
    struct text_buffer text = {0};
    size_t taken = 0;
    if (!info || (!data && data_size != 0) || !size || !used || (pointer_size != 4 && pointer_size != 8))
        return ERROR_INVALID_PARAMETER;
    uint8_t *own = memory_alloc(data_size);
    HRESULT hr = own ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !program_read(own, data, data_size))
        hr = HRESULT_FROM_WIN32(ERROR_NOACCESS);
    if (SUCCEEDED(hr) && map)
        hr = take_map(map, &own_map);
    if (SUCCEEDED(hr))
        hr = value_text(&type, map ? &own_map : NULL, own, data_size, &text, &taken);
    const ULONG status =
        SUCCEEDED(hr) ? give_text(text.text ? text.text : "", taken, size, buffer, used) : tdh_status(hr);
    event_map_clear(&own_map);
    text_buffer_free(&text);
    memory_free(own);
    return status;
}
