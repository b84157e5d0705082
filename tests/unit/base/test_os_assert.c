/* SPDX-License-Identifier: MIT */
/* Assertions. In a test build, a failed assertion prints a line and ends the process with an exit code, without waiting
   for input. An installed build does not evaluate assertions. */
#include "engine/base/assert.h"
#include "engine/base/debug_trace.h"
#include "tests/unit/child_process.h"

enum { SIGNALLED = 128 + 6 /* SIGABRT */ };

static unsigned evaluated;

static bool holds(bool is_true)
{
    evaluated++;
    return is_true;
}

static void true_assertion_continues_the_program(void **state)
{
    (void)state;
    evaluated = 0;
    assert(holds(true));
    assert_int_equal(evaluated, OPENPLA_ASSERTS);
}

static void failed_assertion_ends_the_process_with_a_message(void **state)
{
    uint32_t code = 0;
    char *path = text_format("test_os_assert.%u.steps", process_own_id());
    (void)state;
    assert_non_null(path);
    (void)file_delete(path);
    scratch_environment(DEBUG_TRACE_FILE_VARIABLE, path);
    struct process *p = child_start("claim", "", "");
    assert_int_equal(process_wait(p, CHILD_PATIENCE, &code), S_OK);
    process_close(p);
#if OPENPLA_ASSERTS
    char *line = scratch_read(path);
#ifdef _WIN32
    assert_int_equal(code, ASSERT_EXIT_CODE);
#else
    assert_int_equal(code, SIGNALLED);
#endif
    assert_non_null(strstr(line, "assert: "));
    assert_non_null(strstr(line, "test_os_assert.c:"));
    assert_non_null(strstr(line, "assertion 'holds(argc < 0)' failed\n"));
    memory_free(line);
#else
    assert_int_equal(code, 0);
#endif
    (void)file_delete(path);
    memory_free(path);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(true_assertion_continues_the_program),
        cmocka_unit_test(failed_assertion_ends_the_process_with_a_message),
    };
    child_program = argv[0];
    if (argc > 1) {
        assert(holds(argc < 0));
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
