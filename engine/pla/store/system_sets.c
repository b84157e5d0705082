/* SPDX-License-Identifier: MIT */
#include "engine/pla/system_sets.h"

#include "engine/base/text.h"

#include <stddef.h>

const struct system_set *system_set_find(const char *name)
{
    for (const struct system_set *set = system_sets; set->name; set++)
        if (text_equal_nocase(set->name, name))
            return set;
    return NULL;
}

bool system_set_is_one(const char *space, const char *name)
{
    return text_equal_nocase(space, SYSTEM_SPACE) && system_set_find(name);
}
