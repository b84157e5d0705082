/* SPDX-License-Identifier: MIT */
/* A configuration collector's file is a complete document at any time, with everything that its sources wrote so
   far. */
#include "engine/pla/collect/configuration_source.h"
#include "tests/unit/collect/xml_path.h"
#include "tests/unit/schema_check.h"

static const struct configuration_column columns[] = {
    {"path", COLUMN_KEY}, {"value", COLUMN_PLAIN}, {"when", COLUMN_VOLATILE}};

/* ---- each state of the file ---- */

HRESULT __real_file_write_at(struct file *f, uint64_t offset, const void *data, size_t size);
HRESULT __wrap_file_write_at(struct file *f, uint64_t offset, const void *data, size_t size);

static const char *watched; /* path to check after each page; NULL: no checks */
static uint64_t most_bytes = UINT64_MAX;
static unsigned states, broken;

static void check_state(void)
{
    char *text;
    size_t size;
    assert_int_equal(file_load(watched, 1 << 24, &text, &size), S_OK);
    xmlDocPtr doc = xmlReadMemory(text, (int)size, NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_HUGE);
    states++;
    if (!doc && !broken++)
        print_error("state %u of %u bytes is no document: %.100s ... %.80s\n", states, (unsigned)size, text,
                    size > 80 ? text + size - 80 : text);
    xmlFreeDoc(doc);
    memory_free(text);
}

/* A host process may be killed during a write; then the file has only the first pages of that write. This function
   therefore writes page by page, and checks the file after each page. */
HRESULT __wrap_file_write_at(struct file *f, uint64_t offset, const void *data, size_t size)
{
    HRESULT hr = S_OK;
    for (size_t done = 0; SUCCEEDED(hr) && done < size;) {
        size_t n = WHOLE_DOCUMENT_PAGE - (size_t)((offset + done) % WHOLE_DOCUMENT_PAGE);
        n = n < size - done ? n : size - done;
        hr = offset + done + n > most_bytes ? error_set(HRESULT_FROM_WIN32(ERROR_DISK_FULL), "the disk is full")
                                            : __real_file_write_at(f, offset + done, (const char *)data + done, n);
        done += n;
        if (watched)
            check_state();
    }
    return hr;
}

/* ---- a document ---- */

struct made {
    char *folder, *path;
    struct file *file;
    struct configuration_document *d;
};

static void make(struct made *m)
{
    m->folder = scratch_create("test_configuration_document");
    m->path = path_join(m->folder, "a.xml");
    assert_int_equal(file_open(m->path, FILE_CREATE_NEW, &m->file), S_OK);
    assert_int_equal(configuration_document_begin(m->file, &m->d), S_OK);
}

static void end(struct made *m)
{
    watched = NULL;
    most_bytes = UINT64_MAX;
    file_close(m->file);
    memory_free(m->path);
    scratch_remove(m->folder);
    memory_free(m->folder);
}

static xmlDocPtr read_document(const struct made *m)
{
    xmlDocPtr doc = xml_read(m->path);
    assert_is_report(doc);
    return doc;
}

static HRESULT add_item(struct configuration_document *d, const char *path, const char *value)
{
    configuration_begin_item(d);
    configuration_data(d, "path", NULL, path);
    configuration_data(d, "value", "text", value);
    return configuration_end_item(d);
}

static void begin_table(struct configuration_document *d, const char *name)
{
    configuration_begin_table(d, name, NULL, columns, sizeof columns / sizeof *columns);
}

