/* SPDX-License-Identifier: MIT */
/* Stacks of a trace in memory. Limits and failed allocations cause no wrong stack, records that are far out of order
   are found, and an address belongs to the code that was loaded at the time of the event. */
#include "engine/base/memory.h"
#include "engine/etw/stacks/code_ranges.h"
#include "engine/etw/stacks/match_sort.h"
#include "engine/etw/trace_stacks.h"
#include "engine/logs/little_endian.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#define KERNEL UINT64_C(0xFFFFF80000000000)
static const GUID stack_walk = {0xDEF2FE46, 0x7BD6, 0x4B80, {0xBD, 0x94, 0xF5, 0x7F, 0xE2, 0x0D, 0x0C, 0xE3}};
static const GUID image = {0x2CB15D1D, 0x5FC1, 0x11D2, {0xAB, 0xE1, 0x00, 0xA0, 0xC9, 0x11, 0xF5, 0x18}};
static const GUID sampled = {0xCE1DBFB4, 0x137E, 0x4DA6, {0x87, 0xB0, 0x3F, 0x59, 0xAA, 0x10, 0x2C, 0xBC}};

static HRESULT give(struct trace_stacks *s, const GUID *provider, uint8_t type, int64_t stamp, uint8_t *data,
                    uint16_t size, uint64_t number)
{
    EVENT_RECORD r = {.UserData = data, .UserDataLength = size};
    r.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER;
    r.EventHeader.ProviderId = *provider;
    r.EventHeader.EventDescriptor.Opcode = type;
    r.EventHeader.EventDescriptor.Version = 2;
    r.EventHeader.ThreadId = r.EventHeader.ProcessId = UINT32_MAX;
    r.EventHeader.TimeStamp.QuadPart = stamp;
    const struct trace_event e = {.record = &r, .pointer_size = 8, .known = true, .number = number};
    const HRESULT hr = stack_joiner_take(s->joiner, &e);
    return SUCCEEDED(hr) ? code_places_take(s->places, &e) : hr;
}

static HRESULT add_image(struct trace_stacks *s, uint64_t base, const char *name, uint8_t type, uint64_t number)
{
    uint8_t data[128] = {0};
    put_u64(data, base);
    put_u64(data + 8, 0x10000);
    put_u32(data + 16, 7);
    for (size_t i = 0; name[i]; i++)
        data[56 + 2 * i] = (uint8_t)name[i];
    return give(s, &image, type, (int64_t)number, data, (uint16_t)(58 + 2 * strlen(name)), number);
}

/* Reads an image and 40 samples. The stack of each sample has a kernel part, given by a key, and a program part; the
   keys' definitions follow. */
static HRESULT read_all(struct trace_stacks *s)
{
    uint8_t data[64] = {0};
    HRESULT hr = stack_joiner_create(1, &s->joiner);
    if (SUCCEEDED(hr))
        hr = code_places_create(&s->places);
    if (SUCCEEDED(hr))
        hr = add_image(s, 0x10000, "first.dll", 10, 1);
    for (uint64_t i = 0; i < 40 && SUCCEEDED(hr); i++) {
        const uint64_t number = 2 + 3 * i;
        hr = give(s, &sampled, 46, (int64_t)number, data, 16, number);
        put_u64(data, number);
        put_u32(data + 8, 7);
        put_u32(data + 12, 70);
        put_u64(data + 16, i % 5 + 1);
        if (SUCCEEDED(hr))
            hr = give(s, &stack_walk, 37, (int64_t)number + 1, data, 24, number + 1);
        put_u64(data + 16, 0x10010 + 16 * (i % 3));
        put_u64(data + 24, 0x10100);
        if (SUCCEEDED(hr))
            hr = give(s, &stack_walk, 32, (int64_t)number + 2, data, 32, number + 2);
    }
    for (uint64_t key = 1; key <= 5 && SUCCEEDED(hr); key++) {
        put_u64(data, key);
        put_u64(data + 8, KERNEL + key);
        hr = give(s, &stack_walk, 36, 900, data, 16, 199 + key);
    }
    if (FAILED(hr))
        return hr;
    stack_joiner_finish(s->joiner, &s->counts);
    return code_places_finish(s->places);
}

