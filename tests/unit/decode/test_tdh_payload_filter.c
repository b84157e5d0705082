/* SPDX-License-Identifier: MIT */
/* A session receives the events whose data match its payload filter, and every event whose data cannot be evaluated. */
#include "engine/base/memory.h"
#include "engine/etw/decode/payload_filter.h"
#include "engine/etw/event_values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

enum { SIGNED, TEXT, GUID_FIELD, STRUCTURE, LIST, WIDE, PLAIN, MEMBER };

static char names[][8] = {"s8", "text", "guid", "struct", "list", "u64", "ansi", "member"};
static struct event_property properties[] = {
    [SIGNED] = {.name = names[0], .in_type = IN_TYPE_INT8, .count = 1},
    [TEXT] = {.name = names[1], .in_type = IN_TYPE_UNICODESTRING, .count = 1},
    [GUID_FIELD] = {.name = names[2], .in_type = IN_TYPE_GUID, .count = 1},
    [STRUCTURE] = {.name = names[3], .flags = PROPERTY_STRUCT, .count = 1, .first_member = MEMBER, .members = 1},
    [LIST] = {.name = names[4], .flags = PROPERTY_FIXED_COUNT, .in_type = IN_TYPE_UINT8, .count = 2},
    [WIDE] = {.name = names[5], .in_type = IN_TYPE_UINT64, .count = 1},
    [PLAIN] = {.name = names[6], .in_type = IN_TYPE_ANSISTRING, .count = 1},
    [MEMBER] = {.name = names[7], .in_type = IN_TYPE_UINT16, .count = 1},
};
static const struct event_schema schema = {.properties = properties, .property_count = 8, .top_level = 7};
static const EVENT_DESCRIPTOR event = {.Id = 3, .Version = 1};
/* -5; "Äpfel"; a GUID; {1}; 1, 2; 2^63; "plain" */
static const uint8_t data[] = "\xFB"
                              "\xC4\0p\0f\0e\0l\0\0\0"
                              "\x33\x22\x11\0\x55\x44\x77\x66\x88\x99\xAA\xBB\xCC\xDD\xEE\xFF"
                              "\x01\0"
                              "\x01\x02"
                              "\0\0\0\0\0\0\0\x80"
                              "plain\0";
enum { DATA = sizeof data - 1 };

static struct payload_filter *filter_of(const uint8_t *bytes, size_t size)
{
    struct payload_filter *f;
    uint8_t *copy = memory_copy(bytes, size);
    assert_int_equal(payload_filter_read(copy, size, &f), S_OK);
    memory_free(copy);
    return f;
}

static bool passes(bool any, const struct payload_condition *conditions, size_t count, size_t size)
{
    uint8_t *bytes, *copy = memory_copy(data, size);
    size_t filter_size;
    assert_int_equal(payload_filter_create(&schema, 3, 1, any, conditions, count, &bytes, &filter_size), S_OK);
    struct payload_filter *f = filter_of(bytes, filter_size);
    const bool result = payload_filter_passes(f, &event, copy, size, 8);
    payload_filter_free(f);
    memory_free(bytes);
    memory_free(copy);
    return result;
}

