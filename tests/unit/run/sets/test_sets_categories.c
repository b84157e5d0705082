/* SPDX-License-Identifier: MIT */
/* The five namespaces: the names that each class accepts, the contents of its sets, and the supported verbs. MS-PLA
   3.2.1, 2.2.2.11; behaviour 1, 4, 6. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/registry.h"
#include "engine/etw/autologger.h"
#include "engine/pla/sets.h"
#include "tests/unit/own_directory.h"
#include "tests/unit/run/run_fixture.h"
#include "tests/unit/scratch_folder.h"

#include <string.h>

enum { CREATE = 1, MODIFY = 2, UPDATE_RUNNING = 0x10, VALIDATE_ONLY = 0x1000 }; /* CommitMode */

static struct object *new_set(const char *category)
{
    struct object *set;
    assert_int_equal(sets_create(category, &set), S_OK);
    return set;
}

static struct object *collectors_of(struct object *set)
{
    return ((struct data_collector_set *)set)->DataCollectors;
}

static HRESULT add_collector(struct object *set, const struct class *class)
{
    struct object *collector;
    assert_int_equal(object_create(class, NULL, &collector), S_OK);
    HRESULT hr = collection_add(collectors_of(set), collector);
    object_release(collector);
    return hr;
}

/* Creates a set with one trace collector. */
static struct object *new_trace(const char *category)
{
    struct object *set = new_set(category);
    assert_int_equal(add_collector(set, &trace_data_collector_class), S_OK);
    return set;
}

static HRESULT commit(struct object *set, const char *name, uint32_t mode)
{
    struct object *issues;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    HRESULT hr = set_commit(set, &caller_self, name, "", mode, issues);
    object_release(issues);
    return hr;
}

/* Creates an object of this category and queries the set with this name. */
static HRESULT query(const char *category, const char *name)
{
    struct object *set = new_set(category);
    HRESULT hr = set_query(set, &caller_self, name, "");
    object_release(set);
    return hr;
}

static uint32_t number_of(struct object *set, int property)
{
    struct value v;
    assert_int_equal(object_get(set, &set->class->properties[property], &v), S_OK);
    return v.u32;
}

static void assert_text(struct object *set, int property, const char *expected)
{
    struct value v;
    assert_int_equal(object_get(set, &set->class->properties[property], &v), S_OK);
    assert_string_equal(v.text, expected);
    value_free(&v);
}

/* Returns how many sets a list of this category finds. */
static size_t listed(const char *category, const char *filter)
{
    struct object *sets;
    assert_int_equal(sets_collection_create(category, &sets), S_OK);
    assert_int_equal(sets_find(sets, &caller_self, category ? "another-machine" : "", filter), S_OK);
    size_t count = collection_count(sets);
    object_release(sets);
    return count;
}

static void assert_message(HRESULT hr, HRESULT expected, const char *part)
{
    assert_int_equal(hr, expected);
    if (!strstr(error_text(hr), part))
        fail_msg("'%s' lacks '%s'", error_text(hr), part);
}

/* A program for trace sessions must not find, overwrite or delete a user's set with the same name. */
static void class_has_its_own_namespace(void **state)
{
    (void)state;
    struct object *trace = new_trace("Autosession"), *user = new_set(NULL), *server = new_set("Service");
    assert_int_equal(commit(trace, "same name", CREATE), S_OK);
    assert_int_equal(commit(user, "same name", CREATE), S_OK);
    assert_int_equal(collection_count(collectors_of(trace)), 1);
    assert_int_equal(query("Autosession", "SAME NAME"), S_OK);
    assert_int_equal(query("Autosession", "autosession\\same name"), S_OK);
    assert_message(query("Autosession", "Service\\same name"), E_NOINTERFACE, "Autosession");
    assert_message(query("Service", "Autosession\\same name"), E_NOINTERFACE, "Service");
    assert_message(commit(server, "System\\x", CREATE), E_NOINTERFACE, "System");
    assert_int_equal(query("Service", "same name"), S_OK);
    assert_int_equal(query(NULL, "Autosession\\same name"), S_OK);
    assert_int_equal(set_delete(user, &caller_self), S_OK);
    assert_int_equal(query("Autosession", "same name"), S_OK);
    assert_int_equal(set_delete(trace, &caller_self), S_OK);
    object_release(server);
    object_release(user);
    object_release(trace);
}

