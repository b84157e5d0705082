/* SPDX-License-Identifier: MIT */
/* Messages with their inserts, as FormatMessage and TDH have them. */
#ifndef OPENPLA_MESSAGE_TEXT_H
#define OPENPLA_MESSAGE_TEXT_H

#include "engine/etw/decode/manifest/message_tables.h"

/* Adds the message: inserts[0] in the place of %1 and of %1!s! (%1 to %99; one that is not there, or NULL, and one with
   another form behind it, stay as they are), %n a new line, %t a tab, %b a blank, %r a carriage return, %0 the end, %%
   a percent sign; %%n, also within an insert, is message n of `parameters` where that has one (NULL: none). */
void message_text_add(struct text_buffer *out, const char *message, const char *const *inserts, size_t count,
                      const struct message_tables *parameters, const char *languages);
/* How many inserts a message asks for: the highest number in it. */
size_t message_text_inserts(const char *message);

#endif
