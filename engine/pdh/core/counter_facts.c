/* SPDX-License-Identifier: MIT */
/* Looks up counter schemas and the reasons why Windows counters do not exist here. */
#include "engine/pdh/counter_facts.h"

#include "engine/base/text.h"

#include <stdio.h>
#include <string.h>

const struct counter_schema *counter_row(const char *object, const char *counter)
{
    for (size_t i = 0; i < counter_object_type_count; i++) {
        const struct counter_object_type *p = counter_object_types[i];
        for (uint32_t k = 0; text_equal_nocase(p->name, object) && k < p->counter_count; k++)
            if (text_equal_nocase(p->counters[k].name, counter))
                return &p->counters[k];
    }
    return NULL;
}

/* Returns true if the name is an element of a list such as "a | b | c". */
static bool is_among(const char *name, const char *list)
{
    size_t length = strlen(name);
    for (const char *p = list, *bar; *p; p = bar) {
        bar = strstr(p, " | ");
        size_t part = bar ? (size_t)(bar - p) : strlen(p);
        char one[256];
        snprintf(one, sizeof one, "%.*s", (int)part, p);
        if (part == length && text_equal_nocase(one, name))
            return true;
        bar = bar ? bar + 3 : p + part;
    }
    return false;
}

const char *counter_absence(const char *object, const char *counter)
{
    static const struct {
        const char *object, *counters, *reason;
    } rows[] = {
#define ABSENT(object, counters, reason) {object, counters, reason},
#include "engine/pdh/absent_counters.def"
#undef ABSENT
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_among(object, rows[i].object) &&
            (strcmp(rows[i].counters, "*") == 0 || is_among(counter, rows[i].counters)))
            return rows[i].reason;
    return NULL;
}
