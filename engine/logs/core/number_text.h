/* SPDX-License-Identifier: MIT */
/* Doubles as text with the digits Windows' logs have: C's "%.20g", the same on every host and in every locale. */
#ifndef OPENPLA_NUMBER_TEXT_H
#define OPENPLA_NUMBER_TEXT_H

#include <stddef.h>

enum { NUMBER_TEXT_SIZE = 32 }; /* "-1.7976931348623157081e+308" and a NUL fit */

/* Writes value with a NUL behind and returns the length without it. The text is glibc's for "%.20g" in the C locale:
   correctly rounded, exact ties to even, two digits of exponent or more, "-0", "inf", "-inf", "nan", "-nan". */
size_t number_text(double value, char text[NUMBER_TEXT_SIZE]);

#endif
