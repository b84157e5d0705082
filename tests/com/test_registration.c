/* SPDX-License-Identifier: MIT */
/* Tests registration with the registry and the service manager of the test prefix: it writes exactly the table's rows,
   and removal restores the earlier state. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "idl/proxy_clsid.h"
#include "mspla.h"
#include "reg/registration_check.h"
#include "reg/service.h"
#include "tests/com/registry_snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <windows.h>
#include <cmocka.h>
#include <ole2.h>
#include <sddl.h>
#include <string.h>

#define FOLDER        "C:\\Program Files\\Open PLA test"
#define CLSIDS        "Software\\Classes\\CLSID\\"
#define NARROW_CLSIDS "Software\\Classes\\Wow6432Node\\CLSID\\"
#define SET_CLSID     "{03837521-098B-11D8-9414-505054503030}"
#define LIBRARY       "{03837500-098B-11D8-9414-505054503030}"
#define OPENPLA_APPID "{03837503" REGISTRATION_TAIL_DROPIN
#define APPID_KEY     "Software\\Classes\\AppID\\" OPENPLA_APPID
#define SERVICE_KEY   "System\\CurrentControlSet\\Services\\OpenPLA"
#define API_TRACES_KEY                                                                                                 \
    "Software\\Microsoft\\Windows\\CurrentVersion\\WINEVT\\Publishers\\{4d1c64a7-6f3b-4f0e-9a3c-5f5f0c6b8e21}"
#define COMMAND L"\"C:\\Program Files\\Open PLA test\\openplasrv.exe\" /service"

static const struct registration with_service = {.folder = FOLDER, .service = true, .mode = REGISTRATION_DROPIN};
static const struct registration no_service = {.folder = FOLDER, .mode = REGISTRATION_DROPIN};

/* The state without any registration of ours. Every test begins and ends in this state; none of our keys may remain. */
static struct texts before, own_before;

/* Returns all keys that we could have written. It takes seconds under Wine, so only tests of written values and one
   final check call it. */
static struct texts registry_take(void)
{
    struct texts lines = {0};
    snapshot_add(&lines, "Software\\Classes");
    snapshot_add(&lines, "Software\\OpenPLA");
    snapshot_add(&lines, "System\\CurrentControlSet\\Services");
    snapshot_add(&lines, "Software\\Classes\\Wow6432Node\\CLSID");
    snapshot_add(&lines, "Software\\Classes\\Wow6432Node\\Interface");
    snapshot_add(&lines, API_TRACES_KEY);
    snapshot_sort(&lines);
    return lines;
}

/* Returns the key directly below its root that contains the row: HKLM\root\key. Rows of one key are adjacent; returns
   NULL for all but the first, so that each key is read once. From memory_alloc. */
static char *first_of_key(const struct registration_rows *rows, size_t i)
{
    char *key[2] = {NULL, NULL};
    for (size_t k = 0; k < 2 && k <= i; k++) {
        const struct registration_row *row = &rows->items[i - k];
        const size_t root = strlen(row->root) + 1;
        key[k] = text_copy_n(row->key, root + strcspn(row->key + root, "\\"));
        assert_non_null(key[k]);
    }
    if (key[1] && !strcmp(key[0], key[1])) {
        memory_free(key[0]);
        key[0] = NULL;
    }
    memory_free(key[1]);
    return key[0];
}

static void add_table(struct texts *lines, enum registration_mode mode)
{
    struct registration_rows rows;
    assert_int_equal(registration_expand(mode, FOLDER, &rows), S_OK);
    for (size_t i = 0; i < rows.count; i++) {
        char *key = first_of_key(&rows, i);
        if (key)
            snapshot_add(lines, key);
        memory_free(key);
    }
    registration_rows_free(&rows);
}

/* Lists only the table's keys, their 32-bit variants and the service's key. */
static struct texts table_snapshot(void)
{
    struct texts lines = {0};
    add_table(&lines, REGISTRATION_DROPIN);
    add_table(&lines, REGISTRATION_BESIDE);
    snapshot_add(&lines, "Software\\OpenPLA");
    snapshot_add(&lines, SERVICE_KEY);
    snapshot_sort(&lines);
    return lines;
}

static void assert_same(const struct texts *a, const struct texts *b)
{
    struct texts gone = snapshot_without(a, b), come = snapshot_without(b, a);
    for (size_t i = 0; i < gone.count; i++)
        print_error("gone: %s\n", gone.items[i]);
    for (size_t i = 0; i < come.count; i++)
        print_error("come: %s\n", come.items[i]);
    assert_int_equal(gone.count + come.count, 0);
    texts_free(&gone);
    texts_free(&come);
}

static void assert_as_before(void)
{
    struct texts now = table_snapshot();
    assert_same(&own_before, &now);
    texts_free(&now);
}

static void write_value(const char *key, const char *name, const char *text)
{
    struct registry_changes changes = {0};
    struct registered_value value = {0};
    if (text)
        assert_int_equal(registry_text(text, &value), S_OK);
    assert_int_equal(registry_put(&changes, key, name, &value), S_OK);
    registered_value_free(&value);
    registry_changes_free(&changes);
}

