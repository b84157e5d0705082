/* SPDX-License-Identifier: MIT */
/* The five kinds of data collector and the data manager: conversion to XML and back, the issues that Commit reports,
   and the results of Start for sets that cannot run. */
#include "tests/com/client.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define NAME L"test-com-kinds"

/* Each kind with values other than the defaults, in Xml order. */
static const struct collector_kind {
    const WCHAR *element, *before, *own; /* `before` and `own`: values and XML before and after the members that all
                                            collectors have */
} kinds[] = {
    {L"PerformanceCounterDataCollector", L"0",
     L"<DataSourceName/><SampleInterval>2</SampleInterval><SegmentMaxRecords>9</SegmentMaxRecords>"
     L"<LogFileFormat>0</LogFileFormat><Counter>\\System\\Threads</Counter>"
     L"<CounterDisplayName>\\System\\Threads</CounterDisplayName>"},
    {L"TraceDataCollector", L"1",
     L"<Guid>{A68CA8B7-004F-D7B6-A698-07E2DE0F1F5E}</Guid><BufferSize>64</BufferSize><BuffersLost>0</BuffersLost>"
     L"<BuffersWritten>0</BuffersWritten><ClockType>2</ClockType><EventsLost>0</EventsLost>"
     L"<ExtendedModes>4194304</ExtendedModes><FlushTimer>3</FlushTimer><FreeBuffers>0</FreeBuffers>"
     L"<MaximumBuffers>20</MaximumBuffers><MinimumBuffers>4</MinimumBuffers><NumberOfBuffers>5</NumberOfBuffers>"
     L"<PreallocateFile>-1</PreallocateFile><ProcessMode>-1</ProcessMode>"
     L"<RealTimeBuffersLost>0</RealTimeBuffersLost><SessionName>S</SessionName><SessionThreadId>0</SessionThreadId>"
     L"<StreamMode>3</StreamMode><TraceDataProvider><DisplayName>P</DisplayName><FilterEnabled>-1</FilterEnabled>"
     L"<FilterType>1</FilterType><Level><Description>l</Description><ValueMapType>1</ValueMapType><Value>5</Value>"
     L"<ValueMapItem><Key>k</Key><Description>d</Description><Enabled>-1</Enabled><Value>5</Value></ValueMapItem>"
     L"</Level><KeywordsAny><Description>a</Description><ValueMapType>2</ValueMapType><Value>0x8000000000000001"
     L"</Value><ValueMapItem><Key/><Description/><Enabled>-1</Enabled><Value>0x8000000000000001</Value>"
     L"</ValueMapItem></KeywordsAny><KeywordsAll><Description/><ValueMapType>3</ValueMapType><Value>0x0</Value>"
     L"</KeywordsAll><Properties><Description/><ValueMapType>2</ValueMapType><Value>0x0</Value></Properties>"
     L"<Guid>{A68CA8B7-004F-D7B6-A698-07E2DE0F1F5D}</Guid><FilterData>31322E38</FilterData></TraceDataProvider>"},
    {L"ConfigurationDataCollector", L"2",
     L"<QueryNetworkAdapters>-1</QueryNetworkAdapters><RegistryKey>HKEY_LOCAL_MACHINE\\Software\\\\</RegistryKey>"
     L"<File>%windir%\\*.ini</File><ManagementQuery>root\\cimv2:SELECT * FROM Win32_Processor</ManagementQuery>"
     L"<FileMaxCount>1</FileMaxCount><FileMaxTotalSize>2</FileMaxTotalSize>"
     L"<FileMaxRecursiveDepth>3</FileMaxRecursiveDepth><RegistryMaxRecursiveDepth>4</RegistryMaxRecursiveDepth>"
     L"<SystemStateFile>state</SystemStateFile>"},
    {L"AlertDataCollector", L"3",
     L"<Alert>\\System\\Threads&gt;5.5</Alert><AlertDisplayName>\\System\\Threads&gt;5.5</AlertDisplayName>"
     L"<EventLog>-1</EventLog><SampleInterval>4294967295</SampleInterval><Task>T</Task>"
     L"<TaskRunAsSelf>-1</TaskRunAsSelf><TaskArguments>\\{name\\}</TaskArguments>"
     L"<TaskUserTextArguments>{value}</TaskUserTextArguments><TriggerDataCollectorSet>S</TriggerDataCollectorSet>"},
    {L"ApiTracingDataCollector", L"4",
     L"<LogApiNamesOnly>-1</LogApiNamesOnly><LogApisRecursively>-1</LogApisRecursively>"
     L"<ExePath>C:\\windows\\notepad.exe</ExePath><LogFilePath>n.etl</LogFilePath>"
     L"<IncludeModule>Kernel32</IncludeModule><IncludeApis>kernel32!Sleep</IncludeApis>"
     L"<ExcludeApis>kernel32!Beep</ExcludeApis>"},
};

