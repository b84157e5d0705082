/* SPDX-License-Identifier: MIT */
/* Thresholds: which rows they find, for which durations, and the strings in their warnings. If a threshold compared
   nothing and caused no error, the computer would look healthy. */
#include "tests/unit/rules/rules_report.h"

#define RULES(attributes, inside)                                                                                      \
    "<Rules><Group name='g'><Rule name='r'><Threshold tag='t' " attributes ">" inside                                  \
    "</Threshold></Rule></Group></Rules>"
#define REPORT(tables)                                                                                                 \
    "<Report name='r' version='1'><Header><Data name='computer'>BOX</Data><Data name='memory'>1000</Data></Header>"    \
    "<Section name='s' key='1'>" tables "</Section><StringTable/></Report>"
#define TABLE(object, rows) "<Table name='t' source='" object "'>" rows "</Table>"
#define CELL(name, value)   "<Data name='" name "'>" value "</Data>"
/* A slice of five minutes. A row has four of them, which begin at 08:00. */
#define SLICE(from, to, value)                                                                                         \
    "<Item>" CELL("start", "2026-03-02T08:" from ":00.000Z") CELL("end", "2026-03-02T08:" to ":00.000Z")               \
        CELL("n", "20") CELL("mean", value) CELL("min", value) CELL("max", value) "</Item>"
#define ROW(instance, counter, mean, a, b, c, d)                                                                       \
    "<Item>" CELL("counter", counter) CELL("instance", instance) CELL("mean", mean) CELL("min", mean)                  \
        CELL("max", mean) "<Table name='slices' note='300'>" SLICE("00", "05", a) SLICE("05", "10", b)                 \
            SLICE("10", "15", c) SLICE("15", "20", d) "</Table></Item>"
#define PLAIN(instance, counter, mean)                                                                                 \
    "<Item>" CELL("counter", counter) CELL("instance", instance) CELL("mean", mean) CELL("min", mean)                  \
        CELL("max", mean) "</Item>"

struct threshold_case {
    const char *tables, *rules;
    enum rules_severity severity; /* RULES_NOTHING: no warning */
    const char *symptom;          /* NULL: any */
    const char *when;
};

static void check_cases(void **state, const struct threshold_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ruled r;
        rules_write_file(*state, "report.xml", cases[i].tables);
        rules_run_over(&r, *state, cases[i].rules);
        assert_no_fault(&r);
        if (r.outcome.worst != cases[i].severity)
            fail_msg("%u: %s: %d", (unsigned)i, cases[i].rules, (int)r.outcome.worst);
        if (r.outcome.warning_count && cases[i].symptom && strcmp(r.outcome.warnings[0].symptom, cases[i].symptom) != 0)
            fail_msg("%u: %s", (unsigned)i, r.outcome.warnings[0].symptom);
        if (r.outcome.warning_count && cases[i].when && strcmp(r.outcome.warnings[0].when, cases[i].when) != 0)
            fail_msg("%u: %s", (unsigned)i, r.outcome.warnings[0].when);
        ruled_free(&r);
    }
}
#define CHECK(cases) check_cases(state, cases, sizeof cases / sizeof *(cases))

#define SAY          "<Data name='symptom'>{instance} {value}/{limit} {minutes} {worst}{others}</Data>"

