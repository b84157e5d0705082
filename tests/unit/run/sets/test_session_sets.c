/* SPDX-License-Identifier: MIT */
/* Session sets: all running sessions, even those that other programs have started. MS-PLA 3.2.1, 3.2.4.9 notes 22 to
   27; behaviour 4, 10. */
#include "engine/etw/etw_api.h"
#include "engine/pla/store.h"
#include "tests/unit/run/sets/trace_set_fixture.h"

/* The usual task: a session without a stored set. It continues after the object that started it is released. */
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
    assert_int_equal(query("Session\\job"), NOT_FOUND); /* the set exists only while it runs */
    assert_done(commit(set, "JOB", MODIFY));
    assert_int_equal(set_stop(set, &caller_self, true), PLA_E_DCS_NOT_RUNNING);
    assert_done(set_start(set, &caller_self, true));
    assert_int_equal(status_of(set), 1);
    assert_int_not_equal(collector_in(set)->SessionId, 0);
    assert_int_equal(collector_in(set)->FreeBuffers, 0); /* Start does not read the statistics */
    assert_message(set_start(set, &caller_self, true), PLA_E_DCS_IN_USE, "'JOB' is running");
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
    assert_message(set_delete(set, &caller_self), PLA_E_DCS_IN_USE, "is running");
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

/* The descriptor of the GUID controls access to a session, and is the value of Security. If a client puts another
   descriptor, it has no effect, and this is reported. */
static void security_is_that_of_the_guid(void **state)
{
#define OWN_SECURITY "O:BAG:BAD:(A;;0x120fff;;;BA)(A;;0x120fff;;;SY)"
    static const GUID session = {0x77777777, 1, 2, {3}};
    struct object *issues,
        *set = set_of_xml("Session", "<Security>" OWN_SECURITY "</Security>",
                          "<StreamMode>2</StreamMode><Guid>{77777777-0001-0002-0300-000000000000}</Guid>");
    bool reported;
    (void)state;
    assert_done(commit_with(set, "guarded", CREATE, &issues));
    assert_int_equal(issues_has(issues, PLA_S_PROPERTY_IGNORED, "Security", &reported), S_OK);
    assert_true(reported);
    object_release(issues);
    assert_done(set_start(set, &caller_self, true));
    object_release(set);
    set = queried("Session\\guarded");
#ifdef _WIN32
    assert_done(event_provider_set_security(&session, OWN_SECURITY));
    object_release(set);
    set = queried("Session\\guarded");
    struct value v;
    assert_int_equal(object_get(set, class_property(set->class, "Security"), &v), S_OK);
    assert_non_null(strstr(v.text, ";;;BA)"));
    assert_non_null(strstr(v.text, ";;;SY)"));
    assert_null(strstr(v.text, ";;;S-1-5-32-559)"));
    value_free(&v);
    /* If the client has only the queried value, nothing is reported. */
    assert_done(commit_with(set, "guarded", BOTH | UPDATE, &issues));
    assert_int_equal(issues_has(issues, PLA_S_PROPERTY_IGNORED, "Security", &reported), S_OK);
    assert_false(reported);
    object_release(issues);
    GUID guid_again = session;
    assert_int_equal(EventAccessRemove(&guid_again), ERROR_SUCCESS);
#else
    (void)session;
#endif
    assert_done(set_stop(set, &caller_self, true));
    object_release(set);
}

/* A list must contain all sessions of this machine, with all properties. */
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
            assert_int_equal(c->BufferSize, 2048);
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

/* If a session has all keywords, it must not be read as a session without keywords, which would get no events. ETW
   stores 0 as all keywords. */
