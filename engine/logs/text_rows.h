/* SPDX-License-Identifier: MIT */
/* The lines of a text file in any encoding, and the cells of lines of text logs: header, zone and times. */
#ifndef OPENPLA_TEXT_ROWS_H
#define OPENPLA_TEXT_ROWS_H

#include "engine/base/file.h"
#include "engine/base/text.h"

enum text_encoding {
    ENCODING_BYTES, /* the ANSI code page, or UTF-8 without a mark */
    ENCODING_UTF8,  /* with a mark */
    ENCODING_UTF16_LE,
    ENCODING_UTF16_BE,
};

struct text_row {
    const char
        *text; /* without its line end; in UTF-8 unless the encoding is ENCODING_BYTES; valid until the next row */
    size_t length;
    bool whole;      /* has its line end */
    uint64_t offset; /* of the file */
    uint64_t end;    /* offset after its line end */
    uint64_t number; /* lines from 1 */
};

struct text_rows {
    struct file *file; /* owned */
    enum text_encoding encoding;
    uint64_t read; /* bytes of the file that are in the buffer or were */
    uint64_t size; /* of the file when it was opened; it may grow */
    char *buffer;  /* decoded bytes from `begin` to `end`; one more is allocated */
    size_t begin, end, searched, capacity;
    uint64_t offset, number; /* of the next row */
    uint8_t *raw;            /* undecoded UTF-16 of the file */
    size_t raw_rest;         /* bytes of it that are half a character */
    bool ended;
};

/* Bytes of the byte order mark, which determines the encoding; 0 and ENCODING_BYTES without a mark. */
size_t text_encoding_of(const uint8_t *head, size_t size, enum text_encoding *encoding);
/* Opens the file and goes to its first line. On failure *rows is zero. */
HRESULT text_rows_open(const char *path, struct text_rows *rows);
/* The next line; S_FALSE: no more lines. A line of more than 256 MB is ERROR_FILE_TOO_LARGE. */
HRESULT text_rows_next(struct text_rows *rows, struct text_row *row);
/* Instead of lines: what follows, decoded, as it comes from the file, valid until the next call; S_FALSE: nothing. */
HRESULT text_rows_part(struct text_rows *rows, const char **text, size_t *size);
/* Goes to a line that text_rows_next gave, by its offset and number. */
void text_rows_rewind(struct text_rows *rows, uint64_t offset, uint64_t number);
void text_rows_close(struct text_rows *rows);

/* ---- cells ---- */
/* One cell of a row, borrowed from it. */
struct text_cell {
    const char *text; /* without its quotes */
    size_t length;
    bool quoted, closed; /* closed: not quoted, or with its closing quote */
    bool doubled;        /* holds quotes, each twice */
};
/* The cell at *at; advances *at after its separator. False: the row has ended. A row that ends with a separator has an
   empty last cell. Start with *at at the row's beginning; *at becomes NULL after the last cell. */
bool text_cell_next(const char **at, const char *end, char separator, struct text_cell *cell);

/* The header row's first cell. */
struct text_header {
    bool tabs;        /* "PDH-TSV" */
    char separator;   /* of the cells; the tag's if there is only one cell */
    bool has_zone;    /* it is whole: "(name)(bias)" */
    const char *zone; /* borrowed from the row */
    size_t zone_length;
    int bias_minutes;
    const char *names; /* the second cell, or NULL */
};
/* False: the row does not begin with PDH's tag. */
bool text_header_read(const char *row, size_t length, struct text_header *out);
/* Is it the beginning of a header row that ends within the tag? */
bool text_header_is_begun(const char *text, size_t length);

enum text_time_order { TIME_MONTH_FIRST, TIME_DAY_FIRST }; /* of dates with slashes */
/* "MM/DD/YYYY hh:mm:ss.mmm" and what spreadsheets make of it: fewer digits, no seconds, AM and PM, "DD.MM.YYYY",
   "YYYY-MM-DD". *local: a FILETIME value. False: it is no time. */
bool text_time_read(const char *text, size_t length, enum text_time_order order, int64_t *local);

#endif
