/* SPDX-License-Identifier: MIT */
/* test_objects in-process|facade|local-server: runs the whole suite of COM object tests with the given way of access.
   This file tests the COM rules that every object must obey. */
#include "idl/proxy_clsid.h"
#include "tests/com/client.h"

#include <stdio.h>
#include <string.h>

/* One object of each class, and the interfaces that it must support. */
enum { KINDS = 17 };
struct sample_of_kind {
    IUnknown *object;
    const IID *own, *base;
};

static void make_samples(struct sample_of_kind samples[KINDS])
{
    static const IID *const collectors[] = {&IID_IPerformanceCounterDataCollector, &IID_ITraceDataCollector,
                                            &IID_IConfigurationDataCollector, &IID_IAlertDataCollector,
                                            &IID_IApiTracingDataCollector};
    IDataCollectorSet *set = new_set();
    struct sample_of_kind *s = samples;
    void *providers, *manager, *actions, *schedules, *map;
    *s++ = (struct sample_of_kind){(IUnknown *)set, &IID_IDataCollectorSet, NULL};
    *s++ = (struct sample_of_kind){create(&CLSID_DataCollectorSetCollection, &IID_IDataCollectorSetCollection),
                                   &IID_IDataCollectorSetCollection, NULL};
    *s++ = (struct sample_of_kind){(IUnknown *)collectors_of(set), &IID_IDataCollectorCollection, NULL};
    for (LONG type = plaPerformanceCounter; type <= plaApiTrace; type++)
        *s++ = (struct sample_of_kind){named_collector(set, type, L"C"), collectors[type], &IID_IDataCollector};
    providers = member(s[-4].object, L"TraceDataProviders");
    *s++ = (struct sample_of_kind){providers, &IID_ITraceDataProviderCollection, NULL};
    *s++ = (struct sample_of_kind){member(providers, L"CreateTraceDataProvider"), &IID_ITraceDataProvider, NULL};
    map = member(s[-1].object, L"Level");
    *s++ = (struct sample_of_kind){map, &IID_IValueMap, NULL};
    *s++ = (struct sample_of_kind){member(map, L"CreateValueMapItem"), &IID_IValueMapItem, NULL};
    schedules = member(set, L"Schedules");
    *s++ = (struct sample_of_kind){schedules, &IID_IScheduleCollection, NULL};
    *s++ = (struct sample_of_kind){member(schedules, L"CreateSchedule"), &IID_ISchedule, NULL};
    manager = member(set, L"DataManager");
    *s++ = (struct sample_of_kind){manager, &IID_IDataManager, NULL};
    actions = member(manager, L"FolderActions");
    *s++ = (struct sample_of_kind){actions, &IID_IFolderActionCollection, NULL};
    *s++ = (struct sample_of_kind){member(actions, L"CreateFolderAction"), &IID_IFolderAction, NULL};
    assert_ptr_equal(s, samples + KINDS);
}

static void drop_samples(struct sample_of_kind samples[KINDS])
{
    for (int i = 0; i < KINDS; i++)
        release(samples[i].object);
}

/* The samples are complete: each of MS-PLA's 18 interfaces belongs to one of the sample objects. */
static void every_interface_has_an_object(void **state)
{
    static const struct {
        const char *name;
        ULONG first;
    } interfaces[] = {
#define IDL_INTERFACE(name, base, first) {#name, first},
#define IDL_MEMBER(interface, opnum, kind, name, id, parameters)
#include "tests/com/idl_members.inc"
#undef IDL_MEMBER
#undef IDL_INTERFACE
    };
    struct sample_of_kind samples[KINDS];

    (void)state;
    assert_int_equal(ARRAYSIZE(interfaces), 18);
    make_samples(samples);
    for (size_t i = 0; i < ARRAYSIZE(interfaces); i++) {
        bool found = false;
        for (int k = 0; k < KINDS; k++)
            found = found || samples[k].own->Data1 == interfaces[i].first ||
                    (samples[k].base && samples[k].base->Data1 == interfaces[i].first);
        if (!found)
            fail_msg("no object has %s", interfaces[i].name);
    }
    drop_samples(samples);
}

static void *query(void *object, REFIID iid)
{
    void *out = NULL;
    assert_ok(IUnknown_QueryInterface((IUnknown *)object, iid, &out));
    return out;
}

/* Clients keep objects in tables by their IUnknown pointers. If an object had several such pointers, a client could not
   find it again. */
