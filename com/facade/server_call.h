/* SPDX-License-Identifier: MIT */
/* Calls objects of the server from a client's process: activates them as the caller, and makes late-bound calls. */
#ifndef OPENPLA_SERVER_CALL_H
#define OPENPLA_SERVER_CALL_H

#include "com/objects/wrapper.h"

/* Creates an object of the class in the class's server on the named computer (NULL or "": this computer). The object
   acts for the caller. Fails with COM's error; the message names the server. Under Wine a server that was killed on
   this computer is replaced (service_renew_rpcss). */
HRESULT server_create(const CLSID *class_id, const char *machine, IDispatch **out);
/* From now on, this process does not replace a killed server. For programs that must not change the system's state. */
void server_create_repairs_nothing(void);

/* Calls a member of an object that has the interface of `class`. Uses IDispatch, because Wine loses the error message
   of other calls between processes. `arguments` are in the order of the call, and borrowed. On failure the error
   message is the server's. `result` may be NULL. */
HRESULT server_invoke(IDispatch *object, const struct class *class, const WCHAR *member, WORD flags,
                      const VARIANT *arguments, UINT count, VARIANT *result);
/* Calls a method that is in no type library (enum own_member). S_FALSE: the object does not have the method, because
   its server is not an OpenPLA server. */
HRESULT server_invoke_own(IDispatch *object, DISPID member, const VARIANT *arguments, UINT count, VARIANT *result);
/* Like server_invoke, for an object that must not act for the caller. */
HRESULT late_invoke(IDispatch *object, const struct class *class, const WCHAR *member, WORD flags,
                    const VARIANT *arguments, UINT count, VARIANT *result);
/* Variants of server_invoke for common cases. Strings are UTF-8, from memory_alloc. */
HRESULT server_get_text(IDispatch *object, const struct class *class, const WCHAR *property, char **out);
HRESULT server_get_number(IDispatch *object, const struct class *class, const WCHAR *property, uint32_t *out);
HRESULT server_call(IDispatch *object, const struct class *class, const WCHAR *method, const char *const *texts,
                    UINT count);
/* Calls `each` with every item of a collection until `each` fails. The item is borrowed and acts for the caller. Each
   call to the server transfers several items. */
typedef HRESULT server_item_each(IDispatch *item, void *user);
HRESULT server_each(IDispatch *collection, const struct class *class, server_item_each *each, void *user);
/* Converts the result of a call that returned `hr` to a string or a number; clears *v. */
HRESULT server_take_text(HRESULT hr, VARIANT *v, char **out);
HRESULT server_take_number(HRESULT hr, VARIANT *v, uint32_t *out);

/* Whether the failure means that the call reached no object because the server's process has exited. In this case the
   call can be repeated with another server. */
bool server_is_gone(HRESULT hr);

#endif
