/* SPDX-License-Identifier: MIT */
/* The way from a client's process to an object of the server: activation as the caller, and late-bound calls. */
#ifndef OPENPLA_SERVER_CALL_H
#define OPENPLA_SERVER_CALL_H

#include "com/objects/wrapper.h"

/* A new object of the class from its server, on the machine that is named (NULL and "": this one), where it acts for
   whoever calls here. Errors are COM's, with a text that says which server. Under Wine a server that was killed here is
   replaced by a new one (service_renew_rpcss). */
HRESULT server_create(const CLSID *class_id, const char *machine, IDispatch **out);
/* For who only looks: from now on this process leaves a server that was killed as it is. */
void server_create_repairs_nothing(void);

/* Calls the member of an object whose interface is that of `class`. By IDispatch, because Wine loses the error text of
   other calls between processes. Arguments in the order of the call, borrowed. On failure the error text is the
   server's. `result` may be NULL. */
HRESULT server_invoke(IDispatch *object, const struct class *class, const WCHAR *member, WORD flags,
                      const VARIANT *arguments, UINT count, VARIANT *result);
/* Calls a method that no type library has (enum own_member). S_FALSE: the object has none of that number, as it is not
   of a server of ours. */
HRESULT server_invoke_own(IDispatch *object, DISPID member, const VARIANT *arguments, UINT count, VARIANT *result);
/* server_invoke with any object, which is not to act for the caller. */
HRESULT late_invoke(IDispatch *object, const struct class *class, const WCHAR *member, WORD flags,
                    const VARIANT *arguments, UINT count, VARIANT *result);
/* server_invoke for the usual cases. Texts are UTF-8, from memory_alloc. */
HRESULT server_get_text(IDispatch *object, const struct class *class, const WCHAR *property, char **out);
HRESULT server_get_number(IDispatch *object, const struct class *class, const WCHAR *property, uint32_t *out);
HRESULT server_call(IDispatch *object, const struct class *class, const WCHAR *method, const char *const *texts,
                    UINT count);
/* Calls `each` with every item of a collection (borrowed), an object that acts for the caller, until one call fails.
   Many items cross in one call. */
typedef HRESULT server_item_each(IDispatch *item, void *user);
HRESULT server_each(IDispatch *collection, const struct class *class, server_item_each *each, void *user);
/* What a call that returned `hr` gave, as a text or a number; *v is cleared. */
HRESULT server_take_text(HRESULT hr, VARIANT *v, char **out);
HRESULT server_take_number(HRESULT hr, VARIANT *v, uint32_t *out);

/* Whether the failure says that the call reached no object, since the server's process has ended: another one may be
   asked the same. */
bool server_is_gone(HRESULT hr);

#endif
