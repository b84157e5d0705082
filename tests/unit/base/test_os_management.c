/* SPDX-License-Identifier: MIT */
/* Conversion of WMI's VARIANTs to strings. The tests use values that this host OS's classes have, and types that only
   other classes use. */
#include "engine/base/memory.h"
#include "engine/base/win32/management_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <oleauto.h>
#include <string.h>
#include <wbemcli.h>

static void check(VARIANT *v, LONG type, const char *name, const char *first)
{
    struct management_value m = {.name = NULL};
    assert_int_equal(management_value_read(v, type, &m), S_OK);
    assert_string_equal(m.type, name);
    assert_true(!m.null && m.texts.count == 1);
    assert_string_equal(m.texts.items[0], first);
    texts_free(&m.texts);
    if (V_VT(v) == VT_BSTR)
        VariantClear(v);
}

static void scalars_follow_their_property_type(void **state)
{
    VARIANT v;
    (void)state;
    V_VT(&v) = VT_I4;
    V_I4(&v) = -1;
    check(&v, CIM_UINT32, "uint32", "4294967295");
    check(&v, CIM_SINT32, "sint32", "-1");
    check(&v, CIM_UINT16, "uint16", "65535");
    V_VT(&v) = VT_UI1;
    V_UI1(&v) = 200;
    check(&v, CIM_UINT8, "uint8", "200");
    V_VT(&v) = VT_I2;
    V_I2(&v) = -5;
    check(&v, CIM_SINT8, "sint8", "-5");
    V_I2(&v) = 0xE4;
    check(&v, CIM_CHAR16, "char16", "\xC3\xA4");
    V_VT(&v) = VT_BOOL;
    V_BOOL(&v) = VARIANT_TRUE;
    check(&v, CIM_BOOLEAN, "boolean", "true");
    V_VT(&v) = VT_R8;
    V_R8(&v) = 0.1;
    check(&v, CIM_REAL64, "real64", "0.1");
    V_R8(&v) = 0.1 + 0.2;
    check(&v, CIM_REAL64, "real64", "0.30000000000000004");
    V_VT(&v) = VT_R4;
    V_R4(&v) = 0.1F;
    check(&v, CIM_REAL32, "real32", "0.1");
    V_VT(&v) = VT_BSTR;
    V_BSTR(&v) = SysAllocString(L"18446744073709551615");
    check(&v, CIM_UINT64, "uint64", "18446744073709551615");
    V_VT(&v) = VT_BSTR;
    V_BSTR(&v) = SysAllocStringLen(L"a\0b", 3);
    check(&v, CIM_STRING, "string",
          "a\xEF\xBF\xBD"
          "b");
    V_VT(&v) = VT_BSTR;
    V_BSTR(&v) = NULL;
    check(&v, CIM_REFERENCE, "reference", "");
    V_VT(&v) = VT_UI8;
    V_UI8(&v) = UINT64_MAX;
    check(&v, CIM_UINT64, "uint64", "18446744073709551615");
    check(&v, 4711, "unknown", "-1");
}

static void arrays_have_a_string_per_item(void **state)
{
    struct management_value m = {.name = NULL};
    BYTE bytes[] = {0x0A, 0xFF};
    VARIANT v;
    (void)state;
    V_VT(&v) = VT_ARRAY | VT_BSTR;
    V_ARRAY(&v) = SafeArrayCreateVector(VT_BSTR, 3, 2);
    for (LONG i = 3; i < 5; i++) {
        BSTR text = SysAllocString(i == 3 ? L"one" : L"");
        assert_int_equal(SafeArrayPutElement(V_ARRAY(&v), &i, text), S_OK);
        SysFreeString(text);
    }
    assert_int_equal(management_value_read(&v, CIM_STRING | CIM_FLAG_ARRAY, &m), S_OK);
    assert_true(m.array && !m.null && m.texts.count == 2);
    assert_string_equal(m.type, "string[]");
    assert_string_equal(m.texts.items[0], "one");
    assert_string_equal(m.texts.items[1], "");
    texts_free(&m.texts);
    VariantClear(&v);
    V_VT(&v) = VT_ARRAY | VT_I4;
    V_ARRAY(&v) = SafeArrayCreateVector(VT_I4, 0, 1);
    LONG at = 0, number = -2;
    assert_int_equal(SafeArrayPutElement(V_ARRAY(&v), &at, &number), S_OK);
    assert_int_equal(management_value_read(&v, CIM_UINT32 | CIM_FLAG_ARRAY, &m), S_OK);
    assert_int_equal(m.texts.count, 1);
    assert_string_equal(m.texts.items[0], "4294967294");
    texts_free(&m.texts);
    VariantClear(&v);
    V_VT(&v) = VT_ARRAY | VT_UI1;
    V_ARRAY(&v) = SafeArrayCreateVector(VT_UI1, 0, 2);
    for (LONG i = 0; i < 2; i++)
        assert_int_equal(SafeArrayPutElement(V_ARRAY(&v), &i, &bytes[i]), S_OK);
    assert_int_equal(management_value_read(&v, CIM_UINT8 | CIM_FLAG_ARRAY, &m), S_OK);
    assert_int_equal(m.texts.count, 1);
    assert_string_equal(m.texts.items[0], "0AFF");
    texts_free(&m.texts);
    VariantClear(&v);
    V_VT(&v) = VT_ARRAY | VT_BOOL;
    V_ARRAY(&v) = SafeArrayCreateVector(VT_BOOL, 0, 0);
    assert_int_equal(management_value_read(&v, CIM_BOOLEAN | CIM_FLAG_ARRAY, &m), S_OK);
    assert_true(m.texts.count == 0 && !m.null);
    VariantClear(&v);
}

