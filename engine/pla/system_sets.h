/* SPDX-License-Identifier: MIT */
/* The sets of the namespace System. The program brings their definitions, so the store has no files of them but those
   of their runs. */
#ifndef OPENPLA_SYSTEM_SETS_H
#define OPENPLA_SYSTEM_SETS_H

#include <stdbool.h>

#define SYSTEM_SPACE "System"

struct system_set {
    const char *name, *xml;
};
/* engine/pla/store/system_sets/, made into a table by the build; NULL at the end. */
extern const struct system_set system_sets[];

/* NULL: there is no such set. The name's case does not matter. */
const struct system_set *system_set_find(const char *name);
/* Whether the program brings a set of that namespace and name. */
bool system_set_is_one(const char *space, const char *name);

#endif
