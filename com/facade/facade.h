/* SPDX-License-Identifier: MIT */
/* Sets in a client's process. Such a set stores its properties itself and forwards its verbs to the OpenPLA server
   (DECISIONS 17). The set keeps a reference to its peer, the server's object that is bound to the same name. */
#ifndef OPENPLA_FACADE_H
#define OPENPLA_FACADE_H

#include "com/facade/own_members.h"
#include "engine/pla/model.h"

/* Like sets_create and sets_collection_create. Each verb of a set is forwarded to this computer's server or, on
   Windows, to the server of the named computer. The server has a separate class for each namespace. The server is
   started when it is first needed, and again if it has exited. */
HRESULT facade_set_create(const char *category, struct object **out);
HRESULT facade_collection_create(const char *category, struct object **out);

/* The peer of a set in a client's process. */
/* A peer is created together with its set. The set's lock protects the peer's fields. */
struct peer {
    IDispatch *set;           /* the server's object; NULL: not requested yet, or its server has exited */
    struct server_list *list; /* list from which `set` can be taken without an activation; NULL: none */
    uint32_t listed_at;       /* the set's index in `list` */
    char *user, *password;    /* credentials that were set after the last Query; NULL: none */
    char *folder;             /* the result of sets_folder_key when the set was bound */
};
struct peer *peer_of(struct object *set);
void peer_destroy(struct peer *peer); /* NULL is allowed */

/* Returns the server's class for the sets of a namespace, or for their collections. */
const CLSID *peer_class_of(const char *space, bool collections);
/* Creates an object of the server, and binds the object to the name. */
HRESULT peer_query(const char *space, const char *name, const char *machine, bool damaged, IDispatch **out);
/* Makes `set` the peer's object (NULL: none) if the peer's object is still `before`, or if `any` is true. Takes
   ownership of the reference in any case. */
void peer_keep(struct object *o, IDispatch *set, bool any, IDispatch *before);
/* Records that the peer's object is an item of the server's list. The item is fetched when it is needed. The set must
   be new, so that no other thread uses it. */
void peer_keep_listed(struct object *o, struct server_list *list, uint32_t index);
/* Gets the status of a bound set from the list to which the set belongs, unless the set has already fetched the
   server's object. False: read the status from the server's object. */
bool peer_listed_status(struct object *o, uint32_t *status);
/* Gets the account and the definition of a bound set from the list to which the set belongs. False: read both from the
   server's object. */
bool peer_listed_definition(struct object *o, char **account, char **xml);
/* Returns the computer's name as it was passed to the set; NULL for this computer. From memory_alloc. */
HRESULT peer_machine(const char *server, char **machine);
/* Calls a verb of a bound set, like server_invoke. If the server had already exited, the verb is sent once more, to a
   new server. */
HRESULT peer_verb(struct object *o, const char *space, const char *name, const WCHAR *member, WORD flags,
                  const VARIANT *arguments, UINT count, VARIANT *result);

#endif
