/* SPDX-License-Identifier: MIT */
/* Writes performance logs as comma-separated or tab-separated text in PDH's format.

   The header row has "(PDH-CSV 4.0) (zone)(bias)", with the bias at the start of the run, and one cell per counter
   path. Each sample is a row: the local time with the bias at that time, MM/DD/YYYY hh:mm:ss.mmm in every locale, and
   the numbers as "%.20g". Every cell is quoted, and rows end with CR LF. PDH does not define the following details; we
   decided:
   - A missing value is written as a space, " ". An infinity or a NaN is also written as a space, because readers of
     these files do not accept infinities and NaNs as numbers.
   - A quotation mark in a name is doubled. A control character in a name becomes a space, so that a row remains one
     line.
   - Names are in the ANSI code page (text_ansi.h); characters that it lacks become '?'.
   - log_options.append continues a file that has the same columns, even if a crash truncated the file. The new rows use
     the time zone of the file's header. Collector sets do not use log_options.append, because MS-PLA ignores LogAppend
     for text.
   - log_options.comment is not stored.
   text_append writes each row to the file immediately, with one write, so flush only removes the rest of a failed
   write. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/core/log_formats.h"
#include "engine/logs/log.h"
#include "engine/logs/number_text.h"
#include "engine/logs/text_rows.h"

#include <math.h>
#include <string.h>

/* ---- continuing a log: the end of the last whole row ---- */

struct text_end {
    bool exists;          /* the file exists */
    uint64_t whole;       /* offset after the last complete row; 0: no complete header, so the file is restarted */
    bool cut;             /* an incomplete row follows the last complete one */
    const char *missing;  /* the line end that the last complete row lacks: "", "\n", "\r\n" */
    struct log_zone zone; /* time zone of the header, without its name */
};

static HRESULT not_a_log(const char *path)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "cannot append to '%s': not a PDH text log", path);
}

/* Returns whether both header rows have the same cells after the first one. */
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
        return error_set(
            E_INVALIDARG,
            "cannot append to '%s': the counters of the log, or their order, differ from the counters to append", path);
    }
    out->zone.known = theirs.has_zone;
    out->zone.bias_minutes = theirs.bias_minutes;
    return S_OK;
}

/* Returns whether every cell is quoted and each counter has a cell. */
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

/* Finds the position at which to continue an existing text log. A crash may have truncated the log at any position.
   `header` is the header row for the new samples, with CR LF. A missing file is not a failure. E_INVALIDARG: the
   counters of the file differ from those in `header`, or another program saved the file in another form.
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA): the file is not a text log. */
static HRESULT text_append_find_end(const char *path, const char *header, size_t length, size_t counters,
                                    struct text_end *out)
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
                    /* The row's length does not include a CR that was written before the crash. */
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

/* ---- writing ---- */

enum { TIME_CELL = 28, VALUE_CELL = NUMBER_TEXT_SIZE + 3 /* separator and quotes */ };

struct text_log {
    struct log_writer base;
    struct file *file;
    char *row;     /* room for the longest row */
    uint64_t size; /* bytes of complete rows; the file can only be longer while `torn` is set */
    uint64_t max_bytes;
    size_t counters;
    struct clock_zone zone;
    bool torn; /* the remains of a failed write could not be removed yet */
    char separator;
};

static void free_log(struct text_log *log)
{
    file_close(log->file);
    memory_free(log->row);
    memory_free(log);
}

/* Removes the bytes that a failed write left after the last complete row. */
static HRESULT cut_torn_row(struct text_log *log)
{
    if (log->torn) {
        HRESULT hr = file_set_size(log->file, log->size);
        if (FAILED(hr))
            return hr;
        log->torn = false;
    }
    return S_OK;
}

