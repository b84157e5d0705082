/* SPDX-License-Identifier: MIT */
/* Sets and the store: Commit, Query, Delete, listing (MS-PLA 3.2.4.1.53 to 57, 3.2.4.16). The script tests cover Start.
 */
#include "tests/com/client.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define NAME L"test-com-sets"

static HRESULT set_query_status(IDataCollectorSet *set, const WCHAR *name, const WCHAR *server)
{
    VARIANT arguments[2] = {of_text(name), of_text(server)};
    HRESULT hr = invoke(set, L"Query", DISPATCH_METHOD, NULL, arguments, 2);
    VariantClear(&arguments[0]);
    VariantClear(&arguments[1]);
    return hr;
}

static int forget(void **state)
{
    (void)state;
    delete_test_sets();
    return 0;
}

/* A set that one client commits is read completely by another client. */
static void committed_set_can_be_queried(void **state)
{
    IDataCollectorSet *set = new_set(), *other = new_set();
    VARIANT pair[2] = {of_text(L"k"), of_text(L"v")}, v;
    (void)state;
    assert_true(text_is(set, L"Name", L""));
    assert_ok(put(set, L"Description", of_text(L"T\x00e4glich <&> \x4e2d")));
    assert_ok(put(set, L"Duration", of_long(77)));
    assert_ok(invoke(set, L"SetValue", DISPATCH_METHOD, NULL, pair, 2));
    release(added_collector(set, L"C"));
    assert_ok(commit(set, NAME, plaCreateNew, NULL));
    assert_true(text_is(set, L"Name", NAME));
    assert_true(text_is(set, L"Server", L""));
    assert_ok(set_query_status(other, L"service\\TEST-COM-SETS", L"localhost"));
    assert_true(text_is(other, L"Description", L"T\x00e4glich <&> \x4e2d"));
    assert_true(text_is(other, L"Server", L"localhost"));
    assert_int_equal(number_of(other, L"Duration"), 77);
    assert_ok(invoke(other, L"GetValue", DISPATCH_METHOD, &v, pair, 1));
    assert_true(bstr_is(V_BSTR(&v), L"v"));
    IDataCollectorCollection *collectors = collectors_of(other);
    assert_int_equal(number_of(collectors, L"Count"), 1);
    release(collectors);
    /* Other clients do not see a change until it is committed; Query reverts an uncommitted change. */
    assert_ok(put(set, L"Duration", of_long(78)));
    assert_ok(set_query_status(other, NAME, L""));
    assert_int_equal(number_of(other, L"Duration"), 77);
    assert_ok(set_query_status(set, NAME, L""));
    assert_int_equal(number_of(set, L"Duration"), 77);
    VariantClear(&pair[0]);
    VariantClear(&pair[1]);
    release(other);
    release(set);
}

/* The modes keep a script from overwriting a set that it meant to create, and from creating a set that it meant to
   change. */
static void commit_modes_are_honoured(void **state)
{
    IDataCollectorSet *set = new_set(), *second = new_set();
    (void)state;
    assert_hr(commit(set, NAME, plaModify, NULL), PLA_E_DCS_NOT_FOUND);
    assert_true(text_is(set, L"Name", L""));
    assert_ok(commit(set, NAME, plaCreateNew, NULL));
    assert_hr(commit(second, L"Test-Com-Sets", plaCreateNew, NULL), PLA_E_DCS_ALREADY_EXISTS);
    assert_vtable_said("Test-Com-Sets");
    assert_ok(put(second, L"Duration", of_long(2)));
    assert_ok(commit(second, NAME, plaModify, NULL));
    assert_ok(set_query_status(set, NAME, L""));
    assert_int_equal(number_of(set, L"Duration"), 2);
    assert_ok(put(set, L"Duration", of_long(3)));
    assert_ok(commit(set, NAME, plaCreateOrModify, NULL));
    assert_ok(put(set, L"Duration", of_long(4)));
    assert_ok(commit(set, NAME, 0, NULL)); /* Microsoft's own sample */
    assert_ok(put(set, L"Duration", of_long(5)));
    assert_ok(commit(set, NAME, plaModify | plaUpdateRunningInstance, NULL));
    assert_ok(set_query_status(second, NAME, L""));
    assert_int_equal(number_of(second, L"Duration"), 5);
    /* MS-PLA 2.2: unknown bits are ignored, and known bits still count. */
    assert_hr(commit(set, NAME, 0x2000 | plaCreateNew, NULL), PLA_E_DCS_ALREADY_EXISTS);
    assert_ok(commit(set, NAME, 0x2000 | plaModify, NULL));
    release(second);
    release(set);
}

