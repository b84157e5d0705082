/* SPDX-License-Identifier: MIT */
/* Writes performance logs as Apache Arrow IPC files (format version 1.0, metadata V5), which pandas, polars, DuckDB and
   R read or map without parsing.

       "ARROW1" 0 0
       message: Schema                  the column "time", a column for each counter, and the log's metadata
       message: RecordBatch  body       at most BATCH_BYTES of samples; repeated as needed
       ...
       0xFFFFFFFF 0                     end of the stream
       Footer                           the Schema again, and the position of each RecordBatch
       length of the Footer, "ARROW1"

   A message consists of 0xFFFFFFFF, the length of its flatbuffer, the flatbuffer (flatbuffer.h) and the body. For each
   column, the body has a bitmap of the present values (omitted if no value is missing) and the values, both aligned to
   64 bytes. The numbers of slots and enumerations are those of Arrow's Message.fbs, Schema.fbs and File.fbs.

   Times are nanoseconds since 1970, UTC; a time outside their 64-bit range is null. Values are doubles; a missing value
   is null. Samples are collected by column until a batch is full, so memory use does not depend on the length of the
   log. The Schema is written together with the first batch, because it contains the interval between samples. */
#include "engine/base/memory.h"
#include "engine/logs/export/flatbuffer.h"
#include "engine/logs/export/log_output.h"
#include "engine/logs/log_inputs.h"
#include "engine/logs/number_text.h"

#include <stdio.h>
#include <string.h>

#define TICKS_PER_SECOND 1e7

enum { BATCH_BYTES = 8 << 20, MOST_ROWS = 65536, BODY_ALIGNMENT = 64, BLOCK_WORDS = 3 };

/* Values of Arrow's enumerations. */
enum { METADATA_V5 = 4, HEADER_SCHEMA = 1, HEADER_RECORD_BATCH = 3, TYPE_FLOAT = 3, TYPE_TIMESTAMP = 10 };
enum { PRECISION_DOUBLE = 2, UNIT_NANOSECOND = 3 };

struct arrow_log {
    struct log_writer base;
    struct log_output file;
    struct flatbuffer flat;
    struct texts names;    /* column names of the counters */
    struct texts metadata; /* keys and values, alternating */
    size_t columns;        /* number of columns, including the time */
    size_t rows, capacity; /* rows in the current batch, and room for rows */
    uint64_t *values;      /* bits of the values, one column after another; each has room for `capacity` rows */
    uint8_t *valid;        /* one bitmap of `bitmap` bytes per column */
    size_t bitmap;
    size_t *nulls;
    uint64_t *nodes, *buffers; /* for a RecordBatch; each column has two words in `nodes` and four words in `buffers` */
    flat_place *fields;
    uint64_t *blocks; /* positions and sizes of the batches */
    size_t block_count, block_capacity;
    struct sample_distances distances; /* sample intervals of the first batch */
    int64_t last;
    bool has_schema;
};

static void arrow_free(struct arrow_log *log)
{
    memory_free(log->values);
    memory_free(log->valid);
    memory_free(log->nulls);
    memory_free(log->nodes);
    memory_free(log->buffers);
    memory_free(log->fields);
    memory_free(log->blocks);
    texts_free(&log->names);
    texts_free(&log->metadata);
    sample_distances_free(&log->distances);
    flat_free(&log->flat);
    memory_free(log);
}

/* ---- the schema ---- */

static flat_place arrow_field(struct flatbuffer *f, const char *name, unsigned type, flat_place details,
                              flat_place none)
{
    const flat_place text = flat_string(f, name);
    flat_table(f);
    flat_reference(f, 0, text);
    flat_number(f, 1, true, 1); /* nullable */
    flat_number(f, 2, type, 1);
    flat_reference(f, 3, details);
    flat_reference(f, 5, none); /* children; readers expect the vector even if it is empty */
    return flat_table_end(f);
}

static flat_place arrow_pair(struct flatbuffer *f, const char *key, const char *value)
{
    const flat_place key_text = flat_string(f, key), value_text = flat_string(f, value);
    flat_table(f);
    flat_reference(f, 0, key_text);
    flat_reference(f, 1, value_text);
    return flat_table_end(f);
}

