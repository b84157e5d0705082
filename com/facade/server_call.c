/* SPDX-License-Identifier: MIT */
/* Calls objects of the server from a client's process: activates them as the caller, and makes late-bound calls. */
#include "com/facade/server_call.h"

#include "com/objects/collection.h"
#include "com/objects/convert.h"
#include "com/objects/foreign_object.h"
#include "com/server/server.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "reg/registration_check.h"
#include "reg/service.h"

enum {
    MOST_ARGUMENTS = 5,
    AT_ONCE = 64, /* items */
    /* COM can return a server that is exiting. A failed activation has changed nothing, so it is repeated. */
    ACTIVATIONS = 5,
    ACTIVATION_PAUSE = 100, /* ms */
    RENEWAL_WAIT = 60000,   /* ms to wait while another client restarts rpcss */
};

bool server_is_gone(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(RPC_S_SERVER_UNAVAILABLE) || hr == RPC_E_DISCONNECTED ||
           hr == CO_E_OBJNOTCONNECTED || hr == RPC_E_SERVER_DIED_DNE;
}

/* Sets packet privacy and impersonation (MS-PLA 2.1). With cloaking, the server sees the thread's identity and not the
   process's. Wine has no security blankets, so under Wine the server sees the process's identity (DECISIONS 22). */
static HRESULT as_caller(IUnknown *proxy)
{
    HRESULT hr =
        CoSetProxyBlanket(proxy, RPC_C_AUTHN_DEFAULT, RPC_C_AUTHZ_DEFAULT, COLE_DEFAULT_PRINCIPAL,
                          RPC_C_AUTHN_LEVEL_PKT_PRIVACY, RPC_C_IMP_LEVEL_IMPERSONATE, NULL, EOAC_DYNAMIC_CLOAKING);
    return hr == E_NOTIMPL ? S_OK : hr;
}

static HRESULT not_reached(HRESULT hr, const char *machine)
{
    if (machine && machine[0])
        return error_set(hr, "server: connection to '%s' failed: %s", machine, error_standard_text(hr));
    if (hr == REGDB_E_CLASSNOTREG || !os_is_wine())
        return error_set(hr, "cannot reach the OpenPLA server: %s", error_standard_text(hr));
    return error_set(hr,
                     "cannot reach the OpenPLA server: %s (if it was killed, restart Wine's rpcss: net stop rpcss, "
                     "net start rpcss)",
                     error_standard_text(hr));
}

/* ---- factories ----
   Under Wine an activation fetches the class's factory through a pipe, counts its references, and releases it. An
   activation takes more calls between processes than the creation of an object, so the factories are kept. Wine's
   proxies work in every apartment until the apartment that fetched them ends. If this apartment has ended or the server
   has exited, the next creation fetches a new factory. */

enum { FACTORIES = 32 }; /* more than the number of classes */

static struct {
    struct lock lock;
    size_t count;
    struct {
        CLSID id;
        IClassFactory *factory;
    } items[FACTORIES];
} factories = {.lock = LOCK_INIT};

/* Returns a reference to the kept factory; NULL: none is kept. */
static IClassFactory *factory_find(const CLSID *id)
{
    IClassFactory *found = NULL;
    lock_enter(&factories.lock);
    for (size_t i = 0; !found && i < factories.count; i++)
        if (IsEqualGUID(&factories.items[i].id, id))
            found = factories.items[i].factory;
    if (found)
        IClassFactory_AddRef(found);
    lock_leave(&factories.lock);
    return found;
}

static void factory_keep(const CLSID *id, IClassFactory *factory)
{
    bool is_known = false;
    lock_enter(&factories.lock);
    for (size_t i = 0; i < factories.count; i++)
        is_known = is_known || IsEqualGUID(&factories.items[i].id, id);
    if (!is_known && factories.count < FACTORIES) {
        IClassFactory_AddRef(factory);
        factories.items[factories.count].id = *id;
        factories.items[factories.count++].factory = factory;
    }
    lock_leave(&factories.lock);
}

static void factory_forget(const IClassFactory *factory)
{
    IClassFactory *kept = NULL;
    lock_enter(&factories.lock);
    for (size_t i = 0; !kept && i < factories.count; i++)
        if (factories.items[i].factory == factory) {
            kept = factories.items[i].factory;
            factories.items[i] = factories.items[--factories.count];
        }
    lock_leave(&factories.lock);
    if (kept)
        IClassFactory_Release(kept);
}

