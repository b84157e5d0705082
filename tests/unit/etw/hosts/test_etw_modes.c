/* SPDX-License-Identifier: MIT */
/* Starts a session with each LogFileMode and an ETW session host: a rejected mode leaves no session; a started session
   keeps its events as the mode requires. */
#include "engine/base/thread.h"
#include "tests/unit/controller_fixture.h"

#define M(name) TRACE_MODE_##name
enum { NO_FILE = 1, NEW_FILE = 2, NEEDS_GUID = 4 };

static char *folder;

static char *path_of(const char *name)
{
    char *path = path_join(folder, name);
    assert_non_null(path);
    return path;
}

static size_t session_count(void)
{
    struct directory_session *list;
    size_t count;
    assert_int_equal(directory_sessions(own_directory(), &list, &count), S_OK);
    directory_sessions_free(list, count);
    return count;
}

static const struct row {
    uint32_t mode, maximum;
    int how;
    ULONG code;
} rows[] = {
    {M(SEQUENTIAL), 0, 0, ERROR_SUCCESS},
    {M(SEQUENTIAL) | M(CIRCULAR), 1, 0, ERROR_INVALID_PARAMETER},
    {M(SEQUENTIAL) | M(BUFFERING), 0, NO_FILE, ERROR_INVALID_PARAMETER},
    {M(CIRCULAR), 1, 0, ERROR_SUCCESS},
    {M(CIRCULAR), 0, 0, ERROR_INVALID_PARAMETER},
    {M(CIRCULAR) | M(APPEND), 1, 0, ERROR_INVALID_PARAMETER},
    {M(CIRCULAR) | M(NEWFILE), 1, NEW_FILE, ERROR_INVALID_PARAMETER},
    {M(APPEND), 0, 0, ERROR_SUCCESS},
    {M(APPEND) | M(REAL_TIME), 0, 0, ERROR_INVALID_PARAMETER},
    {M(APPEND) | M(PREALLOCATE), 1, 0, ERROR_INVALID_PARAMETER},
    {M(NEWFILE), 1, NEW_FILE, ERROR_SUCCESS},
    {M(NEWFILE), 0, NEW_FILE, ERROR_INVALID_PARAMETER},
    {M(NEWFILE), 1, 0, ERROR_INVALID_NAME},
    {M(NEWFILE) | M(APPEND), 1, NEW_FILE, ERROR_INVALID_PARAMETER},
    {M(USE_MS_FLUSH_TIMER), 0, 0, ERROR_SUCCESS},
    {M(PREALLOCATE), 1, 0, ERROR_SUCCESS},
    {M(PREALLOCATE), 0, 0, ERROR_INVALID_PARAMETER},
    {M(NONSTOPPABLE), 0, 0, ERROR_INVALID_PARAMETER},
    {M(SECURE), 0, 0, ERROR_SUCCESS},
    {M(REAL_TIME), 0, NO_FILE, ERROR_SUCCESS},
    {M(REAL_TIME), 0, 0, ERROR_SUCCESS},
    {M(REAL_TIME) | M(ADD_HEADER), 0, 0, ERROR_INVALID_PARAMETER},
    {M(DELAY_OPEN), 0, 0, ERROR_SUCCESS},
    {M(BUFFERING), 0, NO_FILE, ERROR_SUCCESS},
    {M(BUFFERING), 0, 0, ERROR_INVALID_PARAMETER},
    {M(BUFFERING) | M(CIRCULAR), 1, NO_FILE, ERROR_INVALID_PARAMETER},
    {M(PRIVATE_LOGGER), 0, 0, ERROR_INVALID_PARAMETER},
    {M(PRIVATE_LOGGER) | M(REAL_TIME), 0, NEEDS_GUID, ERROR_INVALID_PARAMETER},
    {M(ADD_HEADER), 0, 0, ERROR_SUCCESS},
    {M(USE_KBYTES), 1024, 0, ERROR_SUCCESS},
    {M(USE_KBYTES), 0, 0, ERROR_INVALID_PARAMETER},
    {M(GLOBAL_SEQUENCE), 0, 0, ERROR_SUCCESS},
    {M(LOCAL_SEQUENCE), 0, 0, ERROR_SUCCESS},
    {M(GLOBAL_SEQUENCE) | M(LOCAL_SEQUENCE), 0, 0, ERROR_INVALID_PARAMETER},
    {M(RELOG), 0, 0, ERROR_INVALID_PARAMETER},
    {M(PRIVATE_IN_PROC), 0, 0, ERROR_INVALID_PARAMETER},
    {M(STOP_ON_HYBRID_SHUTDOWN), 0, 0, ERROR_SUCCESS},
    {M(PERSIST_ON_HYBRID_SHUTDOWN), 0, 0, ERROR_SUCCESS},
    {M(STOP_ON_HYBRID_SHUTDOWN) | M(PERSIST_ON_HYBRID_SHUTDOWN), 0, 0, ERROR_INVALID_PARAMETER},
    {M(PAGED), 0, 0, ERROR_SUCCESS},
    {M(SYSTEM_LOGGER), 0, 0, ERROR_SUCCESS},
    {M(SYSTEM_LOGGER) | M(PAGED), 0, 0, ERROR_INVALID_PARAMETER},
    {M(SYSTEM_LOGGER) | M(NEWFILE), 1, NEW_FILE, ERROR_INVALID_PARAMETER},
    {M(COMPRESSED), 0, 0, ERROR_SUCCESS},
    {M(NO_PER_PROCESSOR), 0, 0, ERROR_SUCCESS},
    {M(BLOCKING), 0, 0, ERROR_SUCCESS},
    {0x00200000, 0, 0, ERROR_SUCCESS}, /* an unknown bit is kept */
    {0, 0, NO_FILE, ERROR_BAD_PATHNAME},
};

