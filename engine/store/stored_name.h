/* SPDX-License-Identifier: MIT */
/* The name of a set in its file: behind the XML stands one processing instruction with the name as it was committed, as
   the file's own name has lost its case. */
#ifndef OPENPLA_STORED_NAME_H
#define OPENPLA_STORED_NAME_H

#include "engine/os/text.h"

#define DEFINITION_MAX ((16u << 20) + 4096) /* bytes of a file; no longer XML is taken */

void stored_name_add(struct text_buffer *content, const char *name);
/* Cuts the instruction off the end of the text; returns where the name begins in it, terminated, or NULL. */
char *stored_name_cut(char *xml, size_t *size);

#endif
