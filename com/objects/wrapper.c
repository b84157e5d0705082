/* SPDX-License-Identifier: MIT */
/* The COM wrappers of model objects: how they are created, counted and destroyed, and the error information that every
   method sets.

   A model object (engine/pla/model.h) knows nothing of COM. When a client first receives a model object, wrapper_get
   creates a wrapper for the object. Later calls return the same wrapper, because COM compares objects by their
   IUnknown. Object and wrapper refer to each other:

       client --(counted)--> wrapper --(reference)--> model object
                                ^----- model->wrapper -----'        (borrowed, under the object's lock)

   The wrapper keeps its object alive, but the object does not keep its wrapper alive. When the last COM reference is
   released, the wrapper removes itself from model->wrapper under the object's lock. After the count has reached zero
   and before the lock is taken, another thread may find the wrapper in model->wrapper. try_reference then fails because
   the count is zero, and wrapper_get creates a second wrapper, which replaces the dying one. */
#include "com/objects/wrapper.h"

#include "com/objects/convert.h"
#include "com/objects/wrapper.h"
#include "com/server/call_entry.h"
#include "com/server/server.h"
#include "engine/base/memory.h"
#include "mspla.h"

#include <objbase.h>
#include <stdbool.h>
#include <oaidl.h>

/* One row for each class of classes.def. */
struct com_class com_classes[] = {
#define CLASS(model, I, base) {&model##_class, &IID_##I, base, &I##_vtable, NULL},
#include "engine/pla/classes.def"
#undef CLASS
};
const size_t com_classes_count = sizeof com_classes / sizeof com_classes[0];

/* Only wrappers of this process support this interface. The interface has no proxy, so no other process can provide
   it. */
static const IID IID_OpenPlaWrapper = {0x9d3c6e51, 0x47f2, 0x4b0e, {0x8a, 0x35, 0x61, 0x0c, 0xd4, 0x27, 0xee, 0x19}};

static struct wrapper *wrapper_of_error_info(ISupportErrorInfo *i)
{
    return (struct wrapper *)((char *)i - offsetof(struct wrapper, error_info));
}

static HRESULT STDMETHODCALLTYPE error_info_query(ISupportErrorInfo *This, REFIID iid, void **out)
{
    return wrapper_query(wrapper_of_error_info(This), iid, out);
}

static ULONG STDMETHODCALLTYPE error_info_add_reference(ISupportErrorInfo *This)
{
    return wrapper_add_reference(wrapper_of_error_info(This));
}

static ULONG STDMETHODCALLTYPE error_info_release(ISupportErrorInfo *This)
{
    return wrapper_release(wrapper_of_error_info(This));
}

static HRESULT STDMETHODCALLTYPE error_info_supports(ISupportErrorInfo *This, REFIID iid)
{
    const struct com_class *c = wrapper_of_error_info(This)->class;
    return IsEqualIID(iid, c->interface_id) || (c->base_id && IsEqualIID(iid, c->base_id)) ? S_OK : S_FALSE;
}

static ISupportErrorInfoVtbl error_info_vtable = {error_info_query, error_info_add_reference, error_info_release,
                                                  error_info_supports};

struct com_class *com_class_of(const struct class *model)
{
    for (size_t i = 0; i < com_classes_count; i++)
        if (com_classes[i].model == model)
            return &com_classes[i];
    return NULL;
}

/* Adds a reference unless the count has reached zero, in which case the wrapper is being destroyed. */
static bool try_reference(struct wrapper *s)
{
    LONG n = s->references;
    while (n) {
        LONG seen = InterlockedCompareExchange(&s->references, n + 1, n);
        if (seen == n)
            return true;
        n = seen;
    }
    return false;
}

HRESULT wrapper_get(struct object *model, void **interface_pointer)
{
    *interface_pointer = NULL;
    struct wrapper *fresh = memory_zero(1, sizeof *fresh), *used = fresh;
    if (!fresh)
        return E_OUTOFMEMORY;
    fresh->client = call_client();
    HRESULT hr = client_use_take(fresh->client);
    if (FAILED(hr)) {
        memory_free(fresh);
        return hr;
    }
    fresh->class = com_class_of(model->class);
    fresh->vtable = fresh->class->vtable;
    fresh->error_info.lpVtbl = &error_info_vtable;
    fresh->references = 1;
    fresh->model = model;
    object_lock(model);
    if (model->wrapper && try_reference(model->wrapper))
        used = model->wrapper;
    else
        model->wrapper = fresh;
    object_unlock(model);
    if (used == fresh) {
        object_reference(model);
        server_object_created();
    } else {
        client_use_drop(fresh->client);
        memory_free(fresh);
    }
    *interface_pointer = used;
    return S_OK;
}

