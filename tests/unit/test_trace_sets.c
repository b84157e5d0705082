/* SPDX-License-Identifier: MIT */
/* Sets of Session and Autosession: live sessions, whoever has started them, and the keys of autologgers. MS-PLA 3.2.1,
   3.2.4.9 notes 22 to 27; behaviour 4, 10. */
#include "engine/collect/trace_session.h"
#include "engine/etw/autologger_key.h"
#include "engine/os/registry.h"
#include "engine/run/sets.h"
#include "engine/store/store.h"
#include "tests/unit/numbered_provider.h"

#include <string.h>

enum {
    CREATE = SETS_CREATE_NEW,
    MODIFY = SETS_MODIFY,
    BOTH = CREATE | MODIFY,
    UPDATE = SETS_UPDATE_RUNNING,
    FLUSH = SETS_FLUSH_TRACE
};
#define NOT_FOUND PLA_E_DCS_NOT_FOUND
#define PROVIDER  "<Guid>{22222222-0001-0002-0300-000000000000}</Guid>"
#define ENABLED(level, any)                                                                                            \
    "<TraceDataProvider>" PROVIDER "<Level><Value>" #level "</Value></Level><KeywordsAny><Value>" #any                 \
    "</Value></KeywordsAny></TraceDataProvider>"

/* ---- sets ---- */

/* A set of one trace collector "c" in the tests' folder. */
static struct object *set_of_xml(const char *category, const char *in_set, const char *in_collector)
{
    struct object *set;
    char *xml = text_format("<DataCollectorSet><RootPath>%s</RootPath>%s<TraceDataCollector><Name>c</Name>%s"
                            "</TraceDataCollector></DataCollectorSet>",
                            folder, in_set, in_collector);
    assert_int_equal(sets_create(category, &set), S_OK);
    assert_int_equal(set_from_xml(set, xml, strlen(xml), NULL), S_OK);
    memory_free(xml);
    return set;
}

static HRESULT commit_with(struct object *set, const char *name, uint32_t mode, struct object **issues)
{
    assert_int_equal(issues_create(NULL, issues), S_OK);
    return set_commit(set, &caller_self, name, "", mode, *issues);
}

static HRESULT commit(struct object *set, const char *name, uint32_t mode)
{
    struct object *issues;
    HRESULT hr = commit_with(set, name, mode, &issues);
    object_release(issues);
    return hr;
}

static void assert_done(HRESULT hr)
{
    if (hr != S_OK)
        fail_msg("0x%08X %s", (unsigned)hr, error_text(hr));
}

static void assert_said(HRESULT hr, HRESULT expected, const char *part)
{
    assert_int_equal(hr, expected);
    if (!strstr(error_text(hr), part))
        fail_msg("'%s' does not say '%s'", error_text(hr), part);
}

static struct object *queried(const char *full)
{
    struct object *set;
    assert_int_equal(sets_create(text_matches("session\\*", full) ? "Session" : "Autosession", &set), S_OK);
    assert_done(set_query(set, &caller_self, full, ""));
    return set;
}

static HRESULT query(const char *full)
{
    struct object *set;
    assert_int_equal(sets_create(NULL, &set), S_OK);
    HRESULT hr = set_query(set, &caller_self, full, "");
    object_release(set);
    return hr;
}

/* Borrowed of its set. */
static struct trace_data_collector *collector_in(struct object *set)
{
    struct object *c;
    assert_int_equal(collection_count(set_of(set)->DataCollectors), 1);
    assert_int_equal(collection_item(set_of(set)->DataCollectors, 0, &c), S_OK);
    object_release(c);
    return (struct trace_data_collector *)c;
}

static uint64_t map_value(struct object *map)
{
    struct variant v;
    assert_int_equal(value_map_get_value(map, &v), S_OK);
    return (uint64_t)v.integer;
}

static uint32_t status_of(struct object *set)
{
    struct value v;
    assert_int_equal(object_get(set, &set->class->properties[IDataCollectorSet_Status], &v), S_OK);
    return v.u32;
}

static void assert_text(struct object *o, const char *property, const char *expected)
{
    struct value v;
    assert_int_equal(object_get(o, class_property(o->class, property), &v), S_OK);
    assert_string_equal(v.text, expected);
    value_free(&v);
}

static struct object *listed(const char *filter)
{
    struct object *sets;
    assert_int_equal(sets_collection_create(NULL, &sets), S_OK);
    assert_done(sets_find(sets, &caller_self, "", filter));
    return sets;
}

static size_t count_listed(const char *filter)
{
    struct object *sets = listed(filter);
    size_t count = collection_count(sets);
    object_release(sets);
    return count;
}

static char *file_named(const char *name)
{
    char *path = path_join(folder, name);
    assert_non_null(path);
    return path;
}

static uint64_t events_in(const char *path)
{
    struct etl_reader *reader;
    struct etl_record record;
    uint64_t events = 0;
    assert_int_equal(etl_reader_open(path, log_remark, NULL, &reader), S_OK);
    while (etl_reader_next(reader, &record) == S_OK)
        events += record.kind == ETL_RECORD_MANIFEST;
    etl_reader_close(reader);
    return events;
}

/* A session that is none of our sets': as another program starts one. */
static void start_foreign(const char *name, uint32_t mode, uint32_t buffer_kb, const char *file)
{
    struct trace_enable enable = {.guid = guid, .level = 3, .any = 0x8000000000000005, .all = 4, .properties = 1};
    struct trace_plan plan = {.session = (char *)name,
                              .file = (char *)file,
                              .mode = mode,
                              .buffer_kb = buffer_kb,
                              .clock = 2,
                              .flush_timer = 7,
                              .maximum_file = file ? 9 : 0,
                              .enables = &enable,
                              .count = 1};
    struct trace_session s;
    assert_done(trace_session_start(&plan, &s));
    trace_session_free(&s);
}

