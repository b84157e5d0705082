/* SPDX-License-Identifier: MIT */
/* Whether bytes are a security descriptor: Wine's own function looks at the revision alone, and those that read a
   descriptor believe it. */
#include "engine/etw/controller/trace_security.h"
#include "engine/logs/little_endian.h"

enum { HEAD = 20, ACL_HEAD = 8, ACE_HEAD = 4, ACE_MASK = 4, SID_HEAD = 8, SID_PARTS = 15 };

static bool is_sid(const uint8_t *at, size_t size)
{
    return size >= SID_HEAD && at[0] == SID_REVISION && at[1] <= SID_PARTS && size - SID_HEAD >= at[1] * 4u;
}

static bool is_acl(const uint8_t *at, size_t size)
{
    if (size < ACL_HEAD)
        return false;
    const size_t bytes = get_u16(at + 2), count = get_u16(at + 4);
    size_t offset = ACL_HEAD;
    if (bytes < ACL_HEAD || bytes > size || at[0] < ACL_REVISION || at[0] > ACL_REVISION_DS)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (bytes - offset < ACE_HEAD + ACE_MASK)
            return false;
        const size_t ace = get_u16(at + offset + 2);
        if (ace < ACE_HEAD + ACE_MASK || ace % 4 != 0 || ace > bytes - offset)
            return false;
        /* Allowed, denied, audit: a mask, then the SID. Others are not ours, and Wine skips them. */
        if (at[offset] <= SYSTEM_AUDIT_ACE_TYPE &&
            !is_sid(at + offset + ACE_HEAD + ACE_MASK, ace - ACE_HEAD - ACE_MASK))
            return false;
        offset += ace;
    }
    return true;
}

bool trace_is_descriptor(const uint8_t *bytes, size_t size)
{
    if (size < HEAD || bytes[0] != SECURITY_DESCRIPTOR_REVISION || (get_u16(bytes + 2) & SE_SELF_RELATIVE) == 0)
        return false;
    for (int i = 0; i < 4; i++) { /* owner, group, SACL, DACL */
        const uint32_t offset = get_u32(bytes + 4 + 4 * i);
        if (offset == 0)
            continue;
        if (offset < HEAD || offset >= size || offset % 4 != 0 ||
            !(i < 2 ? is_sid(bytes + offset, size - offset) : is_acl(bytes + offset, size - offset)))
            return false;
    }
    return true;
}