HRESULT wrapper_give(HRESULT hr, struct object *model, void **interface_pointer)
{
    if (SUCCEEDED(hr) && interface_pointer)
        hr = wrapper_get(model, interface_pointer);
    object_release(model);
    return hr;
}

HRESULT wrapper_model(IUnknown *pointer, const struct class *class, const char *argument, struct object **model)
{
    struct wrapper *s;
    *model = NULL;
    if (!pointer)
        return error_set(E_POINTER, "%s: the object is missing", argument);
    if (FAILED(IUnknown_QueryInterface(pointer, &IID_OpenPlaWrapper, (void **)&s)))
        return error_set(E_INVALIDARG, "%s: the object does not belong to this server", argument);
    if (class && s->model->class != class) {
        wrapper_release(s);
        return error_set(E_INVALIDARG, "%s: the object is not a %s", argument, class->name);
    }
    *model = object_reference(s->model);
    wrapper_release(s);
    return S_OK;
}

HRESULT wrapper_query(struct wrapper *s, REFIID iid, void **out)
{
    const struct com_class *c = s->class;
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (IsEqualIID(iid, &IID_IUnknown) || IsEqualIID(iid, &IID_IDispatch) || IsEqualIID(iid, c->interface_id) ||
        (c->base_id && IsEqualIID(iid, c->base_id)) || IsEqualIID(iid, &IID_OpenPlaWrapper))
        *out = s;
    else if (IsEqualIID(iid, &IID_ISupportErrorInfo))
        *out = &s->error_info;
    else
        return E_NOINTERFACE;
    wrapper_add_reference(s);
    return S_OK;
}

ULONG wrapper_add_reference(struct wrapper *s)
{
    return (ULONG)InterlockedIncrement(&s->references);
}

ULONG wrapper_release(struct wrapper *s)
{
    LONG n = InterlockedDecrement(&s->references);
    if (!n) {
        object_lock(s->model);
        if (s->model->wrapper == s)
            s->model->wrapper = NULL;
        object_unlock(s->model);
        object_release(s->model);
        client_use_drop(s->client);
        memory_free(s);
        server_object_destroyed();
    }
    return (ULONG)n;
}

HRESULT com_result(void *interface_pointer, HRESULT hr)
{
    ICreateErrorInfo *create;
    IErrorInfo *info;
    BSTR text;
    if (SUCCEEDED(hr)) {
        error_clear();
        return hr;
    }
    if (SUCCEEDED(bstr_from_text(error_text(hr), &text))) {
        if (SUCCEEDED(CreateErrorInfo(&create))) {
            static WCHAR source[] = L"PLA.DataCollectorSet";
            ICreateErrorInfo_SetGUID(create, wrapper_of(interface_pointer)->class->interface_id);
            ICreateErrorInfo_SetSource(create, source);
            ICreateErrorInfo_SetDescription(create, text);
            if (SUCCEEDED(ICreateErrorInfo_QueryInterface(create, &IID_IErrorInfo, (void **)&info))) {
                SetErrorInfo(0, info);
                IErrorInfo_Release(info);
            }
            ICreateErrorInfo_Release(create);
        }
        SysFreeString(text);
    }
    error_clear();
    return hr;
}

HRESULT com_no_pointer(void *interface_pointer, const char *argument)
{
    return com_result(interface_pointer, error_set(E_POINTER, "%s: the pointer for the result is NULL", argument));
}

/* ---- one object with every interface; no client receives it ---- */

/* A static object, whose references are not counted. */
static HRESULT STDMETHODCALLTYPE kept_query(IUnknown *This, REFIID iid, void **out);
static ULONG STDMETHODCALLTYPE kept_count(IUnknown *This)
{
    (void)This;
    return 1;
}
static const IUnknownVtbl kept_vtable = {kept_query, kept_count, kept_count};
static IUnknown kept = {(IUnknownVtbl *)&kept_vtable};

/* OpenPLA's interfaces, and the standard ones that clients query. */
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
    IStream *stream; /* never read; only the marshaling matters */
    HRESULT hr = CreateStreamOnHGlobal(NULL, TRUE, &stream);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; SUCCEEDED(hr) && i < ARRAYSIZE(interfaces); i++)
        hr = CoMarshalInterface(stream, interfaces[i], &kept, MSHCTX_LOCAL, NULL, MSHLFLAGS_TABLESTRONG);
    IStream_Release(stream);
    return hr;
}
