/* SPDX-License-Identifier: MIT */
/* Filters of event providers: checks the data of each filter type, and decides which events pass the filters of an
   enable setting. */
#include "engine/etw/provider/provider_filter.h"

#include "engine/base/memory.h"
#include "engine/etw/decode/payload_filter.h"
#include "engine/etw/etw_types.h"
#include "engine/logs/little_endian.h"

#include <string.h>

#define FILTER_IDS_HEAD  4  /* u8 FilterIn, u8 reserved, u16 Count, then a u16 for each id */
#define FILTER_NAME_HEAD 20 /* u64 any, u64 all, u8 level, u8 FilterIn, u16 Count, then UTF-8 strings with NULs */

static bool is_ids(const uint8_t *data, uint32_t size)
{
    uint16_t count;
    if (size < FILTER_IDS_HEAD)
        return false;
    memcpy(&count, data + 2, sizeof count);
    return count >= 1 && count <= MAX_EVENT_FILTER_EVENT_ID_COUNT && size >= FILTER_IDS_HEAD + 2u * count &&
           data[0] <= 1;
}

static bool is_names(const uint8_t *data, uint32_t size)
{
    uint16_t count;
    uint32_t found = 0;
    if (size <= FILTER_NAME_HEAD || data[17] > 1)
        return false;
    memcpy(&count, data + 18, sizeof count);
    for (uint32_t i = FILTER_NAME_HEAD; i < size; i++)
        found += data[i] == 0;
    return count >= 1 && found >= count;
}

static bool is_level_keyword(const uint8_t *data, uint32_t size)
{
    return size >= 18 && data[17] <= 1;
}

static bool is_schematized(const uint8_t *data, uint32_t size)
{
    EVENT_FILTER_HEADER head;
    if (size < sizeof head)
        return false;
    memcpy(&head, data, sizeof head);
    return head.Size == size && head.InstanceId == 0 && head.NextOffset == 0;
}

static bool is_processes(const uint8_t *data, uint32_t size)
{
    (void)data;
    return size % sizeof(uint32_t) == 0;
}

static bool is_wide_text(const uint8_t *data, uint32_t size)
{
    (void)data;
    return size % sizeof(uint16_t) == 0;
}

/* Returns whether OpenPLA's TDH created the payload filter. Providers cannot evaluate other payload filters. */
static bool is_payload(const uint8_t *data, uint32_t size)
{
    struct payload_filter *f;
    const HRESULT hr = payload_filter_read(data, size, &f);
    if (SUCCEEDED(hr))
        payload_filter_free(f);
    return SUCCEEDED(hr) || hr == E_OUTOFMEMORY;
}

static const struct filter_kind filter_kinds[] = {
    {EVENT_FILTER_TYPE_SCHEMATIZED, 1, MAX_EVENT_FILTER_DATA_SIZE, is_schematized, "EVENT_FILTER_TYPE_SCHEMATIZED"},
    {EVENT_FILTER_TYPE_SYSTEM_FLAGS, 1, MAX_EVENT_FILTER_DATA_SIZE, NULL, "EVENT_FILTER_TYPE_SYSTEM_FLAGS"},
    {EVENT_FILTER_TYPE_TRACEHANDLE, 8, 8, NULL, "EVENT_FILTER_TYPE_TRACEHANDLE"},
    {EVENT_FILTER_TYPE_PID, 4, MAX_EVENT_FILTER_PID_COUNT * 4, is_processes, "EVENT_FILTER_TYPE_PID"},
    {EVENT_FILTER_TYPE_EXECUTABLE_NAME, 2, MAX_EVENT_FILTER_DATA_SIZE, is_wide_text,
     "EVENT_FILTER_TYPE_EXECUTABLE_NAME"},
    {EVENT_FILTER_TYPE_PACKAGE_ID, 2, MAX_EVENT_FILTER_DATA_SIZE, is_wide_text, "EVENT_FILTER_TYPE_PACKAGE_ID"},
    {EVENT_FILTER_TYPE_PACKAGE_APP_ID, 2, MAX_EVENT_FILTER_DATA_SIZE, is_wide_text, "EVENT_FILTER_TYPE_PACKAGE_APP_ID"},
    {EVENT_FILTER_TYPE_PAYLOAD, 1, MAX_EVENT_FILTER_PAYLOAD_SIZE, is_payload, "EVENT_FILTER_TYPE_PAYLOAD"},
    {EVENT_FILTER_TYPE_EVENT_ID, 4, 4 + MAX_EVENT_FILTER_EVENT_ID_COUNT * 2 + 4, is_ids, "EVENT_FILTER_TYPE_EVENT_ID"},
    {EVENT_FILTER_TYPE_EVENT_NAME, 1, MAX_EVENT_FILTER_EVENT_NAME_SIZE, is_names, "EVENT_FILTER_TYPE_EVENT_NAME"},
    {EVENT_FILTER_TYPE_STACKWALK, 4, 4 + MAX_EVENT_FILTER_EVENT_ID_COUNT * 2 + 4, is_ids,
     "EVENT_FILTER_TYPE_STACKWALK"},
    {EVENT_FILTER_TYPE_STACKWALK_NAME, 1, MAX_EVENT_FILTER_EVENT_NAME_SIZE, is_names,
     "EVENT_FILTER_TYPE_STACKWALK_NAME"},
    {EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, 18, 24, is_level_keyword, "EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW"},
};

