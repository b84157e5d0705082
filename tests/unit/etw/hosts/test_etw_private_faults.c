/* SPDX-License-Identifier: MIT */
/* Private sessions when memory is exhausted, and requests that fail in one of the session's processes. */
#include "engine/base/thread.h"
#include "engine/etw/provider/private_session.h"
#include "engine/etw/session/session_buffers.h"
#include "tests/unit/etw/hosts/private_peers.h"

static bool is_no_memory(ULONG code)
{
    return code == ERROR_NOT_ENOUGH_MEMORY || code == ERROR_OUTOFMEMORY;
}

static void write_one(REGHANDLE handle)
{
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
}

static char *numbered(const char *name, uint64_t number)
{
    char *file = text_format("%s%u.etl", name, (unsigned)number), *path = path_join(folder, file);
    memory_free(file);
    return path;
}

/* ---- memory ---- */

/* If the registration fails, nothing is registered, and the next registration joins the session with the given file. */
static void failed_registration_can_be_repeated(void **state)
{
    (void)state;
    /* More than a registration needs. It needs fewer if the waiting thread joined the session first. */
    enum { ALLOCATIONS = 45 };
    unsigned refused = 0;
    for (uint64_t n = 1; n <= ALLOCATIONS; n++) {
        char *path = numbered("comes", n);
        struct block b;
        REGHANDLE handle;
        const TRACEHANDLE session = start_enabled("comes", WHOLE, path);
        memory_fail_at(n);
        const ULONG status = EventRegister(&guid, NULL, NULL, &handle);
        const bool failed = memory_count() >= n;
        memory_fail_at(0);
        if (status != ERROR_SUCCESS) {
            refused++;
            assert_true(failed && is_no_memory(status));
            assert_int_equal(EventRegister(&guid, NULL, NULL, &handle), ERROR_SUCCESS);
        }
        write_numbered(handle);
        assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
        assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
        assert_int_equal(private_entries(), 0);
        check_log(path, WHOLE);
        (void)file_delete(path);
        memory_free(path);
    }
    assert_true(refused != 0);
}

/* Queries and flushes change nothing when they fail; an update is done completely, or fails. */
static void calls_without_memory_lose_no_event(void **state)
{
    (void)state;
    static const ULONG codes[] = {EVENT_TRACE_CONTROL_QUERY, EVENT_TRACE_CONTROL_FLUSH};
    char *path = path_join(folder, "calls0.etl");
    uint64_t files = 1, written = 0, found = 0;
    struct block b;
    REGHANDLE handle;
    assert_int_equal(EventRegister(&guid, NULL, NULL, &handle), ERROR_SUCCESS);
    const TRACEHANDLE session = start_enabled("calls", WHOLE, path);
    memory_free(path);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        bool failed = true;
        for (uint64_t n = 1; failed; n++) {
            memory_fail_at(n);
            const ULONG code = control(session, &b, WHOLE, codes[i]);
            failed = memory_count() >= n;
            memory_fail_at(0);
            assert_true(code == ERROR_SUCCESS || (failed && is_no_memory(code)));
            write_one(handle);
            written++;
        }
    }
    bool failed = true;
    for (uint64_t n = 1; failed; n++, files++) {
        WCHAR wanted[1100];
        path = numbered("calls", files);
        b = block_of(WHOLE, path);
        memory_fail_at(n);
        const ULONG code = UpdateTraceW(session, NULL, &b.p);
        failed = memory_count() >= n;
        memory_fail_at(0);
        assert_true(code == ERROR_SUCCESS || (failed && is_no_memory(code)));
        wide(path, wanted);
        b = block_of(WHOLE, "");
        assert_int_equal(QueryTraceW(session, NULL, &b.p), ERROR_SUCCESS);
        const bool changed = strcmp(narrow(b.file), path) == 0;
        assert_int_equal(changed, code == ERROR_SUCCESS);
        write_one(handle);
        written++;
        memory_free(path);
    }
    assert_true(files > 20);
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    for (uint64_t i = 0; i < files; i++) {
        path = numbered("calls", i);
        if (file_exists(path))
            found += events_in(path);
        memory_free(path);
    }
    assert_int_equal(found, written);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

