/* SPDX-License-Identifier: MIT */
/* Makes each allocation fail in turn in a client's set: its values and its binding stay unchanged, and the server's
   work is done completely or not at all. It also tests a foreign server. The DLL's own code is linked in; the server is
   the registered one. */
#include "com/facade/facade.h"
#include "com/facade/own_members.h"
#include "com/facade/server_call.h"
#include "com/server/server.h"
#include "engine/base/memory.h"
#include "engine/base/security.h"
#include "engine/pla/sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

#define NAME "test-facade-fault"
enum { MOST = 3000 };

/* Returns the next allocation to fail: at first each one, then fewer and fewer, because the later ones repeat for each
   item of a list. */
static unsigned next(unsigned n)
{
    return n + 1 + n / 16;
}

static struct object *new_set(void)
{
    static const char xml[] =
        "<DataCollectorSet><Description>before</Description><Keyword>k</Keyword><PerformanceCounterDataCollector>"
        "<Name>C</Name><LogCircular>-1</LogCircular><Counter>\\System\\Threads</Counter>"
        "</PerformanceCounterDataCollector><Value name=\"n\">v</Value></DataCollectorSet>";
    struct object *set, *issues;
    assert_int_equal(facade_set_create(NULL, &set), S_OK);
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(set_from_xml(set, xml, strlen(xml), issues), S_OK);
    object_release(issues);
    return set;
}

static HRESULT set_commit_changes(struct object *set, uint32_t mode)
{
    struct object *issues;
    HRESULT hr = issues_create(NULL, &issues);
    if (SUCCEEDED(hr))
        hr = set_commit(set, &caller_self, NAME, "", mode, issues);
    if (SUCCEEDED(hr))
        assert_true(collection_count(issues) > 0);
    object_release(issues);
    return hr;
}

static int set_forget(void **state)
{
    struct object *set;
    (void)state;
    memory_fail_at(0);
    assert_int_equal(facade_set_create(NULL, &set), S_OK);
    if (SUCCEEDED(set_query(set, &caller_self, NAME, "")))
        set_delete(set, &caller_self);
    object_release(set);
    return 0;
}

static void commit_is_complete_or_has_no_effect(void **state)
{
    unsigned failures = 0;
    bool reached = true;
    (void)state;
    for (unsigned n = 1; reached && n < MOST; n = next(n)) {
        struct object *set = new_set(), *other;
        HRESULT hr;
        memory_fail_at(n);
        hr = set_commit_changes(set, SETS_CREATE_NEW);
        reached = memory_count() >= n;
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
        failures += hr == E_OUTOFMEMORY;
        assert_int_equal(set_of(set)->space != NULL, hr == S_OK);
        assert_string_equal(set_of(set)->Name, hr == S_OK ? NAME : "");
        assert_int_equal(facade_set_create(NULL, &other), S_OK);
        assert_int_equal(set_query(other, &caller_self, NAME, ""), hr == S_OK ? S_OK : PLA_E_DCS_NOT_FOUND);
        if (hr == S_OK)
            assert_int_equal(set_delete(set, &caller_self), S_OK);
        object_release(other);
        object_release(set);
    }
    assert_false(reached);
    assert_true(failures > 20);
}

static void query_leaves_the_object_as_it_was(void **state)
{
    struct object *stored = new_set();
    unsigned failures = 0;
    bool reached = true;
    (void)state;
    assert_int_equal(object_put_text(stored, &stored->class->properties[IDataCollectorSet_Description], "stored"),
                     S_OK);
    assert_int_equal(set_commit_changes(stored, SETS_CREATE_NEW), S_OK);
    for (unsigned n = 1; reached && n < MOST; n = next(n)) {
        struct object *set = new_set();
        HRESULT hr;
        memory_fail_at(n);
        hr = set_query(set, &caller_self, NAME, "");
        reached = memory_count() >= n;
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
        failures += hr == E_OUTOFMEMORY;
        assert_string_equal(set_of(set)->Description, hr == S_OK ? "stored" : "before");
        assert_int_equal(set_of(set)->space != NULL, hr == S_OK);
        object_release(set);
    }
    assert_false(reached);
    assert_true(failures > 20);
    object_release(stored);
}

