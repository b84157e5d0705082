/* SPDX-License-Identifier: MIT */
/* One object that has every interface and that no client ever gets. */
#include "com/objects/kept_interfaces.h"

#include "mspla.h"

#include <objbase.h>
#include <stdbool.h>
#include <oaidl.h>

/* One of a kind: it has no life of its own. */
static HRESULT STDMETHODCALLTYPE kept_query(IUnknown *This, REFIID iid, void **out);
static ULONG STDMETHODCALLTYPE kept_count(IUnknown *This)
{
    (void)This;
    return 1;
}
static const IUnknownVtbl kept_vtable = {kept_query, kept_count, kept_count};
static IUnknown kept = {(IUnknownVtbl *)&kept_vtable};

/* Ours, and those that clients ask objects for besides. */
static const IID *const interfaces[] = {
    &IID_IUnknown, &IID_IDispatch, &IID_IEnumVARIANT, &IID_ISupportErrorInfo, &IID_IClassFactory,
#define INTERFACE(name, guid, methods) &IID_##name,
#include "reg/interfaces.def"
#undef INTERFACE
};

static bool is_kept(REFIID iid)
{
    for (size_t i = 0; i < ARRAYSIZE(interfaces); i++)
        if (IsEqualIID(iid, interfaces[i]))
            return true;
    return false;
}

static HRESULT STDMETHODCALLTYPE kept_query(IUnknown *This, REFIID iid, void **out)
{
    *out = is_kept(iid) ? This : NULL;
    return *out ? S_OK : E_NOINTERFACE;
}

HRESULT kept_interfaces_begin(void)
{
    IStream *stream; /* never read: what counts is that it was written */
    HRESULT hr = CreateStreamOnHGlobal(NULL, TRUE, &stream);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; SUCCEEDED(hr) && i < ARRAYSIZE(interfaces); i++)
        hr = CoMarshalInterface(stream, interfaces[i], &kept, MSHCTX_LOCAL, NULL, MSHLFLAGS_TABLESTRONG);
    IStream_Release(stream);
    return hr;
}