static void all_keywords_of_a_session_read_back(void **state)
{
    static const char *const keywords[] = {ENABLED(4, 0xffffffffffffffff), ENABLED(4, 0),
                                           ENABLED(4, 18446744073709551615), ENABLED(4, 0x8000000000000000)};
    static const uint64_t read_back[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_C(1) << 63};
    (void)state;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        struct object *set = set_of_xml("Session", "", keywords[i]), *provider;
        char *xml;
        assert_done(commit(set, "keywords", CREATE));
        assert_done(set_start(set, &caller_self, true));
        object_release(set);
        set = queried("Session\\keywords");
        assert_int_equal(collection_item(collector_in(set)->TraceDataProviders, 0, &provider), S_OK);
        assert_true(map_value(((struct trace_data_provider *)provider)->KeywordsAny) == read_back[i]);
        assert_int_equal(map_value(((struct trace_data_provider *)provider)->KeywordsAll), 0);
        object_release(provider);
        assert_int_equal(object_to_xml(set, &xml, NULL), S_OK);
        assert_non_null(strstr(strstr(xml, "<KeywordsAny>"),
                               i == 3 ? "<Value>0x8000000000000000</Value>" : "<Value>0xffffffffffffffff</Value>"));
        memory_free(xml);
        assert_done(set_stop(set, &caller_self, true));
        object_release(set);
    }
}

/* logman's option -bs must accept more than 1024 KB, because sessions support up to 16384 KB. */
static void large_buffers_are_accepted(void **state)
{
    struct object *set = set_of_xml("Session", "", "<BufferSize>2048</BufferSize>" ENABLED(4, 0));
    const struct property *size = class_property(&trace_data_collector_class, "BufferSize");
    (void)state;
    assert_done(commit(set, "large", CREATE));
    assert_done(set_start(set, &caller_self, true));
    object_release(set);
    set = queried("Session\\large");
    assert_int_equal(collector_in(set)->BufferSize, 2048);
    assert_done(set_stop(set, &caller_self, true));
    assert_done(object_put(&collector_in(set)->object, size, &(struct value){PROPERTY_U32, .u32 = 16384}));
    assert_message(object_put(&collector_in(set)->object, size, &(struct value){PROPERTY_U32, .u32 = 16385}),
                   E_INVALIDARG, "BufferSize: 16385 is not between 1 and 16384");
    object_release(set);
}

/* Kills the host process of a session, and removes the session's log with its folder. */
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

/* If a session cannot be queried, the reason must be reported, the other sessions must be listed, and it must be
   possible to remove the session. */
static void unreadable_session_hides_no_other(void **state)
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
    assert_message(set_query(set, &caller_self, "broken", ""), HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                   "Session\\broken\": trace session 'broken'");
    HRESULT hr = set_stop(set, &caller_self, true); /* the error must contain the log's name */
    assert_true(FAILED(hr) && strstr(error_text(hr), "gone.etl"));
    assert_int_equal(query("Session\\broken"), NOT_FOUND);
    object_release(set);
    stop_foreign("whole");
    memory_free(file);
    memory_free(below);
}

static void session_modes_are_shown_by_properties(void **state)
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

