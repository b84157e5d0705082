/* SPDX-License-Identifier: MIT */
/* Who may do what with a session or a provider: the descriptors that Windows keeps by their GUIDs. */
#ifndef OPENPLA_TRACE_SECURITY_H
#define OPENPLA_TRACE_SECURITY_H

#include "engine/etw/etw_types.h"

/* WMIGUID_* and TRACELOG_*, as far as something asks for them. */
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
/* ERROR_SUCCESS, or ERROR_ACCESS_DENIED with a text: the descriptor of the GUID, else the default that is registered
   for all, gives the caller not all of these rights, or cannot be read. Where none is registered, everybody may do
   everything: on this host everybody is who started it. Natively always so. Costs nothing while nothing is
   registered. */
ULONG trace_allowed(const GUID *guid, uint32_t rights);

/* Those that a session needs of who starts or changes it. */
static inline uint32_t trace_rights_of_session(bool real_time, bool has_file)
{
    return (real_time ? TRACE_RIGHT_CREATE_REALTIME : 0) | (has_file || !real_time ? TRACE_RIGHT_CREATE_ONDISK : 0);
}

#ifdef _WIN32
/* Whether these bytes are one whole self-relative descriptor. */
bool trace_is_descriptor(const uint8_t *bytes, size_t size);
#endif

#endif
