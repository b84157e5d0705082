/* SPDX-License-Identifier: MIT */
/* Every property of every object, walked over the rows that make them: its default, its limits, both ways to it. */
#include "tests/com/client.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

enum kind { BOOL_, I32_, U32_, ENUM_, FLAGS_, TEXT_, TEXTS_, VARIANT_, OBJECT_ };

struct row {
    const char *name;
    enum kind kind;
    const char *enumeration;
    HRESULT (*get)(void *object, void *out); /* the vtable's members */
    HRESULT (*put)(void *object, const void *in);
    int64_t number, min, max;
    const char *text;
};

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c)  JOIN_(a, b, c)

#define KIND_BOOL      .kind = BOOL_
#define KIND_I32       .kind = I32_
#define KIND_U32       .kind = U32_
#define KIND_ENUM(E)   .kind = ENUM_, .enumeration = #E
#define KIND_FLAGS(E)  .kind = FLAGS_, .enumeration = #E
#define KIND_TEXT      .kind = TEXT_
#define KIND_TEXTS     .kind = TEXTS_
#define KIND_VARIANT   .kind = VARIANT_
#define KIND_OBJECT(C) .kind = OBJECT_
#define TYPE_BOOL      VARIANT_BOOL
#define TYPE_I32       LONG
#define TYPE_U32       ULONG
#define TYPE_ENUM(E)   E
#define TYPE_FLAGS(E)  E
#define TYPE_TEXT      BSTR
#define TYPE_TEXTS     LPSAFEARRAY
#define TYPE_VARIANT   VARIANT
#define TYPE_OBJECT(C) IUnknown *

#define CALL_GET(Name)                                                                                                 \
    static HRESULT JOIN(INTERFACE, _typed_get_, Name)(void *o, void *out)                                              \
    {                                                                                                                  \
        return ((INTERFACE *)o)->lpVtbl->get_##Name(o, out);                                                           \
    }
#define CALL_PUT(kind, Name)                                                                                           \
    static HRESULT JOIN(INTERFACE, _typed_put_, Name)(void *o, const void *in)                                         \
    {                                                                                                                  \
        return ((INTERFACE *)o)->lpVtbl->put_##Name(o, *(const TYPE_##kind *)in);                                      \
    }
#define CALLS_NONE(kind, Name)
#define CALLS_RO(kind, Name)           CALL_GET(Name)
#define CALLS_RW(kind, Name)           CALL_GET(Name) CALL_PUT(kind, Name)
#define CALLS(access, kind, Name, ...) CALLS_##access(kind, Name)

#define NUMBER(n)                      .number = (n)
#define STRING(t)                      .text = (t)
#define EMPTY                          .number = 0
#define RANGE(lo, hi)                  , .min = (lo), .max = (hi)
/* A default with a range expands to several initialisers. */
#define ROWS_NONE(kind, Name, ...)
#define ROWS_RO(kind, Name, ...) {#Name, KIND_##kind, .get = JOIN(INTERFACE, _typed_get_, Name), __VA_ARGS__},
#define ROWS_RW(kind, Name, ...)                                                                                       \
    {#Name, KIND_##kind, .get = JOIN(INTERFACE, _typed_get_, Name), .put = JOIN(INTERFACE, _typed_put_, Name),         \
     __VA_ARGS__},
#define ROWS(access, kind, Name, xml, default_, hooks, doc) ROWS_##access(kind, Name, default_)

/* clang-format off */
/* pla-behaviour: owner administrators, full access for them and the system, reading for Performance Log Users. */
#define SET_DEFAULT_SECURITY "O:BAG:DUD:(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;S-1-5-32-559)"

#define PROPERTY CALLS
#define INTERFACE IDataCollectorSet
#include "engine/model/data_collector_set.def"
#undef INTERFACE
#define INTERFACE IPerformanceCounterDataCollector
#include "engine/model/data_collector.def"
#include "engine/model/performance_counter_collector.def"
#undef INTERFACE
#define INTERFACE IValueMap
#include "engine/model/value_map.def"
#undef INTERFACE
#define INTERFACE IValueMapItem
#include "engine/model/value_map_item.def"
#undef INTERFACE
#undef PROPERTY

