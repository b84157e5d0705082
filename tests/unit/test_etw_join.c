/* SPDX-License-Identifier: MIT */
/* Providers of this process as the directory has them: what others enable arrives by the waiting thread, and what ends
   is let go. The test itself plays the sessions' host. */
#include "engine/etw/provider_sessions.h"
#include "tests/unit/own_directory.h"
#include "tests/unit/provider_fixture.h"

enum { PATIENCE_MS = 20000, BUFFERS = 8 };

static struct directory *directory;

/* ---- a session as its host would make it ---- */

struct hosted {
    struct directory_session s;
    struct section *section;
    struct signal *signal;
    struct session_buffers buffers;
    struct session_drain *drain;
};

static void host(struct hosted *h, const char *name, uint32_t mode)
{
    static uint32_t number;
    const struct session_shape shape = {.buffers = BUFFERS,
                                        .minimum = BUFFERS,
                                        .buffer_size = FIXTURE_BUFFER,
                                        .processors = 1,
                                        .wake_at = BUFFERS,
                                        .source = session_source_for(ETL_CLOCK_TICKS)};
    size_t size;
    *h = (struct hosted){.s = {.state = DIRECTORY_RUNNING, .mode = mode, .buffer_kb = 64, .clock = ETL_CLOCK_TICKS}};
    h->s.host = (struct directory_process){process_own_id(), process_start_time(process_own_id())};
    h->s.starter = h->s.host;
    h->s.guid = (GUID){++number, 0, 0, {1}};
    snprintf(h->s.section, sizeof h->s.section, "%s-%u-%s", getenv("OPENPLA_ETW"), (unsigned)number, name);
    snprintf(h->s.signal, sizeof h->s.signal, "%s-s", h->s.section);
    assert_int_equal(session_buffers_size(&shape, &size), S_OK);
    h->s.section_size = size;
    const struct shared section = {.name = h->s.section, .create = true, .fresh = true, .lasting = true};
    const struct shared signal = {.name = h->s.signal, .create = true};
    assert_int_equal(section_open(&section, size, &h->section), S_OK);
    assert_int_equal(signal_open(&signal, &h->signal), S_OK);
    assert_int_equal(session_buffers_create(section_memory(h->section), size, &shape, &h->buffers), S_OK);
    h->drain = fixture_drain(&h->buffers, 0);
    h->s.name = text_copy(name);
    assert_int_equal(directory_begin(directory), S_OK);
    assert_int_equal(directory_session_add(directory, &h->s), S_OK);
    (void)directory_end(directory, NULL, 0);
}

static uint64_t enable(const struct hosted *h, struct directory_enable e)
{
    e.logger = h->s.logger;
    e.turn = h->s.turn;
    assert_int_equal(directory_begin(directory), S_OK);
    assert_int_equal(directory_enable_set(directory, &e), S_OK);
    return directory_end(directory, &e.provider, 1);
}

