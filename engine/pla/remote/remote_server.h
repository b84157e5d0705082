/* SPDX-License-Identifier: MIT */
/* Private header of remote sets: servers in use, and calls of their objects with strings in UTF-8. */
#ifndef OPENPLA_REMOTE_SERVER_H
#define OPENPLA_REMOTE_SERVER_H

#include "engine/base/text.h"
#include "engine/rpc/orpc_client.h"

/* A server that sets of this process use: one connection and one logon for all of them. Counted. */
struct remote_server;
/* Opens the server with its current account. E_INVALIDARG: an invalid port. */
HRESULT remote_server_open(const char *name, struct remote_server **out);
struct remote_server *remote_server_reference(struct remote_server *s);
void remote_server_close(struct remote_server *s); /* NULL is allowed */
/* A new object of the class of a namespace's sets, or of their collection; its interface is IDispatch. */
HRESULT remote_server_create(struct remote_server *s, const char *space, bool is_collection, struct orpc_object **out);
/* A new object of another class of MS-PLA. Classes and interfaces are named by the first part of their identifier. */
HRESULT remote_server_activate(struct remote_server *s, uint32_t class, uint32_t interface, struct orpc_object **out);
bool remote_is_interface(const GUID *iid, uint32_t interface);

/* An argument of a call. */
struct remote_argument {
    enum { REMOTE_TEXT, REMOTE_NUMBER, REMOTE_BOOLEAN } kind;
    const char *text;
    int32_t number;
};
/* Like orpc_invoke, with such arguments; copies of strings are wiped. */
HRESULT remote_object_invoke(struct orpc_object *o, const char *member, uint32_t flags,
                             const struct remote_argument *arguments, size_t count, struct orpc_answer *answer,
                             struct ndr_variant *value);
/* A method whose result is ignored. remote_object_call_again: for a method that may safely run twice, which is repeated
   if the connection ends. */
HRESULT remote_object_call_again(struct orpc_object *o, const char *method, const struct remote_argument *arguments,
                                 size_t count);
HRESULT remote_object_call(struct orpc_object *o, const char *method, const struct remote_argument *arguments,
                           size_t count);
/* The string that a call of `member` returned. */
HRESULT remote_value_text(const char *member, const struct ndr_variant *v, char **out);
/* Properties. *out from memory_alloc. HRESULT of DISP_E_TYPEMISMATCH: another type. */
HRESULT remote_object_get_text(struct orpc_object *o, const char *property, char **out);
HRESULT remote_object_get_number(struct orpc_object *o, const char *property, uint32_t *out);
/* Wraps the object that a property, an item of a collection (`index`; -1: not an item) or a method returned in `value`.
 */
HRESULT remote_object_get(struct orpc_object *o, const char *property, int32_t index, struct orpc_object **out);
HRESULT remote_value_object(struct orpc_object *from, const struct ndr_variant *value, struct orpc_object **out);

/* Whether the failure means that the object no longer exists, for example after a restart of its server. The call was
   not executed. */
bool remote_object_is_gone(HRESULT hr);

#endif
