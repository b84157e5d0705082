/* SPDX-License-Identifier: MIT */
/* Event provider registrations and their callbacks. */
#include "tests/unit/etw/provider_fixture.h"
#include "tests/unit/etw/registered_provider.h"
#include "tests/unit/patience.h"

static const GUID nobody, first_source = {1, 0, 0, {0}}, second_source = {2, 0, 0, {0}};

/* ---- handles ---- */

static void ended_handles_are_rejected(void **state)
{
    (void)state;
    enum { MANY = PROVIDER_REGISTRATIONS };
    static REGHANDLE handles[MANY];
    struct provider_numbers numbers;
    uint64_t one_more;
    const struct provider_options options = {.guid = fixture_guid};
    for (int i = 0; i < MANY; i++) {
        handles[i] = fixture_register(&fixture_guid, NULL, NULL);
        assert_true(handles[i] != 0 && registration_of(handles[i]));
    }
    assert_int_equal(provider_begin(&options, &one_more), ERROR_NO_SYSTEM_RESOURCES);
    assert_true(provider_is_registered(&fixture_guid));
    for (int i = 0; i < MANY; i++)
        fixture_unregister(handles[i]);
    assert_false(provider_is_registered(&fixture_guid));
    for (int i = 0; i < 100; i++) {
        const REGHANDLE again = fixture_register(&fixture_guid, NULL, NULL);
        for (int k = 0; k < MANY; k++)
            assert_int_not_equal(handles[k], again);
        fixture_unregister(again);
    }
    assert_int_equal(provider_end(handles[5], false, &numbers), ERROR_INVALID_HANDLE);
    assert_int_equal(provider_end(0, false, &numbers), ERROR_INVALID_HANDLE);
    assert_int_equal(provider_end(0xDEADBEEF, false, &numbers), ERROR_INVALID_HANDLE);
    assert_null(registration_of(0xDEADBEEF));
}

/* ---- arguments of callbacks ---- */

struct called {
    int calls;
    GUID source;
    ULONG enabled;
    UCHAR level;
    ULONGLONG any, all;
    uint8_t filter[256];
    ULONG filter_size;
};

static VOID WINAPI call_provider(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                                 EVENT_FILTER_DESCRIPTOR *filter, PVOID context)
{
    struct called *t = context;
    t->calls++;
    t->source = *source;
    t->enabled = enabled;
    t->level = level;
    t->any = any;
    t->all = all;
    t->filter_size = 0;
    if (filter) {
        assert_int_equal(filter->Type, EVENT_FILTER_TYPE_SCHEMATIZED);
        assert_true(filter->Size <= sizeof t->filter);
        memcpy(t->filter, (const void *)(uintptr_t)filter->Ptr, filter->Size);
        t->filter_size = filter->Size;
    }
}

static void expect(struct called *t, int calls, const GUID *source, ULONG enabled, UCHAR level, ULONGLONG any,
                   ULONGLONG all)
{
    assert_int_equal(t->calls, calls);
    assert_true(guid_equal(&t->source, source));
    assert_int_equal(t->enabled, enabled);
    assert_int_equal(t->level, level);
    assert_true(t->any == any && t->all == all);
    t->calls = 0;
}