static void stop(struct hosted *h)
{
    GUID *providers;
    size_t count;
    assert_int_equal(directory_begin(directory), S_OK);
    assert_int_equal(directory_session_remove(directory, h->s.logger, h->s.turn, &providers, &count), S_OK);
    const uint64_t generation = directory_end(directory, providers, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(directory_wait_applied(directory, &providers[i], generation, PATIENCE_MS), S_OK);
    memory_free(providers);
    session_drain_free(h->drain);
    section_close(h->section);
    assert_int_equal(section_delete(h->s.section), S_OK);
    signal_close(h->signal);
    directory_session_free(&h->s);
}

static void wait_applied(const GUID *provider, uint64_t generation)
{
    assert_int_equal(directory_wait_applied(directory, provider, generation, PATIENCE_MS), S_OK);
}

static uint32_t came(struct hosted *h)
{
    struct fixture_session f = {.drain = h->drain};
    return fixture_read(&f)->count;
}

/* ---- tests ---- */

static const EVENT_DESCRIPTOR some_event = {.Id = 7, .Level = 4, .Keyword = 5};

struct heard {
    atomic_int calls;
    ULONG enabled;
    UCHAR level;
    uint32_t thread;
    REGHANDLE *handle;
    REGHANDLE handle_then;
};

static VOID WINAPI hear(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                        EVENT_FILTER_DESCRIPTOR *filter, PVOID context)
{
    (void)source, (void)any, (void)all, (void)filter;
    struct heard *h = context;
    h->enabled = enabled;
    h->level = level;
    h->thread = thread_own_id();
    h->handle_then = *h->handle;
    h->calls++;
}

static void registration_is_refused_as_windows_does(void **state)
{
    (void)state;
    REGHANDLE handle = 5;
    assert_int_equal(EventRegister(NULL, NULL, NULL, &handle), ERROR_INVALID_PARAMETER);
    assert_int_equal(handle, 0);
    assert_int_equal(EventRegister(&fixture_guid, NULL, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventRegister(&fixture_guid, NULL, &handle, &handle), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventUnregister(0), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(0xDEADBEEF), ERROR_INVALID_HANDLE);
}

static void what_is_enabled_arrives_and_what_is_written_too(void **state)
{
    (void)state;
    struct hosted session;
    REGHANDLE handle;
    struct heard heard = {.handle = &handle};
    host(&session, "arrives", 0);
    assert_int_equal(EventRegister(&fixture_guid, hear, &heard, &handle), ERROR_SUCCESS);
    assert_int_equal(heard.calls, 0);
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
    wait_applied(&fixture_guid, enable(&session, (struct directory_enable){.provider = fixture_guid, .level = 4}));
    assert_int_equal(heard.calls, 1);
    assert_int_equal(heard.enabled, 1);
    assert_int_equal(heard.level, 4);
    assert_int_not_equal(heard.thread, thread_own_id());
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(came(&session), 1);
    /* One that comes later finds it enabled, on its own thread. */
    REGHANDLE second;
    struct heard second_heard = {.handle = &second};
    assert_int_equal(EventRegister(&fixture_guid, hear, &second_heard, &second), ERROR_SUCCESS);
    assert_int_equal(second_heard.calls, 1);
    assert_int_equal(second_heard.thread, thread_own_id());
    assert_true(second_heard.handle_then == second && second != handle);
    assert_int_equal(EventWrite(second, &some_event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(came(&session), 1);
    stop(&session);
    assert_int_equal(heard.calls, 2);
    assert_int_equal(heard.enabled, 0);
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(second), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(second), ERROR_INVALID_HANDLE);
    struct directory_registration *list;
    size_t count;
    assert_int_equal(directory_registrations(directory, &list, &count), S_OK);
    assert_int_equal(count, 0);
    memory_free(list);
}

static void a_session_that_follows_on_the_same_logger_gets_its_own(void **state)
{
    (void)state;
    REGHANDLE handle;
    struct hosted session;
    assert_int_equal(EventRegister(&fixture_guid, NULL, NULL, &handle), ERROR_SUCCESS);
    for (int i = 0; i < 20; i++) {
        host(&session, "follows", 0);
        wait_applied(&fixture_guid, enable(&session, (struct directory_enable){.provider = fixture_guid}));
        assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
        assert_int_equal(came(&session), 1);
        stop(&session);
    }
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

static void events_have_keys_that_are_the_same_in_all_sessions(void **state)
{
    (void)state;
    uint64_t keys[2][2];
    uint32_t size;
    struct hosted sessions[2];
    REGHANDLE handle;
    assert_int_equal(EventRegister(&fixture_guid, NULL, NULL, &handle), ERROR_SUCCESS);
    for (int i = 0; i < 2; i++) {
        host(&sessions[i], i ? "keys" : "more keys", 0);
        const struct directory_enable e = {.provider = fixture_guid, .property = EVENT_ENABLE_PROPERTY_EVENT_KEY};
        wait_applied(&fixture_guid, enable(&sessions[i], e));
    }
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
    for (int i = 0; i < 2; i++) {
        struct fixture_session f = {.drain = sessions[i].drain};
        const struct fixture_log *log = fixture_read(&f);
        assert_int_equal(log->count, 2);
        for (int k = 0; k < 2; k++) {
            const uint8_t *item = fixture_item(&log->event[k].record, ETW_ITEM_EVENT_KEY, &size);
            assert_true(item && size == 8);
            keys[i][k] = get_u64(item);
        }
    }
    assert_true(keys[0][0] == keys[1][0] && keys[0][1] == keys[1][1] && keys[0][0] != keys[0][1]);
    stop(&sessions[0]);
    stop(&sessions[1]);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

static void a_group_wakes_its_members(void **state)
{
    (void)state;
    const GUID group = {9, 9, 9, {9}};
    uint8_t traits[4 + 19] = {sizeof traits, 0, 'p', 0, 19, 0, ETW_TRAIT_GROUP};
    struct hosted session;
    REGHANDLE handle;
    struct heard heard = {.handle = &handle};
    memcpy(traits + 7, &group, sizeof group);
    host(&session, "group", 0);
    assert_int_equal(EventRegister(&fixture_guid, hear, &heard, &handle), ERROR_SUCCESS);
    assert_int_equal(EventSetInformation(handle, (EVENT_INFO_CLASS)ETW_INFO_TRAITS, traits, sizeof traits),
                     ERROR_SUCCESS);
    const struct directory_enable e = {.provider = group, .property = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP};
    wait_applied(&group, enable(&session, e));
    assert_int_equal(heard.calls, 1);
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(came(&session), 1);
    stop(&session);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

static void a_section_that_is_no_sessions_enables_nothing(void **state)
{
    (void)state;
    struct hosted session;
    REGHANDLE handle;
    host(&session, "lies", 0);
    atomic_store(&session.buffers.shared->magic, 0);
    assert_int_equal(EventRegister(&fixture_guid, NULL, NULL, &handle), ERROR_SUCCESS);
    wait_applied(&fixture_guid, enable(&session, (struct directory_enable){.provider = fixture_guid}));
    assert_false(EventProviderEnabled(handle, 1, 1));
    stop(&session);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

static int begin(void **state)
{
    own_directory_name();
    directory = own_directory();
    return everybody_lives(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registration_is_refused_as_windows_does),
        cmocka_unit_test(what_is_enabled_arrives_and_what_is_written_too),
        cmocka_unit_test(a_session_that_follows_on_the_same_logger_gets_its_own),
        cmocka_unit_test(events_have_keys_that_are_the_same_in_all_sessions),
        cmocka_unit_test(a_group_wakes_its_members),
        cmocka_unit_test(a_section_that_is_no_sessions_enables_nothing),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
