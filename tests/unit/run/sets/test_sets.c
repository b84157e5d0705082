/* SPDX-License-Identifier: MIT */
/* Tests sets in the way in which clients use them: Commit, Query, Delete and lists, with a real store and real runs. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/security.h"
#include "engine/logs/pdh_types.h"
#include "engine/pla/sets.h"
#include "engine/pla/settings.h"
#include "engine/pla/store.h"
#include "tests/unit/callers.h"
#include "tests/unit/run/run_fixture.h"

#include <stdio.h>
#include <string.h>

enum { MODE_CREATE_NEW = 1, MODE_MODIFY = 2, MODE_CREATE_OR_MODIFY = 3, MODE_VALIDATE_ONLY = 0x1000 };

static struct object *new_set(void)
{
    struct object *set = NULL;
    assert_int_equal(sets_create(NULL, &set), S_OK);
    return set;
}

static void xml_into(struct object *set, const char *xml)
{
    struct object *issues = NULL;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(set_from_xml(set, xml, strlen(xml), issues), S_OK);
    object_release(issues);
}

static HRESULT commit(struct object *set, const char *name, uint32_t mode)
{
    struct object *issues = NULL;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    HRESULT hr = set_commit(set, &caller_self, name, "", mode, issues);
    object_release(issues);
    return hr;
}

static char *text_of(struct object *o, const char *name)
{
    struct value v;
    assert_int_equal(object_get(o, class_property(o->class, name), &v), S_OK);
    return v.text;
}

static HRESULT put_text(struct object *o, const char *name, const char *text)
{
    struct value v = {.kind = PROPERTY_TEXT, .text = (char *)text};
    return object_put(o, class_property(o->class, name), &v);
}

static uint32_t number_of(struct object *o, const char *name)
{
    struct value v;
    assert_int_equal(object_get(o, class_property(o->class, name), &v), S_OK);
    return v.u32;
}

static void put_number(struct object *o, const char *name, uint32_t n)
{
    const struct property *p = class_property(o->class, name);
    struct value v = {.kind = p->kind, .u32 = n};
    assert_int_equal(object_put(o, p, &v), S_OK);
}

static struct object *first_collector(struct object *set)
{
    struct object *c = NULL;
    assert_int_equal(collection_item(((struct data_collector_set *)set)->DataCollectors, 0, &c), S_OK);
    return c;
}

static struct object *set_for_runs(const char *folder)
{
    struct object *set = new_set();
    char *xml = text_format("<DataCollectorSet><RootPath>%s</RootPath><PerformanceCounterDataCollector><Name>c</Name>"
                            "<FileNameFormat>0x200</FileNameFormat>" CSV_EACH_SECOND ONE_COUNTER
                            "</PerformanceCounterDataCollector></DataCollectorSet>",
                            folder);
    xml_into(set, xml);
    memory_free(xml);
    return set;
}

static void run_once(struct object *set)
{
    assert_int_equal(set_start(set, &caller_self, true), S_OK);
    assert_int_equal(number_of(set, "Status"), 1);
    assert_int_equal(set_stop(set, &caller_self, true), S_OK);
    assert_int_equal(number_of(set, "Status"), 0);
}

/* A script may start or commit a set again between two runs. It must then get the log of the latest run. */
static void the_latest_log_is_shown_after_every_run(void **state)
{
    (void)state;
    char *folder = fixture_folder("latest");
    struct object *set = set_for_runs(folder), *collector = first_collector(set);
    assert_int_equal(commit(set, "latest", MODE_CREATE_NEW), S_OK);
    for (unsigned run = 1; run <= 3; run++) {
        char ending[32];
        run_once(set);
        snprintf(ending, sizeof ending, "c_%06u.csv", run);
        char *shown = text_of(collector, "LatestOutputLocation");
        assert_string_equal(path_name(shown), ending);
        assert_true(file_exists(shown));
        assert_int_equal(number_of(set, "SerialNumber"), run + 1);
        assert_int_equal(commit(set, "latest", MODE_MODIFY), S_OK);
        struct object *other = new_set();
        assert_int_equal(set_query(other, &caller_self, "latest", ""), S_OK);
        struct object *same = first_collector(other);
        char *again = text_of(same, "LatestOutputLocation");
        assert_string_equal(again, shown);
        memory_free(again);
        memory_free(shown);
        object_release(same);
        object_release(other);
    }
    /* If a client puts a value, it is kept, even after Commit, until a run writes another log. */
    struct value v = {.kind = PROPERTY_TEXT, .text = (char *)"C:\\elsewhere.csv"};
    assert_int_equal(object_put(collector, class_property(collector->class, "LatestOutputLocation"), &v), S_OK);
    assert_int_equal(commit(set, "latest", MODE_MODIFY), S_OK);
    char *put = text_of(collector, "LatestOutputLocation");
    assert_string_equal(put, "C:\\elsewhere.csv");
    memory_free(put);
    run_once(set);
    put = text_of(collector, "LatestOutputLocation");
    assert_string_equal(path_name(put), "c_000004.csv");
    memory_free(put);
    object_release(collector);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(set);
    memory_free(folder);
}

/* If Commit accepts a set, its scheduled start must not fail because of its names. Harmless names must stay unchanged,
   because scripts use them (DECISIONS 36). */