#define PROPERTY ROWS
static const struct row set_rows[] = {
#define INTERFACE IDataCollectorSet
#include "engine/model/data_collector_set.def"
#undef INTERFACE
};
static const struct row collector_rows[] = {
#define INTERFACE IPerformanceCounterDataCollector
#include "engine/model/data_collector.def"
#include "engine/model/performance_counter_collector.def"
#undef INTERFACE
};
static const struct row map_rows[] = {
#define INTERFACE IValueMap
#include "engine/model/value_map.def"
#undef INTERFACE
};
static const struct row item_rows[] = {
#define INTERFACE IValueMapItem
#include "engine/model/value_map_item.def"
#undef INTERFACE
};
#undef PROPERTY

/* clang-format on */

static void *fresh_collector(void)
{
    IDataCollectorSet *set = new_set();
    IDataCollectorCollection *collectors = collectors_of(set);
    IDataCollector *plain;
    void *collector;

    assert_ok(IDataCollectorCollection_CreateDataCollector(collectors, plaPerformanceCounter, &plain));
    assert_ok(IDataCollector_QueryInterface(plain, &IID_IPerformanceCounterDataCollector, &collector));
    release(plain);
    release(collectors);
    release(set);
    return collector;
}

static void *fresh_set(void)
{
    return new_set();
}

/* A validation map's type is plaValidation; the default is what a program that makes a map of its own gets. */
static void *fresh_map(void)
{
    return new_map();
}

static void *fresh_item(void)
{
    IValueMap *map = new_map();
    IValueMapItem *item;

    assert_ok(IValueMap_CreateValueMapItem(map, &item));
    release(map);
    return item;
}

static const struct kind_of_object {
    const char *name;
    void *(*make)(void);
    const struct row *rows;
    size_t count;
} kinds[] = {
    {"set", fresh_set, set_rows, ARRAYSIZE(set_rows)},
    {"counter collector", fresh_collector, collector_rows, ARRAYSIZE(collector_rows)},
    {"value map", fresh_map, map_rows, ARRAYSIZE(map_rows)},
    {"value map item", fresh_item, item_rows, ARRAYSIZE(item_rows)},
};

typedef void (*row_test)(void *object, const struct row *row);

/* Each row with an object of its own. */
static void for_every_row(row_test test)
{
    for (size_t k = 0; k < ARRAYSIZE(kinds); k++) {
        for (size_t i = 0; i < kinds[k].count; i++) {
            void *object = kinds[k].make();

            test(object, &kinds[k].rows[i]);
            release(object);
        }
    }
}

/* The enumerators as MS-PLA has them, not as the engine does. */
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

/* A value that the property takes where not any text will do. */
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

/* Both ways of reading give `expected`; COM's types for each kind: ULONG is VT_UI4, enumerations and LONG VT_I4. */
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

/* A program that sets only what it cares for relies on the rest. */
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
        assert_true(array_is(array, NULL, 0));
        SafeArrayDestroy(array);
        break;
    case VARIANT_:
        assert_ok(row->get(object, &v));
        assert_int_equal(V_VT(&v), VT_EMPTY);
        break;
    case TEXT_:
        if (!strcmp(row->name, "OutputLocation"))
            break; /* computed; has a test of its own */
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
        /* The map that a fresh_map() is reports validation. */
        assert_number(object, row, row->get == IValueMap_typed_get_ValueMapType ? plaValidation : row->number);
        break;
    }
}

static void every_property_has_its_default(void **state)
{
    (void)state;
    for_every_row(has_its_default);
}

/* The defaults that scripts are known to rely on, written down once more without the rows. */
static void documented_defaults_are_so(void **state)
{
    IDataCollectorSet *set = new_set();
    void *collector = fresh_collector();
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

/* Puts a number both ways; each way is read both ways. */
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
        puts_number(object, row, mask | 0x14, mask & ~0x14);
        puts_number(object, row, 0, 0);
    }
}

