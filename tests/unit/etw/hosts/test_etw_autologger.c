/* SPDX-License-Identifier: MIT */
/* Sessions that start with the host OS. Their settings come from registry values. Under Wine, they are started by the
   first process of a prefix that uses tracing. */
#include "engine/base/registry.h"
#include "engine/etw/autologger.h"
#include "tests/unit/controller_fixture.h"

static char *folder;
static struct directory *d;

#define NUMBER(n)                                                                                                      \
    {                                                                                                                  \
        true, n                                                                                                        \
    }
static const char guid_text[] = "{0A0B0C0D-1234-5678-0102-030405060708}";

static struct autologger plain(void)
{
    return (struct autologger){.name = (char *)"auto", .guid = (char *)guid_text, .start = NUMBER(1)};
}

static ULONG settle(const struct autologger *a, struct trace_settings *s, uint32_t *counter)
{
    return autologger_settings(a, folder, s, counter);
}

static void missing_values_have_windows_defaults(void **state)
{
    struct autologger a = plain();
    char *path = path_join(folder, "auto.etl");
    struct trace_settings s;
    uint32_t counter;
    (void)state;
    assert_int_equal(settle(&a, &s, &counter), ERROR_SUCCESS);
    assert_string_equal(s.name, "auto");
    assert_string_equal(s.file, path);
    assert_true(s.guid.Data1 == 0x0A0B0C0D && s.clock == ETL_CLOCK_TICKS && s.mode == TRACE_MODE_SEQUENTIAL &&
                s.maximum_file == 100 && s.maximum_bytes == UINT64_C(100) << 20 && s.flush_timer == 0 &&
                counter == AUTOLOGGER_NO_COUNTER);
    assert_true(s.buffer_kb >= 4 && s.minimum_buffers >= 2 && s.maximum_buffers >= s.minimum_buffers);
    trace_settings_free(&s);
    memory_free(path);
}

static void the_global_logger_has_its_own_defaults(void **state)
{
    struct autologger a = plain();
    struct trace_settings s;
    uint32_t counter;
    (void)state;
    a.global = true;
    assert_int_equal(settle(&a, &s, &counter), ERROR_SUCCESS);
    assert_true(s.maximum_file == 0 && s.minimum_buffers >= 3);
    trace_settings_free(&s);
}

static void values_become_settings(void **state)
{
    struct autologger a = plain();
    struct trace_settings s;
    uint32_t counter;
    (void)state;
    a.buffer_kb = (struct autologger_number)NUMBER(128);
    a.minimum_buffers = (struct autologger_number)NUMBER(300);
    a.maximum_buffers = (struct autologger_number)NUMBER(310);
    a.flush_timer = (struct autologger_number)NUMBER(5);
    a.clock = (struct autologger_number)NUMBER(2);
    a.mode = (struct autologger_number)NUMBER(TRACE_MODE_CIRCULAR);
    a.maximum_file = (struct autologger_number)NUMBER(7);
    a.file = path_join(folder, "own.etl");
    assert_int_equal(settle(&a, &s, &counter), ERROR_SUCCESS);
    char *full = os_full_path(a.file);
    assert_string_equal(s.file, full);
    memory_free(full);
    assert_true(s.buffer_kb == 128 && s.minimum_buffers == 300 && s.maximum_buffers == 310 && s.flush_ms == 5000 &&
                s.clock == 2 && s.mode == TRACE_MODE_CIRCULAR && s.maximum_file == 7);
    trace_settings_free(&s);
    memory_free(a.file);
    a = plain();
    a.mode = (struct autologger_number)NUMBER(TRACE_MODE_REAL_TIME);
    assert_int_equal(settle(&a, &s, &counter), ERROR_SUCCESS);
    assert_true(!s.file && s.flush_timer == 1);
    trace_settings_free(&s);
    a.mode = (struct autologger_number)NUMBER(TRACE_MODE_BUFFERING);
    assert_int_equal(settle(&a, &s, &counter), ERROR_SUCCESS);
    assert_null(s.file);
    trace_settings_free(&s);
    a = plain();
    a.clock = (struct autologger_number)NUMBER(9); /* overridden */
    assert_int_equal(settle(&a, &s, &counter), ERROR_SUCCESS);
    assert_int_equal(s.clock, ETL_CLOCK_TICKS);
    trace_settings_free(&s);
}