/* Scripts may update a session dozens of times, for example to add event providers. The session, its statistics and its
   file must continue. */
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
    assert_message(commit(set, "changed", CREATE), PLA_E_DCS_ALREADY_EXISTS, "'changed'");
    assert_message(commit(set, "changed", BOTH), PLA_E_DCS_IN_USE, "0x10");
    object_release(set);
    write_numbered(provider);

    /* If the object has no different values, nothing must change, in particular not the file. */
    set = queried("Session\\changed");
    const uint64_t session = collector_in(set)->SessionId;
    assert_done(commit(set, "changed", MODIFY | UPDATE));
    object_release(set);
    set = queried("Session\\changed");
    assert_text(&collector_in(set)->object, "LatestOutputLocation", one);
    assert_int_equal(collector_in(set)->SessionId, session);

    /* If the client only requests a flush, nothing must change in the running session, even if the object has other
       values. */
    object_release(set);
    set = set_of_xml("Session", "", "<FileName>changed</FileName><FlushTimer>7</FlushTimer>" ENABLED(4, 1));
    assert_done(commit(set, "changed", BOTH | FLUSH));
    object_release(set);
    set = queried("Session\\changed");
    assert_int_equal(collector_in(set)->FlushTimer, 1);
    assert_int_equal(collector_in(set)->SessionId, session);

    /* Event providers, the timer and the file can change. A property that cannot change is reported. */
    object_release(set);
    set = set_of_xml("Session", "",
                     "<FileName>second</FileName><FlushTimer>2</FlushTimer><BufferSize>99</BufferSize>"
                     "<TraceDataProvider><Guid>{33333333-0001-0002-0300-000000000000}</Guid></TraceDataProvider>");
    assert_done(commit_with(set, "changed", MODIFY | UPDATE, &issues));
    bool reported;
    assert_int_equal(issues_has(issues, PLA_S_PROPERTY_IGNORED, "TraceDataCollector[1]/BufferSize", &reported), S_OK);
    assert_true(reported);
    object_release(issues);
    write_numbered(provider); /* this event provider is no longer enabled */
    other = queried("Session\\changed");
    struct trace_data_collector *c = collector_in(other);
    assert_int_equal(c->SessionId, session);
    assert_int_equal(c->BufferSize, 8);
    assert_int_equal(c->FlushTimer, 2);
    assert_text(&c->object, "LatestOutputLocation", two);
    assert_int_equal(collection_count(c->TraceDataProviders), 1);
    object_release(other);

    /* If a property can be neither changed nor ignored, the error names it, and nothing changes. */
    c = collector_in(set);
    c->StreamMode = 2;
    assert_message(commit(set, "changed", MODIFY | UPDATE), E_INVALIDARG, "StreamMode: ");
    c->StreamMode = 1;
    c->LogAppend = true;
    assert_message(commit(set, "changed", MODIFY | UPDATE), E_INVALIDARG, "LogAppend: ");
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

/* If a start fails, the error must name what prevented it. */
static void obstacle_of_a_session_is_named(void **state)
{
    struct object *set = set_of_xml("Session", "", "<StreamMode>2</StreamMode>"), *issues;
    struct object *twin = set_of_xml("Session", "",
                                     "<StreamMode>2</StreamMode><SessionName>another</SessionName>"
                                     "<Guid>{0A0B0C0D-0001-0002-0300-000000000000}</Guid>");
    bool reported;
    (void)state;
    start_foreign("taken", TRACE_MODE_REAL_TIME, 64, NULL);
    assert_message(commit(set, "Taken", CREATE), PLA_E_DCS_ALREADY_EXISTS, "Taken");
    stop_foreign("taken");
    assert_done(commit(set, "taken", CREATE));
    start_foreign("taken", TRACE_MODE_REAL_TIME, 64, NULL);
    assert_message(set_start(set, &caller_self, true), PLA_E_DCS_IN_USE, "'taken' is running");
    stop_foreign("taken");
    collector_in(set)->Guid = collector_in(twin)->Guid;
    assert_done(set_start(set, &caller_self, true));
    assert_done(commit_with(twin, "twin", CREATE, &issues));
    assert_int_equal(issues_has(issues, PLA_S_PROPERTY_IGNORED, "TraceDataCollector[1]/SessionName", &reported), S_OK);
    assert_true(reported); /* the session has the set's name */
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
    assert_message(set_start(set, &caller_self, true), HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND), "/no/such/folder");
    assert_int_equal(status_of(set), 0);
    object_release(set);
    set = set_of_xml("Session", "", "<ProcessMode>-1</ProcessMode>");
    assert_done(commit(set, "private", CREATE));
    assert_message(set_start(set, &caller_self, true), E_INVALIDARG, "ProcessMode");
    assert_message(commit(set, "private", FLUSH), NOT_FOUND, "Session\\private");
    object_release(set);
    set = set_of_xml("Session", "",
                     "<TraceDataProvider><Guid>{9E814AAD-3204-11D2-9A82-006008A86939}</Guid></TraceDataProvider>");
    assert_done(commit_with(set, "kernel", CREATE, &issues));
    object_release(issues);
    assert_message(set_start(set, &caller_self, true), PLA_E_INVALID_SESSION_NAME,
                   "require session 'NT Kernel Logger'");
    assert_int_equal(query("Session\\kernel"), NOT_FOUND);
    object_release(set);
}

