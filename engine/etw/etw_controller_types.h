/* SPDX-License-Identifier: MIT */
/* What controllers of sessions speak in: types and numbers of evntrace.h, those that MinGW's headers lack, and all of
   them natively. */
#ifndef OPENPLA_ETW_CONTROLLER_TYPES_H
#define OPENPLA_ETW_CONTROLLER_TYPES_H

#include "engine/etw/etw_provider_types.h"

#ifndef _WIN32
#define ERROR_INTERNAL_ERROR                1359
#define ERROR_ACTIVE_CONNECTIONS            2402

#define EVENT_TRACE_CONTROL_QUERY           0
#define EVENT_TRACE_CONTROL_STOP            1
#define EVENT_TRACE_CONTROL_UPDATE          2
#define EVENT_TRACE_CONTROL_FLUSH           3
#define EVENT_TRACE_CONTROL_INCREMENT_FILE  4
#define EVENT_CONTROL_CODE_DISABLE_PROVIDER 0
#define EVENT_CONTROL_CODE_ENABLE_PROVIDER  1
#define EVENT_CONTROL_CODE_CAPTURE_STATE    2

typedef struct {
    EVENT_TRACE_PROPERTIES Properties;
    ULONG V2Control; /* the low 8 bits are the version */
    ULONG FilterDescCount;
    EVENT_FILTER_DESCRIPTOR *FilterDesc;
    ULONG64 V2Options;
} EVENT_TRACE_PROPERTIES_V2;
typedef struct {
    ULONG Version;
    ULONG EnableProperty;
    ULONG ControlFlags;
    GUID SourceId;
    EVENT_FILTER_DESCRIPTOR *EnableFilterDesc;
    ULONG FilterDescCount; /* of version 2 alone */
} ENABLE_TRACE_PARAMETERS;
#endif

#ifndef EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME
#define EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME 5
#endif
enum {
    CONTROLLER_TRACED_GUID = 0x20000, /* WNODE_FLAG_TRACED_GUID */
    CONTROLLER_VERSIONED = 0x800000,  /* WNODE_FLAG_VERSIONED_PROPERTIES: the block is an EVENT_TRACE_PROPERTIES_V2 */
    /* Our own, for openetw_api alone: of a private session no file has the name as given, each has its process' id. */
    CONTROLLER_NUMBERED = 0x1000000,
};

#if UINTPTR_MAX > 0xFFFFFFFF
_Static_assert(sizeof(EVENT_TRACE_PROPERTIES_V2) == 144 && offsetof(EVENT_TRACE_PROPERTIES_V2, V2Control) == 120 &&
                   offsetof(EVENT_TRACE_PROPERTIES_V2, FilterDescCount) == 124 &&
                   offsetof(EVENT_TRACE_PROPERTIES_V2, V2Options) == 136,
               "EVENT_TRACE_PROPERTIES_V2");
_Static_assert(sizeof(ENABLE_TRACE_PARAMETERS) == 48 && offsetof(ENABLE_TRACE_PARAMETERS, EnableFilterDesc) == 32 &&
                   offsetof(ENABLE_TRACE_PARAMETERS, FilterDescCount) == 40,
               "ENABLE_TRACE_PARAMETERS");
#endif

#endif