static void each_start_has_the_next_file(void **state)
{
    static const struct {
        uint32_t most, before, counter;
        bool there, global;
    } cases[] = {{3, 0, 1, false, false}, {3, 1, 2, true, false},    {3, 2, 3, true, false},   {3, 3, 1, true, false},
                 {3, 77, 1, true, false}, {99, 15, 16, true, false}, {99, 16, 1, true, false}, {3, 0, 1, false, true},
                 {3, 2, 3, true, true},   {3, 3, 0, true, true},     {3, 0, 1, true, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct autologger a = plain();
        struct trace_settings s;
        uint32_t counter;
        char end[16];
        a.global = cases[i].global;
        a.file_max = (struct autologger_number)NUMBER(cases[i].most);
        a.file_counter = (struct autologger_number){cases[i].there, cases[i].before};
        assert_int_equal(settle(&a, &s, &counter), ERROR_SUCCESS);
        assert_int_equal(counter, cases[i].counter);
        snprintf(end, sizeof end, ".etl.%04u", (unsigned)counter);
        assert_non_null(strstr(s.file, end));
        trace_settings_free(&s);
    }
}

static void a_failed_start_names_the_value(void **state)
{
    struct autologger a = plain();
    struct trace_settings s;
    uint32_t counter;
    (void)state;
    a.guid = NULL;
    assert_int_equal(settle(&a, &s, &counter), ERROR_INVALID_PARAMETER);
    a.guid = (char *)"{nonsense}";
    assert_int_equal(settle(&a, &s, &counter), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error_text(E_INVALIDARG), "{nonsense}"));
    a = plain();
    a.mode = (struct autologger_number)NUMBER(TRACE_MODE_NEWFILE);
    assert_int_equal(settle(&a, &s, &counter), ERROR_INVALID_PARAMETER);
    a = plain();
    a.mode = (struct autologger_number)NUMBER(TRACE_MODE_CIRCULAR | TRACE_MODE_SEQUENTIAL);
    assert_int_equal(settle(&a, &s, &counter), ERROR_INVALID_PARAMETER);
    a.mode = (struct autologger_number)NUMBER(TRACE_MODE_PRIVATE_LOGGER); /* such a session would run in no process */
    assert_int_equal(settle(&a, &s, &counter), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error_text(E_INVALIDARG), "LogFileMode"));
    for (uint64_t n = 1;; n++) {
        a = plain();
        a.file_max = (struct autologger_number)NUMBER(3);
        memory_fail_at(n);
        const ULONG code = settle(&a, &s, &counter);
        memory_fail_at(0);
        if (code == ERROR_SUCCESS)
            break;
        assert_int_equal(code, ERROR_NOT_ENOUGH_MEMORY);
        assert_true(!s.name && !s.file);
    }
    trace_settings_free(&s);
}

static void stop(TRACEHANDLE handle)
{
    struct block b;
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
}

static struct directory_session find(const char *name)
{
    struct directory_session *list, found = {.logger = 0};
    size_t count;
    assert_int_equal(directory_sessions(d, &list, &count), S_OK);
    for (size_t i = 0; i < count; i++) {
        if (!text_equal_nocase(list[i].name, name))
            continue;
        found = list[i];
        list[i].name = list[i].file = NULL;
    }
    directory_sessions_free(list, count);
    return found;
}

