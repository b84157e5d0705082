/* SPDX-License-Identifier: MIT */
/* Reading report documents. No complete row may be missed, even if the file is truncated, and hostile files must not
   block the reader. */
#include "engine/pla/model.h"
#include "engine/report/report_reader.h"
#include "tests/unit/report/report_text.h"

/* ---- the document's content as text ---- */

struct received {
    struct text_buffer text;
    int open; /* number of elements that have begun but not ended */
};

static HRESULT put_attributes(struct received *t, const struct report_attribute *attributes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_buffer_format(&t->text, " %s:%s", attributes[i].name, attributes[i].value);
    return t->text.failed ? E_OUTOFMEMORY : S_OK;
}

static HRESULT on_begin(void *about, const struct report_attribute *attributes, size_t count)
{
    struct received *t = about;
    text_buffer_add(&t->text, "report");
    HRESULT hr = put_attributes(t, attributes, count);
    text_buffer_add(&t->text, "\n");
    return hr;
}

static HRESULT on_fact(void *about, const struct report_data *fact)
{
    struct received *t = about;
    text_buffer_format(&t->text, "%s=%s\n", fact->name, fact->text);
    return S_OK;
}

static HRESULT on_section(void *about, const struct report_section *section)
{
    struct received *t = about;
    t->open++;
    text_buffer_format(&t->text, "section %s\n", section->name);
    return S_OK;
}

static HRESULT on_chart(void *about, const struct report_data *chart)
{
    struct received *t = about;
    t->open++;
    text_buffer_format(&t->text, "chart %s", chart->name);
    HRESULT hr = put_attributes(t, chart->attributes, chart->attribute_count);
    text_buffer_add(&t->text, "\n");
    return hr;
}

static HRESULT on_series(void *about, const struct report_data *series)
{
    struct received *t = about;
    text_buffer_format(&t->text, "series %s=%s\n", series->name, series->text);
    return S_OK;
}

static HRESULT on_table(void *about, const struct report_table *table)
{
    struct received *t = about;
    t->open++;
    text_buffer_format(&t->text, "%*stable %s/%s", 2 * (int)table->depth, "", table->section, table->name);
    HRESULT hr = put_attributes(t, table->attributes, table->attribute_count);
    for (size_t i = 0; i < table->column_count; i++) {
        text_buffer_format(&t->text, " [%s", table->columns[i].name);
        put_attributes(t, table->columns[i].attributes, table->columns[i].attribute_count);
        text_buffer_add(&t->text, "]");
    }
    text_buffer_add(&t->text, "\n");
    return hr;
}

static HRESULT on_row(void *about, const struct report_table *table, const struct report_row *row)
{
    struct received *t = about;
    t->open++;
    text_buffer_format(&t->text, "%*s%s", 2 * (int)table->depth, "", row->footer ? "footer" : "row");
    for (size_t i = 0; i < row->cell_count; i++) {
        text_buffer_format(&t->text, " %s=%s", row->cells[i].name, row->cells[i].text);
        put_attributes(t, row->cells[i].attributes, row->cells[i].attribute_count);
    }
    text_buffer_add(&t->text, "\n");
    return S_OK;
}

static HRESULT on_end(void *about, const struct report_table *table)
{
    struct received *t = about;
    (void)table;
    t->open--;
    return S_OK;
}

static HRESULT on_section_end(void *about)
{
    return on_end(about, NULL);
}

static HRESULT on_string(void *about, const char *id, const char *text)
{
    struct received *t = about;
    text_buffer_format(&t->text, "string %s=%s\n", id, text);
    return S_OK;
}

static const struct report_handlers handlers = {.begin = on_begin,
                                                .fact = on_fact,
                                                .section_begin = on_section,
                                                .table_begin = on_table,
                                                .row = on_row,
                                                .row_end = on_end,
                                                .table_end = on_end,
                                                .chart_begin = on_chart,
                                                .series = on_series,
                                                .chart_end = on_section_end,
                                                .section_end = on_section_end,
                                                .string = on_string};

