/* SPDX-License-Identifier: MIT */
/* Reads comma-separated and tab-separated performance logs: those of Windows, OpenPLA, typeperf and other tools, and
   logs that a spreadsheet program has saved.

   The reader accepts the following variants:
   - ANSI, UTF-8 with or without a byte order mark, and UTF-16
   - lines that end with CR LF or LF
   - cells with and without quotes, separated by commas, semicolons, tabs or bars
   - a decimal comma, if the separator is not a comma
   - the date formats of text_time_read (text_rows.h)
   - a header cell that ends inside the time zone's name, or has no time zone
   - blank lines, a spreadsheet's "sep=;", and the lines that typeperf prints at its end

   The reader interprets these variants as follows:
   - In a file without a byte order mark, a header row that is valid UTF-8 is read as UTF-8. Any other header row is
     read as text in the ANSI code page.
   - All times are in the header cell's time zone. If the header cell has no time zone, times are in the host OS's time
     zone, with the bias of that zone at the first sample.
   - Dates with slashes begin with the month, unless the file has a date for which that is impossible. If the first date
     has the exact form that Windows writes, only this date is checked.
   - A row is a sample if it has a time and a cell for every counter, and ends with a line end or a closing quote. Other
     rows are skipped with a warning. The reader stops at a header row that differs from the first one. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/core/log_formats.h"
#include "engine/logs/number_text.h"
#include "engine/logs/pdh_types.h"
#include "engine/logs/text_rows.h"

#include <string.h>

#define TICKS_PER_MINUTE (60 * INT64_C(10000000))
enum { PDH_TIME_LENGTH = 23, SHOWN = 40 };

struct text_reader {
    struct log_reader base;
    struct text_rows rows;
    char *path;
    char *header; /* the header row's original bytes, to recognise a repeated header */
    size_t header_length;
    uint64_t data_offset, data_number; /* offset and line number of the row after the header */
    uint64_t remarked; /* offset after the last row that was read; rows before it cause no second warning */
    char separator;
    enum text_time_order order;
    int64_t from; /* earlier samples are skipped */
    bool other_log;
    struct log_cell *cells;
};

static HRESULT invalid_data(const char *path, const char *what)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%s: %s", path, what);
}

static void close_text(struct log_reader *r)
{
    struct text_reader *t = (struct text_reader *)r;
    text_rows_close(&t->rows);
    log_reader_free_base(r);
    memory_free(t->path);
    memory_free(t->header);
    memory_free(t->cells);
    memory_free(t);
}

/* Returns whether a line before the header is allowed: an empty line, or a spreadsheet's "sep=" line. */
static bool is_preamble(const char *text, size_t length)
{
    return length == 0 || (length == 5 && memcmp(text, "sep=", 4) == 0);
}

/* Copies the beginning of a file as ASCII, without the byte order mark, preamble lines, and the zero bytes of
   UTF-16. */
static size_t plain_beginning(const uint8_t *head, size_t size, char *out, size_t room)
{
    enum text_encoding encoding;
    size_t at = text_encoding_of(head, size, &encoding), length = 0;
    const size_t step = encoding == ENCODING_UTF16_LE || encoding == ENCODING_UTF16_BE ? 2 : 1;
    at += encoding == ENCODING_UTF16_BE;
    for (; at < size && length < room; at += step) {
        if (head[at] == '\n') {
            length -= length > 0 && out[length - 1] == '\r';
            if (!is_preamble(out, length))
                break;
            length = 0;
        } else {
            out[length++] = (char)head[at];
        }
    }
    return length;
}

static bool recognises_text(const char *path, const uint8_t *head, size_t size)
{
    char text[LOG_HEAD_BYTES];
    struct text_header header;
    (void)path;
    if (!head)
        return false;
    const size_t length = plain_beginning(head, size, text, sizeof text);
    return text_header_read(text, length, &header) || (size < LOG_HEAD_BYTES && text_header_is_begun(text, length));
}