static HRESULT write_row(struct text_log *log, const char *row, size_t length)
{
    HRESULT hr = cut_torn_row(log);
    if (FAILED(hr))
        return hr;
    hr = file_write_at(log->file, log->size, row, length);
    if (FAILED(hr)) {
        log->torn = true;
        (void)cut_torn_row(log); /* if this fails, the next row, flush or close tries again */
        return hr;
    }
    log->size += length;
    return S_OK;
}

static void add_name(struct text_buffer *b, const char *name)
{
    for (const char *c = name ? name : ""; *c; c++)
        if (*c == '"')
            text_buffer_add(b, "\"\"");
        else
            text_buffer_add_n(b, (unsigned char)*c < ' ' ? " " : c, 1);
}

/* Returns the time zone's name for the header, from memory_alloc; NULL: out of memory. */
static char *zone_name(const struct log_zone *zone, int bias)
{
    if (zone->known && zone->name)
        return text_copy(zone->name);
    if (zone->known && bias != clock_bias_minutes(clock_utc())) {
        const int minutes = bias < 0 ? -bias : bias; /* not the time zone of the host OS, so its name is unknown */
        return text_format("UTC%c%02d:%02d", bias > 0 ? '-' : '+', minutes / 60, minutes % 60);
    }
    return clock_zone_name();
}

static HRESULT header_row(const struct log_format_traits *format, const struct log_counter *counters, size_t count,
                          int64_t start_utc, const struct log_zone *in, char **row, size_t *length)
{
    struct text_buffer b = {0};
    const int bias = in->known ? in->bias_minutes : clock_bias_minutes(start_utc);
    char *zone = zone_name(in, bias);
    if (!zone)
        return error_set(E_OUTOFMEMORY, "out of memory for the header of a log with %zu counters", count);
    text_buffer_format(&b, "\"(PDH-%s 4.0) (", format->name);
    add_name(&b, zone);
    text_buffer_format(&b, ")(%d)\"", bias);
    memory_free(zone);
    for (size_t i = 0; i < count; i++) {
        char *path = log_counter_path(&counters[i]);
        b.failed |= !path;
        text_buffer_add_n(&b, &format->separator, 1);
        text_buffer_add(&b, "\"");
        add_name(&b, path);
        text_buffer_add(&b, "\"");
        memory_free(path);
    }
    text_buffer_add(&b, "\r\n");
    char *text = text_buffer_take(&b);
    if (!text)
        return error_set(E_OUTOFMEMORY, "out of memory for the header of a log with %zu counters", count);
    HRESULT hr = text_to_ansi(text, row, length);
    memory_free(text);
    return hr;
}

static struct text_log *new_log(size_t counters)
{
    struct text_log *log = memory_zero(1, sizeof *log);
    if (!log)
        return NULL;
    log->counters = counters;
    log->row = counters < SIZE_MAX / VALUE_CELL - TIME_CELL ? memory_alloc(TIME_CELL + counters * VALUE_CELL) : NULL;
    if (!log->row) {
        free_log(log);
        return NULL;
    }
    return log;
}

static HRESULT start_file(struct text_log *log, const char *path, const struct log_options *options, bool over,
                          const char *header, size_t length)
{
    bool fresh;
    HRESULT hr = log_file_begin(path, options, over, &log->file, &fresh);
    if (FAILED(hr))
        return hr;
    hr = log_file_empty(log->file);
    if (SUCCEEDED(hr))
        hr = write_row(log, header, length);
    if (FAILED(hr)) {
        file_close(log->file);
        log->file = NULL;
        if (fresh)
            (void)log_file_delete(path, options);
    }
    return hr;
}

/* Returns the time zone that log_options.zone selects. */
static struct clock_zone zone_of(const struct log_zone *zone)
{
    return (struct clock_zone){.fixed = zone->known,
                               .offset = zone->known ? zone->bias_minutes * -(60 * INT64_C(10000000)) : 0};
}

