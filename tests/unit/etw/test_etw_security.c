/* SPDX-License-Identifier: MIT */
/* Access to event providers and sessions: EventAccessControl, EventAccessQuery, EventAccessRemove, and registry
   descriptors with arbitrary contents. */
#define _EVNT_SOURCE_
#include "engine/base/memory.h"
#include "engine/etw/controller/trace_security.h"
#include "engine/etw/etw_api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <sddl.h>
#include <string.h>

#define SECURITY_KEY L"SYSTEM\\CurrentControlSet\\Control\\WMI\\Security"

static GUID guid = {0x5EC0FFEE, 0x1234, 0x5678, {1, 2, 3, 4, 5, 6, 7, 8}};
#define GUID_VALUE L"5ec0ffee-1234-5678-0102-030405060708"
static PSID own;

static char *sddl(uint32_t parts)
{
    char *text;
    assert_int_equal(event_provider_get_security(&guid, parts, &text), S_OK);
    return text;
}

static void check_sddl(uint32_t parts, const char *part, bool there)
{
    char *text = sddl(parts);
    if ((strstr(text, part) != NULL) != there)
        fail_msg("%s in %s", part, text);
    memory_free(text);
}

static void rights_are_granted_and_removed(void **state)
{
    const uint32_t both = TRACE_RIGHT_REGISTER_GUIDS | TRACE_RIGHT_GUID_ENABLE;
    (void)state;
    assert_int_equal(EventAccessRemove(&guid), ERROR_SUCCESS);
    assert_int_equal(trace_allowed(&guid, TRACE_RIGHT_ALL), ERROR_SUCCESS); /* no descriptor is registered */
    assert_int_equal(EventAccessControl(&guid, 0, own, TRACE_RIGHT_REGISTER_GUIDS, TRUE), ERROR_SUCCESS);
    assert_int_equal(trace_allowed(&guid, TRACE_RIGHT_REGISTER_GUIDS), ERROR_SUCCESS);
    assert_int_equal(trace_allowed(&guid, TRACE_RIGHT_GUID_ENABLE), ERROR_ACCESS_DENIED);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), "5EC0FFEE"));
    assert_int_equal(trace_allowed(&guid, both), ERROR_ACCESS_DENIED);
    assert_int_equal(EventAccessControl(&guid, 2, own, TRACE_RIGHT_GUID_ENABLE, TRUE), ERROR_SUCCESS);
    assert_int_equal(trace_allowed(&guid, both), ERROR_SUCCESS);
    assert_int_equal(EventAccessControl(&guid, 2, own, TRACE_RIGHT_GUID_ENABLE, FALSE), ERROR_SUCCESS);
    assert_int_equal(trace_allowed(&guid, TRACE_RIGHT_GUID_ENABLE), ERROR_ACCESS_DENIED); /* denying ACEs come first */
    assert_int_equal(trace_allowed(&guid, TRACE_RIGHT_REGISTER_GUIDS), ERROR_SUCCESS);
    assert_int_equal(EventAccessControl(&guid, 0, own, TRACE_RIGHT_GUID_ENABLE, TRUE),
                     ERROR_SUCCESS); /* this is the only right */
    assert_int_equal(trace_allowed(&guid, TRACE_RIGHT_GUID_ENABLE), ERROR_SUCCESS);
    assert_int_equal(trace_allowed(&guid, TRACE_RIGHT_REGISTER_GUIDS), ERROR_ACCESS_DENIED);
    GUID other = guid;
    other.Data1++;
    assert_int_equal(trace_allowed(&other, TRACE_RIGHT_ALL), ERROR_SUCCESS);
    assert_int_equal(EventAccessRemove(&guid), ERROR_SUCCESS);
    assert_int_equal(EventAccessRemove(&guid), ERROR_SUCCESS);
    assert_int_equal(trace_allowed(&guid, TRACE_RIGHT_ALL), ERROR_SUCCESS);
}

/* Kernel events concern all users, so by default only SYSTEM and administrators get them. */
static void kernel_guid_has_a_separate_default(void **state)
{
    static const GUID kernel = {0x9E814AAD, 0x3204, 0x11D2, {0x9A, 0x82, 0x00, 0x60, 0x08, 0xA8, 0x69, 0x39}};
    char *text;
    (void)state;
    assert_int_equal(event_provider_get_security(&kernel, 4, &text), S_OK);
    assert_string_equal(text, "D:(A;;0x120fff;;;SY)(A;;0x120fff;;;BA)");
    memory_free(text);
}

static void an_unknown_guid_has_the_default(void **state)
{
    BYTE room[1024];
    ULONG size = 0;
    (void)state;
    assert_int_equal(EventAccessQuery(&guid, NULL, &size), ERROR_MORE_DATA);
    assert_in_range(size, 50, sizeof room);
    ULONG less = size - 1;
    assert_int_equal(EventAccessQuery(&guid, room, &less), ERROR_MORE_DATA);
    assert_int_equal(less, size);
    assert_int_equal(EventAccessQuery(&guid, room, &size), ERROR_SUCCESS);
    assert_true(IsValidSecurityDescriptor((SECURITY_DESCRIPTOR *)(void *)room));
    assert_int_equal(GetSecurityDescriptorLength((SECURITY_DESCRIPTOR *)(void *)room), size);
    check_sddl(4, "S-1-5-32-559", true);
    /* Added rights are added to the default. */
    assert_int_equal(EventAccessControl(&guid, 2, own, 1, TRUE), ERROR_SUCCESS);
    check_sddl(4, "S-1-5-32-559", true);
    assert_int_equal(EventAccessControl(&guid, 3, own, 0x80, FALSE), ERROR_SUCCESS);
    check_sddl(8, "(AU;SAFA;", true);
    check_sddl(4, "S-1-5-32-559", true);
    assert_int_equal(EventAccessControl(&guid, 0, own, 1, TRUE), ERROR_SUCCESS);
    check_sddl(4, "S-1-5-32-559", false);
    check_sddl(8, "(AU;SAFA;", true);
    assert_int_equal(EventAccessControl(&guid, 1, own, 0x40, TRUE), ERROR_SUCCESS);
    check_sddl(8, "SAFA;DT;", true);
    assert_int_equal(EventAccessRemove(&guid), ERROR_SUCCESS);
}

