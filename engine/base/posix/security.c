/* SPDX-License-Identifier: MIT */
/* Access checks of accounts that are described by their SIDs, as there are no tokens here (MS-DTYP 2.5.3.2). Natively
   no other process calls, so the caller is described too. */
#include "engine/base/security.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"

#include <string.h>

enum { READ_CONTROL = 0x20000, WRITE_DAC = 0x40000 };

struct access_subject {
    const struct caller *caller;
};

HRESULT access_open(const struct caller *caller, struct access_subject **out)
{
    *out = NULL;
    if (!caller->in_process && !caller->account)
        return error_set(E_ACCESSDENIED, "the account of the caller cannot be determined");
    *out = memory_zero(1, sizeof **out);
    if (!*out)
        return E_OUTOFMEMORY;
    (*out)->caller = caller;
    return S_OK;
}

void access_close(struct access_subject *subject)
{
    memory_free(subject);
}

static bool is(const char *text, const struct sid *account)
{
    struct sid own;
    return sid_read(text, strlen(text), &own) && sid_equal(&own, account);
}

static bool holds_for(const struct account_sids *a, const struct sid *account, bool denies)
{
    bool holds = is(a->user, account);
    for (const char *const *group = a->groups; !holds && group && *group; group++)
        holds = is(*group, account);
    for (const char *const *group = a->deny_only; !holds && denies && group && *group; group++)
        holds = is(*group, account);
    return holds;
}

static bool denies_unknown_account(const struct sddl_entry *e)
{
    return e->denies && *e->account.alias;
}

static uint32_t granted_by(const struct sddl *d, const struct account_sids *a, const struct access_rights *kind)
{
    static const struct sid owner_rights = {.count = 1, .authority = 3, .parts = {4}};
    const bool owner = d->has_owner && holds_for(a, &d->owner, false);
    bool has_owner_rights = false;
    for (size_t i = 0; i < d->count; i++)
        has_owner_rights = has_owner_rights || sid_equal(&d->entries[i].account, &owner_rights);
    uint32_t granted = owner && !has_owner_rights ? READ_CONTROL | WRITE_DAC : 0, denied = 0;
    for (size_t i = 0; i < d->count; i++) {
        const struct sddl_entry *e = &d->entries[i];
        const uint32_t rights = access_map(e->rights, kind);
        if (denies_unknown_account(e))
            return 0;
        if (!holds_for(a, &e->account, e->denies) && !(owner && sid_equal(&e->account, &owner_rights)))
            continue;
        if (e->denies)
            denied |= rights & ~granted;
        else if (!e->blind)
            granted |= rights & ~denied;
    }
    return granted;
}

HRESULT access_allows(const struct access_subject *subject, const char *descriptor, const struct access_rights *kind,
                      uint32_t rights, bool *allowed)
{
    struct sddl d;
    const char *why;
    *allowed = subject->caller->in_process;
    if (*allowed)
        return S_OK;
    HRESULT hr = sddl_read(descriptor, &d, &why);
    if (SUCCEEDED(hr))
        *allowed = (granted_by(&d, subject->caller->account, kind) & rights) == rights;
    sddl_free(&d);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* ---- callers ---- */

const struct caller caller_self = {.in_process = true};

char *caller_account(const struct caller *caller)
{
    return caller->in_process ? os_user_name() : text_copy(caller->account ? caller->account->name : "");
}

char *caller_sid(const struct caller *caller)
{
    return text_copy(!caller->in_process && caller->account ? caller->account->user : "");
}
