/* SPDX-License-Identifier: MIT */
/* Checks that single properties have beyond their rows, and values in the forms in which scripts pass them. */
#include "tests/com/client.h"

#include <math.h>
#include <string.h>
#include <wchar.h>

/* Returns an unnamed counter collector in no set. */
static void *fresh_collector(void)
{
    IDataCollectorSet *set = new_set();
    IDataCollectorCollection *collectors = collectors_of(set);
    IDataCollector *collector;
    assert_ok(IDataCollectorCollection_CreateDataCollector(collectors, plaPerformanceCounter, &collector));
    release(collectors);
    release(set);
    return collector;
}

static void refuses_text(void *object, const WCHAR *name, const WCHAR *text, HRESULT expected, const char *why)
{
    assert_hr(put(object, name, of_text(text)), expected);
    assert_message(why);
}

/* With such names and strings, files could not be opened, or logs could not be found. */
static void invalid_strings_are_rejected(void **state)
{
    IDataCollectorSet *set = new_set();
    void *collector = fresh_collector();
    const WCHAR *word[] = {L"a;b"}, *nothing[] = {L""}, *twice[] = {L"\\System\\Threads", L"\\system\\THREADS"};
    WCHAR longest[1026];
    const WCHAR *long_word[] = {longest};
    BSTR embedded = SysAllocStringLen(L"a\0b", 3), lone = SysAllocString(L"a\xd800");
    BSTR ended = SysAllocStringLen(L"ab\0\0", 4);
    VARIANT v;
    (void)state;
    refuses_text(collector, L"FileName", L"a\\b", E_INVALIDARG, "FileName: 'a\\b'");
    refuses_text(collector, L"Name", L"a\tb", E_INVALIDARG, "Name:");
    refuses_text(collector, L"DataSourceName", L"Logs", E_INVALIDARG, "DataSourceName: invalid log name 'Logs'");
    refuses_text(set, L"Security", L"everybody", E_INVALIDARG, "Security: 'everybody'");
    assert_hr(put(set, L"Keywords", of_array(VT_BSTR, word, 1)), E_INVALIDARG);
    assert_message("Keywords: invalid keyword 'a;b'");
    assert_hr(put(set, L"Keywords", of_array(VT_BSTR, nothing, 1)), E_INVALIDARG);
    assert_message("Keywords: invalid keyword ''");
    wmemset(longest, L'k', 1025);
    longest[1025] = 0;
    assert_hr(put(set, L"Keywords", of_array(VT_BSTR, long_word, 1)), E_INVALIDARG);
    longest[1024] = 0;
    assert_ok(put(set, L"Keywords", of_array(VT_BSTR, long_word, 1)));
    assert_hr(put(collector, L"PerformanceCounters", of_array(VT_BSTR, twice, 2)), PLA_E_NO_DUPLICATES);
    assert_message("duplicate item");
    assert_hr(heard(IDataCollectorSet_put_RootPath(set, embedded)), E_INVALIDARG);
    assert_vtable_said("RootPath");
    assert_hr(heard(IDataCollectorSet_put_RootPath(set, lone)), E_INVALIDARG);
    assert_ok(IDataCollectorSet_put_TaskUserTextArguments(set, lone)); /* DECISIONS 3: the lone surrogate becomes
                                                                          U+FFFD */
    assert_ok(get(set, L"TaskUserTextArguments", &v));
    assert_true(bstr_is(V_BSTR(&v), L"a\xfffd"));
    assert_ok(IDataCollectorSet_put_RootPath(set, ended)); /* under Wine, VBScript's %COMPUTERNAME% ends like this */
    assert_true(text_is(set, L"RootPath", L"ab"));
    SysFreeString(embedded);
    SysFreeString(ended);
    SysFreeString(lone);
    release(collector);
    release(set);
}

