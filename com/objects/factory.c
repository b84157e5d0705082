/* SPDX-License-Identifier: MIT */
/* The classes that can be created, and their factory. */
#include "com/facade/facade.h"
#include "com/objects/wrapper.h"
#include "com/server/call_entry.h"
#include "com/server/server.h"
#include "engine/base/os.h"
#include "engine/base/win32/unknown.h"
#include "engine/pla/sets.h"
#include "idl/proxy_clsid.h"
#include "reg/registration_table.h"

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

/* One factory per registered class. Factories exist as long as the module. */
struct factory {
    IClassFactory iface;
    const CLSID *id;
    HRESULT (*create)(const char *category, struct object **out);
    const char *category;
};

static HRESULT STDMETHODCALLTYPE factory_query(IClassFactory *This, REFIID iid, void **out)
{
    return unknown_query(This, &IID_IClassFactory, iid, out);
}

static ULONG STDMETHODCALLTYPE factory_count(IClassFactory *This)
{
    (void)This;
    return 1;
}

static HRESULT create_object(const struct factory *f, REFIID iid, void **out)
{
    struct object *o = NULL;
    void *wrapper;
    HRESULT hr = f->create(f->category, &o);
    hr = wrapper_give(hr, o, &wrapper);
    if (FAILED(hr))
        return hr;
    hr = wrapper_query(wrapper, iid, out);
    wrapper_release(wrapper);
    return hr;
}

static HRESULT STDMETHODCALLTYPE factory_create(IClassFactory *This, IUnknown *outer, REFIID iid, void **out)
{
    struct call_entry call;
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (outer)
        return CLASS_E_NOAGGREGATION;
    /* call_enter is used only under Wine. On Windows, COM's activation service makes this call on behalf of every
       client, so the caller is not the client. */
    HRESULT hr = os_is_wine() ? call_enter(&call) : S_OK;
    if (FAILED(hr))
        return hr;
    hr = create_object((const struct factory *)This, iid, out);
    if (os_is_wine())
        call_leave(&call);
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

static IClassFactoryVtbl factory_vtable = {factory_query, factory_count, factory_count, factory_create, factory_lock};

static struct factory factories[COM_CLASS_COUNT][2] = {
/* two factories per class: the first creates the server's objects, the second a client's */
#define FACTORY(name, create, category)                                                                                \
    {                                                                                                                  \
        {&factory_vtable}, &CLSID_##name, create, category                                                             \
    }
#define CLASS(name, guid, title, create, category)    {FACTORY(name, create, category), FACTORY(name, create, category)},
#define FACADE(name, guid, title, create, for_client) {FACTORY(name, create, NULL), FACTORY(name, for_client, NULL)},
#include "reg/classes.def"
#undef FACADE
#undef CLASS
#undef FACTORY
};

IUnknown *com_class_factory(size_t index, bool for_client, CLSID *clsid)
{
    struct factory *f = &factories[index][for_client];
    *clsid = *f->id;
    return (IUnknown *)&f->iface;
}

CLSID com_class_beside(const CLSID *clsid)
{
    const CLSID beside = REGISTRATION_BESIDE_GUID(clsid->Data1);
    return beside;
}

HRESULT com_use_own_proxies(void)
{
    static const CLSID proxies = OPENPLA_PROXY_CLSID;
    static const IID *const interfaces[] = {
#define INTERFACE(name, guid, methods) &IID_##name,
#include "reg/interfaces.def"
#undef INTERFACE
    };
    static volatile LONG done;
    HRESULT hr = S_OK;
    for (size_t i = 0; !done && SUCCEEDED(hr) && i < ARRAYSIZE(interfaces); i++)
        hr = CoRegisterPSClsid(interfaces[i], &proxies);
    if (SUCCEEDED(hr))
        InterlockedExchange(&done, 1);
    return hr;
}
