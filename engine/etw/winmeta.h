/* SPDX-License-Identifier: MIT */
/* What Windows defines for all providers (its winmeta.xml): levels, opcodes, tasks, channels, keywords. */
#ifndef OPENPLA_WINMETA_H
#define OPENPLA_WINMETA_H

#include "engine/etw/provider_manifest.h"

/* By the name without "win:", or by the value; constants. NULL: there is nothing. */
const struct manifest_field *winmeta_by_name(enum manifest_kind kind, const char *name);
const struct manifest_field *winmeta_by_value(enum manifest_kind kind, uint64_t value);
/* The English text that Windows shows for a name, which begins with "win:"; NULL: none. */
const char *winmeta_text(const char *name);
/* The same of what has that value. */
const char *winmeta_text_of(enum manifest_kind kind, uint64_t value);

#endif
