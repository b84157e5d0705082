/* SPDX-License-Identifier: MIT */
/* ETW's types. Windows programs use the types of the system's headers. Native programs use the types defined here,
   which have the same layout. Also defines types and constants of evntprov.h, evntcons.h and evntrace.h that MinGW's
   headers lack. */
#ifndef OPENPLA_ETW_TYPES_H
#define OPENPLA_ETW_TYPES_H

#include "engine/base/wintypes.h"

#include <stdarg.h>

#ifdef _WIN32
/* The functions are defined here, not imported from a DLL. */
#define _EVNT_SOURCE_
#define _WMI_SOURCE_
#include <windows.h>
#include <evntcons.h>
#include <evntrace.h>
#define PROPERTY_FLAGS TDH_PROPERTY_FLAGS /* renamed, because engine/pla/model has a type PROPERTY_FLAGS */
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
    ULONG BufferSize; /* bytes of the whole block */
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

/* ---- types for consumers ---- */

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
    ULONG ProviderNameOffset; /* offset from the start of the block; 0: no name */
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

/* ---- types for event providers, and for controllers that enable them ---- */

#ifndef _WIN32
#define ERROR_OUTOFMEMORY         14
#define ERROR_INVALID_FLAG_NUMBER 186
#define ERROR_MORE_DATA           234
#define ERROR_ARITHMETIC_OVERFLOW 534
#define ERROR_INVALID_FLAGS       1004
#define ERROR_NO_SYSTEM_RESOURCES 1450
#define ERROR_GEN_FAILURE         31

typedef void VOID;
typedef uint8_t BOOLEAN;
typedef ULONGLONG REGHANDLE;
typedef void *HANDLE;
typedef const GUID *LPCGUID;

typedef struct {
    ULONGLONG Ptr;
    ULONG Size;
    ULONG Reserved;
} EVENT_DATA_DESCRIPTOR;
typedef struct {
    ULONGLONG Ptr;
    ULONG Size;
    ULONG Type;
} EVENT_FILTER_DESCRIPTOR;
typedef struct {
    USHORT Id;
    UCHAR Version;
    UCHAR Reserved[5];
    ULONGLONG InstanceId;
    ULONG Size;
    ULONG NextOffset;
} EVENT_FILTER_HEADER;
typedef VOID (*PENABLECALLBACK)(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                                EVENT_FILTER_DESCRIPTOR *filter, PVOID context);
typedef enum { EventProviderBinaryTrackInfo } EVENT_INFO_CLASS;

typedef enum { WMI_ENABLE_EVENTS = 4, WMI_DISABLE_EVENTS = 5, WMI_CAPTURE_STATE = 10 } WMIDPREQUESTCODE;
typedef ULONG (*WMIDPREQUEST)(WMIDPREQUESTCODE code, PVOID context, ULONG *size, PVOID buffer);
typedef struct {
    LPCGUID Guid;
    HANDLE RegHandle;
} TRACE_GUID_REGISTRATION;
typedef struct {
    HANDLE RegHandle;
    ULONG InstanceId;
} EVENT_INSTANCE_INFO;
typedef struct {
    ULONGLONG DataPtr;
    ULONG Length;
    ULONG DataType;
} MOF_FIELD;
typedef struct {
    USHORT Size;
    USHORT FieldTypeFlags;
    struct {
        UCHAR Type;
        UCHAR Level;
        USHORT Version;
    } Class;
    ULONG ThreadId;
    ULONG ProcessId;
    int64_t TimeStamp;
    ULONGLONG RegHandle;
    ULONG InstanceId;
    ULONG ParentInstanceId;
    ULONG EventId;
    ULONG Flags;
    ULONGLONG ParentRegHandle;
} EVENT_INSTANCE_HEADER;

