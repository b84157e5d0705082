/* SPDX-License-Identifier: MIT */
/* A list of the server's sets as a client's process keeps it: where each of them gets its own object, and the statuses
   and definitions of many in one call, as whoever shows a list asks for them one after the other. */
#ifndef OPENPLA_SERVER_LIST_H
#define OPENPLA_SERVER_LIST_H

#include "com/objects/skin.h"

/* Client: counted, and shared by its sets. `there` is the server's collection, of which it has a reference. NULL when
   out of memory. */
struct server_list;
struct server_list *server_list_create(IDispatch *there);
struct server_list *server_list_reference(struct server_list *list);
void server_list_release(struct server_list *list); /* NULL is allowed */
/* The server's object of the set at the index, a reference; NULL: it is not to be had, and its name is to be asked
   for. */
IDispatch *server_list_item(struct server_list *list, uint32_t index);
/* The status of the set at the index, if it is asked for behind that of the set before: those of the next sets come
   with it, serve once, within STATUS_AGE_MS and as long as this process has asked for no verb. False: the set's own
   object is to be asked. */
bool server_list_status(struct server_list *list, uint32_t index, uint32_t *status);
/* Account and definition of the set at the index, as they were when the list was made; from memory_alloc. Those of the
   next sets come with it if it is asked for behind the set before. False: the server has none to give. */
bool server_list_definition(struct server_list *list, uint32_t index, char **account, char **xml);
/* The names of the sets from the index on, some of them at least; S_FALSE: the server is none of ours. */
HRESULT server_list_names(struct server_list *list, uint32_t index, struct texts *names);
/* A verb has changed what was known of any list. */
void server_lists_outdated(void);

/* Server: the own members of a collection. The arguments are the first set's index and how many sets are asked for,
   both VT_I4; the result is an array of texts, for as many sets or fewer, but for one at least unless there is none:
   OWN_STATUSES     the status in decimal digits, "" where it cannot be had
   OWN_NAMES        the name
   OWN_DEFINITIONS  two, the account and the XML */
HRESULT server_list_answer(struct object *collection, DISPID member, const DISPPARAMS *params, VARIANT *result);

#endif
