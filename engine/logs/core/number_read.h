/* SPDX-License-Identifier: MIT */
/* Doubles from the text that logs have them in, correctly rounded and without regard to locale. */
#ifndef OPENPLA_NUMBER_READ_H
#define OPENPLA_NUMBER_READ_H

#include <stdbool.h>

/* Reads digits with an optional sign, `point` and exponent from `at` on; what follows is not looked at. Returns the
   place behind the number, NULL when there is none. number_text of the result is the text, if that is where the text
   is from. Out of range: infinity or zero, as strtod. */
const char *number_read(const char *at, const char *end, char point, double *out);

#endif
