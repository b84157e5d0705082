/* SPDX-License-Identifier: MIT */
/* A cabinet that is being packed, for this layer: what is the same whoever packs. */
#ifndef OPENPLA_CABINET_PACKING_H
#define OPENPLA_CABINET_PACKING_H

#include "engine/pla/cabinet.h"

struct packing {
    const struct cabinet_source *source;
    struct file *out;
    const struct cabinet_watch *watch;
    uint64_t whole, done; /* bytes of the members */
};

/* What stands of a member in its CFFILE row. */
struct packed_row {
    uint16_t date, time, attributes;
};
struct packed_row packing_row(const struct cabinet_member *member);
/* `size` bytes of the member, which was opened as `in`; PLA_E_CABAPI_FAILURE when there are fewer. Counts them, and
   asks the watch. */
HRESULT packing_read(struct packing *p, size_t member, struct file *in, uint64_t at, void *data, size_t size);
/* Whether a new folder begins with the member, where `taken` bytes are in the one before. */
bool packing_begins_folder(const struct cabinet_member *member, uint64_t taken);
HRESULT packing_too_large(void);

/* By the host's packer: all members, whose names and sizes have been judged. */
HRESULT packing_write(struct packing *p);

#endif