/* An object that is bound to a set must not change to another kind of set. */
static void bound_object_stays_in_its_namespace(void **state)
{
    (void)state;
    struct object *set = new_set(NULL);
    assert_int_equal(set_query(set, &caller_self, "System\\System Performance", ""), S_OK);
    assert_message(set_query(set, &caller_self, "Service\\x", ""), E_NOINTERFACE, "System");
    assert_message(set_query(set, &caller_self, "x", ""), E_NOINTERFACE, "bound");
    assert_int_equal(set_query(set, &caller_self, "System\\System Diagnostics", ""), S_OK);
    object_release(set);
    set = new_trace(NULL);
    assert_int_equal(commit(set, "Session\\t", CREATE), S_OK);
    assert_message(commit(set, "t", CREATE), E_NOINTERFACE, "Session");
    object_release(set);
}

/* A trace session with no trace collector, with several, or with another kind of collector must not be accepted,
   because it could never run. */
static void session_has_exactly_one_trace_collector(void **state)
{
    (void)state;
    static const char *const spaces[] = {"Session", "Autosession"};
    for (size_t i = 0; i < 2; i++) {
        struct object *set = new_set(spaces[i]), *facade = new_trace(NULL);
        assert_message(commit(set, "t", CREATE | VALIDATE_ONLY), PLA_E_DCS_SINGLETON_REQUIRED, "has 0");
        assert_int_equal(add_collector(set, &performance_counter_collector_class), S_OK);
        assert_message(commit(set, "t", CREATE), PLA_E_DCS_SINGLETON_REQUIRED, "PerformanceCounterDataCollector");
        assert_int_equal(add_collector(set, &trace_data_collector_class), PLA_E_DCS_SINGLETON_REQUIRED);
        assert_int_equal(collection_count(collectors_of(set)), 1);
        /* An object without a category gets its namespace from the name that is passed to Commit. */
        assert_int_equal(add_collector(facade, &trace_data_collector_class), S_OK);
        char *name = text_format("%s\\t", spaces[i]);
        assert_message(commit(facade, name, CREATE), PLA_E_DCS_SINGLETON_REQUIRED, "has 2");
        assert_int_equal(collection_remove(collectors_of(facade), 1), S_OK);
        assert_int_equal(commit(facade, name, CREATE), S_OK);
        assert_int_equal(add_collector(facade, &trace_data_collector_class), PLA_E_DCS_SINGLETON_REQUIRED);
        if (i)
            assert_int_equal(set_delete(facade, &caller_self), S_OK);
        memory_free(name);
        object_release(facade);
        object_release(set);
    }
    /* If Commit to a trace namespace is rejected, the object must not be bound to that namespace. */
    struct object *set = new_set(NULL);
    assert_int_equal(add_collector(set, &trace_data_collector_class), S_OK);
    assert_int_equal(add_collector(set, &trace_data_collector_class), S_OK);
    assert_int_equal(commit(set, "Session\\t", CREATE), PLA_E_DCS_SINGLETON_REQUIRED);
    assert_int_equal(add_collector(set, &trace_data_collector_class), S_OK);
    object_release(set);
}

/* If a namespace allows only one trace collector, even SetXml must report the second one, not only Commit. The XML of a
   session has no elements for properties that only stored sets have (behaviour 18). */
