/* SPDX-License-Identifier: MIT */
#include "cli/logman/logman.h"
#include "engine/base/memory.h"

#include <inttypes.h>

static HRESULT put_object(struct json *j, const char *name, struct object *o);

/* ---- values ---- */

static void put_hexadecimal(struct json *j, const char *name, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIX64, number);
    json_text(j, name, text);
}

static void put_enumeration(struct json *j, const struct property *p, uint32_t number)
{
    for (size_t i = 0; p->enumeration && i < p->enumeration->count; i++)
        if (p->enumeration->items[i].value == number) {
            json_text(j, p->name, p->enumeration->items[i].name);
            return;
        }
    json_integer(j, p->name, number);
}

static HRESULT put_variant(struct json *j, const struct property *p, const struct variant *v)
{
    int64_t number;
    if (v->type == VARIANT_TEXT) {
        json_text(j, p->name, v->text);
    } else if (v->type == VARIANT_DATE) {
        char *text = p->kind == PROPERTY_TIME ? time_to_text(v->real) : date_to_text(v->real);
        if (!text)
            return E_OUTOFMEMORY;
        json_text(j, p->name, text);
        memory_free(text);
    } else if (v->type == VARIANT_EMPTY || v->type == VARIANT_NULL || FAILED(variant_to_i64(v, &number))) {
        json_text(j, p->name, NULL);
    } else {
        /* Most JSON parsers store numbers as doubles, which are exact only up to 2^53; keywords have 64 bits. */
        put_hexadecimal(j, p->name, (uint64_t)number);
    }
    return S_OK;
}

static HRESULT put_bytes(struct json *j, const char *name, const struct bytes *bytes)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, "");
    for (size_t i = 0; i < bytes->count; i++)
        text_buffer_format(&b, "%02X", bytes->items[i]);
    char *text = text_buffer_take(&b);
    if (!text)
        return E_OUTOFMEMORY;
    json_text(j, name, text);
    memory_free(text);
    return S_OK;
}

static HRESULT put_value(struct json *j, const struct property *p, const struct value *v)
{
    char guid[39];
    switch (v->kind) {
    case PROPERTY_BOOL:
        json_bool(j, p->name, v->boolean);
        return S_OK;
    case PROPERTY_I32:
        json_integer(j, p->name, v->i32);
        return S_OK;
    case PROPERTY_ENUM:
        put_enumeration(j, p, v->u32);
        return S_OK;
    case PROPERTY_U32:
    case PROPERTY_FLAGS:
        json_integer(j, p->name, v->u32);
        return S_OK;
    case PROPERTY_U64:
        put_hexadecimal(j, p->name, v->u64);
        return S_OK;
    case PROPERTY_TEXT:
        json_text(j, p->name, v->text);
        return S_OK;
    case PROPERTY_TEXTS:
        json_begin(j, p->name, '[');
        for (size_t i = 0; i < v->texts.count; i++)
            json_text(j, NULL, v->texts.items[i]);
        json_end(j, ']');
        return S_OK;
    case PROPERTY_BYTES:
        return put_bytes(j, p->name, &v->bytes);
    case PROPERTY_GUID:
        text_from_guid(&v->guid, guid);
        json_text(j, p->name, guid);
        return S_OK;
    case PROPERTY_OBJECT: /* a child object is not read as a value */
        return S_OK;
    default:
        return put_variant(j, p, &v->variant);
    }
}

/* ---- objects ---- */

static HRESULT put_items(struct json *j, const char *name, struct object *collection)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(collection, &list, &count);
    if (FAILED(hr))
        return hr;
    json_begin(j, name, '[');
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        hr = put_object(j, NULL, list[i]);
    if (SUCCEEDED(hr))
        json_end(j, ']');
    objects_release(list, count);
    return hr;
}

/* Writes a value map's value and the names of its enabled items. `query providers` lists all items. */
static HRESULT put_map(struct json *j, const char *name, struct object *map)
{
    struct object **list;
    uint64_t *values = NULL;
    size_t count;
    HRESULT hr = value_map_enabled(map, &values, &count);
    if (FAILED(hr))
        return hr;
    json_begin(j, name, '{');
    json_begin(j, "Values", '[');
    for (size_t i = 0; i < count; i++)
        put_hexadecimal(j, NULL, values[i]);
    json_end(j, ']');
    memory_free(values);
    hr = collection_snapshot(map, &list, &count);
    if (FAILED(hr))
        return hr;
    json_begin(j, "Keys", '[');
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        const struct class *item = list[i]->class;
        struct value enabled, key = {0};
        hr = object_get(list[i], class_property(item, "Enabled"), &enabled);
        if (SUCCEEDED(hr) && enabled.boolean)
            hr = object_get(list[i], class_property(item, "Key"), &key);
        if (SUCCEEDED(hr) && enabled.boolean && *key.text)
            json_text(j, NULL, key.text);
        value_free(&key);
    }
    objects_release(list, count);
    if (FAILED(hr))
        return hr;
    json_end(j, ']');
    json_end(j, '}');
    return S_OK;
}

