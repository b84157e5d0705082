/* SPDX-License-Identifier: MIT */
/* Several threads use one query, as in a program that shows a chart while its user selects counters. Collecting,
   adding, removing and reading must not interfere. A second build of this test uses the thread sanitizer. */
#include "engine/base/clock.h"
#include "engine/base/thread.h"
#include "engine/pdh/core/pdh.h"
#include "tests/unit/kernel_root.h"
#include "tests/unit/patience.h"

#include <stdatomic.h>

static PDH_HQUERY query;
static struct wakeup *interval; /* never set; freed only when the program ends, because the sanitizer does not detect
                                   that the threads that use it were joined */
static atomic_bool stop;
static atomic_uint samples, changes, values;

static void collect(void *user)
{
    (void)user;
    while (!stop) {
        PDH_STATUS status = PdhCollectQueryData(query);
        if (status == ERROR_SUCCESS)
            samples++;
        wakeup_wait(interval, 1);
    }
}

static const WCHAR *const paths[] = {
    u"\\Processor(_Total)\\% Processor Time",
    u"\\Processor(*)\\Interrupts/sec",
    u"\\Memory\\Pages/sec",
    u"\\Process(*)\\IO Data Bytes/sec",
    u"\\System\\Threads",
    u"\\Thread(*)\\ID Thread",
    u"\\PhysicalDisk(*)\\Disk Bytes/sec",
    u"\\TCPv4\\Segments/sec",
};
#define PATHS (sizeof paths / sizeof *paths)

static void change(void *user)
{
    size_t first = *(const size_t *)user;
    for (size_t i = first; !stop; i++) {
        PDH_HCOUNTER counter;
        PDH_FMT_COUNTERVALUE_ITEM_W *items;
        DWORD bytes = 0, count = 0;
        if (PdhAddEnglishCounterW(query, paths[i % PATHS], 0, &counter) != ERROR_SUCCESS)
            continue;
        PdhCollectQueryData(query);
        PdhGetFormattedCounterArrayW(counter, PDH_FMT_DOUBLE, &bytes, &count, NULL);
        items = malloc(bytes + 1024);
        bytes += 1024;
        if (items && PdhGetFormattedCounterArrayW(counter, PDH_FMT_DOUBLE, &bytes, &count, items) == ERROR_SUCCESS)
            values++;
        free(items);
        PdhRemoveCounter(counter);
        changes++;
    }
}

#ifndef _WIN32
#include <sys/stat.h>
#include <unistd.h>
static void hang(const struct kernel_root *root)
{
    char *fifo = text_format("%s/proc/swaps", root->root);
    kernel_root_delete(root, "/proc/swaps");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    memory_free(fifo);
}
static void answer(const struct kernel_root *root)
{
    char *fifo = text_format("%s/proc/swaps", root->root);
    struct file *f;
    assert_int_equal(file_open(fifo, FILE_APPEND, &f), S_OK);
    file_close(f);
    memory_free(fifo);
}
#else
static void hang(const struct kernel_root *root)
{
    (void)root;
}
static void answer(const struct kernel_root *root)
{
    (void)root;
}
#endif

static void threads_can_share_one_query(void **state)
{
    (void)state;
    struct kernel_root root = kernel_root_create("test_pdh_threads");
    struct thread *threads[4];
    size_t firsts[2] = {0, PATHS / 2};
    PDH_HCOUNTER counter;
    assert_int_equal(wakeup_create(&interval), S_OK);
    scratch_environment("OPENPLA_SAMPLE_LIMIT", "300");
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAddEnglishCounterW(query, u"\\Memory\\Pages/sec", 0, &counter), ERROR_SUCCESS);
    hang(&root);
    assert_int_equal(PdhAddEnglishCounterW(query, u"\\Paging File(_Total)\\% Usage", 0, &counter), ERROR_SUCCESS);
    assert_int_equal(thread_start(collect, NULL, &threads[0]), S_OK);
    assert_int_equal(thread_start(collect, NULL, &threads[1]), S_OK);
    assert_int_equal(thread_start(change, &firsts[0], &threads[2]), S_OK);
    assert_int_equal(thread_start(change, &firsts[1], &threads[3]), S_OK);
    for (uint64_t end = clock_monotonic_ms() + PATIENCE_MS;
         clock_monotonic_ms() < end && (changes < 60 || values < 20);)
        thread_wait(threads[0], 20);
    stop = true;
    for (size_t i = 0; i < 4; i++) {
        assert_true(thread_wait(threads[i], PATIENCE_MS));
        thread_close(threads[i]);
    }
    print_message("%u samples, %u counters added and removed, %u read\n", samples, changes, values);
    assert_true(samples > 0 && changes >= 60 && values >= 20);
    /* the query is closed while one of its sources hangs */
    assert_int_equal(PdhCloseQuery(query), ERROR_SUCCESS);
    answer(&root);
    scratch_environment("OPENPLA_SAMPLE_LIMIT", "");
    kernel_root_remove(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_can_share_one_query)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
