/* SPDX-License-Identifier: MIT */
/* The output of exports: a buffered file, and columns. The columns grow side by side in one temporary file. At the end,
   they are copied to the output one after the other. Memory use therefore does not grow with the size of the trace. */
#ifndef OPENPLA_EXPORT_FILE_H
#define OPENPLA_EXPORT_FILE_H

#include "engine/base/file.h"
#include "engine/base/json_text.h"

/* A file that is written sequentially. The caller appends to `text` and calls export_file_settle often. */
struct export_file {
    struct file *file;
    struct text_buffer text; /* bytes that are not yet written */
};
/* Writes the text if enough has accumulated. Fails with E_OUTOFMEMORY or like file_write. */
HRESULT export_file_settle(struct export_file *f);
HRESULT export_file_flush(struct export_file *f);
void export_file_close(struct export_file *f);

struct export_columns {
    struct file *file; /* created with the first block */
    uint64_t size;
};
/* A column. Zero-initialise. The caller appends to `text` and calls export_column_settle after each value. */
struct export_column {
    struct text_buffer text;
    struct export_block {
        uint64_t offset, size;
    } * blocks;
    size_t count, capacity;
    uint64_t values;
};
HRESULT export_column_settle(struct export_columns *all, struct export_column *c);
/* Appends the whole column to the file. */
HRESULT export_column_copy(struct export_columns *all, const struct export_column *c, struct export_file *to);
void export_column_free(struct export_column *c);
void export_columns_close(struct export_columns *all);

#endif