static void keeps_texts(void *object, const struct row *row)
{
    const WCHAR *words[] = {L"\\System\\Threads", L"\\Process(a b#1)\\% Processor Time"};
    const WCHAR *others[] = {L"\\Memory\\Available MBytes"};
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
    array = NULL; /* no array is an empty one */
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
    if (strcmp(row->name, "Key") != 0) { /* MS-PLA: the one text that must not be empty */
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
    /* dbatools and VBScript's numbers: any other value than 0 is true. */
    assert_ok(put(object, wide_name(row), of_long(1)));
    assert_bool(object, row, VARIANT_TRUE);
}

/* What was put is what is read, at the limits too, typed and by name: else a template loses settings. */
static void keeps_what_was_put(void *object, const struct row *row)
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
    else
        assert_int_equal(row->kind, VARIANT_); /* value maps have tests of their own */
}

static void every_property_keeps_what_was_put(void **state)
{
    (void)state;
    for_every_row(keeps_what_was_put);
}

static void refuses(void *object, const struct row *row, int64_t number)
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
    assert_said(row->name);
    assert_said(shown);
    assert_ok(row->get(object, &after));
    assert_int_equal(after, before);
}

/* A refused value must say which property refused which value, and leave the old one. */
static void refuses_what_is_out_of_range(void *object, const struct row *row)
{
    if (!row->put || !is_number(row->kind) || row->kind == FLAGS_)
        return;
    if (row->kind == ENUM_) {
        refuses(object, row, 77);
    } else {
        if (row->min > 0)
            refuses(object, row, row->min - 1);
        if (row->max < UINT32_MAX)
            refuses(object, row, row->max + 1);
    }
}

static void values_out_of_range_are_refused(void **state)
{
    (void)state;
    for_every_row(refuses_what_is_out_of_range);
}

static void answers_without_a_place(void *object, const struct row *row)
{
    HRESULT hr = heard(row->get(object, NULL));

    if (in_process) {
        assert_hr(hr, E_POINTER);
        assert_said(row->name);
    } else {
        assert_true(FAILED(hr)); /* the proxy's own answer */
    }
}

/* A client's mistake costs it an error, not the server. */
static void null_pointers_are_answered(void **state)
{
    (void)state;
    for_every_row(answers_without_a_place);
}

static void is_not_to_be_put(void *object, const struct row *row)
{
    if (!row->put)
        assert_hr(put(object, wide_name(row), of_long(1)), DISP_E_MEMBERNOTFOUND);
}

