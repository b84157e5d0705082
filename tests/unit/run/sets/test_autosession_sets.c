/* SPDX-License-Identifier: MIT */
/* Autosession sets: the registry keys of autologgers, including those of other programs. MS-PLA 3.2.1, 3.2.4.9 notes 22
   to 27; behaviour 4, 10. */
#include "engine/base/registry.h"
#include "engine/base/thread.h"
#include "engine/etw/autologger.h"
#include "engine/pla/store.h"
#include "tests/unit/run/sets/trace_set_fixture.h"
#ifdef _WIN32
#include "engine/etw/etw_api.h"
#include "tests/unit/callers.h"
#endif

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
    assert_int_equal(registry_create(path, &made, &key), S_OK);
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

/* A commit writes the values into a key, which ETW reads when Windows starts. */
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
    assert_true(text_to_guid(a.guid, &made) && made.Data1 != 0); /* ETW requires a GUID */
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
    assert_int_equal(c->SessionId + c->NumberOfBuffers + c->BuffersWritten, 0); /* the session is not running */
    assert_int_equal(status_of(other), 4);
    assert_message(set_start(other, &caller_self, false), E_NOTIMPL, "Autosession");
    assert_message(set_stop(other, &caller_self, true), E_NOTIMPL, "Autosession");

    /* The session is now disabled and has no file. */
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

/* A key that another program created is also a set. A change of the set keeps values that only ETW understands. */
static void foreign_autologger_is_a_set(void **state)
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
    assert_int_equal(collection_count(c->TraceDataProviders), 1); /* the disabled event provider is not in the set */
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
    assert_false(p->any.there); /* with a value here, the flags would have no effect */
    p = p == a.providers ? p + 1 : p - 1;
    assert_number(p->enabled, 0);
    assert_number(p->level, 2);
    autologger_free(&a);
    object_release(set);
    registry_close(off);
    registry_close(on);
    registry_close(key);
}

/* If an autologger is corrupt, the others are still listed. The error names it and its invalid value, and it can be
   deleted. */
static void corrupt_autologger_is_named(void **state)
{
    struct object *good = set_of_xml("Autosession", "", ""), *set;
    struct registry_key *key = opened("damaged");
    (void)state;
    assert_done(commit(good, "good", CREATE));
    assert_int_equal(registry_write_text(key, "BufferSize", "many"), S_OK);
    assert_int_equal(count_listed("Autosession\\*"), 1);
    assert_message(query("Autosession\\damaged"), HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "BufferSize");
    assert_int_equal(registry_write_number(key, "BufferSize", REGISTRY_NUMBER, 64), S_OK);
    assert_int_equal(registry_write_text(key, "OpenPLA", "<DataCollectorSet>"), S_OK);
    assert_int_equal(count_listed("Autosession\\*"), 1);
    assert_int_equal(sets_create(NULL, &set), S_OK);
    assert_message(set_query(set, &caller_self, "Autosession\\damaged", ""), OPENPLA_E_MALFORMED_XML,
                   "Autosession\\damaged\": the value OpenPLA");
    assert_done(set_delete(set, &caller_self));
    assert_int_equal(query("Autosession\\damaged"), NOT_FOUND);
    registry_close(key);
    object_release(set);
    object_release(good);
}

static void unsupported_autosessions_are_rejected(void **state)
{
    struct object *set = set_of_xml("Autosession", "", "<ProcessMode>-1</ProcessMode>" ENABLED(4, 0));
    char name[302];
    (void)state;
    assert_message(commit(set, "never", CREATE), E_INVALIDARG, "ProcessMode");
    object_release(set);
    set = set_of_xml("Autosession", "<SegmentMaxSize>1</SegmentMaxSize>", "<ExtendedModes>8</ExtendedModes>");
    assert_message(commit(set, "never", CREATE), E_INVALIDARG, "NEWFILE");
    object_release(set);
    set = set_of_xml("Autosession", "", "");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_message(commit(set, name, CREATE), E_INVALIDARG, "255");
    assert_int_equal(count_listed("Autosession\\*"), 0);
    object_release(set);
}

/* Filters of event providers are stored for the next start and can be removed. Filters of other programs are kept. */
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
    assert_int_equal(registry_create(path, &made, &key), S_OK);
    assert_int_equal(registry_write(key, "EVENT_FILTER_TYPE_EVENT_ID", REGISTRY_BYTES, ids, sizeof ids), S_OK);
    assert_int_equal(registry_remove(key, "OpenPLA"), S_FALSE);
    registry_close(key);
    memory_free(path);
    path = key_of("filtered");
    assert_int_equal(registry_open(path, true, &key), S_OK);
    assert_int_equal(registry_remove(key, "OpenPLA"), S_OK); /* ETW's own values also contain the filter */
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

/* Query returns the statistics of the running session. Settings are those for the next start, and a commit can change
   them. */
static void session_of_an_autologger_has_statistics(void **state)
{
    struct object *set = set_of_xml("Autosession", "", "<FileName>live</FileName>" ENABLED(4, 0)), *other;
    char *file = file_named("live.etl.0001");
    (void)state;
    assert_done(commit(set, "live", CREATE));
    start_foreign("live", TRACE_MODE_SEQUENTIAL, 64, file);
    other = queried("Autosession\\live");
    struct trace_data_collector *c = collector_in(other);
    assert_true(c->SessionId && c->NumberOfBuffers && c->FreeBuffers && c->SessionThreadId);
    assert_int_equal(c->BufferSize, 8); /* value for the next start */
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
    assert_message(commit(set, "live", FLUSH), NOT_FOUND, "Autosession\\live");
    object_release(set);
    memory_free(file);
}

/* Older versions wrote no keys. Sets that they committed must not be lost. */
static void set_of_an_older_version_becomes_a_key(void **state)
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

