/* SPDX-License-Identifier: MIT */
/* The phases of a set's run. A wrong transition would start a second set host process, or reject a valid stop. */
#include "engine/logs/journal.h"
#include "engine/pla/model.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/run/run_state.h"
#include "tests/unit/scratch_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

/* For each phase and each event, `after` has a letter: the next phase, or '=' unchanged, 'U' in use, 'N' not running,
   '!' impossible. */
static void every_event_in_every_phase_is_defined(void **state)
{
    static const struct {
        enum run_phase phase;
        const char *after; /* events: start begun failed limit update stop compile done lost */
    } rows[] = {
        {PHASE_STOPPED, "t!!!=N!!="},    {PHASE_STARTING, "Urs!==!!s"}, {PHASE_RUNNING, "U!pggp!!s"},
        {PHASE_SEGMENTING, "Urp!==!!s"}, {PHASE_STOPPING, "U!=!==css"}, {PHASE_COMPILING, "U!=!==!ss"},
    };
    static const char names[RUN_PHASES] = {[PHASE_STOPPED] = 's',    [PHASE_STARTING] = 't', [PHASE_RUNNING] = 'r',
                                           [PHASE_SEGMENTING] = 'g', [PHASE_STOPPING] = 'p', [PHASE_COMPILING] = 'c'};
    (void)state;
    assert_int_equal(sizeof rows / sizeof rows[0], RUN_PHASES);
    for (size_t i = 0; i < RUN_PHASES; i++) {
        assert_int_equal(strlen(rows[i].after), RUN_STEPS);
        for (int step = 0; step < RUN_STEPS; step++) {
            enum run_phase next;
            HRESULT hr = phase_after(rows[i].phase, (enum run_step)step, &next);
            char found = hr == S_OK                    ? names[next]
                         : hr == S_FALSE               ? '='
                         : hr == PLA_E_DCS_IN_USE      ? 'U'
                         : hr == PLA_E_DCS_NOT_RUNNING ? 'N'
                                                       : '!';
            if (found != rows[i].after[step])
                fail_msg("step %d in phase %s: %c, not %c", step, phase_name(rows[i].phase), found,
                         rows[i].after[step]);
            if (hr != S_OK)
                assert_int_equal(next, rows[i].phase);
        }
    }
}

/* Scripts poll the property Status, whose values are in MS-PLA 2.2.2.4. */
static void status_of_every_phase(void **state)
{
    (void)state;
    assert_int_equal(phase_status(PHASE_STOPPED), 0);
    assert_int_equal(phase_status(PHASE_STARTING), 0);
    assert_int_equal(phase_status(PHASE_RUNNING), 1);
    assert_int_equal(phase_status(PHASE_SEGMENTING), 1);
    assert_int_equal(phase_status(PHASE_STOPPING), 1);
    assert_int_equal(phase_status(PHASE_COMPILING), 2);
}

/* Programs read the fields of Windows' events by their positions, so our events must have the same fields (behaviour
   19). */
static void events_have_the_fields_of_the_provider(void **state)
{
    static const struct {
        int id;
        const char *fields;
    } rows[] = {
        {1000, "Name,User,"},
        {1001, "Name,User,"},
        {1002, "Name,User,"},
        {1003, "Name,Key,User,"},
        {1004, "Name,Key,User,Error,"},
        {1005, "Name,"},
        {1006, "Name,Error,"},
        {1007, "Name,TaskName,"},
        {1008, "Name,TaskName,Error,"},
        {1010, "Name,CounterName,Error,"},
        {1011, "DataCollecotrSet,Name,"},
        {1012, "Name,"},
        {1013, "Name,"},
        {1014, "DataCollecotrSet,Name,Error,"},
        {1015, "DataCollecotrSet,Name,Error,"},
        {1016, "DataCollecotrSet,Name,Error,"},
        {1017, "ServerName,CabName,Error,"},
        {2031, "Counter,Value,Operator,Threshold,Message,"},
        {3000, "ReportFileName,Description,"},
        {3001, "ReportFileName,Description,"},
        {3002, "ReportFileName,Description,"},
    };
    (void)state;
    char *data = scratch_create("run_phase");
    scratch_environment("OPENPLA_DATA", data);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(journal_write((enum journal_id)rows[i].id, &(struct journal_facts){0}), S_OK);
    assert_int_equal(journal_write((enum journal_id)1, &(struct journal_facts){0}), E_INVALIDARG);
    struct journal_reader *r;
    char *folder = journal_folder();
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct journal_entry e;
        struct text_buffer names = {0};
        assert_int_equal(journal_reader_next(r, &e), S_OK);
        assert_int_equal(e.id, rows[i].id);
        for (size_t k = 0; k < e.count; k++)
            text_buffer_format(&names, "%s,", e.fields[k].name);
        assert_string_equal(names.text, rows[i].fields);
        text_buffer_free(&names);
    }
    journal_reader_close(r);
    memory_free(folder);
    scratch_remove(data);
    memory_free(data);
}

/* A set host process must not be terminated while it stops normally. The times that it or a client has written may be
   later than the time that the supervisor read. */
static void host_is_overdue_only_after_its_time_limit(void **state)
{
    static const struct {
        struct run_state run;
        bool overdue; /* at the time 100000, with the limits 30000 and 60000 */
    } rows[] = {
        {{.phase = PHASE_STARTING, .phase_since = 70000}, false},
        {{.phase = PHASE_STARTING, .phase_since = 69999}, true},
        {{.phase = PHASE_STARTING, .phase_since = 100001}, false},
        {{.phase = PHASE_RUNNING, .phase_since = 1}, false},
        {{.phase = PHASE_RUNNING, .phase_since = 1, .stop_since = 100001}, false},
        {{.phase = PHASE_STOPPING, .phase_since = 100002, .stop_since = 100001}, false},
        {{.phase = PHASE_STOPPING, .phase_since = 40000, .stop_since = 40000}, false},
        {{.phase = PHASE_STOPPING, .phase_since = 99999, .stop_since = 39999}, true},
        {{.phase = PHASE_COMPILING, .phase_since = 2, .stop_since = 1}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(phase_is_overdue(&rows[i].run, 100000, 30000, 60000), rows[i].overdue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_in_every_phase_is_defined),
        cmocka_unit_test(status_of_every_phase),
        cmocka_unit_test(host_is_overdue_only_after_its_time_limit),
        cmocka_unit_test(events_have_the_fields_of_the_provider),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
