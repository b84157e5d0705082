/* SPDX-License-Identifier: MIT */
/* IEnumVARIANT over a snapshot of a collection: MS-PLA _NewEnum; clones share the snapshot. */
#include "com/enumerator.h"

#include "com/server.h"
#include "engine/os/memory.h"

struct snapshot { /* shared by an enumerator and its clones */
    LONG references;
    struct object **items;
    size_t count;
};
struct enumerator {
    IEnumVARIANT iface;
    LONG references;
    struct snapshot *snapshot;
    LONG position;
};

static void snapshot_release(struct snapshot *s)
{
    if (InterlockedDecrement(&s->references))
        return;
    objects_release(s->items, s->count);
    memory_free(s);
}

static struct enumerator *enumerator_of(IEnumVARIANT *This)
{
    return (struct enumerator *)This;
}

static HRESULT STDMETHODCALLTYPE enumerator_query(IEnumVARIANT *This, REFIID iid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!IsEqualIID(iid, &IID_IUnknown) && !IsEqualIID(iid, &IID_IEnumVARIANT))
        return E_NOINTERFACE;
    *out = This;
    IEnumVARIANT_AddRef(This);
    return S_OK;
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
        snapshot_release(e->snapshot);
        memory_free(e);
        server_object_destroyed();
    }
    return (ULONG)n;
}

static HRESULT STDMETHODCALLTYPE enumerator_next(IEnumVARIANT *This, ULONG count, VARIANT *items, ULONG *fetched)
{
    struct enumerator *e = enumerator_of(This);
    ULONG n = 0;
    if (fetched)
        *fetched = 0;
    if (!items || (!fetched && count > 1))
        return E_POINTER;
    for (; n < count; n++) {
        LONG at = InterlockedIncrement(&e->position) - 1;
        void *skin;
        if ((size_t)at >= e->snapshot->count) {
            InterlockedDecrement(&e->position);
            break;
        }
        HRESULT hr = skin_get(e->snapshot->items[at], &skin);
        if (FAILED(hr)) {
            for (ULONG i = 0; i < n; i++)
                VariantClear(&items[i]);
            return hr;
        }
        /* Windows' items are VT_UNKNOWN; Wine's VBScript and JScript can use VT_DISPATCH only, others both. */
        VariantInit(&items[n]);
        V_VT(&items[n]) = VT_DISPATCH;
        V_DISPATCH(&items[n]) = skin;
    }
    if (fetched)
        *fetched = n;
    return n == count ? S_OK : S_FALSE;
}

static HRESULT STDMETHODCALLTYPE enumerator_skip(IEnumVARIANT *This, ULONG count)
{
    struct enumerator *e = enumerator_of(This);
    size_t left = e->snapshot->count - (size_t)e->position;
    e->position += (LONG)(count < left ? count : left);
    return count <= left ? S_OK : S_FALSE;
}

static HRESULT STDMETHODCALLTYPE enumerator_reset(IEnumVARIANT *This)
{
    enumerator_of(This)->position = 0;
    return S_OK;
}

static HRESULT create(struct snapshot *snapshot, LONG position, IEnumVARIANT **out);

static HRESULT STDMETHODCALLTYPE enumerator_clone(IEnumVARIANT *This, IEnumVARIANT **out)
{
    struct enumerator *e = enumerator_of(This);
    if (!out)
        return E_POINTER;
    InterlockedIncrement(&e->snapshot->references);
    return create(e->snapshot, e->position, out);
}

static IEnumVARIANTVtbl enumerator_vtable = {enumerator_query, enumerator_add_reference, enumerator_release,
                                             enumerator_next,  enumerator_skip,          enumerator_reset,
                                             enumerator_clone};

/* Takes over the caller's reference to the snapshot, also on failure. */
static HRESULT create(struct snapshot *snapshot, LONG position, IEnumVARIANT **out)
{
    struct enumerator *e = memory_zero(1, sizeof *e);
    *out = NULL;
    if (!e) {
        snapshot_release(snapshot);
        return E_OUTOFMEMORY;
    }
    e->iface.lpVtbl = &enumerator_vtable;
    e->references = 1;
    e->snapshot = snapshot;
    e->position = position;
    server_object_created();
    *out = &e->iface;
    return S_OK;
}

HRESULT enumerator_create(struct object *collection, IUnknown **out)
{
    IEnumVARIANT *e;
    struct snapshot *s = memory_zero(1, sizeof *s);
    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    s->references = 1;
    HRESULT hr = collection_snapshot(collection, &s->items, &s->count);
    if (FAILED(hr)) {
        memory_free(s);
        return hr;
    }
    hr = create(s, 0, &e);
    if (SUCCEEDED(hr))
        *out = (IUnknown *)e;
    return hr;
}