static void write_xml(const struct collector_kind *k, WCHAR *out, size_t room)
{
    _snwprintf(out, room,
               L"<%ls><DataCollectorType>%ls</DataCollectorType><Name>K</Name><FileName>file</FileName>"
               L"<FileNameFormat>513</FileNameFormat><FileNameFormatPattern>yyyy</FileNameFormatPattern>"
               L"<LogAppend>-1</LogAppend><LogCircular>-1</LogCircular><LogOverwrite>-1</LogOverwrite>"
               L"<LatestOutputLocation/>%ls</%ls>",
               k->element, k->before, k->own, k->element);
}

/* Checks the issues of SetXml, and, if requested, that the object is unchanged. */
static ULONG set_xml(void *object, const WCHAR *xml)
{
    VARIANT text = of_text(xml), map;
    assert_ok(invoke(object, L"SetXml", DISPATCH_METHOD, &map, &text, 1));
    ULONG issues = number_of(V_DISPATCH(&map), L"Count");
    if (issues)
        print_map(V_DISPATCH(&map));
    VariantClear(&map);
    VariantClear(&text);
    return issues;
}

/* A collector created from the XML of another collector equals it, so an export of each kind can be imported. */
static void every_kind_survives_the_round_trip(void **state)
{
    IDataCollectorSet *set = new_set();
    WCHAR xml[4096];
    (void)state;
    for (LONG type = 0; type < (LONG)ARRAYSIZE(kinds); type++) {
        void *first = named_collector(set, type, L"first"), *second = named_collector(set, type, L"second");
        VARIANT out;
        write_xml(&kinds[type], xml, ARRAYSIZE(xml));
        assert_int_equal(set_xml(first, xml), 0);
        assert_true(text_is(first, L"Xml", xml));
        assert_ok(get(first, L"Xml", &out));
        assert_int_equal(set_xml(second, V_BSTR(&out)), 0);
        VariantClear(&out);
        assert_true(text_is(second, L"Xml", xml));
        release(second);
        release(first);
    }
    release(set);
}

/* Each kind's element creates a collector of that kind, and a set with all five is a valid template. */
static void every_kind_comes_from_xml(void **state)
{
    IDataCollectorSet *set = new_set(), *copy = new_set();
    IDataCollectorCollection *collectors = collectors_of(set), *copies = collectors_of(copy);
    WCHAR xml[4096];
    (void)state;
    for (LONG type = 0; type < (LONG)ARRAYSIZE(kinds); type++) {
        VARIANT collector, map, arguments[2] = {{.vt = VT_BSTR}, {.vt = VT_VARIANT | VT_BYREF, .pvarVal = &map}};
        write_xml(&kinds[type], xml, ARRAYSIZE(xml));
        V_BSTR(&arguments[0]) = SysAllocString(xml);
        VariantInit(&map);
        assert_ok(invoke(collectors, L"CreateDataCollectorFromXml", DISPATCH_METHOD, &collector, arguments, 2));
        assert_int_equal(number_of(V_DISPATCH(&map), L"Count"), 0);
        assert_int_equal(number_of(V_DISPATCH(&collector), L"DataCollectorType"), type);
        assert_true(text_is(V_DISPATCH(&collector), L"Xml", xml));
        _snwprintf(xml, ARRAYSIZE(xml), L"Kind %ld", type); /* names must be unique in a set */
        assert_ok(put(V_DISPATCH(&collector), L"Name", of_text(xml)));
        assert_ok(invoke(collectors, L"Add", DISPATCH_METHOD, NULL, &collector, 1));
        VariantClear(&collector);
        VariantClear(&map);
        VariantClear(&arguments[0]);
    }
    BSTR whole = xml_of(set);
    assert_int_equal(set_xml(copy, whole), 0);
    assert_int_equal(number_of(copies, L"Count"), 5);
    for (LONG type = 0; type < (LONG)ARRAYSIZE(kinds); type++) {
        void *one = item_at(collectors, type), *other = item_at(copies, type);
        VARIANT text;
        assert_ok(get(one, L"Xml", &text));
        assert_true(text_is(other, L"Xml", V_BSTR(&text)));
        assert_int_equal(number_of(other, L"Index"), type);
        VariantClear(&text);
        release(other);
        release(one);
    }
    SysFreeString(whole);
    release(copies);
    release(collectors);
    release(copy);
    release(set);
}

