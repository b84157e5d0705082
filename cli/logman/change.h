/* SPDX-License-Identifier: MIT */
/* What the options of a line make of a set and its collector (facts of each option: docs/user/logman.md). */
#ifndef OPENPLA_LOGMAN_CHANGE_H
#define OPENPLA_LOGMAN_CHANGE_H

#include "cli/logman/line.h"
#include "engine/pla/model.h"

/* Puts the properties. `session`: the set is a trace session's (-ets); `create`: what is not given gets logman's own
   defaults. Remarks of what was taken for something else are added to `remarks`. E_INVALIDARG with a text that names
   option and value; the objects may hold some of the line then. */
HRESULT logman_change(const struct logman_line *line, struct object *set, struct object *collector, bool session,
                      bool create, struct texts *remarks);

/* Puts a number, a flag as 0 or 1. */
HRESULT logman_put_u32(struct object *o, const char *property, uint32_t number);

#endif