/* A script that assigns to Status must not believe that it did. */
static void read_only_properties_refuse_scripts(void **state)
{
    (void)state;
    for_every_row(is_not_to_be_put);
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

/* ---- what single properties ask for ---- */

static void refuses_text(void *object, const WCHAR *name, const WCHAR *text, HRESULT expected, const char *why)
{
    assert_hr(put(object, name, of_text(text)), expected);
    assert_said(why);
}

/* Names and texts that would make files nobody can open, or logs nobody can find. */
static void texts_that_cannot_be_are_refused(void **state)
{
    IDataCollectorSet *set = new_set();
    void *collector = fresh_collector();
    const WCHAR *word[] = {L"a;b"}, *nothing[] = {L""}, *twice[] = {L"\\System\\Threads", L"\\system\\THREADS"};
    WCHAR longest[1026];
    const WCHAR *long_word[] = {longest};
    BSTR embedded = SysAllocStringLen(L"a\0b", 3), lone = SysAllocString(L"a\xd800");
    VARIANT v;

    (void)state;
    refuses_text(collector, L"FileName", L"a\\b", E_INVALIDARG, "FileName: 'a\\b'");
    refuses_text(collector, L"Name", L"a\tb", E_INVALIDARG, "Name:");
    refuses_text(collector, L"DataSourceName", L"Logs", E_INVALIDARG, "DataSourceName: 'Logs'");
    refuses_text(set, L"Security", L"everybody", E_INVALIDARG, "Security: 'everybody'");
    assert_hr(put(set, L"Keywords", of_array(VT_BSTR, word, 1)), E_INVALIDARG);
    assert_said("Keywords: 'a;b'");
    assert_hr(put(set, L"Keywords", of_array(VT_BSTR, nothing, 1)), E_INVALIDARG);
    assert_said("Keywords: ''");
    wmemset(longest, L'k', 1025);
    longest[1025] = 0;
    assert_hr(put(set, L"Keywords", of_array(VT_BSTR, long_word, 1)), E_INVALIDARG);
    longest[1024] = 0;
    assert_ok(put(set, L"Keywords", of_array(VT_BSTR, long_word, 1)));
    assert_hr(put(collector, L"PerformanceCounters", of_array(VT_BSTR, twice, 2)), PLA_E_NO_DUPLICATES);
    assert_said("is there twice");
    assert_hr(heard(IDataCollectorSet_put_RootPath(set, embedded)), E_INVALIDARG);
    assert_vtable_said("RootPath");
    assert_hr(heard(IDataCollectorSet_put_RootPath(set, lone)), E_INVALIDARG);
    assert_ok(IDataCollectorSet_put_TaskUserTextArguments(set, lone)); /* DECISIONS 3: it becomes U+FFFD */
    assert_ok(get(set, L"TaskUserTextArguments", &v));
    assert_true(bstr_is(V_BSTR(&v), L"a\xfffd"));
    SysFreeString(embedded);
    SysFreeString(lone);
    release(collector);
    release(set);
}

/* FileName follows Name until it is put; a set is displayed with what was put, resolved or not. */
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
    /* A collector of no set has no folder to write to. */
    assert_hr(get(collector, L"OutputLocation", &v), PLA_E_DCS_NOT_FOUND);
    assert_ok(put(set, L"RootPath", of_text(L"D:\\Logs")));
    assert_ok(put(set, L"Subdirectory", of_text(L"Run")));
    assert_ok(put(set, L"SubdirectoryFormat", of_long(plaSerialNumber)));
    assert_ok(put(set, L"SerialNumber", of_long(41)));
    assert_ok(get(set, L"OutputLocation", &v));
    assert_true(bstr_is(V_BSTR(&v), L"D:\\Logs\\Run_000041"));
    release(collector);
    release(set);
}

/* ---- arrays as scripts make them ---- */

/* A JScript array: an object with `length` and members named by numbers. */
struct script_array {
    IDispatch iface;
    LONG references;
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
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE script_invoke(IDispatch *This, DISPID id, REFIID iid, LCID lcid, WORD flags,
                                               DISPPARAMS *params, VARIANT *result, EXCEPINFO *exception, UINT *bad)
{
    (void)This, (void)iid, (void)lcid, (void)flags, (void)params, (void)exception, (void)bad;
    if (id == SCRIPT_LENGTH)
        *result = of_long((LONG)ARRAYSIZE(script_items));
    else
        *result = of_text(script_items[id]);
    return S_OK;
}

/* VBScript, PowerShell and JScript each make arrays of their own kind; each must reach the collector. */
static void arrays_of_every_script_language(void **state)
{
    static IDispatchVtbl vtable = {script_query, script_add_ref, script_release, script_type_count,
                                   script_type,  script_ids,     script_invoke};
    struct script_array script = {{&vtable}, 1};
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
        if (i / 2 == 0) { /* the array itself */
            reference = array;
        } else if (i / 2 == 1) { /* a script's variable that holds it */
            V_VT(&reference) = VT_VARIANT | VT_BYREF;
            V_VARIANTREF(&reference) = &array;
        } else { /* an array by reference */
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
    /* and what is no list of texts is refused, and changes nothing */
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

/* Scripts hand over numbers as texts and texts as numbers. */
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

int property_tests(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_property_has_its_default),
        cmocka_unit_test(documented_defaults_are_so),
        cmocka_unit_test(every_property_keeps_what_was_put),
        cmocka_unit_test(values_out_of_range_are_refused),
        cmocka_unit_test(null_pointers_are_answered),
        cmocka_unit_test(read_only_properties_refuse_scripts),
        cmocka_unit_test(every_name_is_found_in_any_case),
        cmocka_unit_test(texts_that_cannot_be_are_refused),
        cmocka_unit_test(properties_that_follow_others),
        cmocka_unit_test(arrays_of_every_script_language),
        cmocka_unit_test(values_are_converted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