static void put(const BYTE *bytes, DWORD size)
{
    HKEY key;
    assert_int_equal(RegCreateKeyExW(HKEY_LOCAL_MACHINE, SECURITY_KEY, 0, NULL, 0, KEY_SET_VALUE, NULL, &key, NULL), 0);
    assert_int_equal(RegSetValueExW(key, GUID_VALUE, 0, REG_BINARY, bytes, size), 0);
    RegCloseKey(key);
}

/* If everyone has all rights, adding a right must remove none. */
static void adding_to_a_null_dacl_removes_no_rights(void **state)
{
    SECURITY_DESCRIPTOR_RELATIVE open = {.Revision = SECURITY_DESCRIPTOR_REVISION,
                                         .Control = SE_SELF_RELATIVE | SE_DACL_PRESENT};
    (void)state;
    put((const BYTE *)&open, sizeof open);
    assert_int_equal(EventAccessControl(&guid, 2, own, TRACE_RIGHT_QUERY, TRUE), ERROR_SUCCESS);
    check_sddl(4, ";;;WD)", true);
    put((const BYTE *)&open, sizeof open);
    assert_int_equal(EventAccessControl(&guid, 2, own, TRACE_RIGHT_QUERY, FALSE), ERROR_SUCCESS);
    check_sddl(4, "D:(D;", true);
    check_sddl(4, ";;;WD)", true);
    assert_int_equal(EventAccessRemove(&guid), ERROR_SUCCESS);
}

static void invalid_calls_are_rejected(void **state)
{
    ULONG size = 0;
    BYTE sid[12] = {9};
    (void)state;
    assert_int_equal(EventAccessControl(NULL, 0, own, 1, TRUE), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventAccessControl(&guid, 4, own, 1, TRUE), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventAccessControl(&guid, 0, NULL, 1, TRUE), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventAccessControl(&guid, 0, sid, 1, TRUE), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventAccessQuery(NULL, NULL, &size), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventAccessQuery(&guid, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventAccessRemove(NULL), ERROR_INVALID_PARAMETER);
}

/* Unreadable descriptors grant nothing and cause no crash. */
static void corrupt_descriptors_grant_no_rights(void **state)
{
    BYTE whole[1024], damaged[1024];
    ULONG size = sizeof whole;
    unsigned refused = 0, random = 1;
    (void)state;
    assert_int_equal(EventAccessControl(&guid, 0, own, TRACE_RIGHT_ALL, TRUE), ERROR_SUCCESS);
    assert_int_equal(EventAccessControl(&guid, 3, own, 0x80, FALSE), ERROR_SUCCESS);
    assert_int_equal(EventAccessQuery(&guid, whole, &size), ERROR_SUCCESS);
    assert_true(trace_is_descriptor(whole, size));
    for (DWORD bytes = 0; bytes < size; bytes++) {
        put(whole, bytes);
        assert_int_equal(trace_allowed(&guid, TRACE_RIGHT_GUID_ENABLE), ERROR_ACCESS_DENIED);
    }
    put(whole, 30);
    ULONG room = 0;
    assert_int_equal(EventAccessQuery(&guid, NULL, &room), ERROR_INVALID_SECURITY_DESCR);
    assert_int_equal(EventAccessControl(&guid, 2, own, 1, TRUE), ERROR_INVALID_SECURITY_DESCR);
    for (int i = 0; i < 2000; i++) {
        memcpy(damaged, whole, size);
        for (int k = 0; k < 3; k++) {
            random = random * 1103515245u + 12345u;
            damaged[(random >> 8) % size] = (BYTE)(random >> 24); /* NOLINT(clang-analyzer-core.DivideZero) */
        }
        if (!trace_is_descriptor(damaged, size)) {
            refused++;
        } else if (i % 8 == 0) {
            char *text = NULL;
            put(damaged, size);
            (void)trace_allowed(&guid, TRACE_RIGHT_GUID_ENABLE);
            (void)event_provider_get_security(&guid, 15, &text);
            memory_free(text);
        }
    }
    assert_in_range(refused, 200, 2000);
    assert_int_equal(EventAccessRemove(&guid), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rights_are_granted_and_removed),  cmocka_unit_test(kernel_guid_has_a_separate_default),
        cmocka_unit_test(an_unknown_guid_has_the_default), cmocka_unit_test(adding_to_a_null_dacl_removes_no_rights),
        cmocka_unit_test(invalid_calls_are_rejected),      cmocka_unit_test(corrupt_descriptors_grant_no_rights),
    };
    union {
        TOKEN_USER user;
        BYTE room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } who;
    DWORD length;
    HANDLE token;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token) ||
        !GetTokenInformation(token, TokenUser, &who, sizeof who, &length))
        return 1;
    own = who.user.User.Sid;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