/* Returns NULL if the value is absent, otherwise a string from memory_alloc. */
static char *value_get(const char *key, const char *name)
{
    struct registered_value value;
    char *text = NULL;
    assert_int_equal(registry_get(key, name, &value), S_OK);
    if (value.exists)
        assert_int_equal(text_from_utf16((WCHAR *)value.data, value.size / sizeof(WCHAR) - 1, false, &text), S_OK);
    registered_value_free(&value);
    return text;
}

static void assert_value(const char *key, const char *name, const char *expected)
{
    char *text = value_get(key, name);
    if (!text)
        print_error("%s %s is absent\n", key, name ? name : "");
    assert_non_null(text);
    assert_string_equal(text, expected);
    memory_free(text);
}

static int wipe_rows(enum registration_mode mode)
{
    struct registration_rows rows;
    if (FAILED(registration_expand(mode, FOLDER, &rows)))
        return 1;
    for (size_t i = 0; i < rows.count; i++) {
        char *top = first_of_key(&rows, i);
        WCHAR key[200];
        if (top) {
            swprintf(key, ARRAYSIZE(key), L"%hs", top);
            RegDeleteTreeW(HKEY_LOCAL_MACHINE, key);
        }
        memory_free(top);
    }
    registration_rows_free(&rows);
    return 0;
}

/* Deletes every key that the table names, with all values, and the services that a failed run may have left. */
static int keys_delete(void)
{
    static const WCHAR *const services[] = {OPENPLA_SERVICE_NAME, L"OtherService"};
    SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_ALL_ACCESS);
    if (!manager || wipe_rows(REGISTRATION_DROPIN) || wipe_rows(REGISTRATION_BESIDE))
        return 1;
    RegDeleteTreeW(HKEY_LOCAL_MACHINE, L"Software\\OpenPLA");
    for (size_t i = 0; i < ARRAYSIZE(services); i++) {
        SC_HANDLE service = OpenServiceW(manager, services[i], DELETE);
        if (service) {
            DeleteService(service);
            CloseServiceHandle(service);
        }
    }
    CloseServiceHandle(manager);
    return 0;
}

/* Removes a server that an earlier run registered in this prefix; its process must exit first. */
static int remove_earlier(void **state)
{
    char *folder = os_module_folder();
    struct registration earlier = {.folder = folder, .service = true, .mode = REGISTRATION_DROPIN};
    HRESULT hr = folder ? registration_remove(&earlier) : E_OUTOFMEMORY;
    (void)state;
    memory_free(folder);
    if (FAILED(hr) || keys_delete())
        return 1;
    before = registry_take();
    own_before = table_snapshot();
    return before.count < 1000; /* a prefix has far more: an empty snapshot would prove nothing */
}

static int forget_snapshots(void **state)
{
    (void)state;
    texts_free(&own_before);
    texts_free(&before);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    memory_fail_at(0);
    return keys_delete();
}

/* Adds the lines of `key` and its parents below `root`. */
static void expect_keys(struct texts *lines, const char *root, const char *key)
{
    for (size_t length = strlen(root) + 1; length <= strlen(key); length++) {
        if (key[length] == '\\' || !key[length]) {
            char *path = text_copy_n(key, length), *line = snapshot_key_line(path);
            assert_int_equal(texts_add(lines, line), S_OK);
            memory_free(line);
            memory_free(path);
        }
    }
}

static struct texts table_lines(const struct registration *what)
{
    struct registration_rows rows;
    struct texts lines = {0};
    assert_int_equal(registration_expand(what->mode, what->folder, &rows), S_OK);
    for (size_t i = 0; i < rows.count; i++) {
        const struct registration_row *row = &rows.items[i];
        char *line;
        if (row->narrow || (row->service && !what->service) || (!row->key_only && !row->value.exists))
            continue;
        expect_keys(&lines, row->root, row->key);
        if (row->key_only)
            continue;
        line = snapshot_line(row->key, row->name ? row->name : "", row->value.type, row->value.data, row->value.size);
        assert_int_equal(texts_add(&lines, line), S_OK);
        memory_free(line);
    }
    snapshot_sort(&lines);
    registration_rows_free(&rows);
    return lines;
}

/* Removal could never delete entries that the table does not list, and a missing entry breaks a client. */
static void writes_the_table_and_removes_it(void **state)
{
    struct texts expected = table_lines(&with_service), service = {0};
    (void)state;
    assert_int_equal(registration_write(&with_service), S_OK);
    struct texts after = registry_take();
    struct texts added = snapshot_without(&after, &before);
    snapshot_add(&service, SERVICE_KEY);
    snapshot_sort(&service);
    assert_true(service.count > 5);
    struct texts rest = snapshot_without(&added, &service);
    assert_same(&expected, &rest);
    assert_int_equal(after.count, before.count + expected.count + service.count);
    assert_int_equal(registration_remove(&with_service), S_OK);
    assert_as_before();
    texts_free(&rest);
    texts_free(&service);
    texts_free(&expected);
    texts_free(&added);
    texts_free(&after);
}

