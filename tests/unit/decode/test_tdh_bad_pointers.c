/* SPDX-License-Identifier: MIT */
/* Invalid addresses: TDH's functions return 998 and keep working. */
#include "engine/etw/decode/tdh/tdh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <windows.h>
#include <cmocka.h>
#include <string.h>

enum { PAGE = 4096, ITEM_SCHEMA = 0xB };
/* An inaccessible page. */
static uint8_t *bad;
static const uint8_t metadata[] = "\x09\0\0Ev\0n\0\x08";

static int begin(void **state)
{
    (void)state;
    bad = VirtualAlloc(NULL, PAGE, MEM_COMMIT | MEM_RESERVE, PAGE_NOACCESS);
    return bad ? 0 : 1;
}

static void invalid_addresses_are_reported(void **state)
{
    (void)state;
    EVENT_HEADER_EXTENDED_DATA_ITEM item = {.ExtType = ITEM_SCHEMA, .DataSize = 9, .DataPtr = (uintptr_t)metadata};
    uint32_t number = 7;
    const EVENT_RECORD good = {.EventHeader = {.Flags = EVENT_HEADER_FLAG_EXTENDED_INFO},
                               .ExtendedData = &item,
                               .ExtendedDataCount = 1,
                               .UserData = &number,
                               .UserDataLength = sizeof number};
    EVENT_RECORD e = good;
    static uint8_t buffer[4096];
    ULONG size = 0;
    USHORT used;
    WCHAR text[16];
    struct tdh_property_step step = {(uintptr_t)bad, UINT32_MAX, 0};
    assert_int_equal(tdh_get_event_information((void *)bad, 0, NULL, NULL, &size), ERROR_NOACCESS);
    assert_int_equal(tdh_get_event_information(&good, 0, NULL, NULL, (void *)bad), ERROR_NOACCESS);
    assert_int_equal(tdh_get_event_information(&good, 1, (void *)bad, NULL, &size), ERROR_NOACCESS);
    e.UserData = bad;
    assert_int_equal(tdh_get_event_information(&e, 0, NULL, NULL, &size), ERROR_NOACCESS);
    e = good;
    e.ExtendedData = (void *)bad;
    assert_int_equal(tdh_get_event_information(&e, 0, NULL, NULL, &size), ERROR_NOACCESS);
    item.DataPtr = (uintptr_t)bad;
    assert_int_equal(tdh_get_event_information(&good, 0, NULL, NULL, &size), ERROR_NOACCESS);
    item.DataPtr = (uintptr_t)metadata;
    assert_int_equal(tdh_get_property_size(&good, 0, NULL, 1, &step, &size), ERROR_NOACCESS);
    assert_int_equal(tdh_get_property_size(&good, 0, NULL, 1, (void *)bad, &size), ERROR_NOACCESS);
    step.name = (uintptr_t)u"n";
    assert_int_equal(tdh_get_property(&good, 0, NULL, 1, &step, 4, bad), ERROR_NOACCESS);
    size = sizeof text;
    assert_int_equal(tdh_format_property(buffer, NULL, 8, 8, 0, 0, 4, bad, &size, text, &used), ERROR_NOACCESS);
    assert_int_equal(tdh_format_property(buffer, bad, 8, 8, 0, 0, 4, (void *)&number, &size, text, &used),
                     ERROR_NOACCESS);
    assert_int_equal(tdh_load_manifest((void *)bad), ERROR_NOACCESS);
    assert_int_equal(tdh_load_manifest_from_memory(bad, 10), ERROR_NOACCESS);
    assert_int_equal(tdh_enumerate_provider_field_information((void *)bad, 0, buffer, &size), ERROR_NOACCESS);
    assert_int_equal(tdh_delete_payload_filter((void *)bad), ERROR_NOACCESS);
    assert_int_equal(tdh_open_decoding_handle((void *)bad), ERROR_NOACCESS);
    /* The failed call holds no lock for which the next call would wait. */
    size = sizeof buffer;
    assert_int_equal(tdh_get_event_information(&good, 0, NULL, buffer, &size), ERROR_SUCCESS);
    assert_int_equal(tdh_get_property(&good, 0, NULL, 1, &step, 4, buffer), ERROR_SUCCESS);
    assert_memory_equal(buffer, &number, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(invalid_addresses_are_reported, begin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
