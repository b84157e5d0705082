/* SPDX-License-Identifier: MIT */
/* test_categories in-process|facade|local-server: tests the classes of the namespaces as clients see them (MS-PLA
   3.2.1; behaviour 1, 4). tests/unit/run/sets/test_sets_categories.c tests the rules themselves. */
#include "tests/com/client.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

static HRESULT set_query(IDataCollectorSet *set, const WCHAR *name)
{
    VARIANT arguments[2] = {of_text(name), {.vt = VT_NULL}};
    HRESULT hr = invoke(set, L"Query", DISPATCH_METHOD, NULL, arguments, 2);
    VariantClear(&arguments[0]);
    return hr;
}

static HRESULT start(IDataCollectorSet *set)
{
    return invoke(set, L"Start", DISPATCH_METHOD, NULL, (VARIANT[]){of_long(-1)}, 1);
}

static HRESULT stop(IDataCollectorSet *set)
{
    return invoke(set, L"Stop", DISPATCH_METHOD, NULL, (VARIANT[]){of_long(-1)}, 1);
}

static IDataCollectorSet *new_of(const CLSID *class_id)
{
    return create(class_id, &IID_IDataCollectorSet);
}

static HRESULT add_trace(IDataCollectorSet *set)
{
    IDataCollectorCollection *collectors = collectors_of(set);
    IDataCollector *collector;
    assert_ok(IDataCollectorCollection_CreateDataCollector(collectors, plaTrace, &collector));
    VARIANT argument = of_object(collector);
    HRESULT hr = invoke(collectors, L"Add", DISPATCH_METHOD, NULL, &argument, 1);
    VariantClear(&argument);
    release(collector);
    release(collectors);
    return hr;
}

static int forget(void **state)
{
    (void)state;
    delete_test_sets();
    return 0;
}

/* Each of the sixteen names that scripts and tools activate must return an object of that class. */
static void every_class_can_be_created(void **state)
{
    static const struct {
        const CLSID *id;
        const WCHAR *program;
        const IID *interface_id;
    } classes[] = {
#define SET(name) {&CLSID_##name, L"PLA." #name, &IID_IDataCollectorSet}
#define SETS(name)                                                                                                     \
    {                                                                                                                  \
        &CLSID_##name, L"PLA." #name, &IID_IDataCollectorSetCollection                                                 \
    }
#define BOTH(name) SET(name), SETS(name##Collection)
        BOTH(DataCollectorSet),
        BOTH(ServerDataCollectorSet),
        BOTH(SystemDataCollectorSet),
        BOTH(TraceSession),
        BOTH(BootTraceSession),
        BOTH(LegacyDataCollectorSet),
        BOTH(LegacyTraceSession),
        {&CLSID_TraceDataProvider, L"PLA.TraceDataProvider", &IID_ITraceDataProvider},
        {&CLSID_TraceDataProviderCollection, L"PLA.TraceDataProviderCollection", &IID_ITraceDataProviderCollection},
#undef BOTH
#undef SETS
#undef SET
    };

    (void)state;
    assert_int_equal(ARRAYSIZE(classes), 16);
    for (size_t i = 0; i < ARRAYSIZE(classes); i++) {
        IUnknown *object = create(classes[i].id, classes[i].interface_id);
        IDispatch *late;
        CLSID found;
        assert_ok(IUnknown_QueryInterface(object, &IID_IDispatch, (void **)&late));
        assert_ok(CLSIDFromProgID(classes[i].program, &found));
        /* Names from a manifest have class ids that the manifest assigns. */
        assert_true(in_process || IsEqualCLSID(&found, classes[i].id));
        release(create(&found, classes[i].interface_id));
        release(late);
        release(object);
    }
}

