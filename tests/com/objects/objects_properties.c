/* SPDX-License-Identifier: MIT */
/* Every property of every object, driven by the rows of the .def files: its default, its limits, and both ways of
   access. */
#include "tests/com/objects/objects_rows.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

typedef void (*row_test)(void *object, const struct row *row);

/* Runs the test on all rows of a kind with one object; the test must restore the object. */
static void for_every_row(row_test test)
{
    for (size_t k = 0; k < kinds_of_object_count; k++) {
        void *object = kinds_of_object[k].make();
        for (size_t i = 0; i < kinds_of_object[k].count; i++)
            test(object, &kinds_of_object[k].rows[i]);
        release(object);
    }
}

/* Runs the test on each row with a new object; through a server this takes ten times as long. */
static void for_every_row_with_new_object(row_test test)
{
    for (size_t k = 0; k < kinds_of_object_count; k++) {
        for (size_t i = 0; i < kinds_of_object[k].count; i++) {
            void *object = kinds_of_object[k].make();
            test(object, &kinds_of_object[k].rows[i]);
            release(object);
        }
    }
}

/* The enumerators as MS-PLA lists them, independent of the engine's list. */
static const struct enumerator_row {
    const char *enumeration;
    LONG value;
} enumerators[] = {
#define IDL_ENUMERATOR(E, name, value) {#E, value},
#include "tests/com/idl_enumerators.inc"
#undef IDL_ENUMERATOR
};

static const WCHAR *wide_name(const struct row *row)
{
    static WCHAR name[64];
    _snwprintf(name, 64, L"%hs", row->name);
    return name;
}

/* Returns a value that the property accepts, for properties that do not accept every string. */
static const WCHAR *sample_text(const struct row *row)
{
    static const struct {
        const char *name;
        const WCHAR *text;
    } samples[] = {
        {"Security", L"O:BAG:SYD:(A;;FA;;;SY)"},
        {"DataSourceName", L"SQL:Logs!T\x00e4glich"},
        {"FileName", L"Z\x00e4hler 1"},
        {"Name", L"Z\x00e4hler"},
        {"Key", L"Key \x4e2d"},
        {"ReportFileName", L"Z\x00e4hler.html"},
        {"RuleTargetFileName", L"r.xml"},
        {"EventsFileName", L"e.xml"},
        {"SystemStateFile", L"s"},
        {"ReportSchema", L"<Report name=\"a\"/>"},
        {"Rules", L"<Rules/>"},
    };

    for (size_t i = 0; i < ARRAYSIZE(samples); i++)
        if (!strcmp(samples[i].name, row->name))
            return samples[i].text;
    return L"<Text> & \x00e4\x4e2d \xd83d\xde00 \"quoted\" %PATH%";
}

static bool is_number(enum kind kind)
{
    return kind == I32_ || kind == U32_ || kind == ENUM_ || kind == FLAGS_;
}

/* Both ways of reading must return `expected`, with COM's types: VT_UI4 for ULONG, VT_I4 for enumerations and LONG. */
static void assert_number(void *object, const struct row *row, int64_t expected)
{
    ULONG value = 0xABADCAFE;
    VARIANT late;
    assert_ok(row->get(object, &value));
    assert_ok(get(object, wide_name(row), &late));
    if ((row->kind == U32_ ? (int64_t)value : (LONG)value) != expected || V_UI4(&late) != value)
        print_error("%s\n", row->name);
    assert_int_equal(row->kind == U32_ ? (int64_t)value : (LONG)value, expected);
    assert_int_equal(V_VT(&late), row->kind == U32_ ? VT_UI4 : VT_I4);
    assert_int_equal(V_UI4(&late), value);
}

static void assert_text(void *object, const struct row *row, const WCHAR *expected)
{
    BSTR text = NULL;
    VARIANT late;
    assert_ok(row->get(object, &text));
    assert_true(bstr_is(text, expected));
    assert_ok(get(object, wide_name(row), &late));
    assert_int_equal(V_VT(&late), VT_BSTR);
    assert_true(bstr_is(V_BSTR(&late), expected));
}

