/* SPDX-License-Identifier: MIT */
/* A judged cabinet, for this layer: what is in it, and all its bytes in the order in which they stand. */
#ifndef OPENPLA_CABINET_READER_H
#define OPENPLA_CABINET_READER_H

#include "engine/pla/cabinet.h"

struct cabinet_folder {
    uint32_t data_at;
    uint16_t blocks, packing;
    size_t first, files; /* entries, which stand in the order of their bytes */
};
struct cabinet_place {
    uint32_t offset; /* in its folder's bytes */
    size_t folder;
};
struct cabinet {
    struct file *file;
    bool owned;
    char *name;
    struct cabinet_entry *entries;
    struct cabinet_place *places; /* of the entries */
    size_t count;
    struct cabinet_folder *folders;
    size_t folder_count;
    size_t block_reserve; /* bytes between a block's head and its bytes */
    uint64_t bytes;       /* of all entries */
};

/* What is wrong with the cabinet: PLA_E_CABAPI_FAILURE and its name. */
HRESULT cabinet_fault(const struct cabinet *c, const char *what);

/* Told of each entry: begin, its bytes piece by piece, end. A failure ends the walk and is returned. */
struct cabinet_visitor {
    HRESULT (*begin)(void *user, size_t entry);
    HRESULT (*bytes)(void *user, size_t entry, const uint8_t *data, size_t size);
    HRESULT (*end)(void *user, size_t entry);
    void *user;
};
/* Unpacks all of it, checksums checked. An entry that was begun and not ended is left to the visitor's user. */
HRESULT cabinet_visit(struct cabinet *c, const struct cabinet_visitor *visitor, const struct cabinet_watch *watch);

/* Of a cabinet that nobody says anything about. */
extern const struct cabinet_limits cabinet_limits_usual;

/* Asks the watch: ERROR_CANCELLED's HRESULT. */
HRESULT cabinet_go_on(const struct cabinet_watch *watch, uint64_t done, uint64_t whole);

#endif