/* FileName follows Name until it is put. The Unresolved properties of a set return the string that was put. */
static void properties_that_follow_others(void **state)
{
    IDataCollectorSet *set = new_set();
    void *collector = fresh_collector();
    VARIANT v;
    (void)state;
    assert_ok(put(collector, L"Name", of_text(L"First")));
    assert_ok(get(collector, L"FileName", &v));
    assert_true(bstr_is(V_BSTR(&v), L"First"));
    assert_ok(put(collector, L"FileName", of_text(L"log")));
    assert_ok(get(collector, L"FileName", &v));
    assert_true(bstr_is(V_BSTR(&v), L"log"));
    assert_ok(put(set, L"DisplayName", of_text(L"@%systemroot%\\nothing.dll,#1")));
    assert_ok(get(set, L"DisplayNameUnresolved", &v));
    assert_true(bstr_is(V_BSTR(&v), L"@%systemroot%\\nothing.dll,#1"));
    assert_ok(put(set, L"Description", of_text(L"plain")));
    assert_ok(get(set, L"DescriptionUnresolved", &v));
    assert_true(bstr_is(V_BSTR(&v), L"plain"));
    /* A collector in no set has no output folder. */
    assert_hr(get(collector, L"OutputLocation", &v), PLA_E_DCS_NOT_FOUND);
    assert_hr(get(collector, L"LatestOutputLocation", &v), PLA_E_DCS_NOT_FOUND);
    assert_ok(put(collector, L"LatestOutputLocation", of_text(L"D:\\kept.csv")));
    assert_ok(get(collector, L"LatestOutputLocation", &v));
    assert_true(bstr_is(V_BSTR(&v), L"D:\\kept.csv"));
    assert_ok(put(set, L"RootPath", of_text(L"D:\\Logs")));
    assert_ok(put(set, L"Subdirectory", of_text(L"Run")));
    assert_ok(put(set, L"SubdirectoryFormat", of_long(plaSerialNumber)));
    assert_ok(put(set, L"SerialNumber", of_long(41)));
    assert_ok(get(set, L"OutputLocation", &v));
    assert_true(bstr_is(V_BSTR(&v), L"D:\\Logs\\Run_000041"));
    /* Scripts append a file name to it. Without a subdirectory it ends with a backslash, as on Windows. */
    static const WCHAR *const roots[][2] = {{L"D:\\Logs", L"D:\\Logs\\"}, {L"D:", L"D:\\"}, {L"D:\\", L"D:\\"}};
    assert_ok(put(set, L"Subdirectory", of_text(L"")));
    assert_ok(put(set, L"SubdirectoryFormat", of_long(plaNone)));
    for (size_t i = 0; i < ARRAYSIZE(roots); i++) {
        assert_ok(put(set, L"RootPath", of_text(roots[i][0])));
        assert_true(text_is(set, L"OutputLocation", roots[i][1]));
    }
    release(collector);
    release(set);
}

/* ---- arrays in the forms in which scripts create them ---- */

/* A JScript array: an object with `length` and members named by numbers. */
struct script_array {
    IDispatch iface;
    LONG references;
    double length; /* as the object reports it */
};
static const WCHAR *const script_items[] = {L"\\System\\Threads", L"\\System\\Processes"};
enum { SCRIPT_LENGTH = 100 };

static HRESULT STDMETHODCALLTYPE script_query(IDispatch *This, REFIID iid, void **out)
{
    *out = NULL;
    if (!IsEqualIID(iid, &IID_IUnknown) && !IsEqualIID(iid, &IID_IDispatch))
        return E_NOINTERFACE;
    *out = This;
    IDispatch_AddRef(This);
    return S_OK;
}

static ULONG STDMETHODCALLTYPE script_add_ref(IDispatch *This)
{
    return (ULONG)InterlockedIncrement(&((struct script_array *)This)->references);
}

static ULONG STDMETHODCALLTYPE script_release(IDispatch *This)
{
    return (ULONG)InterlockedDecrement(&((struct script_array *)This)->references);
}

