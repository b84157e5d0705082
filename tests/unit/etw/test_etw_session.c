/* SPDX-License-Identifier: MIT */
/* A session's buffers: the events of all threads are read once, in order and complete, or are counted as lost. Built a
   second time with the thread sanitizer. */
#include "engine/base/clock.h"
#include "tests/unit/session_fixture.h"

enum { SMALL = ETL_SMALLEST_BUFFER, WRITER = 3 };

static const struct session_shape small_shape = {
    .buffers = 8, .minimum = 8, .buffer_size = SMALL, .processors = 2, .wake_at = 2, .source = SESSION_STAMP_CYCLES};
static const struct session_shape one_stream = {
    .buffers = 8, .minimum = 8, .buffer_size = SMALL, .processors = 1, .wake_at = 2, .source = SESSION_STAMP_CYCLES};

/* The session of a test, with a writer, the drain, and the events that were read. */
static struct memory_session s;
static struct session_writer w;
static struct session_drain *d;
static struct session_statistics statistics;
static struct tally *t;

static void begin(const struct session_shape *shape, uint32_t keep)
{
    s = session_in_memory(shape);
    w = (struct session_writer){.owner = WRITER, .thread = 5};
    d = fixture_drain(&s.b, keep);
    t = tally_new();
}

static int end(void **state)
{
    (void)state;
    memory_free(t);
    session_drain_free(d);
    session_free_memory(&s);
    t = NULL;
    d = NULL;
    s = (struct memory_session){0};
    return 0;
}

/* ---- the section ---- */

static void invalid_shapes_are_rejected(void **state)
{
    (void)state;
    struct session_shape bad[12];
    size_t size;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        bad[i] = small_shape;
    bad[0].buffers = 0;
    bad[1].buffers = SESSION_MOST_BUFFERS + 1;
    bad[2].minimum = 0;
    bad[3].minimum = 9;
    bad[4].buffer_size = SMALL - 1024;
    bad[5].buffer_size = SMALL + 8;
    bad[6].buffer_size = ETL_LARGEST_BUFFER + 1024;
    bad[7].processors = 0;
    bad[8].processors = SESSION_MOST_PROCESSORS + 1;
    bad[9].wake_at = 0;
    bad[10].wake_at = 9;
    bad[11].source = (enum session_source)4;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(session_buffers_size(&bad[i], &size), E_INVALIDARG);
    bad[0] = small_shape;
    bad[0].buffer_size = ETL_LARGEST_BUFFER;
    bad[0].buffers = SESSION_MOST_BUFFERS;
    assert_int_equal(session_buffers_size(&bad[0], &size), S_OK);
    assert_true(size > (uint64_t)ETL_LARGEST_BUFFER * SESSION_MOST_BUFFERS);
}

/* ---- one writer ---- */

static void drain_all(void)
{
    const struct session_sink sink = tally_sink(t);
    HRESULT hr;
    while (session_drain_pass(d, &sink, &hr) != 0)
        assert_int_equal(hr, t->answer);
}

static void stop(uint32_t patience)
{
    const struct session_sink sink = tally_sink(t);
    assert_int_equal(session_drain_stop(d, &sink, patience), S_OK);
}

static void events_arrive_once_complete_and_in_order(void **state)
{
    (void)state;
    begin(&small_shape, 0);
    for (uint64_t i = 0; i < 5000; i++) {
        assert_true(event_write(&s.b, &w, i));
        if (i % 50 == 0)
            drain_all();
    }
    session_drain_flush(d);
    drain_all();
    assert_int_equal(t->events, 5000);
    assert_true(tally_is_complete(t));
    tally_check_order(t);
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.events, 5000);
    assert_int_equal(statistics.events_lost, 0);
    assert_int_equal(statistics.buffers_written, t->buffers);
    assert_int_equal(statistics.free, 8);
}

static uint32_t wakings;
static void count_waking(void *context)
{
    (void)context;
    wakings++;
}

