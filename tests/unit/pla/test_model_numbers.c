/* SPDX-License-Identifier: MIT */
/* If a number is read without the object's lock, it must be the same as with the lock, even while another thread
   changes it. */
#include "engine/base/thread.h"
#include "tests/unit/model_classes.h"
#include "tests/unit/patience.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

/* Reads a number in the same way as the get functions of COM (com/objects/convert.c). */
static uint32_t number_of(struct object *o, const struct property *p)
{
    uint32_t n = 0;
    struct value v;
    if (object_get_number(o, p, &n))
        return n;
    assert_int_equal(object_get(o, p, &v), S_OK);
    return v.u32;
}

/* Properties that have hooks or live values or are not numbers need object_get. Other properties, whose value is simply
   in a field, do not. */
static void plain_number_properties_need_no_lock(void **state)
{
    (void)state;
    for (size_t c = 0; c < MODEL_CLASS_COUNT; c++) {
        struct object *o;
        assert_int_equal(object_create(model_classes[c], NULL, &o), S_OK);
        for (size_t i = 0; i < model_classes[c]->property_count; i++) {
            const struct property *p = &model_classes[c]->properties[i];
            bool number = p->kind == PROPERTY_BOOL || p->kind == PROPERTY_I32 || p->kind == PROPERTY_U32 ||
                          p->kind == PROPERTY_ENUM || p->kind == PROPERTY_FLAGS;
            uint32_t n = 0;
            struct value v;
            assert_int_equal(object_get_number(o, p, &n), number && !p->get && !p->get_live && !p->put);
            if (!number || p->get || p->get_live || p->put)
                continue;
            assert_int_equal(object_get(o, p, &v), S_OK);
            assert_int_equal(n, p->kind == PROPERTY_BOOL ? v.boolean : v.u32);
        }
        object_lock(o); /* as if another thread was changing the object */
        for (size_t i = 0; i < model_classes[c]->property_count; i++)
            assert_false(object_get_number(o, &model_classes[c]->properties[i], &(uint32_t){0}));
        object_unlock(o);
        object_release(o);
    }
}

struct pair {
    struct object *collector, *draft;
    const struct property *first, *second;
    atomic_bool stop;
};

/* Increments both properties together, as a Query or an update of the set does. */
static void count_up(void *user)
{
    struct pair *pair = user;
    for (uint32_t n = 2; !atomic_load(&pair->stop); n++) {
        struct value v = {.kind = PROPERTY_U32, .u32 = n};
        object_put(pair->draft, pair->first, &v);
        object_put(pair->draft, pair->second, &v);
        object_take(pair->collector, pair->draft, true);
    }
}

static void properties_changed_together_are_read_consistently(void **state)
{
    (void)state;
    static struct pair pair; /* static, because the writer continues if an assertion ends this function */
    pair.first = class_property(&performance_counter_collector_class, "SampleInterval");
    pair.second = class_property(&performance_counter_collector_class, "SegmentMaxRecords");
    struct thread *writer;
    struct value one = {.kind = PROPERTY_U32, .u32 = 1};
    assert_true(pair.first < pair.second);
    assert_int_equal(object_create(&performance_counter_collector_class, NULL, &pair.collector), S_OK);
    assert_int_equal(object_create(&performance_counter_collector_class, pair.collector, &pair.draft), S_OK);
    assert_int_equal(object_put(pair.collector, pair.first, &one), S_OK);
    assert_int_equal(object_put(pair.collector, pair.second, &one), S_OK);
    assert_int_equal(thread_start(count_up, &pair, &writer), S_OK);
    /* The loop waits for 2,000 changes, so that both threads run at the same time. Neither property may decrease. The
       second may not be less than the first, which was read before it. */
    uint32_t seen = 0;
    for (uint32_t last = 1; seen < 2000;) {
        uint32_t first = number_of(pair.collector, pair.first), second = number_of(pair.collector, pair.second);
        assert_true(first >= last);
        assert_true(second >= first);
        seen += second != last;
        last = second;
    }
    atomic_store(&pair.stop, true);
    assert_true(thread_wait(writer, PATIENCE_MS));
    thread_close(writer);
    object_release(pair.draft);
    object_release(pair.collector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_number_properties_need_no_lock),
        cmocka_unit_test(properties_changed_together_are_read_consistently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