enum {
    EVENT_ACTIVITY_CTRL_GET_ID = 1,
    EVENT_ACTIVITY_CTRL_SET_ID,
    EVENT_ACTIVITY_CTRL_CREATE_ID,
    EVENT_ACTIVITY_CTRL_GET_SET_ID,
    EVENT_ACTIVITY_CTRL_CREATE_SET_ID,
    MAX_EVENT_DATA_DESCRIPTORS = 128,
    MAX_EVENT_FILTER_DATA_SIZE = 1024,
    EVENT_CONTROL_CODE_DISABLE_PROVIDER = 0,
    EVENT_CONTROL_CODE_ENABLE_PROVIDER,
    EVENT_CONTROL_CODE_CAPTURE_STATE,
    WNODE_FLAG_USE_TIMESTAMP = 0x00000200,
    WNODE_FLAG_TRACED_GUID = 0x00020000,
    WNODE_FLAG_LOG_WNODE = 0x00040000,
    WNODE_FLAG_USE_GUID_PTR = 0x00080000,
    WNODE_FLAG_USE_MOF_PTR = 0x00100000,
    MAX_MOF_FIELDS = 16,
    TRACE_MESSAGE_SEQUENCE = 1,
    TRACE_MESSAGE_GUID = 2,
    TRACE_MESSAGE_COMPONENTID = 4,
    TRACE_MESSAGE_TIMESTAMP = 8,
    TRACE_MESSAGE_PERFORMANCE_TIMESTAMP = 16,
    TRACE_MESSAGE_SYSTEMINFO = 32,
};
#define EVENT_FILTER_TYPE_SCHEMATIZED  0x80000000u
#define EVENT_FILTER_TYPE_SYSTEM_FLAGS 0x80000001u
#define EVENT_FILTER_TYPE_TRACEHANDLE  0x80000002u
#endif

/* ---- types that MinGW's headers also lack ---- */

#ifndef EVENT_FILTER_TYPE_PID
#define EVENT_FILTER_TYPE_NONE               0u
#define EVENT_FILTER_TYPE_PID                0x80000004u
#define EVENT_FILTER_TYPE_EXECUTABLE_NAME    0x80000008u
#define EVENT_FILTER_TYPE_PACKAGE_ID         0x80000010u
#define EVENT_FILTER_TYPE_PACKAGE_APP_ID     0x80000020u
#define EVENT_FILTER_TYPE_PAYLOAD            0x80000100u
#define EVENT_FILTER_TYPE_EVENT_ID           0x80000200u
#define EVENT_FILTER_TYPE_EVENT_NAME         0x80000400u
#define EVENT_FILTER_TYPE_STACKWALK          0x80001000u
#define EVENT_FILTER_TYPE_STACKWALK_NAME     0x80002000u
#define EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW 0x80004000u
#define EVENT_FILTER_TYPE_CONTAINER          0x80008000u
#define MAX_EVENT_FILTERS_COUNT              13
#define MAX_EVENT_FILTER_PAYLOAD_SIZE        4096
#define MAX_EVENT_FILTER_EVENT_NAME_SIZE     4096
#define MAX_EVENT_FILTER_PID_COUNT           8
#define MAX_EVENT_FILTER_EVENT_ID_COUNT      64
#endif
#ifndef EVENT_ENABLE_PROPERTY_SID
#define EVENT_ENABLE_PROPERTY_SID         0x1u
#define EVENT_ENABLE_PROPERTY_TS_ID       0x2u
#define EVENT_ENABLE_PROPERTY_STACK_TRACE 0x4u
#endif
#ifndef EVENT_ENABLE_PROPERTY_PROCESS_START_KEY
#define EVENT_ENABLE_PROPERTY_PSM_KEY           0x8u
#define EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0  0x10u
#define EVENT_ENABLE_PROPERTY_PROVIDER_GROUP    0x20u
#define EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0  0x40u
#define EVENT_ENABLE_PROPERTY_PROCESS_START_KEY 0x80u
#define EVENT_ENABLE_PROPERTY_EVENT_KEY         0x100u
#define EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE 0x200u
#endif

