/* SPDX-License-Identifier: MIT */
/* The sum of each key must be right for any number of keys and any amount of memory, and rows must be in order.
   Otherwise a report could show the wrong process as the one that wrote most. */
#include "engine/report/events/event_sink.h"
#include "tests/unit/scratch_folder.h"

#include <float.h>

static HRESULT write_result;
HRESULT __real_file_write(struct file *f, const void *data, size_t size);
HRESULT __wrap_file_write(struct file *f, const void *data, size_t size);
HRESULT __wrap_file_write(struct file *f, const void *data, size_t size)
{
    return FAILED(write_result) ? error_set(write_result, "scratch: no more room") : __real_file_write(f, data, size);
}

enum { SUMS = 2 };

/* Adds event i, with one of `keys` different keys, in no particular order. Its first value is i. Every other event also
   has a second value, i / 2. */
static HRESULT add_event(struct event_groups *g, unsigned i, unsigned keys)
{
    char key[40], first[40];
    const unsigned k = i * 2654435761u % keys;
    const int key_size = snprintf(key, sizeof key, "key %u.%.*s", k, (int)(k % 7), "abcdefg");
    const int first_size = snprintf(first, sizeof first, "%u", i);
    const struct event_cell cells[SUMS] = {event_cell_unsigned(i),
                                           i % 2 ? event_cell_real((double)i / 2) : (struct event_cell){0}};
    return event_groups_add(g, key, (size_t)key_size, first, (size_t)first_size, cells);
}

static void check_groups(size_t memory, unsigned events, unsigned keys)
{
    struct event_groups *g;
    static struct event_group out;
    uint64_t *totals = calloc(keys, sizeof *totals), *counts = calloc(keys, sizeof *counts);
    double *halves = calloc(keys, sizeof *halves);
    unsigned *firsts = calloc(keys, sizeof *firsts), met = 0, expected = 0;
    assert_true(totals && counts && halves && firsts);
    assert_int_equal(event_groups_create(memory, SUMS, &g), S_OK);
    for (unsigned i = 0; i < events; i++) {
        const unsigned k = i * 2654435761u % keys;
        assert_int_equal(add_event(g, i, keys), S_OK);
        expected += counts[k] == 0;
        firsts[k] = counts[k] == 0 ? i : firsts[k];
        counts[k]++;
        totals[k] += i;
        halves[k] += i % 2 ? (double)i / 2 : 0;
    }
    assert_int_equal(event_groups_finish(g), S_OK);
    while (event_groups_next(g, &out) == S_OK) {
        const unsigned k = (unsigned)strtoul(out.key + 4, NULL, 10);
        char number[16] = {0};
        memcpy(number, out.first, out.first_size);
        assert_true(k < keys && counts[k] != 0);
        assert_int_equal(strtoul(number, NULL, 10), firsts[k]);
        assert_int_equal(out.order, firsts[k]);
        assert_int_equal(out.events, counts[k]);
        assert_true(event_sum_value(&out.sums[0]) == (double)totals[k]);
        assert_true(event_sum_value(&out.sums[1]) == halves[k]);
        counts[k] = 0;
        met++;
    }
    assert_int_equal(met, expected);
    assert_int_equal(event_groups_next(g, &out), S_FALSE);
    event_groups_free(g);
    free(totals);
    free(counts);
    free(halves);
    free(firsts);
}

static void sums_are_exact_in_any_memory(void **state)
{
    (void)state;
    check_groups(64u << 20, 0, 1);
    check_groups(64u << 20, 30000, 1);
    check_groups(64u << 20, 30000, 5000);
    check_groups(300000, 20000, 5000);
    check_groups(1u << 20, 30000, 30000);
}

/* Even if there are many times more keys than fit into memory, each must occur only once. */
static void more_keys_than_fit_occur_once(void **state)
{
    struct event_groups *g;
    static struct event_group out;
    const struct event_cell cell = event_cell_unsigned(1);
    unsigned count = 0;
    (void)state;
    assert_int_equal(event_groups_create(2u << 20, 1, &g), S_OK);
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(event_groups_add(g, (const char *)&i, sizeof i, NULL, 0, &cell), S_OK);
    assert_int_equal(event_groups_finish(g), S_OK);
    for (; event_groups_next(g, &out) == S_OK; count++)
        assert_int_equal(out.events, 1);
    assert_int_equal(count, 100000);
    event_groups_free(g);
}

