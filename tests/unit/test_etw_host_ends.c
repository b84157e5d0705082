/* SPDX-License-Identifier: MIT */
/* Providers of this process, sessions with real hosts, all by Windows' functions: from the start to the log, and what
   becomes of them when a host is killed. */
#include "engine/etw/event_api.h"
#include "tests/unit/controller_fixture.h"

enum { PATIENCE_MS = 20000, EVENTS = 2000 };

static const GUID guid = {0x22222222, 1, 2, {3}};
static const EVENT_DESCRIPTOR some_event = {.Id = 7, .Level = 4, .Keyword = 5};
static char *folder;

static atomic_int last_code = -1;

static VOID WINAPI hear(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                        EVENT_FILTER_DESCRIPTOR *filter, PVOID context)
{
    (void)source, (void)level, (void)any, (void)all, (void)filter, (void)context;
    last_code = (int)enabled;
}

static TRACEHANDLE start_enabled(const char *name, uint32_t mode, const char *path)
{
    struct block b = block_of(mode, path);
    TRACEHANDLE session;
    assert_int_equal(start_session(name, &b, &session), ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(session, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, PATIENCE_MS, NULL),
                     ERROR_SUCCESS);
    return session;
}

static void write_numbered(REGHANDLE handle, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)&i, .Size = sizeof i};
        assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_SUCCESS);
    }
}

/* Each of `count` events once, in order for this one thread on each processor, and nothing else. */
static void check_log(const char *path, uint64_t count)
{
    struct etl_reader *reader;
    struct etl_record record;
    uint64_t events = 0, sum = 0;
    assert_int_equal(etl_reader_open(path, log_remark, NULL, &reader), S_OK);
    assert_int_equal(etl_reader_log(reader)->events_lost, 0);
    while (etl_reader_next(reader, &record) == S_OK) {
        if (record.kind == ETL_RECORD_SYSTEM)
            continue;
        assert_int_equal(record.kind, ETL_RECORD_MANIFEST);
        assert_true(guid_equal(&record.provider, &guid));
        assert_int_equal(record.id, 7);
        assert_int_equal(record.data_size, 8);
        assert_int_equal(record.process, process_own_id());
        sum += get_u64(record.data);
        events++;
    }
    etl_reader_close(reader);
    assert_int_equal(events, count);
    assert_true(sum == count * (count - 1) / 2);
}

static void what_a_provider_writes_is_in_the_log(void **state)
{
    (void)state;
    char *path = path_join(folder, "whole.etl");
    REGHANDLE handle;
    struct block b;
    assert_int_equal(EventRegister(&guid, hear, NULL, &handle), ERROR_SUCCESS);
    const TRACEHANDLE session = start_enabled("whole", 0, path);
    assert_int_equal(last_code, 1);
    write_numbered(handle, EVENTS);
    assert_int_equal(EnableTraceEx2(session, &guid, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, PATIENCE_MS, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(last_code, 2);
    assert_int_equal(EnableTraceEx2(session, &guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, PATIENCE_MS, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(last_code, 0);
    write_numbered(handle, EVENTS);
    assert_int_equal(control_session(session, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    check_log(path, EVENTS);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
    memory_free(path);
}

/* A provider that is told of one thing enables another, and would wait for itself. */
static const GUID second_guid = {0x22222222, 1, 2, {4}};
static atomic_int nested_code = -1, second_calls;

static VOID WINAPI enable_second(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                                 EVENT_FILTER_DESCRIPTOR *filter, PVOID context)
{
    (void)source, (void)level, (void)any, (void)all, (void)filter;
    if (enabled == EVENT_CONTROL_CODE_ENABLE_PROVIDER)
        nested_code = (int)EnableTraceEx2(*(const TRACEHANDLE *)context, &second_guid,
                                          EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, 2000, NULL);
}

static VOID WINAPI count_calls(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                               EVENT_FILTER_DESCRIPTOR *filter, PVOID context)
{
    (void)source, (void)enabled, (void)level, (void)any, (void)all, (void)filter, (void)context;
    second_calls++;
}

static void a_callback_may_enable_another_provider_and_wait(void **state)
{
    (void)state;
    char *path = path_join(folder, "nested.etl");
    REGHANDLE first, second;
    TRACEHANDLE session;
    struct block b = block_of(0, path);
    assert_int_equal(start_session("nested", &b, &session), ERROR_SUCCESS);
    assert_int_equal(EventRegister(&guid, enable_second, &session, &first), ERROR_SUCCESS);
    assert_int_equal(EventRegister(&second_guid, count_calls, NULL, &second), ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(session, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, PATIENCE_MS, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(nested_code, ERROR_SUCCESS);
    assert_int_equal(second_calls, 1);
    assert_int_equal(EventUnregister(first), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(second), ERROR_SUCCESS);
    assert_int_equal(control_session(session, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    memory_free(path);
}

static void wait_until_gone(TRACEHANDLE session)
{
    const uint64_t from = clock_monotonic_ms();
    struct directory_session s;
    while (directory_session_at(own_directory(), (uint32_t)(session & 0xFFFF), (uint32_t)(session >> 16), &s) == S_OK) {
        directory_session_free(&s);
        assert_true(clock_monotonic_ms() - from < PATIENCE_MS);
        thread_give_way();
    }
}

static void a_provider_rescues_what_a_killed_host_had_taken(void **state)
{
    (void)state;
    REGHANDLE handle;
    last_code = -1;
    assert_int_equal(EventRegister(&guid, hear, NULL, &handle), ERROR_SUCCESS);
    for (int round = 0; round < 3; round++) {
        char *path = path_join(folder, round == 0 ? "killed0.etl" : round == 1 ? "killed1.etl" : "killed2.etl");
        const TRACEHANDLE session = start_enabled("killed", 0, path);
        write_numbered(handle, EVENTS);
        struct directory_session s = session_of_handle(session);
        assert_int_equal(process_terminate(s.host.id, s.host.start_time), S_OK);
        directory_session_free(&s);
        /* Nobody asks for the session but the thread of this process. */
        wait_until_gone(session);
        check_log(path, EVENTS);
        const uint64_t from = clock_monotonic_ms();
        while (last_code != 0) {
            assert_true(clock_monotonic_ms() - from < PATIENCE_MS);
            thread_give_way();
        }
        assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
        memory_free(path);
    }
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_provider_writes_is_in_the_log),
        cmocka_unit_test(a_callback_may_enable_another_provider_and_wait),
        cmocka_unit_test(a_provider_rescues_what_a_killed_host_had_taken),
    };
    (void)count;
    child_program = arguments[0];
    own_directory_name();
    char *scratch = scratch_create("test_etw_host_ends");
    folder = host_full_path(scratch);
    scratch_environment("OPENPLA_DATA", folder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    directory_delete(own_directory());
    scratch_remove(scratch);
    memory_free(scratch);
    memory_free(folder);
    return failed;
}