static void one_object_has_one_identity(void **state)
{
    struct sample_of_kind samples[KINDS];
    (void)state;
    make_samples(samples);
    for (int i = 0; i < KINDS; i++) {
        void *identity = query(samples[i].object, &IID_IUnknown);
        const IID *ids[] = {samples[i].own, &IID_IDispatch, samples[i].base};
        for (int k = 0; k < 3; k++) {
            void *as, *again;
            if (!ids[k])
                continue;
            as = query(samples[i].object, ids[k]);
            again = query(as, &IID_IUnknown);
            assert_ptr_equal(again, identity);
            release(again);
            /* and back: an interface that was returned once must be available from any other interface */
            again = query(as, samples[i].own);
            release(again);
            release(as);
        }
        release(identity);
    }
    drop_samples(samples);
}

/* Two references to one collection must not return two different objects. */
static void child_object_is_the_same_while_referenced(void **state)
{
    IDataCollectorSet *set = new_set(), *above;
    IDataCollectorCollection *first = collectors_of(set), *second = collectors_of(set);
    IPerformanceCounterDataCollector *collector = added_collector(set, L"C");
    IDataCollector *item;
    void *a = query(first, &IID_IUnknown), *b = query(second, &IID_IUnknown);
    (void)state;
    assert_ptr_equal(a, b);
    release(a);
    release(b);
    assert_ok(IDataCollectorCollection_get_Item(first, of_long(0), &item));
    a = query(item, &IID_IUnknown);
    b = query(collector, &IID_IUnknown);
    assert_ptr_equal(a, b);
    release(a);
    release(b);
    assert_ok(IDataCollector_get_DataCollectorSet(item, &above));
    a = query(above, &IID_IUnknown);
    b = query(set, &IID_IUnknown);
    assert_ptr_equal(a, b);
    release(a);
    release(b);
    release(above);
    release(item);
    release(collector);
    release(second);
    release(first);
    release(set);
}

/* A query for an unknown interface fails, and does not return another interface's vtable. */
static void query_interface_follows_the_com_rules(void **state)
{
    static const IID nobodys = {0x9e0fb9b0, 0x0d18, 0x4d3b, {0x90, 0x01, 0x35, 0x1c, 0x2b, 0x78, 0x44, 0x10}};
    struct sample_of_kind samples[KINDS];
    (void)state;
    make_samples(samples);
    for (int i = 0; i < KINDS; i++) {
        const IID *others[KINDS + 2] = {&nobodys, &IID_IStream, &IID_IClassFactory};
        int count = 3;
        for (int k = 0; k < KINDS; k++)
            if (k != i)
                others[count++] = samples[k].own;
        for (int k = 0; k < count; k++) {
            void *out = samples;
            assert_int_equal(IUnknown_QueryInterface(samples[i].object, others[k], &out), E_NOINTERFACE);
            assert_null(out);
        }
        if (!samples[i].base) {
            void *out = samples;
            assert_int_equal(IUnknown_QueryInterface(samples[i].object, &IID_IDataCollector, &out), E_NOINTERFACE);
            assert_null(out);
        }
        if (samples[i].base)
            release(query(samples[i].object, samples[i].base));
        if (in_process) {
            ISupportErrorInfo *errors = query(samples[i].object, &IID_ISupportErrorInfo);
            assert_int_equal(ISupportErrorInfo_InterfaceSupportsErrorInfo(errors, samples[i].own), S_OK);
            assert_int_equal(ISupportErrorInfo_InterfaceSupportsErrorInfo(errors, &IID_IStream), S_FALSE);
            release(errors);
            assert_int_equal(IUnknown_QueryInterface(samples[i].object, samples[i].own, NULL), E_POINTER);
        }
    }
    drop_samples(samples);
}