const struct filter_kind *filter_kind_at(size_t index)
{
    return index < sizeof filter_kinds / sizeof *filter_kinds ? &filter_kinds[index] : NULL;
}

const struct filter_kind *filter_kind_of(uint32_t type)
{
    for (size_t i = 0; i < sizeof filter_kinds / sizeof *filter_kinds; i++)
        if (filter_kinds[i].type == type)
            return &filter_kinds[i];
    return NULL;
}

/* ---- which processes ---- */

static bool has_process(const struct directory_filter *f, const struct directory_process *own)
{
    struct directory_filter_process p;
    for (uint32_t i = 0; i < f->size / sizeof p; i++) {
        memcpy(&p, f->data + i * sizeof p, sizeof p);
        if (p.id == own->id && p.start_time == own->start_time && p.start_time != 0)
            return true;
    }
    return false;
}

/* Returns whether the filter names the program. The filter's data are UTF-16 names separated by `;`. */
static bool has_program(const struct directory_filter *f, const char *program)
{
    WCHAR units[MAX_EVENT_FILTER_DATA_SIZE / sizeof(WCHAR)];
    size_t count = 0;
    char *names;
    bool found = false;
    if (!program || f->size > sizeof units)
        return false;
    for (uint32_t i = 0; i + 2 <= f->size && get_u16(f->data + i) != 0; i += 2)
        units[count++] = get_u16(f->data + i);
    if (FAILED(text_from_utf16(units, count, true, &names)))
        return false;
    for (char *name = names; name && !found;) {
        char *next = strchr(name, ';');
        if (next)
            *next++ = 0;
        found = text_equal_nocase(name, program);
        name = next;
    }
    memory_free(names);
    return found;
}

bool provider_filter_admits(const struct directory_enable *e, const struct provider_scope *own)
{
    for (uint32_t i = 0; i < e->filter_count; i++) {
        const struct directory_filter *f = &e->filter[i];
        if ((f->type == EVENT_FILTER_TYPE_PID && !has_process(f, &own->process)) ||
            (f->type == EVENT_FILTER_TYPE_EXECUTABLE_NAME && !has_program(f, own->program)) ||
            f->type == EVENT_FILTER_TYPE_PACKAGE_ID || f->type == EVENT_FILTER_TYPE_PACKAGE_APP_ID)
            return false;
    }
    return true;
}

/* ---- which events ---- */

/* EVENT_FILTER_EVENT_ID: {u8 FilterIn, u8, u16 Count, u16 Events[]} */
struct id_filter {
    bool set, in;
    uint16_t count;
    uint16_t id[MAX_EVENT_FILTER_EVENT_ID_COUNT];
};
/* EVENT_FILTER_LEVEL_KW: {u64 any, u64 all, u8 Level, u8 FilterIn} */
struct mask_filter {
    bool set, in;
    uint8_t level;
    uint64_t any, all;
};
/* EVENT_FILTER_EVENT_NAME: {u64 any, u64 all, u8 Level, u8 FilterIn, u16 NameCount, names} */
struct name_filter {
    struct mask_filter mask;
    uint16_t count;
    uint32_t bytes;
    uint8_t *names; /* one after another, each with its NUL */
};

