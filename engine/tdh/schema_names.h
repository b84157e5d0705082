/* SPDX-License-Identifier: MIT */
/* Names that every provider's events may have without declaring them: those of winmeta. */
#ifndef OPENPLA_SCHEMA_NAMES_H
#define OPENPLA_SCHEMA_NAMES_H

#include <stdint.h>

/* NULL: it has none. */
const char *standard_level_name(uint8_t level);
const char *standard_opcode_name(uint8_t opcode);

#endif
