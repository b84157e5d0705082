/* SPDX-License-Identifier: MIT */
/* Included ahead of what widl generates for the proxies: MinGW declares these three for C++ only, and the class of the
   proxies is given as a macro. */
#include "idl/proxy_clsid.h"

#include <windows.h>
#include <ole2.h>

#define PROXY_CLSID_IS OPENPLA_PROXY_CLSID

HRESULT STDMETHODCALLTYPE IUnknown_QueryInterface_Proxy(IUnknown *self, REFIID iid, void **object);
ULONG STDMETHODCALLTYPE IUnknown_AddRef_Proxy(IUnknown *self);
ULONG STDMETHODCALLTYPE IUnknown_Release_Proxy(IUnknown *self);
