/* SPDX-License-Identifier: MIT */
/* test_facade: tests that the objects that scripts get in their own process (DECISIONS 17) and the server's objects are
   the same sets. `test_facade die SET FOLDER` and `test_facade quit SET FOLDER` are clients that start a set and exit
   without releasing it; `test_facade survive SET FOLDER` is one that lives on when the server is killed
   (tests/fault/facade_server_killed.py).
 */
#include "tests/com/client.h"
#include "tests/unit/patience.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define NAME L"test-com-facade"

static WCHAR folder[MAX_PATH];

/* Creates the server's own object, as clients get it with CLSCTX_LOCAL_SERVER. */
static void *at_server(REFCLSID class_id, REFIID iid)
{
    void *object = NULL;
    assert_ok(CoCreateInstance(class_id, NULL, CLSCTX_LOCAL_SERVER, iid, &object));
    return object;
}

static IDataCollectorSet *set_at_server(void)
{
    return at_server(&CLSID_DataCollectorSet, &IID_IDataCollectorSet);
}

static HRESULT set_query(IDataCollectorSet *set, const WCHAR *name)
{
    VARIANT arguments[2] = {of_text(name), {.vt = VT_NULL}};
    HRESULT hr = invoke(set, L"Query", DISPATCH_METHOD, NULL, arguments, 2);
    VariantClear(&arguments[0]);
    return hr;
}

static HRESULT run(IDataCollectorSet *set, const WCHAR *method)
{
    return invoke(set, method, DISPATCH_METHOD, NULL, (VARIANT[]){of_long(-1)}, 1);
}

static HRESULT put_value(IDataCollectorSet *set, const WCHAR *key, const WCHAR *value)
{
    VARIANT pair[2] = {of_text(key), value ? of_text(value) : (VARIANT){.vt = VT_NULL}};
    HRESULT hr = invoke(set, L"SetValue", DISPATCH_METHOD, NULL, pair, 2);
    VariantClear(&pair[0]);
    VariantClear(&pair[1]);
    return hr;
}

static HRESULT get_value(IDataCollectorSet *set, const WCHAR *key, VARIANT *value)
{
    VARIANT name = of_text(key);
    HRESULT hr = invoke(set, L"GetValue", DISPATCH_METHOD, value, &name, 1);
    VariantClear(&name);
    return hr;
}

/* Creates a set that can run: one counter, with output in the tests' folder. */
static IDataCollectorSet *set_create_runnable(void)
{
    IDataCollectorSet *set = new_set();
    IPerformanceCounterDataCollector *collector = added_collector(set, L"C");
    assert_ok(put(collector, L"LogFileFormat", of_long(plaCommaSeparated)));
    assert_ok(put(collector, L"LogOverwrite", of_long(-1))); /* overwrites logs that runs of another test left */
    release(collector);
    assert_ok(put(set, L"RootPath", of_text(folder)));
    assert_ok(put(set, L"SubdirectoryFormat", of_long(plaSerialNumber)));
    return set;
}

/* Removes what an interrupted run of the tests left behind. */
static int forget_earlier(void **state)
{
    IDataCollectorSet *set = new_set();
    (void)state;
    if (SUCCEEDED(set_query(set, NAME))) {
        run(set, L"Stop");
        call(set, L"Delete");
    }
    release(set);
    return 0;
}

static int forget(void **state)
{
    (void)state;
    delete_test_sets();
    return 0;
}

static bool is_proxy(void *object)
{
    IUnknown *proxy;
    if (FAILED(IUnknown_QueryInterface((IUnknown *)object, &IID_IMultiQI, (void **)&proxy)))
        return false;
    release(proxy);
    return true;
}

/* CreateObject of the four classes must return objects that work without calls to another process. A client that
   requests the server, or a class of a namespace, must get the server. */
