/* SPDX-License-Identifier: MIT */
/* How long a writer waits for a buffer before its event is lost, and how often an ETW session host checks for closed
   buffers. */
#include "engine/base/clock.h"
#include "engine/etw/session/session_host.h"
#include "tests/unit/session_fixture.h"

/* Before a writer gives up, it yields 20 times and sleeps 20 times for at least 50 us: so it checks once more after
   LATE us, even on a slow machine. In 0.2 ms it sleeps at most 4 times. */
enum { WRITER = 3, BUFFERS = 8, LATE = 800, NEVER = -1, FEWEST = 20, PATIENT = 40, VAIN = 40, AGAIN = 24 };

static struct memory_session s;
static struct session_drain *d;
static struct tally *t;
static uint32_t looks;
static int host_comes_after; /* the host process frees a buffer after the writer has waited for so many us; NEVER: not
                                at all */
static int64_t wait_began;

/* Called before each attempt of a writer that found no buffer. */
void session_step(int step)
{
    if (step != SESSION_STEP_WAITING)
        return;
    if (looks++ == 0)
        wait_began = clock_ticks();
    if (host_comes_after == NEVER || (clock_ticks() - wait_began) * 1000000 / clock_frequency() < host_comes_after)
        return;
    const struct session_sink sink = tally_sink(t);
    HRESULT hr;
    (void)session_drain_pass(d, &sink, &hr);
}

static int begin(void **state)
{
    static const struct session_shape shape = {.buffers = BUFFERS,
                                               .minimum = BUFFERS,
                                               .buffer_size = ETL_SMALLEST_BUFFER,
                                               .processors = 1,
                                               .wake_at = 2,
                                               .source = SESSION_STAMP_CYCLES};
    (void)everybody_lives(state);
    s = session_in_memory(&shape);
    d = fixture_drain(&s.b, 0);
    t = tally_new();
    return 0;
}

static int end(void **state)
{
    (void)state;
    memory_free(t);
    session_drain_free(d);
    session_gone(&s);
    return 0;
}

/* Writes an event, and returns the number of the writer's attempts until the event had a place or was lost. */
static uint32_t looks_of(uint64_t number, int after, bool accepted)
{
    struct session_writer w = {.owner = WRITER, .thread = 5};
    looks = 0;
    host_comes_after = after;
    assert_int_equal(event_write(&s.b, &w, number), accepted);
    return looks;
}

static uint64_t fill(uint64_t number)
{
    struct session_writer w = {.owner = WRITER, .thread = 5};
    uint64_t stamp;
    for (uint8_t *at; (at = session_try_reserve(&s.b, &w, EVENT_BYTES, &stamp)) != NULL; number++) {
        event_fill(at, &w, stamp, number);
        session_commit(at, EVENT_BYTES | (uint64_t)EVENT_FIRST << 16);
    }
    return number;
}

static void event_waits_for_a_late_host(void **state)
{
    (void)state;
    uint64_t number = 0;
    for (uint32_t round = 0; round < 20; round++) {
        number = fill(number);
        (void)looks_of(number++, LATE, true);
    }
    const struct session_sink sink = tally_sink(t);
    struct session_statistics statistics;
    assert_int_equal(session_drain_stop(d, &sink, 0), S_OK);
    assert_int_equal(t->events, number);
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.events_lost, 0);
}

/* A program that writes many events to a hung host process must not be delayed for long at each event. */
static void writers_wait_only_briefly_for_a_hung_host(void **state)
{
    (void)state;
    uint64_t number = fill(0);
    assert_true(looks_of(number++, NEVER, false) >= PATIENT);
    for (uint32_t i = 1; i < VAIN; i++)
        (void)looks_of(number++, NEVER, false);
    for (uint32_t i = 0; i < 20; i++)
        assert_in_range(looks_of(number++, NEVER, false), FEWEST, AGAIN);
    /* This ends when the host process continues. */
    assert_int_equal(looks_of(number++, 0, true), 1);
    number = fill(number);
    (void)looks_of(number++, LATE, true);
}

static void writer_stops_waiting_when_the_session_stops(void **state)
{
    (void)state;
    uint64_t number = fill(0);
    session_close_processor(&s.b, 0, true);
    assert_int_equal(looks_of(number, NEVER, false), 0);
}

/* ---- the ETW session host ---- */

struct looks {
    uint32_t wakings, own;
};

/* Simulates a host process for two seconds, while a writer closes a buffer every `us` microseconds; counts the second
   second. */
static struct looks looks_beside(uint32_t us, uint32_t wake_at)
{
    enum { STEP_US = 10, SECOND_US = 1000000 };
    struct looks count = {0, 0};
    uint32_t ms = 0, closed = 0;
    uint64_t next = UINT64_MAX;
    for (uint64_t now = 0; now < 2 * SECOND_US; now += STEP_US) {
        closed += now % us == 0;
        const bool woken = closed >= wake_at, due = now >= next;
        if (!woken && !due)
            continue;
        if (now >= SECOND_US) {
            count.wakings += woken && !due;
            count.own += due;
        }
        ms = session_pace(ms, closed, wake_at);
        closed = 0;
        next = ms == SESSION_PACE_NEVER ? UINT64_MAX : now + ms * UINT64_C(1000);
    }
    return count;
}

static void writers_do_not_wake_a_host_that_checks_often_enough(void **state)
{
    (void)state;
    for (uint32_t us = 200; us <= 50000; us += us < 2000 ? 100 : 1000) {
        const struct looks found = looks_beside(us, 16);
        if (found.wakings != 0 || found.own > 1000000 / us + 1) /* nor does the host check without need */
            fail_msg("a buffer each %u us: the host checks %u times a second and is woken %u times", us, found.own,
                     found.wakings);
    }
}

static void idle_host_soon_stops_checking(void **state)
{
    (void)state;
    uint32_t ms = session_pace(0, 4, 4), sum = 0, count = 0;
    assert_int_equal(ms, SESSION_PACE_LEAST_MS);
    for (; ms != SESSION_PACE_NEVER && count < 100; count++) {
        sum += ms;
        ms = session_pace(ms, 0, 4);
    }
    assert_in_range(count, 2, 10);
    assert_in_range(sum, 1, 2 * SESSION_PACE_MOST_MS);
    assert_int_equal(session_pace(ms, 0, 4), SESSION_PACE_NEVER);
    assert_int_equal(session_pace(ms, 3, 4), SESSION_PACE_NEVER);
    assert_int_equal(session_pace(ms, 4, 4), SESSION_PACE_LEAST_MS);
    assert_int_equal(session_pace(SESSION_PACE_LEAST_MS, 3, 4), SESSION_PACE_LEAST_MS);
    assert_int_equal(session_pace(0, 0, 1), SESSION_PACE_NEVER);
    assert_int_equal(session_pace(64, 1, 1), SESSION_PACE_LEAST_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(event_waits_for_a_late_host, begin, end),
        cmocka_unit_test_setup_teardown(writers_wait_only_briefly_for_a_hung_host, begin, end),
        cmocka_unit_test_setup_teardown(writer_stops_waiting_when_the_session_stops, begin, end),
        cmocka_unit_test(writers_do_not_wake_a_host_that_checks_often_enough),
        cmocka_unit_test(idle_host_soon_stops_checking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
