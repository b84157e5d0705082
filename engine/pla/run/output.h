/* SPDX-License-Identifier: MIT */
/* Where a run writes: what must be there before it starts, the folders and names of its files. */
#ifndef OPENPLA_OUTPUT_H
#define OPENPLA_OUTPUT_H

#include "engine/pla/run/run_set.h"

/* The set's RootPath exists, or is created (set_creates_root): HRESULT of ERROR_PATH_NOT_FOUND. */
HRESULT output_check_root(const struct data_collector_set *set);
/* MS-PLA 3.2.4.2: what the data manager wants to have before a set starts (behaviour 14); folders of the set's own runs
   go by its policy before it fails. PLA_E_NO_MIN_DISK, PLA_E_TOO_MANY_FOLDERS. */
HRESULT output_check_resources(const struct run_set *r);
/* The file of a collector in `folder`, from memory_alloc. `follows`: the segment continues a run, so a file in the way
   that the set's names cannot avoid gets the serial number added (behaviour 5). */
HRESULT output_file(struct object *collector, const char *folder, const struct name_context *context, bool follows,
                    char **out);

#endif