static void a_session_starts_with_its_providers(void **state)
{
    struct autologger_provider providers[4] = {
        {.enabled = NUMBER(1), .level = NUMBER(4), .any = NUMBER(0xF0), .all = NUMBER(0x10), .property = NUMBER(1)},
        {.enabled = NUMBER(0), .level = NUMBER(4)},
        {.level = NUMBER(4)},
        {.enabled = NUMBER(1), .level = NUMBER(3), .flags = NUMBER(0x77)},
    };
    struct autologger a = plain();
    struct directory_enable *enables;
    uint32_t counter;
    uint64_t revision;
    size_t count;
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        providers[i].guid = (GUID){i + 1, 2, 3, {4}};
    a.providers = providers;
    a.provider_count = 4;
    assert_int_equal(autologger_start(d, &a, folder, &counter), ERROR_SUCCESS);
    struct directory_session s = find("auto");
    assert_true(s.logger != 0 && s.state == DIRECTORY_RUNNING && s.guid.Data1 == 0x0A0B0C0D);
    assert_true(file_exists(s.file));
    assert_int_equal(directory_enables(d, NULL, &enables, &count, &revision), S_OK);
    assert_int_equal(count, 2);
    const struct directory_enable *modern = &enables[enables[0].provider.Data1 == 1 ? 0 : 1], *classic = &enables[0];
    classic = modern == classic ? &enables[1] : classic;
    assert_true(modern->level == 4 && modern->any == 0xF0 && modern->all == 0x10 && modern->property == 1 &&
                !modern->classic);
    assert_true(classic->provider.Data1 == 4 && classic->level == 3 && classic->any == 0x77 && classic->classic);
    directory_enables_free(enables, count);
    assert_int_equal(autologger_start(d, &a, folder, &counter), ERROR_ALREADY_EXISTS);
    stop(directory_handle(&s));
    directory_session_free(&s);
}

/* ---- keys ---- */

#define KEPT "SYSTEM\\CurrentControlSet\\Control\\WMI\\Autologger."

/* Returns a key in this process's separate directory. */
static char *key_path(const char *name)
{
    char *path = autologger_path(AUTOLOGGER_KEY, getenv("OPENPLA_ETW"), name);
    assert_non_null(path);
    assert_memory_equal(path, KEPT, strlen(KEPT));
    return path;
}

/* ---- filters ---- */

static uint8_t ids_one_and_five[] = {1, 0, 2, 0, 1, 0, 5, 0};
static uint8_t no_process[] = {1, 2, 3};

/* An invalid filter excludes its event provider; the session starts with the others. */
static void provider_with_an_invalid_filter_stays_disabled(void **state)
{
    struct autologger_provider providers[2] = {
        {.guid = {1, 2, 3, {4}},
         .enabled = NUMBER(1),
         .filter = {{EVENT_FILTER_TYPE_PID, sizeof no_process, no_process}},
         .filter_count = 1},
        {.guid = {2, 2, 3, {4}},
         .enabled = NUMBER(1),
         .filter = {{EVENT_FILTER_TYPE_EVENT_ID, sizeof ids_one_and_five, ids_one_and_five}},
         .filter_count = 1},
    };
    struct autologger a = plain();
    struct directory_enable *enables;
    uint32_t counter;
    uint64_t revision;
    size_t count;
    (void)state;
    a.providers = providers;
    a.provider_count = 2;
    const unsigned before = journal_count(9110);
    assert_int_equal(autologger_start(d, &a, folder, &counter), ERROR_INVALID_PARAMETER);
    assert_int_equal(journal_count(9110), before + 1);
    struct directory_session s = find("auto");
    assert_int_equal(directory_enables(d, NULL, &enables, &count, &revision), S_OK);
    assert_true(count == 1 && enables->provider.Data1 == 2 && enables->filter_count == 1);
    assert_int_equal(enables->filter[0].type, EVENT_FILTER_TYPE_EVENT_ID);
    assert_memory_equal(enables->filter[0].data, ids_one_and_five, sizeof ids_one_and_five);
    directory_enables_free(enables, count);
    stop(directory_handle(&s));
    directory_session_free(&s);
}

/* ---- invalid settings ---- */

