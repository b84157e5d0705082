/* SPDX-License-Identifier: MIT */
/* Writes alert logs. */
#include "engine/logs/alert_log.h"

#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"

#include <stdio.h>
#include <string.h>

#define MARK "\xEF\xBB\xBF"

struct alert_log {
    char *path, *base;
    struct text_buffer waiting; /* queued complete rows */
    char *header;
    uint64_t written, dropped;
    bool empty_first; /* the next write empties the file first */
};

void alert_number(double number, char out[ALERT_NUMBER_SIZE])
{
    snprintf(out, ALERT_NUMBER_SIZE, "%.15g", number);
}

void alert_time(int64_t utc, char out[ALERT_TIME_SIZE])
{
    const struct calendar_time t = clock_calendar(clock_utc_to_local(utc));
    snprintf(out, ALERT_TIME_SIZE, "%02u/%02u/%04u %02u:%02u:%02u.%03u", (unsigned)t.month % 100, (unsigned)t.day % 100,
             (unsigned)t.year % 10000, (unsigned)t.hour % 100, (unsigned)t.minute % 100, (unsigned)t.second % 100,
             (unsigned)t.millisecond % 1000);
}

static void add_cell(struct text_buffer *b, const char *text, char end)
{
    text_buffer_add(b, "\"");
    for (const char *c = text; *c; c++)
        if (*c == '"')
            text_buffer_add(b, "\"\"");
        else
            text_buffer_add_n(b, (unsigned char)*c < ' ' ? " " : c, 1);
    text_buffer_add(b, end == ',' ? "\"," : "\"\r\n");
}

static void add_row(struct text_buffer *b, const char *const *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_cell(b, cells[i], i + 1 < count ? ',' : '\n');
}

static char *make_header(void)
{
    static const char *const columns[] = {ALERT_LOG_COLUMNS};
    struct text_buffer b = {0};
    text_buffer_add(&b, MARK);
    add_row(&b, columns, sizeof columns / sizeof columns[0]);
    return text_buffer_take(&b);
}

HRESULT alert_log_create(const char *path, const char *base, bool replace, struct alert_log **out)
{
    struct alert_log *log = memory_zero(1, sizeof *log);
    *out = NULL;
    if (!log)
        return E_OUTOFMEMORY;
    *log = (struct alert_log){
        .path = text_copy(path), .base = text_copy(base), .header = make_header(), .empty_first = replace};
    *out = log;
    if (log->path && log->base && log->header)
        return S_OK;
    (void)alert_log_close(log);
    *out = NULL;
    return E_OUTOFMEMORY;
}

HRESULT alert_log_add(struct alert_log *log, const struct alert_row *row)
{
    char time[ALERT_TIME_SIZE];
    const char comparison[] = {row->comparison, 0};
    const char *const cells[] = {time, row->counter, row->value, comparison, row->threshold, row->kind, row->message};
    struct text_buffer b = {0};
    alert_time(row->utc, time);
    add_row(&b, cells, sizeof cells / sizeof cells[0]);
    bool room = !b.failed && log->waiting.length + b.length <= ALERT_LOG_ROOM;
    if (room)
        text_buffer_add_n(&log->waiting, b.text, b.length);
    bool failed = b.failed || log->waiting.failed;
    if (log->waiting.failed) { /* memory ran out; the rows that are already queued are complete, so they are kept */
        log->waiting.failed = false;
        room = false;
    }
    log->dropped += !room;
    text_buffer_free(&b);
    return failed ? E_OUTOFMEMORY : S_OK;
}

/* Checks whether rows can be appended to the file; *torn: its last line has no line end. */
static HRESULT alert_log_inspect_file(const struct alert_log *log, struct file *file, uint64_t size, bool *torn)
{
    char head[128], last = '\n';
    size_t length = strlen(log->header), got = 0;
    *torn = false;
    if (!size)
        return S_OK;
    HRESULT hr = file_read_at(file, 0, head, length < sizeof head ? length : sizeof head, &got);
    /* A file with a truncated header, left by a crash or a full disk, is an alert log too. */
    if (SUCCEEDED(hr) && (got > length || memcmp(head, log->header, got) != 0 || (got < length && got != size)))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                       "cannot create the alert log '%s': the file already exists and is not an alert log", log->path);
    if (SUCCEEDED(hr) && got == length)
        hr = file_read_at(file, size - 1, &last, 1, &got);
    *torn = SUCCEEDED(hr) && last != '\n';
    return hr;
}

static HRESULT write_to(struct alert_log *log, struct file *file)
{
    struct text_buffer b = {0};
    uint64_t size = 0;
    bool torn = false;
    HRESULT hr = file_size(file, &size);
    if (SUCCEEDED(hr))
        hr = alert_log_inspect_file(log, file, size, &torn);
    if (SUCCEEDED(hr) && size && (log->empty_first || size < strlen(log->header))) {
        hr = file_set_size(file, 0);
        size = 0;
        torn = false;
    }
    if (FAILED(hr))
        return hr;
    log->empty_first = false;
    text_buffer_add(&b, torn ? "\r\n" : size ? "" : log->header);
    text_buffer_add_n(&b, log->waiting.text ? log->waiting.text : "", log->waiting.length);
    if (b.failed)
        hr = E_OUTOFMEMORY;
    else if (b.length)
        hr = file_write_at(file, size, b.text, b.length);
    if (SUCCEEDED(hr)) {
        log->written += b.length;
        text_buffer_free(&log->waiting);
    } else {
        struct error_kept why = error_keep(hr);
        (void)file_set_size(file, size); /* if an incomplete row remains, the next write terminates it */
        error_restore(&why);
    }
    text_buffer_free(&b);
    return hr;
}

HRESULT alert_log_write(struct alert_log *log)
{
    struct file *file;
    HRESULT hr = file_open_below(log->base, log->path, FILE_APPEND, &file);
    if (FAILED(hr))
        return hr;
    hr = write_to(log, file);
    file_close(file);
    return hr;
}

void alert_log_restart(struct alert_log *log)
{
    log->empty_first = true;
    log->written = 0;
}

uint64_t alert_log_written(const struct alert_log *log)
{
    return log->written;
}

uint64_t alert_log_dropped(const struct alert_log *log)
{
    return log->dropped;
}

HRESULT alert_log_close(struct alert_log *log)
{
    if (!log)
        return S_OK;
    HRESULT hr = log->waiting.length ? alert_log_write(log) : S_OK;
    text_buffer_free(&log->waiting);
    memory_free(log->header);
    memory_free(log->path);
    memory_free(log->base);
    memory_free(log);
    return hr;
}
