/* SPDX-License-Identifier: MIT */
/* Types and constants of evntrace.h for queries about providers and sessions, for native builds. */
#ifndef OPENPLA_ETW_QUERY_TYPES_H
#define OPENPLA_ETW_QUERY_TYPES_H

#include "engine/etw/etw_types.h"

#ifndef _WIN32
#define ERROR_INCORRECT_SIZE 1462

typedef struct {
    GUID Guid;
    ULONG GuidType;
    ULONG LoggerId;
    ULONG EnableLevel;
    ULONG EnableFlags;
    BOOLEAN IsEnable;
} TRACE_GUID_PROPERTIES;
typedef struct {
    ULONG InstanceCount;
    ULONG Reserved;
} TRACE_GUID_INFO;
typedef struct {
    ULONG NextOffset;
    ULONG EnableCount;
    ULONG Pid;
    ULONG Flags;
} TRACE_PROVIDER_INSTANCE_INFO;
typedef struct {
    ULONG IsEnabled;
    UCHAR Level;
    UCHAR Reserved1;
    USHORT LoggerId;
    ULONG EnableProperty;
    ULONG Reserved2;
    ULONGLONG MatchAnyKeyword;
    ULONGLONG MatchAllKeyword;
} TRACE_ENABLE_INFO;
typedef struct {
    GUID EventGuid;
    UCHAR Type;
    UCHAR Reserved[7];
} CLASSIC_EVENT_ID;
typedef struct {
    ULONG Source;
    ULONG Interval;
} TRACE_PROFILE_INTERVAL;
typedef struct {
    uint32_t EtwTraceProcessingVersion;
    uint32_t Reserved;
} TRACE_VERSION_INFO;
typedef enum {
    TraceGuidQueryList,
    TraceGuidQueryInfo,
    TraceGuidQueryProcess,
    TraceStackTracingInfo,
    TraceSystemTraceEnableFlagsInfo,
    TraceSampledProfileIntervalInfo,
    TraceProfileSourceConfigInfo,
    TraceProfileSourceListInfo,
    TracePmcEventListInfo,
    TracePmcCounterListInfo,
    TraceSetDisallowList,
    TraceVersionInfo,
    TraceGroupQueryList,
    TraceGroupQueryInfo,
    TraceDisallowListQuery,
    TraceMaxLoggersQuery = 19
} TRACE_QUERY_INFO_CLASS;
typedef TRACE_QUERY_INFO_CLASS TRACE_INFO_CLASS;
#endif

enum { PROVIDER_FLAG_LEGACY = 1, PROVIDER_FLAG_PRE_ENABLE = 2 }; /* TRACE_PROVIDER_FLAG_* */

_Static_assert(sizeof(TRACE_GUID_PROPERTIES) == 36 && sizeof(TRACE_GUID_INFO) == 8 &&
                   sizeof(TRACE_PROVIDER_INSTANCE_INFO) == 16,
               "blocks of EnumerateTraceGuids(Ex)");
_Static_assert(sizeof(TRACE_ENABLE_INFO) == 32 && offsetof(TRACE_ENABLE_INFO, LoggerId) == 6 &&
                   offsetof(TRACE_ENABLE_INFO, EnableProperty) == 8 &&
                   offsetof(TRACE_ENABLE_INFO, MatchAnyKeyword) == 16,
               "TRACE_ENABLE_INFO");
_Static_assert(sizeof(CLASSIC_EVENT_ID) == 24 && sizeof(TRACE_PROFILE_INTERVAL) == 8 && sizeof(TRACE_VERSION_INFO) == 8,
               "blocks of TraceQueryInformation and TraceSetInformation");
_Static_assert(TraceVersionInfo == 11 && TraceDisallowListQuery == 14 && TraceMaxLoggersQuery == 19, "classes");

#endif
