/* SPDX-License-Identifier: MIT */
/* Processes share the run state and the start report. A reader must get exactly one publication, even if the writer is
   killed. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/store.h"
#include "tests/unit/patience.h"
#include "tests/unit/scratch_folder.h"

#include <stdlib.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <pthread.h>
#endif

#define SPACE "Service"

static struct run_state numbered(uint64_t n)
{
    struct run_state s;
    memset(&s, 0, sizeof s);
    s.status = RUN_RUNNING;
    s.phase = PHASE_RUNNING;
    s.process_id = (uint32_t)n;
    s.serial_number = (uint32_t)n;
    s.samples = n;
    s.samples_lost = n;
    s.started_utc = (int64_t)n;
    memset(s.location, (int)('a' + n % 26), sizeof s.location - 1);
    return s;
}

static void is_whole(const struct run_state *s)
{
    struct run_state expected = numbered(s->samples);
    if (s->samples)
        assert_memory_equal(s, &expected, sizeof *s);
}

struct writer {
    struct state_cell cell;
    atomic_int end;
};

static void write_states(struct writer *w)
{
    for (uint64_t n = 1; !atomic_load(&w->end); n++) {
        struct run_state s = numbered(n);
        state_publish(&w->cell, &s);
    }
}

#ifdef _WIN32
static DWORD WINAPI write_thread(void *w)
{
    write_states(w);
    return 0;
}
#else
static void *write_thread(void *w)
{
    write_states(w);
    return NULL;
}
#endif

/* A client must not get the folder of one segment and the serial number of another. */
static void readers_never_see_a_mixture(void **state)
{
    (void)state;
    struct writer *w = calloc(1, sizeof *w);
    assert_non_null(w);
#ifdef _WIN32
    HANDLE thread = CreateThread(NULL, 0, write_thread, w, 0, NULL);
    assert_non_null(thread);
#else
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_thread, w), 0);
#endif
    uint64_t last = 0, different = 0, until = clock_monotonic_ms() + 1000;
    while (clock_monotonic_ms() < until || different < 100) {
        struct run_state s;
        if (!state_read(&w->cell, &s))
            continue; /* this writer never pauses, so all attempts of a reader may fail */
        is_whole(&s);
        assert_true(s.samples >= last);
        different += s.samples != last;
        last = s.samples;
    }
    atomic_store(&w->end, 1);
#ifdef _WIN32
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
#else
    pthread_join(thread, NULL);
#endif
    free(w);
}

/* A set host process may be killed during a publication. Its clients must not wait forever or get mixed values. This is
   also true for the next set host process, which uses the same section. */
static void killed_writer_leaves_the_previous_publication(void **state)
{
    (void)state;
    struct state_cell cell;
    memset(&cell, 0, sizeof cell);
    struct run_state seven = numbered(7), eight = numbered(8), s;
    state_publish(&cell, &seven);
    uint64_t done = atomic_load(&cell.count.done);
    atomic_store(&cell.count.begun, done + 1); /* as if the writer was killed in the middle of a publication */
    for (size_t i = 0; i < RUN_STATE_WORDS / 2; i++)
        atomic_store(&cell.words[(done + 1) % 2][i], 0x5555);
    assert_true(state_read(&cell, &s));
    assert_memory_equal(&s, &seven, sizeof s);
    state_publish(&cell, &eight);
    assert_true(state_read(&cell, &s));
    assert_memory_equal(&s, &eight, sizeof s);
}

/* If the counters are invalid, reading must end; otherwise clients and the supervisor would hang forever. */
static void invalid_counters_end_the_reading(void **state)
{
    (void)state;
    struct state_cell cell;
    struct run_state s;
    memset(&cell, 0, sizeof cell);
    atomic_store(&cell.count.begun, UINT64_MAX);
    assert_false(state_read(&cell, &s));
    atomic_store(&cell.count.begun, 1);
    atomic_store(&cell.count.done, 8);
    assert_false(state_read(&cell, &s));
    struct run_state seven = numbered(7);
    state_publish(&cell, &seven); /* the next set host process can still publish */
    assert_true(state_read(&cell, &s));
    assert_memory_equal(&s, &seven, sizeof s);
}