static void start_row(const struct row *row)
{
    enum { EVENTS = 500 };
    char *path = path_of((row->how & NEW_FILE) != 0 ? "mode%d.etl" : "mode.etl");
    char *first = path_of((row->how & NEW_FILE) != 0 ? "mode1.etl" : "mode.etl");
    struct block b = block_of(row->mode, (row->how & NO_FILE) != 0 ? NULL : path);
    struct provider p;
    TRACEHANDLE handle;
    b.p.MaximumFileSize = row->maximum;
    b.p.BufferSize = 4;
    if ((row->how & NEEDS_GUID) != 0)
        b.p.Wnode.Guid = (GUID){7, 7, 7, {7}};
    const ULONG code = start_session("mode", &b, &handle);
    if (code != row->code)
        fail_msg("mode 0x%X, maximum %u, %d: %u, not %u", (unsigned)row->mode, (unsigned)row->maximum, row->how,
                 (unsigned)code, (unsigned)row->code);
    if (code == ERROR_SUCCESS) {
        provider_open(handle, &p);
        assert_true(provider_write(&p, EVENTS));
        provider_close(&p);
        assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
        assert_int_equal(b.p.LogFileMode, row->mode);
        assert_int_equal(b.p.EventsLost, p.refused);
        if ((row->how & NO_FILE) == 0) {
            const struct log_sums sums = read_log(first);
            assert_int_equal(sums.events, p.written);
            assert_int_equal(sums.buffers_written, b.p.BuffersWritten + 1); /* plus the buffer of the header */
            assert_int_equal(b.p.LogBuffersLost, 0);
        }
    }
    assert_int_equal(session_count(), 0);
    (void)file_delete(first);
    memory_free(path);
    memory_free(first);
}

static void each_mode_starts_or_is_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        start_row(&rows[i]);
}

/* ---- limits ---- */