static void document_contains_all_source_data(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    configuration_fact(m.d, "computer", "A<&>\"B");
    configuration_begin_section(m.d, "files");
    configuration_begin_table(m.d, "files", "C:\\\"*\"\n", columns, 3);
    configuration_begin_item(m.d);
    configuration_data(m.d, "path", NULL,
                       "gr\xC3\xB6\xC3\x9F"
                       "e\x01 \xF0\x9F\x98\x80 \xED\xA0\x80 \r\n]]>");
    configuration_data_bytes(m.d, "value", "REG_BINARY", "\x00\xFF\x1A", 3);
    configuration_data_number(m.d, "when", NULL, UINT64_MAX);
    assert_int_equal(configuration_end_item(m.d), S_OK);
    configuration_begin_item(m.d);
    configuration_data(m.d, "path", NULL, "gone");
    configuration_data_error(m.d, error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "\"gone\": does not exist"));
    assert_int_equal(configuration_end_item(m.d), S_OK);
    configuration_begin_item(m.d);
    configuration_data(m.d, "path", NULL, "outer");
    begin_table(m.d, "inner");
    assert_int_equal(add_item(m.d, "in", "1"), S_OK);
    configuration_end_table(m.d);
    configuration_end_item(m.d);
    configuration_end_table(m.d);
    configuration_end_section(m.d);
    assert_int_equal(configuration_document_end(m.d, true), S_OK);
    xmlDocPtr doc = read_document(&m);
    check_xpath(doc, "/Report/@complete", "1");
    check_xpath(doc, "/Report/Header/Data[@name='computer']", "A<&>\"B");
    check_xpath(doc, "/Report/Section[@name='files']/Table/@source", "C:\\\"*\"\n");
    check_xpath(doc, "//Table[@name='files']/Header/Data[@key='1']/@name", "path");
    check_xpath(doc, "//Table[@name='files']/Header/Data[@volatile='1']/@name", "when");
    check_xpath(doc, "//Table[@name='files']/Item[1]/Data[@name='path']",
                "gr\xC3\xB6\xC3\x9F"
                "e\xEF\xBF\xBD \xF0\x9F\x98\x80 \xEF\xBF\xBD \r\n]]>");
    check_xpath(doc, "//Item[1]/Data[@type='REG_BINARY']", "00FF1A");
    check_xpath(doc, "//Table[@name='files']/Item[1]/Data[@name='when']", "18446744073709551615");
    check_xpath(doc, "//Item[2]/Data[@name='error']", "\"gone\": does not exist");
    check_xpath(doc, "//Item[2]/Data[@name='result']", "0x80070002");
    check_xpath(doc, "count(/Report/Section/Table/Item[2]/Data)", "5"); /* each Item has a Data element for every
                                                                           column */
    check_xpath(doc, "count(/Report/Section/Table/Item[3]/Data)", "5");
    check_xpath(doc, "/Report/Section/Table/Item[3]/Table/Item/Data[@name='path']", "in");
    xmlFreeDoc(doc);
    end(&m);
}

/* Lengths for which the document ends at every position of a page, and multibyte characters that cross the end of a
   page. */
static void file_is_a_document_after_each_page_that_is_written(void **state)
{
    (void)state;
    struct made m;
    char value[20000];
    make(&m);
    watched = m.path;
    states = broken = 0;
    configuration_fact(m.d, "computer", "A");
    configuration_begin_section(m.d, "s");
    begin_table(m.d, "t");
    for (unsigned i = 0; i < 150; i++) {
        size_t n = i % 7 == 6 ? 12000 + i * 31 : i * 37 % 700;
        for (size_t j = 0; j + 2 <= n; j += 2)
            memcpy(value + j, i % 2 ? "\xC3\xB6" : "?>", 2);
        value[n - n % 2] = 0;
        assert_int_equal(add_item(m.d, "p", value), S_OK);
        assert_int_equal(configuration_put_out(m.d), S_OK);
    }
    configuration_end_table(m.d);
    configuration_end_section(m.d);
    assert_int_equal(configuration_document_end(m.d, true), S_OK);
    assert_true(states > 300);
    assert_int_equal(broken, 0);
    xmlDocPtr doc = read_document(&m);
    check_xpath(doc, "count(//Table/Item)", "150");
    check_xpath(doc, "count(//processing-instruction())", "0");
    check_xpath(doc, "string-length((//Item)[7]/Data[@name='value'])", "12186");
    xmlFreeDoc(doc);
    end(&m);
}

