/* SPDX-License-Identifier: MIT */
/* Real-time sessions as consumers see them: events from before the connection are kept, later events arrive
   immediately, and events without room are counted; the session can write a file at the same time. */
#include "engine/etw/session/realtime_ring.h"
#include "tests/unit/controller_fixture.h"

static char *folder;

struct consumer {
    char name[64];
    struct section *section;
    struct signal *signal;
    struct realtime_ring ring;
    uint8_t *buffer;
    uint64_t headers, events, next;
};

static uint32_t connect_to(TRACEHANDLE handle, struct consumer *c)
{
    static unsigned number;
    struct directory_session s = session_of_handle(handle);
    const uint32_t size = s.buffer_kb * 1024;
    *c = (struct consumer){.buffer = memory_zero(1, size)};
    snprintf(c->name, sizeof c->name, "openetw-test-%u-%u", (unsigned)process_own_id(), number++);
    const struct shared what = {.name = c->name, .create = true, .fresh = true};
    assert_int_equal(section_open(&what, realtime_ring_size(size), &c->section), S_OK);
    assert_int_equal(signal_open(&what, &c->signal), S_OK);
    realtime_ring_create(section_memory(c->section), size, &c->ring);
    const struct directory_request request = {
        .verb = DIRECTORY_CONNECT,
        .process = {process_own_id(), process_start_time(process_own_id())},
        .file = c->name,
    };
    uint32_t answer = 1;
    assert_int_equal(directory_ask(own_directory(), s.logger, s.generation, &request, CHILD_PATIENCE, &answer), S_OK);
    directory_session_free(&s);
    return answer;
}

static void close_consumer(struct consumer *c)
{
    section_close(c->section);
    signal_close(c->signal);
    memory_free(c->buffer);
}

static void consume_all(struct consumer *c)
{
    struct etl_buffer_header head;
    while (realtime_ring_take(&c->ring, c->buffer, &head) == S_OK) {
        uint32_t offset = ETL_BUFFER_HEAD, size;
        const uint8_t *event;
        if (head.type == ETL_TYPE_FILE_HEADER) {
            c->headers++;
            continue;
        }
        while (etl_buffer_event(c->buffer, head.used, &offset, &event, &size)) {
            uint64_t writer = 0, number = 0;
            assert_true(event_check(event, size, &writer, &number));
            assert_true(number >= c->next);
            c->next = number + 1;
            c->events++;
        }
    }
}

static void consume_until(struct consumer *c, uint64_t events)
{
    for (int waited = 0; c->events < events; waited++) {
        if (waited >= CHILD_PATIENCE) {
            uint64_t lost, buffers;
            realtime_ring_losses(&c->ring, &lost, &buffers);
            fail_msg("%llu of %llu events arrived; %llu events and %llu buffers are reported lost",
                     (unsigned long long)c->events, (unsigned long long)events, (unsigned long long)lost,
                     (unsigned long long)buffers);
        }
        consume_all(c);
        if (c->events < events)
            child_sleep(1);
    }
    assert_int_equal(c->events, events);
}

static void two_consumers_receive_everything(void **state)
{
    (void)state;
    char *path = path_join(folder, "both.etl");
    struct block b = block_of(TRACE_MODE_REAL_TIME | TRACE_MODE_NO_PER_PROCESSOR, path);
    struct consumer c;
    struct provider p;
    TRACEHANDLE handle;
    b.p.BufferSize = 4;
    assert_int_equal(start_session("both", &b, &handle), ERROR_SUCCESS);
    provider_open(handle, &p);
    assert_true(provider_write(&p, 100)); /* no consumer yet */
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    assert_int_equal(connect_to(handle, &c), ERROR_SUCCESS);
    consume_until(&c, 100);
    assert_int_equal(c.headers, 1);
    assert_true(provider_write(&p, 50));
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    consume_until(&c, 150);
    assert_true(realtime_ring_complete(&c.ring) != INT64_MIN);
    assert_true(provider_write(&p, 7));
    provider_close(&p);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(b.p.RealTimeBuffersLost, 0);
    consume_until(&c, 157);
    assert_true(realtime_ring_is_over(&c.ring));
    assert_int_equal(read_log(path).events, 157);
    close_consumer(&c);
    memory_free(path);
}

