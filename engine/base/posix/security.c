/* SPDX-License-Identifier: MIT */
/* Access checks for accounts that are described by their SIDs, because there are no tokens on this host OS. In the
   native build no other process makes calls, so the caller, too, is described by its SIDs. */
#include "engine/base/base_private.h"
#include "engine/base/memory.h"

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

HRESULT access_allows(const struct access_subject *subject, const char *descriptor, const struct access_rights *kind,
                      uint32_t rights, bool *allowed)
{
    *allowed = subject->caller->in_process;
    return *allowed ? S_OK : account_allows(subject->caller->account, descriptor, kind, rights, allowed);
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