/* The entries that scripts, COM and other tools look up, listed independent of the table. */
static void clients_find_the_classes(void **state)
{
    static const struct {
        const char *name, *clsid;
    } classes[] = {{"DataCollectorSet", "{03837521-098B-11D8-9414-505054503030}"},
                   {"DataCollectorSetCollection", "{03837525-098B-11D8-9414-505054503030}"},
                   {"ServerDataCollectorSet", "{03837531-098B-11D8-9414-505054503030}"},
                   {"ServerDataCollectorSetCollection", "{03837532-098B-11D8-9414-505054503030}"},
                   {"SystemDataCollectorSet", "{03837546-098B-11D8-9414-505054503030}"},
                   {"SystemDataCollectorSetCollection", "{03837547-098B-11D8-9414-505054503030}"},
                   {"TraceSession", "{0383751C-098B-11D8-9414-505054503030}"},
                   {"TraceSessionCollection", "{03837530-098B-11D8-9414-505054503030}"},
                   {"BootTraceSession", "{03837538-098B-11D8-9414-505054503030}"},
                   {"BootTraceSessionCollection", "{03837539-098B-11D8-9414-505054503030}"},
                   {"LegacyDataCollectorSet", "{03837526-098B-11D8-9414-505054503030}"},
                   {"LegacyDataCollectorSetCollection", "{03837527-098B-11D8-9414-505054503030}"},
                   {"LegacyTraceSession", "{03837528-098B-11D8-9414-505054503030}"},
                   {"LegacyTraceSessionCollection", "{03837529-098B-11D8-9414-505054503030}"},
                   {"TraceDataProvider", "{03837513-098B-11D8-9414-505054503030}"},
                   {"TraceDataProviderCollection", "{03837511-098B-11D8-9414-505054503030}"}};
    char key[200], text[200];
    /* Registered in process, so that a script's gets and puts need no call to the server. */
    static const char *const in_process[] = {"DataCollectorSet", "DataCollectorSetCollection", "TraceDataProvider",
                                             "TraceDataProviderCollection"};
    WCHAR wide[100];
    CLSID clsid;
    size_t i, k;

    (void)state;
    assert_int_equal(registration_write(&with_service), S_OK);
    for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        swprintf(wide, 100, L"pla.%hs", classes[i].name);
        assert_int_equal(CLSIDFromProgID(wide, &clsid), S_OK);
        text_from_guid(&clsid, text);
        assert_string_equal(text, classes[i].clsid);
        swprintf(wide, 100, L"PLA.%hs.1", classes[i].name);
        assert_int_equal(CLSIDFromProgID(wide, &clsid), S_OK);
        snprintf(key, sizeof(key), CLSIDS "%s\\LocalServer32", classes[i].clsid);
        assert_value(key, NULL, "\"" FOLDER "\\openplasrv.exe\" -Embedding");
        snprintf(key, sizeof(key), CLSIDS "%s\\InprocServer32", classes[i].clsid);
        for (k = 0; k < 4 && strcmp(in_process[k], classes[i].name) != 0; k++)
            ;
        if (k < 4) {
            assert_value(key, NULL, FOLDER "\\openpla.dll");
            assert_value(key, "ThreadingModel", "Both");
        } else {
            assert_null(value_get(key, NULL));
        }
        snprintf(key, sizeof(key), CLSIDS "%s", classes[i].clsid);
        assert_value(key, "AppID", "{03837503-098B-11D8-9414-505054503030}");
        snprintf(key, sizeof(key), CLSIDS "%s\\ProgID", classes[i].clsid);
        snprintf(text, sizeof(text), "PLA.%s.1", classes[i].name);
        assert_value(key, NULL, text);
        snprintf(key, sizeof(key), "Software\\Classes\\PLA.%s\\CurVer", classes[i].name);
        assert_value(key, NULL, text);
        snprintf(key, sizeof(key), CLSIDS "%s\\VersionIndependentProgID", classes[i].clsid);
        *strrchr(text, '.') = 0;
        assert_value(key, NULL, text);
    }
    assert_value(APPID_KEY, "LocalService", "OpenPLA");
    assert_value("Software\\Classes\\AppID\\openplasrv.exe", "AppID", OPENPLA_APPID);
}