static void events_without_a_buffer_are_counted_and_the_host_is_woken(void **state)
{
    (void)state;
    begin(&small_shape, 0);
    uint64_t accepted = 0;
    bool in_use;
    s.b.wake = count_waking;
    wakings = 0;
    assert_true(session_drain_sleep(d, &in_use));
    assert_false(in_use);
    for (uint64_t i = 0; i < 400; i++)
        accepted += event_write(&s.b, &w, i);
    assert_int_equal(wakings, 2); /* when the first buffer is claimed, and when the second one is closed */
    assert_false(session_drain_sleep(d, &in_use));
    assert_true(in_use);
    session_drain_wake(d);
    assert_in_range(accepted, 1, 399);
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.events_lost, 400 - accepted);
    assert_int_equal(statistics.free, 0);
    session_drain_flush(d);
    drain_all();
    assert_int_equal(t->events, accepted);
    assert_true(event_write(&s.b, &w, 400));
    stop(0);
    assert_int_equal(t->events, accepted + 1);
    assert_false(event_write(&s.b, &w, 401));
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.events_lost, 400 - accepted); /* an event after the stop does not count as lost */
}

static void buffers_are_added_only_when_all_are_in_use(void **state)
{
    (void)state;
    struct session_shape shape = small_shape;
    shape.minimum = 3;
    begin(&shape, 0);
    uint32_t allocated, free;
    uint64_t i = 0;
    for (; i < 200; i++) {
        assert_true(event_write(&s.b, &w, i));
        session_drain_flush(d);
        drain_all();
    }
    session_buffers_count(&s.b, &allocated, &free);
    assert_int_equal(allocated, 3);
    for (; i < 200 + 27 * 5; i++)
        assert_true(event_write(&s.b, &w, i));
    session_buffers_count(&s.b, &allocated, &free);
    assert_in_range(allocated, 5, 8);
}

/* UPDATE of MaximumBuffers: buffers above the limit are freed after they were written, and can return later. */
static void the_number_of_buffers_can_be_limited(void **state)
{
    (void)state;
    begin(&small_shape, 0);
    uint32_t allocated, free;
    uint64_t taken[3] = {0}, written = 0;
    for (int round = 0; round < 3; round++) {
        session_buffers_limit(&s.b, round == 1 ? 3 : 8);
        while (event_write(&s.b, &w, written)) {
            written++;
            taken[round]++;
        }
        session_drain_flush(d);
        drain_all();
        session_buffers_count(&s.b, &allocated, &free);
        assert_int_equal(allocated, round == 1 ? 3 : 8);
        assert_int_equal(free, allocated);
    }
    assert_int_equal(t->events, written);
    assert_int_equal(taken[0], taken[2]);
    assert_int_equal(taken[1] * 8, taken[0] * 3);
}

/* Headers of all forms, with the bytes that readers must find. */
static void headers_of_all_forms_are_kept(void **state)
{
    (void)state;
    static const struct {
        uint64_t first;
        uint32_t bytes, stamp_at;
    } forms[] = {
        {0x02 | UINT64_C(0xC002) << 16 | UINT64_C(0x28) << 32, 0x28, 0x10},
        {0x02 | UINT64_C(0xC004) << 16 | UINT64_C(0x20) << 32, 0x20, 0x10},
        {0x02 | UINT64_C(0xC011) << 16 | UINT64_C(0x18) << 32, 0x18, 0x08},
        {0x38 | UINT64_C(0xC014) << 16, 0x38, 0x10},
        {0x50 | UINT64_C(0xC015) << 16, 0x50, 0x10},
        {0x58 | UINT64_C(0xC012) << 16, 0x58, 0x10},
        {0x30 | UINT64_C(0x9000) << 16 | UINT64_C(0x2B) << 48, 0x30, 8 + 4 + 16}, /* sequence, GUID, time, ids */
        {0x0B | UINT64_C(0x9000) << 16, 0x10, 0},                                 /* without a time */
    };
    const size_t count = sizeof forms / sizeof *forms;
    begin(&small_shape, 0);
    struct session_settled settled;
    struct session_clock clock;
    struct session_order order = {0};
    static uint8_t copy[SMALL];
    session_clock_start(&clock, ETL_CLOCK_TICKS, SESSION_STAMP_CYCLES);
    const int64_t from = clock_ticks() - 1;
    for (size_t i = 0; i < count; i++) {
        uint64_t stamp;
        uint8_t *at = session_reserve(&s.b, &w, forms[i].bytes, &stamp);
        memset(at + 8, (int)i + 1, forms[i].bytes - 8);
        if (forms[i].stamp_at != 0)
            put_u64(at + forms[i].stamp_at, stamp);
        session_commit(at, forms[i].first);
    }
    const uint64_t word = session_load(&s.b.processor[w.processor < 2 ? w.processor : 0].word);
    const struct session_liveness liveness = {fixture_alive, NULL};
    assert_true(session_settle(&s.b, session_word_buffer(word), word & SESSION_PLACE, &liveness, false, &clock,
                               processor_cycles(), &order, copy, &settled));
    const int64_t to = clock_ticks() + 1;
    assert_int_equal(settled.events, count);
    assert_int_equal(settled.used, session_word_end(word));
    assert_in_range(settled.time, from, to);
    uint32_t offset = ETL_BUFFER_HEAD, size;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *event;
        assert_true(etl_buffer_event(copy, settled.used, &offset, &event, &size));
        assert_int_equal(get_u64(event), forms[i].first);
        assert_int_equal((size + 7) & ~7u, forms[i].bytes);
        if (forms[i].stamp_at != 0)
            assert_in_range((int64_t)get_u64(event + forms[i].stamp_at), from, to);
        assert_int_equal(event[size - 1], i + 1);
    }
}

