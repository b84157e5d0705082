/* SPDX-License-Identifier: MIT */
/* Reads the lines of a text file in any encoding, and the cells of a text log's lines: header, time zone and times. */
#ifndef OPENPLA_TEXT_ROWS_H
#define OPENPLA_TEXT_ROWS_H

#include "engine/base/file.h"
#include "engine/base/text.h"

enum text_encoding {
    ENCODING_BYTES, /* the ANSI code page, or UTF-8 without a byte order mark */
    ENCODING_UTF8,  /* UTF-8 with a byte order mark */
    ENCODING_UTF16_LE,
    ENCODING_UTF16_BE,
};

struct text_row {
    const char
        *text; /* without its line end; in UTF-8 unless the encoding is ENCODING_BYTES; valid until the next row */
    size_t length;
    bool whole;      /* the row ends with a line end in the file */
    uint64_t offset; /* offset of the row in the file */
    uint64_t end;    /* offset of the byte after its line end */
    uint64_t number; /* line number, from 1 */
};

struct text_rows {
    struct file *file; /* owned */
    enum text_encoding encoding;
    uint64_t read; /* offset in the file of the next byte to read */
    uint64_t size; /* size of the file when it was opened; it can grow */
    char *buffer;  /* decoded bytes from `begin` to `end`; the allocation has one byte more */
    size_t begin, end, searched, capacity;
    uint64_t offset, number; /* offset and line number of the row to be returned next */
    uint8_t *raw;            /* bytes of a UTF-16 file that are not decoded yet */
    size_t raw_rest;         /* number of bytes at the beginning of `raw` that are an incomplete character */
    bool ended;
};

/* Returns the size of the byte order mark and sets *encoding accordingly; without a mark, 0 and ENCODING_BYTES. */
size_t text_encoding_of(const uint8_t *head, size_t size, enum text_encoding *encoding);
/* Opens the file and goes to its first line. On failure *rows is zero. */
HRESULT text_rows_open(const char *path, struct text_rows *rows);
/* Reads the next line; S_FALSE: no more lines. ERROR_FILE_TOO_LARGE for a line of more than 256 MB. */
HRESULT text_rows_next(struct text_rows *rows, struct text_row *row);
/* Reads the next decoded part of the file, regardless of lines; an alternative to text_rows_next. Valid until the next
   call; S_FALSE: end of the file. */
HRESULT text_rows_part(struct text_rows *rows, const char **text, size_t *size);
/* Goes back to a line that text_rows_next returned, by its offset and number. */
void text_rows_rewind(struct text_rows *rows, uint64_t offset, uint64_t number);
void text_rows_close(struct text_rows *rows);

/* ---- cells ---- */
/* A cell of a row. Borrows the row's text. */
struct text_cell {
    const char *text; /* without its quotes */
    size_t length;
    bool quoted, closed; /* closed: the cell is not quoted, or has its closing quote */
    bool doubled;        /* the text contains doubled quotes, which stand for one quote each */
};
/* Reads the cell at *at and moves *at past its separator. False: the row has ended. Before the first call, the caller
   sets *at to the row's beginning. *at becomes NULL after the last cell. A row that ends with a separator has an empty
   last cell. */
bool text_cell_next(const char **at, const char *end, char separator, struct text_cell *cell);

/* The first cell of a header row. */
struct text_header {
    bool tabs;        /* the cell begins with "PDH-TSV", for tabs as separators */
    char separator;   /* separator of cells; if the row has only one cell, the separator that the tag implies */
    bool has_zone;    /* the cell has a complete time zone: "(name)(bias)" */
    const char *zone; /* borrowed from the row */
    size_t zone_length;
    int bias_minutes;
    const char *names; /* start of the second cell, or NULL */
};
/* Reads the header row's first cell. False: the row does not begin with PDH's tag. */
bool text_header_read(const char *row, size_t length, struct text_header *out);
/* Returns whether the text is the beginning of a header row and ends inside the row's tag, such as "(PDH-CS". */
bool text_header_is_begun(const char *text, size_t length);

enum text_time_order { TIME_MONTH_FIRST, TIME_DAY_FIRST }; /* order of month and day in dates with slashes */
/* Reads a time: "MM/DD/YYYY hh:mm:ss.mmm", or a form that spreadsheets save: fewer digits, no seconds, AM and PM,
   "DD.MM.YYYY", "YYYY-MM-DD". *local is a local FILETIME. False: not a time. */
bool text_time_read(const char *text, size_t length, enum text_time_order order, int64_t *local);

#endif