static HRESULT continue_file(struct text_log *log, const char *path, const struct log_options *options,
                             const struct text_end *end)
{
    log->size = end->whole;
    log->torn = end->cut;
    if (end->zone.known)
        log->zone = zone_of(&end->zone);
    HRESULT hr = log_file_continue(path, options, &log->file);
    if (SUCCEEDED(hr))
        hr = write_row(log, end->missing, strlen(end->missing)); /* also removes the incomplete row */
    return hr;
}

static HRESULT text_create(const struct log_format_traits *format, const char *path, const struct log_counter *counters,
                           size_t count, int64_t start_utc, const struct log_options *options, struct log_writer **out)
{
    char *header = NULL;
    size_t length = 0;
    HRESULT hr = log_refuse_wildcards(path, counters, count);
    if (SUCCEEDED(hr))
        hr = header_row(format, counters, count, start_utc, &options->zone, &header, &length);
    if (FAILED(hr))
        return hr;
    struct text_log *log = new_log(count);
    if (!log) {
        hr = error_set(E_OUTOFMEMORY, "cannot create '%s': out of memory for rows of %zu counters", path, count);
        memory_free(header);
        return hr;
    }
    log->base.functions = &log_text_functions;
    log->separator = format->separator;
    log->max_bytes = options->max_bytes;
    log->zone = zone_of(&options->zone);
    struct text_end end = {0};
    hr = options->append ? text_append_find_end(path, header, length, count, &end) : S_OK;
    if (SUCCEEDED(hr))
        hr = end.whole > 0 ? continue_file(log, path, options, &end)
                           : start_file(log, path, options, end.exists || options->replace, header, length);
    memory_free(header);
    if (FAILED(hr)) {
        free_log(log);
        return hr;
    }
    *out = &log->base;
    return S_OK;
}

static char *put_digits(char *at, int value, int width)
{
    for (int i = width; i-- > 0; value /= 10)
        at[i] = (char)('0' + value % 10);
    return at + width;
}

/* Writes "MM/DD/YYYY hh:mm:ss.mmm" in quotes. */
static char *put_time_cell(char *at, int64_t local)
{
    const struct calendar_time t = clock_calendar(local);
    *at++ = '"';
    at = put_digits(at, t.month, 2);
    *at++ = '/';
    at = put_digits(at, t.day, 2);
    *at++ = '/';
    at = put_digits(at, t.year, 4);
    *at++ = ' ';
    at = put_digits(at, t.hour, 2);
    *at++ = ':';
    at = put_digits(at, t.minute, 2);
    *at++ = ':';
    at = put_digits(at, t.second, 2);
    *at++ = '.';
    at = put_digits(at, t.millisecond, 3);
    *at++ = '"';
    return at;
}

static HRESULT text_append(struct log_writer *w, int64_t utc, const struct log_cell *cells)
{
    struct text_log *log = (struct text_log *)w;
    char *at = put_time_cell(log->row, clock_local(&log->zone, utc));
    for (size_t i = 0; i < log->counters; i++) {
        *at++ = log->separator;
        *at++ = '"';
        if (cells[i].has_value && isfinite(cells[i].value))
            at += number_text(cells[i].value, at);
        else
            *at++ = ' ';
        *at++ = '"';
    }
    *at++ = '\r';
    *at++ = '\n';
    size_t length = (size_t)(at - log->row);
    if (log->max_bytes != 0 && log->size + length > log->max_bytes)
        return S_FALSE;
    return write_row(log, log->row, length);
}

static HRESULT text_flush(struct log_writer *w)
{
    return cut_torn_row((struct text_log *)w);
}

static uint64_t text_size(const struct log_writer *w)
{
    return ((const struct text_log *)w)->size;
}

static HRESULT text_close(struct log_writer *w)
{
    struct text_log *log = (struct text_log *)w;
    HRESULT hr = cut_torn_row(log);
    free_log(log);
    return hr;
}

const struct log_format_functions log_text_functions = {
    .create = text_create, .append = text_append, .flush = text_flush, .size = text_size, .close = text_close};
