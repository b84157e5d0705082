/* SPDX-License-Identifier: MIT */
/* Reports of counter logs. Their numbers must equal those of the logs. After a failure, no partial report may be left,
   and the old report must be unchanged. */
#include "engine/report/make/report_document.h"
#include "engine/report/report.h"
#include "engine/report/report_reader.h"
#include "tests/unit/scratch_folder.h"

#define HEAD       "\"(PDH-CSV 4.0) (UTC)(0)\""
#define AT(second) "\"01/02/2026 03:04:" second ".000\""

struct made {
    char *folder, *output;
    struct texts inputs;
    struct report_schema schema;
    struct texts warnings;
};

static void put(struct made *m, const char *name, const char *text)
{
    char *path = path_join(m->folder, name);
    assert_int_equal(file_store(path, text, strlen(text)), S_OK);
    assert_int_equal(texts_add_owned(&m->inputs, path), S_OK);
}

static void begin(void **state, struct made *m, const char *tables)
{
    *m = (struct made){.folder = *state};
    m->output = path_join(*state, "made.xml");
    char *text = text_format("<Report name='r' version='1'><Sections><Section name='s' key='1'>%s</Section></Sections>"
                             "<StringTable><String ID='s'>Section</String></StringTable></Report>",
                             tables);
    assert_int_equal(report_schema_add(&m->schema, "schema.xml", text, strlen(text), NULL), S_OK);
    report_schema_order(&m->schema);
    memory_free(text);
}

static void end(struct made *m)
{
    for (size_t i = 0; i < m->inputs.count; i++)
        file_delete(m->inputs.items[i]);
    file_delete(m->output);
    memory_free(m->output);
    texts_free(&m->inputs);
    texts_free(&m->warnings);
    report_schema_free(&m->schema);
}

static HRESULT make(struct made *m)
{
    const struct report_make make = {.inputs = &m->inputs, .schema = &m->schema, .output = m->output};
    return report_make(&make, &m->warnings);
}

/* Write the report as text: each fact as "name=text ", and each table as its name and rows of cells ("; a|b"). */
static HRESULT add_fact(void *about, const struct report_data *fact)
{
    text_buffer_format(about, "%s=%s ", fact->name, fact->text);
    return S_OK;
}