static void threshold_needs_the_duration(void **state)
{
#define A(mean, a, b, c, d) REPORT(TABLE("O", ROW("i", "C", mean, a, b, c, d)))
#define OVER                "counter='\\O(*)\\C' over='10' critical='20'"
    static const struct threshold_case cases[] = {
        {A("3", "1", "10", "1", "1"), RULES(OVER, SAY), RULES_NOTHING, NULL, NULL},
        {A("3", "1", "11", "1", "1"), RULES(OVER, SAY), RULES_WARNING, "i 11/10 5 11",
         "2026-03-02 08:05 to 08:10, 5 min in total; worst at 08:05: 11"},
        {A("3", "1", "11", "1", "1"), RULES(OVER " for='301'", SAY), RULES_NOTHING, NULL, NULL},
        {A("9", "13", "1", "11", "1"), RULES(OVER " for='600' unit='ms'", SAY), RULES_WARNING, "i 12/10 10 13 ms",
         "2026-03-02 08:00 to 08:15, 10 min in total; worst at 08:00: 13 ms"},
        /* The warning is an error only if the higher limit is also exceeded for that duration. */
        {A("9", "21", "1", "11", "1"), RULES(OVER " for='600'", SAY), RULES_WARNING, NULL, NULL},
        {A("9", "21", "1", "21", "1"), RULES(OVER " for='600'", SAY), RULES_ERROR, NULL, NULL},
        {A("9", "1", "1", "1", "12"), RULES(OVER " severity='information'", SAY), RULES_INFORMATION, NULL, NULL},
        /* If a report is shorter than twice the duration, or has no slices, the mean is compared. */
        {A("11", "1", "1", "1", "12"), RULES(OVER " for='900'", SAY), RULES_WARNING, "i 11/10 5 12", NULL},
        {A("9", "1", "1", "1", "12"), RULES(OVER " for='900'", SAY), RULES_NOTHING, NULL, NULL},
        {REPORT(TABLE("O", PLAIN("i", "C", "25.5"))), RULES(OVER, SAY), RULES_ERROR, "i 25.5/10 0 25.5", ""},
        {REPORT(TABLE("O", PLAIN("i", "C", ""))), RULES(OVER, SAY), RULES_NOTHING, NULL, NULL},
        /* A slice without a value must not count as zero. */
        {A("50", "", "50", "", ""), RULES("counter='\\O(*)\\C' under='10'", SAY), RULES_NOTHING, NULL, NULL},
        {A("50", "9", "50", "", "8"), RULES("counter='\\O(*)\\C' under='10' critical='5' scale='1000'", SAY),
         RULES_WARNING, "i 8500/10000 10 8000", "2026-03-02 08:00 to 08:20, 10 min in total; worst at 08:15: 8000"},
        /* With `least`, values of 0 do not count: a counter without activity is not slow. */
        {A("5", "0", "3", "0", "0"), RULES("counter='\\O(*)\\C' under='10' least='0' for='600'", SAY), RULES_NOTHING,
         NULL, NULL},
        {A("5", "0", "3", "4", "0"), RULES("counter='\\O(*)\\C' under='10' least='0' for='600'", SAY), RULES_WARNING,
         "i 3.5/10 10 3", NULL},
        {REPORT(TABLE("O", PLAIN("i", "C", "0"))), RULES("counter='\\O(*)\\C' under='10' least='0'", SAY),
         RULES_NOTHING, NULL, NULL},
        {A("5", "1", "1", "1", "12"), RULES(OVER " of='max' for='0'", SAY), RULES_WARNING, NULL, NULL},
        {A("5", "1", "1", "1", "9"), RULES("counter='\\O(*)\\C' under='2' of='min' for='900'", SAY), RULES_WARNING,
         "i 1/2 15 1", NULL},
    };
    CHECK(cases);
}

