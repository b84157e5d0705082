/* SPDX-License-Identifier: MIT */
/* test_etw_provider_kills [KILLS [SEED]]: kills event provider processes of real sessions at random, also while they
   write an event. Each accepted event must be in the log once and complete, and EventsLost must count exactly the torn
   events and those without room. This program starts itself as the event providers. 2000 KILLS take minutes. */
#include "engine/etw/provider/event_api.h"
#include "tests/unit/controller_fixture.h"
#include "tests/unit/etw/hosts/killed_writer.h"

enum { ROUND = 25, AT_ONCE = 3, WORDS = 128 /* size of an event's payload */ };
static char *folder;
static unsigned kills = ROUND;

static const GUID guid = {0x33333333, 1, 2, {3}};
static const EVENT_DESCRIPTOR some_event = {.Id = 7, .Level = 4, .Keyword = 5};

static struct section *open_progress(const char *name, bool create, struct progress **out)
{
    struct section *section;
    const struct shared what = {.name = name, .create = create, .lasting = true};
    assert_int_equal(section_open(&what, ROUND * sizeof(struct progress), &section), S_OK);
    *out = section_memory(section);
    return section;
}

/* ---- processes with event providers, until they are killed ---- */

/* Writes directly into the session's buffers, so that its progress shows whether an event had a place when the process
   was killed. */
static _Noreturn void role_reserve(TRACEHANDLE handle, struct progress *own)
{
    struct provider p;
    provider_open(handle, &p);
    for (uint64_t number = 0;;) {
        if (!progress_write(own, &p.buffers, &p.writer, number))
            own->refused++;
        else if (++number % 16384 != 0)
            continue;
        child_sleep(1);
    }
}

static uint64_t payload_word(uint64_t owner, uint64_t number, unsigned i)
{
    return i == 0 ? owner : i == 1 || i == WORDS - 1 ? number : owner << 32 | i;
}

/* Writes with EventWrite. The events are so large that at most times one of them has a place, but is incomplete. */
static int role_call(struct progress *own)
{
    const uint32_t owner = own->owner;
    uint64_t payload[WORDS];
    REGHANDLE handle;
    if (EventRegister(&guid, NULL, NULL, &handle) != ERROR_SUCCESS || !EventEnabled(handle, &some_event))
        return 1;
    for (unsigned i = 0; i < WORDS; i++)
        payload[i] = payload_word(owner, 0, i);
    for (uint64_t number = 0;;) {
        EVENT_DATA_DESCRIPTOR data[2] = {{.Ptr = (uintptr_t)payload, .Size = sizeof payload / 2},
                                         {.Ptr = (uintptr_t)&payload[WORDS / 2], .Size = sizeof payload / 2}};
        payload[1] = payload[WORDS - 1] = number;
        own->at = number * PROGRESS_UNIT + RESERVING;
        if (EventWrite(handle, &some_event, 2, data) == ERROR_SUCCESS) {
            own->at = ++number * PROGRESS_UNIT + BETWEEN;
            if (number % 4096 != 0)
                continue;
        } else {
            own->at = number * PROGRESS_UNIT + BETWEEN;
            own->refused++;
        }
        child_sleep(1);
    }
}

/* Arguments: "handle.index", and the name of the section with the progress. */
static int role(const char *mode, const char *what, const char *name)
{
    char *end;
    const TRACEHANDLE handle = strtoull(what, &end, 10);
    const uint32_t index = (uint32_t)strtoul(end + 1, NULL, 10);
    struct progress *all;
    (void)open_progress(name, false, &all);
    all[index].owner = index + 1; /* an id of the test, not the slot in the directory, which is reused after the process
                                     is gone */
    if (!strcmp(mode, "call"))
        return role_call(&all[index]);
    role_reserve(handle, &all[index]);
}

/* ---- a round ---- */

struct came {
    uint64_t count, sum, squares; /* sums over the events' numbers */
};

static bool check_called(const struct etl_record *record, uint64_t *owner, uint64_t *number)
{
    if (record->data_size != WORDS * 8 || record->id != some_event.Id)
        return false;
    *owner = get_u64(record->data);
    *number = get_u64(record->data + 8);
    for (unsigned i = 0; i < WORDS; i++)
        if (get_u64(record->data + (size_t)i * 8) != payload_word(*owner, *number, i))
            return false;
    return true;
}

/* Returns the number of losses that the log reports. */
static uint32_t read_round(const char *path, bool called, struct came *came)
{
    struct etl_reader *reader;
    struct etl_record record;
    assert_int_equal(etl_reader_open(path, keep_warning, NULL, &reader), S_OK);
    const uint32_t lost = etl_reader_log(reader)->events_lost;
    while (etl_reader_next(reader, &record) == S_OK) {
        uint64_t owner = 0, number = 0;
        if (record.kind == ETL_RECORD_SYSTEM)
            continue;
        assert_true(called ? check_called(&record, &owner, &number)
                           : event_check(record.event, record.size, &owner, &number));
        assert_in_range(owner, 1, ROUND);
        came[owner - 1].count++;
        came[owner - 1].sum += number;
        came[owner - 1].squares += number * number;
    }
    etl_reader_close(reader);
    return lost;
}