/* Validation stores nothing, and the object is not bound to a stored set. */
static void validate_only_stores_nothing(void **state)
{
    IDataCollectorSet *set = new_set(), *other = new_set();
    IValueMap *map = NULL;
    (void)state;
    assert_ok(put(set, L"TaskArguments", of_text(L"of no task")));
    assert_ok(commit(set, NAME, plaCreateNew | plaValidateOnly, &map));
    assert_true(number_of(map, L"Count") > 0); /* at least the issue of TaskArguments without a Task */
    release(map);
    assert_hr(set_query_status(other, NAME, L""), PLA_E_DCS_NOT_FOUND);
    assert_message("test-com-sets");
    assert_true(text_is(set, L"Name", L""));
    assert_hr(call(set, L"Delete"), PLA_E_DCS_NOT_FOUND);
    release(other);
    release(set);
}

/* Commit names settings without effect; otherwise the user would notice them only when logs are missing. */
static void commit_reports_settings_without_effect(void **state)
{
    IDataCollectorSet *set = new_set();
    IPerformanceCounterDataCollector *collector = added_collector(set, L"C");
    IValueMap *map = NULL;
    (void)state;
    assert_ok(put(collector, L"LogFileFormat", of_long(plaSql)));
    assert_ok(put(collector, L"LogCircular", of_long(-1)));
    assert_ok(put(set, L"TaskArguments", of_text(L"of no task")));
    assert_ok(put(set, L"SubdirectoryFormat", of_long(plaPattern)));
    assert_ok(put(set, L"SubdirectoryFormatPattern", of_text(L"yyyyQ")));
    assert_ok(commit(set, NAME, plaCreateNew, &map)); /* the set is stored nevertheless: MS-PLA 3.2.4.1.54 */
    assert_true(map_says(map, L"TaskArguments", 0x00300100));
    assert_true(map_says(map, L"SubdirectoryFormatPattern", OPENPLA_E_BAD_PATTERN));
    assert_true(map_says(map, L"PerformanceCounterDataCollector[1]/LogCircular", 0x00300100));
    assert_true(map_says(map, L"PerformanceCounterDataCollector[1]/DataSourceName", PLA_E_PROPERTY_CONFLICT));
    release(map);
    if (in_process) { /* DECISIONS 12 */
        BSTR name = SysAllocString(NAME);

        assert_ok(IDataCollectorSet_Commit(set, name, NULL, plaModify, NULL));
        SysFreeString(name);
    }
    release(collector);
    release(set);
}

static void refuses_name(const WCHAR *name, HRESULT expected, const char *why)
{
    IDataCollectorSet *set = new_set();
    VARIANT arguments[3] = {of_text(name), of_text(L""), of_long(plaCreateOrModify)}, map;
    assert_hr(invoke(set, L"Commit", DISPATCH_METHOD, &map, arguments, 3), expected);
    assert_message(why);
    assert_hr(set_query_status(set, name, L""), expected == E_NOTIMPL ? PLA_E_DCS_NOT_FOUND : expected);
    VariantClear(&arguments[0]);
    VariantClear(&arguments[1]);
    release(set);
}