static void timestamp_of_the_caller_is_kept(void **state)
{
    (void)state;
    begin(&small_shape, 0);
    struct session_settled settled;
    struct session_clock clock;
    struct session_order order = {0};
    static uint8_t copy[SMALL];
    session_clock_start(&clock, ETL_CLOCK_TICKS, SESSION_STAMP_CYCLES);
    for (int i = 0; i < 3; i++) {
        uint64_t stamp;
        uint8_t *at = session_reserve(&s.b, &w, EVENT_BYTES, &stamp);
        event_fill(at, &w, i == 1 ? 12345 : stamp, (uint64_t)i);
        session_commit(at, EVENT_BYTES | (uint64_t)EVENT_FIRST << 16 | (i == 1 ? SESSION_OWN_STAMP : 0));
    }
    const uint64_t word = session_load(&s.b.processor[w.processor < 2 ? w.processor : 0].word);
    const struct session_liveness liveness = {fixture_alive, NULL};
    assert_true(session_settle(&s.b, session_word_buffer(word), word & SESSION_PLACE, &liveness, false, &clock,
                               processor_cycles(), &order, copy, &settled));
    assert_int_equal(get_u64(copy + ETL_BUFFER_HEAD + EVENT_BYTES + 0x10), 12345);
    assert_int_equal(get_u16(copy + ETL_BUFFER_HEAD + EVENT_BYTES + 2), EVENT_FIRST);
    assert_true(get_u64(copy + ETL_BUFFER_HEAD + 2 * EVENT_BYTES + 0x10) > 12345);
}

static void other_clocks_and_processors_work(void **state)
{
    static const enum session_source sources[] = {SESSION_STAMP_TICKS, SESSION_STAMP_SYSTEM, SESSION_STAMP_CYCLES};
    static const enum processor_method methods[] = {PROCESSOR_UNKNOWN, PROCESSOR_RDTSCP};
    for (int i = 0; i < 6; i++) {
        struct session_shape shape = small_shape;
        shape.source = sources[i / 2];
        shape.processors = i % 2 == 0 ? 1 : 4;
        begin(&shape, 0);
        if (methods[i % 2] <= processor_method())
            s.b.method = methods[i % 2];
        w.processor = 77;
        session_drain_free(d);
        d = NULL;
        const struct session_drain_options options = {.liveness = {fixture_alive, NULL},
                                                      .clock = shape.source == SESSION_STAMP_SYSTEM ? ETL_CLOCK_SYSTEM
                                                                                                    : ETL_CLOCK_TICKS,
                                                      .first_number = 1};
        assert_int_equal(session_drain_create(&s.b, &options, &d), S_OK);
        const int64_t from = shape.source == SESSION_STAMP_SYSTEM ? clock_utc() : clock_ticks();
        for (uint64_t e = 0; e < 100; e++)
            assert_true(event_write(&s.b, &w, e));
        stop(0);
        assert_int_equal(t->events, 100);
        int64_t newest = 0;
        for (uint32_t n = 0; n < t->buffers; n++)
            newest = t->buffer[n].last > newest ? t->buffer[n].last : newest;
        assert_in_range(newest, from - 1, shape.source == SESSION_STAMP_SYSTEM ? clock_utc() : clock_ticks() + 1);
        (void)end(state);
    }
}