static HRESULT read_properties(struct object *set)
{
    static const int rows[] = {IDataCollectorSet_Status, IDataCollectorSet_SerialNumber,
                               IDataCollectorSet_LatestOutputLocation};
    const struct property *latest = class_property(&performance_counter_collector_class, "LatestOutputLocation");
    struct object *collector;
    struct value v;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < 3; i++) {
        hr = object_get(set, &set->class->properties[rows[i]], &v);
        if (SUCCEEDED(hr))
            value_free(&v);
    }
    if (SUCCEEDED(hr))
        hr = collection_item(set_of(set)->DataCollectors, 0, &collector);
    if (SUCCEEDED(hr)) {
        hr = object_get(collector, latest, &v);
        if (SUCCEEDED(hr))
            value_free(&v);
        object_release(collector);
    }
    return hr;
}

static void live_properties_and_lists_fail_in_order(void **state)
{
    struct object *set = new_set(), *sets;
    unsigned failures = 0;
    bool reached = true;
    (void)state;
    assert_int_equal(set_commit_changes(set, SETS_CREATE_NEW), S_OK);
    for (unsigned n = 1; reached && n < MOST; n = next(n)) {
        memory_fail_at(n);
        HRESULT hr = read_properties(set);
        reached = memory_count() >= n;
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
        failures += hr == E_OUTOFMEMORY;
    }
    assert_false(reached);
    assert_true(failures > 10);
    assert_int_equal(facade_collection_create(NULL, &sets), S_OK);
    assert_int_equal(sets_find(sets, &caller_self, "", "Service\\" NAME), S_OK);
    reached = true;
    for (unsigned n = 1; reached && n < MOST; n = next(n)) {
        memory_fail_at(n);
        HRESULT hr = sets_find(sets, &caller_self, "", "Service\\" NAME);
        reached = memory_count() >= n;
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
        assert_int_equal(collection_count(sets), 1); /* the former contents are kept */
    }
    assert_false(reached);
    reached = true;
    for (unsigned n = 1; reached && n < MOST; n = next(n)) { /* the status of a listed set, which is read together with
                                                                the statuses of the other sets */
        struct object *listed;
        struct value v;
        assert_int_equal(sets_find(sets, &caller_self, "", "Service\\" NAME), S_OK);
        assert_int_equal(collection_item(sets, 0, &listed), S_OK);
        memory_fail_at(n);
        HRESULT hr = object_get(listed, &listed->class->properties[IDataCollectorSet_Status], &v);
        reached = memory_count() >= n;
        memory_fail_at(0);
        assert_true(hr == E_OUTOFMEMORY || (hr == S_OK && v.u32 == 0));
        object_release(listed);
    }
    assert_false(reached);
    object_release(sets);
    object_release(set);
}

/* ---- a server with only the members that the specification defines ---- */

struct other_server {
    IDispatch iface;
    IDispatch *ours; /* OpenPLA's object that serves the calls */
    unsigned calls;
};

static HRESULT STDMETHODCALLTYPE other_query(IDispatch *This, REFIID iid, void **out)
{
    *out = IsEqualIID(iid, &IID_IUnknown) || IsEqualIID(iid, &IID_IDispatch) ? This : NULL;
    return *out ? S_OK : E_NOINTERFACE;
}

static ULONG STDMETHODCALLTYPE other_count(IDispatch *This)
{
    (void)This;
    return 2;
}

static HRESULT STDMETHODCALLTYPE other_invoke(IDispatch *This, DISPID id, REFIID iid, LCID lcid, WORD flags,
                                              DISPPARAMS *params, VARIANT *result, EXCEPINFO *exception, UINT *bad)
{
    struct other_server *other = (struct other_server *)This;
    if (id == OWN_WHOLE_COMMIT)
        return DISP_E_MEMBERNOTFOUND;
    other->calls++;
    return IDispatch_Invoke(other->ours, id, iid, lcid, flags, params, result, exception, bad);
}

static IDispatchVtbl other_vtable = {
    .QueryInterface = other_query, .AddRef = other_count, .Release = other_count, .Invoke = other_invoke};