static void stop_foreign(const char *name)
{
    struct trace_session last;
    assert_done(trace_session_stop(&(struct trace_target){.name = name}, &last));
    trace_session_free(&last);
}

/* ---- Session ---- */

/* The job: a session without a stored set, that outlives the object that started it. */
static void a_session_is_started_used_and_stopped(void **state)
{
    struct object *set =
        set_of_xml("Session", "<SegmentMaxSize>5</SegmentMaxSize>",
                   "<FileName>job</FileName><BufferSize>16</BufferSize><FlushTimer>1</FlushTimer>" ENABLED(4, 0));
    char *file = file_named("job.etl");
    struct texts stored = {0};
    REGHANDLE provider;
    (void)state;
    assert_int_equal(EventRegister(&guid, NULL, NULL, &provider), ERROR_SUCCESS);
    assert_int_equal(query("Session\\job"), NOT_FOUND);
    assert_int_equal(commit(set, "job", MODIFY), NOT_FOUND);
    assert_int_equal(set_start(set, &caller_self, true), E_INVALIDARG);
    assert_done(commit(set, "job", CREATE));
    assert_int_equal(status_of(set), 0);
    assert_int_equal(query("Session\\job"), NOT_FOUND); /* it is not until it runs */
    assert_done(commit(set, "JOB", MODIFY));
    assert_int_equal(set_stop(set, &caller_self, true), PLA_E_DCS_NOT_RUNNING);
    assert_done(set_start(set, &caller_self, true));
    assert_int_equal(status_of(set), 1);
    assert_int_not_equal(collector_in(set)->SessionId, 0);
    assert_int_equal(collector_in(set)->FreeBuffers, 0); /* a start tells no more */
    assert_said(set_start(set, &caller_self, true), PLA_E_DCS_IN_USE, "'JOB' is running");
    object_release(set);

    write_numbered(provider);
    set = queried("Session\\job");
    assert_done(commit(set, "job", FLUSH));
    object_release(set);
    set = queried("session\\Job");
    struct trace_data_collector *c = collector_in(set);
    assert_int_equal(status_of(set), 1);
    assert_true(c->NumberOfBuffers > 0 && c->FreeBuffers > 0 && c->BuffersWritten > 1 && c->SessionId > 0);
    assert_int_not_equal(c->SessionThreadId, 0);
    assert_int_equal(c->EventsLost + c->BuffersLost + c->RealTimeBuffersLost, 0);
    assert_int_equal(c->BufferSize, 16);
    assert_int_equal(c->FlushTimer, 1);
    assert_int_equal(set_of(set)->SegmentMaxSize, 5);
    assert_text(&c->object, "LatestOutputLocation", file);
    assert_text(&c->object, "OutputLocation", file);
    assert_text(set, "LatestOutputLocation", folder);
    assert_said(set_delete(set, &caller_self), PLA_E_DCS_IN_USE, "is running");
    assert_done(set_stop(set, &caller_self, true));
    assert_int_equal(status_of(set), 0);
    assert_int_equal(set_stop(set, &caller_self, true), PLA_E_DCS_NOT_RUNNING);
    assert_done(set_delete(set, &caller_self));
    object_release(set);
    check_numbered(file, TRACE_MODE_SEQUENTIAL, 0);
    assert_int_equal(store_list(&caller_self, "Session", &stored), S_OK);
    assert_int_equal(stored.count, 0);
    assert_int_equal(query("Session\\job"), NOT_FOUND);
    memory_free(file);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* Whoever looks at the machine's sessions sees them all, whole. */
static void sessions_of_other_programs_are_sets_too(void **state)
{
    char *file = file_named("foreign.log");
    struct object *sets, *set, *provider;
    bool seen = false;
    (void)state;
    start_foreign("other's: /1", TRACE_MODE_SEQUENTIAL | TRACE_MODE_REAL_TIME | TRACE_MODE_STOP_ON_HYBRID_SHUTDOWN,
                  2048, file);
    start_foreign("memory", TRACE_MODE_BUFFERING, 64, NULL);
    sets = listed("Session\\*");
    assert_int_equal(collection_count(sets), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(collection_item(sets, i, &set), S_OK);
        struct trace_data_collector *c = collector_in(set);
        assert_int_equal(status_of(set), 1);
        if (!strcmp(set_of(set)->Name, "memory")) {
            assert_int_equal(c->StreamMode, 4);
        } else {
            seen = true;
            assert_string_equal(set_of(set)->Name, "other's: /1");
            assert_int_equal(c->StreamMode, 3);
            assert_int_equal(c->ExtendedModes, TRACE_MODE_STOP_ON_HYBRID_SHUTDOWN);
            assert_true(!c->LogAppend && !c->LogCircular && !c->PreallocateFile && !c->ProcessMode);
            assert_int_equal(c->BufferSize, 2048); /* more than a client could put */
            assert_int_equal(c->ClockType, 2);
            assert_int_equal(c->FlushTimer, 7);
            assert_int_equal(set_of(set)->SegmentMaxSize, 9);
            assert_text(&c->object, "LatestOutputLocation", file);
            assert_text(&c->object, "OutputLocation", file);
            assert_text(&c->object, "SessionName", "other's: /1");
            assert_true(c->Guid.Data1 != 0 && c->SessionId != 0 && c->NumberOfBuffers > 0);
            assert_int_equal(collection_count(c->TraceDataProviders), 1);
            assert_int_equal(collection_item(c->TraceDataProviders, 0, &provider), S_OK);
            struct trace_data_provider *p = (struct trace_data_provider *)provider;
            assert_true(guid_equal(&p->Guid, &guid));
            assert_text(provider, "DisplayName", "{22222222-0001-0002-0300-000000000000}");
            assert_int_equal(map_value(p->Level), 3);
            assert_true(map_value(p->KeywordsAny) == 0x8000000000000005 && map_value(p->KeywordsAll) == 4);
            assert_int_equal(map_value(p->Properties), 1);
            object_release(provider);
            assert_done(set_stop(set, &caller_self, true));
        }
        object_release(set);
    }
    assert_true(seen);
    object_release(sets);
    assert_int_equal(count_listed("Session\\mem*"), 1);
    stop_foreign("memory");
    assert_int_equal(count_listed("Session\\*"), 0);
    memory_free(file);
}

/* Ends its host as a crash does, and takes away its log with the folder. */
static void break_session(const char *name, const char *log_folder)
{
    struct directory_session *list;
    struct process *host = NULL;
    size_t count;
    assert_int_equal(directory_sessions(own_directory(), &list, &count), S_OK);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i].name, name))
            assert_int_equal(process_open(list[i].host.id, list[i].host.start_time, &host), S_OK);
    directory_sessions_free(list, count);
    assert_non_null(host);
    assert_int_equal(process_terminate(process_id(host), process_start_time(process_id(host))), S_OK);
    assert_int_equal(process_wait(host, PATIENCE_MS, NULL), S_OK);
    process_close(host);
    scratch_remove(log_folder);
}

