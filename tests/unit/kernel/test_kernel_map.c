/* SPDX-License-Identifier: MIT */
/* The tracer's map with numeric keys behaves like a plain list for any sequence of insertions and removals. */
#include "engine/etw/id_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { KEYS = 300, STEPS = 200000, BOUND = 64 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void the_map_behaves_like_a_list(void **state)
{
    (void)state;
    struct id_map m = {.item_size = sizeof(uint64_t)};
    uint64_t model[KEYS + 1] = {0}; /* 0: missing */
    size_t there = 0;
    uint32_t seed = 1;
    for (int i = 0; i < STEPS; i++) {
        const uint32_t n = 1 + next_random(&seed) % KEYS;
        const uint64_t key = (uint64_t)n << 32; /* many keys have the same home slot */
        uint64_t *item = id_map_find(&m, key);
        assert_int_equal(item ? *item : 0, model[n]);
        if (next_random(&seed) % 3 == 0) {
            id_map_remove(&m, key);
            there -= model[n] != 0;
            model[n] = 0;
        } else {
            item = id_map_put(&m, key);
            assert_non_null(item);
            there += model[n] == 0;
            *item = model[n] = (uint64_t)i + 1;
        }
        assert_int_equal(m.count, there);
    }
    size_t at = 0, seen = 0;
    uint64_t key;
    for (uint64_t *item; (item = id_map_next(&m, &at, &key)) != NULL; seen++)
        assert_int_equal(*item, model[key >> 32]);
    assert_int_equal(seen, there);
    id_map_free(&m);
    assert_null(id_map_find(&m, UINT64_C(1) << 32));
}

static void the_limit_of_items_holds(void **state)
{
    (void)state;
    struct id_map m = {.item_size = 4, .most = BOUND};
    for (uint64_t key = 1; key < 100 * BOUND; key++) {
        uint32_t *item = id_map_put(&m, key * 7919);
        assert_non_null(item);
        *item = (uint32_t)key;
        assert_in_range(m.count, 1, BOUND);
        item = id_map_find(&m, key * 7919); /* the newest item remains, whichever item was replaced */
        assert_non_null(item);
        assert_int_equal(*item, key);
    }
    assert_null(id_map_put(&m, 0));
    id_map_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_behaves_like_a_list),
        cmocka_unit_test(the_limit_of_items_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
