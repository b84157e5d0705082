/* SPDX-License-Identifier: MIT */
/* Selects the ETW implementation: the system's on Windows, OpenPLA's under Wine. Wine also has ETW functions, but they
   do nothing or raise an exception. */
#include "engine/base/os.h"
#include "engine/etw/etw_api.h"

/* The selection is made once per process. */
static struct lock lock = LOCK_INIT;
static struct etw_api system_api;
static const struct etw_api *chosen;
static TRACEHANDLE(WINAPI *system_open_trace)(EVENT_TRACE_LOGFILEW *logfile);

static ULONG open_trace(EVENT_TRACE_LOGFILEW *logfile, TRACEHANDLE *handle)
{
    *handle = system_open_trace(logfile);
    return *handle != INVALID_PROCESSTRACE_HANDLE ? ERROR_SUCCESS : GetLastError();
}

/* Each DLL is loaded once and stays loaded. */
static bool load_system(struct etw_api *api)
{
    HMODULE tdh = LoadLibraryExW(L"tdh.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    HMODULE advapi32 = LoadLibraryExW(L"advapi32.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    bool whole = tdh && advapi32;
#define LOAD_ENTRY(dll, name, parameters)                                                                              \
    api->name = whole ? (ULONG(WINAPI *) parameters)(void *)GetProcAddress(dll, #name) : NULL;                         \
    whole = whole && api->name;
    ETW_API_LIST(LOAD_ENTRY)
#undef LOAD_ENTRY
    system_open_trace = whole ? (void *)GetProcAddress(advapi32, "OpenTraceW") : NULL;
    api->open_trace = open_trace;
    return whole && system_open_trace;
}

const struct etw_api *host_etw(void)
{
    lock_enter(&lock);
    if (!chosen)
        chosen = !os_is_wine() && load_system(&system_api) ? &system_api : &openetw_api;
    lock_leave(&lock);
    return chosen;
}
