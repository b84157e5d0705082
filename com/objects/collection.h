/* SPDX-License-Identifier: MIT */
/* The members that all six collections share. Macros wrap each member in a function with the type of each interface. */
#ifndef OPENPLA_COLLECTION_H
#define OPENPLA_COLLECTION_H

#include "com/objects/wrapper.h"

HRESULT collection_get_count(void *interface_pointer, void *out);
/* Index: an integer of any width, a number without fraction, or the item's name (Key of a value map's item). */
HRESULT collection_get_item(void *interface_pointer, const VARIANT *index, void **out);
HRESULT collection_get_enumerator(void *interface_pointer, IUnknown **out);
/* `item` is any interface pointer of an item. */
HRESULT collection_add_item(void *interface_pointer, void *item);
HRESULT collection_remove_item(void *interface_pointer, const VARIANT *which);
HRESULT collection_clear_items(void *interface_pointer);
HRESULT collection_create_item(void *interface_pointer, const struct class *class, void **out);
HRESULT collection_add_range(void *interface_pointer, void *other);
/* Whether the VARIANT contains an object, or a reference to one; *out is borrowed and may be NULL. */
bool variant_is_object(const VARIANT *v, IUnknown **out);
/* `which` is an index, a name or an object of the collection. Returns a reference to that item. */
HRESULT collection_find(struct object *collection, const VARIANT *which, struct object **out);

#define COLLECTION_READ_THUNKS(I, Item, Number)                                                                        \
    static HRESULT STDMETHODCALLTYPE I##_get_Count_thunk(I *This, Number *out)                                         \
    {                                                                                                                  \
        return collection_get_count(This, out);                                                                        \
    }                                                                                                                  \
    static HRESULT STDMETHODCALLTYPE I##_get_Item_thunk(I *This, VARIANT index, Item **out)                            \
    {                                                                                                                  \
        return collection_get_item(This, &index, (void **)out);                                                        \
    }                                                                                                                  \
    static HRESULT STDMETHODCALLTYPE I##_get__NewEnum_thunk(I *This, IUnknown **out)                                   \
    {                                                                                                                  \
        return collection_get_enumerator(This, out);                                                                   \
    }                                                                                                                  \
    static HRESULT STDMETHODCALLTYPE I##_Clear_thunk(I *This)                                                          \
    {                                                                                                                  \
        return collection_clear_items(This);                                                                           \
    }                                                                                                                  \
    static HRESULT STDMETHODCALLTYPE I##_AddRange_thunk(I *This, I *other)                                             \
    {                                                                                                                  \
        return collection_add_range(This, other);                                                                      \
    }
#define COLLECTION_READ_SLOTS                                                                                          \
    .get_Count = THUNK(get_Count), .get_Item = THUNK(get_Item), .get__NewEnum = THUNK(get__NewEnum),                   \
    .Clear = THUNK(Clear), .AddRange = THUNK(AddRange)
#define COLLECTION_ADD_THUNK(I, Item)                                                                                  \
    static HRESULT STDMETHODCALLTYPE I##_Add_thunk(I *This, Item *item)                                                \
    {                                                                                                                  \
        return collection_add_item(This, item);                                                                        \
    }
#define COLLECTION_REMOVE_THUNK(I)                                                                                     \
    static HRESULT STDMETHODCALLTYPE I##_Remove_thunk(I *This, VARIANT which)                                          \
    {                                                                                                                  \
        return collection_remove_item(This, &which);                                                                   \
    }
/* A method that creates an item, which is not in the collection yet. */
#define COLLECTION_CREATE_THUNK(I, Item, Method, class)                                                                \
    static HRESULT STDMETHODCALLTYPE I##_##Method##_thunk(I *This, Item **out)                                         \
    {                                                                                                                  \
        return collection_create_item(This, &class, (void **)out);                                                     \
    }
enum { COLLECTION_SLOT_COUNT = 7 }; /* includes Add and Remove */

#endif