static void full_disk_keeps_all_written_items(void **state)
{
    (void)state;
    for (uint64_t most = 300; most < 400000; most += most / 2) {
        struct made m;
        unsigned came = 0;
        char expected[16];
        HRESULT hr = S_OK;
        make(&m);
        most_bytes = most;
        configuration_begin_section(m.d, "s");
        begin_table(m.d, "t");
        for (unsigned i = 0; i < 4000 && SUCCEEDED(hr); i++) {
            hr = add_item(m.d, "path", "a value of some length, so that files grow");
            if (SUCCEEDED(hr))
                hr = configuration_put_out(m.d);
            came += SUCCEEDED(hr);
        }
        assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_DISK_FULL));
        assert_string_equal(error_text(hr), "the disk is full");
        error_set(E_FAIL, "another");
        assert_int_equal(configuration_end_table(m.d), HRESULT_FROM_WIN32(ERROR_DISK_FULL));
        assert_int_equal(configuration_document_end(m.d, true), HRESULT_FROM_WIN32(ERROR_DISK_FULL));
        xmlDocPtr doc = read_document(&m);
        snprintf(expected, sizeof expected, "%u", came);
        check_xpath(doc, "count(//Table/Item)", expected);
        check_xpath(doc, "/Report/@complete", "0");
        xmlFreeDoc(doc);
        end(&m);
    }
}

static HRESULT write_some(struct made *m)
{
    assert_int_equal(file_set_size(m->file, 0), S_OK);
    HRESULT hr = configuration_document_begin(m->file, &m->d);
    if (FAILED(hr))
        return hr;
    configuration_fact(m->d, "computer", "A");
    configuration_begin_section(m->d, "s");
    begin_table(m->d, "t");
    for (unsigned i = 0; i < 40; i++) {
        add_item(m->d, "path", "value");
        configuration_put_out(m->d);
    }
    configuration_end_table(m->d);
    configuration_end_section(m->d);
    return configuration_document_end(m->d, true);
}

static void out_of_memory_leaves_a_document(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    assert_int_equal(configuration_document_end(m.d, false), S_OK);
    HRESULT hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; hr == E_OUTOFMEMORY; n++) {
        assert_true(n < 200);
        memory_fail_at(n);
        hr = write_some(&m);
        memory_fail_at(0);
        uint64_t size;
        assert_int_equal(file_size(m.file, &size), S_OK);
        if (size)
            xmlFreeDoc(read_document(&m));
    }
    assert_int_equal(hr, S_OK);
    end(&m);
}

static void invalid_calls_fail_and_leave_a_document(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct made m;
        make(&m);
        configuration_begin_section(m.d, "s");
        if (i)
            begin_table(m.d, "t");
        if (i == 0)
            configuration_begin_item(m.d);
        if (i == 1)
            configuration_data(m.d, "path", NULL, "outside");
        if (i >= 2)
            configuration_begin_item(m.d);
        if (i == 2)
            configuration_data(m.d, "other", NULL, "no column");
        if (i == 3)
            configuration_end_table(m.d);
        HRESULT hr = configuration_document_end(m.d, true);
        assert_int_equal(hr, E_UNEXPECTED);
        xmlDocPtr doc = read_document(&m);
        check_xpath(doc, "/Report/@complete", "0");
        xmlFreeDoc(doc);
        end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(document_contains_all_source_data),
        cmocka_unit_test(file_is_a_document_after_each_page_that_is_written),
        cmocka_unit_test(full_disk_keeps_all_written_items),
        cmocka_unit_test(out_of_memory_leaves_a_document),
        cmocka_unit_test(invalid_calls_fail_and_leave_a_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