static HRESULT add_table(void *about, const struct report_table *table)
{
    text_buffer_format(about, "\n%s:", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        text_buffer_format(about, "%s%s", i ? "|" : " ", table->columns[i].name);
    return S_OK;
}

static HRESULT add_row(void *about, const struct report_table *table, const struct report_row *row)
{
    const bool of_files = !strcmp(table->name, "remarks"); /* the folder in its paths differs in each run */
    for (size_t i = 0; i < row->cell_count; i++)
        text_buffer_format(about, "%s%s", i ? "|" : "; ",
                           of_files ? path_name(row->cells[i].text) : row->cells[i].text);
    return S_OK;
}

static void assert_report(struct made *m, const char *wanted)
{
    static const struct report_handlers handlers = {.fact = add_fact, .table_begin = add_table, .row = add_row};
    struct text_buffer b = {0};
    struct texts warnings = {0};
    const HRESULT hr = make(m);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    assert_int_equal(report_read(m->output, &handlers, &b, &warnings), S_OK);
    assert_int_equal(warnings.count, 0);
    assert_string_equal(b.text, wanted);
    text_buffer_free(&b);
    texts_free(&warnings);
}

#define MEMORY "\"\\\\HOST\\Memory\\Available MBytes\""

/* A slice begins at a multiple of its length. If it has no value, it is empty, not 0. */
static void test_slices_are_in_the_row_of_their_counter(void **state)
{
    struct made m;
    begin(state, &m, "<CounterTable name='memory' topic='t' object='memory' slices='i/available*/' slice='10'/>");
    put(&m, "a.csv", HEAD "," MEMORY "\r\n" AT("05") ",\"1\"\r\n" AT("09") ",\"2\"\r\n" AT("25") ",\"7\"\r\n");
    assert_report(&m, "computer=HOST start=2026-01-02T03:04:05.000Z end=2026-01-02T03:04:25.000Z duration=20.000 "
                      "samples=3 gaps=0 \n"
                      "memory: counter|mean|min|max; Available MBytes|3.3333333333333335|1|7\n"
                      "slices: start|end|n|mean|min|max"
                      "; 2026-01-02T03:04:00.000Z|2026-01-02T03:04:10.000Z|2|1.5|1|2"
                      "; 2026-01-02T03:04:10.000Z|2026-01-02T03:04:20.000Z|0|||"
                      "; 2026-01-02T03:04:20.000Z|2026-01-02T03:04:30.000Z|1|7|7|7");
    end(&m);
}

/* A missing value must not count as 0 in the mean. */
static void test_statistics_use_existing_values_only(void **state)
{
    struct made m;
    begin(state, &m, "<CounterTable name='memory' topic='t' object='memory' columns='sum count last p50'/>");
    put(&m, "a.csv",
        HEAD "," MEMORY "\r\n" AT("01") ",\" \"\r\n" AT("02") ",\"2\"\r\n" AT("03") ",\"4\"\r\n" AT(
            "04") ",\" \"\r\n" AT("05") ",\" \"\r\n" AT("06") ",\"6\"\r\n");
    assert_report(&m, "computer=HOST start=2026-01-02T03:04:01.000Z end=2026-01-02T03:04:06.000Z duration=5.000 "
                      "samples=6 gaps=0 \nmemory: counter|mean|min|max|sum|count|p50|last; "
                      "Available MBytes|4|2|6|12|3|4|6");
    end(&m);
}

#define PROCESSOR(instance, counter) "\"\\\\HOST\\Processor(" instance ")\\" counter "\""

static void test_patterns_choose_and_columns_sort(void **state)
{
    static const char log[] =
        HEAD "," PROCESSOR("10", "% Processor Time") "," PROCESSOR("2", "% Processor Time") "," PROCESSOR(
            "_Total", "% Processor Time") "," PROCESSOR("2", "% User Time") "," MEMORY
                                                                            "\r\n" AT("01") ",\"1\",\"2\","
                                                                                            "\"3\",\"4\",\"5\""
                                                                                            "\r\n";
    struct made m;
    begin(state, &m,
          "<CounterTable name='all' topic='t' object='Processor' key='1'/>"
          "<CounterTable name='some' topic='t' object='Processor' key='2' sort='mean'><Exclude column='min'/>"
          "<Exclude column='max'/><Exclude instance='/_*/'/><Include counter='i/% processor*/'/></CounterTable>"
          "<CounterTable name='top' topic='t' object='Processor' key='3' sort='max' rowcount='1'/>"
          "<CounterTable name='deep' topic='t' object='Processor' key='4' level='2'/>"
          "<CounterTable name='any' topic='t' object='*' key='5'/>");
    put(&m, "a.csv", log);
    assert_report(&m, "computer=HOST start=2026-01-02T03:04:01.000Z end=2026-01-02T03:04:01.000Z duration=0.000 "
                      "samples=1 gaps=0 \nall: counter|instance|mean|min|max; % Processor Time|2|2|2|2; "
                      "% Processor Time|10|1|1|1; % Processor Time|_Total|3|3|3; % User Time|2|4|4|4"
                      "\nsome: counter|instance|mean; % Processor Time|2|2; % Processor Time|10|1"
                      "\ntop: counter|instance|mean|min|max; % User Time|2|4|4|4"
                      "\nMemory: counter|mean|min|max; Available MBytes|5|5|5");
    end(&m);
}

/* The segments of a run are one series. Two computers have separate series. Gaps between segments are reported. */
static void test_several_logs_are_one_series_and_gaps_are_reported(void **state)
{
    struct made m;
    begin(state, &m, "<CounterTable name='memory' topic='t' object='Memory'/>");
    put(&m, "a.csv", HEAD "," MEMORY "\r\n" AT("01") ",\"1\"\r\n" AT("02") ",\"2\"\r\n" AT("03") ",\"3\"\r\n");
    put(&m, "b.csv", HEAD "," MEMORY "\r\n" AT("11") ",\"4\"\r\n" AT("12") ",\"5\"\r\n" AT("30") ",\"9\"\r\n");
    put(&m, "c.tsv", "(PDH-TSV 4.0) (UTC)(0)\t\\\\OTHER\\Memory\\Available MBytes\r\n01/02/2026 03:04:01.000\t7\r\n");
    assert_report(&m, "computer=HOST start=2026-01-02T03:04:01.000Z end=2026-01-02T03:04:30.000Z duration=29.000 "
                      "samples=7 gaps=0 \nmemory: machine|counter|mean|min|max; HOST|Available MBytes|4|1|9; "
                      "OTHER|Available MBytes|7|7|7");
    end(&m);
    begin(state, &m, "<CounterTable name='memory' topic='t' object='Memory'/>");
    put(&m, "a.csv",
        HEAD "," MEMORY "\r\n" AT("01") ",\"1\"\r\n" AT("02") ",\"1\"\r\n" AT("03") ",\"1\"\r\n" AT("20") ",\"1\"\r\n");
    assert_report(&m, "computer=HOST start=2026-01-02T03:04:01.000Z end=2026-01-02T03:04:20.000Z duration=19.000 "
                      "samples=4 gaps=1 \nmemory: counter|mean|min|max; Available MBytes|1|1|1\n"
                      "remarks: remark;"
                      " a.csv: no sample for 17.000 s from 2026-01-02T03:04:03.000Z on");
    end(&m);
}

static void test_invalid_inputs_and_schema_parts_are_skipped(void **state)
{
    struct made m;
    begin(state, &m, "<CounterTable name='bad' topic='t'/><CounterTable name='memory' topic='t' object='Memory'/>");
    put(&m, "a.csv", HEAD "," MEMORY "\r\n" AT("01") ",\"1\"\r\n");
    put(&m, "b.csv", "no log\r\n");
    put(&m, "c.etl", "no trace");
    put(&m, "d.xml", "<Report name='other'/>");
    assert_int_equal(make(&m), S_OK);
    assert_int_equal(m.warnings.count, 4);
    assert_non_null(strstr(m.warnings.items[0], "schema.xml: section 's': table 'bad': line 1"));
    assert_non_null(strstr(m.warnings.items[1], "b.csv"));
    assert_non_null(strstr(m.warnings.items[2], "c.etl"));
    assert_non_null(strstr(m.warnings.items[3], "d.xml': not a configuration document"));
    end(&m);
    begin(state, &m, "<CounterTable name='memory' topic='t' object='Memory'/>");
    put(&m, "b.csv", "no log\r\n");
    assert_int_equal(make(&m), REPORT_NO_DATA);
    assert_false(file_exists(m.output));
    end(&m);
}

static void test_configuration_is_added_to_the_report(void **state)
{
    struct made m;
    begin(state, &m, "<CounterTable name='memory' topic='t' object='Memory'/>");
    put(&m, "c.xml",
        "<Report name='configuration' version='1'><Header><Data name='computer'>HERE</Data></Header>"
        "<Section name='network'><Table name='networkInformation'><Header><Data name='name' key='1'/>"
        "<Data name='v'/></Header><Item><Data name='name'>eth0</Data><Data name='v' type='uint32'>1</Data>"
        "<Table name='addresses'><Header><Data name='a'/></Header><Item><Data name='a'>::1</Data></Item></Table>"
        "</Item><Item><Data name='v'>2</Data></Item><Footer><Data name='v'>3</Data></Footer></Table></Section>"
        "</Report>");
    assert_report(&m, "computer=HERE \nnetworkInformation: name|v; eth0|1\naddresses: a; ::1; |2; |3");
    end(&m);
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

static void test_a_failure_leaves_the_old_report_and_nothing_else(void **state)
{
    struct made m;
    begin(state, &m, "<CounterTable name='memory' topic='t' object='Memory'/>");
    put(&m, "a.csv", HEAD "," MEMORY "\r\n" AT("01") ",\"1\"\r\n");
    char *draft = text_format("%s.new", m.output);
    assert_int_equal(file_store(m.output, "old", 3), S_OK);
    const struct report_make stopped = {
        .inputs = &m.inputs, .schema = &m.schema, .output = m.output, .stop = stop_at_once};
    assert_int_equal(report_make(&stopped, &m.warnings), HRESULT_FROM_WIN32(ERROR_CANCELLED));
    assert_false(file_exists(draft));
    for (uint64_t n = 1;; n++) { /* each allocation fails in turn */
        memory_fail_at(n);
        const HRESULT hr = make(&m);
        const bool failed = memory_count() >= n;
        memory_fail_at(0);
        if (!failed || SUCCEEDED(hr)) /* a report may succeed although a warning was lost */
            break;
        assert_int_equal(hr, E_OUTOFMEMORY);
        assert_false(file_exists(draft));
        char *text;
        size_t size;
        assert_int_equal(file_load(m.output, 100, &text, &size), S_OK);
        assert_string_equal(text, "old");
        memory_free(text);
    }
    memory_free(draft);
    end(&m);
}

/* Returns the text of the written report; the caller frees it. */
static char *report_text(struct made *m)
{
    char *text;
    size_t size;
    assert_int_equal(make(m), S_OK);
    assert_int_equal(file_load(m->output, 1 << 20, &text, &size), S_OK);
    return text;
}

static size_t count_of(const char *text, const char *end, const char *what)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)) && at < end; at++)
        count++;
    return count;
}

