/* SPDX-License-Identifier: MIT */
/* Calls objects that clients passed in, reads the values that they represent, and copies them. Nothing else in com/
   calls such objects. */
#ifndef OPENPLA_FOREIGN_OBJECT_H
#define OPENPLA_FOREIGN_OBJECT_H

#include "com/objects/wrapper.h"

/* Before each call, the object's process is allowed to identify this process but not to act for it. COM's own
   QueryInterface calls on the object use this process's default security instead (server_secure). */

/* Reads a property of the object by name, without arguments. Fails with DISP_E_UNKNOWNNAME if the property does not
   exist. */
HRESULT foreign_get_by_name(IDispatch *object, const WCHAR *name, VARIANT *result);
/* Reads the object's default value, DISPID_VALUE. Fails with DISP_E_TYPEMISMATCH if the object has no default value, or
   if the default value is itself an object. */
HRESULT foreign_value(IDispatch *object, VARIANT *value);
/* Returns the object in the VARIANT, after following references; NULL if it contains no object. Borrowed. */
IDispatch *foreign_object_in(const VARIANT *v);

/* Like VariantChangeType, but replaces an object with its default value; `to` and `from` may be the same. */
HRESULT variant_change(VARIANT *to, const VARIANT *from, VARTYPE type);

/* Like wrapper_model for any class, but copies a trace data provider, or a collection of them, that another process
   created. Clients keep these objects in their own process (DECISIONS 17) and pass them to collectors that may be in
   the server. Other objects of other processes fail with E_INVALIDARG. */
HRESULT wrapper_model_or_copy(IUnknown *pointer, const char *argument, struct object **model);

#endif
