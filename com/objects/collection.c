/* SPDX-License-Identifier: MIT */
/* The members that all six collections share, and their enumerator (behaviour 16). */
#include "com/objects/collection.h"

#include "com/objects/convert.h"
#include "com/objects/foreign_object.h"
#include "com/server/call_entry.h"
#include "com/server/server.h"
#include "engine/base/memory.h"
#include "engine/base/win32/unknown.h"

HRESULT collection_get_count(void *interface_pointer, void *out)
{
    if (!out)
        return com_no_pointer(interface_pointer, "Count");
    *(LONG *)out = (LONG)collection_count(model_of(interface_pointer));
    return S_OK;
}

/* Returns the property that names an item: Name, Key or DisplayName; NULL if the class has none. */
static const struct property *name_row(const struct class *class)
{
    static const char *const rows[] = {"Name", "Key", "DisplayName"};
    const struct property *p = NULL;
    for (size_t i = 0; !p && i < sizeof rows / sizeof rows[0]; i++)
        p = class_property(class, rows[i]);
    return p;
}

static HRESULT find_by_name(struct object *collection, const char *name, struct object **out)
{
    struct object **items;
    size_t count;
    *out = NULL;
    if (!name[0]) /* otherwise, if a script's variable is empty, Remove would delete an item that has no name */
        return error_set(DISP_E_BADINDEX, "%s: the index is an empty string", collection->class->name);
    HRESULT hr = collection_snapshot(collection, &items, &count);
    for (size_t i = 0; SUCCEEDED(hr) && !*out && i < count; i++) {
        const struct property *p = name_row(items[i]->class);
        struct value v;
        hr = p ? object_get(items[i], p, &v) : S_FALSE;
        if (hr == S_OK && text_equal_nocase(v.text, name))
            *out = object_reference(items[i]);
        if (hr == S_OK)
            value_free(&v);
    }
    objects_release(items, count);
    if (FAILED(hr))
        return hr;
    return *out ? S_OK : error_set(DISP_E_BADINDEX, "%s: no item '%s'", collection->class->name, name);
}

/* Finds an object in the collection. Callers use the result as an item, so an object of another class or another
   collection must not be returned. */
static HRESULT find_object(struct object *collection, IUnknown *object, struct object **out)
{
    struct object **items, *model;
    size_t count;
    HRESULT hr = wrapper_model(object, NULL, collection->class->name, &model);
    if (FAILED(hr))
        return hr;
    hr = collection_snapshot(collection, &items, &count);
    for (size_t i = 0; SUCCEEDED(hr) && !*out && i < count; i++)
        if (items[i] == model)
            *out = object_reference(model);
    objects_release(items, count);
    if (SUCCEEDED(hr) && !*out)
        hr = error_set(E_INVALIDARG, "%s: the %s is not in this collection", collection->class->name,
                       model->class->name);
    object_release(model);
    return hr;
}

bool variant_is_object(const VARIANT *v, IUnknown **out)
{
    if (V_VT(v) == (VT_VARIANT | VT_BYREF))
        v = V_VARIANTREF(v);
    if (V_VT(v) == VT_DISPATCH || V_VT(v) == VT_UNKNOWN)
        *out = V_UNKNOWN(v);
    else if (V_VT(v) == (VT_DISPATCH | VT_BYREF) || V_VT(v) == (VT_UNKNOWN | VT_BYREF))
        *out = V_UNKNOWNREF(v) ? *V_UNKNOWNREF(v) : NULL;
    else
        return false;
    return true;
}

HRESULT collection_find(struct object *collection, const VARIANT *which, struct object **out)
{
    struct variant index;
    IUnknown *object;
    int64_t number;
    *out = NULL;
    if (variant_is_object(which, &object))
        return find_object(collection, object, out);
    HRESULT hr = variant_from_com(which, collection->class->name, &index);
    if (FAILED(hr))
        return hr;
    if (index.type == VARIANT_TEXT) {
        hr = find_by_name(collection, index.text, out);
        variant_free(&index);
        return hr;
    }
    if (index.type == VARIANT_BOOL_) /* False is 0 and would select the first item, which no script intends */
        return error_set(DISP_E_TYPEMISMATCH, "%s: the index must be a number or a name, not a Boolean",
                         collection->class->name);
    hr = variant_to_i64(&index, &number);
    if (FAILED(hr))
        return error_prefix(hr, "%s: the index", collection->class->name);
    if (number < 0 || number > UINT32_MAX)
        return error_set(DISP_E_BADINDEX, "%s: no item '%lld'", collection->class->name, (long long)number);
    return collection_item(collection, (size_t)number, out);
}

HRESULT collection_get_item(void *interface_pointer, const VARIANT *index, void **out)
{
    struct object *item;
    if (!out)
        return com_no_pointer(interface_pointer, "Item");
    *out = NULL;
    HRESULT hr = collection_find(model_of(interface_pointer), index, &item);
    return com_result(interface_pointer, wrapper_give(hr, item, out));
}