static void scripts_get_their_objects_in_process(void **state)
{
    static const struct {
        const WCHAR *program;
        bool proxy;
    } classes[] = {
        {L"PLA.DataCollectorSet", false},          {L"PLA.DataCollectorSetCollection", false},
        {L"PLA.TraceDataProvider", false},         {L"PLA.TraceDataProviderCollection", false},
        {L"PLA.ServerDataCollectorSet", true},     {L"PLA.ServerDataCollectorSetCollection", true},
        {L"PLA.SystemDataCollectorSet", true},     {L"PLA.TraceSession", true},
        {L"PLA.BootTraceSessionCollection", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(classes); i++) {
        IDispatch *object;
        CLSID id;
        assert_ok(CLSIDFromProgID(classes[i].program, &id));
        assert_ok(CoCreateInstance(&id, NULL, CLSCTX_ALL, &IID_IDispatch, (void **)&object));
        if (is_proxy(object) != classes[i].proxy)
            fail_msg("%ls is%s in this process", classes[i].program, classes[i].proxy ? "" : " not");
        release(object);
        object = at_server(&id, &IID_IDispatch);
        assert_true(is_proxy(object));
        release(object);
    }
}

static void assert_equal_sets(IDataCollectorSet *a, IDataCollectorSet *b)
{
    BSTR x = xml_of(a), y = xml_of(b);
    if (wcscmp(x, y) != 0)
        fail_msg("%ls\n---\n%ls", x, y);
    SysFreeString(x);
    SysFreeString(y);
}

/* One set from both sides: both ways to commit store the same set, and each side reads the other's changes. */
static void client_and_server_see_the_same_set(void **state)
{
    static const WCHAR *const keywords[] = {L"one", L"T\x00e4glich <&> \x4e2d"};
    IDataCollectorSet *mine = set_create_runnable(), *theirs = set_at_server();
    IDispatch *schedules = member(mine, L"Schedules"), *manager = member(mine, L"DataManager"),
              *actions = member(manager, L"FolderActions"), *schedule = member(schedules, L"CreateSchedule"),
              *action = member(actions, L"CreateFolderAction");
    VARIANT v = {.vt = VT_DATE};
    (void)state;
    assert_ok(put(mine, L"Keywords", of_array(VT_BSTR, keywords, 2)));
    assert_ok(put(mine, L"Description", of_text(L"@%windir%\\no such file.dll,#1")));
    assert_ok(put(mine, L"Security", of_text(L"O:BAG:BAD:(A;;FA;;;BA)")));
    assert_ok(put_value(mine, L"k", L"<v>"));
    V_DATE(&v) = 45000;
    assert_ok(put(schedule, L"StartDate", v));
    v = of_object(schedule);
    assert_ok(invoke(schedules, L"Add", DISPATCH_METHOD, NULL, &v, 1));
    VariantClear(&v);
    v = of_object(action);
    assert_ok(invoke(actions, L"Add", DISPATCH_METHOD, NULL, &v, 1));
    VariantClear(&v);
    for (LONG type = plaPerformanceCounter; type <= plaApiTrace; type++) {
        static const WCHAR *const names[] = {L"A", L"B", L"D", L"E", L"F"};
        IDispatch *collector = named_collector(mine, type, names[type]);
        IDataCollectorCollection *collectors = collectors_of(mine);

        v = of_object(collector);
        assert_ok(invoke(collectors, L"Add", DISPATCH_METHOD, NULL, &v, 1));
        VariantClear(&v);
        release(collector);
        release(collectors);
    }
    assert_ok(commit(mine, NAME, plaCreateNew, NULL));
    assert_ok(set_query(theirs, NAME));
    assert_equal_sets(mine, theirs);

    /* Removed settings are also removed in the server, not kept from the previous commit. */
    assert_ok(put(mine, L"Keywords", of_array(VT_BSTR, keywords, 0)));
    assert_ok(put_value(mine, L"k", NULL));
    assert_ok(call(schedules, L"Clear"));
    assert_ok(call(actions, L"Clear"));
    assert_ok(commit(mine, NAME, plaModify, NULL));
    assert_ok(set_query(theirs, NAME));
    assert_equal_sets(mine, theirs);
    assert_hr(get_value(theirs, L"k", &v), E_INVALIDARG);

    assert_ok(put(theirs, L"Duration", of_long(77)));
    assert_ok(put_value(theirs, L"t", L"theirs"));
    assert_ok(commit(theirs, NAME, plaModify, NULL));
    assert_int_equal(number_of(mine, L"Duration"), 0);
    assert_ok(set_query(mine, NAME));
    assert_int_equal(number_of(mine, L"Duration"), 77);
    assert_equal_sets(mine, theirs);
    release(action);
    release(schedule);
    release(actions);
    release(manager);
    release(schedules);
    release(theirs);
    release(mine);
}

/* Commit returns the same issues as the server's object for the same set, each exactly once. */
static void commit_reports_the_same_issues(void **state)
{
    IDataCollectorSet *sets[2] = {new_set(), set_at_server()};
    IValueMap *maps[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        release(added_collector(sets[i], L"C"));
        assert_ok(put(sets[i], L"SubdirectoryFormat", of_long(plaPattern)));
        assert_ok(put(sets[i], L"SubdirectoryFormatPattern", of_text(L"yyyyQ")));
        assert_ok(put(sets[i], L"Description", of_text(L"a\x0001 b"))); /* U+0001 cannot be written as XML */
        assert_ok(put(sets[i], L"TaskArguments", of_text(L"")));        /* equals the default, but was put: ignored */
        assert_ok(commit(sets[i], NAME, plaCreateOrModify, &maps[i]));
    }
    ULONG count = number_of(maps[0], L"Count");
    assert_true(count >= 3);
    assert_int_equal(number_of(maps[1], L"Count"), count);
    for (ULONG k = 0; k < count; k++)
        for (int text = 0; text < 2; text++) {
            IDispatch *items[2] = {item_at(maps[0], (LONG)k), item_at(maps[1], (LONG)k)};
            VARIANT said_by[2];
            for (int i = 0; i < 2; i++)
                assert_ok(get(items[i], text ? L"Description" : L"Key", &said_by[i]));
            assert_int_equal(wcscmp(V_BSTR(&said_by[0]), V_BSTR(&said_by[1])), 0);
            assert_int_equal(number_of(items[0], L"Value"), number_of(items[1], L"Value"));
            for (int i = 0; i < 2; i++) {
                VariantClear(&said_by[i]);
                release(items[i]);
            }
        }
    for (int i = 0; i < 2; i++) {
        release(maps[i]);
        release(sets[i]);
    }
}

/* The server's error texts reach the client's process, by either kind of call. */
static void server_error_messages_reach_the_client(void **state)
{
    IDataCollectorSet *set = set_create_runnable(), *second = new_set();
    BSTR text = NULL;
    IErrorInfo *info;
    (void)state;
    assert_hr(set_query(set, L"test-com-facade-none"), PLA_E_DCS_NOT_FOUND);
    assert_message("'Service\\test-com-facade-none'");
    assert_ok(commit(set, NAME, plaCreateNew, NULL));
    assert_hr(commit(second, NAME, plaCreateNew, NULL), PLA_E_DCS_ALREADY_EXISTS);
    assert_message("a data collector set of this name already exists");
    assert_hr(run(set, L"Stop"), PLA_E_DCS_NOT_RUNNING);
    assert_message("is not running");
    assert_ok(put(set, L"RootPath", of_text(L"C:\\no such folder\\test-com-facade")));
    assert_ok(commit(set, NAME, plaModify, NULL));
    assert_hr(IDataCollectorSet_Start(set, VARIANT_TRUE), HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND));
    assert_int_equal(GetErrorInfo(0, &info), S_OK);
    assert_ok(IErrorInfo_GetDescription(info, &text));
    assert_true(bstr_has(text, L"RootPath: the folder 'C:\\no such folder\\test-com-facade' does not exist"));
    release(info);
    release(second);
    release(set);
}

