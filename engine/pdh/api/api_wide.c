/* SPDX-License-Identifier: MIT */
/* The W entry points, the functions without strings that take a source's handle, and in native builds the engine's
   table of functions. */
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/pdh.h"

#ifndef _WIN32
#define PDH_ENTRY(name, parameters) .name = name,
const struct pdh_api openpdh_api = {PDH_API_LIST(PDH_ENTRY)};
#undef PDH_ENTRY
#endif

#define ENTRY(name)  name##W
#define FORM         API_WIDE
#define TEXT_IN      LPCWSTR
#define LIST_OUT     LPWSTR
#define STRUCT(name) name##_W
#include "engine/pdh/api/api_forms.inc"

PDH_STATUS WINAPI PdhOpenQueryH(PDH_HLOG source, DWORD_PTR user_data, PDH_HQUERY *query)
{
    return api_open_query(API_WIDE, (struct api_source){.handle = source}, user_data, query);
}

PDH_STATUS WINAPI PdhGetDataSourceTimeRangeH(PDH_HLOG source, LPDWORD count, PPDH_TIME_INFO info, LPDWORD bytes)
{
    return api_get_time_range(API_WIDE, (struct api_source){.handle = source}, count, info, bytes);
}