/* Invalid set names are rejected before a file is created. */
static void invalid_set_names_are_rejected(void **state)
{
    (void)state;
    refuses_name(L"", E_INVALIDARG, "empty");
    refuses_name(L"Service\\", E_INVALIDARG, "empty");
    refuses_name(L"test-com-a\\b\\c", E_INVALIDARG, "b\\c");
    refuses_name(L"test-com-a:b", E_INVALIDARG, "test-com-a:b");
    refuses_name(L"test-com-*", E_INVALIDARG, "*");
    refuses_name(L"test-com-\x0007", E_INVALIDARG, "0x07");
    refuses_name(L"Nowhere\\test-com-a", E_NOINTERFACE, "Nowhere");
    refuses_name(L"System\\test-com-a", E_NOTIMPL, "System");
}

/* Names that are invalid only as file names are accepted. */
static void names_invalid_as_file_names_are_kept(void **state)
{
    static const WCHAR *const names[] = {L"test-com-T\x00e4glich \x4e2d", L"CON", L"test-com-a.", L"test-com- %41~"};
    WCHAR longest[201];
    (void)state;
    for (size_t i = 0; i <= ARRAYSIZE(names); i++) {
        IDataCollectorSet *set = new_set(), *other = new_set();
        const WCHAR *name = i < ARRAYSIZE(names) ? names[i] : longest;
        wmemset(longest, L'\x00fc', 200);
        longest[200] = 0;
        assert_ok(commit(set, name, plaCreateNew, NULL));
        assert_ok(set_query_status(other, name, L""));
        assert_true(text_is(other, L"Name", name));
        assert_ok(call(other, L"Delete"));
        release(other);
        release(set);
    }
}

/* Commit reports an invalid counter path immediately, but stores the set, because published templates contain such
   paths. Start reports a counter that this computer lacks. */
static void counter_paths_are_checked_at_commit(void **state)
{
    IDataCollectorSet *set = new_set();
    IPerformanceCounterDataCollector *collector = added_collector(set, L"C");
    const WCHAR *bad[] = {L"\\System\\Threads", L"Processor Time"}, *unknown[] = {L"\\No Object\\No Counter"};
    (void)state;
    assert_ok(put(collector, L"PerformanceCounters", of_array(VT_BSTR, bad, 2)));
    IValueMap *map;
    assert_ok(commit(set, NAME, plaCreateNew, &map));
    assert_true(map_says(map, L"PerformanceCounterDataCollector[1]/PerformanceCounters", 0xC0000BC0));
    release(map);
    assert_ok(put(collector, L"PerformanceCounters", of_array(VT_BSTR, unknown, 1)));
    assert_ok(commit(set, NAME, plaModify, NULL));
    release(collector);
    release(set);
}

/* A set is bound to its namespace and its machine. */
static void set_is_bound_to_namespace_and_machine(void **state)
{
    IDataCollectorSet *set = new_set();
    WCHAR longest[1025];
    (void)state;
    assert_ok(commit(set, NAME, plaCreateNew, NULL));
    assert_hr(set_query_status(set, L"Session\\x", L""), E_NOINTERFACE);
    assert_message("Session");
    wmemset(longest, L's', 1024);
    longest[1024] = 0;
    assert_hr(set_query_status(set, NAME, longest), E_INVALIDARG);
    assert_message("1024");
    assert_true(FAILED(set_query_status(set, NAME, L"test-com-another-machine")));
    assert_message("test-com-another-machine");
    assert_true(text_is(set, L"Name", NAME));
    release(set);
}

/* A Query for a missing set must not change half of the object. */
static void query_of_missing_set_changes_nothing(void **state)
{
    IDataCollectorSet *set = new_set();
    (void)state;
    assert_ok(put(set, L"Duration", of_long(5)));
    assert_hr(set_query_status(set, L"test-com-nothing", L""), PLA_E_DCS_NOT_FOUND);
    assert_message("test-com-nothing");
    assert_int_equal(number_of(set, L"Duration"), 5);
    assert_true(text_is(set, L"Name", L""));
    assert_hr(invoke(set, L"Start", DISPATCH_METHOD, NULL, (VARIANT[]){of_long(-1)}, 1), E_INVALIDARG);
    assert_hr(invoke(set, L"Stop", DISPATCH_METHOD, NULL, (VARIANT[]){of_long(-1)}, 1), PLA_E_DCS_NOT_RUNNING);
    release(set);
}

