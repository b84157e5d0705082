/* SPDX-License-Identifier: MIT */
/* Private header of remote sets: the DCOM servers in use, and calls to their objects, with strings in UTF-8. */
#ifndef OPENPLA_REMOTE_SERVER_H
#define OPENPLA_REMOTE_SERVER_H

#include "engine/base/text.h"
#include "engine/rpc/orpc_client.h"

/* A DCOM server that sets of this process use. All sets with the same server and account share one connection and one
   logon. Reference-counted. */
struct remote_server;
/* Opens the server with the account that remote_account_find returns now. E_INVALIDARG: an invalid port. */
HRESULT remote_server_open(const char *name, struct remote_server **out);
struct remote_server *remote_server_reference(struct remote_server *s);
void remote_server_close(struct remote_server *s); /* NULL is allowed */
/* Creates an object on the server: a set of the namespace, or a collection of such sets. Its interface is IDispatch. */
HRESULT remote_server_create(struct remote_server *s, const char *space, bool is_collection, struct orpc_object **out);
/* Creates an object of another class of MS-PLA on the server. `class` and `interface` are the first 32 bits of the
   identifiers. */
HRESULT remote_server_activate(struct remote_server *s, uint32_t class, uint32_t interface, struct orpc_object **out);
bool remote_is_interface(const GUID *iid, uint32_t interface);

/* An argument of a call. */
struct remote_argument {
    enum { REMOTE_TEXT, REMOTE_NUMBER, REMOTE_BOOLEAN } kind;
    const char *text;
    int32_t number;
};
/* Works like orpc_invoke, with the arguments in `arguments`. Wipes the copies of their strings. */
HRESULT remote_object_invoke(struct orpc_object *o, const char *member, uint32_t flags,
                             const struct remote_argument *arguments, size_t count, struct orpc_answer *answer,
                             struct ndr_variant *value);
/* Call a method and ignore the value that it returns. remote_object_call_again repeats the call if the connection ends;
   use it only for methods that can safely run twice. */
HRESULT remote_object_call_again(struct orpc_object *o, const char *method, const struct remote_argument *arguments,
                                 size_t count);
HRESULT remote_object_call(struct orpc_object *o, const char *method, const struct remote_argument *arguments,
                           size_t count);
/* Reads the string that a call of `member` returned. */
HRESULT remote_value_text(const char *member, const struct ndr_variant *v, char **out);
/* Get a property. *out is from memory_alloc. DISP_E_TYPEMISMATCH: the property has another type. */
HRESULT remote_object_get_text(struct orpc_object *o, const char *property, char **out);
HRESULT remote_object_get_number(struct orpc_object *o, const char *property, uint32_t *out);
/* Get an object. remote_object_get reads a property if `index` is -1, otherwise the item of a collection with that
   index. remote_value_object converts the `value` that a method returned. */
HRESULT remote_object_get(struct orpc_object *o, const char *property, int32_t index, struct orpc_object **out);
HRESULT remote_value_object(struct orpc_object *from, const struct ndr_variant *value, struct orpc_object **out);

/* Returns whether the failure means that the object no longer exists, for example because its server was restarted. The
   failed call was not executed. */
bool remote_object_is_gone(HRESULT hr);

#endif