static HRESULT STDMETHODCALLTYPE script_type_count(IDispatch *This, UINT *count)
{
    (void)This;
    *count = 0;
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE script_type(IDispatch *This, UINT index, LCID lcid, ITypeInfo **out)
{
    (void)This, (void)index, (void)lcid;
    *out = NULL;
    return DISP_E_BADINDEX;
}

static HRESULT STDMETHODCALLTYPE script_ids(IDispatch *This, REFIID iid, LPOLESTR *names, UINT count, LCID lcid,
                                            DISPID *ids)
{
    (void)This, (void)iid, (void)count, (void)lcid;
    if (!wcscmp(names[0], L"length"))
        ids[0] = SCRIPT_LENGTH;
    else if (names[0][0] >= L'0' && names[0][0] <= L'9')
        ids[0] = (DISPID)wcstol(names[0], NULL, 10);
    else
        return DISP_E_UNKNOWNNAME;
    return ids[0] == SCRIPT_LENGTH || ids[0] < (DISPID)ARRAYSIZE(script_items) ? S_OK : DISP_E_UNKNOWNNAME;
}

static HRESULT STDMETHODCALLTYPE script_invoke(IDispatch *This, DISPID id, REFIID iid, LCID lcid, WORD flags,
                                               DISPPARAMS *params, VARIANT *result, EXCEPINFO *exception, UINT *bad)
{
    (void)iid, (void)lcid, (void)flags, (void)params, (void)exception, (void)bad;
    if (id == SCRIPT_LENGTH) {
        V_VT(result) = VT_R8;
        V_R8(result) = ((struct script_array *)This)->length;
    } else {
        *result = of_text(script_items[id]);
    }
    return S_OK;
}

static IDispatchVtbl script_vtable = {script_query, script_add_ref, script_release, script_type_count,
                                      script_type,  script_ids,     script_invoke};

/* VBScript, PowerShell and JScript create different kinds of arrays; each must reach the collector. */
static void arrays_of_every_script_language(void **state)
{
    struct script_array script = {{&script_vtable}, 1, ARRAYSIZE(script_items)};
    void *collector = fresh_collector();
    const WCHAR *name = L"PerformanceCounters", *numbers[] = {L"12"};
    VARIANT array, reference, back;
    SAFEARRAY *wide;
    SAFEARRAYBOUND two[2] = {{1, 0}, {1, 0}};
    (void)state;
    for (int i = 0; i < 6; i++) {
        VARTYPE type = i % 2 ? VT_VARIANT : VT_BSTR;
        const WCHAR *const *items = i / 2 == 1 ? script_items + 1 : script_items;
        UINT count = i / 2 == 1 ? 1 : 2;

        array = of_array(type, items, count);
        wide = V_ARRAY(&array);
        if (i / 2 == 0) { /* the array */
            reference = array;
        } else if (i / 2 == 1) { /* a script's variable that contains the array */
            V_VT(&reference) = VT_VARIANT | VT_BYREF;
            V_VARIANTREF(&reference) = &array;
        } else { /* a reference to the array */
            V_VT(&reference) = VT_ARRAY | VT_BYREF | type;
            V_ARRAYREF(&reference) = &wide;
        }
        assert_ok(invoke(collector, name, DISPATCH_PROPERTYPUT, NULL, &reference, 1));
        VariantClear(&array);
        assert_ok(get(collector, name, &back));
        assert_true(array_is(V_ARRAY(&back), items, count));
        VariantClear(&back);
    }
    assert_ok(put(collector, name, of_array(VT_VARIANT, numbers, 0)));
    assert_ok(get(collector, name, &back));
    assert_true(array_is(V_ARRAY(&back), NULL, 0));
    VariantClear(&back);
    assert_ok(put(collector, name, of_object(&script)));
    assert_ok(get(collector, name, &back));
    assert_true(array_is(V_ARRAY(&back), script_items, 2));
    VariantClear(&back);
    /* a value that is not a list of strings is rejected and changes nothing */
    assert_true(FAILED(put(collector, name, of_text(L"\\System\\Threads"))));
    V_VT(&array) = VT_ARRAY | VT_VARIANT;
    V_ARRAY(&array) = SafeArrayCreate(VT_VARIANT, 2, two);
    assert_true(FAILED(put(collector, name, array)));
    V_VT(&array) = VT_ARRAY | VT_I4;
    V_ARRAY(&array) = SafeArrayCreateVector(VT_I4, 0, 1);
    assert_true(FAILED(put(collector, name, array)));
    assert_ok(get(collector, name, &back));
    assert_true(array_is(V_ARRAY(&back), script_items, 2));
    VariantClear(&back);
    release(collector);
    CoDisconnectObject((IUnknown *)&script.iface, 0);
}

/* An object that only resembles an array must neither crash the program nor be accepted in part. */
static void invalid_arrays_are_rejected(void **state)
{
    static const struct {
        double length;
        const char *why;
    } cases[] = {
        {-1, "PerformanceCounters: invalid array size -1"},
        {2e9, "PerformanceCounters: invalid array size 2e+09"},
        {HUGE_VAL - HUGE_VAL, "PerformanceCounters: invalid array size"},
        {3, "PerformanceCounters: the array has no item at index 2"},
    };
    void *collector = fresh_collector();
    const WCHAR *name = L"PerformanceCounters";
    VARIANT back;

    (void)state;
    assert_ok(put(collector, name, of_array(VT_VARIANT, script_items, 1)));
    for (size_t i = 0; i < ARRAYSIZE(cases); i++) {
        struct script_array script = {{&script_vtable}, 1, cases[i].length};
        assert_hr(put(collector, name, of_object(&script)), E_INVALIDARG);
        assert_message(cases[i].why);
        CoDisconnectObject((IUnknown *)&script.iface, 0);
    }
    assert_ok(get(collector, name, &back));
    assert_true(array_is(V_ARRAY(&back), script_items, 1));
    VariantClear(&back);
    release(collector);
}

/* VBA and PowerShell pass named arguments in any order; each must reach its own parameter. */
static void arguments_may_be_named(void **state)
{
    WCHAR method[] = L"Commit", name[] = L"name", server[] = L"server", mode[] = L"mode";
    WCHAR *names[] = {method, name, server, mode};
    IDataCollectorSet *set = new_set();
    VARIANT arguments[3], map, back;
    DISPID ids[4];
    (void)state;
    assert_ok(IDataCollectorSet_GetIDsOfNames(set, &IID_NULL, names, 4, LOCALE_NEUTRAL, ids));
    arguments[0] = of_long(plaValidateOnly);
    V_VT(&arguments[1]) = VT_NULL;
    arguments[2] = of_text(L"objects-named");
    DISPID named[] = {ids[3], ids[2], ids[1]};
    DISPPARAMS params = {arguments, named, 3, 3};
    VariantInit(&map);
    assert_ok(
        IDataCollectorSet_Invoke(set, ids[0], &IID_NULL, LOCALE_NEUTRAL, DISPATCH_METHOD, &params, &map, NULL, NULL));
    assert_int_equal(V_VT(&map), VT_DISPATCH);
    VariantClear(&map);
    /* Without names, the mode would be read as the server. */
    VARIANT turned[] = {arguments[1], arguments[0], arguments[2]};
    DISPID turned_ids[] = {ids[2], ids[3], ids[1]};
    params.rgvarg = turned;
    params.rgdispidNamedArgs = turned_ids;
    assert_ok(
        IDataCollectorSet_Invoke(set, ids[0], &IID_NULL, LOCALE_NEUTRAL, DISPATCH_METHOD, &params, &map, NULL, NULL));
    VariantClear(&map);
    assert_ok(get(set, L"Name", &back));
    assert_true(bstr_is(V_BSTR(&back), L""));
    VariantClear(&arguments[2]);
    release(set);
}

/* Scripts pass numbers as strings and strings as numbers. */
static void values_are_converted(void **state)
{
    void *collector = fresh_collector();
    VARIANT v, real;
    (void)state;
    assert_ok(put(collector, L"SampleInterval", of_text(L"30")));
    assert_ok(get(collector, L"SampleInterval", &v));
    assert_int_equal(V_UI4(&v), 30);
    V_VT(&real) = VT_R8;
    V_R8(&real) = 5.0;
    assert_ok(put(collector, L"SampleInterval", real));
    assert_ok(get(collector, L"SampleInterval", &v));
    assert_int_equal(V_UI4(&v), 5);
    assert_ok(put(collector, L"Name", of_long(7)));
    assert_ok(get(collector, L"Name", &v));
    assert_true(bstr_is(V_BSTR(&v), L"7"));
    assert_true(FAILED(put(collector, L"SampleInterval", of_text(L"often"))));
    assert_ok(get(collector, L"SampleInterval", &v));
    assert_int_equal(V_UI4(&v), 5);
    release(collector);
}

/* Numbers of every VARIANT type, also by reference, as C++, VB and PowerShell pass them. */
static void numbers_of_every_type_are_accepted(void **state)
{
    void *collector = fresh_collector();
    LONG number = 21;
    DECIMAL decimal = {0};
    VARIANT v[9], back;
    (void)state;
    V_VT(&v[0]) = VT_I8;
    V_I8(&v[0]) = 21;
    V_VT(&v[1]) = VT_UI8;
    V_UI8(&v[1]) = 21;
    V_VT(&v[2]) = VT_CY;
    V_CY(&v[2]).int64 = 210000;
    decimal.Lo64 = 21;
    V_DECIMAL(&v[3]) = decimal;
    V_VT(&v[3]) = VT_DECIMAL;
    V_VT(&v[4]) = VT_I4 | VT_BYREF;
    V_I4REF(&v[4]) = &number;
    VARIANT inner = of_text(L"21");
    V_VT(&v[5]) = VT_VARIANT | VT_BYREF;
    V_VARIANTREF(&v[5]) = &inner;
    V_VT(&v[6]) = VT_UI1;
    V_UI1(&v[6]) = 21;
    V_VT(&v[7]) = VT_R4;
    V_R4(&v[7]) = 21;
    V_VT(&v[8]) = VT_DATE;
    V_DATE(&v[8]) = 21;
    for (size_t i = 0; i < ARRAYSIZE(v); i++) {
        assert_ok(put(collector, L"SampleInterval", of_long(5)));
        assert_ok(invoke(collector, L"SampleInterval", DISPATCH_PROPERTYPUT, NULL, &v[i], 1));
        assert_ok(get(collector, L"SampleInterval", &back));
        assert_int_equal(V_UI4(&back), 21);
        assert_true(FAILED(invoke(collector, L"LogFileFormat", DISPATCH_PROPERTYPUT, NULL, &v[i], 1)));
    }
    VariantClear(&inner);
    release(collector);
}

/* Visual Basic arrays begin at index 1, and an item may be something other than a string. */
static void arrays_may_begin_anywhere(void **state)
{
    IDataCollectorSet *set = new_set();
    SAFEARRAYBOUND from_one = {2, 1}, below_zero = {2, -3}, none = {0, 7};
    const SAFEARRAYBOUND *bounds[] = {&from_one, &below_zero, &none};
    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(bounds); i++)
        for (int variants = 0; variants < 2; variants++) {
            VARIANT array, back;
            V_VT(&array) = (VARTYPE)(VT_ARRAY | (variants ? VT_VARIANT : VT_BSTR));
            V_ARRAY(&array) = SafeArrayCreate(variants ? VT_VARIANT : VT_BSTR, 1, (SAFEARRAYBOUND *)bounds[i]);
            for (LONG k = 0; k < (LONG)bounds[i]->cElements; k++) {
                VARIANT word = of_text(script_items[k]);
                LONG at = bounds[i]->lLbound + k;
                assert_ok(SafeArrayPutElement(V_ARRAY(&array), &at, variants ? (void *)&word : (void *)V_BSTR(&word)));
                VariantClear(&word);
            }
            assert_ok(put(set, L"Keywords", array));
            assert_ok(get(set, L"Keywords", &back));
            assert_true(array_is(V_ARRAY(&back), script_items, bounds[i]->cElements));
            VariantClear(&back);
        }
    SAFEARRAY *empty = SafeArrayCreateVector(VT_BSTR, 0, 1);
    assert_hr(heard(IDataCollectorSet_put_Keywords(set, empty)), E_INVALIDARG); /* one item, which is NULL */
    assert_vtable_said("Keywords");
    SafeArrayDestroy(empty);
    release(set);
}

