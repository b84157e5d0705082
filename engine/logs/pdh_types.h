/* SPDX-License-Identifier: MIT */
/* PDH's types, constants and function table. Windows builds use the system's declarations; native builds have their own
   with the same layouts. */
#ifndef OPENPLA_PDH_TYPES_H
#define OPENPLA_PDH_TYPES_H

#include "engine/base/wintypes.h"

#ifdef _WIN32
#include <windows.h>
/* MinGW's declaration lacks the calling convention; engine/pdh/core/pdh.h declares the function. */
#define PdhIsRealTimeQuery PdhIsRealTimeQuery_of_mingw
#include <pdh.h>
#undef PdhIsRealTimeQuery
#include <pdhmsg.h>
#else
#define WINAPI
typedef void *PDH_HQUERY;
typedef void *PDH_HCOUNTER;
typedef void *PDH_HLOG;
typedef LONG PDH_STATUS;
typedef BYTE BOOLEAN;
typedef DWORD *LPDWORD;

typedef struct {
    DWORD CStatus;
    FILETIME TimeStamp;
    LONGLONG FirstValue;
    LONGLONG SecondValue;
    DWORD MultiCount;
} PDH_RAW_COUNTER, *PPDH_RAW_COUNTER;

typedef struct {
    LPWSTR szName;
    PDH_RAW_COUNTER RawValue;
} PDH_RAW_COUNTER_ITEM_W, *PPDH_RAW_COUNTER_ITEM_W;

typedef struct {
    DWORD CStatus;
    union {
        LONG longValue;
        double doubleValue;
        LONGLONG largeValue;
        const char *AnsiStringValue;
        LPCWSTR WideStringValue;
    };
} PDH_FMT_COUNTERVALUE, *PPDH_FMT_COUNTERVALUE;

typedef struct {
    LPWSTR szName;
    PDH_FMT_COUNTERVALUE FmtValue;
} PDH_FMT_COUNTERVALUE_ITEM_W, *PPDH_FMT_COUNTERVALUE_ITEM_W;

typedef struct {
    DWORD dwFormat;
    DWORD count;
    PDH_FMT_COUNTERVALUE min;
    PDH_FMT_COUNTERVALUE max;
    PDH_FMT_COUNTERVALUE mean;
} PDH_STATISTICS, *PPDH_STATISTICS;

typedef struct {
    LPWSTR szMachineName;
    LPWSTR szObjectName;
    LPWSTR szInstanceName;
    LPWSTR szParentInstance;
    DWORD dwInstanceIndex;
    LPWSTR szCounterName;
} PDH_COUNTER_PATH_ELEMENTS_W, *PPDH_COUNTER_PATH_ELEMENTS_W;

typedef struct {
    LPWSTR szMachineName;
    GUID ObjectGUID;
    DWORD dwItemId;
    LPWSTR szInstanceName;
} PDH_DATA_ITEM_PATH_ELEMENTS_W, *PPDH_DATA_ITEM_PATH_ELEMENTS_W;

typedef struct {
    DWORD dwLength;
    DWORD dwType;
    DWORD CVersion;
    DWORD CStatus;
    LONG lScale;
    LONG lDefaultScale;
    DWORD_PTR dwUserData;
    DWORD_PTR dwQueryUserData;
    LPWSTR szFullPath;
    union {
        PDH_DATA_ITEM_PATH_ELEMENTS_W DataItemPath;
        PDH_COUNTER_PATH_ELEMENTS_W CounterPath;
        struct {
            LPWSTR szMachineName;
            LPWSTR szObjectName;
            LPWSTR szInstanceName;
            LPWSTR szParentInstance;
            DWORD dwInstanceIndex;
            LPWSTR szCounterName;
        };
    };
    LPWSTR szExplainText;
    DWORD DataBuffer[1];
} PDH_COUNTER_INFO_W, *PPDH_COUNTER_INFO_W;

typedef struct {
    LONGLONG StartTime;
    LONGLONG EndTime;
    DWORD SampleCount;
} PDH_TIME_INFO, *PPDH_TIME_INFO;

