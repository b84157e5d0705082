/* SPDX-License-Identifier: MIT */
/* Standard messages for results: a client that gets no more specific message gets one of these, and never only a
   number. */
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/pdh_types.h"
#include "tests/unit/scratch_folder.h"

#include <stdio.h>
#include <ctype.h>
#include <string.h>

#ifdef _WIN32 /* these headers define all PDH names */
#define RESULT_TEXT(name, number, text)                                                                                \
    _Static_assert((HRESULT)(name) == (HRESULT)(number), "the row has the number of its name");
#include "engine/base/result_texts.def"
#undef RESULT_TEXT
#endif

/* Asserts that the result has a message in words, without a full stop. No other result may have the same message. */
static void assert_has_text(const char *name, HRESULT hr)
{
    static const char *seen[128];
    static HRESULT seen_results[128];
    static size_t count;
    const char *text = error_standard_text(hr);
    if (!strncmp(text, "error 0x", 8) || strlen(text) < 6 || text[strlen(text) - 1] == '.')
        fail_msg("%s (0x%08X): '%s'", name, (unsigned)hr, text);
    for (size_t i = 0; i < count; i++)
        if (seen_results[i] != hr && !strcmp(seen[i], text))
            fail_msg("%s (0x%08X) has the message of 0x%08X: '%s'", name, (unsigned)hr, (unsigned)seen_results[i],
                     text);
    assert_true(count < 128);
    seen[count] = text;
    seen_results[count++] = hr;
}

/* Checks every PLA code that a line of wintypes.h defines, so that a new code without a message fails the test. */
static void every_pla_code_has_a_message(void **state)
{
    char path[1024], *header;
    size_t size, codes = 0;
    (void)state;
    snprintf(path, sizeof path, "%s/engine/base/wintypes.h", getenv("OPENPLA_SOURCE_DIR"));
    assert_int_equal(file_load(path, 1 << 20, &header, &size), S_OK);
    for (char *line = header; line; line = strchr(line, '\n')) {
        char name[64];
        unsigned code;
        line += line != header;
        if (sscanf(line, "#define %63s ((HRESULT)0x%8x", name, &code) != 2 ||
            (strncmp(name, "PLA_", 4) != 0 && strncmp(name, "OPENPLA_E_", 10) != 0))
            continue;
        assert_has_text(name, (HRESULT)code);
        codes++;
    }
    memory_free(header);
    assert_int_equal(codes, 25 + 3); /* Windows' list of PLA results, and ours */
}

/* Other results of MS-PLA's methods (behaviour 3). */
static void other_method_results_have_messages(void **state)
{
    static const struct {
        const char *name;
        HRESULT hr;
    } others[] = {
        {"E_INVALIDARG", E_INVALIDARG},
        {"E_NOINTERFACE", E_NOINTERFACE},
        {"E_ACCESSDENIED", E_ACCESSDENIED},
        {"E_NOTIMPL", E_NOTIMPL},
        {"E_POINTER", E_POINTER},
        {"E_OUTOFMEMORY", E_OUTOFMEMORY},
        {"RPC server unavailable", (HRESULT)0x800706BA},
        {"bad network path", (HRESULT)0x80070035},
        {"path not found", HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND)},
        {"already exists", HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS)},
        {"not supported", HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED)},
        {"no such provider", (HRESULT)0x80071068},
    };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_has_text(others[i].name, others[i].hr);
    assert_string_equal(error_standard_text((HRESULT)0x8030FFFF), "error 0x8030FFFF");
}

/* The user must read why the call failed, not why the cleanup after it failed. */
static void saved_error_survives_later_errors(void **state)
{
    (void)state;
    error_set(E_INVALIDARG, "SampleInterval: %d is below 1", 0);
    struct error_kept why = error_keep(E_INVALIDARG);
    error_set(E_INVALIDARG, "something else");
    error_clear();
    assert_int_equal(error_restore(&why), E_INVALIDARG);
    assert_string_equal(error_text(E_INVALIDARG), "SampleInterval: 0 is below 1");
    /* A failure without a specific message gets its standard message, not another failure's message. */
    why = error_keep(E_ACCESSDENIED);
    assert_string_equal(why.text, error_standard_text(E_ACCESSDENIED));
    error_restore(&why);
    assert_string_equal(error_text(E_ACCESSDENIED), error_standard_text(E_ACCESSDENIED));
    assert_string_equal(error_text(E_INVALIDARG), error_standard_text(E_INVALIDARG));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pla_code_has_a_message),
        cmocka_unit_test(other_method_results_have_messages),
        cmocka_unit_test(saved_error_survives_later_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
