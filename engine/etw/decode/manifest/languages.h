/* SPDX-License-Identifier: MIT */
/* Languages of resources: their names and Windows' numbers (MS-LCID). */
#ifndef OPENPLA_LANGUAGES_H
#define OPENPLA_LANGUAGES_H

#include <stdbool.h>
#include <stdint.h>

/* In any case. False: we know no number for it. */
bool language_number(const char *name, uint16_t *number);
/* One that we do not know has the name of its language without its country, else "": neutral. */
const char *language_name(uint16_t number);

#endif
