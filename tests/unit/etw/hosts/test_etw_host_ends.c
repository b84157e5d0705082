/* SPDX-License-Identifier: MIT */
/* Event providers in this process and sessions with real ETW session hosts, through Windows' functions: from the start
   to the log, and the effects of a killed host process. */
#include "engine/etw/directory/directory_layout.h"
#include "tests/unit/numbered_provider.h"

static atomic_int last_code = -1;

static VOID WINAPI hear(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                        EVENT_FILTER_DESCRIPTOR *filter, PVOID context)
{
    (void)source, (void)level, (void)any, (void)all, (void)filter, (void)context;
    last_code = (int)enabled;
}

static TRACEHANDLE start_enabled(const char *name, const char *path)
{
    struct block b = block_of(0, path);
    TRACEHANDLE session;
    assert_int_equal(start_session(name, &b, &session), ERROR_SUCCESS);
    enable_for(session);
    return session;
}

static void events_of_a_provider_are_in_the_log(void **state)
{
    (void)state;
    char *path = path_join(folder, "whole.etl");
    REGHANDLE handle;
    struct block b;
    assert_int_equal(EventRegister(&guid, hear, NULL, &handle), ERROR_SUCCESS);
    const TRACEHANDLE session = start_enabled("whole", path);
    assert_int_equal(last_code, 1);
    write_numbered(handle);
    assert_int_equal(EnableTraceEx2(session, &guid, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, PATIENCE_MS, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(last_code, 2);
    assert_int_equal(EnableTraceEx2(session, &guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, PATIENCE_MS, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(last_code, 0);
    write_numbered(handle);
    assert_int_equal(control_session(session, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    check_numbered(path, 0, ETW_HEADER_NO_CPUTIME);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
    memory_free(path);
}

/* The callback of an event provider enables a second event provider and waits for that callback. If one thread called
   both, it would wait for itself. */
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
    enable_for(session);
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
        thread_yield();
    }
}

static void a_provider_recovers_the_session_of_a_killed_host(void **state)
{
    (void)state;
    REGHANDLE handle;
    last_code = -1;
    assert_int_equal(EventRegister(&guid, hear, NULL, &handle), ERROR_SUCCESS);
    for (int round = 0; round < 3; round++) {
        char *path = path_join(folder, round == 0 ? "killed0.etl" : round == 1 ? "killed1.etl" : "killed2.etl");
        const TRACEHANDLE session = start_enabled("killed", path);
        write_numbered(handle);
        struct directory_session s = session_of_handle(session);
        assert_int_equal(process_terminate(s.host.id, s.host.start_time), S_OK);
        directory_session_free(&s);
        /* No other process uses the session; the waiting thread of this process recovers it. */
        wait_until_gone(session);
        check_numbered(path, 0, ETW_HEADER_NO_CPUTIME);
        const uint64_t from = clock_monotonic_ms();
        while (last_code != 0) {
            assert_true(clock_monotonic_ms() - from < PATIENCE_MS);
            thread_yield();
        }
        assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
        memory_free(path);
    }
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

static void wait_for_code(int code)
{
    const uint64_t from = clock_monotonic_ms();
    while (last_code != code) {
        assert_true(clock_monotonic_ms() - from < PATIENCE_MS);
        child_sleep(1);
    }
}

static void wait_for_end_of(const struct directory_process *host)
{
    const uint64_t from = clock_monotonic_ms();
    while (process_alive(host->id, host->start_time)) {
        assert_true(clock_monotonic_ms() - from < PATIENCE_MS);
        child_sleep(1);
    }
}

/* The directory's file was truncated (zeros) or overwritten. The earlier session's log is complete, the next session
   starts, and it traces programs that registered their event providers before, without a restart. */
static void programs_are_traced_after_the_directory_was_corrupt(void **state)
{
    static const int contents[] = {0, 0xAB};
    REGHANDLE handle;
    (void)state;
    last_code = -1;
    assert_int_equal(EventRegister(&guid, hear, NULL, &handle), ERROR_SUCCESS);
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        char *path = path_join(folder, i ? "before1.etl" : "before0.etl"),
             *next_path = path_join(folder, i ? "after1.etl" : "after0.etl");
        TRACEHANDLE next;
        struct block b = block_of(0, next_path);
        const TRACEHANDLE session = start_enabled("before", path);
        write_numbered(handle);
        struct directory_session s = session_of_handle(session);
        memset((void *)own_directory()->shared, contents[i], sizeof(struct directory_shared));
        assert_int_equal(start_session("after", &b, &next), ERROR_SUCCESS);
        wait_for_end_of(&s.host);
        check_numbered(path, 0, ETW_HEADER_NO_CPUTIME);
        wait_for_code(0); /* the event provider has registered again */
        enable_for(next);
        wait_for_code(1);
        write_numbered(handle);
        assert_int_equal(control_session(next, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
        check_numbered(next_path, 0, ETW_HEADER_NO_CPUTIME);
        directory_session_free(&s);
        memory_free(path);
        memory_free(next_path);
    }
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

/* A long-running program, such as the server, starts sessions in the next directory, and they trace a program that
   registered its event provider before. */
static void trace_in_the_next_directory(REGHANDLE handle, const char *path)
{
    struct block b = block_of(0, path);
    TRACEHANDLE next;
    assert_int_equal(start_session("next", &b, &next), ERROR_SUCCESS);
    enable_for(next);
    wait_for_code(1);
    write_numbered(handle);
    assert_int_equal(control_session(next, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    check_numbered(path, 0, ETW_HEADER_NO_CPUTIME);
}

/* A directory no longer exists when its last process has exited. Here the test deletes it. */
static void host_exits_with_its_directory(void **state)
{
    (void)state;
    char *path = path_join(folder, "orphan.etl");
    REGHANDLE handle;
    last_code = -1;
    assert_int_equal(EventRegister(&guid, hear, NULL, &handle), ERROR_SUCCESS);
    const TRACEHANDLE session = start_enabled("orphan", path);
    write_numbered(handle);
    struct directory_session s = session_of_handle(session);
    const size_t reported = journal_count(9107);
    directory_delete(own_directory());
    const uint64_t from = clock_monotonic_ms();
    while (process_alive(s.host.id, s.host.start_time)) {
        assert_true(clock_monotonic_ms() - from < PATIENCE_MS);
        child_sleep(1);
    }
    check_numbered(path, 0, ETW_HEADER_NO_CPUTIME);
    assert_int_equal(journal_count(9107), reported + 1);
    /* A process that uses the session through the old directory notices the session's end, and releases its buffers. */
    struct section *section;
    while (last_code != 0 || section_open(&(struct shared){.name = s.section, .lasting = true}, 1, &section) == S_OK) {
        if (last_code == 0)
            section_close(section);
        assert_true(clock_monotonic_ms() - from < PATIENCE_MS);
        child_sleep(1);
    }
    trace_in_the_next_directory(handle, path);
    wait_for_code(0);
    assert_int_equal(section_delete(own_directory()->name), S_OK); /* as a user might delete it */
    trace_in_the_next_directory(handle, path);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
    directory_session_free(&s);
    memory_free(path);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_a_provider_are_in_the_log),
        cmocka_unit_test(a_callback_may_enable_another_provider_and_wait),
        cmocka_unit_test(a_provider_recovers_the_session_of_a_killed_host),
        cmocka_unit_test(programs_are_traced_after_the_directory_was_corrupt),
        cmocka_unit_test(host_exits_with_its_directory),
    };
    (void)count;
    child_program = arguments[0];
    return run_numbered("test_etw_host_ends", tests, sizeof tests / sizeof *tests);
}