static void names_that_leave_the_folder_fail_commit(void **state)
{
    static const struct {
        const char *subdirectory, *folder_pattern, *file, *file_pattern; /* NULL: not put */
        const char *blamed;                                              /* NULL: valid */
    } sets[] = {
        {"a", NULL, NULL, NULL, NULL},
        {"a\\b/c d.e", "\\-yyyy\\\\MM", "log.1", "_NNNNNN", NULL},
        {"\\a", NULL, NULL, NULL, NULL},
        {"a\\.\\b\\", NULL, "..a", NULL, NULL},
        {"nullify", "\\,\\ dd", "company", NULL, NULL},
        {"..", NULL, NULL, NULL, "Subdirectory: '..'"},
        {"a\\..\\..", NULL, NULL, NULL, "Subdirectory: 'a\\..\\..'"},
        {"a/../..", NULL, NULL, NULL, "Subdirectory: "},
        {"a\\.. \\b", NULL, NULL, NULL, "Subdirectory: "},
        {"C:\\Windows", NULL, NULL, NULL, "Subdirectory: 'C:\\Windows'"},
        {"C:x", NULL, NULL, NULL, "Subdirectory: "},
        {"\\\\server\\share", NULL, NULL, NULL, "Subdirectory: "},
        {"\\\\?\\C:\\x", NULL, NULL, NULL, "Subdirectory: "},
        {"a:s", NULL, NULL, NULL, "Subdirectory: "},
        {"aux", NULL, NULL, NULL, "Subdirectory: 'aux'"},
        {"", "\\\\..\\\\..", NULL, NULL, "SubdirectoryFormatPattern: '\\\\..\\\\..' expands to '\\..\\..'"},
        {"a", "\\:\\s", NULL, NULL, "SubdirectoryFormatPattern: "},
        {"co", "\\n", NULL, NULL, "SubdirectoryFormatPattern: '\\n' expands to 'con'"},
        {"a", NULL, "nul", NULL, "FileName: 'nul'"},
        {"a", NULL, "LPT1.log", NULL, "FileName: 'LPT1.log'"},
        {"a", NULL, "x", "\\\\..\\\\..\\\\y", "FileNameFormatPattern: "},
        {"a", NULL, "x", "/../y", "FileNameFormatPattern: "},
        {"a", NULL, "x", "yyyy/MM", "FileNameFormatPattern: 'yyyy/MM' expands to 'x"},
        {"a", NULL, "x", "yyyy\\\\MM", "FileNameFormatPattern: "},
        {"a", NULL, "x", "HH?", "FileNameFormatPattern: 'HH?' expands to 'x"},
        {"a", "\\\xE2\x80\xAE", NULL, NULL, "SubdirectoryFormatPattern: "},
        {"a<b", "yyyy", NULL, NULL, "Subdirectory: 'a<b'"},
        {"a", NULL, "x", ":HH", "FileNameFormatPattern: ':HH' expands to 'x:"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct object *set = set_for_runs("."), *collector = first_collector(set);
        assert_int_equal(put_text(set, "Subdirectory", sets[i].subdirectory), S_OK);
        put_number(set, "SubdirectoryFormat", sets[i].folder_pattern != NULL);
        assert_int_equal(
            put_text(set, "SubdirectoryFormatPattern", sets[i].folder_pattern ? sets[i].folder_pattern : "\\:"), S_OK);
        assert_int_equal(put_text(collector, "FileName", sets[i].file ? sets[i].file : "f"), S_OK);
        put_number(collector, "FileNameFormat", sets[i].file_pattern != NULL);
        assert_int_equal(
            put_text(collector, "FileNameFormatPattern", sets[i].file_pattern ? sets[i].file_pattern : "/../x"), S_OK);
        for (int validate = 0; validate < 2; validate++) {
            HRESULT hr = commit(set, "names", MODE_CREATE_OR_MODIFY | (validate ? MODE_VALIDATE_ONLY : 0));
            if (hr != (sets[i].blamed ? E_INVALIDARG : S_OK) ||
                (sets[i].blamed && strncmp(error_text(hr), sets[i].blamed, strlen(sets[i].blamed)) != 0))
                fail_msg("set %u: 0x%08X \"%s\"", (unsigned)i, (unsigned)hr, error_text(hr));
        }
        object_release(collector);
        object_release(set);
    }
    /* The name of a collector is never used as a path, so it may even be a device's name. */
    struct object *set = set_for_runs("."), *collector = first_collector(set);
    put_number(collector, "FileNameFormat", 0);
    assert_int_equal(put_text(collector, "Name", "nul"), S_OK);
    assert_int_equal(commit(set, "names", MODE_CREATE_OR_MODIFY), S_OK);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(collector);
    object_release(set);
}

static void fails_commit(struct object *set, const char *name, const char *said)
{
    assert_int_equal(commit(set, name, MODE_CREATE_NEW), E_INVALIDARG);
    if (!strstr(error_text(E_INVALIDARG), said))
        fail_msg("\"%s\" does not say: %s", error_text(E_INVALIDARG), said);
}

/* If a set's name could not be passed to a process, the set would never start. If it was too similar to another name,
   users could confuse the sets. */
static void names_can_be_used_and_distinguished(void **state)
{
    static const char *const controls[] = {"\xD8\x9C",     "\xE2\x80\x8E", "\xE2\x80\x8F", "\xE2\x80\xAA",
                                           "\xE2\x80\xAE", "\xE2\x81\xA6", "\xE2\x81\xA9"};
    (void)state;
    struct object *set = set_for_runs("."), *collector = first_collector(set);
    char *name = memory_zero(1, 5000001);
    memset(name, 'n', 5000000);
    fails_commit(set, name, "5000000 characters (at most 1024 are allowed)");
    name[1025] = 0;
    fails_commit(set, name, "1025 characters");
    name[1024] = 0;
    assert_int_equal(commit(set, name, MODE_CREATE_NEW), S_OK);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    name[256] = 0;
    assert_int_equal(put_text(collector, "Name", name), E_INVALIDARG);
    assert_int_equal(put_text(collector, "FileName", name), E_INVALIDARG);
    assert_int_equal(put_text(set, "Subdirectory", name), S_OK);
    fails_commit(set, "long folder", "more than 255 characters");
    assert_int_equal(put_text(set, "Subdirectory", ""), S_OK);
    name[255] = 0;
    assert_int_equal(put_text(collector, "FileName", name), S_OK);
    fails_commit(set, "with its extension", "more than 255 characters");
    assert_int_equal(put_text(collector, "FileName", ""), S_OK);
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        char *turned = text_format("pay%sgpj.exe", controls[i]);
        fails_commit(set, turned, "bidirectional control character");
        assert_int_equal(put_text(collector, "Name", turned), E_INVALIDARG);
        assert_int_equal(put_text(collector, "FileName", turned), E_INVALIDARG);
        memory_free(turned);
    }
    assert_int_equal(commit(set, "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D", MODE_CREATE_NEW), S_OK); /* Hebrew letters
                                                                                                 are valid */
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    memory_free(name);
    object_release(collector);
    object_release(set);
}

