/* SPDX-License-Identifier: MIT */
/* Report pages must show all content safely, even hostile content, and must not be too large for browsers. */
#include "engine/report/page.h"
#include "engine/report/page/page_parts.h"
#include "engine/report/page_unit.h"
#include "tests/unit/scratch_folder.h"

#define MOST_PAGE ((size_t)4 << 20)

struct fixture {
    char *report, *output;
    struct text_buffer xml;
};

static void begin(void **state, struct fixture *f)
{
    *f = (struct fixture){.report = path_join(*state, "report.xml"), .output = path_join(*state, "page.html")};
    text_buffer_add(&f->xml, "<Report name='r' version='1'>");
}

static void end(struct fixture *f)
{
    file_delete(f->output);
    memory_free(f->report);
    memory_free(f->output);
    text_buffer_free(&f->xml);
}

static HRESULT try_make(const struct fixture *f, struct page_make make)
{
    struct texts notes = {0};
    make.report = f->report;
    make.output = f->output;
    assert_int_equal(file_store(f->report, f->xml.text, f->xml.length), S_OK);
    const HRESULT hr = page_make(&make, &notes);
    texts_free(&notes);
    return hr;
}

static char *make(const struct fixture *f, size_t *size)
{
    char *text;
    const HRESULT hr = try_make(f, (struct page_make){0});
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    assert_int_equal(file_load(f->output, MOST_PAGE, &text, size), S_OK);
    return text;
}

static size_t times(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

/* ---- a page loads and executes nothing ---- */

/* Skips an attribute: its name and a quoted value. Fails the test if a page must not contain it. */
static const char *check_attribute(const char *at)
{
    const size_t length = strcspn(at, "= >/\n");
    const char *behind = at + length;
    assert_true(length > 0);
    if (!strncmp(at, "on", 2) || !strncmp(at, "src", 3) || !strncmp(at, "style", 5) || !strncmp(at, "xlink", 5))
        fail_msg("an attribute: %.80s", at);
    if (!strncmp(at, "href", 4) && strncmp(at, "href=\"#", 7) != 0)
        fail_msg("a link: %.80s", at);
    if (*behind != '=')
        return behind;
    assert_int_equal(behind[1], '"');
    behind = strchr(behind + 2, '"');
    assert_non_null(behind);
    return behind + 1;
}

static bool is_element(const char *at, const char *name)
{
    const size_t length = strlen(name);
    return !strncmp(at, name, length) && strchr(" >/", at[length]);
}

static void check_page(const char *text)
{
    static const char *const never[] = {"img", "iframe", "object", "embed", "link", "base", "form", "audio", "video"};
    size_t scripts = 0, styles = 0;
    for (const char *at = strchr(text, '<'); at; at = strchr(at, '<')) {
        at++;
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
            if (is_element(at, never[i]))
                fail_msg("an element: %.80s", at);
        const bool script = is_element(at, "script"), style = is_element(at, "style");
        scripts += script;
        styles += style;
        if (*at == '!' || *at == '/') {
            at = strchr(at, '>');
            assert_non_null(at);
            continue;
        }
        at += strcspn(at, " >");
        while (*at == ' ' || *at == '/')
            at = *(at += strspn(at, " /")) == '>' ? at : check_attribute(at);
        assert_int_equal(*at, '>');
        if (script || style) /* our own, allowed by their hash in the page's policy */
            at = strstr(at, script ? "</script>" : "</style>");
        assert_non_null(at);
    }
    assert_int_equal(scripts, 1);
    assert_int_equal(styles, 1);
    assert_non_null(strstr(text, "default-src 'none'"));
    assert_null(strstr(text, "url("));
    assert_null(strstr(text, "@import"));
}

/* Strings in the XML of a report, and how the page must contain them. */
static const char *const hostile[][2] = {
    {"&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;script&gt;alert(1)&lt;/script&gt;"},
    {"&quot;&gt;&lt;img src=x onerror=alert(2)&gt;", "\"&gt;&lt;img src=x onerror=alert(2)&gt;"},
    {"&lt;/style&gt;&lt;/title&gt;&lt;!--", "&lt;/style&gt;&lt;/title&gt;&lt;!--"},
    {"javascript:alert(3)", "javascript:alert(3)"},
    {"' onmouseover='alert(4)", "' onmouseover='alert(4)"},
    {"&amp;lt;b&amp;gt; &amp;#60;", "&amp;lt;b&amp;gt; &amp;#60;"},
    {"a\xE2\x80\xAE"
     "exe.txt\xE2\x81\xA6",
     "a\xEF\xBF\xBD"
     "exe.txt\xEF\xBF\xBD"},
};

static void test_names_are_always_shown_as_text(void **state)
{
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct fixture f;
        size_t size;
        begin(state, &f);
        const char *h = hostile[i][0];
        text_buffer_format(&f.xml, "<Header><Data name='computer'>%s</Data><Data name='set'>%s</Data></Header>", h, h);
        text_buffer_format(&f.xml,
                           "<Section name='advice'><Table name='warning'><Item><Data name='symptom' link='q' "
                           "img='Red'>%s</Data><Data name='details'>%s</Data></Item></Table></Section>",
                           h, h);
        text_buffer_format(&f.xml,
                           "<Section name='s' note='n'><Table name='t' source='u' tag='v'><Header><Data name='a' "
                           "align='left' units='u'/></Header><Item><Data name='a' tag='q' units='u'>%s</Data></Item>"
                           "</Table><Chart name='c' start='x'><Series name='y'>1 2</Series></Chart></Section>",
                           h);
        text_buffer_add(&f.xml, "<StringTable>");
        for (const char *id = "sntc"; *id; id++)
            text_buffer_format(&f.xml, "<String ID='%c'>%s</String>", *id, h);
        text_buffer_add(&f.xml, "</StringTable></Report>");
        char *text = make(&f, &size);
        check_page(text);
        if (times(text, hostile[i][1]) < 7)
            fail_msg("%s occurs %zu times", hostile[i][1], times(text, hostile[i][1]));
        memory_free(text);
        end(&f);
    }
}

