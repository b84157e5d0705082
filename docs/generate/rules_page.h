/* SPDX-License-Identifier: MIT */
/* The page of all built-in rules. */
#ifndef OPENPLA_RULES_PAGE_H
#define OPENPLA_RULES_PAGE_H

#include "engine/base/text.h"

HRESULT rules_page(struct text_buffer *b);

#endif
