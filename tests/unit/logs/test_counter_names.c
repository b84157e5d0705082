/* SPDX-License-Identifier: MIT */
/* Counter names in other languages: a German log is understood like an English one, by the built-in table or by the
   names of the log's computer. Ambiguous and English names are unchanged. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/log_inputs.h"
#include "engine/logs/names/names_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

#define PATH     "test_counter_names.tmp"
#define FOLDER   "test_counter_names.folder.tmp"
#define LOCAL    FOLDER "/perfc007.dat"
#define ENGLISH  FOLDER "/perfc009.dat"
#define HELP     FOLDER "/perfh007.dat"
#define BAD_DATA HRESULT_FROM_WIN32(ERROR_INVALID_DATA)

static const char *const scratch[] = {PATH, LOCAL, ENGLISH, HELP};

static int remove_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++)
        if (file_exists(scratch[i]))
            (void)file_delete(scratch[i]);
    if (folder_exists(FOLDER))
        (void)folder_delete(FOLDER);
    return 0;
}

static struct counter_names *built_in(void)
{
    struct counter_names *n = NULL;
    assert_int_equal(counter_names_create(NULL, &n), S_OK);
    return n;
}

static HRESULT create_of(const char *path, const char *other, struct counter_names **out)
{
    char *items[] = {(char *)path, (char *)other};
    const struct texts files = {.count = other ? 2 : 1, .items = items};
    return counter_names_create(&files, out);
}

static struct counter_names *names_of(const char *path, const char *other)
{
    struct counter_names *n = NULL;
    const HRESULT hr = create_of(path, other, &n);
    if (FAILED(hr))
        print_error("%s\n", error_text(hr));
    assert_int_equal(hr, S_OK);
    return n;
}

static void put_file(const char *path, const void *data, size_t size)
{
    assert_int_equal(file_store(path, data, size), S_OK);
}

/* Writes a UTF-8 string (ASCII and Latin-1 letters) as UTF-16LE, with or without a byte order mark. */
static void put_utf16(const char *path, const char *text, size_t length, bool mark)
{
    struct text_buffer b = {0};
    if (mark)
        text_buffer_add_n(&b, "\xFF\xFE", 2);
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    while (at < end) {
        const uint32_t c = unicode_next(&at, end, NULL);
        const char unit[2] = {(char)(c & 0xFF), (char)(c >> 8)};
        text_buffer_add_n(&b, unit, 2);
    }
    assert_false(b.failed);
    put_file(path, b.text, b.length);
    text_buffer_free(&b);
}

static void assert_path(const struct counter_names *n, const char *path, const char *expected)
{
    char *english;
    const HRESULT hr = counter_names_path(n, path, &english);
    if (expected) {
        assert_int_equal(hr, S_OK);
        assert_string_equal(english, expected);
    } else {
        assert_int_equal(hr, S_FALSE);
        assert_null(english);
    }
    memory_free(english);
}

/* A rule skips a counter whose name it cannot translate. */
static void every_built_in_name_becomes_english(void **state)
{
    static const struct {
        bool is_object;
        const char *names[7];
    } rows[] = {
#define NAMES_OBJECT(...)  {true, {__VA_ARGS__}},
#define NAMES_COUNTER(...) {false, {__VA_ARGS__}},
#include "engine/logs/names/counter_names.def"
    };
    struct counter_names *n = built_in();
    size_t object = 0, checked = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        object = rows[i].is_object ? i : object;
        for (size_t k = 1; k < 7 && !rows[i].is_object; k++) {
            struct english_name english;
            if (!rows[i].names[1])
                continue; /* this row only marks an ambiguous name */
            assert_int_equal(counter_names_find(n, rows[object].names[k], rows[i].names[k], &english), S_OK);
            if (english.is_unknown) {
                assert_string_equal(rows[i].names[k], "Taille virtuelle (octets)");
                continue;
            }
            assert_string_equal(english.object ? english.object : rows[object].names[k], rows[object].names[0]);
            assert_string_equal(english.counter ? english.counter : rows[i].names[k], rows[i].names[0]);
            checked++;
        }
    }
    assert_true(checked > 350);
    counter_names_free(n);
}