/* A running kernel session is a set, even if another program started it. As in exports of Windows, each flag is an
   item. */
static void kernel_session_is_a_set(void **state)
{
    static const char *const names[] = {"NT Kernel Logger", "system"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char *collector = text_format(
            "<StreamMode>2</StreamMode><ExtendedModes>%u</ExtendedModes><TraceDataProvider>"
            "<Guid>{9E814AAD-3204-11D2-9A82-006008A86939}</Guid><KeywordsAny><Value>0x10303</Value></KeywordsAny>"
            "</TraceDataProvider>",
            i ? 0x2000000u : 0u);
        struct object *set = set_of_xml("Session", "", collector), *live;
        char *full = text_format("Session\\%s", names[i]), *xml;
        assert_done(commit(set, names[i], CREATE));
        assert_done(set_start(set, &caller_self, true));
        live = queried(full);
        assert_int_equal(set_to_stored_xml(live, &xml, NULL), S_OK);
        assert_non_null(strstr(xml, "<DisplayName>Windows Kernel Trace</DisplayName>"));
        assert_non_null(strstr(xml, "<Value>0x10303</Value>"));
        for (const char *const *flag = (const char *const[]){"0x1<", "0x2<", "0x100<", "0x200<", "0x10000<", NULL};
             *flag; flag++)
            assert_non_null(strstr(xml, *flag));
        memory_free(xml);
        object_release(live);
        /* New flags, in a flag array, are applied to the running session, in all of its masks. */
        memory_free(collector);
        collector = text_format("<StreamMode>2</StreamMode><ExtendedModes>%u</ExtendedModes><TraceDataProvider>"
                                "<Guid>{9E814AAD-3204-11D2-9A82-006008A86939}</Guid><KeywordsAny><ValueMapType>3"
                                "</ValueMapType><ValueMapItem><Enabled>-1</Enabled><Value>0x20000004</Value>"
                                "</ValueMapItem></KeywordsAny></TraceDataProvider>",
                                i ? 0x2000000u : 0u);
        object_release(set);
        set = set_of_xml("Session", "", collector);
        assert_done(commit(set, names[i], MODIFY | UPDATE));
        live = queried(full);
        assert_int_equal(set_to_stored_xml(live, &xml, NULL), S_OK);
        assert_non_null(strstr(xml, "<Value>0x20000004</Value>"));
        assert_null(strstr(xml, "0x10000<"));
        memory_free(xml);
        object_release(live);
        assert_done(set_stop(set, &caller_self, true));
        object_release(set);
        memory_free(full);
        memory_free(collector);
    }
}

/* If a session has its buffers only in memory, a flush writes them to the path of its file. The session continues. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_started_used_and_stopped),
        cmocka_unit_test(security_is_that_of_the_guid),
        cmocka_unit_test(sessions_of_other_programs_are_sets_too),
        cmocka_unit_test(all_keywords_of_a_session_read_back),
        cmocka_unit_test(large_buffers_are_accepted),
        cmocka_unit_test(unreadable_session_hides_no_other),
        cmocka_unit_test(session_modes_are_shown_by_properties),
        cmocka_unit_test(a_running_session_is_changed),
        cmocka_unit_test(obstacle_of_a_session_is_named),
        cmocka_unit_test(kernel_session_is_a_set),
        cmocka_unit_test(a_session_in_memory_is_flushed_to_the_file),
    };
    return run_numbered("session_sets", tests, sizeof tests / sizeof *tests);
}