static HRESULT put_property(struct json *j, struct object *o, const struct property *p)
{
    struct value v;
    if (p->access == ACCESS_NONE)
        return S_OK;
    if (p->kind == PROPERTY_OBJECT) {
        struct object *child = object_child(o, p);
        if (!child)
            return S_OK;
        if (child->class == &value_map_class)
            return put_map(j, p->name, child);
        return child->class->items ? put_items(j, p->name, child) : put_object(j, p->name, child);
    }
    HRESULT hr = object_get(o, p, &v);
    if (hr == E_OUTOFMEMORY)
        return hr;
    if (FAILED(hr)) {
        json_text(j, p->name, NULL);
        return S_OK;
    }
    hr = put_value(j, p, &v);
    value_free(&v);
    return hr;
}

static HRESULT put_object(struct json *j, const char *name, struct object *o)
{
    HRESULT hr = S_OK;
    json_begin(j, name, '{');
    for (size_t i = 0; i < o->class->property_count && SUCCEEDED(hr); i++)
        hr = put_property(j, o, &o->class->properties[i]);
    if (SUCCEEDED(hr))
        json_end(j, '}');
    return hr;
}

/* ---- sets ---- */

HRESULT logman_json_set(struct json *j, struct object *set)
{
    json_begin(j, "sets", '[');
    const HRESULT hr = put_object(j, NULL, set);
    if (SUCCEEDED(hr))
        json_end(j, ']');
    return hr;
}

static HRESULT put_row(struct json *j, struct object *set)
{
    struct object **list;
    size_t count;
    json_begin(j, NULL, '{');
    HRESULT hr = put_property(j, set, class_property(set->class, "Name"));
    if (SUCCEEDED(hr))
        hr = put_property(j, set, class_property(set->class, "Status"));
    if (SUCCEEDED(hr))
        hr = collection_snapshot(object_child(set, class_property(set->class, "DataCollectors")), &list, &count);
    if (FAILED(hr))
        return hr;
    json_begin(j, "Types", '[');
    for (size_t i = 0; i < count; i++)
        json_text(j, NULL, logman_type_of(list[i]));
    json_end(j, ']');
    json_end(j, '}');
    objects_release(list, count);
    return S_OK;
}

static HRESULT put_whole(struct json *j, struct object *set)
{
    return put_object(j, NULL, set);
}

static HRESULT put_each(struct json *j, struct object *collection, HRESULT (*put)(struct json *, struct object *))
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(collection, &list, &count);
    if (FAILED(hr))
        return hr;
    json_begin(j, "sets", '[');
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        hr = object_complete(list[i]);
        if (SUCCEEDED(hr))
            hr = put(j, list[i]);
    }
    if (SUCCEEDED(hr))
        json_end(j, ']');
    objects_release(list, count);
    return hr;
}

HRESULT logman_json_list(struct json *j, struct object *collection)
{
    return put_each(j, collection, put_row);
}

HRESULT logman_json_all_sets(struct json *j, struct object *collection)
{
    return put_each(j, collection, put_whole);
}

/* ---- providers ---- */

static HRESULT put_provider(struct json *j, struct object *provider)
{
    HRESULT hr = put_property(j, provider, class_property(provider->class, "DisplayName"));
    return SUCCEEDED(hr) ? put_property(j, provider, class_property(provider->class, "Guid")) : hr;
}

/* Writes Key, Description and Value of each item. */
static HRESULT put_known(struct json *j, const char *name, struct object *map)
{
    static const char *const shown[] = {"Key", "Description", "Value"};
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(map, &list, &count);
    if (FAILED(hr))
        return hr;
    json_begin(j, name, '[');
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        json_begin(j, NULL, '{');
        for (size_t k = 0; k < sizeof shown / sizeof *shown && SUCCEEDED(hr); k++)
            hr = put_property(j, list[i], class_property(list[i]->class, shown[k]));
        if (SUCCEEDED(hr))
            json_end(j, '}');
    }
    if (SUCCEEDED(hr))
        json_end(j, ']');
    objects_release(list, count);
    return hr;
}

static HRESULT put_one(struct json *j, struct object *provider, struct object *processes)
{
    json_begin(j, NULL, '{');
    HRESULT hr = put_provider(j, provider);
    if (SUCCEEDED(hr))
        hr = put_known(j, "Keywords", object_child(provider, class_property(provider->class, "KeywordsAny")));
    if (SUCCEEDED(hr))
        hr = put_known(j, "Levels", object_child(provider, class_property(provider->class, "Level")));
    if (SUCCEEDED(hr))
        hr = put_known(j, "Processes", processes);
    if (SUCCEEDED(hr))
        json_end(j, '}');
    return hr;
}

static HRESULT put_list(struct json *j, struct object *all)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(all, &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        json_begin(j, NULL, '{');
        hr = put_provider(j, list[i]);
        if (SUCCEEDED(hr))
            json_end(j, '}');
    }
    objects_release(list, count);
    return hr;
}

HRESULT logman_json_providers(struct json *j, const struct logman_line *line)
{
    struct object *found = NULL, *processes = NULL;
    HRESULT hr = line->name ? logman_find_provider(line, &found, &processes) : logman_list_providers(line, &found);
    if (FAILED(hr))
        return hr;
    json_begin(j, "providers", '[');
    hr = line->name ? put_one(j, found, processes) : put_list(j, found);
    if (SUCCEEDED(hr))
        json_end(j, ']');
    object_release(processes);
    object_release(found);
    return hr;
}