/* Creates the object with the kept factory, or fetches a factory and keeps it. A server that has exited has created no
   object, so the call can be repeated. */
static HRESULT factory_create_object(const CLSID *id, IUnknown **out)
{
    IClassFactory *factory = factory_find(id);
    HRESULT hr = E_FAIL;
    *out = NULL;
    if (factory) {
        hr = IClassFactory_CreateInstance(factory, NULL, &IID_IDispatch, (void **)out);
        if (server_is_gone(hr))
            factory_forget(factory);
        IClassFactory_Release(factory);
        if (!server_is_gone(hr))
            return hr;
    }
    hr = CoGetClassObject(id, CLSCTX_LOCAL_SERVER, NULL, &IID_IClassFactory, (void **)&factory);
    if (FAILED(hr))
        return hr;
    hr = IClassFactory_CreateInstance(factory, NULL, &IID_IDispatch, (void **)out);
    if (SUCCEEDED(hr))
        factory_keep(id, factory);
    IClassFactory_Release(factory);
    return hr;
}

static HRESULT server_activate_once(const CLSID *id, COSERVERINFO *info, IUnknown **out)
{
    MULTI_QI query = {.pIID = &IID_IDispatch};
    HRESULT hr = CoCreateInstanceEx(id, NULL, info ? CLSCTX_REMOTE_SERVER : CLSCTX_LOCAL_SERVER, info, 1, &query);
    *out = query.pItf;
    return SUCCEEDED(hr) ? query.hr : hr;
}

/* Activates the class. On this computer (`info` NULL) it tries up to `most` times while the server is gone. */
static HRESULT server_activate(const CLSID *id, COSERVERINFO *info, int most, IUnknown **out)
{
    HRESULT hr = E_FAIL;
    *out = NULL;
    for (int i = 0; i < most && (!i || (!info && server_is_gone(hr))); i++) {
        if (i)
            Sleep(ACTIVATION_PAUSE);
        hr = !info && os_is_wine() ? factory_create_object(id, out) : server_activate_once(id, info, out);
    }
    return SUCCEEDED(hr) && !*out ? E_NOINTERFACE : hr;
}

static _Atomic bool repairs_nothing;

void server_create_repairs_nothing(void)
{
    repairs_nothing = true;
}

/* Activates the class, and restarts rpcss first if the server is still gone. A mutex ensures that only one client does
   so if several clients find the same dead server. */
static HRESULT server_activate_again(const CLSID *id, IUnknown **out)
{
    struct mutex *mutex;
    HRESULT hr = mutex_open("openpla-activation", &mutex);
    if (FAILED(hr))
        return hr;
    hr = mutex_take(mutex, RENEWAL_WAIT);
    if (hr == S_OK) {
        hr = server_activate(id, NULL, 1, out);
        if (server_is_gone(hr)) {
            hr = service_renew_rpcss();
            if (SUCCEEDED(hr))
                hr = server_activate(id, NULL, ACTIVATIONS, out);
        }
        mutex_release(mutex);
    } else if (hr == S_FALSE) {
        hr = HRESULT_FROM_WIN32(RPC_S_SERVER_UNAVAILABLE);
    }
    mutex_close(mutex);
    return hr;
}

HRESULT server_create(const CLSID *class_id, const char *machine, IDispatch **out)
{
    WCHAR *name = NULL;
    size_t units;
    bool here = !machine || !machine[0];
    IUnknown *object = NULL;
    COSERVERINFO info = {0};
    HRESULT hr = here ? S_OK : text_to_utf16(machine, &name, &units);
    *out = NULL;
    if (FAILED(hr))
        return hr;
    /* On another computer, use Windows' class IDs, which every server of PLA has. */
    CLSID id = *class_id;
    if (here && registration_mode_here() == REGISTRATION_BESIDE)
        id = com_class_beside(class_id);
    info.pwszName = name;
    hr = server_activate(&id, here ? NULL : &info, ACTIVATIONS, &object);
    if (here && server_is_gone(hr) && os_is_wine() && !repairs_nothing)
        hr = server_activate_again(&id, &object);
    TRACE_STEP(com, "create an object of the server on '%s': 0x%08X", here ? "" : machine, (unsigned)hr);
    memory_free(name);
    if (SUCCEEDED(hr))
        hr = as_caller(object);
    if (SUCCEEDED(hr)) {
        *out = (IDispatch *)object;
        return S_OK;
    }
    if (object)
        IUnknown_Release(object);
    return not_reached(hr, machine);
}

