/* SPDX-License-Identifier: MIT */
/* Real-time sessions: the ring between an ETW session host and a consumer, and the order of the events that the
   consumer receives. A thread acts as the host. This program is also built with the thread sanitizer; that build runs
   only the test that is named on its command line. */
#include "engine/base/clock.h"
#include "engine/base/thread.h"
#include "engine/etw/session/realtime_ring.h"
#include "tests/unit/etw/consumer/consumer_fixture.h"
#include "tests/unit/session_fixture.h"

enum { BUFFER = ETL_SMALLEST_BUFFER, LONG_FLUSH_MS = 60000, SHORT_FLUSH_MS = 50, MOST_CONNECTIONS = 64 };

/* ---- a session in this process ---- */

static struct host {
    void *memory[MOST_CONNECTIONS]; /* memory of the rings */
    struct realtime_ring ring;
    struct wakeup *wake;
    uint32_t rings, connections, closings, flush_ms;
    atomic_bool dead;
    bool no_header;
    void (*begins)(void); /* called when a consumer connects */
} host;

static HRESULT wait_for(void *context, uint32_t timeout)
{
    (void)context;
    if (atomic_load(&host.dead))
        return wakeup_wait(host.wake, 0) ? S_OK : E_ABORT;
    return wakeup_wait(host.wake, timeout) ? S_OK : S_FALSE;
}

static void wake_consumer(void *context)
{
    (void)context;
    wakeup_set(host.wake);
}

static void connection_closed(void *context)
{
    (void)context;
    host.closings++;
}

static HRESULT connect_to(void *context, const char *session, struct realtime_connection *out)
{
    const struct etl_log log = {.buffer_size = BUFFER,
                                .processors = 2,
                                .frequency = 10000000,
                                .start_utc = FIXTURE_START,
                                .clock = ETL_CLOCK_TICKS,
                                .start_stamp = FIXTURE_STAMP,
                                .end_utc = 5,
                                .logger_name = "session"};
    (void)context;
    if (strcmp(session, "session") != 0)
        return error_set(HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND), "session %s does not exist", session);
    const size_t size = realtime_ring_size(BUFFER);
    assert_true(host.rings < MOST_CONNECTIONS);
    void *memory = host.memory[host.rings++] = calloc(1, size); /* calloc, because this allocation must not fail here */
    assert_non_null(memory);
    *out = (struct realtime_connection){
        .flush_ms = host.flush_ms, .wait = wait_for, .wake = wake_consumer, .close = connection_closed};
    realtime_ring_create(memory, BUFFER, &out->ring);
    assert_int_equal(realtime_ring_map(memory, size, BUFFER, &host.ring), S_OK);
    HRESULT hr = host.no_header ? S_OK : realtime_ring_begin(&host.ring, &log);
    if (FAILED(hr))
        return hr;
    host.connections++;
    if (host.begins)
        host.begins();
    return S_OK;
}

static const struct realtime_source source = {connect_to, NULL};

static int with_host(void **state)
{
    host = (struct host){.flush_ms = LONG_FLUSH_MS};
    assert_int_equal(wakeup_create(&host.wake), S_OK);
    consumer_set_realtime(&source);
    all_owners_live(state);
    return reset_consumed(state);
}

static int without_host(void **state)
{
    (void)state;
    consumer_set_realtime(NULL);
    wakeup_free(host.wake);
    for (uint32_t i = 0; i < host.rings; i++)
        free(host.memory[i]);
    return 0;
}

static void wake_if(bool wake)
{
    if (wake)
        wakeup_set(host.wake);
}

/* Puts a buffer with these events into the ring. Returns false if the ring is full. */
static bool put(uint16_t processor, uint64_t sequence, uint32_t from, uint32_t count)
{
    static uint8_t bytes[BUFFER];
    bool wake;
    struct etl_buffer_header head = {.time = FIXTURE_STAMP + from + count - 1,
                                     .sequence = sequence,
                                     .processor = processor,
                                     .used = ETL_BUFFER_HEAD + count * FIXTURE_EVENT,
                                     .flags = ETL_FLAG_PROCESSOR_INDEX};
    for (uint32_t i = 0; i < count; i++)
        put_numbered(bytes + ETL_BUFFER_HEAD + i * FIXTURE_EVENT, from + i, from + i);
    HRESULT hr = realtime_ring_put(&host.ring, &head, bytes, &wake);
    wake_if(wake);
    return hr == S_OK;
}

