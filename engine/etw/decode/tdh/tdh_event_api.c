/* SPDX-License-Identifier: MIT */
/* Implements TDH's functions for a single event: its information, its properties, and their text. */
#include "engine/base/memory.h"
#include "engine/etw/decode/program_memory.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/event_values.h"
#include "engine/etw/tmf.h"
#include "engine/logs/little_endian.h"

enum { MOST_PARAMETERS = 64, NAME_UNITS = 1024, PATH_UNITS = 32767 };

/* A copy of an event and its schema. */
struct decoded {
    struct program_event event;
    struct event_schemas *schemas;
    const struct found_schema *found;
    uint32_t pointer_size; /* set by the program; 0: not set */
    bool gmt;              /* times in a WPP message are UTC */
    bool symbols;          /* PDB files were given */
    void *made;            /* bytes of a property that is not in the event's data */
};

static HRESULT take_tmf(const struct tdh_parameter *p)
{
    char *path;
    if (!p->value || p->value != (uintptr_t)p->value)
        return E_INVALIDARG;
    HRESULT hr = program_text((const WCHAR *)(uintptr_t)p->value, PATH_UNITS, &path);
    if (SUCCEEDED(hr))
        hr = tdh_add_tmf(path, p->type == TDH_PARAMETER_TMF_SEARCH_PATH);
    memory_free(path);
    return hr;
}

/* Copies the parameters to *d. A pointer size that the program sets overrides the event's pointer size. */
static HRESULT take_parameters(struct decoded *d, ULONG count, const struct tdh_parameter *parameters)
{
    struct tdh_parameter p;
    if ((count != 0 && !parameters) || count > MOST_PARAMETERS)
        return E_INVALIDARG;
    for (ULONG i = 0; i < count; i++) {
        if (!program_read(&p, &parameters[i], sizeof p))
            return HRESULT_FROM_WIN32(ERROR_NOACCESS);
        if (p.type >= TDH_PARAMETERS)
            return E_INVALIDARG;
        if (p.type == TDH_PARAMETER_TMF_FILE || p.type == TDH_PARAMETER_TMF_SEARCH_PATH) {
            const HRESULT hr = take_tmf(&p);
            if (FAILED(hr))
                return hr;
        }
        if (p.type == TDH_PARAMETER_GMT)
            d->gmt = p.value != 0;
        d->symbols = d->symbols || p.type == TDH_PARAMETER_PDB_PATH;
        if (p.type == TDH_PARAMETER_POINTER_SIZE) {
            if (p.value != 4 && p.value != 8)
                return E_INVALIDARG;
            d->pointer_size = (uint32_t)p.value;
        }
    }
    return S_OK;
}

static void decoded_release(struct decoded *d)
{
    if (d->found)
        found_schema_release(d->schemas, d->found);
    memory_free(d->made);
    program_event_free(&d->event);
}

static HRESULT decoded_open(const EVENT_RECORD *event, ULONG count, const struct tdh_parameter *parameters,
                            struct decoded *d)
{
    *d = (struct decoded){0};
    if (!event)
        return E_INVALIDARG;
    HRESULT hr = take_parameters(d, count, parameters);
    if (SUCCEEDED(hr))
        hr = program_event_take(event, &d->event);
    if (SUCCEEDED(hr))
        hr = tdh_schemas(&d->schemas);
    if (SUCCEEDED(hr) && d->pointer_size != 0) {
        USHORT *flags = &d->event.record.EventHeader.Flags;
        *flags &= (USHORT) ~(EVENT_HEADER_FLAG_32_BIT_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER);
        *flags |= d->pointer_size == 4 ? EVENT_HEADER_FLAG_32_BIT_HEADER : EVENT_HEADER_FLAG_64_BIT_HEADER;
    }
    if (SUCCEEDED(hr)) {
        tdh_take_inband(&d->event.record);
        hr = event_schemas_find(d->schemas, &d->event.record, d->pointer_size, &d->found);
    }
    if (SUCCEEDED(hr))
        hr = d->found->status;
    /* This message may be described in the PDB files that the program named, but PDB files are not supported. */
    if (hr == S_FALSE && d->symbols && d->event.record.EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE)
        hr = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
    if (hr != S_OK)
        decoded_release(d);
    return hr;
}

