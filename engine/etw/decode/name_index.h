/* SPDX-License-Identifier: MIT */
/* Names of a list and their places in it, so that a manifest with many of them takes no time that grows with their
   square. */
#ifndef OPENPLA_NAME_INDEX_H
#define OPENPLA_NAME_INDEX_H

#include "engine/base/text.h"

/* Zero-initialise. */
struct name_index {
    struct name_place {
        const char *name; /* borrowed: it must live as long; NULL: free */
        uint32_t place;
    } * slots;
    size_t used, room; /* a power of two */
};
/* S_FALSE: the name is there already, and stays as it is. */
HRESULT name_index_add(struct name_index *index, const char *name, uint32_t place);
bool name_index_find(const struct name_index *index, const char *name, uint32_t *place);
void name_index_free(struct name_index *index);

#endif
