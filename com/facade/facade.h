/* SPDX-License-Identifier: MIT */
/* Sets in a client's process: they hold their properties themselves and forward the verbs to the server (DECISIONS 17).
   Each keeps a reference to its peer, the server's object that is bound to the same name. */
#ifndef OPENPLA_FACADE_H
#define OPENPLA_FACADE_H

#include "com/facade/own_members.h"
#include "engine/pla/model.h"

/* Like sets_create and sets_collection_create. Verbs of a set are forwarded to the class of its namespace in the server
   of this computer, or on Windows of the named one. The server is started when it is first needed, and again if it has
   exited. */
HRESULT facade_set_create(const char *category, struct object **out);
HRESULT facade_collection_create(const char *category, struct object **out);

/* The peer of a set in a client's process. */
/* Created with the set. The set's lock protects the fields. */
struct peer {
    IDispatch *set; /* bound to the same name; NULL: not requested yet, or gone */
    struct server_list
        *list; /* a list from which `set` can be had as an item, by one call instead of an activation; or NULL */
    uint32_t listed_at;    /* its index there */
    char *user, *password; /* set since the last Query; NULL: none */
    char *folder;          /* sets_folder_key at the time of binding */
};
struct peer *peer_of(struct object *set);
void peer_destroy(struct peer *peer); /* NULL is allowed */

/* The server's class for the sets of a namespace, or for their collections. */
const CLSID *peer_class_of(const char *space, bool collections);
/* Creates an object of the server that is bound to the name. */
HRESULT peer_query(const char *space, const char *name, const char *machine, bool damaged, IDispatch **out);
/* Keeps the object (takes over a reference; NULL: none) unless another one than `before` is already kept; with `any`
   always. */
void peer_keep(struct object *o, IDispatch *set, bool any, IDispatch *before);
/* Records that the object is an item of the server's list, to be fetched when needed. Only for a set that no one else
   has yet. */
void peer_keep_listed(struct object *o, struct server_list *list, uint32_t index);
/* The status of a bound set that has fetched no object yet, from its list; false: ask the set's object. */
bool peer_listed_status(struct object *o, uint32_t *status);
/* The account and definition of a bound set, from its list; false: ask the set's object. */
bool peer_listed_definition(struct object *o, char **account, char **xml);
/* The computer's name as it was passed to the set, NULL for this computer; from memory_alloc. */
HRESULT peer_machine(const char *server, char **machine);
/* Calls a verb of a bound set, like server_invoke. If the server has exited, the verb has reached no object and is sent
   once more to a new server. */
HRESULT peer_verb(struct object *o, const char *space, const char *name, const WCHAR *member, WORD flags,
                  const VARIANT *arguments, UINT count, VARIANT *result);

#endif
