/* SPDX-License-Identifier: MIT */
/* The trace data provider and the collection of them. MS-PLA 3.2.4.11, 3.2.4.13. */
#include "engine/model/model.h"
#include "engine/os/memory.h"

#define CLASS     trace_data_provider
#define INTERFACE ITraceDataProvider
#define ROWS      "engine/model/trace_data_provider.def"
#include "engine/model/class_rows.inc"

static HRESULT create_map(struct object *o, uint32_t type, const char *description, struct object **field)
{
    HRESULT hr = object_create_child(o, &value_map_class, field);
    if (FAILED(hr))
        return hr;
    ((struct value_map *)*field)->ValueMapType = type;
    return object_put_text(*field, &value_map_class.properties[IValueMap_Description], description);
}

static HRESULT created(struct object *o)
{
    struct trace_data_provider *p = (struct trace_data_provider *)o;
    HRESULT hr = create_map(o, 1, "The events of this level and of those below it are collected", &p->Level);
    if (SUCCEEDED(hr))
        hr = create_map(o, 2, "An event is collected if it has one of these keywords", &p->KeywordsAny);
    if (SUCCEEDED(hr))
        hr = create_map(o, 2, "An event is collected if it has all of these keywords", &p->KeywordsAll);
    if (SUCCEEDED(hr))
        hr = create_map(o, 2, "What is collected with each event besides", &p->Properties);
    return hr;
}

const struct class trace_data_provider_class = {
    .name = "TraceDataProvider",
    CLASS_ROWS(trace_data_provider, ITraceDataProvider),
    .created = created,
};

/* A provider is in a collection once (MS-PLA 2.2.1); providers that have no GUID yet are not held against each other.
 */
static HRESULT admit(struct object *collection, struct object *item)
{
    static const GUID none;
    const struct items *items = &((struct collection *)collection)->items;
    const GUID *guid = &((struct trace_data_provider *)item)->Guid;
    for (size_t i = 0; i < items->count; i++)
        if (!guid_equal(guid, &none) && guid_equal(guid, &((struct trace_data_provider *)items->list[i])->Guid)) {
            char text[39];
            text_from_guid(guid, text);
            return error_set(PLA_E_NO_DUPLICATES, "Add: the provider %s is in the collection already", text);
        }
    return S_OK;
}

static const struct class *const provider_items[] = {&trace_data_provider_class, NULL};
const struct class trace_data_provider_collection_class = {
    .name = "TraceDataProviderCollection",
    .size = sizeof(struct collection),
    .items = offsetof(struct collection, items),
    .item_classes = provider_items,
    .admit = admit,
};
