/* SPDX-License-Identifier: MIT */
/* Registration of an ini file by lodctr: the DLL's counters get their own numbers, names and help; errors name the
   line; and a failed registration changes nothing. */
#include "engine/base/memory.h"
#include "engine/pdh/extension_registration.h"
#include "engine/pdh/perflib/counterset_registration.h"
#include "tests/unit/scratch_folder.h"

#define SERVICE     "OpenPlaTestIni"
#define SERVICE_KEY SERVICES_KEY "\\" SERVICE
#define OTHER_KEY   SERVICES_KEY "\\OpenPlaTestIniOther"
#define KEY         SERVICE_KEY "\\Performance"

static const char symbols[] =
    "/* of the DLL */\n#define SHOP 0\n#  define SALES 0x2\r\n#define RATE 4 // a second\n#define ODD 3\n";
static const char ini[] =
    "[info]\r\ndrivername=" SERVICE "\r\nsymbolfile=shop.h\r\n\r\n[languages]\r\n009=English\r\n"
    "007=German\r\n[objects]\r\nSHOP_009_NAME=Shop\r\nSHOP_007_NAME=Laden\r\n[text]\r\n"
    "; a comment\r\nSHOP_009_NAME=Shop\r\nSHOP_009_HELP=A shop\r\nSALES_009_NAME = Sales = all \r\n"
    "SALES_007_NAME=Verk\xC3\xA4ufe\r\nRATE_009_NAME=Sales/sec\r\nRATE_009_HELP=\r\n";

static HRESULT read_ini(const char *text, struct extension_ini *out)
{
    HRESULT hr = extension_ini_begin(text, out);
    if (FAILED(hr))
        return hr;
    hr = extension_ini_read(text, symbols, out);
    if (FAILED(hr))
        extension_ini_free(out);
    return hr;
}

static void names_and_help_are_read(void **state)
{
    (void)state;
    struct extension_ini i;
    assert_int_equal(read_ini(ini, &i), S_OK);
    assert_string_equal(i.service, SERVICE);
    assert_string_equal(i.symbol_file, "shop.h");
    assert_int_equal(i.languages.count, 2);
    assert_int_equal(i.last, 4);
    assert_int_equal(i.objects.count, 1);
    assert_int_equal(i.count, 5); /* an empty help counts as missing */
    assert_string_equal(i.items[0].text, "Shop");
    assert_string_equal(i.items[1].text, "Sales = all");
    assert_int_equal(i.items[1].offset, 2);
    assert_string_equal(i.items[3].text, "A shop");
    assert_true(i.items[3].is_help);
    assert_string_equal(i.items[4].text, "Verk\xC3\xA4ufe");
    extension_ini_free(&i);
}

#define INFO "[info]\ndrivername=" SERVICE "\nsymbolfile=x.h\n[languages]\n009=\n[text]\n"

static void errors_name_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } mistakes[] = {
        {"", "no drivername"},
        {"[info]\ndrivername=a\n", "no symbolfile"},
        {"[info]\ndrivername=\n", "line 2: drivername=: value is missing"},
        {"[info]\ndrivername=a\ndrivername=b\n", "line 3: drivername=b: duplicate key"},
        {"[info]\ndrivername=a\\b\nsymbolfile=x\n", "invalid service name"},
        {"[info]\ndrivername=a\nsymbolfile=x\n", "section [languages] has no language"},
        {"[info]\ndrivername=a\nsymbolfile=x\n[languages]\nen=\n", "line 5: en=: expected a language of three"},
        {INFO, "section [text] has no entry"},
        {INFO "SALES_009=x\n", "line 7: SALES_009=x: expected a key that ends with"},
        {INFO "_009_NAME=x\n", "expected a symbol"},
        {INFO "NAME=x\n", "expected a key that ends with"},
        {INFO "_NAME=x\n", "expected a symbol"},
        {INFO "SALES_00A_NAME=x\n", "section [languages] does not list the language"},
        {INFO "NONE_009_NAME=x\n", "the header file does not define the symbol"},
        {INFO "ODD_009_NAME=x\n", "the symbol's number is odd"},
        {INFO "SALES_009_NAME=\n", "name is missing"},
        {INFO "SALES_009_NAME=x\nRATE_009_NAME=y\nSALES_009_NAME=z\n", "both define the name of symbol number 2"},
    };
    for (size_t n = 0; n < sizeof mistakes / sizeof *mistakes; n++) {
        struct extension_ini i;
        assert_int_equal(read_ini(mistakes[n].text, &i), EXTENSION_INVALID);
        if (!strstr(error_text(EXTENSION_INVALID), mistakes[n].message))
            fail_msg("%s: %s", mistakes[n].message, error_text(EXTENSION_INVALID));
    }
}