/* Even if tracing does not work on a machine, a list of all sets must contain the sets in the store. */
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
    assert_message(sets_find(sets, &caller_self, "", "Autosession\\*"), HRESULT_FROM_WIN32(ERROR_INVALID_NAME),
                   "no name!");
    scratch_environment("OPENPLA_ETW", own);
    assert_true(all >= 3 && found == 1); /* the list also contains the System sets */
    assert_done(set_delete(user, &caller_self));
    object_release(user);
    object_release(sets);
    memory_free(own);
}

struct committer {
    struct object *set;
    atomic_uint failed, done;
};

static void commit_often(void *user)
{
    struct committer *c = user;
    struct object *issues;
    for (int i = 0; i < 60; i++) {
        if (FAILED(issues_create(NULL, &issues)))
            abort();
        atomic_fetch_add(&c->failed, FAILED(set_commit(c->set, &caller_self, "shared", "", MODIFY, issues)));
        object_release(issues);
    }
    atomic_store(&c->done, 1);
}

/* If two programs change the same key, a reader must get the values that one of them committed, never a mixture. */
static void concurrent_commits_do_not_mix(void **state)
{
    struct committer c[2] = {
        {.set = set_of_xml("Autosession", "", "<BufferSize>16</BufferSize><FlushTimer>16</FlushTimer>" ENABLED(1, 16))},
        {.set =
             set_of_xml("Autosession", "", "<BufferSize>64</BufferSize><FlushTimer>64</FlushTimer>" ENABLED(1, 64))}};
    struct thread *threads[2];
    (void)state;
    assert_done(commit(c[0].set, "shared", CREATE));
    for (int i = 0; i < 2; i++)
        assert_int_equal(thread_start(commit_often, &c[i], &threads[i]), S_OK);
    while (!atomic_load(&c[0].done) || !atomic_load(&c[1].done)) {
        struct object *set = queried("Autosession\\shared"), *provider;
        const struct trace_data_collector *t = collector_in(set);
        assert_int_equal(t->BufferSize, t->FlushTimer);
        assert_int_equal(collection_item(t->TraceDataProviders, 0, &provider), S_OK);
        assert_int_equal(map_value(((struct trace_data_provider *)provider)->KeywordsAny), t->BufferSize);
        object_release(provider);
        object_release(set);
    }
    for (int i = 0; i < 2; i++) {
        assert_true(thread_wait(threads[i], PATIENCE_MS));
        thread_close(threads[i]);
        assert_int_equal(c[i].failed, 0);
        object_release(c[i].set);
    }
}

/* ---- out of memory ---- */

/* If any allocation fails, the error is reported, and no partial result is left. */
static void query_without_memory_fails(void **state)
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

static void commit_without_memory_changes_nothing(void **state)
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

#ifdef _WIN32
/* A running session with the set's name may belong to another user. A caller who may change autosessions may change or
   flush it only if the descriptor of its GUID allows this. Native builds store no access rights for GUIDs. */
static void running_session_has_its_own_access_check(void **state)
{
    GUID open = {0x66666666, 1, 2, {3}};
    struct object *issues,
        *boot = set_of_xml("Autosession", "",
                           "<StreamMode>2</StreamMode><Guid>{66666666-0001-0002-0300-000000000000}</Guid>"),
        *live =
            set_of_xml("Session", "", "<StreamMode>2</StreamMode><Guid>{55555555-0001-0002-0300-000000000000}</Guid>");
    struct callers callers;
    (void)state;
    callers_open(&callers);
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_done(commit(boot, "shared", CREATE));
    assert_done(event_provider_set_security(&open, "O:BAG:BAD:(A;;0x120fff;;;WD)"));
    assert_done(commit(live, "shared", CREATE));
    assert_done(set_start(live, &caller_self, true));
    assert_done(set_commit(boot, &callers.user, "shared", "", MODIFY, issues)); /* changes only the next start */
    assert_message(set_commit(boot, &callers.user, "shared", "", MODIFY | UPDATE, issues), E_ACCESSDENIED,
                   "'Session\\shared'");
    assert_message(set_commit(boot, &callers.user, "shared", "", MODIFY | FLUSH, issues), E_ACCESSDENIED,
                   "'Session\\shared'");
    assert_message(set_commit(boot, &callers.user, "shared", "", FLUSH, issues), E_ACCESSDENIED, "'Session\\shared'");
    assert_done(set_commit(boot, &callers.administrator, "shared", "", FLUSH, issues));
    assert_done(set_stop(live, &caller_self, true));
    assert_int_equal(EventAccessRemove(&open), ERROR_SUCCESS);
    object_release(live);
    object_release(boot);
    object_release(issues);
    callers_close(&callers);
}
#endif

#define WITH_KEYS(name) cmocka_unit_test_teardown(name, forget_keys)
int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_KEYS(an_autosession_is_a_key),
        WITH_KEYS(foreign_autologger_is_a_set),
        WITH_KEYS(corrupt_autologger_is_named),
        WITH_KEYS(unsupported_autosessions_are_rejected),
        WITH_KEYS(filters_are_kept_for_the_next_start),
        WITH_KEYS(session_of_an_autologger_has_statistics),
#ifdef _WIN32
        WITH_KEYS(running_session_has_its_own_access_check),
#endif
        WITH_KEYS(set_of_an_older_version_becomes_a_key),
        WITH_KEYS(sets_are_listed_where_traces_cannot_be),
        WITH_KEYS(concurrent_commits_do_not_mix),
        WITH_KEYS(query_without_memory_fails),
        WITH_KEYS(commit_without_memory_changes_nothing),
    };
    return run_numbered("autosession_sets", tests, sizeof tests / sizeof *tests);
}
