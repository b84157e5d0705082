/* SPDX-License-Identifier: MIT */
/* The data manager after real runs. The report of a run must be complete, or the reason why it is missing must be
   reported. The data manager must never destroy a log. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/pla/model.h"
#include "engine/pla/run/segment.h"
#include "engine/pla/sets.h"
#include "tests/unit/callers.h"
#include "tests/unit/run/run_fixture.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/scratch_link.h"

#include <string.h>

#define MANAGED(more) "<DataManager><Enabled>-1</Enabled>" more "</DataManager>"
#define OWN_FOLDER                                                                                                     \
    "<Subdirectory>run</Subdirectory><SubdirectoryFormat>1</SubdirectoryFormat><SubdirectoryFormatPattern>NNNNNN"      \
    "</SubdirectoryFormatPattern>"
#define SCHEMA(inside) "<ReportSchema><Report name=\"mine\" version=\"1\">" inside "</Report></ReportSchema>"

static void run_once(const char *name)
{
    assert_int_equal(run_start(SPACE, name, true), S_OK);
    assert_int_equal(run_stop(SPACE, name, true), S_OK);
}

static bool holds(const char *folder, const char *file, const char *words)
{
    char *text = fixture_read(folder, file);
    bool there = strstr(text, words) != NULL;
    memory_free(text);
    return there;
}

static bool entry_exists(const char *folder, const char *file)
{
    char *path = path_join(folder, file);
    bool there = file_exists(path);
    memory_free(path);
    return there;
}

/* The usual case: the set has no report schema, and each run has a folder. */
static void a_run_has_its_report(void **state)
{
    (void)state;
    char *root = fixture_folder("reported");
    fixture_commit("reported", root, OWN_FOLDER MANAGED(""), CSV_EACH_SECOND ONE_COUNTER);
    run_once("reported");
    struct run_record record = fixture_record("reported");
    assert_int_equal(record.last_result, S_OK);
    assert_true(fixture_only_stopped(record.last_message));
    assert_true(holds(record.latest_location, "report.xml", "<Report"));
    assert_true(holds(record.latest_location, "report.xml", "Processes"));
    assert_true(holds(record.latest_location, "report.xml", "</Report>"));
    assert_true(holds(record.latest_location, "report.html", "<!DOCTYPE html"));
    assert_true(holds(record.latest_location, "report.html", "Processes"));
    assert_int_equal(fixture_events(1012, "reported"), 1);
    assert_int_equal(fixture_events(9022, "reported"), 1);
    run_record_free(&record);
    memory_free(root);
}

/* If all runs write to the same folder, the report of a run must contain only that run. If the data manager is
   disabled, it creates no report. */
static void shared_folder_has_one_report_per_run(void **state)
{
    (void)state;
    char *root = fixture_folder("shared");
    fixture_commit("shared", root, "<DataManager><Enabled>0</Enabled></DataManager>",
                   CSV_EACH_SECOND "<FileName>old</FileName><LogOverwrite>-1</LogOverwrite>"
                                   "<Counter>\\System\\Threads</Counter>");
    run_once("shared");
    assert_true(entry_exists(root, "old.csv"));
    assert_false(entry_exists(root, "report.xml"));
    fixture_commit("shared", root, MANAGED("<RuleTargetFileName>mine.xml</RuleTargetFileName>"),
                   CSV_EACH_SECOND "<FileName>new</FileName><LogOverwrite>-1</LogOverwrite>" ONE_COUNTER);
    run_once("shared");
    assert_true(holds(root, "mine.xml", "Processes"));
    assert_false(holds(root, "mine.xml", "Threads"));
    memory_free(root);
}