static void assert_bool(void *object, const struct row *row, VARIANT_BOOL expected)
{
    VARIANT_BOOL value = 5;
    VARIANT late;
    assert_ok(row->get(object, &value));
    assert_int_equal(value, expected);
    assert_ok(get(object, wide_name(row), &late));
    assert_int_equal(V_VT(&late), VT_BOOL);
    assert_int_equal(V_BOOL(&late), expected);
}

/* A program that sets only some properties relies on the defaults of the rest. */
/* Returns whether the property is the collector's LatestOutputLocation; a set has a property of that name too. */
static bool is_collectors_latest(void *object, const struct row *row)
{
    IUnknown *collector = NULL;
    if (strcmp(row->name, "LatestOutputLocation") != 0)
        return false;
    IUnknown_QueryInterface((IUnknown *)object, &IID_IDataCollector, (void **)&collector);
    release(collector);
    return collector != NULL;
}

static void has_its_default(void *object, const struct row *row)
{
    SAFEARRAY *array = NULL;
    WCHAR text[256];
    VARIANT v;
    switch (row->kind) {
    case BOOL_:
        assert_bool(object, row, row->number ? VARIANT_TRUE : VARIANT_FALSE);
        break;
    case TEXTS_:
        assert_ok(row->get(object, &array));
        if (row->text) /* the only list that is not empty by default */
            assert_true(array_is(array, (const WCHAR *const[]){L"Advapi32", L"Gdi32", L"Kernel32", L"User32"}, 4));
        else
            assert_true(array_is(array, NULL, 0));
        SafeArrayDestroy(array);
        break;
    case BYTES_:
        assert_ok(row->get(object, &array));
        assert_true(!array || array->rgsabound[0].cElements == 0);
        SafeArrayDestroy(array);
        break;
    case U64_: {
        ULONG64 n = 1;
        assert_ok(row->get(object, &n));
        assert_true(n == 0);
        break;
    }
    case GUID_: {
        GUID guid = IID_IUnknown;
        assert_ok(row->get(object, &guid));
        assert_true(IsEqualGUID(&guid, &GUID_NULL));
        break;
    }
    case DATE_:
    case TIME_:
    case VARIANT_:
        assert_ok(row->get(object, &v));
        assert_int_equal(V_VT(&v), VT_EMPTY);
        break;
    case TEXT_:
        if (!strcmp(row->name, "OutputLocation"))
            break;                               /* computed; tested separately */
        if (is_collectors_latest(object, row)) { /* a collector in no set: MS-PLA 2.2.1 */
            assert_hr(get(object, wide_name(row), &v), PLA_E_DCS_NOT_FOUND);
            assert_message("LatestOutputLocation");
            break;
        }
        _snwprintf(text, 256, L"%hs", row->text);
        assert_text(object, row, text);
        break;
    case OBJECT_: {
        IUnknown *child = NULL;
        assert_ok(row->get(object, &child));
        assert_non_null(child);
        release(child);
        break;
    }
    default:
        if (!strcmp(row->name, "DataCollectorType"))
            break; /* tested in objects_collections.c */
        /* A map from fresh_map() is a validation map. */
        assert_number(object, row, is_map_type(row) ? plaValidation : row->number);
        break;
    }
}

static void every_property_has_its_default(void **state)
{
    (void)state;
    for_every_row(has_its_default);
}

/* The defaults that scripts are known to rely on, listed again independent of the rows. */
static void documented_defaults_match(void **state)
{
    IDataCollectorSet *set = new_set();
    void *collector = new_collector(set, L"C");
    VARIANT v;
    (void)state;
    assert_ok(get(set, L"SerialNumber", &v));
    assert_int_equal(V_UI4(&v), 1);
    assert_ok(get(set, L"SchedulesEnabled", &v));
    assert_int_equal(V_BOOL(&v), VARIANT_TRUE);
    assert_ok(get(set, L"RootPath", &v));
    assert_true(bstr_is(V_BSTR(&v), L"%systemdrive%\\PerfLogs\\Admin"));
    assert_ok(get(set, L"UserAccount", &v));
    assert_true(bstr_is(V_BSTR(&v), L"SYSTEM"));
    assert_ok(get(set, L"Status", &v));
    assert_int_equal(V_I4(&v), plaStopped);
    assert_ok(get(collector, L"SampleInterval", &v));
    assert_int_equal(V_UI4(&v), 15);
    assert_ok(get(collector, L"LogFileFormat", &v));
    assert_int_equal(V_I4(&v), plaBinary);
    release(collector);
    release(set);
}