/* Delete removes the stored set, but not the object, which can be committed again. */
static void deleted_set_can_be_committed_again(void **state)
{
    IDataCollectorSet *set = new_set(), *other = new_set();
    (void)state;
    assert_hr(call(set, L"Delete"), PLA_E_DCS_NOT_FOUND);
    assert_ok(put(set, L"Duration", of_long(6)));
    assert_ok(commit(set, NAME, plaCreateNew, NULL));
    assert_hr(invoke(set, L"Stop", DISPATCH_METHOD, NULL, (VARIANT[]){of_long(-1)}, 1), PLA_E_DCS_NOT_RUNNING);
    assert_ok(call(set, L"Delete"));
    assert_hr(set_query_status(other, NAME, L""), PLA_E_DCS_NOT_FOUND);
    assert_hr(call(set, L"Delete"), PLA_E_DCS_NOT_FOUND);
    assert_ok(commit(set, NAME, plaCreateNew, NULL));
    assert_ok(set_query_status(other, NAME, L""));
    assert_int_equal(number_of(other, L"Duration"), 6);
    release(other);
    release(set);
}

/* Commit stores a serial number that was put since the last Commit; otherwise the store's number is kept, which a run
   may have incremented (DECISIONS 13). */
static void serial_numbers_never_decrease(void **state)
{
    IDataCollectorSet *set = new_set(), *other = new_set();
    (void)state;
    assert_ok(put(set, L"SerialNumber", of_long(40)));
    assert_ok(commit(set, NAME, plaCreateNew, NULL));
    assert_int_equal(number_of(set, L"SerialNumber"), 40);
    assert_ok(set_query_status(other, NAME, L""));
    assert_int_equal(number_of(other, L"SerialNumber"), 40);
    assert_ok(put(other, L"SerialNumber", of_long(50)));
    assert_ok(commit(other, NAME, plaModify, NULL));
    assert_ok(commit(set, NAME, plaModify, NULL)); /* the object's number, 40, was put before its last Commit */
    assert_ok(set_query_status(other, NAME, L""));
    assert_int_equal(number_of(other, L"SerialNumber"), 50);
    release(other);
    release(set);
}

static LONG set_is_listed(IDataCollectorSetCollection *sets, const WCHAR *filter, HRESULT expected)
{
    VARIANT arguments[2] = {{.vt = VT_NULL}, of_text(filter)};
    assert_hr(invoke(sets, L"GetDataCollectorSets", DISPATCH_METHOD, NULL, arguments, 2), expected);
    if (FAILED(expected))
        assert_message("Nowhere");
    VariantClear(&arguments[1]);
    return (LONG)number_of(sets, L"Count");
}

/* Scripts list all sets, those in a namespace (ignoring case), or one by name; an unknown namespace is an error, not an
   empty list. */