/* Every object that is bound to a set shows the current run, even if another client started it. */
static void status_is_live_for_every_client(void **state)
{
    IDataCollectorSet *starter = set_create_runnable(), *watcher = new_set(), *theirs = set_at_server();
    VARIANT v;
    (void)state;
    assert_ok(commit(starter, NAME, plaCreateNew, NULL));
    assert_ok(set_query(watcher, NAME));
    assert_ok(set_query(theirs, NAME));
    assert_int_equal(number_of(watcher, L"Status"), plaStopped);
    assert_ok(run(starter, L"Start"));
    assert_int_equal(number_of(starter, L"Status"), plaRunning);
    assert_int_equal(number_of(watcher, L"Status"), plaRunning);
    assert_int_equal(number_of(theirs, L"Status"), plaRunning);
    assert_hr(run(theirs, L"Start"), PLA_E_DCS_IN_USE);
    assert_hr(call(watcher, L"Delete"), PLA_E_DCS_IN_USE);
    assert_ok(get(watcher, L"LatestOutputLocation", &v));
    assert_true(V_BSTR(&v) && !_wcsnicmp(V_BSTR(&v), folder, wcslen(folder)));
    assert_true(text_is(theirs, L"LatestOutputLocation", V_BSTR(&v)));
    VariantClear(&v);
    IDataCollectorCollection *collectors = collectors_of(watcher);
    IDispatch *collector = item_at(collectors, 0);
    assert_ok(get(collector, L"LatestOutputLocation", &v));
    assert_non_null(wcsstr(V_BSTR(&v), L"\\C.csv"));
    VariantClear(&v);
    assert_ok(get_value(watcher, L"OpenPLA.Figures", &v));
    assert_non_null(wcsstr(V_BSTR(&v), L"C: Samples "));
    VariantClear(&v);
    assert_ok(run(theirs, L"Stop"));
    assert_ok(get_value(watcher, L"OpenPLA.Figures", &v));
    assert_true(bstr_is(V_BSTR(&v), L""));
    VariantClear(&v);
    assert_int_equal(number_of(starter, L"Status"), plaStopped);
    assert_int_equal(number_of(watcher, L"SerialNumber"), 2);
    assert_int_equal(number_of(starter, L"SerialNumber"), 2);
    assert_ok(get_value(watcher, L"OpenPLA.LastRunResult", &v));
    assert_true(bstr_is(V_BSTR(&v), L"0x00000000"));
    release(collector);
    release(collectors);
    release(theirs);
    release(watcher);
    release(starter);
}

