/* SPDX-License-Identifier: MIT */
/* Included before the proxy code that widl generates: MinGW declares these three functions only for C++, and the CLSID
   of the proxies is passed as a macro. */
#include "idl/proxy_clsid.h"

#include <windows.h>
#include <ole2.h>

#define PROXY_CLSID_IS OPENPLA_PROXY_CLSID

HRESULT STDMETHODCALLTYPE IUnknown_QueryInterface_Proxy(IUnknown *self, REFIID iid, void **object);
ULONG STDMETHODCALLTYPE IUnknown_AddRef_Proxy(IUnknown *self);
ULONG STDMETHODCALLTYPE IUnknown_Release_Proxy(IUnknown *self);
