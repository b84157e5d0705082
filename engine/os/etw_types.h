/* SPDX-License-Identifier: MIT */
/* ETW's types and the table of its functions: the system's own on Windows, the same layouts elsewhere. */
#ifndef OPENPLA_ETW_TYPES_H
#define OPENPLA_ETW_TYPES_H

#include "engine/os/wintypes.h"

#ifdef _WIN32
#include <windows.h>
#include <evntcons.h>
#include <evntrace.h>
#include <tdh.h>
#include <wmistr.h>
#else
#ifndef WINAPI
#define WINAPI
#endif
#define ERROR_NOT_ENOUGH_MEMORY   8
#define ERROR_INSUFFICIENT_BUFFER 122
#define ERROR_NOT_FOUND           1168
#define ERROR_BAD_LENGTH          24
#define ERROR_BAD_PATHNAME        161

typedef struct {
    ULONG BufferSize; /* of the whole block */
    ULONG ProviderId;
    uint64_t HistoricalContext;
    int64_t TimeStamp;
    GUID Guid;
    ULONG ClientContext;
    ULONG Flags;
} WNODE_HEADER;

typedef struct {
    WNODE_HEADER Wnode;
    ULONG BufferSize; /* KB */
    ULONG MinimumBuffers;
    ULONG MaximumBuffers;
    ULONG MaximumFileSize;
    ULONG LogFileMode;
    ULONG FlushTimer;
    ULONG EnableFlags;
    LONG AgeLimit;
    ULONG NumberOfBuffers;
    ULONG FreeBuffers;
    ULONG EventsLost;
    ULONG BuffersWritten;
    ULONG LogBuffersLost;
    ULONG RealTimeBuffersLost;
    uint64_t LoggerThreadId;
    ULONG LogFileNameOffset;
    ULONG LoggerNameOffset;
} EVENT_TRACE_PROPERTIES;

typedef struct {
    GUID ProviderGuid;
    ULONG SchemaSource;
    ULONG ProviderNameOffset; /* from the start of the whole; 0: none */
} TRACE_PROVIDER_INFO;

typedef struct {
    ULONG NumberOfProviders;
    ULONG Padding;
    TRACE_PROVIDER_INFO TraceProviderInfoArray[1];
} PROVIDER_ENUMERATION_INFO;

typedef enum { EventKeywordInformation, EventLevelInformation } EVENT_FIELD_TYPE;

typedef struct {
    ULONG NameOffset;
    ULONG DescriptionOffset;
    ULONGLONG Value;
} PROVIDER_FIELD_INFO;

typedef struct {
    ULONG NumberOfElements;
    EVENT_FIELD_TYPE FieldType;
    PROVIDER_FIELD_INFO FieldInfoArray[1];
} PROVIDER_FIELD_INFOARRAY;
#endif

_Static_assert(sizeof(WNODE_HEADER) == 48 && offsetof(WNODE_HEADER, HistoricalContext) == 8 &&
                   offsetof(WNODE_HEADER, TimeStamp) == 16 && offsetof(WNODE_HEADER, Guid) == 24 &&
                   offsetof(WNODE_HEADER, ClientContext) == 40 && offsetof(WNODE_HEADER, Flags) == 44,
               "WNODE_HEADER");
_Static_assert(sizeof(EVENT_TRACE_PROPERTIES) == 120 && offsetof(EVENT_TRACE_PROPERTIES, BufferSize) == 48 &&
                   offsetof(EVENT_TRACE_PROPERTIES, LogFileMode) == 64 &&
                   offsetof(EVENT_TRACE_PROPERTIES, AgeLimit) == 76 &&
                   offsetof(EVENT_TRACE_PROPERTIES, RealTimeBuffersLost) == 100 &&
                   offsetof(EVENT_TRACE_PROPERTIES, LoggerThreadId) == 104 &&
                   offsetof(EVENT_TRACE_PROPERTIES, LogFileNameOffset) == 104 + sizeof(void *) &&
                   offsetof(EVENT_TRACE_PROPERTIES, LoggerNameOffset) == 108 + sizeof(void *),
               "EVENT_TRACE_PROPERTIES");
_Static_assert(sizeof(TRACE_PROVIDER_INFO) == 24, "TRACE_PROVIDER_INFO");
_Static_assert(sizeof(PROVIDER_ENUMERATION_INFO) == 32, "PROVIDER_ENUMERATION_INFO");
_Static_assert(sizeof(PROVIDER_FIELD_INFO) == 16, "PROVIDER_FIELD_INFO");
_Static_assert(sizeof(PROVIDER_FIELD_INFOARRAY) == 24, "PROVIDER_FIELD_INFOARRAY");
_Static_assert(EventKeywordInformation == 0 && EventLevelInformation == 1, "EVENT_FIELD_TYPE");

/* The entry points the engine uses: X(name, parameter list). A loader walks the list with #name. */
#define ETW_API_LIST(X)                                                                                                \
    X(TdhEnumerateProviders, (PROVIDER_ENUMERATION_INFO * buffer, ULONG * size))                                       \
    X(TdhEnumerateProviderFieldInformation,                                                                            \
      (GUID * guid, EVENT_FIELD_TYPE type, PROVIDER_FIELD_INFOARRAY * buffer, ULONG * size))

#define ETW_API_MEMBER(name, parameters) ULONG(WINAPI *name) parameters;
struct etw_api {
    ETW_API_LIST(ETW_API_MEMBER)
};
#undef ETW_API_MEMBER

#endif
