/* SPDX-License-Identifier: MIT */
/* QueryInterface for objects with one interface. */
#ifndef OPENPLA_UNKNOWN_H
#define OPENPLA_UNKNOWN_H

#include <windows.h>
#include <ole2.h>

/* Returns a reference to the object for its `own` interface and for IUnknown. Fails with E_NOINTERFACE for any other
   interface. */
static inline HRESULT unknown_query(void *object, REFIID own, REFIID iid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!IsEqualIID(iid, &IID_IUnknown) && !IsEqualIID(iid, own))
        return E_NOINTERFACE;
    IUnknown_AddRef((IUnknown *)object);
    *out = object;
    return S_OK;
}

#endif