/* ---- issues that Commit reports ---- */

#define IGNORED   0x00300100
#define CONFLICT  PLA_E_PROPERTY_CONFLICT
#define FILE_ROWS L"FileName=f;FileNameFormat=2;FileNameFormatPattern=q;LogAppend=0;LogCircular=0;LogOverwrite=0"
/* Settings that have no effect on collectors without a file, or with a file named by another property. */
/* clang-format off */
#define NO_FILE                                                                                                        \
    {L"FileName", IGNORED}, {L"FileNameFormat", IGNORED}, {L"FileNameFormatPattern", IGNORED}, {L"LogAppend", IGNORED}, \
    {L"LogCircular", IGNORED}, {L"LogOverwrite", IGNORED}
#define OTHER_FILE                                                                                                     \
    {L"FileNameFormat", IGNORED}, {L"FileNameFormatPattern", IGNORED}, {L"LogAppend", IGNORED},                        \
    {L"LogOverwrite", IGNORED}, {L"LogCircular", IGNORED}
/* clang-format on */

struct note {
    const WCHAR *property;
    HRESULT value;
};
/* MS-PLA's tables of each kind, as behaviour 6 lists them. The test first puts "Property=value;..."; Commit reports
   only properties that were put. */
static const struct ignored {
    LONG type;
    const WCHAR *puts;
    struct note said[8]; /* exactly these issues */
} notes[] = {
    {plaPerformanceCounter, L"", {{0}}},
    {plaPerformanceCounter, L"LogCircular=0", {{L"LogCircular", IGNORED}}},
    {plaPerformanceCounter, L"LogOverwrite=1;LogAppend=0", {{L"LogAppend", IGNORED}}},
    {plaPerformanceCounter, L"LogFileFormat=0;LogAppend=0", {{L"LogAppend", IGNORED}}},
    {plaPerformanceCounter,
     L"LogFileFormat=2;LogCircular=0;LogOverwrite=0;LogAppend=0",
     {{L"LogCircular", IGNORED}, {L"LogOverwrite", IGNORED}, {L"LogAppend", IGNORED}, {L"DataSourceName", CONFLICT}}},
    {plaPerformanceCounter, L"LogCircular=1", {{L"LogCircular", CONFLICT}}},
    {plaPerformanceCounter, L"LogAppend=1;LogOverwrite=1", {{L"LogAppend", CONFLICT}}},
    {plaPerformanceCounter, L"FileNameFormat=1", {{L"FileNameFormatPattern", CONFLICT}}},
    {plaPerformanceCounter,
     L"FileNameFormat=1;FileNameFormatPattern=q",
     {{L"FileNameFormatPattern", OPENPLA_E_BAD_PATTERN}}},
    {plaTrace, L"", {{0}}},
    {plaTrace, L"FileNameFormat=1", {{L"FileNameFormatPattern", CONFLICT}}},
    {plaTrace, L"StreamMode=2", {{0}}},
    {plaTrace, L"StreamMode=2;" FILE_ROWS, {NO_FILE}},
    {plaConfiguration, L"", {{0}}},
    {plaConfiguration, FILE_ROWS, {{L"LogCircular", IGNORED}, {L"LogAppend", IGNORED}}},
    {plaAlert, L"", {{L"AlertThresholds", CONFLICT}}},
    {plaAlert, FILE_ROWS, {NO_FILE, {L"AlertThresholds", CONFLICT}}},
    {plaAlert, L"TaskArguments=a", {{L"TaskArguments", IGNORED}, {L"AlertThresholds", CONFLICT}}},
    {plaApiTrace, L"", {{L"ExePath", CONFLICT}}},
    {plaApiTrace, FILE_ROWS, {OTHER_FILE, {L"ExePath", CONFLICT}}},
    {plaApiTrace, L"ExePath=notepad.exe", {{L"ExePath", PLA_E_EXE_FULL_PATH_REQUIRED}}},
    {plaApiTrace, L"ExePath=C:\\no such.exe", {{L"ExePath", PLA_E_EXE_PATH_NOT_VALID}}},
    {plaApiTrace, L"ExePath=\\\\server\\share\\a.exe", {{L"ExePath", PLA_E_NETWORK_EXE_NOT_VALID}}},
};

