/* SPDX-License-Identifier: MIT */
/* EventWrite and related functions: events arrive completely and only in the sessions that enabled them, and each call
   returns Windows' code. */
#include "tests/unit/etw/provider_fixture.h"
#include "tests/unit/patience.h"

static const EVENT_DESCRIPTOR some_event = {
    .Id = 7, .Version = 2, .Channel = 16, .Level = 4, .Opcode = 1, .Task = 9, .Keyword = 0x8000000000000005};

static EVENT_DATA_DESCRIPTOR piece(const void *at, ULONG size)
{
    return (EVENT_DATA_DESCRIPTOR){.Ptr = (uintptr_t)at, .Size = size};
}

/* Registers these tests' only event provider, with the settings in `list`. */
static REGHANDLE provider_for(const struct directory_enable *list, size_t count)
{
    const REGHANDLE handle = fixture_register(&fixture_guid, NULL, NULL);
    fixture_apply(list, count);
    return handle;
}

/* ---- calls ---- */

static void errors_are_checked_in_windows_order(void **state)
{
    (void)state;
    EVENT_DATA_DESCRIPTOR data[MAX_EVENT_DATA_DESCRIPTORS + 1];
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const struct directory_enable e = fixture_enable(1, 4, 0, 0);
    const REGHANDLE handle = provider_for(&e, 1);
    for (int i = 0; i <= MAX_EVENT_DATA_DESCRIPTORS; i++)
        data[i] = piece("x", 1);
    EVENT_DESCRIPTOR unwanted = some_event;
    unwanted.Level = 5;
    assert_int_equal(EventWrite(0, NULL, 0, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventWrite(0xDEADBEEF, NULL, 0, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventWrite(0, &some_event, 1000, NULL), ERROR_SUCCESS);
    assert_int_equal(EventWrite(0xDEADBEEF, &some_event, 0, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(EventWrite(handle ^ UINT64_C(1) << 16, &some_event, 0, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(EventWrite(UINT64_MAX, &some_event, 0, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(EventWrite(handle, &unwanted, 1000, NULL), ERROR_SUCCESS); /* returns before the data are read */
    assert_int_equal(EventWrite(handle, &some_event, MAX_EVENT_DATA_DESCRIPTORS + 1, data), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventWrite(handle, &some_event, 1, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventWriteTransfer(handle, NULL, NULL, NULL, 0, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventWriteEx(0xDEADBEEF, &some_event, 0, 0, NULL, NULL, 0, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(EventWriteString(handle, 0, 0, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventWriteString(0xDEADBEEF, 0, 0, u""), ERROR_INVALID_HANDLE);
    assert_int_equal(fixture_read(session)->count, 0);
    assert_int_equal(EventWrite(handle, &some_event, MAX_EVENT_DATA_DESCRIPTORS, data), ERROR_SUCCESS);
    const struct fixture_log *log = fixture_read(session);
    assert_int_equal(log->count, 1);
    assert_int_equal(log->event[0].record.data_size, MAX_EVENT_DATA_DESCRIPTORS);
    fixture_unregister(handle);
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_INVALID_HANDLE);
    assert_false(EventEnabled(handle, &some_event));
    assert_false(EventProviderEnabled(handle, 0, 0));
    assert_int_equal(fixture_lost(session), 0);
}

static void event_contains_all_header_fields(void **state)
{
    (void)state;
    const GUID activity = {1, 2, 3, {4}}, own = {5, 6, 7, {8}};
    GUID now = own;
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const struct directory_enable e = fixture_enable(1, 0, 0, 0);
    const REGHANDLE handle = provider_for(&e, 1);
    EVENT_DATA_DESCRIPTOR data[2] = {piece("abc", 3), piece("defghijklm", 10)};
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &now), ERROR_SUCCESS);
    const int64_t from = clock_ticks();
    assert_int_equal(EventWrite(handle, &some_event, 2, data), ERROR_SUCCESS);
    assert_int_equal(EventWriteTransfer(handle, &some_event, &activity, NULL, 2, data), ERROR_SUCCESS);
    assert_int_equal(EventWriteString(handle, 3, 1, u"h\u00e9"), ERROR_SUCCESS);
    assert_int_equal(EventWriteStartScenario(handle, &some_event, 2, data), ERROR_SUCCESS);
    assert_int_equal(EventWriteEndScenario(handle, &some_event, 2, data), ERROR_SUCCESS);
    const int64_t to = clock_ticks();
    const struct fixture_log *log = fixture_read(session);
    assert_int_equal(log->count, 5);
    for (int i = 3; i < 5; i++)
        assert_memory_equal(log->event[i].record.data, "abcdefghijklm", 13);
    for (int i = 0; i < 2; i++) {
        const struct etl_record *r = &log->event[i].record;
        assert_int_equal(r->kind, ETL_RECORD_MANIFEST);
        assert_int_equal(r->pointer_size, sizeof(void *));
        assert_int_equal(r->process, process_own_id());
        assert_int_equal(r->thread, thread_own_id());
        assert_in_range(r->stamp, from, to);
        assert_true(guid_equal(&r->provider, &fixture_guid));
        assert_true(guid_equal(&r->activity, i == 0 ? &own : &activity));
        assert_int_equal(r->id, 7);
        assert_int_equal(r->version, 2);
        assert_int_equal(r->channel, 16);
        assert_int_equal(r->level, 4);
        assert_int_equal(r->opcode, 1);
        assert_int_equal(r->task, 9);
        assert_true(r->keyword == some_event.Keyword);
        assert_int_equal(r->extended_size, 0);
        assert_int_equal(r->data_size, 13);
        assert_memory_equal(r->data, "abcdefghijklm", 13);
        assert_int_equal(get_u16(r->event + 4), 0);
    }
    const struct etl_record *r = &log->event[2].record;
    assert_int_equal(get_u16(r->event + 4), ETW_HEADER_STRING_ONLY);
    assert_int_equal(r->id, 0);
    assert_int_equal(r->level, 3);
    assert_int_equal(r->data_size, 6);
    assert_memory_equal(r->data, u"h\u00e9", 6);
    fixture_unregister(handle);
}

static void pieces_of_all_sizes_arrive(void **state)
{
    (void)state;
    enum { MOST = 40 };
    uint8_t bytes[MOST];
    struct fixture_session *session = fixture_session(1, 0, 8, FIXTURE_BUFFER);
    const struct directory_enable e = fixture_enable(1, 0, 0, 0);
    const REGHANDLE handle = provider_for(&e, 1);
    for (int i = 0; i < MOST; i++)
        bytes[i] = (uint8_t)(i + 1);
    for (ULONG first = 0; first <= 20; first++)
        for (ULONG second = 0; second <= 20; second++) {
            EVENT_DATA_DESCRIPTOR data[3] = {piece(bytes, first), piece(bytes + first, second), piece(bytes, 0)};
            assert_int_equal(EventWrite(handle, &some_event, 3, data), ERROR_SUCCESS);
        }
    const struct fixture_log *log = fixture_read(session);
    assert_int_equal(log->count, 21 * 21);
    for (uint32_t i = 0; i < log->count; i++) {
        assert_int_equal(log->event[i].record.data_size, i / 21 + i % 21);
        assert_memory_equal(log->event[i].record.data, bytes, i / 21 + i % 21);
    }
    fixture_unregister(handle);
}

static void events_that_do_not_fit_are_rejected_and_counted(void **state)
{
    (void)state;
    static uint8_t bytes[65536];
    struct fixture_session *large = fixture_session(1, 0, 4, 1024 * 1024), *small = fixture_session(2, 0, 4, 4096);
    struct directory_enable e = fixture_enable(1, 0, 0, 0);
    const REGHANDLE handle = provider_for(&e, 1);
    EVENT_DATA_DESCRIPTOR data[2] = {piece(bytes, 65528 - EVENT_HEADER_BYTES), piece(bytes, 1)};
    assert_int_equal(EventWrite(handle, &some_event, 1, data), ERROR_SUCCESS);
    assert_int_equal(EventWrite(handle, &some_event, 2, data), ERROR_ARITHMETIC_OVERFLOW);
    data[0].Size = data[1].Size = UINT32_MAX;
    assert_int_equal(EventWrite(handle, &some_event, 2, data), ERROR_ARITHMETIC_OVERFLOW);
    assert_int_equal(fixture_read(large)->count, 1);
    assert_int_equal(fixture_lost(large), 2);
    e.logger = 2;
    fixture_apply(&e, 1);
    data[0].Size = 4096 - ETL_BUFFER_HEAD - EVENT_HEADER_BYTES;
    assert_int_equal(EventWrite(handle, &some_event, 1, data), ERROR_SUCCESS);
    data[0].Size++;
    assert_int_equal(EventWrite(handle, &some_event, 1, data), ERROR_MORE_DATA);
    assert_int_equal(fixture_read(small)->count, 1);
    assert_int_equal(fixture_lost(small), 1);
    /* If no buffer is free: */
    data[0].Size = 3000;
    for (int i = 0; i < 4; i++)
        assert_int_equal(EventWrite(handle, &some_event, 1, data), ERROR_SUCCESS);
    assert_int_equal(EventWrite(handle, &some_event, 1, data), ERROR_NOT_ENOUGH_MEMORY);
    assert_int_equal(fixture_lost(small), 2);
    assert_int_equal(fixture_read(small)->count, 4);
    fixture_unregister(handle);
}

/* ---- sessions that receive an event ---- */

/* MS-PLA 2.2.11.1.2, and other levels. */
static void level_and_keywords_select_events(void **state)
{
    (void)state;
    enum { A = 1, B = 2, C = 4, D = 8 };
    static const struct {
        uint8_t level, session_level;
        uint64_t keyword, any, all;
        uint32_t property;
        bool logged;
    } rows[] = {
        {1, 1, A | B | C, B | C, A, 0, true},
        {1, 1, A | B, B | C, A, 0, true},
        {1, 1, A | C, B | C, A, 0, true},
        {1, 1, B | C, B | C, A, 0, false},
        {1, 1, A, B | C, A, 0, false},
        {1, 1, B, B | C, A, 0, false},
        {1, 1, C, B | C, A, 0, false},
        {1, 1, 0, B | C, A, 0, true},
        {1, 1, 0, B | C, A, EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0, false},
        {1, 1, A, 0, 0, 0, true},
        {1, 1, A, 0, A | B, 0, false},
        {1, 1, A | B, 0, A | B, 0, true},
        {2, 1, A, 0, 0, 0, false},
        {2, 2, A, 0, 0, 0, true},
        {0, 1, A, 0, 0, 0, true},
        {255, 0, A, 0, 0, 0, true},
        {255, 255, A, 0, 0, 0, true},
        {255, 254, A, 0, 0, 0, false},
    };
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const REGHANDLE handle = provider_for(NULL, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EVENT_DESCRIPTOR event = {.Level = rows[i].level, .Keyword = rows[i].keyword};
        struct directory_enable e = fixture_enable(1, rows[i].session_level, rows[i].any, rows[i].all);
        e.property = rows[i].property;
        fixture_apply(&e, 1);
        assert_int_equal(EventWrite(handle, &event, 0, NULL), ERROR_SUCCESS);
        assert_int_equal(fixture_read(session)->count, rows[i].logged);
        /* EventEnabled may return true for an event that is not logged, but never the reverse. */
        assert_true(EventEnabled(handle, &event) || !rows[i].logged);
        assert_int_equal(EventEnabled(handle, &event), EventProviderEnabled(handle, event.Level, event.Keyword));
    }
    fixture_unregister(handle);
}

static void each_session_gets_what_it_requests(void **state)
{
    (void)state;
    struct fixture_session *one = fixture_session(1, 0, 4, FIXTURE_BUFFER),
                           *two = fixture_session(2, 0, 4, FIXTURE_BUFFER);
    struct directory_enable e[2] = {fixture_enable(1, 2, 1, 0), fixture_enable(2, 5, 2, 0)};
    const REGHANDLE handle = provider_for(e, 2);
    for (uint8_t level = 1; level <= 6; level++)
        for (uint64_t keyword = 1; keyword <= 3; keyword++) {
            const EVENT_DESCRIPTOR event = {.Level = level, .Keyword = keyword};
            assert_int_equal(EventWrite(handle, &event, 0, NULL), ERROR_SUCCESS);
        }
    assert_int_equal(fixture_read(one)->count, 2 * 2);
    assert_int_equal(fixture_read(two)->count, 5 * 2);
    /* One session fewer. */
    fixture_apply(e + 1, 1);
    const EVENT_DESCRIPTOR event = {.Level = 1, .Keyword = 3};
    assert_int_equal(EventWrite(handle, &event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(fixture_read(one)->count, 0);
    assert_int_equal(fixture_read(two)->count, 1);
    fixture_apply(NULL, 0);
    assert_int_equal(EventWrite(handle, &event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(fixture_read(two)->count, 0);
    assert_false(EventEnabled(handle, &event));
    fixture_unregister(handle);
}

static void failure_in_one_session_drops_the_event_in_all(void **state)
{
    (void)state;
    static uint8_t bytes[5000];
    struct fixture_session *one = fixture_session(1, 0, 4, FIXTURE_BUFFER), *two = fixture_session(2, 0, 4, 4096);
    struct fixture_session *three = fixture_session(3, TRACE_MODE_INDEPENDENT, 4, FIXTURE_BUFFER);
    struct fixture_session *four = fixture_session(4, TRACE_MODE_INDEPENDENT, 4, 4096);
    struct directory_enable e[4] = {fixture_enable(1, 0, 0, 0), fixture_enable(2, 0, 0, 0), fixture_enable(3, 0, 0, 0),
                                    fixture_enable(4, 0, 0, 0)};
    const REGHANDLE handle = provider_for(e, 4);
    EVENT_DATA_DESCRIPTOR data = piece(bytes, sizeof bytes);
    assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_MORE_DATA);
    assert_int_equal(fixture_read(one)->count, 0);
    assert_int_equal(fixture_lost(one), 1);
    assert_int_equal(fixture_lost(two), 1);
    assert_int_equal(fixture_read(three)->count, 1);
    assert_int_equal(fixture_lost(three), 0);
    assert_int_equal(fixture_lost(four), 1);
    data.Size = 100;
    assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_SUCCESS);
    for (uint32_t i = 1; i <= 4; i++)
        assert_int_equal(fixture_read(&fixture_sessions[i])->count, 1);
    /* Only independent sessions: the callback does not run. */
    fixture_apply(e + 2, 2);
    data.Size = sizeof bytes;
    assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_SUCCESS);
    assert_int_equal(fixture_read(three)->count, 1);
    assert_int_equal(fixture_lost(four), 2);
    /* Abandoned places do not affect later events. */
    struct session_statistics statistics;
    session_statistics_read(&one->memory.b, &statistics);
    assert_int_equal(statistics.events, 1);
    fixture_unregister(handle);
}

static void sessions_are_excluded_by_number_and_by_flag(void **state)
{
    (void)state;
    struct fixture_session *one = fixture_session(1, 0, 4, FIXTURE_BUFFER),
                           *two = fixture_session(2, 0, 4, FIXTURE_BUFFER);
    struct directory_enable e[2] = {fixture_enable(1, 0, 0, 0), fixture_enable(2, 0, 0, 0)};
    e[1].property = EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE;
    const REGHANDLE handle = provider_for(e, 2);
    const uint64_t instance = provider_table[handle % PROVIDER_PLACES].enables->of[0].instance;
    assert_int_equal(EventWriteEx(handle, &some_event, instance, 0, NULL, NULL, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(fixture_read(one)->count, 0);
    assert_int_equal(fixture_read(two)->count, 1);
    assert_int_equal(EventWriteEx(handle, &some_event, 0, ETW_WRITE_INPRIVATE, NULL, NULL, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(fixture_read(one)->count, 1);
    assert_int_equal(fixture_read(two)->count, 0);
    assert_int_equal(EventWriteEx(handle, &some_event, UINT64_MAX, 0, NULL, NULL, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(EventWriteEx(handle, &some_event, 0, 0, NULL, NULL, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(fixture_read(one)->count, 1);
    assert_int_equal(fixture_read(two)->count, 1);
    fixture_unregister(handle);
}

/* ---- a blocking session ---- */

static atomic_bool emptied;

static void empty_later(void *session)
{
    thread_sleep(20);
    emptied = true;
    (void)fixture_read(session);
}

static void a_writer_waits_for_a_blocking_session(void **state)
{
    (void)state;
    static uint8_t bytes[3000];
    struct thread *thread;
    struct fixture_session *session = fixture_session(1, TRACE_MODE_BLOCKING, 2, 4096);
    const struct directory_enable e = fixture_enable(1, 0, 0, 0);
    const REGHANDLE handle = provider_for(&e, 1);
    EVENT_DATA_DESCRIPTOR data = piece(bytes, sizeof bytes);
    emptied = false;
    for (int i = 0; i < 2; i++)
        assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_SUCCESS);
    assert_int_equal(thread_start(empty_later, session, &thread), S_OK);
    assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_SUCCESS);
    assert_true(emptied);
    assert_true(thread_wait(thread, PATIENCE_MS));
    thread_close(thread);
    assert_int_equal(fixture_lost(session), 0);
    /* Writers do not wait for a stopped session. */
    struct fixture_log nowhere = {0};
    const struct session_sink sink = {fixture_log_buffer, NULL, &nowhere};
    assert_int_equal(session_drain_stop(session->drain, &sink, 0), S_OK);
    while (nowhere.count > 0)
        memory_free(nowhere.event[--nowhere.count].bytes);
    assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_SUCCESS);
    assert_int_equal(fixture_lost(session), 0);
    fixture_unregister(handle);
}

static bool held_meanwhile;

static void empty_session_later(void *user)
{
    struct fixture_session *const *session = user;
    thread_sleep(20);
    const uint64_t word = session_load(&session[1]->memory.b.processor[0].word);
    held_meanwhile =
        session_word_buffer(word) < session[1]->memory.b.buffers && session_word_end(word) > ETL_BUFFER_HEAD;
    (void)fixture_read(session[0]);
}

/* Writers must not deadlock if two blocking sessions enabled an event provider in different orders. */
static void writers_wait_for_sessions_in_one_order(void **state)
{
    (void)state;
    static uint8_t bytes[3000];
    struct thread *thread;
    struct fixture_session *session[2] = {fixture_session(1, TRACE_MODE_BLOCKING, 2, 4096),
                                          fixture_session(2, TRACE_MODE_BLOCKING, 2, 4096)};
    const struct directory_enable e[2] = {fixture_enable(2, 0, 2, 0), fixture_enable(1, 0, 0, 0)};
    const REGHANDLE handle = provider_for(e, 2);
    const EVENT_DESCRIPTOR first = {.Level = 1, .Keyword = 1}, both = {.Level = 1, .Keyword = 2};
    EVENT_DATA_DESCRIPTOR data = piece(bytes, sizeof bytes);
    for (int i = 0; i < 2; i++)
        assert_int_equal(EventWrite(handle, &first, 1, &data), ERROR_SUCCESS);
    assert_int_equal(thread_start(empty_session_later, session, &thread), S_OK);
    assert_int_equal(EventWrite(handle, &both, 1, &data), ERROR_SUCCESS);
    assert_true(thread_wait(thread, PATIENCE_MS));
    thread_close(thread);
    assert_false(held_meanwhile);
    assert_int_equal(fixture_read(session[0])->count, 1);
    assert_int_equal(fixture_read(session[1])->count, 1);
    fixture_unregister(handle);
}

/* ---- activities ---- */

static void activity_ids_are_per_thread(void **state)
{
    (void)state;
    const GUID none = {0}, one = {1, 2, 3, {4}};
    GUID a = none, b = none;
    assert_int_equal(EventActivityIdControl(0, &a), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventActivityIdControl(6, &a), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &a), ERROR_SUCCESS);
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &a), ERROR_SUCCESS);
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &b), ERROR_SUCCESS);
    assert_false(guid_equal(&a, &b));
    assert_false(guid_equal(&a, &none));
    GUID swapped = one;
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_SET_ID, &swapped), ERROR_SUCCESS);
    assert_true(guid_equal(&swapped, &none));
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_SET_ID, &swapped), ERROR_SUCCESS);
    assert_true(guid_equal(&swapped, &one));
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &swapped), ERROR_SUCCESS);
    assert_false(guid_equal(&swapped, &one) || guid_equal(&swapped, &a) || guid_equal(&swapped, &b));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(errors_are_checked_in_windows_order),
        TEST(event_contains_all_header_fields),
        TEST(pieces_of_all_sizes_arrive),
        TEST(events_that_do_not_fit_are_rejected_and_counted),
        TEST(level_and_keywords_select_events),
        TEST(each_session_gets_what_it_requests),
        TEST(failure_in_one_session_drops_the_event_in_all),
        TEST(sessions_are_excluded_by_number_and_by_flag),
        TEST(a_writer_waits_for_a_blocking_session),
        TEST(writers_wait_for_sessions_in_one_order),
        TEST(activity_ids_are_per_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