static flat_place arrow_schema(struct arrow_log *log)
{
    struct flatbuffer *f = &log->flat;
    flat_place pairs[16];
    size_t pair_count = 0;
    const flat_place none = flat_vector(f, NULL, 0), zone = flat_string(f, "UTC");
    flat_table(f);
    flat_number(f, 0, UNIT_NANOSECOND, 2);
    flat_reference(f, 1, zone);
    const flat_place timestamp = flat_table_end(f);
    flat_table(f);
    flat_number(f, 0, PRECISION_DOUBLE, 2);
    const flat_place number = flat_table_end(f);
    log->fields[0] = arrow_field(f, "time", TYPE_TIMESTAMP, timestamp, none);
    for (size_t i = 1; i < log->columns; i++)
        log->fields[i] = arrow_field(f, log->names.items[i - 1], TYPE_FLOAT, number, none);
    for (size_t i = 0; i + 1 < log->metadata.count && pair_count < sizeof pairs / sizeof *pairs; i += 2)
        pairs[pair_count++] = arrow_pair(f, log->metadata.items[i], log->metadata.items[i + 1]);
    const flat_place fields = flat_vector(f, log->fields, log->columns);
    const flat_place metadata = flat_vector(f, pairs, pair_count);
    flat_table(f);
    flat_reference(f, 1, fields);
    flat_reference(f, 2, metadata);
    return flat_table_end(f);
}

/* ---- messages ---- */

static HRESULT arrow_no_memory(void)
{
    return error_set(E_OUTOFMEMORY, "out of memory for the columns of an Arrow file");
}

static void arrow_put_number(struct arrow_log *log, uint32_t number)
{
    const char bytes[] = {(char)(number & 0xFF), (char)(number >> 8 & 0xFF), (char)(number >> 16 & 0xFF),
                          (char)(number >> 24)};
    text_buffer_add_n(&log->file.pending, bytes, sizeof bytes);
}

/* Completes a message with this header and adds it. *size is the size of the message in bytes. */
static HRESULT arrow_put_message(struct arrow_log *log, unsigned type, flat_place header, uint64_t body, size_t *size)
{
    struct flatbuffer *f = &log->flat;
    size_t length;
    flat_table(f);
    flat_number(f, 0, METADATA_V5, 2);
    flat_number(f, 1, type, 1);
    flat_reference(f, 2, header);
    flat_number(f, 3, body, 8);
    const uint8_t *bytes = flat_finish(f, flat_table_end(f), &length);
    if (!bytes)
        return arrow_no_memory();
    arrow_put_number(log, UINT32_MAX);
    arrow_put_number(log, (uint32_t)length);
    text_buffer_add_n(&log->file.pending, (const char *)bytes, length);
    flat_clear(f);
    *size = length + 8;
    return S_OK;
}

static HRESULT arrow_add_metadata(struct arrow_log *log, const char *key, const char *value)
{
    HRESULT hr = texts_add(&log->metadata, key);
    return SUCCEEDED(hr) ? texts_add(&log->metadata, value) : hr;
}

static HRESULT arrow_put_schema(struct arrow_log *log)
{
    char seconds[NUMBER_TEXT_SIZE];
    size_t size;
    const int64_t interval = sample_distances_middle(&log->distances);
    HRESULT hr = S_OK;
    if (interval > 0) {
        number_text_shortest((double)interval / TICKS_PER_SECOND, 15, false, seconds);
        hr = arrow_add_metadata(log, "interval_seconds", seconds);
    }
    text_buffer_add_n(&log->file.pending, "ARROW1\0\0", 8);
    if (SUCCEEDED(hr))
        hr = arrow_put_message(log, HEADER_SCHEMA, arrow_schema(log), 0, &size);
    log->has_schema = SUCCEEDED(hr);
    return hr;
}

/* Assigns positions to the buffers of a batch's body, and returns the size of the body. */
static uint64_t arrow_place_buffers(struct arrow_log *log)
{
    uint64_t at = 0;
    for (size_t i = 0; i < log->columns; i++) {
        const uint64_t sizes[] = {log->nulls[i] > 0 ? (log->rows + 7) / 8 : 0, log->rows * sizeof *log->values};
        log->nodes[2 * i] = log->rows;
        log->nodes[2 * i + 1] = log->nulls[i];
        for (size_t k = 0; k < 2; k++) {
            log->buffers[4 * i + 2 * k] = at;
            log->buffers[4 * i + 2 * k + 1] = sizes[k];
            at += (sizes[k] + BODY_ALIGNMENT - 1) / BODY_ALIGNMENT * BODY_ALIGNMENT;
        }
    }
    return at;
}