static ISchedule *fresh_schedule(void)
{
    IDataCollectorSet *set = new_set();
    void *schedules = member(set, L"Schedules");
    IDispatch *plain = member(schedules, L"CreateSchedule");
    ISchedule *schedule;
    assert_ok(IDispatch_QueryInterface(plain, &IID_ISchedule, (void **)&schedule));
    release(plain);
    release(schedules);
    release(set);
    return schedule;
}

/* The property rejects a date that a schedule cannot have; the set's XML could not store it. */
static void invalid_dates_are_rejected(void **state)
{
    ISchedule *schedule = fresh_schedule();
    VARIANT v = {.vt = VT_DATE}, back;
    const WCHAR *words[] = {L"1/1/2024"};
    (void)state;
    V_DATE(&v) = 45000.5;
    assert_ok(put(schedule, L"StartDate", v));
    V_DATE(&v) = 1e9;
    assert_hr(put(schedule, L"StartDate", v), E_INVALIDARG);
    assert_message("StartDate: invalid date 1e+09");
    assert_hr(heard(ISchedule_put_StartTime(schedule, v)), E_INVALIDARG);
    assert_vtable_said("StartTime: invalid date 1e+09");
    V_DATE(&v) = 44999; /* the day before the start; the script may move the start next */
    assert_ok(put(schedule, L"EndDate", v));
    assert_hr(put(schedule, L"StartDate", of_array(VT_BSTR, words, 1)), DISP_E_BADVARTYPE);
    assert_message("StartDate");
    assert_hr(put(schedule, L"StartDate", of_long(45001)), E_INVALIDARG);
    assert_message("StartDate");
    VariantInit(&back);
    assert_ok(ISchedule_get_StartDate(schedule, &back));
    assert_true(V_VT(&back) == VT_DATE && V_DATE(&back) == 45000);
    release(schedule);
}