/* With a wrong proxy or slot count, every call from another process would fail or call the wrong method. */
static void interfaces_have_our_proxy(void **state)
{
    static const CLSID ours = OPENPLA_PROXY_CLSID;
    const struct {
        const IID *iid;
        const char *name, *methods; /* the highest opnum in MS-PLA 3.2.4, plus one */
    } interfaces[] = {{&IID_IDataCollectorSet, "IDataCollectorSet", "67"},
                      {&IID_IDataManager, "IDataManager", "32"},
                      {&IID_IFolderAction, "IFolderAction", "15"},
                      {&IID_IFolderActionCollection, "IFolderActionCollection", "15"},
                      {&IID_IDataCollector, "IDataCollector", "32"},
                      {&IID_IPerformanceCounterDataCollector, "IPerformanceCounterDataCollector", "42"},
                      {&IID_ITraceDataCollector, "ITraceDataCollector", "72"},
                      {&IID_IConfigurationDataCollector, "IConfigurationDataCollector", "50"},
                      {&IID_IAlertDataCollector, "IAlertDataCollector", "48"},
                      {&IID_IApiTracingDataCollector, "IApiTracingDataCollector", "46"},
                      {&IID_ITraceDataProvider, "ITraceDataProvider", "26"},
                      {&IID_ISchedule, "ISchedule", "15"},
                      {&IID_ITraceDataProviderCollection, "ITraceDataProviderCollection", "17"},
                      {&IID_IScheduleCollection, "IScheduleCollection", "15"},
                      {&IID_IDataCollectorCollection, "IDataCollectorCollection", "16"},
                      {&IID_IDataCollectorSetCollection, "IDataCollectorSetCollection", "15"},
                      {&IID_IValueMapItem, "IValueMapItem", "17"},
                      {&IID_IValueMap, "IValueMap", "21"}};
    GUID library;
    BSTR path;
    size_t i;

    (void)state;
    assert_int_equal(sizeof(interfaces) / sizeof(interfaces[0]), 18);
    assert_int_equal(registration_write(&with_service), S_OK);
    for (i = 0; i < 18; i++) {
        char guid[39], key[100], numbers[120];
        CLSID proxy;
        assert_int_equal(CoGetPSClsid(interfaces[i].iid, &proxy), S_OK);
        assert_memory_equal(&proxy, &ours, sizeof(proxy));
        text_from_guid(interfaces[i].iid, guid);
        snprintf(key, sizeof(key), "Software\\Classes\\Interface\\%s", guid);
        assert_value(key, NULL, interfaces[i].name);
        snprintf(numbers, sizeof(numbers), "%s\\NumMethods", key);
        assert_value(numbers, NULL, interfaces[i].methods);
        snprintf(numbers, sizeof(numbers), "%s\\TypeLib", key);
        assert_value(numbers, NULL, LIBRARY);
    }
    assert_value(CLSIDS OPENPLA_PROXY_CLSID_TEXT "\\InprocServer32", NULL, FOLDER "\\openpla.dll");
    assert_value(CLSIDS OPENPLA_PROXY_CLSID_TEXT "\\InprocServer32", "ThreadingModel", "Both");
    assert_true(text_to_guid(LIBRARY, &library));
    assert_int_equal(QueryPathOfRegTypeLib(&library, 1, 0, LOCALE_NEUTRAL, &path), S_OK);
    assert_true(!_wcsicmp(path, L"C:\\Program Files\\Open PLA test\\openpla.dll"));
    SysFreeString(path);
}

static SC_HANDLE open_service(SC_HANDLE *manager)
{
    *manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_ALL_ACCESS);
    assert_non_null(*manager);
    return OpenServiceW(*manager, OPENPLA_SERVICE_NAME, SERVICE_ALL_ACCESS);
}

static void assert_no_service(void)
{
    SC_HANDLE manager, service = open_service(&manager);
    assert_null(service);
    assert_int_equal(GetLastError(), ERROR_SERVICE_DOES_NOT_EXIST);
    CloseServiceHandle(manager);
}

/* A path with spaces and without quotes would start C:\Program.exe; without automatic start, schedules would not run.
   An older service with the same name is updated. */
static void service_starts_our_program(void **state)
{
    SC_HANDLE manager, service;
    union {
        QUERY_SERVICE_CONFIGW config;
        BYTE bytes[4096];
    } q;
    DWORD size;
    int round;

    (void)state;
    for (round = 0; round < 2; round++) {
        assert_int_equal(registration_write(&with_service), S_OK);
        service = open_service(&manager);
        assert_non_null(service);
        assert_true(QueryServiceConfigW(service, &q.config, sizeof(q), &size));
        assert_int_equal(wcscmp(q.config.lpBinaryPathName, COMMAND), 0);
        assert_int_equal(q.config.dwStartType, SERVICE_AUTO_START);
        assert_int_equal(q.config.dwServiceType, SERVICE_WIN32_OWN_PROCESS);
        assert_int_equal(_wcsicmp(q.config.lpServiceStartName, L"LocalSystem"), 0);
        assert_int_equal(wcscmp(q.config.lpDisplayName, OPENPLA_SERVICE_DISPLAY_NAME), 0);
        assert_true(ChangeServiceConfigW(service, SERVICE_NO_CHANGE, SERVICE_DISABLED, SERVICE_NO_CHANGE,
                                         L"C:\\old\\openplasrv.exe", NULL, NULL, NULL, NULL, NULL, NULL));
        CloseServiceHandle(service);
        CloseServiceHandle(manager);
    }
    assert_int_equal(registration_write(&with_service), S_OK);
    assert_int_equal(registration_remove(&with_service), S_OK);
    assert_no_service();
    assert_as_before();
}

/* Without a service, COM must start the program itself; LocalService in the AppID would prevent that. */
static void registers_without_a_service(void **state)
{
    struct texts expected = table_lines(&no_service);
    (void)state;
    assert_int_equal(registration_write(&with_service), S_OK);
    assert_int_equal(registration_write(&no_service), S_OK);
    assert_no_service();
    assert_null(value_get(APPID_KEY, "LocalService"));
    struct texts after = table_snapshot();
    struct texts added = snapshot_without(&after, &own_before);
    assert_same(&expected, &added);
    texts_free(&expected);
    texts_free(&added);
    texts_free(&after);
    assert_int_equal(registration_remove(&no_service), S_OK);
    assert_as_before();
}

/* An installer's repair runs the registration again. */
static void writing_twice_changes_nothing(void **state)
{
    (void)state;
    assert_int_equal(registration_write(&with_service), S_OK);
    struct texts once = table_snapshot();
    assert_int_equal(registration_write(&with_service), S_OK);
    struct texts twice = table_snapshot();
    assert_same(&once, &twice);
    texts_free(&once);
    texts_free(&twice);
    assert_int_equal(registration_remove(&with_service), S_OK);
    assert_as_before();
    assert_int_equal(registration_remove(&with_service), S_FALSE);
    assert_as_before();
}

