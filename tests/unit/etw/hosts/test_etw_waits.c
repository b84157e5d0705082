/* SPDX-License-Identifier: MIT */
/* How long a writer waits for a buffer before its event is lost, and how often an ETW session host checks for closed
   buffers. */
#include "engine/base/clock.h"
#include "engine/etw/session/session_host.h"
#include "tests/unit/session_fixture.h"

/* A writer yields 20 times before it sleeps, each time for 50 us or more. It waits for 125 ms if the host returns no
   buffer in this time, and for 250 ms at most. If the host is known to hang, it waits for 0.2 ms. An attempt counts for
   1 ms at most, however slow the machine is. Therefore a host that comes after LATE us is always in time. So is a host
   that comes after TAKEN us, if it returned buffers before and other writers took them. */
enum { WRITER = 3, OTHER = 4, BUFFERS = 8, LATE = 60000, TAKEN = 150000, NEVER = -1, FEWEST = 20, PATIENT = 125 };
enum { AGAIN = 24 };

static struct memory_session s;
static struct session_drain *d;
static struct tally *t;
static uint32_t looks;
static int host_comes_after;                            /* after a wait of so many us */
static enum { NOTHING, TAKES_BUFFERS, LIES } meanwhile; /* what another process does before the host comes */
static int64_t wait_began;
static const struct session_writer *waiting; /* if not NULL: a writer that has already waited in vain */
static int64_t in_vain_ago;                  /* how many us ago that was; may be more */
static uint64_t taken;                       /* events of the writer that takes the buffers */

static int64_t us_since(int64_t ticks)
{
    return (clock_ticks() - ticks) * 1000000 / clock_frequency();
}

static void drain(void)
{
    const struct session_sink sink = tally_sink(t);
    HRESULT hr;
    (void)session_drain_pass(d, &sink, &hr);
}

static uint64_t fill(uint32_t owner, uint64_t number)
{
    struct session_writer w = {.owner = owner, .thread = 5};
    uint64_t stamp;
    for (uint8_t *at; (at = session_try_reserve(&s.b, &w, EVENT_BYTES, &stamp)) != NULL; number++) {
        event_fill(at, &w, stamp, number);
        session_commit(at, EVENT_BYTES | (uint64_t)EVENT_FIRST << 16);
    }
    return number;
}

/* Called before each attempt of a writer that found no buffer. */
void session_step(int step)
{
    if (step != SESSION_STEP_WAITING)
        return;
    if (looks++ == 0) {
        wait_began = clock_ticks();
        in_vain_ago = waiting ? us_since(waiting->waited_in_vain) : 0;
    }
    const bool comes = host_comes_after != NEVER && us_since(wait_began) >= host_comes_after;
    if (comes || meanwhile == TAKES_BUFFERS)
        drain();
    if (!comes && meanwhile == TAKES_BUFFERS)
        taken = fill(OTHER, taken);
    if (!comes && meanwhile == LIES)
        atomic_fetch_add(&s.b.shared->given, 1);
}

static int begin(void **state)
{
    static const struct session_shape shape = {.buffers = BUFFERS,
                                               .minimum = BUFFERS,
                                               .buffer_size = ETL_SMALLEST_BUFFER,
                                               .processors = 1,
                                               .wake_at = 2,
                                               .source = SESSION_STAMP_CYCLES};
    (void)all_owners_live(state);
    s = session_in_memory(&shape);
    d = fixture_drain(&s.b, 0);
    t = tally_new();
    meanwhile = NOTHING;
    waiting = NULL;
    taken = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    memory_free(t);
    session_drain_free(d);
    session_free_memory(&s);
    return 0;
}

/* Counts the attempts of a writer until its event had a place or was lost. */
static uint32_t count_attempts(struct session_writer *w, uint64_t number, int after, bool accepted)
{
    looks = 0;
    host_comes_after = after;
    assert_int_equal(event_write(&s.b, w, number), accepted);
    return looks;
}

static void nothing_is_lost(uint64_t events)
{
    const struct session_sink sink = tally_sink(t);
    struct session_statistics statistics;
    assert_int_equal(session_drain_stop(d, &sink, 0), S_OK);
    assert_int_equal(t->events, events);
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.events_lost, 0);
}

