/* SPDX-License-Identifier: MIT */
/* Natively there are no other processes that call: who asks is described. */
#include "engine/base/caller.h"

#include "engine/base/host.h"

const struct caller caller_self = {.in_process = true};

char *caller_account(const struct caller *caller)
{
    return caller->in_process ? host_user_name() : text_copy(caller->account ? caller->account->name : "");
}

char *caller_sid(const struct caller *caller)
{
    return text_copy(!caller->in_process && caller->account ? caller->account->user : "");
}
