/* SPDX-License-Identifier: MIT */
/* Sets in a client's process: they hold their properties themselves and leave the verbs to the server (DECISIONS 17).
   What such a set keeps of the server, its peer, is the server's object that is bound to the same name. */
#ifndef OPENPLA_FACADE_H
#define OPENPLA_FACADE_H

#include "com/facade/own_members.h"
#include "engine/pla/model.h"

/* As sets_create and sets_collection_create. What they are asked to do with a set goes to the class of its namespace in
   the server, on this machine or, on Windows, on the one that is named; nothing is started before that is needed. A
   server that has ended is asked for anew. */
HRESULT facade_set_create(const char *category, struct object **out);
HRESULT facade_collection_create(const char *category, struct object **out);

/* What a set in a client's process keeps of the server: the server's object that is bound to the same name. */
/* Made by who makes the set; its fields are under the set's lock. */
struct peer {
    IDispatch *set;           /* bound as ours is; NULL: not asked for yet, or gone */
    struct server_list *list; /* where `set` can be had as an item, which is one call and not an activation; or NULL */
    uint32_t listed_at;       /* its index there */
    char *user, *password;    /* that were put since the last Query; NULL: none */
    char *folder;             /* what the set's folders were named by when it was bound (peer_folder_key) */
};
struct peer *peer_of(struct object *set);
void peer_destroy(struct peer *peer); /* NULL is allowed */

/* The server's class for the sets of a namespace, or for their collections: the first of that kind. */
const CLSID *peer_class_of(const char *space, bool collections);
/* A new object of the server, bound to the name. */
HRESULT peer_query(const char *space, const char *name, const char *machine, bool damaged, IDispatch **out);
/* Keeps the object (a reference taken over; NULL: none) unless another than `before` is kept by now;
   `any`: in any case. */
void peer_keep(struct object *o, IDispatch *set, bool any, IDispatch *before);
/* The object is an item of the server's list, to be asked for when it is needed. For a set that nobody else has yet. */
void peer_keep_listed(struct object *o, struct server_list *list, uint32_t index);
/* The status of a bound set that has asked for no object yet, out of the list that it came in; false: it is to be asked
   for. */
bool peer_listed_status(struct object *o, uint32_t *status);
/* What a bound set of a list is to hold, from the server that gave the list; false: it is to be asked for. */
bool peer_listed_definition(struct object *o, char **account, char **xml);
/* NULL for this machine, else its name as the set was given it; from memory_alloc. */
HRESULT peer_machine(const char *server, char **machine);
/* A verb of a bound set, as server_invoke. A server that has ended since is asked for anew, once: the verb has reached
   nobody. */
HRESULT peer_verb(struct object *o, const char *space, const char *name, const WCHAR *member, WORD flags,
                  const VARIANT *arguments, UINT count, VARIANT *result);
/* What the name of a run's folder is made of; from memory_alloc, NULL when out of memory. */
char *peer_folder_key(struct object *o);

#endif
