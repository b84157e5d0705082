/* SPDX-License-Identifier: MIT */
/* Compares PDH's values with values that the test itself reads from the kernel in the same period. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/base/thread.h"
#include "engine/pdh/core/pdh.h"
#include "engine/pdh/objects/process_list.h"
#include "tests/unit/patience.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <inttypes.h>
#include <string.h>
#ifndef _WIN32
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

/* Every host OS has processor 0. */
static void pin_to_processor_0(void)
{
#ifdef _WIN32
    assert_true(SetThreadAffinityMask(GetCurrentThread(), 1) != 0);
#else
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
#endif
}

static void burn(unsigned ms)
{
    volatile unsigned x = 0;
    for (uint64_t end = clock_monotonic_ms() + ms; clock_monotonic_ms() < end;)
        x = x + 1;
}

/* Reads the line that begins with `cpu`, and returns its idle ticks and the total of its ticks. Uses sscanf. */
static void read_kernel_ticks(struct kernel_file *f, const char *cpu, double *idle, double *total)
{
    const char *text;
    size_t size;
    assert_int_equal(kernel_file_read(f, &text, &size), S_OK);
    const char *line = strstr(text, cpu);
    assert_non_null(line);
    uint64_t v[8];
    assert_int_equal(sscanf(line + strlen(cpu),
                            "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64,
                            &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]),
                     8);
    *idle = (double)(v[3] + v[4]);
    *total = 0;
    for (int i = 0; i < 8; i++)
        *total += (double)v[i];
}

static double value_of(PDH_HCOUNTER counter)
{
    PDH_FMT_COUNTERVALUE v;
    assert_int_equal(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, NULL, &v), ERROR_SUCCESS);
    return v.doubleValue;
}

static PDH_HCOUNTER add(PDH_HQUERY query, const WCHAR *path)
{
    PDH_HCOUNTER counter;
    assert_int_equal(PdhAddEnglishCounterW(query, path, 0, &counter), ERROR_SUCCESS);
    return counter;
}

/* A busy processor must not be logged as idle. */
static void busy_processor_is_measured(void **state)
{
    (void)state;
    struct kernel_file *f;
    PDH_HQUERY query;
    double idle[4], total[4];
    assert_int_equal(kernel_file_open("/proc/stat", &f), S_OK);
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PDH_HCOUNTER first = add(query, u"\\Processor(0)\\% Processor Time");
    PDH_HCOUNTER all = add(query, u"\\Processor(_Total)\\% Processor Time");
    PDH_HCOUNTER user = add(query, u"\\Processor(0)\\% User Time");
    PDH_HCOUNTER privileged = add(query, u"\\Processor(0)\\% Privileged Time");
    PDH_HCOUNTER idle_time = add(query, u"\\Processor(0)\\% Idle Time");
    PDH_HCOUNTER switches = add(query, u"\\System\\Context Switches/sec");
    pin_to_processor_0();
    burn(100); /* gives this thread time to move to processor 0 */
    read_kernel_ticks(f, "cpu0 ", &idle[0], &total[0]);
    read_kernel_ticks(f, "cpu ", &idle[1], &total[1]);
    PdhCollectQueryData(query);
    burn(1000);
    read_kernel_ticks(f, "cpu0 ", &idle[2], &total[2]);
    read_kernel_ticks(f, "cpu ", &idle[3], &total[3]);
    PdhCollectQueryData(query);
    double of_0 = 100 - 100 * (idle[2] - idle[0]) / (total[2] - total[0]);
    double of_all = 100 - 100 * (idle[3] - idle[1]) / (total[3] - total[1]);
    print_message("processor 0: %.1f, kernel %.1f; all: %.1f, kernel %.1f\n", value_of(first), of_0, value_of(all),
                  of_all);
    assert_true(value_of(first) > 80);
    assert_true(value_of(first) > of_0 - 10 && value_of(first) < of_0 + 10);
    assert_true(value_of(all) > of_all - 10 && value_of(all) < of_all + 10);
    /* These times are parts of the total. Only stolen time is in none of them. */
    assert_true(value_of(user) + value_of(privileged) + value_of(idle_time) < 110);
    assert_true(value_of(user) > 10);
    assert_true(value_of(switches) > 0 && value_of(switches) < 10e6);
    PdhCloseQuery(query);
    kernel_file_close(f);
}

static double kernel_kilobytes(const char *text, const char *name)
{
    const char *line = strstr(text, name);
    assert_non_null(line);
    return strtod(line + strlen(name), NULL);
}