static void event_waits_for_a_late_host(void **state)
{
    (void)state;
    uint64_t number = 0;
    for (uint32_t round = 0; round < 3; round++) {
        struct session_writer w = {.owner = WRITER, .thread = 5};
        number = fill(WRITER, number);
        (void)count_attempts(&w, number++, LATE, true);
    }
    nothing_is_lost(number);
}

static void an_event_waits_while_other_writers_take_the_buffers(void **state)
{
    (void)state;
    struct session_writer w = {.owner = WRITER, .thread = 5};
    uint64_t number = fill(WRITER, 0);
    meanwhile = TAKES_BUFFERS;
    assert_true(count_attempts(&w, number++, TAKEN, true) > 1);
    assert_true(taken != 0);
    nothing_is_lost(number + taken);
}

/* A program that writes many events to a hanging host is delayed once, and not at each event. */
static void writers_wait_only_once_for_a_hanging_host(void **state)
{
    (void)state;
    uint64_t number = fill(WRITER, 0);
    struct session_writer first = {.owner = WRITER, .thread = 5};
    assert_true(count_attempts(&first, number++, NEVER, false) >= PATIENT);
    for (uint32_t i = 0; i < 20; i++) {
        struct session_writer w = {.owner = WRITER, .thread = 6};
        assert_in_range(count_attempts(&w, number++, NEVER, false), FEWEST, AGAIN);
    }
    /* When the host continues, writers wait again. */
    struct session_writer later = {.owner = WRITER, .thread = 7};
    assert_int_equal(count_attempts(&later, number++, 0, true), 1);
    number = fill(WRITER, number);
    (void)count_attempts(&later, number++, LATE, true);
}

/* Another process keeps changing the count of returned buffers although the host hangs. */
static void a_thread_rarely_waits_for_buffers_that_are_only_announced(void **state)
{
    enum { LEAST_US = 400, PARTS = 4, SLEEP_US = 50, SECONDS = 2 };
    (void)state;
    struct session_writer w = {.owner = WRITER, .thread = 5};
    uint64_t number = fill(WRITER, 0);
    meanwhile = LIES;
    assert_true(count_attempts(&w, number++, NEVER, false) >= PATIENT);
    waiting = &w;
    for (uint32_t i = 0; i < 20; i++) {
        const uint32_t count = count_attempts(&w, number++, NEVER, false);
        const int64_t most = in_vain_ago / PARTS > LEAST_US ? in_vain_ago / PARTS : LEAST_US;
        assert_in_range(count, FEWEST, FEWEST + 1 + most / SLEEP_US);
    }
    /* After SECONDS, the writer waits again. */
    w.waited_in_vain -= SECONDS * clock_frequency();
    meanwhile = NOTHING;
    (void)count_attempts(&w, number++, LATE, true);
}

static void writer_stops_waiting_when_the_session_stops(void **state)
{
    (void)state;
    struct session_writer w = {.owner = WRITER, .thread = 5};
    const uint64_t number = fill(WRITER, 0);
    session_close_processor(&s.b, 0, true);
    assert_int_equal(count_attempts(&w, number, NEVER, false), 0);
}

/* ---- the ETW session host ---- */

struct looks {
    uint32_t wakings, own;
};

/* Simulates a host process for two seconds, while a writer closes a buffer every `us` microseconds. Returns the counts
   of the second half. */
static struct looks count_attempts_with_host(uint32_t us, uint32_t wake_at)
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
        const struct looks found = count_attempts_with_host(us, 16);
        if (found.wakings != 0 || found.own > 1000000 / us + 1) /* the host also does not check too often */
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
        cmocka_unit_test_setup_teardown(an_event_waits_while_other_writers_take_the_buffers, begin, end),
        cmocka_unit_test_setup_teardown(writers_wait_only_once_for_a_hanging_host, begin, end),
        cmocka_unit_test_setup_teardown(a_thread_rarely_waits_for_buffers_that_are_only_announced, begin, end),
        cmocka_unit_test_setup_teardown(writer_stops_waiting_when_the_session_stops, begin, end),
        cmocka_unit_test(writers_do_not_wake_a_host_that_checks_often_enough),
        cmocka_unit_test(idle_host_soon_stops_checking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