static void arrow_put_buffer(struct arrow_log *log, const void *bytes, uint64_t size)
{
    static const char zeros[BODY_ALIGNMENT];
    const size_t rest = size % BODY_ALIGNMENT;
    text_buffer_add_n(&log->file.pending, bytes, (size_t)size);
    text_buffer_add_n(&log->file.pending, zeros, rest > 0 ? BODY_ALIGNMENT - rest : 0);
}

static HRESULT arrow_put_batch(struct arrow_log *log)
{
    struct flatbuffer *f = &log->flat;
    size_t size;
    void *blocks = log->blocks;
    if (!memory_grow(&blocks, &log->block_capacity, BLOCK_WORDS * (log->block_count + 1), sizeof *log->blocks))
        return arrow_no_memory();
    log->blocks = blocks;
    const uint64_t start = log_output_size(&log->file), body = arrow_place_buffers(log);
    const flat_place nodes = flat_structs(f, log->nodes, log->columns, 2);
    const flat_place buffers = flat_structs(f, log->buffers, 2 * log->columns, 2);
    flat_table(f);
    flat_number(f, 0, log->rows, 8);
    flat_reference(f, 1, nodes);
    flat_reference(f, 2, buffers);
    HRESULT hr = arrow_put_message(log, HEADER_RECORD_BATCH, flat_table_end(f), body, &size);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < log->columns; i++) {
        arrow_put_buffer(log, &log->valid[i * log->bitmap], log->buffers[4 * i + 1]);
        arrow_put_buffer(log, &log->values[i * log->capacity], log->buffers[4 * i + 3]);
    }
    const uint64_t block[BLOCK_WORDS] = {start, size, body};
    memcpy(&log->blocks[BLOCK_WORDS * log->block_count++], block, sizeof block);
    log->rows = 0;
    memset(log->valid, 0, log->columns * log->bitmap);
    memset(log->nulls, 0, log->columns * sizeof *log->nulls);
    return S_OK;
}

/* Writes the collected samples. */
static HRESULT arrow_write(struct arrow_log *log)
{
    HRESULT hr = log->has_schema ? S_OK : arrow_put_schema(log);
    if (SUCCEEDED(hr) && log->rows > 0)
        hr = arrow_put_batch(log);
    return SUCCEEDED(hr) ? log_output_write(&log->file, true) : hr;
}

static HRESULT arrow_put_footer(struct arrow_log *log)
{
    struct flatbuffer *f = &log->flat;
    size_t length;
    arrow_put_number(log, UINT32_MAX);
    arrow_put_number(log, 0);
    const flat_place schema = arrow_schema(log), dictionaries = flat_structs(f, NULL, 0, BLOCK_WORDS);
    const flat_place blocks = flat_structs(f, log->blocks, log->block_count, BLOCK_WORDS);
    flat_table(f);
    flat_number(f, 0, METADATA_V5, 2);
    flat_reference(f, 1, schema);
    flat_reference(f, 2, dictionaries);
    flat_reference(f, 3, blocks);
    const uint8_t *bytes = flat_finish(f, flat_table_end(f), &length);
    if (!bytes)
        return arrow_no_memory();
    text_buffer_add_n(&log->file.pending, (const char *)bytes, length);
    arrow_put_number(log, (uint32_t)length);
    text_buffer_add(&log->file.pending, "ARROW1");
    return S_OK;
}

/* ---- the writer ---- */

/* Returns the computer that all counters name; NULL: they name several computers, or none. */
static const char *arrow_common_machine(const struct log_counter *counters, size_t count)
{
    const char *machine = count > 0 ? counters[0].machine : NULL;
    for (size_t i = 1; i < count && machine; i++)
        if (!counters[i].machine || strcmp(machine, counters[i].machine) != 0)
            machine = NULL;
    return machine;
}

/* Adds the metadata that is known before the first sample. */
static HRESULT arrow_describe(struct arrow_log *log, const struct log_counter *counters, size_t count,
                              const struct log_options *options)
{
    const struct log_info *info = options->copy_of ? log_reader_info(options->copy_of) : NULL;
    const char *machine = info && info->machine ? info->machine : arrow_common_machine(counters, count);
    char bias[16];
    HRESULT hr = machine ? arrow_add_metadata(log, "computer", machine + strspn(machine, "\\")) : S_OK;
    if (SUCCEEDED(hr) && options->zone.known) {
        snprintf(bias, sizeof bias, "%d", options->zone.bias_minutes);
        hr = arrow_add_metadata(log, "bias_minutes", bias);
        if (SUCCEEDED(hr) && options->zone.name)
            hr = arrow_add_metadata(log, "zone", options->zone.name);
    }
    return SUCCEEDED(hr) && options->comment && *options->comment ? arrow_add_metadata(log, "comment", options->comment)
                                                                  : hr;
}