/* The variables of the set host process are used to expand the next run's folder, not the client's. In the client,
   values that are put but not yet committed are used too. */
static void next_folder_is_computed_by_the_server(void **state)
{
    IDataCollectorSet *mine = new_set(), *theirs = set_at_server(), *later = new_set();
    IPerformanceCounterDataCollector *collector = added_collector(mine, L"C");
    VARIANT v;
    (void)state;
    SetEnvironmentVariableW(L"OPENPLA_TEST_WHERE", L"client");
    assert_ok(put(mine, L"RootPath", of_text(L"%SystemDrive%\\%OPENPLA_TEST_WHERE%")));
    assert_ok(put(mine, L"Subdirectory", of_text(L"run")));
    assert_true(text_is(mine, L"OutputLocation", L"C:\\client\\run"));
    assert_ok(commit(mine, NAME, plaCreateNew, NULL));
    assert_ok(set_query(theirs, NAME));
    assert_ok(set_query(later, NAME));
    assert_ok(get(theirs, L"OutputLocation", &v));
    assert_non_null(wcsstr(V_BSTR(&v), L"%OPENPLA_TEST_WHERE%"));
    assert_true(text_is(mine, L"OutputLocation", V_BSTR(&v)));
    assert_true(text_is(later, L"OutputLocation", V_BSTR(&v)));
    VariantClear(&v);
    assert_ok(get(collector, L"OutputLocation", &v));
    assert_non_null(wcsstr(V_BSTR(&v), L"%OPENPLA_TEST_WHERE%"));
    VariantClear(&v);
    assert_ok(put(mine, L"Subdirectory", of_text(L"other")));
    assert_true(text_is(mine, L"OutputLocation", L"C:\\client\\other"));
    SetEnvironmentVariableW(L"OPENPLA_TEST_WHERE", NULL);
    release(collector);
    release(later);
    release(theirs);
    release(mine);
}

/* A Commit of a set that was read before a run must not reset the run number: the next run would overwrite that run's
   files. The properties that were put are stored (DECISIONS 13). */
static void commit_keeps_the_run_number(void **state)
{
    IDataCollectorSet *set = set_create_runnable(), *old = new_set();
    (void)state;
    assert_ok(commit(set, NAME, plaCreateNew, NULL));
    assert_ok(set_query(old, NAME));
    for (int i = 0; i < 2; i++) {
        assert_ok(run(set, L"Start"));
        assert_ok(run(set, L"Stop"));
    }
    assert_ok(put(old, L"Duration", of_long(9)));
    assert_ok(commit(old, NAME, plaModify, NULL));
    assert_int_equal(number_of(old, L"SerialNumber"), 3);
    assert_int_equal(number_of(set, L"SerialNumber"), 3);
    assert_ok(put(old, L"SerialNumber", of_long(20)));
    assert_int_equal(number_of(old, L"SerialNumber"), 20);
    assert_int_equal(number_of(set, L"SerialNumber"), 3);
    assert_ok(commit(old, NAME, plaModify, NULL));
    assert_int_equal(number_of(set, L"SerialNumber"), 20);
    release(old);
    release(set);
}