#define PDH_LOG_READ_ACCESS                        ((DWORD)0x00010000)
#define PDH_LOG_WRITE_ACCESS                       ((DWORD)0x00020000)
#define PDH_LOG_UPDATE_ACCESS                      ((DWORD)0x00040000)
#define PDH_LOG_ACCESS_MASK                        ((DWORD)0x000F0000)
#define PDH_LOG_CREATE_NEW                         ((DWORD)0x00000001)
#define PDH_LOG_CREATE_ALWAYS                      ((DWORD)0x00000002)
#define PDH_LOG_OPEN_ALWAYS                        ((DWORD)0x00000003)
#define PDH_LOG_OPEN_EXISTING                      ((DWORD)0x00000004)
#define PDH_LOG_CREATE_MASK                        ((DWORD)0x0000000F)
#define PDH_LOG_OPT_USER_STRING                    ((DWORD)0x01000000)
#define PDH_LOG_OPT_CIRCULAR                       ((DWORD)0x02000000)
#define PDH_LOG_OPT_MAX_IS_BYTES                   ((DWORD)0x04000000)
#define PDH_LOG_OPT_APPEND                         ((DWORD)0x08000000)
#define PDH_LOG_TYPE_UNDEFINED                     0
#define PDH_LOG_TYPE_CSV                           1
#define PDH_LOG_TYPE_TSV                           2
#define PDH_LOG_TYPE_SQL                           7
#define PDH_LOG_TYPE_BINARY                        8
#define PDH_FLAGS_CLOSE_QUERY                      ((DWORD)0x00000001)
#define PDH_MAX_DATASOURCE_PATH                    1024

#define PDH_MAX_COUNTER_NAME                       1024
#define PDH_MAX_INSTANCE_NAME                      1024
#define PDH_MAX_COUNTER_PATH                       2048
#define PDH_MAX_SCALE                              7
#define PDH_MIN_SCALE                              (-7)

#define PDH_FMT_RAW                                ((DWORD)0x00000010)
#define PDH_FMT_ANSI                               ((DWORD)0x00000020)
#define PDH_FMT_UNICODE                            ((DWORD)0x00000040)
#define PDH_FMT_LONG                               ((DWORD)0x00000100)
#define PDH_FMT_DOUBLE                             ((DWORD)0x00000200)
#define PDH_FMT_LARGE                              ((DWORD)0x00000400)
#define PDH_FMT_NOSCALE                            ((DWORD)0x00001000)
#define PDH_FMT_1000                               ((DWORD)0x00002000)
#define PDH_FMT_NODATA                             ((DWORD)0x00004000)
#define PDH_FMT_NOCAP100                           ((DWORD)0x00008000)
#define PDH_NOEXPANDCOUNTERS                       ((DWORD)0x00000001)
#define PDH_NOEXPANDINSTANCES                      ((DWORD)0x00000002)
#define PDH_REFRESHCOUNTERS                        ((DWORD)0x00000004)
#define PDH_OBJECT_HAS_INSTANCES                   ((DWORD)0x00000001)
#define PDH_VERSION                                ((DWORD)0x00000503)
#define PERF_DETAIL_COSTLY                         ((DWORD)0x00010000)
#define PERF_DETAIL_STANDARD                       ((DWORD)0x0000FFFF)

#define PERF_DETAIL_NOVICE                         ((DWORD)0x00000064)
#define PERF_DETAIL_ADVANCED                       ((DWORD)0x000000C8)
#define PERF_DETAIL_EXPERT                         ((DWORD)0x0000012C)
#define PERF_DETAIL_WIZARD                         ((DWORD)0x00000190)

