/* SPDX-License-Identifier: MIT */
/* Texts of a report on a page: cut to a length, without what turns the direction of those beside it. */
#ifndef OPENPLA_PAGE_TEXT_H
#define OPENPLA_PAGE_TEXT_H

#include "engine/base/text.h"

#define PAGE_LONGEST_NAME 200  /* bytes of a title, a column, a series */
#define PAGE_LONGEST_CELL 1000 /* bytes of a cell */

/* Adds the text as XML; what is cut has "..." as one character behind it. Direction marks (U+202A to U+202E, U+2066 to
   U+2069) and what XML cannot hold become U+FFFD. NULL stands for "". */
void page_text(struct text_buffer *out, const char *text, size_t longest, bool attribute);
/* A blank, name="text"; nothing for NULL and "". */
void page_attribute(struct text_buffer *out, const char *name, const char *text, size_t longest);

#endif