static size_t points_of(const char *series)
{
    size_t points = 1;
    for (const char *at = strchr(series, '>'); *at != '/'; at++)
        points += *at == ' ';
    return points;
}

/* A log of five hours has one peak. A chart of 1,024 points must contain the peak, and show the range of the other
   values at that time. In a log of ten minutes, each sample has a point. */
static void test_chart_loses_no_peak(void **state)
{
    struct made m;
    struct text_buffer log = {0};
    begin(state, &m, "<CounterTable name='memory' topic='t' object='Memory' chart='i/available*/'/>");
    text_buffer_add(&log, HEAD "," MEMORY "\r\n");
    for (unsigned i = 0; i < 18000; i++)
        text_buffer_format(&log, "\"01/02/2026 %02u:%02u:%02u.000\",\"%s\"\r\n", 3 + i / 3600, i / 60 % 60, i % 60,
                           i == 1777 ? "33" : "1");
    put(&m, "a.csv", log.text);
    text_buffer_free(&log);
    char *text = report_text(&m);
    const char *series = strstr(text, "<Series name=\"Available MBytes\"");
    assert_non_null(series);
    assert_non_null(strstr(series, " first=\"15.500\" step=\"32.000\">"));
    assert_non_null(strstr(series, " 1:2:33 "));
    assert_int_equal(points_of(series), 563);
    memory_free(text);
    end(&m);
}

