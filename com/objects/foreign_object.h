/* SPDX-License-Identifier: MIT */
/* Objects that a client handed over: calls on them, what they stand for, and copies of them. Nothing else in com/ calls
   one. */
#ifndef OPENPLA_FOREIGN_OBJECT_H
#define OPENPLA_FOREIGN_OBJECT_H

#include "com/objects/wrapper.h"

/* Each call sees to it first that the object's process can learn who calls, and cannot act for it. Asking an object for
   its interfaces is COM's own call, which goes by the process' security (server_secure). */

/* A member that only the object knows, without arguments. DISP_E_UNKNOWNNAME when it has none of that name. */
HRESULT foreign_get_by_name(IDispatch *object, const WCHAR *name, VARIANT *result);
/* The value that the object stands for, DISPID_VALUE. DISP_E_TYPEMISMATCH when it has none, or when that is an object
   again. */
HRESULT foreign_value(IDispatch *object, VARIANT *value);
/* The object in the VARIANT, references followed; NULL when it holds none. Borrowed. */
IDispatch *foreign_object_in(const VARIANT *v);

/* VariantChangeType, in which an object stands for its value; `to` and `from` may be the same. */
HRESULT variant_change(VARIANT *to, const VARIANT *from, VARTYPE type);

/* As wrapper_model for any class; but a trace data provider, or a collection of them, that another process made is
   taken as a copy. Clients have those in their own process (DECISIONS 17) and give them to collectors that may be the
   server's. Whatever else another process made stays E_INVALIDARG. */
HRESULT wrapper_model_or_copy(IUnknown *pointer, const char *argument, struct object **model);

#endif
