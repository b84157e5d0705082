/* SPDX-License-Identifier: MIT */
/* A value crosses its threshold 1,000 times while tasks hang. The numbers of events and rows must be exact, and each
   task that does not start must be counted. On Windows, an extension DLL provides the value; in native builds, the
   tests' PDH does. */
#include "engine/base/os.h"
#include "engine/logs/journal.h"
#include "engine/pla/run/member.h"
#include "run_fixture.h"
#include "tests/unit/scratch_folder.h"
#ifdef _WIN32
#include <windows.h>
#else
#include "tests/unit/collect/fake_pdh.h"
#endif

#define CROSSINGS 1000
#define DATA      "%OPENPLA_DATA%"

#ifdef _WIN32
#define PROGRAM "run_test_host.exe"
#define COUNTER "\\Test Extension(item000)\\Raw"
#define SERVICE u"SYSTEM\\CurrentControlSet\\Services\\OpenPlaTestAlerts"

static volatile LONG64 *driven;

static void drive(int value)
{
    *driven = value;
}

static void set_text(HKEY key, const WCHAR *name, const WCHAR *text)
{
    DWORD bytes = ((DWORD)lstrlenW(text) + 1) * (DWORD)sizeof *text;
    assert_int_equal(RegSetValueExW(key, name, 0, REG_EXPAND_SZ, (const BYTE *)text, bytes), 0);
}

static void begin_driving(void)
{
    static const WCHAR names[] = u"9000\0Test Extension\0"
                                 u"9002\0Share\0"
                                 u"9006\0Raw\0";
    HKEY key;
    WCHAR library[MAX_PATH];
    HANDLE section =
        CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, sizeof *driven, "OpenPlaTestExtensionValue");
    driven = section ? MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, sizeof *driven) : NULL;
    assert_non_null(driven);
    SetEnvironmentVariableA("OPENPLA_TEST_EXTENSION", "1 4 driven");
    GetModuleFileNameW(NULL, library, MAX_PATH);
    wcscpy(wcsrchr(library, '\\'), u"\\extension_dll.dll");
    assert_int_equal(
        RegCreateKeyExW(HKEY_LOCAL_MACHINE, SERVICE u"\\Performance", 0, NULL, 0, KEY_WRITE, NULL, &key, NULL), 0);
    set_text(key, u"Library", library);
    set_text(key, u"Open", u"OpenTest");
    set_text(key, u"Collect", u"CollectTest");
    set_text(key, u"Close", u"CloseTest");
    assert_int_equal(RegSetValueExW(key, u"Counter 009", 0, REG_MULTI_SZ, (const BYTE *)names, sizeof names), 0);
    RegCloseKey(key);
}

static void end_driving(void)
{
    RegDeleteTreeW(HKEY_LOCAL_MACHINE, SERVICE);
}
#else
#define PROGRAM "run_test_host"
#define COUNTER "\\Process(alpha)\\Count"

static double driven;

static void drive(int value)
{
    driven = value;
}

static void begin_driving(void)
{
    fake_instances[0] = "alpha";
    fake_values = &driven;
}

static void end_driving(void)
{
}
#endif

static void nobody(void *user)
{
    (void)user;
}

static struct object *make_set(const char *root, const char *command)
{
    char *xml = text_format("<DataCollectorSet><RootPath>%s</RootPath><AlertDataCollector><Name>a</Name>"
                            "<Alert>" COUNTER "&gt;50</Alert><EventLog>-1</EventLog></AlertDataCollector>"
                            "<Value name=\"OpenPLA.AlertOn\">crossing</Value>"
                            "<Value name=\"OpenPLA.AlertCommand\">%s</Value></DataCollectorSet>",
                            root, command);
    struct object *set;
    assert_int_equal(set_create_from_xml(xml, strlen(xml), &set), S_OK);
    memory_free(xml);
    return set;
}

