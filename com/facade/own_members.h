/* SPDX-License-Identifier: MIT */
/* Both sides of the members that no type library has (enum own_member), which cost a client of ours one call between
   processes instead of many: the statuses, names and definitions of many sets of a list, and a set's commit. */
#ifndef OPENPLA_OWN_MEMBERS_H
#define OPENPLA_OWN_MEMBERS_H

#include "com/objects/wrapper.h"

/* A list of the server's sets as a client's process keeps it: where each of them gets its own object, and the statuses
   and definitions of many in one call, as whoever shows a list asks for them one after the other.
   Client: counted, and shared by its sets. `there` is the server's collection, of which it has a reference. NULL when
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

/* A set's commit by a client of ours, whose server gets the definition and answers with what it has found in one call.
   Another server is asked for the same by what MS-PLA has: SetXml, SetCredentials, Commit, and the map's items one by
   one. */
struct whole_commit {
    const char *xml, *name;
    const char *user, *password; /* NULL: no credentials go with it */
    const char *masked;          /* what set_credentials_pack made of the password and of data sources; NULL: nothing */
    const char *whole_xml;       /* the XML with what is secret in it, for another server; NULL: it is `xml` */
    uint32_t mode;
};
/* Client: commits at the server's new object of a set. What the server's validation says, and `issues` does not yet, is
   added. */
HRESULT whole_commit_ask(IDispatch *set, const struct whole_commit *what, struct object *issues);
/* Client: adds the items of a map of the server's (an object in a VARIANT; none: nothing) to `issues`. */
HRESULT whole_commit_take_map(const VARIANT *map, struct object *issues);
/* Server: OWN_WHOLE_COMMIT of the set. Arguments: XML, name, user, what is masked, VT_BSTR, and the mode, VT_I4; the
   third and the fourth are VT_EMPTY if there is nothing. The result is an array of texts, three for each issue: its
   Value in decimal digits, Key, Description; nothing if there is no memory for it, as the set is committed. */
HRESULT whole_commit_answer(struct object *set, const DISPPARAMS *params, VARIANT *result);

#endif