/* A script with a trace session object must not reach a user's set under a similar name. */
static void class_accepts_only_its_own_namespace(void **state)
{
    static const struct {
        const CLSID *id;
        const WCHAR *foreign;
        const char *said;
    } cases[] = {
        {&CLSID_ServerDataCollectorSet, L"System\\System Performance", "Service"},
        {&CLSID_SystemDataCollectorSet, L"Service\\test-com-cat", "System"},
        {&CLSID_TraceSession, L"test-com-cat", NULL},
        {&CLSID_TraceSession, L"Service\\test-com-cat", "Session"},
        {&CLSID_BootTraceSession, L"Session\\test-com-cat", "Autosession"},
        {&CLSID_LegacyDataCollectorSet, L"Service\\test-com-cat", "Legacy"},
        {&CLSID_LegacyTraceSession, L"Session\\test-com-cat", "Legacy"},
    };
    IDataCollectorSet *user = new_set(), *server = new_of(&CLSID_ServerDataCollectorSet);

    (void)state;
    assert_ok(commit(user, L"test-com-cat", plaCreateOrModify, NULL));
    assert_ok(set_query(server, L"test-com-cat"));
    for (size_t i = 0; i < ARRAYSIZE(cases); i++) {
        IDataCollectorSet *set = new_of(cases[i].id);
        assert_hr(set_query(set, cases[i].foreign), cases[i].said ? E_NOINTERFACE : PLA_E_DCS_NOT_FOUND);
        if (cases[i].said)
            assert_message(cases[i].said);
        release(set);
    }
    release(server);
    release(user);
}

/* The sets that ship with OpenPLA can be listed, read and run, but not changed. */
static void system_sets_can_be_used_but_not_changed(void **state)
{
    IDataCollectorSetCollection *sets =
        create(&CLSID_SystemDataCollectorSetCollection, &IID_IDataCollectorSetCollection);
    IDataCollectorSet *set = new_of(&CLSID_SystemDataCollectorSet);
    VARIANT nothing[2] = {{.vt = VT_NULL}, {.vt = VT_NULL}}, name = of_text(L"system diagnostics"), item;
    (void)state;
    assert_ok(invoke(sets, L"GetDataCollectorSets", DISPATCH_METHOD, NULL, nothing, 2));
    assert_int_equal(number_of(sets, L"Count"), 2);
    assert_ok(invoke(sets, L"Item", DISPATCH_PROPERTYGET, &item, &name, 1));
    assert_true(text_is(V_DISPATCH(&item), L"DisplayName", L"System Diagnostics"));
    VariantClear(&item);
    assert_hr(invoke(sets, L"Remove", DISPATCH_METHOD, NULL, (VARIANT[]){of_long(0)}, 1), E_ACCESSDENIED);
    assert_int_equal(number_of(sets, L"Count"), 2);

    assert_ok(set_query(set, L"System Performance"));
    assert_true(text_is(set, L"Name", L"System Performance"));
    assert_hr(commit(set, L"System Performance", plaModify, NULL), E_NOTIMPL);
    assert_vtable_said("read-only");
    assert_hr(call(set, L"Delete"), E_ACCESSDENIED);
    assert_message("read-only");
    assert_ok(start(set));
    assert_int_equal(number_of(set, L"Status"), plaRunning);
    assert_hr(start(set), PLA_E_DCS_IN_USE);
    assert_ok(stop(set));
    assert_int_equal(number_of(set, L"Status"), plaStopped);
    VariantClear(&name);
    release(set);
    release(sets);
}

/* A system set runs with the kernel's session, like a user's set, wherever the host OS provides kernel events. */
static void system_set_runs_with_the_kernel_session(void **state)
{
    IDataCollectorSet *set = new_of(&CLSID_SystemDataCollectorSet), *live = new_of(&CLSID_TraceSession);
    VARIANT key = of_text(L"OpenPLA.LastRunMessage"), message;
    (void)state;
    assert_ok(set_query(set, L"System Diagnostics"));
    assert_ok(start(set));
    assert_int_equal(number_of(set, L"Status"), plaRunning);
    assert_ok(set_query(live, L"Session\\NT Kernel Logger"));
    assert_ok(stop(set));
    assert_hr(set_query(live, L"Session\\NT Kernel Logger"), PLA_E_DCS_NOT_FOUND);
    assert_ok(invoke(set, L"GetValue", DISPATCH_METHOD, &message, &key, 1));
    assert_null(wcsstr(V_BSTR(&message), L"not started")); /* polling for events may lose some */
    VariantClear(&message);
    VariantClear(&key);
    release(live);
    release(set);
}

/* Returns how often the map contains the key. */
static unsigned times_in(IValueMap *map, const WCHAR *key)
{
    unsigned times = 0;
    for (ULONG i = 0; i < number_of(map, L"Count"); i++) {
        VARIANT index = of_long((LONG)i), item, text;
        assert_ok(invoke(map, L"Item", DISPATCH_PROPERTYGET, &item, &index, 1));
        assert_ok(get(V_DISPATCH(&item), L"Key", &text));
        times += !wcscmp(V_BSTR(&text), key);
        VariantClear(&text);
        VariantClear(&item);
    }
    return times;
}