struct provider_filter {
    uint32_t references; /* number of references, without the creator's */
    struct id_filter ids, stack_ids;
    struct name_filter names, stack_names;
    struct mask_filter stack_masks;
    uint8_t *schematized;
    uint32_t schematized_size;
    struct payload_filter *payload;
};

enum { MASK_BYTES = 18, NAMES_AT = 20 };

static HRESULT bad_filter(const struct directory_filter *f)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "malformed event filter: type 0x%08X, %u bytes",
                     (unsigned)f->type, (unsigned)f->size);
}

static HRESULT read_ids(const struct directory_filter *f, struct id_filter *out)
{
    const uint32_t count = f->size >= 4 ? get_u16(f->data + 2) : 0;
    if (f->size < 4 || count > MAX_EVENT_FILTER_EVENT_ID_COUNT || f->size < 4 + 2 * count)
        return bad_filter(f);
    out->set = true;
    out->in = f->data[0] != 0;
    out->count = (uint16_t)count;
    for (uint32_t i = 0; i < count; i++)
        out->id[i] = get_u16(f->data + 4 + 2 * (size_t)i);
    return S_OK;
}

static HRESULT read_mask(const struct directory_filter *f, struct mask_filter *out)
{
    if (f->size < MASK_BYTES)
        return bad_filter(f);
    *out = (struct mask_filter){true, f->data[17] != 0, f->data[16], get_u64(f->data), get_u64(f->data + 8)};
    return S_OK;
}

static HRESULT read_names(const struct directory_filter *f, struct name_filter *out)
{
    HRESULT hr = read_mask(f, &out->mask);
    if (FAILED(hr) || f->size < NAMES_AT)
        return bad_filter(f);
    const uint32_t bytes = f->size - NAMES_AT;
    const uint8_t *at = f->data + NAMES_AT, *end = at + bytes;
    out->count = get_u16(f->data + 18);
    for (uint16_t i = 0; i < out->count; i++) {
        const uint8_t *nul = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
        if (!nul)
            return bad_filter(f);
        at = nul + 1;
    }
    out->bytes = bytes;
    out->names = memory_copy(f->data + NAMES_AT, bytes);
    return out->names ? S_OK : E_OUTOFMEMORY;
}

static HRESULT read_one(const struct directory_filter *f, struct provider_filter *out)
{
    switch (f->type) {
    case EVENT_FILTER_TYPE_EVENT_ID:
        return read_ids(f, &out->ids);
    case EVENT_FILTER_TYPE_STACKWALK:
        return read_ids(f, &out->stack_ids);
    case EVENT_FILTER_TYPE_EVENT_NAME:
        return out->names.names ? bad_filter(f) : read_names(f, &out->names);
    case EVENT_FILTER_TYPE_STACKWALK_NAME:
        return out->stack_names.names ? bad_filter(f) : read_names(f, &out->stack_names);
    case EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW:
        return read_mask(f, &out->stack_masks);
    case EVENT_FILTER_TYPE_SCHEMATIZED:
        if (out->schematized)
            return bad_filter(f);
        out->schematized = memory_copy(f->data, f->size);
        out->schematized_size = f->size;
        return out->schematized ? S_OK : E_OUTOFMEMORY;
    case EVENT_FILTER_TYPE_PAYLOAD:
        return out->payload ? bad_filter(f) : payload_filter_read(f->data, f->size, &out->payload);
    default:
        return S_OK; /* a filter by process, or one that event providers ignore */
    }
}

static bool is_kept(uint32_t type)
{
    return type == EVENT_FILTER_TYPE_EVENT_ID || type == EVENT_FILTER_TYPE_STACKWALK ||
           type == EVENT_FILTER_TYPE_EVENT_NAME || type == EVENT_FILTER_TYPE_STACKWALK_NAME ||
           type == EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW || type == EVENT_FILTER_TYPE_SCHEMATIZED ||
           type == EVENT_FILTER_TYPE_PAYLOAD;
}