static void make_service(void)
{
    struct registry_key *key;
    bool made;
    assert_int_equal(registry_create(KEY, &made, &key), S_OK);
    assert_int_equal(registry_write_text(key, "Library", "C:\\shop.dll"), S_OK);
    registry_close(key);
}

/* Asserts that the registry value contains `wanted` under the number. */
static void assert_listed(const char *value, uint32_t number, const char *wanted)
{
    struct registry_key *key;
    struct texts list = {0};
    bool found = false;
    assert_int_equal(registry_open(KEY, false, &key), S_OK);
    assert_int_equal(registry_read_texts(key, value, &list), S_OK);
    registry_close(key);
    for (size_t i = 0; i + 1 < list.count; i += 2) {
        uint64_t one;
        assert_true(text_to_u64(list.items[i], &one));
        if (one == number) {
            assert_string_equal(list.items[i + 1], wanted);
            found = true;
        }
    }
    assert_true(found);
    texts_free(&list);
}

static void numbers_are_assigned_and_released(void **state)
{
    (void)state;
    struct extension_ini i;
    struct registered_extensions list;
    assert_int_equal(read_ini(ini, &i), S_OK);
    assert_int_equal(extension_register(&i), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)), SERVICE));
    make_service();
    assert_int_equal(extension_unregister(SERVICE), S_FALSE);
    assert_int_equal(extension_register(&i), S_OK);
    assert_int_equal(extension_register(&i), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_int_equal(registered_extensions_read(SERVICE, &list), S_OK);
    const struct registered_extension e = list.items[0];
    assert_string_equal(e.library, "C:\\shop.dll");
    assert_true(e.first_counter > COUNTERS_OF_SYSTEM && e.first_counter % 2 == 0);
    assert_int_equal(e.last_counter, e.first_counter + 4);
    assert_int_equal(e.first_help, e.first_counter + 1);
    assert_int_equal(e.last_help, e.last_counter + 1);
    assert_int_equal(list.last_counter, e.last_counter);
    assert_int_equal(list.last_help, e.last_help);
    assert_false(e.is_disabled);
    assert_listed("Counter 009", e.first_counter + 2, "Sales = all");
    assert_listed("Counter 007", e.first_counter + 2, "Verk\xC3\xA4ufe");
    assert_listed("Help 009", e.first_help, "A shop");
    const uint32_t first = e.first_counter, last = e.last_counter;
    registered_extensions_free(&list);
    assert_int_equal(extension_enable(SERVICE, false), S_OK);
    assert_int_equal(extension_unregister(SERVICE), S_OK);
    assert_int_equal(registered_extensions_read(SERVICE, &list), S_OK);
    assert_true(list.items[0].is_disabled && !list.items[0].first_counter);
    registered_extensions_free(&list);
    assert_int_equal(extension_register(&i), S_OK); /* existing numbers are kept */
    assert_listed("Counter 009", last + 2, "Shop");
    assert_true(last + 2 > first);
    assert_int_equal(extension_rebuild(), S_OK);
    assert_int_equal(registered_extensions_read("OpenPlaNoService", &list), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_int_equal(registry_delete(SERVICE_KEY), S_OK);
    extension_ini_free(&i);
}

/* An invalid number in one service's corrupt key must not shift other services' numbers into the system's range. */
static void corrupt_numbers_are_ignored(void **state)
{
    static const uint32_t corrupt[] = {UINT32_MAX, UINT32_MAX - 1, (uint32_t)INT32_MAX + 1};
    (void)state;
    struct extension_ini i;
    struct registered_extensions list;
    struct registry_key *other;
    bool made;
    assert_int_equal(read_ini(ini, &i), S_OK);
    make_service();
    assert_int_equal(registry_create(OTHER_KEY "\\Performance", &made, &other), S_OK);
    for (size_t n = 0; n < sizeof corrupt / sizeof *corrupt; n++) {
        assert_int_equal(registry_write_number(other, "Last Counter", REGISTRY_NUMBER, corrupt[n]), S_OK);
        assert_int_equal(extension_register(&i), S_OK);
        assert_int_equal(registered_extensions_read(SERVICE, &list), S_OK);
        assert_in_range(list.items[0].first_counter, COUNTERS_OF_SYSTEM + 1, INT32_MAX);
        registered_extensions_free(&list);
        assert_int_equal(extension_unregister(SERVICE), S_OK);
    }
    registry_close(other);
    assert_int_equal(registry_delete(OTHER_KEY), S_OK);
    assert_int_equal(registry_delete(SERVICE_KEY), S_OK);
    extension_ini_free(&i);
}

/* A string that the registry could not return is rejected, and the service gets none of its strings. */
static void long_strings_are_rejected(void **state)
{
    (void)state;
    struct extension_ini i;
    struct text_buffer b = {0};
    struct registered_extensions list;
    text_buffer_add(&b, ini);
    for (size_t n = 0; n <= REGISTRY_MOST_BYTES / 2 / 30000; n++) {
        text_buffer_format(&b, "N%u_009_NAME=", (unsigned)n);
        for (size_t k = 0; k < 3000; k++)
            text_buffer_add(&b, "0123456789");
        text_buffer_add(&b, "\n");
    }
    struct text_buffer h = {0};
    text_buffer_add(&h, symbols);
    for (unsigned n = 0; n <= REGISTRY_MOST_BYTES / 2 / 30000; n++)
        text_buffer_format(&h, "#define N%u %u\n", n, 100 + n * 2);
    assert_false(b.failed || h.failed);
    assert_int_equal(extension_ini_begin(b.text, &i), S_OK);
    assert_int_equal(extension_ini_read(b.text, h.text, &i), S_OK);
    make_service();
    assert_int_equal(extension_register(&i), E_INVALIDARG);
    assert_non_null(strstr(error_text(E_INVALIDARG), "Counter 009"));
    assert_int_equal(registered_extensions_read(SERVICE, &list), S_OK);
    assert_int_equal(list.items[0].first_counter, 0);
    registered_extensions_free(&list);
    assert_int_equal(registry_delete(SERVICE_KEY), S_OK);
    extension_ini_free(&i);
    text_buffer_free(&b);
    text_buffer_free(&h);
}

/* Each allocation fails in turn. The service has all its strings or none. */
static void out_of_memory_changes_nothing(void **state)
{
    (void)state;
    struct extension_ini i;
    HRESULT hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; hr == E_OUTOFMEMORY; n++) {
        memory_fail_at(n);
        hr = read_ini(ini, &i);
        memory_fail_at(0);
    }
    assert_int_equal(hr, S_OK);
    make_service();
    hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; hr == E_OUTOFMEMORY; n++) {
        struct registry_key *key;
        struct texts list = {0};
        uint64_t first;
        memory_fail_at(n);
        hr = extension_register(&i);
        memory_fail_at(0);
        assert_int_equal(registry_open(KEY, false, &key), S_OK);
        assert_int_equal(registry_read_number(key, "First Counter", &first), SUCCEEDED(hr) ? S_OK : S_FALSE);
        assert_int_equal(registry_read_texts(key, "Counter 009", &list), SUCCEEDED(hr) ? S_OK : S_FALSE);
        texts_free(&list);
        registry_close(key);
    }
    assert_int_equal(hr, S_OK);
    assert_int_equal(registry_delete(SERVICE_KEY), S_OK);
    extension_ini_free(&i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_help_are_read),           cmocka_unit_test(errors_name_the_line),
        cmocka_unit_test(numbers_are_assigned_and_released), cmocka_unit_test(corrupt_numbers_are_ignored),
        cmocka_unit_test(long_strings_are_rejected),         cmocka_unit_test(out_of_memory_changes_nothing),
    };
    char *scratch = scratch_create("extension_ini");
    scratch_environment("OPENPLA_DATA", scratch);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(scratch);
    memory_free(scratch);
    return failed;
}