/* Returns the row in UTF-8, from memory_alloc. */
static HRESULT header_text(const struct text_reader *t, const struct text_row *row, char **out)
{
    if (memchr(row->text, '\0', row->length))
        return invalid_data(t->path, "the header row contains a zero byte");
    if (t->rows.encoding == ENCODING_BYTES && !text_is_utf8(row->text, row->length))
        return text_from_ansi(row->text, row->length, true, out);
    *out = text_copy_n(row->text, row->length);
    if (!*out)
        return error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory for its header", t->path);
    if (text_is_utf8(*out, row->length))
        return S_OK;
    WCHAR *wide; /* converted to UTF-16 and back, so that malformed bytes become U+FFFD */
    size_t units;
    HRESULT hr = text_to_utf16(*out, &wide, &units);
    memory_free(*out);
    *out = NULL;
    if (SUCCEEDED(hr)) {
        hr = text_from_utf16(wide, units, true, out);
        memory_free(wide);
    }
    return hr;
}

/* Returns a cell's text with doubled quotes reduced to one, from memory_alloc. */
static char *cell_text(const char *cell, size_t length, bool doubled)
{
    char *text = text_copy_n(cell, length);
    if (text && doubled) {
        char *to = text;
        for (const char *from = text; *from; from++) {
            from += from[0] == '"' && from[1] == '"';
            *to++ = *from;
        }
        *to = '\0';
    }
    return text;
}

static HRESULT read_names(struct text_reader *t, const char *names, const char *end)
{
    struct text_cell cell;
    HRESULT hr = S_OK;
    while (SUCCEEDED(hr) && text_cell_next(&names, end, t->separator, &cell)) {
        if (cell.length == 0 && !cell.quoted && !names)
            break; /* the row ends with a separator */
        if (!cell.closed)
            return invalid_data(t->path, "the last name of the header row has no closing quote");
        char *name = cell_text(cell.text, cell.length, cell.doubled);
        hr = name ? log_counters_add_path(&t->base.counters, name)
                  : error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory for the names of its counters", t->path);
        memory_free(name);
    }
    return hr;
}

static HRESULT use_header(struct text_reader *t, const char *text)
{
    struct text_header header;
    const char *end = text + strlen(text);
    if (!text_header_read(text, (size_t)(end - text), &header))
        return invalid_data(t->path, "not a performance log (its first row is not a PDH header)");
    struct log_info *info = &t->base.info;
    *info = (struct log_info){.format = header.tabs ? LOG_TSV : LOG_CSV, .has_values = true};
    t->separator = header.separator;
    if (header.has_zone) {
        info->zone.known = true;
        info->zone.bias_minutes = header.bias_minutes;
        info->zone.name = cell_text(header.zone, header.zone_length, text[0] == '"');
        if (!info->zone.name)
            return error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory for its time zone", t->path);
    }
    HRESULT hr = header.names ? read_names(t, header.names, end) : S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < t->base.counters.count && !info->machine; i++) {
        const char *machine = t->base.counters.items[i].machine;
        info->machine = machine ? text_copy(machine) : NULL;
        if (machine && !info->machine)
            hr = error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory for its computer name", t->path);
    }
    return hr;
}

static HRESULT read_header(struct text_reader *t)
{
    struct text_row row;
    HRESULT hr;
    do {
        hr = text_rows_next(&t->rows, &row);
    } while (hr == S_OK && is_preamble(row.text, row.length));
    if (FAILED(hr))
        return error_prefix(hr, "%s", t->path);
    if (hr == S_FALSE)
        return invalid_data(t->path, "is empty");
    if (!row.whole) {
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                         "cannot open '%s': the file ends inside its header row at byte %llu and has no sample",
                         t->path, (unsigned long long)row.end);
    }
    t->header = text_copy_n(row.text, row.length);
    t->header_length = row.length;
    if (!t->header)
        return error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory for its header", t->path);
    char *text = NULL;
    hr = header_text(t, &row, &text);
    if (text) {
        hr = use_header(t, text);
        memory_free(text);
    }
    t->data_offset = row.end;
    t->data_number = row.number + 1;
    return hr;
}

/* Reads ahead to determine what the header does not specify: the time zone, and the order of day and month in dates
   with slashes. */
static HRESULT look_ahead(struct text_reader *t)
{
    struct text_row row;
    int64_t local;
    bool first = true, more = true;
    HRESULT hr;
    while (more && (hr = text_rows_next(&t->rows, &row)) == S_OK) {
        const char *at = row.text;
        struct text_cell cell;
        text_cell_next(&at, row.text + row.length, t->separator, &cell);
        const bool month_first = text_time_read(cell.text, cell.length, TIME_MONTH_FIRST, &local);
        if (!month_first && text_time_read(cell.text, cell.length, TIME_DAY_FIRST, &local)) {
            t->order = TIME_DAY_FIRST;
            more = first; /* the time zone is not determined yet */
        }
        if (first && (month_first || t->order == TIME_DAY_FIRST)) {
            first = false;
            more = more && (cell.length != PDH_TIME_LENGTH || cell.text[PDH_TIME_LENGTH - 4] != '.');
            if (!t->base.info.zone.known)
                t->base.info.zone.bias_minutes = clock_bias_minutes(local);
        }
    }
    text_rows_rewind(&t->rows, t->data_offset, t->data_number);
    return more && FAILED(hr) ? error_prefix(hr, "%s", t->path) : S_OK;
}