static void memory_counters_equal_the_kernel_values(void **state)
{
    (void)state;
    struct kernel_file *f;
    const char *text;
    size_t size;
    PDH_HQUERY query;
    assert_int_equal(kernel_file_open("/proc/meminfo", &f), S_OK);
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PDH_HCOUNTER available = add(query, u"\\Memory\\Available Bytes"), mb = add(query, u"\\Memory\\Available MBytes");
    PDH_HCOUNTER committed = add(query, u"\\Memory\\Committed Bytes"), limit = add(query, u"\\Memory\\Commit Limit");
    PDH_HCOUNTER in_use = add(query, u"\\Memory\\% Committed Bytes In Use");
    PdhCollectQueryData(query);
    assert_int_equal(kernel_file_read(f, &text, &size), S_OK);
    double tolerance = 512.0 * 1024 * 1024; /* other programs run at the same time */
    double expected = kernel_kilobytes(text, "MemAvailable:") * 1024;
    assert_true(value_of(available) > expected - tolerance && value_of(available) < expected + tolerance);
    assert_true(value_of(mb) == (double)(int64_t)(value_of(available) / 1048576));
    expected = kernel_kilobytes(text, "Committed_AS:") * 1024;
    assert_true(value_of(committed) > expected - tolerance && value_of(committed) < expected + tolerance);
    assert_true(value_of(limit) == kernel_kilobytes(text, "CommitLimit:") * 1024);
    double share = 100 * value_of(committed) / value_of(limit);
    assert_true(value_of(in_use) > share - 0.1 && value_of(in_use) < share + 0.1);
    PdhCloseQuery(query);
    kernel_file_close(f);
}

/* A user must find the program that uses most of the machine. */
static void this_program_is_listed(void **state)
{
    (void)state;
    struct process_list *list;
    const struct process_entry *entries, *own = NULL;
    size_t count;
    assert_int_equal(process_list_open("", &list), S_OK);
    assert_int_equal(process_list_read(list, PROCESS_USE, &entries, &count), S_OK);
    for (size_t i = 0; i < count; i++)
        own = entries[i].id == process_own_id() ? &entries[i] : own;
    assert_non_null(own);
    assert_string_equal(own->name, "test_pdh_live");
    assert_true(own->threads >= 1 && own->threads < 50);
    assert_in_range(own->working_set, 100 * 1024, 4096ull * 1024 * 1024);
    int64_t age = clock_utc() - own->start;
    assert_true(age > -20000000 && age < 3600 * 10000000LL);
    const int64_t before = own->user_time + own->kernel_time;
    const uint64_t begun = clock_monotonic_ms();
    int64_t used, most;
    do { /* repeats if other programs used the processors */
        burn(300);
        assert_int_equal(process_list_read(list, PROCESS_USE, &entries, &count), S_OK);
        most = (int64_t)(clock_monotonic_ms() - begun + 100) * 10000;
        own = NULL;
        for (size_t i = 0; i < count; i++)
            own = entries[i].id == process_own_id() ? &entries[i] : own;
        assert_non_null(own);
        used = own->user_time + own->kernel_time - before;
        assert_true(used <= most);
    } while (used < 200000 && clock_monotonic_ms() - begun < PATIENCE_MS);
    assert_true(used >= 200000);
    process_list_close(list);
}

static void this_program_is_measured(void **state)
{
    (void)state;
    PDH_HQUERY query;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PDH_HCOUNTER time = add(query, u"\\Process(test_pdh_live)\\% Processor Time");
    PDH_HCOUNTER id = add(query, u"\\Process(test_pdh_live)\\ID Process");
    PDH_HCOUNTER elapsed = add(query, u"\\Process(test_pdh_live)\\Elapsed Time");
    PDH_HCOUNTER total = add(query, u"\\Process(_Total)\\Thread Count"), all = add(query, u"\\System\\Threads");
    PDH_HCOUNTER up = add(query, u"\\System\\System Up Time");
    PDH_HCOUNTER handles;
    PDH_RAW_COUNTER raw = {.CStatus = PDH_CSTATUS_NO_COUNTER};
    PDH_STATUS counted = PdhAddEnglishCounterW(query, u"\\Process(test_pdh_live)\\Handle Count", 0, &handles);
    PdhCollectQueryData(query);
    double expected, later;
    const uint64_t end = clock_monotonic_ms() + PATIENCE_MS;
    do { /* repeats if other programs used the processors */
        burn(1000);
        expected = (double)(clock_utc() - clock_boot_utc()) / 1e7;
        PdhCollectQueryData(query);
        later = (double)(clock_utc() - clock_boot_utc()) / 1e7;
        assert_true(value_of(time) < 115);
    } while (value_of(time) <= 5 && clock_monotonic_ms() < end);
    /* Querying Wine's handles can crash its server, and with it every program in the prefix. */
    if (counted == ERROR_SUCCESS)
        PdhGetRawCounterValue(handles, NULL, &raw);
    assert_int_equal(raw.CStatus == PDH_CSTATUS_VALID_DATA, !os_is_wine());
    assert_int_equal((uint32_t)value_of(id), process_own_id());
    print_message("own processor time %.1f\n", value_of(time));
    assert_true(value_of(time) > 5);
    assert_true(value_of(elapsed) > 0.5 && value_of(elapsed) < 3600);
    assert_true(value_of(total) == value_of(all));
    assert_true(value_of(up) > expected - 2 && value_of(up) < later + 2);
    PdhCloseQuery(query);
}