static void values_outside_their_limits_are_replaced_and_reported(void **state)
{
    struct autologger_provider provider = {.guid = {1, 2, 3, {4}}, .enabled = NUMBER(1), .level = NUMBER(300)};
    struct autologger a = plain();
    struct trace_settings s;
    uint32_t counter;
    (void)state;
    a.providers = &provider;
    a.provider_count = 1;
    assert_int_equal(autologger_override(&a), S_OK);
    assert_int_equal(a.problems.count, 1);
    assert_non_null(strstr(a.problems.items[0], "\\EnableLevel 300"));
    assert_int_equal(provider.level.value, 255);
    texts_free(&a.problems);
    a = plain();
    a.clock = (struct autologger_number)NUMBER(9);
    a.buffer_kb = (struct autologger_number)NUMBER(99999);
    a.flush_timer = (struct autologger_number)NUMBER(UINT64_C(1) << 32);
    a.file_max = (struct autologger_number)NUMBER(17);
    a.file_counter = (struct autologger_number)NUMBER(17);
    assert_int_equal(autologger_override(&a), S_OK);
    assert_int_equal(a.problems.count, 5);
    assert_non_null(strstr(a.problems.items[0], "BufferSize 99999"));
    assert_non_null(strstr(a.problems.items[4], "FileCounter 17"));
    assert_int_equal(settle(&a, &s, &counter), ERROR_SUCCESS);
    assert_true(s.clock == ETL_CLOCK_TICKS && s.buffer_kb == 16384 && s.flush_timer == 0 && counter == 1);
    trace_settings_free(&s);
    for (uint64_t n = 1;; n++) {
        texts_free(&a.problems);
        a.file_max = (struct autologger_number)NUMBER(17);
        memory_fail_at(n);
        const HRESULT hr = autologger_override(&a);
        memory_fail_at(0);
        if (SUCCEEDED(hr))
            break;
        assert_int_equal(hr, E_OUTOFMEMORY);
    }
    texts_free(&a.problems);
}

/* With flags, the GlobalLogger is the kernel logger, by name and handle; other sessions keep their flags and report
   them. */
static void kernel_flags_are_kept_and_shown(void **state)
{
    (void)state;
    for (int global = 0; global < 2; global++) {
        struct autologger a = plain();
        uint32_t counter;
        struct block b;
        a.global = global != 0;
        a.mode = (struct autologger_number)NUMBER(TRACE_MODE_REAL_TIME);
        a.kernel_flags[0] = 0x10003;
        assert_int_equal(autologger_start(d, &a, folder, &counter), ERROR_SUCCESS);
        struct directory_session s = find(global ? "NT Kernel Logger" : "auto");
        const TRACEHANDLE handle = directory_handle(&s);
        assert_true((handle & 0xFFFF) == (global ? 0xFFFF : s.logger));
        assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
        assert_int_equal(b.p.EnableFlags, 0x10003);
        stop(handle);
        directory_session_free(&s);
    }
}

/* The name makes the session the context logger with the kernel's events, as the key of this name does on Windows. */
static void the_context_logger_starts_by_its_key(void **state)
{
    (void)state;
    struct autologger a = plain();
    uint32_t counter;
    a.name = (char *)TRACE_CONTEXT_LOGGER;
    a.mode = (struct autologger_number)NUMBER(TRACE_MODE_BUFFERING);
    a.kernel_flags[0] = 0x3;
    assert_int_equal(autologger_start(d, &a, folder, &counter), ERROR_SUCCESS);
    struct directory_session s = find(TRACE_CONTEXT_LOGGER);
    assert_memory_equal(&s.guid, &trace_context_guid, sizeof s.guid);
    stop(directory_handle(&s));
    directory_session_free(&s);
    a = plain();
    a.guid = (char *)"{54DEA73A-ED1F-42A4-AF71-3E63D056F174}";
    assert_int_equal(autologger_start(d, &a, folder, &counter), ERROR_INVALID_PARAMETER);
}

static void delete_keys(void)
{
    char *all = key_path(NULL);
    assert_int_equal(registry_delete(all), S_OK);
    memory_free(all);
}

static struct autologger loaded(const char *path)
{
    struct autologger a;
    assert_int_equal(autologger_load(path, "kept", &a), S_OK);
    return a;
}

