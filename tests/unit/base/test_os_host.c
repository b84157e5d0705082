/* SPDX-License-Identifier: MIT */
/* Clocks, the host OS's names and folders, kernel files, error messages and the allocator. */
#include "engine/base/clock.h"
#include "engine/base/thread.h"
#include "engine/logs/pdh_types.h"
#include "engine/pdh/counter_query.h"
#include "tests/unit/child_process.h"

#ifndef _WIN32
#include <pthread.h>
#endif

static int64_t at(int year, int month, int day, int hour, int minute, int second)
{
    struct calendar_time t = {
        .year = year, .month = month, .day = day, .hour = hour, .minute = minute, .second = second};
    return clock_from_calendar(&t);
}

/* Samples need correct dates. Checks some known dates, and every day of 800 years against a simple calendar. */
static void calendar(void **state)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    struct calendar_time t = clock_calendar(0);
    int year = 1601, month = 1, day = 1, weekday = 1, day_of_year = 1;
    (void)state;
    assert_true(at(1601, 1, 1, 0, 0, 0) == 0);
    assert_true(at(1970, 1, 1, 0, 0, 0) == 116444736000000000);
    assert_true(at(2024, 2, 29, 23, 59, 59) == 133537247990000000);
    t = clock_calendar(133537247999999999);
    assert_int_equal(t.day, 29);
    assert_int_equal(t.second, 59);
    assert_int_equal(t.millisecond, 999);
    assert_int_equal(t.weekday, 4);
    for (int64_t days = 0; year < 2401; days++) {
        int64_t value = days * 864000000000 + 12345678 * 10000LL;
        t = clock_calendar(value);
        if (t.year != year || t.month != month || t.day != day || t.weekday != weekday ||
            t.day_of_year != day_of_year || t.hour != 3 || t.minute != 25 || t.second != 45 || t.millisecond != 678 ||
            clock_from_calendar(&t) != value)
            fail_msg("day %lld: %d-%d-%d weekday %d day %d", (long long)days, t.year, t.month, t.day, t.weekday,
                     t.day_of_year);
        weekday = (weekday + 1) % 7;
        day_of_year++;
        if (++day > lengths[month - 1] + (month == 2 && (year % 4 == 0 && (year % 100 || year % 400 == 0)))) {
            day = 1;
            if (++month > 12) {
                month = 1;
                year++;
                day_of_year = 1;
            }
        }
    }
}

/* Times in logs are in the user's time zone, also around a clock change. The zone is Pacific time. */
static void time_zone(void **state)
{
    int64_t to_daylight = at(2024, 3, 10, 10, 0, 0), to_standard = at(2024, 11, 3, 9, 0, 0), second = 10000000;
    char *name = clock_zone_name();
    (void)state;
    assert_non_null(name);
    assert_true(*name);
#ifdef _WIN32
    if (!os_is_wine()) { /* the zone is the machine's own: checks its current bias */
        TIME_ZONE_INFORMATION zone;
        DWORD now = GetTimeZoneInformation(&zone);

        assert_int_equal(clock_bias_minutes(clock_utc()),
                         zone.Bias + (now == TIME_ZONE_ID_DAYLIGHT ? zone.DaylightBias : zone.StandardBias));
        memory_free(name);
        return;
    }
    assert_string_equal(name, "Pacific Standard Time");
#else
    scratch_environment("TZ", "PST8PDT,M3.2.0,M11.1.0");
#endif
    memory_free(name);
    assert_int_equal(clock_bias_minutes(at(2024, 1, 15, 0, 0, 0)), 480);
    assert_int_equal(clock_bias_minutes(at(2024, 7, 15, 0, 0, 0)), 420);
    assert_int_equal(clock_bias_minutes(to_daylight - second), 480);
    assert_int_equal(clock_bias_minutes(to_daylight), 420);
    assert_int_equal(clock_bias_minutes(to_standard - second), 420);
    assert_int_equal(clock_bias_minutes(to_standard), 480);
    assert_int_equal(clock_bias_minutes(at(2025, 1, 1, 0, 0, 0)), 480);
    assert_true(clock_utc_to_local(at(2024, 7, 15, 20, 0, 0)) == at(2024, 7, 15, 13, 0, 0));
    /* A timestamp in a file may be any number: adding the zone's bias must not overflow. */
    assert_true(clock_utc_to_local(INT64_MIN) <= INT64_MIN + INT64_C(864000000000));
    assert_true(clock_utc_to_local(INT64_MAX) >= INT64_MAX - INT64_C(864000000000));
    /* A cached bias must not be used after a change of the bias, whether times go forwards or backwards. */
    struct clock_zone zone = {0}, fixed = {.fixed = true, .offset = -3600 * second};
    const int64_t moments[] = {to_daylight - second, to_daylight, to_daylight + second, to_standard - second,
                               to_standard,          0,           to_daylight - second};
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        assert_true(clock_local(&zone, moments[i]) == clock_utc_to_local(moments[i]));
        assert_true(clock_local(&fixed, moments[i]) == moments[i] - 3600 * second);
    }
}

