/* SPDX-License-Identifier: MIT */
/* Pages and formats of the kernel's trace buffer: each kind of record is read, and invalid records are harmless. */
#include "engine/etw/kernel/ftrace_ring.h"
#include "tests/unit/kernel/ring_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const HRESULT invalid = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
static struct written_page written;
static struct ring_page page;
static struct ring_event event;

static void begin(void)
{
    assert_true(ring_page_begin(&page, &ring_test_layout, written.bytes));
}

static void next_is(uint64_t time, uint32_t size, uint16_t id)
{
    assert_int_equal(ring_page_next(&page, &event), S_OK);
    assert_int_equal(event.time, time);
    assert_int_equal(event.size, size);
    assert_int_equal(get_u16(event.data), id);
}

static void done(void)
{
    assert_int_equal(ring_page_next(&page, &event), S_FALSE);
    assert_int_equal(ring_page_next(&page, &event), S_FALSE);
}

static void events_have_times(void **state)
{
    (void)state;
    page_start(&written, 1000);
    page_event(&written, 5, 2, 11);
    page_event(&written, 0, 28, 12);
    page_word(&written, 7u << 5); /* a length word follows: 4 for itself plus 10 */
    page_word(&written, 14);
    page_word(&written, 13);
    page_word(&written, 0);
    page_word(&written, 0);
    page_event(&written, 1, 1, 14);
    begin();
    assert_int_equal(page.missed, 0);
    next_is(1005, 8, 11);
    next_is(1005, 112, 12);
    next_is(1012, 12, 13);
    next_is(1013, 4, 14);
    done();
}

static void time_records_advance_the_time(void **state)
{
    (void)state;
    const uint64_t high = UINT64_C(3) << 59;
    page_start(&written, high + 1000);
    page_word(&written, 6u << 5 | 30);
    page_word(&written, 2);
    page_event(&written, 1, 1, 1);
    page_word(&written, 9u << 5 | 31);
    page_word(&written, 100);
    page_event(&written, 1, 1, 2);
    begin();
    next_is(high + 1000 + (UINT64_C(2) << 27) + 6 + 1, 4, 1);
    next_is(high + (UINT64_C(100) << 27) + 9 + 1, 4, 2);
    done();
}

static void discarded_events_are_skipped(void **state)
{
    (void)state;
    page_start(&written, 0);
    page_word(&written, 1u << 5 | 29);
    page_word(&written, 8);
    page_word(&written, 0xFFFFFFFF);
    page_word(&written, 4u << 5 | 29);
    page_word(&written, 4);
    page_event(&written, 2, 1, 1);
    page_word(&written, 29);
    page_event(&written, 2, 1, 2);
    begin();
    next_is(6, 4, 1);
    done();
}

static void lost_events_are_counted(void **state)
{
    (void)state;
    page_start(&written, 0);
    page_event(&written, 0, 1, 1);
    put_u64(written.bytes + 8, 0x80000000u | written.used);
    begin();
    assert_int_equal(page.missed, RING_UNCOUNTED);
    put_u64(written.bytes + 8, UINT64_C(0xFFFFFFFFC0000000) | written.used);
    put_u64(written.bytes + RING_TEST_HEAD + written.used, 4711);
    begin();
    assert_int_equal(page.missed, 4711);
    next_is(0, 4, 1);
    put_u64(written.bytes + 8, 0xC0000000u | (RING_TEST_PAGE - RING_TEST_HEAD - 4)); /* the page has no room for it */
    begin();
    assert_int_equal(page.missed, RING_UNCOUNTED);
}

/* Each row has one word that makes the rest of the page invalid. */
static void an_invalid_record_ends_the_page(void **state)
{
    (void)state;
    static const uint32_t lies[][2] = {
        {28, 0}, /* more words than exist */
        {0, 0},  /* a length that does not include itself */
        {0, 3},
        {0, 5}, /* beyond the page */
        {0, 0xFFFFFFFF},
        {1u << 5 | 29, 3}, /* the same wrong lengths in padding */
        {1u << 5 | 29, 5},
        {1u << 5 | 29, 0xFFFFFFFF},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        page_start(&written, 0);
        page_word(&written, lies[i][0]);
        page_word(&written, lies[i][1]);
        begin();
        assert_int_equal(ring_page_next(&page, &event), invalid);
        done();
    }
    page_start(&written, 0);
    page_word(&written, 30); /* the second word is missing */
    begin();
    assert_int_equal(ring_page_next(&page, &event), invalid);
    put_u64(written.bytes + 8, RING_TEST_PAGE - RING_TEST_HEAD + 1);
    assert_false(ring_page_begin(&page, &ring_test_layout, written.bytes));
}