/* One that cannot even be asked hides no other, says why, and can be got rid of. */
static void a_session_that_cannot_be_read_hides_no_other(void **state)
{
    char *below = file_named("gone"), *file = path_join(below, "gone.etl");
    struct object *set;
    (void)state;
    assert_int_equal(folder_create(below), S_OK);
    start_foreign("broken", TRACE_MODE_SEQUENTIAL, 64, file);
    start_foreign("whole", TRACE_MODE_REAL_TIME, 64, NULL);
    break_session("broken", below);
    assert_int_equal(count_listed("Session\\*"), 1);
    assert_int_equal(sets_create("Session", &set), S_OK);
    assert_said(set_query(set, &caller_self, "broken", ""), HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                "Session\\broken\": trace session 'broken'");
    HRESULT hr = set_stop(set, &caller_self, true); /* which says what has become of the log */
    assert_true(FAILED(hr) && strstr(error_text(hr), "gone.etl"));
    assert_int_equal(query("Session\\broken"), NOT_FOUND);
    object_release(set);
    stop_foreign("whole");
    memory_free(file);
    memory_free(below);
}

static void a_circular_private_or_appending_session_says_so(void **state)
{
    static const struct {
        uint32_t mode;
        bool append, circular, preallocate, is_private;
    } rows[] = {{TRACE_MODE_CIRCULAR, false, true, false, false},
                {TRACE_MODE_APPEND, true, false, false, false},
                {TRACE_MODE_CIRCULAR | TRACE_MODE_PREALLOCATE, false, true, true, false},
                {TRACE_MODE_PRIVATE_LOGGER, false, false, false, true}};
    (void)state;
    REGHANDLE provider;
    assert_int_equal(EventRegister(&guid, NULL, NULL, &provider), ERROR_SUCCESS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *name = text_format("modes%zu.etl", i), *file = file_named(name), *full = text_format("Session\\%s", name);
        struct trace_enable enable = {.guid = guid, .level = 4};
        struct trace_plan plan = {.session = name,
                                  .file = file,
                                  .mode = rows[i].mode,
                                  .maximum_file = rows[i].append ? 0 : 1,
                                  .enables = &enable,
                                  .count = 1};
        struct trace_session s;
        if (rows[i].is_private)
            plan.guid = guid;
        assert_done(trace_session_start(&plan, &s));
        trace_session_free(&s);
        struct object *set = queried(full);
        const struct trace_data_collector *c = collector_in(set);
        if (c->LogAppend != rows[i].append || c->LogCircular != rows[i].circular ||
            c->PreallocateFile != rows[i].preallocate || c->ProcessMode != rows[i].is_private || c->StreamMode != 1 ||
            c->ExtendedModes)
            fail_msg("row %zu: append %d, circular %d, preallocated %d, private %d, stream %u, extended 0x%X", i,
                     c->LogAppend, c->LogCircular, c->PreallocateFile, c->ProcessMode, (unsigned)c->StreamMode,
                     (unsigned)c->ExtendedModes);
        assert_done(set_stop(set, &caller_self, true));
        object_release(set);
        memory_free(full);
        memory_free(file);
        memory_free(name);
    }
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* Dozens of updates in a row, as scripts add providers: the session goes on, its figures too, and its file. */
static void a_running_session_is_changed(void **state)
{
    char *one = file_named("changed.etl"), *two = file_named("second.etl");
    struct object *set =
        set_of_xml("Session", "", "<FileName>changed</FileName><FlushTimer>1</FlushTimer>" ENABLED(4, 1));
    struct object *issues, *other;
    REGHANDLE provider;
    (void)state;
    assert_int_equal(EventRegister(&guid, NULL, NULL, &provider), ERROR_SUCCESS);
    assert_done(commit(set, "changed", BOTH));
    assert_done(set_start(set, &caller_self, true));
    assert_said(commit(set, "changed", CREATE), PLA_E_DCS_ALREADY_EXISTS, "'changed'");
    assert_said(commit(set, "changed", BOTH), PLA_E_DCS_IN_USE, "0x10");
    object_release(set);
    write_numbered(provider);

    /* Nothing is different: nothing changes, the file least of all. */
    set = queried("Session\\changed");
    const uint64_t session = collector_in(set)->SessionId;
    assert_done(commit(set, "changed", MODIFY | UPDATE));
    object_release(set);
    set = queried("Session\\changed");
    assert_text(&collector_in(set)->object, "LatestOutputLocation", one);
    assert_int_equal(collector_in(set)->SessionId, session);

    /* Other providers, timer and file; what cannot change is told of. */
    object_release(set);
    set = set_of_xml("Session", "",
                     "<FileName>second</FileName><FlushTimer>2</FlushTimer><BufferSize>99</BufferSize>"
                     "<TraceDataProvider><Guid>{33333333-0001-0002-0300-000000000000}</Guid></TraceDataProvider>");
    assert_done(commit_with(set, "changed", MODIFY | UPDATE, &issues));
    bool told;
    assert_int_equal(issues_has(issues, PLA_S_PROPERTY_IGNORED, "TraceDataCollector[1]/BufferSize", &told), S_OK);
    assert_true(told);
    object_release(issues);
    write_numbered(provider); /* which nobody wants now */
    other = queried("Session\\changed");
    struct trace_data_collector *c = collector_in(other);
    assert_int_equal(c->SessionId, session);
    assert_int_equal(c->BufferSize, 8);
    assert_int_equal(c->FlushTimer, 2);
    assert_text(&c->object, "LatestOutputLocation", two);
    assert_int_equal(collection_count(c->TraceDataProviders), 1);
    object_release(other);

    /* What is neither told of nor can be: named, and nothing has changed. */
    c = collector_in(set);
    c->StreamMode = 2;
    assert_said(commit(set, "changed", MODIFY | UPDATE), E_INVALIDARG, "StreamMode: ");
    c->StreamMode = 1;
    c->LogAppend = true;
    assert_said(commit(set, "changed", MODIFY | UPDATE), E_INVALIDARG, "LogAppend: ");
    c->LogAppend = false;
    c->StreamMode = 3;
    assert_done(commit(set, "changed", MODIFY | UPDATE));
    other = queried("Session\\changed");
    assert_int_equal(collector_in(other)->StreamMode, 3);
    object_release(other);
    assert_done(set_stop(set, &caller_self, true));
    object_release(set);
    check_numbered(one, 0, 0);
    assert_int_equal(events_in(two), 0);
    memory_free(one);
    memory_free(two);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* A start that cannot be says what is in the way. */
static void what_is_in_the_way_of_a_session_is_named(void **state)
{
    struct object *set = set_of_xml("Session", "", "<StreamMode>2</StreamMode>"), *issues;
    struct object *twin = set_of_xml("Session", "",
                                     "<StreamMode>2</StreamMode><SessionName>another</SessionName>"
                                     "<Guid>{0A0B0C0D-0001-0002-0300-000000000000}</Guid>");
    bool told;
    (void)state;
    start_foreign("taken", TRACE_MODE_REAL_TIME, 64, NULL);
    assert_said(commit(set, "Taken", CREATE), PLA_E_DCS_ALREADY_EXISTS, "Taken");
    stop_foreign("taken");
    assert_done(commit(set, "taken", CREATE));
    start_foreign("taken", TRACE_MODE_REAL_TIME, 64, NULL);
    assert_said(set_start(set, &caller_self, true), PLA_E_DCS_IN_USE, "'taken' is running");
    stop_foreign("taken");
    collector_in(set)->Guid = collector_in(twin)->Guid;
    assert_done(set_start(set, &caller_self, true));
    assert_done(commit_with(twin, "twin", CREATE, &issues));
    assert_int_equal(issues_has(issues, PLA_S_PROPERTY_IGNORED, "TraceDataCollector[1]/SessionName", &told), S_OK);
    assert_true(told); /* the set's name is the session's */
    object_release(issues);
    assert_int_equal(set_start(twin, &caller_self, true), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_done(set_stop(set, &caller_self, true));
    assert_done(set_start(twin, &caller_self, true));
    assert_int_equal(query("Session\\another"), NOT_FOUND);
    assert_done(set_stop(twin, &caller_self, true));
    object_release(twin);
    object_release(set);
    set = set_of_xml("Session", "", "");
    assert_int_equal(object_put_text(set, class_property(set->class, "RootPath"), "/no/such/folder"), S_OK);
    assert_done(commit(set, "nowhere", CREATE));
    assert_said(set_start(set, &caller_self, true), HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND), "/no/such/folder");
    assert_int_equal(status_of(set), 0);
    object_release(set);
    set = set_of_xml("Session", "", "<ProcessMode>-1</ProcessMode>");
    assert_done(commit(set, "private", CREATE));
    assert_said(set_start(set, &caller_self, true), E_INVALIDARG, "ProcessMode");
    assert_said(commit(set, "private", FLUSH), NOT_FOUND, "Session\\private");
    object_release(set);
    set = set_of_xml("Session", "",
                     "<TraceDataProvider><Guid>{9E814AAD-3204-11D2-9A82-006008A86939}</Guid></TraceDataProvider>");
    assert_done(commit_with(set, "kernel", CREATE, &issues));
    assert_int_equal(issues_has(issues, PLA_S_PROPERTY_IGNORED, "TraceDataCollector[1]/TraceDataProviders", &told),
                     S_OK);
    assert_true(told);
    object_release(issues);
    assert_said(set_start(set, &caller_self, true), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "events of the kernel");
    assert_int_equal(query("Session\\kernel"), NOT_FOUND);
    object_release(set);
}

/* What is in memory alone is written where a file would be, and the session goes on. */
static void a_session_in_memory_is_flushed_to_the_file(void **state)
{
    struct object *set =
        set_of_xml("Session", "", "<FileName>snapshot</FileName><StreamMode>4</StreamMode>" ENABLED(4, 0));
    char *file = file_named("snapshot.etl");
    REGHANDLE provider;
    (void)state;
    assert_int_equal(EventRegister(&guid, NULL, NULL, &provider), ERROR_SUCCESS);
    assert_done(commit(set, "snapshot", BOTH));
    assert_done(set_start(set, &caller_self, true));
    EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)folder, .Size = 4};
    assert_int_equal(EventWrite(provider, &some_event, 1, &data), ERROR_SUCCESS);
    assert_false(file_exists(file));
    assert_done(commit(set, "snapshot", FLUSH));
    assert_int_equal(events_in(file), 1);
    assert_int_equal(status_of(set), 1);
    assert_done(set_stop(set, &caller_self, true));
    object_release(set);
    memory_free(file);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* ---- Autosession ---- */

static char *key_of(const char *name)
{
    char *path = autologger_path(AUTOLOGGER_KEY, getenv("OPENPLA_ETW"), name);
    assert_non_null(path);
    return path;
}

static struct autologger loaded(const char *name)
{
    struct autologger a;
    char *path = key_of(name);
    assert_int_equal(autologger_load(path, name, &a), S_OK);
    memory_free(path);
    return a;
}

static struct registry_key *opened(const char *name)
{
    struct registry_key *key;
    char *path = key_of(name);
    bool made;
    assert_int_equal(registry_make(path, &made, &key), S_OK);
    memory_free(path);
    return key;
}

static int forget_keys(void **state)
{
    char *all = key_of(NULL);
    (void)state;
    (void)registry_delete(all);
    memory_free(all);
    return 0;
}

static void assert_number(struct autologger_number n, uint64_t expected)
{
    if (!n.there || n.value != expected)
        fail_msg("there %d, 0x%llX and not 0x%llX", n.there, (unsigned long long)n.value, (unsigned long long)expected);
}

/* What is committed is what ETW reads at the next start. */
static void an_autosession_is_a_key(void **state)
{
    struct object *set = set_of_xml("Autosession",
                                    "<DisplayName>At boot</DisplayName><SegmentMaxSize>7</SegmentMaxSize>"
                                    "<Value name=\"mine\">kept</Value>",
                                    "<FileName>boot</FileName><BufferSize>32</BufferSize><MinimumBuffers>5"
                                    "</MinimumBuffers><MaximumBuffers>50</MaximumBuffers><FlushTimer>3</FlushTimer>"
                                    "<ClockType>2</ClockType><LogCircular>-1</LogCircular><StreamMode>1</StreamMode>"
                                    "<ExtendedModes>0x400000</ExtendedModes><TraceDataProvider><DisplayName>p"
                                    "</DisplayName>" PROVIDER "<Level><Value>4</Value></Level><KeywordsAny><Value>"
                                    "0x8000000000000001</Value></KeywordsAny><KeywordsAll><Value>1</Value>"
                                    "</KeywordsAll><Properties><Value>3</Value></Properties></TraceDataProvider>");
    char *file = file_named("boot.etl"), *value;
    GUID made;
    (void)state;
    assert_int_equal(set_start(set, &caller_self, true), E_NOTIMPL);
    assert_done(commit(set, "boot", CREATE));
    assert_int_equal(commit(set, "BOOT", CREATE), PLA_E_DCS_ALREADY_EXISTS);
    struct autologger a = loaded("boot");
    assert_number(a.start, 1);
    assert_number(a.buffer_kb, 32);
    assert_number(a.minimum_buffers, 5);
    assert_number(a.maximum_buffers, 50);
    assert_number(a.flush_timer, 3);
    assert_number(a.clock, 2);
    assert_number(a.mode, TRACE_MODE_CIRCULAR | TRACE_MODE_STOP_ON_HYBRID_SHUTDOWN);
    assert_number(a.maximum_file, 7);
    assert_string_equal(a.file, file);
    assert_true(text_to_guid(a.guid, &made) && made.Data1 != 0); /* ETW asks for one */
    assert_int_equal(a.provider_count, 1);
    assert_number(a.providers[0].enabled, 1);
    assert_number(a.providers[0].level, 4);
    assert_number(a.providers[0].any, 0x8000000000000001);
    assert_number(a.providers[0].all, 1);
    assert_number(a.providers[0].property, 3);
    autologger_free(&a);

    struct object *other = queried("Autosession\\Boot");
    struct trace_data_collector *c = collector_in(other);
    assert_text(other, "DisplayName", "At boot");
    assert_int_equal(set_get_value(other, "mine", &value), S_OK);
    assert_string_equal(value, "kept");
    memory_free(value);
    assert_true(guid_equal(&c->Guid, &made));
    assert_true(c->LogCircular && c->BufferSize == 32 && c->MinimumBuffers == 5 && c->MaximumBuffers == 50 &&
                c->FlushTimer == 3 && c->ClockType == 2 && c->StreamMode == 1 && c->ExtendedModes == 0x400000);
    assert_int_equal(set_of(other)->SegmentMaxSize, 7);
    assert_text(&c->object, "FileName", "boot");
    assert_text(&c->object, "OutputLocation", file);
    assert_int_equal(c->SessionId + c->NumberOfBuffers + c->BuffersWritten, 0); /* it does not run */
    assert_int_equal(status_of(other), 4);
    assert_said(set_start(other, &caller_self, false), E_NOTIMPL, "Autosession");
    assert_said(set_stop(other, &caller_self, true), E_NOTIMPL, "Autosession");

    /* Off, and without a file. */
    set_of(other)->SchedulesEnabled = false;
    c->StreamMode = 2;
    c->LogCircular = false;
    assert_done(commit(other, "boot", MODIFY));
    a = loaded("boot");
    assert_number(a.start, 0);
    assert_number(a.mode, TRACE_MODE_REAL_TIME | TRACE_MODE_STOP_ON_HYBRID_SHUTDOWN);
    assert_null(a.file);
    assert_true(text_to_guid(a.guid, &c->Guid) && guid_equal(&c->Guid, &made));
    autologger_free(&a);
    object_release(other);
    other = queried("Autosession\\boot");
    assert_false(set_of(other)->SchedulesEnabled);
    assert_int_equal(count_listed("Autosession\\*"), 1);
    assert_done(set_delete(other, &caller_self));
    assert_int_equal(set_delete(other, &caller_self), NOT_FOUND);
    assert_int_equal(count_listed("Autosession\\*"), 0);
    assert_int_equal(query("Autosession\\boot"), NOT_FOUND);
    assert_int_equal(commit(other, "boot", MODIFY), NOT_FOUND);
    object_release(other);
    object_release(set);
    memory_free(file);
}

/* A key that another program made is a set; what only ETW knows survives a change by it. */
static void an_autologger_of_another_program_is_a_set(void **state)
{
    struct registry_key *key = opened("theirs"), *on = opened("theirs\\{22222222-0001-0002-0300-000000000000}"),
                        *off = opened("theirs\\{33333333-0001-0002-0300-000000000000}");
    struct object *provider;
    (void)state;
    assert_int_equal(registry_write_number(key, "Start", REGISTRY_NUMBER, 1), S_OK);
    assert_int_equal(registry_write_number(key, "FileMax", REGISTRY_NUMBER, 3), S_OK);
    assert_int_equal(registry_write_number(key, "Boot", REGISTRY_NUMBER, 1), S_OK);
    assert_int_equal(registry_write_text(key, "Guid", "{0A0B0C0D-1234-5678-0102-030405060708}"), S_OK);
    assert_int_equal(registry_write_number(on, "Enabled", REGISTRY_NUMBER, 1), S_OK);
    assert_int_equal(registry_write_number(on, "EnableLevel", REGISTRY_NUMBER, 5), S_OK);
    assert_int_equal(registry_write_number(on, "EnableFlags", REGISTRY_NUMBER, 0x77), S_OK);
    assert_int_equal(registry_write_number(off, "Enabled", REGISTRY_NUMBER, 0), S_OK);
    assert_int_equal(registry_write_number(off, "EnableLevel", REGISTRY_NUMBER, 2), S_OK);
    assert_int_equal(count_listed("Autosession\\*"), 1);
    struct object *set = queried("Autosession\\theirs");
    struct trace_data_collector *c = collector_in(set);
    assert_int_equal(c->Guid.Data1, 0x0A0B0C0D);
    assert_true(c->StreamMode == 1 && !c->LogCircular && c->ClockType == 1 && !c->ExtendedModes);
    assert_int_equal(set_of(set)->SegmentMaxSize, 100);
    assert_text(&c->object, "Name", "theirs");
    assert_int_equal(collection_count(c->TraceDataProviders), 1); /* of the other one nothing is asked */
    assert_int_equal(collection_item(c->TraceDataProviders, 0, &provider), S_OK);
    assert_int_equal(map_value(((struct trace_data_provider *)provider)->Level), 5);
    assert_int_equal(map_value(((struct trace_data_provider *)provider)->KeywordsAny), 0x77);
    object_release(provider);
    c->FlushTimer = 9;
    assert_done(commit(set, "theirs", MODIFY));
    struct autologger a = loaded("theirs");
    uint64_t number;
    assert_number(a.flush_timer, 9);
    assert_number(a.file_max, 3);
    assert_int_equal(registry_read_number(key, "Boot", &number), S_OK);
    assert_int_equal(a.provider_count, 2);
    const struct autologger_provider *p = &a.providers[guid_equal(&a.providers[0].guid, &guid) ? 0 : 1];
    assert_number(p->flags, 0x77);
    assert_false(p->any.there); /* else the flags would be without effect */
    p = p == a.providers ? p + 1 : p - 1;
    assert_number(p->enabled, 0);
    assert_number(p->level, 2);
    autologger_free(&a);
    object_release(set);
    registry_close(off);
    registry_close(on);
    registry_close(key);
}

/* One that is damaged hides no other, is named with its value, and can be deleted. */
static void a_damaged_autologger_is_named(void **state)
{
    struct object *good = set_of_xml("Autosession", "", ""), *set;
    struct registry_key *key = opened("damaged");
    (void)state;
    assert_done(commit(good, "good", CREATE));
    assert_int_equal(registry_write_text(key, "BufferSize", "many"), S_OK);
    assert_int_equal(count_listed("Autosession\\*"), 1);
    assert_said(query("Autosession\\damaged"), HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "BufferSize");
    assert_int_equal(registry_write_number(key, "BufferSize", REGISTRY_NUMBER, 64), S_OK);
    assert_int_equal(registry_write_text(key, "OpenPLA", "<DataCollectorSet>"), S_OK);
    assert_int_equal(count_listed("Autosession\\*"), 1);
    assert_int_equal(sets_create(NULL, &set), S_OK);
    assert_said(set_query(set, &caller_self, "Autosession\\damaged", ""), OPENPLA_E_MALFORMED_XML,
                "Autosession\\damaged\": the value OpenPLA");
    assert_done(set_delete(set, &caller_self));
    assert_int_equal(query("Autosession\\damaged"), NOT_FOUND);
    registry_close(key);
    object_release(set);
    object_release(good);
}

static void what_cannot_begin_by_itself_is_refused(void **state)
{
    struct object *set = set_of_xml("Autosession", "", "<ProcessMode>-1</ProcessMode>" ENABLED(4, 0));
    char name[302];
    (void)state;
    assert_said(commit(set, "never", CREATE), E_INVALIDARG, "ProcessMode");
    object_release(set);
    set = set_of_xml("Autosession", "<SegmentMaxSize>1</SegmentMaxSize>", "<ExtendedModes>8</ExtendedModes>");
    assert_said(commit(set, "never", CREATE), E_INVALIDARG, "NEWFILE");
    object_release(set);
    set = set_of_xml("Autosession", "", "");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_said(commit(set, name, CREATE), E_INVALIDARG, "255");
    assert_int_equal(count_listed("Autosession\\*"), 0);
    object_release(set);
}

/* What a provider is to be told is there at the next start, and can be taken back; filters of others stay. */
static void filters_are_kept_for_the_next_start(void **state)
{
    static const uint8_t ids[] = {1, 0, 1, 0, 7, 0};
    struct object *set = set_of_xml("Autosession", "",
                                    "<TraceDataProvider>" PROVIDER "<FilterEnabled>-1</FilterEnabled><FilterType>9"
                                    "</FilterType><FilterData>4142</FilterData></TraceDataProvider>");
    struct object *provider;
    EVENT_FILTER_HEADER head;
    bool made;
    (void)state;
    assert_done(commit(set, "filtered", CREATE));
    object_release(set);
    struct autologger a = loaded("filtered");
    const struct autologger_filter *f = a.providers[0].filter;
    assert_int_equal(a.providers[0].filter_count, 1);
    assert_int_equal(f->type, EVENT_FILTER_TYPE_SCHEMATIZED);
    assert_int_equal(f->size, sizeof head + 2);
    memcpy(&head, f->data, sizeof head);
    assert_true(head.Id == 9 && head.Size == f->size && !memcmp(f->data + sizeof head, "AB", 2));
    autologger_free(&a);

    char *path = key_of("filtered\\{22222222-0001-0002-0300-000000000000}\\Filters");
    struct registry_key *key;
    assert_int_equal(registry_make(path, &made, &key), S_OK);
    assert_int_equal(registry_write(key, "EVENT_FILTER_TYPE_EVENT_ID", REGISTRY_BYTES, ids, sizeof ids), S_OK);
    assert_int_equal(registry_remove(key, "OpenPLA"), S_FALSE);
    registry_close(key);
    memory_free(path);
    path = key_of("filtered");
    assert_int_equal(registry_open(path, true, &key), S_OK);
    assert_int_equal(registry_remove(key, "OpenPLA"), S_OK); /* the registry alone says it, too */
    registry_close(key);
    memory_free(path);
    set = queried("Autosession\\filtered");
    assert_int_equal(collection_item(collector_in(set)->TraceDataProviders, 0, &provider), S_OK);
    struct trace_data_provider *p = (struct trace_data_provider *)provider;
    assert_true(p->FilterEnabled && p->FilterType == 9 && p->FilterData.count == 2 &&
                !memcmp(p->FilterData.items, "AB", 2));
    p->FilterEnabled = false;
    object_release(provider);
    assert_done(commit(set, "filtered", MODIFY));
    object_release(set);
    a = loaded("filtered");
    assert_int_equal(a.providers[0].filter_count, 1);
    assert_int_equal(a.providers[0].filter[0].type, EVENT_FILTER_TYPE_EVENT_ID);
    autologger_free(&a);
    set = queried("Autosession\\filtered");
    assert_int_equal(collection_item(collector_in(set)->TraceDataProviders, 0, &provider), S_OK);
    p = (struct trace_data_provider *)provider;
    assert_true(p->FilterEnabled && p->FilterType == EVENT_FILTER_TYPE_EVENT_ID && p->FilterData.count == sizeof ids);
    object_release(provider);
    object_release(set);
}

/* What its session does now, live after Query; and what is committed for the next start may change it now. */
static void the_session_of_an_autologger_has_figures(void **state)
{
    struct object *set = set_of_xml("Autosession", "", "<FileName>live</FileName>" ENABLED(4, 0)), *other;
    char *file = file_named("live.etl.0001");
    (void)state;
    assert_done(commit(set, "live", CREATE));
    start_foreign("live", TRACE_MODE_SEQUENTIAL, 64, file);
    other = queried("Autosession\\live");
    struct trace_data_collector *c = collector_in(other);
    assert_true(c->SessionId && c->NumberOfBuffers && c->FreeBuffers && c->SessionThreadId);
    assert_int_equal(c->BufferSize, 8); /* that of the next start */
    assert_int_equal(status_of(other), 4);
    c->FlushTimer = 4;
    c->BufferSize = 128;
    assert_done(commit(other, "live", MODIFY | UPDATE | FLUSH));
    object_release(other);
    other = queried("Session\\live");
    assert_int_equal(collector_in(other)->FlushTimer, 4);
    assert_int_equal(collector_in(other)->BufferSize, 64);
    assert_text(&collector_in(other)->object, "LatestOutputLocation", file);
    object_release(other);
    struct autologger a = loaded("live");
    assert_number(a.flush_timer, 4);
    assert_number(a.buffer_kb, 128);
    autologger_free(&a);
    stop_foreign("live");
    assert_said(commit(set, "live", FLUSH), NOT_FOUND, "Autosession\\live");
    object_release(set);
    memory_free(file);
}

/* Sets that were committed before keys were written are not lost. */
static void a_set_of_an_older_version_becomes_a_key(void **state)
{
    static const char xml[] = "<DataCollectorSet><DisplayName>Old</DisplayName><TraceDataCollector><Name>c</Name>"
                              "<StreamMode>2</StreamMode><FlushTimer>6</FlushTimer></TraceDataCollector>"
                              "</DataCollectorSet>";
    struct texts stored = {0};
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            store_save(&caller_self, "Autosession", i ? "older" : "old", STORE_CREATE, xml, strlen(xml), NULL, NULL),
            S_OK);
    struct object *set = queried("Autosession\\old");
    assert_text(set, "DisplayName", "Old");
    object_release(set);
    assert_int_equal(count_listed("Autosession\\*"), 2);
    struct autologger a = loaded("older");
    assert_number(a.flush_timer, 6);
    autologger_free(&a);
    assert_int_equal(store_list(&caller_self, "Autosession", &stored), S_OK);
    assert_int_equal(stored.count, 0);
}

