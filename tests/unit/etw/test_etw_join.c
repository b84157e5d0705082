/* SPDX-License-Identifier: MIT */
/* This process's event providers in the directory. The waiting thread applies changes, and releases ended sessions. The
   test itself hosts the sessions. */
#include "engine/etw/provider/provider_table.h"
#include "tests/unit/etw/hosted_session.h"
#include "tests/unit/etw/registered_provider.h"

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

static void registration_errors_match_windows(void **state)
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

/* This test runs first, so it includes the first registration of the process. Each registration maps the section of a
   session. */
static void without_memory_nothing_is_registered(void **state)
{
    (void)state;
    bool failed = true;
    uint64_t n = 0;
    while (failed) {
        struct hosted session;
        REGHANDLE handle;
        struct heard heard = {.handle = &handle};
        hosted_start(&session, "memory", 0);
        (void)hosted_enable(&session, (struct directory_enable){.provider = fixture_guid, .level = 4});
        memory_fail_at(++n);
        const ULONG status = EventRegister(&fixture_guid, hear, &heard, &handle);
        failed = memory_count() >= n;
        memory_fail_at(0);
        if (status == ERROR_SUCCESS) {
            assert_int_equal(heard.calls, 1);
            assert_true(EventProviderEnabled(handle, 4, 1));
            assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
        } else {
            assert_true(failed);
            assert_int_equal(status, ERROR_NOT_ENOUGH_MEMORY);
            assert_int_equal(handle, 0);
            assert_int_equal(heard.calls, 0);
        }
        assert_false(provider_is_registered(&fixture_guid));
        hosted_stop(&session);
    }
    assert_true(n > 8);
}

