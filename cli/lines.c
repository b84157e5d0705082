/* SPDX-License-Identifier: MIT */
/* Reads lists out of files. */
#include "cli/lines.h"

#include "engine/base/memory.h"
#include "engine/base/text_ansi.h"
#include "engine/logs/text_rows.h"

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
