/* SPDX-License-Identifier: MIT */
/* test_etw_kills [KILLS [HOSTS [SEED]]]: ends processes with event providers at random, by SIGKILL or at each step of
   the protocol, and ends ETW session hosts while another process recovers their sessions. Every accepted event must
   occur once and complete; an event that was being written is counted as lost. Without arguments, there are so few
   kills that the test takes only seconds. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/process.h"
#include "engine/etw/session/session_output.h"
#include "tests/unit/etw/hosts/killed_writer.h"
#include "tests/unit/log_events.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFERS = 32, BUFFER_SIZE = 8192, VICTIMS = 3, MOST_SLOTS = SESSION_MOST_OWNERS };
#define PATH "/dev/shm/test_etw_kills.etl"

static struct progress *progress;
static struct session_buffers session;
static _Atomic pid_t *pids; /* in memory that the host maps as well */
static uint32_t own_slot;
static int chosen_step;
static uint64_t chosen_in;

void session_step(int step)
{
    if (step == chosen_step && chosen_in-- == 0) {
        progress[own_slot].step = (uint32_t)step;
        kill(getpid(), SIGKILL);
    }
}

static void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

/* Writes until it is killed. */
static _Noreturn void provide(uint32_t slot)
{
    struct session_writer w = {.owner = slot, .thread = (uint32_t)getpid()};
    struct progress *p = &progress[slot];
    own_slot = slot;
    p->owner = slot;
    for (uint64_t number = 0;; number++) {
        while (!progress_write(p, &session, &w, number)) {
            p->refused++;
            usleep(1000);
        }
        if (number % 2048 == 2047)
            usleep(500);
    }
}

static bool still_runs(void *context, uint32_t owner, uint32_t thread)
{
    (void)context, (void)thread;
    /* Only the parent can wait for its children; other processes check whether the process is a zombie or gone. */
    char path[64], state = 'X';
    const uint32_t pid = owner < MOST_SLOTS ? (uint32_t)pids[owner] : 0;
    snprintf(path, sizeof path, "/proc/%u/stat", (unsigned)pid);
    FILE *stat = pid ? fopen(path, "r") : NULL;
    if (!stat)
        return false;
    if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
        state = 'X';
    fclose(stat);
    return state != 'Z' && state != 'X';
}

static void make_session(size_t *size)
{
    const struct session_shape shape = {.buffers = BUFFERS,
                                        .minimum = BUFFERS,
                                        .buffer_size = BUFFER_SIZE,
                                        .processors = processor_count(),
                                        .wake_at = 4,
                                        .source = SESSION_STAMP_CYCLES};
    if (FAILED(session_buffers_size(&shape, size)) ||
        FAILED(session_buffers_create(shared_memory(*size), *size, &shape, &session)))
        abort();
    memset((void *)pids, 0, MOST_SLOTS * sizeof *pids);
}

static void start_victim(uint32_t slot, bool at_step)
{
    const int step = at_step ? 1 + (int)random_below(SESSION_STEP_COMMITTED) : 0;
    const uint64_t in = random_below(step < SESSION_STEP_RESERVED ? 20 : 20000);
    const pid_t pid = fork();
    if (pid == 0) {
        pids[slot] = getpid();
        chosen_step = step;
        chosen_in = in;
        provide(slot);
    }
    pids[slot] = pid;
}

/* Processes per round: so few that each one has its own writer entry in the tally. */
enum { ROUND = TALLY_WRITERS - 1 };

