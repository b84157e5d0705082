/* SPDX-License-Identifier: MIT */
/* ETW's types: the system's own on Windows, the same layouts elsewhere. */
#ifndef OPENPLA_ETW_TYPES_H
#define OPENPLA_ETW_TYPES_H

#include "engine/base/wintypes.h"

#ifdef _WIN32
/* The functions are our own, not a DLL's. */
#define _EVNT_SOURCE_
#define _WMI_SOURCE_
#include <windows.h>
#include <evntcons.h>
#include <evntrace.h>
#define PROPERTY_FLAGS TDH_PROPERTY_FLAGS /* a kind of property in engine/pla/model */
#include <tdh.h>
#undef PROPERTY_FLAGS
#include <wmistr.h>
#else
#ifndef WINAPI
#define WINAPI
#endif
#define ERROR_NOT_ENOUGH_MEMORY      8
#define ERROR_INSUFFICIENT_BUFFER    122
#define ERROR_NOT_FOUND              1168
#define ERROR_BAD_LENGTH             24
#define ERROR_BAD_PATHNAME           161
#define ERROR_INVALID_HANDLE         6
#define ERROR_BUSY                   170
#define ERROR_NOACCESS               998
#define ERROR_CANCELLED              1223
#define ERROR_INVALID_TIME           1901
#define ERROR_WMI_GUID_NOT_FOUND     4200
#define ERROR_WMI_INSTANCE_NOT_FOUND 4201
#define ERROR_CTX_CLOSE_PENDING      7007

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

/* ---- what consumers see ---- */

typedef void *PVOID;
typedef uint8_t UCHAR;
typedef uint16_t USHORT;
typedef uint64_t ULONG64;
typedef char *LPSTR;
typedef uint64_t TRACEHANDLE;
typedef union {
    struct {
        DWORD LowPart;
        LONG HighPart;
    };
    LONGLONG QuadPart;
} LARGE_INTEGER;
typedef struct {
    WORD wYear, wMonth, wDayOfWeek, wDay, wHour, wMinute, wSecond, wMilliseconds;
} SYSTEMTIME;
typedef struct {
    LONG Bias;
    WCHAR StandardName[32];
    SYSTEMTIME StandardDate;
    LONG StandardBias;
    WCHAR DaylightName[32];
    SYSTEMTIME DaylightDate;
    LONG DaylightBias;
} TIME_ZONE_INFORMATION;

typedef struct {
    USHORT Id;
    UCHAR Version, Channel, Level, Opcode;
    USHORT Task;
    ULONGLONG Keyword;
} EVENT_DESCRIPTOR;

typedef struct {
    USHORT Size, HeaderType, Flags, EventProperty;
    ULONG ThreadId, ProcessId;
    LARGE_INTEGER TimeStamp;
    GUID ProviderId;
    EVENT_DESCRIPTOR EventDescriptor;
    union {
        struct {
            ULONG KernelTime, UserTime;
        };
        ULONG64 ProcessorTime;
    };
    GUID ActivityId;
} EVENT_HEADER;

typedef struct {
    union {
        struct {
            UCHAR ProcessorNumber, Alignment;
        };
        USHORT ProcessorIndex;
    };
    USHORT LoggerId;
} ETW_BUFFER_CONTEXT;

typedef struct {
    USHORT Reserved1, ExtType;
    struct {
        USHORT Linkage : 1;
        USHORT Reserved2 : 15;
    };
    USHORT DataSize;
    ULONGLONG DataPtr;
} EVENT_HEADER_EXTENDED_DATA_ITEM;

typedef struct {
    ULONG InstanceId, ParentInstanceId;
    GUID ParentGuid;
} EVENT_EXTENDED_ITEM_INSTANCE;

typedef struct {
    EVENT_HEADER EventHeader;
    ETW_BUFFER_CONTEXT BufferContext;
    USHORT ExtendedDataCount, UserDataLength;
    EVENT_HEADER_EXTENDED_DATA_ITEM *ExtendedData;
    PVOID UserData, UserContext;
} EVENT_RECORD;

typedef struct {
    USHORT Size;
    union {
        USHORT FieldTypeFlags;
        struct {
            UCHAR HeaderType, MarkerFlags;
        };
    };
    union {
        ULONG Version;
        struct {
            UCHAR Type, Level;
            USHORT Version;
        } Class;
    };
    ULONG ThreadId, ProcessId;
    LARGE_INTEGER TimeStamp;
    union {
        GUID Guid;
        ULONGLONG GuidPtr;
    };
    union {
        struct {
            ULONG KernelTime, UserTime;
        };
        ULONG64 ProcessorTime;
        struct {
            ULONG ClientContext, Flags;
        };
    };
} EVENT_TRACE_HEADER;

