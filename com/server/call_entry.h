/* SPDX-License-Identifier: MIT */
/* The entry of calls from other processes into the server: who calls, how the call is protected, and what each client
   has of the server. A call is checked before anything that it brings is read. */
#ifndef OPENPLA_CALL_ENTRY_H
#define OPENPLA_CALL_ENTRY_H

#include "engine/base/quotas.h"
#include "engine/base/security.h"

#include <objbase.h>
#include <windows.h>

/* caller_self for a call of this process. It is of use as long as the call runs. Fast: it asks for no account. */
struct caller com_caller(void);

/* What each client has of the server: calls that are being served, objects, and memory that these hold (the quotas
   "requests", "objects" and "memory").
   A client is a process of this machine, or an account of another one. */
struct client_use;

/* A call begins; *out, for client_use_end. HRESULT of RPC_S_SERVER_TOO_BUSY beyond the quota, E_OUTOFMEMORY. */
HRESULT client_use_begin(const struct caller *caller, struct client_use **out);
void client_use_end(struct client_use *use);
/* An object is made for the client whose call runs, and counts until client_use_drop, whatever becomes of the client.
   HRESULT of ERROR_NOT_ENOUGH_QUOTA. NULL is nobody, who may have all. */
HRESULT client_use_take(struct client_use *use);
void client_use_drop(struct client_use *use);
/* Where what is made for it counts; borrowed. NULL for NULL. */
struct memory_share *client_use_share(struct client_use *use);

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
/* E_ACCESSDENIED (call_check_level), HRESULT of RPC_S_SERVER_TOO_BUSY (client_use_begin), E_OUTOFMEMORY: the call is to
   go no further, and call_leave is not to be called. Calls of this process itself are let through. */
HRESULT call_enter(struct call_entry *call);
void call_leave(struct call_entry *call);
/* The client whose call this thread serves; NULL: none that is counted. */
struct client_use *call_client(void);

#endif
