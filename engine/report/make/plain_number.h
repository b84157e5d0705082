/* SPDX-License-Identifier: MIT */
/* Numbers as reports have them: what reads XPath 1.0 knows no exponents. */
#ifndef OPENPLA_PLAIN_NUMBER_H
#define OPENPLA_PLAIN_NUMBER_H

#include "engine/base/text.h"

/* The fewest digits, 6 or more, that read back as the same number, without an exponent, a separator or a sign of zero;
   nothing for what is not finite. */
void plain_number_add(struct text_buffer *out, double value);

#endif
