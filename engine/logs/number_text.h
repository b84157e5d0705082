/* SPDX-License-Identifier: MIT */
/* Doubles as the text that logs have, without regard to locale: written as C's "%.20g" or with as few digits as read
   back the same, identical on every host, and read correctly rounded. */
#ifndef OPENPLA_NUMBER_TEXT_H
#define OPENPLA_NUMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* "-1.7976931348623157081e+308", a NUL, and what writing eight characters at a time needs behind the text */
enum { NUMBER_TEXT_SIZE = 48 };

/* Writes value and a NUL and returns the length without it. The text is glibc's for "%.20g" in the C locale:
   correctly rounded, exact ties to even, two digits of exponent or more, "-0", "inf", "-inf", "nan", "-nan". */
size_t number_text(double value, char text[NUMBER_TEXT_SIZE]);

/* The fewest significant digits, `least` or more, that read back as the same double, or with `is_float` as the same
   float, in the form of C's "%.*g" with that precision. `least` is at most 15, of a float 6. */
size_t number_text_shortest(double value, int least, bool is_float, char text[NUMBER_TEXT_SIZE]);

/* Reads digits with an optional sign, `point` and exponent from `at` on and ignores what follows. Returns the position
   after the number, or NULL if `at` does not start with a number. A number written by number_text gives the same
   characters when it is read and written again. Out of range: infinity or zero, as with strtod. */
const char *number_read(const char *at, const char *end, char point, double *out);

#endif