/* Returns the set's only collector. */
static ITraceDataCollector *trace_of(IDataCollectorSet *set)
{
    IDataCollectorCollection *collectors = collectors_of(set);
    VARIANT index = of_long(0);
    IDataCollector *collector;
    ITraceDataCollector *trace;
    assert_ok(IDataCollectorCollection_get_Item(collectors, index, &collector));
    assert_ok(IDataCollector_QueryInterface(collector, &IID_ITraceDataCollector, (void **)&trace));
    release(collector);
    release(collectors);
    return trace;
}

/* A trace session has exactly one trace collector; settings that a session ignores are reported. */
static void trace_session_reports_unsupported_settings(void **state)
{
    IDataCollectorSet *set = new_of(&CLSID_TraceSession);
    IValueMap *map;
    (void)state;
    assert_hr(commit(set, L"Session\\test-com-trace", plaCreateNew, NULL), PLA_E_DCS_SINGLETON_REQUIRED);
    IPerformanceCounterDataCollector *counters = added_collector(set, L"C");
    assert_hr(commit(set, L"test-com-trace", plaCreateNew, NULL), PLA_E_DCS_SINGLETON_REQUIRED);
    assert_vtable_said("PerformanceCounterDataCollector");
    IDataCollectorCollection *collectors = collectors_of(set);
    assert_ok(invoke(collectors, L"Remove", DISPATCH_METHOD, NULL, (VARIANT[]){of_long(0)}, 1));
    assert_ok(add_trace(set));
    assert_hr(add_trace(set), PLA_E_DCS_SINGLETON_REQUIRED);
    assert_message("Add");
    ITraceDataCollector *trace = trace_of(set);
    assert_ok(put(set, L"RootPath", of_text(L"C:\\logs")));
    assert_ok(put(trace, L"LogOverwrite", of_long(-1)));
    assert_ok(put(trace, L"BufferSize", of_long(64)));
    release(trace);
    assert_ok(commit(set, L"test-com-trace", plaCreateNew | plaUpdateRunningInstance, &map));
    assert_int_equal(times_in(map, L"RootPath"), 1);
    assert_int_equal(times_in(map, L"TraceDataCollector[1]/LogOverwrite"), 1);
    assert_int_equal(times_in(map, L"TraceDataCollector[1]/BufferSize"), 1);
    assert_true(text_is(set, L"Name", L"test-com-trace"));
    assert_hr(stop(set), PLA_E_DCS_NOT_RUNNING);
    release(map);
    release(collectors);
    release(counters);
    release(set);
}

#define GUARDED_GUID L"{1A2B3C4D-0004-4002-8003-0123456789AB}"

static int forget_guard(void **state)
{
    RegDeleteKeyValueW(HKEY_LOCAL_MACHINE, L"SYSTEM\\CurrentControlSet\\Control\\WMI\\Security",
                       L"1a2b3c4d-0004-4002-8003-0123456789ab");
    return forget(state);
}

/* The event provider's security decides who may enable it; Start's error names the provider. */
static void provider_security_limits_what_a_set_enables(void **state)
{
    IDataCollectorSet *set = new_set();
    IDataCollectorCollection *collectors = collectors_of(set);
    void *collector = named_collector(set, plaTrace, L"test-com-guarded");
    void *providers = member(collector, L"TraceDataProviders"),
         *provider = member(providers, L"CreateTraceDataProvider");
    VARIANT all = of_text(L"O:BAG:BAD:(A;;0x120FFF;;;WD)"), register_only = of_text(L"O:BAG:BAD:(A;;0x800;;;WD)"),
            of_provider = of_object(provider), of_collector = of_object(collector);
    (void)state;
    assert_ok(put(provider, L"Guid", of_text(GUARDED_GUID)));
    assert_ok(put(collector, L"LogOverwrite", of_long(-1)));
    assert_ok(invoke(providers, L"Add", DISPATCH_METHOD, NULL, &of_provider, 1));
    assert_ok(invoke(collectors, L"Add", DISPATCH_METHOD, NULL, &of_collector, 1));
    assert_ok(commit(set, L"test-com-guarded", plaCreateNew, NULL));
    assert_ok(invoke(provider, L"SetSecurity", DISPATCH_METHOD, NULL, &register_only, 1));
    assert_hr(start(set), E_ACCESSDENIED);
    assert_message("1A2B3C4D-0004");
    assert_int_equal(number_of(set, L"Status"), plaStopped);
    assert_ok(invoke(provider, L"SetSecurity", DISPATCH_METHOD, NULL, &all, 1));
    assert_ok(start(set));
    assert_ok(stop(set));
    VariantClear(&of_collector);
    VariantClear(&of_provider);
    VariantClear(&register_only);
    VariantClear(&all);
    release(provider);
    release(providers);
    release(collector);
    release(collectors);
    release(set);
}

