/* SPDX-License-Identifier: MIT */
/* Any number of records, in any order, must be sorted. An error here would let a comparison of large configurations
   list unchanged rows, or fail because memory runs out. */
#include "engine/report/make/row_sort.h"
#include "tests/unit/scratch_folder.h"

static HRESULT write_result;
HRESULT __real_file_write(struct file *f, const void *data, size_t size);
HRESULT __wrap_file_write(struct file *f, const void *data, size_t size);
HRESULT __wrap_file_write(struct file *f, const void *data, size_t size)
{
    return FAILED(write_result) ? error_set(write_result, "scratch: no more room") : __real_file_write(f, data, size);
}

/* Adds record i of `count`. Many keys occur several times, and bodies have up to 500 bytes. */
static HRESULT add(struct row_sort *s, unsigned i, unsigned count)
{
    char key[32], body[600];
    const unsigned mixed = i * 2654435761u % (count / 3 + 1);
    const int key_size = snprintf(key, sizeof key, "%u%c%.*s", mixed, 0, (int)(mixed % 5), "abcde");
    const int body_size = snprintf(body, sizeof body, "%u %*s", i, (int)(i % 500), "");
    return row_sort_add(s, key, (size_t)key_size, body, (size_t)body_size);
}

/* Checks that keys do not decrease, and that records with equal keys keep their order. Returns how many records there
   are. */
static unsigned take_all(struct row_sort *s)
{
    struct sorted_row row, last;
    char last_key[32];
    unsigned count = 0;
    unsigned long number, last_number = 0;
    HRESULT hr;
    for (; (hr = row_sort_next(s, &row)) == S_OK; count++) {
        number = strtoul(row.body, NULL, 10);
        if (count) {
            const int order = sorted_row_compare(&last, &row);
            assert_true(order < 0 || (order == 0 && last_number < number));
        }
        last_number = number;
        assert_true(row.key_size <= sizeof last_key);
        memcpy(last_key, row.key, row.key_size);
        last = (struct sorted_row){.key = last_key, .key_size = row.key_size};
    }
    assert_int_equal(hr, S_FALSE);
    assert_int_equal(row_sort_next(s, &row), S_FALSE);
    return count;
}

static void records_are_sorted(void **state)
{
    static const unsigned counts[] = {0, 1, 2, 3, 1000, 20000};
    static const size_t memories[] = {1, 5000, 100000, 64u << 20};
    (void)state;
    for (size_t m = 0; m < sizeof memories / sizeof *memories; m++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            if (memories[m] == 1 && counts[c] > 1000)
                continue; /* the test would create a section of the file for each record */
            struct row_sort *s = row_sort_create(memories[m]);
            assert_non_null(s);
            for (unsigned i = 0; i < counts[c]; i++)
                assert_int_equal(add(s, i, counts[c]), S_OK);
            assert_int_equal(row_sort_finish(s), S_OK);
            assert_int_equal(take_all(s), counts[c]);
            row_sort_free(s);
        }
}

/* A string may be longer than the memory limit and the read buffer. */
static void long_record_is_complete(void **state)
{
    struct sorted_row row;
    const size_t size = 300000;
    char *body = memory_zero(1, size);
    (void)state;
    struct row_sort *s = row_sort_create(1000);
    for (char i = 0; i < 3; i++) {
        memset(body, 'c' - i, size);
        assert_int_equal(row_sort_add(s, body, 5, body, size), S_OK);
    }
    assert_int_equal(row_sort_finish(s), S_OK);
    for (char i = 0; i < 3; i++) {
        memset(body, 'a' + i, size);
        assert_int_equal(row_sort_next(s, &row), S_OK);
        assert_int_equal(row.body_size, size);
        assert_memory_equal(row.body, body, size);
    }
    assert_int_equal(row_sort_next(s, &row), S_FALSE);
    row_sort_free(s);
    memory_free(body);
}

static void a_full_disk_and_too_many_runs_are_reported(void **state)
{
    (void)state;
    struct row_sort *s = row_sort_create(1);
    assert_int_equal(add(s, 0, 9), S_OK);
    write_result = HRESULT_FROM_WIN32(ERROR_DISK_FULL);
    assert_int_equal(add(s, 1, 9), HRESULT_FROM_WIN32(ERROR_DISK_FULL));
    write_result = S_OK;
    row_sort_free(s);
    s = row_sort_create(1);
    HRESULT hr = S_OK;
    unsigned added = 0;
    for (; SUCCEEDED(hr) && added < 5000; added++)
        hr = add(s, added, 5000);
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE));
    assert_int_equal(added, 4098);
    row_sort_free(s);
}

/* If any allocation fails, "out of memory" must be returned, and there must be no other effect. */
static void memory_may_run_out(void **state)
{
    HRESULT hr = E_OUTOFMEMORY;
    unsigned fail_at = 0;
    (void)state;
    while (hr == E_OUTOFMEMORY && ++fail_at < 1000) {
        memory_fail_at(fail_at);
        struct row_sort *s = row_sort_create(3000);
        hr = s ? S_OK : E_OUTOFMEMORY;
        for (unsigned i = 0; i < 40 && SUCCEEDED(hr); i++)
            hr = add(s, i, 40);
        if (SUCCEEDED(hr))
            hr = row_sort_finish(s);
        struct sorted_row row;
        while (hr == S_OK)
            hr = row_sort_next(s, &row);
        memory_fail_at(0);
        row_sort_free(s);
    }
    assert_int_equal(hr, S_FALSE);
    assert_true(fail_at > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_sorted),
        cmocka_unit_test(long_record_is_complete),
        cmocka_unit_test(a_full_disk_and_too_many_runs_are_reported),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