static void buffers_without_room_are_counted(void **state)
{
    (void)state;
    enum { BUFFER_KB = 64, IN_ONE = (BUFFER_KB * 1024 - ETL_BUFFER_HEAD) / EVENT_BYTES };
    struct block b = block_of(TRACE_MODE_REAL_TIME | TRACE_MODE_NO_PER_PROCESSOR, NULL);
    struct consumer c;
    struct provider p;
    TRACEHANDLE handle;
    uint64_t events, buffers;
    b.p.BufferSize = BUFFER_KB;
    assert_int_equal(start_session("room", &b, &handle), ERROR_SUCCESS);
    provider_open(handle, &p);
    for (int i = 0; i < 320; i++) { /* 20 MB: more than a backlog can store */
        assert_true(provider_write(&p, IN_ONE));
        child_sleep(i % 8 == 0);
    }
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    assert_true(b.p.RealTimeBuffersLost > 0);
    assert_int_equal(b.p.LogBuffersLost, 0);
    const uint64_t lost = b.p.RealTimeBuffersLost;
    assert_int_equal(connect_to(handle, &c), ERROR_SUCCESS);
    /* The newest buffers are lost; the last one of them may have been partly filled. */
    const uint64_t last = p.written % IN_ONE != 0 ? p.written % IN_ONE : IN_ONE;
    consume_until(&c, p.written - (lost - 1) * IN_ONE - last);
    realtime_ring_losses(&c.ring, &events, &buffers);
    assert_int_equal(buffers, 0); /* they were lost before it connected */
    provider_close(&p);
    realtime_ring_leave(&c.ring);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(b.p.RealTimeBuffersLost, lost);
    close_consumer(&c);
}

static void only_real_time_sessions_have_consumers(void **state)
{
    (void)state;
    struct block b = block_of(TRACE_MODE_BUFFERING, NULL);
    struct consumer c;
    TRACEHANDLE handle;
    assert_int_equal(start_session("none", &b, &handle), ERROR_SUCCESS);
    assert_int_equal(connect_to(handle, &c), ERROR_INVALID_PARAMETER);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    close_consumer(&c);
}

/* Changed by UPDATE, and by CONVERT_TO_REALTIME. */
static void session_switches_to_real_time_and_back(void **state)
{
    (void)state;
    char *path = path_join(folder, "turns.etl");
    struct block b = block_of(0, path);
    struct consumer c;
    struct provider p;
    TRACEHANDLE handle;
    assert_int_equal(start_session("turns", &b, &handle), ERROR_SUCCESS);
    provider_open(handle, &p);
    assert_int_equal(connect_to(handle, &c), ERROR_INVALID_PARAMETER);
    close_consumer(&c);
    assert_true(provider_write(&p, 5));
    b = block_of(TRACE_MODE_REAL_TIME, NULL);
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_UPDATE), ERROR_SUCCESS);
    assert_int_equal(b.p.LogFileMode, TRACE_MODE_REAL_TIME);
    assert_int_equal(connect_to(handle, &c), ERROR_SUCCESS);
    b = block_of(0, NULL);
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_UPDATE), ERROR_SUCCESS);
    assert_int_equal(b.p.LogFileMode, 0);
    consume_all(&c);
    assert_true(realtime_ring_is_over(&c.ring));
    close_consumer(&c);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME), ERROR_SUCCESS);
    assert_int_equal(b.p.LogFileMode, TRACE_MODE_REAL_TIME);
    assert_string_equal(narrow(b.file), "");
    assert_int_equal(read_log(path).events, 5);
    assert_int_equal(connect_to(handle, &c), ERROR_SUCCESS);
    assert_true(provider_write(&p, 3));
    provider_close(&p);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    consume_until(&c, 3);
    assert_int_equal(read_log(path).events, 5);
    close_consumer(&c);
    memory_free(path);
}