static HRESULT arrow_allocate(struct arrow_log *log, size_t columns)
{
    size_t rows = BATCH_BYTES / sizeof *log->values / columns;
    rows = rows > MOST_ROWS ? MOST_ROWS : rows > 0 ? rows : 1;
    log->columns = columns;
    log->capacity = rows;
    log->bitmap = (rows + 7) / 8;
    log->values = memory_zero(columns, rows * sizeof *log->values);
    log->valid = memory_zero(columns, log->bitmap);
    log->nulls = memory_zero(columns, sizeof *log->nulls);
    log->nodes = memory_zero(columns, 2 * sizeof *log->nodes);
    log->buffers = memory_zero(columns, 4 * sizeof *log->buffers);
    log->fields = memory_zero(columns, sizeof *log->fields);
    return log->values && log->valid && log->nulls && log->nodes && log->buffers && log->fields ? S_OK
                                                                                                : arrow_no_memory();
}

static HRESULT arrow_create(const struct log_format_traits *format, const char *path,
                            const struct log_counter *counters, size_t count, int64_t start_utc,
                            const struct log_options *options, struct log_writer **out)
{
    struct arrow_log *log = memory_zero(1, sizeof *log);
    (void)start_utc;
    if (!log)
        return E_OUTOFMEMORY;
    log->base.functions = &log_arrow_functions;
    HRESULT hr = log_output_names(counters, count, &log->names);
    if (SUCCEEDED(hr))
        hr = arrow_allocate(log, count + 1);
    if (SUCCEEDED(hr))
        hr = arrow_describe(log, counters, count, options);
    if (SUCCEEDED(hr))
        hr = log_output_create(&log->file, format, path, counters, count, options);
    if (FAILED(hr)) {
        arrow_free(log);
        return hr;
    }
    *out = &log->base;
    return S_OK;
}

static void arrow_set(struct arrow_log *log, size_t column, bool has_value, const void *bits)
{
    uint64_t *to = &log->values[column * log->capacity + log->rows];
    *to = 0;
    if (!has_value) {
        log->nulls[column]++;
        return;
    }
    memcpy(to, bits, sizeof *to);
    log->valid[column * log->bitmap + log->rows / 8] |= (uint8_t)(1 << log->rows % 8);
}

static HRESULT arrow_append(struct log_writer *w, int64_t utc, const struct log_cell *cells)
{
    static const int64_t epoch = INT64_C(116444736000000000);
    struct arrow_log *log = (struct arrow_log *)w;
    int64_t nanoseconds;
    HRESULT hr = S_OK;
    if (!log->has_schema && log->rows > 0)
        hr = sample_distances_add(&log->distances, (int64_t)((uint64_t)utc - (uint64_t)log->last));
    if (SUCCEEDED(hr) && log->rows == log->capacity)
        hr = arrow_write(log);
    if (FAILED(hr))
        return hr;
    const bool has_time = !__builtin_mul_overflow((int64_t)((uint64_t)utc - (uint64_t)epoch), 100, &nanoseconds);
    arrow_set(log, 0, has_time && utc >= 0, &nanoseconds);
    for (size_t i = 1; i < log->columns; i++)
        arrow_set(log, i, cells[i - 1].has_value, &cells[i - 1].value);
    log->last = utc;
    log->rows++;
    return S_OK;
}

static HRESULT arrow_flush(struct log_writer *w)
{
    return arrow_write((struct arrow_log *)w);
}

static uint64_t arrow_size(const struct log_writer *w)
{
    return log_output_size(&((const struct arrow_log *)w)->file);
}

static HRESULT arrow_close(struct log_writer *w)
{
    struct arrow_log *log = (struct arrow_log *)w;
    HRESULT hr = arrow_write(log);
    if (SUCCEEDED(hr))
        hr = arrow_put_footer(log);
    hr = log_output_close(&log->file, hr);
    arrow_free(log);
    return hr;
}

const struct log_format_functions log_arrow_functions = {
    .create = arrow_create, .append = arrow_append, .flush = arrow_flush, .size = arrow_size, .close = arrow_close};
