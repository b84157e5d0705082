/* SPDX-License-Identifier: MIT */
/* One object that has every interface and that no client ever gets. */
#include "com/kept_interfaces.h"

#include <objbase.h>
#include <oaidl.h>

#include "com/skin.h"

/* One of a kind: it has no life of its own. */
static HRESULT STDMETHODCALLTYPE kept_query(IUnknown *This, REFIID iid, void **out);
static ULONG STDMETHODCALLTYPE kept_count(IUnknown *This)
{
    (void)This;
    return 1;
}
static const IUnknownVtbl kept_vtable = {kept_query, kept_count, kept_count};
static IUnknown kept = {(IUnknownVtbl *)&kept_vtable};

/* Those that clients ask objects for besides the interfaces of the classes. */
static const IID *const common[] = {&IID_IUnknown, &IID_IDispatch, &IID_IEnumVARIANT, &IID_ISupportErrorInfo,
                                    &IID_IClassFactory};

static bool is_kept(REFIID iid)
{
    for (size_t i = 0; i < ARRAYSIZE(common); i++)
        if (IsEqualIID(iid, common[i]))
            return true;
    for (size_t i = 0; i < com_classes_count; i++)
        if (IsEqualIID(iid, com_classes[i].interface_id) ||
            (com_classes[i].base_id && IsEqualIID(iid, com_classes[i].base_id)))
            return true;
    return false;
}

static HRESULT STDMETHODCALLTYPE kept_query(IUnknown *This, REFIID iid, void **out)
{
    *out = is_kept(iid) ? This : NULL;
    return *out ? S_OK : E_NOINTERFACE;
}

static HRESULT keep(IStream *stream, REFIID iid)
{
    return iid ? CoMarshalInterface(stream, iid, &kept, MSHCTX_LOCAL, NULL, MSHLFLAGS_TABLESTRONG) : S_OK;
}

HRESULT kept_interfaces_begin(void)
{
    IStream *stream; /* never read: what counts is that it was written */
    HRESULT hr = CreateStreamOnHGlobal(NULL, TRUE, &stream);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; SUCCEEDED(hr) && i < ARRAYSIZE(common); i++)
        hr = keep(stream, common[i]);
    for (size_t i = 0; SUCCEEDED(hr) && i < com_classes_count; i++) {
        hr = keep(stream, com_classes[i].interface_id);
        if (SUCCEEDED(hr))
            hr = keep(stream, com_classes[i].base_id);
    }
    IStream_Release(stream);
    return hr;
}