static void check_load_without_memory(const char *path)
{
    struct autologger a;
    for (uint64_t n = 1;; n++) {
        memory_fail_at(n);
        const HRESULT hr = autologger_load(path, "kept", &a);
        memory_fail_at(0);
        if (SUCCEEDED(hr))
            break;
        assert_true(hr == E_OUTOFMEMORY && !a.name && !a.providers);
    }
    autologger_free(&a);
}

static void assert_number(struct autologger_number n, uint64_t expected)
{
    assert_true(n.there && n.value == expected);
}

/* A program that changes another program's autologger settings must not lose values that it does not understand. */
static void unknown_values_of_a_key_are_kept(void **state)
{
    struct autologger_provider providers[2] = {
        {.guid = {1, 2, 3, {4}}, .enabled = NUMBER(1), .level = NUMBER(4), .any = NUMBER(0xF000000000000001)},
        {.guid = {2, 2, 3, {4}}, .enabled = NUMBER(0), .flags = NUMBER(0x77)}};
    char *path = key_path("kept"), *first = text_format("%s\\{00000001-0002-0003-0400-000000000000}", path),
         *filters = text_format("%s\\Filters", first);
    struct autologger a = plain(), b;
    struct registry_key *key;
    uint64_t number;
    bool made;
    (void)state;
    assert_int_equal(autologger_load(path, "kept", &b), S_FALSE);
    a.buffer_kb = (struct autologger_number)NUMBER(64);
    a.file = (char *)"C:\\logs\\kept.etl";
    a.providers = providers;
    a.provider_count = 2;
    assert_int_equal(autologger_save(path, &a, true), S_OK);
    assert_int_equal(autologger_save(path, &a, true), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_int_equal(registry_open(path, true, &key), S_OK);
    assert_int_equal(registry_write_number(key, "Status", REGISTRY_NUMBER, 5), S_OK);
    assert_int_equal(registry_write_number(key, "FileCounter", REGISTRY_NUMBER, 3), S_OK);
    registry_close(key);
    assert_int_equal(registry_create(filters, &made, &key), S_OK);
    registry_close(key);
    b = loaded(path);
    assert_string_equal(b.guid, guid_text);
    assert_string_equal(b.file, "C:\\logs\\kept.etl");
    assert_number(b.start, 1);
    assert_number(b.buffer_kb, 64);
    assert_number(b.file_counter, 3);
    assert_true(!b.damaged && !b.mode.there && b.provider_count == 2);
    const struct autologger_provider *p = &b.providers[b.providers[0].guid.Data1 == 1 ? 0 : 1];
    assert_number(p->any, 0xF000000000000001);
    assert_true(!p->all.there && !p->flags.there);
    /* Removes the second event provider and the file. */
    b.providers[0] = *p;
    b.provider_count = 1;
    b.mode = (struct autologger_number)NUMBER(TRACE_MODE_REAL_TIME);
    memory_free(b.file);
    b.file = NULL;
    b.file_counter.there = false;
    assert_int_equal(autologger_save(path, &b, false), S_OK);
    autologger_free(&b);
    b = loaded(path);
    assert_true(!b.file && b.provider_count == 1 && b.providers[0].guid.Data1 == 1);
    assert_number(b.file_counter, 3);
    assert_number(b.mode, TRACE_MODE_REAL_TIME);
    assert_int_equal(registry_open(path, false, &key), S_OK);
    assert_int_equal(registry_read_number(key, "Status", &number), S_OK);
    assert_int_equal(number, 5);
    registry_close(key);
    assert_int_equal(registry_open(filters, false, &key), S_OK);
    registry_close(key);
    autologger_free(&b);
    delete_keys();
    memory_free(filters);
    memory_free(first);
    memory_free(path);
}

/* Filters and kernel flags are read and written as well; unknown values among the filters are kept. */
static void filters_are_in_a_key_below_their_provider(void **state)
{
    static const uint32_t flags[2] = {3, 0x20000001};
    struct autologger_provider provider = {
        .guid = {1, 2, 3, {4}},
        .enabled = NUMBER(1),
        .filter = {{EVENT_FILTER_TYPE_EVENT_ID, sizeof ids_one_and_five, ids_one_and_five}},
        .filter_count = 1,
    };
    char *path = key_path("kept"), *filters = text_format("%s\\{00000001-0002-0003-0400-000000000000}\\Filters", path);
    struct autologger a = plain(), b;
    struct registry_key *key;
    char *text;
    bool made;
    (void)state;
    a.providers = &provider;
    a.provider_count = 1;
    assert_int_equal(autologger_save(path, &a, true), S_OK);
    assert_int_equal(registry_create(filters, &made, &key), S_OK);
    assert_false(made);
    assert_int_equal(registry_write_text(key, "EVENT_FILTER_TYPE_EXECUTABLE_NAME", "a.exe;b.exe"), S_OK);
    assert_int_equal(registry_write_text(key, "another's", "value"), S_OK);
    registry_close(key);
    assert_int_equal(registry_open(path, true, &key), S_OK);
    assert_int_equal(registry_write(key, "EnableKernelFlags", REGISTRY_BYTES, flags, sizeof flags), S_OK);
    registry_close(key);
    b = loaded(path);
    assert_true(b.provider_count == 1 && b.providers[0].filter_count == 2 && b.problems.count == 0);
    assert_true(b.kernel_flags[0] == 3 && b.kernel_flags[1] == 0x20000001 && b.kernel_flags[2] == 0);
    const struct autologger_filter *names = &b.providers[0].filter[0], *ids = &b.providers[0].filter[1];
    assert_int_equal(names->type, EVENT_FILTER_TYPE_EXECUTABLE_NAME);
    assert_int_equal(names->size, 2 * sizeof "a.exe;b.exe");
    assert_int_equal(ids->type, EVENT_FILTER_TYPE_EVENT_ID);
    assert_int_equal(ids->size, sizeof ids_one_and_five);
    assert_memory_equal(ids->data, ids_one_and_five, sizeof ids_one_and_five);
    autologger_free(&b);
    assert_int_equal(autologger_save(path, &a, false), S_OK);
    assert_int_equal(registry_open(filters, false, &key), S_OK);
    assert_int_equal(registry_read_text(key, "EVENT_FILTER_TYPE_EXECUTABLE_NAME", &text), S_FALSE);
    assert_int_equal(registry_read_text(key, "another's", &text), S_OK);
    memory_free(text);
    registry_close(key);
    check_load_without_memory(path);
    delete_keys();
    memory_free(filters);
    memory_free(path);
}

/* An invalid value is reported and ignored. */
static void an_invalid_value_is_reported(void **state)
{
    char *path = key_path("kept"), *below = text_format("%s\\{00000001-0002-0003-0400-000000000000}", path),
         *other = text_format("%s\\another's", path);
    struct registry_key *key;
    struct autologger a;
    bool made;
    (void)state;
    assert_int_equal(registry_create(other, &made, &key), S_OK);
    registry_close(key);
    assert_int_equal(registry_create(below, &made, &key), S_OK);
    assert_int_equal(registry_write_text(key, "MatchAnyKeyword", "1"), S_OK);
    registry_close(key);
    a = loaded(path);
    assert_true(a.provider_count == 1 && !a.providers[0].any.there);
    assert_string_equal(a.damaged, "{00000001-0002-0003-0400-000000000000}\\MatchAnyKeyword");
    autologger_free(&a);
    assert_int_equal(registry_open(path, true, &key), S_OK);
    assert_int_equal(registry_write_text(key, "Guid", "{none}"), S_OK);
    a = loaded(path);
    assert_string_equal(a.damaged, "Guid");
    autologger_free(&a);
    assert_int_equal(registry_write_text(key, "BufferSize", "64"), S_OK);
    assert_int_equal(registry_write_number(key, "FileName", REGISTRY_NUMBER, 1), S_OK);
    registry_close(key);
    a = loaded(path);
    assert_string_equal(a.damaged, "BufferSize");
    assert_true(!a.file && !a.buffer_kb.there);
    assert_int_equal(a.problems.count, 4);
    assert_non_null(strstr(a.problems.items[0], "BufferSize': expected a number, not type 1 with 6 bytes"));
    autologger_free(&a);
    delete_keys();
    memory_free(other);
    memory_free(below);
    memory_free(path);
}

/* If any allocation fails, the key is unchanged. */
static void a_key_is_written_completely_or_not_at_all(void **state)
{
    struct autologger_provider provider = {.guid = {1, 2, 3, {4}}, .enabled = NUMBER(1), .level = NUMBER(4)};
    char *path = key_path("kept");
    struct autologger a = plain(), b;
    (void)state;
    a.providers = &provider;
    a.provider_count = 1;
    for (uint64_t n = 1;; n++) {
        memory_fail_at(n);
        const HRESULT hr = autologger_save(path, &a, true);
        memory_fail_at(0);
        if (SUCCEEDED(hr))
            break;
        assert_int_equal(hr, E_OUTOFMEMORY);
        assert_int_equal(autologger_load(path, "kept", &b), S_FALSE);
    }
    a.buffer_kb = (struct autologger_number)NUMBER(64);
    a.provider_count = 0;
    for (uint64_t n = 1;; n++) {
        memory_fail_at(n);
        const HRESULT hr = autologger_save(path, &a, false);
        memory_fail_at(0);
        b = loaded(path);
        assert_true(b.buffer_kb.there == SUCCEEDED(hr) && b.provider_count == FAILED(hr));
        autologger_free(&b);
        if (SUCCEEDED(hr))
            break;
    }
    check_load_without_memory(path);
    delete_keys();
    memory_free(path);
}

#ifdef _WIN32
#define TEST_KEY   L"SYSTEM\\CurrentControlSet\\Control\\WMI\\Autologger.%hs"

#define GLOBAL_KEY L"SYSTEM\\CurrentControlSet\\Control\\WMI\\GlobalLogger.%hs"

static DWORD value_of(HKEY key, const WCHAR *name)
{
    DWORD value = 0xDEAD, bytes = sizeof value;
    RegGetValueW(key, NULL, name, RRF_RT_DWORD, NULL, &value, &bytes);
    return value;
}

static void set(HKEY key, const WCHAR *name, DWORD value)
{
    assert_int_equal(RegSetValueExW(key, name, 0, REG_DWORD, (const BYTE *)&value, sizeof value), 0);
}

static void set_text(HKEY key, const WCHAR *name, const char *text)
{
    WCHAR units[1100];
    wide(text, units);
    assert_int_equal(
        RegSetValueExW(key, name, 0, REG_SZ, (const BYTE *)units, (DWORD)((wcslen(units) + 1) * sizeof *units)), 0);
}

/* Two processes trace; the first one starts the autologgers of the registry, the second starts none. */
static void the_first_process_starts_the_autologgers(void **state)
{
    static const WCHAR *const names[] = {L"openpla test good", L"openpla test bad", L"openpla test off"};
    char *path = path_join(folder, "registry.etl");
    HKEY keys[3], all = NULL, provider;
    WCHAR all_name[128], global_name[128];
    uint32_t code;
    (void)state;
    if (!os_is_wine()) {
        memory_free(path);
        d = own_directory();
        return;
    }
    _snwprintf(all_name, 128, TEST_KEY, getenv("OPENPLA_ETW"));
    assert_int_equal(RegCreateKeyExW(HKEY_LOCAL_MACHINE, all_name, 0, NULL, 0, KEY_ALL_ACCESS, NULL, &all, NULL), 0);
    _snwprintf(global_name, 128, GLOBAL_KEY, getenv("OPENPLA_ETW"));
    assert_int_equal(
        RegCreateKeyExW(HKEY_LOCAL_MACHINE, global_name, 0, NULL, 0, KEY_ALL_ACCESS, NULL, &provider, NULL), 0);
    set(provider, L"Start", 1);
    set_text(provider, L"FileName", path);
    RegCloseKey(provider);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(RegCreateKeyExW(all, names[i], 0, NULL, 0, KEY_ALL_ACCESS, NULL, &keys[i], NULL), 0);
        set(keys[i], L"Start", i != 2);
        if (i != 1)
            set_text(keys[i], L"Guid", guid_text);
        set(keys[i], L"FileMax", 2);
        if (i == 0)
            set_text(keys[i], L"BufferSize", "64");
        set_text(keys[i], L"FileName", path);
    }
    assert_int_equal(RegCreateKeyExW(keys[0], L"{00000009-0002-0003-0400-000000000000}", 0, NULL, 0, KEY_ALL_ACCESS,
                                     NULL, &provider, NULL),
                     0);
    set(provider, L"Enabled", 1);
    set(provider, L"EnableLevel", 5);
    RegCloseKey(provider);
    for (int round = 0; round < 2; round++) {
        struct process *p = child_start("trace", "", "");
        assert_int_equal(process_wait(p, CHILD_PATIENCE, &code), S_OK);
        assert_int_equal(code, 0);
        process_close(p);
        assert_int_equal(value_of(keys[0], L"Status"), 0);
        assert_int_equal(value_of(keys[0], L"FileCounter"), 1);
        assert_int_equal(value_of(keys[1], L"Status"), ERROR_INVALID_PARAMETER);
        assert_int_equal(journal_count(9111), 1);
        assert_int_equal(journal_count(9109), 1); /* from the valid session, whose key has a value with the wrong
                                                     type */
        assert_int_equal(value_of(keys[2], L"Status"), 0xDEAD);
    }
    d = own_directory();
    struct directory_session g = find("GlobalLogger");
    assert_true(g.logger != 0 && g.guid.Data1 == 0xE8908ABC && g.maximum_file == 0);
    stop(directory_handle(&g));
    directory_session_free(&g);
    assert_int_equal(RegDeleteTreeW(HKEY_LOCAL_MACHINE, global_name), 0);
    struct directory_session s = find("openpla test good");
    assert_int_not_equal(s.logger, 0);
    assert_non_null(strstr(s.file, "registry.etl.0001"));
    const GUID guid = {9, 2, 3, {4}};
    struct directory_enable *enables;
    uint64_t revision;
    size_t count;
    assert_int_equal(directory_enables(d, &guid, &enables, &count, &revision), S_OK);
    assert_true(count == 1 && enables->level == 5);
    directory_enables_free(enables, count);
    stop(directory_handle(&s));
    directory_session_free(&s);
    for (int i = 0; i < 3; i++)
        RegCloseKey(keys[i]);
    RegCloseKey(all);
    assert_int_equal(RegDeleteTreeW(HKEY_LOCAL_MACHINE, all_name), 0);
    memory_free(path);
}
#endif

