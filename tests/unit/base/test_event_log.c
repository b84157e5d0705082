/* SPDX-License-Identifier: MIT */
/* Tests the events for Windows' event log. Wine delivers them to nobody, so the tests check the arguments of the API
   calls that write them. With a wrong channel, keyword or field, an administrator would never see an event, or see it
   without its set's name. */
#include "engine/base/memory.h"
#include "engine/base/windows_services.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <windows.h>
#include <cmocka.h>
#include <evntprov.h>
#include <string.h>

static struct {
    ULONG refuse_register, refuse_write;
    int registered, written;
    EVENT_DESCRIPTOR event;
    ULONG count;
    struct {
        BYTE bytes[64];
        ULONG size;
    } data[EVENT_LOG_FIELDS_MAX];
} seen;

#define HANDLE_HERE 77

static ULONG WINAPI take(LPCGUID provider, PENABLECALLBACK callback, void *context, REGHANDLE *handle)
{
    /* Microsoft-Windows-Diagnosis-PLA */
    static const GUID pla = {0xE4D53F84, 0x7DE3, 0x11D8, {0x94, 0x35, 0x50, 0x50, 0x54, 0x50, 0x30, 0x30}};
    assert_memory_equal(provider, &pla, sizeof pla);
    assert_null(callback);
    assert_null(context);
    if (seen.refuse_register)
        return seen.refuse_register;
    seen.registered++;
    *handle = HANDLE_HERE;
    return ERROR_SUCCESS;
}
ULONG(WINAPI *__wrap___imp_EventRegister)(LPCGUID, PENABLECALLBACK, void *, REGHANDLE *) = take;

static ULONG WINAPI unregister_event(REGHANDLE handle)
{
    assert_int_equal(handle, HANDLE_HERE);
    seen.registered--;
    return ERROR_SUCCESS;
}
ULONG(WINAPI *__wrap___imp_EventUnregister)(REGHANDLE) = unregister_event;

static ULONG WINAPI note(REGHANDLE handle, PCEVENT_DESCRIPTOR event, ULONG count, EVENT_DATA_DESCRIPTOR *data)
{
    assert_int_equal(handle, HANDLE_HERE);
    assert_true(count <= EVENT_LOG_FIELDS_MAX);
    seen.written++;
    seen.event = *event;
    seen.count = count;
    for (ULONG i = 0; i < count; i++) {
        assert_true(data[i].Size <= sizeof seen.data[i].bytes);
        seen.data[i].size = data[i].Size;
        memcpy(seen.data[i].bytes, (const void *)(uintptr_t)data[i].Ptr, data[i].Size);
    }
    return seen.refuse_write;
}
ULONG(WINAPI *__wrap___imp_EventWrite)(REGHANDLE, PCEVENT_DESCRIPTOR, ULONG, EVENT_DATA_DESCRIPTOR *) = note;

static int begin(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    return 0;
}

static const struct event_log_field fields[] = {{.text = "Gr\xC3\xBC\xC3\x9F"}, {.number = 0x80300104}, {.text = ""}};

static void event_has_its_fields(void **state)
{
    static const WCHAR text[] = u"Gr\u00FC\u00DF";
    const uint32_t number = 0x80300104;
    (void)state;
    assert_int_equal(event_log_write(1003, 2, fields, ARRAYSIZE(fields)), S_OK);
    assert_int_equal(seen.written, 1);
    assert_int_equal(seen.registered, 0);
    assert_int_equal(seen.event.Id, 1003);
    assert_int_equal(seen.event.Level, 2);
    assert_int_equal(seen.event.Channel, 16);
    assert_true(seen.event.Keyword == 0x8000000000000000u);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.data[0].size, sizeof text); /* including the terminator */
    assert_memory_equal(seen.data[0].bytes, text, sizeof text);
    assert_int_equal(seen.data[1].size, sizeof number);
    assert_memory_equal(seen.data[1].bytes, &number, sizeof number);
    assert_int_equal(seen.data[2].size, sizeof(WCHAR));
}

static void api_errors_are_reported_and_registration_is_undone(void **state)
{
    (void)state;
    seen.refuse_write = ERROR_INVALID_PARAMETER;
    assert_int_equal(event_log_write(1, 4, fields, 1), HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER));
    assert_int_equal(seen.registered, 0);
    seen.refuse_register = ERROR_ACCESS_DENIED;
    assert_int_equal(event_log_write(1, 4, fields, 1), E_ACCESSDENIED);
    assert_int_equal(seen.written, 1);
    assert_int_equal(event_log_write(1, 4, fields, EVENT_LOG_FIELDS_MAX + 1), E_INVALIDARG);
}

static void out_of_memory_is_an_error(void **state)
{
    HRESULT hr = E_FAIL;
    (void)state;
    for (uint64_t at = 1; hr != S_OK; at++) {
        assert_true(at < 100);
        memory_fail_at(at);
        hr = event_log_write(1003, 2, fields, ARRAYSIZE(fields));
        memory_fail_at(0);
        assert_true(hr == S_OK || (hr == E_OUTOFMEMORY && !seen.written));
    }
    assert_int_equal(seen.written, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(event_has_its_fields, begin),
        cmocka_unit_test_setup(api_errors_are_reported_and_registration_is_undone, begin),
        cmocka_unit_test_setup(out_of_memory_is_an_error, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
