/* SPDX-License-Identifier: MIT */
/* test_etw_hosts [ROUNDS [SEED]]: kills ETW session hosts while processes write: alone, together with all writers, and
   together with a recovering process. Every accepted event must be in the log once, and the journal must report the
   kill. This program starts itself as the writers and the recovering processes. */
#include "engine/etw/session/session_start.h"
#include "tests/unit/controller_fixture.h"
#include "tests/unit/etw/hosts/killed_writer.h"

enum { WRITERS = 3 };
static char *folder;
static unsigned rounds = 3;

/* ---- a writer, in a separate process ---- */

static struct section *open_progress(const char *name, bool create, struct progress **out)
{
    struct section *section;
    assert_int_equal(section_open(&(struct shared){.name = name, .create = create, .lasting = true},
                                  sizeof(struct progress) * WRITERS, &section),
                     S_OK);
    *out = section_memory(section);
    return section;
}

/* Arguments: "handle.index", and the name of the section with the progress. */
static int role_write(const char *what, const char *name)
{
    char *end;
    const TRACEHANDLE handle = strtoull(what, &end, 10);
    struct progress *all;
    struct provider p;
    (void)open_progress(name, false, &all);
    struct progress *own = &all[strtoul(end + 1, NULL, 10)];
    provider_open(handle, &p);
    own->owner = p.writer.owner;
    for (uint64_t number = 0;;) {
        if (!progress_write(own, &p.buffers, &p.writer, number)) {
            if (session_load(&p.buffers.processor[0].word) == SESSION_STOPPED)
                break;
            child_sleep(1);
            continue;
        }
        number++;
        if (number % 512 == 0)
            child_sleep(1);
    }
    return 0;
}

/* ---- rounds ---- */

struct round {
    char *path;
    char name[64];
    TRACEHANDLE handle;
    struct section *section;
    struct progress *progress;
    struct process *writer[WRITERS];
    struct directory_process host;
};

/* Starts a session and its writers under the round's name and path. */
static void begin_as_named(struct round *r)
{
    struct block b;
    r->section = open_progress(r->name, true, &r->progress);
    b = block_of(0, r->path);
    b.p.BufferSize = 8;
    b.p.MinimumBuffers = 64;
    b.p.FlushTimer = 1;
    assert_int_equal(start_session("hosts", &b, &r->handle), ERROR_SUCCESS);
    struct directory_session s = session_of_handle(r->handle);
    r->host = s.host;
    directory_session_free(&s);
    for (unsigned i = 0; i < WRITERS; i++) {
        char what[40];
        snprintf(what, sizeof what, "%llu.%u", (unsigned long long)r->handle, i);
        r->writer[i] = child_start("write", what, r->name);
    }
    for (unsigned i = 0; i < WRITERS; i++)
        for (int waited = 0; progress_accepted(&r->progress[i]) < 1000; waited++) {
            assert_true(waited < CHILD_PATIENCE);
            child_sleep(1);
        }
}

static void begin(struct round *r)
{
    static unsigned number;
    snprintf(r->name, sizeof r->name, "openetw-hosts-%u-%u", (unsigned)process_own_id(), number++);
    r->path = path_join(folder, "hosts.etl");
    begin_as_named(r);
    child_sleep((unsigned)random_below(60));
}

static void kill_process(struct directory_process p)
{
    assert_int_equal(process_terminate(p.id, p.start_time), S_OK);
    for (int waited = 0; process_alive(p.id, p.start_time); waited++) {
        assert_true(waited < CHILD_PATIENCE);
        child_sleep(1);
    }
}

static void kill_writers(struct round *r)
{
    for (unsigned i = 0; i < WRITERS; i++) {
        const uint32_t id = process_id(r->writer[i]);
        (void)process_terminate(id, process_start_time(id));
    }
}

/* Checks that each writer's accepted events occur once. A killed writer may have one more event, which it had just
   committed. */
