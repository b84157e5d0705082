/* SPDX-License-Identifier: MIT */
/* The values in event tables. Tests each attribute of a schema's columns, joins, transactions and sub-tables. An error
   here would cause wrong numbers in a report. */
#include "tests/unit/report/event_table_fixture.h"

/* Creates the table from these events, and compares its lines with the expected ones. */
static void expect(const char *table, const struct made_event *events, size_t count, const char *expected,
                   const char *warning)
{
    struct table_fixture f;
    HRESULT hr;
    table_open(&f, table);
    table_create(&f);
    assert_int_equal(f.created, S_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(table_feed(&f, &events[i]), S_OK);
    char *lines = table_output(&f, &hr);
    assert_int_equal(hr, S_OK);
    assert_string_equal(lines, expected);
    if (warning && !table_warned(&f, warning))
        fail_msg("no warning \"%s\" among %zu, first \"%s\"", warning, f.warnings.count,
                 f.warnings.count ? f.warnings.items[0] : "");
    memory_free(lines);
    table_close(&f);
}
#define COUNT(events) (sizeof(events) / sizeof *(events))

/* Class A: process 4 wrote 100 bytes, then process 8 wrote 50, then process 4 wrote 300. */
static const struct made_event writes[] = {
    {.class = 'A', .opcode = 11, .version = 3, .process = 4, .thread = 40, .ms = 1000, .size = 100, .name = "one"},
    {.class = 'A', .opcode = 11, .version = 3, .process = 8, .thread = 80, .ms = 2000, .size = 50, .name = "two"},
    {.class = 'B', .opcode = 11, .version = 3, .process = 8, .thread = 80, .ms = 2500, .size = 77, .name = "other"},
    {.class = 'A', .opcode = 11, .version = 3, .process = 4, .thread = 41, .ms = 3000, .size = 300, .name = "three"},
};

static void groups_have_sums_means_and_rates(void **state)
{
    (void)state;
    expect("<EventTable name='writers' rowcount='1000'>" COLUMN("pid", "groupby='true'", "sys:PID", CLASS_A, "11", "")
               COLUMN("bytes", "sort='primary' summary='total'", "Size", CLASS_A, "11", "aggregate='total'")
                   COLUMN("rate", "", "Size", CLASS_A, "11", "aggregate='rate'")
                       COLUMN("mean", "summary='average'", "Size", CLASS_A, "11", "aggregate='average'")
                           COLUMN("count", "", "sys:AggregateCount", CLASS_A, "11", "")
                               COLUMN("each second", "", "sys:RequestRate", CLASS_A, "11", "") "</EventTable>",
           writes, COUNT(writes), "4|400|40|200|2|0.2|\n8|50|5|50|1|0.1|\n=|450||125|||\n", NULL);
    expect("<EventTable name='ascending'>" COLUMN("pid", "groupby='true'", "sys:PID", CLASS_A, "11", "") COLUMN(
               "bytes", "sort='primary' order='ascending'", "Size", CLASS_A, "11", "aggregate='total'") "</EventTable>",
           writes, COUNT(writes), "8|50|\n4|400|\n", NULL);
    expect("<EventTable name='first' rowcount='1'>" COLUMN("pid", "groupby='true'", "sys:PID", CLASS_A, "11", "")
               COLUMN("bytes", "sort='primary' summary='total'", "Size", CLASS_A, "11", "aggregate='total'")
                   COLUMN("name", "", "Name", CLASS_A, "11", "") "</EventTable>",
           writes, COUNT(writes), "4|400|one|\n=|450||\n", "column 'name'");
    expect("<EventTable name='all'>" COLUMN("count", "", "sys:AggregateCount", CLASS_A, "11", "") "</EventTable>",
           writes, COUNT(writes), "3|\n", NULL);
}

static void rates_without_duration_are_empty(void **state)
{
    struct table_fixture f;
    HRESULT hr;
    (void)state;
    table_open(&f, "<EventTable name='t'>" COLUMN("pid", "groupby='true'", "sys:PID", CLASS_A, "11", "")
                       COLUMN("rate", "", "Size", CLASS_A, "11", "aggregate='rate'") "</EventTable>");
    f.seconds = 0;
    table_create(&f);
    assert_int_equal(table_feed(&f, &writes[0]), S_OK);
    char *lines = table_output(&f, &hr);
    assert_string_equal(lines, "4||\n");
    memory_free(lines);
    table_close(&f);
}

static void rows_show_every_field(void **state)
{
    static const struct made_event event[] = {{.class = 'A',
                                               .opcode = 11,
                                               .process = 4,
                                               .thread = 40,
                                               .ms = 1500,
                                               .kernel = 2,
                                               .user = 3,
                                               .size = 260,
                                               .name = "a<b"}};
    (void)state;
    expect("<EventTable name='t'>" COLUMN("a", "", "Size", CLASS_A, "11", "")
               COLUMN("b", "", "Ratio", CLASS_A, "11", "") COLUMN("c", "", "Address", CLASS_A, "11", "")
                   COLUMN("d", "", "Port", CLASS_A, "11", "") COLUMN("e", "", "Signed", CLASS_A, "11", "")
                       COLUMN("f", "", "Flags", CLASS_A, "11", "") COLUMN("g", "", "When", CLASS_A, "11", "")
                           COLUMN("h", "", "name", CLASS_A, "11", "")
                               COLUMN("i", "", "List", CLASS_A, "11", "") "</EventTable>",
           event, 1, "260|65|10.0.1.4|8080|-260|0x104|2024-01-17T21:24:20.000000000Z|a<b|1,2|\n", NULL);
    expect("<EventTable name='t'>" COLUMN("a", "", "sys:Opcode", CLASS_A, "11", "")
               COLUMN("b", "outType='xs:unsignedByte'", "sys:opcode", CLASS_A, "11", "")
                   COLUMN("c", "", "sys:Task", CLASS_A, "11", "") COLUMN("d", "", "sys:ProviderName", CLASS_A, "11", "")
                       COLUMN("e", "", "sys:TID", CLASS_A, "11", "")
                           COLUMN("f", "outType='win:HexInt32'", "sys:PID", CLASS_A, "11", "")
                               COLUMN("g", "", "sys:Timestamp", CLASS_A, "11", "")
                                   COLUMN("h", "outType='xs:dateTime'", "sys:Timestamp", CLASS_A, "11", "")
                                       COLUMN("i", "", "sys:KCPU", CLASS_A, "11", "")
                                           COLUMN("j", "", "sys:UCPU", CLASS_A, "11", "")
                                               COLUMN("k", "", "sys:ActivityId", CLASS_A, "11", "") "</EventTable>",
           event, 1, "Does|11|Made|Maker|40|0x4|133500000015000000|2024-01-17T21:20:01.500000000Z|31.25|46.875||\n",
           NULL);
    expect("<EventTable name='t'>" COLUMN("a", "outType='win:HexInt32'", "Size", CLASS_A, "11", "")
               COLUMN("b", "outType='win:IPv4'", "Size", CLASS_A, "11", "")
                   COLUMN("c", "outType='xs:boolean'", "Size", CLASS_A, "11", "")
                       COLUMN("d", "outType='xs:byte'", "Signed", CLASS_A, "11", "")
                           COLUMN("e", "outType='xs:unsignedInt'", "Flags", CLASS_A, "11", "")
                               COLUMN("f", "outType='xs:unsignedShort'", "Signed", CLASS_A, "11", "") "</EventTable>",
           event, 1, "0x104|4.1.0.0|true|-260|260|65276|\n", NULL);
}

static void rows_are_sorted_by_value(void **state)
{
    (void)state;
    expect("<EventTable name='t'>" COLUMN("pid", "sort='primary' order='ascending'", "sys:PID", CLASS_A, "11", "")
               COLUMN("size", "sort='secondary'", "Size", CLASS_A, "11", "") "</EventTable>",
           writes, COUNT(writes), "4|300|\n4|100|\n8|50|\n", NULL);
    expect("<EventTable name='t'>" COLUMN("name", "sort='primary' order='ascending'", "Name", CLASS_A, "11",
                                          "") "</EventTable>",
           writes, COUNT(writes), "one|\nthree|\ntwo|\n", NULL);
    expect("<EventTable name='as they come'>" COLUMN("size", "summary='average'", "Size", CLASS_A, "11",
                                                     "") "</EventTable>",
           writes, COUNT(writes), "100|\n50|\n300|\n=150|\n", NULL);
}

/* One table can have columns of two kinds of event, such as reads and writes, and group both by process. */
static void event_kinds_are_grouped_together(void **state)
{
    static const struct made_event both[] = {
        {.class = 'A', .opcode = 10, .process = 4, .size = 7},
        {.class = 'A', .opcode = 11, .process = 4, .size = 20},
        {.class = 'A', .opcode = 11, .process = 8, .size = 30},
        {.class = 'A', .opcode = 12, .process = 8, .size = 1000},
    };
    (void)state;
    expect("<EventTable name='t'>" COLUMN("pid", "groupby='true' sort='primary' order='ascending'", "sys:PID", CLASS_A,
                                          "10", "") COLUMN("reads", "", "Size", CLASS_A, "10", "aggregate='total'")
               COLUMN("writes", "", "Size", CLASS_A, "11", "aggregate='total'")
                   COLUMN("write count", "", "sys:AggregateCount", CLASS_A, "11", "")
                       COLUMN("all", "", "sys:AggregateCount", CLASS_A, "*", "") "</EventTable>",
           both, COUNT(both), "4|7|20|1|2|\n8||30|1|2|\n", NULL);
    expect(
        "<EventTable name='t'>" COLUMN("task", "groupby='true'", "sys:Task", "{00000000-0000-0000-0000-000000000000}",
                                       "*", "")
            COLUMN("all", "", "sys:AggregateCount", "{00000000-0000-0000-0000-000000000000}", "*", "") "</EventTable>",
        writes, COUNT(writes), "Made|4|\n", NULL);
}

static void sub_tables_have_the_events_of_their_row(void **state)
{
    (void)state;
    expect("<EventTable name='t' rowcount='1'>" COLUMN("pid", "groupby='true'", "sys:PID", CLASS_A, "11", "")
               COLUMN("bytes", "sort='primary'", "Size", CLASS_A, "11",
                      "aggregate='total'") "<SubTable>" COLUMN("size", "sort='primary'", "Size", CLASS_A, "11", "")
                   COLUMN("name", "", "Name", CLASS_A, "11", "") "</SubTable></EventTable>",
           writes, COUNT(writes), "4|400|[300|three|;100|one|;]\n", NULL);
    expect("<EventTable name='t'>" COLUMN("pid", "groupby='true'", "sys:PID", CLASS_A, "11", "")
               COLUMN("bytes", "sort='primary' order='ascending'", "Size", CLASS_A, "11",
                      "aggregate='total'") "<SubTable>" COLUMN("size", "", "Size", CLASS_A, "11",
                                                               "") "</SubTable></EventTable>",
           writes, COUNT(writes), "8|50|[50|;]\n4|400|[100|;300|;]\n", NULL);
    expect("<EventTable name='t'>" COLUMN("pid", "", "sys:PID", CLASS_A, "11", "") "<SubTable>" COLUMN(
               "size", "", "Size", CLASS_A, "11", "") "</SubTable></EventTable>",
           writes, COUNT(writes), "4|[100|;]\n8|[50|;]\n4|[300|;]\n", NULL);
}

/* ---- joins ---- */

static void joined_events_share_a_value(void **state)
{
    static const struct made_event events[] = {
        {.class = 'A', .opcode = 1, .process = 4, .size = 5, .name = "a"},
        {.class = 'B', .opcode = 1, .process = 5, .size = 100, .name = "x"},
        {.class = 'A', .opcode = 1, .process = 5, .size = 6, .name = "b"},
        {.class = 'B', .opcode = 1, .process = 5, .size = 200, .name = "y"},
        {.class = 'B', .opcode = 1, .process = 9, .size = 300, .name = "z"},
        {.class = 'A', .opcode = 1, .process = 5, .size = 7, .name = "c"},
    };
    (void)state;
    expect("<EventTable name='t'>" COLUMN("a", "sort='primary' order='ascending'", "Name", CLASS_A, "1", "")
               COLUMN("b", "sort='secondary' order='ascending'", "Name", CLASS_B, "1",
                      "") "<EqualJoin><EventJoinField field='sys:PID' payloadGuid='" CLASS_A
                          "' payloadId='1'/><EventJoinField field='sys:PID' payloadGuid='" CLASS_B
                          "' payloadId='1'/></EqualJoin></EventTable>",
           events, COUNT(events), "b|x|\nb|y|\nc|x|\nc|y|\n", NULL);
    expect("<EventTable name='t'>" COLUMN("b", "groupby='true'", "Name", CLASS_B, "1", "")
               COLUMN("sum", "sort='primary' order='ascending'", "Size", CLASS_A, "1", "aggregate='total'")
                   COLUMN("count", "", "sys:AggregateCount", CLASS_A, "1",
                          "") "<EqualJoin><EventJoinField field='sys:PID' payloadGuid='" CLASS_A
                              "' payloadId='1'/><EventJoinField field='sys:PID' payloadGuid='" CLASS_B
                              "' payloadId='1'/></EqualJoin></EventTable>",
           events, COUNT(events), "x|13|2|\ny|13|2|\n", NULL);
}

/* ---- transactions ---- */

/* One tick of the processor clock is 15.625 ms. */
static void end_closes_the_newest_begin_of_its_thread(void **state)
{
    static const struct made_event events[] = {
        {.class = 'A', .opcode = 1, .thread = 9, .ms = 10, .name = "outer"},
        {.class = 'B', .opcode = 1, .thread = 9, .ms = 11},
        {.class = 'A', .opcode = 1, .thread = 9, .ms = 12, .name = "inner"},
        {.class = 'A', .opcode = 2, .thread = 8, .ms = 13, .kernel = 1},
        {.class = 'A', .opcode = 2, .thread = 9, .ms = 15, .kernel = 1, .size = 1},
        {.class = 'A', .opcode = 2, .thread = 9, .ms = 30, .user = 1, .size = 2},
        {.class = 'A', .opcode = 1, .thread = 9, .ms = 40, .name = "unfinished"},
    };
    (void)state;
    expect("<EventTable name='t' transaction='true'>" COLUMN("name", "", "Name", CLASS_A, "1", "")
               COLUMN("ms", "summary='total'", "sys:ResponseTime", CLASS_A, "1", "")
                   COLUMN("cpu", "", "sys:CPUPercent", CLASS_A, "1", "")
                       COLUMN("size", "", "Size", CLASS_A, "2", "") "</EventTable>",
           events, COUNT(events), "inner|3|520.8333333333334|1|\nouter|20|78.125|2|\n=|23|||\n",
           "1 did not finish, 1 began before the traces");
    expect("<EventTable name='t' transaction='true'>" COLUMN("tid", "groupby='true'", "sys:TID", CLASS_A, "1", "")
               COLUMN("mean", "", "sys:ResponseTime", CLASS_A, "1", "aggregate='average'")
                   COLUMN("count", "", "sys:AggregateCount", CLASS_A, "1", "") "</EventTable>",
           events, COUNT(events), "9|11.5|2|\n", NULL);
}

/* ---- invalid events ---- */

static void values_that_do_not_fit_are_reported(void **state)
{
    static const struct made_event broken[] = {
        {.class = 'A', .opcode = 11, .version = 2, .process = 4, .size = 1, .cut = true},
        {.class = 'A', .opcode = 11, .version = 2, .process = 4, .size = 2, .unknown = true},
        {.class = 'A', .opcode = 11, .version = 2, .process = 4, .size = 3, .name = "whole"},
    };
    static const char of_name[] =
        "<EventTable name='t'>" COLUMN("name", "", "Name", CLASS_A, "11", "version='3'") "</EventTable>";
    (void)state;
    expect(of_name, broken, COUNT(broken), "whole|\n", "2 events could not be decoded");
    expect(of_name, broken, COUNT(broken), "whole|\n", "a version other than 3, such as 2");
    expect(of_name, broken + 1, 1, "", "1 events could not be decoded"); /* here the first event cannot be decoded */
    expect(of_name, broken, 0, "", "the traces contain no event 11 of " CLASS_A);
    expect("<EventTable name='t'>" COLUMN("pid", "", "sys:PID", CLASS_A, "11", "")
               COLUMN("none", "", "Nothing", CLASS_A, "11", "") "</EventTable>",
           writes, 1, "4||\n", "field 'Nothing': version 3 of event 11 has no such property");
    expect("<EventTable name='t'>" COLUMN("pid", "groupby='true'", "sys:PID", CLASS_A, "11", "")
               COLUMN("sum", "", "Name", CLASS_A, "11", "aggregate='total'") "</EventTable>",
           writes, COUNT(writes), "", "column 'sum' cannot be aggregated: its field 'Name' is not a number");
}

/* ---- little memory ---- */

enum { MANY = 8000, MANY_KEYS = 3000 };

static HRESULT feed_many(struct table_fixture *f, unsigned count)
{
    HRESULT hr = S_OK;
    for (unsigned i = 0; i < count && SUCCEEDED(hr); i++) {
        char name[40];
        const struct made_event e = {
            .class = 'A', .opcode = 11, .process = i * 2654435761u % MANY_KEYS, .ms = i, .size = i, .name = name};
        snprintf(name, sizeof name, "name of event %u", i);
        hr = table_feed(f, &e);
    }
    return hr;
}

static const char many_table[] =
    "<EventTable name='t' rowcount='3'>" COLUMN("pid", "groupby='true'", "sys:PID", CLASS_A, "11", "")
        COLUMN("bytes", "sort='primary' summary='total'", "Size", CLASS_A, "11",
               "aggregate='total'") "<SubTable>" COLUMN("size", "", "Size", CLASS_A, "11", "")
            COLUMN("name", "", "Name", CLASS_A, "11", "") "</SubTable></EventTable>";

/* A table supports only a limited number of kinds of event, but the reader of schemas accepts any number. */
static void invalid_table_does_not_affect_others(void **state)
{
    struct table_fixture f;
    HRESULT hr;
    struct text_buffer table = {0};
    (void)state;
    text_buffer_add(&table, "<EventTable name='t'>");
    for (unsigned i = 0; i < 20; i++)
        text_buffer_format(&table,
                           "<Column name='c%u'><EventField field='Size' payloadGuid='%s' payloadId='%u'/></Column>", i,
                           CLASS_A, i);
    text_buffer_add(&table, "</EventTable>");
    expect(table.text, writes, COUNT(writes), "", "its columns use more than 16 event sources");
    text_buffer_free(&table);
    table_open(&f, many_table);
    table_create(&f);
    assert_int_equal(feed_many(&f, 600), S_OK);
    f.stopped = true;
    assert_null(table_output(&f, &hr));
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_CANCELLED));
    table_close(&f);
}