static void buffers_of_16_mb_can_be_filled_completely(void **state)
{
    (void)state;
    enum { LONGEST = 0xFFF8 };
    struct session_shape shape = small_shape;
    shape.buffers = shape.minimum = 2;
    shape.buffer_size = ETL_LARGEST_BUFFER;
    shape.processors = 1;
    begin(&shape, 0);
    const uint32_t each = (ETL_LARGEST_BUFFER - ETL_BUFFER_HEAD) / LONGEST;
    uint32_t written = 0;
    for (uint64_t stamp; written < 2 * each; written++) {
        uint8_t *at = session_try_reserve(&s.b, &w, LONGEST, &stamp);
        assert_non_null(at);
        put_u64(at + 0x10, stamp);
        at[LONGEST - 1] = (uint8_t)written;
        session_commit(at, LONGEST | (uint64_t)EVENT_FIRST << 16);
    }
    uint64_t stamp;
    assert_null(session_try_reserve(&s.b, &w, LONGEST, &stamp));
    session_drain_flush(d);
    struct session_settled settled;
    struct session_order order = {0};
    uint8_t *copy = memory_alloc(ETL_LARGEST_BUFFER);
    const struct session_liveness liveness = {fixture_alive, NULL};
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t word = session_load(&s.b.line[i].word);
        assert_int_equal(session_line_state(word), SESSION_CLOSED);
        assert_true(session_settle(&s.b, i, session_line_place(word), &liveness, false, session_drain_clock(d),
                                   processor_cycles(), &order, copy, &settled));
        assert_int_equal(settled.events, each);
        assert_int_equal(settled.used, ETL_BUFFER_HEAD + each * LONGEST);
        assert_int_equal(copy[settled.used - 1], (uint8_t)((i + 1) * each - 1));
    }
    memory_free(copy);
}

/* The event of a process with a long command line can be larger than a small buffer. It must not use up a buffer,
   because other events would then be lost. */
static void event_larger_than_a_buffer_is_counted_and_closes_none(void **state)
{
    (void)state;
    uint64_t stamp;
    uint32_t lost = 0;
    begin(&small_shape, 0);
    const uint32_t longest = SMALL - ETL_BUFFER_HEAD, too_long[] = {0, longest + 1, 0xFFFF, 0x10000, UINT32_MAX};
    assert_true(event_write(&s.b, &w, 0));
    for (size_t i = 0; i < sizeof too_long / sizeof *too_long; i++, lost++)
        assert_null(session_reserve(&s.b, &w, too_long[i], &stamp));
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.events_lost, lost);
    assert_int_equal(statistics.free, 7);
    assert_true(event_write(&s.b, &w, 1));
    session_drain_flush(d);
    drain_all();
    assert_int_equal(t->events, 2);
}

/* A place's size has 13 bits, in units of 8 bytes. Sizes of 65,529 to 65,535 bytes round up to 65,536, which does not
   fit. */
static void an_event_whose_rounded_size_has_17_bits_is_counted(void **state)
{
    (void)state;
    struct session_shape shape = small_shape;
    uint64_t stamp;
    uint32_t lost = 0;
    shape.buffer_size = 128 * 1024;
    begin(&shape, 0);
    for (uint32_t size = 0xFFF9; size <= 0xFFFF; size++, lost++)
        assert_null(session_reserve(&s.b, &w, size, &stamp));
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.events_lost, lost);
    assert_true(event_write(&s.b, &w, 0));
    session_drain_flush(d);
    drain_all();
    assert_int_equal(t->events, 1);
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.events_lost, lost);
}

/* ---- writers that do not finish an event ---- */

/* Reserves a place and abandons it, like a writer that was stopped after this step. */
static void abandon_place(struct session_writer *who, bool marked)
{
    uint64_t stamp;
    uint8_t *at = session_reserve(&s.b, who, EVENT_BYTES, &stamp);
    assert_non_null(at);
    if (!marked)
        atomic_store(session_first_word(at), 0);
}

