/* SPDX-License-Identifier: MIT */
/* The classes that can be created, and their factory. */
#include "com/facade.h"
#include "com/server.h"
#include "com/skin.h"
#include "engine/os/memory.h"
#include "engine/run/sets.h"

#include <objbase.h>

static HRESULT provider_create(const char *category, struct object **out)
{
    (void)category;
    return object_create(&trace_data_provider_class, NULL, out);
}

static HRESULT provider_collection_create(const char *category, struct object **out)
{
    (void)category;
    return object_create(&trace_data_provider_collection_class, NULL, out);
}

/* What is registered can be created, no more and no less. */
static const struct creatable {
    const CLSID *id;
    HRESULT (*create)(const char *category, struct object **out);
    const char *category;
    HRESULT (*create_for_client)(const char *category, struct object **out);
} creatables[] = {
#define CLASS(name, guid, title, create, category)    {&CLSID_##name, create, category, create},
#define FACADE(name, guid, title, create, for_client) {&CLSID_##name, create, NULL, for_client},
#include "reg/classes.def"
#undef FACADE
#undef CLASS
};

struct factory {
    IClassFactory iface;
    LONG references;
    const struct creatable *creatable;
    bool for_client;
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
    const struct factory *f = factory_of(This);
    HRESULT hr = (f->for_client ? f->creatable->create_for_client : f->creatable->create)(f->creatable->category, &o);
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

HRESULT com_class_factory(size_t index, bool for_client, CLSID *clsid, IUnknown **out)
{
    struct factory *f = memory_zero(1, sizeof *f);
    *out = NULL;
    if (!f)
        return E_OUTOFMEMORY;
    f->iface.lpVtbl = &factory_vtable;
    f->references = 1;
    f->creatable = &creatables[index];
    f->for_client = for_client;
    *clsid = *creatables[index].id;
    *out = (IUnknown *)f;
    return S_OK;
}
