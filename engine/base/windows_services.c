/* SPDX-License-Identifier: MIT */
/* Frees rows of WMI results, on every host OS. */
#include "engine/base/windows_services.h"

#include "engine/base/memory.h"

void management_row_free(struct management_row *row)
{
    for (size_t i = 0; row && i < row->count; i++) {
        memory_free(row->values[i].name);
        texts_free(&row->values[i].texts);
    }
    if (row)
        memory_free(row->values);
    memory_free(row);
}