static void put_all(void *object, const WCHAR *puts)
{
    WCHAR text[128], *pair, *next = text;
    wcscpy(text, puts);
    while ((pair = next) && *pair) {
        WCHAR *value = wcschr(pair, L'=');
        next = wcschr(pair, L';');
        if (next)
            *next++ = 0;
        *value++ = 0;
        assert_ok(put(object, pair, of_text(value)));
    }
}

/* Commit names each setting that has no effect or that contradicts another one, with its collector, and names nothing
   else. */
static void commit_reports_ignored_properties_of_each_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(notes); i++) {
        const struct ignored *r = &notes[i];
        IDataCollectorSet *set = new_set();
        IDataCollectorCollection *collectors = collectors_of(set);
        void *collector = named_collector(set, r->type, L"C");
        VARIANT v = of_object(collector);
        IValueMap *map;
        ULONG n = 0;
        put_all(collector, r->puts);
        assert_ok(invoke(collectors, L"Add", DISPATCH_METHOD, NULL, &v, 1));
        VariantClear(&v);
        assert_ok(commit(set, NAME, plaCreateOrModify | plaValidateOnly, &map));
        for (; n < 8 && r->said[n].property; n++) {
            WCHAR key[128];
            _snwprintf(key, 128, L"%ls[1]/%ls", kinds[r->type].element, r->said[n].property);
            if (!map_says(map, key, r->said[n].value)) {
                print_map(map);
                fail_msg("type %ld, %ls: %ls is missing", r->type, r->puts, key);
            }
        }
        if (number_of(map, L"Count") != n) {
            print_map(map);
            fail_msg("type %ld, %ls: %u notes expected", r->type, r->puts, (unsigned)n);
        }
        release(map);
        release(collector);
        release(collectors);
        release(set);
    }
}

static void *add_collector(IDataCollectorSet *set, LONG type, const WCHAR *name)
{
    IDataCollectorCollection *collectors = collectors_of(set);
    void *collector = named_collector(set, type, name);
    VARIANT v = of_object(collector);
    assert_ok(invoke(collectors, L"Add", DISPATCH_METHOD, NULL, &v, 1));
    VariantClear(&v);
    release(collectors);
    return collector;
}

/* If a function is both in the list of functions to log and in the list of functions not to log, Commit itself fails
   and returns no map (behaviour 3). */
static void contradictory_lists_fail_the_commit(void **state)
{
    const WCHAR *in[] = {L"kernel32!Sleep", L"kernel32!Beep"}, *out[] = {L"KERNEL32!beep"};
    IDataCollectorSet *set = new_set();
    void *collector = add_collector(set, plaApiTrace, L"A");
    IValueMap *map = (IValueMap *)set;
    (void)state;
    assert_ok(put(collector, L"IncludeApis", of_array(VT_BSTR, in, 2)));
    assert_ok(put(collector, L"ExcludeApis", of_array(VT_VARIANT, out, 1)));
    assert_hr(commit(set, NAME, plaCreateOrModify, &map), PLA_E_CONFLICT_INCL_EXCL_API);
    assert_null(map);
    assert_vtable_said("kernel32!Beep");
    assert_true(text_is(set, L"Name", L"")); /* nothing is stored, and the object is not bound */
    assert_ok(put(collector, L"ExcludeApis", of_array(VT_BSTR, out, 0)));
    assert_ok(commit(set, NAME, plaCreateOrModify, &map));
    release(map);
    release(collector);
    release(set);
}