static ULONG64 session_id(IDataCollectorSet *set)
{
    ITraceDataCollector *trace = trace_of(set);
    ULONG64 id;
    assert_ok(ITraceDataCollector_get_SessionId(trace, &id));
    release(trace);
    return id;
}

/* One tool starts a session; another tool finds it in the list, inspects, changes, flushes and stops it. */
static void trace_session_is_live_for_every_client(void **state)
{
    IDataCollectorSet *set = new_of(&CLSID_TraceSession), *other = new_set();
    IDataCollectorSetCollection *sets = create(&CLSID_TraceSessionCollection, &IID_IDataCollectorSetCollection);
    VARIANT nothing[2] = {{.vt = VT_NULL}, {.vt = VT_NULL}}, name = of_text(L"test-com-live"), item;
    ITraceDataCollector *trace;
    (void)state;
    assert_ok(add_trace(set));
    trace = trace_of(set);
    assert_ok(put(trace, L"StreamMode", of_long(plaRealTime)));
    assert_ok(put(trace, L"FlushTimer", of_long(1)));
    assert_ok(commit(set, L"test-com-live", plaCreateNew, NULL));
    assert_int_equal(number_of(set, L"Status"), plaStopped);
    assert_ok(start(set));
    assert_int_equal(number_of(set, L"Status"), plaRunning);
    const ULONG64 id = session_id(set);
    assert_true(id > 0 && id <= 64);
    assert_int_equal(number_of(trace, L"NumberOfBuffers"), 0); /* 0 until Query reads it from the session */
    assert_hr(start(set), PLA_E_DCS_IN_USE);
    assert_hr(commit(other, L"Session\\test-com-live", plaCreateNew, NULL), PLA_E_DCS_SINGLETON_REQUIRED);
    release(trace);
    release(set);

    assert_ok(invoke(sets, L"GetDataCollectorSets", DISPATCH_METHOD, NULL, nothing, 2));
    assert_ok(invoke(sets, L"Item", DISPATCH_PROPERTYGET, &item, &name, 1));
    assert_int_equal(number_of(V_DISPATCH(&item), L"Status"), plaRunning);
    VariantClear(&item);
    assert_ok(set_query(other, L"session\\TEST-COM-LIVE"));
    trace = trace_of(other);
    assert_true(session_id(other) == id);
    assert_true(number_of(trace, L"NumberOfBuffers") > 0);
    assert_true(number_of(trace, L"FreeBuffers") > 0);
    assert_true(number_of(trace, L"SessionThreadId") != 0);
    assert_int_equal(number_of(trace, L"EventsLost"), 0);
    assert_int_equal(number_of(trace, L"StreamMode"), plaRealTime);
    assert_ok(put(trace, L"FlushTimer", of_long(5)));
    assert_hr(commit(other, L"Session\\test-com-live", plaModify, NULL), PLA_E_DCS_IN_USE);
    assert_ok(commit(other, L"Session\\test-com-live", plaModify | plaUpdateRunningInstance | plaFlushTrace, NULL));
    release(trace);
    assert_ok(set_query(other, L"Session\\test-com-live"));
    trace = trace_of(other);
    assert_int_equal(number_of(trace, L"FlushTimer"), 5);
    assert_true(session_id(other) == id);
    assert_hr(call(other, L"Delete"), PLA_E_DCS_IN_USE);
    assert_ok(stop(other));
    assert_int_equal(number_of(other, L"Status"), plaStopped);
    assert_hr(set_query(other, L"Session\\test-com-live"), PLA_E_DCS_NOT_FOUND);
    VariantClear(&name);
    release(trace);
    release(sets);
    release(other);
}