static void sums_past_64_bits_are_reported(void **state)
{
    struct event_sum sum = {0}, other = {0};
    struct text_buffer text = {0};
    const struct event_cell large = event_cell_unsigned(UINT64_MAX), most = event_cell_signed(INT64_MAX),
                            least = event_cell_signed(INT64_MIN), one = event_cell_unsigned(1),
                            none = event_cell_real(DBL_MAX * 10), word = {.kind = CELL_TEXT, .text = "x", .length = 1};
    (void)state;
    event_sum_add(&sum, &none);
    event_sum_add(&sum, &word);
    assert_int_equal(sum.count, 0);
    assert_int_equal(event_sum_total(&sum).kind, CELL_EMPTY);
    assert_int_equal(event_sum_average(&sum).kind, CELL_EMPTY);
    event_sum_add(&sum, &most);
    event_sum_add(&sum, &least);
    event_cell_show(&(struct event_cell){.kind = CELL_SIGNED, .number = event_sum_total(&sum).number}, &text);
    assert_string_equal(text.text, "-1");
    event_sum_add(&sum, &most);
    event_sum_add(&sum, &most);
    assert_true(event_sum_value(&sum) == 0x1p64);
    event_sum_add(&other, &large);
    event_sum_add(&other, &one);
    event_sum_merge(&sum, &other);
    assert_true(event_sum_value(&sum) == 0x1p65);
    assert_int_equal(sum.count, 6);
    text_buffer_free(&text);
}

/* An XPath 1.0 reader does not accept 5e+09 as a number. */
static void numbers_have_no_exponents(void **state)
{
    static const struct {
        double value;
        const char *text;
    } numbers[] = {{5861089280, "5861089280"},
                   {-1.5e9, "-1500000000"},
                   {1e21, "1000000000000000000000"},
                   {1234567.891, "1234567.891"},
                   {0.000012345, "0.000012345"},
                   {-1e-7, "-0.0000001"},
                   {12345678.5, "12345678.5"},
                   {-0.0, "0"},
                   {520.8333333333334, "520.8333333333334"}};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct text_buffer text = {0};
        const struct event_cell cell = event_cell_real(numbers[i].value);
        event_cell_show(&cell, &text);
        assert_string_equal(text.text, numbers[i].text);
        assert_true(strtod(text.text, NULL) == numbers[i].value);
        text_buffer_free(&text);
    }
    double value = 1e-300;
    while (value < 1e300) {
        struct text_buffer text = {0};
        const struct event_cell cell = event_cell_real(value);
        event_cell_show(&cell, &text);
        assert_null(strpbrk(text.text, "eE+"));
        assert_true(strtod(text.text, NULL) == value);
        text_buffer_free(&text);
        value *= 1234.5;
    }
}

/* ---- sort order ---- */

static struct event_cell text_of(const char *text)
{
    return (struct event_cell){.kind = CELL_TEXT, .text = text, .length = strlen(text)};
}

static void cells_sort_by_value(void **state)
{
    const struct event_cell order[] = {event_cell_real(-1e300),
                                       event_cell_signed(INT64_MIN),
                                       event_cell_signed(INT64_MIN + 1),
                                       event_cell_real(-1.5),
                                       event_cell_signed(-1),
                                       event_cell_unsigned(0),
                                       event_cell_real(0.25),
                                       event_cell_unsigned(9),
                                       event_cell_unsigned(10),
                                       event_cell_unsigned(UINT64_MAX - 1),
                                       event_cell_unsigned(UINT64_MAX),
                                       text_of(""),
                                       text_of("a"),
                                       text_of("B"),
                                       text_of("b"),
                                       text_of("ba"),
                                       text_of("\xC3\xA4")};
    const size_t count = sizeof order / sizeof *order;
    (void)state;
    for (int descending = 0; descending < 2; descending++)
        for (size_t i = 0; i < count; i++) {
            struct text_buffer a = {0}, b = {0}, none = {0}, packed = {0};
            const struct event_cell empty = {0};
            struct event_cell back;
            assert_int_equal(event_cell_sort(&order[i], descending, &a), S_OK);
            assert_int_equal(event_cell_sort(&empty, descending, &none), S_OK);
            const struct sorted_row x = {.key = a.text, .key_size = a.length},
                                    e = {.key = none.text, .key_size = none.length};
            assert_true(sorted_row_compare(&x, &e) < 0);
            if (i + 1 < count) {
                assert_int_equal(event_cell_sort(&order[i + 1], descending, &b), S_OK);
                const struct sorted_row y = {.key = b.text, .key_size = b.length};
                assert_true(descending ? sorted_row_compare(&x, &y) > 0 : sorted_row_compare(&x, &y) < 0);
            }
            event_cell_pack(&order[i], &packed);
            assert_ptr_equal(event_cell_unpack(packed.text, &back), packed.text + packed.length);
            assert_int_equal(back.kind, order[i].kind);
            assert_true(event_cell_value(&back) == event_cell_value(&order[i]));
            text_buffer_free(&a);
            text_buffer_free(&b);
            text_buffer_free(&none);
            text_buffer_free(&packed);
        }
}

