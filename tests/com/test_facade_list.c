/* SPDX-License-Identifier: MIT */
/* test_facade_list: counts the calls between processes that a commit and a list of the server's sets need, and checks
   that listed sets equal those that Query returns. */
#include "tests/com/client.h"

#include <stdio.h>
#include <objidl.h>
#include <wchar.h>

#define NAME L"test-com-facade-list"
enum { FEW = 3, MANY = 40 };

/* ---- number of calls that leave this process ---- */

static LONG calls;

static HRESULT STDMETHODCALLTYPE hook_query(IChannelHook *This, REFIID iid, void **out)
{
    *out = IsEqualIID(iid, &IID_IUnknown) || IsEqualIID(iid, &IID_IChannelHook) ? This : NULL;
    return *out ? S_OK : E_NOINTERFACE;
}

static ULONG STDMETHODCALLTYPE hook_count(IChannelHook *This)
{
    (void)This;
    return 2;
}

static void STDMETHODCALLTYPE hook_call(IChannelHook *This, REFGUID extent, REFIID iid, ULONG *size)
{
    (void)This, (void)extent, (void)iid;
    *size = 0;
    InterlockedIncrement(&calls);
}

static void STDMETHODCALLTYPE hook_fill(IChannelHook *This, REFGUID extent, REFIID iid, ULONG *size, void *data)
{
    (void)This, (void)extent, (void)iid, (void)data;
    *size = 0;
}

static void STDMETHODCALLTYPE hook_returned(IChannelHook *This, REFGUID extent, REFIID iid, ULONG size, void *data,
                                            DWORD representation, HRESULT fault)
{
    (void)This, (void)extent, (void)iid, (void)size, (void)data, (void)representation, (void)fault;
}

static void STDMETHODCALLTYPE hook_called(IChannelHook *This, REFGUID extent, REFIID iid, ULONG size, void *data,
                                          DWORD representation)
{
    (void)This, (void)extent, (void)iid, (void)size, (void)data, (void)representation;
}

static void STDMETHODCALLTYPE hook_answer(IChannelHook *This, REFGUID extent, REFIID iid, HRESULT fault, ULONG *size)
{
    (void)This, (void)extent, (void)iid, (void)fault;
    *size = 0;
}

static void STDMETHODCALLTYPE hook_fill_answer(IChannelHook *This, REFGUID extent, REFIID iid, ULONG *size, void *data,
                                               HRESULT fault)
{
    (void)This, (void)extent, (void)iid, (void)data, (void)fault;
    *size = 0;
}

static IChannelHookVtbl hook_vtable = {hook_query,    hook_count,  hook_count,  hook_call,       hook_fill,
                                       hook_returned, hook_called, hook_answer, hook_fill_answer};
static IChannelHook hook = {&hook_vtable};

/* ---- sets and lists ---- */

static void commit_sets(int from, int to)
{
    for (int i = from; i < to; i++) {
        IDataCollectorSet *set = new_set();
        WCHAR name[64];
        _snwprintf(name, 64, NAME L"-%02d", i);
        release(added_collector(set, L"C"));
        assert_ok(put(set, L"Description", of_text(i % 2 ? L"@%windir%\\no such file.dll,#1" : L"<\x4e2d>")));
        assert_ok(commit(set, name, plaCreateNew, NULL));
        release(set);
    }
}

static IDataCollectorSetCollection *list_of(const WCHAR *pattern)
{
    IDataCollectorSetCollection *sets = create(&CLSID_DataCollectorSetCollection, &IID_IDataCollectorSetCollection);
    BSTR filter = SysAllocString(pattern);
    assert_ok(heard(IDataCollectorSetCollection_GetDataCollectorSets(sets, NULL, filter)));
    SysFreeString(filter);
    return sets;
}

static LONG calls_for_list(const WCHAR *pattern, ULONG expected)
{
    LONG before = calls;
    IDataCollectorSetCollection *sets = list_of(pattern);
    LONG made = calls - before;
    assert_int_equal(number_of(sets, L"Count"), expected);
    release(sets);
    return made;
}

/* Creates an object in the server, as a set does. */
static void *create_at_server(void)
{
    void *set = NULL;
    assert_ok(CoCreateInstance(&CLSID_DataCollectorSet, NULL, CLSCTX_LOCAL_SERVER, &IID_IDispatch, &set));
    return set;
}

static int forget(void **state)
{
    (void)state;
    delete_test_sets();
    return 0;
}

/* A commit is one call, in addition to creating the server's object: validation issues must not be read one by one. */
static void commit_is_one_call(void **state)
{
    (void)state;
    release(create_at_server());
    LONG before = calls;
    release(create_at_server());
    LONG of_object = calls - before;
    IDataCollectorSet *set = new_set();
    IValueMap *issues;
    release(added_collector(set, L"C"));
    assert_ok(put(set, L"TaskArguments", of_text(L"for no task")));
    before = calls;
    assert_ok(commit(set, NAME, plaCreateNew, &issues));
    assert_true(calls - before <= of_object + 1);
    assert_true(map_says(issues, L"TaskArguments", PLA_S_PROPERTY_IGNORED));
    release(issues);
    release(set);
}

