/* SPDX-License-Identifier: MIT */
/* A hostile process writes arbitrary data into sections. Event providers and ETW session hosts must not access memory
   outside the sections or hang, and all output must be readable. Run with the address sanitizer. */
#include "tests/unit/session_fixture.h"

enum { SMALL = ETL_SMALLEST_BUFFER, WRITER = 3 };

static const struct session_shape small_shape = {
    .buffers = 8, .minimum = 8, .buffer_size = SMALL, .processors = 2, .wake_at = 2, .source = SESSION_STAMP_CYCLES};

static void invalid_section_is_rejected(void **state)
{
    (void)state;
    struct memory_session s = session_in_memory(&small_shape);
    struct session_buffers b;
    assert_int_equal(session_buffers_map(s.b.shared, s.size, &b), S_OK);
    assert_ptr_equal(b.data, s.b.data);
    assert_int_equal(session_buffers_map(s.b.shared, s.size - 1, &b), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_int_equal(session_buffers_map(s.b.shared, 100, &b), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    s.b.shared->buffers = 4000;
    assert_int_equal(session_buffers_map(s.b.shared, s.size, &b), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    s.b.shared->buffers = 8;
    s.b.shared->version++;
    assert_int_equal(session_buffers_map(s.b.shared, s.size, &b), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_int_equal(session_buffers_create(s.b.shared, s.size - 1, &small_shape, &b), E_INVALIDARG);
    session_free_memory(&s);
}

static uint64_t random_state = 12345;
static uint64_t random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static HRESULT read_corrupt_buffer(void *context, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    uint32_t offset = ETL_BUFFER_HEAD, size;
    const uint8_t *event;
    uint64_t *sum = context;
    assert_true(head->used >= ETL_BUFFER_HEAD && head->used <= SMALL && head->processor < 2);
    while (etl_buffer_event(bytes, head->used, &offset, &event, &size))
        *sum += event[size - 1];
    assert_int_equal(offset, head->used); /* all output can be read completely */
    return S_OK;
}

/* Overwrites a word at a random position, with random bits or an almost valid value. */
static void corrupt_word(const struct memory_session *s)
{
    uint64_t *words = (uint64_t *)(void *)s->b.shared;
    const uint64_t place = session_place((uint32_t)(random_word() % SMALL), (uint32_t)(random_word() % SMALL), 5);
    uint64_t lie = random_word();
    switch (random_word() % 6) {
    case 0:
        words[random_word() % (s->size / 8)] = lie;
        break;
    case 1:
        s->b.processor[random_word() % 2].word = lie;
        break;
    case 2:
        s->b.processor[random_word() % 2].word = session_word((uint32_t)(lie % 16), lie >> 32, place);
        break;
    case 3:
        s->b.line[random_word() % 8].word = (lie & ~UINT64_C(0xF)) | random_word() % 5;
        break;
    case 4:
        s->b.line[random_word() % 8].word = session_line_closed(SESSION_CLOSED, place, lie);
        break;
    default:
        *(uint64_t *)(void *)(session_data(&s->b, (uint32_t)(lie % 8)) + random_word() % (SMALL / 8) * 8) =
            random_word() % 3 ? EVENT_BYTES | random_word() % 16 << 28 | (lie & 0xFFF) << 16 : lie;
        break;
    }
}

static void corrupt_sections_are_harmless(void **state)
{
    (void)state;
    uint64_t sum = 0;
    for (int round = 0; round < 60; round++) {
        struct memory_session s = session_in_memory(&small_shape);
        struct session_drain *d = fixture_drain(&s.b, round % 3 == 2 ? 4 : 0);
        const struct session_sink sink = {read_corrupt_buffer, NULL, &sum};
        struct session_writer w = {.owner = WRITER, .thread = 5};
        HRESULT hr;
        for (int i = 0; i < 400; i++) {
            uint64_t stamp;
            const uint32_t bytes = 8 * (uint32_t)(7 + random_word() % 400);
            uint8_t *at = session_try_reserve(&s.b, &w, bytes, &stamp);
            if (at) {
                memset(at + 8, 1, bytes - 8);
                session_commit(at, bytes | (uint64_t)EVENT_FIRST << 16);
            }
            if (i % 3 == 0)
                corrupt_word(&s);
            alive[5] = i % 2 == 0;
            if (i % 16 == 0)
                session_drain_flush(d);
            if (i % 8 == 0)
                (void)session_drain_pass(d, &sink, &hr);
            if (i % 64 == 0) {
                (void)session_drain_reap(d);
                assert_int_equal(session_drain_snapshot(d, &sink), S_OK);
            }
        }
        assert_int_equal(session_drain_stop(d, &sink, 0), S_OK);
        session_drain_free(d);
        session_free_memory(&s);
    }
}

static const struct memory_session *lied_about;
static atomic_uint liars_and_writers;
static atomic_bool enough;

static void corrupt_continuously(void *user)
{
    (void)user;
    while (!enough)
        corrupt_word(lied_about);
    liars_and_writers--;
}

static void write_on(void *user)
{
    struct session_writer w = {.owner = (uint32_t)(uintptr_t)user, .thread = 5};
    while (!enough) {
        uint64_t stamp;
        uint8_t *at = session_try_reserve(&lied_about->b, &w, EVENT_BYTES, &stamp);
        if (!at)
            continue;
        event_fill(at, &w, stamp, 0);
        session_commit(at, EVENT_BYTES | (uint64_t)EVENT_FIRST << 16);
    }
    liars_and_writers--;
}

static void corruption_during_use_is_harmless(void **state)
{
    (void)state;
    static struct thread *kept[3]; /* kept reachable, because they are not joined */
    uint64_t sum = 0;
    struct memory_session s = session_in_memory(&small_shape);
    struct session_drain *d = fixture_drain(&s.b, 0);
    const struct session_sink sink = {read_corrupt_buffer, NULL, &sum};
    HRESULT hr;
    alive[2] = false;
    lied_about = &s;
    liars_and_writers = 3;
    assert_int_equal(thread_start(corrupt_continuously, NULL, &kept[0]), S_OK);
    assert_int_equal(thread_start(write_on, (void *)(uintptr_t)1, &kept[1]), S_OK);
    assert_int_equal(thread_start(write_on, (void *)(uintptr_t)2, &kept[2]), S_OK);
    for (int i = 0; i < 3000; i++) {
        (void)session_drain_pass(d, &sink, &hr);
        session_drain_flush(d);
        (void)session_drain_reap(d);
    }
    assert_int_equal(session_drain_stop(d, &sink, 0), S_OK);
    enough = true;
    while (liars_and_writers != 0)
        thread_yield();
    session_drain_free(d);
    session_free_memory(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_section_is_rejected),
        cmocka_unit_test_setup(corrupt_sections_are_harmless, all_owners_live),
        cmocka_unit_test_setup(corruption_during_use_is_harmless, all_owners_live),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