/* Reads a file. If this succeeds, each element that has begun must also have ended. */
static HRESULT read_file(const char *path, struct received *t, struct texts *warnings)
{
    *t = (struct received){0};
    *warnings = (struct texts){0};
    HRESULT hr = report_read(path, &handlers, t, warnings);
    assert_true(FAILED(hr) || t->open == 0);
    return hr;
}

static HRESULT read_bytes(void **state, const void *bytes, size_t size, struct received *t, struct texts *warnings)
{
    char *path = report_file(*state, "r.xml", bytes, size);
    HRESULT hr = read_file(path, t, warnings);
    memory_free(path);
    return hr;
}

/* Asserts that the document is complete, has this content, and causes no warning. */
static void assert_document(void **state, const void *bytes, size_t size, const char *wanted)
{
    struct received t;
    struct texts warnings;
    HRESULT hr = read_bytes(state, bytes, size, &t, &warnings);
    if (FAILED(hr))
        print_error("%s\n", error_text(hr));
    assert_int_equal(hr, S_OK);
    assert_string_equal(t.text.text, wanted);
    assert_int_equal(warnings.count, 0);
    text_buffer_free(&t.text);
}

/* ---- documents ---- */

static const char document[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<Report name=\"c\xC3\xB6nfig\" version=\"1\" complete=\"1\"><!-- a > comment -->\n"
    " <Header><Data name=\"computer\">HOST</Data></Header>\n"
    " <Section name=\"registry\"><Table name=\"values\" source=\"HKLM\\X &amp; &lt;Y&#38;\">\n"
    "  <Header><Data name=\"key\" key=\"1\"/><Data name=\"value\"/></Header>\n"
    "  <Item><Data name=\"key\">a</Data><Data name=\"value\" type=\"REG_SZ\"> one &amp;\n<![CDATA[<two>]]> "
    "</Data></Item>\n"
    "  <Item><Data name=\"key\">\xE2\x82\xAC\xF0\x9F\x98\x80</Data><Data name=\"value\"/></Item>\n"
    " </Table><Table name=\"warning\"/></Section>\n"
    " <Section name=\"cpu\"><Table name=\"images\"><Header><Data name=\"image\"/></Header>\n"
    "  <Item><Data name=\"image\">x.exe</Data>\n"
    "   <Table name=\"threads\"><Header><Data name=\"tid\"/></Header><Item><Data name=\"tid\">7</Data></Item></Table>\n"
    "   <Table name=\"none\"/></Item>\n"
    "  <Item><Data name=\"image\">y.exe</Data></Item>\n"
    "  <Footer><Data name=\"image\" summary=\"total\">2</Data></Footer></Table>\n"
    "  <Chart name=\"images\" duration=\"3\"><Series name=\"a &amp; b\">1 2:3 -</Series></Chart></Section>\n"
    " <StringTable><String ID=\"cpu\">CPU</String></StringTable></Report>\n<?rest x?>\n";

static const char said[] = "report name:c\xC3\xB6nfig version:1 complete:1\n"
                           "computer=HOST\n"
                           "section registry\n"
                           "table registry/values source:HKLM\\X & <Y& [key key:1] [value]\n"
                           "row key=a value= one &\n<two>  type:REG_SZ\n"
                           "row key=\xE2\x82\xAC\xF0\x9F\x98\x80 value=\n"
                           "table registry/warning\n"
                           "section cpu\n"
                           "table cpu/images [image]\n"
                           "row image=x.exe\n"
                           "  table cpu/threads [tid]\n"
                           "  row tid=7\n"
                           "  table cpu/none\n"
                           "row image=y.exe\n"
                           "footer image=2 summary:total\n"
                           "chart images duration:3\n"
                           "series a & b=1 2:3 -\n"
                           "string cpu=CPU\n";

static void content_is_read_in_order(void **state)
{
    assert_document(state, document, sizeof document - 1, said);
    assert_document(state, "<Report/>", 9, "report name:\n");
}

/* Editors and other tools save XML in these forms. */
static void every_encoding_that_windows_writes_is_read(void **state)
{
    WCHAR *wide;
    size_t units;
    char *marked = text_format("\xEF\xBB\xBF%s", document);
    assert_document(state, marked, strlen(marked), said);
    char *utf16 = text_format("\xEF\xBB\xBF%s", strstr(document, "?>") + 2);
    assert_int_equal(text_to_utf16(utf16, &wide, &units), S_OK);
    assert_document(state, wide, units * 2, said);
    for (size_t i = 0; i < units; i++)
        wide[i] = (WCHAR)(wide[i] << 8 | wide[i] >> 8);
    assert_document(state, wide, units * 2, said);
    memory_free(wide);
    memory_free(utf16);
    memory_free(marked);
}

/* The string is so long that characters of four bytes are split between two reads. */
static void long_texts_are_complete(void **state)
{
    struct text_buffer cell = {0}, xml = {0}, wanted = {0};
    text_buffer_add(&cell, "x");
    for (int i = 0; i < 150000; i++)
        text_buffer_add(&cell, i % 7 ? "\xF0\x9F\x98\x80" : "\xE2\x82\xAC");
    text_buffer_format(&xml,
                       "<Report name='r'><Section name='s'><Table name='t'><Item><Data name='a'>%s</Data></Item>"
                       "</Table></Section></Report>",
                       cell.text);
    text_buffer_format(&wanted, "report name:r\nsection s\ntable s/t\nrow a=%s\n", cell.text);
    assert_document(state, xml.text, xml.length, wanted.text);
    text_buffer_free(&cell);
    text_buffer_free(&xml);
    text_buffer_free(&wanted);
}

/* If a program is killed, it may leave any part of the file. All complete rows in it must be read, and the truncation
   must be reported. */
static void truncated_file_returns_its_complete_rows(void **state)
{
    size_t root = (size_t)(strstr(document, "<!-- a") - document), rows_before = 0;
    const size_t whole = (size_t)(strstr(document, "</Report>") - document) + strlen("</Report>");
    for (size_t size = 0; size < whole; size++) {
        struct received t;
        struct texts warnings;
        size_t rows = 0;
        HRESULT hr = read_bytes(state, document, size, &t, &warnings);
        assert_int_equal(hr, size < root ? OPENPLA_E_MALFORMED_XML : S_OK);
        if (size >= root) {
            assert_int_equal(warnings.count, 1);
            assert_non_null(strstr(warnings.items[0], "the file ends here"));
            for (const char *at = t.text.text; (at = strstr(at, "row ")); at++)
                rows++;
            assert_true(rows >= rows_before);
            rows_before = rows;
        }
        texts_free(&warnings);
        text_buffer_free(&t.text);
    }
    assert_int_equal(rows_before, 5);
}

/* Rules can write words in bold. If the reader dropped these, a page would show "see  text". */
static void elements_in_a_text_are_text(void **state)
{
    static const char xml[] = "<Report name='r'><Header><Data name='f'>of <b>it</b></Data></Header><Section name='s'>"
                              "<Table name='t'><Item><Data name='a'>see <b>the <Data name='i'>x</Data></b> text</Data>"
                              "<Data name='b'>2<br/></Data></Item></Table></Section></Report>";
    assert_document(state, xml, sizeof xml - 1,
                    "report name:r\nf=of it\nsection s\ntable s/t\nrow a=see the x text b=2\n");
}

#define IN_SECTION(text) "<Report name='r'><Section name='s'>" text "</Section></Report>"
#define IN_TABLE(text)   IN_SECTION("<Table name='t'>" text "</Table>")

/* If a file is corrupt in the middle, the part before is read, and a warning contains the line number. */
static void corruption_is_a_warning(void **state)
{
    static const struct {
        const char *xml, *warning;
    } cases[] = {
        {IN_TABLE("<Item><Data name='a'>1</Data></Item>\n<Item><Data name='a'>2</Date></Item>"),
         "line 2: not well-formed"},
        {IN_TABLE("<Item><Data name='a'>1</Data></Item>\n\n&other;"), "line 3: not well-formed"},
        {IN_TABLE("<Item><Data name='a'>1</Data></Item>\n<Item><Data name='a'>\x01</Data></Item>"),
         "line 2: not well-formed"},
        {IN_TABLE("<Item><Data name='a'>1</Data></Item>\n<Item><Data name='a'>\xC3(</Data></Item>"),
         "line 2: not well-formed"},
        {IN_TABLE("<Item><Data name='a'>1</Data></Item>") "\n<Report/>", "line 2: not well-formed"},
        {IN_TABLE("<Item><Data name='a'>1</Data></Item>\n<Row><Data name='b'>2</Data></Row>"),
         "line 2: skipped an unexpected 'Row' in a Table"},
        {IN_TABLE("<Item><Data name='a'>1</Data>\n<Data name='a'>2</Data></Item>"),
         "line 2: skipped a second Data 'a'"},
        {IN_TABLE("<Item><Data name='a'>1</Data>\nlost</Item>"), "skipped text in a Item"},
        {"<Report name='r' complete='0'><Section name='s'><Table name='t'><Item><Data "
         "name='a'>1</Data></Item></Table></Section></Report>",
         "the collection stopped before it was complete"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct received t;
        struct texts warnings;
        assert_int_equal(read_bytes(state, cases[i].xml, strlen(cases[i].xml), &t, &warnings), S_OK);
        assert_int_equal(warnings.count, 1);
        if (!strstr(warnings.items[0], cases[i].warning))
            fail_msg("\"%s\" instead of \"%s\"", warnings.items[0], cases[i].warning);
        assert_non_null(strstr(t.text.text, "table s/t\nrow a=1\n"));
        assert_null(strstr(t.text.text, "=2"));
        texts_free(&warnings);
        text_buffer_free(&t.text);
    }
}

static void refused(void **state, const char *xml, const char *reason)
{
    struct received t;
    struct texts warnings;
    assert_int_equal(read_bytes(state, xml, strlen(xml), &t, &warnings), OPENPLA_E_MALFORMED_XML);
    const char *text = error_text(OPENPLA_E_MALFORMED_XML);
    if (!strstr(text, reason) || !strstr(text, "r.xml"))
        fail_msg("\"%s\" lacks \"%s\" and the file", text, reason);
    texts_free(&warnings);
    text_buffer_free(&t.text);
}

static void other_documents_are_rejected(void **state)
{
    struct received t;
    struct texts warnings;
    refused(state, "", "the file contains no XML");
    refused(state, "\n", "the file contains no XML");
    refused(state, "(PDH-CSV 4.0)", "line 1");
    refused(state, "<DataCollectorSet/>", "'DataCollectorSet', not 'Report'");
    refused(state, IN_TABLE("<Item><Data name='a'/><Table name='u'/>\n<Data name='b'/></Item>"),
            "line 2: a Data follows a Table in an Item");
    refused(state, IN_TABLE("<Item/>\n<Header/>"), "line 2: a second Header, or a Header after the Items");
    assert_int_equal(read_file("no such file.xml", &t, &warnings), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
}

/* Returns `before`, then `what` with # replaced by 0, 1, ... (`count` times), then `after`. */
static char *repeated(const char *before, const char *what, unsigned count, const char *after)
{
    struct text_buffer b = {0};
    const char *number = strchr(what, '#');
    text_buffer_add(&b, before);
    for (unsigned i = 0; i < count; i++)
        if (number)
            text_buffer_format(&b, "%.*s%u%s", (int)(number - what), what, i, number + 1);
        else
            text_buffer_add(&b, what);
    text_buffer_add(&b, after);
    char *text = text_buffer_take(&b);
    assert_non_null(text);
    return text;
}

static void refused_many(void **state, const char *before, const char *what, unsigned count, const char *reason)
{
    char *xml = repeated(before, what, count, "");
    refused(state, xml, reason);
    memory_free(xml);
}

#define TABLE_BEGIN "<Report name='r'><Section name='s'><Table name='t'>"

/* A hostile file could take hours or use all memory. */
static void hostile_files_are_rejected(void **state)
{
    refused(state, "<!DOCTYPE Report [<!ENTITY a 'x'><!ENTITY b '&a;&a;'>]><Report>&b;</Report>", "document type");
    refused_many(state, "<Report", " a#='x'", 257, "more than 256 attributes");
    refused_many(state, TABLE_BEGIN, "<a#/>", 66000, "more than 65536 different names");
    refused_many(state, "<Report name='r'><Section name='s'>", "<Table name='t'><Item>", 9, "nested deeper than 8");
    refused_many(state, TABLE_BEGIN "<Header>", "<Data name='#'/>", 1025, "more than 1024 Data");
    refused_many(state, TABLE_BEGIN "<Item>", "<Data name='#'/>", 1025, "more than 1024 Data");
    refused_many(state, TABLE_BEGIN "<Item><Data name='a'>",
                 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n", (64 << 20) / 64 + 100,
                 "a row exceeds 64 MB");
    refused_many(state, "<Report name='", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                 (8 << 20) / 64 + 1, "more than 8388608 bytes");
    /* Unknown elements are skipped at any depth. */
    struct received t;
    struct texts warnings;
    char *deep = repeated(TABLE_BEGIN, "<a>", 100000, "");
    assert_int_equal(read_bytes(state, deep, strlen(deep), &t, &warnings), S_OK);
    assert_int_equal(warnings.count, 2);
    assert_non_null(strstr(warnings.items[1], "the file ends here"));
    memory_free(deep);
    texts_free(&warnings);
    text_buffer_free(&t.text);
}

/* A handler can stop the reader; the reader then returns the handler's result. */
static HRESULT enough(void *about, const struct report_table *table, const struct report_row *row)
{
    (void)about, (void)table, (void)row;
    return error_set(E_ABORT, "enough");
}

static void handler_error_ends_the_reading(void **state)
{
    static const struct report_handlers ending = {.row = enough};
    struct texts warnings = {0};
    char *path = report_file(*state, "r.xml", document, sizeof document - 1);
    assert_int_equal(report_read(path, &ending, NULL, &warnings), E_ABORT);
    assert_non_null(strstr(error_text(E_ABORT), "enough"));
    assert_int_equal(warnings.count, 0);
    memory_free(path);
}

/* If any allocation fails, the result must be "out of memory". Without the reader's checks, libxml2 would crash. */
static void memory_may_run_out(void **state)
{
    char *path = report_file(*state, "r.xml", document, sizeof document - 1);
    HRESULT hr = E_OUTOFMEMORY;
    unsigned fail_at = 0;
    while (hr == E_OUTOFMEMORY && ++fail_at < 5000) {
        static const struct report_handlers none;
        struct texts warnings = {0};
        memory_fail_at(fail_at);
        hr = report_read(path, &none, NULL, &warnings);
        memory_fail_at(0);
        texts_free(&warnings);
    }
    assert_int_equal(hr, S_OK);
    assert_true(fail_at > 50);
    memory_free(path);
}

static int set_up(void **state)
{
    *state = scratch_create("test_report_reader");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_is_read_in_order),
        cmocka_unit_test(elements_in_a_text_are_text),
        cmocka_unit_test(every_encoding_that_windows_writes_is_read),
        cmocka_unit_test(long_texts_are_complete),
        cmocka_unit_test(truncated_file_returns_its_complete_rows),
        cmocka_unit_test(corruption_is_a_warning),
        cmocka_unit_test(other_documents_are_rejected),
        cmocka_unit_test(hostile_files_are_rejected),
        cmocka_unit_test(handler_error_ends_the_reading),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_end);
}
