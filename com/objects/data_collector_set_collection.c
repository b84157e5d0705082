/* SPDX-License-Identifier: MIT */
/* IDataCollectorSetCollection. MS-PLA 3.2.4.16. */
#include "com/objects/collection.h"
#include "com/objects/convert.h"
#include "com/server/caller.h"
#include "engine/base/memory.h"
#include "engine/pla/sets.h"

COLLECTION_READ_THUNKS(IDataCollectorSetCollection, IDataCollectorSet, LONG)
COLLECTION_ADD_THUNK(IDataCollectorSetCollection, IDataCollectorSet)

/* Windows deletes the set from its store too (behaviour 16), so scripts clean up this way. */
static HRESULT STDMETHODCALLTYPE sets_remove(IDataCollectorSetCollection *This, VARIANT which)
{
    const struct caller caller = com_caller();
    struct object *collection = model_of(This), *set;
    HRESULT hr = collection_find(collection, &which, &set);
    if (FAILED(hr))
        return com_result(This, hr);
    hr = set_delete(set, &caller);
    if (SUCCEEDED(hr) || hr == PLA_E_DCS_NOT_FOUND)
        hr = collection_remove_object(collection, set);
    object_release(set);
    return com_result(This, hr);
}

static HRESULT STDMETHODCALLTYPE sets_get(IDataCollectorSetCollection *This, BSTR server, BSTR filter)
{
    return call_with_texts(This, sets_find, server, "server", filter, "filter");
}

#define INTERFACE    IDataCollectorSetCollection
#define METHODS      .Add = THUNK(Add), .Remove = sets_remove, .GetDataCollectorSets = sets_get, COLLECTION_READ_SLOTS
#define METHOD_COUNT (COLLECTION_SLOT_COUNT + 1)
#include "com/objects/object_vtable.inc"