static void types_unknown_to_wmi_are_rejected_by_name(void **state)
{
    struct management_value m = {.name = NULL};
    LONG number = 1;
    VARIANT v;
    (void)state;
    V_VT(&v) = VT_NULL;
    assert_int_equal(management_value_read(&v, CIM_STRING, &m), S_OK);
    assert_true(m.null && !m.texts.count);
    V_VT(&v) = VT_BYREF | VT_I4;
    V_I4REF(&v) = &number;
    assert_int_equal(management_value_read(&v, CIM_UINT32, &m), DISP_E_BADVARTYPE);
    V_VT(&v) = VT_CY;
    assert_int_equal(management_value_read(&v, CIM_UINT32, &m), DISP_E_BADVARTYPE);
    assert_non_null(strstr(error_text(DISP_E_BADVARTYPE), "0x6"));
    V_VT(&v) = VT_UNKNOWN;
    V_UNKNOWN(&v) = NULL;
    assert_true(FAILED(management_value_read(&v, CIM_OBJECT, &m)));
    V_VT(&v) = VT_ARRAY | VT_I4;
    V_ARRAY(&v) = SafeArrayCreate(VT_I4, 2, (SAFEARRAYBOUND[]){{1, 0}, {1, 0}});
    assert_int_equal(management_value_read(&v, CIM_UINT32 | CIM_FLAG_ARRAY, &m), DISP_E_BADVARTYPE);
    VariantClear(&v);
    assert_int_equal(m.texts.count, 0);
}

/* An embedded object is shown in MOF. The test embeds an ordinary object of this host OS. */
static void embedded_object_is_shown_in_mof(void **state)
{
    struct management_value m = {.name = NULL};
    IWbemLocator *locator;
    IWbemServices *services;
    IEnumWbemClassObject *rows;
    IWbemClassObject *object;
    ULONG got;
    VARIANT v;
    (void)state;
    assert_int_equal(CoInitializeEx(NULL, COINIT_MULTITHREADED), S_OK);
    assert_int_equal(
        CoCreateInstance(&CLSID_WbemLocator, NULL, CLSCTX_INPROC_SERVER, &IID_IWbemLocator, (void **)&locator), S_OK);
    BSTR path = SysAllocString(L"root\\cimv2"), wql = SysAllocString(L"WQL");
    BSTR query = SysAllocString(L"SELECT Name FROM Win32_ComputerSystem");
    assert_int_equal(IWbemLocator_ConnectServer(locator, path, NULL, NULL, NULL, 0, NULL, NULL, &services), S_OK);
    assert_int_equal(IWbemServices_ExecQuery(services, wql, query, WBEM_FLAG_FORWARD_ONLY, NULL, &rows), S_OK);
    assert_int_equal(IEnumWbemClassObject_Next(rows, (LONG)WBEM_INFINITE, 1, &object, &got), S_OK);
    V_VT(&v) = VT_UNKNOWN;
    V_UNKNOWN(&v) = (IUnknown *)object;
    assert_int_equal(management_value_read(&v, CIM_OBJECT, &m), S_OK);
    assert_string_equal(m.type, "object");
    assert_non_null(strstr(m.texts.items[0], "instance of Win32_ComputerSystem"));
    texts_free(&m.texts);
    VariantClear(&v);
    IEnumWbemClassObject_Release(rows);
    IWbemServices_Release(services);
    IWbemLocator_Release(locator);
    SysFreeString(query);
    SysFreeString(wql);
    SysFreeString(path);
    CoUninitialize();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_follow_their_property_type),
        cmocka_unit_test(arrays_have_a_string_per_item),
        cmocka_unit_test(types_unknown_to_wmi_are_rejected_by_name),
        cmocka_unit_test(embedded_object_is_shown_in_mof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
