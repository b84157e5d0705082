/* SPDX-License-Identifier: MIT */
/* Tags of a table, a row or a cell, by which warnings tell of it. MS-PLA 2.2.8 has one; where several warnings are
   about one place there is a line for each, since a tag may have blanks and a line end is in none that stands in an
   attribute as people write it. */
#ifndef OPENPLA_REPORT_TAGS_H
#define OPENPLA_REPORT_TAGS_H

#include <stdbool.h>
#include <stddef.h>

#define REPORT_TAGS_MOST 4096 /* bytes of all tags of a place */

/* The next tag, borrowed, and its length; *rest goes behind it. NULL: there is none. Begins with the attribute's text,
   NULL where there is none. */
const char *report_tags_next(const char **rest, size_t *length);
bool report_tags_have(const char *tags, const char *tag);

#endif
