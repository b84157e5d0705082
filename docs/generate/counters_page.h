/* SPDX-License-Identifier: MIT */
/* The page of counters; separate from reference.h, whose sources are others. */
#ifndef OPENPLA_COUNTERS_PAGE_H
#define OPENPLA_COUNTERS_PAGE_H

#include "engine/base/text.h"

/* Adds the whole page; `origin` is the sentence that each file begins with. E_UNEXPECTED for an unknown kind of row. */
HRESULT counters_page(const char *origin, struct text_buffer *b);

#endif