static void kill_round(bool at_steps, uint64_t *events, uint64_t *torn)
{
    size_t size;
    struct tally *t = tally_new();
    struct session_drain *d;
    struct session_statistics statistics;
    const struct session_sink sink = tally_sink(t);
    uint32_t slot = 0, running[VICTIMS], count = 0;
    uint64_t ends[VICTIMS], least = 0, most = 0, refused = 0;
    HRESULT hr;
    memset(progress, 0, MOST_SLOTS * sizeof *progress);
    make_session(&size);
    const struct session_drain_options options = {
        .liveness = {still_runs, NULL}, .clock = ETL_CLOCK_TICKS, .first_number = 1};
    assert_int_equal(session_drain_create(&session, &options, &d), S_OK);
    for (uint64_t tended = 0; slot < ROUND || count != 0;) {
        while (slot < ROUND && count < VICTIMS) {
            start_victim(++slot, at_steps);
            running[count] = slot;
            ends[count++] = clock_monotonic_ms() + (at_steps ? 300 : random_below(15));
        }
        for (uint32_t i = 0; i < count; i++) {
            if (clock_monotonic_ms() >= ends[i])
                kill(pids[running[i]], SIGKILL);
            if (waitpid(pids[running[i]], NULL, WNOHANG) == 0)
                continue;
            count--;
            running[i] = running[count];
            ends[i] = ends[count];
            i--;
        }
        if (clock_monotonic_ms() >= tended + 20) {
            tended = clock_monotonic_ms();
            session_drain_flush(d);
            (void)session_drain_reap(d);
        }
        if (session_drain_pass(d, &sink, &hr) == 0)
            usleep(200);
    }
    assert_int_equal(session_drain_stop(d, &sink, 1000), S_OK);
    for (uint32_t i = 1; i <= slot; i++) {
        progress_check(&progress[i], t->writer[i % TALLY_WRITERS].count, &least, &most);
        refused += progress[i].refused;
    }
    assert_true(tally_is_complete(t));
    tally_check_order(t);
    session_statistics_read(&session, &statistics);
    const uint64_t holes = statistics.events_lost - session_buffers_lost(&session);
    assert_in_range(holes, least, most);
    assert_true(session_buffers_lost(&session) >= refused);
    assert_true(session_buffers_lost(&session) <= refused + slot); /* some may have ended before they could count */
    uint32_t unclosed = 0;
    for (uint32_t i = 0; i < BUFFERS; i++)
        unclosed += session_line_state(session_load(&session.line[i].word)) != SESSION_FREE;
    assert_int_equal(unclosed, 0); /* no buffer leaks */
    *events += t->events;
    *torn += holes;
    session_drain_free(d);
    memory_free(t);
    munmap(session.shared, size);
}

static unsigned kills = 3 * ROUND, hosts = 12;

static void accepted_events_of_killed_providers_occur_once(void **state)
{
    (void)state;
    uint64_t events = 0, torn = 0;
    for (unsigned done = 0; done < kills; done += ROUND)
        kill_round(false, &events, &torn);
    print_message("%u killed: %llu events, %llu torn\n", kills, (unsigned long long)events, (unsigned long long)torn);
}

static void accepted_events_of_providers_ended_at_any_step_occur_once(void **state)
{
    (void)state;
    uint64_t events = 0, torn = 0;
    for (unsigned done = 0; done < kills; done += ROUND)
        kill_round(true, &events, &torn);
    print_message("%u ended at steps: %llu events, %llu torn\n", kills, (unsigned long long)events,
                  (unsigned long long)torn);
}

/* ---- ETW session hosts ---- */

static struct session_file_options file_options(void)
{
    static struct etl_log log;
    if (!log.buffer_size) {
        assert_int_equal(session_log_of_host(ETL_CLOCK_TICKS, &log), S_OK);
        log.buffer_size = BUFFER_SIZE;
    }
    return (struct session_file_options){.path = PATH, .mode = 1, .log = log};
}

static const struct session_drain_options host_options = {
    .liveness = {still_runs, NULL}, .clock = ETL_CLOCK_TICKS, .first_number = 1};

static _Noreturn void be_host(void)
{
    const struct session_file_options options = file_options();
    struct session_file *file;
    struct session_drain *d;
    HRESULT hr;
    if (FAILED(session_file_create(&options, &file)) || FAILED(session_drain_create(&session, &host_options, &d)))
        abort();
    const struct session_sink sink = {session_file_write, NULL, file};
    for (uint64_t flushed = 0;;) {
        if (session_drain_pass(d, &sink, &hr) == 0)
            usleep(100);
        if (clock_monotonic_ms() >= flushed + 3) {
            flushed = clock_monotonic_ms();
            session_drain_flush(d);
            (void)session_file_flush(file);
        }
    }
}