static void each_segment_when_it_is_asked_for(void **state)
{
    (void)state;
    char *root = fixture_folder("segments");
    for (uint32_t each = 0, first = 1; each < 2; each++) {
        char *more =
            text_format(OWN_FOLDER "<Segment>-1</Segment>" MANAGED("") "<Value name=\"OpenPLA.ReportAt\">%s</Value>",
                        each ? "segment" : "stop");
        fixture_commit("segments", root, more, CSV_EACH_SECOND "<SegmentMaxRecords>1</SegmentMaxRecords>" ONE_COUNTER);
        memory_free(more);
        assert_int_equal(run_start(SPACE, "segments", true), S_OK);
        fixture_progress("segments", first + 2, 1);
        assert_int_equal(run_stop(SPACE, "segments", true), S_OK);
        struct run_record record = fixture_record("segments");
        for (uint32_t n = first; n < record.serial_number; n++) {
            char *name = text_format("run%06u", (unsigned)n), *folder = path_join(root, name);
            assert_true(folder_exists(folder));
            assert_int_equal(entry_exists(folder, "report.xml"), each || n + 1 == record.serial_number);
            memory_free(folder);
            memory_free(name);
        }
        first = record.serial_number;
        run_record_free(&record);
    }
    memory_free(root);
}

static void failure_is_reported_and_keeps_the_logs(void **state)
{
    (void)state;
    char *root = fixture_folder("fails");
    fixture_commit("fails", root, MANAGED("<RuleTargetFileName>c.csv</RuleTargetFileName>"),
                   CSV_EACH_SECOND "<LogOverwrite>-1</LogOverwrite>" ONE_COUNTER);
    run_once("fails");
    struct run_record record = fixture_record("fails");
    assert_int_equal(record.last_result, E_INVALIDARG);
    assert_non_null(strstr(record.last_message, "RuleTargetFileName"));
    assert_non_null(strstr(record.last_message, "c.csv"));
    run_record_free(&record);
    assert_true(fixture_lines(root, "c.csv") >= 2);
    assert_int_equal(fixture_events(9023, "fails"), 1);
    assert_non_null(strstr(fixture_reason, "RuleTargetFileName"));
    memory_free(root);
}

/* If the set host process is killed while it creates a report, the next start must say that the report is missing. */
static void killed_host_is_reported_at_the_next_start(void **state)
{
    (void)state;
    char *root = fixture_folder("killed"), *until = path_join(root, "until");
    fixture_commit("killed", root, MANAGED(""), CSV_EACH_SECOND "<LogOverwrite>-1</LogOverwrite>" ONE_COUNTER);
    scratch_environment("TEST_REPORTS_AFTER", until);
    assert_int_equal(run_start(SPACE, "killed", true), S_OK);
    assert_int_equal(run_stop(SPACE, "killed", false), S_OK);
    struct run_state s = fixture_await("killed", RUN_COMPILING, PATIENCE_MS);
    fixture_kill(s.process_id);
    scratch_environment("TEST_REPORTS_AFTER", "");
    fixture_await("killed", RUN_STOPPED, PATIENCE_MS);
    assert_false(entry_exists(root, "report.xml"));
    run_once("killed");
    assert_int_equal(fixture_events(9023, "killed"), 1);
    assert_non_null(strstr(fixture_reason, "host process died"));
    assert_true(entry_exists(root, "report.xml"));
    memory_free(until);
    memory_free(root);
}

/* ---- Run ---- */

static struct object *query(const char *name)
{
    struct object *set;
    assert_int_equal(sets_create(NULL, &set), S_OK);
    assert_int_equal(set_query(set, &caller_self, name, NULL), S_OK);
    return set;
}