/* After a script flushes its running set, the object must still be bound to the set, with its Status, and Stop must
   work. A flush through an unbound object does not bind it to the set. */
static void flush_keeps_the_set_bound(void **state)
{
    static const CommitMode modes[] = {plaFlushTrace, plaModify | plaFlushTrace, plaCreateOrModify | plaFlushTrace};
    IDataCollectorSet *set = set_create_runnable(), *other = new_set();
    (void)state;
    assert_ok(commit(set, NAME, plaCreateNew, NULL));
    assert_ok(run(set, L"Start"));
    for (size_t i = 0; i < ARRAYSIZE(modes); i++) {
        assert_ok(commit(set, NAME, modes[i], NULL));
        assert_int_equal(number_of(set, L"Status"), plaRunning);
    }
    assert_ok(commit(other, NAME, plaFlushTrace, NULL));
    assert_true(text_is(other, L"Name", L""));
    assert_hr(run(other, L"Stop"), PLA_E_DCS_NOT_RUNNING);
    assert_int_equal(number_of(set, L"Status"), plaRunning);
    assert_ok(run(set, L"Stop"));
    assert_int_equal(number_of(set, L"Status"), plaStopped);
    release(other);
    release(set);
}

/* MS-PLA 3.2.4.1.45: the object keeps the put account until the next Query, which returns the server's account. */
static void account_is_kept_until_the_next_query(void **state)
{
    VARIANT account[2] = {of_text(L"DOMAIN\\somebody"), of_text(L"secret")},
            none[2] = {{.vt = VT_NULL}, {.vt = VT_NULL}};
    IDataCollectorSet *set = new_set();
    IValueMap *map;
    (void)state;
    assert_true(text_is(set, L"UserAccount", L"SYSTEM"));
    assert_ok(invoke(set, L"SetCredentials", DISPATCH_METHOD, NULL, account, 2));
    assert_true(text_is(set, L"UserAccount", L"DOMAIN\\somebody"));
    assert_ok(commit(set, NAME, plaCreateNew, &map));
    assert_true(map_says(map, L"UserAccount", 0x00300100));
    release(map);
    assert_true(text_is(set, L"UserAccount", L"DOMAIN\\somebody"));
    assert_ok(set_query(set, NAME));
    assert_true(text_is(set, L"UserAccount", L"DOMAIN\\somebody")); /* the account in the set's registration */
    assert_ok(invoke(set, L"SetCredentials", DISPATCH_METHOD, NULL, none, 2));
    assert_true(text_is(set, L"UserAccount", L"SYSTEM"));
    assert_ok(commit(set, NAME, plaModify, NULL));
    assert_ok(set_query(set, NAME));
    assert_true(text_is(set, L"UserAccount", L"SYSTEM"));
    VariantClear(&account[0]);
    VariantClear(&account[1]);
    release(set);
}

/* The error for a name that belongs to no computer is immediate and contains the name; this computer's names select
   this computer. */
static void server_name_is_checked(void **state)
{
    IDataCollectorSet *set = new_set();
    IDataCollectorSetCollection *sets = create(&CLSID_DataCollectorSetCollection, &IID_IDataCollectorSetCollection);
    WCHAR own[MAX_COMPUTERNAME_LENGTH + 3] = L"\\\\", many[1025];
    DWORD size = MAX_COMPUTERNAME_LENGTH + 1;
    BSTR name = SysAllocString(NAME), unknown = SysAllocString(L"no-such-machine");
    IValueMap *map;
    (void)state;
    assert_true(GetComputerNameW(own + 2, &size));
    BSTR mine = SysAllocString(own);
    wmemset(many, L'a', 1024);
    many[1024] = 0;
    BSTR too_long = SysAllocString(many);
    assert_ok(commit(set, NAME, plaCreateNew, NULL));
    assert_ok(IDataCollectorSet_Commit(set, name, mine, plaModify, &map));
    release(map);
    assert_true(text_is(set, L"Server", own));
    assert_int_equal(number_of(set, L"Status"), plaStopped);
    assert_hr(heard(IDataCollectorSet_Query(set, name, unknown)), HRESULT_FROM_WIN32(ERROR_BAD_NETPATH));
    assert_message("no-such-machine");
    assert_hr(heard(IDataCollectorSet_Commit(set, name, unknown, plaModify, &map)),
              HRESULT_FROM_WIN32(ERROR_BAD_NETPATH));
    assert_message("no-such-machine");
    assert_hr(heard(IDataCollectorSetCollection_GetDataCollectorSets(sets, unknown, NULL)),
              HRESULT_FROM_WIN32(ERROR_BAD_NETPATH));
    assert_message("no-such-machine");
    assert_hr(heard(IDataCollectorSet_Commit(set, name, too_long, plaModify, &map)), E_INVALIDARG);
    assert_message("1024");
    assert_hr(heard(IDataCollectorSet_Query(set, name, too_long)), E_INVALIDARG);
    assert_message("1024");
    too_long[1023] = 0; /* one character less: a valid name, but no computer has it */
    SysReAllocString(&too_long, too_long);
    assert_hr(heard(IDataCollectorSet_Query(set, name, too_long)), HRESULT_FROM_WIN32(ERROR_BAD_NETPATH));
    assert_true(text_is(set, L"Server", own)); /* unchanged */
    SysFreeString(name);
    SysFreeString(unknown);
    SysFreeString(mine);
    SysFreeString(too_long);
    release(sets);
    release(set);
}

