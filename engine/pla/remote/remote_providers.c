/* SPDX-License-Identifier: MIT */
/* Event providers of another computer. A list on Windows contains a thousand event providers. Each event provider
   requires three vtable calls: for the item, its name and its GUID. Late binding is not used, because late binding
   cannot return a GUID. A single event provider is queried by name. */
#include "engine/pla/remote_providers.h"

#include "engine/base/memory.h"
#include "engine/pla/remote/remote_server.h"

#include <string.h>

/* The first 32 bits of identifiers (MS-PLA 1.9); the rest is the same in all identifiers. */
enum { COLLECTION_CLASS = 0x03837511, PROVIDER_CLASS = 0x03837513 };
enum { COLLECTION_INTERFACE = 0x03837510, PROVIDER_INTERFACE = 0x03837512, MAP_INTERFACE = 0x03837534 };
/* Opnums (MS-PLA 3.2.4.13 and 3.2.4.11). */
enum { GET_ITEM = 8, GET_DISPLAY_NAME = 7, GET_GUID = 9, GET_REGISTERED_PROCESSES = 25 };

/* ---- calls by vtable ---- */

/* Calls a method whose only [in] argument is `index`. `index` -1: the method has no [in] argument. The caller reads the
   answer and frees it. */
static HRESULT call_slot(struct orpc_object *o, uint16_t opnum, int32_t index, struct orpc_answer *answer)
{
    struct ndr_writer request = {0};
    *answer = (struct orpc_answer){0};
    HRESULT hr = orpc_request_begin(&request);
    if (SUCCEEDED(hr) && index >= 0)
        ndr_write_variant(&request, &(struct ndr_variant){.vt = NDR_I4, .number = (uint32_t)index});
    if (SUCCEEDED(hr))
        hr = orpc_call_again(o, opnum, &request, answer);
    ndr_writer_free(&request);
    return hr;
}

/* Reads the method's result, the last value of the answer. */
static HRESULT answer_result(struct orpc_answer *answer)
{
    const HRESULT hr = (HRESULT)ndr_read_u32(&answer->reader);
    return answer->reader.fault
               ? error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "the other computer sent a malformed response")
               : hr;
}

static HRESULT get_object(struct orpc_object *o, uint16_t opnum, int32_t index, uint32_t interface,
                          struct orpc_object **out)
{
    struct orpc_answer answer;
    struct objref *reference = NULL;
    *out = NULL;
    HRESULT hr = call_slot(o, opnum, index, &answer);
    if (SUCCEEDED(hr)) {
        ndr_read_object(&answer.reader, &answer.arena, &reference);
        hr = answer_result(&answer);
    }
    if (SUCCEEDED(hr) && (!reference || !remote_is_interface(&reference->iid, interface)))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                       "the other computer returned an object of a different kind");
    if (SUCCEEDED(hr))
        hr = orpc_object_adopt(o, reference, out);
    orpc_answer_free(&answer);
    return hr;
}

static HRESULT get_guid(struct orpc_object *o, GUID *out)
{
    struct orpc_answer answer;
    HRESULT hr = call_slot(o, GET_GUID, -1, &answer);
    if (SUCCEEDED(hr)) {
        *out = ndr_read_guid(&answer.reader);
        hr = answer_result(&answer);
    }
    orpc_answer_free(&answer);
    return hr;
}

static HRESULT get_display_name(struct orpc_object *o, char **out)
{
    struct orpc_answer answer;
    struct ndr_variant v = {.vt = NDR_BSTR};
    *out = NULL;
    HRESULT hr = call_slot(o, GET_DISPLAY_NAME, -1, &answer);
    if (SUCCEEDED(hr)) {
        ndr_read_bstr(&answer.reader, &v.string);
        hr = answer_result(&answer);
    }
    if (SUCCEEDED(hr))
        hr = remote_value_text("DisplayName", &v, out);
    orpc_answer_free(&answer);
    return hr;
}

/* ---- a list ---- */

static HRESULT take_identity(struct orpc_object *from, struct object *provider)
{
    struct value guid = {.kind = PROPERTY_GUID};
    char *name = NULL;
    HRESULT hr = get_display_name(from, &name);
    if (SUCCEEDED(hr))
        hr = get_guid(from, &guid.guid);
    if (SUCCEEDED(hr))
        hr = object_put_text(provider, class_property(provider->class, "DisplayName"), name);
    if (SUCCEEDED(hr))
        hr = object_put(provider, class_property(provider->class, "Guid"), &guid);
    memory_free(name);
    return hr;
}

static HRESULT take_provider(struct orpc_object *from, struct object *collection)
{
    struct object *provider;
    HRESULT hr = object_create(&trace_data_provider_class, collection, &provider);
    if (FAILED(hr))
        return hr;
    hr = take_identity(from, provider);
    if (SUCCEEDED(hr))
        hr = collection_add(collection, provider);
    object_release(provider);
    return hr == PLA_E_NO_DUPLICATES ? S_OK : hr; /* Windows lists some event providers under several names */
}