#define PERF_SIZE_LARGE                            ((DWORD)0x00000100)
#define PERF_TYPE_COUNTER                          ((DWORD)0x00000400)
#define PERF_COUNTER_FRACTION                      ((DWORD)0x00020000)
#define PERF_COUNTER_BASE                          ((DWORD)0x00030000)
#define PERF_TIMER_TICK                            ((DWORD)0x00000000)
#define PERF_TIMER_100NS                           ((DWORD)0x00100000)
#define PERF_OBJECT_TIMER                          ((DWORD)0x00200000)
#define PERF_DELTA_COUNTER                         ((DWORD)0x00400000)
#define PERF_DELTA_BASE                            ((DWORD)0x00800000)
#define PERF_INVERSE_COUNTER                       ((DWORD)0x01000000)
#define PERF_MULTI_COUNTER                         ((DWORD)0x02000000)
#define PERF_DISPLAY_PER_SEC                       ((DWORD)0x10000000)
#define PERF_DISPLAY_PERCENT                       ((DWORD)0x20000000)
#define PERF_DISPLAY_SECONDS                       ((DWORD)0x30000000)
#define PERF_DISPLAY_NOSHOW                        ((DWORD)0x40000000)

#define PERF_COUNTER_COUNTER                       ((DWORD)0x10410400)
#define PERF_COUNTER_TIMER                         ((DWORD)0x20410500)
#define PERF_COUNTER_QUEUELEN_TYPE                 ((DWORD)0x00450400)
#define PERF_COUNTER_LARGE_QUEUELEN_TYPE           ((DWORD)0x00450500)
#define PERF_COUNTER_100NS_QUEUELEN_TYPE           ((DWORD)0x00550500)
#define PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE        ((DWORD)0x00650500)
#define PERF_COUNTER_BULK_COUNT                    ((DWORD)0x10410500)
#define PERF_COUNTER_TEXT                          ((DWORD)0x00000B00)
#define PERF_COUNTER_RAWCOUNT                      ((DWORD)0x00010000)
#define PERF_COUNTER_LARGE_RAWCOUNT                ((DWORD)0x00010100)
#define PERF_COUNTER_RAWCOUNT_HEX                  ((DWORD)0x00000000)
#define PERF_COUNTER_LARGE_RAWCOUNT_HEX            ((DWORD)0x00000100)
#define PERF_SAMPLE_FRACTION                       ((DWORD)0x20C20400)
#define PERF_SAMPLE_COUNTER                        ((DWORD)0x00410400)
#define PERF_COUNTER_NODATA                        ((DWORD)0x40000200)
#define PERF_COUNTER_TIMER_INV                     ((DWORD)0x21410500)
#define PERF_SAMPLE_BASE                           ((DWORD)0x40030401)
#define PERF_AVERAGE_TIMER                         ((DWORD)0x30020400)
#define PERF_AVERAGE_BASE                          ((DWORD)0x40030402)
#define PERF_AVERAGE_BULK                          ((DWORD)0x40020500)
#define PERF_OBJ_TIME_TIMER                        ((DWORD)0x20610500)
#define PERF_100NSEC_TIMER                         ((DWORD)0x20510500)
#define PERF_100NSEC_TIMER_INV                     ((DWORD)0x21510500)
#define PERF_COUNTER_MULTI_TIMER                   ((DWORD)0x22410500)
#define PERF_COUNTER_MULTI_TIMER_INV               ((DWORD)0x23410500)
#define PERF_COUNTER_MULTI_BASE                    ((DWORD)0x42030500)
#define PERF_100NSEC_MULTI_TIMER                   ((DWORD)0x22510500)
#define PERF_100NSEC_MULTI_TIMER_INV               ((DWORD)0x23510500)
#define PERF_RAW_FRACTION                          ((DWORD)0x20020400)
#define PERF_LARGE_RAW_FRACTION                    ((DWORD)0x20020500)
#define PERF_RAW_BASE                              ((DWORD)0x40030403)
#define PERF_LARGE_RAW_BASE                        ((DWORD)0x40030500)
#define PERF_ELAPSED_TIME                          ((DWORD)0x30240500)
#define PERF_COUNTER_HISTOGRAM_TYPE                ((DWORD)0x80000000)
#define PERF_COUNTER_DELTA                         ((DWORD)0x00400400)
#define PERF_COUNTER_LARGE_DELTA                   ((DWORD)0x00400500)
#define PERF_PRECISION_SYSTEM_TIMER                ((DWORD)0x20470500)
#define PERF_PRECISION_100NS_TIMER                 ((DWORD)0x20570500)
#define PERF_PRECISION_OBJECT_TIMER                ((DWORD)0x20670500)
#define PERF_PRECISION_TIMESTAMP                   ((DWORD)0x40030500)

