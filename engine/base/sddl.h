/* SPDX-License-Identifier: MIT */
/* Security descriptors as texts, taken apart: MS-DTYP 2.5.1. */
#ifndef OPENPLA_SDDL_H
#define OPENPLA_SDDL_H

#include "engine/base/wintypes.h"

/* An account by its number. It need not be one of this machine. */
struct sid {
    char alias[3]; /* two letters of an account whose number only its machine or domain knows; else "" */
    uint8_t count;
    uint64_t authority;
    uint32_t parts[15];
};
/* S-1-... or an alias of two letters, of `length` bytes. */
bool sid_read(const char *text, size_t length, struct sid *out);
bool sid_equal(const struct sid *a, const struct sid *b);

struct sddl_entry {
    bool denies;
    bool blind; /* holds for an object or on a condition, which nobody here looks at */
    uint32_t rights;
    struct sid account;
};
/* The DACL with its owner; what is for heirs alone and what audits is left out. */
struct sddl {
    bool has_owner, has_group;
    struct sid owner, group;
    size_t count, capacity;
    struct sddl_entry *entries;
};
/* E_INVALIDARG, *why says why (static): for a text that is none, for one without a DACL or with none that restricts
   anybody (NO_ACCESS_CONTROL), for rights, flags or accounts that are not known. sddl_free also on failure. */
HRESULT sddl_read(const char *text, struct sddl *out, const char **why);
void sddl_free(struct sddl *descriptor);

#endif
