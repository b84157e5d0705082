/* SPDX-License-Identifier: MIT */
/* Threads write events while other threads enable, disable, remove and publish the data that the writers use. No event
   may reach a session that did not enable it, no event may be torn, and no freed memory may be used. Also built with
   the thread sanitizer. Linked with --wrap for thread_yield, thread_sleep_us and clock_ticks. */
#include "tests/unit/etw/provider_fixture.h"

enum { WRITERS = 3, ROUNDS = 300, PROVIDERS = 4, OUTSIDE_ROUNDS = 60 };

static _Atomic uint64_t handles[PROVIDERS];
static GUID guids[PROVIDERS];
static atomic_bool enough;
static atomic_uint writing;

/* An event's data contain its event provider, so that an event with a wrong GUID is detected. */
static void write_on(void *user)
{
    uint64_t number = (uintptr_t)user;
    while (!enough) {
        const uint64_t i = ++number % PROVIDERS;
        const EVENT_DESCRIPTOR event = {.Id = (USHORT)i, .Level = 4, .Keyword = 1};
        EVENT_DATA_DESCRIPTOR data[2] = {{.Ptr = (uintptr_t)&i, .Size = 8}, {.Ptr = (uintptr_t)&number, .Size = 8}};
        const ULONG status = EventWrite(handles[i], &event, 2, data);
        assert_true(status == ERROR_SUCCESS || status == ERROR_INVALID_HANDLE || status == ERROR_NOT_ENOUGH_MEMORY);
    }
    writing--;
}

static HRESULT check_buffer(void *context, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    uint32_t offset = ETL_BUFFER_HEAD, size;
    const uint8_t *event;
    struct etl_record r;
    (void)context;
    while (etl_buffer_event(bytes, head->used, &offset, &event, &size)) {
        etl_record_decode(event, size, &r);
        assert_int_equal(r.data_size, 16);
        assert_true(r.id < PROVIDERS && get_u64(r.data) == r.id);
        assert_true(guid_equal(&r.provider, &guids[r.id]));
        assert_int_equal(get_u64(r.data + 8) % PROVIDERS, r.id);
    }
    assert_int_equal(offset, head->used);
    return S_OK;
}

/* Checks the events so far. It stops after a few passes, because writers may be faster than the check. */
static void check(struct fixture_session *session)
{
    const struct session_sink sink = {check_buffer, NULL, NULL};
    HRESULT hr;
    session_drain_flush(session->drain);
    for (int i = 0; i < 8 && session_drain_pass(session->drain, &sink, &hr) != 0; i++)
        assert_int_equal(hr, S_OK);
}

static VOID WINAPI ignore(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                          EVENT_FILTER_DESCRIPTOR *filter, PVOID context)
{
    (void)source, (void)enabled, (void)level, (void)any, (void)all, (void)filter, (void)context;
}

static void make_provider(int i)
{
    guids[i] = fixture_guid;
    guids[i].Data1 = (uint32_t)i;
    handles[i] = fixture_register(&guids[i], ignore, NULL);
}

static uint64_t random_state = 88172645463325252;
static uint32_t random_below(uint32_t most)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state % most);
}

/* Enables some event providers in some sessions, in some cases with filters and items. */
static void enable_some(uint32_t sessions)
{
    static const uint8_t ids[] = {0, 0, 1, 0, 77, 0};
    struct directory_enable list[PROVIDERS * FIXTURE_SESSIONS];
    size_t count = 0;
    for (int p = 0; p < PROVIDERS; p++)
        for (uint32_t s = 1; s <= sessions; s++) {
            if (random_below(3) == 0)
                continue;
            struct directory_enable *e = &list[count++];
            *e = fixture_enable(s, (uint8_t)random_below(8), random_below(3), 0);
            e->provider = guids[p];
            e->property = random_below(2) ? EVENT_ENABLE_PROPERTY_PROCESS_START_KEY : 0;
            if (random_below(2))
                fixture_filter(e, EVENT_FILTER_TYPE_EVENT_ID, ids, sizeof ids);
        }
    fixture_apply(list, count);
}

static void start_writers(struct thread *threads[WRITERS])
{
    enough = false;
    writing = WRITERS;
    for (uintptr_t i = 0; i < WRITERS; i++)
        assert_int_equal(thread_start(write_on, (void *)(i * 1000), &threads[i]), S_OK);
}

/* The threads are not joined, because the thread sanitizer does not recognise the join. */
static void stop_writers(struct thread *threads[WRITERS])
{
    enough = true;
    while (writing != 0)
        thread_yield();
    for (int i = 0; i < WRITERS; i++)
        thread_close(threads[i]);
}