/* Creates an enumerator over the current items. */
static HRESULT enumerator_create(struct object *collection, IUnknown **out);

HRESULT collection_get_enumerator(void *interface_pointer, IUnknown **out)
{
    if (!out)
        return com_no_pointer(interface_pointer, "_NewEnum");
    return com_result(interface_pointer, enumerator_create(model_of(interface_pointer), out));
}

HRESULT collection_add_item(void *interface_pointer, void *item)
{
    struct object *model;
    HRESULT hr = wrapper_model_or_copy(item, "Add", &model);
    if (SUCCEEDED(hr)) {
        hr = collection_add(model_of(interface_pointer), model);
        object_release(model);
    }
    return com_result(interface_pointer, hr);
}

HRESULT collection_remove_item(void *interface_pointer, const VARIANT *which)
{
    struct object *collection = model_of(interface_pointer), *item;
    HRESULT hr = collection_find(collection, which, &item);
    if (SUCCEEDED(hr)) {
        hr = collection_remove_object(collection, item);
        object_release(item);
    }
    return com_result(interface_pointer, hr);
}

HRESULT collection_clear_items(void *interface_pointer)
{
    collection_clear(model_of(interface_pointer));
    return S_OK;
}

/* Removes the last occurrence of each item, because the same object can also have been in the collection before. */
static void take_back(struct object *collection, struct object **items, size_t count)
{
    while (count--) {
        bool found = false;
        for (size_t at = collection_count(collection); !found && at-- > 0;) {
            struct object *item;
            if (FAILED(collection_item(collection, at, &item)))
                continue;
            found = item == items[count];
            object_release(item);
            if (found)
                collection_remove(collection, at);
        }
    }
}

HRESULT collection_add_range(void *interface_pointer, void *other)
{
    struct object *collection = model_of(interface_pointer), *from, **items;
    size_t count, added = 0;
    HRESULT hr = wrapper_model_or_copy(other, "AddRange", &from);
    if (SUCCEEDED(hr) && from->class != collection->class) {
        hr = error_set(E_INVALIDARG, "AddRange: the object is not a %s", collection->class->name);
        object_release(from);
    }
    if (FAILED(hr))
        return com_result(interface_pointer, hr);
    /* The items of the other collection already belong to a set and cannot be added here. Windows returns an error too
       (MS-PLA note 34). */
    if (collection->class->adopts) {
        object_release(from);
        return com_result(
            interface_pointer,
            error_set(E_INVALIDARG, "AddRange: a data collector belongs to one set (use Remove and Add)"));
    }
    hr = collection_snapshot(from, &items, &count);
    for (; SUCCEEDED(hr) && added < count; added++)
        hr = collection_add(collection, items[added]);
    /* Removes the items that were added, so that AddRange adds all items or none. */
    if (FAILED(hr) && added) {
        struct error_kept why = error_keep(hr);
        take_back(collection, items, added - 1);
        error_restore(&why);
    }
    objects_release(items, count);
    object_release(from);
    return com_result(interface_pointer, hr);
}

HRESULT collection_create_item(void *interface_pointer, const struct class *class, void **out)
{
    struct object *item;
    if (!out)
        return com_no_pointer(interface_pointer, class->name);
    *out = NULL;
    HRESULT hr = object_create(class, NULL, &item);
    return com_result(interface_pointer, wrapper_give(hr, item, out));
}

/* IEnumVARIANT over a snapshot of a collection: MS-PLA _NewEnum. */

struct enumerator {
    IEnumVARIANT iface;
    LONG references;
    struct client_use *client; /* as in struct wrapper */
    struct object **items;     /* references to the items at the time of creation */
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

/* Returns VT_DISPATCH, because Wine's VBScript and JScript accept nothing else, and other languages accept it too.
   Windows returns VT_UNKNOWN. */
static HRESULT give_object(struct object *item, VARIANT *out)
{
    void *wrapper;
    HRESULT hr = wrapper_get(item, &wrapper);
    if (FAILED(hr))
        return hr;
    V_VT(out) = VT_DISPATCH;
    V_DISPATCH(out) = wrapper;
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

static HRESULT enumerator_from_items(struct object **items, size_t count, LONG position, IEnumVARIANT **out);

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
    return enumerator_from_items(items, e->count, e->position, out);
}

static IEnumVARIANTVtbl enumerator_vtable = {enumerator_query, enumerator_add_reference, enumerator_release,
                                             enumerator_next,  enumerator_skip,          enumerator_reset,
                                             enumerator_clone};

/* Takes ownership of the items, even on failure. */
static HRESULT enumerator_from_items(struct object **items, size_t count, LONG position, IEnumVARIANT **out)
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

static HRESULT enumerator_create(struct object *collection, IUnknown **out)
{
    struct object **items;
    size_t count;
    *out = NULL;
    HRESULT hr = collection_snapshot(collection, &items, &count);
    return SUCCEEDED(hr) ? enumerator_from_items(items, count, 0, (IEnumVARIANT **)out) : hr;
}