/* A session that otherwise writes only full buffers flushes once per second in real time. */
static void flush_timer_delivers_events(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        char *path = path_join(folder, "alone.etl");
        struct block b = block_of(0, path);
        struct consumer c;
        struct provider p;
        TRACEHANDLE handle;
        assert_int_equal(start_session("alone", &b, &handle), ERROR_SUCCESS);
        assert_int_equal(b.p.FlushTimer, 0);
        b = block_of(TRACE_MODE_REAL_TIME, NULL);
        assert_int_equal(ControlTraceW(handle, NULL, &b.p,
                                       way == 0 ? EVENT_TRACE_CONTROL_UPDATE : EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME),
                         ERROR_SUCCESS);
        assert_int_equal(b.p.FlushTimer, 1);
        assert_int_equal(connect_to(handle, &c), ERROR_SUCCESS);
        provider_open(handle, &p);
        assert_true(provider_write(&p, 1));
        consume_until(&c, 1);
        provider_close(&p);
        assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
        close_consumer(&c);
        memory_free(path);
    }
}

/* Events accepted while the session was in real-time mode arrive before that mode ends. */
static void events_accepted_in_real_time_are_delivered(void **state)
{
    (void)state;
    char *path = path_join(folder, "accepted.etl");
    struct block b = block_of(TRACE_MODE_REAL_TIME, path);
    struct consumer c;
    struct provider p;
    TRACEHANDLE handle;
    b.p.FlushTimer = 3600;
    assert_int_equal(start_session("accepted", &b, &handle), ERROR_SUCCESS);
    assert_int_equal(connect_to(handle, &c), ERROR_SUCCESS);
    provider_open(handle, &p);
    assert_true(provider_write(&p, 9));
    b = block_of(0, NULL);
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_UPDATE), ERROR_SUCCESS);
    consume_until(&c, 9);
    assert_true(realtime_ring_is_over(&c.ring));
    provider_close(&p);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(read_log(path).events, 9);
    close_consumer(&c);
    memory_free(path);
}

/* A consumer falls behind once and must then keep up, while writers never pause. */
static void a_slow_consumer_catches_up(void **state)
{
    (void)state;
    struct block b = block_of(TRACE_MODE_REAL_TIME | TRACE_MODE_NO_PER_PROCESSOR, NULL);
    struct consumer c;
    struct provider p;
    TRACEHANDLE handle;
    b.p.BufferSize = 4;
    b.p.MinimumBuffers = b.p.MaximumBuffers = REALTIME_SLOTS; /* so that one time slice of the writer fills at most the
                                                                 ring */
    assert_int_equal(start_session("behind", &b, &handle), ERROR_SUCCESS);
    assert_int_equal(connect_to(handle, &c), ERROR_SUCCESS);
    provider_open(handle, &p);
    for (int i = 0; i < 60; i++) { /* more than the ring can store */
        assert_true(provider_write(&p, 50));
        child_sleep(1);
    }
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    const uint64_t from = clock_monotonic_ms();
    while (clock_monotonic_ms() < from + 500) { /* backlog and ring hold less than 17 MB: the consumer must keep up */
        assert_true(provider_write(&p, 200));
        consume_all(&c);
    }
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    consume_until(&c, p.written);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(b.p.RealTimeBuffersLost, 0);
    provider_close(&p);
    close_consumer(&c);
}

/* ---- the end of a session with slow consumers ---- */

/* Starts a session with more events than its consumers' rings can store. */
static TRACEHANDLE start_behind(const char *name, const char *path, struct consumer *c, size_t count,
                                struct provider *p)
{
    struct block b = block_of(TRACE_MODE_REAL_TIME | TRACE_MODE_NO_PER_PROCESSOR, path);
    TRACEHANDLE handle;
    b.p.BufferSize = 4;
    assert_int_equal(start_session(name, &b, &handle), ERROR_SUCCESS);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(connect_to(handle, &c[i]), ERROR_SUCCESS);
    provider_open(handle, p);
    for (int i = 0; i < 100; i++) {
        assert_true(provider_write(p, 50));
        child_sleep(1);
    }
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    assert_true(atomic_load(&c[0].ring.shared->put) == REALTIME_SLOTS); /* the ring is full */
    return handle;
}

static void all_slow_consumers_receive_everything(void **state)
{
    (void)state;
    struct consumer c[3];
    struct provider p;
    struct block b;
    const TRACEHANDLE handle = start_behind("three", NULL, c, 3, &p);
    for (int i = 0; i < 3; i++)
        consume_until(&c[i], p.written);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(b.p.RealTimeBuffersLost, 0);
    for (int i = 0; i < 3; i++)
        close_consumer(&c[i]);
    provider_close(&p);
}