/* ---- Start ---- */

static int forget(void **state)
{
    (void)state;
    delete_test_sets();
    return 0;
}

/* Start of a set that cannot run names the failing collector, and leaves neither a folder nor a run behind, even if an
   earlier collector was already open. */
static void start_names_api_collector_without_program(void **state)
{
    (void)state;
    for (LONG type = plaApiTrace; type <= plaApiTrace; type++) {
        IDataCollectorSet *set = new_set();
        WCHAR root[MAX_PATH], name[32];
        VARIANT wait = {.vt = VT_BOOL, .boolVal = VARIANT_TRUE};
        GetTempPathW(MAX_PATH - 64, root);
        _snwprintf(root + wcslen(root), 64, L"openpla-test-kinds-%lu-%ld", GetCurrentProcessId(), type);
        assert_true(CreateDirectoryW(root, NULL));
        _snwprintf(name, 32, L"Kind %ld", type);
        release(add_collector(set, type, name));
        assert_ok(put(set, L"RootPath", of_text(root)));
        assert_ok(put(set, L"Subdirectory", of_text(L"run")));
        assert_ok(commit(set, NAME, plaCreateOrModify, NULL));
        for (int again = 0; again < 2; again++) {
            char quoted[40];
            snprintf(quoted, sizeof(quoted), "'%ls'", name);
            assert_hr(invoke(set, L"Start", DISPATCH_METHOD, NULL, &wait, 1), PLA_E_PROPERTY_CONFLICT);
            assert_message(quoted);
            assert_int_equal(number_of(set, L"Status"), plaStopped);
            assert_hr(invoke(set, L"Stop", DISPATCH_METHOD, NULL, &wait, 1), PLA_E_DCS_NOT_RUNNING);
        }
        assert_true(RemoveDirectoryW(root)); /* it is empty */
        assert_true(text_is(set, L"LatestOutputLocation", L""));
        assert_int_equal(number_of(set, L"SerialNumber"), 1);
        assert_ok(call(set, L"Delete"));
        release(set);
    }
}

/* ---- the data manager ---- */

