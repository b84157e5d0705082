/* SPDX-License-Identifier: MIT */
/* Finds the end of the last whole row of a text log that our writer or Windows' wrote. */
#include "engine/logs/text/text_append.h"

#include "engine/base/memory.h"
#include "engine/logs/text_cells.h"
#include "engine/logs/text_rows.h"

#include <string.h>

static HRESULT not_a_log(const char *path)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%s: is no text log of PDH to append samples to", path);
}

/* Is everything behind the first cell the same? */
static bool same_columns(const struct text_header *a, const char *a_end, const struct text_header *b, const char *b_end)
{
    if (!a->names || !b->names)
        return a->names == b->names;
    return a->separator == b->separator && a_end - a->names == b_end - b->names &&
           memcmp(a->names, b->names, (size_t)(a_end - a->names)) == 0;
}

static HRESULT check_header(const char *path, const struct text_row *row, enum text_encoding encoding,
                            const char *header, size_t length, struct text_end *out)
{
    struct text_header theirs, ours;
    if (!row->whole &&
        (text_header_is_begun(row->text, row->length) || text_header_read(row->text, row->length, &theirs)))
        return S_FALSE;
    if (!text_header_read(row->text, row->length, &theirs) || !text_header_read(header, length - 2, &ours))
        return not_a_log(path);
    if (encoding != ENCODING_BYTES || theirs.tabs != ours.tabs ||
        !same_columns(&theirs, row->text + row->length, &ours, header + length - 2)) {
        return error_set(E_INVALIDARG,
                         "%s: logs other counters, or has them in another form, than those to be appended", path);
    }
    out->zone.known = theirs.has_zone;
    out->zone.bias_minutes = theirs.bias_minutes;
    return S_OK;
}

/* Every cell quoted, and one for each counter. */
static bool is_whole_row(const struct text_row *row, char separator, size_t counters)
{
    const char *at = row->text, *end = row->text + row->length;
    struct text_cell cell;
    size_t cells = 0;
    while (text_cell_next(&at, end, separator, &cell)) {
        if (!cell.quoted || !cell.closed)
            return false;
        cells++;
    }
    return cells == counters + 1;
}

HRESULT text_append_find_end(const char *path, const char *header, size_t length, size_t counters, struct text_end *out)
{
    struct text_rows rows;
    struct text_row row;
    *out = (struct text_end){.missing = ""};
    HRESULT hr = text_rows_open(path, &rows);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        return S_OK;
    if (FAILED(hr))
        return hr;
    out->exists = true;
    hr = text_rows_next(&rows, &row);
    if (hr == S_OK) {
        hr = check_header(path, &row, rows.encoding, header, length, out);
        const char separator = length > 6 && header[6] == 'T' /* "(PDH-T */ ? '\t' : ',';
        while (hr == S_OK) {
            out->whole = row.whole ? row.end : out->whole;
            hr = text_rows_next(&rows, &row);
            if (hr == S_OK && !row.whole) {
                const bool whole_but_line_end = is_whole_row(&row, separator, counters);
                out->cut = !whole_but_line_end;
                if (whole_but_line_end) {
                    /* The row's length is without a CR that its end may have. */
                    const bool has_cr = row.end > row.offset + row.length;
                    out->missing = has_cr ? "\n" : "\r\n";
                    out->whole = row.end;
                }
            }
        }
    }
    text_rows_close(&rows);
    return FAILED(hr) ? hr : S_OK;
}
