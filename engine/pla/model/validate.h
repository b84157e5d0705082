/* SPDX-License-Identifier: MIT */
/* What the validate hooks of the classes tell of an object with: MS-PLA 2.2.2.11; behaviour 6. */
#ifndef OPENPLA_VALIDATE_H
#define OPENPLA_VALIDATE_H

#include "engine/pla/model.h"

enum { FORMAT_PATTERN = 0x0001 /* plaPattern of AutoPathFormat */ };

/* Properties that the set's namespace has no use for, whatever they hold: keys of the map, NULL at the end. */
struct unused {
    const char *const *properties;
    const char *why;
};
struct validation {
    struct object *issues;                /* a plaValidation map */
    const struct data_collector_set *set; /* the rows of the set that the object is, or is in */
    const struct unused *unused;
    size_t unused_count;
    struct object *rows; /* the object whose rows are told of; NULL: all are as if somebody chose them */
    const char *path;    /* "PerformanceCounterDataCollector[1]/", NULL: the set itself; borrowed */
};
/* Told when it is so. */
struct finding {
    bool when;
    HRESULT found;
    const char *property, *why;
};
/* Adds an item unless the map says already that the property is ignored: no rule for its value matters then. That a
   value is ignored is told of those alone that somebody chose (object_row_is_chosen). */
HRESULT validation_tell(const struct validation *v, HRESULT found, const char *property, const char *why);
HRESULT validation_tell_all(const struct validation *v, const struct finding *findings, size_t count);
/* Whether the property is one of `unused`: no rule for its value matters then. */
bool validation_skips(const struct validation *v, const char *property);
/* set_validate of a set in whose namespace these properties are not used. */
HRESULT set_validate_without(struct object *set, const struct unused *unused, size_t count, struct object *issues);
/* PLA_S_PROPERTY_IGNORED of each; NULL at the end. */
HRESULT validation_unused(const struct validation *v, const char *const *properties, const char *why);

#endif