/* A query is one call as well. */
static void query_is_one_call(void **state)
{
    (void)state;
    commit_sets(0, 1);
    release(create_at_server());
    LONG before = calls;
    release(create_at_server());
    LONG of_object = calls - before;
    IDataCollectorSet *set = new_set();
    BSTR name = SysAllocString(NAME L"-00");
    before = calls;
    assert_ok(IDataCollectorSet_Query(set, name, NULL));
    assert_true(calls - before <= of_object + 1);
    assert_true(text_is(set, L"UserAccount", L"SYSTEM"));
    assert_true(text_is(set, L"DescriptionUnresolved", L"<\x4e2d>"));
    SysFreeString(name);
    release(set);
}

/* A list of ten thousand sets must not need ten thousand calls to the server. */
static void list_calls_do_not_grow_with_sets(void **state)
{
    (void)state;
    commit_sets(0, FEW);
    calls_for_list(L"Service\\" NAME L"-*", FEW); /* the first list also looks up the class */
    LONG few = calls_for_list(L"Service\\" NAME L"-*", FEW);
    assert_true(few > 0);
    commit_sets(FEW, MANY);
    assert_int_equal(calls_for_list(L"Service\\" NAME L"-*", MANY), few);
}

/* Reading all sets of a list is one call as well: their values are fetched on demand, as they were when the list was
   created. */
static void values_of_all_listed_sets_are_one_call(void **state)
{
    (void)state;
    commit_sets(0, MANY);
    IDataCollectorSetCollection *sets = list_of(L"Service\\" NAME L"-*");
    delete_test_sets();
    LONG before = calls;
    for (LONG i = 0; i < MANY; i++) {
        WCHAR name[64];
        _snwprintf(name, 64, NAME L"-%02d", (int)i);
        IDataCollectorSet *set = item_at(sets, i);
        assert_true(text_is(set, L"Name", name));
        assert_true(text_is(set, L"DescriptionUnresolved", i % 2 ? L"@%windir%\\no such file.dll,#1" : L"<\x4e2d>"));
        release(set);
    }
    assert_int_equal(calls - before, 1);
    for (LONG i = MANY; i-- > 0;) /* the sets have their values now */
        release(item_at(sets, i));
    assert_int_equal(calls - before, 1);
    release(sets);
}

/* Reads the sets in reverse order: each has its own values. */
static void listed_set_has_its_own_values(void **state)
{
    (void)state;
    commit_sets(0, FEW);
    IDataCollectorSetCollection *sets = list_of(L"Service\\" NAME L"-*");
    for (LONG i = FEW; i-- > 0;) {
        WCHAR name[64];
        _snwprintf(name, 64, NAME L"-%02d", (int)i);
        IDataCollectorSet *set = item_at(sets, i);
        assert_true(text_is(set, L"Name", name));
        assert_true(text_is(set, L"DescriptionUnresolved", i % 2 ? L"@%windir%\\no such file.dll,#1" : L"<\x4e2d>"));
        release(set);
    }
    release(sets);
}

/* A listed set equals the result of Query, and shows later changes of its state. */
static void listed_set_equals_query_result(void **state)
{
    (void)state;
    commit_sets(0, FEW);
    IDataCollectorSetCollection *sets = list_of(L"Service\\" NAME L"-*");
    assert_int_equal(number_of(sets, L"Count"), FEW);
    for (LONG i = 0; i < FEW; i++) {
        IDataCollectorSet *queried = new_set(), *listed = item_at(sets, i);
        WCHAR text[64];
        _snwprintf(text, 64, NAME L"-%02d", (int)i);
        BSTR name = SysAllocString(text), xml[2];
        assert_true(text_is(listed, L"Name", text));
        assert_true(text_is(listed, L"UserAccount", L"SYSTEM"));
        assert_ok(IDataCollectorSet_Query(queried, name, NULL));
        xml[0] = xml_of(queried);
        xml[1] = xml_of(listed);
        if (wcscmp(xml[0], xml[1]) != 0)
            fail_msg("%ls\n---\n%ls", xml[0], xml[1]);
        assert_int_equal(number_of(listed, L"SerialNumber"), 1);
        assert_ok(put(queried, L"SerialNumber", of_long(7)));
        assert_ok(commit(queried, text, plaModify, NULL));
        assert_int_equal(number_of(listed, L"SerialNumber"), 7);
        assert_int_equal(number_of(listed, L"Status"), plaStopped);
        assert_ok(call(listed, L"Delete"));
        assert_hr(IDataCollectorSet_Query(queried, name, NULL), PLA_E_DCS_NOT_FOUND);
        SysFreeString(xml[0]);
        SysFreeString(xml[1]);
        SysFreeString(name);
        release(listed);
        release(queried);
    }
    release(sets);
}