/* MS-PLA 3.2.4.12: a date is a VARIANT of type VT_DATE. A string means different days in different countries, and a set
   that starts a month late goes unnoticed. Tested by vtable, by name and by reference. */
static void strings_are_not_accepted_as_dates(void **state)
{
    static const WCHAR *const texts[] = {L"1/2/2024", L"1/2/2024 6:00:00 PM", L"2024-01-02", L"tomorrow", L""};
    static const WCHAR *const rows[] = {L"StartDate", L"EndDate", L"StartTime"};
    ISchedule *schedule = fresh_schedule();
    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(texts); i++) {
        VARIANT text = of_text(texts[i]), reference;
        V_VT(&reference) = VT_VARIANT | VT_BYREF;
        V_VARIANTREF(&reference) = &text;
        assert_hr(heard(ISchedule_put_StartDate(schedule, text)), E_INVALIDARG);
        assert_vtable_said("StartDate: a VARIANT of type 8 is neither a date nor empty");
        for (size_t k = 0; k < ARRAYSIZE(rows); k++) {
            assert_hr(invoke(schedule, rows[k], DISPATCH_PROPERTYPUT, NULL, &text, 1), E_INVALIDARG);
            assert_message("is neither a date nor empty");
            assert_hr(invoke(schedule, rows[k], DISPATCH_PROPERTYPUT, NULL, &reference, 1), E_INVALIDARG);
        }
        VariantClear(&text);
    }
    release(schedule);
}