static void mark(uint32_t ticks)
{
    bool wake;
    realtime_ring_mark(&host.ring, FIXTURE_STAMP + ticks, &wake);
    wake_if(wake);
}

static void end_session(void)
{
    bool wake;
    realtime_ring_end(&host.ring, &wake);
    wake_if(wake);
}

static EVENT_TRACE_LOGFILEW real_time_logfile(void)
{
    static const WCHAR name[] = u"session";
    EVENT_TRACE_LOGFILEW logfile = logfile_of(NULL);
    logfile.LoggerName = (WCHAR *)(uintptr_t)name;
    logfile.ProcessTraceMode |= PROCESS_TRACE_MODE_REAL_TIME;
    return logfile;
}

static TRACEHANDLE open_session(void)
{
    EVENT_TRACE_LOGFILEW logfile = real_time_logfile();
    TRACEHANDLE handle = OpenTraceW(&logfile);
    assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
    return handle;
}

/* ---- a consumer ---- */

static void the_header_of_a_session_is_returned(void **state)
{
    (void)state;
    EVENT_TRACE_LOGFILEW logfile = real_time_logfile();
    TRACEHANDLE handle = OpenTraceW(&logfile);
    assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(logfile.LogfileHeader.LogFileMode, 0x100);
    assert_int_equal(logfile.LogfileHeader.EndTime.QuadPart, 0);
    assert_int_equal(logfile.LogfileHeader.StartTime.QuadPart, FIXTURE_START);
    assert_int_equal(logfile.BufferSize, BUFFER);
    assert_false(realtime_ring_is_left(&host.ring));
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    assert_int_equal(host.closings, 1);
    assert_true(realtime_ring_is_left(&host.ring));
}

static void all_events_arrive_before_the_end_of_the_session(void **state)
{
    (void)state;
    TRACEHANDLE handle = open_session();
    assert_true(put(0, 1, 0, 20));
    assert_true(put(0, 2, 20, 5));
    end_session();
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    check_consumed(0, 25);
    assert_int_equal(consumed.headers, 1);
    assert_int_equal(consumed.buffers, 3);
    assert_int_equal(consumed.time[24], FIXTURE_START + 24);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    assert_int_equal(host.connections, 1);
}