static void test_a_chart_has_each_sample_while_they_fit(void **state)
{
    struct made m;
    struct text_buffer log = {0};
    begin(state, &m, "<CounterTable name='memory' topic='t' object='Memory' chart='i/available*/'/>");
    text_buffer_add(&log, HEAD "," MEMORY "\r\n");
    for (unsigned i = 0; i < 601; i++)
        text_buffer_format(&log, "\"01/02/2026 03:%02u:%02u.000\",\"%u\"\r\n", i / 60, i % 60, i % 7);
    put(&m, "a.csv", log.text);
    text_buffer_free(&log);
    char *text = report_text(&m);
    const char *series = strstr(text, "<Series name=\"Available MBytes\"");
    assert_non_null(series);
    assert_non_null(strstr(series, " first=\"0.000\" step=\"1.000\">0 1 2 3 4 5 6 0 1 "));
    assert_int_equal(points_of(series), 601);
    memory_free(text);
    end(&m);
}

/* A counter may have a value in the first sample, when the log's interval is not known yet. An older version then drew
   each sample as a point with gaps of 14 s. Only a missing sample is a gap, not one that is slightly late or early. */
static void test_chart_shows_only_gaps_of_the_log(void **state)
{
    static const int late_ms[] = {0, 3, -300, 450, -450, 0, 200, -400};
    struct made m;
    struct text_buffer log = {0};
    begin(state, &m, "<CounterTable name='memory' topic='t' object='Memory' chart='i/available*/'/>");
    text_buffer_add(&log, HEAD "," MEMORY "\r\n");
    for (int i = 0; i < 40; i++) {
        const int ms = 15000 * (i + 1) + late_ms[i % 8];
        if (i != 20)
            text_buffer_format(&log, "\"01/02/2026 03:%02d:%02d.%03d\",\"%d\"\r\n", ms / 60000, ms / 1000 % 60,
                               ms % 1000, i + 1);
    }
    put(&m, "a.csv", log.text);
    text_buffer_free(&log);
    char *text = report_text(&m);
    const char *series = strstr(text, "<Series name=\"Available MBytes\"");
    assert_non_null(series);
    assert_non_null(strstr(series,
                           ">1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 - 22 23 24 25 26 27 28 29 30 31 32 "
                           "33 34 35 36 37 38 39 40<"));
    memory_free(text);
    end(&m);
}