static void place_of_a_dead_writer_is_one_lost_event(void **state)
{
    (void)state;
    begin(&one_stream, 0);
    struct session_writer dead = {.owner = 9, .thread = 6};
    assert_true(event_write(&s.b, &w, 0));
    abandon_place(&dead, true); /* the place's first word names its writer */
    assert_true(event_write(&s.b, &w, 1));
    abandon_place(&dead, false); /* the next writer wrote the dead writer's id */
    assert_true(event_write(&s.b, &w, 2));
    abandon_place(&dead, false); /* the buffer's word names the dead writer */
    session_drain_flush(d);
    drain_all();
    assert_int_equal(t->events, 0); /* the writer lives: its buffer waits */
    alive[9] = false;
    drain_all();
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(t->events, 3);
    assert_true(tally_is_complete(t));
    tally_check_order(t);
    assert_int_equal(statistics.events_lost, 3);
    assert_int_equal(statistics.free, 8);
}

static void place_is_settled_once_even_if_its_slot_is_reused(void **state)
{
    (void)state;
    begin(&one_stream, 0);
    struct session_writer dead = {.owner = 9, .thread = 6};
    abandon_place(&dead, true);
    abandon_place(&w, true);
    alive[9] = false;
    session_drain_flush(d);
    drain_all();
    alive[9] = true; /* a different process with the same slot */
    alive[WRITER] = false;
    drain_all();
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.events_lost, 2);
    assert_int_equal(statistics.free, 8);
}

static void stop_waits_for_writers_up_to_a_limit(void **state)
{
    (void)state;
    begin(&one_stream, 0);
    assert_true(event_write(&s.b, &w, 0));
    abandon_place(&w, true);
    assert_true(event_write(&s.b, &w, 1));
    stop(20);
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(t->events, 2);
    assert_int_equal(statistics.events_lost, 1);
}

static void buffers_of_dead_writers_return(void **state)
{
    (void)state;
    begin(&one_stream, 0);
    atomic_store(&s.b.line[7].word,
                 session_line_open(SESSION_CLAIMED, 9, 4)); /* its process ended before it used the buffer */
    atomic_store(&s.b.line[6].word, session_line_open(SESSION_CLAIMED, 8, 4)); /* is going to use the buffer */
    assert_true(event_write(&s.b, &w, 0));
    assert_true(event_write(&s.b, &w, 1));
    const uint64_t word = session_load(&s.b.processor[0].word);
    atomic_store(&s.b.processor[0].word, SESSION_WORD_NONE); /* no processor names the buffer now */
    alive[9] = false;
    assert_int_equal(session_drain_reap(d), 0);
    assert_int_equal(session_drain_reap(d), 2);
    drain_all();
    assert_int_equal(t->events, 2);
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.free, 7);
    assert_true(session_word_buffer(word) < 6);
}

/* A process may have started to fill the buffer between two checks of the host process: if the buffer were closed, its
   later events would be lost. */
static void buffer_being_filled_is_not_closed(void **state)
{
    (void)state;
    begin(&one_stream, 0);
    assert_true(event_write(&s.b, &w, 0));
    const uint64_t word = session_load(&s.b.processor[0].word);
    atomic_store(&s.b.processor[0].word, SESSION_WORD_NONE);
    assert_int_equal(session_drain_reap(d), 0);
    atomic_store(&s.b.processor[0].word, word);
    assert_true(event_write(&s.b, &w, 1));
    atomic_store(&s.b.processor[0].word, SESSION_WORD_NONE);
    assert_int_equal(session_drain_reap(d), 0);
    assert_int_equal(session_drain_reap(d), 1);
}

static void slow_writer_delays_its_processor_until_buffers_run_out(void **state)
{
    (void)state;
    begin(&one_stream, 0);
    struct session_writer slow = {.owner = 9, .thread = 6};
    uint64_t i = 0, stamp;
    uint8_t *at = session_reserve(&s.b, &slow, EVENT_BYTES, &stamp);
    for (; i < 40; i++)
        assert_true(event_write(&s.b, &w, i));
    session_drain_flush(d);
    drain_all();
    assert_int_equal(t->events, 0); /* all events wait, to keep the order */
    for (; i < 2000; i++) {
        assert_true(event_write(&s.b, &w, i));
        drain_all();
    }
    assert_in_range(t->events, 1000, 2000); /* the others continued without the first buffer */
    event_fill(at, &slow, stamp, 0);
    session_commit(at, EVENT_BYTES | (uint64_t)EVENT_FIRST << 16);
    session_drain_flush(d);
    drain_all();
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.events_lost, 0);
    assert_int_equal(t->events, 2001);
    assert_true(tally_is_complete(t));
    tally_check_order(t); /* by its number, the first buffer still comes first */
}