/* A user may set RootPath to a device, a pipe or a stream. The service must not open it or write to it. */
static void root_that_is_not_a_folder_fails_commit(void **state)
{
    static const char *const roots[] = {"\\\\.\\PhysicalDrive0", "\\\\server\\pipe\\x", "\\\\?\\GLOBALROOT\\Device",
                                        "C:\\logs:stream", "C:\\logs\\nul"};
    (void)state;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        struct object *set = set_for_runs(".");
        assert_int_equal(put_text(set, "RootPath", roots[i]), S_OK);
        assert_int_equal(commit(set, "roots", MODE_CREATE_OR_MODIFY), E_INVALIDARG);
        if (strncmp(error_text(E_INVALIDARG), "RootPath: ", 10) != 0 || !strstr(error_text(E_INVALIDARG), roots[i]))
            fail_msg("%s: \"%s\"", roots[i], error_text(E_INVALIDARG));
        object_release(set);
    }
}

/* If a client has put a serial number, the next run uses it. Otherwise the numbers continue, even if the committed
   object contains another number (DECISIONS 13). */
static void serial_numbers_continue(void **state)
{
    (void)state;
    char *folder = fixture_folder("serial");
    struct object *set = set_for_runs(folder), *stale = new_set();
    assert_int_equal(commit(set, "serial", MODE_CREATE_NEW), S_OK);
    assert_int_equal(set_query(stale, &caller_self, "serial", ""), S_OK);
    run_once(set);
    run_once(set);
    assert_int_equal(number_of(stale, "SerialNumber"), 3); /* has the current value even without another Query */
    assert_int_equal(commit(stale, "serial", MODE_MODIFY), S_OK);
    assert_int_equal(number_of(set, "SerialNumber"), 3);
    put_number(set, "SerialNumber", 40);
    assert_int_equal(number_of(set, "SerialNumber"), 40);
    assert_int_equal(number_of(stale, "SerialNumber"), 3);
    assert_int_equal(commit(set, "serial", MODE_MODIFY), S_OK);
    assert_int_equal(number_of(stale, "SerialNumber"), 40);
    run_once(stale);
    assert_int_equal(number_of(set, "SerialNumber"), 41);
    put_number(set, "SerialNumber", 3);
    assert_int_equal(commit(set, "serial", MODE_MODIFY), S_OK);
    assert_int_equal(number_of(set, "SerialNumber"), 41);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(stale);
    object_release(set);
    memory_free(folder);
}

/* A script may commit its template before each start. If the set got the template's serial number each time, the second
   run would use the first run's folder and fail to start. */
static void template_does_not_reset_the_serial_number(void **state)
{
    (void)state;
    char *folder = fixture_folder("template"),
         *xml = text_format("<DataCollectorSet><SerialNumber>1</SerialNumber><RootPath>%s</RootPath><Subdirectory>w"
                            "</Subdirectory><SubdirectoryFormat>512</SubdirectoryFormat>"
                            "<PerformanceCounterDataCollector><Name>c</Name>" CSV_EACH_SECOND ONE_COUNTER
                            "</PerformanceCounterDataCollector></DataCollectorSet>",
                            folder);
    struct object *set, *issues;
    for (uint32_t run = 1; run <= 3; run++) {
        bool reported;
        set = new_set();
        xml_into(set, xml);
        for (uint32_t validated = 0; validated < 2; validated++) { /* plaValidateOnly must report the same */
            assert_int_equal(issues_create(NULL, &issues), S_OK);
            assert_int_equal(set_commit(set, &caller_self, "template", "",
                                        MODE_CREATE_OR_MODIFY | (validated ? 0 : MODE_VALIDATE_ONLY), issues),
                             S_OK);
            assert_int_equal(issues_has(issues, PLA_S_PROPERTY_IGNORED, "SerialNumber", &reported), S_OK);
            assert_int_equal(reported, run > 1);
            object_release(issues);
        }
        assert_int_equal(number_of(set, "SerialNumber"), run);
        run_once(set);
        if (run < 3)
            object_release(set);
    }
    /* After Delete, serial numbers start again. */
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(set);
    set = new_set();
    xml_into(set, xml);
    assert_int_equal(commit(set, "template", MODE_CREATE_NEW), S_OK);
    assert_int_equal(number_of(set, "SerialNumber"), 1);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(set);
    memory_free(xml);
    memory_free(folder);
}

