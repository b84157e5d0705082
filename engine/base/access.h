/* SPDX-License-Identifier: MIT */
/* What a caller may do by a security descriptor. */
#ifndef OPENPLA_ACCESS_H
#define OPENPLA_ACCESS_H

#include "engine/base/caller.h"

/* What the generic rights mean for a sort of things, and all rights there are. */
struct access_rights {
    uint32_t read, write, execute, all;
};
/* The rights that an entry means. */
static inline uint32_t access_map(uint32_t rights, const struct access_rights *kind)
{
    return ((rights & 0x80000000u ? kind->read : 0) | (rights & 0x40000000u ? kind->write : 0) |
            (rights & 0x20000000u ? kind->execute : 0) | (rights & 0x10000000u ? kind->all : 0) | rights) &
           kind->all;
}

/* Who asks, as one call knows him: opened anew for each call and kept for none. */
struct access_subject;
/* E_ACCESSDENIED, with a text: who asks cannot be told. */
HRESULT access_open(const struct caller *caller, struct access_subject **out);
void access_close(struct access_subject *subject); /* NULL is allowed */
/* Whether the descriptor, an SDDL text, gives all of these rights: to this process itself always, else by the entries
   that hold for the caller, in their order, and by what its owner always has. Nothing is given by a text that is no
   descriptor, or that denies something to an account which cannot be told here. */
HRESULT access_allows(const struct access_subject *subject, const char *descriptor, const struct access_rights *kind,
                      uint32_t rights, bool *allowed);

/* Whether the caller is an administrator or the system, and is that account (SID text) or a member of it; this process
   itself is both. false where it cannot be told. */
bool access_is_administrator(const struct caller *caller);
bool access_is_account(const struct caller *caller, const char *sid);

#endif