static VARIANT of_real(double n)
{
    VARIANT v = {.vt = VT_R8};
    V_R8(&v) = n;
    return v;
}

/* Under Wine, -1 and NaN become 4294967295 when passed as a ULONG: a set to be sampled every second would take one
   sample in 136 years. Flags and enumerations with the highest bit set are negative in scripts. */
static void invalid_numbers_are_rejected(void **state)
{
    static const WCHAR *const of_set[] = {L"Duration", L"SegmentMaxDuration", L"SegmentMaxSize", L"SerialNumber"};
    static const WCHAR *const of_collector[] = {L"SampleInterval", L"SegmentMaxRecords"};
    static const WCHAR *const of_trace[] = {L"BufferSize", L"FlushTimer", L"MaximumBuffers", L"MinimumBuffers",
                                            L"NumberOfBuffers"};
    IDataCollectorSet *set = new_set();
    const struct {
        void *object;
        const WCHAR *const *rows;
        size_t count;
    } objects[] = {{set, of_set, ARRAYSIZE(of_set)},
                   {added_collector(set, L"C"), of_collector, ARRAYSIZE(of_collector)},
                   {named_collector(set, plaTrace, L"T"), of_trace, ARRAYSIZE(of_trace)}};
    VARIANT truth = {.vt = VT_BOOL}, small = {.vt = VT_I2}, money = {.vt = VT_CY};
    V_BOOL(&truth) = VARIANT_TRUE;
    V_I2(&small) = -5;
    V_CY(&money).int64 = -50000;
    const VARIANT wrong[] = {of_long(-1), of_real(-1), of_real(NAN), of_real(4294967296.0), truth, small, money};
    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(objects); i++)
        for (size_t k = 0; k < objects[i].count; k++) {
            const LONG before = number_of(objects[i].object, objects[i].rows[k]);
            for (size_t n = 0; n < ARRAYSIZE(wrong); n++) {
                VARIANT v = wrong[n], text = of_text(L"-1");
                const HRESULT hr = invoke(objects[i].object, objects[i].rows[k], DISPATCH_PROPERTYPUT, NULL, &v, 1);
                if (hr != E_INVALIDARG && hr != DISP_E_OVERFLOW)
                    fail_msg("%ls, value %u: 0x%08X", objects[i].rows[k], (unsigned)n, (unsigned)hr);
                assert_true(FAILED(put(objects[i].object, objects[i].rows[k], text)));
            }
            assert_int_equal(number_of(objects[i].object, objects[i].rows[k]), before);
        }
    assert_hr(put(objects[1].object, L"SampleInterval", of_long(-1)), E_INVALIDARG);
    assert_message("SampleInterval: -1 is not between 0 and 4294967295");
    assert_ok(put(objects[1].object, L"SampleInterval", of_real(4294967295.0)));
    assert_ok(put(objects[2].object, L"ExtendedModes", of_long((LONG)0x80000000)));
    assert_int_equal((ULONG)number_of(objects[2].object, L"ExtendedModes"), 0x80000000u);
    assert_hr(put(objects[2].object, L"ClockType", of_real(NAN)), E_INVALIDARG);
    ISchedule *schedule = fresh_schedule();
    assert_ok(put(schedule, L"Days", of_long(-1))); /* MS-PLA 2.2: undefined bits are masked off */
    assert_int_equal(number_of(schedule, L"Days"), 0x7F);
    assert_hr(put(schedule, L"Days", of_real(NAN)), E_INVALIDARG);
    release(schedule);
    release(objects[2].object);
    release(objects[1].object);
    release(set);
}

