/* SPDX-License-Identifier: MIT */
/* Checks the access of accounts that are described by their SIDs. Does not call the host OS (MS-DTYP 2.5.3.2). */
#include "engine/base/base_private.h"

#include <string.h>

enum { RIGHT_READ_CONTROL = 0x20000, RIGHT_WRITE_DAC = 0x40000 }; /* Windows' names lack the prefix RIGHT_ */

static bool sid_is(const char *text, const struct sid *account)
{
    struct sid own;
    return sid_read(text, strlen(text), &own) && sid_equal(&own, account);
}

static bool account_holds(const struct account_sids *a, const struct sid *account, bool denies)
{
    bool holds = sid_is(a->user, account);
    for (const char *const *group = a->groups; !holds && group && *group; group++)
        holds = sid_is(*group, account);
    for (const char *const *group = a->deny_only; !holds && denies && group && *group; group++)
        holds = sid_is(*group, account);
    return holds;
}

static bool denies_unknown_account(const struct sddl_entry *e)
{
    return e->denies && *e->account.alias;
}

static uint32_t account_granted(const struct sddl *d, const struct account_sids *a, const struct access_rights *kind)
{
    static const struct sid owner_rights = {.count = 1, .authority = 3, .parts = {4}};
    const bool owner = d->has_owner && account_holds(a, &d->owner, false);
    bool has_owner_rights = false;
    for (size_t i = 0; i < d->count; i++)
        has_owner_rights = has_owner_rights || sid_equal(&d->entries[i].account, &owner_rights);
    uint32_t granted = owner && !has_owner_rights ? RIGHT_READ_CONTROL | RIGHT_WRITE_DAC : 0, denied = 0;
    for (size_t i = 0; i < d->count; i++) {
        const struct sddl_entry *e = &d->entries[i];
        const uint32_t rights = access_map(e->rights, kind);
        if (denies_unknown_account(e))
            return 0;
        if (!account_holds(a, &e->account, e->denies) && !(owner && sid_equal(&e->account, &owner_rights)))
            continue;
        if (e->denies)
            denied |= rights & ~granted;
        else if (!e->blind)
            granted |= rights & ~denied;
    }
    return granted;
}

HRESULT account_allows(const struct account_sids *account, const char *descriptor, const struct access_rights *kind,
                       uint32_t rights, bool *allowed)
{
    struct sddl d;
    const char *why;
    *allowed = false;
    HRESULT hr = sddl_read(descriptor, &d, &why);
    if (SUCCEEDED(hr))
        *allowed = (account_granted(&d, account, kind) & rights) == rights;
    sddl_free(&d);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}
