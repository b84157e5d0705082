/* SPDX-License-Identifier: MIT */
/* Consumers of running sessions with separate ETW session hosts: OpenTrace finds sessions by name; ProcessTrace
   delivers the events as they are written, and ends with the session. */
#include "engine/etw/consumer/consumer.h"
#include "tests/unit/controller_fixture.h"

enum { EARLY = 40, LATER = 300 };
static char *folder;

static struct {
    TRACEHANDLE handle;
    ULONG status;
    _Atomic uint64_t events;
    uint64_t next, headers, lost, buffers;
    int64_t time;
    struct wakeup *ended;
    struct thread *thread;
} reader;

static void WINAPI consume_event(EVENT_RECORD *e)
{
    static const GUID header = {0x68FDD900, 0x4A3E, 0x11D1, {0x84, 0xF4, 0x00, 0x00, 0xF8, 0x04, 0x64, 0xE3}};
    uint64_t writer = 0, number = 0;
    if (guid_equal(&e->EventHeader.ProviderId, &header)) {
        reader.headers++;
    } else if (e->UserDataLength != EVENT_PAYLOAD) {
        reader.lost++;
    } else {
        assert_true(event_check((const uint8_t *)e->UserData - 0x50, EVENT_BYTES, &writer, &number));
        assert_int_equal(number, reader.next);
        assert_true(e->EventHeader.TimeStamp.QuadPart >= reader.time);
        reader.time = e->EventHeader.TimeStamp.QuadPart;
        reader.next++;
        atomic_fetch_add(&reader.events, 1);
    }
}

static ULONG WINAPI take_buffer(EVENT_TRACE_LOGFILEW *logfile)
{
    reader.buffers = logfile->BuffersRead;
    return 1;
}

static TRACEHANDLE open_session(const char *name, EVENT_TRACE_LOGFILEW *logfile)
{
    WCHAR units[100];
    wide(name, units);
    *logfile = (EVENT_TRACE_LOGFILEW){.LoggerName = units, .BufferCallback = take_buffer};
    logfile->ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME;
    logfile->EventRecordCallback = consume_event;
    const TRACEHANDLE handle = OpenTraceW(logfile);
    logfile->LoggerName = NULL;
    return handle;
}

static void process(void *user)
{
    (void)user;
    reader.status = ProcessTrace(&reader.handle, 1, NULL, NULL);
    wakeup_set(reader.ended);
}

/* Starts a consumer thread; `next` is the number of the first expected event. */
static void begin_reading(const char *name, uint64_t next, EVENT_TRACE_LOGFILEW *logfile)
{
    reader.next = next;
    reader.headers = reader.lost = reader.buffers = 0;
    reader.time = INT64_MIN;
    atomic_store(&reader.events, 0);
    reader.handle = open_session(name, logfile);
    assert_true(reader.handle != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(wakeup_create(&reader.ended), S_OK);
    assert_int_equal(thread_start(process, NULL, &reader.thread), S_OK);
}

static void wait_for_events(uint64_t events)
{
    for (int waited = 0; atomic_load(&reader.events) < events; waited++) {
        assert_true(waited < CHILD_PATIENCE);
        child_sleep(1);
    }
}

static void end_reading(void)
{
    assert_true(wakeup_wait(reader.ended, CHILD_PATIENCE));
    assert_true(thread_wait(reader.thread, CHILD_PATIENCE));
    thread_close(reader.thread);
    wakeup_free(reader.ended);
    assert_int_equal(reader.status, ERROR_SUCCESS);
}

static TRACEHANDLE start_live(const char *name, struct provider *p)
{
    struct block b = block_of(TRACE_MODE_REAL_TIME, NULL);
    TRACEHANDLE handle;
    b.p.BufferSize = 4;
    assert_int_equal(start_session(name, &b, &handle), ERROR_SUCCESS);
    provider_open(handle, p);
    return handle;
}

static void consumer_receives_earlier_and_later_events(void **state)
{
    (void)state;
    EVENT_TRACE_LOGFILEW logfile;
    struct provider p;
    struct block b;
    const TRACEHANDLE handle = start_live("live", &p);
    assert_true(provider_write(&p, EARLY));
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    begin_reading("LIVE", 0, &logfile); /* names are found in any case */
    assert_int_equal(logfile.LogfileHeader.LogFileMode & 0x100, 0x100);
    assert_int_equal(logfile.LogfileHeader.EndTime.QuadPart, 0);
    assert_int_equal(logfile.BufferSize, 4096);
    wait_for_events(EARLY);
    assert_true(provider_write(&p, LATER));
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    wait_for_events(EARLY + LATER);
    assert_true(provider_write(&p, 5));
    provider_close(&p);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    end_reading();
    assert_int_equal(reader.events, EARLY + LATER + 5);
    assert_int_equal(reader.headers, 1);
    assert_int_equal(reader.lost, 0);
    assert_true(reader.buffers > 3);
    assert_int_equal(ProcessTrace(&reader.handle, 1, NULL, NULL),
                     ERROR_WMI_INSTANCE_NOT_FOUND); /* the session no longer exists */
    assert_int_equal(CloseTrace(reader.handle), ERROR_SUCCESS);
}

static void closing_ends_the_consumer_and_not_the_session(void **state)
{
    (void)state;
    EVENT_TRACE_LOGFILEW logfile;
    struct provider p;
    struct block b;
    const TRACEHANDLE handle = start_live("close", &p);
    for (int i = 0; i < 2; i++) {
        begin_reading("close", p.written, &logfile);
        assert_true(provider_write(&p, EARLY));
        assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
        wait_for_events(EARLY);
        assert_int_equal(CloseTrace(reader.handle), ERROR_CTX_CLOSE_PENDING);
        end_reading();
        assert_int_equal(reader.events, EARLY);
    }
    provider_close(&p);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(b.p.RealTimeBuffersLost, 0);
}

static void killed_host_ends_the_consumer(void **state)
{
    (void)state;
    EVENT_TRACE_LOGFILEW logfile;
    struct provider p;
    struct block b;
    const TRACEHANDLE handle = start_live("killed", &p);
    begin_reading("killed", 0, &logfile);
    assert_true(provider_write(&p, EARLY));
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    wait_for_events(EARLY);
    struct directory_session s = session_of_handle(handle);
    assert_int_equal(process_terminate(s.host.id, s.host.start_time), S_OK);
    directory_session_free(&s);
    end_reading();
    assert_int_equal(CloseTrace(reader.handle), ERROR_SUCCESS);
    provider_close(&p);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_WMI_INSTANCE_NOT_FOUND);
}

static void sessions_without_real_time_are_rejected(void **state)
{
    (void)state;
    EVENT_TRACE_LOGFILEW logfile;
    char *path = path_join(folder, "file.etl");
    struct block b = block_of(0, path);
    TRACEHANDLE handle;
    assert_int_equal(start_session("file", &b, &handle), ERROR_SUCCESS);
    assert_true(open_session("file", &logfile) == INVALID_PROCESSTRACE_HANDLE);
#ifdef _WIN32
    assert_int_equal(GetLastError(), ERROR_WMI_INSTANCE_NOT_FOUND);
#endif
    assert_true(open_session("nobody's", &logfile) == INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    memory_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(consumer_receives_earlier_and_later_events),
        cmocka_unit_test(closing_ends_the_consumer_and_not_the_session),
        cmocka_unit_test(killed_host_ends_the_consumer),
        cmocka_unit_test(sessions_without_real_time_are_rejected),
    };
    return controller_tests(tests, sizeof tests / sizeof *tests, "test_etw_live", &folder);
}