typedef struct {
    EVENT_TRACE_HEADER Header;
    ULONG InstanceId, ParentInstanceId;
    GUID ParentGuid;
    PVOID MofData;
    ULONG MofLength;
    union {
        ULONG ClientContext;
        ETW_BUFFER_CONTEXT BufferContext;
    };
} EVENT_TRACE;

typedef struct {
    ULONG BufferSize;
    union {
        ULONG Version;
        struct {
            UCHAR MajorVersion, MinorVersion, SubVersion, SubMinorVersion;
        } VersionDetail;
    };
    ULONG ProviderVersion, NumberOfProcessors;
    LARGE_INTEGER EndTime;
    ULONG TimerResolution, MaximumFileSize, LogFileMode, BuffersWritten;
    union {
        GUID LogInstanceGuid;
        struct {
            ULONG StartBuffers, PointerSize, EventsLost, CpuSpeedInMHz;
        };
    };
    LPWSTR LoggerName, LogFileName;
    TIME_ZONE_INFORMATION TimeZone;
    LARGE_INTEGER BootTime, PerfFreq, StartTime;
    ULONG ReservedFlags, BuffersLost;
} TRACE_LOGFILE_HEADER;

typedef struct EVENT_TRACE_LOGFILEW EVENT_TRACE_LOGFILEW;
typedef struct EVENT_TRACE_LOGFILEA EVENT_TRACE_LOGFILEA;
typedef ULONG(WINAPI *PEVENT_TRACE_BUFFER_CALLBACKW)(EVENT_TRACE_LOGFILEW *logfile);
typedef ULONG(WINAPI *PEVENT_TRACE_BUFFER_CALLBACKA)(EVENT_TRACE_LOGFILEA *logfile);
typedef void(WINAPI *PEVENT_CALLBACK)(EVENT_TRACE *event);
typedef void(WINAPI *PEVENT_RECORD_CALLBACK)(EVENT_RECORD *event);
#define LOGFILE_MEMBERS(text, buffer_callback)                                                                         \
    text LogFileName, LoggerName;                                                                                      \
    LONGLONG CurrentTime;                                                                                              \
    ULONG BuffersRead;                                                                                                 \
    union {                                                                                                            \
        ULONG LogFileMode, ProcessTraceMode;                                                                           \
    };                                                                                                                 \
    EVENT_TRACE CurrentEvent;                                                                                          \
    TRACE_LOGFILE_HEADER LogfileHeader;                                                                                \
    buffer_callback BufferCallback;                                                                                    \
    ULONG BufferSize, Filled, EventsLost;                                                                              \
    union {                                                                                                            \
        PEVENT_CALLBACK EventCallback;                                                                                 \
        PEVENT_RECORD_CALLBACK EventRecordCallback;                                                                    \
    };                                                                                                                 \
    ULONG IsKernelTrace;                                                                                               \
    PVOID Context
struct EVENT_TRACE_LOGFILEW {
    LOGFILE_MEMBERS(LPWSTR, PEVENT_TRACE_BUFFER_CALLBACKW);
};
struct EVENT_TRACE_LOGFILEA {
    LOGFILE_MEMBERS(LPSTR, PEVENT_TRACE_BUFFER_CALLBACKA);
};
#undef LOGFILE_MEMBERS
#define INVALID_PROCESSTRACE_HANDLE              ((TRACEHANDLE)(uintptr_t)-1)

#define PROCESS_TRACE_MODE_REAL_TIME             0x00000100
#define PROCESS_TRACE_MODE_RAW_TIMESTAMP         0x00001000
#define PROCESS_TRACE_MODE_EVENT_RECORD          0x10000000

#define EVENT_HEADER_FLAG_EXTENDED_INFO          0x0001
#define EVENT_HEADER_FLAG_TRACE_MESSAGE          0x0008
#define EVENT_HEADER_FLAG_32_BIT_HEADER          0x0020
#define EVENT_HEADER_FLAG_64_BIT_HEADER          0x0040
#define EVENT_HEADER_FLAG_CLASSIC_HEADER         0x0100
#define EVENT_HEADER_FLAG_PROCESSOR_INDEX        0x0200

