/* SPDX-License-Identifier: MIT */
/* Access control of sessions and providers with the security descriptors that Windows stores for their GUIDs. */
#ifndef OPENPLA_TRACE_SECURITY_H
#define OPENPLA_TRACE_SECURITY_H

#include "engine/etw/etw_types.h"

/* The WMIGUID_* and TRACELOG_* rights that are checked here. */
enum {
    TRACE_RIGHT_QUERY = 0x1,
    TRACE_RIGHT_CREATE_REALTIME = 0x20,
    TRACE_RIGHT_CREATE_ONDISK = 0x40,
    TRACE_RIGHT_GUID_ENABLE = 0x80,
    TRACE_RIGHT_LOG_EVENT = 0x200,
    TRACE_RIGHT_ACCESS_REALTIME = 0x400,
    TRACE_RIGHT_REGISTER_GUIDS = 0x800,
    TRACE_RIGHT_ALL = 0x120FFF,
};
/* Checks whether the caller has these rights. The registered descriptor of the GUID decides. A GUID without a
   registered descriptor uses the registered default. Returns ERROR_ACCESS_DENIED, with an error text, if this
   descriptor cannot be read or does not grant all of the rights. If neither is registered, everything is allowed,
   because under Wine all processes belong to one user. The native build always allows everything. While no descriptor
   is registered, the registry is read at most once a second. */
ULONG trace_allowed(const GUID *guid, uint32_t rights);

/* Returns the rights that starting or changing a session with these properties requires. */
static inline uint32_t trace_rights_of_session(bool real_time, bool has_file)
{
    return (real_time ? TRACE_RIGHT_CREATE_REALTIME : 0) | (has_file || !real_time ? TRACE_RIGHT_CREATE_ONDISK : 0);
}

#ifdef _WIN32
/* Returns whether these bytes are one complete self-relative descriptor. */
bool trace_is_descriptor(const uint8_t *bytes, size_t size);
#endif

#endif
