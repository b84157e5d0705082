/* SPDX-License-Identifier: MIT */
/* Reads the input files that command lines name: lists of lines, and definitions of sets. */
#include "cli/cli.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/quotas.h"
#include "engine/base/text.h"
#include "engine/logs/text_rows.h"

#include <string.h>

static HRESULT add_line(const struct text_row *row, enum text_encoding encoding, struct texts *out)
{
    const char *begin = row->text, *end = row->text + row->length;
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (begin == end || *begin == ';' || *begin == '#')
        return S_OK;
    if (end - begin >= 2 && *begin == '"' && end[-1] == '"') {
        begin++;
        end--;
    }
    char *text = NULL;
    HRESULT hr;
    if (encoding == ENCODING_BYTES && !text_is_utf8(begin, (size_t)(end - begin))) {
        hr = text_from_ansi(begin, (size_t)(end - begin), true, &text);
    } else {
        text = text_copy_n(begin, (size_t)(end - begin));
        hr = text ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = texts_add(out, text);
    memory_free(text);
    return hr;
}

HRESULT lines_read(const char *path, struct texts *out)
{
    struct text_rows rows;
    struct text_row row;
    HRESULT hr = text_rows_open(path, &rows);
    if (FAILED(hr))
        return hr;
    while ((hr = text_rows_next(&rows, &row)) == S_OK) {
        hr = add_line(&row, rows.encoding, out);
        if (FAILED(hr))
            break;
    }
    text_rows_close(&rows);
    return FAILED(hr) ? error_prefix(hr, "%s", path) : S_OK;
}

HRESULT template_load(const char *path, char **xml, size_t *size)
{
    static const char mark8[] = "\xEF\xBB\xBF", mark16[] = "\xFF\xFE";
    char *bytes;
    HRESULT hr = file_load(path, QUOTA_NUMBER_xml_bytes, &bytes, size);
    *xml = NULL;
    if (FAILED(hr))
        return hr;
    if (*size >= 2 && memcmp(bytes, mark16, 2) == 0) {
        hr = text_from_utf16((const WCHAR *)(const void *)(bytes + 2), (*size - 2) / sizeof(WCHAR), false, xml);
        *size = SUCCEEDED(hr) ? strlen(*xml) : 0;
        memory_free(bytes);
        return hr;
    }
    if (*size >= 3 && memcmp(bytes, mark8, 3) == 0)
        memmove(bytes, bytes + 3, *size -= 3);
    *xml = bytes;
    return S_OK;
}