static struct file_lock *lock_run(const char *name)
{
    struct file_lock *lock;
    char *path = store_run_lock_path(SPACE, name), *folder = path_folder(path);
    assert_int_equal(folder_create(folder), S_OK);
    assert_int_equal(file_lock_take(path, 0, &lock), S_OK);
    memory_free(folder);
    memory_free(path);
    return lock;
}

/* A set without a set host process must not appear to be running. A running set must not appear to be stopped. */
static void section_exists_while_its_host_runs(void **state)
{
    (void)state;
    struct run_section *host, *client;
    struct run_state s = numbered(3), seen;
    struct run_host written;
    assert_int_equal(run_section_open(SPACE, "section test", &client), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    struct file_lock *lock = lock_run("section test");
    assert_int_equal(run_section_create(SPACE, "section test", &host), S_OK);
    assert_int_equal(run_section_open(SPACE, "section test", &client), S_OK);
    assert_true(run_section_read(client, &seen));
    assert_int_equal(seen.status, RUN_STOPPED);
    s.process_id = process_own_id();
    run_section_publish(host, &s);
    assert_true(run_section_read(client, &seen));
    assert_memory_equal(&seen, &s, sizeof s);
    enum stop_reason why;
    assert_false(run_section_stop_requested(host, &why));
    assert_int_equal(run_section_wait(host, 0), S_FALSE);
    assert_int_equal(run_section_request_stop(client, STOP_EXPIRED), S_OK);
    assert_int_equal(run_section_wait(host, PATIENCE_MS), S_OK);
    assert_true(run_section_stop_requested(host, &why));
    assert_int_equal(why, STOP_EXPIRED);
    run_section_close(client);
    assert_int_equal(store_load_host(SPACE, "section test", &written), S_OK);
    file_lock_release(lock); /* without the lock, the run does not exist */
    assert_int_equal(run_section_open(SPACE, "section test", &client), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    lock = lock_run("section test");
    run_section_close(host);
    assert_int_equal(store_load_host(SPACE, "section test", &written), S_FALSE);
    assert_int_equal(run_section_open(SPACE, "section test", &client), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    file_lock_release(lock);
}

struct scribbler {
    atomic_uint_least64_t *words;
    size_t count;
    atomic_int end;
};

static void overwrite(void *user)
{
    struct scribbler *w = user;
    uint64_t random = 88172645463325252u;
    while (!atomic_load(&w->end)) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17; /* xorshift */
        size_t at = random % 8 ? random % w->count : random / 8 % 512;         /* most often where states and requests
                                                                                  are stored */
        atomic_store(&w->words[at], random & 1 ? random : random % 8);
    }
}

/* If another process writes to the section, a client or the supervisor must not hang, crash, or terminate a wrong
   process. */
static void foreign_writes_affect_no_reader(void **state)
{
    (void)state;
    struct run_section *host, *client;
    struct run_host written;
    struct section *section;
    struct thread *thread;
    struct scribbler w = {.count = 65536 / 8};
    struct file_lock *lock = lock_run("scribbled");
    assert_int_equal(run_section_create(SPACE, "scribbled", &host), S_OK);
    assert_int_equal(run_section_open(SPACE, "scribbled", &client), S_OK);
    assert_int_equal(store_load_host(SPACE, "scribbled", &written), S_OK);
    char *name = text_format("openpla-run-%s", written.key);
    assert_int_equal(section_open(&(struct shared){.name = name}, 8 * w.count, &section), S_OK);
    w.words = section_memory(section);
    assert_int_equal(thread_start(overwrite, &w, &thread), S_OK);
    for (uint64_t end = clock_monotonic_ms() + 1500; clock_monotonic_ms() < end;) {
        struct run_state s;
        uint64_t number;
        HRESULT answer;
        assert_true(run_section_read(client, &s));
        assert_true((unsigned)s.phase < RUN_PHASES);
        assert_int_equal(s.process_id, process_own_id());
        assert_true(strlen(s.location) < sizeof s.location);
        HRESULT hr = run_section_ask(client, REQUEST_UPDATE, &number);
        assert_true(hr == S_OK || hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
        if (run_section_answered(client, REQUEST_UPDATE, number, &answer) && FAILED(answer))
            assert_true(text_is_utf8(error_text(answer), strlen(error_text(answer))));
        if (run_section_asked(host, REQUEST_UPDATE, &number))
            run_section_answer(host, REQUEST_UPDATE, number, E_FAIL);
        run_section_publish(host, &s);
        run_section_publish_figures(host, 0, "c", &(struct collector_figures){0});
        char *text = run_figures_text(SPACE, "scribbled");
        assert_true(text_is_utf8(text, strlen(text)));
        memory_free(text);
    }
    atomic_store(&w.end, 1);
    assert_true(thread_wait(thread, PATIENCE_MS));
    thread_close(thread);
    section_close(section);
    memory_free(name);
    run_section_close(client);
    run_section_close(host);
    file_lock_release(lock);
}

/* If a start fails, the user must get the reason from the set host process. */
static void start_report_contains_result_and_message(void **state)
{
    (void)state;
    struct start_report *starter, *host;
    assert_int_equal(start_report_open("0badc0de", &host), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_int_equal(start_report_create("0badc0de", NULL, &starter), S_OK);
    assert_int_equal(start_report_create("0badc0de", NULL, &host), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_int_equal(start_report_open("0badc0de", &host), S_OK);
    start_report_send(&host, error_set(E_ACCESSDENIED, "RootPath: X cannot be written"));
    assert_null(host);
    start_report_send(&host, S_OK); /* only the first report counts */
    error_clear();
    assert_int_equal(start_report_wait(starter, NULL, false, PATIENCE_MS), E_ACCESSDENIED);
    assert_string_equal(error_text(E_ACCESSDENIED), "RootPath: X cannot be written");
    start_report_close(starter);
    assert_int_equal(start_report_create("../x", NULL, &starter), E_INVALIDARG);
    assert_int_equal(start_report_create("", NULL, &starter), E_INVALIDARG);
}

/* The account of the set host process can write anything to the memory of a start. This must not cause a wrong success
   or an unknown error code. */
static void report_without_a_host_is_rejected(void **state)
{
    static const int32_t forged[] = {
        1, 0x00300100, 0x7FFFFFFF, (int32_t)0xDEADBEEF, (int32_t)0x80301234, (int32_t)0x80070000, (int32_t)0x80010000};
    static const HRESULT sent[] = {E_ACCESSDENIED,        HRESULT_FROM_WIN32(ERROR_DISK_FULL),
                                   (HRESULT)0xC0000BB8,   PLA_E_DCS_IN_USE,
                                   OPENPLA_E_BAD_PATTERN, E_UNEXPECTED,
                                   (HRESULT)0x80010108 /* RPC_E_DISCONNECTED */};
    const HRESULT refused = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    struct start_report *starter, *host;
    (void)state;
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        assert_int_equal(start_report_create("0badc0de", NULL, &starter), S_OK);
        assert_int_equal(start_report_open("0badc0de", &host), S_OK);
        start_report_send(&host, forged[i]);
        assert_int_equal(start_report_wait(starter, NULL, false, 1000), refused);
        assert_non_null(strstr(error_text(refused), "contains the invalid result"));
        start_report_close(starter);
    }
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
        assert_int_equal(start_report_create("0badc0de", NULL, &starter), S_OK);
        assert_int_equal(start_report_open("0badc0de", &host), S_OK);
        start_report_send(&host, error_set(sent[i], "why"));
        assert_int_equal(start_report_wait(starter, NULL, false, 1000), sent[i]);
        assert_string_equal(error_text(sent[i]), "why");
        start_report_close(starter);
    }
}

/* The result of an update must be checked in the same way, because Commit returns it to the client. */
static void update_answer_without_a_host_is_rejected(void **state)
{
    struct run_section *host, *client;
    uint64_t number;
    HRESULT answer;
    (void)state;
    struct file_lock *lock = lock_run("answered");
    assert_int_equal(run_section_create(SPACE, "answered", &host), S_OK);
    assert_int_equal(run_section_open(SPACE, "answered", &client), S_OK);
    assert_int_equal(run_section_ask(client, REQUEST_UPDATE, &number), S_OK);
    run_section_answer(host, REQUEST_UPDATE, number, (HRESULT)0xDEADBEEF);
    assert_true(run_section_answered(client, REQUEST_UPDATE, number, &answer));
    assert_int_equal(answer, HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_non_null(strstr(error_text(answer), "0xDEADBEEF"));
    run_section_close(client);
    run_section_close(host);
    file_lock_release(lock);
}

/* If a problem of a run occurs many times, it must be reported only once. If there are many problems, none may be
   lost. */
static void diagnostics_report_each_problem_once(void **state)
{
    (void)state;
    struct diagnostics d = {0};
    char *text = diagnostics_text(&d);
    assert_string_equal(text, "");
    memory_free(text);
    diagnostics_note(&d, E_FAIL, "\\A\\b: gone");
    diagnostics_note(&d, E_FAIL, "\\A\\b: gone");
    assert_true(diagnostics_lost(&d, error_set(E_ACCESSDENIED, "log: no")));
    assert_false(diagnostics_lost(&d, error_set(E_ACCESSDENIED, "log: no")));
    d.lost_late = 4;
    text = diagnostics_text(&d);
    assert_string_equal(text, "\\A\\b: gone (0x80004005)\n"
                              "2 samples lost: log: no (0x80070005)\n"
                              "4 samples lost: their time passed while an earlier sample was taken\n");
    memory_free(text);
    /* If the set host process is killed, only the number in the latest event is known. It must not always be the number
       at the first loss. */
    uint64_t total;
    assert_false(diagnostics_losses_due(&d, 1000000, &total)); /* another event reports the first loss */
    diagnostics_losses_reported(&d, 6, 1000000);
    assert_false(diagnostics_losses_due(&d, 2000000, &total));
    d.lost_late++;
    assert_false(diagnostics_losses_due(&d, 1059999, &total));
    assert_true(diagnostics_losses_due(&d, 1060000, &total));
    assert_int_equal(total, 7);
    d.lost_late--;
    for (int i = 0; i < 300; i++) {
        char note[16] = {(char)('a' + i / 26), (char)('a' + i % 26)};
        diagnostics_note(&d, E_FAIL, note);
    }
    text = diagnostics_text(&d);
    assert_non_null(strstr(text, "101 more\n"));
    memory_free(text);
    diagnostics_free(&d);
}

static char *data;

static int make_data(void **state)
{
    (void)state;
    data = text_format("test_run_state.%u.scratch", (unsigned)process_own_id());
    scratch_environment("OPENPLA_DATA", data);
    return 0;
}

static int remove_data(void **state)
{
    (void)state;
    scratch_remove(data);
    memory_free(data);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_never_see_a_mixture),
        cmocka_unit_test(killed_writer_leaves_the_previous_publication),
        cmocka_unit_test(invalid_counters_end_the_reading),
        cmocka_unit_test(section_exists_while_its_host_runs),
        cmocka_unit_test(foreign_writes_affect_no_reader),
        cmocka_unit_test(start_report_contains_result_and_message),
        cmocka_unit_test(report_without_a_host_is_rejected),
        cmocka_unit_test(update_answer_without_a_host_is_rejected),
        cmocka_unit_test(diagnostics_report_each_problem_once),
    };
    return cmocka_run_group_tests(tests, make_data, remove_data);
}