static struct block started(struct block b)
{
    TRACEHANDLE handle;
    struct block end;
    assert_int_equal(start_session("bounds", &b, &handle), ERROR_SUCCESS);
    assert_int_equal(control_session(handle, &end, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(end.p.BufferSize, b.p.BufferSize);
    assert_int_equal(end.p.MinimumBuffers, b.p.MinimumBuffers);
    assert_int_equal(end.p.MaximumBuffers, b.p.MaximumBuffers);
    assert_int_equal(end.p.FlushTimer, b.p.FlushTimer);
    return b;
}

static void sizes_are_limited_and_returned(void **state)
{
    (void)state;
    const uint32_t processors = processor_count();
    struct block b = block_of(M(REAL_TIME), NULL);
    b.p.BufferSize = 1;
    b = started(b);
    assert_int_equal(b.p.BufferSize, 4);
    assert_int_equal(b.p.MinimumBuffers, 2 * processors);
    assert_int_equal(b.p.MaximumBuffers, 2 * processors + 20);
    assert_int_equal(b.p.FlushTimer, 1);
    assert_int_equal(b.p.Wnode.ClientContext, ETL_CLOCK_TICKS);
    b = block_of(M(REAL_TIME), NULL);
    b.p.BufferSize = 0;
    b = started(b);
    assert_true(b.p.BufferSize == 64 || b.p.BufferSize == 8);
    b = block_of(M(REAL_TIME) | M(NO_PER_PROCESSOR), NULL);
    b.p.MinimumBuffers = 1;
    b.p.MaximumBuffers = 1;
    b.p.FlushTimer = 7;
    b = started(b);
    assert_int_equal(b.p.MinimumBuffers, 2);
    assert_int_equal(b.p.MaximumBuffers, 2);
    assert_int_equal(b.p.FlushTimer, 7);
    b = block_of(M(BUFFERING), NULL);
    b.p.BufferSize = 4;
    b.p.MinimumBuffers = 40;
    b.p.MaximumBuffers = 400;
    b = started(b);
    assert_int_equal(b.p.MinimumBuffers, 40);
    assert_int_equal(b.p.MaximumBuffers, 40);
}

static void events_have_times_of_each_clock(void **state)
{
    (void)state;
    for (uint32_t clock = 1; clock <= 3; clock++) {
        char *path = path_of("clock.etl");
        struct block b = block_of(0, path);
        struct provider p;
        TRACEHANDLE handle;
        struct etl_reader *reader;
        struct etl_record record;
        b.p.Wnode.ClientContext = clock;
        const int64_t before = clock_utc() - 50000000;
        assert_int_equal(start_session("clock", &b, &handle), ERROR_SUCCESS);
        provider_open(handle, &p);
        assert_true(provider_write(&p, 10));
        provider_close(&p);
        assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
        assert_int_equal(b.p.Wnode.ClientContext, clock);
        const int64_t after = clock_utc() + 50000000;
        assert_int_equal(etl_reader_open(path, keep_warning, NULL, &reader), S_OK);
        assert_int_equal(etl_reader_log(reader)->clock, clock);
        while (etl_reader_next(reader, &record) == S_OK)
            if (record.kind != ETL_RECORD_SYSTEM)
                assert_true(record.utc >= before && record.utc <= after);
        etl_reader_close(reader);
        assert_int_equal(file_delete(path), S_OK);
        memory_free(path);
    }
}

/* ---- files ---- */

enum { KB_OF_FILE = 64, BUFFER_KB = 4 };

static TRACEHANDLE start_small(const char *name, uint32_t mode, const char *path, uint32_t maximum)
{
    struct block b = block_of(mode | (maximum != 0 ? M(USE_KBYTES) : 0u), path);
    TRACEHANDLE handle;
    b.p.BufferSize = BUFFER_KB;
    b.p.MinimumBuffers = 64;
    b.p.MaximumFileSize = maximum;
    assert_int_equal(start_session(name, &b, &handle), ERROR_SUCCESS);
    return handle;
}

static void wait_until_gone(TRACEHANDLE handle)
{
    for (int i = 0; i < CHILD_PATIENCE / 10; i++) {
        struct block b;
        if (control_session(handle, &b, EVENT_TRACE_CONTROL_QUERY) == ERROR_WMI_INSTANCE_NOT_FOUND)
            return;
        child_sleep(10);
    }
    fail_msg("the session did not end");
}

static uint64_t size_of(const char *path)
{
    struct file *f;
    uint64_t size;
    assert_int_equal(file_open(path, FILE_READ, &f), S_OK);
    assert_int_equal(file_size(f, &size), S_OK);
    file_close(f);
    return size;
}

static void a_full_file_ends_its_session(void **state)
{
    (void)state;
    char *path = path_of("full.etl");
    const TRACEHANDLE handle = start_small("full", M(SEQUENTIAL), path, KB_OF_FILE);
    struct provider p;
    provider_open(handle, &p);
    while (provider_write(&p, 50))
        child_sleep(1);
    provider_close(&p);
    wait_until_gone(handle);
    assert_in_range(size_of(path), 1, KB_OF_FILE * 1024);
    const struct log_sums sums = read_log(path);
    assert_int_equal(sums.first, 0);
    assert_true(sums.events > 300 && sums.events <= p.written);
    memory_free(path);
}

static void circular_file_keeps_the_newest_events(void **state)
{
    (void)state;
    char *path = path_of("ring.etl");
    const TRACEHANDLE handle = start_small("ring", M(CIRCULAR), path, KB_OF_FILE);
    struct provider p;
    struct block b;
    provider_open(handle, &p);
    for (int i = 0; i < 100; i++) {
        assert_true(provider_write(&p, 50));
        assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    }
    provider_close(&p);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    const struct log_sums sums = read_log(path);
    assert_int_equal(b.p.EventsLost, p.refused);
    assert_int_equal(sums.last, p.written - 1);
    assert_true(sums.first > 0);
    assert_in_range(size_of(path), 1, KB_OF_FILE * 1024);
    memory_free(path);
}

static void files_follow_one_another(void **state)
{
    (void)state;
    char *path = path_of("next%d.etl");
    const TRACEHANDLE handle = start_small("next", M(NEWFILE), path, KB_OF_FILE);
    struct provider p;
    struct block b;
    uint64_t events = 0, expected = 0;
    provider_open(handle, &p);
    for (int i = 0; i < 40; i++) {
        assert_true(provider_write(&p, 50));
        assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    }
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_INCREMENT_FILE), ERROR_SUCCESS);
    assert_true(provider_write(&p, 1));
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    provider_close(&p);
    unsigned files = 0;
    for (;; files++) {
        char *one = text_format("%s/next%u.etl", folder, files + 1);
        if (!file_exists(one)) {
            memory_free(one);
            break;
        }
        const struct log_sums sums = read_log(one);
        assert_int_equal(sums.first, expected);
        expected = sums.last + 1;
        events += sums.events;
        memory_free(one);
    }
    assert_true(files > 3);
    assert_int_equal(events, p.written);
    assert_int_equal(expected, p.written);
    memory_free(path);
}