/* Waits until the counter has a value (if `there`) or has none. */
static bool wait_for_instance(PDH_HQUERY query, PDH_HCOUNTER counter, bool there)
{
    PDH_RAW_COUNTER raw = {0};
    for (uint64_t end = clock_monotonic_ms() + PATIENCE_MS; clock_monotonic_ms() < end;) {
        PdhCollectQueryData(query);
        PdhGetRawCounterValue(counter, NULL, &raw);
        if (there ? raw.CStatus == PDH_CSTATUS_VALID_DATA : raw.CStatus == PDH_CSTATUS_NO_INSTANCE)
            return true;
        if (raw.CStatus != PDH_CSTATUS_NO_INSTANCE && raw.CStatus != PDH_CSTATUS_VALID_DATA)
            print_message("status 0x%08x\n", (unsigned)raw.CStatus);
        burn(20);
    }
    print_message("status 0x%08x, value %lld\n", (unsigned)raw.CStatus, (long long)raw.FirstValue);
    return false;
}

struct child {
    struct process *process;
    struct signal *end;
};

static void child_signal(const char *name, bool create, struct signal **end)
{
    assert_int_equal(signal_open(&(struct shared){.name = name, .create = create}, end), S_OK);
}

/* Starts this program again; the child runs until the test ends it. */
static struct child start_child(void)
{
#ifdef _WIN32
    static const char name[] = "test_pdh_live.exe";
#else
    static const char name[] = "test_pdh_live";
#endif
    static unsigned number;
    struct child child;
    char *folder = os_module_folder();
    char *program = path_join(folder, name);
    char *end = text_format("openpla-test-live-%u-%u", (unsigned)process_own_id(), ++number);
    const char *arguments[] = {"burn", end};
    child_signal(end, true, &child.end);
    assert_int_equal(
        process_start(&(struct program){.path = program, .arguments = arguments, .argument_count = 2}, &child.process),
        S_OK);
    memory_free(end);
    memory_free(folder);
    memory_free(program);
    return child;
}

static void end_child(struct child *child)
{
    assert_int_equal(signal_set(child->end), S_OK);
    assert_int_equal(process_wait(child->process, PATIENCE_MS, NULL), S_OK);
    process_close(child->process);
    signal_close(child->end);
}

static int run_child(const char *name)
{
    struct signal *end;
    child_signal(name, false, &end);
    for (uint64_t last = clock_monotonic_ms() + PATIENCE_MS;
         signal_wait(end, 0) == S_FALSE && clock_monotonic_ms() < last;)
        burn(20);
    signal_close(end);
    return 0;
}

/* A new program gets a numbered name. When it exits, the total must not decrease. */
static void program_starts_and_exits(void **state)
{
    (void)state;
    PDH_HQUERY query;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PDH_HCOUNTER second = add(query, u"\\Process(test_pdh_live#1)\\Thread Count");
    PDH_HCOUNTER total = add(query, u"\\Process(_Total)\\% Processor Time");
    PDH_HCOUNTER id = add(query, u"\\Process(_Total)\\ID Process");
    PDH_FMT_COUNTERVALUE v;
    assert_true(wait_for_instance(query, second, false));
    struct child child = start_child();
    assert_true(wait_for_instance(query, second, true));
    burn(600);
    PdhCollectQueryData(query); /* this sample includes the child's processor time */
    end_child(&child);
    assert_true(wait_for_instance(query, second, false));
    assert_int_equal(PdhGetFormattedCounterValue(total, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, NULL, &v), ERROR_SUCCESS);
    /* _Total is not a process, so its id has no value, not even 0. */
    assert_int_equal(PdhGetFormattedCounterValue(id, PDH_FMT_LARGE, NULL, &v), (PDH_STATUS)PDH_INVALID_DATA);
    PdhCloseQuery(query);
}