static void clocks_run(void **state)
{
    const int64_t utc = clock_utc(), ticks = clock_ticks(), utc_behind = clock_utc(), frequency = clock_frequency();
    const uint64_t ms = clock_monotonic_ms();
    (void)state;
    assert_true(utc > at(2024, 1, 1, 0, 0, 0) && utc < at(2200, 1, 1, 0, 0, 0));
    assert_true(frequency >= 1000);
    child_sleep(100);
    /* A busy machine may pause between any two calls: the elapsed ticks must lie between the shortest and the longest
       elapsed UTC time. */
    const double least = (double)(clock_utc() - utc_behind) / 1e7;
    const double by_ticks = (double)(clock_ticks() - ticks) / (double)frequency;
    const double most = (double)(clock_utc() - utc) / 1e7;
    assert_true(most > 0.09);
    assert_true(by_ticks > least - 0.05 && by_ticks < most + 0.05);
    const double by_ms = (double)(clock_monotonic_ms() - ms) / 1e3;
    assert_true(by_ms > 0.09 && by_ms < (double)(clock_utc() - utc) / 1e7 + 0.05);
}

/* "System Up Time" counts from the machine's boot, also under Wine. */
/* An event whose time is converted from one clock to another would otherwise get a time outside the call. */
static void clocks_are_read_together(void **state)
{
    (void)state;
    const int64_t ticks = clock_ticks(), utc = clock_utc();
    const uint64_t cycles = processor_cycles();
    const struct clock_reading r = clock_read();
    assert_true(r.ticks >= ticks && r.ticks <= clock_ticks());
    assert_true(r.utc >= utc && r.utc <= clock_utc());
    if (processor_cycles_are_time())
        assert_true(r.cycles >= cycles && r.cycles <= processor_cycles());
}

static void boot_time_is_that_of_the_machine(void **state)
{
    int64_t up = clock_utc() - clock_boot_utc();
    struct kernel_file *f;
    const char *text;
    size_t size;
    (void)state;
    assert_true(up > 0);
    if (FAILED(kernel_file_open("/proc/uptime", &f)))
        return; /* Windows has no value to compare with */
    assert_int_equal(kernel_file_read(f, &text, &size), S_OK);
    assert_true((double)up / 1e7 > atof(text) - 2 && (double)up / 1e7 < atof(text) + 2);
    kernel_file_close(f);
}

static void assert_expands(const char *text, const char *expected)
{
    char *expanded = os_expand_environment(text);
    assert_string_equal(expanded, expected);
    memory_free(expanded);
}

static void environment(void **state)
{
    (void)state;
    scratch_environment("OPENPLA_TEST_A", "alpha");
    assert_expands("%OPENPLA_TEST_A%", "alpha");
    assert_expands("x%OPENPLA_TEST_A%y%OPENPLA_TEST_A%", "xalphayalpha");
    assert_expands("%OPENPLA_NO_SUCH%/a", "%OPENPLA_NO_SUCH%/a");
    assert_expands("100%", "100%");
    assert_expands("5% of %OPENPLA_TEST_A%", "5% of alpha");
    assert_expands("", "");
}

/* All processes find the same sets, whatever their current folder is. */
static void data_folder(void **state)
{
    char *module = os_module_folder(), *program;
    (void)state;
    scratch_environment("OPENPLA_DATA", "relative");
    char *folder = os_data_folder();
#ifdef _WIN32
    assert_int_equal(folder[1], ':');
#else
    assert_int_equal(folder[0], '/');
#endif
    assert_string_equal(path_name(folder), "relative");
    memory_free(folder);
    scratch_environment("OPENPLA_DATA", "");
    folder = os_data_folder();
    assert_string_equal(path_name(folder),
#ifdef _WIN32
                        "OpenPLA");
#else
                        ".openpla");
#endif
    memory_free(folder);
#ifdef _WIN32
    /* a service's %ProgramData% may differ from its callers', but it must find their sets */
    scratch_environment("ProgramData", "C:\\elsewhere");
    folder = os_data_folder();
    assert_false(text_matches("*elsewhere*", folder));
    assert_int_equal(folder[1], ':');
    assert_null(strchr(folder, '%'));
    memory_free(folder);
