/* SPDX-License-Identifier: MIT */
/* Tracing: only enabled areas write lines, and lines of several threads are never mixed. */
#include "engine/base/debug_trace.h"
#include "engine/base/thread.h"
#include "tests/unit/scratch_folder.h"

#include <errno.h>

enum { THREADS = 4, STEPS = 200 };
static char *path; /* path of the file, with this process's id for %p */
static char *loaded;

/* Returns the lines written so far; the result is valid until the next call. */
static const char *load_lines(void)
{
    memory_free(loaded);
    loaded = scratch_read(path);
    return loaded;
}

static unsigned evaluated;

static unsigned evaluate_argument(void)
{
    return ++evaluated;
}

static void step_of_an_enabled_area_is_one_line(void **state)
{
    char head[64];
    (void)state;
    memory_fail_at(1); /* writing a trace line allocates no memory */
    errno = EINTR;
    TRACE_STEP(pdh, "path '%s', number %u", "a\nb", evaluate_argument());
    const int error = errno;
    assert_int_equal(memory_count(), 0);
    memory_fail_at(0);
    assert_int_equal(error, EINTR);
    assert_int_equal(evaluated, 1);
    const char *text = load_lines();
    snprintf(head, sizeof head, "Z %u.%u pdh: ", process_own_id(), thread_own_id());
    assert_non_null(strstr(text, head));
    assert_non_null(strstr(text, "pdh: path 'a b', number 1\n"));
    assert_int_equal(text[4], '-');
    assert_int_equal(text[10], 'T');
}

static void unknown_area_is_named_in_a_line(void **state)
{
    const char *text = load_lines();
    (void)state;
    assert_non_null(strstr(text, "trace: unknown trace area 'nothing' in OPENPLA_TRACE\n"));
}

static void step_of_a_disabled_area_evaluates_nothing(void **state)
{
    (void)state;
    evaluated = 0;
    TRACE_STEP(etw, "number %u", evaluate_argument());
    assert_int_equal(evaluated, 0);
    const char *text = load_lines();
    assert_null(strstr(text, "etw: "));
}

static void pla_enables_the_areas_of_its_parts(void **state)
{
    (void)state;
    TRACE_STEP(store, "from the store");
    TRACE_STEP(retention, "from retention");
    TRACE_STEP(com, "from COM");
    const char *text = load_lines();
    assert_non_null(strstr(text, "store: from the store\n"));
    assert_non_null(strstr(text, "retention: from retention\n"));
    assert_null(strstr(text, "from COM"));
}

static void long_message_is_cut(void **state)
{
    char word[2 * DEBUG_TRACE_BYTES];
    (void)state;
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = 0;
    TRACE_STEP(run, "%s", word);
    const char *text = load_lines(), *line = strstr(text, "run: x");
    assert_non_null(line);
    assert_int_equal(strcspn(line + 5, "\n"), DEBUG_TRACE_BYTES);
}

static void trace_many_steps(void *user)
{
    for (unsigned i = 0; i < STEPS; i++)
        TRACE_STEP(pdh, "many %u %u end", *(unsigned *)user, i);
}

static void lines_of_several_threads_do_not_mix(void **state)
{
    struct thread *threads[THREADS];
    unsigned numbers[THREADS], whole = 0;
    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(thread_start(trace_many_steps, &numbers[i], &threads[i]), S_OK);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_true(thread_wait(threads[i], 60000));
        thread_close(threads[i]);
    }
    const char *text = load_lines();
    for (const char *line = strstr(text, "many "); line; line = strstr(line + 1, "many ")) {
        unsigned thread, step;
        int length = 0;
        whole += sscanf(line, "many %u %u end%n", &thread, &step, &length) == 2 && line[length] == '\n';
    }
    assert_int_equal(whole, THREADS * STEPS);
}

static void list_with_an_unknown_area_is_rejected(void **state)
{
    (void)state;
    assert_int_equal(debug_trace_check("PDH,etw"), S_OK);
    assert_int_equal(debug_trace_check("all"), S_OK);
    assert_int_equal(debug_trace_check("pdh,wrong"), E_INVALIDARG);
    assert_non_null(strstr(error_text(E_INVALIDARG), "unknown trace area 'wrong' (areas: base, "));
    assert_int_equal(debug_trace_check(""), E_INVALIDARG);
}

/* Sets the environment before anything can write a trace line. */
static int begin_trace(void **state)
{
    (void)state;
    scratch_environment(DEBUG_TRACE_VARIABLE, "pdh, nothing,pla");
    scratch_environment(DEBUG_TRACE_FILE_VARIABLE, "test_os_trace.%p.steps");
    path = text_format("test_os_trace.%u.steps", process_own_id());
    return path ? 0 : -1;
}

static int end_trace(void **state)
{
    (void)state;
    (void)file_delete(path);
    memory_free(loaded);
    memory_free(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_of_an_enabled_area_is_one_line),
        cmocka_unit_test(unknown_area_is_named_in_a_line),
        cmocka_unit_test(step_of_a_disabled_area_evaluates_nothing),
        cmocka_unit_test(pla_enables_the_areas_of_its_parts),
        cmocka_unit_test(long_message_is_cut),
        cmocka_unit_test(lines_of_several_threads_do_not_mix),
        cmocka_unit_test(list_with_an_unknown_area_is_rejected),
    };
    return cmocka_run_group_tests(tests, begin_trace, end_trace);
}
