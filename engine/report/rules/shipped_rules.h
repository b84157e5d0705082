/* SPDX-License-Identifier: MIT */
/* engine/report/rules/packs, made into a table by the build; NULL at the end. */
#ifndef OPENPLA_SHIPPED_RULES_H
#define OPENPLA_SHIPPED_RULES_H

#include "engine/report/schema_files.h"

extern const struct shipped_schema shipped_rules[];

#endif
