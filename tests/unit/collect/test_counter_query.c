/* SPDX-License-Identifier: MIT */
/* Tests the values of a query's counters from sample to sample, if instances appear, disappear or change position, and
   how many allocations a sample needs. */
#include "engine/base/memory.h"
#include "engine/pdh/counter_paths.h"
#include "engine/pdh/counter_query.h"
#include "fake_pdh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

static struct counter_query *open_query(bool values)
{
    static char *paths[] = {(char *)"\\Prozess(*)\\Zahl", (char *)"\\Process(*)\\Time", (char *)"\\Speicher\\Frei"};
    const struct texts list = {.count = 3, .items = paths};
    const struct counter_query_request request = {
        .pdh = &openpdh_api, .paths = &list, .keep_instances = true, .values = values};
    struct counter_query *q;
    size_t count;
    assert_int_equal(counter_query_open(&request, &q), S_OK);
    counter_query_columns(q, &count);
    assert_int_equal(count, 3);
    return q;
}

static void set_instances(const char *a, const char *b, const char *c)
{
    fake_instances[0] = a;
    fake_instances[1] = b;
    fake_instances[2] = c;
    fake_instances[3] = NULL;
}

/* Checks that the cells contain the current instances and their values, in both wildcard columns. */
static void check_instances(const struct log_cell *cells, bool values)
{
    size_t count = 0;
    while (fake_instances[count])
        count++;
    for (size_t column = 0; column < 2; column++) {
        assert_int_equal(cells[column].item_count, count);
        for (size_t i = 0; i < count; i++) {
            const struct log_item *item = &cells[column].items[i];
            assert_string_equal(item->instance, fake_instances[i]);
            assert_int_equal(item->has_value, values);
            if (column == 0)
                assert_int_equal(item->raw.first, i);
            if (values)
                assert_true(item->value == (double)item->raw.first + 0.25);
        }
    }
}

/* A collector of all processes must not convert thousands of unchanged names each second. */
static void unchanged_instances_need_no_allocation(void **state)
{
    (void)state;
    for (int values = 0; values < 2; values++) {
        const struct log_cell *cells;
        int64_t utc;
        set_instances("alpha", "b\xC3\xA9ta", "gamma");
        struct counter_query *q = open_query(values);
        /* the first two samples allocate the two lists that all later samples reuse */
        for (int i = 0; i < 2; i++)
            assert_int_equal(counter_query_sample(q, &utc, &cells), S_OK);
        const char *name = cells[0].items[1].instance;
        memory_fail_at(0);
        for (int i = 0; i < 100; i++)
            assert_int_equal(counter_query_sample(q, &utc, &cells), S_OK);
        assert_int_equal(memory_count(), 0);
        assert_ptr_equal(cells[0].items[1].instance, name);
        counter_query_close(q);
    }
    assert_int_equal(fake_open_queries, 0);
}

/* A process's values must not appear under the name of the process that was at its position before. */
static void names_follow_their_instances(void **state)
{
    static const char *const lists[][3] = {
        {"alpha", "beta", NULL}, {"beta", "gamma", NULL},  {"beta", "gamma", "alpha"},
        {"beta", NULL, NULL},    {"betabeta", NULL, NULL}, {NULL, NULL, NULL},
        {"betabeta", "x", NULL}, {"bet", "x", "y"},        {"a name that is", "x", ""}};
    (void)state;
    for (int values = 0; values < 2; values++) {
        const struct log_cell *cells;
        int64_t utc;
        set_instances("alpha", NULL, NULL);
        struct counter_query *q = open_query(values);
        assert_int_equal(counter_query_sample(q, &utc, &cells), S_OK);
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
            set_instances(lists[i][0], lists[i][1], lists[i][2]);
            assert_int_equal(counter_query_sample(q, &utc, &cells), S_OK);
            check_instances(cells, values);
        }
        counter_query_close(q);
    }
}

/* PDH lists several programs of the same name under one string; logs and alerts must distinguish them. */
static void equal_names_get_numbers(void **state)
{
    static const char *const lists[][2][3] = {{{"a", "b", "a"}, {"a", "b", "a#1"}},
                                              {{"a", "A", "a"}, {"a", "A#1", "a#2"}},
                                              {{"b", "a", "a"}, {"b", "a", "a#1"}},
                                              {{"a", "a", NULL}, {"a", "a#1", NULL}}};
    (void)state;
    for (int values = 0; values < 2; values++) {
        const struct log_cell *cells;
        int64_t utc;
        set_instances("a", NULL, NULL);
        struct counter_query *q = open_query(values);
        assert_int_equal(counter_query_sample(q, &utc, &cells), S_OK);
        for (size_t i = 0; i < 2 * sizeof lists / sizeof *lists;
             i++) { /* each twice: an unchanged list keeps its names */
            const char *const *given = lists[i / 2][0], *const *wanted = lists[i / 2][1];
            set_instances(given[0], given[1], given[2]);
            assert_int_equal(counter_query_sample(q, &utc, &cells), S_OK);
            assert_int_equal(cells[0].item_count, given[2] ? 3 : 2);
            for (size_t k = 0; k < cells[0].item_count; k++) {
                assert_string_equal(cells[0].items[k].instance, wanted[k]);
                assert_int_equal(cells[0].items[k].raw.first, k);
                assert_true(!values || cells[0].items[k].value == (double)k + 0.25);
            }
        }
        counter_query_close(q);
    }
}