#define PDH_CSTATUS_VALID_DATA                     ((DWORD)0x00000000)
#define PDH_CSTATUS_NEW_DATA                       ((DWORD)0x00000001)
#define PDH_CSTATUS_NO_MACHINE                     ((DWORD)0x800007D0)
#define PDH_CSTATUS_NO_INSTANCE                    ((DWORD)0x800007D1)
#define PDH_MORE_DATA                              ((DWORD)0x800007D2)
#define PDH_CSTATUS_ITEM_NOT_VALIDATED             ((DWORD)0x800007D3)
#define PDH_RETRY                                  ((DWORD)0x800007D4)
#define PDH_NO_DATA                                ((DWORD)0x800007D5)
#define PDH_CALC_NEGATIVE_DENOMINATOR              ((DWORD)0x800007D6)
#define PDH_CALC_NEGATIVE_TIMEBASE                 ((DWORD)0x800007D7)
#define PDH_CALC_NEGATIVE_VALUE                    ((DWORD)0x800007D8)
#define PDH_DIALOG_CANCELLED                       ((DWORD)0x800007D9)
#define PDH_END_OF_LOG_FILE                        ((DWORD)0x800007DA)
#define PDH_ASYNC_QUERY_TIMEOUT                    ((DWORD)0x800007DB)
#define PDH_CANNOT_SET_DEFAULT_REALTIME_DATASOURCE ((DWORD)0x800007DC)
#define PDH_CSTATUS_NO_OBJECT                      ((DWORD)0xC0000BB8)
#define PDH_CSTATUS_NO_COUNTER                     ((DWORD)0xC0000BB9)
#define PDH_CSTATUS_INVALID_DATA                   ((DWORD)0xC0000BBA)
#define PDH_MEMORY_ALLOCATION_FAILURE              ((DWORD)0xC0000BBB)
#define PDH_INVALID_HANDLE                         ((DWORD)0xC0000BBC)
#define PDH_INVALID_ARGUMENT                       ((DWORD)0xC0000BBD)
#define PDH_FUNCTION_NOT_FOUND                     ((DWORD)0xC0000BBE)
#define PDH_CSTATUS_NO_COUNTERNAME                 ((DWORD)0xC0000BBF)
#define PDH_CSTATUS_BAD_COUNTERNAME                ((DWORD)0xC0000BC0)
#define PDH_INVALID_BUFFER                         ((DWORD)0xC0000BC1)
#define PDH_INSUFFICIENT_BUFFER                    ((DWORD)0xC0000BC2)
#define PDH_CANNOT_CONNECT_MACHINE                 ((DWORD)0xC0000BC3)
#define PDH_INVALID_PATH                           ((DWORD)0xC0000BC4)
#define PDH_INVALID_INSTANCE                       ((DWORD)0xC0000BC5)
#define PDH_INVALID_DATA                           ((DWORD)0xC0000BC6)
#define PDH_NO_DIALOG_DATA                         ((DWORD)0xC0000BC7)
#define PDH_CANNOT_READ_NAME_STRINGS               ((DWORD)0xC0000BC8)
#define PDH_LOG_FILE_CREATE_ERROR                  ((DWORD)0xC0000BC9)
#define PDH_LOG_FILE_OPEN_ERROR                    ((DWORD)0xC0000BCA)
#define PDH_LOG_TYPE_NOT_FOUND                     ((DWORD)0xC0000BCB)
#define PDH_NO_MORE_DATA                           ((DWORD)0xC0000BCC)
#define PDH_ENTRY_NOT_IN_LOG_FILE                  ((DWORD)0xC0000BCD)
#define PDH_DATA_SOURCE_IS_LOG_FILE                ((DWORD)0xC0000BCE)
#define PDH_DATA_SOURCE_IS_REAL_TIME               ((DWORD)0xC0000BCF)
#define PDH_UNABLE_READ_LOG_HEADER                 ((DWORD)0xC0000BD0)
#define PDH_FILE_NOT_FOUND                         ((DWORD)0xC0000BD1)
#define PDH_FILE_ALREADY_EXISTS                    ((DWORD)0xC0000BD2)
#define PDH_NOT_IMPLEMENTED                        ((DWORD)0xC0000BD3)
#define PDH_STRING_NOT_FOUND                       ((DWORD)0xC0000BD4)
#define PDH_UNABLE_MAP_NAME_FILES                  ((DWORD)0x80000BD5)
#define PDH_UNKNOWN_LOG_FORMAT                     ((DWORD)0xC0000BD6)
#define PDH_UNKNOWN_LOGSVC_COMMAND                 ((DWORD)0xC0000BD7)
#define PDH_LOGSVC_QUERY_NOT_FOUND                 ((DWORD)0xC0000BD8)
#define PDH_LOGSVC_NOT_OPENED                      ((DWORD)0xC0000BD9)
#define PDH_ACCESS_DENIED                          ((DWORD)0xC0000BDB)
#define PDH_LOG_FILE_TOO_SMALL                     ((DWORD)0xC0000BDC)
#define PDH_INVALID_DATASOURCE                     ((DWORD)0xC0000BDD)
#define PDH_NO_COUNTERS                            ((DWORD)0xC0000BDF)
#define PDH_SQL_ALLOC_FAILED                       ((DWORD)0xC0000BE0)
#define PDH_SQL_ALLOCCON_FAILED                    ((DWORD)0xC0000BE1)
#define PDH_SQL_EXEC_DIRECT_FAILED                 ((DWORD)0xC0000BE2)
#define PDH_SQL_FETCH_FAILED                       ((DWORD)0xC0000BE3)
#define PDH_SQL_CONNECT_FAILED                     ((DWORD)0xC0000BE6)
#define PDH_SQL_BIND_FAILED                        ((DWORD)0xC0000BE7)
#define PDH_COUNTER_ALREADY_IN_QUERY               ((DWORD)0xC0000BF6)
#define PDH_BINARY_LOG_CORRUPT                     ((DWORD)0xC0000BF7)
#define PDH_LOG_SAMPLE_TOO_SMALL                   ((DWORD)0xC0000BF8)
#define PDH_OS_LATER_VERSION                       ((DWORD)0xC0000BF9)
#define PDH_OS_EARLIER_VERSION                     ((DWORD)0xC0000BFA)
#define PDH_INCORRECT_APPEND_TIME                  ((DWORD)0xC0000BFB)
#define PDH_UNMATCHED_APPEND_COUNTER               ((DWORD)0xC0000BFC)
#define PDH_QUERY_PERF_DATA_TIMEOUT                ((DWORD)0xC0000BFE)