/* The rows must be the same with any amount of memory. */
static void memory_limit_changes_no_row(void **state)
{
    static const size_t memories[] = {1u << 16, 64u << 20};
    char *lines[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct table_fixture f;
        HRESULT hr;
        table_open(&f, many_table);
        f.memory = memories[i];
        table_create(&f);
        assert_int_equal(feed_many(&f, MANY), S_OK);
        lines[i] = table_output(&f, &hr);
        assert_int_equal(hr, S_OK);
        table_close(&f);
    }
    assert_string_equal(lines[0], lines[1]);
    assert_non_null(strstr(lines[0], "=|31996000|"));
    memory_free(lines[0]);
    memory_free(lines[1]);
}

/* Adds events that tables of all kinds can use: for groups, pairs, begins and ends. */
static HRESULT feed_all_kinds(struct table_fixture *f)
{
    HRESULT hr = S_OK;
    for (unsigned i = 0; i < 240 && SUCCEEDED(hr); i++) {
        char name[40];
        const struct made_event e = {.class = i % 3 ? 'A' : 'B',
                                     .opcode = (uint8_t)(i % 3 ? i % 3 : 1),
                                     .thread = i / 3 % 70,
                                     .process = i / 3 % 50,
                                     .ms = i,
                                     .size = i,
                                     .name = name};
        snprintf(name, sizeof name, "name of event %u", i);
        hr = table_feed(f, &e);
    }
    return hr;
}