/* If the interval of a set becomes longer during a run, the samples after the change must not be drawn as points
   between gaps. A missing sample must be a gap. */
static void test_slower_samples_are_drawn_as_a_line(void **state)
{
    static const unsigned times[] = {75, 95, 115, 155, 175}; /* tenths of a second; the sample at 135 is missing */
    struct made m;
    struct text_buffer log = {0};
    begin(state, &m, "<CounterTable name='memory' topic='t' object='Memory' chart='i/available*/'/>");
    text_buffer_add(&log, HEAD "," MEMORY "\r\n");
    for (unsigned i = 1; i <= 5; i++)
        text_buffer_format(&log, "\"01/02/2026 03:04:0%u.000\",\"%u\"\r\n", i, 10 * i);
    put(&m, "a.csv", log.text);
    text_buffer_free(&log);
    text_buffer_add(&log, HEAD "," MEMORY "\r\n");
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        text_buffer_format(&log, "\"01/02/2026 03:04:%02u.%u00\",\"%u\"\r\n", times[i] / 10, times[i] % 10,
                           times[i] - 15);
    put(&m, "b.csv", log.text);
    text_buffer_free(&log);
    char *text = report_text(&m);
    const char *series = strstr(text, "<Series name=\"Available MBytes\"");
    assert_non_null(series);
    assert_non_null(strstr(series, ">10 20 30 40 50 - - 60 70 80 90 100 - - - 140 150 160<"));
    memory_free(text);
    end(&m);
}

/* A rule may warn about a process whose handles are few but increase. A chart of only the greatest values would not
   contain this process. */
static void test_a_watched_counter_has_the_instances_that_rules_may_find(void **state)
{
    struct made m;
    struct text_buffer log = {0};
    begin(state, &m,
          "<CounterTable name='p' topic='t' object='Process' chart='i/thread count/|i/io*/' watch='i/*count/|i/io*/' "
          "limit=' 900 1e3'/>");
    text_buffer_add(&log, HEAD);
    for (unsigned i = 0; i < 60; i++)
        text_buffer_format(&log, ",\"\\\\HOST\\Process(p%u)\\Handle Count\"", i);
    text_buffer_add(&log, ",\"\\\\HOST\\Process(_Total)\\Handle Count\",\"\\\\HOST\\Process(p1)\\Thread Count\","
                          "\"\\\\HOST\\Process(p1)\\IO\",\"\\\\HOST\\Process(p1)\\Other Count\"\r\n");
    for (unsigned second = 1; second <= 9; second++) { /* p30 increases from 500; p31 has a single peak */
        text_buffer_format(&log, "\"01/02/2026 03:04:0%u.000\"", second);
        for (unsigned i = 0; i < 60; i++)
            text_buffer_format(&log, ",\"%u\"",
                               i == 30                  ? 500 + second * 5
                               : i == 31 && second == 5 ? 2000
                               : i == 31                ? 300
                                                        : 1000 - 10 * i);
        text_buffer_add(&log, ",\"30000\",\"4\",\"5\",\"6\"\r\n");
    }
    put(&m, "a.csv", log.text);
    text_buffer_free(&log);
    char *text = report_text(&m);
    const char *handles = strstr(text, "title=\"Handle Count\" source=\"Process\" watch=\"1\" limit=\"900 1e3\"");
    assert_non_null(handles);
    const char *behind = strstr(handles, "</Chart>");
    static const char *const wanted[] = {"p0", "p7", "p30", "p31", "p59", "_Total"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char *series = text_format("<Series name=\"Handle Count (%s)\"", wanted[i]);
        const char *at = strstr(handles, series);
        if (!at || count_of(handles, at, "<Series") >= 40) /* for its warnings, a page reads only this many series */
            fail_msg("%s", wanted[i]);
        memory_free(series);
    }
    assert_int_equal(count_of(handles, behind, "<Series"), 61);
    /* Each pattern gets a chart, unless it would be the same as one of the table's own charts. */
    assert_int_equal(count_of(text, text + strlen(text), "<Chart "), 4);
    assert_null(strstr(text, "title=\"Thread Count\""));
    assert_non_null(strstr(text, "title=\"Other Count\""));
    memory_free(text);
    end(&m);
}

