/* SPDX-License-Identifier: MIT */
/* Converts samples to columns, using a limited amount of memory.

   A block has the columns of a fixed number of samples, one after the other:

       [first numbers][second numbers, if the column has two words][bitmap of present values]   of column 0
       [...]                                                                                    of column 1
       ...

   Samples fill a block in memory. A full block is written to a temporary file unchanged. A column's part of block n can
   then be read with one read at n * (block size) + (offset of the column). The last block stays in memory, so a log
   that is shorter than a block is never written to the disk. For example, a log of 8 hours with 1,000 counters and one
   sample per second has 8 blocks of 64 MB. Reading this log column by column needs 8,000 reads of at least 28 KB. */
#include "engine/logs/export/column_store.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"

#include <string.h>

enum { FEWEST_ROWS = 8, MOST_ROWS = 1 << 20 };

struct column_reader {
    uint8_t *bytes; /* column part that was read from the file */
    size_t column;
    uint64_t part;
    bool is_filled;
};

struct column_store {
    struct file *file; /* NULL: no block was written yet */
    uint8_t *block;
    uint64_t *offsets; /* offsets of the columns in a block; the last element is the block size */
    uint8_t *words;
    size_t columns, rows; /* of each block */
    size_t used;          /* samples in the block */
    uint64_t written;     /* blocks in the file */
    size_t longest;       /* bytes of the largest column part */
    struct column_reader readers[COLUMN_READERS];
};

static HRESULT store_no_memory(void)
{
    return error_set(E_OUTOFMEMORY, "out of memory for the samples of a log");
}

HRESULT column_store_create(const uint8_t *words, size_t columns, size_t memory, struct column_store **out)
{
    struct column_store *s = memory_zero(1, sizeof *s);
    uint64_t bits = 0;
    *out = s;
    if (!s)
        return store_no_memory();
    for (size_t i = 0; i < columns; i++)
        bits += 64u * words[i] + 1;
    uint64_t rows = bits > 0 ? memory / (bits + 7) * 8 : FEWEST_ROWS;
    rows = rows > MOST_ROWS ? MOST_ROWS : rows < FEWEST_ROWS ? FEWEST_ROWS : rows / 8 * 8;
    s->rows = (size_t)rows;
    s->columns = columns;
    s->offsets = memory_zero(columns + 1, sizeof *s->offsets);
    s->words = memory_copy(words, columns);
    for (size_t i = 0; i < columns && s->offsets; i++) {
        /* The size of a bitmap is a multiple of 8, so that the numbers after it are aligned. */
        const uint64_t bytes = rows * 8 * words[i] + (rows + 63) / 64 * 8;
        s->offsets[i + 1] = s->offsets[i] + bytes;
        s->longest = bytes > s->longest ? (size_t)bytes : s->longest;
    }
    s->block = s->offsets && s->offsets[columns] < SIZE_MAX ? memory_zero(1, (size_t)s->offsets[columns]) : NULL;
    if (s->block && s->words)
        return S_OK;
    column_store_free(s);
    *out = NULL;
    return store_no_memory();
}

static uint8_t *block_present(const struct column_store *s, size_t column)
{
    return s->block + s->offsets[column] + 8 * s->rows * s->words[column];
}

/* Makes room for the next sample: writes the full block to the file. */
static HRESULT store_make_room(struct column_store *s)
{
    const size_t size = (size_t)s->offsets[s->columns];
    HRESULT hr = s->file ? S_OK : file_open_scratch(&s->file);
    if (SUCCEEDED(hr))
        hr = file_write_at(s->file, s->written * size, s->block, size);
    if (FAILED(hr))
        return error_prefix(hr, "temporary file of samples");
    s->written++;
    s->used = 0;
    for (size_t i = 0; i < s->columns; i++)
        memset(block_present(s, i), 0, (s->rows + 63) / 64 * 8);
    return S_OK;
}

void column_store_set(struct column_store *s, size_t column, int64_t first, int64_t second)
{
    int64_t *numbers = (int64_t *)(void *)(s->block + s->offsets[column]);
    numbers[s->used] = first;
    if (s->words[column] > 1)
        numbers[s->rows + s->used] = second;
    block_present(s, column)[s->used / 8] |= (uint8_t)(1u << s->used % 8);
}

HRESULT column_store_next(struct column_store *s)
{
    if (s->used + 1 < s->rows) {
        s->used++;
        return S_OK;
    }
    s->used++;
    HRESULT hr = store_make_room(s);
    if (FAILED(hr)) { /* drop the last sample */
        s->used--;
        for (size_t i = 0; i < s->columns; i++)
            block_present(s, i)[s->used / 8] &= (uint8_t) ~(1u << s->used % 8);
    }
    return hr;
}

uint64_t column_store_samples(const struct column_store *s)
{
    return s->written * s->rows + s->used;
}

size_t column_store_part_rows(const struct column_store *s)
{
    return s->rows;
}

HRESULT column_store_read(struct column_store *s, unsigned reader, size_t column, uint64_t part,
                          struct column_part *out)
{
    struct column_reader *r = &s->readers[reader];
    const uint8_t *bytes = s->block + s->offsets[column];
    if (part < s->written) {
        const size_t size = (size_t)(s->offsets[s->columns]),
                     length = (size_t)(s->offsets[column + 1] - s->offsets[column]);
        size_t got = 0;
        if (!r->bytes && !(r->bytes = memory_alloc(s->longest)))
            return store_no_memory();
        if (!r->is_filled || r->column != column || r->part != part) {
            r->is_filled = false;
            HRESULT hr = file_read_at(s->file, part * size + s->offsets[column], r->bytes, length, &got);
            if (SUCCEEDED(hr) && got < length)
                hr = error_set(E_FAIL, "it is shorter than the data that was written");
            if (FAILED(hr))
                return error_prefix(hr, "temporary file of samples");
            *r = (struct column_reader){r->bytes, column, part, true};
        }
        bytes = r->bytes;
    }
    out->first = (const int64_t *)(const void *)bytes;
    out->second = s->words[column] > 1 ? out->first + s->rows : NULL;
    out->present = bytes + 8 * s->rows * s->words[column];
    out->rows = part < s->written ? s->rows : s->used;
    return S_OK;
}

void column_store_free(struct column_store *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < COLUMN_READERS; i++)
        memory_free(s->readers[i].bytes);
    file_close(s->file);
    memory_free(s->block);
    memory_free(s->offsets);
    memory_free(s->words);
    memory_free(s);
}