/* EVENT_HEADER.Flags as stored in files. The flags for 32-bit and 64-bit events are not among them, because in files
   the header's type expresses the bitness. */
enum etw_header_flag {
    ETW_HEADER_EXTENDED_INFO = 0x1,
    ETW_HEADER_PRIVATE_SESSION = 0x2,
    ETW_HEADER_STRING_ONLY = 0x4,
    ETW_HEADER_NO_CPUTIME = 0x10,
    ETW_HEADER_DECODE_GUID = 0x80,
};
/* EVENT_HEADER_EXT_TYPE_ */
enum etw_item {
    ETW_ITEM_RELATED_ACTIVITY = 1,
    ETW_ITEM_SID = 2,
    ETW_ITEM_TS_ID = 3,
    ETW_ITEM_STACK_32 = 5,
    ETW_ITEM_STACK_64 = 6,
    ETW_ITEM_EVENT_KEY = 0xA,
    ETW_ITEM_SCHEMA_TL = 0xB,
    ETW_ITEM_TRAITS = 0xC,
    ETW_ITEM_PROCESS_START_KEY = 0xD,
    ETW_ITEM_CONTROL_GUID = 0xE,
};
/* Type of an EVENT_DATA_DESCRIPTOR: the low byte of its last member. */
enum etw_data_type { ETW_DATA = 0, ETW_DATA_EVENT_METADATA, ETW_DATA_PROVIDER_METADATA, ETW_DATA_TIMESTAMP };
/* EVENT_WRITE_FLAG_ */
enum etw_write_flag { ETW_WRITE_NO_FAULTING = 1, ETW_WRITE_INPRIVATE = 2 };
/* EVENT_INFO_CLASS; MinGW has only the first value. */
enum etw_info_class { ETW_INFO_BINARY_TRACK, ETW_INFO_RESERVED, ETW_INFO_TRAITS, ETW_INFO_DESCRIPTOR_TYPE };
/* Types of provider traits. */
enum etw_trait { ETW_TRAIT_GROUP = 1, ETW_TRAIT_DECODE_GUID = 2 };

_Static_assert(sizeof(EVENT_DATA_DESCRIPTOR) == 16 && offsetof(EVENT_DATA_DESCRIPTOR, Size) == 8 &&
                   sizeof(EVENT_DESCRIPTOR) == 16 && offsetof(EVENT_DESCRIPTOR, Keyword) == 8 &&
                   sizeof(EVENT_FILTER_DESCRIPTOR) == 16 && sizeof(EVENT_FILTER_HEADER) == 24,
               "descriptors");
_Static_assert(sizeof(EVENT_TRACE_HEADER) == 48 && offsetof(EVENT_TRACE_HEADER, Guid) == 24 &&
                   offsetof(EVENT_TRACE_HEADER, Flags) == 44 && sizeof(EVENT_INSTANCE_HEADER) == 56 &&
                   offsetof(EVENT_INSTANCE_HEADER, Flags) == 44 && sizeof(MOF_FIELD) == 16,
               "classic headers");

/* ---- types for controllers ---- */

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
    ULONG FilterDescCount; /* version 2 only */
} ENABLE_TRACE_PARAMETERS;
#endif

#ifndef EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME
#define EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME 5
#endif
enum {
    CONTROLLER_TRACED_GUID = 0x20000, /* WNODE_FLAG_TRACED_GUID */
    CONTROLLER_VERSIONED = 0x800000,  /* WNODE_FLAG_VERSIONED_PROPERTIES: the block is an EVENT_TRACE_PROPERTIES_V2 */
    /* OpenPLA's own flag, only for openetw_api: in a private session, each process appends its process id to the name
       of its log file. */
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

/* Queries of providers and sessions: types and constants of evntrace.h for native builds. */
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