static void each_operator_compares(void **state)
{
    (void)state;
    static const struct {
        struct payload_condition c;
        bool passes;
    } rows[] = {
        {{"s8", PAYLOAD_EQUAL, "-5"}, true},
        {{"s8", PAYLOAD_EQUAL, "5"}, false},
        {{"s8", PAYLOAD_NOT_EQUAL, "5"}, true},
        {{"s8", PAYLOAD_AT_MOST, "-5"}, true},
        {{"s8", PAYLOAD_AT_MOST, "-6"}, false},
        {{"s8", PAYLOAD_GREATER, "-6"}, true},
        {{"s8", PAYLOAD_GREATER, "-5"}, false},
        {{"s8", PAYLOAD_LESS, "0"}, true},
        {{"s8", PAYLOAD_LESS, "-5"}, false},
        {{"s8", PAYLOAD_AT_LEAST, "-5"}, true},
        {{"s8", PAYLOAD_AT_LEAST, "0"}, false},
        {{"s8", PAYLOAD_BETWEEN, "-10,-5"}, true},
        {{"s8", PAYLOAD_BETWEEN, "-4,10"}, false},
        {{"s8", PAYLOAD_NOT_BETWEEN, "-4,10"}, true},
        {{"s8", PAYLOAD_MULTIPLE, "5"}, true},
        {{"s8", PAYLOAD_MULTIPLE, "2"}, false},
        {{"u64", PAYLOAD_GREATER, "0x7FFFFFFFFFFFFFFF"}, true},
        {{"u64", PAYLOAD_LESS, "1"}, false},
        {{"text", PAYLOAD_CONTAINS, "PFE"}, true},
        {{"text", PAYLOAD_CONTAINS, "birne"}, false},
        {{"text", PAYLOAD_LACKS, "birne"}, true},
        {{"text", PAYLOAD_IS, "\xC3\xA4pfel"}, true},
        {{"text", PAYLOAD_IS_NOT, "\xC3\xA4pfel"}, false},
        {{"ansi", PAYLOAD_IS, "PLAIN"}, true},
        {{"guid", PAYLOAD_IS, "{00112233-4455-6677-8899-aabbccddeeff}"}, true},
        {{"guid", PAYLOAD_IS_NOT, "{00112233-4455-6677-8899-AABBCCDDEEFF}"}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (passes(false, &rows[i].c, 1, DATA) != rows[i].passes)
            fail_msg("%s %u %s", rows[i].c.field, rows[i].c.operation, rows[i].c.value);
}

static void any_or_all_conditions_must_hold(void **state)
{
    (void)state;
    const struct payload_condition c[] = {{"s8", PAYLOAD_EQUAL, "-5"}, {"ansi", PAYLOAD_IS, "other"}};
    assert_true(passes(true, c, 2, DATA));
    assert_false(passes(false, c, 2, DATA));
}

static void undecidable_events_pass(void **state)
{
    (void)state;
    const struct payload_condition c = {"u64", PAYLOAD_EQUAL, "1"};
    uint8_t *bytes;
    size_t size;
    assert_false(passes(false, &c, 1, DATA));
    assert_true(passes(false, &c, 1, 12)); /* the data end before the field */
    assert_true(passes(false, &c, 1, 0));
    assert_int_equal(payload_filter_create(&schema, 3, 1, false, &c, 1, &bytes, &size), S_OK);
    struct payload_filter *f = filter_of(bytes, size);
    assert_true(payload_filter_passes(f, &(EVENT_DESCRIPTOR){.Id = 3, .Version = 2}, data, DATA, 8));
    assert_true(payload_filter_passes(f, &(EVENT_DESCRIPTOR){.Id = 4, .Version = 1}, data, DATA, 8));
    payload_filter_free(f);
    memory_free(bytes);
}

/* The filters of one event are joined by `all`. An event passes if all filters with `all` match, or if one filter
   without `all` matches. Here the first filter matches and the second does not. */
static void filters_of_an_event_are_joined(void **state)
{
    (void)state;
    const struct payload_condition yes = {"s8", PAYLOAD_EQUAL, "-5"}, no = {"s8", PAYLOAD_EQUAL, "1"};
    uint8_t *filters[2], *joined;
    size_t sizes[2], size;
    static const struct {
        bool all[2], passes;
    } rows[] = {{{false, false}, true}, {{true, true}, false}, {{true, false}, true}, {{false, true}, true}};
    assert_int_equal(payload_filter_create(&schema, 3, 1, false, &yes, 1, &filters[0], &sizes[0]), S_OK);
    assert_int_equal(payload_filter_create(&schema, 3, 1, false, &no, 1, &filters[1], &sizes[1]), S_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(payload_filter_join((const uint8_t *const *)filters, sizes, rows[i].all, 2, &joined, &size),
                         S_OK);
        struct payload_filter *f = filter_of(joined, size);
        assert_int_equal(payload_filter_passes(f, &event, data, DATA, 8), rows[i].passes);
        payload_filter_free(f);
        memory_free(joined);
    }
    memory_free(filters[0]);
    memory_free(filters[1]);
}

static void invalid_conditions_are_rejected(void **state)
{
    (void)state;
    static const struct payload_condition rows[] = {
        {"none", PAYLOAD_EQUAL, "1"},
        {"S8", PAYLOAD_EQUAL, "1"},
        {"s8", PAYLOAD_EQUAL, "128"},
        {"s8", PAYLOAD_EQUAL, "x"},
        {"s8", PAYLOAD_BETWEEN, "1"},
        {"s8", PAYLOAD_BETWEEN, "1,x"},
        {"s8", PAYLOAD_MULTIPLE, "0"},
        {"s8", PAYLOAD_CONTAINS, "1"},
        {"s8", 9, "1"},
        {"text", PAYLOAD_EQUAL, "1"},
        {"guid", PAYLOAD_CONTAINS, "{"},
        {"guid", PAYLOAD_IS, "00112233-4455-6677-8899-AABBCCDDEEFF"},
        {"struct", PAYLOAD_EQUAL, "1"},
        {"list", PAYLOAD_EQUAL, "1"},
        {"member", PAYLOAD_EQUAL, "1"},
        {"u64", PAYLOAD_EQUAL, "-1"},
    };
    uint8_t *bytes;
    size_t size;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (payload_filter_create(&schema, 3, 1, false, &rows[i], 1, &bytes, &size) != E_INVALIDARG)
            fail_msg("%s %u %s is accepted", rows[i].field, rows[i].operation, rows[i].value);
        assert_non_null(strstr(error_text(E_INVALIDARG), rows[i].field));
        assert_non_null(strstr(error_text(E_INVALIDARG), rows[i].value));
    }
    assert_int_equal(payload_filter_create(&schema, 3, 1, false, rows, 0, &bytes, &size), E_INVALIDARG);
    assert_int_equal(payload_filter_create(&schema, 3, 1, false, rows, 9, &bytes, &size), E_INVALIDARG);
    char long_text[5000];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    const struct payload_condition too_long = {"text", PAYLOAD_IS, long_text};
    assert_int_equal(payload_filter_create(&schema, 3, 1, false, &too_long, 1, &bytes, &size),
                     HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
}

static void invalid_bytes_are_rejected(void **state)
{
    (void)state;
    const struct payload_condition c = {"text", PAYLOAD_IS, "a"};
    struct payload_filter *f;
    uint8_t *bytes;
    size_t size;
    assert_int_equal(payload_filter_create(&schema, 3, 1, false, &c, 1, &bytes, &size), S_OK);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(payload_filter_read(bytes, cut, &f), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    memory_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operator_compares),          cmocka_unit_test(any_or_all_conditions_must_hold),
        cmocka_unit_test(undecidable_events_pass),         cmocka_unit_test(filters_of_an_event_are_joined),
        cmocka_unit_test(invalid_conditions_are_rejected), cmocka_unit_test(invalid_bytes_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
