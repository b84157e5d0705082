/* SPDX-License-Identifier: MIT */
/* Gets the statuses of many sets with one request. */
#include "engine/base/memory.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/sets.h"
#include "tests/unit/run/run_fixture.h"

#include <stdio.h>

/* For hundreds of sets, folders are read instead of each set. The statuses must still show which set runs. */
static void statuses_of_many_sets_show_what_runs(void **state)
{
    enum { SETS = 140, RUNS = 77 };
    static struct object *sets[SETS];
    static struct set_status statuses[SETS];
    struct run_section *section;
    struct file_lock *running;
    struct object *issues;
    char name[32];
    (void)state;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    for (size_t i = 0; i < SETS; i++) {
        snprintf(name, sizeof name, "Many statuses %u", (unsigned)i);
        assert_int_equal(sets_create(NULL, &sets[i]), S_OK);
        assert_int_equal(set_commit(sets[i], &caller_self, name, "", SETS_CREATE_NEW, issues), S_OK);
    }
    assert_int_equal(sets_read_statuses(sets, SETS, statuses), S_OK);
    for (size_t i = 0; i < SETS; i++)
        assert_true(statuses[i].is_known && statuses[i].status == RUN_STOPPED);
    snprintf(name, sizeof name, "Many statuses %u", (unsigned)RUNS);
    char *path = store_run_lock_path(SPACE, name);
    assert_int_equal(file_lock_take(path, 0, &running), S_OK);
    assert_int_equal(run_section_create(SPACE, name, &section), S_OK);
    run_section_publish(section, &(struct run_state){.phase = PHASE_RUNNING});
    assert_int_equal(sets_read_statuses(sets, SETS, statuses), S_OK);
    for (size_t i = 0; i < SETS; i++)
        assert_int_equal(statuses[i].status, i == RUNS ? RUN_RUNNING : RUN_STOPPED);
    run_section_close(section);
    file_lock_release(running);
    assert_int_equal(sets_read_statuses(sets, SETS, statuses), S_OK);
    assert_int_equal(statuses[RUNS].status, RUN_STOPPED);
    for (size_t i = 0; i < SETS; i++) {
        assert_int_equal(set_delete(sets[i], &caller_self), S_OK);
        object_release(sets[i]);
    }
    object_release(issues);
    memory_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_of_many_sets_show_what_runs),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
