/* SPDX-License-Identifier: MIT */
/* Sets of another computer, reached by DCOM without the host OS' COM, so that they also work in the native build and
   under Wine. A set object stores its properties in this process, and forwards its verbs to the PLA server of the other
   computer, which may be OpenPLA's or Windows' (MS-PLA). */
#ifndef OPENPLA_REMOTE_SETS_H
#define OPENPLA_REMOTE_SETS_H

#include "engine/pla/model.h"

/* Works like sets_create and sets_collection_create, for a server of the form "name", "name:port" or "[address]:port".
   Logs on with the account that remote_account_find returns. */
HRESULT remote_sets_create(const char *category, struct object **out);
HRESULT remote_sets_collection_create(const char *category, struct object **out);
/* The verbs of these sets. Other tables of verbs (com/facade/facade.c) also forward calls to these verbs. They forward
   `query` and `commit` if the client names another server. They always forward `set_credentials` and `destroyed`. They
   forward all other calls while remote_sets_is_bound returns true. */
extern const struct set_verbs remote_sets_verbs;
bool remote_sets_is_bound(struct object *set);
/* Call this when the set has been bound to this computer. Releases the server object and the connection. */
void remote_sets_forget(struct object *set);
/* Works like remote_sets_verbs.list, but calls `create` to create the set objects. */
HRESULT remote_sets_list(struct object *collection, const char *space, const char *pattern, const char *server,
                         HRESULT (*create)(const char *category, struct object **out));

#endif
