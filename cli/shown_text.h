/* SPDX-License-Identifier: MIT */
/* Texts of other people's files on a terminal: what would move the cursor, end the line or turn the direction of
   writing is written out. */
#ifndef OPENPLA_CLI_SHOWN_TEXT_H
#define OPENPLA_CLI_SHOWN_TEXT_H

#include "engine/base/text.h"

/* Line ends and tabs as \n, \r and \t, other controls as \u and four digits. */
void add_shown(struct text_buffer *b, const char *text);
/* Places on the line, one for each character. */
size_t shown_width(const char *shown);
/* Blanks behind it in a column of `width`, as printf's %*s takes them, whose own %-39s counts bytes. */
int shown_room(const char *shown, size_t width);
/* To stdout. */
void print_shown(const char *text);

#endif