static size_t manage(struct object *set, uint32_t steps, const char *folder, HRESULT expected, HRESULT item)
{
    struct object *errors, **items;
    size_t count;
    assert_int_equal(issues_create(NULL, &errors), S_OK);
    assert_int_equal(set_manage(set, &caller_self, steps, folder, errors), expected);
    assert_int_equal(collection_snapshot(errors, &items, &count), S_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(((struct value_map_item *)items[i])->Value.integer, (uint32_t)item);
    objects_release(items, count);
    object_release(errors);
    return count;
}

static HRESULT expect_missing_report(void *user, HRESULT hr, const char *key, const char *text)
{
    (void)key;
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    if (!strstr(text, "has no report"))
        fail_msg("%s", text);
    ++*(int *)user;
    return S_OK;
}

/* If only rules or a report page were requested and the report is missing, the error must not say that logs are
   missing. */
static void a_missing_report_is_reported_as_missing(struct object *set, const char *folder)
{
    static const uint32_t steps[] = {STEP_RUN_RULES, STEP_CREATE_HTML, STEP_RUN_RULES | STEP_CREATE_HTML};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct object *errors;
        int missing_reports = 0;
        assert_int_equal(issues_create(NULL, &errors), S_OK);
        assert_int_equal(set_manage(set, &caller_self, steps[i], folder, errors), S_OK);
        assert_int_equal(issues_each(errors, expect_missing_report, &missing_reports), S_OK);
        assert_int_equal(missing_reports, 1);
        object_release(errors);
    }
}

static void run_makes_reports_of_old_folders(void **state)
{
    (void)state;
    char *root = fixture_folder("managed");
    fixture_commit("managed", root,
                   OWN_FOLDER "<DataManager><Enabled>0</Enabled>" SCHEMA(
                       "<Import file=\"%systemroot%\\pla\\reports\\Report.General.xml\"/>") "</DataManager>",
                   CSV_EACH_SECOND ONE_COUNTER);
    run_once("managed");
    run_once("managed");
    char *first = path_join(root, "run000001"), *second = path_join(root, "run000002"),
         *empty = path_join(root, "empty");
    assert_int_equal(folder_create(empty), S_OK);
    struct object *set = query("managed");
    assert_false(entry_exists(first, "report.xml"));
    assert_int_equal(manage(set, STEP_CREATE_REPORT, "run000002", S_OK, S_OK), 0);
    assert_false(entry_exists(first, "report.xml"));
    assert_true(holds(second, "report.xml", "Processes"));
    assert_int_equal(manage(set, STEP_CREATE_REPORT, NULL, S_OK, S_OK), 0);
    assert_true(holds(first, "report.xml", "Processes"));
    assert_false(entry_exists(empty, "report.xml"));
    assert_int_equal(manage(set, STEP_CREATE_REPORT, second, S_OK, S_OK), 0); /* an absolute path */
    /* The report page must show the current contents of the report. */
    assert_false(entry_exists(second, "report.html"));
    assert_int_equal(manage(set, STEP_CREATE_HTML, NULL, S_OK, S_OK), 0);
    assert_true(holds(first, "report.html", "Processes"));
    assert_true(holds(second, "report.html", "</html>"));
    assert_false(entry_exists(empty, "report.html"));
    assert_int_equal(manage(set, STEP_CREATE_REPORT | STEP_RUN_RULES, "", S_OK, S_OK), 0); /* the set has no rules */
    assert_int_equal(manage(set, 0x20 | STEP_CREATE_REPORT, "", E_INVALIDARG, S_OK), 0);
    assert_int_equal(manage(set, STEP_CREATE_REPORT, "..", E_INVALIDARG, S_OK), 0);
    assert_int_equal(manage(set, STEP_CREATE_REPORT, "run000001/../../x", E_INVALIDARG, S_OK), 0);
    assert_int_equal(manage(set, STEP_CREATE_REPORT, "absent", HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND), S_OK), 0);
    assert_int_equal(manage(set, STEP_CREATE_REPORT, "empty", S_OK, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)), 1);
    a_missing_report_is_reported_as_missing(set, "empty");
    object_release(set);
    memory_free(first);
    memory_free(second);
    memory_free(empty);
    memory_free(root);
}

#define MARKING_RULES                                                                                                  \
    "<Rules><Group name=\"g\"><Rule name=\"r\"><Step select=\"/Report\"><Exists><When expression=\"true()\"><Insert>"  \
    "<Attribute name=\"mark\" value=\"1\"/></Insert></When></Exists></Step></Rule></Group></Rules>"

/* Rules that were written or corrected after a run can be applied to its report. The logs are not needed for this, and
   may have been deleted. */