/* ---- the log rejects data ---- */

static void buffers_that_cannot_be_written_are_counted(void **state)
{
    (void)state;
    begin(&small_shape, 0);
    const struct session_sink sink = tally_sink(t);
    HRESULT hr;
    t->answer = HRESULT_FROM_WIN32(ERROR_DISK_FULL);
    assert_true(event_write(&s.b, &w, 0));
    session_drain_flush(d);
    assert_int_equal(session_drain_pass(d, &sink, &hr), 1);
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_DISK_FULL));
    t->answer = S_OK;
    assert_true(event_write(&s.b, &w, 1));
    session_drain_flush(d);
    assert_int_equal(session_drain_pass(d, &sink, &hr), 1);
    assert_int_equal(hr, S_OK);
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.buffers_lost, 1);
    assert_int_equal(statistics.buffers_written, 1);
    assert_int_equal(statistics.events, 1);
}

/* ---- sessions in memory, with snapshots ---- */

static void memory_keeps_newest_events_and_snapshots_keep_them(void **state)
{
    (void)state;
    begin(&one_stream, 5);
    struct tally *first = tally_new(), *second = tally_new();
    uint64_t i = 0;
    for (; i < 1000; i++) {
        assert_true(event_write(&s.b, &w, i));
        drain_all();
    }
    assert_int_equal(t->buffers, 0);
    assert_int_equal(session_drain_snapshot(d, &(struct session_sink){tally_write, tally_has_buffer, first}), S_OK);
    assert_in_range(first->events, 5 * 27, 7 * 27);
    const uint64_t events = first->events, sum = events * (2 * 1000 - events - 1) / 2; /* the last events of 1000 */
    assert_int_equal(first->writer[WRITER].next, 1000);
    assert_int_equal(first->writer[WRITER].sum, sum);
    tally_check_order(first);
    assert_true(event_write(&s.b, &w, i));
    assert_int_equal(session_drain_snapshot(d, &(struct session_sink){tally_write, tally_has_buffer, second}), S_OK);
    assert_int_equal(second->writer[WRITER].next, 1001);
    assert_true(second->events > 4 * 27);
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.events_lost, 0);
    stop(0);
    assert_int_equal(t->buffers, 0);
    memory_free(first);
    memory_free(second);
}

/* ---- recovery after a host process ---- */

static void recovery_writes_what_the_host_had_not_written(void **state)
{
    (void)state;
    begin(&one_stream, 0);
    struct session_buffers again;
    for (uint64_t i = 0; i < 100; i++)
        assert_true(event_write(&s.b, &w, i));
    drain_all();
    const uint64_t before = t->events;
    for (uint64_t i = 100; i < 150; i++)
        assert_true(event_write(&s.b, &w, i));
    /* The host process wrote one more buffer and was killed before it returned it; the log contains the buffer. */
    session_drain_flush(d);
    for (uint32_t i = 0; i < s.b.buffers; i++)
        if (session_line_state(session_load(&s.b.line[i].word)) == SESSION_CLOSED) {
            const struct session_liveness liveness = {fixture_alive, NULL};
            struct session_order order = {0};
            struct session_settled settled;
            static uint8_t copy[SMALL];
            assert_true(session_settle(&s.b, i, session_line_place(session_load(&s.b.line[i].word)), &liveness, false,
                                       session_drain_clock(d), processor_cycles(), &order, copy, &settled));
            if (get_u64(copy + ETL_BUFFER_HEAD + 0x58) != before)
                continue;
            const struct etl_buffer_header head = {
                .sequence = t->buffers + 1, .used = settled.used, .time = settled.time};
            atomic_store(&s.b.line[i].number, t->buffers + 1);
            assert_int_equal(tally_write(t, &head, copy), S_OK);
        }
    session_drain_free(d);
    d = NULL;
    assert_int_equal(session_buffers_map(s.b.shared, s.size, &again), S_OK);
    const struct session_drain_options options = {
        .liveness = {fixture_alive, NULL}, .clock = ETL_CLOCK_TICKS, .first_number = t->buffers + 1};
    const uint64_t readings = atomic_load(&s.b.shared->totals.anchors);
    assert_int_equal(session_drain_create(&again, &options, &d), S_OK);
    /* A recovery takes no clock reading here. If it did and were killed, the next recovery would use that reading, and
       the converted times of old events would differ by microseconds from those that the host wrote. */
    assert_int_equal(atomic_load(&s.b.shared->totals.anchors), readings);
    assert_int_equal(session_drain_recover(d, &(struct session_sink){tally_write, tally_has_buffer, t}, 0), S_OK);
    assert_int_equal(t->events, 150);
    assert_true(tally_is_complete(t));
    tally_check_order(t);
    assert_false(event_write(&s.b, &w, 150));
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.events_lost, 0);
}

