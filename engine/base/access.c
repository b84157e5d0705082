/* SPDX-License-Identifier: MIT */
/* Who a caller is, by descriptors that hold for one account alone. */
#include "engine/base/access.h"

#include "engine/base/memory.h"

static bool passes(const struct caller *caller, const char *descriptor)
{
    static const struct access_rights one = {1, 1, 1, 1};
    struct access_subject *subject;
    bool allowed = false;
    if (FAILED(access_open(caller, &subject)))
        return false;
    if (FAILED(access_allows(subject, descriptor, &one, 1, &allowed)))
        allowed = false;
    access_close(subject);
    return allowed;
}

bool access_is_administrator(const struct caller *caller)
{
    return passes(caller, "D:(A;;1;;;SY)(A;;1;;;BA)");
}

bool access_is_account(const struct caller *caller, const char *sid)
{
    char *descriptor = text_format("D:(A;;1;;;%s)", sid);
    const bool is = descriptor && passes(caller, descriptor);
    memory_free(descriptor);
    return is;
}