static const char format[] = "name: sched_process_exec\nID: 365\nformat:\n"
                             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                             "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
                             "\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
                             "\tfield:pid_t old_pid;\toffset:28;\tsize:4;\tsigned:1;\n"
                             "\tfield:u8 none;\toffset:70000;\tsize:4;\tsigned:0;\n"
                             "\nprint fmt: \"field:int fake;\toffset:1;\tsize:1;\tsigned:0;\"";

static void fields_are_found_by_name(void **state)
{
    (void)state;
    assert_int_equal(ring_format_id(format), 365);
    assert_int_equal(ring_format_id("name: x\n"), RING_NO_EVENT);
    assert_int_equal(ring_format_id("ID: 70000\n"), RING_NO_EVENT);
    const struct ring_field old = ring_format_field(format, "old_pid"), comm = ring_format_field(format, "comm"),
                            file = ring_format_field(format, "filename");
    assert_int_equal(old.offset, 28);
    assert_true(old.is_signed && !old.is_located);
    assert_int_equal(comm.size, 16);
    assert_true(file.is_located);
    static const char *const absent[] = {"pid", "none", "fake", "com", "omm", ""};
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
        assert_int_equal(ring_format_field(format, absent[i]).size, 0);
}

static void values_stay_within_the_event(void **state)
{
    (void)state;
    uint8_t data[36] = {0};
    char text[8];
    uint32_t size;
    const struct ring_event e = {0, data, sizeof data};
    const struct ring_field file = ring_format_field(format, "filename"), old = ring_format_field(format, "old_pid"),
                            comm = ring_format_field(format, "comm"), beyond = {34, 4, false, false},
                            odd = {0, 3, false, false};
    put_u32(data + 8, 32u | 4u << 16);
    memcpy(data + 32, "a/b", 4);
    memcpy(data + 12, "wineserver", 11);
    put_u32(data + 28, 0xFFFFFFFE);
    ring_text(&e, &file, text, sizeof text);
    assert_string_equal(text, "a/b");
    ring_text(&e, &comm, text, sizeof text);
    assert_string_equal(text, "wineser");
    assert_int_equal(ring_number(&e, &old), -2);
    assert_int_equal(ring_number(&e, &beyond), 0);
    assert_int_equal(ring_number(&e, &odd), 0);
    static const uint32_t lies[] = {32u | 5u << 16, 36u | 1u << 16, 0xFFFFFFFF, 32u};
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        put_u32(data + 8, lies[i]);
        assert_null(ring_bytes(&e, &file, &size));
        ring_text(&e, &file, text, sizeof text);
        assert_string_equal(text, "");
    }
}

static void the_page_layout_comes_from_the_kernel(void **state)
{
    (void)state;
    struct ring_layout layout;
    assert_int_equal(ring_layout_read("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                      "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                                      "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                                      "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n",
                                      &layout),
                     S_OK);
    assert_int_equal(layout.page_size, 4096);
    assert_int_equal(layout.data_offset, 16);
    assert_int_equal(layout.commit_size, 8);
    assert_int_equal(ring_layout_read("", &layout), invalid);
    assert_int_equal(ring_layout_read("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                      "\tfield: local_t commit;\toffset:14;\tsize:8;\tsigned:1;\n"
                                      "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n",
                                      &layout),
                     invalid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_have_times),
        cmocka_unit_test(time_records_advance_the_time),
        cmocka_unit_test(discarded_events_are_skipped),
        cmocka_unit_test(lost_events_are_counted),
        cmocka_unit_test(an_invalid_record_ends_the_page),
        cmocka_unit_test(fields_are_found_by_name),
        cmocka_unit_test(values_stay_within_the_event),
        cmocka_unit_test(the_page_layout_comes_from_the_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
