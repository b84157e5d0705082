/* SPDX-License-Identifier: MIT */
/* Tests the allocator, which holds every set, counter and log record. If two blocks overlapped, a log would have wrong
   values. */
#include "engine/base/memory.h"
#include "engine/base/wintypes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <pthread.h>
#endif

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Returns a small size, a large size, or one near the limit between the two. */
static size_t any_size(uint32_t *state)
{
    static const size_t below[] = {40, 600, 9000};
    return 1 + next(state) % below[next(state) % 3];
}

static void fill(unsigned char *p, size_t from, size_t size, unsigned char mark)
{
    memset(p + from, mark, size - from);
}

static bool holds(const unsigned char *p, size_t size, unsigned char mark)
{
    for (size_t i = 0; i < size; i++)
        if (p[i] != mark)
            return false;
    return true;
}

enum { BLOCKS = 300, STEPS = 3000 };

/* Allocates, grows, shrinks and frees blocks, and checks that each keeps its contents. Returns a description of the
   error, NULL for none. */
static const char *exercise(uint32_t seed)
{
    unsigned char *blocks[BLOCKS] = {0};
    size_t sizes[BLOCKS] = {0};
    const char *wrong = NULL;
    for (int step = 0; step < STEPS && !wrong; step++) {
        size_t i = next(&seed) % BLOCKS, size = any_size(&seed);
        unsigned char mark = (unsigned char)i;
        if (!holds(blocks[i], sizes[i], mark))
            wrong = "a block lost what it held";
        if (blocks[i] && next(&seed) % 2) {
            unsigned char *moved = memory_resize(blocks[i], size);
            if (!moved || !holds(moved, sizes[i] < size ? sizes[i] : size, mark))
                wrong = "a block that was resized lost what it held";
            blocks[i] = moved;
        } else {
            memory_free(blocks[i]);
            blocks[i] = size % 3 ? memory_alloc(size) : memory_zero(size, 1);
            if (!blocks[i] || (!(size % 3) && !holds(blocks[i], size, 0)))
                wrong = "memory_zero gave memory that is not zero";
            sizes[i] = 0;
        }
        if ((uintptr_t)blocks[i] % _Alignof(max_align_t))
            wrong = "a block is not aligned";
        if (blocks[i] && sizes[i] < size)
            fill(blocks[i], sizes[i], size, mark);
        sizes[i] = blocks[i] ? size : 0;
    }
    for (size_t i = 0; i < BLOCKS; i++)
        memory_free(blocks[i]);
    return wrong;
}

static void blocks_keep_their_contents(void **state)
{
    (void)state;
    const char *wrong = exercise(1);
    if (wrong)
        fail_msg("%s", wrong);
}

struct worker {
    uint32_t seed;
    const char *wrong;
};

#ifdef _WIN32
static DWORD WINAPI work(void *argument)
#else
static void *work(void *argument)
#endif
{
    struct worker *w = argument;
    w->wrong = exercise(w->seed);
    return 0;
}

/* Server threads allocate at the same time, and free blocks that other threads allocated. */
static void threads_do_not_share_blocks(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    struct worker workers[THREADS];
#ifdef _WIN32
    HANDLE threads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.seed = i + 7};
        threads[i] = CreateThread(NULL, 0, work, &workers[i], 0, NULL);
        assert_non_null(threads[i]);
    }
    WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE);
    for (int i = 0; i < THREADS; i++)
        CloseHandle(threads[i]);
#else
    pthread_t threads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.seed = i + 7};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
#endif
    for (int i = 0; i < THREADS; i++)
        if (workers[i].wrong)
            fail_msg("%s", workers[i].wrong);
}

static void impossible_sizes_are_rejected(void **state)
{
    (void)state;
    volatile size_t huge = SIZE_MAX / 2 + 3;
    assert_null(memory_zero(huge, 2));
    void *p = memory_alloc(0), *q = memory_alloc(0);
    assert_non_null(p);
    assert_ptr_not_equal(p, q);
    memory_free(p);
    memory_free(q);
    memory_free(NULL);
}

static void nth_allocation_fails_once(void **state)
{
    (void)state;
    memory_fail_at(2);
    void *first = memory_alloc(10);
    assert_non_null(first);
    assert_null(memory_resize(first, 1000));
    void *third = memory_zero(3, 3);
    assert_non_null(third);
    assert_int_equal(memory_count(), 3);
    memory_fail_at(0);
    memory_free(third);
    memory_free(first);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
/* Someone who reads the program's memory must not find a freed password, not even in the old blocks of a string that
   grew. */
static void freed_memory_is_wiped(void **state)
{
    static const size_t sizes[] = {1, 16, 100, 512, 513, 5000};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *first = memory_alloc(sizes[i]);
        memset(first, 'x', sizes[i]);
        memory_free(first);
        unsigned char *again = memory_alloc(sizes[i]);
        if (again == first) /* the system's heap need not return the same block, and writes into freed blocks */
            for (size_t k = sizes[i] > 512 ? 64 : 0; k < sizes[i]; k++)
                assert_int_not_equal(again[k], 'x');
        else
            assert_true(sizes[i] > 512);
        memory_free(again);
    }
}
#define WIPES cmocka_unit_test(freed_memory_is_wiped),
#else
#define WIPES /* the sanitizers' heaps are not wiped */
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_keep_their_contents), cmocka_unit_test(threads_do_not_share_blocks),
        cmocka_unit_test(impossible_sizes_are_rejected), cmocka_unit_test(nth_allocation_fails_once), WIPES};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