static void sets_are_listed_by_filter(void **state)
{
    IDataCollectorSetCollection *sets = create(&CLSID_DataCollectorSetCollection, &IID_IDataCollectorSetCollection);
    IDataCollectorSet *a = new_set(), *b = new_set();
    VARIANT item, name = of_text(L"test-com-list-b");
    (void)state;
    LONG before = set_is_listed(sets, L"service\\*", S_OK);
    LONG shipped = set_is_listed(sets, L"System\\*", S_OK);
    assert_true(shipped > 0);
    assert_ok(put(b, L"Duration", of_long(12)));
    assert_ok(commit(a, L"test-com-list-a", plaCreateNew, NULL));
    assert_ok(commit(b, L"test-com-list-b", plaCreateNew, NULL));
    LONG now = set_is_listed(sets, L"service\\*", S_OK);
    if (own_store) { /* in the shared store, other programs' sets appear and disappear */
        assert_int_equal(now, before + 2);
        assert_int_equal(set_is_listed(sets, L"", S_OK), before + 2 + shipped);
    } else {
        assert_true(now >= 2);
    }
    assert_ok(invoke(sets, L"Item", DISPATCH_PROPERTYGET, &item, &name, 1));
    assert_int_equal(number_of(V_DISPATCH(&item), L"Duration"), 12);
    assert_int_equal(number_of(V_DISPATCH(&item), L"Status"), plaStopped);
    VariantClear(&item);
    assert_int_equal(set_is_listed(sets, L"Service\\TEST-COM-LIST-B", S_OK), 1);
    assert_int_equal(set_is_listed(sets, L"Service\\test-com-list-?", S_OK), 2);
    assert_int_equal(set_is_listed(sets, L"Service\\test-com-nothing", S_OK), 0);
    assert_int_equal(set_is_listed(sets, L"Legacy\\*", S_OK), 0);
    assert_int_equal(set_is_listed(sets, L"Service\\test-com-list-a", S_OK), 1);
    assert_int_equal(set_is_listed(sets, L"Nowhere\\*", E_INVALIDARG), 1); /* unchanged */
    /* behaviour 16: Remove also deletes the set from the store. */
    assert_ok(invoke(sets, L"Remove", DISPATCH_METHOD, NULL, (VARIANT[]){of_long(0)}, 1));
    assert_int_equal(number_of(sets, L"Count"), 0);
    assert_int_equal(set_is_listed(sets, L"Service\\test-com-list-*", S_OK), 1);
    VariantClear(&name);
    release(a);
    release(b);
    release(sets);
}

/* Remove also deletes the set, so it must accept only items of the list. */
static void remove_rejects_set_of_another_list(void **state)
{
    IDataCollectorSetCollection *sets = create(&CLSID_DataCollectorSetCollection, &IID_IDataCollectorSetCollection);
    IDataCollectorSet *set = new_set(), *other = new_set();
    VARIANT v = of_object(set);
    (void)state;
    assert_ok(commit(set, NAME, plaCreateNew, NULL));
    assert_hr(invoke(sets, L"Remove", DISPATCH_METHOD, NULL, &v, 1), E_INVALIDARG);
    assert_message("is not in this collection");
    VariantClear(&v);
    assert_ok(set_query_status(other, NAME, L""));
    release(other);
    release(set);
    release(sets);
}

/* A set's account can be set and removed; its password cannot be read anywhere. */
static void credentials_are_not_readable(void **state)
{
    IDataCollectorSet *set = new_set();
    VARIANT who[2] = {of_text(L"DOMAIN\\user"), of_text(L"hunter2secret")};
    (void)state;
    assert_ok(invoke(set, L"SetCredentials", DISPATCH_METHOD, NULL, who, 2));
    assert_true(text_is(set, L"UserAccount", L"DOMAIN\\user"));
    assert_false(bstr_has(xml_of(set), L"hunter2secret"));
    VariantClear(&who[0]);
    VariantClear(&who[1]);
    V_VT(&who[0]) = V_VT(&who[1]) = VT_NULL;
    assert_ok(invoke(set, L"SetCredentials", DISPATCH_METHOD, NULL, who, 2));
    assert_true(text_is(set, L"UserAccount", L"SYSTEM"));
    release(set);
}

int set_tests(void)
{
#define T(name) cmocka_unit_test_teardown(name, forget)
    static const struct CMUnitTest tests[] = {
        T(committed_set_can_be_queried),         T(commit_modes_are_honoured),
        T(validate_only_stores_nothing),         T(commit_reports_settings_without_effect),
        T(invalid_set_names_are_rejected),       T(names_invalid_as_file_names_are_kept),
        T(counter_paths_are_checked_at_commit),  T(set_is_bound_to_namespace_and_machine),
        T(query_of_missing_set_changes_nothing), T(deleted_set_can_be_committed_again),
        T(serial_numbers_never_decrease),        T(sets_are_listed_by_filter),
        T(remove_rejects_set_of_another_list),   T(credentials_are_not_readable),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}