static void instances_are_those_of_the_path(void **state)
{
#define HIGH(instance) ROW(instance, "C", "30", "30", "30", "30", "30")
#define LOW(instance)  ROW(instance, "C", "3", "3", "3", "3", "3")
    static const struct threshold_case cases[] = {
        {REPORT(TABLE("O", HIGH("_Total") HIGH("Idle") HIGH("_Global_") LOW("a"))), RULES(OVER, SAY), RULES_NOTHING,
         NULL, NULL},
        {REPORT(TABLE("O", HIGH("_total"))), RULES("counter='\\o(_TOTAL)\\c' over='10'", SAY), RULES_WARNING, NULL,
         NULL},
        {REPORT(TABLE("O", HIGH(""))), RULES("counter='\\O\\C' over='10'", SAY), RULES_WARNING, NULL, NULL},
        {REPORT(TABLE("O", HIGH("a"))), RULES("counter='\\O\\C' over='10'", SAY), RULES_NOTHING, NULL, NULL},
        {REPORT(TABLE("O", HIGH(""))), RULES(OVER, SAY), RULES_NOTHING, NULL, NULL},
        {REPORT(TABLE("P", HIGH("w3wp#1"))), RULES("counter='\\O\\C|\\P(w3wp*)\\C' over='10'", SAY), RULES_WARNING,
         NULL, NULL},
        {REPORT(TABLE("O", HIGH("{value} $(x)"))), RULES(OVER, SAY), RULES_ERROR, "{value} $(x) 30/10 20 30", NULL},
        {REPORT(TABLE("O", LOW("a") ROW("b", "C", "40", "40", "40", "40", "40") HIGH("c"))
                    TABLE("O", HIGH("c") HIGH("d"))),
         RULES(OVER, SAY), RULES_ERROR, "b 40/10 20 40 and 2 more", NULL},
        {REPORT(TABLE("MSSQL$A:X", HIGH(""))),
         RULES("counter='\\SQLServer:X\\C' over='10'", "<Data name='symptom'>"
                                                       "{server} of {object}</Data>"),
         RULES_WARNING, "SQL Server A of MSSQL$A:X", NULL},
        {REPORT(TABLE("SQLServer:X", HIGH(""))),
         RULES("counter='\\SQLServer:X\\C' over='10'", "<Data name='symptom'>"
                                                       "{server}</Data>"),
         RULES_WARNING, "SQL Server", NULL},
        {REPORT(TABLE("O", HIGH("a"))), RULES(OVER " unless='\\P(*)\\C'", SAY), RULES_ERROR, NULL, NULL},
        {REPORT(TABLE("O", HIGH("a")) TABLE("P", LOW("a"))), RULES(OVER " unless='\\P(*)\\C'", SAY), RULES_NOTHING,
         NULL, NULL},
        {REPORT(TABLE("MSSQL$A:Y", HIGH(""))), RULES("counter='\\SQLServer:X\\C' over='10'", SAY), RULES_NOTHING, NULL,
         NULL},
    };
    CHECK(cases);
}

/* A quotient is computed from values of the same slice, the same instance and the same server. */
static void two_counters_are_joined_by_slice(void **state)
{
#define PAIR(a, b)                                                                                                     \
    REPORT(TABLE("O", ROW("i", "C", "1", a, "1", "1", "1") ROW("i", "D", "1", b, "100", "100", "100")                  \
                          ROW("k", "D", "9", "999", "999", "999", "999")))
#define PER "counter='\\O(*)\\C' per='\\O(*)\\D' factor='100' over='10' unit='%'"
    static const struct threshold_case cases[] = {
        {PAIR("9", "100"), RULES(PER, SAY), RULES_NOTHING, NULL, NULL},
        {PAIR("11", "100"), RULES(PER, SAY), RULES_WARNING, "i 11/10 5 11 %", NULL},
        {PAIR("11", "0"), RULES(PER, SAY), RULES_NOTHING, NULL, NULL},
        {PAIR("11", ""), RULES(PER, SAY), RULES_NOTHING, NULL, NULL},
        {PAIR("11", "5"), RULES(PER " least='5'", SAY), RULES_NOTHING, NULL, NULL},
        {PAIR("11", "6"), RULES(PER " least='5'", SAY), RULES_WARNING, NULL, NULL},
        {REPORT(TABLE("O", ROW("i", "C", "11", "11", "11", "11", "11"))), RULES(PER, SAY), RULES_NOTHING, NULL, NULL},
        {PAIR("11", "100"), RULES("counter='\\O(i)\\D' minus='\\O(*)\\C' over='98'", SAY), RULES_WARNING,
         "i 99/98 15 99", NULL},
        /* Each server's value must be divided by the number of requests of the same server. */
        {REPORT(TABLE("SQLServer:A", ROW("", "C", "5", "5", "5", "5", "5"))
                    TABLE("SQLServer:B", ROW("", "D", "10", "10", "10", "10", "10"))
                        TABLE("MSSQL$X:A", ROW("", "C", "5", "5", "5", "5", "5"))
                            TABLE("MSSQL$X:B", ROW("", "D", "100", "100", "100", "100", "100"))),
         RULES("counter='\\SQLServer:A\\C' per='\\SQLServer:B\\D' over='0.1'", "<Data name='symptom'>{server}{others}"
                                                                               "</Data>"),
         RULES_WARNING, "SQL Server", NULL},
    };
    CHECK(cases);
}