/* The modes of MS-PLA 2.2.2.3, and mode 0, which a sample of Microsoft uses. */
static void commit_follows_its_mode(void **state)
{
    (void)state;
    struct object *set = new_set(), *other = new_set();
    assert_int_equal(commit(set, "modes", MODE_MODIFY), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(commit(set, "modes", MODE_VALIDATE_ONLY | MODE_CREATE_NEW), S_OK);
    assert_int_equal(set_query(other, &caller_self, "modes", ""), PLA_E_DCS_NOT_FOUND); /* the set was only validated */
    char *name = text_of(set, "Name");
    assert_string_equal(name, "");
    memory_free(name);
    assert_int_equal(commit(set, "modes", 0), S_OK);
    assert_int_equal(commit(other, "MODES", MODE_CREATE_NEW), PLA_E_DCS_ALREADY_EXISTS);
    assert_int_equal(commit(other, "Service\\Modes", MODE_CREATE_OR_MODIFY), S_OK);
    assert_int_equal(commit(other, "modes", 0x4000 | MODE_CREATE_NEW), PLA_E_DCS_ALREADY_EXISTS); /* MS-PLA 2.2: unknown
                                                                                                     bits are ignored */
    assert_int_equal(commit(set, "modes", 0x40 | MODE_MODIFY), S_OK);
    assert_int_equal(commit(set, "System\\modes", MODE_CREATE_NEW), E_NOINTERFACE);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    assert_int_equal(set_delete(set, &caller_self), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(commit(set, "modes", MODE_CREATE_NEW), S_OK); /* the object can be used after Delete */
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(other);
    object_release(set);
}

static void committed_with(const char *xml, uint32_t mode, const char *expected)
{
    struct object *set = new_set(), *issues, **items;
    char said[1024] = "";
    size_t count;
    xml_into(set, xml);
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(set_commit(set, &caller_self, "unsupported", "", mode, issues), S_OK);
    assert_int_equal(collection_snapshot(issues, &items, &count), S_OK);
    for (size_t i = 0; i < count; i++) {
        const struct value_map_item *item = (const struct value_map_item *)items[i];
        if (!strstr(item->Description, "this version") && !strstr(item->Description, "all runs of the set share one"))
            continue;
        assert_int_equal(item->Value.integer, PLA_S_PROPERTY_IGNORED);
        strcat(strcat(said, item->Key), " ");
    }
    assert_string_equal(said, expected);
    objects_release(items, count);
    object_release(issues);
    if (!(mode & MODE_VALIDATE_ONLY))
        assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(set);
}

/* Commit must report an invalid task name. Otherwise the user would notice only that the first log is not archived. */
static void invalid_task_is_reported(void **state)
{
    struct object *set = new_set(), *issues;
    bool reported;
    (void)state;
    for (int i = 0; i < 2; i++) {
        xml_into(set, i ? "<DataCollectorSet><Task>\\My\\Task</Task></DataCollectorSet>"
                        : "<DataCollectorSet><Task>My/Task</Task></DataCollectorSet>");
        assert_int_equal(issues_create(NULL, &issues), S_OK);
        assert_int_equal(set_commit(set, &caller_self, "tasked", "", MODE_CREATE_OR_MODIFY, issues), S_OK);
        assert_int_equal(issues_has(issues, E_INVALIDARG, "Task", &reported), S_OK);
        assert_int_equal(reported, !i);
        object_release(issues);
    }
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(set);
}

/* Commit must report these names, because a slash would make a scheduled start fail. The names of the second alert are
   valid. */
static void invalid_names_of_an_alert_are_reported(void **state)
{
    static const char *const reported[] = {
        "AlertDataCollector[1]/Task", "AlertDataCollector[1]/TriggerDataCollectorSet", "AlertDataCollector[2]/Task",
        "AlertDataCollector[2]/TriggerDataCollectorSet"};
    struct object *set = new_set(), *issues;
    bool is;
    (void)state;
    xml_into(set,
             "<DataCollectorSet><AlertDataCollector><Name>a</Name><Alert>\\nothing&gt;5</Alert><Task>My/Task</Task>"
             "<TriggerDataCollectorSet>a/b</TriggerDataCollectorSet></AlertDataCollector><AlertDataCollector>"
             "<Name>b</Name><Alert>\\A\\b&gt;5</Alert><Task>\\My\\Task</Task>"
             "<TriggerDataCollectorSet>Service\\x</TriggerDataCollectorSet></AlertDataCollector></DataCollectorSet>");
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(set_commit(set, &caller_self, "names", "", MODE_CREATE_OR_MODIFY, issues), S_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(issues_has(issues, E_INVALIDARG, reported[i], &is), S_OK);
        assert_int_equal(is, i < 2);
    }
    for (int i = 1; i <= 2; i++) { /* an invalid path is reported as for a counter collector */
        char *key = text_format("AlertDataCollector[%d]/AlertThresholds", i);
        assert_int_equal(issues_has(issues, PDH_CSTATUS_BAD_COUNTERNAME, key, &is), S_OK);
        assert_int_equal(is, i == 1);
        memory_free(key);
    }
    object_release(issues);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(set);
}

/* If a set requests something that is not supported, Commit must report it, not a full disk. */
static void unsupported_settings_are_reported(void **state)
{
    (void)state;
#define TRACE        "<TraceDataCollector><PreallocateFile>-1</PreallocateFile></TraceDataCollector>"
#define SIZE         "<SegmentMaxSize>5</SegmentMaxSize>"
#define MANAGER(...) "<DataCollectorSet><DataManager>" __VA_ARGS__ "</DataManager></DataCollectorSet>"
    committed_with("<DataCollectorSet/>", MODE_CREATE_NEW, "");
    committed_with("<DataCollectorSet><Task>Archive</Task></DataCollectorSet>", MODE_CREATE_NEW, "");
    committed_with("<DataCollectorSet>" SIZE TRACE "</DataCollectorSet>", MODE_CREATE_NEW, "");
    committed_with("<DataCollectorSet><Segment>-1</Segment>" SIZE TRACE "</DataCollectorSet>", MODE_CREATE_NEW,
                   "TraceDataCollector[1]/PreallocateFile ");
    committed_with(MANAGER("<MaxSize>5</MaxSize><Rules/>"), MODE_CREATE_NEW, ""); /* the data manager is disabled */
    committed_with(MANAGER("<Enabled>-1</Enabled>"), MODE_CREATE_NEW | MODE_VALIDATE_ONLY, "");
    committed_with(
        MANAGER("<Enabled>-1</Enabled><CheckBeforeRunning>-1</CheckBeforeRunning><MinFreeDisk>5</MinFreeDisk>"
                "<MaxFolderCount>5</MaxFolderCount>"),
        MODE_CREATE_NEW, "");
    committed_with(
        MANAGER("<Enabled>-1</Enabled><MinFreeDisk>5</MinFreeDisk><MaxSize>5</MaxSize>"
                "<MaxFolderCount>5</MaxFolderCount><EventsFileName>e.xml</EventsFileName><Rules><Group/></Rules>"
                "<ReportSchema><Report/></ReportSchema><FolderAction/>"),
        MODE_CREATE_NEW,
        "DataManager/MinFreeDisk DataManager/MaxSize DataManager/MaxFolderCount "
        "DataManager/FolderActions ");
}

/* A schedule that ends before it begins never starts its set. If Commit dropped the end date, the set would start every
   day. */
static void schedule_keeps_its_end_date(void **state)
{
    (void)state;
    struct object *set = new_set(), *other = new_set(), *issues, *schedule;
    xml_into(set, "<DataCollectorSet><Schedule><EndDate>12/1/2025</EndDate><StartDate>6/1/2026</StartDate>"
                  "<Days>127</Days></Schedule></DataCollectorSet>");
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(set_commit(set, &caller_self, "ends", "", MODE_CREATE_NEW, issues), S_OK);
    struct object *item;
    assert_int_equal(collection_item(issues, collection_count(issues) - 1, &item), S_OK);
    assert_string_equal(((struct value_map_item *)item)->Key, "Schedule[1]/EndDate");
    object_release(item);
    object_release(issues);
    assert_int_equal(set_query(other, &caller_self, "ends", ""), S_OK);
    assert_int_equal(collection_item(((struct data_collector_set *)other)->Schedules, 0, &schedule), S_OK);
    char *end = date_to_text(((struct set_schedule *)schedule)->EndDate.real);
    assert_int_equal(((struct set_schedule *)schedule)->EndDate.type, VARIANT_DATE);
    assert_string_equal(end, "12/1/2025");
    memory_free(end);
    object_release(schedule);
    assert_int_equal(set_delete(other, &caller_self), S_OK);
    object_release(other);
    object_release(set);
}

/* Server must return the name that was passed to Commit (MS-PLA 3.2.4.1.54). Other computers cannot be reached. */
static void servers_are_this_machine(void **state)
{
    (void)state;
    struct object *set = new_set(), *issues = NULL;
    char longest[1025];
    memset(longest, 's', sizeof longest);
    longest[1024] = 0;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(set_commit(set, &caller_self, "server", longest, MODE_CREATE_NEW, issues), E_INVALIDARG);
    assert_int_equal(set_commit(set, &caller_self, "server", "no-such-machine", MODE_CREATE_NEW, issues),
                     HRESULT_FROM_WIN32(53));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(53)), "no-such-machine"));
    assert_int_equal(set_commit(set, &caller_self, "server", "LocalHost", MODE_CREATE_NEW, issues), S_OK);
    char *server = text_of(set, "Server");
    assert_string_equal(server, "LocalHost");
    memory_free(server);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    static const char *const addresses[] = {"127.0.0.1", "\\\\127.0.0.2", "::1", "[::1]"};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        assert_int_equal(set_commit(set, &caller_self, "server", addresses[i], MODE_CREATE_NEW, issues), S_OK);
        assert_int_equal(set_delete(set, &caller_self), S_OK);
    }
    object_release(issues);
    object_release(set);
}

