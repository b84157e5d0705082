/* SPDX-License-Identifier: MIT */
/* OpenPLA's PDH: the Win32 functions on top of the core, for systems without a working PDH. Signatures, status codes
   and buffer protocols are the same as in Windows. In native builds `openpdh_api` (engine/logs/pdh_types.h) is the
   table of these functions. */
#ifndef OPENPLA_PDH_PDH_H
#define OPENPLA_PDH_PDH_H

#include "engine/logs/pdh_types.h"

/* On Windows, also makes the compiler compare PDH_API_LIST with the system's own prototypes. */
#define PDH_DECLARE(name, parameters) PDH_STATUS WINAPI name parameters;
PDH_API_LIST(PDH_DECLARE)
#undef PDH_DECLARE

BOOL WINAPI PdhIsRealTimeQuery(PDH_HQUERY query);
#ifndef _WIN32
typedef struct {
    DWORD dwStructureSize; /* size of this struct and of the data after it */
    DWORD dwRecordType;    /* PDH_LOG_TYPE_* */
    DWORD dwItems;         /* bytes that follow */
    BYTE RawBytes[1];
} PDH_RAW_LOG_RECORD, *PPDH_RAW_LOG_RECORD;
PDH_STATUS WINAPI PdhReadRawLogRecord(PDH_HLOG log, FILETIME time, PPDH_RAW_LOG_RECORD record, LPDWORD bytes);
/* Functions that programs use but the engine's table does not have. On Windows the system's own header declares these
   functions. */
PDH_STATUS WINAPI PdhSetCounterScaleFactor(PDH_HCOUNTER counter, LONG factor);
PDH_STATUS WINAPI PdhComputeCounterStatistics(PDH_HCOUNTER counter, DWORD format, DWORD first, DWORD count,
                                              PPDH_RAW_COUNTER values, PPDH_STATISTICS data);
PDH_STATUS WINAPI PdhSetQueryTimeRange(PDH_HQUERY query, PPDH_TIME_INFO info);
PDH_STATUS WINAPI PdhOpenQueryH(PDH_HLOG source, DWORD_PTR user_data, PDH_HQUERY *query);
PDH_STATUS WINAPI PdhExpandCounterPathW(LPCWSTR path, LPWSTR list, LPDWORD units);
PDH_STATUS WINAPI PdhExpandWildCardPathHW(PDH_HLOG source, LPCWSTR path, LPWSTR list, LPDWORD units, DWORD flags);
PDH_STATUS WINAPI PdhValidatePathExW(PDH_HLOG source, LPCWSTR path);
PDH_STATUS WINAPI PdhParseInstanceNameW(LPCWSTR text, LPWSTR instance, LPDWORD instance_units, LPWSTR parent,
                                        LPDWORD parent_units, LPDWORD index);
PDH_STATUS WINAPI PdhConnectMachineW(LPCWSTR machine);
PDH_STATUS WINAPI PdhEnumMachinesW(LPCWSTR data_source, LPWSTR list, LPDWORD units);
PDH_STATUS WINAPI PdhEnumMachinesHW(PDH_HLOG source, LPWSTR list, LPDWORD units);
PDH_STATUS WINAPI PdhEnumObjectsHW(PDH_HLOG source, LPCWSTR machine, LPWSTR list, LPDWORD units, DWORD detail,
                                   BOOL refresh);
PDH_STATUS WINAPI PdhEnumObjectItemsHW(PDH_HLOG source, LPCWSTR machine, LPCWSTR object, LPWSTR counters,
                                       LPDWORD counter_units, LPWSTR instances, LPDWORD instance_units, DWORD detail,
                                       DWORD flags);
PDH_STATUS WINAPI PdhGetDefaultPerfObjectW(LPCWSTR data_source, LPCWSTR machine, LPWSTR name, LPDWORD units);
PDH_STATUS WINAPI PdhGetDefaultPerfObjectHW(PDH_HLOG source, LPCWSTR machine, LPWSTR name, LPDWORD units);
PDH_STATUS WINAPI PdhGetDefaultPerfCounterW(LPCWSTR data_source, LPCWSTR machine, LPCWSTR object, LPWSTR name,
                                            LPDWORD units);
PDH_STATUS WINAPI PdhGetDefaultPerfCounterHW(PDH_HLOG source, LPCWSTR machine, LPCWSTR object, LPWSTR name,
                                             LPDWORD units);
PDH_STATUS WINAPI PdhLookupPerfNameByIndexW(LPCWSTR machine, DWORD index, LPWSTR name, LPDWORD units);
PDH_STATUS WINAPI PdhLookupPerfIndexByNameW(LPCWSTR machine, LPCWSTR name, LPDWORD index);
PDH_STATUS WINAPI PdhBindInputDataSourceW(PDH_HLOG *source, LPCWSTR names);
PDH_STATUS WINAPI PdhUpdateLogFileCatalog(PDH_HLOG log);
PDH_STATUS WINAPI PdhGetLogFileSize(PDH_HLOG log, LONGLONG *size);
PDH_STATUS WINAPI PdhGetDataSourceTimeRangeW(LPCWSTR data_source, LPDWORD count, PPDH_TIME_INFO info, LPDWORD bytes);
PDH_STATUS WINAPI PdhGetDataSourceTimeRangeH(PDH_HLOG source, LPDWORD count, PPDH_TIME_INFO info, LPDWORD bytes);
PDH_STATUS WINAPI PdhCreateSQLTablesW(LPCWSTR data_source);
PDH_STATUS WINAPI PdhVerifySQLDBW(LPCWSTR data_source);
PDH_STATUS WINAPI PdhEnumLogSetNamesW(LPCWSTR data_source, LPWSTR list, LPDWORD units);
PDH_STATUS WINAPI PdhGetLogSetGUID(PDH_HLOG log, GUID *guid, int *run);
PDH_STATUS WINAPI PdhSetLogSetRunID(PDH_HLOG log, int run);
#else
PDH_STATUS WINAPI PdhAdd009CounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user_data, PDH_HCOUNTER *counter);
PDH_STATUS WINAPI PdhTranslate009CounterA(LPCSTR path, LPSTR out, LPDWORD units);
PDH_STATUS WINAPI PdhTranslateLocaleCounterA(LPCSTR path, LPSTR out, LPDWORD units);
PDH_STATUS WINAPI PdhListLogFileHeaderA(LPCSTR name, LPSTR list, LPDWORD units);
PDH_STATUS WINAPI PdhGetLogFileTypeA(LPCSTR name, LPDWORD type);
#endif
/* Functions that no header of the SDK declares: adding a counter by its English path, translating paths between English
   and the system's language (the same here), listing the counter paths of a log file, and returning its
   PDH_LOG_TYPE_*. */
PDH_STATUS WINAPI PdhAdd009CounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user_data, PDH_HCOUNTER *counter);
PDH_STATUS WINAPI PdhTranslate009CounterW(LPCWSTR path, LPWSTR out, LPDWORD units);
PDH_STATUS WINAPI PdhTranslateLocaleCounterW(LPCWSTR path, LPWSTR out, LPDWORD units);
PDH_STATUS WINAPI PdhListLogFileHeaderW(LPCWSTR name, LPWSTR list, LPDWORD units);
PDH_STATUS WINAPI PdhGetLogFileTypeW(LPCWSTR name, LPDWORD type);

#endif
