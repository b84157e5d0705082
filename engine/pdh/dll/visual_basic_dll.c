/* SPDX-License-Identifier: MIT */
/* PDH's interface for Visual Basic, but for its dialogs: handles in variables of the caller, texts in the ANSI code
   page in buffers that the caller has made long enough. A Long of Visual Basic has 32 bits, as handles in its programs.
 */
#include "engine/base/memory.h"
#include "engine/pdh/core/pdh.h"

#include <string.h>

PDH_STATUS WINAPI PdhVbOpenQuery(PDH_HQUERY *query);
PDH_STATUS WINAPI PdhVbAddCounter(PDH_HQUERY query, LPCSTR path, PDH_HCOUNTER *counter);
double WINAPI PdhVbGetDoubleCounterValue(PDH_HCOUNTER counter, LPDWORD status);
LONG WINAPI PdhVbIsGoodStatus(LONG status);
PDH_STATUS WINAPI PdhVbGetCounterPathElements(LPCSTR path, LPSTR machine, LPSTR object, LPSTR instance, LPSTR parent,
                                              LPSTR counter, DWORD size);

PDH_STATUS WINAPI PdhVbOpenQuery(PDH_HQUERY *query)
{
    return PdhOpenQueryW(NULL, 0, query);
}

PDH_STATUS WINAPI PdhVbAddCounter(PDH_HQUERY query, LPCSTR path, PDH_HCOUNTER *counter)
{
    return PdhAddCounterA(query, path, 0, counter);
}

/* 0 where there is no value, as *status says then. */
double WINAPI PdhVbGetDoubleCounterValue(PDH_HCOUNTER counter, LPDWORD status)
{
    PDH_FMT_COUNTERVALUE value = {0};
    PDH_STATUS got = PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &value);
    if (status)
        *status = got ? (DWORD)got : value.CStatus;
    return got ? 0 : value.doubleValue;
}

/* Visual Basic's True is not 0. */
LONG WINAPI PdhVbIsGoodStatus(LONG status)
{
    return status == (LONG)PDH_CSTATUS_VALID_DATA || status == (LONG)PDH_CSTATUS_NEW_DATA;
}

static bool copy(LPSTR to, LPCSTR text, DWORD size)
{
    const char *from = text ? text : "";
    size_t length = strlen(from);
    if (!to || length >= size)
        return false;
    memcpy(to, from, length + 1);
    return true;
}

/* Each buffer has `size` bytes; what the path does not name becomes "". */
PDH_STATUS WINAPI PdhVbGetCounterPathElements(LPCSTR path, LPSTR machine, LPSTR object, LPSTR instance, LPSTR parent,
                                              LPSTR counter, DWORD size)
{
    DWORD bytes = 0;
    PDH_STATUS status = PdhParseCounterPathA(path, NULL, &bytes, 0);
    if ((DWORD)status != PDH_MORE_DATA)
        return status;
    PDH_COUNTER_PATH_ELEMENTS_A *e = memory_alloc(bytes);
    if (!e)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    status = PdhParseCounterPathA(path, e, &bytes, 0);
    if (!status && !(copy(machine, e->szMachineName, size) && copy(object, e->szObjectName, size) &&
                     copy(instance, e->szInstanceName, size) && copy(parent, e->szParentInstance, size) &&
                     copy(counter, e->szCounterName, size)))
        status = PDH_INSUFFICIENT_BUFFER;
    memory_free(e);
    return status;
}