static uint64_t check_round(struct round *r, bool killed)
{
    uint64_t count[WRITERS] = {0}, sum[WRITERS] = {0}, all = 0;
    struct etl_reader *reader;
    struct etl_record record;
    assert_int_equal(etl_reader_open(r->path, keep_warning, NULL, &reader), S_OK);
    while (etl_reader_next(reader, &record) == S_OK) {
        uint64_t writer = 0, number = 0;
        unsigned i = 0;
        if (record.kind == ETL_RECORD_SYSTEM)
            continue;
        assert_true(event_check(record.event, record.size, &writer, &number));
        while (i < WRITERS && r->progress[i].owner != writer)
            i++;
        assert_true(i < WRITERS);
        count[i]++;
        sum[i] += number;
    }
    etl_reader_close(reader);
    for (unsigned i = 0; i < WRITERS; i++) {
        const uint64_t accepted = progress_accepted(&r->progress[i]);
        if (count[i] != accepted && !(killed && progress_is_complete(&r->progress[i], count[i])))
            fail_msg("writer %u: %llu events are in the log, %llu were accepted", i, (unsigned long long)count[i],
                     (unsigned long long)accepted);
        assert_int_equal(sum[i], count[i] == 0 ? 0 : count[i] * (count[i] - 1) / 2);
        all += count[i];
    }
    return all;
}

static void end(struct round *r)
{
    for (unsigned i = 0; i < WRITERS; i++) {
        assert_int_equal(process_wait(r->writer[i], CHILD_PATIENCE, NULL), S_OK);
        process_close(r->writer[i]);
    }
    section_close(r->section);
    (void)section_delete(r->name);
    assert_int_equal(file_delete(r->path), S_OK);
    memory_free(r->path);
}

