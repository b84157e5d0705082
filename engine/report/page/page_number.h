/* SPDX-License-Identifier: MIT */
/* Numbers of a report as people read them: by a column's mask, or with the digits that say something. */
#ifndef OPENPLA_PAGE_NUMBER_H
#define OPENPLA_PAGE_NUMBER_H

#include "engine/base/text.h"

/* "12", "-0.5": digits and one point, as reports have numbers. */
bool page_is_number(const char *text);
/* Adds the number by an XSLT mask ("#,##0.0", "0.0 %", "0;(0)"), digit by digit, so that none is lost however many
   there are; halves go away from zero, what rounds to zero has no sign. `mask` NULL or "": a fraction of about three
   digits that count, in groups of three; a whole number as it is, in groups with `grouped`. A text that is no number is
   added as it is. */
void page_number_add(struct text_buffer *out, const char *text, const char *mask, bool grouped);
/* A value of a chart with so many digits, and k, M, G, T, P or E behind; `largest` of the scale chooses that. */
void page_number_scaled(struct text_buffer *out, double value, double largest, int digits);

#endif