#endif

/* Checks sizes, offsets and values. Native builds check the declarations above. Windows builds check the system's
   headers. */
#define PDH_LAYOUT(type, size)      _Static_assert(sizeof(type) == (size), #type " has another size")
#define PDH_OFFSET(type, field, at) _Static_assert(offsetof(type, field) == (at), #type "." #field " has moved")
#define PDH_VALUE(name, value)      _Static_assert((DWORD)(name) == (value), #name " has another value")
PDH_LAYOUT(PDH_RAW_COUNTER, 40);
PDH_OFFSET(PDH_RAW_COUNTER, TimeStamp, 4);
PDH_OFFSET(PDH_RAW_COUNTER, FirstValue, 16);
PDH_OFFSET(PDH_RAW_COUNTER, SecondValue, 24);
PDH_OFFSET(PDH_RAW_COUNTER, MultiCount, 32);
PDH_LAYOUT(PDH_RAW_COUNTER_ITEM_W, 48);
PDH_LAYOUT(PDH_FMT_COUNTERVALUE, 16);
PDH_OFFSET(PDH_FMT_COUNTERVALUE, doubleValue, 8);
PDH_LAYOUT(PDH_FMT_COUNTERVALUE_ITEM_W, 24);
PDH_LAYOUT(PDH_TIME_INFO, 24);
PDH_LAYOUT(PDH_STATISTICS, 56);
PDH_OFFSET(PDH_STATISTICS, min, 8);
PDH_LAYOUT(PDH_COUNTER_PATH_ELEMENTS_W, BY_POINTER(48, 24));
PDH_OFFSET(PDH_COUNTER_PATH_ELEMENTS_W, dwInstanceIndex, BY_POINTER(32, 16));
PDH_LAYOUT(PDH_DATA_ITEM_PATH_ELEMENTS_W, BY_POINTER(40, 28));
PDH_LAYOUT(PDH_COUNTER_INFO_W, BY_POINTER(112, 72));
PDH_OFFSET(PDH_COUNTER_INFO_W, dwUserData, 24);
PDH_OFFSET(PDH_COUNTER_INFO_W, szFullPath, BY_POINTER(40, 32));
PDH_OFFSET(PDH_COUNTER_INFO_W, szMachineName, BY_POINTER(48, 36));
PDH_OFFSET(PDH_COUNTER_INFO_W, szExplainText, BY_POINTER(96, 64));
PDH_OFFSET(PDH_COUNTER_INFO_W, DataBuffer, BY_POINTER(104, 68));
PDH_VALUE(PERF_COUNTER_COUNTER, 0x10410400);
PDH_VALUE(PERF_COUNTER_BULK_COUNT, 0x10410500);
PDH_VALUE(PERF_COUNTER_RAWCOUNT, 0x00010000);
PDH_VALUE(PERF_COUNTER_LARGE_RAWCOUNT, 0x00010100);
PDH_VALUE(PERF_100NSEC_TIMER, 0x20510500);
PDH_VALUE(PERF_100NSEC_TIMER_INV, 0x21510500);
PDH_VALUE(PERF_RAW_FRACTION, 0x20020400);
PDH_VALUE(PERF_LARGE_RAW_FRACTION, 0x20020500);
PDH_VALUE(PERF_ELAPSED_TIME, 0x30240500);
PDH_VALUE(PERF_PRECISION_100NS_TIMER, 0x20570500);
PDH_VALUE(PDH_FMT_NOCAP100, 0x00008000);
PDH_VALUE(PDH_MORE_DATA, 0x800007D2);
PDH_VALUE(PDH_CSTATUS_INVALID_DATA, 0xC0000BBA);
PDH_VALUE(PDH_CSTATUS_BAD_COUNTERNAME, 0xC0000BC0);
PDH_VALUE(PDH_NOT_IMPLEMENTED, 0xC0000BD3);
#undef PDH_LAYOUT
#undef PDH_OFFSET
#undef PDH_VALUE