/* Returns a reference to an existing string resource of comdlg32.dll, and its string. */
static void find_resource_string(WCHAR reference[64], WCHAR text[256])
{
    WCHAR path[MAX_PATH];
    UINT id = 1;
    GetSystemDirectoryW(path, MAX_PATH);
    HMODULE module = LoadLibraryExW(wcscat(path, L"\\comdlg32.dll"), NULL, LOAD_LIBRARY_AS_DATAFILE);
    assert_non_null(module);
    while (!LoadStringW(module, id, text, 256))
        assert_true(++id < 0x10000);
    FreeLibrary(module);
    _snwprintf(reference, 64, L"@%%SystemRoot%%\\system32\\comdlg32.dll,#%u", id);
}

/* The sets that Windows ships have resource references as names: users see the string, and the set keeps the
   reference. */
static void names_may_be_resources(void **state)
{
    static const WCHAR missing[] = L"@%systemroot%\\system32\\no-such-openpla.dll,#10026";
    IDataCollectorSet *set = new_set(), *copy = new_set(), *stored = new_set();
    WCHAR reference[64], text[256];
    VARIANT xml, name[2] = {of_text(L"test-com-resource"), {.vt = VT_NULL}};
    (void)state;
    find_resource_string(reference, text);
    assert_ok(put(set, L"DisplayName", of_text(reference)));
    assert_ok(put(set, L"Description", of_text(missing)));
    assert_ok(commit(set, L"test-com-resource", plaCreateOrModify, NULL));
    assert_ok(get(set, L"Xml", &xml));
    assert_ok(invoke(copy, L"SetXml", DISPATCH_METHOD, NULL, &xml, 1));
    VariantClear(&xml);
    assert_ok(invoke(stored, L"Query", DISPATCH_METHOD, NULL, name, 2));
    for (int i = 0; i < 3; i++) {
        void *each = i == 0 ? set : i == 1 ? copy : stored;
        assert_true(text_is(each, L"DisplayName", text));
        assert_true(text_is(each, L"DisplayNameUnresolved", reference));
        assert_true(text_is(each, L"Description", missing));
        assert_true(text_is(each, L"DescriptionUnresolved", missing));
    }
    assert_ok(call(stored, L"Delete"));
    VariantClear(&name[0]);
    release(stored);
    release(copy);
    release(set);
}

