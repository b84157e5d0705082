/* SPDX-License-Identifier: MIT */
/* The states of a set: a step that does the wrong thing starts a second host, or refuses a stop that is due. */
#include "engine/model/model.h"
#include "engine/run/completion.h"
#include "engine/run/phase.h"
#include "engine/run/run_journal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

/* Every step in every phase, one letter each: the phase after it, or '=' nothing, 'U' in use, 'N' not running,
   '!' never. */
static void every_step_in_every_phase(void **state)
{
    static const struct {
        enum run_phase phase;
        const char *after; /* start begun failed limit update stop compile done lost */
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

/* Scripts poll Status: MS-PLA 2.2.2.4. */
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

static enum completion completion_with(uint32_t type, const char *property, uint32_t value)
{
    struct object *set, *collector;
    enum completion when;
    assert_int_equal(set_create(&set), S_OK);
    assert_int_equal(object_create(collector_class(type), set, &collector), S_OK);
    if (property) {
        struct object *o = class_property(set->class, property) ? set : collector;
        struct value v = {.kind = PROPERTY_U32, .u32 = value};
        assert_int_equal(object_put(o, class_property(o->class, property), &v), S_OK);
    }
    when = collector_completion((struct data_collector_set *)set, collector);
    object_release(collector);
    object_release(set);
    return when;
}

/* MS-PLA 3.2.4.1, StopOnCompletion: a set would end too early, or never. */
static void completion_by_kind_of_collector(void **state)
{
    static const char *const limits[] = {"SegmentMaxSize", "SegmentMaxDuration"};
    (void)state;
    for (uint32_t type = 0; type < 5; type++) {
        enum completion plain = type == 2 ? COMPLETE_WHEN_DONE : COMPLETE_AT_ONCE;
        assert_int_equal(completion_with(type, NULL, 0), plain);
        for (int i = 0; i < 2; i++)
            assert_int_equal(completion_with(type, limits[i], 1), type <= 1 ? COMPLETE_AT_LIMIT : plain);
    }
    assert_int_equal(completion_with(0, "SegmentMaxRecords", 1), COMPLETE_AT_LIMIT);
}

/* behaviour 19: who reads Windows' events by position would read other fields. */
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
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_non_null(journal_field_names((enum journal_id)rows[i].id));
        assert_string_equal(journal_field_names((enum journal_id)rows[i].id), rows[i].fields);
    }
    assert_null(journal_field_names((enum journal_id)1));
}

/* A host would be ended while it stops in order: what it or a client wrote may be later than the clock that the
   supervisor read before. */
static void a_host_is_overdue_only_after_its_time(void **state)
{
    static const struct {
        struct run_state run;
        bool overdue; /* at 100000, limits 30000 and 60000 */
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
        cmocka_unit_test(every_step_in_every_phase),
        cmocka_unit_test(status_of_every_phase),
        cmocka_unit_test(a_host_is_overdue_only_after_its_time),
        cmocka_unit_test(completion_by_kind_of_collector),
        cmocka_unit_test(events_have_the_fields_of_the_provider),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
