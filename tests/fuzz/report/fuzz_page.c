/* SPDX-License-Identifier: MIT */
/* Any bytes as a report, and as a style sheet: no crash, a page within its size limit or none, and no other file
   remains. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/report/page.h"
#include "engine/report/page/page_parts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool right)
{
    if (!right)
        abort();
}

/* Bytes below 32 select pieces; other bytes are copied. */
static char *made(const char *const pieces[32], const char *before, const char *behind, const uint8_t *data,
                  size_t size)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, before);
    for (size_t i = 0; i < size; i++)
        if (data[i] < 32)
            text_buffer_add(&b, pieces[data[i]]);
        else
            text_buffer_add_n(&b, (const char *)&data[i], 1);
    text_buffer_add(&b, behind);
    char *text = text_buffer_take(&b);
    must(text);
    return text;
}

static void try_report(const uint8_t *data, size_t size, bool picture)
{
    static const char *const pieces[32] = {
        "<Section name='s'>",
        "</Section>",
        "<Section name='advice'>",
        "<Section name='howMade' note='n'>",
        "<Table name='t' threshold='1'>",
        "<Table name='warning' tag='q'>",
        "</Table>",
        "<Header><Data name='a'/><Data name='b' align='left' visible='0'/></Header>",
        "<Header><Data name='a' format='#,##0.0' sort='primary' units='%'/></Header>",
        "<Header><Data name='mean' format='0.00%;(#)'/></Header>",
        "<Item>",
        "</Item>",
        "<Footer>",
        "</Footer>",
        "<Data name='a'>12.5</Data>",
        "<Data name='a' img='Red' link='q' tag='r&#10;q&#10;' units='u'>",
        "<Data name='mean'>-",
        "<Data name='symptom' img='warning' link='q' limit='3'>",
        "</Data>",
        "<Item tag='q'><Data name='counter'>z</Data><Data name='instance'>0</Data></Item>",
        "<Chart name='c' start='2026-01-02T03:04:05.000Z' duration='",
        "<Chart name='t' start='x' duration='3' watch='1' limit='3 -1e9 x'>",
        "</Chart>",
        "'>",
        "<Series name='z (0)' first='-5' step='1e3'>",
        "1:2:3 - 3 1e30 -5:5 ",
        "</Series>",
        "999999999999999999999.5",
        "<StringTable><String ID='a'>",
        "</String></StringTable>",
        "&lt;!--&quot;",
        "\xE2\x80\xAE"};
    static char report[64], page[64];
    struct texts notes = {0};
    if (!report[0]) {
        snprintf(report, sizeof report, "fuzz_page.%u.tmp", (unsigned)process_own_id());
        snprintf(page, sizeof page, "fuzz_page.%u.out", (unsigned)process_own_id());
    }
    char *text = made(pieces, "<Report name='r'>", "</Report>", data, size), *written = NULL;
    size_t length = 0;
    must(file_store(report, text, strlen(text)) == S_OK);
    memory_free(text);
    const HRESULT hr = page_make(&(struct page_make){.report = report, .output = page, .picture = picture}, &notes);
    must(SUCCEEDED(hr) == file_exists(page));
    if (SUCCEEDED(hr)) {
        must(file_load(page, PAGE_MOST_BYTES, &written, &length) == S_OK && text_is_utf8(written, length));
        must(strstr(written, picture ? "</svg>" : "</html>"));
        must(!strstr(written, "\xE2\x80\xAE"));
        (void)file_delete(page);
    }
    memory_free(written);
    texts_free(&notes);
    (void)file_delete(report);
}

static void try_sheet(const uint8_t *data, size_t size)
{
    static const char *const pieces[32] = {"<xsl:template match='/'>",
                                           "<xsl:template match='*'>",
                                           "<xsl:template name='t'>",
                                           "</xsl:template>",
                                           "<xsl:apply-templates/>",
                                           "<xsl:apply-templates select='//*'/>",
                                           "<xsl:call-template name='t'/>",
                                           "<xsl:for-each select='",
                                           "'>",
                                           "</xsl:for-each>",
                                           "<xsl:value-of select='",
                                           "'/>",
                                           "<xsl:copy-of select='document(\"/etc/hostname\")'/>",
                                           "<xsl:document href='fuzz_page.written'>",
                                           "</xsl:document>",
                                           "<xsl:import href='/etc/hostname'/>",
                                           "<xsl:key name='k' match='*' use='@name'/>",
                                           "key(\"k\", .)",
                                           "<xsl:sort select='@name' order='descending'/>",
                                           "<xsl:number/>",
                                           "<xsl:output method='html'/>",
                                           "<xsl:output method='text' encoding='UTF-16'/>",
                                           "<xsl:variable name='v' select='/'/>",
                                           "$v",
                                           "<xsl:message terminate='yes'>x</xsl:message>",
                                           "<xsl:attribute name='{.}'/>",
                                           "<xsl:element name='e'>",
                                           "</xsl:element>",
                                           "format-number(1e9, \"#,##0.0\")",
                                           "generate-id()",
                                           "concat(., \"x\")",
                                           "//*[position() < last()]"};
    static const char document[] = "<Report name='r'><Section name='s'><Table name='t'/></Section></Report>";
    char *text = made(pieces, "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>",
                      "</xsl:stylesheet>", data, size),
         *out = NULL;
    size_t length;
    const HRESULT hr = page_transform(&(struct page_part){"sheet", text, strlen(text)},
                                      &(struct page_part){"report", document, sizeof document - 1},
                                      &(struct page_make){.sheet = "sheet"}, &out, &length);
    must(SUCCEEDED(hr) == (out != NULL) && (!out || length <= PAGE_MOST_OUTPUT));
    must(!file_exists("fuzz_page.written"));
    memory_free(out);
    memory_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size || size > 4096)
        return 0;
    if (data[0] & 1)
        try_sheet(data + 1, size - 1);
    else
        try_report(data + 1, size - 1, data[0] & 2);
    return 0;
}