/* Real templates contain counter paths that are not possible. Commit must report them but store the set. */
static void unusual_counter_paths_are_reported(void **state)
{
    (void)state;
    struct object *set = new_set(), *issues = NULL;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    static const char *const odd[] = {"\\A Store\\Inbound\\*", "\\SQLServer:Log Bytes Flushed/sec",
                                      "Processor(_Total)"};
    xml_into(set, "<DataCollectorSet><PerformanceCounterDataCollector><Counter>\\A Store\\Inbound\\*</Counter><Counter>"
                  "\\SQLServer:Log Bytes Flushed/sec</Counter><Counter>Processor(_Total)</Counter><Counter>"
                  "\\System\\Threads</Counter></PerformanceCounterDataCollector></DataCollectorSet>");
    assert_int_equal(set_commit(set, &caller_self, "paths", "", MODE_CREATE_NEW, issues), S_OK);
    size_t reported = 0;
    for (size_t i = 0; i < collection_count(issues); i++) {
        struct object *item;
        assert_int_equal(collection_item(issues, i, &item), S_OK);
        const struct value_map_item *v = (const struct value_map_item *)item;
        for (size_t k = 0; k < sizeof odd / sizeof odd[0]; k++)
            reported += !strcmp(v->Key, "PerformanceCounterDataCollector[1]/PerformanceCounters") &&
                        v->Value.integer == 0xC0000BC0 && strstr(v->Description, odd[k]);
        object_release(item);
    }
    assert_int_equal(reported, sizeof odd / sizeof odd[0]);
    struct object *stored = new_set(), *collector;
    assert_int_equal(set_query(stored, &caller_self, "paths", ""), S_OK);
    assert_int_equal(collection_item(((struct data_collector_set *)stored)->DataCollectors, 0, &collector), S_OK);
    assert_int_equal(((struct performance_counter_collector *)collector)->PerformanceCounters.count, 4);
    object_release(collector);
    object_release(stored);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(issues);
    object_release(set);
}