static size_t processes_and_threads(struct process_list *list, uint32_t figures, uint64_t *threads)
{
    const struct process_entry *entries;
    size_t count;
    assert_int_equal(process_list_read(list, figures, &entries, &count), S_OK);
    *threads = 0;
    for (size_t i = 0; i < count; i++)
        *threads += entries[i].threads;
    return count;
}

/* Reads the full list, then the counts, then the full list again. If both lists have the same numbers, the counts must
   equal them. Otherwise other processes have started or exited in between, so the function tries again. */
static void assert_counts_agree(struct process_list *counts, struct process_list *whole)
{
    uint64_t before, threads, after;
    for (uint64_t end = clock_monotonic_ms() + PATIENCE_MS; clock_monotonic_ms() < end;) {
        size_t count_before = processes_and_threads(whole, PROCESS_USE, &before);
        size_t count = processes_and_threads(counts, 0, &threads);
        if (count_before == processes_and_threads(whole, PROCESS_USE, &after) && before == after &&
            count == count_before && threads == before)
            return;
    }
    fail_msg("the numbers of processes and threads are outdated");
}

static void wait_for_wakeup(void *user)
{
    wakeup_wait(user, PATIENCE_MS);
}

/* If a caller requests only counts, no list is created for it. The counts must still include each start and exit. */
static void counts_follow_starts_and_exits(void **state)
{
    (void)state;
    struct process_list *counts, *whole;
    struct wakeup *end;
    struct thread *thread;
    assert_int_equal(process_list_open("", &counts), S_OK);
    assert_int_equal(process_list_open("", &whole), S_OK);
    for (int round = 0; round < 3; round++) {
        assert_counts_agree(counts, whole);
        assert_int_equal(wakeup_create(&end), S_OK);
        assert_int_equal(thread_start(wait_for_wakeup, end, &thread), S_OK);
        assert_counts_agree(counts, whole);
        struct child child = start_child();
        assert_counts_agree(counts, whole);
        wakeup_set(end);
        assert_true(thread_wait(thread, PATIENCE_MS));
        thread_close(thread);
        wakeup_free(end);
        assert_counts_agree(counts, whole);
        end_child(&child);
        assert_counts_agree(counts, whole);
    }
    process_list_close(counts);
    process_list_close(whole);
}

/* Timestamps are in local time, as on Windows. */
static void samples_have_local_time(void **state)
{
    (void)state;
    PDH_HQUERY query;
    LONGLONG time = 0;
    PDH_RAW_COUNTER raw;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PDH_HCOUNTER counter = add(query, u"\\Memory\\Commit Limit");
    assert_int_equal(PdhCollectQueryDataWithTime(query, &time), ERROR_SUCCESS);
    int64_t now = clock_utc_to_local(clock_utc());
    assert_true(time <= now && now - time < 20000000);
    assert_int_equal(PdhGetRawCounterValue(counter, NULL, &raw), ERROR_SUCCESS);
    int64_t stamp = (int64_t)((uint64_t)raw.TimeStamp.dwHighDateTime << 32 | raw.TimeStamp.dwLowDateTime);
    assert_true(stamp == time);
    PdhCloseQuery(query);
}

struct shared_query {
    PDH_HQUERY query;
    int failures;
};

/* Collects, reads, adds and removes on a query that other threads use at the same time. */
static void use_query(struct shared_query *s)
{
    PDH_HCOUNTER counter;
    for (int i = 0; i < 100; i++) {
        PDH_FMT_COUNTERVALUE v;
        if (PdhAddCounterW(s->query, u"\\Processor(_Total)\\% Idle Time", 0, &counter) != ERROR_SUCCESS ||
            PdhCollectQueryData(s->query) != ERROR_SUCCESS) {
            s->failures++;
            return;
        }
        PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &v);
        s->failures += PdhRemoveCounter(counter) != ERROR_SUCCESS;
    }
}

#ifdef _WIN32
static DWORD WINAPI thread_main(void *p)
{
    use_query(p);
    return 0;
}
#else
static void *thread_main(void *p)
{
    use_query(p);
    return NULL;
}
#endif