/* The namespaces' rules apply: each rejects the same things with the same message. */
static void namespaces_keep_their_rules(void **state)
{
    IDataCollectorSet *set = new_set(), *boot = new_set(), *session = new_set();
    (void)state;
    assert_ok(set_query(set, L"System\\System Performance"));
    assert_hr(commit(set, L"System\\System Performance", plaModify, NULL), E_NOTIMPL);
    assert_message("read-only");
    assert_hr(call(set, L"Delete"), E_ACCESSDENIED);
    assert_hr(set_query(set, L"Service\\" NAME), E_NOINTERFACE);
    assert_message("System");

    assert_hr(commit(session, L"Session\\test-com-facade", plaCreateNew, NULL), PLA_E_DCS_SINGLETON_REQUIRED);
    for (int i = 0; i < 2; i++) {
        IDataCollectorSet *owner = i ? session : boot;
        IDataCollectorCollection *collectors = collectors_of(owner);
        IDispatch *trace = named_collector(owner, plaTrace, L"T");
        VARIANT v = of_object(trace);
        assert_ok(invoke(collectors, L"Add", DISPATCH_METHOD, NULL, &v, 1));
        VariantClear(&v);
        release(trace);
        release(collectors);
    }
    assert_ok(commit(boot, L"Autosession\\test-com-facade", plaCreateNew, NULL));
    assert_int_equal(number_of(boot, L"Status"), plaUndefined);
    assert_hr(run(boot, L"Start"), E_NOTIMPL);
    assert_hr(commit(session, L"Session\\test-com-facade", plaModify, NULL), PLA_E_DCS_NOT_FOUND);
    assert_ok(commit(session, L"Session\\test-com-facade", plaCreateNew, NULL));
    assert_ok(commit(session, L"Session\\test-com-facade", plaModify, NULL));
    assert_hr(set_query(session, L"Session\\test-com-facade"), PLA_E_DCS_NOT_FOUND);
    release(session);
    release(boot);
    release(set);
}

/* Creates a session set in the server, and returns the event providers of its trace collector. */
static IDispatch *providers_at_server(IDataCollectorSet **session)
{
    *session = create(&CLSID_TraceSession, &IID_IDataCollectorSet);
    assert_true(is_proxy(*session));
    IDataCollectorCollection *collectors = collectors_of(*session);
    IDispatch *trace = named_collector(*session, plaTrace, L"T");
    VARIANT v = of_object(trace);
    assert_ok(invoke(collectors, L"Add", DISPATCH_METHOD, NULL, &v, 1));
    VariantClear(&v);
    IDispatch *providers = member(trace, L"TraceDataProviders");
    release(trace);
    release(collectors);
    return providers;
}

/* Event provider objects are created in the client's process, and session sets in the server. The set must accept
   providers created here, with all their values; the error for other objects names the reason. */