/* If the value is mistyped, Commit must not ignore it silently. */
static void seconds_for_new_instances_are_checked(void **state)
{
    (void)state;
    struct object *set = new_set(), *issues = NULL;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(set_put_value(set, SETTING_KEY(NewInstancesFile), "every minute"), S_OK);
    assert_int_equal(set_commit(set, &caller_self, "instances", "", MODE_CREATE_NEW, issues), E_INVALIDARG);
    assert_non_null(strstr(error_text(E_INVALIDARG), "'every minute'"));
    assert_int_equal(set_put_value(set, "openpla.newinstancesfile", "60"), S_OK);
    assert_int_equal(set_commit(set, &caller_self, "instances", "", MODE_CREATE_NEW, issues), S_OK);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(issues);
    object_release(set);
}

static size_t found(const char *filter)
{
    struct object *sets = NULL;
    assert_int_equal(sets_collection_create(NULL, &sets), S_OK);
    assert_int_equal(sets_find(sets, &caller_self, NULL, filter), S_OK);
    size_t n = collection_count(sets);
    object_release(sets);
    return n;
}

static void sets_are_found_by_filter(void **state)
{
    (void)state;
    static const char *const names[] = {"list one", "list two", "other"};
    struct object *sets = NULL, *set[3];
    for (int i = 0; i < 3; i++) {
        set[i] = new_set();
        assert_int_equal(commit(set[i], names[i], MODE_CREATE_NEW), S_OK);
    }
    assert_int_equal(found(NULL), 3 + found("System\\*"));
    assert_int_equal(found(""), 3 + found("System\\*"));
    assert_int_equal(found("service\\*"), 3);
    assert_int_equal(found("Service\\LIST*"), 2);
    assert_int_equal(found("Service\\other"), 1);
    assert_int_equal(found("Service\\nobody"), 0);
    assert_int_equal(sets_collection_create(NULL, &sets), S_OK);
    assert_int_equal(sets_find(sets, &caller_self, NULL, "service\\other"), S_OK);
    assert_int_equal(sets_find(sets, &caller_self, NULL, "nowhere\\*"), E_INVALIDARG);
    assert_int_equal(collection_count(sets), 1); /* unchanged */
    object_release(sets);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(set_delete(set[i], &caller_self), S_OK);
        object_release(set[i]);
    }
}

static void add_collector(struct object *set, const struct class *class)
{
    struct object *c = NULL;
    assert_int_equal(object_create(class, set, &c), S_OK);
    assert_int_equal(collection_add(((struct data_collector_set *)set)->DataCollectors, c), S_OK);
    object_release(c);
}

/* The XML reader has limits. If a stored set exceeded them, it could neither be queried nor started, and other sets
   could not be listed. */
