/* SPDX-License-Identifier: MIT */
/* Memory may run out at any allocation of the engine, libxml2 and libxslt while a page is created. No partial page may
   be written, the old page must be kept, and nothing may leak, because a service creates pages. The built-in style
   sheet needs tens of thousands of allocations. The argument of this program is how many of them fail, by default
   TRIED. */
#include "engine/report/page.h"
#include "tests/unit/scratch_folder.h"

#define TRIED  200 /* each attempt may take as long as the creation of a page */
#define XSL    "<xsl:stylesheet xmlns:xsl='http://www.w3.org/1999/XSL/Transform' version='1.0'>"
#define FIRSTS 400

static uint64_t tried = TRIED;

static const char report[] =
    "<Report name='r' version='1'><Header><Data name='computer'>&lt;script&gt;alert(1)&lt;/script&gt;</Data></Header>"
    "<Section name='advice' key='0'><Table name='warning'><Item><Data name='symptom' img='Red' link='q'>\"&gt;&lt;img "
    "src=x&gt;</Data><Data name='cause'>c</Data></Item></Table></Section><Section name='s' key='1'><Table name='t'>"
    "<Header><Data name='a' align='left' note='n'/><Data name='b' format='#,##0.0' units='%'/></Header>"
    "<Item><Data name='a'>x\xE2\x80\xAEy</Data><Data name='b' tag='q'>1234.56</Data><Table name='inner'><Item>"
    "<Data name='z'>7</Data></Item></Table></Item><Footer><Data name='b'>2</Data></Footer></Table>"
    "<Chart name='c' start='2026-01-02T03:04:05.000Z' duration='60'><Series name='% (0)'>1 2:3 - 4</Series>"
    "<Series name='% (1)'>5 6</Series></Chart></Section><StringTable><String "
    "ID='s'>Title</String></StringTable></Report>";

struct fixture {
    char *report, *output, *draft, *sheet;
    struct page_make make;
};

static void begin(void **state, struct fixture *f, const char *text)
{
    *f = (struct fixture){.report = path_join(*state, "report.xml"),
                          .output = path_join(*state, "page.html"),
                          .draft = path_join(*state, "page.html.new"),
                          .sheet = path_join(*state, "own.xsl")};
    f->make = (struct page_make){.report = f->report, .output = f->output};
    assert_int_equal(file_store(f->report, text, strlen(text)), S_OK);
    assert_int_equal(file_store(f->output, "old", 3), S_OK);
}

static void end(struct fixture *f)
{
    memory_free(f->report);
    memory_free(f->output);
    memory_free(f->draft);
    memory_free(f->sheet);
}

static HRESULT make(const struct fixture *f)
{
    struct texts notes = {0};
    const HRESULT hr = page_make(&f->make, &notes);
    texts_free(&notes);
    return hr;
}

/* Creates the page with a failure of allocation n. Returns false if there were fewer allocations. */
static bool fails_at(const struct fixture *f, uint64_t n)
{
    memory_fail_at(n);
    const HRESULT hr = make(f);
    const bool reached = memory_count() >= n;
    memory_fail_at(0);
    assert_false(file_exists(f->draft));
    if (!reached) {
        assert_int_equal(hr, S_OK);
        assert_int_equal(file_store(f->output, "old", 3), S_OK);
        return false;
    }
    char *text = scratch_read(f->output);
    if (hr != E_OUTOFMEMORY || strcmp(text, "old") != 0)
        fail_msg("allocation %llu: %#x, %.60s", (unsigned long long)n, (unsigned)hr, text);
    memory_free(text);
    return true;
}

/* During the first page of a process, libxslt allocates data that it keeps for all pages. */
static void test_the_next_page_succeeds_after_a_failure(void **state)
{
    struct fixture f;
    begin(state, &f, report);
    uint64_t n = 1;
    while (n <= FIRSTS && fails_at(&f, n))
        n++;
    assert_int_equal(n, FIRSTS + 1);
    assert_int_equal(make(&f), S_OK);
    char *text = scratch_read(f.output);
    assert_non_null(strstr(text, "&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_non_null(strstr(text, "</html>"));
    memory_free(text);
    end(&f);
}

/* libxml2's hash seeds are random, so the number of allocations differs slightly between pages. */
static void fail_each_allocation(struct fixture *f)
{
    memory_fail_at(UINT64_MAX);
    assert_int_equal(make(f), S_OK);
    const uint64_t all = memory_count();
    memory_fail_at(0);
    assert_int_equal(file_store(f->output, "old", 3), S_OK);
    uint64_t failed = 0;
    for (uint64_t i = 0; i < tried; i++) /* begins with the last allocations, which are for the file */
        failed += fails_at(f, all - i * all / tried);
    printf("%llu allocations, %llu of them failed\n", (unsigned long long)all, (unsigned long long)failed);
    assert_in_range(failed, tried * 9 / 10, tried);
}

static void test_page_is_complete_or_unchanged(void **state)
{
    struct fixture f;
    begin(state, &f, report);
    fail_each_allocation(&f);
    end(&f);
}

static void test_picture_is_complete_or_unchanged(void **state)
{
    struct fixture f;
    begin(state, &f, report);
    f.make.picture = true;
    fail_each_allocation(&f);
    end(&f);
}

/* The style sheet is so small that each of its allocations can fail in turn. */
static void test_each_allocation_of_a_user_style_sheet(void **state)
{
    static const char sheet[] =
        XSL "<xsl:output method='html'/><xsl:key name='k' match='Data' use='@name'/><xsl:template match='/'><html>"
            "<xsl:for-each select='//Data'><xsl:sort select='.'/><p title='{@name}'><xsl:value-of select="
            "\"concat(., count(key('k', @name)))\"/></p></xsl:for-each></html></xsl:template></xsl:stylesheet>";
    struct fixture f;
    uint64_t n = 1;
    begin(state, &f, report);
    assert_int_equal(file_store(f.sheet, sheet, strlen(sheet)), S_OK);
    f.make.sheet = f.sheet;
    while (fails_at(&f, n))
        n++;
    assert_in_range(n, 300, 100000);
    end(&f);
}

static int setup(void **state)
{
    *state = scratch_create("page_memory");
    return *state ? 0 : -1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_next_page_succeeds_after_a_failure),
        cmocka_unit_test(test_page_is_complete_or_unchanged),
        cmocka_unit_test(test_picture_is_complete_or_unchanged),
        cmocka_unit_test(test_each_allocation_of_a_user_style_sheet),
    };
    if (argc > 1)
        tried = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, setup, scratch_end);
}
