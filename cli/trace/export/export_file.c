/* SPDX-License-Identifier: MIT */
#include "cli/trace/export/export_file.h"

#include "engine/base/memory.h"

enum { WRITE_BYTES = 1 << 18, FIRST_BLOCK = 256, LARGEST_BLOCK = 1 << 16, GROWTHS = 8 };

HRESULT export_file_flush(struct export_file *f)
{
    if (f->text.failed)
        return error_set(E_OUTOFMEMORY, "out of memory for the export");
    const HRESULT hr = f->text.length != 0 ? file_write(f->file, f->text.text, f->text.length) : S_OK;
    f->text.length = 0;
    return hr;
}

HRESULT export_file_settle(struct export_file *f)
{
    return f->text.failed || f->text.length >= WRITE_BYTES ? export_file_flush(f) : S_OK;
}

void export_file_close(struct export_file *f)
{
    file_close(f->file);
    text_buffer_free(&f->text);
    f->file = NULL;
}

/* ---- columns ---- */

/* Returns the maximum size of the next block. Columns with few values have small blocks, because there are thousands of
   columns. */
static size_t column_limit(const struct export_column *c)
{
    return c->count < GROWTHS ? (size_t)FIRST_BLOCK << c->count : LARGEST_BLOCK;
}

HRESULT export_column_settle(struct export_columns *all, struct export_column *c)
{
    void *blocks = c->blocks;
    c->values++;
    if (c->text.failed)
        return error_set(E_OUTOFMEMORY, "out of memory for the export");
    if (c->text.length < column_limit(c))
        return S_OK;
    HRESULT hr = all->file ? S_OK : file_open_scratch(&all->file);
    if (SUCCEEDED(hr) && !memory_grow(&blocks, &c->capacity, c->count + 1, sizeof *c->blocks))
        hr = error_set(E_OUTOFMEMORY, "out of memory for the export");
    c->blocks = blocks;
    if (SUCCEEDED(hr))
        hr = file_write_at(all->file, all->size, c->text.text, c->text.length);
    if (FAILED(hr))
        return hr;
    c->blocks[c->count++] = (struct export_block){all->size, c->text.length};
    all->size += c->text.length;
    c->text.length = 0;
    return S_OK;
}

HRESULT export_column_copy(struct export_columns *all, const struct export_column *c, struct export_file *to)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < c->count && SUCCEEDED(hr); i++) {
        const size_t size = (size_t)c->blocks[i].size;
        size_t got = 0;
        char *at = text_buffer_reserve(&to->text, size);
        if (!at)
            return error_set(E_OUTOFMEMORY, "out of memory for the export");
        hr = file_read_at(all->file, c->blocks[i].offset, at, size, &got);
        if (SUCCEEDED(hr) && got != size)
            hr = error_set(E_FAIL, "the temporary file of the export was truncated");
        to->text.length += SUCCEEDED(hr) ? size : 0;
        if (SUCCEEDED(hr))
            hr = export_file_settle(to);
    }
    if (SUCCEEDED(hr) && c->text.length != 0)
        text_buffer_add_n(&to->text, c->text.text, c->text.length);
    return SUCCEEDED(hr) ? export_file_settle(to) : hr;
}

void export_column_free(struct export_column *c)
{
    text_buffer_free(&c->text);
    memory_free(c->blocks);
    *c = (struct export_column){0};
}

void export_columns_close(struct export_columns *all)
{
    file_close(all->file);
    all->file = NULL;
}