static void assert_rejected(HRESULT expected, const char *key, const char *advice)
{
    struct texts start = table_snapshot();
    HRESULT hr = registration_write(&with_service);
    assert_int_equal(hr, expected);
    assert_non_null(strstr(error_text(hr), key));
    assert_non_null(strstr(error_text(hr), advice));
    struct texts now = table_snapshot();
    assert_same(&start, &now);
    texts_free(&now);
    texts_free(&start);
    assert_no_service();
}

/* If the registry rejects the last rows, no class may remain. A volatile key rejects nonvolatile subkeys. */
static void rejected_key_leaves_nothing(void **state)
{
    HKEY key;
    (void)state;
    assert_int_equal(RegCreateKeyExW(HKEY_LOCAL_MACHINE, L"Software\\Classes\\TypeLib\\" LIBRARY, 0, NULL,
                                     REG_OPTION_VOLATILE, KEY_ALL_ACCESS, NULL, &key, NULL),
                     ERROR_SUCCESS);
    RegCloseKey(key);
    assert_rejected(HRESULT_FROM_WIN32(ERROR_CHILD_MUST_BE_VOLATILE), "Software\\Classes\\TypeLib\\" LIBRARY, "");
}

static void key_protect(HKEY key, const WCHAR *rights)
{
    PSECURITY_DESCRIPTOR descriptor;
    assert_true(ConvertStringSecurityDescriptorToSecurityDescriptorW(rights, SDDL_REVISION_1, &descriptor, NULL));
    assert_int_equal(RegSetKeySecurity(key, DACL_SECURITY_INFORMATION, descriptor), ERROR_SUCCESS);
    LocalFree(descriptor);
}

/* If Windows protects a key, the error names the script that permits the change; then registration works. */
static void protected_key_error_names_the_remedy(void **state)
{
    HKEY key;
    (void)state;
    assert_int_equal(RegCreateKeyExW(HKEY_LOCAL_MACHINE, L"Software\\Classes\\TypeLib\\" LIBRARY L"\\1.0", 0, NULL, 0,
                                     KEY_ALL_ACCESS, NULL, &key, NULL),
                     ERROR_SUCCESS);
    key_protect(key, L"D:P(A;;KR;;;WD)");
    assert_rejected(E_ACCESSDENIED, "Software\\Classes\\TypeLib\\" LIBRARY, "allow-dropin.ps1");
    key_protect(key, L"D:P(A;;KA;;;WD)");
    RegCloseKey(key);
    assert_int_equal(registration_write(&with_service), S_OK);
    assert_int_equal(registration_remove(&with_service), S_OK);
}

/* The service is created last; if that fails, the AppID must not name a missing service. */
static void rejected_service_leaves_nothing(void **state)
{
    SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_ALL_ACCESS);
    SC_HANDLE other =
        CreateServiceW(manager, L"OtherService", OPENPLA_SERVICE_DISPLAY_NAME, DELETE, SERVICE_WIN32_OWN_PROCESS,
                       SERVICE_DEMAND_START, SERVICE_ERROR_NORMAL, L"C:\\other.exe", NULL, NULL, NULL, NULL, NULL);
    struct texts start, now;
    HRESULT hr;
    (void)state;
    assert_non_null(other);
    start = table_snapshot();
    hr = registration_write(&with_service);
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_DUPLICATE_SERVICE_NAME));
    assert_non_null(strstr(error_text(hr), "service OpenPLA"));
    now = table_snapshot();
    assert_same(&start, &now);
    texts_free(&now);
    texts_free(&start);
    assert_true(DeleteService(other));
    CloseServiceHandle(other);
    CloseServiceHandle(manager);
}

/* If a new service does not start because its program fails, neither rows nor the service remain. */
static void service_that_does_not_start_leaves_nothing(void **state)
{
    static const struct registration started = {.folder = FOLDER, .service = true, .start = true};
    struct texts start = table_snapshot(), now;
    (void)state;
    HRESULT hr = registration_write(&started);
    assert_true(FAILED(hr));
    assert_non_null(strstr(error_text(hr), "starting service OpenPLA"));
    now = table_snapshot();
    assert_same(&start, &now);
    texts_free(&now);
    texts_free(&start);
    assert_no_service();
}

/* If an update fails at its last step, the earlier service is restored with all settings of its administrator. */
static void failed_update_restores_the_service(void **state)
{
    static const struct registration started = {.folder = FOLDER, .service = true, .start = true};
    static const WCHAR *const texts[] = {L"As it was", NULL};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        SERVICE_DESCRIPTIONW description = {(WCHAR *)texts[i]};
        SC_HANDLE manager, none = open_service(&manager);
        assert_null(none);
        SC_HANDLE service =
            CreateServiceW(manager, OPENPLA_SERVICE_NAME, L"Earlier", SERVICE_ALL_ACCESS, SERVICE_WIN32_SHARE_PROCESS,
                           SERVICE_DEMAND_START, SERVICE_ERROR_IGNORE, L"C:\\old\\openplasrv.exe", NULL, NULL, NULL,
                           L"NT AUTHORITY\\LocalService", NULL);
        assert_non_null(service);
        assert_true(!texts[i] || ChangeServiceConfig2W(service, SERVICE_CONFIG_DESCRIPTION, &description));
        CloseServiceHandle(service);
        struct texts start = {0}, now = {0};
        snapshot_add(&start, SERVICE_KEY);
        snapshot_sort(&start);
        assert_true(FAILED(registration_write(&started)));
        snapshot_add(&now, SERVICE_KEY);
        snapshot_sort(&now);
        assert_same(&start, &now);
        texts_free(&now);
        texts_free(&start);
        service = OpenServiceW(manager, OPENPLA_SERVICE_NAME, DELETE);
        assert_true(DeleteService(service));
        CloseServiceHandle(service);
        CloseServiceHandle(manager);
    }
    assert_as_before();
}