static void test_references_to_files_are_rejected(void **state)
{
    static const char *const documents[] = {
        "<!DOCTYPE Report [<!ENTITY e SYSTEM 'report.xml'>]><Report name='r'><Header><Data name='a'>&e;</Data></Header>"
        "</Report>",
        "<!DOCTYPE Report SYSTEM 'report.xml'><Report name='r'/>",
        "<Report name='r' xmlns:x='x'><x:include href='report.xml'/><Section name='s'><Table name='t'><Item>"
        "<Data name='a'>&undeclared;</Data></Item></Table></Section></Report>",
    };
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        struct fixture f;
        begin(state, &f);
        text_buffer_free(&f.xml);
        text_buffer_add(&f.xml, documents[i]);
        assert_int_equal(file_store(f.output, "old", 3), S_OK);
        const HRESULT hr = try_make(&f, (struct page_make){0});
        char *text = scratch_read(f.output);
        if (i < 2)
            assert_int_equal(hr, OPENPLA_E_MALFORMED_XML);
        if (FAILED(hr))
            assert_string_equal(text, "old");
        else
            check_page(text);
        memory_free(text);
        end(&f);
    }
}

/* ---- size of the page ---- */

#define TABLES 20
#define ROWS   20000

static void test_a_page_of_a_large_report_is_limited_and_states_its_omissions(void **state)
{
    struct fixture f;
    size_t size;
    begin(state, &f);
    text_buffer_add(&f.xml, "<Section name='s'>");
    for (unsigned t = 0; t < TABLES; t++) {
        text_buffer_format(&f.xml,
                           "<Table name='table %u'><Header><Data name='a' align='left'/><Data name='b'/></Header>", t);
        for (unsigned i = 0; i < ROWS; i++)
            text_buffer_format(&f.xml, "<Item><Data name='a'>row %u of %u</Data><Data name='b'>%u</Data></Item>", i, t,
                               i);
        text_buffer_add(&f.xml, "</Table>");
    }
    text_buffer_add(&f.xml,
                    "<Table name='small'><Item><Data name='a'>the last</Data></Item></Table></Section></Report>");
    char *text = make(&f, &size);
    assert_in_range(size, 100000, PAGE_MOST_BYTES);
    check_page(text);
    for (unsigned t = 0; t < TABLES; t++) {
        char *first = text_format(">row 0 of %u<", t), *last = text_format(">row %d of %u<", ROWS - 1, t);
        assert_int_equal(times(text, first), 1);
        assert_int_equal(times(text, last), 0);
        memory_free(first);
        memory_free(last);
    }
    assert_int_equal(times(text, " of 20000 rows; all rows are in the report document."), TABLES);
    assert_int_equal(times(text, ">the last<"), 1);
    /* The number of rows in the note must be the number of rows in the page. */
    const char *stated = strstr(text, ">The first ");
    assert_non_null(stated);
    assert_int_equal(strtoul(stated + 11, NULL, 10) * TABLES, times(text, ">row "));
    memory_free(text);
    end(&f);
}