static void settings_and_events_arrive(void **state)
{
    (void)state;
    struct hosted session;
    REGHANDLE handle;
    struct heard heard = {.handle = &handle};
    hosted_start(&session, "arrives", 0);
    assert_int_equal(EventRegister(&fixture_guid, hear, &heard, &handle), ERROR_SUCCESS);
    assert_int_equal(heard.calls, 0);
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
    hosted_wait(&fixture_guid,
                hosted_enable(&session, (struct directory_enable){.provider = fixture_guid, .level = 4}));
    assert_int_equal(heard.calls, 1);
    assert_int_equal(heard.enabled, 1);
    assert_int_equal(heard.level, 4);
    assert_int_not_equal(heard.thread, thread_own_id());
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(hosted_event_count(&session), 1);
    /* A later registration finds the session enabled, and runs the callback on its own thread before it returns. */
    REGHANDLE second;
    struct heard second_heard = {.handle = &second};
    assert_int_equal(EventRegister(&fixture_guid, hear, &second_heard, &second), ERROR_SUCCESS);
    assert_int_equal(second_heard.calls, 1);
    assert_int_equal(second_heard.thread, thread_own_id());
    assert_true(second_heard.handle_then == second && second != handle);
    assert_int_equal(EventWrite(second, &some_event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(hosted_event_count(&session), 1);
    hosted_stop(&session);
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

static void next_session_on_the_same_logger_gets_its_own_events(void **state)
{
    (void)state;
    REGHANDLE handle;
    struct hosted session;
    assert_int_equal(EventRegister(&fixture_guid, NULL, NULL, &handle), ERROR_SUCCESS);
    for (int i = 0; i < 20; i++) {
        hosted_start(&session, "follows", 0);
        hosted_wait(&fixture_guid, hosted_enable(&session, (struct directory_enable){.provider = fixture_guid}));
        assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
        assert_int_equal(hosted_event_count(&session), 1);
        hosted_stop(&session);
    }
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

static void event_keys_are_equal_in_all_sessions(void **state)
{
    (void)state;
    uint64_t keys[2][2];
    uint32_t size;
    struct hosted sessions[2];
    REGHANDLE handle;
    assert_int_equal(EventRegister(&fixture_guid, NULL, NULL, &handle), ERROR_SUCCESS);
    for (int i = 0; i < 2; i++) {
        hosted_start(&sessions[i], i ? "keys" : "more keys", 0);
        const struct directory_enable e = {.provider = fixture_guid, .property = EVENT_ENABLE_PROPERTY_EVENT_KEY};
        hosted_wait(&fixture_guid, hosted_enable(&sessions[i], e));
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
    hosted_stop(&sessions[0]);
    hosted_stop(&sessions[1]);
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
    hosted_start(&session, "group", 0);
    assert_int_equal(EventRegister(&fixture_guid, hear, &heard, &handle), ERROR_SUCCESS);
    assert_int_equal(EventSetInformation(handle, (EVENT_INFO_CLASS)ETW_INFO_TRAITS, traits, sizeof traits),
                     ERROR_SUCCESS);
    const struct directory_enable e = {.provider = group, .property = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP};
    hosted_wait(&group, hosted_enable(&session, e));
    assert_int_equal(heard.calls, 1);
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(hosted_event_count(&session), 1);
    hosted_stop(&session);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

/* Lists can thus show names for event providers without a manifest. */
static void a_provider_is_known_by_the_name_in_its_traits(void **state)
{
    uint8_t traits[] = {9, 0, 'M', 'y', '.', 'O', 'w', 'n', 0}, worse[] = {5, 0, 'W', 0, 0};
    struct directory_provider_name *list;
    size_t count, found = 0;
    REGHANDLE handle;
    (void)state;
    assert_int_equal(EventRegister(&fixture_guid, NULL, NULL, &handle), ERROR_SUCCESS);
    assert_int_equal(EventSetInformation(handle, (EVENT_INFO_CLASS)ETW_INFO_TRAITS, worse, sizeof worse),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EventSetInformation(handle, (EVENT_INFO_CLASS)ETW_INFO_TRAITS, traits, sizeof traits),
                     ERROR_SUCCESS);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
    assert_int_equal(directory_provider_names(own_directory(), &list, &count), S_OK);
    for (size_t i = 0; i < count; i++)
        if (guid_equal(&list[i].provider, &fixture_guid)) {
            assert_string_equal(list[i].name, "My.Own");
            found++;
        }
    assert_int_equal(found, 1);
    memory_free(list);
}

/* ---- waiting until a change has been applied ---- */

static const GUID held_group = {9, 9, 9, {10}};

/* An event provider whose first callback runs on a separate thread, until the test sets `released`. */
struct held {
    REGHANDLE handle;
    atomic_uint thread;
    atomic_int calls, ended;
    atomic_bool holds, joined, released;
    const GUID *waits_for; /* event provider of the other change; NULL: does not wait */
    uint64_t revision;
    HRESULT waited;
};

static VOID WINAPI wait_in_callback(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                                    EVENT_FILTER_DESCRIPTOR *filter, PVOID context)
{
    (void)source, (void)enabled, (void)level, (void)any, (void)all, (void)filter;
    struct held *h = context;
    const bool first = atomic_fetch_add(&h->calls, 1) == 0 && thread_own_id() == h->thread;
    h->holds = h->holds || first;
    while (first && !h->released)
        thread_sleep(1);
    if (first && h->waits_for)
        h->waited = provider_wait_applied(directory, h->waits_for, h->revision, PATIENCE_MS);
    h->ended++;
}

static void join_group(void *held)
{
    struct held *h = held;
    uint8_t traits[4 + 19] = {sizeof traits, 0, 'p', 0, 19, 0, ETW_TRAIT_GROUP};
    memcpy(traits + 7, &held_group, sizeof held_group);
    h->thread = thread_own_id();
    assert_int_equal(EventSetInformation(h->handle, (EVENT_INFO_CLASS)ETW_INFO_TRAITS, traits, sizeof traits),
                     ERROR_SUCCESS);
    h->joined = true;
}

/* Returns NULL if the waiting thread saw the group first and therefore ran the callback itself. */
static struct thread *try_waiting_callback(struct hosted *session, struct held *h)
{
    struct thread *thread;
    const struct directory_enable e = {.provider = held_group, .property = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP};
    hosted_start(session, "held", 0);
    (void)hosted_enable(session, e);
    assert_int_equal(EventRegister(&fixture_guid, wait_in_callback, h, &h->handle), ERROR_SUCCESS);
    assert_int_equal(h->calls, 0);
    assert_int_equal(thread_start(join_group, h, &thread), S_OK);
    for (int waited = 0; !h->holds && !h->joined; waited++) {
        assert_true(waited < PATIENCE_MS);
        thread_sleep(1);
    }
    if (!h->holds) {
        assert_true(thread_wait(thread, PATIENCE_MS));
        thread_close(thread);
        assert_int_equal(EventUnregister(h->handle), ERROR_SUCCESS);
        hosted_stop(session);
        return NULL;
    }
    h->revision = hosted_enable(session, (struct directory_enable){.provider = fixture_guid, .level = 4});
    return thread;
}

/* One thread is in the callback of a change, and another change arrives. */
static struct thread *start_waiting_callback(struct hosted *session, struct held *h, const GUID *waits_for)
{
    struct thread *thread = NULL;
    for (int tries = 0; !thread; tries++) {
        assert_true(tries < 100);
        *h = (struct held){.waits_for = waits_for};
        thread = try_waiting_callback(session, h);
    }
    return thread;
}

static void end_waiting_callback(struct hosted *session, struct held *h, struct thread *thread)
{
    assert_true(thread_wait(thread, PATIENCE_MS));
    thread_close(thread);
    assert_int_equal(h->calls, 2);
    assert_int_equal(EventUnregister(h->handle), ERROR_SUCCESS);
    hosted_stop(session);
}

static void change_is_applied_after_the_callback(void **state)
{
    (void)state;
    enum { BRIEF_MS = 200 };
    struct hosted session;
    struct held h;
    struct thread *thread = start_waiting_callback(&session, &h, NULL);
    assert_int_equal(directory_wait_applied(directory, &fixture_guid, h.revision, BRIEF_MS), S_FALSE);
    assert_int_equal(h.calls, 1);
    h.released = true;
    hosted_wait(&fixture_guid, h.revision);
    assert_int_equal(h.ended, 2);
    end_waiting_callback(&session, &h, thread);
}

/* While a callback waits for a change, the change does not wait for this callback. */
static void callback_can_wait_for_a_change(void **state)
{
    (void)state;
    struct hosted session;
    struct held h;
    struct thread *thread = start_waiting_callback(&session, &h, &fixture_guid);
    h.released = true;
    end_waiting_callback(&session, &h, thread);
    assert_int_equal(h.waited, S_OK);
}

static void an_invalid_section_enables_nothing(void **state)
{
    (void)state;
    struct hosted session;
    REGHANDLE handle;
    hosted_start(&session, "lies", 0);
    atomic_store(&session.buffers.shared->magic, 0);
    assert_int_equal(EventRegister(&fixture_guid, NULL, NULL, &handle), ERROR_SUCCESS);
    hosted_wait(&fixture_guid, hosted_enable(&session, (struct directory_enable){.provider = fixture_guid}));
    assert_false(EventProviderEnabled(handle, 1, 1));
    hosted_stop(&session);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_nothing_is_registered),
        cmocka_unit_test(registration_errors_match_windows),
        cmocka_unit_test(settings_and_events_arrive),
        cmocka_unit_test(next_session_on_the_same_logger_gets_its_own_events),
        cmocka_unit_test(event_keys_are_equal_in_all_sessions),
        cmocka_unit_test(a_group_wakes_its_members),
        cmocka_unit_test(a_provider_is_known_by_the_name_in_its_traits),
        cmocka_unit_test(change_is_applied_after_the_callback),
        cmocka_unit_test(callback_can_wait_for_a_change),
        cmocka_unit_test(an_invalid_section_enables_nothing),
    };
    return cmocka_run_group_tests(tests, hosted_begin, NULL);
}
