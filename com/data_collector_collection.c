/* SPDX-License-Identifier: MIT */
/* IDataCollectorCollection. MS-PLA 3.2.4.15. */
#include "com/class_table.h"
#include "com/collection.h"
#include "com/convert.h"
#include "com/issues.h"
#include "engine/os/memory.h"

#include <string.h>

DISPATCH_THUNKS(IDataCollectorCollection)
COLLECTION_READ_THUNKS(IDataCollectorCollection, IDataCollector, LONG)
COLLECTION_ADD_THUNK(IDataCollectorCollection, IDataCollector)
COLLECTION_REMOVE_THUNK(IDataCollectorCollection)

static HRESULT STDMETHODCALLTYPE collectors_create_from_xml(IDataCollectorCollection *This, BSTR xml,
                                                            IValueMap **validation, IDataCollector **out)
{
    struct object *issues = NULL, *collector = NULL;
    char *text = NULL;
    if (!out || !validation)
        return com_no_pointer(This, out ? "pValidation" : "pCollector");
    *out = NULL;
    *validation = NULL;
    HRESULT hr = text_from_bstr(xml, "bstrXml", &text);
    if (SUCCEEDED(hr))
        hr = issues_create(NULL, &issues);
    if (SUCCEEDED(hr))
        hr = collector_create_from_xml(model_of(This), text, strlen(text), issues, &collector);
    if (SUCCEEDED(hr))
        hr = skin_get(collector, (void **)out);
    hr = give_issues(hr, issues, validation);
    if (FAILED(hr) && *out) {
        IDataCollector_Release(*out);
        *out = NULL;
    }
    object_release(collector);
    memory_free(text);
    return com_result(This, hr);
}

static HRESULT STDMETHODCALLTYPE collectors_create(IDataCollectorCollection *This, DataCollectorType type,
                                                   IDataCollector **out)
{
    struct object *collector;
    if (!out)
        return com_no_pointer(This, "Collector");
    *out = NULL;
    const struct class *class = collector_class((uint32_t)type);
    if (!class)
        return com_result(This, error_set(E_INVALIDARG, "Type: %d is no value of DataCollectorType", (int)type));
    HRESULT hr = object_create(class, model_of(This), &collector);
    if (SUCCEEDED(hr)) {
        hr = skin_get(collector, (void **)out);
        object_release(collector);
    }
    return com_result(This, hr);
}

const IDataCollectorCollectionVtbl data_collector_collection_vtable = {
    DISPATCH_SLOTS(IDataCollectorCollection),
    COLLECTION_READ_SLOTS(IDataCollectorCollection),
    .Add = IDataCollectorCollection_Add_thunk,
    .Remove = IDataCollectorCollection_Remove_thunk,
    .CreateDataCollectorFromXml = collectors_create_from_xml,
    .CreateDataCollector = collectors_create,
};
ASSERT_SLOTS(IDataCollectorCollection, COLLECTION_SLOT_COUNT + 2);