/* Bars let readers see immediately which row has the greatest value, and how much greater it is. */
static void test_a_sorted_column_has_bars(void **state)
{
    struct fixture f;
    size_t size;
    begin(state, &f);
    text_buffer_add(&f.xml, "<Section name='s'><Table name='t'><Header><Data name='a' align='left'/><Data name='b' "
                            "bars='1' format='#,##0'/><Data name='c'/></Header>");
    for (const char *const *value = (const char *const[]){"4000", "1000", "0", "none", "8000", NULL}; *value; value++)
        text_buffer_format(
            &f.xml, "<Item><Data name='a'>f</Data><Data name='b'>%s</Data><Data name='c'>9</Data></Item>", *value);
    text_buffer_add(&f.xml, "<Footer><Data name='a'/><Data name='b'>13000</Data></Footer></Table></Section></Report>");
    char *text = make(&f, &size);
    check_page(text);
    assert_int_equal(times(text, "class=\"bar\""), 4);
    assert_int_equal(times(text, "<rect width=\"100\" height=\"6\""), 2);
    assert_int_equal(times(text, "<rect width=\"25\" height=\"6\""), 1);
    assert_int_equal(times(text, "<rect width=\"0\" height=\"6\""), 1);
    memory_free(text);
    end(&f);
}

/* If a user's style sheet reads all text of a report again and again, it must not block the run. */
static void test_endless_style_sheet_is_stopped(void **state)
{
    static const char sheet[] = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
                                "<xsl:template match='/'><xsl:for-each select='//Data'><xsl:for-each select='//Data'>"
                                "<xsl:if test=\"string(/) = 'x'\">y</xsl:if></xsl:for-each></xsl:for-each>"
                                "</xsl:template></xsl:stylesheet>";
    struct fixture f;
    begin(state, &f);
    char *mine = path_join(*state, "mine.xsl"), *text = memory_alloc(4 << 20);
    memset(text, 'a', (4 << 20) - 1);
    text[(4 << 20) - 1] = 0;
    text_buffer_add(&f.xml, "<Section name='s'><Table name='t'><Item>");
    for (int i = 0; i < 2000; i++)
        text_buffer_format(&f.xml, "<Data name='a'>%d</Data>", i);
    text_buffer_format(&f.xml, "<Data name='b'>%s</Data></Item></Table></Section></Report>", text);
    assert_int_equal(file_store(mine, sheet, sizeof sheet - 1), S_OK);
    assert_int_equal(file_store(f.output, "old", 3), S_OK);
    const HRESULT hr = try_make(&f, (struct page_make){.sheet = mine});
    assert_int_equal(hr, OPENPLA_E_MALFORMED_XML);
    assert_non_null(strstr(error_text(hr), "mine.xsl': its strings exceed 2 GB"));
    char *kept = scratch_read(f.output);
    assert_string_equal(kept, "old");
    memory_free(kept);
    memory_free(text);
    file_delete(mine);
    memory_free(mine);
    end(&f);
}

#define SHEET(select)                                                                                                  \
    "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:output method='text'/>"       \
    "<xsl:template match='/'><xsl:variable name='all' select='//Data'/><xsl:value-of select=\"" select                 \
    "\"/></xsl:template></xsl:stylesheet>"

/* Creates a page with a user's style sheet and this `stop` callback. Sets `text` to the page, or to NULL if this
   fails. */