/* After a failed stop, the next stop succeeds, and nothing remains of the session. */
static void failed_stop_can_be_repeated(void **state)
{
    (void)state;
    char *path = path_join(folder, "stops.etl");
    REGHANDLE handle;
    bool failed = true;
    assert_int_equal(EventRegister(&guid, NULL, NULL, &handle), ERROR_SUCCESS);
    for (uint64_t n = 1; failed; n++) {
        struct block b;
        const TRACEHANDLE session = start_enabled("stops", WHOLE, path);
        write_numbered(handle);
        memory_fail_at(n);
        const ULONG code = control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP);
        failed = memory_count() >= n;
        memory_fail_at(0);
        assert_true(code == ERROR_SUCCESS || (failed && is_no_memory(code)));
        assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP),
                         code == ERROR_SUCCESS ? ERROR_WMI_INSTANCE_NOT_FOUND : ERROR_SUCCESS);
        assert_int_equal(private_entries(), 0);
        check_log(path, WHOLE);
    }
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
    memory_free(path);
}

/* The session's part in a process exists completely or not at all; after the part ends, its totals are added to the
   session once. */
static void failed_part_changes_nothing(void **state)
{
    (void)state;
    enum { LOST = 5 };
    struct directory *d = own_directory();
    char *path = path_join(folder, "part.etl");
    const struct session_shape shape = {.buffers = 2,
                                        .minimum = 2,
                                        .buffer_size = 4096,
                                        .processors = 1,
                                        .wake_at = 1,
                                        .source = session_source_for(ETL_CLOCK_TICKS)};
    struct directory_session s, part, now;
    struct session_buffers buffers;
    size_t size;
    bool failed = true;
    HRESULT hr = E_FAIL;
    const TRACEHANDLE session = start_enabled("part", WHOLE, path);
    s = session_of_handle(session);
    for (uint64_t n = 1; failed; n++) {
        if (hr == S_OK) { /* only the memory for waking other processes was missing */
            private_part_refuse(d, &part);
            directory_session_free(&part);
        }
        memory_fail_at(n);
        hr = private_part_enter(d, &s, &part);
        failed = memory_count() >= n;
        memory_fail_at(0);
        now = session_of_handle(session);
        assert_int_equal(now.named, hr == S_OK);
        directory_session_free(&now);
        assert_int_equal(private_entries(), 1 + (hr == S_OK));
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
    }
    assert_int_equal(session_buffers_size(&shape, &size), S_OK);
    void *memory = memory_zero(1, size);
    assert_int_equal(session_buffers_create(memory, size, &shape, &buffers), S_OK);
    atomic_store(&buffers.shared->totals.torn, LOST);
    failed = true;
    for (uint64_t n = 1; failed; n++) {
        memory_fail_at(n);
        hr = private_part_over(d, &part, &buffers);
        failed = memory_count() >= n;
        memory_fail_at(0);
        assert_int_equal(hr, failed ? E_OUTOFMEMORY : S_OK);
        now = session_of_handle(session);
        assert_int_equal(now.ended.events_lost, failed ? 0 : LOST);
        directory_session_free(&now);
        assert_int_equal(directory_session_at(d, part.logger, part.generation, &now), S_OK);
        assert_int_equal(now.state, failed ? DIRECTORY_STARTING : DIRECTORY_OVER);
        directory_session_free(&now);
    }
    assert_int_equal(private_part_over(d, &part, &buffers), S_FALSE);
    memory_free(memory);
    /* The next part gets the given file name again. */
    private_part_refuse(d, &part);
    directory_session_free(&part);
    now = session_of_handle(session);
    assert_false(now.named);
    directory_session_free(&now);
    directory_session_free(&s);
    struct block b;
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(private_entries(), 0);
    memory_free(path);
}