static void unreadable_sets_are_not_stored(void **state)
{
    (void)state;
    static const size_t sizes[] = {9u << 20, 11u << 20, 70u << 20};
    struct object *set = new_set(), *again = new_set();
    for (int i = 0; i < 1024; i++)
        add_collector(set, &alert_collector_class);
    assert_int_equal(commit(set, "limits", MODE_CREATE_NEW), S_OK);
    assert_int_equal(set_query(again, &caller_self, "limits", ""), S_OK);
    assert_int_equal(collection_count(((struct data_collector_set *)again)->DataCollectors), 1024);
    add_collector(set, &alert_collector_class);
    assert_int_equal(commit(set, "limits", MODE_MODIFY), E_INVALIDARG);
    assert_non_null(strstr(error_text(E_INVALIDARG), "1025 'AlertDataCollector' elements"));
    assert_int_equal(set_query(set, &caller_self, "limits", ""), S_OK);
    for (int i = 0; i < 1025; i++) {
        char *key = text_format("k%d", i);
        assert_int_equal(set_put_value(set, key, "v"), S_OK);
        memory_free(key);
    }
    assert_int_equal(commit(set, "limits", MODE_MODIFY), E_INVALIDARG);
    assert_non_null(strstr(error_text(E_INVALIDARG), "'Value' elements"));
    assert_int_equal(set_query(set, &caller_self, "limits", ""), S_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *huge = memory_zero(1, sizes[i] + 1);
        memset(huge, 'x', sizes[i]);
        assert_int_equal(put_text(set, i == 1 ? "DisplayName" : "Description", huge), S_OK);
        assert_int_equal(commit(set, "limits", MODE_MODIFY), E_INVALIDARG);
        assert_non_null(strstr(error_text(E_INVALIDARG), "cannot store the set"));
        assert_int_equal(set_query(set, &caller_self, "limits", ""), S_OK);
        memory_free(huge);
    }
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(again);
    object_release(set);
}

/* If a client empties a list, it must stay empty, although the list of a new collector is not empty. */
static void emptied_list_remains_empty(void **state)
{
    (void)state;
    struct object *set = new_set();
    struct value nothing = {.kind = PROPERTY_TEXTS};
    add_collector(set, &api_tracing_collector_class);
    struct object *c = first_collector(set);
    const struct property *p = class_property(c->class, "IncludeModules");
    assert_int_equal(((struct api_tracing_collector *)c)->IncludeModules.count, 4);
    assert_int_equal(object_put(c, p, &nothing), S_OK);
    object_release(c);
    assert_int_equal(commit(set, "emptied", MODE_CREATE_NEW), S_OK);
    assert_int_equal(set_query(set, &caller_self, "emptied", ""), S_OK);
    c = first_collector(set);
    assert_int_equal(((struct api_tracing_collector *)c)->IncludeModules.count, 0);
    object_release(c);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(set);
}

static bool is_reported(struct object *issues, const char *key)
{
    bool reported = false;
    for (size_t i = 0; !reported && i < collection_count(issues); i++) {
        struct object *item;
        assert_int_equal(collection_item(issues, i, &item), S_OK);
        reported = !strcmp(((const struct value_map_item *)item)->Key, key);
        object_release(item);
    }
    return reported;
}

/* If characters in a value of SetValue are replaced, Commit must report this, as it does for properties (DECISIONS
   3). */
static void values_that_xml_cannot_hold_are_reported(void **state)
{
    (void)state;
    struct object *set = new_set(), *issues = NULL;
    char *back = NULL;
    assert_int_equal(set_put_value(set, "good", "a\tb"), S_OK);
    assert_int_equal(set_put_value(set, "bad", "a\001b"), S_OK);
    assert_int_equal(set_put_value(set, "worse\002", "b"), S_OK);
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(set_commit(set, &caller_self, "characters", "", MODE_CREATE_NEW, issues), S_OK);
    assert_false(is_reported(issues, "Value[good]"));
    assert_true(is_reported(issues, "Value[bad]"));
    assert_true(is_reported(issues, "Value[worse\002]"));
    assert_int_equal(set_query(set, &caller_self, "characters", ""), S_OK);
    assert_int_equal(set_get_value(set, "bad", &back), S_OK);
    assert_string_equal(back, "a\xEF\xBF\xBD"
                              "b");
    memory_free(back);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(issues);
    object_release(set);
}

/* UserAccount returns the account that the client has put, until the next Query (MS-PLA 3.2.4.1.45). If the account has
   no effect, Commit reports this once. */
static void credentials_last_until_query(void **state)
{
    (void)state;
    struct object *set = new_set();
    assert_int_equal(commit(set, "account", MODE_CREATE_NEW), S_OK);
    assert_int_equal(sets_set_credentials(set, &caller_self, "domain\\user", "secret"), S_OK);
    for (int queried = 0; queried < 2; queried++) {
        struct object *issues = NULL;
        char *account = text_of(set, "UserAccount");
        assert_string_equal(account, "domain\\user"); /* after Query, it is the account with which the
                                                         set is stored */
        memory_free(account);
        assert_int_equal(issues_create(NULL, &issues), S_OK);
        assert_int_equal(set_commit(set, &caller_self, "account", "", MODE_MODIFY, issues), S_OK);
        assert_int_equal(is_reported(issues, "UserAccount"), !queried && !os_logon());
        object_release(issues);
        assert_int_equal(set_query(set, &caller_self, "account", ""), S_OK);
    }
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(set);
}

/* If one file is invalid, all other sets must still be listed. A query of the invalid set must return the error. */
static void corrupt_set_does_not_hide_others(void **state)
{
    (void)state;
    static const char damaged[] = "<DataCollectorSet><Duration>";
    struct object *set = new_set();
    assert_int_equal(commit(set, "whole", MODE_CREATE_NEW), S_OK);
    assert_int_equal(store_save(&caller_self, "Service", "damaged", STORE_CREATE, damaged, strlen(damaged), NULL, NULL),
                     S_OK);
    assert_int_equal(found("Service\\*"), 1);
    assert_int_equal(found("Service\\?amaged"), 0);
    struct object *sets = NULL;
    assert_int_equal(sets_collection_create(NULL, &sets), S_OK);
    assert_int_equal(sets_find(sets, &caller_self, NULL, "Service\\damaged"), OPENPLA_E_MALFORMED_XML);
    assert_non_null(strstr(error_text(OPENPLA_E_MALFORMED_XML), "the stored set 'damaged'"));
    object_release(sets);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    /* the set can be committed again, and deleted */
    assert_int_equal(commit(set, "damaged", MODE_CREATE_OR_MODIFY), S_OK);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(set);
}

