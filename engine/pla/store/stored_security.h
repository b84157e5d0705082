/* SPDX-License-Identifier: MIT */
/* The descriptor of a set in its file: behind the XML stands one processing instruction with the text of its Security,
   so that who asks for thousands of sets parses none. The XML stays the truth: the instruction says of which XML it
   is, and one of another is none. */
#ifndef OPENPLA_STORED_SECURITY_H
#define OPENPLA_STORED_SECURITY_H

#include "engine/base/text.h"

/* Behind the XML, which is all of the content so far. A text that cannot stand there is left out. */
void stored_security_add(struct text_buffer *content, const char *security);
/* Cuts the instruction off the end of the text; returns the descriptor in it, terminated, or NULL: the XML has to be
   asked. */
char *stored_security_cut(char *xml, size_t *size);

#endif