static void rules_are_applied_to_an_existing_report(void **state)
{
    (void)state;
    static const struct {
        uint32_t steps;
        const char *folder;
        bool logs;
        size_t failed;
    } cases[] = {
        {STEP_RUN_RULES, "run000001", true, 0},
        {STEP_RUN_RULES, "", true, 0},
        {STEP_RUN_RULES | STEP_CREATE_HTML, "run000001", true, 0},
        {STEP_RUN_RULES, "run000001", false, 0},
        /* If there are no data for a new report, an item reports this, and the old report is kept. */
        {STEP_CREATE_REPORT | STEP_RUN_RULES, "run000001", false, 1},
        {STEP_CREATE_REPORT | STEP_RUN_RULES | STEP_CREATE_HTML, "", false, 0},
    };
    char *root = fixture_folder("rules"), *folder = path_join(root, "run000001"), *log = path_join(folder, "c.csv"),
         *report = path_join(folder, "report.xml");
    fixture_commit("rules", root, OWN_FOLDER "<DataManager>" MARKING_RULES "</DataManager>",
                   CSV_EACH_SECOND ONE_COUNTER);
    run_once("rules");
    struct object *set = query("rules");
    assert_int_equal(manage(set, STEP_CREATE_REPORT, "run000001", S_OK, S_OK), 0);
    assert_false(holds(folder, "report.xml", "mark="));
    char *before = fixture_read(folder, "report.xml");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(file_store(report, before, strlen(before)), S_OK);
        if (!cases[i].logs && file_exists(log))
            assert_int_equal(file_delete(log), S_OK);
        const size_t failed =
            manage(set, cases[i].steps, cases[i].folder, S_OK, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
        if (failed != cases[i].failed || !holds(folder, "report.xml", "mark=\"1\""))
            fail_msg("case %u: %u items; the report: %s", (unsigned)i, (unsigned)failed,
                     holds(folder, "report.xml", "mark=\"1\"") ? "marked" : "as it was");
        assert_int_equal(entry_exists(folder, "report.html"), !!(cases[i].steps & STEP_CREATE_HTML));
        if (entry_exists(folder, "report.html")) {
            char *page = path_join(folder, "report.html");
            assert_int_equal(file_delete(page), S_OK);
            memory_free(page);
        }
    }
    memory_free(before);
    object_release(set);
    memory_free(report);
    memory_free(log);
    memory_free(folder);
    memory_free(root);
}

/* Simulates the end of a run or a segment that wrote `log`. The log may be missing. */
static HRESULT compile(const char *name, const char *root, const char *log)
{
    struct object *set = query(name);
    struct ended_segment e = {.space = SPACE, .name = name, .set = set_of(set), .serial_number = 2, .reported = true};
    e.location = path_with_separator(root); /* a run passes the path in this form */
    assert_int_equal(texts_add(&e.files, log), S_OK);
    const HRESULT hr = data_manager_compile(&e);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    texts_free(&e.files);
    memory_free(e.location);
    object_release(set);
    return hr;
}

/* Several runs or sets may use the same folder. If this run left no log, an existing report belongs to another run. */
static void run_without_logs_keeps_another_report(void **state)
{
    (void)state;
    char *root = fixture_folder("nologs"), *log = path_join(root, "c.csv");
    static const char *const managed[] = {MANAGED(""), MANAGED(MARKING_RULES)};
    for (size_t i = 0; i < sizeof managed / sizeof *managed; i++) {
        fixture_commit("nologs", root, managed[i], CSV_EACH_SECOND "<LogOverwrite>-1</LogOverwrite>" ONE_COUNTER);
        if (i == 0)
            run_once("nologs");
    }
    char *page = path_join(root, "report.html"), *before = fixture_read(root, "report.xml");
    assert_null(strstr(before, "mark="));
    assert_int_equal(file_delete(page), S_OK);
    static const char *const missing[] = {"", "d.csv"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        char *path = missing[i][0] ? path_join(root, missing[i]) : text_copy("");
        assert_int_equal(compile("nologs", root, path), S_FALSE);
        assert_true(holds(root, "report.xml", before));
        assert_false(entry_exists(root, "report.html"));
        memory_free(path);
    }
    assert_int_equal(compile("nologs", root, log), S_OK);
    assert_true(holds(root, "report.xml", "mark=\"1\""));
    assert_true(entry_exists(root, "report.html"));
    memory_free(before);
    memory_free(page);
    memory_free(log);
    memory_free(root);
}