/* Searches for the session as a controller does, and expects that it does not exist. */
static void find_none(struct round *r)
{
    struct block b;
    assert_int_equal(control_session(r->handle, &b, EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND);
}

static void events_accepted_by_a_killed_host_are_in_the_log(void **state)
{
    (void)state;
    const unsigned before = journal_count(9101);
    uint64_t events = 0;
    for (unsigned i = 0; i < rounds; i++) {
        struct round r;
        begin(&r);
        kill_process(r.host);
        find_none(&r);
        for (unsigned w = 0; w < WRITERS; w++)
            assert_int_equal(process_wait(r.writer[w], CHILD_PATIENCE, NULL), S_OK);
        events += check_round(&r, false);
        end(&r);
    }
    assert_int_equal(journal_count(9101), before + rounds);
    print_message("%u hosts killed: %llu events\n", rounds, (unsigned long long)events);
}

static void accepted_events_outlive_host_and_writers(void **state)
{
    (void)state;
    for (unsigned i = 0; i < rounds; i++) {
        struct round r;
        begin(&r);
        (void)process_terminate(r.host.id, r.host.start_time);
        kill_writers(&r);
        for (unsigned w = 0; w < WRITERS; w++)
            assert_int_equal(process_wait(r.writer[w], CHILD_PATIENCE, NULL), S_OK);
        while (process_alive(r.host.id, r.host.start_time))
            child_sleep(1);
        find_none(&r);
        (void)check_round(&r, true);
        end(&r);
    }
}

/* Runs a recovering process, which sets a flag when it is about to begin. */
static int role_recover(const char *handle, const char *name)
{
    const TRACEHANDLE h = strtoull(handle, NULL, 10);
    struct directory *d = own_directory();
    struct progress *all;
    (void)open_progress(name, false, &all);
    all[0].rescues = 1;
    return FAILED(session_recover(d, (uint32_t)(h & 0xFFFF), (uint32_t)(h >> 16)));
}

static bool entry_exists(TRACEHANDLE handle)
{
    struct directory_session s;
    const HRESULT hr = directory_session_at(own_directory(), (uint32_t)(handle & 0xFFFF), (uint32_t)(handle >> 16), &s);
    if (hr == S_OK)
        directory_session_free(&s);
    return hr == S_OK;
}

/* Some recovering processes are killed during the recovery; a slow machine needs more rounds for that. */
static void killed_recovery_is_continued_by_another_process(void **state)
{
    (void)state;
    enum { MOST = 50 };
    unsigned on_the_way = 0;
    for (unsigned i = 0; i < rounds || (on_the_way == 0 && i < MOST); i++) {
        struct round r;
        char handle[24];
        begin(&r);
        snprintf(handle, sizeof handle, "%llu", (unsigned long long)r.handle);
        kill_process(r.host);
        struct process *rescuer = child_start("rescue", handle, r.name);
        for (int waited = 0; r.progress[0].rescues == 0; waited++) {
            assert_true(waited < CHILD_PATIENCE);
            child_sleep(1);
        }
        child_sleep((unsigned)random_below(4));
        const uint32_t id = process_id(rescuer);
        (void)process_terminate(id, process_start_time(id));
        assert_int_equal(process_wait(rescuer, CHILD_PATIENCE, NULL), S_OK);
        process_close(rescuer);
        on_the_way += entry_exists(r.handle);
        find_none(&r);
        for (unsigned w = 0; w < WRITERS; w++)
            assert_int_equal(process_wait(r.writer[w], CHILD_PATIENCE, NULL), S_OK);
        (void)check_round(&r, false);
        end(&r);
    }
    assert_true(on_the_way > 0);
    print_message("%u recovering processes were killed during recovery\n", on_the_way);
}

/* Starts and stops a session as often as it can, at the same time as another process does. */
static int role_control(const char *name, const char *count)
{
    char *path = text_format("%s-%u.etl", name, (unsigned)process_own_id());
    unsigned long wanted = strtoul(count, NULL, 10);
    for (int waited = 0; wanted > 0 && waited < CHILD_PATIENCE; waited++) {
        struct block b = block_of(0, path);
        TRACEHANDLE handle;
        const ULONG code = start_session("shared", &b, &handle);
        if (code == ERROR_ALREADY_EXISTS) {
            child_sleep(1);
            continue;
        }
        if (code != ERROR_SUCCESS)
            return 100;
        if (control_session(handle, &b, EVENT_TRACE_CONTROL_STOP) != ERROR_SUCCESS)
            return 101;
        wanted--;
    }
    memory_free(path);
    return wanted == 0 ? 0 : 102;
}

static void two_controllers_never_own_one_session(void **state)
{
    (void)state;
    char *name = path_join(folder, "two");
    struct process *two[2];
    for (int i = 0; i < 2; i++)
        two[i] = child_start("control", name, "20");
    for (int i = 0; i < 2; i++) {
        uint32_t code;
        assert_int_equal(process_wait(two[i], 3 * CHILD_PATIENCE, &code), S_OK);
        assert_int_equal(code, 0);
        process_close(two[i]);
    }
    struct directory_session *list;
    size_t count;
    assert_int_equal(directory_sessions(own_directory(), &list, &count), S_OK);
    directory_sessions_free(list, count);
    assert_int_equal(count, 0);
    memory_free(name);
}

/* No process has the log of the dead host open, but it must not be overwritten. */
static void the_log_of_a_dead_host_is_not_overwritten(void **state)
{
    (void)state;
    for (int snapshot = 0; snapshot < 2; snapshot++) {
        char *path = path_join(folder, "dead.etl"), *other = path_join(folder, "living.etl");
        struct block b = block_of(0, path);
        struct provider p;
        TRACEHANDLE dead, living;
        uint32_t answer = 0;
        assert_int_equal(start_session("dead", &b, &dead), ERROR_SUCCESS);
        provider_open(dead, &p);
        assert_true(provider_write(&p, 100));
        assert_int_equal(control_session(dead, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
        b = snapshot ? block_of(TRACE_MODE_BUFFERING, NULL) : block_of(0, other);
        assert_int_equal(start_session("living", &b, &living), ERROR_SUCCESS);
        struct directory_session s = session_of_handle(dead);
        kill_process(s.host);
        directory_session_free(&s);
        s = session_of_handle(living);
        const struct directory_request request = {
            .verb = snapshot ? DIRECTORY_FLUSH : DIRECTORY_UPDATE,
            .process = {process_own_id(), process_start_time(process_own_id())},
            .file = path,
        };
        assert_int_equal(directory_ask(own_directory(), s.logger, s.generation, &request, CHILD_PATIENCE, &answer),
                         S_OK);
        assert_int_equal(answer, ERROR_BAD_PATHNAME);
        directory_session_free(&s);
        assert_int_equal(control_session(dead, &b, EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND);
        assert_int_equal(read_log(path).events, 100);
        assert_int_equal(control_session(living, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
        provider_close(&p);
        memory_free(path);
        memory_free(other);
    }
}

/* ---- a starter that exits ---- */

/* Adds a session in the starting state to the directory, and exits. */
static int role_starter(void)
{
    struct directory_session s = {
        .state = DIRECTORY_STARTING,
        .guid = {99, 1, 1, {1}},
        .starter = {process_own_id(), process_start_time(process_own_id())},
        .section = "openetw-never-made",
        .signal = "openetw-never-made",
        .section_size = 4096,
        .clock = 1,
        .name = (char *)"half started",
    };
    if (FAILED(directory_begin(own_directory())) || FAILED(directory_session_add(own_directory(), &s)))
        return 1;
    directory_end(own_directory(), NULL, 0);
    return 0;
}

static void killed_starter_leaves_no_session(void **state)
{
    (void)state;
    struct process *starter = child_start("starter", "-", "-");
    struct block b = block_of(TRACE_MODE_BUFFERING, NULL);
    TRACEHANDLE handle;
    uint32_t code;
    assert_int_equal(process_wait(starter, CHILD_PATIENCE, &code), S_OK);
    assert_int_equal(code, 0);
    process_close(starter);
    assert_int_equal(start_session("half started", &b, &handle), ERROR_SUCCESS);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
}

/* ---- for tests/fault: all processes are killed, Wine's server too ---- */

/* Starts a session and its writers, until all are killed; a file beside the log indicates that they are writing. */
static _Noreturn void role_begin(const char *name, const char *path)
{
    struct round r;
    char *ready = text_format("%s.ready", path);
    text_fit(r.name, sizeof r.name, name);
    r.path = text_copy(path);
    begin_as_named(&r);
    assert_int_equal(file_store(ready, "", 0), S_OK);
    for (;;)
        child_sleep(1000);
}

/* Checks after a restart that the accepted events are in the log. */
static int role_check(const char *name, const char *path)
{
    struct directory_session *list;
    struct round r;
    size_t count;
    struct block b = block_of(0, NULL);
    EVENT_TRACE_PROPERTIES *blocks[1] = {&b.p};
    ULONG sessions;
    text_fit(r.name, sizeof r.name, name);
    r.path = text_copy(path);
    assert_int_equal(directory_sessions(own_directory(), &list, &count), S_OK);
    directory_sessions_free(list, count);
    assert_int_equal(count, 1); /* the session's entry survived the processes */
    assert_int_equal(QueryAllTracesW(blocks, 1, &sessions), ERROR_SUCCESS);
    assert_int_equal(sessions, 0);
    r.section = open_progress(r.name, false, &r.progress);
    const uint64_t events = check_round(&r, true);
    printf("%llu events\n", (unsigned long long)events);
    section_close(r.section);
    (void)section_delete(r.name);
    memory_free(r.path);
    directory_delete(own_directory());
    return events > 0 ? 0 : 1;
}

static int role(char **arguments)
{
    if (!strcmp(arguments[1], "begin"))
        role_begin(arguments[2], arguments[3]);
    if (!strcmp(arguments[1], "judge"))
        return role_check(arguments[2], arguments[3]);
    return !strcmp(arguments[1], "starter")   ? role_starter()
           : !strcmp(arguments[1], "write")   ? role_write(arguments[2], arguments[3])
           : !strcmp(arguments[1], "rescue")  ? role_recover(arguments[2], arguments[3])
           : !strcmp(arguments[1], "control") ? role_control(arguments[2], arguments[3])
                                              : 1;
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_accepted_by_a_killed_host_are_in_the_log),
        cmocka_unit_test(accepted_events_outlive_host_and_writers),
        cmocka_unit_test(killed_recovery_is_continued_by_another_process),
        cmocka_unit_test(two_controllers_never_own_one_session),
        cmocka_unit_test(the_log_of_a_dead_host_is_not_overwritten),
        cmocka_unit_test(killed_starter_leaves_no_session),
    };
    child_program = arguments[0];
    if (count == 4)
        return role(arguments);
    if (count > 1)
        rounds = (unsigned)strtoul(arguments[1], NULL, 10);
    if (count > 2)
        random_state = strtoull(arguments[2], NULL, 10) | 1;
    return controller_tests(tests, sizeof tests / sizeof *tests, "test_etw_hosts", &folder);
}