/* Finds the member's DISPID in OpenPLA's type library. A query of the type library saves a call to the server. */
static HRESULT member_id(const struct class *class, const WCHAR *member, DISPID *id)
{
    WCHAR *name = (WCHAR *)member;
    ITypeInfo *info;
    HRESULT hr = class_type_info(class, &info);
    if (FAILED(hr))
        return hr;
    hr = ITypeInfo_GetIDsOfNames(info, &name, 1, id);
    ITypeInfo_Release(info);
    return hr;
}

/* Returns the failure with the server's message. */
static HRESULT error_is_reported(EXCEPINFO *exception)
{
    char *text = NULL;
    HRESULT hr = FAILED(exception->scode) ? exception->scode : E_FAIL;
    if (exception->bstrDescription && SUCCEEDED(text_from_bstr(exception->bstrDescription, "description", &text)))
        error_set(hr, "%s", text);
    memory_free(text);
    return hr;
}

/* Returns hr. Sets a message if hr means that the server has exited. */
static HRESULT gone(HRESULT hr)
{
    return server_is_gone(hr) ? error_set(hr, "the OpenPLA server has exited: %s", error_standard_text(hr)) : hr;
}

static HRESULT invoke_id(IDispatch *object, DISPID id, WORD flags, const VARIANT *arguments, UINT count,
                         VARIANT *result)
{
    VARIANT reversed[MOST_ARGUMENTS];
    DISPPARAMS params = {.rgvarg = reversed, .cArgs = count};
    DISPID put = DISPID_PROPERTYPUT;
    EXCEPINFO exception = {0};
    for (UINT i = 0; i < count; i++)
        reversed[count - 1 - i] = arguments[i];
    if (flags & DISPATCH_PROPERTYPUT) {
        params.rgdispidNamedArgs = &put;
        params.cNamedArgs = 1;
    }
    HRESULT hr = IDispatch_Invoke(object, id, &IID_NULL, LOCALE_NEUTRAL, flags, &params, result, &exception, NULL);
    if (hr == DISP_E_EXCEPTION)
        hr = error_is_reported(&exception);
    SysFreeString(exception.bstrDescription);
    SysFreeString(exception.bstrSource);
    SysFreeString(exception.bstrHelpFile);
    if (FAILED(hr) && result)
        VariantClear(result);
    return hr;
}

HRESULT late_invoke(IDispatch *object, const struct class *class, const WCHAR *member, WORD flags,
                    const VARIANT *arguments, UINT count, VARIANT *result)
{
    DISPID id;
    if (result)
        VariantInit(result);
    HRESULT hr = count <= MOST_ARGUMENTS ? member_id(class, member, &id) : E_UNEXPECTED;
    return SUCCEEDED(hr) ? invoke_id(object, id, flags, arguments, count, result) : hr;
}

HRESULT server_invoke_own(IDispatch *object, DISPID member, const VARIANT *arguments, UINT count, VARIANT *result)
{
    VariantInit(result);
    HRESULT hr = invoke_id(object, member, DISPATCH_METHOD, arguments, count, result);
    if (hr == DISP_E_MEMBERNOTFOUND)
        error_clear();
    return hr == DISP_E_MEMBERNOTFOUND ? S_FALSE : gone(hr);
}

HRESULT server_invoke(IDispatch *object, const struct class *class, const WCHAR *member, WORD flags,
                      const VARIANT *arguments, UINT count, VARIANT *result)
{
    HRESULT hr = gone(late_invoke(object, class, member, flags, arguments, count, result));
    TRACE_STEP(com, "call %ls: 0x%08X", member, (unsigned)hr);
    if (SUCCEEDED(hr) && result && V_VT(result) == VT_DISPATCH && V_DISPATCH(result))
        hr = as_caller((IUnknown *)V_DISPATCH(result));
    if (FAILED(hr) && result)
        VariantClear(result);
    return hr;
}

HRESULT server_take_text(HRESULT hr, VARIANT *v, char **out)
{
    *out = NULL;
    if (SUCCEEDED(hr))
        hr = variant_change(v, v, VT_BSTR);
    if (SUCCEEDED(hr))
        hr = text_from_bstr(V_BSTR(v), "the server's string", out);
    VariantClear(v);
    return hr;
}

