/* SPDX-License-Identifier: MIT */
/* Members that only OpenPLA's COM objects have (enum own_member): the client's side and the server's side. No type
   library contains these members. Each of these members replaces many calls to the server process with a single call.
   The members return the statuses, names or definitions of many sets of a list, commit a set, or query a set. */
#ifndef OPENPLA_OWN_MEMBERS_H
#define OPENPLA_OWN_MEMBERS_H

#include "com/objects/wrapper.h"

/* Client: cached data of the server's list of sets. The client's sets share this reference-counted structure, and get
   the server's objects from it. Programs that show a list read the sets one after the other, so one call to the server
   reads the statuses or definitions of several sets. `there` is the server's collection; a reference is added. NULL:
   out of memory. */
struct server_list;
struct server_list *server_list_create(IDispatch *there);
struct server_list *server_list_reference(struct server_list *list);
void server_list_release(struct server_list *list); /* NULL is allowed */
/* Returns a reference to the server's object of the set at the index; NULL: the list cannot return the object, so the
   caller must query the set by its name. */
IDispatch *server_list_item(struct server_list *list, uint32_t index);
/* Returns the status of the set at `index`, but only if the previous call of this function was for `index` - 1 (or if
   `index` is 0 in the first call). One call to the server fetches this status and the statuses of the next sets. Each
   status is used only once, within STATUS_AGE_MS, and only until this process calls a verb. False: read the status from
   the set's own object. */
bool server_list_status(struct server_list *list, uint32_t index, uint32_t *status);
/* Returns the account and the definition that the set at `index` had when the list was created; from memory_alloc. If
   the previous call of this function was for `index` - 1, one call to the server also fetches the definitions of the
   next sets. False: the server does not provide the account and the definition. */
bool server_list_definition(struct server_list *list, uint32_t index, char **account, char **xml);
/* Returns the name of the set at `index` and the names of some sets after it. S_FALSE: the server is not an OpenPLA
   server. */
HRESULT server_list_names(struct server_list *list, uint32_t index, struct texts *names);
/* Invalidates all cached statuses; called after each verb. */
void server_lists_outdated(void);

/* Server: the own members of a collection. Arguments: the index of the first set and the number of sets, both VT_I4.
   The result is an array of strings for the first sets from this index on. The server may return fewer sets than the
   client requests, but at least one set if the index is valid and the number is not 0. The strings of each set are:
   OWN_STATUSES     the status in decimal, "" if it is not available
   OWN_NAMES        the name
   OWN_DEFINITIONS  the account and the XML (two strings) */
HRESULT server_list_answer(struct object *collection, DISPID member, const DISPPARAMS *params, VARIANT *result);

/* A client's commit of a set. OpenPLA's server receives the definition and returns its findings in one call.
   For other servers, MS-PLA's SetXml, SetCredentials and Commit are called, and then the findings are read from the map
   that Commit returns. */
struct whole_commit {
    const char *xml, *name;
    const char *user, *password; /* NULL: no credentials */
    const char *masked;          /* set_credentials_pack's result for the password and the data sources; NULL: none */
    const char *whole_xml;       /* the XML including secrets, for other servers; NULL: same as `xml` */
    uint32_t mode;
};
/* Client: commits the set through `set`, a new object of the server. Adds the server's findings to `issues`, except
   those that `issues` already contains. */
HRESULT whole_commit_ask(IDispatch *set, const struct whole_commit *what, struct object *issues);
/* Client: adds the items of a map of the server (an object in a VARIANT, or empty) to `issues`. */
HRESULT whole_commit_take_map(const VARIANT *map, struct object *issues);
/* Server: OWN_WHOLE_COMMIT of the set. Arguments: XML, name, user and masked secrets (all VT_BSTR), then the mode
   (VT_I4). The user and the masked secrets are VT_EMPTY if they are not used. Result: an array of strings, three per
   issue: Value in decimal, Key, Description. If memory runs out, the result is an empty array and not an error, because
   the set is already committed. */
HRESULT whole_commit_answer(struct object *set, const DISPPARAMS *params, VARIANT *result);

/* A client's query of a set. OpenPLA's server returns the definition in the same call. Other servers are called
   with MS-PLA's Query, Xml and UserAccount. */
/* Client: binds the server's object to the name. *account and *xml are from memory_alloc. */
HRESULT whole_query_ask(IDispatch *set, const char *name, char **account, char **xml);
/* Server: OWN_WHOLE_QUERY of the set. Argument: the name, VT_BSTR. Result: an array of two strings, UserAccount and
   Xml. */
HRESULT whole_query_answer(struct object *set, const DISPPARAMS *params, VARIANT *result);

#endif
