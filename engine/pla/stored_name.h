/* SPDX-License-Identifier: MIT */
/* What stands behind the XML in a set's file, one processing instruction: the name as it was committed, as the file's
   own name has lost its case, and the account that made the set. */
#ifndef OPENPLA_STORED_NAME_H
#define OPENPLA_STORED_NAME_H

#include "engine/base/text.h"

#define DEFINITION_MAX   ((16u << 20) + 4096) /* bytes of a file; no longer XML is taken */
#define STORED_LINE_MAX  4096                 /* bytes that hold the instruction, whatever it says */
#define STORED_OWNER_MAX 600                  /* bytes; Windows' names of domain and user have 256 characters each */

/* owner "": nobody */
void stored_name_add(struct text_buffer *content, const char *name, const char *owner);
/* Whether an account's name can stand there. */
bool stored_owner_fits(const char *owner);
/* Cuts the instruction off the end of the text; returns where the name begins in it, terminated, or NULL. */
char *stored_name_cut(char *xml, size_t *size);
/* The same; *owner, terminated and never NULL, is whose the set is, "" for nobody's. */
char *stored_line_cut(char *xml, size_t *size, const char **owner);

#endif