/* Some names in the built-in table lack their accents, and people type other kinds of spaces than Windows uses. */
static void names_are_compared_without_accents_case_and_kind_of_blanks(void **state)
{
    struct counter_names *n = built_in();
    (void)state;
    assert_path(n, "\\\\SRV1\\Prozessor(_Total)\\Prozessorzeit (%)", "\\\\SRV1\\Processor(_Total)\\% Processor Time");
    assert_path(n, "\\PROZESSOR(0)\\prozessorzeit\xC2\xA0(%)", "\\Processor(0)\\% Processor Time");
    assert_path(n, "\\Arbeitsspeicher\\Verfu\xCC\x88gbare MB",
                "\\Memory\\Available MBytes"); /* u and a combining diaeresis */
    assert_path(n, "\\Arbeitsspeicher\\Verfugbare  MB ", "\\Memory\\Available MBytes");
    assert_path(n, "\\M\xC3\xA9moire\\M\xC3\xA9gaoctets disponibles", "\\Memory\\Available MBytes");
    assert_path(n, "\\Processeur(0)\\% temps d\xE2\x80\x99interruption", "\\Processor(0)\\% Interrupt Time");
    assert_path(n, "\\Pami\xC4\x99\xC4\x87\\Zadeklarowane bajty w u\xC5\xBCyciu (%)",
                "\\Memory\\% Committed Bytes In Use");
    assert_path(n, "\\System\\D\xC5\x82ugo\xC5\x9B\xC4\x87 kolejki procesora", "\\System\\Processor Queue Length");
    assert_path(n, "\\Mem\xC3\xB3ria\\P\xC3\xA1ginas/s", "\\Memory\\Pages/sec");
    assert_path(n, "\\Prozessor(0)\\Prozessorzeit \xEF\xBC\x88%\xEF\xBC\x89", "\\Processor(0)\\% Processor Time");
    counter_names_free(n);
}

/* A text log from a Polish computer is in code page 1250, but is read in code page 1252 here. */
static void names_in_another_code_page_are_understood(void **state)
{
    struct counter_names *n = built_in();
    (void)state;
    assert_path(n, "\\Pami\xC3\xAA\xC3\xA6\\Zadeklarowane bajty w u\xC2\xBFyciu (%)",
                "\\Memory\\% Committed Bytes In Use");
    assert_path(n, "\\System\\D\xC2\xB3ugo\xC5\x93\xC3\xA6 kolejki procesora", "\\System\\Processor Queue Length");
    assert_path(n, "\\Pami\xC3\xAA\xC3\xA6\\Unknown", NULL);
    counter_names_free(n);
}

/* An English log must not be reported as a log in another language. */
static void english_names_are_unchanged(void **state)
{
    static const char *const paths[] = {"\\\\SRV1\\Processor(_Total)\\% Processor Time",
                                        "\\System\\Threads",
                                        "\\System\\Alignment Fixups/sec",
                                        "\\PhysicalDisk(0 C:)\\Avg. Disk sec/Read",
                                        "\\TCPv4\\Segments/sec",
                                        "\\SQLServer:Buffer Manager\\Page life expectancy",
                                        "\\Process(x)\\Private Bytes",
                                        "\\Thread(a/0)\\Thread State",
                                        "no path",
                                        ""};
    struct counter_names *n = built_in();
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_path(n, paths[i], NULL);
    counter_names_free(n);
}

/* If an ambiguous name were translated, a rule could evaluate the wrong counter. */
static void ambiguous_name_is_unchanged(void **state)
{
    struct counter_names *n = built_in();
    struct english_name english;
    (void)state;
    assert_int_equal(counter_names_find(n, "Processus", "Taille virtuelle (octets)", &english), S_OK);
    assert_true(english.is_unknown);
    assert_null(english.counter);
    assert_int_equal(counter_names_find(n, "Prozessor", "Ein neuer Z\xC3\xA4hler", &english), S_OK);
    assert_true(english.is_unknown);
    assert_string_equal(english.object, "Processor");
    counter_names_free(n);
}

