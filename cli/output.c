/* SPDX-License-Identifier: MIT */
/* Writes the output files of verbs, and displays strings and logs. */
#include "cli/output.h"

#include "cli/cli.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#include <stdio.h>
#include <string.h>

/* Returns true for a device or a pipe. */
static bool is_device(const char *path)
{
    struct file *f;
    if (path_is_device_name(path_name(path)))
        return true;
    const HRESULT hr = file_open_source(path, &f);
    file_close(f);
    return hr == HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
}

static bool is_link(const char *path)
{
    struct ownership about;
    return file_ownership(path, &about) == S_OK && about.is_link;
}

/* Returns the path of the temporary file for an output. */
static char *partial_path(const char *path)
{
    return text_format("%s.partial", path);
}

/* Returns true for devices, pipes and links. Such files are written directly, because renaming a temporary file to the
   name of such a file would replace it. */
static bool is_written_in_place(const char *path)
{
    return is_device(path) || is_link(path);
}

HRESULT output_check_input(const char *path, const char *input)
{
    if (file_is_same(input, path))
        return error_set(E_INVALIDARG, "cannot write '%s': it is an input file", path);
    char *partial = partial_path(path);
    const bool replaced = partial && file_is_same(input, partial) && !is_written_in_place(path);
    memory_free(partial);
    if (!partial)
        return error_set(E_OUTOFMEMORY, "cannot write '%s': out of memory", path);
    return replaced
               ? error_set(E_INVALIDARG, "cannot write '%s': this would overwrite the input file '%s'", path, input)
               : S_OK;
}

/* Creates the temporary file. If another process is writing the same output, it has the file open, so this call
   fails. */
static HRESULT partial_create(const char *path, const char *partial, bool copied)
{
    enum { BLOCK = 1 << 18 };
    struct file *from = NULL, *to = NULL;
    char *block = copied ? memory_alloc(BLOCK) : NULL;
    uint64_t at = 0;
    HRESULT hr = block || !copied ? file_open(partial, FILE_REPLACE, &to) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && copied)
        hr = file_open(path, FILE_READ, &from);
    for (size_t got = BLOCK; SUCCEEDED(hr) && copied && got == BLOCK; at += got) {
        hr = file_read_at(from, at, block, BLOCK, &got);
        if (SUCCEEDED(hr) && got)
            hr = file_write(to, block, got);
    }
    file_close(from);
    file_close(to);
    memory_free(block);
    if (FAILED(hr) && to) {
        const struct error_kept why = error_keep(hr);
        (void)file_delete(partial);
        return error_restore(&why);
    }
    return hr;
}

HRESULT output_begin(struct output *o, const char *path, enum output_over over)
{
    *o = (struct output){.path = path};
    if (folder_exists(path))
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "cannot write '%s': it is a folder", path);
    const bool there = !is_device(path) && file_exists(path);
    if (there && over == OUTPUT_ASK && !cli_may_overwrite(path))
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "'%s' already exists (use -y to overwrite)", path);
    if (is_written_in_place(path))
        return S_OK;
    char *partial = partial_path(path);
    HRESULT hr = partial ? partial_create(path, partial, there && over == OUTPUT_CONTINUE) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND))
            hr = error_set(HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND), "cannot write '%s': the folder does not exist",
                           path);
        else if (partial)
            hr = file_failed_as(hr, partial, path);
        memory_free(partial);
        return hr;
    }
    o->partial = partial;
    return S_OK;
}

const char *output_path(const struct output *o)
{
    return o->partial ? o->partial : o->path;
}

HRESULT output_failed(const struct output *o, HRESULT hr)
{
    return FAILED(hr) && o->partial ? file_failed_as(hr, o->partial, o->path) : hr;
}

HRESULT output_finish(struct output *o)
{
    const HRESULT hr = o->partial ? file_rename(o->partial, o->path) : S_OK;
    if (FAILED(hr))
        return output_failed(o, hr);
    memory_free(o->partial);
    o->partial = NULL;
    return S_OK;
}

void output_close(struct output *o)
{
    if (o->partial)
        (void)file_delete(o->partial);
    memory_free(o->partial);
    *o = (struct output){0};
}

/* Returns true for C0, DEL, C1, and the characters that change or embed writing directions. */
static bool is_hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069);
}

void add_shown(struct text_buffer *b, const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *const end = at + strlen(text), *plain = at;
    while (at < end) {
        const unsigned char *const begin = at;
        const uint32_t c = unicode_next(&at, end, NULL);
        if (!is_hidden(c))
            continue;
        text_buffer_add_n(b, (const char *)plain, (size_t)(begin - plain));
        plain = at;
        if (c == '\n' || c == '\r' || c == '\t')
            text_buffer_add(b, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        else
            text_buffer_format(b, "\\u%04x", (unsigned)c);
    }
    text_buffer_add_n(b, (const char *)plain, (size_t)(end - plain));
}

size_t shown_width(const char *shown)
{
    size_t width = 0;
    for (; *shown; shown++)
        width += ((unsigned char)*shown & 0xC0) != 0x80;
    return width;
}

int shown_room(const char *shown, size_t width)
{
    const size_t own = shown_width(shown);
    return own < width ? (int)(width - own) : 0;
}

void print_shown(const char *text)
{
    struct text_buffer b = {0};
    add_shown(&b, text);
    fputs(b.text && !b.failed ? b.text : "", stdout);
    text_buffer_free(&b);
}

const char *format_name(const struct log_reader *reader)
{
    return log_format_traits(log_reader_info(reader)->format)->name;
}

char *format_time(int64_t utc, const struct log_zone *zone)
{
    const struct calendar_time t = clock_calendar(utc - zone->bias_minutes * (60 * INT64_C(10000000)));
    return text_format("%d/%d/%d %d:%02d:%02d", t.month, t.day, t.year, t.hour, t.minute, t.second);
}

char *format_iso_time(int64_t utc)
{
    const struct calendar_time t = clock_calendar(utc);
    return text_format("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.year, t.month, t.day, t.hour, t.minute, t.second,
                       t.millisecond);
}