/* Who looks at all sets sees those of the store also where tracing does not work. */
static void sets_are_listed_where_traces_cannot_be(void **state)
{
    struct object *sets, *user;
    char *own = text_copy(getenv("OPENPLA_ETW"));
    (void)state;
    assert_int_equal(sets_create("Service", &user), S_OK);
    assert_done(commit(user, "kept", CREATE));
    scratch_environment("OPENPLA_ETW", "no name!");
    const size_t all = count_listed(""), found = count_listed("kept");
    assert_int_equal(sets_collection_create(NULL, &sets), S_OK);
    assert_said(sets_find(sets, &caller_self, "", "Autosession\\*"), HRESULT_FROM_WIN32(ERROR_INVALID_NAME),
                "no name!");
    scratch_environment("OPENPLA_ETW", own);
    assert_true(all >= 3 && found == 1); /* with those of System */
    assert_done(set_delete(user, &caller_self));
    object_release(user);
    object_release(sets);
    memory_free(own);
}

/* ---- out of memory ---- */

/* Each allocation fails in turn: that is told, and nothing is half done. */
static void a_query_without_memory_says_so(void **state)
{
    static const char *const names[] = {"Session\\short", "Autosession\\short"};
    struct object *set = set_of_xml("Autosession", "", "<FileName>short</FileName>" ENABLED(4, 5));
    (void)state;
    assert_done(commit(set, "short", CREATE));
    object_release(set);
    start_foreign("short", TRACE_MODE_REAL_TIME, 64, NULL);
    for (size_t i = 0; i < 2; i++) {
        HRESULT hr = E_OUTOFMEMORY;
        for (uint64_t n = 1; hr != S_OK; n++) {
            assert_int_equal(sets_create(NULL, &set), S_OK);
            memory_fail_at(n);
            hr = set_query(set, &caller_self, names[i], "");
            memory_fail_at(0);
            if (hr != E_OUTOFMEMORY && hr != S_OK)
                fail_msg("%s, allocation %u: 0x%08X %s", names[i], (unsigned)n, (unsigned)hr, error_text(hr));
            assert_true(hr == S_OK || !set_of(set)->space);
            object_release(set);
        }
    }
    stop_foreign("short");
}