HRESULT server_take_number(HRESULT hr, VARIANT *v, uint32_t *out)
{
    if (SUCCEEDED(hr))
        hr = variant_change(v, v, VT_I8);
    *out = SUCCEEDED(hr) ? (uint32_t)V_I8(v) : 0;
    VariantClear(v);
    return hr;
}

HRESULT server_get_text(IDispatch *object, const struct class *class, const WCHAR *property, char **out)
{
    VARIANT v;
    HRESULT hr = server_invoke(object, class, property, DISPATCH_PROPERTYGET, NULL, 0, &v);
    return server_take_text(hr, &v, out);
}

HRESULT server_get_number(IDispatch *object, const struct class *class, const WCHAR *property, uint32_t *out)
{
    VARIANT v;
    HRESULT hr = server_invoke(object, class, property, DISPATCH_PROPERTYGET, NULL, 0, &v);
    return server_take_number(hr, &v, out);
}

static HRESULT each_item(const VARIANT *v, const struct class *class, server_item_each *each, void *user)
{
    IDispatch *item = NULL;
    IUnknown *object;
    HRESULT hr =
        variant_is_object(v, &object) && object
            ? IUnknown_QueryInterface(object, &IID_IDispatch, (void **)&item)
            : error_set(DISP_E_TYPEMISMATCH, "the server's %s contains an item that is not an object", class->name);
    if (SUCCEEDED(hr))
        hr = as_caller((IUnknown *)item);
    if (SUCCEEDED(hr))
        hr = each(item, user);
    if (item)
        IDispatch_Release(item);
    return hr;
}

static HRESULT enumerator_of(IDispatch *collection, const struct class *class, IEnumVARIANT **out)
{
    VARIANT v;
    IUnknown *object;
    *out = NULL;
    HRESULT hr = server_invoke(collection, class, L"_NewEnum", DISPATCH_PROPERTYGET, NULL, 0, &v);
    if (FAILED(hr))
        return hr;
    hr = variant_is_object(&v, &object) && object
             ? IUnknown_QueryInterface(object, &IID_IEnumVARIANT, (void **)out)
             : error_set(DISP_E_TYPEMISMATCH, "the server's %s has no enumerator", class->name);
    VariantClear(&v);
    if (SUCCEEDED(hr))
        hr = as_caller((IUnknown *)*out);
    if (FAILED(hr) && *out) {
        IEnumVARIANT_Release(*out);
        *out = NULL;
    }
    return hr;
}

HRESULT server_each(IDispatch *collection, const struct class *class, server_item_each *each, void *user)
{
    IEnumVARIANT *e = NULL;
    uint32_t count, index = 0;
    HRESULT hr = server_get_number(collection, class, L"Count", &count);
    if (SUCCEEDED(hr) && count)
        hr = enumerator_of(collection, class, &e);
    while (SUCCEEDED(hr) && e && index < count) {
        VARIANT items[AT_ONCE] = {0};
        ULONG got = 0;
        hr = IEnumVARIANT_Next(e, AT_ONCE, items, &got);
        if (SUCCEEDED(hr) && (!got || got > AT_ONCE))
            hr = error_set(E_UNEXPECTED, "the server's %s has %u items but returned %u", class->name, (unsigned)count,
                           (unsigned)index);
        index += got;
        for (ULONG i = 0; i < AT_ONCE; i++) {
            if (SUCCEEDED(hr) && i < got)
                hr = each_item(&items[i], class, each, user);
            VariantClear(&items[i]);
        }
    }
    if (e)
        IEnumVARIANT_Release(e);
    return hr;
}

HRESULT server_call(IDispatch *object, const struct class *class, const WCHAR *method, const char *const *texts,
                    UINT count)
{
    VARIANT arguments[MOST_ARGUMENTS] = {0};
    HRESULT hr = S_OK;
    UINT made = 0;
    for (; SUCCEEDED(hr) && made < count; made++) {
        V_VT(&arguments[made]) = VT_BSTR;
        hr = bstr_from_text(texts[made] ? texts[made] : "", &V_BSTR(&arguments[made]));
    }
    if (SUCCEEDED(hr))
        hr = server_invoke(object, class, method, DISPATCH_METHOD, arguments, count, NULL);
    for (UINT i = 0; i < made; i++)
        SysFreeString(V_BSTR(&arguments[i]));
    return hr;
}
