/* SPDX-License-Identifier: MIT */
/* The counter object Recipe, whose kernel file no other object reads. */
#include "engine/pdh/core/table.h"

#define RECIPE_ROWS                                                                                                    \
    COUNTER("Threads", PERF_COUNTER_RAWCOUNT, 0, 0, SUM, "recipe.Threads", "Threads of the process that counts.")

#define OBJECT recipe
#define ROWS   RECIPE_ROWS
#include "engine/pdh/core/counter_rows.inc"

const struct counter_object_type pdh_recipe = {
    .name = "Recipe", .index = 0, .help = "The process that counts.", KERNEL_FILE_OBJECT(recipe)};
