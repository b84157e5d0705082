/* SPDX-License-Identifier: MIT */
/* Any bytes as a report document: no crash, each begin call has its end call, and the document equals itself. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/report/report_compare.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool right)
{
    if (!right)
        abort();
}

static HRESULT on_section(void *about, const struct report_section *section)
{
    (void)section;
    ++*(int *)about;
    return S_OK;
}

static HRESULT on_section_end(void *about)
{
    --*(int *)about;
    return S_OK;
}

static HRESULT on_table(void *about, const struct report_table *table)
{
    must(table->name && table->section && (table->depth > 0) == (table->outer != NULL));
    ++*(int *)about;
    return S_OK;
}

static HRESULT on_row(void *about, const struct report_table *table, const struct report_row *row)
{
    must(table->depth < REPORT_MAX_TABLES && row->cell_count <= REPORT_MAX_COLUMNS);
    for (size_t i = 0; i < row->cell_count; i++)
        must(report_find(row->cells, row->cell_count, row->cells[i].name, i) == &row->cells[i]);
    ++*(int *)about;
    return S_OK;
}

static HRESULT on_end(void *about, const struct report_table *table)
{
    (void)table;
    must(--*(int *)about >= 0);
    return S_OK;
}

/* Bytes below 32 select pieces of documents; other bytes are copied. */
static char *build_document(const uint8_t *data, size_t size, size_t *length)
{
    static const char *const pieces[] = {"<Section name='s'>",
                                         "</Section>",
                                         "<Table name='t'>",
                                         "<Table name='u' source='q'>",
                                         "</Table>",
                                         "<Header>",
                                         "</Header>",
                                         "<Header><Data name='a' key='1'/><Data name='b'/></Header>",
                                         "<Item>",
                                         "</Item>",
                                         "<Item><Data name='a'>1</Data><Data name='b'>2</Data>",
                                         "<Data name='a'>",
                                         "<Data name='b' type='T'>",
                                         "<Data name='c' volatile='1' key='1'/>",
                                         "</Data>",
                                         "<Footer>",
                                         "</Footer>",
                                         "<StringTable>",
                                         "<String ID='i'>",
                                         "</String>",
                                         "&lt;&#65;",
                                         "<![CDATA[",
                                         "]]>",
                                         "<!--",
                                         "-->",
                                         "<x>",
                                         "</x>",
                                         "\xC3\xA4",
                                         "&e;",
                                         "<?p ",
                                         "?>",
                                         "</Report>"};
    struct text_buffer b = {0};
    text_buffer_add(&b, "<Report name='r'>");
    for (size_t i = 0; i < size; i++)
        if (data[i] < sizeof pieces / sizeof *pieces)
            text_buffer_add(&b, pieces[data[i]]);
        else
            text_buffer_add_n(&b, (const char *)&data[i], 1);
    *length = b.length;
    char *text = text_buffer_take(&b);
    must(text);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct report_handlers handlers = {.section_begin = on_section,
                                                    .section_end = on_section_end,
                                                    .table_begin = on_table,
                                                    .table_end = on_end,
                                                    .row = on_row,
                                                    .row_end = on_end};
    static char path[64];
    struct texts warnings = {0};
    struct file *file = NULL;
    struct report_compared compared;
    int open = 0;
    if (!size)
        return 0;
    if (!path[0])
        snprintf(path, sizeof path, "fuzz_report.%u.tmp", (unsigned)process_own_id());
    size_t length = size - 1;
    char *text =
        data[0] & 1 ? build_document(data + 1, size - 1, &length) : text_copy_n((const char *)data + 1, length);
    must(text && file_open(path, FILE_REPLACE, &file) == S_OK && file_write(file, text, length) == S_OK);
    file_close(file);
    memory_free(text);
    HRESULT hr = report_read(path, &handlers, &open, &warnings);
    must(FAILED(hr) || open == 0);
    const struct report_compare how = {.volatile_too = data[0] & 2};
    must(report_compare(path, path, &how, &compared) == hr);
    must(!compared.came && !compared.went && !compared.changed && !compared.tables_came && !compared.tables_went);
    report_compared_free(&compared);
    texts_free(&warnings);
    (void)file_delete(path);
    return 0;
}
