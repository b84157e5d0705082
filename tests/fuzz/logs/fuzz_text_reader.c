/* SPDX-License-Identifier: MIT */
/* Any bytes as a text log: the reader reads to the end and seeks, and the log is copied. A copy of the copy equals the
   copy, and the reader finds no error in the writer's output. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/logs/log.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char paths[3][64];

static void must(bool right)
{
    if (!right)
        abort();
}

/* Copies as relog does. Returns false if `from` is not a log. */
static bool copy(const char *from, const char *to, bool damaged)
{
    struct log_reader *in;
    struct log_writer *out;
    const struct log_cell *cells;
    int64_t utc, first = 0;
    size_t count, samples = 0, again = 0;
    HRESULT hr = log_reader_open(from, &in);
    if (FAILED(hr)) {
        must(damaged && strstr(error_text(hr), from));
        return false;
    }
    const struct log_info *info = log_reader_info(in);
    const struct log_options options = {
        .zone = {.known = true, .bias_minutes = info->zone.bias_minutes, .name = info->zone.name}};
    const struct log_counter *counters = log_reader_counters(in, &count);
    (void)file_delete(to);
    must(log_writer_create(info->format, to, counters, count, 0, &options, &out) == S_OK);
    while ((hr = log_reader_next(in, &utc, &cells)) == S_OK) {
        must(log_writer_append(out, utc, cells) == S_OK);
        first = samples++ == 0 ? utc : first;
    }
    must(hr == S_FALSE && log_writer_close(out) == S_OK);
    must(damaged || log_reader_warnings(in)->count == 0);
    must(log_reader_seek(in, first) == S_OK);
    while (log_reader_next(in, &utc, &cells) == S_OK)
        again++;
    must(again == samples || damaged);
    log_reader_close(in);
    return true;
}

/* Returns whether the names have non-ASCII bytes that are valid UTF-8. The reader then takes them for UTF-8, even if
   they are in a code page. */
static bool is_guessed(const char *header)
{
    const size_t length = strcspn(header, "\n");
    bool ascii = true;
    for (size_t i = 0; i < length; i++)
        ascii = ascii && (unsigned char)header[i] < 0x80;
    return !ascii && text_is_utf8(header, length);
}

/* Samples can be appended to the writer's output even if its end is cut off at any place. */
static void append(const char *path, size_t cut)
{
    struct log_reader *in;
    struct log_writer *out;
    struct file *file = NULL;
    uint64_t size = 0;
    size_t count;
    must(log_reader_open(path, &in) == S_OK);
    const struct log_options options = {.append = true, .zone = {.known = true, .name = "Z"}};
    const struct log_counter *counters = log_reader_counters(in, &count);
    struct log_cell *cells = memory_zero(count + 1, sizeof *cells);
    must(cells && file_open(path, FILE_APPEND, &file) == S_OK && file_size(file, &size) == S_OK);
    must(file_set_size(file, size - (cut < size ? cut : size)) == S_OK);
    file_close(file);
    must(log_writer_create(log_reader_info(in)->format, path, counters, count, 0, &options, &out) == S_OK);
    must(log_writer_append(out, INT64_C(132590000000000000), cells) == S_OK && log_writer_close(out) == S_OK);
    log_reader_close(in);
    memory_free(cells);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *first, *second;
    size_t first_size, second_size;
    if (!paths[0][0])
        for (int i = 0; i < 3; i++)
            snprintf(paths[i], sizeof paths[i], "fuzz_text_reader.%u.%d.tmp", (unsigned)process_own_id(), i);
    struct file *file = NULL;
    must(file_open(paths[0], FILE_REPLACE, &file) == S_OK && file_write(file, data, size) == S_OK);
    file_close(file);
    if (copy(paths[0], paths[1], true)) {
        must(copy(paths[1], paths[2], false));
        must(file_load(paths[1], SIZE_MAX, &first, &first_size) == S_OK);
        must(file_load(paths[2], SIZE_MAX, &second, &second_size) == S_OK);
        must(is_guessed(first) || (first_size == second_size && memcmp(first, second, first_size) == 0));
        memory_free(first);
        memory_free(second);
        append(paths[2], size % 64);
        must(copy(paths[2], paths[1], false));
    }
    for (int i = 0; i < 3; i++)
        (void)file_delete(paths[i]);
    return 0;
}