static void a_commit_without_memory_changes_nothing(void **state)
{
    struct object *set = set_of_xml("Autosession", "", "<FileName>whole</FileName>" ENABLED(4, 5));
    HRESULT hr = E_OUTOFMEMORY;
    (void)state;
    for (uint64_t n = 1; hr != S_OK; n++) {
        struct object *issues;
        assert_int_equal(issues_create(NULL, &issues), S_OK);
        memory_fail_at(n);
        hr = set_commit(set, &caller_self, "whole", "", CREATE, issues);
        memory_fail_at(0);
        object_release(issues);
        if (hr != E_OUTOFMEMORY && hr != S_OK)
            fail_msg("allocation %u: 0x%08X %s", (unsigned)n, (unsigned)hr, error_text(hr));
        assert_int_equal(query("Autosession\\whole"), hr == S_OK ? S_OK : NOT_FOUND);
        assert_true((hr == S_OK) == (set_of(set)->space != NULL));
    }
    object_release(set);
}

int main(void)
{
#define WITH_KEYS(name) cmocka_unit_test_teardown(name, forget_keys)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_started_used_and_stopped),
        cmocka_unit_test(sessions_of_other_programs_are_sets_too),
        cmocka_unit_test(a_session_that_cannot_be_read_hides_no_other),
        cmocka_unit_test(a_circular_private_or_appending_session_says_so),
        cmocka_unit_test(a_running_session_is_changed),
        cmocka_unit_test(what_is_in_the_way_of_a_session_is_named),
        cmocka_unit_test(a_session_in_memory_is_flushed_to_the_file),
        WITH_KEYS(an_autosession_is_a_key),
        WITH_KEYS(an_autologger_of_another_program_is_a_set),
        WITH_KEYS(a_damaged_autologger_is_named),
        WITH_KEYS(what_cannot_begin_by_itself_is_refused),
        WITH_KEYS(filters_are_kept_for_the_next_start),
        WITH_KEYS(the_session_of_an_autologger_has_figures),
        WITH_KEYS(a_set_of_an_older_version_becomes_a_key),
        WITH_KEYS(sets_are_listed_where_traces_cannot_be),
        WITH_KEYS(a_query_without_memory_says_so),
        WITH_KEYS(a_commit_without_memory_changes_nothing),
    };
#undef WITH_KEYS
    return run_numbered("trace_sets", tests, sizeof tests / sizeof *tests);
}
