/* SPDX-License-Identifier: MIT */
/* The structures of SystemPerformanceTraceInformation. On Windows, TraceQueryInformation and TraceSetInformation create
   these structures for programs (published notes on TraceSetInformation). Each structure begins with an
   EVENT_TRACE_INFORMATION_CLASS:

       group masks  class 4 | 4 | TraceHandle 8 | 8 masks of 4
       interval     class 4 | interval 4
       lists        class 4 | 4 | TraceHandle 8 | items of 4: hook ids, or profile sources */
#include "engine/etw/controller/system_trace.h"

#include "engine/etw/controller/controller.h"
#include "engine/etw/controller/controller_api.h"
#include "engine/etw/decode/program_memory.h"
#include "engine/logs/little_endian.h"

#include <string.h>

enum {
    GROUP_MASKS_CLASS = 1, /* EventTraceGroupMaskInformation */
    TIME_PROFILE_CLASS = 3,
    STACK_TRACING_CLASS = 6,
    PROFILE_CONFIG_CLASS = 12,
    PROFILE_EVENTS_CLASS = 14,
    PROFILE_COUNTERS_CLASS = 15,
    CLASS_BYTES = 4,
    HANDLE_AT = 8,
    ITEMS_AT = 16,
    ITEM_BYTES = 4,
    MASKS_BYTES = 8 * ITEM_BYTES,
    INTERVAL_AT = 4,
    INTERVAL_BYTES = 8,
};

#define NT(code)                  ((int32_t)(code))
#define NT_SUCCESS_CODE           NT(0)
#define NT_UNSUCCESSFUL           NT(0xC0000001)
#define NT_INFO_LENGTH_MISMATCH   NT(0xC0000004)
#define NT_ACCESS_VIOLATION       NT(0xC0000005)
#define NT_INVALID_PARAMETER      NT(0xC000000D)
#define NT_NO_MEMORY              NT(0xC0000017)
#define NT_ACCESS_DENIED          NT(0xC0000022)
#define NT_IO_TIMEOUT             NT(0xC00000B5)
#define NT_WMI_INSTANCE_NOT_FOUND NT(0xC0000297)

static int32_t status_of(ULONG code)
{
    switch (code) {
    case ERROR_SUCCESS:
        return NT_SUCCESS_CODE;
    case ERROR_INVALID_PARAMETER:
        return NT_INVALID_PARAMETER;
    case ERROR_BAD_LENGTH:
    case ERROR_INCORRECT_SIZE:
        return NT_INFO_LENGTH_MISMATCH;
    case ERROR_NOT_ENOUGH_MEMORY:
        return NT_NO_MEMORY;
    case ERROR_ACCESS_DENIED:
        return NT_ACCESS_DENIED;
    case ERROR_TIMEOUT:
        return NT_IO_TIMEOUT;
    case ERROR_WMI_INSTANCE_NOT_FOUND:
        return NT_WMI_INSTANCE_NOT_FOUND;
    default:
        return NT_UNSUCCESSFUL;
    }
}

/* ---- query ---- */

static int32_t query_masks(uint8_t *information, uint32_t bytes, uint32_t *need)
{
    uint8_t block[ITEMS_AT + MASKS_BYTES];
    ULONG answered = 0;
    *need = sizeof block;
    if (bytes != sizeof block)
        return NT_INFO_LENGTH_MISMATCH;
    if (!program_read(block, information, sizeof block))
        return NT_ACCESS_VIOLATION;
    const ULONG code = TraceQueryInformation(get_u64(block + HANDLE_AT), TraceSystemTraceEnableFlagsInfo,
                                             block + ITEMS_AT, MASKS_BYTES, &answered);
    if (code != ERROR_SUCCESS)
        return status_of(code);
    return program_write(information + ITEMS_AT, block + ITEMS_AT, MASKS_BYTES) ? NT_SUCCESS_CODE : NT_ACCESS_VIOLATION;
}

