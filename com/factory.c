/* SPDX-License-Identifier: MIT */
/* The classes that can be created, and their factory. */
#include "com/server.h"
#include "com/skin.h"
#include "engine/os/memory.h"
#include "engine/run/sets.h"

#include <objbase.h>

static HRESULT create_set_collection(struct object **out)
{
    return object_create(&data_collector_set_collection_class, NULL, out);
}

/* The class table. In the server's own process the façade classes (21, 25) are the namespace's server classes
   (DECISIONS 17). */
static const struct creatable {
    const CLSID *id;
    HRESULT (*create)(struct object **out);
} creatables[] = {
    {&CLSID_DataCollectorSet, sets_create},
    {&CLSID_DataCollectorSetCollection, create_set_collection},
    {&CLSID_ServerDataCollectorSet, sets_create},
    {&CLSID_ServerDataCollectorSetCollection, create_set_collection},
};

struct factory {
    IClassFactory iface;
    LONG references;
    const struct creatable *creatable;
};

static struct factory *factory_of(IClassFactory *This)
{
    return (struct factory *)This;
}

static HRESULT STDMETHODCALLTYPE factory_query(IClassFactory *This, REFIID iid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!IsEqualIID(iid, &IID_IUnknown) && !IsEqualIID(iid, &IID_IClassFactory))
        return E_NOINTERFACE;
    *out = This;
    IClassFactory_AddRef(This);
    return S_OK;
}

static ULONG STDMETHODCALLTYPE factory_add_reference(IClassFactory *This)
{
    return (ULONG)InterlockedIncrement(&factory_of(This)->references);
}

static ULONG STDMETHODCALLTYPE factory_release(IClassFactory *This)
{
    LONG n = InterlockedDecrement(&factory_of(This)->references);
    if (!n)
        memory_free(This);
    return (ULONG)n;
}

static HRESULT STDMETHODCALLTYPE factory_create(IClassFactory *This, IUnknown *outer, REFIID iid, void **out)
{
    struct object *o;
    void *skin;
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (outer)
        return CLASS_E_NOAGGREGATION;
    HRESULT hr = factory_of(This)->creatable->create(&o);
    if (FAILED(hr))
        return hr;
    hr = skin_get(o, &skin);
    object_release(o);
    if (FAILED(hr))
        return hr;
    hr = skin_query(skin, iid, out);
    skin_release(skin);
    return hr;
}

static HRESULT STDMETHODCALLTYPE factory_lock(IClassFactory *This, BOOL lock)
{
    (void)This;
    if (lock)
        server_object_created();
    else
        server_object_destroyed();
    return S_OK;
}

static IClassFactoryVtbl factory_vtable = {factory_query, factory_add_reference, factory_release, factory_create,
                                           factory_lock};

size_t com_class_count(void)
{
    return sizeof creatables / sizeof creatables[0];
}

HRESULT com_class_factory(size_t index, CLSID *clsid, IUnknown **out)
{
    struct factory *f = memory_zero(1, sizeof *f);
    *out = NULL;
    if (!f)
        return E_OUTOFMEMORY;
    f->iface.lpVtbl = &factory_vtable;
    f->references = 1;
    f->creatable = &creatables[index];
    *clsid = *creatables[index].id;
    *out = (IUnknown *)f;
    return S_OK;
}