/* Sets a number in both ways, and reads each result in both ways. */
static void puts_number(void *object, const struct row *row, int64_t number, int64_t expected)
{
    ULONG raw = (ULONG)number;
    VARIANT v;
    assert_ok(row->put(object, &raw));
    assert_number(object, row, expected);
    V_VT(&v) = row->kind == U32_ ? VT_UI4 : VT_I4;
    V_UI4(&v) = raw;
    assert_ok(put(object, wide_name(row), v));
    assert_number(object, row, expected);
}

static void keeps_numbers(void *object, const struct row *row)
{
    LONG mask = 0;
    if (row->kind == U32_ || row->kind == I32_) {
        puts_number(object, row, row->min, row->min);
        puts_number(object, row, row->max, row->max);
        return;
    }
    for (size_t i = 0; i < ARRAYSIZE(enumerators); i++) {
        if (strcmp(enumerators[i].enumeration, row->enumeration) != 0)
            continue;
        puts_number(object, row, enumerators[i].value, enumerators[i].value);
        mask |= enumerators[i].value;
    }
    assert_int_not_equal(mask, 0);
    /* 2.2.2: undefined bits of a flags property are ignored. */
    if (row->kind == FLAGS_) {
        puts_number(object, row, mask | 0x80, mask);
        puts_number(object, row, 0, 0);
    }
}

static void keeps_texts(void *object, const struct row *row)
{
    bool alert = !strcmp(row->name, "AlertThresholds"), registry = !strcmp(row->name, "RegistryKeys");
    const WCHAR *words[] = {registry ? L"HKEY_LOCAL_MACHINE\\Software\\" : L"\\System\\Threads>100",
                            registry ? L"HKEY_CURRENT_USER\\A\\\\" : L"\\Process(a b#1)\\% Processor Time<0.5"};
    const WCHAR *others[] = {registry ? words[0] : alert ? L"\\A(b>c)\\d<e>7" : L"\\Memory\\Available MBytes"};
    SAFEARRAY *array = text_array(VT_BSTR, words, 2), *back = NULL;
    VARIANT late;
    assert_ok(row->put(object, &array));
    SafeArrayDestroy(array);
    assert_ok(row->get(object, &back));
    assert_true(array_is(back, words, 2));
    SafeArrayDestroy(back);
    assert_ok(put(object, wide_name(row), of_array(VT_BSTR, others, 1)));
    assert_ok(get(object, wide_name(row), &late));
    assert_int_equal(V_VT(&late), VT_ARRAY | VT_BSTR);
    assert_true(array_is(V_ARRAY(&late), others, 1));
    VariantClear(&late);
    array = NULL; /* NULL counts as an empty array */
    assert_ok(row->put(object, &array));
    assert_ok(row->get(object, &back));
    assert_true(array_is(back, NULL, 0));
    SafeArrayDestroy(back);
}

static void keeps_text(void *object, const struct row *row)
{
    BSTR text = SysAllocString(sample_text(row)), none = NULL;
    assert_ok(row->put(object, &text));
    assert_text(object, row, text);
    SysFreeString(text);
    if (strcmp(row->name, "Key") != 0) { /* the only string that must not be empty, by MS-PLA */
        assert_ok(row->put(object, &none));
        assert_text(object, row, L"");
    }
    assert_ok(put(object, wide_name(row), of_text(sample_text(row))));
    assert_text(object, row, sample_text(row));
}