static int32_t query_interval(uint8_t *information, uint32_t bytes, uint32_t *need)
{
    TRACE_PROFILE_INTERVAL interval = {.Source = 0}; /* source 0: the time */
    ULONG answered = 0;
    *need = INTERVAL_BYTES;
    if (bytes != INTERVAL_BYTES)
        return NT_INFO_LENGTH_MISMATCH;
    const ULONG code = TraceQueryInformation(0, TraceSampledProfileIntervalInfo, &interval, sizeof interval, &answered);
    if (code != ERROR_SUCCESS)
        return status_of(code);
    return program_write(information + INTERVAL_AT, &interval.Interval, sizeof interval.Interval) ? NT_SUCCESS_CODE
                                                                                                  : NT_ACCESS_VIOLATION;
}

bool system_trace_query(void *information, uint32_t bytes, uint32_t *need, int32_t *status)
{
    uint8_t what[CLASS_BYTES];
    if (bytes < sizeof what || !program_read(what, information, sizeof what))
        return false;
    switch (get_u32(what)) {
    case GROUP_MASKS_CLASS:
        *status = query_masks(information, bytes, need);
        return true;
    case TIME_PROFILE_CLASS:
        *status = query_interval(information, bytes, need);
        return true;
    default:
        return false;
    }
}

/* ---- set ---- */

static int32_t set_masks(const uint8_t *block, uint32_t bytes)
{
    uint32_t masks[MASKS_BYTES / ITEM_BYTES];
    if (bytes != ITEMS_AT + MASKS_BYTES)
        return NT_INFO_LENGTH_MISMATCH;
    memcpy(masks, block + ITEMS_AT, sizeof masks);
    return status_of(
        TraceSetInformation(get_u64(block + HANDLE_AT), TraceSystemTraceEnableFlagsInfo, masks, sizeof masks));
}

static int32_t set_interval(const uint8_t *block, uint32_t bytes)
{
    TRACE_PROFILE_INTERVAL interval = {.Source = 0};
    if (bytes != INTERVAL_BYTES)
        return NT_INFO_LENGTH_MISMATCH;
    interval.Interval = get_u32(block + INTERVAL_AT);
    return status_of(TraceSetInformation(0, TraceSampledProfileIntervalInfo, &interval, sizeof interval));
}

static int32_t set_list(const uint8_t *block, uint32_t bytes, enum directory_kernel_list list)
{
    uint32_t items[DIRECTORY_STACK_EVENTS];
    if (bytes < ITEMS_AT || bytes % ITEM_BYTES != 0)
        return NT_INFO_LENGTH_MISMATCH;
    const uint32_t count = (bytes - ITEMS_AT) / ITEM_BYTES;
    if (count > directory_kernel_room(list))
        return NT_INVALID_PARAMETER;
    memcpy(items, block + ITEMS_AT, (size_t)count * ITEM_BYTES);
    return status_of(trace_information_set_list(get_u64(block + HANDLE_AT), list, items, count));
}

bool system_trace_set(const void *information, uint32_t bytes, int32_t *status)
{
    uint8_t block[ITEMS_AT + DIRECTORY_STACK_EVENTS * ITEM_BYTES];
    const uint32_t most = bytes < sizeof block ? bytes : (uint32_t)sizeof block;
    if (bytes < CLASS_BYTES || !program_read(block, information, most))
        return false;
    switch (get_u32(block)) {
    case GROUP_MASKS_CLASS:
        *status = set_masks(block, bytes);
        return true;
    case TIME_PROFILE_CLASS:
        *status = set_interval(block, bytes);
        return true;
    case STACK_TRACING_CLASS:
        *status = set_list(block, bytes, DIRECTORY_STACKS);
        return true;
    case PROFILE_CONFIG_CLASS:
        *status = set_list(block, bytes, DIRECTORY_PROFILE_SOURCES);
        return true;
    case PROFILE_EVENTS_CLASS:
        *status = set_list(block, bytes, DIRECTORY_COUNTED_EVENTS);
        return true;
    case PROFILE_COUNTERS_CLASS:
        *status = set_list(block, bytes, DIRECTORY_COUNTER_SOURCES);
        return true;
    default:
        return false;
    }
}