static void providers_cross_to_the_server(void **state)
{
    IDataCollectorSet *session, *mine = new_set();
    IDispatch *there = providers_at_server(&session), *item, *level;
    IDispatch *provider = create(&CLSID_TraceDataProvider, &IID_IDispatch),
              *all = create(&CLSID_TraceDataProviderCollection, &IID_IDispatch);
    IDataCollectorCollection *collectors = collectors_of(mine);
    VARIANT v, bytes = {.vt = VT_ARRAY | VT_UI1}, server = {.vt = VT_NULL}, value;
    (void)state;
    assert_false(is_proxy(provider));
    V_ARRAY(&bytes) = SafeArrayCreateVector(VT_UI1, 0, 3);
    assert_ok(put(provider, L"DisplayName", of_text(L"Mine \x4e2d")));
    assert_ok(put(provider, L"Guid", of_text(L"{E4D53F84-7DE3-11D8-9435-505054503030}")));
    assert_ok(put(provider, L"FilterEnabled", of_long(-1)));
    assert_ok(put(provider, L"FilterData", bytes));
    level = member(provider, L"Level");
    assert_ok(put(level, L"Description", of_text(L"how much")));
    assert_ok(put(level, L"Value", of_long(4)));
    release(level);
    v = of_object(provider);
    assert_ok(invoke(there, L"Add", DISPATCH_METHOD, NULL, &v, 1));
    assert_hr(invoke(there, L"Add", DISPATCH_METHOD, NULL, &v, 1), PLA_E_NO_DUPLICATES);
    VariantClear(&v);
    item = item_at(there, 0);
    assert_true(is_proxy(item));
    assert_true(text_is(item, L"DisplayName", L"Mine \x4e2d"));
    assert_true(text_is(item, L"Guid", L"{E4D53F84-7DE3-11D8-9435-505054503030}"));
    assert_int_equal(number_of(item, L"FilterEnabled"), 1);
    assert_ok(get(item, L"FilterData", &v));
    assert_int_equal(V_ARRAY(&v)->rgsabound[0].cElements, 3);
    VariantClear(&v);
    level = member(item, L"Level");
    assert_true(text_is(level, L"Description", L"how much"));
    assert_ok(get(level, L"Value", &value));
    assert_int_equal(V_UI8(&value), 4);
    release(level);

    assert_ok(invoke(all, L"GetTraceDataProviders", DISPATCH_METHOD, NULL, &server, 1));
    v = of_object(all);
    assert_ok(invoke(there, L"AddRange", DISPATCH_METHOD, NULL, &v, 1));
    assert_int_equal(number_of(there, L"Count"), 1 + number_of(all, L"Count"));
    VariantClear(&v);
    release(item);
    item = item_at(there, 1);
    level = member(item, L"KeywordsAny");
    assert_true(number_of(level, L"Count") > 20);
    release(level);
    assert_ok(put(provider, L"DisplayName", of_text(L"Renamed")));
    v = of_object(provider);
    assert_ok(invoke(item, L"Resolve", DISPATCH_METHOD, NULL, &v, 1));
    VariantClear(&v);
    assert_true(text_is(item, L"DisplayName", L"Renamed"));
    release(item);

    /* A collector belongs to its set, and a set to its stored definition, so a copy is rejected. */
    item = named_collector(session, plaTrace, L"U");
    v = of_object(item);
    assert_hr(invoke(collectors, L"Add", DISPATCH_METHOD, NULL, &v, 1), E_INVALIDARG);
    assert_message("Add: the object does not belong to this server");
    VariantClear(&v);
    release(item);
    VariantClear(&bytes);
    release(collectors);
    release(all);
    release(provider);
    release(there);
    release(session);
    release(mine);
}

static DWORD start_self(const WCHAR *mode)
{
    WCHAR program[MAX_PATH], line[3 * MAX_PATH];
    STARTUPINFOW startup = {.cb = sizeof(startup)};
    PROCESS_INFORMATION process;
    DWORD code = 1;
    GetModuleFileNameW(NULL, program, MAX_PATH);
    _snwprintf(line, ARRAYSIZE(line), L"\"%ls\" %ls " NAME L" \"%ls\"", program, mode, folder);
    BOOL started = FALSE;
    /* Under Wine, about one process in a thousand crashes before its program runs. */
    for (int i = 0; !started && i < 5; i++) {
        started = CreateProcessW(program, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &process);
        if (!started && GetLastError() != ERROR_INTERNAL_ERROR)
            break;
    }
    assert_true(started);
    WaitForSingleObject(process.hProcess, PATIENCE_MS);
    GetExitCodeProcess(process.hProcess, &code);
    CloseHandle(process.hThread);
    CloseHandle(process.hProcess);
    return code;
}

