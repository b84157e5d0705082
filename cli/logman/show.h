/* SPDX-License-Identifier: MIT */
/* What `logman query` prints, in the columns and words that scripts take apart. */
#ifndef OPENPLA_LOGMAN_SHOW_H
#define OPENPLA_LOGMAN_SHOW_H

#include "cli/logman/line.h"
#include "engine/pla/model.h"

/* The table of sets. */
HRESULT logman_show_list(struct object *collection);
/* Each set of the collection as the next one. */
HRESULT logman_show_all_sets(struct object *collection, bool session);
/* One set: its own lines, and a block for each collector. */
HRESULT logman_show_set(struct object *set, bool session);
/* All providers that are known here, those of a process, or what one of them has: keywords, levels, processes. */
HRESULT logman_show_providers(const struct logman_line *line);

/* All providers that are known here, or with -pid those of the process; a reference to their collection. */
HRESULT logman_list_providers(const struct logman_line *line, struct object **out);
/* "Counter", "Trace" ... */
const char *logman_type_of(const struct object *collector);

#endif