ULONG WINAPI tdh_get_event_information(const EVENT_RECORD *event, ULONG count, const struct tdh_parameter *parameters,
                                       void *buffer, ULONG *size)
{
    struct decoded d;
    struct tdh_block block;
    if (!size)
        return ERROR_INVALID_PARAMETER;
    HRESULT hr = decoded_open(event, count, parameters, &d);
    if (hr != S_OK)
        return tdh_status(hr);
    hr = tdh_block_event(d.found->schema, event_data_of(&d.event.record, d.pointer_size).pointer_size, &block);
    /* The descriptor is the event's, even if its schema has another version. */
    tdh_block_put(&block, 32, &d.event.record.EventHeader.EventDescriptor, sizeof(EVENT_DESCRIPTOR));
    const ULONG status = hr == S_OK ? program_give(block.bytes, block.size, buffer, size) : tdh_status(hr);
    tdh_block_free(&block);
    decoded_release(&d);
    return status;
}

ULONG WINAPI tdh_get_all_events_information(const EVENT_RECORD *event, void *service, ULONG *index, ULONG *count,
                                            void *buffer, ULONG *size)
{
    const ULONG first = 0, one = 1;
    (void)service; /* WMI is not queried */
    if (!index || !count)
        return ERROR_INVALID_PARAMETER;
    const ULONG status = tdh_get_event_information(event, 0, NULL, buffer, size);
    if (status == ERROR_SUCCESS &&
        (!program_write(index, &first, sizeof first) || !program_write(count, &one, sizeof one)))
        return ERROR_NOACCESS;
    return status;
}

ULONG WINAPI tdh_get_event_map_information(const EVENT_RECORD *event, const WCHAR *name, void *buffer, ULONG *size)
{
    struct decoded d;
    struct tdh_block block = {0};
    char *text;
    if (!name || !size)
        return ERROR_INVALID_PARAMETER;
    HRESULT hr = program_text(name, NAME_UNITS, &text);
    if (FAILED(hr))
        return tdh_status(hr);
    hr = decoded_open(event, 0, NULL, &d);
    if (hr != S_OK) {
        memory_free(text);
        return tdh_status(hr);
    }
    const struct event_map *map = event_schema_map(d.found->schema, text);
    hr = map ? tdh_block_map(map, &block) : S_FALSE;
    const ULONG status = hr == S_OK ? program_give(block.bytes, block.size, buffer, size) : tdh_status(hr);
    tdh_block_free(&block);
    memory_free(text);
    decoded_release(&d);
    return status;
}

/* ---- properties ---- */

static void free_path(struct property_step *path, size_t steps)
{
    for (size_t i = 0; i < steps; i++)
        memory_free((char *)(uintptr_t)path[i].name);
}

static HRESULT take_path(ULONG steps, const struct tdh_property_step *given, struct property_step *path)
{
    HRESULT hr = steps != 0 && steps <= PROPERTY_PATH_STEPS && given ? S_OK : E_INVALIDARG;
    for (ULONG i = 0; SUCCEEDED(hr) && i < steps; i++) {
        struct tdh_property_step step;
        char *name = NULL;
        if (!program_read(&step, &given[i], sizeof step))
            hr = HRESULT_FROM_WIN32(ERROR_NOACCESS);
        else if (!step.name || step.name != (uintptr_t)step.name)
            hr = E_INVALIDARG;
        else
            hr = program_text((const WCHAR *)(uintptr_t)step.name, NAME_UNITS, &name);
        path[i] = (struct property_step){name, step.element};
        if (FAILED(hr))
            free_path(path, i);
    }
    return hr;
}