static void appended_events_follow_the_old_ones(void **state)
{
    (void)state;
    char *path = path_of("append.etl");
    uint64_t events = 0;
    for (int i = 0; i < 3; i++) {
        const TRACEHANDLE handle = start_small("append", M(APPEND), path, 0);
        struct provider p;
        struct block b;
        provider_open(handle, &p);
        assert_true(provider_write(&p, 100));
        provider_close(&p);
        assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
        events += p.written;
        assert_int_equal(read_log(path).events, events);
    }
    const TRACEHANDLE last = start_small("append", M(APPEND), path, 0);
    struct block turn = block_of(M(REAL_TIME), NULL);
    assert_int_equal(ControlTraceW(last, NULL, &turn.p, EVENT_TRACE_CONTROL_UPDATE), ERROR_INVALID_PARAMETER);
    assert_int_equal(control_session(last, &turn, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    struct block b = block_of(M(APPEND), path);
    TRACEHANDLE handle;
    b.p.BufferSize = 2 * BUFFER_KB;
    assert_int_equal(start_session("append", &b, &handle), ERROR_INVALID_PARAMETER);
    assert_int_equal(read_log(path).events, events);
    memory_free(path);
}

static void snapshot_contains_the_buffers_in_memory(void **state)
{
    (void)state;
    char *path = path_of("snapshot.etl"), *second = path_of("snapshot2.etl");
    const TRACEHANDLE handle = start_small("snapshot", M(BUFFERING), NULL, 0);
    struct provider p;
    provider_open(handle, &p);
    assert_true(provider_write(&p, 100));
    struct block b = block_of(0, NULL);
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_FLUSH), ERROR_INVALID_PARAMETER);
    b = block_of(0, path);
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    assert_int_equal(read_log(path).events, 100);
    for (int i = 0; i < 100; i++) {
        assert_true(provider_write(&p, 100)); /* more events than the buffers have room for */
        child_sleep(1);
    }
    b = block_of(0, second);
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_UPDATE), ERROR_SUCCESS);
    const struct log_sums sums = read_log(second);
    assert_true(sums.first > 100);
    assert_int_equal(sums.last, p.written - 1);
    provider_close(&p);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(b.p.EventsLost, p.refused); /* on a busy machine, the host process may be late, and events are
                                                    lost */
    memory_free(path);
    memory_free(second);
}