/* One sample is lost; the next must have the right names. */
static void out_of_memory_loses_one_sample(void **state)
{
    (void)state;
    bool whole = false;
    int lost = 0;
    for (uint64_t n = 1; !whole && n < 1000; n++) {
        const struct log_cell *cells;
        int64_t utc;
        set_instances("alpha", "beta", NULL);
        struct counter_query *q = open_query(true);
        assert_int_equal(counter_query_sample(q, &utc, &cells), S_OK);
        set_instances("beta", "gamma", "delta");
        memory_fail_at(n);
        HRESULT hr = counter_query_sample(q, &utc, &cells);
        whole = memory_count() < n;
        memory_fail_at(0);
        if (hr == S_OK)
            check_instances(cells, true);
        else
            assert_int_equal(hr, E_OUTOFMEMORY);
        lost += hr != S_OK;
        set_instances("beta", "alpha", "delta");
        assert_int_equal(counter_query_sample(q, &utc, &cells), S_OK);
        check_instances(cells, true);
        counter_query_close(q);
    }
    assert_true(whole && lost > 5);
}

/* Fetching a list that keeps growing must end with an error; a list that grew once must be read. */
static void growing_lists_are_read(void **state)
{
    struct pdh_list l = {0};
    (void)state;
    for (int round = 0; round < 2; round++) {
        DWORD calls = 0;
        for (DWORD need = 100; pdh_list_ask(&l, sizeof(WCHAR)); need += 50, calls++) {
            l.status = l.size < need ? (PDH_STATUS)PDH_MORE_DATA : 0;
            l.size = need;
        }
        assert_int_equal(l.status, 0);
        assert_int_equal(calls, round ? 1 : 2);
    }
    struct pdh_list threads = {0}; /* from a computer that starts more and more threads */
    for (DWORD need = 40000; pdh_list_ask(&threads, sizeof(WCHAR)); need += need / 5) {
        threads.status = threads.size < need ? (PDH_STATUS)PDH_MORE_DATA : 0;
        threads.size = need;
    }
    assert_int_equal(threads.status, 0);
    memory_free(threads.data);
    DWORD calls = 0;
    for (; calls < 1000 && pdh_list_ask(&l, 1); calls++)
        l.status = (PDH_STATUS)PDH_MORE_DATA;
    assert_true(calls < 1000);
    assert_int_equal((DWORD)l.status, PDH_MORE_DATA);
    memory_free(l.data);
}

static void note_refusal(void *user, HRESULT reason, const char *path, const char *text)
{
    (void)reason;
    (void)path;
    (void)text;
    ++*(int *)user;
}

/* A definition from a French computer must collect data on a German one. */
static void paths_in_a_third_language_are_found(void **state)
{
    static char *paths[] = {(char *)"\\M\xC3\xA9moire\\Free", (char *)"\\M\xC3\xA9moire\\Unbekannt",
                            (char *)"\\Ding\\Free"};
    const struct texts list = {.count = 3, .items = paths};
    int refused = 0;
    const struct counter_query_request request = {
        .pdh = &openpdh_api, .paths = &list, .refused = note_refusal, .user = &refused};
    struct counter_query *q;
    WCHAR *listed;
    size_t count;
    (void)state;
    assert_int_equal(counter_query_open(&request, &q), S_OK);
    const struct log_counter *columns = counter_query_columns(q, &count);
    assert_int_equal(count, 1);
    assert_string_equal(columns[0].object, "Speicher");
    assert_string_equal(columns[0].counter, "Frei");
    assert_int_equal(refused, 2);
    assert_int_equal(counter_query_list(q, paths[0], &listed), S_OK);
    assert_non_null(listed);
    memory_free(listed);
    counter_query_close(q);
    assert_int_equal(fake_open_queries, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unchanged_instances_need_no_allocation),
        cmocka_unit_test(names_follow_their_instances),
        cmocka_unit_test(equal_names_get_numbers),
        cmocka_unit_test(out_of_memory_loses_one_sample),
        cmocka_unit_test(growing_lists_are_read),
        cmocka_unit_test(paths_in_a_third_language_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