static void limits_can_be_relative_to_the_computer(void **state)
{
#define CPUS                                                                                                           \
    TABLE("Processor", PLAIN("0", "% Processor Time", "1") PLAIN("1", "% Processor Time", "1")                         \
                           PLAIN("_Total", "% Processor Time", "1"))
#define OF(machine, value)                                                                                             \
    REPORT(TABLE("O", "<Item>" CELL("counter", "C") CELL("machine", machine) CELL("mean", value) "</Item>") CPUS)
#define PROCESSORS "counter='\\O\\C' over='10' times='processors'"
#define MEMORY     "counter='\\O\\C' over='0.1' times='megabytes'"
    static const struct threshold_case cases[] = {
        {OF("", "20"), RULES(PROCESSORS, SAY), RULES_NOTHING, NULL, NULL},
        {OF("", "21"), RULES(PROCESSORS, SAY), RULES_WARNING, "21/20 0 21", NULL},
        {REPORT(TABLE("O", PLAIN("", "C", "900"))), RULES(PROCESSORS, SAY), RULES_NOTHING, NULL, NULL},
        {OF("", "100"), RULES(MEMORY, SAY), RULES_NOTHING, NULL, NULL},
        {OF("box", "101"), RULES(MEMORY, SAY), RULES_WARNING, "101/100 0 101", NULL},
        {OF("OTHER", "900"), RULES(MEMORY, SAY), RULES_NOTHING, NULL, NULL},
        {OF("", "104857600"), RULES("counter='\\O\\C' over='0.1' times='bytes'", SAY), RULES_NOTHING, NULL, NULL},
        {OF("", "104857601"), RULES("counter='\\O\\C' over='0.1' times='bytes'", SAY), RULES_WARNING, NULL, NULL},
    };
    CHECK(cases);
}

/* Some counters count events since a program started. Their values mean nothing, and they may restart at 0. */
static void increase_is_the_sum_of_all_increases(void **state)
{
#define GROWS "counter='\\O(*)\\C' over='3' of='increase'"
    static const struct threshold_case cases[] = {
        {A("9", "100", "100", "103", "103"), RULES(GROWS, SAY), RULES_NOTHING, NULL, NULL},
        {A("9", "100", "102", "102", "104"), RULES(GROWS, SAY), RULES_WARNING, "i 4/3 10 2",
         "2026-03-02 08:05 to 08:20, 10 min in total; worst at 08:05: 2"},
        {A("9", "100", "102", "0", "3"), RULES(GROWS, SAY), RULES_WARNING, "i 5/3 10 3", NULL},
        {A("9", "100", "50", "20", "3"), RULES(GROWS, SAY), RULES_NOTHING, NULL, NULL},
    };
    CHECK(cases);
}

static void growth_must_be_steady(void **state)
{
    static const struct {
        double values[12];
        bool found;
    } series[] = {
        {{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110}, true},
        {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, false},
        {{0, 0, 0, 0, 0, 0, 200, 200, 200, 150, 100, 50}, false}, /* it decreased */
        {{110, 100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 0}, false},
    };
    for (size_t i = 0; i < sizeof series / sizeof *series; i++) {
        struct text_buffer b = {0};
        struct ruled r;
        text_buffer_add(&b,
                        "<Report name='r'><Section name='s'>"
                        "<Table name='t' source='O'><Item>" CELL("counter", "C") "<Table name='slices' note='300'>");
        for (int k = 0; k < 12; k++)
            text_buffer_format(&b,
                               "<Item>" CELL("start", "2026-03-02T08:%02d:00.000Z")
                                   CELL("end", "2026-03-02T08:%02d:00.000Z") CELL("mean", "%g") "</Item>",
                               5 * k, 5 * k + 5, series[i].values[k]);
        text_buffer_add(&b, "</Table></Item></Table></Section><StringTable/></Report>");
        rules_write_file(*state, "report.xml", b.text);
        text_buffer_free(&b);
        rules_run_over(&r, *state,
                       RULES("counter='\\O\\C' over='100' of='trend'", "<Data name='symptom'>{value}</Data>"));
        assert_no_fault(&r);
        assert_int_equal(r.outcome.warning_count, series[i].found);
        if (series[i].found) {
            assert_string_equal(r.outcome.warnings[0].symptom, "120");
            assert_string_equal(r.outcome.warnings[0].when, "2026-03-02 08:00 to 08:60");
        }
        ruled_free(&r);
    }
}

