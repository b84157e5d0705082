/* SPDX-License-Identifier: MIT */
/* The collections of sets, collectors, folder actions and schedules, the value map, and the items that consist of
   properties only. */
#include "com/objects/collection.h"
#include "com/objects/convert.h"
#include "com/objects/wrapper.h"
#include "com/server/call_entry.h"
#include "engine/base/memory.h"
#include "engine/pla/sets.h"

#include <string.h>

/* IDataCollectorSetCollection. MS-PLA 3.2.4.16. */
COLLECTION_READ_THUNKS(IDataCollectorSetCollection, IDataCollectorSet, LONG)
COLLECTION_ADD_THUNK(IDataCollectorSetCollection, IDataCollectorSet)

/* Removes a set and deletes it from the store. Windows does the same (behaviour 16), and scripts use this to clean
   up. */
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

/* IDataCollectorCollection. MS-PLA 3.2.4.15. */

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
    hr = wrapper_give(hr, collector, (void **)out);
    hr = wrapper_give(hr, issues, (void **)validation);
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
        return com_result(This,
                          error_set(E_INVALIDARG, "Type: invalid value %d: expected a DataCollectorType", (int)type));
    HRESULT hr = object_create(class, model_of(This), &collector);
    return com_result(This, wrapper_give(hr, collector, (void **)out));
}

#define INTERFACE IDataCollectorCollection
#define METHODS                                                                                                        \
    .Add = THUNK(Add), .Remove = THUNK(Remove), .CreateDataCollectorFromXml = collectors_create_from_xml,              \
    .CreateDataCollector = collectors_create, COLLECTION_READ_SLOTS
#define METHOD_COUNT (COLLECTION_SLOT_COUNT + 2)
#include "com/objects/object_vtable.inc"

/* IFolderActionCollection. MS-PLA 3.2.4.4. */

COLLECTION_READ_THUNKS(IFolderActionCollection, IFolderAction, ULONG)
COLLECTION_ADD_THUNK(IFolderActionCollection, IFolderAction)
COLLECTION_REMOVE_THUNK(IFolderActionCollection)
COLLECTION_CREATE_THUNK(IFolderActionCollection, IFolderAction, CreateFolderAction, folder_action_class)

#define INTERFACE IFolderActionCollection
#define METHODS                                                                                                        \
    .Add = THUNK(Add), .Remove = THUNK(Remove), .CreateFolderAction = THUNK(CreateFolderAction), COLLECTION_READ_SLOTS
#define METHOD_COUNT (COLLECTION_SLOT_COUNT + 1)
#include "com/objects/object_vtable.inc"

/* IScheduleCollection. MS-PLA 3.2.4.14. */

COLLECTION_READ_THUNKS(IScheduleCollection, ISchedule, LONG)
COLLECTION_ADD_THUNK(IScheduleCollection, ISchedule)
COLLECTION_REMOVE_THUNK(IScheduleCollection)
COLLECTION_CREATE_THUNK(IScheduleCollection, ISchedule, CreateSchedule, set_schedule_class)

#define INTERFACE IScheduleCollection
#define METHODS                                                                                                        \
    .Add = THUNK(Add), .Remove = THUNK(Remove), .CreateSchedule = THUNK(CreateSchedule), COLLECTION_READ_SLOTS
#define METHOD_COUNT (COLLECTION_SLOT_COUNT + 1)
#include "com/objects/object_vtable.inc"

/* IValueMap. MS-PLA 3.2.4.18. */

COLLECTION_READ_THUNKS(IValueMap, IValueMapItem, LONG)
COLLECTION_REMOVE_THUNK(IValueMap)

static HRESULT STDMETHODCALLTYPE map_get_value(IValueMap *This, VARIANT *out)
{
    struct variant v;
    if (!out)
        return com_no_pointer(This, "Value");
    VariantInit(out);
    HRESULT hr = value_map_get_value(model_of(This), &v);
    if (SUCCEEDED(hr)) {
        hr = variant_to_com(&v, out);
        variant_free(&v);
    }
    return com_result(This, hr);
}

static HRESULT call_with_value(IValueMap *This, HRESULT (*method)(struct object *map, const struct variant *value),
                               const VARIANT *in, const char *argument)
{
    struct variant v;
    HRESULT hr = variant_from_com(in, argument, &v);
    if (SUCCEEDED(hr)) {
        hr = method(model_of(This), &v);
        variant_free(&v);
    }
    return com_result(This, hr);
}

static HRESULT STDMETHODCALLTYPE map_put_value(IValueMap *This, VARIANT in)
{
    return call_with_value(This, value_map_put_value, &in, "Value");
}

static HRESULT STDMETHODCALLTYPE map_add(IValueMap *This, VARIANT in)
{
    IUnknown *object;
    if (variant_is_object(&in, &object))
        return collection_add_item(This, object);
    return call_with_value(This, value_map_add_value, &in, "Add");
}

COLLECTION_CREATE_THUNK(IValueMap, IValueMapItem, CreateValueMapItem, value_map_item_class)

#define INTERFACE IValueMap
#define ROWS      "engine/pla/value_map.def"
#define METHODS                                                                                                        \
    .Remove = THUNK(Remove), .Add = map_add, .get_Value = map_get_value, .put_Value = map_put_value,                   \
    .CreateValueMapItem = THUNK(CreateValueMapItem), COLLECTION_READ_SLOTS
#define METHOD_COUNT (COLLECTION_SLOT_COUNT + 3)
#include "com/objects/object_vtable.inc"

/* IFolderAction. MS-PLA 3.2.4.3. */
#define INTERFACE IFolderAction
#define ROWS      "engine/pla/folder_action.def"
#include "com/objects/object_vtable.inc"

/* ISchedule. MS-PLA 3.2.4.12. */
#define INTERFACE ISchedule
#define ROWS      "engine/pla/schedule.def"
#include "com/objects/object_vtable.inc"

/* IValueMapItem. MS-PLA 3.2.4.17. */
#define INTERFACE IValueMapItem
#define ROWS      "engine/pla/value_map_item.def"
#include "com/objects/object_vtable.inc"
