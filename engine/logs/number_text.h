/* SPDX-License-Identifier: MIT */
/* Conversion of doubles to and from the text in logs, independent of the locale. Output is C's "%.20g", or the fewest
   digits that read back as the same double; both are identical on every host OS. Reading rounds correctly. */
#ifndef OPENPLA_NUMBER_TEXT_H
#define OPENPLA_NUMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Room for "-1.7976931348623157081e+308", a NUL, and further bytes. The writer overwrites bytes after the NUL, because
   it writes eight characters at a time. */
enum { NUMBER_TEXT_SIZE = 48 };

/* Writes `value` and a NUL and returns the length without the NUL. The text is the same as glibc's for "%.20g" in the C
   locale: correctly rounded, exact ties to even, two digits of exponent or more, "-0", "inf", "-inf", "nan", "-nan". */
size_t number_text(double value, char text[NUMBER_TEXT_SIZE]);

/* Writes as few significant digits as possible, but at least `least`. A reader gets the same double from these digits,
   or the same float if `is_float` is set. The text is that of C's "%.*g" with this number of digits. `least` is at most
   15, or 6 for a float. */
size_t number_text_shortest(double value, int least, bool is_float, char text[NUMBER_TEXT_SIZE]);

/* Reads digits with an optional sign, `point` and exponent from `at` on and ignores what follows. Returns the position
   after the number, or NULL if `at` does not start with a number. Reading the output of number_text and writing it
   again produces the same characters. Numbers out of range become infinity or zero, as with strtod. */
const char *number_read(const char *at, const char *end, char point, double *out);

#endif