static void start_or_stop(IDispatch *set, const WCHAR *verb)
{
    VARIANT yes = {.vt = VT_BOOL};
    V_BOOL(&yes) = VARIANT_TRUE;
    assert_ok(invoke(set, verb, DISPATCH_METHOD, NULL, &yes, 1));
}

/* A program that shows a list reads the statuses one after the other, and needs no definitions for that. */
static void statuses_of_a_list_are_one_call(void **state)
{
    (void)state;
    commit_sets(0, MANY);
    IDataCollectorSetCollection *sets = list_of(L"Service\\" NAME L"-*");
    IDataCollectorSet *all[MANY];
    LONG before = calls;
    for (LONG i = 0; i < MANY; i++)
        all[i] = item_at(sets, i);
    for (LONG i = 0; i < MANY; i++)
        assert_int_equal(number_of(all[i], L"Status"), plaStopped);
    assert_int_equal(calls - before, 1);
    for (LONG i = 0; i < MANY; i++)
        release(all[i]);
    release(sets);
}

/* A status that was fetched together with another set's must not be shown once the status is known to have changed: by
   a verb of this process, or because the set was read again. */
static void listed_status_is_not_stale(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) { /* without collectors: two collectors would write one file */
        IDataCollectorSet *set = new_set();
        assert_ok(commit(set, i ? NAME L"-01" : NAME L"-00", plaCreateNew, NULL));
        release(set);
    }
    IDataCollectorSetCollection *sets = list_of(L"Service\\" NAME L"-*");
    IDataCollectorSet *first = item_at(sets, 0), *second = item_at(sets, 1), *other = new_set();
    IDataCollectorSet *at_server = create_at_server();
    BSTR names[] = {SysAllocString(NAME L"-00"), SysAllocString(NAME L"-01")};
    assert_ok(IDataCollectorSet_Query(other, names[1], NULL));
    assert_int_equal(number_of(first, L"Status"), plaStopped);
    start_or_stop((IDispatch *)other, L"Start");
    assert_int_equal(number_of(second, L"Status"), plaRunning);
    VARIANT query[] = {{.vt = VT_BSTR}, {.vt = VT_BSTR}};
    V_BSTR(&query[0]) = names[0];
    assert_ok(invoke(at_server, L"Query", DISPATCH_METHOD, NULL, query, 2));
    start_or_stop((IDispatch *)at_server, L"Start"); /* as another process would */
    assert_int_equal(number_of(first, L"Status"), plaRunning);
    start_or_stop((IDispatch *)at_server, L"Stop");
    start_or_stop((IDispatch *)other, L"Stop");
    SysFreeString(names[0]);
    SysFreeString(names[1]);
    release(at_server);
    release(other);
    release(second);
    release(first);
    release(sets);
}

/* A listed set requests only its own object from the server. */
static void listed_set_outlives_its_list(void **state)
{
    (void)state;
    commit_sets(0, FEW);
    IDataCollectorSetCollection *sets = list_of(L"Service\\" NAME L"-*");
    IDataCollectorSet *last = item_at(sets, FEW - 1), *first = item_at(sets, 0);
    release(sets);
    assert_ok(put(last, L"SerialNumber", of_long(9)));
    assert_ok(commit(last, NAME L"-02", plaModify, NULL));
    assert_int_equal(number_of(first, L"SerialNumber"), 1);
    assert_int_equal(number_of(last, L"SerialNumber"), 9);
    release(first);
    release(last);
}

int main(void)
{
    static const GUID extension = {0x6f1b2a53, 0x0c1e, 0x4e58, {0x9b, 0x0a, 0x51, 0x0e, 0x44, 0x7d, 0x36, 0x92}};
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(commit_is_one_call, forget),
        cmocka_unit_test_teardown(query_is_one_call, forget),
        cmocka_unit_test_teardown(list_calls_do_not_grow_with_sets, forget),
        cmocka_unit_test_teardown(values_of_all_listed_sets_are_one_call, forget),
        cmocka_unit_test_teardown(listed_set_has_its_own_values, forget),
        cmocka_unit_test_teardown(listed_set_equals_query_result, forget),
        cmocka_unit_test_teardown(statuses_of_a_list_are_one_call, forget),
        cmocka_unit_test_teardown(listed_status_is_not_stale, forget),
        cmocka_unit_test_teardown(listed_set_outlives_its_list, forget),
    };
    if (!client_begin(CLIENT_FACADE) || FAILED(CoRegisterChannelHook(&extension, &hook)))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return !client_end() && !failed ? 1 : failed;
}