static int make_folder(void **state)
{
    *state = folder = scratch_create("test_etw_autologger");
    char *full = os_full_path(folder);
    scratch_environment("OPENPLA_DATA", full); /* for the journal, also of child processes */
    memory_free(full);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#ifdef _WIN32
        cmocka_unit_test(the_first_process_starts_the_autologgers), /* runs before this process traces */
#endif
        cmocka_unit_test(missing_values_have_windows_defaults),
        cmocka_unit_test(the_global_logger_has_its_own_defaults),
        cmocka_unit_test(values_become_settings),
        cmocka_unit_test(each_start_has_the_next_file),
        cmocka_unit_test(a_failed_start_names_the_value),
        cmocka_unit_test(a_session_starts_with_its_providers),
        cmocka_unit_test(provider_with_an_invalid_filter_stays_disabled),
        cmocka_unit_test(values_outside_their_limits_are_replaced_and_reported),
        cmocka_unit_test(kernel_flags_are_kept_and_shown),
        cmocka_unit_test(the_context_logger_starts_by_its_key),
        cmocka_unit_test(filters_are_in_a_key_below_their_provider),
        cmocka_unit_test(unknown_values_of_a_key_are_kept),
        cmocka_unit_test(an_invalid_value_is_reported),
        cmocka_unit_test(a_key_is_written_completely_or_not_at_all),
    };
    child_program = argv[0];
    if (argc > 1) {
        (void)own_directory();
        return 0;
    }
    own_directory_name();
#ifndef _WIN32
    d = own_directory();
#endif
    const int failed = cmocka_run_group_tests(tests, make_folder, scratch_end);
    directory_delete(d);
    return failed;
}