/* Returns the issues that the server reports for a set with credentials. Stores nothing. */
static struct object *issues_of(IDispatch *set)
{
    char *masked;
    assert_int_equal(secret_mask("password secret\n", &masked), S_OK);
    const struct whole_commit what = {
        .xml = "<DataCollectorSet><PerformanceCounterDataCollector><Name>C</Name><LogCircular>-1</LogCircular>"
               "<Counter>no path</Counter></PerformanceCounterDataCollector></DataCollectorSet>",
        .name = NAME,
        .user = "somebody",
        .password = "secret",
        .masked = masked,
        .mode = SETS_CREATE_NEW | SETS_VALIDATE_ONLY};
    struct object *issues;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(whole_commit_ask(set, &what, issues), S_OK);
    memory_free(masked);
    return issues;
}

static void foreign_server_is_called_by_specified_members(void **state)
{
    struct other_server other = {{&other_vtable}, NULL, 0};
    IDispatch *set;
    bool known = false;
    (void)state;
    assert_int_equal(server_create(peer_class_of("Service", false), NULL, &set), S_OK);
    assert_int_equal(server_create(peer_class_of("Service", false), NULL, &other.ours), S_OK);
    struct object *ours = issues_of(set), *theirs = issues_of(&other.iface), **items;
    size_t count;
    assert_int_equal(other.calls, 3);
    assert_int_equal(collection_snapshot(ours, &items, &count), S_OK);
    assert_int_equal(collection_count(theirs), count);
    assert_true(count > 1);
    for (size_t i = 0; i < count; i++) {
        const struct value_map_item *item = (const struct value_map_item *)items[i];
        assert_true(item->Description[0]);
        assert_int_equal(issues_has(theirs, (HRESULT)item->Value.integer, item->Key, &known), S_OK);
        assert_true(known);
    }
    assert_int_equal(issues_has(theirs, PLA_S_PROPERTY_IGNORED, "UserAccount", &known), S_OK);
    assert_true(known); /* the server received the credentials */
    objects_release(items, count);
    object_release(theirs);
    object_release(ours);
    IDispatch_Release(other.ours);
    IDispatch_Release(set);
}

/* Any client can call this member by its DISPID. */
static void invalid_whole_commit_is_rejected(void **state)
{
    VARIANT arguments[5] = {{.vt = VT_I4}}, answer; /* in reverse: mode, password, user, name, xml */
    DISPPARAMS params = {.rgvarg = arguments, .cArgs = 5};
    IDispatch *set;
    (void)state;
    assert_int_equal(server_create(peer_class_of("Service", false), NULL, &set), S_OK);
    for (int missing = 0; missing < 5; missing++) {
        for (int i = 1; i < 5; i++) {
            V_VT(&arguments[i]) = VT_BSTR;
            V_BSTR(&arguments[i]) = SysAllocString(i == 4 ? L"<DataCollectorSet/>" : L"test-facade-fault");
        }
        V_VT(&arguments[0]) = VT_I4;
        V_I4(&arguments[0]) = SETS_CREATE_NEW;
        VariantClear(&arguments[missing]);
        VariantInit(&answer);
        assert_int_equal(IDispatch_Invoke(set, OWN_WHOLE_COMMIT, &IID_NULL, LOCALE_NEUTRAL, DISPATCH_METHOD, &params,
                                          &answer, NULL, NULL),
                         DISP_E_TYPEMISMATCH);
        for (int i = 0; i < 5; i++)
            VariantClear(&arguments[i]);
    }
    params.cArgs = 0;
    assert_int_equal(IDispatch_Invoke(set, OWN_WHOLE_COMMIT, &IID_NULL, LOCALE_NEUTRAL, DISPATCH_METHOD, &params,
                                      &answer, NULL, NULL),
                     DISP_E_MEMBERNOTFOUND);
    IDispatch_Release(set);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(commit_is_complete_or_has_no_effect, set_forget, set_forget),
        cmocka_unit_test_setup_teardown(query_leaves_the_object_as_it_was, set_forget, set_forget),
        cmocka_unit_test_setup_teardown(live_properties_and_lists_fail_in_order, set_forget, set_forget),
        cmocka_unit_test(foreign_server_is_called_by_specified_members),
        cmocka_unit_test_setup_teardown(invalid_whole_commit_is_rejected, set_forget, set_forget),
    };
    int failed;
    if (FAILED(CoInitializeEx(NULL, COINIT_MULTITHREADED)))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    CoUninitialize();
    return failed;
}
