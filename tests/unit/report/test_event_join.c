/* SPDX-License-Identifier: MIT */
/* A join of events must end when the user stops it, when the disk is full, or if all events have the same value. */
#include "engine/report/events/event_sink.h"
#include "tests/unit/scratch_folder.h"

static HRESULT write_result;
HRESULT __real_file_write(struct file *f, const void *data, size_t size);
HRESULT __wrap_file_write(struct file *f, const void *data, size_t size);
HRESULT __wrap_file_write(struct file *f, const void *data, size_t size)
{
    return FAILED(write_result) ? error_set(write_result, "scratch: no more room") : __real_file_write(f, data, size);
}

struct seen {
    uint64_t pairs, asked, stop_at; /* 0: never */
};

static HRESULT take(void *context, const char *const bodies[2])
{
    struct seen *s = context;
    assert_string_equal(bodies[0], "left");
    assert_string_equal(bodies[1], "right");
    s->pairs++;
    return S_OK;
}

static HRESULT count_call(void *context)
{
    struct seen *s = context;
    return ++s->asked == s->stop_at ? HRESULT_FROM_WIN32(ERROR_CANCELLED) : S_OK;
}

/* Adds `count` events to each side. Event i has the value i % values. */
static HRESULT add_both(struct event_join *j, unsigned count, unsigned values)
{
    HRESULT hr = S_OK;
    for (unsigned i = 0; i < count && SUCCEEDED(hr); i++) {
        const struct event_cell value = event_cell_unsigned(i % values);
        hr = event_join_add(j, 0, &value, "left", sizeof "left");
        if (SUCCEEDED(hr))
            hr = event_join_add(j, 1, &value, "right", sizeof "right");
    }
    return hr;
}

static void pairs_beyond_the_limit_are_counted(void **state)
{
    struct event_join *j;
    struct seen s = {0};
    uint64_t skipped;
    (void)state;
    assert_int_equal(event_join_create(1u << 20, 25, &j), S_OK);
    assert_int_equal(add_both(j, 10, 1), S_OK);
    assert_int_equal(event_join_pairs(j, take, count_call, &s, &skipped), S_OK);
    assert_int_equal(s.pairs, 25);
    assert_int_equal(skipped, 75);
    event_join_free(j);
}

/* If the two sides have no value in common, a join returns no pair. The user must still be able to stop it. */
static void join_without_pairs_can_be_stopped(void **state)
{
    struct event_join *j;
    struct seen s = {.stop_at = 7};
    uint64_t skipped;
    (void)state;
    assert_int_equal(event_join_create(1u << 20, EVENT_JOIN_MOST_PAIRS, &j), S_OK);
    for (unsigned i = 0; i < 100; i++) {
        const struct event_cell value = event_cell_unsigned(i);
        assert_int_equal(event_join_add(j, i % 2, &value, "x", 2), S_OK);
    }
    assert_int_equal(event_join_pairs(j, take, count_call, &s, &skipped), HRESULT_FROM_WIN32(ERROR_CANCELLED));
    assert_int_equal(s.pairs, 0);
    event_join_free(j);
}

static void a_full_disk_is_reported(void **state)
{
    struct event_join *j;
    struct seen s = {0};
    uint64_t skipped;
    (void)state;
    assert_int_equal(event_join_create(1u << 16, EVENT_JOIN_MOST_PAIRS, &j), S_OK);
    write_result = HRESULT_FROM_WIN32(ERROR_DISK_FULL);
    HRESULT hr = add_both(j, 20000, 20000);
    if (SUCCEEDED(hr))
        hr = event_join_pairs(j, take, count_call, &s, &skipped);
    write_result = S_OK;
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_DISK_FULL));
    assert_string_equal(error_text(hr), "scratch: no more room");
    event_join_free(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_beyond_the_limit_are_counted),
        cmocka_unit_test(join_without_pairs_can_be_stopped),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
