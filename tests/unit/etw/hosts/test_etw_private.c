/* SPDX-License-Identifier: MIT */
/* Private sessions: in the process that started the session, or in every process that registers the event provider. */
#include "tests/unit/etw/hosts/private_peers.h"

static void private_session_is_visible_only_in_its_process(void **state)
{
    (void)state;
    char *path = path_join(folder, "here.etl");
    REGHANDLE handle;
    struct block b;
    assert_int_equal(EventRegister(&guid, NULL, NULL, &handle), ERROR_SUCCESS);
    const TRACEHANDLE session = start_enabled("here", HERE, path);
    write_numbered(handle);
    assert_int_equal(control(session, &b, HERE, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    assert_string_equal(narrow(b.name), "here");
    assert_int_equal(control(session, &b, HERE, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    EVENT_TRACE_PROPERTIES *list[1] = {&b.p};
    ULONG count;
    b = block_of(0, NULL);
    assert_int_equal(QueryAllTracesW(list, 1, &count), ERROR_SUCCESS);
    assert_int_equal(count, 0);
    assert_int_equal(control(session, &b, HERE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    check_log(path, HERE);
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(control(session, &b, HERE, EVENT_TRACE_CONTROL_STOP), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
    memory_free(path);
}

static void a_process_has_three_private_sessions(void **state)
{
    (void)state;
    TRACEHANDLE sessions[3], one_more;
    struct block b = block_of(HERE, NULL);
    for (int i = 0; i < 3; i++) {
        char name[] = {(char)('a' + i), 0}, file[] = {(char)('a' + i), '.', 'e', 't', 'l', 0};
        char *path = path_join(folder, file);
        sessions[i] = start_enabled(name, HERE, path);
        memory_free(path);
    }
    char *path = path_join(folder, "more.etl");
    b = block_of(HERE, path);
    b.p.Wnode.Guid = guid;
    assert_int_equal(start_session("more", &b, &one_more), ERROR_NO_SYSTEM_RESOURCES);
    memory_free(path);
    for (int i = 0; i < 3; i++)
        assert_int_equal(control(sessions[i], &b, HERE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
}

static void events_have_the_time_of_their_thread(void **state)
{
    (void)state;
    char *path = path_join(folder, "time.etl");
    struct etl_reader *reader;
    struct etl_record record;
    struct block b;
    REGHANDLE handle;
    uint64_t events = 0, first = 0, last = 0;
    assert_int_equal(EventRegister(&guid, NULL, NULL, &handle), ERROR_SUCCESS);
    const TRACEHANDLE session = start_enabled("time", HERE, path);
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
    const uint64_t from = thread_own_user_time(), until = from + 3000000; /* 0.3 s of processor time */
    for (uint64_t n = 0; thread_own_user_time() < until && n < UINT64_C(4000000000);)
        for (int i = 0; i < 10000; i++)
            n += (uint64_t)i % 2;
    const uint64_t to = thread_own_user_time();
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(control(session, &b, HERE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(etl_reader_open(path, keep_warning, NULL, &reader), S_OK);
    const uint64_t mhz = clock_cpu_mhz();
    while (etl_reader_next(reader, &record) == S_OK) {
        if (record.kind == ETL_RECORD_SYSTEM)
            continue;
        assert_int_equal(get_u16(record.event + 4) & (ETW_HEADER_PRIVATE_SESSION | ETW_HEADER_NO_CPUTIME),
                         ETW_HEADER_PRIVATE_SESSION);
        last = get_u64(record.event + 56);
        first = events++ == 0 ? last : first;
    }
    etl_reader_close(reader);
    assert_int_equal(events, 2);
    assert_in_range(first, 0, from * mhz / 10);
    assert_in_range(last, to * mhz / 10, (to + 1000000) * mhz / 10);
    assert_true(last - first >= (to - from) * mhz / 10);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
    memory_free(path);
}

/* ---- in several processes ---- */

static void each_process_with_the_provider_has_its_own_file(void **state)
{
    (void)state;
    struct block b;
    char *path = path_join(folder, "shared.etl");
    struct peer peers[2] = {peer_start("0", "1"), peer_start("1", "1")};
    const TRACEHANDLE session = start_enabled("shared", WHOLE, path);
    for (int i = 0; i < 2; i++)
        peer_write(&peers[i]);
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    check_log(path, WHOLE);
    assert_int_equal(has_file(path, &peers[0]) + has_file(path, &peers[1]), 1);
    check_log_of(path, &peers[has_file(path, &peers[1])]);
    for (int i = 0; i < 2; i++)
        peer_end(&peers[i]);
    memory_free(path);
}

/* A process that starts after the first one has exited must not overwrite the first one's file. */
static void later_process_keeps_the_first_file(void **state)
{
    (void)state;
    char *path = path_join(folder, "later.etl");
    struct block b;
    struct peer peer = peer_start("later0", "1");
    const TRACEHANDLE session = start_enabled("later", WHOLE, path);
    peer_write(&peer);
    peer_end(&peer);
    peer = peer_start("later1", "1");
    peer_write(&peer);
    char *other = file_of(path, &peer);
    peer_end(&peer);
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    check_log(path, WHOLE);
    check_log(other, WHOLE);
    memory_free(other);
    memory_free(path);
}

/* Process ids are reused. A file whose name contains this process's id may belong to an exited process of this
   session. */
static void process_with_a_reused_id_keeps_the_earlier_file(void **state)
{
    (void)state;
    static const char wrote[] = "what it wrote";
    char *path = path_join(folder, "ids.etl");
    char *file = text_format("%s_%u", path, (unsigned)process_own_id()), *next = text_format("%s_2", file);
    struct block b;
    REGHANDLE handle;
    char *text;
    size_t size;
    struct peer peer = peer_start("ids", "1");
    const TRACEHANDLE session = start_enabled("ids", WHOLE, path);
    peer_write(&peer);
    assert_int_equal(file_store(file, wrote, sizeof wrote), S_OK);
    assert_int_equal(EventRegister(&guid, NULL, NULL, &handle), ERROR_SUCCESS);
    write_numbered(handle);
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(file_load(file, 1 << 20, &text, &size), S_OK);
    assert_int_equal(size, sizeof wrote);
    assert_memory_equal(text, wrote, sizeof wrote);
    check_log(next, WHOLE);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
    peer_end(&peer);
    memory_free(text);
    memory_free(next);
    memory_free(file);
    memory_free(path);
}

static void statistics_cover_all_processes(void **state)
{
    (void)state;
    enum { EACH = 3 }; /* number of 64 KB buffers that a peer's events fill at least */
    char *path = path_join(folder, "figures.etl");
    struct block b;
    struct peer peers[2] = {peer_start("figures0", "1l"), peer_start("figures1", "1l")};
    const TRACEHANDLE session = start_enabled("figures", WHOLE, path);
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    const ULONG least = b.p.NumberOfBuffers;
    assert_int_equal(least, 2 * b.p.MinimumBuffers);
    assert_int_equal(b.p.FreeBuffers, least);
    assert_int_equal(b.p.EventsLost, 0);
    assert_true(b.p.LoggerThreadId != 0);
    for (int i = 0; i < 2; i++) {
        peer_write(&peers[i]);
        assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
        assert_int_equal(b.p.EventsLost, i + 1);
        assert_in_range(b.p.BuffersWritten, EACH * (i + 1), UINT32_MAX);
    }
    const ULONG written = b.p.BuffersWritten;
    for (int i = 0; i < 2; i++) {
        peer_end(&peers[i]);
        assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
        assert_int_equal(b.p.EventsLost, 2);
        assert_int_equal(b.p.BuffersWritten, written);
        assert_int_equal(b.p.NumberOfBuffers == 0, i == 1);
    }
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(b.p.EventsLost, 2);
    assert_int_equal(b.p.BuffersWritten, written);
    memory_free(path);
}

static void a_flush_writes_in_every_process(void **state)
{
    (void)state;
    char *path = path_join(folder, "flushed.etl");
    struct block b;
    struct peer peers[2] = {peer_start("flush0", "1"), peer_start("flush1", "1")};
    const TRACEHANDLE session = start_enabled("flushed", WHOLE, path);
    for (int i = 0; i < 2; i++)
        peer_write(&peers[i]);
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    check_log(path, WHOLE); /* while the session continues */
    check_log_of(path, &peers[has_file(path, &peers[1])]);
    for (int i = 0; i < 2; i++)
        peer_end(&peers[i]);
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    memory_free(path);
}

static void an_update_changes_every_process_file(void **state)
{
    (void)state;
    char *path = path_join(folder, "before.etl"), *after = path_join(folder, "after.etl");
    char *nowhere = path_join(folder, "nowhere/after.etl");
    struct block b;
    struct peer peers[3] = {peer_start("update0", "2"), peer_start("update1", "2")};
    const TRACEHANDLE session = start_enabled("update", WHOLE, path);
    for (int i = 0; i < 2; i++)
        peer_write(&peers[i]);
    assert_int_equal(update_file(session, path), ERROR_BAD_PATHNAME);
    assert_int_equal(update_file(session, nowhere), ERROR_PATH_NOT_FOUND);
    assert_int_equal(update_file(session, after), ERROR_SUCCESS);
    const int second = has_file(path, &peers[1]);
    check_log(path, WHOLE);
    check_log_of(path, &peers[second]);
    peers[2] = peer_start("update2", "1"); /* knows only the new name */
    for (int i = 0; i < 3; i++)
        peer_write(&peers[i]);
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    check_log(after, WHOLE);
    check_log_of(after, &peers[second]);
    check_log_of(after, &peers[2]);
    for (int i = 0; i < 3; i++)
        peer_end(&peers[i]);
    memory_free(path);
    memory_free(after);
    memory_free(nowhere);
}

static void flush_timer_can_be_in_milliseconds(void **state)
{
    (void)state;
    enum { MODE = WHOLE | TRACE_MODE_USE_MS_FLUSH_TIMER };
    char *path = path_join(folder, "timer.etl");
    struct block b;
    struct peer peer = peer_start("timer", "1");
    const TRACEHANDLE session = start_enabled("timer", MODE, path);
    peer_write(&peer);
    assert_true(events_in(path) < EVENTS); /* events in a partly filled buffer wait */
    b = block_of(MODE, NULL);
    b.p.FlushTimer = 20;
    assert_int_equal(UpdateTraceW(session, NULL, &b.p), ERROR_SUCCESS);
    assert_int_equal(b.p.FlushTimer, 20);
    const uint64_t from = clock_monotonic_ms();
    while (events_in(path) < EVENTS && clock_passed_ms(from, clock_monotonic_ms()) < PATIENCE_MS)
        child_sleep(10);
    check_log(path, MODE);
    peer_end(&peer);
    assert_int_equal(control(session, &b, MODE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    memory_free(path);
}

static void killed_process_loses_nothing(void **state)
{
    (void)state;
    char *path = path_join(folder, "killed.etl");
    struct block b;
    struct peer peer = peer_start("killed", "1l");
    const TRACEHANDLE session = start_enabled("killed", WHOLE, path);
    peer_write(&peer);
    assert_true(events_in(path) < EVENTS);
    child_kill(peer.process, peer.name);
    assert_int_equal(process_wait(peer.process, PATIENCE_MS, NULL), S_OK);
    peer_close(&peer);
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    assert_int_equal(b.p.EventsLost, 1);
    assert_in_range(b.p.BuffersWritten, 3, UINT32_MAX);
    assert_int_equal(b.p.NumberOfBuffers, 0);
    assert_int_equal(events_in(path), EVENTS);
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(b.p.EventsLost, 1);
    memory_free(path);
}

/* ---- selection of processes by filters ---- */

struct versioned {
    union {
        EVENT_TRACE_PROPERTIES p;
        EVENT_TRACE_PROPERTIES_V2 v2;
    };
    WCHAR name[64], file[1100];
};

static struct versioned versioned_of(uint32_t mode, const char *path, EVENT_FILTER_DESCRIPTOR *filters, ULONG count)
{
    struct versioned b;
    memset(&b, 0, sizeof b);
    b.p.Wnode.BufferSize = sizeof b;
    b.p.Wnode.Flags = CONTROLLER_TRACED_GUID | CONTROLLER_VERSIONED;
    b.p.Wnode.Guid = guid;
    b.p.LogFileMode = mode;
    b.p.LoggerNameOffset = offsetof(struct versioned, name);
    b.p.LogFileNameOffset = offsetof(struct versioned, file);
    b.v2.V2Control = 2;
    b.v2.FilterDescCount = count;
    b.v2.FilterDesc = filters;
    if (path)
        wide(path, b.file);
    return b;
}

static ULONG start_scoped(const char *path, uint32_t mode, EVENT_FILTER_DESCRIPTOR *filters, ULONG count,
                          TRACEHANDLE *session)
{
    struct versioned b = versioned_of(mode, path, filters, count);
    WCHAR name[16];
    wide("scoped", name);
    return StartTraceW(session, name, &b.p);
}

static EVENT_FILTER_DESCRIPTOR filter_of(ULONG type, const void *data, size_t size)
{
    return (EVENT_FILTER_DESCRIPTOR){.Ptr = (uintptr_t)data, .Size = (ULONG)size, .Type = type};
}

static void filters_select_the_processes(void **state)
{
    (void)state;
    char *path = path_join(folder, "scoped.etl");
    struct peer peers[2] = {peer_start("scope0", "1"), peer_start("scope1", "1")};
    const uint32_t second = process_id(peers[1].process);
    EVENT_FILTER_DESCRIPTOR filter = filter_of(EVENT_FILTER_TYPE_PID, &second, sizeof second);
    struct versioned b;
    TRACEHANDLE session;
    assert_int_equal(start_scoped(path, WHOLE, &filter, 1, &session), ERROR_SUCCESS);
    enable_for(session);
    for (int i = 0; i < 2; i++)
        peer_write(&peers[i]);
    b = versioned_of(WHOLE, NULL, &filter, 1);
    assert_int_equal(QueryTraceW(session, NULL, &b.p), ERROR_SUCCESS);
    const uint32_t others = second + 1;
    EVENT_FILTER_DESCRIPTOR other = filter_of(EVENT_FILTER_TYPE_PID, &others, sizeof others);
    b = versioned_of(WHOLE, NULL, &other, 1);
    assert_int_equal(StopTraceW(session, NULL, &b.p), ERROR_WMI_INSTANCE_NOT_FOUND);
    b = versioned_of(WHOLE, NULL, &filter, 1);
    assert_int_equal(StopTraceW(session, NULL, &b.p), ERROR_SUCCESS);
    check_numbered(path, WHOLE, ETW_HEADER_PRIVATE_SESSION);
    assert_false(has_file(path, &peers[0]));
    for (int i = 0; i < 2; i++)
        peer_end(&peers[i]);
    memory_free(path);
}

/* Returns this program's file name, in the format of filters. */
static size_t own_program(WCHAR out[300])
{
    const char *name = child_program;
    for (const char *p = child_program; *p; p++)
        if (*p == '/' || *p == '\\')
            name = p + 1;
    wide(name, out);
    size_t length = 0;
    while (out[length])
        length++;
    return (length + 1) * sizeof(WCHAR);
}

static void filters_for_other_programs_apply_to_nothing(void **state)
{
    (void)state;
    char *path = path_join(folder, "program.etl");
    WCHAR own[300], other[] = {'o', '.', 'e', 'x', 'e', 0};
    const size_t bytes = own_program(own);
    EVENT_FILTER_DESCRIPTOR filters[2] = {filter_of(EVENT_FILTER_TYPE_EXECUTABLE_NAME, own, bytes),
                                          filter_of(EVENT_FILTER_TYPE_PACKAGE_ID, other, sizeof other)};
    struct block b;
    TRACEHANDLE session;
    REGHANDLE handle;
    assert_int_equal(EventRegister(&guid, NULL, NULL, &handle), ERROR_SUCCESS);
    assert_int_equal(start_scoped(path, WHOLE, filters, 2, &session), ERROR_SUCCESS); /* no program here belongs to a
                                                                                         package */
    enable_for(session);
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_false(file_exists(path));
    filters[1] = filter_of(EVENT_FILTER_TYPE_EXECUTABLE_NAME, other, sizeof other);
    assert_int_equal(start_scoped(path, WHOLE, &filters[1], 1, &session), ERROR_SUCCESS);
    enable_for(session);
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_false(file_exists(path));
    assert_int_equal(start_scoped(path, WHOLE, filters, 1, &session), ERROR_SUCCESS);
    enable_for(session);
    write_numbered(handle);
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    check_log(path, WHOLE);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
    memory_free(path);
}

static void invalid_filters_are_rejected(void **state)
{
    (void)state;
    char *path = path_join(folder, "refused.etl");
    const uint32_t ids[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    EVENT_FILTER_DESCRIPTOR twice[2] = {filter_of(EVENT_FILTER_TYPE_PID, ids, 4),
                                        filter_of(EVENT_FILTER_TYPE_PID, ids, 4)};
    EVENT_FILTER_DESCRIPTOR bad[] = {
        filter_of(EVENT_FILTER_TYPE_PID, ids, sizeof ids),
        filter_of(EVENT_FILTER_TYPE_PID, ids, 3),
        filter_of(EVENT_FILTER_TYPE_PID, NULL, 4),
        filter_of(EVENT_FILTER_TYPE_EVENT_ID, ids, 8),
        filter_of(EVENT_FILTER_TYPE_EXECUTABLE_NAME, ids, 3),
        filter_of(7, ids, 4),
    };
    TRACEHANDLE session;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(start_scoped(path, WHOLE, &bad[i], 1, &session), ERROR_INVALID_PARAMETER);
    assert_int_equal(start_scoped(path, WHOLE, twice, 2, &session), ERROR_INVALID_PARAMETER);
    assert_int_equal(start_scoped(path, WHOLE, NULL, 1, &session), ERROR_INVALID_PARAMETER);
    assert_int_equal(start_scoped(path, WHOLE, twice, 14, &session), ERROR_INVALID_PARAMETER);
    assert_int_equal(start_scoped(path, 0, twice, 1, &session), ERROR_INVALID_PARAMETER); /* the session is not
                                                                                             private */
    memory_free(path);
}

/* ---- processes that exit ---- */

/* Exits and leaves its session open. */
static int exit_with_open_session(const char *path, const char *how)
{
    REGHANDLE handle;
    if (EventRegister(&guid, NULL, NULL, &handle) != ERROR_SUCCESS)
        return 2;
    (void)start_enabled("leaves", *how == 'w' ? WHOLE : HERE, path);
    write_numbered(handle);
    return 0;
}

static void run_leaving(const char *path, const char *how)
{
    uint32_t code;
    struct process *process = child_start("leave", path, how);
    assert_int_equal(process_wait(process, PATIENCE_MS, &code), S_OK);
    assert_int_equal(code, 0);
    process_close(process);
}

static void a_session_left_open_is_complete(void **state)
{
    (void)state;
    char *path = path_join(folder, "left.etl");
    run_leaving(path, "h");
    check_log(path, HERE);
    memory_free(path);
}

/* The same program runs twice, with a session of the same name. */
static void session_names_are_local_to_their_process(void **state)
{
    (void)state;
    char *path = path_join(folder, "own.etl"), *other = path_join(folder, "others.etl");
    WCHAR name[16];
    struct block b;
    wide("leaves", name);
    const TRACEHANDLE session = start_enabled("leaves", HERE, path);
    run_leaving(other, "h");
    check_log(other, HERE);
    b = block_of(0, NULL);
    assert_int_equal(QueryTraceW(0, name, &b.p), ERROR_WMI_INSTANCE_NOT_FOUND);
    b = block_of(WHOLE, NULL);
    assert_int_equal(QueryTraceW(0, name, &b.p), ERROR_WMI_INSTANCE_NOT_FOUND);
    b = block_of(HERE, NULL);
    assert_int_equal(QueryTraceW(0, name, &b.p), ERROR_SUCCESS);
    assert_true(memcmp(&b.p.Wnode.HistoricalContext, &session, sizeof session) == 0);
    assert_int_equal(control(session, &b, HERE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    memory_free(path);
    memory_free(other);
}

static void the_session_of_dead_processes_ends(void **state)
{
    (void)state;
    static const char *const how[] = {"h", "w"};
    char *path = path_join(folder, "dead.etl");
    struct block b = block_of(0, NULL);
    EVENT_TRACE_PROPERTIES *list[1] = {&b.p};
    ULONG count;
    for (int i = 0; i < 2; i++) {
        run_leaving(path, how[i]);
        assert_int_not_equal(private_entries(), 0);
        assert_int_equal(QueryAllTracesW(list, 1, &count), ERROR_SUCCESS); /* finds all existing sessions */
        assert_int_equal(private_entries(), 0);
        check_log(path, WHOLE);
    }
    memory_free(path);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_session_is_visible_only_in_its_process),
        cmocka_unit_test(a_process_has_three_private_sessions),
        cmocka_unit_test(events_have_the_time_of_their_thread),
        cmocka_unit_test(each_process_with_the_provider_has_its_own_file),
        cmocka_unit_test(later_process_keeps_the_first_file),
        cmocka_unit_test(process_with_a_reused_id_keeps_the_earlier_file),
        cmocka_unit_test(statistics_cover_all_processes),
        cmocka_unit_test(a_flush_writes_in_every_process),
        cmocka_unit_test(an_update_changes_every_process_file),
        cmocka_unit_test(flush_timer_can_be_in_milliseconds),
        cmocka_unit_test(killed_process_loses_nothing),
        cmocka_unit_test(filters_select_the_processes),
        cmocka_unit_test(filters_for_other_programs_apply_to_nothing),
        cmocka_unit_test(invalid_filters_are_rejected),
        cmocka_unit_test(a_session_left_open_is_complete),
        cmocka_unit_test(session_names_are_local_to_their_process),
        cmocka_unit_test(the_session_of_dead_processes_ends),
    };
    child_program = arguments[0];
    if (count > 3 && strcmp(arguments[1], "provider") == 0)
        return be_provider(arguments[2], arguments[3]);
    if (count > 3 && strcmp(arguments[1], "leave") == 0)
        return exit_with_open_session(arguments[2], arguments[3]);
    return run_numbered("test_etw_private", tests, sizeof tests / sizeof *tests);
}