/* Eleven of twelve processors are busier than the total, but the chart must contain the total's line. */
static void test_the_sum_of_all_instances_is_in_a_chart(void **state)
{
    struct made m;
    struct text_buffer log = {0};
    begin(state, &m, "<CounterTable name='cpu' topic='t' object='Processor' chart='i/busy/'/>");
    text_buffer_add(&log, HEAD ",\"\\\\HOST\\Processor(_Total)\\Busy\"");
    for (unsigned i = 0; i < 12; i++)
        text_buffer_format(&log, ",\"\\\\HOST\\Processor(%u)\\Busy\"", i);
    text_buffer_add(&log, "\r\n" AT("01") ",\"50\",\"1\"");
    for (unsigned i = 1; i < 12; i++)
        text_buffer_format(&log, ",\"%u\"", 100 - i);
    put(&m, "a.csv", log.text);
    text_buffer_free(&log);
    char *text = report_text(&m);
    const size_t count = count_of(text, text + strlen(text), "<Series");
    assert_int_equal(count, 8);
    assert_non_null(strstr(text, "<Series name=\"Busy (_Total)\""));
    assert_null(strstr(text, "<Series name=\"Busy (8)\""));
    memory_free(text);
    end(&m);
}

static void test_inputs_of_a_folder_are_found(void **state)
{
    static const char *const names[] = {"a.BLG", "b.csv", "report.xml", "made.xml", "c.etl", "other.txt", "d.xml"};
    struct made m;
    struct texts found = {0}, except = {0};
    begin(state, &m, "");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put(&m, names[i], i < 6 ? "x" : "<Report name='configuration' version='1'/>");
    assert_int_equal(texts_add(&except, "B.CSV"), S_OK);
    assert_int_equal(report_find_inputs(m.folder, &except, &found), S_OK);
    assert_int_equal(found.count, 3);
    assert_string_equal(path_name(found.items[0]), "a.BLG");
    assert_string_equal(path_name(found.items[1]), "c.etl");
    assert_string_equal(path_name(found.items[2]), "d.xml");
    texts_free(&found);
    texts_free(&except);
    end(&m);
}

/* The numbers of a report must not be rounded, because rules compare them. They must have no meaningless digits. */
static void numbers_are_short_and_read_back_exactly(void **state)
{
    static const struct {
        double value;
        const char *text;
    } numbers[] = {
        {0, "0"},
        {-0.0, "0"},
        {1000000, "1000000"},
        {123456789, "123456789"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {57.604294, "57.604294"},
        {1.0 / 3, "0.3333333333333333"},
        {-2.5e-7, "-0.00000025"},
        {1e22, "10000000000000000000000"},
        {9007199254740993.0, "9007199254740992"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct text_buffer b = {0};
        plain_number_add(&b, numbers[i].value);
        assert_string_equal(b.text, numbers[i].text);
        text_buffer_free(&b);
    }
    struct text_buffer b = {0};
    report_add_time(&b, INT64_C(134168832000000000), -330);
    report_add_time(&b, INT64_C(134168832001230000), 0);
    assert_string_equal(b.text, "2026-03-02T05:30:00.000+05:302026-03-02T00:00:00.123Z");
    text_buffer_free(&b);
}

static int setup(void **state)
{
    *state = scratch_create("report_make");
    return *state ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_short_and_read_back_exactly),
        cmocka_unit_test(test_slices_are_in_the_row_of_their_counter),
        cmocka_unit_test(test_statistics_use_existing_values_only),
        cmocka_unit_test(test_patterns_choose_and_columns_sort),
        cmocka_unit_test(test_several_logs_are_one_series_and_gaps_are_reported),
        cmocka_unit_test(test_invalid_inputs_and_schema_parts_are_skipped),
        cmocka_unit_test(test_configuration_is_added_to_the_report),
        cmocka_unit_test(test_a_failure_leaves_the_old_report_and_nothing_else),
        cmocka_unit_test(test_chart_loses_no_peak),
        cmocka_unit_test(test_a_chart_has_each_sample_while_they_fit),
        cmocka_unit_test(test_chart_shows_only_gaps_of_the_log),
        cmocka_unit_test(test_slower_samples_are_drawn_as_a_line),
        cmocka_unit_test(test_a_watched_counter_has_the_instances_that_rules_may_find),
        cmocka_unit_test(test_the_sum_of_all_instances_is_in_a_chart),
        cmocka_unit_test(test_inputs_of_a_folder_are_found),
    };
    return cmocka_run_group_tests(tests, setup, scratch_end);
}
