/* SPDX-License-Identifier: MIT */
/* This process as one of those that share the directory: its slot, the sessions that it has mapped, and the one thread
   that waits for changes, for the ends of hosts, and for moments at which mappings can go. There is none of it before
   the first registration. */
#ifndef OPENPLA_PROVIDER_SESSIONS_H
#define OPENPLA_PROVIDER_SESSIONS_H

#include "engine/etw/provider/provider_table.h"

/* A registration from provider_begin takes part: the directory knows of it, and it is enabled with what there is, its
   callback having been called on this thread. Does not wait for other threads but for moments, so a DllMain may call
   it. *said: what a classic callback returned. An error code of Windows; then the registration has ended. */
ULONG provider_join(uint64_t handle, const GUID *guid, bool classic, ULONG *said);
/* provider_end, and the directory knows of it no more. */
ULONG provider_part(uint64_t handle, bool classic);
/* The registration is enabled as a member of the group, too. */
ULONG provider_join_group(uint64_t handle, const GUID *group);
/* The registration's provider calls itself so. */
void provider_tell_name(uint64_t handle, const char *name);

/* The session of a logger's number, mapped if it is not. The thread must be inside, and stays so, also when a mapping
   had to be made, for which it is outside for a while. `anew`: the one that it gave before is over. NULL: there is none
   that runs. */
struct provider_session *provider_session_of(struct provider_thread *t, uint32_t logger, bool anew);

/* Enables anew by what the directory says now (handle 0: all registrations; then sessions that are over end here), and
   calls back. S_FALSE: there is no provider in this process. */
HRESULT provider_refresh(uint64_t handle);

/* directory_wait_applied, also from a callback, which is then taken for one that has returned: else it would wait for
   itself. */
HRESULT provider_wait_applied(struct directory *d, const GUID *provider, uint64_t generation, uint32_t timeout_ms);

/* A thread of the process is ending (DLL_THREAD_DETACH). Enters no lock. */
void provider_thread_leaves(void);

uint64_t provider_event_key(void);     /* EVENT_HEADER_EXT_TYPE_EVENT_KEY */
uint64_t provider_start_key(void);     /* EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY */
uint32_t provider_next_sequence(void); /* EVENT_TRACE_USE_GLOBAL_SEQUENCE */
ULONG provider_status(HRESULT hr);     /* the error code that a function of Windows gives for it */

#endif
