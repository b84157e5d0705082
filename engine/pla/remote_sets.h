/* SPDX-License-Identifier: MIT */
/* Sets of another computer, by DCOM without the host OS' COM: natively and under Wine. A set object holds its
   properties itself; its verbs are forwarded to the PLA server there, OpenPLA's or Windows' (MS-PLA). */
#ifndef OPENPLA_REMOTE_SETS_H
#define OPENPLA_REMOTE_SETS_H

#include "engine/pla/model.h"

/* Like sets_create and sets_collection_create, for servers "name", "name:port", "[address]:port". The account is that
   of remote_account_find. */
HRESULT remote_sets_create(const char *category, struct object **out);
HRESULT remote_sets_collection_create(const char *category, struct object **out);
/* The same verbs, for objects whose own verbs are for this computer: for `query` and `commit` of another server, for
   the others while remote_sets_is_bound, and always for `destroyed`. */
extern const struct set_verbs remote_sets_verbs;
bool remote_sets_is_bound(struct object *set);
/* The set is bound to this computer from now on: releases the resources that it holds on the other computer. */
void remote_sets_forget(struct object *set);
/* remote_sets_verbs.list with sets that `create` creates. */
HRESULT remote_sets_list(struct object *collection, const char *space, const char *pattern, const char *server,
                         HRESULT (*create)(const char *category, struct object **out));

#endif