/* ---- many threads ---- */

enum { THREADS = 4, EACH = 30000 };

struct thread_of_events {
    const struct session_buffers *b;
    struct session_writer w;
    uint64_t written, refused;
    atomic_bool ended;
};
/* The threads are not joined, because the thread sanitizer does not recognise the join and mistakes a later thread for
   the earlier one. */
static struct thread_of_events writers[THREADS * 3];
static struct thread *threads[THREADS * 3];
static uint32_t started;

static void write_many(void *user)
{
    struct thread_of_events *own = user;
    own->w.thread = thread_own_id();
    for (uint64_t i = 0; i < EACH; i++)
        if (event_write(own->b, &own->w, i))
            own->written++;
        else
            own->refused++;
    own->ended = true;
}

static void threads_lose_no_uncounted_events(uint32_t processors, uint32_t keep)
{
    struct session_shape shape = small_shape;
    shape.processors = processors;
    shape.buffers = 32;
    shape.minimum = 16;
    begin(&shape, keep);
    const struct session_sink sink = tally_sink(t);
    HRESULT hr;
    for (uint32_t i = 0; i < THREADS; i++) {
        struct thread_of_events *writer = &writers[started + i];
        writer->b = &s.b;
        writer->w.owner = i + 1;
        assert_int_equal(thread_start(write_many, writer, &threads[started + i]), S_OK);
    }
    for (bool left = true; left;) {
        if (session_drain_pass(d, &sink, &hr) == 0)
            thread_yield();
        session_drain_flush(d);
        (void)session_drain_reap(d);
        if (keep != 0) {
            memset(t, 0, sizeof *t);
            assert_int_equal(session_drain_snapshot(d, &sink), S_OK);
            tally_check_order(t);
        }
        left = false;
        for (uint32_t i = 0; i < THREADS; i++)
            left = left || !writers[started + i].ended;
    }
    uint64_t written = 0, refused = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        written += writers[started + i].written;
        refused += writers[started + i].refused;
    }
    started += THREADS;
    assert_int_equal(session_drain_stop(d, &sink, 1000), S_OK);
    session_statistics_read(&s.b, &statistics);
    assert_int_equal(statistics.events_lost, refused);
    if (keep == 0) {
        assert_int_equal(t->events, written);
        assert_int_equal(statistics.events, written);
        tally_check_order(t);
    }
}

static void threads_on_their_processors(void **state)
{
    (void)state;
    threads_lose_no_uncounted_events(processor_count(), 0);
}

static void threads_on_one_stream(void **state)
{
    (void)state;
    threads_lose_no_uncounted_events(1, 0);
}

static void threads_lose_no_events_during_snapshots(void **state)
{
    (void)state;
    threads_lose_no_uncounted_events(2, 20);
}

static void sequence_numbers_are_unique(void **state)
{
    (void)state;
    begin(&small_shape, 0);
    assert_int_equal(session_next_sequence(&s.b), 1);
    assert_int_equal(session_next_sequence(&s.b), 2);
}

