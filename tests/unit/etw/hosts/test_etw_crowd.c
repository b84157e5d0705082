/* SPDX-License-Identifier: MIT */
/* The maximum of everything at the same time: 64 sessions with separate ETW session hosts, and 16 provider programs,
   each enabled by 8 sessions. Each session's log contains the events of its two event providers once, and EventsLost
   counts the missing ones. */
#include "engine/etw/provider/event_api.h"
#include "tests/unit/controller_fixture.h"

enum {
    PROVIDERS = 16,
    OF_EACH = 8, /* sessions that enable each event provider */
    EVENTS = 1000,
    IN_SESSION = PROVIDERS * OF_EACH / DIRECTORY_SESSIONS
};
static char *folder;

/* Of each four sessions, one has too little room, one is independent of other sessions' failures, and two are plain. If
   an event has no room in one session of its event provider, no plain session gets it. */
enum kind { TIGHT, INDEPENDENT, PLAIN, KINDS = 4 };
static enum kind kind_of(unsigned session)
{
    return session % KINDS < PLAIN ? (enum kind)(session % KINDS) : PLAIN;
}

/* Shared between the programs and the test. */
struct crowd {
    _Atomic uint32_t go;
    _Atomic uint32_t registered[PROVIDERS], refused[PROVIDERS];
};

static GUID guid_of(unsigned provider)
{
    return (GUID){0x44444444, 1, (uint16_t)provider, {3}};
}

static struct section *open_crowd(const char *name, bool create, struct crowd **out)
{
    struct section *section;
    const struct shared what = {.name = name, .create = create, .lasting = true};
    assert_int_equal(section_open(&what, sizeof **out, &section), S_OK);
    *out = section_memory(section);
    return section;
}

/* ---- a program with an event provider ---- */

static const EVENT_DESCRIPTOR some_event = {.Id = 7, .Level = 4, .Keyword = 5};

static int provide(const char *index, const char *name)
{
    const unsigned own = (unsigned)strtoul(index, NULL, 10);
    const GUID guid = guid_of(own);
    struct crowd *crowd;
    REGHANDLE handle;
    struct section *section = open_crowd(name, false, &crowd);
    if (EventRegister(&guid, NULL, NULL, &handle) != ERROR_SUCCESS)
        return 1;
    crowd->registered[own] = 1;
    while (!crowd->go)
        child_sleep(1);
    for (uint64_t number = 0; number < EVENTS; number++) {
        EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)&number, .Size = sizeof number};
        const ULONG status = EventWrite(handle, &some_event, 1, &data);
        if (status != ERROR_SUCCESS && status != ERROR_NOT_ENOUGH_MEMORY)
            return 2;
        crowd->refused[own] += status != ERROR_SUCCESS;
    }
    section_close(section);
    return EventUnregister(handle) == ERROR_SUCCESS ? 0 : 3;
}

/* ---- the sessions ---- */

struct watched {
    TRACEHANDLE handle;
    char *path;
    unsigned providers[IN_SESSION];
};

static void start_watched(struct watched *w, unsigned i)
{
    char name[24];
    snprintf(name, sizeof name, "crowd%u", i);
    w->path = text_format("%s/%s.etl", folder, name);
    const bool tight = kind_of(i) == TIGHT;
    struct block b = block_of(kind_of(i) == INDEPENDENT ? TRACE_MODE_INDEPENDENT : 0, w->path);
    b.p.BufferSize = tight ? 4 : 64;
    b.p.MinimumBuffers = tight ? 2 : EVENTS * IN_SESSION * 128 / 65536 + 2 * processor_count();
    b.p.MaximumBuffers = b.p.MinimumBuffers;
    assert_int_equal(start_session(name, &b, &w->handle), ERROR_SUCCESS);
    w->providers[0] = i % PROVIDERS;
    w->providers[1] = (i + 1 + i / PROVIDERS) % PROVIDERS;
}

static ULONG enable_in(const struct watched *w, unsigned provider)
{
    const GUID guid = guid_of(provider);
    return EnableTraceEx2(w->handle, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, CHILD_PATIENCE, NULL);
}