/* The process that collects was started by the server, not by the script. */
static void set_keeps_running_after_its_script_exits(void **state)
{
    static const WCHAR *const ways[] = {L"die", L"quit"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        IDataCollectorSet *set = new_set();
        assert_int_equal(start_self(ways[i]), 9);
        assert_ok(set_query(set, NAME));
        assert_int_equal(number_of(set, L"Status"), plaRunning);
        assert_ok(run(set, L"Stop"));
        assert_int_equal(number_of(set, L"Status"), plaStopped);
        assert_ok(call(set, L"Delete"));
        release(set);
    }
}

/* ---- separate client processes ---- */

/* WScript.Quit ends a script like ExitProcess: without releasing its objects. */
static int start_and_leave(const WCHAR *name, bool quit)
{
    IDataCollectorSet *set = set_create_runnable();
    if (FAILED(commit(set, name, plaCreateNew, NULL)) || FAILED(run(set, L"Start")))
        return 1;
    if (quit)
        ExitProcess(9);
    TerminateProcess(GetCurrentProcess(), 9);
    return 1;
}

static void mark(const WCHAR *name)
{
    WCHAR path[MAX_PATH];
    _snwprintf(path, MAX_PATH, L"%ls\\%ls", folder, name);
    CloseHandle(CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL));
}

static void wait_for(const WCHAR *name)
{
    WCHAR path[MAX_PATH];
    _snwprintf(path, MAX_PATH, L"%ls\\%ls", folder, name);
    for (int i = 0; i < PATIENCE_MS / 100 && GetFileAttributesW(path) == INVALID_FILE_ATTRIBUTES; i++)
        Sleep(100);
}

static void say(const char *what, HRESULT hr)
{
    printf("%s: 0x%08lX%s%s\n", what, (unsigned long)hr, FAILED(hr) ? " " : "", FAILED(hr) ? said : "");
    fflush(stdout);
}

/* Prints each call's result before and after the server is killed. */
static int server_survives(const WCHAR *name)
{
    IDataCollectorSet *set = set_create_runnable();
    VARIANT v;
    say("Commit", commit(set, name, plaCreateOrModify, NULL));
    say("Start", run(set, L"Start"));
    mark(L"started");
    wait_for(L"killed");
    say("Duration", get(set, L"Duration", &v));
    say("Status", get(set, L"Status", &v));
    printf("%ld\n", V_I4(&v));
    say("Commit", commit(set, name, plaModify | plaUpdateRunningInstance, NULL));
    say("Stop", run(set, L"Stop"));
    say("Delete", call(set, L"Delete"));
    release(set);
    return !client_end();
}

static int client_create(const char *mode, const char *name, const char *where)
{
    WCHAR wide[64] = {0};
    MultiByteToWideChar(CP_ACP, 0, name, -1, wide, 63);
    MultiByteToWideChar(CP_ACP, 0, where, -1, folder, MAX_PATH - 1);
    if (!strcmp(mode, "survive"))
        return server_survives(wide);
    return start_and_leave(wide, !strcmp(mode, "quit"));
}

int main(int argc, char **argv)
{
#define T(name) cmocka_unit_test_teardown(name, forget)
    static const struct CMUnitTest tests[] = {
        T(scripts_get_their_objects_in_process),
        T(client_and_server_see_the_same_set),
        T(commit_reports_the_same_issues),
        T(server_error_messages_reach_the_client),
        T(status_is_live_for_every_client),
        T(next_folder_is_computed_by_the_server),
        T(commit_keeps_the_run_number),
        T(account_is_kept_until_the_next_query),
        T(server_name_is_checked),
        T(namespaces_keep_their_rules),
        T(providers_cross_to_the_server),
        T(set_keeps_running_after_its_script_exits),
        T(flush_keeps_the_set_bound),
    };
#undef T
    WCHAR temporary[MAX_PATH];
    int failed;

    if (!client_begin(CLIENT_FACADE))
        return 1;
    if (argc == 4)
        return client_create(argv[1], argv[2], argv[3]);
    GetTempPathW(MAX_PATH, temporary);
    _snwprintf(folder, MAX_PATH, L"%lstest-com-facade-%lu-%lx", temporary, GetCurrentProcessId(), GetTickCount());
    if (!CreateDirectoryW(folder, NULL))
        return 1;
    failed = cmocka_run_group_tests(tests, forget_earlier, NULL);
    remove_tree(folder);
    if (!client_end() && !failed)
        failed = 1;
    return failed;
}