/* Runs a recovering process, which may be killed during the recovery. */
static void recover(void)
{
    const struct session_file_options options = file_options();
    struct session_drain_options how = host_options;
    struct session_file *file;
    struct session_drain *d;
    HRESULT hr = session_file_continue(&options, 1, (const uint64_t[2]){0, 0}, &file);
    if (FAILED(hr))
        hr = session_file_create(&options, &file); /* the host process had not created it yet */
    if (FAILED(hr))
        abort();
    how.first_number = session_file_first_number(file);
    if (FAILED(session_drain_create(&session, &how, &d)))
        abort();
    const struct session_sink sink = {session_file_write, session_file_holds, file};
    if (session_drain_recover(d, &sink, 1000) != S_OK || FAILED(session_file_close(file, clock_utc())))
        abort();
    session_drain_free(d);
}

static uint64_t count_file(struct tally *t)
{
    struct etl_reader *reader;
    struct etl_record record;
    int64_t before = 0;
    assert_int_equal(etl_reader_open(PATH, keep_warning, NULL, &reader), S_OK);
    while (etl_reader_next(reader, &record) == S_OK) {
        uint64_t writer = 0, number = 0;
        if (record.kind == ETL_RECORD_SYSTEM)
            continue;
        assert_true(event_check(record.event, record.size, &writer, &number) && writer < TALLY_WRITERS);
        /* A recovering process reads the clocks again, and on a busy machine its reading can be less exact. The host
           process attributes steps back of up to 1 ms to that, and larger steps to a clock that was set. */
        assert_true(record.stamp + 10000 >= before);
        before = record.stamp;
        t->writer[writer].next = number >= t->writer[writer].next ? number + 1 : t->writer[writer].next;
        t->writer[writer].count++;
        t->writer[writer].sum += number;
        t->writer[writer].squares += number * number;
        t->events++;
    }
    etl_reader_close(reader);
    return t->events;
}

static void kill_one_host(uint64_t *events)
{
    size_t size;
    struct tally *t = tally_new();
    memset(progress, 0, MOST_SLOTS * sizeof *progress);
    (void)file_delete(PATH);
    make_session(&size);
    const pid_t host = fork();
    if (host == 0)
        be_host();
    for (uint32_t slot = 1; slot <= VICTIMS; slot++)
        start_victim(slot, false);
    usleep((useconds_t)(1000 + random_below(40000)));
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    if (random_below(2) != 0) { /* the first recovering process is killed as well */
        const pid_t first = fork();
        if (first == 0) {
            recover();
            _exit(0);
        }
        usleep((useconds_t)random_below(4000));
        kill(first, SIGKILL);
        waitpid(first, NULL, 0);
    }
    recover();
    for (uint32_t slot = 1; slot <= VICTIMS; slot++) {
        kill(pids[slot], SIGKILL);
        waitpid(pids[slot], NULL, 0);
    }
    *events += count_file(t);
    uint64_t least = 0, most = 0;
    for (uint32_t slot = 1; slot <= VICTIMS; slot++)
        progress_check(&progress[slot], t->writer[slot % TALLY_WRITERS].count, &least, &most);
    assert_true(tally_is_complete(t));
    memory_free(t);
    munmap(session.shared, size);
    (void)file_delete(PATH);
}

static void accepted_events_of_killed_hosts_are_in_the_file(void **state)
{
    (void)state;
    uint64_t events = 0;
    for (unsigned done = 0; done < hosts; done++)
        kill_one_host(&events);
    print_message("%u hosts killed: %llu events\n", hosts, (unsigned long long)events);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_events_of_killed_providers_occur_once),
        cmocka_unit_test(accepted_events_of_providers_ended_at_any_step_occur_once),
        cmocka_unit_test(accepted_events_of_killed_hosts_are_in_the_file),
    };
    if (count > 1)
        kills = (unsigned)strtoul(arguments[1], NULL, 10);
    if (count > 2)
        hosts = (unsigned)strtoul(arguments[2], NULL, 10);
    random_state = count > 3 ? strtoull(arguments[3], NULL, 10) | 1 : random_state;
    progress = shared_memory(MOST_SLOTS * sizeof *progress);
    pids = shared_memory(MOST_SLOTS * sizeof *pids);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
