/* SPDX-License-Identifier: MIT */
/* The face of the log writers and readers: picks the format's functions and calls them. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/core/log_formats.h"
#include "engine/logs/pdh_types.h"

#include <stdarg.h>
#include <stdio.h>

static const struct log_format_traits traits[] = {
#define LOG_FORMAT(format, writer, ...) {format, __VA_ARGS__},
#include "engine/logs/log_formats.def"
#undef LOG_FORMAT
};
static const struct log_format_functions *const writers[] = {
#define LOG_FORMAT(format, writer, ...) &log_##writer##_functions,
#include "engine/logs/log_formats.def"
#undef LOG_FORMAT
};
enum { FORMATS = sizeof traits / sizeof *traits };

const struct log_format_traits *log_format_traits(enum log_format format)
{
    return (size_t)format < FORMATS ? &traits[format] : NULL;
}

const struct log_format_traits *log_format_by_type(uint32_t pdh_type)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (traits[i].pdh_type == pdh_type)
            return &traits[i];
    return NULL;
}

const struct log_format_traits *log_format_by_word(const char *word)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (text_equal_nocase(traits[i].word, word))
            return &traits[i];
    return NULL;
}

HRESULT log_writer_create(enum log_format format, const char *path, const struct log_counter *counters, size_t count,
                          int64_t start_utc, const struct log_options *options, struct log_writer **out)
{
    static const struct log_options none = {0};
    if ((size_t)format >= FORMATS) {
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "%s: log file format %d cannot be written", path,
                         (int)format);
    }
    return writers[format]->create(&traits[format], path, counters, count, start_utc, options ? options : &none, out);
}

HRESULT log_writer_append(struct log_writer *w, int64_t utc, const struct log_cell *cells)
{
    return w->functions->append(w, utc, cells);
}

HRESULT log_writer_flush(struct log_writer *w)
{
    return w->functions->flush(w);
}

uint64_t log_writer_size(const struct log_writer *w)
{
    return w->functions->size(w);
}

HRESULT log_writer_remark(struct log_writer *w, char **text)
{
    *text = NULL;
    return w->functions->remark ? w->functions->remark(w, text) : S_FALSE;
}

HRESULT log_writer_close(struct log_writer *w)
{
    return !w ? S_OK : w->functions->close(w);
}

/* In the order they are asked in. */
static const struct log_reader_functions *const readers[] = {&log_sql_reader, &log_text_reader, &log_binary_reader,
                                                             NULL};

static HRESULT read_head(const char *path, uint8_t *head, size_t *size)
{
    struct file *file;
    HRESULT hr = file_open(path, FILE_READ, &file);
    if (SUCCEEDED(hr)) {
        hr = file_read_at(file, 0, head, LOG_HEAD_BYTES, size);
        file_close(file);
    }
    return hr;
}

bool log_is_head(const uint8_t *head, size_t size)
{
    for (size_t i = 0; readers[i]; i++)
        if (readers[i]->recognises("", head, size))
            return true;
    return false;
}

HRESULT log_reader_open(const char *path, struct log_reader **out)
{
    uint8_t head[LOG_HEAD_BYTES];
    size_t size = 0;
    for (size_t i = 0; readers[i]; i++)
        if (readers[i]->recognises(path, NULL, 0))
            return readers[i]->open(path, out);
    HRESULT hr = read_head(path, head, &size);
    for (size_t i = 0; SUCCEEDED(hr) && readers[i]; i++)
        if (readers[i]->recognises(path, head, size))
            return readers[i]->open(path, out);
    return FAILED(hr)
               ? hr
               : error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                           "%s: is no performance log: neither CSV or TSV with a PDH header nor a binary log", path);
}

const struct log_info *log_reader_info(const struct log_reader *r)
{
    return &r->info;
}

const struct log_counter *log_reader_counters(const struct log_reader *r, size_t *count)
{
    *count = r->counters.count;
    return r->counters.items;
}

HRESULT log_reader_next(struct log_reader *r, int64_t *utc, const struct log_cell **cells)
{
    return r->functions->next(r, utc, cells);
}

HRESULT log_reader_seek(struct log_reader *r, int64_t utc)
{
    return r->functions->seek(r, utc);
}

void log_reader_progress(const struct log_reader *r, uint64_t *done, uint64_t *total)
{
    r->functions->progress(r, done, total);
}

const struct texts *log_reader_remarks(const struct log_reader *r)
{
    return &r->remarks;
}

void log_reader_remark(struct log_reader *r, const char *format, ...)
{
    char text[512];
    va_list list;
    if (r->remarks.count >= LOG_MAX_REMARKS)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    (void)texts_add(&r->remarks,
                    r->remarks.count + 1 < LOG_MAX_REMARKS ? text : "there is more damage than is listed here");
}

void log_reader_free_base(struct log_reader *r)
{
    memory_free((void *)r->info.zone.name);
    memory_free((void *)r->info.machine);
    memory_free((void *)r->info.comment);
    log_counters_free(&r->counters);
    texts_free(&r->remarks);
}

void log_reader_close(struct log_reader *r)
{
    if (r)
        r->functions->close(r);
}
