/* SPDX-License-Identifier: MIT */
/* The entry of calls from other processes into the server: looked at before anything of what they bring. */
#ifndef OPENPLA_CALL_ENTRY_H
#define OPENPLA_CALL_ENTRY_H

#include "com/server/client_use.h"

#include <objbase.h>
#include <windows.h>

typedef HRESULT WINAPI query_client_blanket(DWORD *service, DWORD *authorization, OLECHAR **principal, DWORD *level,
                                            DWORD *impersonation, RPC_AUTHZ_HANDLE *privileges, DWORD *capabilities);
/* Whether the call that this thread serves came with packet privacy, by CoQueryClientBlanket, which is the argument
   (MS-PLA 2.1). E_ACCESSDENIED, with the level, if it did not, or if that cannot be told: Wine never tells (behaviour
   21), so there, `wine`, that alone refuses nobody. */
HRESULT call_check_level(query_client_blanket *query, bool wine);

/* From now on this process' calls are looked at: openplasrv.exe's. Clients' own are not. */
void call_entry_guard(void);

/* A call, while it is served, on the stack; a part of another one that this thread serves belongs to that. */
struct call_entry {
    bool counted;
};
/* E_ACCESSDENIED (call_check_level), HRESULT of RPC_S_SERVER_TOO_BUSY (client_use.h), E_OUTOFMEMORY: the call is to go
   no further, and call_leave is not to be called. Calls of this process itself are let through. */
HRESULT call_enter(struct call_entry *call);
void call_leave(struct call_entry *call);
/* The client whose call this thread serves; NULL: none that is counted. */
struct client_use *call_client(void);

#endif
