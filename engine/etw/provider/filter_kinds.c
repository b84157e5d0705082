/* SPDX-License-Identifier: MIT */
/* The kinds of filters: what their data must be. */
#include "engine/etw/provider/filter_kinds.h"

#include "engine/etw/decode/payload_filter.h"
#include "engine/etw/etw_provider_types.h"

#include <string.h>

#define FILTER_IDS_HEAD  4  /* u8 FilterIn, u8, u16 Count, then u16 each */
#define FILTER_NAME_HEAD 20 /* u64 any, u64 all, u8 level, u8 FilterIn, u16 Count, then UTF-8 texts with NULs */

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

/* Those of another TDH are none that a provider here could evaluate. */
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