static void sessions_are_combined(void **state)
{
    (void)state;
    struct called called = {0};
    fixture_session(1, 0, 2, 4096);
    fixture_session(2, 0, 2, 4096);
    struct directory_enable e[2] = {fixture_enable(1, 2, 1, 7), fixture_enable(2, 5, 8, 6)};
    e[0].source = first_source;
    e[1].source = second_source;
    const REGHANDLE handle = fixture_register(&fixture_guid, call_provider, &called);
    assert_int_equal(called.calls, 0);
    fixture_apply(e, 1);
    expect(&called, 1, &first_source, 1, 2, 1, 7);
    fixture_apply(e, 1);
    assert_int_equal(called.calls, 0); /* nothing has changed */
    fixture_apply(e, 2);
    expect(&called, 1, &second_source, 1, 5, 9, 6);
    e[1].captures++;
    fixture_apply(e, 2);
    expect(&called, 1, &second_source, 2, 5, 9, 6);
    e[0].serial += 100;
    e[0].level = 0;
    e[0].any = 0;
    fixture_apply(e, 2);
    expect(&called, 1, &first_source, 1, 255, UINT64_MAX, 6);
    fixture_apply(e + 1, 1);
    expect(&called, 1, &nobody, 1, 5, 8, 6); /* one of two sessions remains */
    fixture_apply(NULL, 0);
    expect(&called, 1, &nobody, 0, 0, 0, 0);
    fixture_unregister(handle);
    fixture_apply(e, 2);
    assert_int_equal(called.calls, 0);
}

static void registration_reports_the_current_state(void **state)
{
    (void)state;
    struct called called = {0};
    uint64_t handle;
    fixture_session(1, 0, 2, 4096);
    fixture_session(2, 0, 2, 4096);
    struct directory_enable e[2] = {fixture_enable(1, 2, 1, 7), fixture_enable(2, 5, 8, 6)};
    e[0].source = first_source;
    e[1].captures = 3;
    const struct provider_options options = {.guid = fixture_guid, .callback = call_provider, .context = &called};
    assert_int_equal(provider_begin(&options, &handle), ERROR_SUCCESS);
    fixture_apply(e, 1);
    fixture_apply(e, 2);
    assert_int_equal(called.calls, 0);
    assert_int_equal(provider_begun(handle), ERROR_SUCCESS);
    expect(&called, 1, &nobody, 1, 5, 9, 6);
    fixture_unregister(handle);
}

static void filter_data_of_sessions_are_chained(void **state)
{
    (void)state;
    struct called called = {0};
    struct {
        EVENT_FILTER_HEADER head;
        char data[6];
    } one = {.head = {.Id = 5, .Version = 1, .Size = 30}, .data = "first"},
      two = {.head = {.Id = 6, .Size = 30}, .data = "other"};
    fixture_session(1, 0, 2, 4096);
    fixture_session(2, 0, 2, 4096);
    fixture_session(3, 0, 2, 4096);
    struct directory_enable e[3] = {fixture_enable(1, 0, 0, 0), fixture_enable(2, 0, 0, 0), fixture_enable(3, 0, 0, 0)};
    fixture_filter(&e[0], EVENT_FILTER_TYPE_SCHEMATIZED, &one, 30);
    fixture_filter(&e[2], EVENT_FILTER_TYPE_SCHEMATIZED, &two, 30);
    const REGHANDLE handle = fixture_register(&fixture_guid, call_provider, &called);
    fixture_apply(e, 3);
    assert_int_equal(called.calls, 3);
    assert_int_equal(called.filter_size, 32 + 30);
    EVENT_FILTER_HEADER head;
    memcpy(&head, called.filter, sizeof head);
    assert_int_equal(head.Id, 5);
    assert_int_equal(head.NextOffset, 32);
    assert_string_equal((char *)called.filter + sizeof head, "first");
    const uint64_t instance = head.InstanceId;
    memcpy(&head, called.filter + head.NextOffset, sizeof head);
    assert_int_equal(head.Id, 6);
    assert_int_equal(head.NextOffset, 0);
    assert_string_equal((char *)called.filter + 32 + sizeof head, "other");
    assert_true(head.InstanceId != instance && head.InstanceId != 0 && instance != 0);
    /* A filter without ETW's header is passed unchanged and alone. */
    e[0].serial += 100;
    e[0].filter[0] = (struct directory_filter){EVENT_FILTER_TYPE_SCHEMATIZED, 3, (const uint8_t *)"raw"};
    fixture_apply(e, 1);
    assert_int_equal(called.filter_size, 3);
    assert_memory_equal(called.filter, "raw", 3);
    e[0].serial++;
    e[0].filter_count = 0;
    fixture_apply(e, 1);
    assert_int_equal(called.filter_size, 0);
    fixture_unregister(handle);
}