/* ---- a failure in one of several processes ---- */

/* A folder has the name of the second process's new file. The other processes continue in their new files, and the
   second process in its old one. After the folder is removed, the same update completes the change. */
static void partly_failed_update_is_completed_by_the_next_one(void **state)
{
    (void)state;
    enum { PEERS = 3 };
    char *path = path_join(folder, "midway.etl"), *after = path_join(folder, "midway2.etl");
    struct block b;
    struct peer peers[PEERS];
    for (int i = 0; i < PEERS; i++) {
        char name[] = {'m', (char)('0' + i), 0};
        peers[i] = peer_start(name, "3");
    }
    const TRACEHANDLE session = start_enabled("midway", WHOLE, path);
    for (int i = 0; i < PEERS; i++)
        peer_write(&peers[i]);
    int second = 0;
    while (!has_file(path, &peers[second]))
        second++;
    char *blocked = file_of(after, &peers[second]);
    assert_int_equal(folder_create(blocked), S_OK);
    assert_int_not_equal(update_file(session, after), ERROR_SUCCESS);
    assert_true(file_exists(after));
    b = block_of(WHOLE, "");
    assert_int_equal(QueryTraceW(session, NULL, &b.p), ERROR_SUCCESS);
    assert_string_equal(narrow(b.file), path);
    for (int i = 0; i < PEERS; i++)
        peer_write(&peers[i]);
    assert_int_equal(folder_delete(blocked), S_OK);
    assert_int_equal(update_file(session, after), ERROR_SUCCESS);
    for (int i = 0; i < PEERS; i++)
        peer_write(&peers[i]);
    assert_int_equal(control(session, &b, WHOLE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    uint64_t found = events_in(path) + events_in(after);
    assert_int_equal(events_in(path), EVENTS);
    for (int i = 0; i < PEERS; i++) {
        char *files[] = {file_of(path, &peers[i]), file_of(after, &peers[i])};
        for (int k = 0; k < 2; k++) {
            found += file_exists(files[k]) ? events_in(files[k]) : 0;
            memory_free(files[k]);
        }
    }
    assert_int_equal(found, UINT64_C(3) * PEERS * EVENTS);
    assert_int_equal(events_in(blocked), EVENTS);
    for (int i = 0; i < PEERS; i++)
        peer_end(&peers[i]);
    memory_free(blocked);
    memory_free(path);
    memory_free(after);
}

/* ---- a process that exits between two files ---- */

enum { NEW_FILES = WHOLE | TRACE_MODE_NEWFILE | TRACE_MODE_USE_KBYTES };

struct writing {
    REGHANDLE handle;
    _Atomic uint64_t *accepted;
};

static void write_on(void *user)
{
    const struct writing *w = user;
    for (uint64_t number = 0;;) {
        EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)&number, .Size = sizeof number};
        if (EventWrite(w->handle, &some_event, 1, &data) == ERROR_SUCCESS)
            atomic_store(w->accepted, ++number);
    }
}

/* A thread of this process writes. After a number of events, the process exits while the thread is still writing.
   Events after the end of the session do not belong to the session. */
static int end_while_writing(const char *name, const char *events)
{
    static struct writing w;
    static struct section *section; /* the data survive the process */
    static struct thread *thread;
    uint64_t until;
    if (FAILED(section_open(&(struct shared){.name = name}, sizeof *w.accepted, &section)) ||
        !text_to_u64(events, &until) || EventRegister(&guid, NULL, NULL, &w.handle) != ERROR_SUCCESS)
        return 2;
    w.accepted = section_memory(section);
    if (FAILED(thread_start(write_on, &w, &thread)))
        return 3;
    while (atomic_load(w.accepted) < until)
        thread_yield();
    return 0;
}

