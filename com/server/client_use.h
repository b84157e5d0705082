/* SPDX-License-Identifier: MIT */
/* What each client has of the server: calls that are being served, objects, and memory that these hold (the quotas
   "requests", "objects" and "memory").
   A client is a process of this machine, or an account of another one. */
#ifndef OPENPLA_CLIENT_USE_H
#define OPENPLA_CLIENT_USE_H

#include "engine/base/caller.h"
#include "engine/base/memory_share.h"

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
/* How many clients have something now. */
size_t client_use_count(void);

#endif