static HRESULT make_by(struct fixture *f, const char *sheet, bool (*stop)(void *context), void *context, char **text)
{
    char *folder = path_folder(f->output), *mine = path_join(folder, "mine.xsl");
    size_t size;
    *text = NULL;
    assert_int_equal(file_store(mine, sheet, strlen(sheet)), S_OK);
    const HRESULT hr = try_make(f, (struct page_make){.sheet = mine, .stop = stop, .context = context});
    if (SUCCEEDED(hr))
        assert_int_equal(file_load(f->output, MOST_PAGE, text, &size), S_OK);
    file_delete(mine);
    memory_free(mine);
    memory_free(folder);
    return hr;
}

struct stopping {
    unsigned asked, most; /* 0: never */
};
static bool stop_after(void *context)
{
    struct stopping *s = context;
    return ++s->asked > s->most && s->most;
}

/* If each pair of 100,000 nodes was compared, this would take minutes. */
static void test_lists_in_sheets_are_compared_by_hashing(void **state)
{
    struct fixture f;
    char *text;
    struct stopping stopping = {0};
    begin(state, &f);
    text_buffer_add(&f.xml, "<Section name='s'><Table name='t'>");
    for (int i = 0; i < 42000; i++)
        text_buffer_format(&f.xml, "<Item><Data name='a'>row %d</Data><Data name='b'>cell %d</Data></Item>", i, i);
    text_buffer_add(&f.xml, "</Table></Section></Report>");
    assert_int_equal(
        make_by(&f, SHEET("concat(//Data[@name='a'] = //Data[@name='b'], count(//Item | //Item), $all = $all)"), NULL,
                NULL, &text),
        S_OK);
    assert_string_equal(text, "false42000true");
    memory_free(text);
    /* The user can stop a step that compares pairs. The test stops it soon after the report was read. */
    assert_int_equal(make_by(&f, SHEET("1"), stop_after, &stopping, &text), S_OK);
    memory_free(text);
    stopping = (struct stopping){.most = stopping.asked + 5000};
    assert_int_equal(file_store(f.output, "old", 3), S_OK);
    assert_int_equal(make_by(&f, SHEET("count(//Data/..)"), stop_after, &stopping, &text),
                     HRESULT_FROM_WIN32(ERROR_CANCELLED));
    text = scratch_read(f.output);
    assert_string_equal(text, "old");
    memory_free(text);
    /* The length of a list is limited. */
    assert_int_equal(make_by(&f, SHEET("count(//Item/following-sibling::Item)"), NULL, NULL, &text),
                     OPENPLA_E_MALFORMED_XML);
    end(&f);
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

static void test_stopping_keeps_the_old_page(void **state)
{
    struct fixture f;
    begin(state, &f);
    text_buffer_add(&f.xml, "<Section name='s'><Table name='t'><Item><Data name='a'>1</Data></Item></Table></Section>"
                            "</Report>");
    assert_int_equal(file_store(f.output, "old", 3), S_OK);
    assert_int_equal(try_make(&f, (struct page_make){.stop = stop_at_once}), HRESULT_FROM_WIN32(ERROR_CANCELLED));
    char *text = scratch_read(f.output);
    assert_string_equal(text, "old");
    memory_free(text);
    end(&f);
}

/* ---- parts of a page ---- */

static void test_numbers_keep_their_significant_digits(void **state)
{
    static const struct {
        const char *text, *mask, *wanted;
        bool grouped;
    } cases[] = {
        {"1234567.85", "#,##0.0", "1,234,567.9", false},
        {"-0.04", "#,##0.0", "0.0", false},
        {"-7", "0;(0)", "(7)", false},
        {"0.5", "0.0 %", "50.0 %", false},
        {"1234567", NULL, "1234567", false},
        {"1234567", NULL, "1,234,567", true},
        {"0.00012345", NULL, "0.000123", false},
        {"123456789012345678901", "", "123456789012345678901", false},
        {"12x", NULL, "12x", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text_buffer b = {0};
        page_number_add(&b, cases[i].text, cases[i].mask, cases[i].grouped);
        assert_string_equal(b.text, cases[i].wanted);
        text_buffer_free(&b);
    }
    assert_true(page_is_number("-0.5"));
    assert_false(page_is_number("1e5"));
    assert_false(page_is_number("-"));
    assert_false(page_is_number(""));
}

static void test_a_text_is_cut_between_characters(void **state)
{
    struct text_buffer b = {0};
    (void)state;
    page_text(&b, "ab\xE4\xB8\xAD\xE6\x96\x87", 6, false);
    assert_string_equal(b.text, "ab\xE4\xB8\xAD\xE2\x80\xA6");
    text_buffer_free(&b);
    page_attribute(&b, "a", "", 10);
    assert_int_equal(b.length, 0);
    page_attribute(&b, "a", "<\"&", 10);
    assert_string_equal(b.text, " a=\"&lt;&quot;&amp;\"");
    text_buffer_free(&b);
}

/* If a chart contained "22.1 k" MBytes, its reader would have to calculate that these are 21.6 GB. */
static void test_values_have_the_unit_that_the_counter_means(void **state)
{
    static const struct {
        const char *name;
        double value;
        const char *wanted;
    } cases[] = {
        {"Available MBytes", 22100, "21.58 GB"},       {"Private Bytes (a)", 512, "512 B"},
        {"Disk Bytes/sec (0 C:)", 5e6, "4.768 MB/s"},  {"Avg. Disk sec/Read (0 C:)", 0.0125, "12.5 ms"},
        {"Average Wait Time (ms) (x)", 1500, "1.5 s"}, {"% Processor Time (_Total)", 99.5, "99.5 %"},
        {"% Processor Time (_Total)", 0.00001, "0 %"}, {"Context Switches/sec", 12345.6, "12,346"},
        {"Context Switches/sec", 1234567, "1.235 M"},  {"Threads (bytes)", 7, "7"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text_buffer b = {0};
        const struct page_unit unit = page_unit_of(cases[i].name);
        const struct page_scale scale = page_unit_scale(&unit, cases[i].value);
        page_scale_add(&b, &scale, cases[i].value, 4);
        assert_string_equal(b.text, cases[i].wanted);
        text_buffer_free(&b);
    }
}

static void test_a_chart_has_bands_and_round_times(void **state)
{
    struct chart_layout c = {0};
    struct text_buffer b = {0};
    (void)state;
    assert_int_equal(chart_layout_begin(&c, "c", "2026-01-02T23:50:17.000+01:00", "3600"), S_OK);
    const struct chart_source sources[] = {{"Threads (a)", "1:2:3 - 4:5:9", true, 0, 1800},
                                           {"Threads (b)", "3 3:1:2 x 1:2:3:4 5", false, 0, 0}};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(chart_layout_series(&c, &sources[i], false), S_OK);
    chart_layout_add(&b, &c, 1, "t");
    assert_non_null(strstr(b.text, "<Time x=\"162\">01-03</Time>"));
    assert_non_null(strstr(b.text, "<Time x=\"329\">00:10</Time>"));
    assert_non_null(strstr(
        b.text, "name=\"a\" least=\"1\" greatest=\"9\" last=\"5\" path=\"M0 192h0M1000 120h0\" band=\"M0 168v48zM1000 "
                "24v120z\"/>"));
    assert_non_null(strstr(b.text, "path=\"M100 168h0M900 120h0\"/>"));
    text_buffer_free(&b);
    chart_layout_free(&c);
}

static int setup(void **state)
{
    *state = scratch_create("page");
    return *state ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_always_shown_as_text),
        cmocka_unit_test(test_references_to_files_are_rejected),
        cmocka_unit_test(test_a_page_of_a_large_report_is_limited_and_states_its_omissions),
        cmocka_unit_test(test_a_sorted_column_has_bars),
        cmocka_unit_test(test_endless_style_sheet_is_stopped),
        cmocka_unit_test(test_lists_in_sheets_are_compared_by_hashing),
        cmocka_unit_test(test_stopping_keeps_the_old_page),
        cmocka_unit_test(test_numbers_keep_their_significant_digits),
        cmocka_unit_test(test_a_text_is_cut_between_characters),
        cmocka_unit_test(test_values_have_the_unit_that_the_counter_means),
        cmocka_unit_test(test_a_chart_has_bands_and_round_times),
    };
    return cmocka_run_group_tests(tests, setup, scratch_end);
}