/* The FlushTimer alone writes events into the file. */
static void flush_timer_writes_events_to_the_file(void **state)
{
    (void)state;
    char *path = path_of("timer.etl");
    struct block b = block_of(M(USE_MS_FLUSH_TIMER), path);
    struct provider p;
    TRACEHANDLE handle;
    b.p.FlushTimer = 20;
    assert_int_equal(start_session("timer", &b, &handle), ERROR_SUCCESS);
    provider_open(handle, &p);
    assert_true(provider_write(&p, 3));
    provider_close(&p);
    uint64_t events = 0;
    for (int i = 0; i < CHILD_PATIENCE / 10 && events != 3; i++) {
        child_sleep(10);
        events = read_log(path).events;
    }
    assert_int_equal(events, 3);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    memory_free(path);
}

static atomic_bool enough;
static void write_on(void *provider)
{
    struct provider *p = provider;
    p->writer.thread = thread_own_id();
    while (!atomic_load(&enough))
        (void)provider_write(provider, 100);
}

/* A flush covers the events that existed when it began, however fast new events arrive. */
static void a_flush_under_load_writes_each_buffer_once(void **state)
{
    (void)state;
    enum { FLUSHES = 6, WRITERS = 12, BUFFER = 1 << 20 };
    char *path = path_of("load.etl");
    struct block b = block_of(0, path);
    struct provider p, each[WRITERS];
    struct thread *writer[WRITERS];
    TRACEHANDLE handle;
    b.p.BufferSize = BUFFER / 1024;
    assert_int_equal(start_session("load", &b, &handle), ERROR_SUCCESS);
    provider_open(handle, &p);
    for (int i = 0; i < WRITERS; i++) {
        each[i] = p;
        assert_int_equal(thread_start(write_on, &each[i], &writer[i]), S_OK);
    }
    for (int i = 0; i < FLUSHES; i++)
        assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    atomic_store(&enough, true);
    for (int i = 0; i < WRITERS; i++) {
        while (!thread_wait(writer[i], CHILD_PATIENCE))
            ;
        thread_close(writer[i]);
        p.written += each[i].written;
    }
    provider_close(&p);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    const uint64_t full = p.written * EVENT_BYTES / (BUFFER - ETL_BUFFER_HEAD - EVENT_BYTES) + 1;
    assert_in_range(b.p.BuffersWritten, 1, full + (FLUSHES + 1) * processor_count());
    memory_free(path);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mode_starts_or_is_rejected),
        cmocka_unit_test(sizes_are_limited_and_returned),
        cmocka_unit_test(events_have_times_of_each_clock),
        cmocka_unit_test(a_full_file_ends_its_session),
        cmocka_unit_test(circular_file_keeps_the_newest_events),
        cmocka_unit_test(files_follow_one_another),
        cmocka_unit_test(appended_events_follow_the_old_ones),
        cmocka_unit_test(snapshot_contains_the_buffers_in_memory),
        cmocka_unit_test(flush_timer_writes_events_to_the_file),
        cmocka_unit_test(a_flush_under_load_writes_each_buffer_once),
    };
    (void)count, (void)arguments;
    return controller_tests(tests, sizeof tests / sizeof *tests, "test_etw_modes", &folder);
}