/* Aggregation is rejected, because an aggregated set's errors would be lost. */
static void aggregation_is_rejected(void **state)
{
    static const CLSID *const classes[] = {
        &CLSID_DataCollectorSet,       &CLSID_DataCollectorSetCollection,
        &CLSID_ServerDataCollectorSet, &CLSID_ServerDataCollectorSetCollection,
        &CLSID_SystemDataCollectorSet, &CLSID_SystemDataCollectorSetCollection,
        &CLSID_TraceSession,           &CLSID_TraceSessionCollection,
        &CLSID_BootTraceSession,       &CLSID_BootTraceSessionCollection,
        &CLSID_LegacyDataCollectorSet, &CLSID_LegacyDataCollectorSetCollection,
        &CLSID_LegacyTraceSession,     &CLSID_LegacyTraceSessionCollection,
        &CLSID_TraceDataProvider,      &CLSID_TraceDataProviderCollection,
    };
    IDataCollectorSet *set = new_set();
    DWORD where = !in_process ? CLSCTX_LOCAL_SERVER : own_store ? CLSCTX_INPROC_SERVER : CLSCTX_ALL;
    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(classes); i++) {
        void *out = set;
        assert_int_equal(CoCreateInstance(classes[i], (IUnknown *)set, where, &IID_IUnknown, &out),
                         CLASS_E_NOAGGREGATION);
        assert_null(out);
    }
    release(set);
}

/* The classes that scripts use by name, and the two of the server; test_categories tests the other classes. */
static void every_class_can_be_created(void **state)
{
    (void)state;
    release(create(&CLSID_DataCollectorSet, &IID_IDispatch));
    release(create(&CLSID_ServerDataCollectorSet, &IID_IDataCollectorSet));
    release(create(&CLSID_DataCollectorSetCollection, &IID_IDispatch));
    release(create(&CLSID_ServerDataCollectorSetCollection, &IID_IDataCollectorSetCollection));
}

/* Tools that show members, and .NET's late binding, read each object's type information. */
static void every_object_has_its_type_information(void **state)
{
    struct sample_of_kind samples[KINDS];
    (void)state;
    make_samples(samples);
    for (int i = 0; i < KINDS; i++) {
        IDispatch *object = query(samples[i].object, &IID_IDispatch);
        ITypeInfo *info = NULL;
        TYPEATTR *attributes;
        UINT count = 0;
        assert_ok(IDispatch_GetTypeInfoCount(object, &count));
        assert_int_equal(count, 1);
        assert_ok(IDispatch_GetTypeInfo(object, 0, LOCALE_NEUTRAL, &info));
        assert_ok(ITypeInfo_GetTypeAttr(info, &attributes));
        assert_true(IsEqualIID(&attributes->guid, samples[i].own));
        ITypeInfo_ReleaseTypeAttr(info, attributes);
        release(info);
        info = (ITypeInfo *)1;
        assert_int_equal(IDispatch_GetTypeInfo(object, 1, LOCALE_NEUTRAL, &info), DISP_E_BADINDEX);
        assert_null(info);
        release(object);
    }
    drop_samples(samples);
}

/* Scripts spell names in any case; a name that does not exist must cause a clear error. */
static void names_are_found_in_any_case(void **state)
{
    IDataCollectorSet *set = new_set();
    WCHAR spellings[][10] = {L"RootPath", L"ROOTPATH", L"rootpath", L"rOOTpATH"}, unknown[] = L"RootPathh";
    WCHAR *name;
    DISPID first = 0, id = 0;
    (void)state;
    for (int i = 0; i < 4; i++) {
        name = spellings[i];
        assert_ok(IDispatch_GetIDsOfNames((IDispatch *)set, &IID_NULL, &name, 1, LOCALE_USER_DEFAULT, &id));
        if (!i)
            first = id;
        assert_int_equal(id, first);
    }
    name = unknown;
    assert_int_equal(IDispatch_GetIDsOfNames((IDispatch *)set, &IID_NULL, &name, 1, 0x409, &id), DISP_E_UNKNOWNNAME);
    assert_int_equal(id, DISPID_UNKNOWN);
    assert_int_equal(invoke_id(set, 0x7777, DISPATCH_METHOD, NULL, NULL, 0), DISP_E_MEMBERNOTFOUND);
    release(set);
}

/* A script may release the set and keep its collector; the objects below a reference must stay valid. */
static void children_outlive_their_parents(void **state)
{
    IDataCollectorSet *set = new_set(), *above = NULL;
    IPerformanceCounterDataCollector *collector = added_collector(set, L"Orphan");
    IDataCollectorCollection *collectors = collectors_of(set);
    VARIANT name;
    LONG count = -1;
    (void)state;
    release(set);
    assert_ok(IDataCollectorCollection_get_Count(collectors, &count));
    assert_int_equal(count, 1);
    assert_ok(get(collector, L"Name", &name));
    assert_true(bstr_is(V_BSTR(&name), L"Orphan"));
    /* The set itself is freed with its last reference. */
    assert_hr(heard(IPerformanceCounterDataCollector_get_DataCollectorSet(collector, &above)), PLA_E_DCS_NOT_FOUND);
    assert_null(above);
    release(collectors);
    assert_ok(get(collector, L"Name", &name));
    assert_true(bstr_is(V_BSTR(&name), L"Orphan"));
    release(collector);
}