HRESULT remote_providers_list(struct object *collection, const char *server, const uint32_t *process)
{
    const struct remote_argument arguments[2] = {{.text = ""},
                                                 {.kind = REMOTE_NUMBER, .number = process ? (int32_t)*process : 0}};
    struct remote_server *there = NULL;
    struct orpc_object *list = NULL, *item;
    uint32_t count = 0;
    HRESULT hr = remote_server_open(server, &there);
    if (SUCCEEDED(hr))
        hr = remote_server_activate(there, COLLECTION_CLASS, COLLECTION_INTERFACE, &list);
    if (SUCCEEDED(hr))
        hr = process ? remote_object_call_again(list, "GetTraceDataProvidersByProcess", arguments, 2)
                     : remote_object_call_again(list, "GetTraceDataProviders", arguments, 1);
    if (SUCCEEDED(hr))
        hr = remote_object_get_number(list, "Count", &count);
    for (uint32_t i = 0; SUCCEEDED(hr) && i < count && i < INT32_MAX; i++) {
        hr = get_object(list, GET_ITEM, (int32_t)i, PROVIDER_INTERFACE, &item);
        if (SUCCEEDED(hr))
            hr = take_provider(item, collection);
        orpc_object_release(item);
    }
    orpc_object_release(list);
    remote_server_close(there);
    return hr;
}

/* ---- one event provider ---- */

/* Reads Value, which is an integer or a string with an integer. */
static HRESULT get_value(struct orpc_object *item, uint64_t *out)
{
    struct orpc_answer answer;
    struct ndr_variant v;
    char *text = NULL;
    HRESULT hr = remote_object_invoke(item, "Value", ORPC_GET, NULL, 0, &answer, &v);
    if (SUCCEEDED(hr) && v.vt == NDR_BSTR)
        hr = remote_value_text("Value", &v, &text);
    if (SUCCEEDED(hr) && text && !text_to_u64(text, out))
        hr = error_set(E_INVALIDARG, "Value: '%s' is not a number", text);
    if (SUCCEEDED(hr) && !text)
        *out = v.number;
    memory_free(text);
    orpc_answer_free(&answer);
    return hr;
}

static HRESULT take_item(struct orpc_object *item, struct object *map)
{
    char *key = NULL, *description = NULL;
    uint64_t value = 0;
    HRESULT hr = remote_object_get_text(item, "Key", &key);
    if (SUCCEEDED(hr))
        hr = remote_object_get_text(item, "Description", &description);
    if (SUCCEEDED(hr))
        hr = get_value(item, &value);
    if (SUCCEEDED(hr))
        hr = value_map_add_named(map, *key ? key : description, description, value);
    memory_free(key);
    memory_free(description);
    return hr;
}

/* Reads the items of a value map. Takes ownership of the reference `from`. */
static HRESULT take_map(struct orpc_object *from, struct object *map)
{
    struct orpc_object *item;
    uint32_t count = 0;
    HRESULT hr = remote_object_get_number(from, "Count", &count);
    for (uint32_t i = 0; SUCCEEDED(hr) && i < count && i < INT32_MAX; i++) {
        hr = remote_object_get(from, "Item", (int32_t)i, &item);
        if (SUCCEEDED(hr))
            hr = take_item(item, map);
        orpc_object_release(item);
    }
    orpc_object_release(from);
    return hr;
}

static HRESULT take_maps(struct orpc_object *from, struct object *provider)
{
    static const char *const maps[] = {"Level", "KeywordsAny"};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof maps / sizeof *maps; i++) {
        struct orpc_object *map;
        hr = remote_object_get(from, maps[i], -1, &map);
        if (SUCCEEDED(hr))
            hr = take_map(map, object_child(provider, class_property(provider->class, maps[i])));
    }
    return hr;
}

static HRESULT take_processes(struct orpc_object *from, struct object *provider, struct object **out)
{
    struct orpc_object *map;
    HRESULT hr = object_create(&value_map_class, provider, out);
    if (SUCCEEDED(hr))
        hr = get_object(from, GET_REGISTERED_PROCESSES, -1, MAP_INTERFACE, &map);
    if (SUCCEEDED(hr))
        hr = take_map(map, *out);
    if (FAILED(hr) && *out) {
        object_release(*out);
        *out = NULL;
    }
    return hr;
}

HRESULT remote_provider_query(struct object *provider, const char *server, const char *name, struct object **processes)
{
    const struct remote_argument arguments[2] = {{.text = name}, {.text = ""}};
    struct remote_server *there = NULL;
    struct orpc_object *from = NULL;
    *processes = NULL;
    HRESULT hr = remote_server_open(server, &there);
    if (SUCCEEDED(hr))
        hr = remote_server_activate(there, PROVIDER_CLASS, PROVIDER_INTERFACE, &from);
    if (SUCCEEDED(hr))
        hr = remote_object_call_again(from, "Query", arguments, 2);
    if (SUCCEEDED(hr))
        hr = take_identity(from, provider);
    if (SUCCEEDED(hr))
        hr = take_maps(from, provider);
    if (SUCCEEDED(hr))
        hr = take_processes(from, provider, processes);
    orpc_object_release(from);
    remote_server_close(there);
    return hr;
}
