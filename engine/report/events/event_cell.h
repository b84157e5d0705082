/* SPDX-License-Identifier: MIT */
/* What one column has of one event: a number, a text, or a number that is shown as a text (a time, an address, a map's
   name). As bytes to keep, as bytes that sort, as text, and summed. */
#ifndef OPENPLA_EVENT_CELL_H
#define OPENPLA_EVENT_CELL_H

#include "engine/base/text.h"

enum event_cell_kind { CELL_EMPTY, CELL_UNSIGNED, CELL_SIGNED /* below zero */, CELL_REAL, CELL_TEXT };

/* Zero-initialised: empty. The text is borrowed. */
struct event_cell {
    enum event_cell_kind kind;
    uint64_t number; /* of CELL_SIGNED the same bits */
    double real;
    const char *text; /* how the number is shown; NULL: as its digits. Of CELL_TEXT never NULL */
    size_t length;    /* of the text, which has no NUL in it */
};

struct event_cell event_cell_unsigned(uint64_t number);
struct event_cell event_cell_signed(int64_t number);
struct event_cell event_cell_real(double value); /* what is no number, and infinity, is empty */
bool event_cell_is_number(const struct event_cell *cell);
double event_cell_value(const struct event_cell *cell); /* 0 of what is no number */

/* As it is shown: digits without separators, a real's the fewest that read back the same. */
void event_cell_show(const struct event_cell *cell, struct text_buffer *out);

/* Bytes that are equal exactly for equal cells, of which the cell can be made again. */
void event_cell_pack(const struct event_cell *cell, struct text_buffer *out);
/* Takes the cell at `at`, of what event_cell_pack made; its text is in there. Returns what is behind it. */
const char *event_cell_unpack(const char *at, struct event_cell *out);

/* Bytes that compare as the cells are sorted: numbers by their value, before texts, which go without case and then with
   it; empty ones are last in both directions. E_OUTOFMEMORY. */
HRESULT event_cell_sort(const struct event_cell *cell, bool descending, struct text_buffer *out);

/* Sums numbers, exactly while they are whole and within 63 bits, else by Neumaier's compensated sum, so that the order
   of the events does not show. Zero-initialise. */
struct event_sum {
    uint64_t count; /* of numbers */
    int64_t whole;
    double real, lost; /* the sum of the others, and what rounding took of it */
    bool is_real;
};
void event_sum_add(struct event_sum *sum, const struct event_cell *cell); /* what is no number adds nothing */
void event_sum_merge(struct event_sum *sum, const struct event_sum *other);
double event_sum_value(const struct event_sum *sum);
struct event_cell event_sum_total(const struct event_sum *sum);   /* empty: there was no number */
struct event_cell event_sum_average(const struct event_sum *sum); /* the same */

#endif