static void settings_and_registrations_change_during_writes(void **state)
{
    (void)state;
    struct thread *threads[WRITERS];
    for (uint32_t s = 1; s <= FIXTURE_SESSIONS; s++)
        fixture_session(s, 0, 8, 8192);
    for (int i = 0; i < PROVIDERS; i++)
        make_provider(i);
    start_writers(threads);
    for (int round = 0; round < ROUNDS; round++) {
        enable_some(FIXTURE_SESSIONS);
        if (round % 5 == 0) {
            const int i = (int)random_below(PROVIDERS);
            fixture_unregister(handles[i]);
            make_provider(i);
        }
        (void)provider_reclaim();
        for (uint32_t s = 1; s <= FIXTURE_SESSIONS; s++)
            check(&fixture_sessions[s]);
    }
    stop_writers(threads);
    for (int i = 0; i < PROVIDERS; i++)
        fixture_unregister(handles[i]);
}

static void sessions_end_during_writes(void **state)
{
    (void)state;
    struct thread *threads[WRITERS];
    for (int i = 0; i < PROVIDERS; i++)
        make_provider(i);
    start_writers(threads);
    for (int round = 0; round < OUTSIDE_ROUNDS; round++) {
        for (uint32_t s = 1; s <= FIXTURE_SESSIONS; s++)
            fixture_session(s, 0, 8, 8192);
        enable_some(FIXTURE_SESSIONS);
        for (uint32_t s = 1; s <= FIXTURE_SESSIONS; s++)
            check(&fixture_sessions[s]);
        assert_int_equal(fixture_teardown(state), 0); /* frees the memory to which they write */
    }
    stop_writers(threads);
    for (int i = 0; i < PROVIDERS; i++)
        fixture_unregister(handles[i]);
}

/* ---- a section that another thread overwrites ---- */

/* A writer waits until the session's host process returns a buffer. The section has no host process here, so the waits
   are skipped and the clock is moved forward instead: with the real waits, this test took hours on a busy machine. */
static atomic_bool no_host;
static _Atomic int64_t skipped; /* in ticks of clock_ticks */

void __real_thread_yield(void);
void __wrap_thread_yield(void);
void __wrap_thread_yield(void)
{
    if (!no_host)
        __real_thread_yield();
}

void __real_thread_sleep_us(uint32_t us);
void __wrap_thread_sleep_us(uint32_t us);
void __wrap_thread_sleep_us(uint32_t us)
{
    enum { SLEPT_PER_S = 1000 }; /* 1 ms, as on a busy machine */
    if (no_host)
        skipped += clock_frequency() / SLEPT_PER_S;
    else
        __real_thread_sleep_us(us);
}

int64_t __real_clock_ticks(void);
int64_t __wrap_clock_ticks(void);
int64_t __wrap_clock_ticks(void)
{
    return __real_clock_ticks() + skipped;
}

static void corrupt_word(const struct fixture_session *session)
{
    uint64_t *words = (uint64_t *)(void *)session->memory.b.shared;
    const uint64_t place = session_place(random_below(8192), random_below(8192), 5);
    const uint64_t bits = (uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX);
    switch (random_below(4)) {
    case 0:
        words[random_below((uint32_t)(session->memory.size / 8))] = bits;
        break;
    case 1:
        session->memory.b.processor[0].word = session_word(random_below(16), bits, place);
        break;
    case 2:
        session->memory.b.processor[0].word = bits;
        break;
    default:
        session->memory.b.line[random_below(8)].word = (bits & ~UINT64_C(0xF)) | random_below(5);
        break;
    }
}

static void corrupt_section_does_not_mislead_writers(void **state)
{
    (void)state;
    static uint8_t bytes[9000];
    no_host = true;
    for (int round = 0; round < 200; round++) {
        struct fixture_session *session = fixture_session(1, round % 2 ? TRACE_MODE_INDEPENDENT : 0, 8, 8192);
        fixture_session(2, 0, 8, 8192);
        make_provider(0);
        struct directory_enable e[2] = {fixture_enable(1, 0, 0, 0), fixture_enable(2, 0, 0, 0)};
        e[0].provider = e[1].provider = guids[0];
        if (round % 3 == 0)
            e[0].property = EVENT_ENABLE_PROPERTY_PROCESS_START_KEY;
        fixture_apply(e, 1 + (size_t)round % 2);
        for (int i = 0; i < 100; i++) {
            const EVENT_DESCRIPTOR event = {.Level = 1};
            EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)bytes, .Size = random_below(sizeof bytes)};
            (void)EventWrite(handles[0], &event, 1, &data);
            corrupt_word(session);
        }
        fixture_unregister(handles[0]);
        assert_int_equal(fixture_teardown(state), 0);
    }
    no_host = false;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(settings_and_registrations_change_during_writes),
        TEST(sessions_end_during_writes),
        TEST(corrupt_section_does_not_mislead_writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