/* Stops the session and reads its log; returns the number of lost events. */
static uint32_t check_log(struct watched *w)
{
    struct block b;
    struct etl_reader *reader;
    struct etl_record record;
    uint64_t count[IN_SESSION] = {0}, sum[IN_SESSION] = {0};
    assert_int_equal(control_session(w->handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(etl_reader_open(w->path, keep_warning, NULL, &reader), S_OK);
    assert_int_equal(etl_reader_log(reader)->events_lost, b.p.EventsLost);
    assert_int_equal(etl_reader_log(reader)->buffers_written, b.p.BuffersWritten + 1); /* plus the buffer of the
                                                                                          header */
    assert_int_equal(b.p.LogBuffersLost, 0);
    while (etl_reader_next(reader, &record) == S_OK) {
        if (record.kind == ETL_RECORD_SYSTEM)
            continue;
        const GUID first = guid_of(w->providers[0]), second = guid_of(w->providers[1]);
        const unsigned i = guid_equal(&record.provider, &first) ? 0 : 1;
        assert_true(i == 0 || guid_equal(&record.provider, &second));
        assert_int_equal(record.data_size, 8);
        assert_true(get_u64(record.data) < EVENTS);
        count[i]++;
        sum[i] += get_u64(record.data);
    }
    etl_reader_close(reader);
    assert_int_equal(count[0] + count[1] + b.p.EventsLost, EVENTS * IN_SESSION);
    for (unsigned i = 0; b.p.EventsLost == 0 && i < IN_SESSION; i++) {
        assert_int_equal(count[i], EVENTS);
        assert_int_equal(sum[i], (uint64_t)EVENTS * (EVENTS - 1) / 2);
    }
    assert_int_equal(file_delete(w->path), S_OK);
    memory_free(w->path);
    return b.p.EventsLost;
}

static void each_of_64_sessions_has_its_providers_events(void **state)
{
    (void)state;
    struct watched sessions[DIRECTORY_SESSIONS];
    struct process *programs[PROVIDERS];
    struct crowd *crowd;
    struct block b = block_of(TRACE_MODE_BUFFERING, NULL);
    TRACEHANDLE more;
    uint64_t lost = 0, refused = 0;
    char *name = text_format("openetw-crowd-%u", (unsigned)process_own_id());
    struct section *section = open_crowd(name, true, &crowd);
    for (unsigned i = 0; i < DIRECTORY_SESSIONS; i++) {
        start_watched(&sessions[i], i);
        assert_int_equal(enable_in(&sessions[i], sessions[i].providers[0]), ERROR_SUCCESS);
    }
    assert_int_equal(start_session("one more", &b, &more), ERROR_NO_SYSTEM_RESOURCES);
    for (unsigned i = 0; i < PROVIDERS; i++) {
        char index[12];
        snprintf(index, sizeof index, "%u", i);
        programs[i] = child_start("provide", index, name);
    }
    for (unsigned i = 0; i < PROVIDERS; i++)
        for (int waited = 0; !crowd->registered[i]; waited++) {
            assert_true(waited < CHILD_PATIENCE);
            child_sleep(1);
        }
    for (unsigned i = 0; i < DIRECTORY_SESSIONS; i++) /* changes the sessions while they run */
        assert_int_equal(enable_in(&sessions[i], sessions[i].providers[1]), ERROR_SUCCESS);
    assert_int_equal(enable_in(&sessions[0], PROVIDERS - 1), ERROR_NO_SYSTEM_RESOURCES); /* the event provider's ninth
                                                                                            session */
    crowd->go = 1;
    for (unsigned i = 0; i < PROVIDERS; i++) {
        uint32_t code;
        assert_int_equal(process_wait(programs[i], 3 * CHILD_PATIENCE, &code), S_OK);
        assert_int_equal(code, 0);
        process_close(programs[i]);
        refused += crowd->refused[i];
    }
    for (unsigned i = 0; i < DIRECTORY_SESSIONS; i++) {
        const uint32_t of_this = check_log(&sessions[i]);
        assert_true(of_this == 0 || kind_of(i) != INDEPENDENT);
        lost += of_this;
    }
    print_message("%u sessions, %u events in %u each, %llu lost in %llu calls\n", DIRECTORY_SESSIONS,
                  PROVIDERS * EVENTS, OF_EACH, (unsigned long long)lost, (unsigned long long)refused);
    section_close(section);
    assert_int_equal(section_delete(name), S_OK);
    memory_free(name);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_of_64_sessions_has_its_providers_events)};
    child_program = arguments[0];
    if (count == 4)
        return provide(arguments[2], arguments[3]);
    return controller_tests(tests, sizeof tests / sizeof *tests, "test_etw_crowd", &folder);
}
