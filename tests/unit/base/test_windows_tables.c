/* SPDX-License-Identifier: MIT */
/* The DLLs that provide counters and events on Windows, tested with Wine's DLLs with the same names. With a wrong DLL
   no counter would exist, or another program could plant its own DLL. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/pdh_types.h"
#include "engine/pdh/counter_query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <windows.h>
#include <cmocka.h>
#include <wchar.h>

bool __wrap_os_is_wine(void);
bool __wrap_os_is_wine(void)
{
    return false;
}

static void counter_functions_come_from_system_dlls(void **state)
{
    const struct pdh_api *pdh;
    WCHAR system[MAX_PATH], found[MAX_PATH];
    HMODULE module;
    (void)state;
    assert_int_equal(host_pdh(&pdh), S_OK);
    assert_true(GetSystemDirectoryW(system, MAX_PATH) > 0);
    wcscat(system, L"\\pdh.dll");
#define LOOK(name, parameters)                                                                                         \
    assert_true(                                                                                                       \
        GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,      \
                           (const WCHAR *)(void *)pdh->name, &module));                                                \
    assert_true(GetModuleFileNameW(module, found, MAX_PATH) > 0);                                                      \
    assert_int_equal(_wcsicmp(found, system), 0);
    PDH_API_LIST(LOOK)
#undef LOOK
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(counter_functions_come_from_system_dlls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