HRESULT provider_filter_create(const struct directory_enable *e, struct provider_filter **out)
{
    HRESULT hr = S_OK;
    bool any = false;
    *out = NULL;
    for (uint32_t i = 0; i < e->filter_count; i++)
        any = any || is_kept(e->filter[i].type);
    if (!any)
        return S_OK;
    struct provider_filter *f = memory_zero(1, sizeof *f);
    if (!f)
        return E_OUTOFMEMORY;
    for (uint32_t i = 0; i < e->filter_count && SUCCEEDED(hr); i++)
        hr = read_one(&e->filter[i], f);
    if (FAILED(hr)) {
        provider_filter_free(f);
        return hr;
    }
    *out = f;
    return S_OK;
}

struct provider_filter *provider_filter_refer(struct provider_filter *f)
{
    if (f)
        f->references++;
    return f;
}

void provider_filter_free(struct provider_filter *f)
{
    if (!f || f->references-- != 0)
        return;
    memory_free(f->names.names);
    memory_free(f->stack_names.names);
    memory_free(f->schematized);
    payload_filter_free(f->payload);
    memory_free(f);
}

static bool has_id(const struct id_filter *f, uint16_t id)
{
    for (uint16_t i = 0; i < f->count; i++)
        if (f->id[i] == id)
            return true;
    return false;
}

static bool has_masks(const struct mask_filter *f, const EVENT_DESCRIPTOR *e)
{
    return (f->level == 0 || e->Level <= f->level) &&
           (e->Keyword == 0 || ((f->any == 0 || (e->Keyword & f->any) != 0) && (e->Keyword & f->all) == f->all));
}

static bool has_name(const struct name_filter *f, const struct filter_event *event)
{
    const uint8_t *at = f->names;
    for (uint16_t i = 0; i < f->count; i++) {
        const size_t bytes = strlen((const char *)at);
        if (bytes == event->name_bytes && memcmp(at, event->name, bytes) == 0)
            return true;
        at += bytes + 1;
    }
    return false;
}

/* Returns whether the event passes. If the filter does not apply to the event, the event passes. */
static bool ids_pass(const struct id_filter *f, const struct filter_event *event)
{
    return !f->set || event->name || has_id(f, event->descriptor->Id) == f->in;
}

static bool names_pass(const struct name_filter *f, const struct filter_event *event)
{
    return !f->mask.set || !event->name || !has_masks(&f->mask, event->descriptor) || has_name(f, event) == f->mask.in;
}

static bool payload_passes(const struct payload_filter *f, const struct filter_event *event)
{
    size_t size;
    if (!f || event->name || !event->data || !payload_filter_concerns(f, event->descriptor))
        return true;
    const uint8_t *data = event->data(event->context, &size);
    return !data || payload_filter_passes(f, event->descriptor, data, size, sizeof(void *));
}

bool provider_filter_passes(const struct provider_filter *f, const struct filter_event *event)
{
    return !f || (ids_pass(&f->ids, event) && names_pass(&f->names, event) && payload_passes(f->payload, event));
}

bool provider_filter_wants_stack(const struct provider_filter *f, const struct filter_event *event)
{
    return !f || (ids_pass(&f->stack_ids, event) && names_pass(&f->stack_names, event) &&
                  (!f->stack_masks.set || has_masks(&f->stack_masks, event->descriptor) == f->stack_masks.in));
}

bool provider_filter_selects(const struct provider_filter *f)
{
    return f && (f->ids.set || f->stack_ids.set || f->names.mask.set || f->stack_names.mask.set || f->stack_masks.set ||
                 f->payload);
}

const uint8_t *provider_filter_schematized(const struct provider_filter *f, uint32_t *size)
{
    *size = f ? f->schematized_size : 0;
    return f ? f->schematized : NULL;
}

/* Reads {u16 size, tag bytes (all but the last with the high bit set), name, ...}. */
bool trace_logging_name(const uint8_t *metadata, size_t bytes, struct filter_event *out)
{
    size_t at = 2;
    while (at < bytes && (metadata[at] & 0x80) != 0)
        at++;
    at++;
    const uint8_t *nul = at < bytes ? memchr(metadata + at, 0, bytes - at) : NULL;
    if (!nul)
        return false;
    out->name = (const char *)metadata + at;
    out->name_bytes = (size_t)(nul - metadata) - at;
    return true;
}
