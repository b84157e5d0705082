/* SPDX-License-Identifier: MIT */
#include "engine/report/events/event_cell.h"

#include "engine/base/memory.h"
#include "engine/report/make/report_document.h"

#include <math.h>
#include <string.h>

/* The first byte of a sort key. For descending order, all bytes of a key are inverted. Only the key of an empty cell is
   not inverted, so it remains the largest key. */
enum { SORT_NUMBER = 0x10, SORT_TEXT = 0x20, SORT_EMPTY = 0xFF };
enum { PACKED_TEXT = 0x80 }; /* ORed with the kind: a text follows */

struct event_cell event_cell_unsigned(uint64_t number)
{
    return (struct event_cell){.kind = CELL_UNSIGNED, .number = number};
}

struct event_cell event_cell_signed(int64_t number)
{
    return (struct event_cell){.kind = number < 0 ? CELL_SIGNED : CELL_UNSIGNED, .number = (uint64_t)number};
}

struct event_cell event_cell_real(double value)
{
    return isfinite(value) ? (struct event_cell){.kind = CELL_REAL, .real = value} : (struct event_cell){0};
}

bool event_cell_is_number(const struct event_cell *cell)
{
    return cell->kind == CELL_UNSIGNED || cell->kind == CELL_SIGNED || cell->kind == CELL_REAL;
}

double event_cell_value(const struct event_cell *cell)
{
    return cell->kind == CELL_REAL       ? cell->real
           : cell->kind == CELL_UNSIGNED ? (double)cell->number
           : cell->kind == CELL_SIGNED   ? (double)(int64_t)cell->number
                                         : 0;
}

void event_cell_show(const struct event_cell *cell, struct text_buffer *out)
{
    if (cell->text)
        text_buffer_add_n(out, cell->text, cell->length);
    else if (cell->kind == CELL_UNSIGNED)
        text_buffer_add_u64(out, cell->number, 1);
    else if (cell->kind == CELL_SIGNED)
        text_buffer_add_i64(out, (int64_t)cell->number);
    else if (cell->kind == CELL_REAL)
        plain_number_add(out, cell->real);
}

/* ---- storage ---- */

void event_cell_pack(const struct event_cell *cell, struct text_buffer *out)
{
    const char kind = (char)(cell->kind | (cell->text ? PACKED_TEXT : 0));
    const uint32_t length = (uint32_t)cell->length;
    text_buffer_add_n(out, &kind, 1);
    if (cell->kind == CELL_REAL)
        text_buffer_add_n(out, (const char *)&cell->real, sizeof cell->real);
    else if (event_cell_is_number(cell))
        text_buffer_add_n(out, (const char *)&cell->number, sizeof cell->number);
    if (cell->text) {
        text_buffer_add_n(out, (const char *)&length, sizeof length);
        text_buffer_add_n(out, cell->text, length);
    }
}

const char *event_cell_unpack(const char *at, struct event_cell *out)
{
    const uint8_t kind = (uint8_t)*at++;
    uint32_t length;
    *out = (struct event_cell){.kind = (enum event_cell_kind)(kind & ~PACKED_TEXT)};
    if (out->kind == CELL_REAL)
        memcpy(&out->real, at, sizeof out->real);
    else if (event_cell_is_number(out))
        memcpy(&out->number, at, sizeof out->number);
    if (event_cell_is_number(out))
        at += sizeof out->number;
    if (kind & PACKED_TEXT) {
        memcpy(&length, at, sizeof length);
        out->text = at + sizeof length;
        out->length = length;
        at = out->text + length;
    }
    return at;
}

/* ---- sort keys ---- */

static void add_big_endian(struct text_buffer *out, uint64_t number)
{
    char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(number >> (56 - 8 * i));
    text_buffer_add_n(out, bytes, sizeof bytes);
}

/* Adds the number first as a double, because every kind of number can be converted to a double. Then adds it as a whole
   number, because different numbers above 2^53 can have the same double. */
static void add_number(struct text_buffer *out, const struct event_cell *cell)
{
    const double value = event_cell_value(cell);
    const double plain = value == 0 ? 0 : value;
    uint64_t bits;
    memcpy(&bits, &plain, sizeof bits);
    add_big_endian(out, bits >> 63 ? ~bits : bits | 1ull << 63);
    add_big_endian(out, cell->kind == CELL_REAL ? 0 : cell->number);
}

HRESULT event_cell_sort(const struct event_cell *cell, bool descending, struct text_buffer *out)
{
    const char kind = (char)(cell->kind == CELL_EMPTY ? SORT_EMPTY : cell->kind == CELL_TEXT ? SORT_TEXT : SORT_NUMBER);
    const size_t from = out->length;
    text_buffer_add_n(out, &kind, 1);
    if (event_cell_is_number(cell)) {
        add_number(out, cell);
    } else if (cell->kind == CELL_TEXT) {
        char *text = text_copy_n(cell->text, cell->length), *folded = text ? text_fold(text) : NULL;
        if (folded) {
            text_buffer_add_n(out, folded, strlen(folded) + 1);
            text_buffer_add_n(out, text, strlen(text) + 1);
        }
        memory_free(text);
        memory_free(folded);
        if (!folded)
            return E_OUTOFMEMORY;
    }
    if (out->failed)
        return E_OUTOFMEMORY;
    for (size_t i = from; descending && cell->kind != CELL_EMPTY && i < out->length; i++)
        out->text[i] = (char)~out->text[i];
    return S_OK;
}

/* ---- sums ---- */

static void add_real_part(struct event_sum *sum, double value)
{
    const double both = sum->real + value;
    sum->lost += fabs(sum->real) >= fabs(value) ? sum->real - both + value : value - both + sum->real;
    sum->real = both;
    sum->is_real = true;
}

static void add_whole(struct event_sum *sum, int64_t number)
{
    if (number > 0 ? sum->whole > INT64_MAX - number : sum->whole < INT64_MIN - number) {
        add_real_part(sum, (double)sum->whole);
        sum->whole = 0;
    }
    sum->whole += number;
}

void event_sum_add(struct event_sum *sum, const struct event_cell *cell)
{
    if (!event_cell_is_number(cell))
        return;
    sum->count++;
    if (cell->kind == CELL_REAL || (cell->kind == CELL_UNSIGNED && cell->number > INT64_MAX))
        add_real_part(sum, event_cell_value(cell));
    else
        add_whole(sum, (int64_t)cell->number);
}

void event_sum_merge(struct event_sum *sum, const struct event_sum *other)
{
    sum->count += other->count;
    add_whole(sum, other->whole);
    if (other->is_real) {
        add_real_part(sum, other->real);
        sum->lost += other->lost;
    }
}

double event_sum_value(const struct event_sum *sum)
{
    return sum->is_real ? sum->real + sum->lost + (double)sum->whole : (double)sum->whole;
}

struct event_cell event_sum_total(const struct event_sum *sum)
{
    if (sum->count == 0)
        return (struct event_cell){0};
    return sum->is_real ? event_cell_real(event_sum_value(sum)) : event_cell_signed(sum->whole);
}

struct event_cell event_sum_average(const struct event_sum *sum)
{
    if (sum->count == 0)
        return (struct event_cell){0};
    return event_cell_real(event_sum_value(sum) / (double)sum->count);
}
