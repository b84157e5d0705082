/* SPDX-License-Identifier: MIT */
/* State and start report between processes: what a reader sees is one publication, whatever happens to the writer. */
#include "engine/os/clock.h"
#include "engine/os/memory.h"
#include "engine/run/diagnostics.h"
#include "engine/run/run_state.h"
#include "engine/run/start_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>
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

/* A client would be shown the folder of one segment with the serial number of another. */
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
        state_read(&w->cell, &s);
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

/* A host that is killed in the middle of publishing would leave its clients waiting or with torn values, and so would
   the next host of the set that takes the section over. */
static void a_writer_that_died_leaves_the_publication_before(void **state)
{
    (void)state;
    struct state_cell cell;
    memset(&cell, 0, sizeof cell);
    struct run_state seven = numbered(7), eight = numbered(8), s;
    state_publish(&cell, &seven);
    uint64_t done = atomic_load(&cell.count.done);
    atomic_store(&cell.count.begun, done + 1); /* begins the next one, writes half of it */
    for (size_t i = 0; i < RUN_STATE_WORDS / 2; i++)
        atomic_store(&cell.words[(done + 1) % 2][i], 0x5555);
    state_read(&cell, &s);
    assert_memory_equal(&s, &seven, sizeof s);
    state_publish(&cell, &eight);
    state_read(&cell, &s);
    assert_memory_equal(&s, &eight, sizeof s);
}

/* A set whose host is not there would be shown as running, or a running one as stopped. */
static void the_section_lives_with_its_host(void **state)
{
    (void)state;
    struct run_section *host, *client;
    struct run_state s = numbered(3), seen;
    assert_int_equal(run_section_open(SPACE, "section test", &client), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_int_equal(run_section_create(SPACE, "section test", &host), S_OK);
    assert_int_equal(run_section_open(SPACE, "section test", &client), S_OK);
    assert_true(run_section_read(client, &seen));
    assert_int_equal(seen.status, RUN_STOPPED);
    run_section_publish(host, &s);
    assert_true(run_section_read(client, &seen));
    assert_memory_equal(&seen, &s, sizeof s);
    assert_false(run_section_stop_requested(host));
    assert_int_equal(run_section_wait(host, 0), S_FALSE);
    assert_int_equal(run_section_request_stop(client), S_OK);
    assert_int_equal(run_section_wait(host, 1000), S_OK);
    assert_true(run_section_stop_requested(host));
    run_section_close(client);
    run_section_close(host);
    assert_int_equal(run_section_open(SPACE, "section test", &client), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
}

/* A failed start would lose its reason on the way from the host to the user. */
static void the_report_carries_result_and_text(void **state)
{
    (void)state;
    struct start_report *starter, *host;
    assert_int_equal(start_report_open("0badc0de", &host), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_int_equal(start_report_create("0badc0de", &starter), S_OK);
    assert_int_equal(start_report_open("0badc0de", &host), S_OK);
    start_report_send(&host, error_set(E_ACCESSDENIED, "RootPath: X cannot be written"));
    assert_null(host);
    start_report_send(&host, S_OK); /* only the first counts */
    error_clear();
    assert_int_equal(start_report_wait(starter, NULL, false, 1000), E_ACCESSDENIED);
    assert_string_equal(error_text(E_ACCESSDENIED), "RootPath: X cannot be written");
    start_report_close(starter);
    assert_int_equal(start_report_create("../x", &starter), E_INVALIDARG);
    assert_int_equal(start_report_create("", &starter), E_INVALIDARG);
}

/* What went wrong in a run would be drowned in repetitions or lost when there is much of it. */
static void diagnostics_say_each_thing_once(void **state)
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
                              "4 samples lost: their time passed while an earlier one was taken\n");
    memory_free(text);
    for (int i = 0; i < 300; i++) {
        char note[16] = {(char)('a' + i / 26), (char)('a' + i % 26)};
        diagnostics_note(&d, E_FAIL, note);
    }
    text = diagnostics_text(&d);
    assert_non_null(strstr(text, "101 more\n"));
    memory_free(text);
    diagnostics_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_never_see_a_mixture),
        cmocka_unit_test(a_writer_that_died_leaves_the_publication_before),
        cmocka_unit_test(the_section_lives_with_its_host),
        cmocka_unit_test(the_report_carries_result_and_text),
        cmocka_unit_test(diagnostics_say_each_thing_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