#define EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID 0x0001
#define EVENT_HEADER_EXT_TYPE_INSTANCE_INFO      0x0004

typedef enum { EtwQueryPartitionInformation = 1 } ETW_PROCESS_HANDLE_INFO_TYPE;
typedef struct {
    GUID PartitionId, ParentId;
    int64_t QpcOffsetFromRoot;
    ULONG PartitionType;
} ETW_TRACE_PARTITION_INFORMATION;

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
#if UINTPTR_MAX > 0xFFFFFFFF
_Static_assert(
    sizeof(EVENT_TRACE_LOGFILEW) == 448 && sizeof(EVENT_TRACE_LOGFILEA) == 448 &&
        offsetof(EVENT_TRACE_LOGFILEW, LoggerName) == 8 && offsetof(EVENT_TRACE_LOGFILEW, CurrentTime) == 16 &&
        offsetof(EVENT_TRACE_LOGFILEW, BuffersRead) == 24 && offsetof(EVENT_TRACE_LOGFILEW, ProcessTraceMode) == 28 &&
        offsetof(EVENT_TRACE_LOGFILEW, CurrentEvent) == 32 && offsetof(EVENT_TRACE_LOGFILEW, LogfileHeader) == 120 &&
        offsetof(EVENT_TRACE_LOGFILEW, BufferCallback) == 400 && offsetof(EVENT_TRACE_LOGFILEW, BufferSize) == 408 &&
        offsetof(EVENT_TRACE_LOGFILEW, EventRecordCallback) == 424 &&
        offsetof(EVENT_TRACE_LOGFILEW, IsKernelTrace) == 432 && offsetof(EVENT_TRACE_LOGFILEW, Context) == 440,
    "EVENT_TRACE_LOGFILE");
_Static_assert(sizeof(TRACE_LOGFILE_HEADER) == 280 && offsetof(TRACE_LOGFILE_HEADER, TimeZone) == 72 &&
                   offsetof(TRACE_LOGFILE_HEADER, BootTime) == 248 &&
                   offsetof(TRACE_LOGFILE_HEADER, ReservedFlags) == 272,
               "TRACE_LOGFILE_HEADER");
_Static_assert(sizeof(EVENT_TRACE) == 88 && offsetof(EVENT_TRACE, InstanceId) == 48 &&
                   offsetof(EVENT_TRACE, ParentGuid) == 56 && offsetof(EVENT_TRACE, MofData) == 72 &&
                   offsetof(EVENT_TRACE, MofLength) == 80 && offsetof(EVENT_TRACE, BufferContext) == 84,
               "EVENT_TRACE");
_Static_assert(sizeof(EVENT_RECORD) == 112 && offsetof(EVENT_RECORD, BufferContext) == 80 &&
                   offsetof(EVENT_RECORD, ExtendedDataCount) == 84 && offsetof(EVENT_RECORD, ExtendedData) == 88 &&
                   offsetof(EVENT_RECORD, UserData) == 96 && offsetof(EVENT_RECORD, UserContext) == 104,
               "EVENT_RECORD");
#endif
_Static_assert(sizeof(EVENT_TRACE_HEADER) == 48, "EVENT_TRACE_HEADER");
_Static_assert(sizeof(EVENT_HEADER) == 80 && offsetof(EVENT_HEADER, EventDescriptor) == 40 &&
                   offsetof(EVENT_HEADER, ActivityId) == 64,
               "EVENT_HEADER");
_Static_assert(sizeof(EVENT_DESCRIPTOR) == 16 && sizeof(EVENT_HEADER_EXTENDED_DATA_ITEM) == 16, "EVENT_DESCRIPTOR");
_Static_assert(sizeof(TRACE_PROVIDER_INFO) == 24, "TRACE_PROVIDER_INFO");
_Static_assert(sizeof(PROVIDER_ENUMERATION_INFO) == 32, "PROVIDER_ENUMERATION_INFO");
_Static_assert(sizeof(PROVIDER_FIELD_INFO) == 16, "PROVIDER_FIELD_INFO");
_Static_assert(sizeof(PROVIDER_FIELD_INFOARRAY) == 24, "PROVIDER_FIELD_INFOARRAY");
_Static_assert(EventKeywordInformation == 0 && EventLevelInformation == 1, "EVENT_FIELD_TYPE");

#endif
