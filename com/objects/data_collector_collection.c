/* SPDX-License-Identifier: MIT */
/* IDataCollectorCollection. MS-PLA 3.2.4.15. */
#include "com/objects/collection.h"
#include "com/objects/convert.h"
#include "engine/base/memory.h"

#include <string.h>

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
    hr = skin_give(hr, collector, (void **)out);
    hr = skin_give(hr, issues, (void **)validation);
    if (FAILED(hr) && *out) {
        IDataCollector_Release(*out);
        *out = NULL;
    }
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
    return com_result(This, skin_give(hr, collector, (void **)out));
}

#define INTERFACE IDataCollectorCollection
#define METHODS                                                                                                        \
    .Add = THUNK(Add), .Remove = THUNK(Remove), .CreateDataCollectorFromXml = collectors_create_from_xml,              \
    .CreateDataCollector = collectors_create, COLLECTION_READ_SLOTS
#define METHOD_COUNT (COLLECTION_SLOT_COUNT + 2)
#include "com/objects/object_vtable.inc"
