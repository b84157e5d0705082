/* SPDX-License-Identifier: MIT */
/* The entry of calls from other processes into the server: identifies the caller, checks how the call is protected, and
   limits what each client may use. All this happens before any argument of the call is read. */
#ifndef OPENPLA_CALL_ENTRY_H
#define OPENPLA_CALL_ENTRY_H

#include "engine/base/quotas.h"
#include "engine/base/security.h"

#include <objbase.h>
#include <windows.h>

/* Returns the caller of the current call; caller_self for a call within this process. Valid while the call runs. Fast,
   because it does not look up the account. */
struct caller com_caller(void);
/* From now on, this thread's calls act for the remote account, which is borrowed; NULL ends this. The account must have
   logged on with packet privacy. */
void call_serve_account(const struct account_sids *account);

/* The resources of the server that a client uses: running calls, objects, and the memory of these objects (the quotas
   "requests", "objects" and "memory"). A client is a process of this computer, or an account of another computer. */
struct client_use;

/* Counts a call of the client; end it with client_use_end. Fails with HRESULT_FROM_WIN32(RPC_S_SERVER_TOO_BUSY) if the
   call exceeds the client's quota, or with E_OUTOFMEMORY. */
HRESULT client_use_begin(const struct caller *caller, struct client_use **out);
void client_use_end(struct client_use *use);
/* Counts an object for the client until client_use_drop, even after the client has exited. Fails with
   HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA) if the object exceeds the client's quota. If `use` is NULL, there is no
   limit. */
HRESULT client_use_take(struct client_use *use);
void client_use_drop(struct client_use *use);
/* Returns the memory share that counts the client's memory; borrowed. Returns NULL for NULL. */
struct memory_share *client_use_share(struct client_use *use);

typedef HRESULT WINAPI query_client_blanket(DWORD *service, DWORD *authorization, OLECHAR **principal, DWORD *level,
                                            DWORD *impersonation, RPC_AUTHZ_HANDLE *privileges, DWORD *capabilities);
/* Checks that the current call uses packet privacy (MS-PLA 2.1). `query` is CoQueryClientBlanket. Fails with
   E_ACCESSDENIED if the call has a lower authentication level than packet privacy (the message names this level), or if
   the level is unknown. Wine never reports the level (behaviour 21), so an unknown level is accepted if `wine` is
   set. */
HRESULT call_check_level(query_client_blanket *query, bool wine);

/* Turns on the checks and counts of calls into this process. Called by openplasrv.exe, not by clients. */
void call_entry_guard(void);

/* A call that is being served; lives on the stack. Nested calls of the same thread belong to the outermost one. */
struct call_entry {
    bool counted;
};
/* Begins a client's call. Fails with E_ACCESSDENIED (call_check_level), HRESULT_FROM_WIN32(RPC_S_SERVER_TOO_BUSY)
   (client_use_begin) or E_OUTOFMEMORY. In this case return the failure to the client, and do not call call_leave. Calls
   within this process always succeed. */
HRESULT call_enter(struct call_entry *call);
void call_leave(struct call_entry *call);
/* Returns the client whose call this thread serves; NULL if the call is not counted. */
struct client_use *call_client(void);

#endif