static const char reg_german[] =
    "Windows Registry Editor Version 5.00\r\n\r\n"
    "[HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\009]\r\n"
    /* 2 "Ding", 4 "Rate/sec" */
    "\"Counter\"=hex(7):32,00,00,00,44,00,69,00,6e,00,67,00,00,00,34,00,00,00,52,00,\\\r\n"
    "  61,00,74,00,65,00,2f,00,73,00,65,00,63,00,00,00,00,00\r\n"
    "\"Help\"=hex(7):33,00,00,00,58,00,00,00,\\\r\n  00,00\r\n\r\n"
    "[HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\019]\r\n"
    /* 2 "Sache", 4 "Häufigkeit/s" */
    "\"Counter\"=hex(7):32,00,00,00,53,00,61,00,63,00,68,00,65,00,00,00,34,00,00,00,\\\r\n"
    "  48,00,e4,00,75,00,66,00,69,00,67,00,6b,00,65,00,69,00,74,00,2f,00,73,00,00,\\\r\n"
    "  00,00,00\r\n";

static void check_sentence(const struct counter_names *n, const char *const *paths, size_t count, const char *expected)
{
    struct names_summary s = {0};
    struct log_counters counters = {0};
    char *text;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(log_counters_add_path(&counters, paths[i]), S_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(names_summary_add(&s, n, &counters.items[i]), S_OK);
    assert_int_equal(names_summary_text(&s, &text), expected ? S_OK : S_FALSE);
    if (expected)
        assert_string_equal(text, expected);
    memory_free(text);
    log_counters_free(&counters);
    names_summary_free(&s);
}

/* Objects that an installed program added are known only to the log's computer. */
static void registry_export_is_used(void **state)
{
    static const char *const paths[] = {"\\Sache(x)\\H\xC3\xA4ufigkeit/s"};
    (void)state;
    put_utf16(PATH, reg_german, sizeof reg_german - 1, true);
    struct counter_names *n = names_of(PATH, NULL);
    assert_path(n, "\\Sache(x)\\H\xC3\xA4ufigkeit/s", "\\Ding(x)\\Rate/sec");
    assert_path(n, "\\Prozessor(0)\\Prozessorzeit (%)", "\\Processor(0)\\% Processor Time"); /* a built-in name */
    assert_path(n, "\\Ding(x)\\Rate/sec", NULL);
    check_sentence(n, paths, 1, "1 of 1 counters is Russian and was understood");
    counter_names_free(n);
    put_file(PATH, reg_german, sizeof reg_german - 1); /* in UTF-8, from an editor */
    n = names_of(PATH, NULL);
    assert_path(n, "\\Sache(x)\\H\xC3\xA4ufigkeit/s", "\\Ding(x)\\Rate/sec");
    counter_names_free(n);
}

static void old_registry_export_is_used(void **state)
{
    static const char text[] = "REGEDIT4\n[HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\"
                               "Perflib\\009]\n\"Counter\"=hex(7):32,00,44,69,6e,67,00,00\n"
                               "[HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\"
                               "CurrentLanguage]\n\"Counter\"=hex(7):32,00,53,fc,00,00\n";
    (void)state;
    put_file(PATH, text, sizeof text - 1);
    struct counter_names *n = names_of(PATH, NULL);
    assert_path(n, "\\S\xC3\xBC(x)\\y", "\\Ding(x)\\y");
    counter_names_free(n);
}

static const char local[] = "1\0"
                            "1847\0"
                            "2\0"
                            "System\0"
                            "238\0"
                            "Prozessor\0"
                            "6\0"
                            "Kernzeit (%)\0"
                            "900\0"
                            "Gr\xC3\xB6\xC3\x9F"
                            "e\0"
                            "902\0"
                            "Gr\xC3\xB6\xC3\x9F"
                            "e\0\0";
static const char english[] = "1\0"
                              "1847\0"
                              "2\0"
                              "System\0"
                              "238\0"
                              "Processor\0"
                              "6\0"
                              "% Processor Time\0"
                              "900\0"
                              "Size\0"
                              "902\0"
                              "Length\0\0";
static const char help[] = "3\0"
                           "A long explanation.\0\0";

static void put_perfc(void)
{
    assert_int_equal(folder_create(FOLDER), S_OK);
    put_utf16(LOCAL, local, sizeof local - 1, false);
    put_utf16(ENGLISH, english, sizeof english - 1, false);
    put_utf16(HELP, help, sizeof help - 1, false);
}

static void files_of_system32_are_used(void **state)
{
    (void)state;
    put_perfc();
    struct counter_names *n = names_of(LOCAL, ENGLISH);
    struct english_name found;
    assert_path(n, "\\Prozessor(0)\\Kernzeit (%)", "\\Processor(0)\\% Processor Time");
    assert_int_equal(counter_names_find(n, "Prozessor",
                                        "Gr\xC3\xB6\xC3\x9F"
                                        "e",
                                        &found),
                     S_OK);
    assert_true(found.is_unknown); /* two counters have this German name */
    counter_names_free(n);
    n = names_of(LOCAL, NULL); /* uses the English file in the same folder */
    assert_path(n, "\\Prozessor(0)\\Kernzeit (%)", "\\Processor(0)\\% Processor Time");
    counter_names_free(n);
    n = names_of(HELP, LOCAL); /* help strings are ignored */
    assert_path(n, "\\Prozessor(0)\\Kernzeit (%)", "\\Processor(0)\\% Processor Time");
    counter_names_free(n);
    put_file(LOCAL, "238\r\nProzessor\r\n6\r\nL\xF6sung\r\n", 28); /* in the ANSI code page, one string per line */
    n = names_of(LOCAL, ENGLISH);
    assert_path(n, "\\Prozessor(0)\\L\xC3\xB6sung", "\\Processor(0)\\% Processor Time");
    counter_names_free(n);
}

static void assert_rejected(const char *path, const char *why)
{
    struct counter_names *n = NULL;
    const HRESULT hr = create_of(path, NULL, &n);
    assert_int_equal(hr, BAD_DATA);
    assert_null(n);
    if (!strstr(error_text(hr), why))
        print_error("%s\n", error_text(hr));
    assert_non_null(strstr(error_text(hr), why));
}

/* A file without usable names must cause an error; otherwise the user would believe that it was used. */
static void file_without_names_is_rejected(void **state)
{
    static const char cut[] = "REGEDIT4\n[HKEY_LOCAL_MACHINE\\X\\Perflib\\009]\n\"Counter\"=hex(7):32,00,4";
    static const char no_value[] = "REGEDIT4\n[HKEY_LOCAL_MACHINE\\X\\Perflib\\009]\n\"Counters\"=hex(7):32,00\n";
    static const char removed[] = "REGEDIT4\n[-HKEY_LOCAL_MACHINE\\X\\Perflib\\009]\n\"Counter\"=hex(7):32,00,41,00\n";
    struct counter_names *n;
    (void)state;
    put_file(PATH, "hello\nworld\n", 12);
    assert_rejected(PATH, "not an export of the registry key Perflib");
    put_file(PATH, "", 0);
    assert_rejected(PATH, "not an export of the registry key Perflib");
    put_file(PATH, cut, sizeof cut - 1);
    assert_rejected(PATH, "line 3: invalid hexadecimal digits");
    put_file(PATH, no_value, sizeof no_value - 1);
    assert_rejected(PATH, "with a value named Counter");
    put_file(PATH, removed, sizeof removed - 1);
    assert_rejected(PATH, "with a value named Counter");
    put_perfc();
    assert_rejected(ENGLISH, "it has only English names");
    put_file(LOCAL, "X\0Y\0", 4); /* "X" is not an index */
    assert_rejected(LOCAL, "not an export");
    put_utf16(LOCAL, help, sizeof help - 1, false);
    assert_rejected(LOCAL, "it has only English names");
    put_utf16(LOCAL, local, sizeof local - 1, false);
    assert_int_equal(file_delete(ENGLISH), S_OK);
    assert_rejected(LOCAL, "it has no English names");
    assert_int_equal(create_of("does not exist", NULL, &n), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
}

static void message_reports_the_number_of_translated_names(void **state)
{
    static const char *const german[] = {"\\Prozessor(_Total)\\Prozessorzeit (%)",
                                         "\\System\\Threads",
                                         "\\System\\Kontextwechsel/s",
                                         "\\Speicher\\Verf\xC3\xBCgbare MB",
                                         "\\SQLServer:Locks\\Lock Waits/sec",
                                         "\\System\\Ausnahmen/s"};
    static const char *const mixed[] = {"\\Prozessor(_Total)\\Prozessorzeit (%)", "\\Prozess(a)\\Handleanzahl",
                                        "\\Processeur(0)\\% temps utilisateur"};
    static const char *const latin[] = {"\\Memoria\\Mbytes disponibles", "\\Sistema\\Procesos"};
    static const char *const russian[] = {"\\\xD0\x9F\xD0\xB0\xD0\xBC\xD1\x8F\xD1\x82\xD1\x8C\\x", "\\System\\Threads",
                                          "\\\xD0\x9F\xD0\xB0\xD0\xBC\xD1\x8F\xD1\x82\xD1\x8C\\y"};
    static const char *const plain[] = {"\\Processor(0)\\% User Time", "\\Pump\\Temperature \xC2\xB0"
                                                                       "C"};
    struct counter_names *n = built_in();
    (void)state;
    check_sentence(n, german, 6,
                   "2 of 6 counters are German and were understood; 2 were not: '\\Speicher\\Verf\xC3\xBCgbare MB', "
                   "'\\System\\Ausnahmen/s' (add the counter names of the log's computer with -names)");
    check_sentence(n, mixed, 3, "2 of 3 counters are German, 1 is French, and were understood");
    check_sentence(n, latin, 2, "2 of 2 counters are Spanish and were understood");
    check_sentence(n, russian, 3,
                   "2 of 3 counters are not English and were not understood (add the counter names of the log's "
                   "computer with -names)");
    check_sentence(n, plain, 2, NULL);
    check_sentence(n, plain, 0, NULL);
    counter_names_free(n);
}

/* The reader returns both names: relog writes the log's names, reports use the English ones. */
static void a_reader_adds_english_names(void **state)
{
    static const char csv[] =
        "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\S\\Prozessor(0)\\Prozessorzeit (%)\",\"\\\\S\\Memory\\X\"\r\n"
        "\"03/04/2021 09:51:39.073\",\"1\",\"2\"\r\n";
    struct counter_names *n = built_in();
    char name[] = PATH, *path = name;
    const struct texts paths = {.count = 1, .items = &path};
    struct inputs in = {.names = n};
    size_t count;
    (void)state;
    put_file(PATH, csv, sizeof csv - 1);
    assert_int_equal(inputs_open(&in, &paths), S_OK);
    const struct log_counter *counters = log_reader_counters(in.items[0].reader, &count);
    assert_int_equal(count, 2);
    assert_string_equal(counters[0].object, "Prozessor");
    assert_string_equal(log_counter_english_object(&counters[0]), "Processor");
    assert_string_equal(log_counter_english_counter(&counters[0]), "% Processor Time");
    assert_null(counters[1].english_object);
    assert_ptr_equal(log_counter_english_counter(&counters[1]), counters[1].counter);
    inputs_close(&in);
    counter_names_free(n);
}

static void out_of_memory_is_an_error(void **state)
{
    struct counter_names *n;
    HRESULT hr = E_FAIL;
    (void)state;
    put_perfc();
    for (uint64_t i = 1; FAILED(hr) && i < 5000; i += 7) {
        memory_fail_at(i);
        hr = create_of(LOCAL, NULL, &n);
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
    }
    assert_int_equal(hr, S_OK);
    counter_names_free(n);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, remove_files)
    const struct CMUnitTest tests[] = {
        TEST(every_built_in_name_becomes_english),
        TEST(names_are_compared_without_accents_case_and_kind_of_blanks),
        TEST(names_in_another_code_page_are_understood),
        TEST(english_names_are_unchanged),
        TEST(ambiguous_name_is_unchanged),
        TEST(registry_export_is_used),
        TEST(old_registry_export_is_used),
        TEST(files_of_system32_are_used),
        TEST(file_without_names_is_rejected),
        TEST(message_reports_the_number_of_translated_names),
        TEST(a_reader_adds_english_names),
        TEST(out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, remove_files, remove_files);
}