/* Makes one of the `last` allocations fail, at PLACES positions from the first to nearly the last, where everything is
   written and must be undone. Each time the registry must equal `expected`. Finally registers successfully. */
static void fail_at_many_places(const struct registration *what, uint64_t last, const struct texts *expected)
{
    enum { PLACES = 8 };
    for (uint64_t i = 0; i < PLACES; i++) {
        struct texts now;
        memory_fail_at(1 + last * i / PLACES);
        HRESULT hr = registration_write(what);
        memory_fail_at(0);
        assert_int_equal(hr, E_OUTOFMEMORY);
        now = table_snapshot();
        assert_same(expected, &now);
        texts_free(&now);
    }
    assert_int_equal(registration_write(what), S_OK);
}

/* A failing first registration leaves nothing; a failing repair or update leaves the working registration. */
static void out_of_memory_undoes_everything(void **state)
{
    static const struct registration moved = {.folder = "D:\\Other", .service = true, .mode = REGISTRATION_DROPIN};
    struct texts nothing = table_snapshot(), working;
    (void)state;
    assert_int_equal(nothing.count, 0);
    memory_fail_at(UINT64_MAX);
    assert_int_equal(registration_write(&with_service), S_OK);
    const uint64_t last = memory_count();
    memory_fail_at(0);
    assert_true(last > 1000);
    assert_int_equal(registration_remove(&with_service), S_OK);
    fail_at_many_places(&with_service, last, &nothing);
    working = table_snapshot();
    fail_at_many_places(&moved, last, &working);
    assert_value(CLSIDS SET_CLSID "\\LocalServer32", NULL, "\"D:\\Other\\openplasrv.exe\" -Embedding");
    texts_free(&working);
    texts_free(&nothing);
    assert_int_equal(registration_remove(&moved), S_OK);
    assert_as_before();
}

/* Windows' own PLA is not replaced by accident, but on request, and removal restores it. */
static void replaced_module_is_restored(void **state)
{
    static const struct registration dropin = {
        .folder = FOLDER, .service = true, .replace = true, .mode = REGISTRATION_DROPIN};
    static const char in_process[] = CLSIDS SET_CLSID "\\InprocServer32";
    struct texts foreign, now;
    HRESULT hr;
    (void)state;
    write_value(CLSIDS SET_CLSID, NULL, "Another's set");
    write_value(in_process, NULL, "C:\\windows\\system32\\pla.dll");
    write_value(in_process, "ThreadingModel", "Both");
    write_value("Software\\Classes\\PLA.DataCollectorSet\\CLSID", NULL, SET_CLSID); /* same value as ours */
    write_value(CLSIDS SET_CLSID "\\Programmable", "x", "");
    write_value(CLSIDS SET_CLSID "\\Programmable", "x", NULL); /* a key without a value, as in our registration */
    write_value("Software\\Classes\\TypeLib\\" LIBRARY "\\1.0\\0\\win64", NULL, "C:\\windows\\system32\\pla.dll");
    /* 32-bit programs have a separate view, and this installation has no DLL for them. */
    write_value(NARROW_CLSIDS SET_CLSID "\\InprocServer32", NULL, "C:\\windows\\syswow64\\pla.dll");
    write_value(NARROW_CLSIDS SET_CLSID "\\ProgID", NULL, "PLA.DataCollectorSet.1"); /* same value as ours */
    write_value(NARROW_CLSIDS SET_CLSID "\\Programmable", "x", "");
    write_value(NARROW_CLSIDS SET_CLSID "\\Programmable", "x", NULL);
    foreign = table_snapshot();
    hr = registration_write(&with_service);
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_non_null(strstr(error_text(hr), "C:\\windows\\system32\\pla.dll"));
    assert_int_equal(registration_write(&dropin), S_OK);
    assert_value(in_process, NULL, FOLDER "\\openpla.dll");
    assert_value("Software\\Classes\\TypeLib\\" LIBRARY "\\1.0\\0\\win64", NULL, FOLDER "\\openpla.dll");
    assert_int_equal(registration_write(&dropin), S_OK);
    assert_int_equal(registration_remove(&with_service), S_OK);
    assert_value(in_process, NULL, "C:\\windows\\system32\\pla.dll");
    now = table_snapshot();
    assert_same(&foreign, &now);
    texts_free(&now);
    texts_free(&foreign);
}

