/* SPDX-License-Identifier: MIT */
/* Names of folders and files: the results of each letter in a pattern, and of the format bits. */
#include "engine/base/memory.h"
#include "engine/pla/model/name_pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

/* Sunday 2005-01-30 16:05:09, eight hours west of UTC. */
static const struct name_context sunday = {
    .local =
        {.year = 2005, .month = 1, .day = 30, .weekday = 0, .day_of_year = 30, .hour = 16, .minute = 5, .second = 9},
    .zone_offset_minutes = -480,
    .serial_number = 32,
    .computer = "HOST",
};

static void expands(const struct name_context *context, const char *pattern, const char *expected)
{
    char *text;
    assert_int_equal(name_pattern_expand(pattern, context, &text), S_OK);
    assert_string_equal(text, expected);
    memory_free(text);
}

/* Log names must contain the time of their creation. */
static void every_letter_has_its_value(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"D", "30"},      {"DDD", "030"}, {"d", "30"},    {"dd", "30"},         {"ddd", "Sun"}, {"dddd", "Sunday"},
        {"M", "1"},       {"MM", "01"},   {"MMM", "Jan"}, {"MMMM", "January"},  {"y", "5"},     {"yy", "05"},
        {"yyyy", "2005"}, {"h", "4"},     {"hh", "04"},   {"H", "16"},          {"HH", "16"},   {"m", "5"},
        {"mm", "05"},     {"s", "9"},     {"ss", "09"},   {"t", "P"},           {"tt", "PM"},   {"z", "-8"},
        {"zz", "-08"},    {"N", "32"},    {"NNN", "032"}, {"NNNNNN", "000032"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expands(&sunday, cases[i][0], cases[i][1]);
}

/* In the documentation, some letters of patterns have the opposite case. Patterns copied from it must work. */
static void letters_of_the_documentation_in_both_cases(void **state)
{
    (void)state;
    expands(&sunday, "Tt", "PM");
    expands(&sunday, "SS", "09");
    expands(&sunday, "ZZ", "-08");
    struct name_context morning = sunday;
    morning.local = (struct calendar_time){.year = 2005, .month = 1, .day = 31, .weekday = 1, .hour = 4, .minute = 20};
    expands(&morning, "MMMM d, yyyy \\a\\t h:mmTt", "January 31, 2005 at 4:20AM");
}

/* Noon and midnight must not be twelve hours off. */
static void twelve_hour_clock_at_its_edges(void **state)
{
    (void)state;
    struct name_context c = sunday;
    c.local.hour = 0;
    expands(&c, "htt", "12AM");
    c.local.hour = 12;
    expands(&c, "hht", "12P");
    c.local.hour = 11;
    expands(&c, "hhtt", "11AM");
}

/* OpenPLA's and Windows' files in one folder must have the same name for the same time. */
static void zone_offset_is_written_as_windows_writes_it(void **state)
{
    (void)state;
    struct name_context c = sunday;
    c.zone_offset_minutes = 480;
    expands(&c, "\\_z\\Z", "_--8Z");
    expands(&c, "zz", "--08");
    c.zone_offset_minutes = 0;
    expands(&c, "z", "0");
    c.zone_offset_minutes = 330;
    expands(&c, "z", "--5");
    c.zone_offset_minutes = -210;
    expands(&c, "zz", "-03");
}

/* These patterns are from exported sets and must work. */
static void patterns_of_real_sets(void **state)
{
    (void)state;
    expands(&sunday, "\\-yyyyMMdd\\-HHmmss", "-20050130-160509");
    expands(&sunday, "yyyyMMdd\\-NNNNNN", "20050130-000032");
    expands(&sunday, "\\_ddMMyy\\_HHmm\\_z\\Z\\_NNN", "_300105_1605_-8Z_032");
    expands(&sunday, "yyyyMMddHHmmss\\-N", "20050130160509-32");
    expands(&sunday, "dddtt", "SunPM");
    expands(&sunday, "", "");
    expands(&sunday, "\\\xC3\xBC \\\\", "\xC3\xBC \\");
}

static void refused(const char *pattern, const char *shown)
{
    char *text = NULL;
    assert_int_equal(name_pattern_expand(pattern, &sunday, &text), OPENPLA_E_BAD_PATTERN);
    assert_null(text);
    assert_non_null(strstr(error_text(OPENPLA_E_BAD_PATTERN), pattern));
    assert_non_null(strstr(error_text(OPENPLA_E_BAD_PATTERN), shown));
}

/* The error for a mistyped pattern must name the wrong letter. */
static void unknown_letters_are_named(void **state)
{
    (void)state;
    refused("yyyyQ", "'Q'");
    refused("log", "'l'");
    refused("yyyy\xC3\xBC", "'\xC3\xBC'");
    refused("yyyy\\", "'\\'");
}

static void decorates(const char *base, uint32_t format, const char *pattern, const char *expected)
{
    char *text;
    assert_int_equal(name_decorate(base, format, pattern, &sunday, &text), S_OK);
    assert_string_equal(text, expected);
    memory_free(text);
}

/* Scripts expect the folder to have the name that Windows would give it. */
static void folders_are_decorated_in_order(void **state)
{
    (void)state;
    decorates("base", 0, "yyyy", "base");
    decorates("base", 0x0001, "\\-yyyy", "base-2005");
    decorates("base", 0x0001, "", "base");
    decorates("base", 0x0002, "", "HOST_base");
    decorates("", 0x0003, "yyyyMMdd\\-NNNNNN", "HOST_20050130-000032");
    decorates("", 0x0003, "", "");
    decorates("Perf-Log", 0x0200, "", "Perf-Log_000032");
    decorates("", 0x0200, "", "000032");
    decorates("b", 0x7F03, "\\pyyyy", "HOST_bp2005_013016_000032_2005030_200501_20050130_2005013016_01301605");
}

static void decorates_file(const char *base, uint32_t format, const char *expected)
{
    char *text;
    assert_int_equal(name_decorate_file(base, ".blg", format, "yyyy", &sunday, &text), S_OK);
    assert_string_equal(text, expected);
    memory_free(text);
}

/* Decorations precede the extension, because readers identify the format by it. */
static void files_are_decorated_before_their_ending(void **state)
{
    (void)state;
    decorates_file("counters", 0, "counters.blg");
    decorates_file("counters.blg", 0, "counters.blg");
    decorates_file("counters.out", 0, "counters.out");
    decorates_file("counters", 0x200, "counters_000032.blg");
    decorates_file("counters.blg", 0x200, "counters_000032.blg");
    decorates_file("FULL.BLG", 0x200, "FULL_000032.BLG");
    decorates_file("Perfmon.out", 0x200, "Perfmon.out_000032.blg");
    decorates_file("x", 0x0203, "HOST_x2005_000032.blg");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_letter_has_its_value),     cmocka_unit_test(letters_of_the_documentation_in_both_cases),
        cmocka_unit_test(twelve_hour_clock_at_its_edges), cmocka_unit_test(zone_offset_is_written_as_windows_writes_it),
        cmocka_unit_test(patterns_of_real_sets),          cmocka_unit_test(unknown_letters_are_named),
        cmocka_unit_test(folders_are_decorated_in_order), cmocka_unit_test(files_are_decorated_before_their_ending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