/* Ten events per buffer on two processors; the order of the buffers in the ring does not matter. */
static void processors_are_merged_up_to_the_mark(void **state)
{
    (void)state;
    TRACEHANDLE handle = open_session();
    assert_true(put(1, 2, 10, 10));
    assert_true(put(1, 3, 30, 10));
    assert_true(put(0, 1, 0, 10));
    assert_true(put(0, 4, 20, 10));
    mark(39);
    end_session();
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    check_consumed(0, 40);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static struct wakeup *nine_came;
static void signal_event_nine(uint32_t number)
{
    if (number == 9)
        wakeup_set(nine_came);
}

static void process_session(void *user)
{
    const TRACEHANDLE handle = *(const TRACEHANDLE *)user;
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
}

static struct thread *begin_processing(TRACEHANDLE *handle)
{
    struct thread *thread;
    assert_int_equal(thread_start(process_session, handle, &thread), S_OK);
    return thread;
}

static void wait_processed(struct thread *thread)
{
    assert_true(thread_wait(thread, LONG_FLUSH_MS));
    thread_close(thread);
}

/* Starts a thread that reads the session and signals the event with number 9. */
static struct thread *begin_nine(TRACEHANDLE *handle)
{
    *handle = open_session();
    assert_int_equal(wakeup_create(&nine_came), S_OK);
    consumed.at_event = signal_event_nine;
    return begin_processing(handle);
}

/* Events after the mark wait for older events of another processor, but not longer than the session's FlushTimer. */
static void events_after_the_mark_are_held(void **state)
{
    (void)state;
    TRACEHANDLE handle;
    struct thread *thread = begin_nine(&handle);
    assert_true(put(1, 2, 20, 10));
    assert_true(put(0, 1, 0, 10));
    mark(9);
    assert_true(wakeup_wait(nine_came, LONG_FLUSH_MS)); /* these events arrive immediately */
    assert_true(put(0, 3, 10, 10));
    mark(19);
    end_session();
    wait_processed(thread);
    check_consumed(0, 30);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    wakeup_free(nine_came);
}

static void without_a_mark_the_flush_timer_releases_events(void **state)
{
    (void)state;
    TRACEHANDLE handle;
    host.flush_ms = SHORT_FLUSH_MS;
    struct thread *thread = begin_nine(&handle);
    assert_true(put(0, 1, 0, 10));
    assert_true(wakeup_wait(nine_came, LONG_FLUSH_MS));
    end_session();
    wait_processed(thread);
    check_consumed(0, 10);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    wakeup_free(nine_came);
}

static void closing_wakes_a_waiting_consumer(void **state)
{
    (void)state;
    TRACEHANDLE handle;
    struct thread *thread = begin_nine(&handle);
    assert_true(put(0, 1, 0, 10));
    mark(9);
    assert_true(wakeup_wait(nine_came, LONG_FLUSH_MS));
    assert_true(put(0, 2, 10, 10)); /* stays queued */
    assert_int_equal(CloseTrace(handle), ERROR_CTX_CLOSE_PENDING);
    wait_processed(thread);
    check_consumed(0, 20);
    assert_int_equal(host.closings, 1);
    wakeup_free(nine_came);
}

static void exited_host_ends_processing(void **state)
{
    (void)state;
    TRACEHANDLE handle = open_session();
    assert_true(put(0, 1, 0, 10));
    atomic_store(&host.dead, true);
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    check_consumed(0, 10);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static void processing_again_is_a_new_connection(void **state)
{
    (void)state;
    TRACEHANDLE handle = open_session();
    host.begins = end_session;
    end_session();
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    assert_int_equal(consumed.headers, 1);
    assert_int_equal(host.connections, 2);
    assert_int_equal(host.closings, 1);
    consumer_set_realtime(NULL); /* a handle continues to use the source with which it was opened */
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    assert_int_equal(host.closings, 2);
}

static void unknown_sessions_are_rejected(void **state)
{
    (void)state;
    EVENT_TRACE_LOGFILEW logfile = real_time_logfile();
    TRACEHANDLE handle, handles[2];
    logfile.LoggerName = (WCHAR *)(uintptr_t)u"another";
    assert_int_equal(consumer_open(CONSUMER_WIDE, &logfile, &handle), ERROR_WMI_INSTANCE_NOT_FOUND);
    logfile = real_time_logfile();
    host.no_header = true;
    atomic_store(&host.dead, true);
    assert_int_equal(consumer_open(CONSUMER_WIDE, &logfile, &handle), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(host.closings, 1);
    host.no_header = false;
    handles[0] = open_session();
    handles[1] = open_session();
    assert_int_equal(ProcessTrace(handles, 2, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(CloseTrace(handles[0]), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(handles[1]), ERROR_SUCCESS);
}

static void put_ten_and_end(void)
{
    assert_true(put(0, 1, 0, 10));
    end_session();
}

static void out_of_memory_has_no_partial_effect(void **state)
{
    (void)state;
    TRACEHANDLE handle = 0;
    bool done = false;
    host.begins = put_ten_and_end;
    for (uint64_t n = 1; handle == 0; n++) {
        EVENT_TRACE_LOGFILEW logfile = real_time_logfile();
        memory_fail_at(n);
        const ULONG status = consumer_open(CONSUMER_WIDE, &logfile, &handle);
        memory_fail_at(0);
        assert_true(status == ERROR_NOT_ENOUGH_MEMORY || (status == ERROR_SUCCESS && handle != 0));
    }
    assert_int_equal(host.closings, host.connections - 1); /* each failed attempt was disconnected */
    for (uint64_t n = 1; !done; n++) {
        memory_fail_at(n);
        const ULONG status = process_one(handle);
        memory_fail_at(0);
        done = status == ERROR_SUCCESS;
        assert_true(done || status == ERROR_NOT_ENOUGH_MEMORY);
    }
    check_consumed(0, 10);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    assert_int_equal(host.closings, host.connections);
}

/* ---- losses ---- */

static uint32_t lost_types[4], lost_counts[4], lost_count;
static void WINAPI record_loss(EVENT_RECORD *e)
{
    static const GUID class = {0x6A399AE0, 0x4BC6, 0x4DE9, {0x87, 0x0B, 0x36, 0x57, 0xF8, 0x94, 0x7E, 0x7E}};
    if (guid_equal(&e->EventHeader.ProviderId, &class)) {
        assert_true(lost_count < 4);
        assert_int_equal(e->UserDataLength, 4);
        lost_types[lost_count] = e->EventHeader.EventDescriptor.Opcode;
        lost_counts[lost_count++] = get_u32(e->UserData);
    } else {
        consume_record(e);
    }
}

static void losses_are_reported(void **state)
{
    (void)state;
    EVENT_TRACE_LOGFILEW logfile = real_time_logfile();
    logfile.EventRecordCallback = record_loss;
    TRACEHANDLE handle = OpenTraceW(&logfile);
    lost_count = 0;
    uint32_t number = 0;
    while (put(0, number + 1, number, 1))
        number++;
    assert_int_equal(number, REALTIME_SLOTS);
    assert_false(put(0, 99, 99, 1));
    realtime_ring_lost(&host.ring, 7, 0);
    end_session();
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    check_consumed(0, REALTIME_SLOTS);
    assert_int_equal(lost_count, 2);
    assert_int_equal(lost_types[0], 32);
    assert_int_equal(lost_counts[0], 7);
    assert_int_equal(lost_types[1], 33);
    assert_int_equal(lost_counts[1], 2);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

/* ---- a section with invalid contents ---- */

static void an_invalid_ring_is_not_mapped(void **state)
{
    (void)state;
    const size_t size = realtime_ring_size(BUFFER);
    struct realtime_ring own, other;
    struct realtime_shared *shared = memory_zero(1, size);
    assert_int_equal(realtime_ring_map(shared, size, BUFFER, &other), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    realtime_ring_create(shared, BUFFER, &own);
    assert_int_equal(realtime_ring_map(shared, size, BUFFER, &other), S_OK);
    assert_int_equal(realtime_ring_map(shared, size - 1, BUFFER, &other), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_int_equal(realtime_ring_map(shared, size, BUFFER * 2, &other), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_int_equal(realtime_ring_map(shared, 16, BUFFER, &other), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    atomic_store(&shared->slots, 0);
    assert_int_equal(realtime_ring_map(shared, size, BUFFER, &other), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    memory_free(shared);
}

/* A host that claims more buffers than the ring has slots causes one bad buffer, not four billion. */
static void false_buffer_count_reads_only_the_ring(void **state)
{
    (void)state;
    struct realtime_shared *shared = memory_zero(1, realtime_ring_size(BUFFER));
    static uint8_t buffer[BUFFER];
    struct etl_buffer_header head;
    struct realtime_ring own;
    realtime_ring_create(shared, BUFFER, &own);
    atomic_store(&shared->put, UINT32_MAX); /* as if the host had decreased the count */
    uint32_t taken = 0;
    while (taken < 1000 && realtime_ring_take(&own, buffer, &head) != S_FALSE)
        taken++;
    assert_int_equal(taken, 1 + REALTIME_SLOTS);
    memory_free(shared);
}

/* Whatever the other side writes into the ring, host and consumer stay inside it and finish. */
static void invalid_ring_contents_are_harmless(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252u;
    TRACEHANDLE handle = open_session();
    for (int i = 0; i < 3; i++)
        assert_true(put(0, (uint64_t)i + 1, (uint32_t)i * 20, 20));
    uint8_t *data = host.ring.shared->data + host.ring.buffer_size; /* after the header */
    for (size_t i = 0; i < 3 * (size_t)BUFFER; i += 4) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        if (x % 5 == 0 || i % BUFFER < ETL_BUFFER_HEAD)
            put_u32(data + i, (uint32_t)x);
    }
    /* a buffer that is larger than its slot */
    put_u32(data + 2 * BUFFER, BUFFER);
    put_u32(data + 2 * BUFFER + 0x30, BUFFER + 8);
    atomic_store(&host.ring.shared->buffer_size, UINT32_MAX);
    atomic_store(&host.ring.shared->slots, UINT32_MAX);
    atomic_store(&host.ring.shared->put, atomic_load(&host.ring.shared->put) + 1000);
    atomic_store(&host.dead, true);
    end_session();
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    for (uint32_t i = 0; i < 200; i++) {
        atomic_store(&host.ring.shared->taken, i * 0x01234567u);
        (void)put(0, i, i, 1);
    }
}

/* ---- a real session ---- */

static HRESULT sink_write(void *context, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    bool wake;
    struct session_totals *totals = context;
    HRESULT hr = realtime_ring_put(&host.ring, head, bytes, &wake);
    if (hr != S_OK)
        atomic_fetch_add(&totals->realtime_lost, 1);
    wake_if(wake);
    return hr;
}

static uint64_t session_events, session_sum;
static int64_t session_time;
static bool session_in_order;
static void WINAPI take_session_event(EVENT_RECORD *e)
{
    uint64_t writer = 0, number = 0;
    if (e->UserDataLength != EVENT_PAYLOAD)
        return;
    const uint8_t *at = (const uint8_t *)e->UserData - 0x50;
    assert_true(event_check(at, EVENT_BYTES, &writer, &number));
    session_events++;
    session_sum += number;
    session_in_order = session_in_order && e->EventHeader.TimeStamp.QuadPart >= session_time;
    session_time = e->EventHeader.TimeStamp.QuadPart;
}

static struct session_buffers writers_session;
static const uint32_t writers_events = 20000;
static void write_events(void *user)
{
    struct session_writer w = {.owner = *(const uint32_t *)user, .thread = *(const uint32_t *)user};
    for (uint32_t i = 0; i < writers_events;)
        if (event_write(&writers_session, &w, i))
            i++;
        else
            thread_yield();
}

static struct wakeup *consumer_ended; /* signals the end, because the thread sanitizer does not recognise thread_wait as
                                         a join */
static void run_consumer(void *user)
{
    const TRACEHANDLE handle = *(const TRACEHANDLE *)user;
    TRACEHANDLE own = handle;
    assert_int_equal(ProcessTrace(&own, 1, NULL, NULL), ERROR_SUCCESS);
    wakeup_set(consumer_ended);
}

/* Two threads write, one is the session's host, one consumes. Here, a writer without room waits, so that no event is
   lost and all can be counted. */
static void events_of_a_session_come_while_it_runs(void **state)
{
    (void)state;
    const struct session_shape shape = {.buffers = 16,
                                        .minimum = 16,
                                        .buffer_size = BUFFER,
                                        .processors = 2,
                                        .wake_at = 4,
                                        .source = SESSION_STAMP_TICKS};
    struct memory_session s = session_in_memory(&shape);
    struct session_drain *d = fixture_drain(&s.b, 0);
    EVENT_TRACE_LOGFILEW logfile = real_time_logfile();
    logfile.EventRecordCallback = take_session_event;
    logfile.BufferCallback = NULL;
    TRACEHANDLE handle = OpenTraceW(&logfile);
    struct thread *consumer, *writer[2];
    static uint32_t owner[2] = {3, 4};
    session_events = session_sum = 0;
    session_time = INT64_MIN;
    session_in_order = true;
    writers_session = s.b;
    const struct session_sink sink = {sink_write, NULL, &s.b.shared->totals};
    assert_int_equal(wakeup_create(&consumer_ended), S_OK);
    assert_int_equal(thread_start(run_consumer, &handle, &consumer), S_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(thread_start(write_events, &owner[i], &writer[i]), S_OK);
    bool writing = true;
    while (writing) {
        HRESULT hr;
        writing = !thread_wait(writer[0], 0) || !thread_wait(writer[1], 0);
        while (atomic_load(&host.ring.shared->put) - atomic_load(&host.ring.shared->taken) >= REALTIME_SLOTS / 2)
            thread_yield();
        session_drain_flush(d);
        (void)session_drain_pass(d, &sink, &hr);
        bool wake;
        realtime_ring_mark(&host.ring, session_drain_complete(d), &wake);
        wake_if(wake);
    }
    assert_int_equal(session_drain_stop(d, &sink, 1000), S_OK);
    end_session();
    assert_true(wakeup_wait(consumer_ended, LONG_FLUSH_MS));
    wait_processed(consumer);
    wakeup_free(consumer_ended);
    for (int i = 0; i < 2; i++)
        thread_close(writer[i]);
    assert_int_equal(s.b.shared->totals.realtime_lost, 0);
    assert_int_equal(session_events, 2 * writers_events);
    assert_int_equal(session_sum, (uint64_t)writers_events * (writers_events - 1));
    assert_true(session_in_order);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    session_drain_free(d);
    session_free_memory(&s);
}

/* ---- the backlog ---- */

static void backlog_arrives_first_and_in_order(void **state)
{
    (void)state;
    struct realtime_backlog backlog = {.most = 50 * (ETL_BUFFER_HEAD + FIXTURE_EVENT)};
    uint8_t bytes[BUFFER];
    struct etl_buffer_header head = {.used = ETL_BUFFER_HEAD + FIXTURE_EVENT};
    for (uint32_t i = 0; i < 60; i++) {
        put_numbered(bytes + ETL_BUFFER_HEAD, i, i);
        head.sequence = i + 1;
        head.time = FIXTURE_STAMP + i;
        assert_int_equal(realtime_backlog_add(&backlog, &head, bytes), i < 50 ? S_OK : S_FALSE);
    }
    assert_int_equal(backlog.dropped, 10);
    assert_int_equal(backlog.bytes, backlog.most);
    TRACEHANDLE handle = open_session();
    bool wake, empty = realtime_backlog_give(&backlog, &host.ring, &wake);
    assert_false(empty); /* the ring has fewer slots than the backlog has buffers */
    assert_false(wake);  /* no consumer is waiting */
    struct thread *thread = begin_processing(&handle);
    while (!empty) {
        empty = realtime_backlog_give(&backlog, &host.ring, &wake);
        wake_if(wake);
    }
    assert_int_equal(backlog.bytes, 0);
    while (realtime_ring_is_full(&host.ring))
        thread_yield();
    assert_true(put(0, 61, 50, 1));
    end_session();
    wait_processed(thread);
    check_consumed(0, 51);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    assert_int_equal(realtime_backlog_add(&backlog, &head, bytes), S_OK);
    realtime_backlog_free(&backlog);
    assert_int_equal(backlog.bytes, 0);
    memory_fail_at(1);
    assert_int_equal(realtime_backlog_add(&backlog, &head, bytes), S_FALSE);
    memory_fail_at(0);
    assert_int_equal(backlog.dropped, 11);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, with_host, without_host)
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(the_header_of_a_session_is_returned),
        TEST(all_events_arrive_before_the_end_of_the_session),
        TEST(processors_are_merged_up_to_the_mark),
        TEST(events_after_the_mark_are_held),
        TEST(without_a_mark_the_flush_timer_releases_events),
        TEST(closing_wakes_a_waiting_consumer),
        TEST(exited_host_ends_processing),
        TEST(processing_again_is_a_new_connection),
        TEST(unknown_sessions_are_rejected),
        TEST(out_of_memory_has_no_partial_effect),
        TEST(losses_are_reported),
        TEST(an_invalid_ring_is_not_mapped),
        TEST(false_buffer_count_reads_only_the_ring),
        TEST(invalid_ring_contents_are_harmless),
        TEST(events_of_a_session_come_while_it_runs),
        TEST(backlog_arrives_first_and_in_order),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