/* Every VARIANT type and some invalid types, without a value: each member accepts or rejects them. */
static void variants_of_every_type_do_not_crash(void **state)
{
    IDataCollectorSet *set = new_set();
    IDataCollectorCollection *collectors = collectors_of(set);
    IPerformanceCounterDataCollector *collector = added_collector(set, L"C");
    ISchedule *schedule = fresh_schedule();
    IValueMap *map = new_map();
    VARIANT one = of_long(1);
    IValueMapItem *item = new_item(map, L"K", &one);
    static const VARTYPE ways[] = {0, VT_BYREF, VT_ARRAY, VT_ARRAY | VT_BYREF, VT_VECTOR, VT_RESERVED};
    (void)state;
    for (unsigned vt = 0; in_process && vt < 0x60; vt++)
        for (size_t i = 0; i < ARRAYSIZE(ways); i++) {
            LONGLONG nothing[8] = {0};
            VARIANT v = {.vt = (VARTYPE)(vt | ways[i])}, out;
            IDataCollector *found = (IDataCollector *)collector;
            if (v.vt & VT_BYREF)
                V_BYREF(&v) = nothing;
            if (FAILED(IDataCollectorCollection_get_Item(collectors, v, &found)))
                assert_null(found);
            else
                release(found);
            IValueMap_Add(map, v);
            IValueMap_put_Value(map, v);
            IValueMapItem_put_Value(item, v);
            VariantInit(&out);
            assert_ok(IValueMapItem_get_Value(item, &out));
            VariantClear(&out);
            assert_ok(IValueMap_get_Value(map, &out));
            ISchedule_put_StartDate(schedule, v);
            ISchedule_put_StartTime(schedule, v);
            assert_ok(ISchedule_get_StartTime(schedule, &out));
            assert_true(V_VT(&out) == VT_EMPTY || V_VT(&out) == VT_DATE);
        }
    /* The same by name, with a property of each kind, and with null references. */
    static const WCHAR *const names[] = {L"PerformanceCounters", L"Name",          L"SampleInterval",
                                         L"LogAppend",           L"LogFileFormat", L"FileNameFormat"};
    for (unsigned vt = 0; in_process && vt < 0x60; vt++)
        for (size_t i = 0; i < ARRAYSIZE(ways); i++)
            for (size_t k = 0; k < ARRAYSIZE(names); k++) {
                LONGLONG nothing[8] = {0};
                VARIANT v = {.vt = (VARTYPE)(vt | ways[i])};
                if (v.vt & VT_BYREF)
                    V_BYREF(&v) = nothing;
                invoke(collector, names[k], DISPATCH_PROPERTYPUT, NULL, &v, 1);
            }
    static const VARTYPE references[] = {VT_VARIANT | VT_BYREF, VT_ARRAY | VT_VARIANT | VT_BYREF};
    for (size_t i = 0; in_process && i < ARRAYSIZE(references); i++)
        for (size_t k = 0; k < 2; k++) {
            VARIANT v = {.vt = references[i]};
            assert_true(FAILED(invoke(collector, names[k], DISPATCH_PROPERTYPUT, NULL, &v, 1)));
        }
    SetErrorInfo(0, NULL);
    release(item);
    release(map);
    release(schedule);
    release(collector);
    release(collectors);
    release(set);
}

int value_tests(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_strings_are_rejected),
        cmocka_unit_test(properties_that_follow_others),
        cmocka_unit_test(arrays_of_every_script_language),
        cmocka_unit_test(values_are_converted),
        cmocka_unit_test(invalid_arrays_are_rejected),
        cmocka_unit_test(arguments_may_be_named),
        cmocka_unit_test(numbers_of_every_type_are_accepted),
        cmocka_unit_test(arrays_may_begin_anywhere),
        cmocka_unit_test(invalid_dates_are_rejected),
        cmocka_unit_test(variants_of_every_type_do_not_crash),
        cmocka_unit_test(strings_are_not_accepted_as_dates),
        cmocka_unit_test(invalid_numbers_are_rejected),
        cmocka_unit_test(names_may_be_resources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