static void excluded_process_gets_no_callback(void **state)
{
    (void)state;
    const struct directory_filter_process others[] = {{1, 0, 17}, {4711, 0, 16}, {4711, 0, 0}};
    const struct directory_filter_process own[] = {{1, 0, 1}, {4711, 0, 17}};
    static const WCHAR programs[] = u"other.exe;PROGRAM.EXE", none[] = u"program;other.exe";
    struct called called = {0};
    fixture_session(1, 0, 2, 4096);
    const REGHANDLE handle = fixture_register(&fixture_guid, call_provider, &called);
    const struct {
        uint32_t type;
        const void *data;
        uint32_t size;
        bool admits;
    } rows[] = {
        {EVENT_FILTER_TYPE_PID, others, sizeof others, false},
        {EVENT_FILTER_TYPE_PID, own, sizeof own, true},
        {EVENT_FILTER_TYPE_PID, own, 0, false},
        {EVENT_FILTER_TYPE_EXECUTABLE_NAME, programs, sizeof programs, true},
        {EVENT_FILTER_TYPE_EXECUTABLE_NAME, programs, sizeof programs - 2, true},
        {EVENT_FILTER_TYPE_EXECUTABLE_NAME, none, sizeof none, false},
        {EVENT_FILTER_TYPE_PACKAGE_ID, programs, sizeof programs, false},
        {EVENT_FILTER_TYPE_PACKAGE_APP_ID, programs, sizeof programs, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct directory_enable e = fixture_enable(1, 0, 0, 0);
        fixture_filter(&e, rows[i].type, rows[i].data, rows[i].size);
        called.calls = 0;
        fixture_apply(&e, 1);
        assert_int_equal(called.calls, rows[i].admits);
        assert_int_equal(EventProviderEnabled(handle, 1, 1), rows[i].admits);
        fixture_apply(NULL, 0);
        assert_int_equal(called.calls, 2 * rows[i].admits);
    }
    /* All filters must accept the process. */
    struct directory_enable e = fixture_enable(1, 0, 0, 0);
    fixture_filter(&e, EVENT_FILTER_TYPE_PID, own, sizeof own);
    fixture_filter(&e, EVENT_FILTER_TYPE_EXECUTABLE_NAME, none, sizeof none);
    fixture_apply(&e, 1);
    assert_false(EventProviderEnabled(handle, 1, 1));
    fixture_unregister(handle);
}

static bool keeps_out(void *context, uint32_t logger, uint32_t generation, const GUID *provider)
{
    (void)context, (void)generation;
    return logger == 1 && guid_equal(provider, &fixture_guid);
}

static void group_enables_its_members(void **state)
{
    (void)state;
    const GUID group = {9, 9, 9, {9}};
    uint8_t traits[2 + 2 + 19] = {sizeof traits, 0, 'p', 0, 19, 0, ETW_TRAIT_GROUP};
    GUID called_group;
    bool has_group;
    struct called called = {0};
    struct fixture_session *session = fixture_session(1, 0, 4, 4096);
    struct directory_enable e[2] = {fixture_enable(1, 1, 0, 0), fixture_enable(1, 2, 0, 0)};
    memcpy(traits + 7, &group, sizeof group);
    e[0].property = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP;
    e[0].provider = group;
    const REGHANDLE handle = fixture_register(&fixture_guid, call_provider, &called);
    fixture_apply(e, 1);
    assert_int_equal(called.calls, 0);
    assert_int_equal(provider_set_traits(handle, traits, sizeof traits, &called_group, &has_group), ERROR_SUCCESS);
    assert_true(has_group && guid_equal(&called_group, &group));
    fixture_apply(e, 2);
    assert_int_equal(called.calls, 2);
    /* A session that enables the provider directly and by its group gets one event. */
    const EVENT_DESCRIPTOR event = {.Level = 1};
    assert_int_equal(EventWrite(handle, &event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(fixture_read(session)->count, 1);
    const EVENT_DESCRIPTOR less = {.Level = 2};
    assert_int_equal(EventWrite(handle, &less, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(fixture_read(session)->count, 1);
    /* The event provider is enabled through its group, by a session that excludes it (TraceSetDisallowList). */
    const struct provider_source strict = {fixture_find, keeps_out, NULL, {{4711, 17}, NULL}};
    assert_int_equal(provider_apply(0, e, 1, &strict), S_OK);
    assert_false(EventProviderEnabled(handle, 1, 0));
    assert_int_equal(provider_apply(0, e + 1, 1, &strict), S_OK);
    assert_true(EventProviderEnabled(handle, 1, 0));
    fixture_unregister(handle);
}

/* ---- calls that are allowed in a callback ---- */

static REGHANDLE nested;

static VOID WINAPI register_in_callback(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                                        EVENT_FILTER_DESCRIPTOR *filter, PVOID context)
{
    (void)source, (void)level, (void)any, (void)all, (void)filter;
    const EVENT_DESCRIPTOR event = {.Level = 1};
    assert_int_equal(EventWrite(*(REGHANDLE *)context, &event, 0, NULL), ERROR_SUCCESS);
    if (enabled) {
        nested = fixture_register(&fixture_guid, NULL, NULL);
        fixture_unregister(nested);
        fixture_unregister(*(REGHANDLE *)context); /* unregisters itself */
    }
}

static void callback_can_write_register_and_unregister(void **state)
{
    (void)state;
    static REGHANDLE handle;
    struct fixture_session *session = fixture_session(1, 0, 2, 4096);
    struct directory_enable e = fixture_enable(1, 0, 0, 0);
    handle = fixture_register(&fixture_guid, register_in_callback, &handle);
    fixture_apply(&e, 1);
    assert_int_equal(fixture_read(session)->count, 1);
    assert_null(registration_of(handle));
    e.serial++;
    fixture_apply(&e, 1);
    assert_int_equal(fixture_read(session)->count, 0);
    assert_false(provider_is_registered(&fixture_guid));
}

static atomic_int stage;

static VOID WINAPI run_slowly(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                              EVENT_FILTER_DESCRIPTOR *filter, PVOID context)
{
    (void)source, (void)enabled, (void)level, (void)any, (void)all, (void)filter, (void)context;
    stage = 1;
    thread_sleep(30);
    stage = 2;
}

static void apply_on_thread(void *enable)
{
    fixture_apply(enable, 1);
}

static void unregister_waits_for_the_callback(void **state)
{
    (void)state;
    struct thread *thread;
    fixture_session(1, 0, 2, 4096);
    struct directory_enable e = fixture_enable(1, 0, 0, 0);
    stage = 0;
    const REGHANDLE handle = fixture_register(&fixture_guid, run_slowly, NULL);
    assert_int_equal(thread_start(apply_on_thread, &e, &thread), S_OK);
    while (stage == 0)
        thread_yield();
    fixture_unregister(handle);
    assert_int_equal(stage, 2);
    assert_true(thread_wait(thread, PATIENCE_MS));
    thread_close(thread);
}

static void end_it(void *handle)
{
    struct provider_numbers numbers;
    (void)provider_end(*(uint64_t *)handle, false, &numbers);
}

/* A thread calls EventUnregister with the stored handle before EventRegister has returned on another thread. */
static void registration_can_end_before_register_returns(void **state)
{
    (void)state;
    const struct provider_options options = {.guid = fixture_guid};
    const struct provider_numbers numbers = {.provider = 1};
    struct thread *thread;
    uint64_t handle;
    assert_int_equal(provider_begin(&options, &handle), ERROR_SUCCESS);
    assert_int_equal(thread_start(end_it, &handle, &thread), S_OK);
    while (provider_is_registered(&fixture_guid))
        thread_yield();
    assert_false(provider_set_numbers(handle, numbers)); /* reports immediately that the registration has ended */
    assert_int_equal(provider_begun(handle), ERROR_SUCCESS);
    assert_true(thread_wait(thread, PATIENCE_MS));
    thread_close(thread);
}

/* EventRegister fails after a session has already enabled the event provider; `context` belongs to the caller again. */
static void failed_registration_gets_no_callback(void **state)
{
    (void)state;
    struct called called = {0};
    const struct provider_options options = {.guid = fixture_guid, .callback = call_provider, .context = &called};
    struct provider_numbers numbers;
    uint64_t handle;
    fixture_session(1, 0, 2, 4096);
    assert_int_equal(provider_begin(&options, &handle), ERROR_SUCCESS);
    struct directory_enable e = fixture_enable(1, 0, 0, 0);
    assert_int_equal(provider_apply(0, &e, 1, &fixture_source), S_OK);
    assert_int_equal(provider_end(handle, false, &numbers), ERROR_SUCCESS);
    assert_int_equal(provider_begun(handle), ERROR_SUCCESS);
    assert_int_equal(called.calls, 0);
    assert_int_equal(provider_end(handle, false, &numbers), ERROR_INVALID_HANDLE);
    const uint64_t before = handle; /* its slot is free */
    assert_int_equal(provider_begin(&options, &handle), ERROR_SUCCESS);
    assert_int_equal(handle & 0xFFFF, before & 0xFFFF);
    assert_int_equal(provider_end(handle, false, &numbers), ERROR_SUCCESS);
    assert_int_equal(provider_begun(handle), ERROR_SUCCESS);
}

/* ---- out of memory ---- */

static void failed_change_changes_nothing(void **state)
{
    (void)state;
    struct called called = {0};
    static const uint8_t ids[] = {1, 0, 1, 0, 7, 0};
    uint8_t blob[24] = {1};
    struct fixture_session *session = fixture_session(1, 0, 4, 4096);
    fixture_session(2, 0, 2, 4096);
    const REGHANDLE handle = fixture_register(&fixture_guid, call_provider, &called);
    struct directory_enable e[2] = {fixture_enable(1, 1, 0, 0), fixture_enable(2, 2, 0, 0)};
    fixture_apply(e, 1);
    called.calls = 0;
    fixture_filter(&e[0], EVENT_FILTER_TYPE_EVENT_ID, ids, sizeof ids);
    fixture_filter(&e[0], EVENT_FILTER_TYPE_SCHEMATIZED, blob, sizeof blob);
    e[0].serial += 10;
    HRESULT hr = E_OUTOFMEMORY;
    uint64_t fails = 0;
    while (hr != S_OK) {
        memory_fail_at(++fails);
        hr = provider_apply(0, e, 2, &fixture_source);
        memory_fail_at(0);
        if (hr == S_OK)
            break;
        assert_int_equal(hr, E_OUTOFMEMORY);
        provider_run_callbacks();
        assert_int_equal(called.calls, 0);
        const EVENT_DESCRIPTOR event = {.Id = 8, .Level = 1}; /* the failed filter would exclude this event */
        assert_int_equal(EventWrite(handle, &event, 0, NULL), ERROR_SUCCESS);
        assert_int_equal(fixture_read(session)->count, 1);
    }
    assert_true(fails > 4);
    provider_run_callbacks();
    assert_int_equal(called.calls, 2);
    fixture_unregister(handle);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ended_handles_are_rejected),
        TEST(sessions_are_combined),
        TEST(registration_reports_the_current_state),
        TEST(filter_data_of_sessions_are_chained),
        TEST(excluded_process_gets_no_callback),
        TEST(group_enables_its_members),
        TEST(callback_can_write_register_and_unregister),
        TEST(unregister_waits_for_the_callback),
        TEST(registration_can_end_before_register_returns),
        TEST(failed_registration_gets_no_callback),
        TEST(failed_change_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
