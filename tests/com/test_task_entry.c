/* SPDX-License-Identifier: MIT */
/* Tests pla.dll's flat function for task arguments as programs load it, by name and by ordinal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <windows.h>
#include <cmocka.h>
#include <oleauto.h>
#include <string.h>

typedef HRESULT(WINAPI *expand_function)(VARIANT arguments, BSTR *out);
static expand_function expand;

static VARIANT array_of(VARTYPE type, const WCHAR *const *texts, LONG count)
{
    VARIANT v, item;
    VariantInit(&v);
    V_VT(&v) = (VARTYPE)(VT_ARRAY | type);
    V_ARRAY(&v) = SafeArrayCreateVector(type, 0, (ULONG)count);
    for (LONG i = 0; i < count; i++) {
        VariantInit(&item);
        V_VT(&item) = VT_BSTR;
        V_BSTR(&item) = SysAllocString(texts[i]);
        assert_int_equal(SafeArrayPutElement(V_ARRAY(&v), &i, type == VT_BSTR ? (void *)V_BSTR(&item) : &item), S_OK);
        VariantClear(&item);
    }
    return v;
}

static void expect_expanded(VARIANT v, const WCHAR *wanted)
{
    BSTR out = NULL;
    assert_int_equal(expand(v, &out), S_OK);
    assert_int_equal(wcscmp(out, wanted), 0);
    SysFreeString(out);
    VariantClear(&v);
}

static void expect_failure(VARIANT v, HRESULT wanted)
{
    BSTR out = (BSTR)L"";
    assert_int_equal(expand(v, &out), wanted);
    assert_null(out);
    VariantClear(&v);
}

static VARIANT text_argument(const WCHAR *t)
{
    VARIANT v;
    VariantInit(&v);
    V_VT(&v) = VT_BSTR;
    V_BSTR(&v) = SysAllocString(t);
    return v;
}

static void arguments_are_filled_in(void **state)
{
    static const WCHAR *const with_values[] = {
        L"/x {name} \\{LOGS\\} \"{name}\"", L"name", L"a \"b\"", L"logs", L"C:\\l 1.blg", L"Logs", L"2.csv"};
    static const WCHAR wanted[] = L"/x \"a \\\"b\\\"\" \"C:\\l 1.blg\" 2.csv \"a \\\"b\\\"\"";
    VARIANT v = text_argument(L"{logs} x"), reference;
    (void)state;
    VariantInit(&reference);
    V_VT(&reference) = VT_BYREF | VT_VARIANT;
    V_VARIANTREF(&reference) = &v;
    expect_expanded(reference, L"{logs} x");
    expect_expanded(v, L"{logs} x");
    expect_expanded(array_of(VT_BSTR, with_values, 7), wanted);
    expect_expanded(array_of(VT_VARIANT, with_values, 7), wanted);
}

static void values_without_arguments_are_rejected(void **state)
{
    static const WCHAR *const half[] = {L"{a}", L"a"};
    static const WCHAR lone[] = {0xD800, 0};
    VARIANT v;
    (void)state;
    VariantInit(&v);
    expect_failure(v, DISP_E_TYPEMISMATCH);
    V_VT(&v) = VT_I4;
    V_I4(&v) = 5;
    expect_failure(v, DISP_E_TYPEMISMATCH);
    expect_failure(text_argument(lone), E_INVALIDARG);
    expect_failure(array_of(VT_BSTR, half, 2), E_INVALIDARG);
    expect_failure(array_of(VT_VARIANT, half, 0), E_INVALIDARG);
    V_VT(&v) = VT_ARRAY | VT_BSTR;
    V_ARRAY(&v) = NULL;
    expect_failure(v, E_INVALIDARG);
    V_VT(&v) = VT_ARRAY | VT_I4;
    V_ARRAY(&v) = SafeArrayCreateVector(VT_I4, 0, 1);
    expect_failure(v, DISP_E_TYPEMISMATCH);
    assert_int_equal(expand(v, NULL), E_POINTER);
    /* A null reference must not crash the calling program. */
    static const VARTYPE kinds[] = {VT_VARIANT, VT_BSTR, VT_ARRAY | VT_BSTR, VT_ARRAY | VT_VARIANT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        VARIANT inner, outer;
        VariantInit(&inner);
        VariantInit(&outer);
        V_VT(&inner) = VT_BYREF | kinds[i];
        V_BYREF(&inner) = NULL;
        V_VT(&outer) = VT_BYREF | VT_VARIANT;
        V_VARIANTREF(&outer) = &inner;
        expect_failure(inner, E_POINTER);
        expect_failure(outer, E_POINTER);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_filled_in),
        cmocka_unit_test(values_without_arguments_are_rejected),
    };
    HMODULE module = LoadLibraryW(L"openpla.dll");
    if (!module)
        return 1;
    FARPROC named = GetProcAddress(module, "PlaExpandTaskArguments");
    if (!named || named != GetProcAddress(module, MAKEINTRESOURCEA(8)))
        return 2;
    memcpy(&expand, &named, sizeof expand);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
