/* SPDX-License-Identifier: MIT */
/* IEnumVARIANT over a snapshot of a collection: MS-PLA _NewEnum. */
#include "com/objects/enumerator.h"

#include "com/objects/convert.h"
#include "com/server/call_entry.h"
#include "com/server/server.h"
#include "engine/base/memory.h"
#include "engine/base/win32/unknown.h"

struct enumerator {
    IEnumVARIANT iface;
    LONG references;
    struct client_use *client; /* as in struct skin */
    struct object **items;     /* what the collection held; references */
    size_t count;
    LONG position;
};

static struct enumerator *enumerator_of(IEnumVARIANT *This)
{
    return (struct enumerator *)This;
}

static HRESULT STDMETHODCALLTYPE enumerator_query(IEnumVARIANT *This, REFIID iid, void **out)
{
    return unknown_query(This, &IID_IEnumVARIANT, iid, out);
}

static ULONG STDMETHODCALLTYPE enumerator_add_reference(IEnumVARIANT *This)
{
    return (ULONG)InterlockedIncrement(&enumerator_of(This)->references);
}

static ULONG STDMETHODCALLTYPE enumerator_release(IEnumVARIANT *This)
{
    struct enumerator *e = enumerator_of(This);
    LONG n = InterlockedDecrement(&e->references);
    if (!n) {
        objects_release(e->items, e->count);
        client_use_drop(e->client);
        memory_free(e);
        server_object_destroyed();
    }
    return (ULONG)n;
}

/* Windows' items are VT_UNKNOWN; Wine's VBScript and JScript can use VT_DISPATCH only, others both. */
static HRESULT give_object(struct object *item, VARIANT *out)
{
    void *skin;
    HRESULT hr = skin_get(item, &skin);
    if (FAILED(hr))
        return hr;
    V_VT(out) = VT_DISPATCH;
    V_DISPATCH(out) = skin;
    return S_OK;
}

static HRESULT give_next(struct enumerator *e, ULONG count, VARIANT *items, ULONG *fetched)
{
    ULONG n = 0;
    if (fetched)
        *fetched = 0;
    if (!items || (!fetched && count > 1))
        return E_POINTER;
    for (; n < count; n++) {
        LONG at = InterlockedIncrement(&e->position) - 1;
        if ((size_t)at >= e->count) {
            InterlockedDecrement(&e->position);
            break;
        }
        VariantInit(&items[n]);
        HRESULT hr = give_object(e->items[at], &items[n]);
        if (FAILED(hr)) {
            for (ULONG i = 0; i < n; i++)
                VariantClear(&items[i]);
            return hr;
        }
    }
    if (fetched)
        *fetched = n;
    return n == count ? S_OK : S_FALSE;
}

static HRESULT STDMETHODCALLTYPE enumerator_next(IEnumVARIANT *This, ULONG count, VARIANT *items, ULONG *fetched)
{
    struct call_entry call;
    HRESULT hr = call_enter(&call);
    if (FAILED(hr))
        return hr;
    hr = give_next(enumerator_of(This), count, items, fetched);
    call_leave(&call);
    return hr;
}

static HRESULT STDMETHODCALLTYPE enumerator_skip(IEnumVARIANT *This, ULONG count)
{
    struct enumerator *e = enumerator_of(This);
    size_t left = e->count - (size_t)e->position;
    e->position += (LONG)(count < left ? count : left);
    return count <= left ? S_OK : S_FALSE;
}

static HRESULT STDMETHODCALLTYPE enumerator_reset(IEnumVARIANT *This)
{
    enumerator_of(This)->position = 0;
    return S_OK;
}

static HRESULT create(struct object **items, size_t count, LONG position, IEnumVARIANT **out);

static HRESULT STDMETHODCALLTYPE enumerator_clone(IEnumVARIANT *This, IEnumVARIANT **out)
{
    struct enumerator *e = enumerator_of(This);
    if (!out)
        return E_POINTER;
    *out = NULL;
    struct object **items = memory_copy(e->items, e->count * sizeof *items);
    if (!items)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < e->count; i++)
        object_reference(items[i]);
    return create(items, e->count, e->position, out);
}

static IEnumVARIANTVtbl enumerator_vtable = {enumerator_query, enumerator_add_reference, enumerator_release,
                                             enumerator_next,  enumerator_skip,          enumerator_reset,
                                             enumerator_clone};

/* Takes over the items, also on failure. */
static HRESULT create(struct object **items, size_t count, LONG position, IEnumVARIANT **out)
{
    struct enumerator *e = memory_zero(1, sizeof *e);
    *out = NULL;
    HRESULT hr = e ? client_use_take(call_client()) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(e);
        objects_release(items, count);
        return hr;
    }
    e->client = call_client();
    e->iface.lpVtbl = &enumerator_vtable;
    e->references = 1;
    e->items = items;
    e->count = count;
    e->position = position;
    server_object_created();
    *out = &e->iface;
    return S_OK;
}

HRESULT enumerator_create(struct object *collection, IUnknown **out)
{
    struct object **items;
    size_t count;
    *out = NULL;
    HRESULT hr = collection_snapshot(collection, &items, &count);
    return SUCCEEDED(hr) ? create(items, count, 0, (IEnumVARIANT **)out) : hr;
}