/* Stops the session in a thread, so that the test can read at the same time. */
struct stopping {
    TRACEHANDLE handle;
    struct block b;
    ULONG code;
    _Atomic bool stopped;
};
static void stop_session(void *user)
{
    struct stopping *s = user;
    s->code = control_session(s->handle, &s->b, EVENT_TRACE_CONTROL_STOP);
    atomic_store(&s->stopped, true);
}

/* The consumer delivers events that it read earlier, and reads nothing more until the session has been stopped. */
static void slow_consumer_receives_everything_before_the_stop(void **state)
{
    (void)state;
    struct consumer c;
    struct provider p;
    struct stopping s = {.code = 1};
    struct thread *thread;
    s.handle = start_behind("slow", NULL, &c, 1, &p);
    assert_int_equal(thread_start(stop_session, &s, &thread), S_OK);
    while (!atomic_load(&s.stopped)) {
        realtime_ring_read(&c.ring);
        child_sleep(1);
    }
    assert_true(thread_wait(thread, CHILD_PATIENCE));
    thread_close(thread);
    assert_int_equal(s.code, ERROR_SUCCESS);
    assert_int_equal(s.b.p.RealTimeBuffersLost, 0);
    assert_false(realtime_ring_is_over(&c.ring));
    realtime_ring_read(&c.ring);
    consume_until(&c, p.written);
    for (int waited = 0; !realtime_ring_is_over(&c.ring); waited++) {
        assert_true(waited < CHILD_PATIENCE);
        child_sleep(1);
    }
    close_consumer(&c);
    provider_close(&p);
}

static void sleeping_consumer_delays_the_stop_and_losses_are_counted(void **state)
{
    (void)state;
    struct consumer c[2];
    struct provider p;
    struct block b;
    uint64_t events, buffers;
    const TRACEHANDLE handle = start_behind("asleep", NULL, c, 2, &p);
    consume_until(&c[1], p.written);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_true(realtime_ring_is_over(&c[1].ring));
    consume_all(&c[0]);
    assert_true(realtime_ring_is_over(&c[0].ring));
    assert_true(c[0].events < p.written);
    realtime_ring_losses(&c[0].ring, &events, &buffers);
    assert_true(buffers > 0);
    assert_int_equal(b.p.RealTimeBuffersLost, buffers);
    realtime_ring_losses(&c[1].ring, &events, &buffers);
    assert_int_equal(buffers, 0);
    for (int i = 0; i < 2; i++)
        close_consumer(&c[i]);
    provider_close(&p);
}

/* An update ends real-time mode, and the session continues. */
static void slow_consumer_receives_the_rest_when_real_time_ends(void **state)
{
    (void)state;
    char *path = path_join(folder, "rest.etl");
    struct consumer c;
    struct provider p;
    const TRACEHANDLE handle = start_behind("rest", path, &c, 1, &p);
    const uint64_t before = p.written;
    struct block b = block_of(0, NULL);
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_UPDATE), ERROR_SUCCESS);
    assert_true(provider_write(&p, 50));
    consume_until(&c, before);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(b.p.RealTimeBuffersLost, 0);
    assert_true(realtime_ring_is_over(&c.ring));
    assert_int_equal(read_log(path).events, p.written);
    close_consumer(&c);
    provider_close(&p);
    memory_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_consumers_receive_everything),
        cmocka_unit_test(buffers_without_room_are_counted),
        cmocka_unit_test(only_real_time_sessions_have_consumers),
        cmocka_unit_test(session_switches_to_real_time_and_back),
        cmocka_unit_test(flush_timer_delivers_events),
        cmocka_unit_test(events_accepted_in_real_time_are_delivered),
        cmocka_unit_test(a_slow_consumer_catches_up),
        cmocka_unit_test(all_slow_consumers_receive_everything),
        cmocka_unit_test(slow_consumer_receives_everything_before_the_stop),
        cmocka_unit_test(sleeping_consumer_delays_the_stop_and_losses_are_counted),
        cmocka_unit_test(slow_consumer_receives_the_rest_when_real_time_ends),
    };
    return controller_tests(tests, sizeof tests / sizeof *tests, "test_etw_delivery", &folder);
}