/* A session for the next boot is stored, but cannot be started or stopped. */
static void boot_trace_is_stored(void **state)
{
    IDataCollectorSet *set = new_of(&CLSID_BootTraceSession), *other = new_set();
    IDataCollectorSetCollection *sets = create(&CLSID_BootTraceSessionCollection, &IID_IDataCollectorSetCollection);
    VARIANT nothing[2] = {{.vt = VT_NULL}, {.vt = VT_NULL}}, name = of_text(L"test-com-boot"), item;
    (void)state;
    assert_ok(add_trace(set));
    assert_ok(commit(set, L"Autosession\\test-com-boot", plaCreateNew, NULL));
    assert_int_equal(number_of(set, L"Status"), plaUndefined);
    assert_hr(start(set), E_NOTIMPL);
    assert_message("Autosession");
    assert_hr(stop(set), E_NOTIMPL);
    assert_ok(set_query(other, L"autosession\\TEST-COM-BOOT"));
    assert_hr(add_trace(other), PLA_E_DCS_SINGLETON_REQUIRED);
    assert_hr(set_query(other, L"Service\\test-com-boot"), E_NOINTERFACE);
    assert_ok(invoke(sets, L"GetDataCollectorSets", DISPATCH_METHOD, NULL, nothing, 2));
    assert_ok(invoke(sets, L"Item", DISPATCH_PROPERTYGET, &item, &name, 1));
    assert_int_equal(number_of(V_DISPATCH(&item), L"Status"), plaUndefined);
    VariantClear(&item);
    assert_ok(call(other, L"Delete"));
    assert_hr(set_query(set, L"test-com-boot"), PLA_E_DCS_NOT_FOUND);
    VariantClear(&name);
    release(sets);
    release(other);
    release(set);
}

/* No older system exists that could store legacy sets; Commit reports that immediately. */
static void legacy_sets_cannot_be_stored(void **state)
{
    static const CLSID *const classes[] = {&CLSID_LegacyDataCollectorSet, &CLSID_LegacyTraceSession};
    IDataCollectorSetCollection *sets =
        create(&CLSID_LegacyDataCollectorSetCollection, &IID_IDataCollectorSetCollection);
    VARIANT nothing[2] = {{.vt = VT_NULL}, {.vt = VT_NULL}};
    (void)state;
    assert_ok(invoke(sets, L"GetDataCollectorSets", DISPATCH_METHOD, NULL, nothing, 2));
    assert_int_equal(number_of(sets, L"Count"), 0);
    for (size_t i = 0; i < ARRAYSIZE(classes); i++) {
        IDataCollectorSet *set = new_of(classes[i]);
        assert_hr(commit(set, L"test-com-old", plaCreateNew, NULL), E_NOINTERFACE);
        assert_vtable_said("Legacy");
        assert_hr(set_query(set, L"test-com-old"), PLA_E_DCS_NOT_FOUND);
        release(set);
    }
    release(sets);
}

/* A tool builds its provider list before it creates a set. */
static void providers_are_created_without_a_set(void **state)
{
    ITraceDataProvider *provider = create(&CLSID_TraceDataProvider, &IID_ITraceDataProvider);
    ITraceDataProviderCollection *providers =
        create(&CLSID_TraceDataProviderCollection, &IID_ITraceDataProviderCollection);
    VARIANT argument = of_object(provider);
    (void)state;
    assert_ok(put(provider, L"DisplayName", of_text(L"Mine")));
    assert_ok(put(provider, L"Guid", of_text(L"{E4D53F84-7DE3-11D8-9435-505054503030}")));
    assert_ok(invoke(providers, L"Add", DISPATCH_METHOD, NULL, &argument, 1));
    assert_int_equal(number_of(providers, L"Count"), 1);
    VariantClear(&argument);
    release(providers);
    release(provider);
}

int main(int argc, char **argv)
{
#define T(name) cmocka_unit_test_teardown(name, forget)
    static const struct CMUnitTest tests[] = {
        T(every_class_can_be_created),
        T(class_accepts_only_its_own_namespace),
        T(system_sets_can_be_used_but_not_changed),
        T(system_set_runs_with_the_kernel_session),
        cmocka_unit_test_teardown(provider_security_limits_what_a_set_enables, forget_guard),
        T(trace_session_reports_unsupported_settings),
        T(trace_session_is_live_for_every_client),
        T(boot_trace_is_stored),
        T(legacy_sets_cannot_be_stored),
        T(providers_are_created_without_a_set),
    };
#undef T
    int way = client_way_of(argc, argv), failed;

    if (way < 0)
        return 2;
    if (!client_begin((enum client_way)way))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!client_end() && !failed)
        failed = 1;
    return failed;
}