static void xml_of_a_session_has_one_trace(void **state)
{
    (void)state;
    static const char two[] = "<DataCollectorSet><TraceDataCollector><Name>a</Name></TraceDataCollector>"
                              "<TraceDataCollector><Name>b</Name></TraceDataCollector></DataCollectorSet>";
    static const char *const skipped[] = {"<DataManager>", "<TaskRunAsSelf>", "<StopOnCompletion>"};
    struct object *set = new_trace("Session"), *issues, *item, *stored = new_set(NULL);
    char *xml;
    assert_int_equal(commit(set, "t", CREATE), S_OK);
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(set_from_xml(set, two, strlen(two), issues), S_OK);
    assert_int_equal(collection_count(collectors_of(set)), 1);
    assert_int_equal(collection_count(issues), 1);
    assert_int_equal(collection_item(issues, 0, &item), S_OK);
    assert_string_equal(((struct value_map_item *)item)->Key, "TraceDataCollector[2]/");
    assert_int_equal((HRESULT)((struct value_map_item *)item)->Value.integer, PLA_E_DCS_SINGLETON_REQUIRED);
    assert_int_equal(object_to_xml(set, &xml, NULL), S_OK);
    for (size_t i = 0; i < sizeof skipped / sizeof skipped[0]; i++)
        assert_null(strstr(xml, skipped[i]));
    memory_free(xml);
    assert_int_equal(object_to_xml(stored, &xml, NULL), S_OK);
    for (size_t i = 0; i < sizeof skipped / sizeof skipped[0]; i++)
        assert_non_null(strstr(xml, skipped[i]));
    memory_free(xml);
    object_release(item);
    object_release(issues);
    object_release(stored);
    object_release(set);
}

/* Returns how often the property is reported as ignored. Fails the test if there is any other issue with it. */
static unsigned times_ignored(struct object *issues, const char *key)
{
    struct object **items;
    size_t count;
    unsigned times = 0;
    assert_int_equal(collection_snapshot(issues, &items, &count), S_OK);
    for (size_t i = 0; i < count; i++) {
        struct value_map_item *item = (struct value_map_item *)items[i];
        int64_t value;
        if (strcmp(item->Key, key) != 0)
            continue;
        times++;
        assert_int_equal(variant_to_i64(&item->Value, &value), S_OK);
        assert_int_equal(value, PLA_S_PROPERTY_IGNORED);
    }
    objects_release(items, count);
    return times;
}

/* Puts the default value of the property, as a client may do. */
static void put_default(struct object *o, const char *name)
{
    const struct property *p = class_property(o->class, name);
    struct value v;
    assert_int_equal(object_get_field(o, p, &v), S_OK);
    assert_int_equal(object_put(o, p, &v), S_OK);
    value_free(&v);
}

/* Puts `key`, a property of the set or of its only collector. */
static void put_key(struct object *set, struct object *collector, const char *key)
{
    const char *of_collector = strchr(key, '/');
    struct object *schedule;
    if (strcmp(key, "Schedules") != 0) {
        put_default(of_collector ? collector : set, of_collector ? of_collector + 1 : key);
        return;
    }
    assert_int_equal(object_create(&set_schedule_class, set, &schedule), S_OK);
    assert_int_equal(collection_add(((struct data_collector_set *)set)->Schedules, schedule), S_OK);
    object_release(schedule);
}

/* Limits and folders have no effect on a trace session. Each must be reported once if a client has put it, and not
   otherwise. */
