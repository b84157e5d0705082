/* SPDX-License-Identifier: MIT */
/* The object Memory, from /proc/meminfo and /proc/vmstat. */
#include "engine/pdh/objects/providers.h"

#define OBJECT memory
#define ROWS   "engine/pdh/objects/memory_counters.def"
#include "engine/pdh/core/counter_rows.inc"

const struct provider pdh_memory = {
    .name = "Memory", .index = 4, .help = "The main memory of this computer.", KEYS_PROVIDER(memory)};