/* The links and charts of a page need some of these parts, and scripts need the others. */
static void a_warning_has_all_its_parts(void **state)
{
    struct ruled r;
    rules_write_file(*state, "report.xml", A("9", "21", "21", "1", "1"));
    rules_run_over(&r, *state, RULES(OVER, "<Data name='cause'>because {minutes}</Data>"));
    assert_no_fault(&r);
    assert_int_equal(r.outcome.known, 1);
    assert_has(&r,
               "<Data name=\"symptom\" img=\"Red\" link=\"t\" message=\"t\" limit=\"20\">O i was over 10: 21</Data>");
    assert_has(&r, "<Data name=\"first\" message=\"t\">2026-03-02T08:00:00.000Z</Data>");
    assert_has(&r, "<Data name=\"last\" message=\"t\">2026-03-02T08:10:00.000Z</Data>");
    assert_has(&r, "<Data name=\"seconds\" message=\"t\">600</Data>");
    assert_has(&r, "<Data name=\"worstAt\" message=\"t\">2026-03-02T08:00:00.000Z</Data>");
    assert_has(&r, "<Data name=\"cause\" message=\"t\">because 10</Data>");
    assert_has(&r, ">Counter: \\O(i)\\C. Limit: over 10, serious over 20, for 5 min.</Data>");
    assert_has(&r, "<Item tag=\"t\" rules=\"tag\">");
    ruled_free(&r);
    rules_run_over(&r, *state, RULES("counter='\\P\\C' over='1'", "")); /* other rules remove the warning completely */
    assert_has_not(&r, "symptom");
    assert_true(rules_know_nothing(&r.outcome));
    ruled_free(&r);
}

/* On a day with many bad disks, a warning must not fill the page. */
static void at_most_sixteen_others_are_named(void **state)
{
    struct text_buffer b = {0};
    struct ruled r;
    text_buffer_add(&b, "<Report name='r'><Section name='s'><Table name='t' source='O'>");
    for (int i = 0; i < 30; i++)
        text_buffer_format(&b, "<Item>" CELL("counter", "C") CELL("instance", "d%02d") CELL("mean", "%d") "</Item>", i,
                           11 + i);
    text_buffer_add(&b, "</Table></Section><StringTable/></Report>");
    rules_write_file(*state, "report.xml", b.text);
    text_buffer_free(&b);
    rules_run_over(&r, *state, RULES("counter='\\O(*)\\C' over='10'", SAY));
    assert_no_fault(&r);
    assert_int_equal(r.outcome.warning_count, 1);
    assert_string_equal(r.outcome.warnings[0].symptom, "d29 40/10 0 40 and 29 more");
    assert_non_null(strstr(r.outcome.warnings[0].details, "Also beyond the limit: d28 (39), d27 (38)"));
    assert_non_null(strstr(r.outcome.warnings[0].details, "d13 (24) and 13 more."));
    ruled_free(&r);
}