static void stacks_are_complete_or_reading_fails(void **state)
{
    (void)state;
    struct event_stack stack;
    uint64_t frames[STACK_MOST_FRAMES];
    for (uint64_t n = 0;; n++) { /* n = 0: no allocation fails */
        struct trace_stacks s = {0};
        memory_fail_at(n);
        const HRESULT hr = read_all(&s);
        const bool reached = n == 0 || memory_count() >= n;
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
        for (uint64_t number = 1; SUCCEEDED(hr) && number < 205; number++) {
            const bool expected = number >= 2 && number < 122 && (number - 2) % 3 == 0;
            assert_int_equal(stack_joiner_find(s.joiner, number, &stack), expected);
            if (!expected)
                continue;
            assert_int_equal(stack_frames(stack_joiner_tree(s.joiner), &stack, frames), 3);
            assert_true(frames[0] == KERNEL + (number - 2) / 3 % 5 + 1);
            assert_true(frames[1] == 0x10010 + 16 * ((number - 2) / 3 % 3) && frames[2] == 0x10100);
        }
        trace_stacks_free(&s);
        if (!reached)
            return;
    }
}

static void address_belongs_to_the_image_loaded_at_its_time(void **state)
{
    (void)state;
    struct trace_stacks s = {0};
    struct code_place place;
    assert_int_equal(stack_joiner_create(1, &s.joiner), S_OK);
    assert_int_equal(code_places_create(&s.places), S_OK);
    assert_int_equal(add_image(&s, 0x10000, "C:\\first.dll", 10, 10), S_OK);
    assert_int_equal(add_image(&s, 0x10000, "C:\\first.dll", 2, 20), S_OK);
    assert_int_equal(add_image(&s, 0x10000, "C:\\second.dll", 10, 30), S_OK);
    assert_int_equal(add_image(&s, 0x50000, "C:\\always.dll", 4, 40), S_OK);
    assert_int_equal(code_places_finish(s.places), S_OK);
    assert_true(code_places_find(s.places, 7, 0x10010, 15, &place));
    assert_string_equal(place.module->name, "first.dll");
    assert_true(code_places_find(s.places, 7, 0x10010, 35, &place) && place.offset == 0x10);
    assert_string_equal(place.module->name, "second.dll");
    assert_true(code_places_find(s.places, 7, 0x50010, 1, &place)); /* loaded before the trace began */
    assert_string_equal(place.module->name, "always.dll");
    assert_false(code_places_find(s.places, 8, 0x10010, 15, &place)); /* another process */
    assert_false(code_places_find(s.places, 7, 0x20000, 15, &place)); /* beyond the image's end */
    trace_stacks_free(&s);
}

static void full_tree_rejects_stacks_and_keeps_the_others(void **state)
{
    (void)state;
    struct stack_tree t = {.most = 3};
    const uint64_t one[] = {1, 2, 3}, other[] = {4, 2, 3}, shared[] = {2, 3};
    const uint32_t node = stack_tree_add_stack(&t, 0, one, 3);
    assert_true(node != 0 && stack_tree_value(&t, node) == 1);
    assert_int_equal(stack_tree_add_stack(&t, 0, other, 3), 0);
    assert_int_equal(t.refused, 1);
    assert_int_equal(stack_tree_add_stack(&t, 0, shared, 2), stack_tree_parent(&t, node));
    assert_int_equal(stack_tree_add_stack(&t, 0, one, 3), node);
    stack_tree_free(&t);
}

static void records_in_any_order_are_sorted(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct match *m = calloc(COUNT, sizeof *m);
    assert_non_null(m);
    for (uint32_t i = 0; i < COUNT; i++) /* in descending order: an insertion sort would take too long */
        m[i] = (struct match){.number = COUNT - i, .thread = COUNT - i};
    match_sort(m, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_true(m[i].number == i + 1 && m[i].thread == i + 1);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_complete_or_reading_fails),
        cmocka_unit_test(address_belongs_to_the_image_loaded_at_its_time),
        cmocka_unit_test(full_tree_rejects_stacks_and_keeps_the_others),
        cmocka_unit_test(records_in_any_order_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