static HRESULT open_text(const char *path, struct log_reader **out)
{
    struct text_reader *t = memory_zero(1, sizeof *t);
    if (!t)
        return error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory", path);
    t->base.functions = &log_text_reader;
    t->from = INT64_MIN;
    t->path = text_copy(path);
    HRESULT hr =
        t->path ? text_rows_open(path, &t->rows) : error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory", path);
    if (SUCCEEDED(hr))
        hr = read_header(t);
    if (SUCCEEDED(hr))
        hr = look_ahead(t);
    if (SUCCEEDED(hr)) {
        t->cells = memory_zero(t->base.counters.count + 1, sizeof *t->cells);
        hr = t->cells ? S_OK
                      : error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory for samples of %zu counters", path,
                                  t->base.counters.count);
    }
    if (FAILED(hr)) {
        close_text(&t->base);
        return hr;
    }
    *out = &t->base;
    return S_OK;
}

/* Returns the beginning of a text for a warning, with control and non-ASCII characters replaced. */
static const char *printable_start(const char *text, size_t length, char out[SHOWN + 4])
{
    size_t i = 0;
    for (; i < length && i < SHOWN; i++)
        out[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    memcpy(out + i, i < length ? "..." : "\0\0\0", 4);
    return out;
}

#define REMARK(t, row, ...)                                                                                            \
    do {                                                                                                               \
        if ((row)->end > (t)->remarked)                                                                                \
            log_reader_warn(&(t)->base, __VA_ARGS__);                                                                  \
    } while (0)
#define PLACE         "line %llu at byte %llu"
#define PLACE_OF(row) (unsigned long long)(row)->number, (unsigned long long)(row)->offset

static void missing_value(struct log_cell *cell)
{
    *cell = (struct log_cell){.raw = {.status = PDH_CSTATUS_INVALID_DATA, .first = 0, .second = 0, .multi_count = 1}};
}

static bool is_blank(const char *at, const char *end)
{
    while (at < end && *at == ' ')
        at++;
    return at == end;
}

/* The other members of a cell are always zero. */
static void set_value(struct log_cell *cell, double value)
{
    cell->raw.status = PDH_CSTATUS_VALID_DATA;
    cell->raw.multi_count = 1;
    cell->has_value = true;
    cell->value = value;
    memcpy(&cell->raw.first, &value, sizeof value);
}

/* Reads a cell that contains only a number, as nearly all cells do, in one pass. False: the cell has another form; *at
   is then unchanged. */
static bool read_plain_value(const char **at, const char *end, char separator, struct text_cell *text,
                             struct log_cell *cell)
{
    double value;
    const bool quoted = *at && *at < end && **at == '"';
    const char *behind = *at ? number_read(*at + quoted, end, '.', &value) : NULL;
    if (!behind || (quoted && (behind == end || *behind++ != '"')) || (behind < end && *behind != separator))
        return false;
    text->quoted = quoted;
    text->closed = true;
    *at = behind < end ? behind + 1 : NULL;
    set_value(cell, value);
    return true;
}

static void read_value(struct text_reader *t, const struct text_row *row, size_t column, const struct text_cell *text,
                       struct log_cell *cell)
{
    const char *at = text->text, *end = at + text->length;
    char beginning[SHOWN + 4];
    double value;
    while (at < end && *at == ' ')
        at++;
    if (at == end) {
        missing_value(cell);
        return;
    }
    const char *behind = number_read(at, end, '.', &value);
    if (t->separator != ',' && (!behind || (behind < end && *behind == ',')))
        behind = number_read(at, end, ',', &value);
    if (!behind || !is_blank(behind, end)) {
        missing_value(cell);
        REMARK(t, row, PLACE ": '%s' in column %zu is not a number", PLACE_OF(row),
               printable_start(text->text, text->length, beginning), column + 1);
        return;
    }
    set_value(cell, value);
}

/* Reads the values after the time. `cell` is the cell of the time. False: the row is not a complete sample. */
static bool read_values(struct text_reader *t, const struct text_row *row, struct text_cell cell, const char *at)
{
    const char *end = row->text + row->length;
    const size_t count = t->base.counters.count;
    size_t column = 0, surplus = 0;
    while (column < count) {
        if (!read_plain_value(&at, end, t->separator, &cell, &t->cells[column])) {
            if (!text_cell_next(&at, end, t->separator, &cell))
                break;
            if (cell.closed)
                read_value(t, row, column, &cell, &t->cells[column]);
        }
        column++;
    }
    const bool last_is_whole = row->whole ? cell.closed : cell.closed && cell.quoted;
    if (column < count || !last_is_whole) {
        REMARK(t, row,
               row->whole ? PLACE ": the row has %zu values, but the header has %zu counters"
                          : PLACE ": the row is truncated after %zu of its %zu values",
               PLACE_OF(row), column - (column > 0 && !last_is_whole), count);
        return false;
    }
    while (text_cell_next(&at, end, t->separator, &cell))
        surplus += cell.length > 0;
    if (surplus > 0) {
        REMARK(t, row, PLACE ": the row has %zu more values than the header has counters", PLACE_OF(row), surplus);
        return false;
    }
    return true;
}

/* Returns whether the line is blank or one that typeperf prints after its rows. */
static bool is_farewell(const char *text, size_t length)
{
    static const char *const words[] = {"Exiting, please wait...", "The command completed successfully."};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (length >= strlen(words[i]) && memcmp(text, words[i], strlen(words[i])) == 0)
            return true;
    return length == 0;
}

/* Handles a row without a time: a repeated header, the header of another log, or a row that is skipped. */
static void skip_row(struct text_reader *t, const struct text_row *row)
{
    struct text_header header;
    char beginning[SHOWN + 4];
    if (row->length == t->header_length && memcmp(row->text, t->header, row->length) == 0)
        return; /* the same header again, as in concatenated logs */
    if (text_header_read(row->text, row->length, &header)) {
        t->other_log = true;
        REMARK(t, row, PLACE ": another log with other counters or another time zone begins here; that log is not read",
               PLACE_OF(row));
    } else if (!is_farewell(row->text, row->length)) {
        REMARK(t, row,
               row->whole ? PLACE ": skipped a row: '%s' is not a time"
                          : PLACE ": the row is truncated inside its time '%s'",
               PLACE_OF(row), printable_start(row->text, row->length, beginning));
    }
}

static HRESULT next_text(struct log_reader *r, int64_t *utc, const struct log_cell **cells)
{
    struct text_reader *t = (struct text_reader *)r;
    struct text_row row;
    while (!t->other_log) {
        HRESULT hr = text_rows_next(&t->rows, &row);
        if (hr != S_OK)
            return FAILED(hr) ? error_prefix(hr, "%s", t->path) : hr;
        const char *at = row.text;
        struct text_cell cell;
        int64_t local, sample = 0;
        bool is_sample = false;
        text_cell_next(&at, row.text + row.length, t->separator, &cell);
        if (!text_time_read(cell.text, cell.length, t->order, &local) || !cell.closed) {
            skip_row(t, &row);
        } else {
            sample = local + r->info.zone.bias_minutes * TICKS_PER_MINUTE;
            is_sample = sample >= t->from && read_values(t, &row, cell, at);
        }
        t->remarked = row.end > t->remarked ? row.end : t->remarked;
        if (is_sample) {
            t->from = INT64_MIN;
            *utc = sample;
            *cells = t->cells;
            return S_OK;
        }
    }
    return S_FALSE;
}

static HRESULT seek_text(struct log_reader *r, int64_t utc)
{
    struct text_reader *t = (struct text_reader *)r;
    text_rows_rewind(&t->rows, t->data_offset, t->data_number);
    t->from = utc;
    t->other_log = false;
    return S_OK;
}

static void progress_text(const struct log_reader *r, uint64_t *done, uint64_t *total)
{
    const struct text_reader *t = (const struct text_reader *)r;
    *done = t->rows.offset;
    *total = t->rows.size > *done ? t->rows.size : *done;
}

const struct log_reader_functions log_text_reader = {.recognises = recognises_text,
                                                     .open = open_text,
                                                     .next = next_text,
                                                     .seek = seek_text,
                                                     .progress = progress_text,
                                                     .close = close_text};