static void mistakes_are_reported_with_their_place(void **state)
{
    static const char *const mistakes[][2] = {
        {"counter='\\O\\C'", "Threshold over: expected either over or under"},
        {"counter='\\O\\C' over='1' under='2'", "over=\"1\": expected either over or under"},
        {"counter='O\\C' over='1'", "counter=\"O\\C\": expected a counter path that begins with \\"},
        {"counter='\\O(\\C' over='1'", "expected \\Object\\Counter or \\Object(instance)\\Counter"},
        {"counter='\\O()\\C' over='1'", "expected \\Object\\Counter or"},
        {"counter='\\O\\C|' over='1'", "expected \\Object\\Counter or"},
        {"counter='\\O\\' over='1'", "expected \\Object\\Counter or"},
        {"counter='\\O\\C' over='many'", "over=\"many\": expected a number"},
        {"counter='\\O\\C' over='1e9'", "expected a number"},
        {"counter='\\O\\C' over='inf'", "expected a number"},
        {"counter='\\O\\C' over='10' critical='9'", "critical=\"9\": expected a value at or beyond the limit"},
        {"counter='\\O\\C' under='10' critical='11'", "expected a value at or beyond the limit"},
        {"counter='\\O\\C' over='10' of='mode'", "of=\"mode\": unknown word"},
        {"counter='\\O\\C' over='10' of='max' per='\\O\\D'", "the attributes per and minus require the measure 'mean'"},
        {"counter='\\O\\C' over='10' per='D'", "per=\"D\": expected a counter path"},
        {"counter='\\O\\C' over='10' for='-1'", "for=\"-1\": expected a number"},
        {"counter='\\O\\C' over='10' times='disks'", "times=\"disks\": unknown word"},
        {"over='10'", "counter"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct rules *r = rules_create();
        char *text =
            text_format("<Rules><Group name='g'><Rule name='r'><Threshold %s/></Rule></Group></Rules>", mistakes[i][0]);
        assert_int_equal(rules_add(r, "r.xml", text, strlen(text)), S_OK);
        if (rules_errors(r)->count != 1 || !strstr(rules_errors(r)->items[0], mistakes[i][1]) ||
            !strstr(rules_errors(r)->items[0], "r.xml: group 'g': rule 'r': line 1: Threshold"))
            fail_msg("%s: %s", mistakes[i][0], rules_errors(r)->count ? rules_errors(r)->items[0] : "accepted");
        memory_free(text);
        rules_free(r);
    }
    (void)state;
}

static HRESULT count_listed(void *context, const struct rules_listed *one)
{
    struct text_buffer *b = context;
    text_buffer_format(b, "%s|%s|%s|%s|%s|%s|%s|%d\n", one->pack, one->group, one->rule, one->tag, one->severity,
                       one->limits, one->source, one->enabled);
    return S_OK;
}

static void a_list_names_limits_and_sources(void **state)
{
    static const char rules[] =
        "<Rules><Group name='$(g)'><Rule name='a' source='me'><Threshold tag='t' counter='\\O\\C' per='\\O\\D' "
        "over='5' "
        "critical='9' unit='%' times='processors'/></Rule><Rule name='b' enabled='false'><Step select='/'><Exists>"
        "<Otherwise><Warning tag='w'><Item><Data name='symptom' img='Red' link='w' limit='7'>s</Data></Item></Warning>"
        "</Otherwise></Exists></Step></Rule><Rule name='no finding'><Step select='/'/></Rule><Rule name='c' limits='L' "
        "source='S'><Step select='/'><Otherwise><Warning><Item><Data name='symptom' img='{x}'>s</Data></Item></Warning>"
        "</Otherwise></Step></Rule></Group><StringTable><String ID='g'>G</String></StringTable></Rules>";
    struct rules *r = rules_create();
    struct text_buffer b = {0};
    (void)state;
    assert_int_equal(rules_add(r, "r.xml", rules, strlen(rules)), S_OK);
    assert_int_equal(rules_list(r, NULL, count_listed, &b), S_OK);
    assert_string_equal(b.text, "r.xml|G|a|t|warning, error|\\O\\C, divided by \\O\\D: over 5 % per processor, serious "
                                "over 9 % per processor, for 5 min|me|1\n"
                                "r.xml|G|b|w|error|limit 7||0\n"
                                "r.xml|G|c|c|warning|L|S|1\n");
    text_buffer_free(&b);
    rules_free(r);
}

static int make(void **state)
{
    *state = scratch_create("rules_threshold");
    scratch_environment("systemroot", *state); /* a folder without rules */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threshold_needs_the_duration),
        cmocka_unit_test(instances_are_those_of_the_path),
        cmocka_unit_test(two_counters_are_joined_by_slice),
        cmocka_unit_test(limits_can_be_relative_to_the_computer),
        cmocka_unit_test(increase_is_the_sum_of_all_increases),
        cmocka_unit_test(growth_must_be_steady),
        cmocka_unit_test(a_warning_has_all_its_parts),
        cmocka_unit_test(at_most_sixteen_others_are_named),
        cmocka_unit_test(mistakes_are_reported_with_their_place),
        cmocka_unit_test(a_list_names_limits_and_sources),
    };
    return cmocka_run_group_tests(tests, make, scratch_end);
}