static void check_each_once(const struct came *c)
{
    uint64_t sum = 0, squares = 0;
    for (uint64_t n = 0; n < c->count; n++) {
        sum += n;
        squares += n * n;
    }
    assert_true(c->sum == sum && c->squares == squares);
}

struct victim {
    struct process *process;
    char what[40];
    uint32_t index;
    uint64_t end; /* time in ms at which it is killed; 0: it does not write yet */
};

static void start_victim(struct victim *v, const char *mode, TRACEHANDLE handle, uint32_t index, const char *name)
{
    *v = (struct victim){.index = index};
    snprintf(v->what, sizeof v->what, "%llu.%u", (unsigned long long)handle, (unsigned)index);
    v->process = child_start(mode, v->what, name);
}

/* Returns true if the process has ended. One process in eight is killed without notifying Wine's server. */
static bool kill_in_time(struct victim *v, const struct progress *all)
{
    const uint64_t now = clock_monotonic_ms();
    if (v->end == 0 && progress_accepted(&all[v->index]) > 0)
        v->end = now + 1 + random_below(15);
    if (v->end == 0 || now < v->end) {
        assert_int_equal(process_wait(v->process, 0, NULL), S_FALSE);
        return false;
    }
    if (random_below(8) == 0)
        child_kill(v->process, v->what);
    else
        (void)process_terminate(process_id(v->process), process_start_time(process_id(v->process)));
    assert_int_equal(process_wait(v->process, CHILD_PATIENCE, NULL), S_OK);
    process_close(v->process);
    return true;
}

struct totals {
    uint64_t events, refused, lost, least, most;
};

static void kill_round(const char *mode, struct totals *sum)
{
    static unsigned number;
    char *path = path_join(folder, "kills.etl"), name[64];
    const bool called = !strcmp(mode, "call");
    struct block b = block_of(0, path);
    struct victim running[AT_ONCE];
    struct came came[ROUND] = {{0}};
    struct progress *all;
    TRACEHANDLE handle;
    uint32_t started = 0, count = 0;
    snprintf(name, sizeof name, "openetw-kills-%u-%u", (unsigned)process_own_id(), number++);
    struct section *section = open_progress(name, true, &all);
    b.p.BufferSize = 64;
    b.p.MinimumBuffers = b.p.MaximumBuffers = 64;
    b.p.FlushTimer = 1;
    assert_int_equal(start_session("kills", &b, &handle), ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(handle, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, CHILD_PATIENCE, NULL),
                     ERROR_SUCCESS);
    while (started < ROUND || count > 0) {
        for (; started < ROUND && count < AT_ONCE; count++, started++)
            start_victim(&running[count], mode, handle, started, name);
        for (uint32_t i = 0; i < count; i++)
            if (kill_in_time(&running[i], all))
                running[i--] = running[--count];
        child_sleep(1);
    }
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    const uint32_t lost = read_round(path, called, came);
    struct totals f = {.lost = lost};
    for (uint32_t i = 0; i < ROUND; i++) {
        progress_check(&all[i], came[i].count, &f.least, &f.most);
        check_each_once(&came[i]);
        f.events += came[i].count;
        f.refused += all[i].refused;
    }
    assert_int_equal(b.p.EventsLost, lost);
    assert_int_equal(b.p.LogBuffersLost, 0);
    if (lost < f.refused + f.least || lost > f.refused + f.most)
        fail_msg("%u events are reported lost: %llu found no room, %llu to %llu were torn", (unsigned)lost,
                 (unsigned long long)f.refused, (unsigned long long)f.least, (unsigned long long)f.most);
    sum->events += f.events;
    sum->refused += f.refused;
    sum->lost += f.lost;
    sum->least += f.least;
    sum->most += f.most;
    section_close(section);
    assert_int_equal(section_delete(name), S_OK);
    assert_int_equal(file_delete(path), S_OK);
    memory_free(path);
}

static void kill_all(const char *mode)
{
    struct totals f = {0};
    for (unsigned done = 0; done < kills; done += ROUND)
        kill_round(mode, &f);
    print_message("%s: %u killed, %llu events, %llu lost: %llu without room, %llu torn of %llu to %llu\n", mode,
                  (kills + ROUND - 1) / ROUND * ROUND, (unsigned long long)f.events, (unsigned long long)f.lost,
                  (unsigned long long)f.refused, (unsigned long long)(f.lost - f.refused), (unsigned long long)f.least,
                  (unsigned long long)f.most);
}

static void torn_events_are_counted_as_lost(void **state)
{
    (void)state;
    kill_all("reserve");
}

static void events_of_killed_programs_are_in_the_log(void **state)
{
    (void)state;
    kill_all("call");
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torn_events_are_counted_as_lost),
        cmocka_unit_test(events_of_killed_programs_are_in_the_log),
    };
    child_program = arguments[0];
    if (count == 4)
        return role(arguments[1], arguments[2], arguments[3]);
    if (count > 1)
        kills = (unsigned)strtoul(arguments[1], NULL, 10);
    if (count > 2)
        random_state = strtoull(arguments[2], NULL, 10) | 1;
    return controller_tests(tests, sizeof tests / sizeof *tests, "test_etw_provider_kills", &folder);
}