/* Checks that the newest event and all earlier events exist. */
static uint64_t check_event_numbers(const char *path, uint8_t *seen, uint64_t most)
{
    uint64_t newest = 0;
    struct etl_reader *reader;
    struct etl_record record;
    assert_int_equal(etl_reader_open(path, keep_warning, NULL, &reader), S_OK);
    while (etl_reader_next(reader, &record) == S_OK) {
        if (record.kind == ETL_RECORD_SYSTEM)
            continue;
        const uint64_t number = get_u64(record.data);
        assert_in_range(number, 0, most);
        assert_int_equal(seen[number], 0);
        seen[number] = 1;
        newest = number + 1 > newest ? number + 1 : newest;
    }
    etl_reader_close(reader);
    return newest;
}

/* Each accepted event is in one of the files; a new file begins every few buffers. */
static void process_that_exits_between_two_files_loses_nothing(void **state)
{
    (void)state;
    enum { ROUNDS = 12, MOST_FILES = 20000, GAP = 40 };
    char *pattern = path_join(folder, "between%d.etl");
    char name[64];
    struct section *section;
    snprintf(name, sizeof name, "%s-accepted", getenv("OPENPLA_ETW"));
    assert_int_equal(section_open(&(struct shared){.name = name, .create = true}, sizeof(uint64_t), &section), S_OK);
    _Atomic uint64_t *accepted = section_memory(section);
    for (unsigned round = 0; round < ROUNDS; round++) {
        char events[16];
        struct block b = block_of(NEW_FILES, pattern);
        TRACEHANDLE session;
        uint32_t code;
        b.p.Wnode.Guid = guid;
        b.p.BufferSize = 4;
        b.p.MinimumBuffers = 8;
        b.p.MaximumFileSize = 12;
        atomic_store(accepted, 0);
        assert_int_equal(start_session("between", &b, &session), ERROR_SUCCESS);
        enable_for(session);
        snprintf(events, sizeof events, "%u", 500 + 777 * round);
        struct process *process = child_start("ends", name, events);
        assert_int_equal(process_wait(process, PATIENCE_MS, &code), S_OK);
        assert_int_equal(code, 0);
        process_close(process);
        assert_int_equal(control(session, &b, NEW_FILES, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
        const uint64_t count = atomic_load(accepted);
        uint8_t *seen = memory_zero(count + 2, 1);
        uint64_t lost = 0, newest = 0;
        unsigned missing = 0;
        for (unsigned i = 1; i < MOST_FILES && missing < GAP; i++) {
            char *path = numbered("between", i);
            if (file_exists(path)) {
                const uint64_t in_this = check_event_numbers(path, seen, count);
                newest = in_this > newest ? in_this : newest;
                (void)file_delete(path);
                missing = 0;
            } else {
                missing++;
            }
            memory_free(path);
        }
        for (uint64_t i = 0; i < newest; i++)
            lost += !seen[i];
        assert_in_range(newest, 500 + 777 * round, UINT64_MAX);
        memory_free(seen);
        assert_int_equal(lost, 0);
    }
    section_close(section);
    memory_free(pattern);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_registration_can_be_repeated),
        cmocka_unit_test(calls_without_memory_lose_no_event),
        cmocka_unit_test(failed_stop_can_be_repeated),
        cmocka_unit_test(failed_part_changes_nothing),
        cmocka_unit_test(partly_failed_update_is_completed_by_the_next_one),
        cmocka_unit_test(process_that_exits_between_two_files_loses_nothing),
    };
    child_program = arguments[0];
    if (count > 3 && strcmp(arguments[1], "provider") == 0)
        return be_provider(arguments[2], arguments[3]);
    if (count > 3 && strcmp(arguments[1], "ends") == 0)
        return end_while_writing(arguments[2], arguments[3]);
    return run_numbered("test_etw_private_faults", tests, sizeof tests / sizeof *tests);
}
