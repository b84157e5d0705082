/* SPDX-License-Identifier: MIT */
/* openetw.dll as programs use it: linked with its import library, or loaded with LoadLibrary. */
#include "tests/unit/own_threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Returns the next handle value: Wine assigns the lowest free one, and does not implement GetProcessHandleCount. */
static HANDLE next_handle(void)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);
    assert_non_null(event);
    CloseHandle(event);
    return event;
}

/* Many programs link openetw.dll and never write an event. */
static void needs_no_resources_until_it_is_called(void **state)
{
    (void)state;
    const unsigned threads = own_threads();
    assert_true(threads > 0);
    HANDLE next = next_handle();
    HMODULE module = LoadLibraryW(u"openetw.dll");
    assert_non_null(module);
    assert_int_equal(own_threads(), threads);
    assert_ptr_equal(next_handle(), next);
    assert_true(FreeLibrary(module));
    assert_null(GetModuleHandleW(u"openetw.dll"));
    assert_ptr_equal(next_handle(), next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_no_resources_until_it_is_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