/* A folder to which a run is writing must be skipped. Other folders must be processed. */
static void folder_of_the_current_run_is_skipped(void **state)
{
    (void)state;
    char *root = fixture_folder("runs");
    fixture_commit("runs", root, OWN_FOLDER, CSV_EACH_SECOND ONE_COUNTER);
    run_once("runs");
    assert_int_equal(run_start(SPACE, "runs", true), S_OK);
    struct object *set = query("runs");
    assert_int_equal(manage(set, STEP_CREATE_REPORT, NULL, S_OK, PLA_E_DCS_IN_USE), 1);
    assert_int_equal(run_stop(SPACE, "runs", true), S_OK);
    char *first = path_join(root, "run000001"), *second = path_join(root, "run000002");
    assert_true(entry_exists(first, "report.xml"));
    assert_false(entry_exists(second, "report.xml"));
    object_release(set);
    memory_free(first);
    memory_free(second);
    memory_free(root);
}

/* The file with all events must not get the name of another file. If there is no trace, the file is not created, which
   is not an error. */
static void events_have_a_separate_file(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        HRESULT result;
    } cases[] = {{"report.xml", E_INVALIDARG}, {"log.csv", E_INVALIDARG}, {"events.xml", S_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *root = fixture_folder("events"),
             *manager = text_format(
                 "<DataManager><Enabled>-1</Enabled><EventsFileName>%s</EventsFileName></DataManager>", cases[i].name);
        fixture_commit("events", root, manager, CSV_EACH_SECOND "<LogOverwrite>-1</LogOverwrite>" ONE_COUNTER);
        run_once("events");
        struct run_record record = fixture_record("events");
        assert_int_equal(record.last_result, cases[i].result);
        assert_true(SUCCEEDED(cases[i].result) || strstr(record.last_message, "EventsFileName"));
        run_record_free(&record);
        assert_int_equal(entry_exists(root, "report.xml"), SUCCEEDED(cases[i].result));
        assert_false(entry_exists(root, "events.xml"));
        memory_free(manager);
        memory_free(root);
    }
}

/* The report page must have the requested name and style sheet. If its name is used by another file or the style sheet
   is invalid, only the page is not created, but the report is. */
static void page_has_the_requested_name_and_style(void **state)
{
    (void)state;
#define SHEET(inside)                                                                                                  \
    "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>" inside "</xsl:stylesheet>"
    static const char right[] = SHEET("<xsl:template match='/'><own/></xsl:template>"), wrong[] = SHEET("<xsl:own/>");
    static const struct {
        const char *page, *sheet;
        HRESULT result;
    } cases[] = {{"mine.page", NULL, S_OK},
                 {"mine.page", right, S_OK},
                 {"mine.page", wrong, OPENPLA_E_MALFORMED_XML},
                 {"report.xml", NULL, E_INVALIDARG},
                 {"c.csv", NULL, E_INVALIDARG}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *root = fixture_folder("page"), *sheet = path_join(root, "sheet.xsl"),
             *manager =
                 text_format("<DataManager><Enabled>-1</Enabled><ReportFileName>%s</ReportFileName></DataManager>"
                             "<Value name=\"OpenPLA.ReportSheet\">%s</Value>",
                             cases[i].page, cases[i].sheet ? sheet : "");
        fixture_commit("page", root, manager, CSV_EACH_SECOND "<LogOverwrite>-1</LogOverwrite>" ONE_COUNTER);
        assert_int_equal(folder_create(root), S_OK);
        assert_int_equal(
            file_store(sheet, cases[i].sheet ? cases[i].sheet : "", cases[i].sheet ? strlen(cases[i].sheet) : 0), S_OK);
        run_once("page");
        struct run_record record = fixture_record("page");
        assert_int_equal(record.last_result, cases[i].result);
        assert_true(SUCCEEDED(cases[i].result) || strstr(record.last_message, cases[i].page));
        assert_int_equal(entry_exists(root, "report.xml"), cases[i].result != E_INVALIDARG);
        assert_true(FAILED(cases[i].result) || holds(root, "mine.page", cases[i].sheet ? "<own" : "<html"));
        assert_true(FAILED(cases[i].result) || fixture_lines(root, "c.csv") >= 2);
        char *paths[] = {path_join(root, "report.xml"), path_join(root, "mine.page"), sheet, manager, root};
        for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
            if (k < 2)
                (void)file_delete(paths[k]);
            memory_free(paths[k]);
        }
        run_record_free(&record);
    }
}

