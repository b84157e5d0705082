/* SPDX-License-Identifier: MIT */
/* The quota table. If a number differed from docs/user/limits.md, or a mistyped setting were silently ignored,
   administrators would rely on a limit that does not exist. */
#include "engine/base/quotas.h"
#include "tests/unit/scratch_folder.h"

static const struct row {
    const char *name, *of;
    uint32_t number;
    bool settable;
    HRESULT error;
} rows[] = {
#define SETTABLE                                    true
#define FIXED                                       false
#define QUOTA(name, number, change, error, of, why) {#name, of, number, change, error},
#include "engine/base/quotas.def"
#undef QUOTA
};

static HRESULT read_text(const char *text)
{
    scratch_environment("OPENPLA_QUOTAS", text);
    return quotas_read();
}

static void all_quotas_have_number_and_message(void **state)
{
    (void)state;
    assert_int_equal(read_text(""), S_OK);
    for (enum quota q = 0; q < QUOTAS; q++) {
        char number[16];
        assert_int_equal(quota_limit(q), rows[q].number);
        assert_true(FAILED(rows[q].error));
        assert_int_equal(quota_exceeded(q, "DOMAIN\\user"), rows[q].error);
        snprintf(number, sizeof number, "%u", (unsigned)rows[q].number);
        const char *text = error_text(rows[q].error);
        assert_non_null(strstr(text, "DOMAIN\\user: more than "));
        assert_non_null(strstr(text, number));
        assert_non_null(strstr(text, rows[q].of));
        assert_non_null(strstr(text, rows[q].name));
    }
    quota_exceeded(QUOTA_sets, "");
    assert_int_equal(strncmp(error_text(rows[QUOTA_sets].error), "more than", 9), 0);
}

static void setting_changes_the_limits(void **state)
{
    (void)state;
    for (enum quota q = 0; q < QUOTAS; q++) {
        char *text = text_format("%s=0x7;", rows[q].name);
        assert_int_equal(read_text(text), rows[q].settable ? S_OK : E_INVALIDARG);
        assert_int_equal(quota_limit(q), rows[q].settable ? 7 : rows[q].number);
        memory_free(text);
    }
    assert_int_equal(read_text("sets=1;;BYTES=4294967295"), S_OK);
    assert_int_equal(quota_limit(QUOTA_sets), 1);
    assert_int_equal(quota_limit(QUOTA_bytes), UINT32_MAX);
    quota_exceeded(QUOTA_sets, "");
    assert_non_null(strstr(error_text(rows[QUOTA_sets].error), "more than 1 sets"));
}

/* No part of an invalid setting takes effect. All limits keep the numbers of the table. */
static void wrong_setting_is_reported(void **state)
{
    static const char *const wrong[] = {"sets=5;setz=7",         "sets=5;bytes",       "sets=5;bytes=0",
                                        "sets=5;bytes=-1",       "sets=5;bytes=",      "sets=5;bytes=4294967296",
                                        "sets=5;xml_bytes=9999", "sets=5;bytes=1 000", "sets=5,bytes=7"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *part = strchr(wrong[i], ';');
        assert_int_equal(read_text(wrong[i]), E_INVALIDARG);
        assert_non_null(strstr(error_text(E_INVALIDARG), part ? part + 1 : wrong[i]));
        assert_int_equal(quota_limit(QUOTA_sets), rows[QUOTA_sets].number);
    }
}

/* docs/user/limits.md: | `name` | number | ... */
static void page_lists_the_same_limits(void **state)
{
    const char *source = getenv("OPENPLA_SOURCE_DIR");
    (void)state;
    assert_non_null(source);
    char *path = text_format("%s/docs/user/limits.md", source), *page = scratch_read(path);
    size_t lines = 0;
    /* The next section of the page lists connection limits, which are not quotas. */
    for (const char *at = page; *at && strncmp(at, "\n## Remote clients", 18) != 0; at++)
        lines += strncmp(at, "\n| `", 4) == 0;
    for (size_t i = 0; i < QUOTAS; i++) {
        char *line = text_format("\n| `%s` | %s%u | %s |", rows[i].name, rows[i].settable ? "" : "fixed, ",
                                 (unsigned)rows[i].number, rows[i].of);
        if (!strstr(page, line))
            fail_msg("docs/user/limits.md lacks%s", line);
        memory_free(line);
    }
    assert_int_equal(lines, QUOTAS);
    memory_free(page);
    memory_free(path);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_quotas_have_number_and_message), cmocka_unit_test(setting_changes_the_limits),
        cmocka_unit_test(wrong_setting_is_reported), cmocka_unit_test(page_lists_the_same_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