static void ignored_properties_of_a_trace_are_reported(void **state)
{
    (void)state;
    static const char *const never[] = {"RootPath",
                                        "Duration",
                                        "Description",
                                        "Keywords",
                                        "Segment",
                                        "SegmentMaxDuration",
                                        "SerialNumber",
                                        "Subdirectory",
                                        "SubdirectoryFormat",
                                        "Task",
                                        "Schedules",
                                        "SubdirectoryFormatPattern",
                                        "TaskArguments", /* has no effect without a Task */
                                        "TraceDataCollector[1]/FileNameFormat",
                                        "TraceDataCollector[1]/FileNameFormatPattern",
                                        "TraceDataCollector[1]/LogOverwrite"};
    static const char *const running[] = {"TraceDataCollector[1]/BufferSize",
                                          "TraceDataCollector[1]/MinimumBuffers",
                                          "TraceDataCollector[1]/NumberOfBuffers",
                                          "TraceDataCollector[1]/ClockType",
                                          "TraceDataCollector[1]/ProcessMode",
                                          "TraceDataCollector[1]/PreallocateFile",
                                          "SegmentMaxSize"};
    static const struct {
        const char *category;
        uint32_t mode;
        bool puts, all;
    } cases[] = {{"Session", CREATE | UPDATE_RUNNING, false, false},
                 {"Session", CREATE, true, false},
                 {"Session", CREATE | UPDATE_RUNNING, true, true},
                 {"Autosession", CREATE | UPDATE_RUNNING, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct object *set = new_trace(cases[i].category), *issues, *collector;
        assert_int_equal(issues_create(NULL, &issues), S_OK);
        assert_int_equal(collection_item(collectors_of(set), 0, &collector), S_OK);
        for (size_t k = 0; cases[i].puts && k < sizeof never / sizeof never[0]; k++)
            put_key(set, collector, never[k]);
        for (size_t k = 0; cases[i].puts && k < sizeof running / sizeof running[0]; k++)
            put_key(set, collector, running[k]);
        /* These values would be contradictory if they had an effect. No file pattern is put. */
        struct value format = {.kind = PROPERTY_FLAGS, .u32 = 1};
        if (cases[i].puts) {
            assert_int_equal(object_put(collector, class_property(collector->class, "FileNameFormat"), &format), S_OK);
            assert_int_equal(object_put_text(set, class_property(set->class, "SubdirectoryFormatPattern"), "q"), S_OK);
            assert_int_equal(object_put(set, class_property(set->class, "SubdirectoryFormat"), &format), S_OK);
        }
        assert_int_equal(set_commit(set, &caller_self, "t", "", cases[i].mode | VALIDATE_ONLY, issues), S_OK);
        for (size_t k = 0; k < sizeof never / sizeof never[0]; k++)
            if (times_ignored(issues, never[k]) != cases[i].puts)
                fail_msg("case %u: %s occurs %u times", (unsigned)i, never[k], times_ignored(issues, never[k]));
        for (size_t k = 0; k < sizeof running / sizeof running[0]; k++)
            if (times_ignored(issues, running[k]) != cases[i].all)
                fail_msg("case %u: %s occurs %u times", (unsigned)i, running[k], times_ignored(issues, running[k]));
        assert_true(cases[i].puts || !collection_count(issues));
        object_release(collector);
        object_release(issues);
        object_release(set);
    }
}

/* If a session does not run, it must not be found, and nothing of it may be stored. test_session_sets tests running
   sessions. */
static void a_session_is_bound_but_not_stored(void **state)
{
    (void)state;
    struct object *set = new_trace("Session"), *other = new_trace("Session");
    assert_int_equal(query("Session", "live"), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(set_start(other, &caller_self, true), E_INVALIDARG);
    assert_int_equal(commit(other, "live", MODIFY), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(commit(set, "live", CREATE), S_OK);
    assert_text(set, IDataCollectorSet_Name, "live");
    assert_int_equal(number_of(set, IDataCollectorSet_Status), 0);
    assert_int_equal(commit(set, "LIVE", MODIFY), S_OK);
    assert_int_equal(commit(other, "live", MODIFY), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(query(NULL, "Session\\live"), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(listed("Session", NULL), 0);
    assert_int_equal(listed(NULL, "Session\\*"), 0);
    assert_int_equal(set_stop(set, &caller_self, true), PLA_E_DCS_NOT_RUNNING);
    assert_int_equal(set_delete(set, &caller_self), S_OK); /* nothing is stored, so there is nothing to delete */
    assert_int_equal(set_delete(other, &caller_self), PLA_E_DCS_NOT_FOUND);
    struct texts stored = {0};
    assert_int_equal(store_list(&caller_self, "Session", &stored), S_OK);
    assert_int_equal(stored.count, 0);
    object_release(other);
    object_release(set);
}

/* A set for the next boot must be stored completely. A start must fail, because the set can only be started by a
   boot. */
static void autosession_is_stored_and_cannot_be_started(void **state)
{
    (void)state;
    struct object *set = new_trace("Autosession"), *other = new_set(NULL);
    assert_int_equal(set_start(set, &caller_self, true), E_NOTIMPL);
    assert_int_equal(object_put_text(set, class_property(set->class, "DisplayName"), "At boot"), S_OK);
    assert_int_equal(commit(set, "boot", CREATE), S_OK);
    assert_int_equal(commit(set, "boot", CREATE), PLA_E_DCS_ALREADY_EXISTS);
    assert_int_equal(set_query(other, &caller_self, "Autosession\\boot", ""), S_OK);
    assert_text(other, IDataCollectorSet_DisplayName, "At boot");
    assert_int_equal(collection_count(collectors_of(other)), 1);
    assert_int_equal(number_of(set, IDataCollectorSet_Status), 4);
    assert_int_equal(number_of(other, IDataCollectorSet_Status), 4);
    assert_message(set_start(other, &caller_self, false), E_NOTIMPL, "Autosession");
    assert_message(set_stop(other, &caller_self, true), E_NOTIMPL, "Autosession");
    assert_int_equal(listed("Autosession", NULL), 1);
    assert_int_equal(listed(NULL, "autosession\\b*"), 1);
    assert_int_equal(set_delete(other, &caller_self), S_OK);
    assert_int_equal(listed("Autosession", NULL), 0);
    object_release(other);
    object_release(set);
}

/* A remote client may use any name for the server, for example a DNS alias. The classes must only return this name
   (MS-PLA 3.2.4.1.53, 3.2.4.1.54). */
static void class_returns_the_server_name(void **state)
{
    (void)state;
    static const char alias[] = "pla.example.com";
    static const struct {
        const char *category, *query, *commit;
        HRESULT queried, committed;
    } cases[] = {
        {"Service", "aliased", "aliased", S_OK, S_OK},
        {"System", "System Diagnostics", "System Diagnostics", S_OK, E_NOTIMPL},
        {"Session", "aliased", "aliased", PLA_E_DCS_NOT_FOUND, S_OK},
        {"Autosession", "aliased", "aliased", S_OK, S_OK},
        {"Legacy", "aliased", "aliased", PLA_E_DCS_NOT_FOUND, E_NOINTERFACE},
    };
    char longest[1025];
    memset(longest, 's', sizeof longest);
    longest[1024] = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *category = cases[i].category;
        const bool trace = !strcmp(category, "Session") || !strcmp(category, "Autosession");
        struct object *set = trace ? new_trace(category) : new_set(category), *other = new_set(category), *issues;
        assert_int_equal(issues_create(NULL, &issues), S_OK);
        assert_message(set_commit(set, &caller_self, cases[i].commit, longest, CREATE, issues), E_INVALIDARG, "1024");
        assert_int_equal(set_commit(set, &caller_self, cases[i].commit, alias, CREATE, issues), cases[i].committed);
        assert_text(set, IDataCollectorSet_Server, SUCCEEDED(cases[i].committed) ? alias : "");
        assert_int_equal(set_query(other, &caller_self, cases[i].query, alias), cases[i].queried);
        assert_text(other, IDataCollectorSet_Server, SUCCEEDED(cases[i].queried) ? alias : "");
        if (SUCCEEDED(cases[i].committed) && SUCCEEDED(cases[i].queried))
            assert_int_equal(set_delete(set, &caller_self), S_OK);
        object_release(issues);
        object_release(other);
        object_release(set);
    }
}

/* The sets that are part of OpenPLA must exist, must not be changed, and must have a description. */
static void system_sets_exist_and_are_read_only(void **state)
{
    (void)state;
    struct object *sets, *set = new_set("System"), *issues;
    assert_int_equal(listed("System", "no such filter"), 2); /* the filter is not used (MS-PLA 3.2.4.16.8) */
    assert_int_equal(sets_collection_create(NULL, &sets), S_OK);
    assert_int_equal(sets_find(sets, &caller_self, "", "system\\system*"), S_OK);
    assert_int_equal(collection_count(sets), 2);
    for (size_t i = 0; i < 2; i++) {
        struct object *item;
        char *xml;
        size_t size;
        assert_int_equal(collection_item(sets, i, &item), S_OK);
        assert_true(collection_count(collectors_of(item)) >= 1);
        assert_int_equal(number_of(item, IDataCollectorSet_Status), 0);
        assert_int_equal(number_of(item, IDataCollectorSet_SerialNumber), 1);
        /* OpenPLA's definitions must not contain unknown or invalid values. */
        assert_int_equal(object_to_xml(item, &xml, &size), S_OK);
        memory_free(xml);
        assert_message(set_delete(item, &caller_self), E_ACCESSDENIED, "read-only");
        object_release(item);
    }
    object_release(sets);
    assert_int_equal(set_query(set, &caller_self, "SYSTEM DIAGNOSTICS", ""), S_OK);
    assert_text(set, IDataCollectorSet_DisplayName, "System Diagnostics");
    assert_int_equal(query("System", "no such set"), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_message(set_commit(set, &caller_self, "System Diagnostics", "", MODIFY, issues), E_NOTIMPL, "read-only");
    assert_int_equal(set_commit(set, &caller_self, "System\\mine", "", CREATE | VALIDATE_ONLY, issues), E_NOTIMPL);
    assert_int_equal(collection_count(issues), 0);
    object_release(issues);
    object_release(set);
}

/* A user must be able to create a log of the machine with one command, without preparing rights or folders. */
static void a_system_set_runs(void **state)
{
    (void)state;
    struct object *set = new_set(NULL);
    struct run_record record;
    struct run_state running;
#ifndef _WIN32 /* on Windows, the system defines the variable for each process */
    char *drive = fixture_folder("drive");
    scratch_environment("systemdrive", drive);
    memory_free(drive);
#endif
    char *below = os_expand_environment("%systemdrive%\\PerfLogs\\Admin\\System\\Performance");
    assert_int_equal(set_query(set, &caller_self, "System\\System Performance", ""), S_OK);
    HRESULT hr = set_start(set, &caller_self, true);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    assert_int_equal(number_of(set, IDataCollectorSet_Status), 1);
    assert_int_equal(run_query("System", "system performance", &running), S_OK);
    assert_int_equal(running.status, RUN_RUNNING);
    assert_int_equal(set_start(set, &caller_self, true), PLA_E_DCS_IN_USE);
    fixture_sleep(1500);
    /* PlaDeleteReport must not delete the folder of a running set. */
    assert_message(data_manager_delete_report(running.location), PLA_E_DCS_IN_USE, "System Performance");
    assert_int_equal(set_stop(set, &caller_self, true), S_OK);
    assert_int_equal(number_of(set, IDataCollectorSet_Status), 0);
    assert_int_equal(number_of(set, IDataCollectorSet_SerialNumber), 2);
    assert_int_equal(store_load_run("System", "System Performance", &record), S_OK);
    assert_int_equal(record.last_result, S_OK);
    /* Only on a machine without a network may counters be missing. */
    assert_true(fixture_only_stopped(record.last_message) || strstr(record.last_message, "Network Interface"));
    assert_int_equal(record.latest_files.count, 1);
    assert_true(file_exists(record.latest_files.items[0]));
    assert_memory_equal(record.latest_location, below, strlen(below));
    scratch_remove(record.latest_location);
    run_record_free(&record);
    memory_free(below);
    object_release(set);
}

/* The namespace Legacy is for computers with a system that is older than PLA. These cannot be reached, so a script must
   get an error. Its set must not be stored, because nobody would find it. */
static void legacy_has_no_target(void **state)
{
    (void)state;
    struct object *set = new_set("Legacy"), *facade = new_set(NULL);
    assert_message(commit(set, "old", CREATE), E_NOINTERFACE, "Legacy");
    assert_message(commit(facade, "Legacy\\old", CREATE), E_NOINTERFACE, "Legacy");
    assert_int_equal(commit(facade, "new", CREATE), S_OK); /* the failed call has not bound the object */
    assert_int_equal(set_delete(facade, &caller_self), S_OK);
    assert_message(query("Legacy", "old"), PLA_E_DCS_NOT_FOUND, "old");
    assert_int_equal(query(NULL, "Legacy\\old"), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(listed("Legacy", NULL), 0);
    assert_int_equal(listed(NULL, "Legacy\\*"), 0);
    object_release(facade);
    object_release(set);
}

/* A list of one category must not contain sets of another. */
static void collections_list_their_own_namespace(void **state)
{
    (void)state;
    struct object *user = new_set(NULL), *trace = new_trace("Autosession"), *sets, *item;
    assert_int_equal(commit(user, "listed user", CREATE), S_OK);
    assert_int_equal(commit(trace, "listed trace", CREATE), S_OK);
    assert_int_equal(listed("Service", NULL), 1);
    assert_int_equal(listed("Service", "System\\*"), 1);
    assert_int_equal(listed("Autosession", NULL), 1);
    assert_int_equal(listed("System", NULL), 2);
    assert_int_equal(listed(NULL, NULL), 4);
    assert_int_equal(listed(NULL, "listed*"), 2);
    /* A set in the list must work like an object that was created for its category. */
    assert_int_equal(sets_collection_create("Autosession", &sets), S_OK);
    assert_int_equal(sets_find(sets, &caller_self, NULL, NULL), S_OK);
    assert_int_equal(collection_item(sets, 0, &item), S_OK);
    assert_int_equal(set_query(item, &caller_self, "listed trace", ""), S_OK);
    assert_int_equal(add_collector(item, &trace_data_collector_class), PLA_E_DCS_SINGLETON_REQUIRED);
    object_release(item);
    object_release(sets);
    assert_int_equal(set_delete(user, &caller_self), S_OK);
    assert_int_equal(set_delete(trace, &caller_self), S_OK);
    object_release(trace);
    object_release(user);
}

static int forget_directory(void **state)
{
    char *keys = autologger_path(AUTOLOGGER_KEY, getenv("OPENPLA_ETW"), NULL);
    (void)registry_delete(keys);
    memory_free(keys);
    directory_delete(own_directory());
    return fixture_teardown(state);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(class_has_its_own_namespace),
        cmocka_unit_test(bound_object_stays_in_its_namespace),
        cmocka_unit_test(session_has_exactly_one_trace_collector),
        cmocka_unit_test(xml_of_a_session_has_one_trace),
        cmocka_unit_test(ignored_properties_of_a_trace_are_reported),
        cmocka_unit_test(a_session_is_bound_but_not_stored),
        cmocka_unit_test(autosession_is_stored_and_cannot_be_started),
        cmocka_unit_test(class_returns_the_server_name),
        cmocka_unit_test(system_sets_exist_and_are_read_only),
        cmocka_unit_test(a_system_set_runs),
        cmocka_unit_test(legacy_has_no_target),
        cmocka_unit_test(collections_list_their_own_namespace),
    };
    own_directory_name();
    return cmocka_run_group_tests(tests, fixture_setup, forget_directory);
}