/* C++ clients read the reason for a failed call from IErrorInfo. */
static void vtable_errors_have_a_message(void **state)
{
    IDataCollectorSet *set = new_set();
    IErrorInfo *info = NULL;
    GUID source;
    BSTR text;
    (void)state;
    assert_int_equal(IDataCollectorSet_Start(set, VARIANT_TRUE), E_INVALIDARG);
    if (in_process) {
        assert_int_equal(GetErrorInfo(0, &info), S_OK);
        assert_ok(IErrorInfo_GetGUID(info, &source));
        assert_true(IsEqualIID(&source, &IID_IDataCollectorSet));
        assert_ok(IErrorInfo_GetSource(info, &text));
        assert_true(bstr_is(text, L"PLA.DataCollectorSet"));
        assert_ok(IErrorInfo_GetDescription(info, &text));
        assert_true(bstr_has(text, L"never committed"));
        release(info);
    }
    assert_int_equal(invoke(set, L"Start", DISPATCH_METHOD, NULL, (VARIANT[]){of_long(-1)}, 1), E_INVALIDARG);
    assert_message("never committed");
    release(set);
}

static DWORD WINAPI use_from_another_apartment(void *argument)
{
    IDataCollectorSet *set = NULL;
    DWORD result = 1;
    BSTR path = SysAllocString(L"D:\\From elsewhere"), back = NULL;
    client_thread_begin(COINIT_APARTMENTTHREADED);
    if (SUCCEEDED(CoGetInterfaceAndReleaseStream(argument, &IID_IDataCollectorSet, (void **)&set))) {
        if (IDataCollectorSet_put_RootPath(set, path) == S_OK && IDataCollectorSet_get_RootPath(set, &back) == S_OK &&
            IDataCollectorSet_Start(set, VARIANT_TRUE) == E_INVALIDARG)
            result = !bstr_is(back, L"D:\\From elsewhere");
        release(set);
    }
    client_thread_end();
    SysFreeString(path);
    return result;
}

/* A window's thread receives the set from a worker thread, through the proxies that the manifest names. */
static void another_apartment_can_use_the_object(void **state)
{
    static const CLSID ours = OPENPLA_PROXY_CLSID;
    IDataCollectorSet *set = new_set();
    IStream *stream;
    CLSID proxies;
    HANDLE thread;
    DWORD result = 2;
    (void)state;
    assert_ok(CoGetPSClsid(&IID_IDataCollectorSet, &proxies));
    assert_true(IsEqualCLSID(&proxies, &ours));
    assert_ok(CoMarshalInterThreadInterfaceInStream(&IID_IDataCollectorSet, (IUnknown *)set, &stream));
    thread = CreateThread(NULL, 0, use_from_another_apartment, stream, 0, NULL);
    assert_non_null(thread);
    WaitForSingleObject(thread, INFINITE);
    GetExitCodeThread(thread, &result);
    CloseHandle(thread);
    assert_int_equal(result, 0);
    release(set);
}

int identity_tests(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_interface_has_an_object),
        cmocka_unit_test(one_object_has_one_identity),
        cmocka_unit_test(child_object_is_the_same_while_referenced),
        cmocka_unit_test(query_interface_follows_the_com_rules),
        cmocka_unit_test(aggregation_is_rejected),
        cmocka_unit_test(every_class_can_be_created),
        cmocka_unit_test(every_object_has_its_type_information),
        cmocka_unit_test(names_are_found_in_any_case),
        cmocka_unit_test(children_outlive_their_parents),
        cmocka_unit_test(vtable_errors_have_a_message),
        cmocka_unit_test(another_apartment_can_use_the_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    int way = client_way_of(argc, argv);
    if (way < 0)
        return 2;
    if (!client_begin((enum client_way)way))
        return 1;
    int failed = identity_tests() + property_tests() + value_tests() + collection_tests() + value_map_tests() +
                 xml_tests() + set_tests() + six_collection_tests() + provider_tests() + collector_kind_tests() +
                 client_object_tests();
    delete_test_sets();
    /* A failed test leaves objects behind, so leaks can be checked only after a successful run. */
    if (!client_end() && !failed)
        failed = 1;
    return failed;
}