/* Foreign values in our keys are kept, and a registration from another folder is not removed. */
static void removes_only_our_entries(void **state)
{
    static const struct registration elsewhere = {.folder = "D:\\Other", .service = true, .mode = REGISTRATION_DROPIN};
    struct texts registered, now, left;
    (void)state;
    assert_int_equal(registration_write(&with_service), S_OK);
    registered = table_snapshot();
    assert_int_equal(registration_remove(&elsewhere), S_FALSE);
    now = table_snapshot();
    assert_same(&registered, &now);
    texts_free(&now);
    texts_free(&registered);

    write_value(CLSIDS SET_CLSID, "Theirs", "1");
    write_value("Software\\Classes\\PLA.DataCollectorSet\\Theirs", NULL, "2");
    write_value("Software\\Classes\\PLA.DataCollectorSet.1", NULL, "3");
    assert_int_equal(registration_remove(&with_service), S_OK);
    now = table_snapshot();
    left = snapshot_without(&now, &own_before);
    assert_value(CLSIDS SET_CLSID, "Theirs", "1");
    assert_value("Software\\Classes\\PLA.DataCollectorSet\\Theirs", NULL, "2");
    assert_value("Software\\Classes\\PLA.DataCollectorSet.1", NULL, "3");
    assert_int_equal(left.count, 3 + 4); /* the values and their keys */
    texts_free(&left);
    texts_free(&now);
}

/* Returns a key's value in the 32-bit view; NULL if the key or the value is absent. */
static char *read_32_bit_value(const char *key, const char *name)
{
    WCHAR wide[300], wide_name[100], text[300];
    DWORD bytes = sizeof text;
    char *out = NULL;
    swprintf(wide, ARRAYSIZE(wide), L"%hs", key);
    swprintf(wide_name, ARRAYSIZE(wide_name), L"%hs", name ? name : "");
    if (!RegGetValueW(HKEY_LOCAL_MACHINE, wide, wide_name, RRF_RT_REG_SZ | RRF_SUBKEY_WOW6432KEY, NULL, text, &bytes))
        assert_int_equal(text_from_utf16(text, wcslen(text), false, &out), S_OK);
    return out;
}

static void assert_32_bit_value(const char *key, const char *name, const char *expected)
{
    char *text = read_32_bit_value(key, name);
    if (!text)
        print_error("%s %s is absent in 32 bits\n", key, name ? name : "");
    assert_non_null(text);
    assert_string_equal(text, expected);
    memory_free(text);
}

/* Office and old agents are 32-bit programs: where the 32-bit DLL is installed, they find it and the 64-bit server. */
static void programs_with_32_bits_find_their_dll(void **state)
{
#define FOLDER_32 "C:\\openpla registration test"
    static const struct registration both = {.folder = FOLDER_32, .mode = REGISTRATION_DROPIN};
    static const char sets[] = CLSIDS SET_CLSID "\\InprocServer32",
                      proxy[] = CLSIDS OPENPLA_PROXY_CLSID_TEXT "\\InprocServer32";
    static const char server_set[] = CLSIDS "{03837531-098B-11D8-9414-505054503030}";
    static const char library[] = "Software\\Classes\\TypeLib\\" LIBRARY "\\1.0\\0\\win32";
    char key[200];
    (void)state;
    assert_int_equal(registration_write(&with_service), S_OK); /* this folder has no 32-bit DLL */
    assert_null(read_32_bit_value(sets, NULL));
    assert_int_equal(registration_remove(&with_service), S_OK);

    CreateDirectoryW(L"" FOLDER_32, NULL);
    CreateDirectoryW(L"" FOLDER_32 "\\x86", NULL);
    static const WCHAR module[] = L"" FOLDER_32 "\\x86"
                                  "\\openpla.dll";
    CloseHandle(CreateFileW(module, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL));
    assert_int_equal(registration_write(&both), S_OK);
    assert_value(sets, NULL, FOLDER_32 "\\openpla.dll");
    assert_32_bit_value(sets, NULL, FOLDER_32 "\\x86\\openpla.dll");
    assert_32_bit_value(sets, "ThreadingModel", "Both");
    assert_32_bit_value(proxy, NULL, FOLDER_32 "\\x86\\openpla.dll");
    snprintf(key, sizeof key, "%s\\LocalServer32", server_set);
    assert_32_bit_value(key, NULL, "\"" FOLDER_32 "\\openplasrv.exe\" -Embedding");
    assert_32_bit_value(server_set, "AppID", OPENPLA_APPID);
    snprintf(key, sizeof key, "%s\\InprocServer32", server_set);
    assert_null(read_32_bit_value(key, NULL));
    assert_32_bit_value("Software\\Classes\\Interface\\{03837520-098B-11D8-9414-505054503030}\\ProxyStubClsid32", NULL,
                        OPENPLA_PROXY_CLSID_TEXT);
    /* On Windows and under Wine 10, 32-bit and 64-bit programs share these entries. */
    assert_value("Software\\Classes\\PLA.DataCollectorSet\\CLSID", NULL, SET_CLSID);
    assert_value(library, NULL, FOLDER_32 "\\x86\\openpla.dll");
    assert_int_equal(registration_remove(&both), S_OK);
    assert_as_before();
    DeleteFileW(module);
    RemoveDirectoryW(L"" FOLDER_32 "\\x86");
    RemoveDirectoryW(L"" FOLDER_32);
#undef FOLDER_32
}

/* Beside Windows' own PLA, scripts get OpenPLA under its own names. Nothing of Windows' PLA is touched: no identifier,
   interface, library or ProgID. */