#endif
    program = path_join(module, path_name(child_program));
    assert_true(file_exists(program));
    memory_free(program);
    memory_free(module);
}

static void names(void **state)
{
    char *computer = os_computer_name(), *user = os_user_name(), *upper = text_fold(computer);
    (void)state;
    assert_in_range(text_utf16_length(computer), 1, 15);
    assert_string_equal(computer, upper);
    assert_non_null(strchr(user, '\\'));
    assert_true(strchr(user, '\\')[1]);
    memory_free(computer);
    memory_free(user);
    memory_free(upper);
}

static bool has_kernel_files(void)
{
#ifdef _WIN32
    return os_is_wine();
#else
    return true;
#endif
}

/* An open kernel file returns current values, not those of the first read. */
static void kernel_files_are_fresh(void **state)
{
    struct kernel_file *f;
    const char *text;
    char first[64];
    size_t size;
    (void)state;
    assert_int_equal(kernel_file_open("/proc/no/such", &f), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_null(f);
    kernel_file_close(NULL);
    if (!has_kernel_files()) {
        assert_int_equal(kernel_file_open("/proc/uptime", &f), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
        return;
    }
    assert_int_equal(kernel_file_open("/proc/uptime", &f), S_OK);
    assert_int_equal(kernel_file_read(f, &text, &size), S_OK);
    assert_in_range(size, 4, 63);
    assert_int_equal(strlen(text), size);
    memcpy(first, text, size + 1);
    child_sleep(50);
    assert_int_equal(kernel_file_read(f, &text, &size), S_OK);
    assert_true(atof(text) > atof(first));
    kernel_file_close(f);
    /* longer than the kernel returns with one read */
    assert_int_equal(kernel_file_open("/proc/kallsyms", &f), S_OK);
    assert_int_equal(kernel_file_read(f, &text, &size), S_OK);
    assert_true(size > 100000);
    assert_int_equal(strlen(text), size);
    assert_int_equal(text[size - 1], '\n');
    kernel_file_close(f);
}

/* A process's arguments are separated by NULs; the text after the first NUL must be read as well. */
static void kernel_file_text_reads_whole_file(void **state)
{
    char *text;
    size_t size = 1;
    (void)state;
    assert_int_equal(kernel_file_text("/proc/no/such", &text, &size), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_null(text);
    assert_int_equal(size, 0);
    if (!has_kernel_files())
        return;
    assert_int_equal(kernel_file_text("/proc/self/environ", &text, &size), S_OK);
    assert_true(strlen(text) < size);
    assert_int_equal(text[size], 0);
    memory_free(text);
    memory_fail_at(2);
    assert_int_equal(kernel_file_text("/proc/uptime", &text, NULL), E_OUTOFMEMORY);
    memory_fail_at(0);
    assert_null(text);
    assert_int_equal(kernel_file_text("/proc/uptime", &text, NULL), S_OK);
    assert_true(atof(text) > 0);
    memory_free(text);
}

static void process_ids(void **state)
{
    uint32_t *ids = NULL;
    size_t count = 0;
    bool one = false, self = false;
    (void)state;
    if (!has_kernel_files()) {
        assert_true(FAILED(kernel_folder_numbers("/proc", &ids, &count)));
        return;
    }
    assert_int_equal(kernel_folder_numbers("/proc", &ids, &count), S_OK);
    for (size_t i = 0; i < count; i++) {
        one |= ids[i] == 1;
#ifdef _WIN32
        self = true;
#else
        self |= ids[i] == process_own_id();
#endif
    }
    assert_true(one && self && count > 1);
    memory_free(ids);
    for (uint64_t n = 1; n < 8; n++) {
        memory_fail_at(n);
        if (SUCCEEDED(kernel_folder_numbers("/proc", &ids, &count)))
            n = 100;
        memory_fail_at(0);
        memory_free(ids);
    }
}

/* All counters come from the same PDH; if it is missing, the error names the module. */
static void pdh_is_loaded_once(void **state)
{
    const struct pdh_api *api = NULL, *again = NULL;
    HRESULT hr = host_pdh(&api);
    (void)state;
    assert_int_equal(host_pdh(&again), hr);
    assert_ptr_equal(api, again);
    if (SUCCEEDED(hr)) {
        assert_non_null(api->PdhOpenQueryW);
        assert_non_null(api->PdhEnumObjectItemsW);
    } else {
        assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND));
        assert_non_null(strstr(error_text(hr), "openpdh"));
        assert_null(api);
    }
}

/* The message names the object that failed, with the innermost function last. */
static void error_messages(void **state)
{
    char longest[1500];
    (void)state;
    assert_int_equal(error_set(E_INVALIDARG, "SampleInterval: %u is below 1", 0u), E_INVALIDARG);
    assert_string_equal(error_text(E_INVALIDARG), "SampleInterval: 0 is below 1");
    assert_string_equal(error_text(E_FAIL), error_standard_text(E_FAIL));
    assert_int_equal(error_prefix(E_INVALIDARG, "collector %d", 2), E_INVALIDARG);
    assert_string_equal(error_text(E_INVALIDARG), "collector 2: SampleInterval: 0 is below 1");
    assert_int_equal(error_set(E_INVALIDARG, "%s!", error_text(E_INVALIDARG)), E_INVALIDARG);
    assert_string_equal(error_text(E_INVALIDARG), "collector 2: SampleInterval: 0 is below 1!");
    assert_int_equal(error_prefix(E_OUTOFMEMORY, "Commit"), E_OUTOFMEMORY);
    assert_string_equal(error_text(E_OUTOFMEMORY), "Commit: out of memory");
    assert_string_equal(error_text((HRESULT)0x8007ABCD), "error 0x8007ABCD");
    memset(longest, 'x', sizeof(longest));
    memcpy(longest + 1022, "\xC3\xBC", 2);
    longest[1499] = 0;
    error_set(E_FAIL, "%s", longest);
    assert_int_equal(strlen(error_text(E_FAIL)), 1022); /* the cut does not split a character */
    longest[1022] = 'x';
    longest[1023] = 'x';
    error_set(E_FAIL, "%s", longest);
    assert_int_equal(strlen(error_text(E_FAIL)), 1023);
    error_clear();
    assert_string_equal(error_text(E_FAIL), "failed");
}

static void allocator(void **state)
{
    void *items = NULL;
    size_t capacity = 0;
    (void)state;
    assert_null(memory_zero(SIZE_MAX / 2, 3));
    assert_int_equal(memory_grow(&items, &capacity, SIZE_MAX / 4, 8), 0);
    assert_null(items);
    assert_int_equal(memory_grow(&items, &capacity, 3, 8), 1);
    assert_true(capacity >= 3);
    void *p = items;
    memory_fail_at(1);
    assert_int_equal(memory_grow(&items, &capacity, 1000, 8), 0);
    assert_ptr_equal(items, p);
    memory_free(memory_alloc(1));
    assert_int_equal(memory_count(), 2);
    memory_fail_at(2);
    p = memory_alloc(0);
    assert_non_null(p);
    assert_null(memory_copy("x", 1));
    memory_fail_at(0);
    memory_free(p);
    memory_free(items);
    memory_free(NULL);
}

static struct lock lock = LOCK_INIT;
static int counted;

static void count_under_lock(void)
{
    for (int i = 0; i < 100000; i++) {
        lock_enter(&lock);
        counted++;
        lock_leave(&lock);
    }
}

#ifdef _WIN32
static DWORD WINAPI other_thread(void *unused)
{
    (void)unused;
    error_set(E_FAIL, "of the other thread");
    count_under_lock();
    return 0;
}
#else
static void *other_thread(void *unused)
{
    error_set(E_FAIL, "of the other thread");
    count_under_lock();
    return unused;
}
#endif

/* One thread never gets another thread's error message, and threads that count under a lock lose no increment. */
static void threads(void **state)
{
#ifdef _WIN32
    HANDLE thread = CreateThread(NULL, 0, other_thread, NULL, 0, NULL);
#else
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
#endif
    (void)state;
    error_set(E_FAIL, "of this thread");
    count_under_lock();
#ifdef _WIN32
    assert_int_equal(WaitForSingleObject(thread, PATIENCE_MS), WAIT_OBJECT_0);
    CloseHandle(thread);
#else
    pthread_join(thread, NULL);
#endif
    assert_int_equal(counted, 200000);
    assert_string_equal(error_text(E_FAIL), "of this thread");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calendar),
        cmocka_unit_test(time_zone),
        cmocka_unit_test(clocks_run),
        cmocka_unit_test(clocks_are_read_together),
        cmocka_unit_test(boot_time_is_that_of_the_machine),
        cmocka_unit_test(environment),
        cmocka_unit_test(data_folder),
        cmocka_unit_test(names),
        cmocka_unit_test(kernel_files_are_fresh),
        cmocka_unit_test(kernel_file_text_reads_whole_file),
        cmocka_unit_test(process_ids),
        cmocka_unit_test(pdh_is_loaded_once),
        cmocka_unit_test(error_messages),
        cmocka_unit_test(allocator),
        cmocka_unit_test(threads),
    };
    (void)argc;
    child_program = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