/* Returns the number of events with this id, and stores the field Count of the latest one. */
static size_t events(uint32_t id, char *count, size_t size)
{
    struct journal_reader *r;
    struct journal_entry e;
    char *folder = journal_folder();
    size_t found = 0;
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    while (journal_reader_next(r, &e) == S_OK) {
        found += e.id == id;
        for (size_t i = 0; e.id == id && i < e.count; i++)
            if (!strcmp(e.fields[i].name, "Count"))
                snprintf(count, size, "%s", e.fields[i].value);
    }
    journal_reader_close(r);
    memory_free(folder);
    return found;
}

static void each_crossing_is_reported_once_despite_hung_tasks(void **state)
{
    (void)state;
    char *root = fixture_folder("crossings"), *hanging = path_join(root, "hanging"), *file = path_join(root, "a.csv");
    char *bin = os_module_folder(), *program = path_join(bin, PROGRAM);
    char *command = text_format("\"%s\" hang \"%s\" x", program, hanging);
    char count[32] = "", rest[32];
    assert_int_equal(file_store(hanging, "", 0), S_OK);
    begin_driving();
    struct run_set set = {.space = SPACE, .name = "crossings", .set = set_of(make_set(root, command))};
    struct member m = {.set = &set, .file = text_copy(file)};
    assert_int_equal(collection_item(set.set->DataCollectors, 0, &m.model), S_OK);
    assert_int_equal(member_read_alert(&m), S_OK);
    assert_int_equal(member_open(&m, root, NULL), S_OK);
    for (int i = 0; i < CROSSINGS; i++) {
        drive(100);
        assert_int_equal(collector_sample(m.collector), S_OK);
        assert_int_equal(collector_sample(m.collector), S_OK);
        drive(0);
        assert_int_equal(collector_sample(m.collector), S_OK);
    }
    assert_int_equal(collector_close(m.collector), S_OK);
    alert_actions_end(set.alerts, &set.diagnostics);
    set.alerts = NULL;
    assert_int_equal(file_delete(hanging), S_OK);
    end_driving();
    assert_int_equal(events(2031, count, sizeof count), CROSSINGS);
    assert_int_equal(fixture_lines(root, "a.csv"), CROSSINGS + 1);
    /* If a busy machine needs more than a minute for all crossings, the full table of tasks is reported once. */
    assert_in_range(events(1014, count, sizeof count), 0, 1);
    assert_int_equal(events(9011, count, sizeof count), 1);
    snprintf(rest, sizeof rest, "%d", CROSSINGS - ALERT_TASKS_AT_ONCE);
    assert_string_equal(count, rest);
    char *text = diagnostics_text(&set.diagnostics);
    assert_non_null(strstr(text, "alert actions dropped: 992 (tasks)"));
    memory_free(text);
    member_free(&m);
    run_set_free(&set);
    memory_free(command);
    memory_free(program);
    memory_free(bin);
    memory_free(hanging);
    memory_free(file);
    memory_free(root);
    fixture_sleep(2000); /* the hung tasks still use the folder, which must be removed */
}

/* If events cannot be written, for example on a full disk, the message of the run must report this. */
static void failed_event_is_reported(void **state)
{
    (void)state;
    char *folder = fixture_folder("no events"), *before = os_expand_environment(DATA),
         *file = path_join(folder, "events");
    const struct crossing crossing = {.counter = "c", .value = "1", .threshold = "0", .comparison = '>'};
    struct diagnostics said = {0};
    struct alert_actions *a;
    assert_int_equal(file_store(file, "", 0), S_OK); /* prevents that the folder is created */
    scratch_environment("OPENPLA_DATA", folder);
    assert_int_equal(alert_actions_create(SPACE, "no events", nobody, NULL, &a), S_OK);
    alert_actions_add(a, ALERT_EVENT, &(struct alert_order){.collector = "a", .crossing = &crossing, .message = "m"});
    alert_actions_end(a, &said);
    scratch_environment("OPENPLA_DATA", before);
    char *text = diagnostics_text(&said);
    assert_non_null(strstr(text, "the alert 'a' could not write its event: "));
    memory_free(text);
    diagnostics_free(&said);
    memory_free(file);
    memory_free(before);
    memory_free(folder);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_event_is_reported),
        cmocka_unit_test(each_crossing_is_reported_once_despite_hung_tasks),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
