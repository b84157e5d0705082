/* SPDX-License-Identifier: MIT */
/* openpla doctor: checks whether the host OS has the features that OpenPLA needs. */
#include "cli/doctor/doctor.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/trace_instance.h"
#include "engine/logs/odbc_library.h"
#include "engine/pdh/counter_query.h"

#include <string.h>

/* Returns true if kernel events come from Linux. This is false on Windows, where kernel events come from Windows. */
static bool is_linux(void)
{
#ifdef _WIN32
    return os_is_wine();
#else
    return true;
#endif
}

static HRESULT check_tracefs(struct doctor *d)
{
    HRESULT hr = trace_instance_possible(NULL);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
        return hr;
    return doctor_find(d, DOCTOR_FOUND_NO_TRACEFS, NULL, "%s", error_text(hr));
}

/* Checks that the processes of other users are visible. Process 1 always exists, so if it is not visible, the processes
   of other users are hidden. */
static HRESULT check_proc(struct doctor *d)
{
    char *text;
    HRESULT hr = kernel_file_text("/proc/1/stat", &text, NULL);
    memory_free(text);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
        return hr;
    return doctor_find(d, DOCTOR_FOUND_PROC_HIDDEN, NULL, "/proc hides the processes of other users (hidepid)");
}

/* Checks that the zone file exists if TZ names one. If TZ has the other form, such as EST5EDT or <+03>-3, TZ contains
   the offset and needs no file. An absolute path is not checked. */
static HRESULT check_zone(struct doctor *d)
{
    static const char folder[] = "/usr/share/zoneinfo/";
    char *zone, *path = NULL, *text = NULL;
    HRESULT hr = environment_get("TZ", &zone);
    if (hr != S_OK)
        return hr;
    const char *name = zone + (*zone == ':');
    if (*name == '/' || (strpbrk(name, "0123456789<") && !strchr(name, '/')))
        hr = S_FALSE;
    else
        hr = (path = text_format("%s%s", folder, name)) ? kernel_file_text(path, &text, NULL) : E_OUTOFMEMORY;
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        hr = doctor_find(d, DOCTOR_FOUND_ZONE_UNKNOWN, NULL, "TZ is '%s', and %s does not exist", zone, path);
    memory_free(text);
    memory_free(path);
    memory_free(zone);
    return FAILED(hr) ? hr : S_OK;
}

/* ---- databases ---- */

static bool has_driver(const struct odbc_api *api)
{
    SQLHANDLE environment = NULL;
    SQLWCHAR name[256];
    SQLSMALLINT units = 0, more = 0;
    if (api->SQLAllocHandle(SQL_HANDLE_ENV, NULL, &environment) != SQL_SUCCESS)
        return false;
    SQLRETURN r = api->SQLSetEnvAttr(environment, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0);
    if (r == SQL_SUCCESS || r == SQL_SUCCESS_WITH_INFO)
        r = api->SQLDriversW(environment, SQL_FETCH_FIRST, name, sizeof name / sizeof *name, &units, NULL, 0, &more);
    api->SQLFreeHandle(SQL_HANDLE_ENV, environment);
    return r == SQL_SUCCESS || r == SQL_SUCCESS_WITH_INFO;
}

static HRESULT check_odbc(struct doctor *d)
{
    struct odbc_api api;
    HRESULT hr = odbc_library_load(&api);
    if (hr == E_OUTOFMEMORY)
        return hr;
    if (FAILED(hr))
        return doctor_find(d, DOCTOR_FOUND_NO_ODBC, NULL, "the ODBC driver manager cannot be loaded: %s",
                           error_text(hr));
    if (has_driver(&api))
        return S_OK;
    return doctor_find(d, DOCTOR_FOUND_NO_ODBC_DRIVER, NULL, "no ODBC driver is installed");
}

static HRESULT check_counters(struct doctor *d)
{
    const struct pdh_api *pdh;
    HRESULT hr = host_pdh(&pdh);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
        return hr;
    return doctor_find(d, DOCTOR_FOUND_NO_COUNTERS, NULL, "%s (0x%08X)", error_text(hr), (unsigned)hr);
}

HRESULT doctor_check_host(struct doctor *d)
{
    HRESULT hr = check_counters(d);
    if (SUCCEEDED(hr))
        hr = check_odbc(d);
    if (SUCCEEDED(hr) && is_linux())
        hr = check_tracefs(d);
    if (SUCCEEDED(hr) && is_linux())
        hr = check_proc(d);
    if (SUCCEEDED(hr) && is_linux())
        hr = check_zone(d);
    return FAILED(hr) ? hr : S_OK;
}