/* A user with write access to the folder must not be able to cause that a file outside it is overwritten. A report must
   not overwrite a configuration. */
static void report_replaces_no_other_file(void **state)
{
    (void)state;
    static const char collected[] = "<Report name='configuration' version='1'/>";
    char *root = fixture_folder("links"), *folder = path_join(root, "run000001"), *outside = path_join(root, "victim"),
         *path = path_join(folder, "mine.xml");
    fixture_commit("links", folder, MANAGED("<RuleTargetFileName>mine.xml</RuleTargetFileName>"),
                   CSV_EACH_SECOND "<LogOverwrite>-1</LogOverwrite>" ONE_COUNTER);
    assert_int_equal(folder_create(folder), S_OK);
    assert_int_equal(file_store(outside, "victim", 6), S_OK);
    scratch_link(folder, "mine.xml.new", "../victim", false);
    run_once("links");
    struct run_record record = fixture_record("links");
    assert_int_equal(record.last_result, HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME));
    run_record_free(&record);
    assert_true(holds(root, "victim", "victim"));
    assert_false(entry_exists(folder, "mine.xml"));
    scratch_unlink(folder, "mine.xml.new");
    assert_int_equal(file_store(path, collected, sizeof collected - 1), S_OK);
    run_once("links");
    record = fixture_record("links");
    assert_int_equal(record.last_result, E_INVALIDARG);
    assert_non_null(strstr(record.last_message, "mine.xml"));
    run_record_free(&record);
    assert_true(holds(folder, "mine.xml", collected));
    assert_int_equal(file_delete(path), S_OK);
    run_once("links");
    assert_true(holds(folder, "mine.xml", "Processes"));
    memory_free(path);
    memory_free(outside);
    memory_free(folder);
    memory_free(root);
}

/* Only callers with the right to start the set may create reports. */
static void callers_without_start_right_are_rejected(void **state)
{
    (void)state;
    struct callers c;
    char *root = fixture_folder("gate");
    fixture_commit("gate", root, OWN_FOLDER "<Security>O:BAG:BAD:(A;;FA;;;BA)</Security>", CSV_EACH_SECOND ONE_COUNTER);
    run_once("gate");
    struct object *set = query("gate"), *errors;
    assert_int_equal(issues_create(NULL, &errors), S_OK);
    callers_open(&c);
    assert_int_equal(set_manage(set, &c.user, STEP_CREATE_REPORT, "", errors), E_ACCESSDENIED);
    char *first = path_join(root, "run000001");
    assert_false(entry_exists(first, "report.xml"));
    assert_int_equal(set_manage(set, &c.administrator, STEP_CREATE_REPORT, "", errors), S_OK);
    assert_true(entry_exists(first, "report.xml"));
    callers_close(&c);
    object_release(errors);
    object_release(set);
    memory_free(first);
    memory_free(root);
}

static bool hours_pass; /* whether an hour passes between two readings of the clock */
uint64_t __real_clock_monotonic_ms(void);
uint64_t __wrap_clock_monotonic_ms(void);
uint64_t __wrap_clock_monotonic_ms(void)
{
    static uint64_t looks;
    return __real_clock_monotonic_ms() + (hours_pass ? ++looks * 3600000 : 0);
}