/* The entry points the engine uses: X(name, parameter list). A loader looks up each function by #name. Times that the
   functions return (a raw value's TimeStamp, the time of PdhCollectQueryDataWithTime) are local FILETIMEs, but the
   second value of a 100 ns counter type is UTC. */
#define PDH_API_LIST(X)                                                                                                \
    X(PdhGetDllVersion, (LPDWORD version))                                                                             \
    X(PdhOpenQueryW, (LPCWSTR data_source, DWORD_PTR user_data, PDH_HQUERY * query))                                   \
    X(PdhCloseQuery, (PDH_HQUERY query))                                                                               \
    X(PdhAddCounterW, (PDH_HQUERY query, LPCWSTR path, DWORD_PTR user_data, PDH_HCOUNTER * counter))                   \
    X(PdhAddEnglishCounterW, (PDH_HQUERY query, LPCWSTR path, DWORD_PTR user_data, PDH_HCOUNTER * counter))            \
    X(PdhRemoveCounter, (PDH_HCOUNTER counter))                                                                        \
    X(PdhCollectQueryData, (PDH_HQUERY query))                                                                         \
    X(PdhCollectQueryDataWithTime, (PDH_HQUERY query, LONGLONG * time))                                                \
    X(PdhGetRawCounterValue, (PDH_HCOUNTER counter, LPDWORD type, PPDH_RAW_COUNTER value))                             \
    X(PdhGetRawCounterArrayW, (PDH_HCOUNTER counter, LPDWORD bytes, LPDWORD count, PPDH_RAW_COUNTER_ITEM_W items))     \
    X(PdhGetFormattedCounterValue, (PDH_HCOUNTER counter, DWORD format, LPDWORD type, PPDH_FMT_COUNTERVALUE value))    \
    X(PdhGetFormattedCounterArrayW,                                                                                    \
      (PDH_HCOUNTER counter, DWORD format, LPDWORD bytes, LPDWORD count, PPDH_FMT_COUNTERVALUE_ITEM_W items))          \
    X(PdhGetCounterInfoW, (PDH_HCOUNTER counter, BOOLEAN explain, LPDWORD bytes, PPDH_COUNTER_INFO_W info))            \
    X(PdhGetCounterTimeBase, (PDH_HCOUNTER counter, LONGLONG * time_base))                                             \
    X(PdhCalculateCounterFromRawValue, (PDH_HCOUNTER counter, DWORD format, PPDH_RAW_COUNTER newer,                    \
                                        PPDH_RAW_COUNTER older, PPDH_FMT_COUNTERVALUE value))                          \
    X(PdhFormatFromRawValue, (DWORD type, DWORD format, LONGLONG * time_base, PPDH_RAW_COUNTER newer,                  \
                              PPDH_RAW_COUNTER older, PPDH_FMT_COUNTERVALUE value))                                    \
    X(PdhExpandWildCardPathW, (LPCWSTR data_source, LPCWSTR path, LPWSTR list, LPDWORD units, DWORD flags))            \
    X(PdhParseCounterPathW, (LPCWSTR path, PPDH_COUNTER_PATH_ELEMENTS_W elements, LPDWORD bytes, DWORD flags))         \
    X(PdhMakeCounterPathW, (PPDH_COUNTER_PATH_ELEMENTS_W elements, LPWSTR path, LPDWORD units, DWORD flags))           \
    X(PdhValidatePathW, (LPCWSTR path))                                                                                \
    X(PdhEnumObjectsW, (LPCWSTR data_source, LPCWSTR machine, LPWSTR list, LPDWORD units, DWORD detail, BOOL refresh)) \
    X(PdhEnumObjectItemsW,                                                                                             \
      (LPCWSTR data_source, LPCWSTR machine, LPCWSTR object, LPWSTR counters, LPDWORD counter_units, LPWSTR instances, \
       LPDWORD instance_units, DWORD detail, DWORD flags))                                                             \
    X(PdhOpenLogW,                                                                                                     \
      (LPCWSTR name, DWORD access, LPDWORD type, PDH_HQUERY query, DWORD most, LPCWSTR caption, PDH_HLOG * log))       \
    X(PdhUpdateLogW, (PDH_HLOG log, LPCWSTR text))                                                                     \
    X(PdhCloseLog, (PDH_HLOG log, DWORD flags))

#define PDH_API_MEMBER(name, parameters) PDH_STATUS(WINAPI *name) parameters;
struct pdh_api {
    PDH_API_LIST(PDH_API_MEMBER)
};
#undef PDH_API_MEMBER

#ifndef _WIN32
/* OpenPLA's PDH (engine/pdh), the only one in native builds. The symbol is weak because the os layer refers to it
   without linking pdh. The address of the symbol is NULL in a program that does not link openpla_pdh (-u openpdh_api
   forces the linking). */
extern const struct pdh_api openpdh_api __attribute__((weak));
#endif

#endif