/* Finds a property of a WPP message, other than an argument. */
static HRESULT find_of_message(struct decoded *d, const char *name, size_t *size)
{
    const EVENT_RECORD *event = &d->event.record;
    struct tmf_property p;
    HRESULT hr = tmf_schema_property(d->found->schema, event, event_data_of(event, d->pointer_size).pointer_size,
                                     d->gmt, name, &p);
    if (SUCCEEDED(hr)) {
        hr = tdh_wpp_value(&p, &d->made, size);
        memory_free(p.text);
    }
    return hr;
}

/* Finds a property. After S_OK, the caller must release `d`. *bytes are the property's bytes, in the event's data or in
   `made`. */
static HRESULT decoded_find_property(const EVENT_RECORD *event, ULONG count, const struct tdh_parameter *parameters,
                                     ULONG steps, const struct tdh_property_step *given, struct decoded *d,
                                     const void **bytes, size_t *size)
{
    struct property_step path[PROPERTY_PATH_STEPS];
    struct found_property found = {0};
    HRESULT hr = take_path(steps, given, path);
    if (FAILED(hr))
        return hr;
    hr = decoded_open(event, count, parameters, d);
    if (hr == S_OK) {
        const struct event_data data = event_data_of(&d->event.record, d->pointer_size);
        hr = event_property_find(d->found->schema, &data, path, steps, &found);
        *bytes = d->event.bytes + found.offset;
        *size = found.size;
        if (hr == S_FALSE && steps == 1 && d->found->schema->message) {
            hr = find_of_message(d, path[0].name, size);
            *bytes = d->made;
        }
        if (hr != S_OK)
            decoded_release(d);
    }
    free_path(path, steps);
    return hr;
}

ULONG WINAPI tdh_get_property_size(const EVENT_RECORD *event, ULONG count, const struct tdh_parameter *parameters,
                                   ULONG steps, const struct tdh_property_step *path, ULONG *size)
{
    struct decoded d;
    const void *bytes;
    size_t found;
    if (!size)
        return ERROR_INVALID_PARAMETER;
    const HRESULT hr = decoded_find_property(event, count, parameters, steps, path, &d, &bytes, &found);
    if (hr != S_OK)
        return tdh_status(hr);
    const ULONG need = (ULONG)found;
    decoded_release(&d);
    return program_write(size, &need, sizeof need) ? ERROR_SUCCESS : ERROR_NOACCESS;
}

ULONG WINAPI tdh_get_property(const EVENT_RECORD *event, ULONG count, const struct tdh_parameter *parameters,
                              ULONG steps, const struct tdh_property_step *path, ULONG size, void *buffer)
{
    struct decoded d;
    const void *bytes;
    size_t found;
    ULONG status = ERROR_SUCCESS;
    const HRESULT hr = decoded_find_property(event, count, parameters, steps, path, &d, &bytes, &found);
    if (hr != S_OK)
        return tdh_status(hr);
    if (size < found)
        status = ERROR_INSUFFICIENT_BUFFER;
    else if (!buffer && found != 0)
        status = ERROR_INVALID_PARAMETER;
    else if (!program_write(buffer, bytes, found))
        status = ERROR_NOACCESS;
    decoded_release(&d);
    return status;
}

ULONG WINAPI tdh_get_property_offset_and_size(const EVENT_RECORD *event, ULONG count,
                                              const struct tdh_parameter *parameters, ULONG steps,
                                              const struct tdh_property_step *path, struct tdh_place *out)
{
    struct decoded d;
    const void *bytes;
    size_t found;
    if (!out)
        return ERROR_INVALID_PARAMETER;
    const HRESULT hr = decoded_find_property(event, count, parameters, steps, path, &d, &bytes, &found);
    if (hr != S_OK)
        return tdh_status(hr);
    const bool in_data = !d.made;
    const struct tdh_place place = {in_data ? (uint32_t)((const uint8_t *)bytes - d.event.bytes) : 0, (uint32_t)found};
    decoded_release(&d);
    if (!in_data)
        return ERROR_NOT_FOUND;
    return program_write(out, &place, sizeof place) ? ERROR_SUCCESS : ERROR_NOACCESS;
}

/* ---- TdhFormatProperty: the text of one value, with a map from a block ---- */

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