/* Action kinds that are not implemented must not report success. */
static void data_manager_reports_unsupported_actions(void **state)
{
    IDataCollectorSet *set = new_set();
    void *manager = member(set, L"DataManager");
    VARIANT run[2] = {of_long(plaCreateReport), of_text(L"")}, result;
    VARIANT extract[2] = {of_text(L"C:\\no such.cab"), of_text(L"C:\\none")};
    VARIANT shared[2] = {of_text(L"\\\\server\\share\\a.cab"), of_text(L"C:\\none")};
    VARIANT device[2] = {of_text(L"C:\\no such.cab"), of_text(L"\\\\.\\pipe\\none")};
    (void)state;
    assert_hr(invoke(manager, L"Run", DISPATCH_METHOD, &result, run, 2), PLA_E_DCS_NOT_FOUND); /* the set was never
                                                                                                  committed */
    assert_message("Run");
    V_I4(&run[0]) = 0x20;
    assert_hr(invoke(manager, L"Run", DISPATCH_METHOD, &result, run, 2), E_INVALIDARG);
    assert_message("Steps");
    assert_hr(invoke(manager, L"Extract", DISPATCH_METHOD, NULL, extract, 2), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_message("no such.cab");
    assert_hr(invoke(manager, L"Extract", DISPATCH_METHOD, NULL, device, 2), E_INVALIDARG);
    assert_message("DestinationPath");
    /* A server that opened the share would log on to it with its own account on behalf of any client. */
    if (!in_process) {
        assert_hr(invoke(manager, L"Extract", DISPATCH_METHOD, NULL, shared, 2), E_ACCESSDENIED);
        assert_message("CabFilename");
    }
    if (in_process) {
        assert_hr(heard(IDataManager_Run((IDataManager *)manager, plaCreateReport, NULL, NULL)), E_POINTER);
        assert_message("Errors");
    }
    for (int i = 0; i < 2; i++) {
        VariantClear(&extract[i]);
        VariantClear(&shared[i]);
        VariantClear(&device[i]);
    }
    VariantClear(&run[1]);
    release(manager);
    release(set);
}

/* The policy of the sets that Windows ships (behaviour 14), created through objects, survives Commit and Query. */
static void policies_and_schedules_are_stored(void **state)
{
    static const LONG policy[][2] = {{1, 3}, {56, 8}, {168, 26}};
    IDataCollectorSet *set = new_set(), *other = new_set();
    void *manager = member(set, L"DataManager"), *actions = member(manager, L"FolderActions");
    void *schedules = member(set, L"Schedules"), *schedule = member(schedules, L"CreateSchedule"), *found;
    VARIANT v, arguments[2] = {of_text(NAME), {.vt = VT_NULL}};
    (void)state;
    assert_ok(put(manager, L"Enabled", of_long(-1)));
    assert_ok(put(manager, L"Rules", of_text(L"<Rules><Logging level=\"15\" file=\"rules.log\"/></Rules>")));
    for (size_t i = 0; i < ARRAYSIZE(policy); i++) {
        void *action = member(actions, L"CreateFolderAction");
        assert_ok(put(action, L"Age", of_long(policy[i][0])));
        assert_ok(put(action, L"Actions", of_long(policy[i][1])));
        v = of_object(action);
        assert_ok(invoke(actions, L"Add", DISPATCH_METHOD, NULL, &v, 1));
        VariantClear(&v);
        release(action);
    }
    V_VT(&v) = VT_DATE;
    V_DATE(&v) = 45292.25; /* 1 January 2024, 6:00 */
    assert_ok(put(schedule, L"StartDate", v));
    assert_ok(put(schedule, L"StartTime", v));
    assert_ok(put(schedule, L"Days", of_long(plaEveryday)));
    v = of_object(schedule);
    assert_ok(invoke(schedules, L"Add", DISPATCH_METHOD, NULL, &v, 1));
    VariantClear(&v);
    assert_ok(commit(set, NAME, plaCreateOrModify, NULL));
    release(schedule);
    release(schedules);
    release(actions);
    release(manager);

    assert_ok(invoke(other, L"Query", DISPATCH_METHOD, NULL, arguments, 2));
    manager = member(other, L"DataManager");
    assert_int_equal(number_of(manager, L"Enabled"), 1);
    assert_true(text_is(manager, L"Rules", L"<Rules><Logging level=\"15\" file=\"rules.log\"/></Rules>"));
    actions = member(manager, L"FolderActions");
    assert_int_equal(number_of(actions, L"Count"), 3);
    for (size_t i = 0; i < ARRAYSIZE(policy); i++) {
        found = item_at(actions, (LONG)i);
        assert_int_equal(number_of(found, L"Age"), policy[i][0]);
        assert_int_equal(number_of(found, L"Actions"), policy[i][1]);
        release(found);
    }
    schedules = member(other, L"Schedules");
    assert_int_equal(number_of(schedules, L"Count"), 1);
    found = item_at(schedules, 0);
    assert_ok(get(found, L"StartDate", &v));
    assert_true(V_VT(&v) == VT_DATE && V_DATE(&v) == 45292);
    assert_ok(get(found, L"StartTime", &v));
    assert_true(V_VT(&v) == VT_DATE && V_DATE(&v) == 0.25);
    assert_ok(get(found, L"EndDate", &v));
    assert_int_equal(V_VT(&v), VT_EMPTY);
    assert_int_equal(number_of(found, L"Days"), plaEveryday);
    release(found);
    release(schedules);
    release(actions);
    release(manager);
    VariantClear(&arguments[0]);
    release(other);
    release(set);
}

int collector_kind_tests(void)
{
#define T(name) cmocka_unit_test_teardown(name, forget)
    static const struct CMUnitTest tests[] = {
        T(every_kind_survives_the_round_trip),
        T(every_kind_comes_from_xml),
        T(commit_reports_ignored_properties_of_each_kind),
        T(contradictory_lists_fail_the_commit),
        T(start_names_api_collector_without_program),
        T(data_manager_reports_unsupported_actions),
        T(policies_and_schedules_are_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
