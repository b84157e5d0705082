/* SPDX-License-Identifier: MIT */
/* Output of exports: a buffered file, and columns that grow side by side in one temporary file and are written one
   after another at the end. Memory use therefore does not grow with the trace. */
#ifndef OPENPLA_EXPORT_FILE_H
#define OPENPLA_EXPORT_FILE_H

#include "engine/base/file.h"

/* A file that is written from its beginning to its end. Append to `text`, and call export_file_settle often. */
struct export_file {
    struct file *file;
    struct text_buffer text; /* what is not yet written */
};
/* Writes the text if enough has accumulated. E_OUTOFMEMORY; errors of file_write. */
HRESULT export_file_settle(struct export_file *f);
HRESULT export_file_flush(struct export_file *f);
void export_file_close(struct export_file *f);

/* Adds a JSON string with its quotation marks, or only its content. */
void export_json_text(struct text_buffer *b, const char *text);
void export_json_content(struct text_buffer *b, const char *text);

struct export_columns {
    struct file *file; /* opened with the first block */
    uint64_t size;
};
/* Zero-initialise. Append to `text`, and call export_column_settle after each value. */
struct export_column {
    struct text_buffer text;
    struct export_block {
        uint64_t offset, size;
    } * blocks;
    size_t count, capacity;
    uint64_t values;
};
HRESULT export_column_settle(struct export_columns *all, struct export_column *c);
/* Adds the whole column to the file. */
HRESULT export_column_copy(struct export_columns *all, const struct export_column *c, struct export_file *to);
void export_column_free(struct export_column *c);
void export_columns_close(struct export_columns *all);

#endif