static void registration_beside_windows_keeps_its_entries(void **state)
{
    static const struct registration beside = {.folder = FOLDER, .service = true, .mode = REGISTRATION_BESIDE};
    struct texts expected = table_lines(&beside), service = {0};
    WCHAR name[] = L"OpenPLA.DataCollectorSet";
    char text[39];
    CLSID clsid;
    (void)state;
    assert_int_equal(registration_write(&beside), S_OK);
    struct texts after = registry_take();
    struct texts added = snapshot_without(&after, &before);
    snapshot_add(&service, SERVICE_KEY);
    snapshot_sort(&service);
    struct texts rest = snapshot_without(&added, &service);
    assert_same(&expected, &rest);
    for (size_t i = 0; i < rest.count; i++) {
        assert_null(strstr(rest.items[i], "-098b-11d8-9414-505054503030"));
        assert_null(strstr(rest.items[i], "classes\\pla."));
        assert_null(strstr(rest.items[i], "classes\\interface"));
        assert_null(strstr(rest.items[i], "classes\\typelib"));
    }
    assert_int_equal(CLSIDFromProgID(name, &clsid), S_OK);
    text_from_guid(&clsid, text);
    assert_string_equal(text, "{03837521" REGISTRATION_TAIL_BESIDE);
    const CLSID same = REGISTRATION_BESIDE_GUID(0x03837521);
    assert_memory_equal(&clsid, &same, sizeof same);
    assert_int_equal(registration_mode_here(), REGISTRATION_BESIDE);
    struct texts working = table_snapshot();
    /* Registration in place of Windows' PLA and back: the previous registration keeps working. */
    assert_int_equal(registration_write(&with_service), S_OK);
    assert_int_equal(registration_mode_here(), REGISTRATION_DROPIN);
    assert_int_equal(registration_remove(&with_service), S_OK);
    struct texts again = table_snapshot();
    assert_same(&working, &again);
    assert_int_equal(registration_remove(&with_service), S_FALSE);
    assert_int_equal(registration_remove(&beside), S_OK);
    assert_as_before();
    texts_free(&again);
    texts_free(&working);
    texts_free(&rest);
    texts_free(&added);
    texts_free(&after);
    texts_free(&service);
    texts_free(&expected);
}

/* The AppID must not allow everyone or nobody to start the server. The table has the bytes; SDDL is easier to read. */
static void appid_limits_who_may_call(void **state)
{
    static const struct {
        const char *name;
        const WCHAR *sddl;
    } rows[] = {
        {"LaunchPermission", L"O:BAG:BAD:(A;;0xb;;;SY)(A;;0x1f;;;BA)(A;;0x1f;;;S-1-5-32-559)(A;;0xb;;;LS)"},
        {"AccessPermission", L"O:BAG:BAD:(A;;0x3;;;SY)(A;;0x7;;;BA)(A;;0x7;;;S-1-5-32-559)(A;;0x3;;;LS)"},
    };
    struct registered_value value;
    (void)state;
    assert_int_equal(registration_write(&no_service), S_OK);
    for (size_t i = 0; i < ARRAYSIZE(rows); i++) {
        PSECURITY_DESCRIPTOR descriptor, present;
        PACL acl, present_acl;
        BOOL has, defaulted;
        assert_true(
            ConvertStringSecurityDescriptorToSecurityDescriptorW(rows[i].sddl, SDDL_REVISION_1, &descriptor, NULL));
        assert_int_equal(registry_get(APPID_KEY, rows[i].name, &value), S_OK);
        assert_int_equal(value.type, REG_BINARY);
        present = value.data;
        assert_true(IsValidSecurityDescriptor(present));
        assert_int_equal(GetSecurityDescriptorLength(present), value.size);
        assert_true(GetSecurityDescriptorDacl(descriptor, &has, &acl, &defaulted) && has);
        assert_true(GetSecurityDescriptorDacl(present, &has, &present_acl, &defaulted) && has);
        assert_int_equal(acl->AclSize, present_acl->AclSize);
        assert_memory_equal(acl, present_acl, acl->AclSize);
        registered_value_free(&value);
        LocalFree(descriptor);
    }
    assert_int_equal(registry_get(APPID_KEY, "AuthenticationLevel", &value), S_OK);
    assert_int_equal(value.type, REG_DWORD);
    assert_int_equal(*(DWORD *)value.data, 6);
    registered_value_free(&value);
}

/* Reports changes outside our keys that any test has left, which the other checks do not cover. */
static void registration_leaves_nothing_else(void **state)
{
    struct texts now = registry_take();
    (void)state;
    assert_same(&before, &now);
    texts_free(&now);
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, clean_up)
    static const struct CMUnitTest tests[] = {
        T(writes_the_table_and_removes_it),
        T(clients_find_the_classes),
        T(interfaces_have_our_proxy),
        T(service_starts_our_program),
        T(registers_without_a_service),
        T(writing_twice_changes_nothing),
        T(rejected_key_leaves_nothing),
        T(protected_key_error_names_the_remedy),
        T(rejected_service_leaves_nothing),
        T(service_that_does_not_start_leaves_nothing),
        T(failed_update_restores_the_service),
        T(out_of_memory_undoes_everything),
        T(replaced_module_is_restored),
        T(removes_only_our_entries),
        T(programs_with_32_bits_find_their_dll),
        T(registration_beside_windows_keeps_its_entries),
        T(appid_limits_who_may_call),
        T(registration_leaves_nothing_else),
    };
#undef T
    int failed;

    if (FAILED(CoInitializeEx(NULL, COINIT_MULTITHREADED)))
        return 1;
    failed = cmocka_run_group_tests(tests, remove_earlier, forget_snapshots);
    CoUninitialize();
    return failed;
}