/* If any allocation of Commit or Query fails, an error is returned, and the object stays bound to the same set. */
static void memory_may_run_out(void **state)
{
    (void)state;
    struct object *set = new_set(), *issues = NULL;
    xml_into(set, "<DataCollectorSet><Description>d</Description><PerformanceCounterDataCollector><Counter>"
                  "\\System\\Threads</Counter></PerformanceCounterDataCollector></DataCollectorSet>");
    assert_int_equal(commit(set, "memory", MODE_CREATE_NEW), S_OK);
    for (int query = 0; query < 2; query++)
        for (uint64_t n = 1;; n++) {
            assert_int_equal(issues_create(NULL, &issues), S_OK);
            memory_fail_at(n);
            HRESULT hr = query ? set_query(set, &caller_self, "memory", "")
                               : set_commit(set, &caller_self, "memory", "", MODE_MODIFY, issues);
            memory_fail_at(0);
            object_release(issues);
            char *name = text_of(set, "Name"), *description = text_of(set, "Description");
            assert_string_equal(name, "memory");
            assert_string_equal(description, "d");
            memory_free(name);
            memory_free(description);
            if (SUCCEEDED(hr))
                break;
            assert_int_equal(hr, E_OUTOFMEMORY);
            assert_true(n < 3000);
        }
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(set);
}

/* The events must contain the user who created or deleted a set, not the server's account. */
static void events_name_the_caller(void **state)
{
    const struct caller unknown = {0};
    struct callers callers;
    struct object *set = new_set(), *issues = NULL;
    char *own = os_user_name();
    (void)state;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(commit(set, "asked", MODE_CREATE_NEW), S_OK);
    assert_int_equal(fixture_events(1000, "asked"), 1);
    assert_string_equal(fixture_user, own);
    assert_true(strlen(own) > 2);
    callers_open(&callers);
#ifdef _WIN32 /* simulates a caller in another process with the same account */
    callers.administrator = (struct caller){.process = process_own_id()};
#endif
    char *administrator = caller_account(&callers.administrator);
    assert_int_equal(set_commit(set, &callers.administrator, "asked", "", MODE_MODIFY, issues), S_OK);
    assert_int_equal(fixture_events(1001, "asked"), 1);
    assert_string_equal(fixture_user, administrator);
    assert_int_equal(set_delete(set, &unknown), E_ACCESSDENIED);
    assert_int_equal(fixture_events(1002, "asked"), 0);
    assert_int_equal(fixture_events(9020, "asked"), 1);
    assert_string_equal(fixture_user, "");
    assert_int_equal(set_delete(set, &callers.administrator), S_OK);
    assert_int_equal(fixture_events(1002, "asked"), 1);
    assert_string_equal(fixture_user, administrator);
    memory_free(administrator);
    callers_close(&callers);
    object_release(issues);
    object_release(set);
    memory_free(own);
}

/* A program that shows the statuses of many sets must not wait for writers of the store. */
static void status_waits_for_no_writer(void **state)
{
    struct object *set = new_set();
    struct file_lock *writer;
    char *folder = store_folder(SPACE), *path = path_join(folder, "store.lock");
    (void)state;
    assert_int_equal(commit(set, "Status of one", MODE_CREATE_NEW), S_OK);
    assert_int_equal(file_lock_take(path, PATIENCE_MS, &writer), S_OK);
    assert_int_equal(number_of(set, "Status"), RUN_STOPPED);
    file_lock_release(writer);
    assert_int_equal(set_delete(set, &caller_self), S_OK);
    object_release(set);
    memory_free(path);
    memory_free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_waits_for_no_writer),
        cmocka_unit_test(events_name_the_caller),
        cmocka_unit_test(the_latest_log_is_shown_after_every_run),
        cmocka_unit_test(names_that_leave_the_folder_fail_commit),
        cmocka_unit_test(names_can_be_used_and_distinguished),
        cmocka_unit_test(root_that_is_not_a_folder_fails_commit),
        cmocka_unit_test(serial_numbers_continue),
        cmocka_unit_test(template_does_not_reset_the_serial_number),
        cmocka_unit_test(commit_follows_its_mode),
        cmocka_unit_test(servers_are_this_machine),
        cmocka_unit_test(invalid_task_is_reported),
        cmocka_unit_test(invalid_names_of_an_alert_are_reported),
        cmocka_unit_test(unsupported_settings_are_reported),
        cmocka_unit_test(schedule_keeps_its_end_date),
        cmocka_unit_test(unusual_counter_paths_are_reported),
        cmocka_unit_test(seconds_for_new_instances_are_checked),
        cmocka_unit_test(sets_are_found_by_filter),
        cmocka_unit_test(unreadable_sets_are_not_stored),
        cmocka_unit_test(emptied_list_remains_empty),
        cmocka_unit_test(corrupt_set_does_not_hide_others),
        cmocka_unit_test(values_that_xml_cannot_hold_are_reported),
        cmocka_unit_test(credentials_last_until_query),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