/* If a report takes too long, it is abandoned, and the previous report is kept. */
static void report_time_is_limited(void **state)
{
    (void)state;
    char *root = fixture_folder("time"), *folder = path_join(root, "run000001"),
         *path = path_join(folder, "report.xml");
    fixture_commit("time", root, OWN_FOLDER "<Value name=\"OpenPLA.ReportTimeout\">60</Value>",
                   CSV_EACH_SECOND ONE_COUNTER);
    run_once("time");
    struct object *set = query("time");
    assert_int_equal(file_store(path, "before", 6), S_OK);
    hours_pass = true;
    size_t failed = manage(set, STEP_CREATE_REPORT, NULL, S_OK, HRESULT_FROM_WIN32(ERROR_TIMEOUT));
    hours_pass = false;
    assert_int_equal(failed, 1);
    assert_true(holds(folder, "report.xml", "before"));
    fixture_await_event(9023, "time");
    assert_non_null(strstr(fixture_reason, "60 s"));
    object_release(set);
    memory_free(path);
    memory_free(folder);
    memory_free(root);
}

/* If memory runs out, the client must get the error. A report must be complete or not exist, and nothing else may be
   left in the folder. There are thousands of allocations, of which only the first ones are tested. */
static void out_of_memory_leaves_no_partial_report(void **state)
{
    (void)state;
    char *root = fixture_folder("memory"), *folder = path_join(root, "run000001"),
         *path = path_join(folder, "report.xml");
    fixture_commit("memory", root, OWN_FOLDER, CSV_EACH_SECOND ONE_COUNTER);
    run_once("memory");
    struct object *set = query("memory");
    bool failed = true;
    for (uint64_t n = 1; failed; n += 1 + n / 16) {
        struct object *errors;
        struct texts left = {0};
        assert_int_equal(issues_create(NULL, &errors), S_OK);
        memory_fail_at(n);
        HRESULT hr = set_manage(set, &caller_self, STEP_CREATE_REPORT, "run000001", errors);
        failed = memory_count() >= n;
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
        assert_true(failed || hr == S_OK);
        assert_int_equal(folder_list(folder, false, &left), S_OK);
        for (size_t i = 0; i < left.count; i++)
            assert_true(!strcmp(left.items[i], "c.csv") || !strcmp(left.items[i], "report.xml"));
        if (file_exists(path)) {
            assert_true(holds(folder, "report.xml", "</Report>"));
            assert_int_equal(file_delete(path), S_OK);
        }
        texts_free(&left);
        object_release(errors);
    }
    assert_int_equal(manage(set, STEP_CREATE_REPORT, "run000001", S_OK, S_OK), 0);
    assert_true(file_exists(path));
    object_release(set);
    memory_free(path);
    memory_free(folder);
    memory_free(root);
}

static int begin(void **state)
{
    int rc = fixture_setup(state);
    scratch_environment("TEST_REPORTS", "1");
    return rc;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_has_its_report),
        cmocka_unit_test(shared_folder_has_one_report_per_run),
        cmocka_unit_test(each_segment_when_it_is_asked_for),
        cmocka_unit_test(failure_is_reported_and_keeps_the_logs),
        cmocka_unit_test(killed_host_is_reported_at_the_next_start),
        cmocka_unit_test(run_makes_reports_of_old_folders),
        cmocka_unit_test(rules_are_applied_to_an_existing_report),
        cmocka_unit_test(run_without_logs_keeps_another_report),
        cmocka_unit_test(folder_of_the_current_run_is_skipped),
        cmocka_unit_test(events_have_a_separate_file),
        cmocka_unit_test(page_has_the_requested_name_and_style),
        cmocka_unit_test(report_replaces_no_other_file),
        cmocka_unit_test(callers_without_start_right_are_rejected),
        cmocka_unit_test(report_time_is_limited),
        cmocka_unit_test(out_of_memory_leaves_no_partial_report),
    };
    return cmocka_run_group_tests(tests, begin, fixture_teardown);
}