static void keeps_bool(void *object, const struct row *row)
{
    const VARIANT_BOOL in[] = {VARIANT_TRUE, VARIANT_FALSE, 1};
    VARIANT v;
    for (int i = 0; i < 3; i++) {
        assert_ok(row->put(object, &in[i]));
        assert_bool(object, row, in[i] ? VARIANT_TRUE : VARIANT_FALSE);
    }
    V_VT(&v) = VT_BOOL;
    V_BOOL(&v) = VARIANT_FALSE;
    assert_ok(put(object, wide_name(row), v));
    assert_bool(object, row, VARIANT_FALSE);
    /* dbatools and VBScript pass numbers; any number other than 0 means true. */
    assert_ok(put(object, wide_name(row), of_long(1)));
    assert_bool(object, row, VARIANT_TRUE);
}

static void keeps_guid(void *object, const struct row *row)
{
    static const WCHAR text[] = L"{9E814AAD-3204-11D2-9A82-006008A86939}";
    GUID guid, back = {0};
    VARIANT late;
    CLSIDFromString(text, &guid);
    assert_ok(row->put(object, &guid));
    assert_ok(row->get(object, &back));
    assert_true(IsEqualGUID(&back, &guid));
    assert_ok(row->put(object, &GUID_NULL));
    assert_ok(put(object, wide_name(row), of_text(text)));
    assert_ok(get(object, wide_name(row), &late));
    assert_int_equal(V_VT(&late), VT_BSTR);
    assert_int_equal(_wcsicmp(V_BSTR(&late), text), 0);
    VariantClear(&late);
    assert_hr(put(object, wide_name(row), of_text(L"{1}")), E_INVALIDARG);
    assert_message(row->name);
}

static SAFEARRAY *byte_array(ULONG count)
{
    SAFEARRAY *array = SafeArrayCreateVector(VT_UI1, 0, count);
    for (ULONG i = 0; i < count; i++)
        ((BYTE *)array->pvData)[i] = (BYTE)(i * 7);
    return array;
}

static void keeps_bytes(void *object, const struct row *row)
{
    SAFEARRAY *array = byte_array((ULONG)row->max), *back = NULL;
    VARIANT late;
    assert_ok(row->put(object, &array));
    assert_ok(row->get(object, &back));
    assert_int_equal(back->rgsabound[0].cElements, row->max);
    assert_memory_equal(back->pvData, array->pvData, (size_t)row->max);
    SafeArrayDestroy(array);
    SafeArrayDestroy(back);
    array = byte_array((ULONG)row->max + 1);
    assert_hr(heard(row->put(object, &array)), E_INVALIDARG);
    SafeArrayDestroy(array);
    V_VT(&late) = VT_ARRAY | VT_UI1;
    V_ARRAY(&late) = byte_array(3);
    assert_ok(put(object, wide_name(row), late));
    assert_ok(get(object, wide_name(row), &late));
    assert_int_equal(V_VT(&late), VT_ARRAY | VT_UI1);
    assert_int_equal(V_ARRAY(&late)->rgsabound[0].cElements, 3);
    VariantClear(&late);
}

/* Scripts assign one timestamp to both the date and the time property; each keeps its part (MS-PLA 3.2.4.12). */
static void keeps_date(void *object, const struct row *row)
{
    VARIANT v, back;
    V_VT(&v) = VT_DATE;
    V_DATE(&v) = 45000.25;
    assert_ok(row->put(object, &v));
    VariantInit(&back);
    assert_ok(row->get(object, &back));
    assert_int_equal(V_VT(&back), VT_DATE);
    assert_true(row->kind == DATE_ ? V_DATE(&back) == 45000 : V_DATE(&back) == 0.25);
    assert_ok(put(object, wide_name(row), v));
    assert_ok(get(object, wide_name(row), &back));
    assert_int_equal(V_VT(&back), VT_DATE);
    V_VT(&v) = VT_EMPTY;
    assert_ok(row->put(object, &v));
    assert_ok(row->get(object, &back));
    assert_int_equal(V_VT(&back), VT_EMPTY);
    assert_true(FAILED(put(object, wide_name(row), of_text(L"tomorrow"))));
}

/* A value that was put is read back unchanged, also at the limits, typed and by name; otherwise a template would lose
   settings. */