static void out_of_memory_at_each_call(const char *table)
{
    HRESULT hr = E_OUTOFMEMORY;
    unsigned fail_at = 0;
    while (hr == E_OUTOFMEMORY && ++fail_at < 3000) {
        struct table_fixture f;
        char *lines = NULL;
        table_open(&f, table);
        f.memory = 1u << 14;
        memory_fail_at(fail_at);
        table_create(&f);
        hr = f.created;
        if (SUCCEEDED(hr))
            hr = feed_all_kinds(&f);
        if (SUCCEEDED(hr))
            lines = table_output(&f, &hr);
        if (SUCCEEDED(hr) && !lines)
            hr = E_OUTOFMEMORY;
        memory_fail_at(0);
        assert_true(FAILED(hr) || strstr(lines, "\n"));
        memory_free(lines);
        table_close(&f);
    }
    assert_int_equal(hr, S_OK);
    assert_true(fail_at > 30);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    out_of_memory_at_each_call(
        "<EventTable name='t' rowcount='3'>" COLUMN("pid", "groupby='true'", "sys:PID", CLASS_A, "1", "") COLUMN(
            "bytes", "sort='primary' summary='total'", "Size", CLASS_A, "1",
            "aggregate='total'") "<SubTable>" COLUMN("name", "", "Name", CLASS_A, "1", "") "</SubTable></EventTable>");
    out_of_memory_at_each_call("<EventTable name='t'>" COLUMN("a", "sort='primary'", "Name", CLASS_A, "1", "") COLUMN(
        "b", "", "Name", CLASS_B, "1", "") "<EqualJoin><EventJoinField field='sys:PID' payloadGuid='" CLASS_A
                                           "' payloadId='1'/><EventJoinField field='sys:PID' payloadGuid='" CLASS_B
                                           "' payloadId='1'/></EqualJoin></EventTable>");
    out_of_memory_at_each_call(
        "<EventTable name='t' transaction='true'>" COLUMN("name", "sort='primary'", "Name", CLASS_A, "1", "")
            COLUMN("ms", "", "sys:ResponseTime", CLASS_A, "1", "") "</EventTable>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_have_sums_means_and_rates),
        cmocka_unit_test(rates_without_duration_are_empty),
        cmocka_unit_test(rows_show_every_field),
        cmocka_unit_test(rows_are_sorted_by_value),
        cmocka_unit_test(event_kinds_are_grouped_together),
        cmocka_unit_test(sub_tables_have_the_events_of_their_row),
        cmocka_unit_test(joined_events_share_a_value),
        cmocka_unit_test(end_closes_the_newest_begin_of_its_thread),
        cmocka_unit_test(values_that_do_not_fit_are_reported),
        cmocka_unit_test(invalid_table_does_not_affect_others),
        cmocka_unit_test(memory_limit_changes_no_row),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