/* A sort that is limited to the first rows returns the first rows of the full sort. */
static void first_rows_equal_those_of_a_full_sort(void **state)
{
    static const size_t memories[] = {2000, 64u << 20};
    static const uint64_t mosts[] = {1, 25, 4096, 5000};
    (void)state;
    for (size_t m = 0; m < 2; m++)
        for (size_t k = 0; k < 4; k++) {
            struct event_rows *some, *all;
            struct sorted_row a, b;
            uint64_t count = 0;
            assert_int_equal(event_rows_create(memories[m], mosts[k], &some), S_OK);
            assert_int_equal(event_rows_create(64u << 20, 0, &all), S_OK);
            for (unsigned i = 0; i < 6000; i++) {
                char key[16], body[80];
                const int size = snprintf(key, sizeof key, "%05u", i * 2654435761u % 2000);
                const int body_size = snprintf(body, sizeof body, "%u %*s", i, (int)(i % 60), "");
                assert_int_equal(event_rows_add(some, key, (size_t)size, body, (size_t)body_size), S_OK);
                assert_int_equal(event_rows_add(all, key, (size_t)size, body, (size_t)body_size), S_OK);
            }
            assert_int_equal(event_rows_finish(some), S_OK);
            assert_int_equal(event_rows_finish(all), S_OK);
            assert_int_equal(event_rows_count(some), 6000);
            for (; event_rows_next(some, &a) == S_OK; count++) {
                assert_int_equal(event_rows_next(all, &b), S_OK);
                assert_int_equal(sorted_row_compare(&a, &b), 0);
                assert_int_equal(a.body_size, b.body_size);
                assert_memory_equal(a.body, b.body, a.body_size);
            }
            assert_int_equal(count, mosts[k]);
            event_rows_free(some);
            event_rows_free(all);
        }
}

/* ---- failures ---- */

static void a_full_disk_is_reported(void **state)
{
    struct event_groups *g;
    HRESULT hr = S_OK;
    (void)state;
    write_result = HRESULT_FROM_WIN32(ERROR_DISK_FULL);
    assert_int_equal(event_groups_create(1u << 18, SUMS, &g), S_OK);
    for (unsigned i = 0; i < 20000 && SUCCEEDED(hr); i++)
        hr = add_event(g, i, 20000);
    assert_int_equal(hr, write_result);
    assert_string_equal(error_text(hr), "scratch: no more room");
    event_groups_free(g);
    write_result = S_OK;
}

static HRESULT group_and_sort(void)
{
    struct event_groups *g = NULL;
    struct event_rows *r = NULL;
    static struct event_group out;
    HRESULT hr = event_groups_create(200000, SUMS, &g);
    for (unsigned i = 0; i < 1200 && SUCCEEDED(hr); i++)
        hr = add_event(g, i, 1200);
    if (SUCCEEDED(hr))
        hr = event_groups_finish(g);
    if (SUCCEEDED(hr))
        hr = event_rows_create(1000, 50, &r);
    while (hr == S_OK && (hr = event_groups_next(g, &out)) == S_OK)
        hr = event_rows_add(r, out.key, out.key_size, out.first, out.first_size);
    if (SUCCEEDED(hr))
        hr = event_rows_finish(r);
    struct sorted_row row;
    while (hr == S_OK)
        hr = event_rows_next(r, &row);
    event_groups_free(g);
    event_rows_free(r);
    return hr;
}

static void memory_may_run_out(void **state)
{
    HRESULT hr = E_OUTOFMEMORY;
    unsigned fail_at = 0;
    (void)state;
    while (hr == E_OUTOFMEMORY && ++fail_at < 2000) {
        memory_fail_at(fail_at);
        hr = group_and_sort();
        memory_fail_at(0);
    }
    assert_int_equal(hr, S_FALSE);
    assert_true(fail_at > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact_in_any_memory), cmocka_unit_test(more_keys_than_fit_occur_once),
        cmocka_unit_test(numbers_have_no_exponents),    cmocka_unit_test(sums_past_64_bits_are_reported),
        cmocka_unit_test(cells_sort_by_value),          cmocka_unit_test(first_rows_equal_those_of_a_full_sort),
        cmocka_unit_test(a_full_disk_is_reported),      cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
