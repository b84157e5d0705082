/* SPDX-License-Identifier: MIT */
/* What the validate hooks of the classes tell of an object with: MS-PLA 2.2.2.11; behaviour 6. */
#ifndef OPENPLA_VALIDATE_H
#define OPENPLA_VALIDATE_H

#include "engine/model/model.h"

enum { FORMAT_PATTERN = 0x0001 /* plaPattern of AutoPathFormat */ };

struct validation {
    struct object *issues;                /* a plaValidation map */
    const struct data_collector_set *set; /* the rows of the set that the object is, or is in */
    const char *path;                     /* "PerformanceCounterDataCollector[1]/", NULL: the set itself; borrowed */
};
/* Told when it is so. */
struct finding {
    bool when;
    HRESULT found;
    const char *property, *why;
};
/* Adds an item unless the map says already that the property is ignored: no rule for its value matters then. */
HRESULT validation_tell(const struct validation *v, HRESULT found, const char *property, const char *why);
HRESULT validation_tell_all(const struct validation *v, const struct finding *findings, size_t count);
/* PLA_S_PROPERTY_IGNORED of each; NULL at the end. */
HRESULT validation_unused(const struct validation *v, const char *const *properties, const char *why);

#endif
