/* SPDX-License-Identifier: MIT */
/* Pieces of dumps behind the text of a buffer: times, texts in quotation marks. What is out of memory sticks in the
   buffer. */
#ifndef OPENPLA_DUMP_TEXT_H
#define OPENPLA_DUMP_TEXT_H

#include "engine/base/text.h"

/* Events of one second follow each other: its text is kept. Zero-initialise. */
struct dump_clock {
    int64_t second;
    char text[24];
    size_t length; /* 0: none kept */
};
/* "2026-12-31T23:59:59.1234567" of a FILETIME, the letters Z or an offset not included. */
void dump_time(struct text_buffer *b, struct dump_clock *clock, int64_t filetime);

/* In quotation marks, those inside doubled; line ends and other controls become blanks, so an event stays a line. */
void dump_quoted(struct text_buffer *b, const char *text, size_t size);

#endif