static void assert_keeps_value(void *object, const struct row *row)
{
    if (!row->put)
        return;
    if (is_number(row->kind))
        keeps_numbers(object, row);
    else if (row->kind == TEXT_)
        keeps_text(object, row);
    else if (row->kind == TEXTS_)
        keeps_texts(object, row);
    else if (row->kind == BOOL_)
        keeps_bool(object, row);
    else if (row->kind == GUID_)
        keeps_guid(object, row);
    else if (row->kind == BYTES_)
        keeps_bytes(object, row);
    else if (row->kind == DATE_ || row->kind == TIME_)
        keeps_date(object, row);
    else
        assert_int_equal(row->kind, VARIANT_); /* value maps are tested separately */
}

static void every_property_keeps_its_value(void **state)
{
    (void)state;
    for_every_row_with_new_object(assert_keeps_value);
}

static void property_refuses(void *object, const struct row *row, int64_t number)
{
    ULONG raw = (ULONG)number, before = 0, after = 1;
    char shown[24];
    VARIANT v;
    snprintf(shown, sizeof(shown), "%lld", (long long)number);
    assert_ok(row->get(object, &before));
    assert_hr(heard(row->put(object, &raw)), E_INVALIDARG);
    assert_vtable_said(row->name);
    assert_vtable_said(shown);
    V_VT(&v) = row->kind == U32_ ? VT_UI4 : VT_I4;
    V_UI4(&v) = raw;
    assert_hr(put(object, wide_name(row), v), E_INVALIDARG);
    assert_message(row->name);
    assert_message(shown);
    assert_ok(row->get(object, &after));
    assert_int_equal(after, before);
}

/* The error for a rejected value names the property and the value, and the old value is kept. */
static void refuses_out_of_range_value(void *object, const struct row *row)
{
    if (!row->put || !is_number(row->kind) || row->kind == FLAGS_)
        return;
    if (row->kind == ENUM_) {
        property_refuses(object, row, 77);
    } else {
        if (row->min > 0)
            property_refuses(object, row, row->min - 1);
        if (row->max < UINT32_MAX)
            property_refuses(object, row, row->max + 1);
    }
}

static void values_out_of_range_are_rejected(void **state)
{
    (void)state;
    for_every_row(refuses_out_of_range_value);
}

static void answers_without_a_place(void *object, const struct row *row)
{
    HRESULT hr = heard(row->get(object, NULL));
    if (in_process) {
        assert_hr(hr, E_POINTER);
        assert_message(row->name);
    } else {
        assert_true(FAILED(hr)); /* the proxy's own error */
    }
}

/* A client's NULL pointer causes an error, not a crash of the server. */
static void null_pointers_return_errors(void **state)
{
    (void)state;
    for_every_row(answers_without_a_place);
}

static void is_read_only(void *object, const struct row *row)
{
    if (!row->put)
        assert_hr(put(object, wide_name(row), of_long(1)), DISP_E_MEMBERNOTFOUND);
}

/* A script that assigns to Status must get an error. */
static void read_only_properties_refuse_scripts(void **state)
{
    (void)state;
    for_every_row(is_read_only);
}

static void is_found_in_any_case(void *object, const struct row *row)
{
    WCHAR *name = (WCHAR *)wide_name(row);
    DISPID id[3];
    assert_ok(IDispatch_GetIDsOfNames((IDispatch *)object, &IID_NULL, &name, 1, 0x409, &id[0]));
    _wcsupr(name);
    assert_ok(IDispatch_GetIDsOfNames((IDispatch *)object, &IID_NULL, &name, 1, 0x409, &id[1]));
    _wcslwr(name);
    assert_ok(IDispatch_GetIDsOfNames((IDispatch *)object, &IID_NULL, &name, 1, 0x409, &id[2]));
    assert_int_equal(id[0], id[1]);
    assert_int_equal(id[0], id[2]);
}

static void every_name_is_found_in_any_case(void **state)
{
    (void)state;
    for_every_row(is_found_in_any_case);
}

int property_tests(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_property_has_its_default),  cmocka_unit_test(documented_defaults_match),
        cmocka_unit_test(every_property_keeps_its_value),  cmocka_unit_test(values_out_of_range_are_rejected),
        cmocka_unit_test(null_pointers_return_errors),     cmocka_unit_test(read_only_properties_refuse_scripts),
        cmocka_unit_test(every_name_is_found_in_any_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