static void slot_is_freed_when_no_buffer_names_it(void **state)
{
    (void)state;
    begin(&small_shape, 5);
    assert_true(session_drain_oldest(d) == UINT64_MAX);
    const uint64_t before = processor_cycles();
    abandon_place(&w, true);
    assert_true(session_drain_oldest(d) >= before);
    assert_true(session_drain_oldest(d) < processor_cycles());
    session_drain_flush(d);
    alive[WRITER] = false;
    assert_true(session_drain_oldest(d) < processor_cycles());
    drain_all(); /* the place still exists, but it is settled */
    assert_true(session_drain_oldest(d) == UINT64_MAX);
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    begin(&small_shape, 0);
    const struct session_drain_options options = {.liveness = {fixture_alive, NULL}, .clock = ETL_CLOCK_TICKS};
    session_drain_free(d);
    d = NULL;
    for (uint64_t n = 1; !d; n++) {
        memory_fail_at(n);
        const HRESULT hr = session_drain_create(&s.b, &options, &d);
        memory_fail_at(0);
        assert_int_equal(hr, d ? S_OK : E_OUTOFMEMORY);
    }
    for (uint64_t n = 1; n <= 2; n++) {
        memory_fail_at(n);
        const HRESULT hr = session_drain_snapshot(d, &(struct session_sink){tally_write, tally_has_buffer, NULL});
        memory_fail_at(0);
        assert_int_equal(hr, E_OUTOFMEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_shapes_are_rejected),
        cmocka_unit_test_setup_teardown(events_arrive_once_complete_and_in_order, all_owners_live, end),
        cmocka_unit_test_setup_teardown(events_without_a_buffer_are_counted_and_the_host_is_woken, all_owners_live,
                                        end),
        cmocka_unit_test_setup_teardown(buffers_are_added_only_when_all_are_in_use, all_owners_live, end),
        cmocka_unit_test_setup_teardown(the_number_of_buffers_can_be_limited, all_owners_live, end),
        cmocka_unit_test_setup_teardown(headers_of_all_forms_are_kept, all_owners_live, end),
        cmocka_unit_test_setup_teardown(timestamp_of_the_caller_is_kept, all_owners_live, end),
        cmocka_unit_test_setup_teardown(other_clocks_and_processors_work, all_owners_live, end),
        cmocka_unit_test_setup_teardown(buffers_of_16_mb_can_be_filled_completely, all_owners_live, end),
        cmocka_unit_test_setup_teardown(event_larger_than_a_buffer_is_counted_and_closes_none, all_owners_live, end),
        cmocka_unit_test_setup_teardown(an_event_whose_rounded_size_has_17_bits_is_counted, all_owners_live, end),
        cmocka_unit_test_setup_teardown(place_of_a_dead_writer_is_one_lost_event, all_owners_live, end),
        cmocka_unit_test_setup_teardown(place_is_settled_once_even_if_its_slot_is_reused, all_owners_live, end),
        cmocka_unit_test_setup_teardown(stop_waits_for_writers_up_to_a_limit, all_owners_live, end),
        cmocka_unit_test_setup_teardown(buffers_of_dead_writers_return, all_owners_live, end),
        cmocka_unit_test_setup_teardown(buffer_being_filled_is_not_closed, all_owners_live, end),
        cmocka_unit_test_setup_teardown(slow_writer_delays_its_processor_until_buffers_run_out, all_owners_live, end),
        cmocka_unit_test_setup_teardown(buffers_that_cannot_be_written_are_counted, all_owners_live, end),
        cmocka_unit_test_setup_teardown(memory_keeps_newest_events_and_snapshots_keep_them, all_owners_live, end),
        cmocka_unit_test_setup_teardown(recovery_writes_what_the_host_had_not_written, all_owners_live, end),
        cmocka_unit_test_setup_teardown(threads_on_their_processors, all_owners_live, end),
        cmocka_unit_test_setup_teardown(threads_on_one_stream, all_owners_live, end),
        cmocka_unit_test_setup_teardown(threads_lose_no_events_during_snapshots, all_owners_live, end),
        cmocka_unit_test_teardown(sequence_numbers_are_unique, end),
        cmocka_unit_test_setup_teardown(slot_is_freed_when_no_buffer_names_it, all_owners_live, end),
        cmocka_unit_test_setup_teardown(out_of_memory_is_reported, all_owners_live, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
