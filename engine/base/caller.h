/* SPDX-License-Identifier: MIT */
/* Who asks for something: the process that a verb is called from, and its account. */
#ifndef OPENPLA_CALLER_H
#define OPENPLA_CALLER_H

#include "engine/base/text.h"

/* An account by its SIDs, where there are no tokens. */
struct account_sids {
    const char *name; /* for events */
    const char *user;
    const char *const *groups;    /* NULL at the end; NULL: none */
    const char *const *deny_only; /* groups that only what is denied holds for */
};
struct caller {
    bool in_process;  /* this process itself: nothing can be kept from it */
    uint32_t process; /* id of another one; 0: it is on another machine, or cannot be told */
    /* Opens the token of the account that the running call acts for; NULL: the process's own. Windows alone. */
    HRESULT (*token)(void **out);
    const struct account_sids *account; /* natively alone: who it is; NULL: cannot be told */
};
/* What this process does for itself. */
extern const struct caller caller_self;

/* DOMAIN\user, the SID's text where the account has no name, "" where it cannot be told. From memory_alloc, NULL when
   out of memory. To be asked for as long as the call runs. */
char *caller_account(const struct caller *caller);
/* Its SID's text, "" where it cannot be told and natively for this process itself. The same. */
char *caller_sid(const struct caller *caller);

#endif
