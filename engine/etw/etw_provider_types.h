/* SPDX-License-Identifier: MIT */
/* What providers and those who enable them speak in: types and numbers of evntprov.h, evntcons.h and evntrace.h, those
   that MinGW's headers lack, and all of them natively. */
#ifndef OPENPLA_ETW_PROVIDER_TYPES_H
#define OPENPLA_ETW_PROVIDER_TYPES_H

#include "engine/etw/etw_types.h"

#include <stdarg.h>

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

/* ---- what MinGW's headers lack, too ---- */

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

/* EVENT_HEADER.Flags, as they lie in files: what is said here of the bitness is the header's type there. */
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
/* The type of EVENT_DATA_DESCRIPTOR: the low byte of its last member. */
enum etw_data_type { ETW_DATA = 0, ETW_DATA_EVENT_METADATA, ETW_DATA_PROVIDER_METADATA, ETW_DATA_TIMESTAMP };
/* EVENT_WRITE_FLAG_ */
enum etw_write_flag { ETW_WRITE_NO_FAULTING = 1, ETW_WRITE_INPRIVATE = 2 };
/* EVENT_INFO_CLASS; MinGW knows the first alone. */
enum etw_info_class { ETW_INFO_BINARY_TRACK, ETW_INFO_RESERVED, ETW_INFO_TRAITS, ETW_INFO_DESCRIPTOR_TYPE };
/* Traits of a provider. */
enum etw_trait { ETW_TRAIT_GROUP = 1, ETW_TRAIT_DECODE_GUID = 2 };

_Static_assert(sizeof(EVENT_DATA_DESCRIPTOR) == 16 && offsetof(EVENT_DATA_DESCRIPTOR, Size) == 8 &&
                   sizeof(EVENT_DESCRIPTOR) == 16 && offsetof(EVENT_DESCRIPTOR, Keyword) == 8 &&
                   sizeof(EVENT_FILTER_DESCRIPTOR) == 16 && sizeof(EVENT_FILTER_HEADER) == 24,
               "descriptors");
_Static_assert(sizeof(EVENT_TRACE_HEADER) == 48 && offsetof(EVENT_TRACE_HEADER, Guid) == 24 &&
                   offsetof(EVENT_TRACE_HEADER, Flags) == 44 && sizeof(EVENT_INSTANCE_HEADER) == 56 &&
                   offsetof(EVENT_INSTANCE_HEADER, Flags) == 44 && sizeof(MOF_FIELD) == 16,
               "classic headers");

#endif