/* A program that samples in one thread and displays in another must not crash. */
static void threads_can_share_a_query(void **state)
{
    (void)state;
    struct shared_query s[3] = {{0}};
    PDH_HQUERY query;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
#ifdef _WIN32
    HANDLE threads[3];
#else
    pthread_t threads[3];
#endif
    for (int i = 0; i < 3; i++) {
        s[i].query = query;
#ifdef _WIN32
        threads[i] = CreateThread(NULL, 0, thread_main, &s[i], 0, NULL);
        assert_non_null(threads[i]);
#else
        assert_int_equal(pthread_create(&threads[i], NULL, thread_main, &s[i]), 0);
#endif
    }
    for (int i = 0; i < 3; i++) {
#ifdef _WIN32
        WaitForSingleObject(threads[i], INFINITE);
        CloseHandle(threads[i]);
#else
        pthread_join(threads[i], NULL);
#endif
        assert_int_equal(s[i].failures, 0);
    }
    assert_int_equal(PdhCollectQueryData(query), (PDH_STATUS)PDH_NO_DATA);
    PdhCloseQuery(query);
}

/* Returns the entry of the thread `id` of the process `process`. Native builds have its state; under Wine, it has
   priorities. */
static struct thread_entry thread_of(struct process_list *list, uint32_t process, uint32_t id)
{
    const struct process_entry *entries;
    size_t count;
    struct thread_entry found = {0};
    assert_int_equal(process_list_read(list, PROCESS_THREADS, &entries, &count), S_OK);
    for (size_t i = 0; i < count; i++)
        for (uint32_t n = 0; entries[i].id == process && n < entries[i].listed_threads; n++)
            if (entries[i].first_thread[n].id == id)
                found = entries[i].first_thread[n];
    assert_int_equal(found.id, id);
    return found;
}

/* A user must be able to identify the thread that blocks a program. */
static void thread_priority_and_state_are_right(void **state)
{
    (void)state;
    struct process_list *list;
    assert_int_equal(process_list_open("", &list), S_OK);
#ifdef _WIN32
    static const int priorities[] = {THREAD_PRIORITY_ABOVE_NORMAL, THREAD_PRIORITY_LOWEST,
                                     THREAD_PRIORITY_TIME_CRITICAL, THREAD_PRIORITY_IDLE, THREAD_PRIORITY_NORMAL};
    static const int64_t expected[] = {9, 6, 15, 1, 8};
    for (size_t i = 0; i < sizeof priorities / sizeof *priorities; i++) {
        assert_true(SetThreadPriority(GetCurrentThread(), priorities[i]));
        struct thread_entry self = thread_of(list, GetCurrentProcessId(), GetCurrentThreadId());
        if (self.base_priority != PROCESS_ABSENT)
            assert_int_equal(self.base_priority, expected[i]);
        else
            print_message("this Wine gives no priority of a thread\n");
    }
#else
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    assert_true(child > 0);
    struct thread_entry self = thread_of(list, (uint32_t)getpid(), (uint32_t)getpid());
    assert_int_equal(self.state, THREAD_RUNNING);
    assert_int_equal(self.wait_reason, PROCESS_ABSENT);
    struct thread_entry other = thread_of(list, (uint32_t)child, (uint32_t)child);
    for (int i = 0; other.state != THREAD_WAITING && i < PATIENCE_MS / 5; i++, burn(5))
        other = thread_of(list, (uint32_t)child, (uint32_t)child);
    assert_int_equal(other.wait_reason, WAIT_USER_REQUEST);
    kill(child, SIGSTOP);
    for (int i = 0; other.wait_reason != WAIT_SUSPENDED && i < PATIENCE_MS / 5; i++, burn(5))
        other = thread_of(list, (uint32_t)child, (uint32_t)child);
    assert_int_equal(other.wait_reason, WAIT_SUSPENDED);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
#endif
    process_list_close(list);
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "burn"))
        return run_child(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_processor_is_measured),
        cmocka_unit_test(memory_counters_equal_the_kernel_values),
        cmocka_unit_test(this_program_is_listed),
        cmocka_unit_test(this_program_is_measured),
        cmocka_unit_test(program_starts_and_exits),
        cmocka_unit_test(samples_have_local_time),
        cmocka_unit_test(threads_can_share_a_query),
        cmocka_unit_test(counts_follow_starts_and_exits),
        cmocka_unit_test(thread_priority_and_state_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
